"""Orthography: plain marks, capitals, spaces, and fused words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from karat.arrays import Ints, np
from karat.realize.forms import common_beginning
from karat.realize.log_linear import (
    Choices,
    Keys,
    LogLinear,
    LogLinearFeatures,
    mix_keys,
    symbols,
)
from karat.realize.treebank import Surface

MARKS = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-", "…": "..."}
)
"""Quotation marks, apostrophes, dashes and ellipses -> their plain variants."""


def plain(word: str) -> str:
    """Return a word with plain marks, so that variants of a mark are the same word."""
    return word if word.isascii() else word.translate(MARKS)


CASES = ("lower", "first", "upper", "lemma")
"""Ways to write a word; if several give the same spelling, the first is used."""
PRIOR = 4.0
"""Log prior of the spelling with the capitals of the lemma, relative to others."""


def spell(form: str, lemma: str, case: str) -> str:
    """Return a lower-cased form in a given case."""
    if case == "first":
        return form[:1].upper() + form[1:]
    if case == "upper":
        return form.upper()
    n_shared = common_beginning(form, lemma.lower()) if case == "lemma" else 0
    return lemma[:n_shared] + form[n_shared:] if len(lemma.lower()) == len(lemma) else form


class Spellings:
    """All ways of writing the lower-cased words of sentences.

        P(way | word, lemma, place) = exp(prior + Σ w[f]) / Σ over the ways of writing the word

    Ways with the same spelling are merged. The prior favors the capitals of the lemma: a treebank
    may be too small to have names like McDonald.
    """

    def __init__(self, forms: list[str], lemmas: list[str], tags: list[str], starts: Ints) -> None:
        self._forms, self._lemmas, self._tags, self._starts = forms, lemmas, tags, starts
        self.texts, self._ways = list[str](), list[str]()
        sizes, priors = [0], list[float]()
        for form, lemma in zip(forms, lemmas, strict=True):
            by_text = {spell(form, lemma, case): case for case in reversed(CASES)}
            first, *other_texts = by_text  # the first has the capitals of the lemma
            self.texts += by_text
            self._ways += by_text.values()
            priors += [PRIOR if first != form else 0.0, *([0.0] * len(other_texts))]
            sizes.append(len(by_text))
        self.choices = Choices(np.cumsum(sizes, dtype=np.int64), np.array(priors))

    def features(self) -> LogLinearFeatures:
        """Return the features of every way."""
        n = len(self._forms)
        forms, tags = symbols([*self._forms, ""]), symbols([*self._tags, ""])
        cases = symbols([*map(case_of, self._lemmas), ""])
        ends = symbols([form[-1:] for form in self._forms])
        before, after = neighbours(n, self._starts)
        place = np.where(before < 0, 0, np.where(before[before] < 0, 1, 2)).astype(np.uint64)
        form, tag, case = forms[:-1], tags[:-1], cases[:-1]
        templates = (
            (place, case),
            (place, form),
            (place, forms[before]),
            (place, tag, case),
            (form, case),
            (tag, case),
            (case, forms[before]),
            (case, forms[after]),
            (cases[before], case, cases[after]),
            (cases[before], case, tag),
            (ends, tag, case),
        )
        of_items = template_features(templates, n)
        features, rows = self.choices.crossed(of_items)
        keys = mix_keys(50, of_items.keys[features], symbols(self._ways)[rows])
        return LogLinearFeatures(rows, keys)


def neighbours(n: int, starts: Ints) -> tuple[Ints, Ints]:
    """Return the words before and after each of n words, -1 at the edges of sentences."""
    before, after = np.arange(-1, n - 1), np.append(np.arange(1, n), -1)
    before[starts[:-1]] = -1
    after[starts[1:] - 1] = -1
    return before, after


def template_features(templates: Sequence[tuple[Keys, ...]], n: int) -> LogLinearFeatures:
    """Return the features of n words; a template is a tuple of columns."""
    rows = np.arange(n)
    return LogLinearFeatures.joined(
        [
            LogLinearFeatures(rows, np.broadcast_to(mix_keys(i, *parts), n))
            for i, parts in enumerate(templates)
        ]
    )


def case_of(word: str) -> str:
    """Return the case of a word: one of `CASES`, or `mixed`."""
    if word == word.lower():
        return "lower"
    if word == word.upper():
        return "upper" if len(word) > 1 else "first"
    return "first" if word == word[:1] + word[1:].lower() else "mixed"


def train_capitals(written_ways: Spellings, words: list[str]) -> LogLinear:
    """Train on words as written; words that match none of the ways are skipped."""
    items, texts = written_ways.choices.items, written_ways.texts
    right = np.array([texts[row] == words[i] for row, i in enumerate(items.tolist())], dtype=bool)
    is_writable = np.bincount(items, right, minlength=len(words)) > 0
    return LogLinear.train_on(written_ways.choices, written_ways.features(), right, is_writable)


def capitalise(model: LogLinear, spellings: Spellings) -> list[str]:
    """Return every word in its most probable spelling."""
    scores = spellings.choices.priors + model.scores(spellings.features(), len(spellings.texts))
    return [spellings.texts[row] for row in spellings.choices.best(scores).tolist()]


Words = tuple[str, ...]
"""The words of a multiword token, two or more, in lower case."""


@dataclass(frozen=True, eq=False)
class Spacing:
    """Fused words, and weights of spaces.

        P(space | two neighbours) = exp(Σ w[f]) / (1 + exp(Σ w[f]))

    Both are learned from SpaceAfter and from multiword tokens. Words that are mostly fused (`de le`
    -> `du`) are written as one; other multiword tokens (`don't`) are words without a space between
    them.
    """

    fused: Mapping[Words, str]
    model: LogLinear

    @cached_property
    def _lengths(self) -> list[int]:
        """Numbers of words of fused tokens, the largest first."""
        return sorted(set(map(len, self.fused)), reverse=True)

    def text(self, words: list[str], tags: list[str], starts: Ints) -> list[str]:
        """Return the texts of sentences; unknown gaps get a space."""
        features = gap_features(words, tags, starts)
        has_space = self.model.scores(features, len(words)) >= 0
        cuts = pairwise(starts.tolist())
        return [self._join(words[a:b], has_space[a:b].tolist()) for a, b in cuts]

    def _join(self, words: list[str], has_space: list[bool]) -> str:
        """Write words as text; `has_space` tells whether a space follows each of them."""
        parts, i = [], 0
        lowered = tuple(word.lower() for word in words)
        while i < len(words):
            form, next_word = words[i], i + 1
            for n in self._lengths:
                fused_form = self.fused.get(lowered[i : i + n])
                if fused_form is not None and i + n <= len(words):
                    case, next_word = case_of(words[i]), i + n
                    form = fused_form.capitalize() if case == "first" else fused_form
                    form = form.upper() if case == "upper" else form
                    break
            i = next_word
            parts += [form, " " if has_space[i - 1] else ""]
        return "".join(parts).rstrip(" ")

    @classmethod
    def train(
        cls, words: list[str], tags: list[str], surfaces: list[Surface], starts: Ints
    ) -> Spacing:
        """Train on words in order, and their surface text."""
        n, spaces = len(words), np.array([surface.space_after for surface in surfaces])
        has_gap = np.ones(n, dtype=bool)
        has_gap[starts[1:] - 1] = False  # spaces after a sentence are ignored
        # A gap has two candidates: nothing, which has no features, and a space.
        choices = Choices(np.arange(0, 2 * n + 1, 2), np.zeros(2 * n))
        rows, keys = gap_features(words, tags, starts)
        right = np.stack([~spaces, spaces], axis=1).ravel()
        features = LogLinearFeatures(2 * rows + 1, keys)
        model = LogLinear.train_on(choices, features, right, has_gap)
        return cls(_count_fused(words, surfaces), model)


def gap_features(words: list[str], tags: list[str], starts: Ints) -> LogLinearFeatures:
    """Return the features of the gap after each word."""
    n, lowered = len(words), [word.lower() for word in words]
    forms, labels = symbols([*lowered, ""]), symbols([*tags, ""])
    before, right = neighbours(n, starts)
    closing: list[int] = []  # whether a mark is the second of a pair, as of quotation marks
    for a, b in pairwise(starts.tolist()):
        times: Counter[str] = Counter()
        for word in lowered[a:b]:
            closing.append(times[word] % 2)
            times[word] += 1
    turns = np.append(closing, 0).astype(np.uint64)
    ends = symbols([*(word[-1:] for word in lowered), ""])
    begins = symbols([*(word[:1] for word in lowered), ""])
    left = slice(0, n)
    templates = (
        (),
        (ends[left], begins[right]),
        (ends[left], labels[right]),
        (labels[left], begins[right]),
        (forms[left], forms[right]),
        (forms[left],),
        (forms[right],),
        (forms[left], turns[left]),
        (forms[right], turns[right]),
        (forms[left], labels[right]),
        (labels[left], forms[right]),
        (labels[left], labels[right]),
        (forms[before], forms[left], labels[right]),
        (forms[left], turns[left], labels[right]),
    )
    return template_features(templates, n)


def _count_fused(words: list[str], surfaces: list[Surface]) -> dict[Words, str]:
    """Return the word sequences that are mostly fused, and their text."""
    lowered = tuple(word.lower() for word in words)
    text_counts = defaultdict[Words, Counter[str]](Counter)
    begins = [i for i, surface in enumerate(surfaces) if surface.text]
    sizes: list[int] = []  # of each word's token
    for a, b in pairwise([*begins, len(words)]):
        sizes += [b - a] * (b - a)
        if b - a > 1:
            text_counts[lowered[a:b]][surfaces[a].text.lower()] += 1
    times: Counter[Words] = Counter()
    for n in set(map(len, text_counts)):  # except for parts of longer tokens
        times.update(lowered[i : i + n] for i in range(len(words) - n + 1) if sizes[i] <= n)
    mostly = {
        tokens: texts for tokens, texts in text_counts.items() if 2 * texts.total() > times[tokens]
    }
    return {tokens: min(ts, key=lambda text: (-ts[text], text)) for tokens, ts in mostly.items()}


def format_fused(fused: Mapping[Words, str]) -> str:
    """Return fused words as lines of text."""
    return "\n".join("\t".join((*tokens, text)) for tokens, text in fused.items())


def parse_fused_lines(text: str) -> dict[Words, str]:
    """Parse the text of `format_fused`; raise ValueError if it is damaged."""
    fused: dict[Words, str] = {}
    for line in text.split("\n") if text else ():
        first, second, *later_words, text_of_token = line.split("\t")
        tokens = (first, second, *later_words)
        fused[tokens] = text_of_token
    return fused
