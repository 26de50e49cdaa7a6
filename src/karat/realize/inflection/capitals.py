"""Capitals: which words begin with one, have nothing else, or are written like their lemmas.

    P(way | word, lemma, place) = exp(prior + Σ w[f]) / Σ over the ways of writing the word

Ways that write the word alike are one. The prior is for capitals as the lemma has them: a treebank
may be too small to have names like McDonald. Words are in their order, in lower case; a lemma may
have capitals, and an input without them is written as well as can be.
"""

from __future__ import annotations

from karat.arrays import Ints, np
from karat.realize.inflection.edits import common_beginning
from karat.realize.inflection.log_linear import Choices, Features, LogLinear, mixed, symbols

WAYS = ("lower", "first", "upper", "lemma")
"""Ways to write a word; of those that write it alike the first stands for all."""
PRIOR = 4.0
"""Logarithm of how much more probable the spelling of a lemma with capitals is than others."""


def written(form: str, lemma: str, way: str) -> str:
    """Write a form that is in lower case."""
    if way == "first":
        return form[:1].upper() + form[1:]
    if way == "upper":
        return form.upper()
    same = common_beginning(form, lemma.lower()) if way == "lemma" else 0
    return lemma[:same] + form[same:] if len(lemma.lower()) == len(lemma) else form


class Written:
    """All ways of writing the words of sentences, which are in order."""

    def __init__(self, forms: list[str], lemmas: list[str], tags: list[str], starts: Ints) -> None:
        self._forms, self._lemmas, self._tags, self._starts = forms, lemmas, tags, starts
        found, ways, sizes, priors = list[str](), list[str](), [0], list[float]()
        for form, lemma in zip(forms, lemmas, strict=True):
            by_text = {written(form, lemma, way): way for way in reversed(WAYS)}
            found += [*by_text]
            first, *others = by_text  # the first is spelt like the lemma
            priors += [PRIOR if first != form else 0.0, *([0.0] * len(others))]
            ways += [*by_text.values()]
            sizes.append(len(by_text))
        self.texts, self._ways = found, ways
        offsets = np.cumsum(sizes, dtype=np.int64)
        self.choices = Choices(offsets, np.array(priors))

    def features(self) -> Features:
        """Return the features of every way."""
        n = len(self._forms)
        forms = symbols([*self._forms, ""])
        tags = symbols([*self._tags, ""])
        cases = symbols([*map(case_of, self._lemmas), ""])
        before, after = np.arange(-1, n - 1), np.append(np.arange(1, n), -1)
        before[self._starts[:-1]] = -1
        after[self._starts[1:] - 1] = -1
        place = np.where(before < 0, 0, np.where(before[before] < 0, 1, 2)).astype(np.uint64)
        ends = symbols([form[-1:] for form in self._forms])
        own = forms[:-1], tags[:-1], cases[:-1]
        templates = (
            (place, own[2]),
            (place, own[0]),
            (place, forms[before]),
            (place, own[1], own[2]),
            (own[0], own[2]),
            (own[1], own[2]),
            (own[2], forms[before]),
            (own[2], forms[after]),
            (cases[before], own[2], cases[after]),
            (cases[before], own[2], own[1]),
            (ends, own[1], own[2]),
        )
        every = np.arange(n)
        made = [Features(every, mixed(i, *parts)) for i, parts in enumerate(templates)]
        of_items = Features.joined(made)
        which, rows = self.choices.crossed(of_items)
        return Features(rows, mixed(50, of_items.keys[which], symbols(self._ways)[rows]))


def case_of(word: str) -> str:
    """Return how a word is written: one of the ways, or `mixed`."""
    if word == word.lower():
        return "lower"
    if word == word.upper():
        return "upper" if len(word) > 1 else "first"
    return "first" if word == word[:1] + word[1:].lower() else "mixed"


def train_capitals(written_ways: Written, words: list[str]) -> LogLinear:
    """Learn from words as they are written; those that no way writes teach nothing."""
    items, texts = written_ways.choices.items, written_ways.texts
    right = np.array([texts[row] == words[i] for row, i in enumerate(items.tolist())], dtype=bool)
    known = np.bincount(items, right, minlength=len(words)) > 0
    return LogLinear.train_on(written_ways.choices, written_ways.features(), right, known)


def capitalised(model: LogLinear, ways: Written) -> list[str]:
    """Return every word in the most probable way."""
    scores = ways.choices.priors + model.scores(ways.features(), len(ways.texts))
    return [ways.texts[row] for row in ways.choices.best(scores).tolist()]
