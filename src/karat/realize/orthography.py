"""Typography: variants of the same mark are one, so that a model sees them as the same word."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from karat.arrays import Flags, Ints, np
from karat.realize.forms import common_beginning
from karat.realize.log_linear import Choices, LogLinear, LogLinearFeatures, mix_keys, symbols
from karat.realize.treebank import Surface

MARKS = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-", "…": "..."}
)
"""Quotation marks, apostrophes, dashes and ellipses, and what they are written as."""


def plain(word: str) -> str:
    """Return a word with plain marks."""
    return word if word.isascii() else word.translate(MARKS)


CASES = ("lower", "first", "upper", "lemma")
"""Ways to write a word; of those that write it alike the first stands for all."""
PRIOR = 4.0
"""Logarithm of how much more probable the spelling of a lemma with capitals is than others."""


def spell(form: str, lemma: str, case: str) -> str:
    """Write a form that is in lower case."""
    if case == "first":
        return form[:1].upper() + form[1:]
    if case == "upper":
        return form.upper()
    n_shared = common_beginning(form, lemma.lower()) if case == "lemma" else 0
    return lemma[:n_shared] + form[n_shared:] if len(lemma.lower()) == len(lemma) else form


class Spellings:
    """All ways of writing the words of sentences, which are in order."""

    def __init__(self, forms: list[str], lemmas: list[str], tags: list[str], starts: Ints) -> None:
        self._forms, self._lemmas, self._tags, self._starts = forms, lemmas, tags, starts
        texts, cases, sizes, priors = list[str](), list[str](), [0], list[float]()
        for form, lemma in zip(forms, lemmas, strict=True):
            by_text = {spell(form, lemma, case): case for case in reversed(CASES)}
            texts += [*by_text]
            first, *other_texts = by_text  # the first is spelt like the lemma
            priors += [PRIOR if first != form else 0.0, *([0.0] * len(other_texts))]
            cases += [*by_text.values()]
            sizes.append(len(by_text))
        self.texts, self._ways = texts, cases
        offsets = np.cumsum(sizes, dtype=np.int64)
        self.choices = Choices(offsets, np.array(priors))

    def features(self) -> LogLinearFeatures:
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
        word_columns = forms[:-1], tags[:-1], cases[:-1]
        templates = (
            (place, word_columns[2]),
            (place, word_columns[0]),
            (place, forms[before]),
            (place, word_columns[1], word_columns[2]),
            (word_columns[0], word_columns[2]),
            (word_columns[1], word_columns[2]),
            (word_columns[2], forms[before]),
            (word_columns[2], forms[after]),
            (cases[before], word_columns[2], cases[after]),
            (cases[before], word_columns[2], word_columns[1]),
            (ends, word_columns[1], word_columns[2]),
        )
        words_index = np.arange(n)
        features = [
            LogLinearFeatures(words_index, mix_keys(i, *parts)) for i, parts in enumerate(templates)
        ]
        of_items = LogLinearFeatures.joined(features)
        features_of_rows, rows = self.choices.crossed(of_items)
        return LogLinearFeatures(
            rows, mix_keys(50, of_items.keys[features_of_rows], symbols(self._ways)[rows])
        )


def case_of(word: str) -> str:
    """Return how a word is written: one of the ways, or `mixed`."""
    if word == word.lower():
        return "lower"
    if word == word.upper():
        return "upper" if len(word) > 1 else "first"
    return "first" if word == word[:1] + word[1:].lower() else "mixed"


def train_capitals(written_ways: Spellings, words: list[str]) -> LogLinear:
    """Learn from words as they are written; those that no way writes teach nothing."""
    items, texts = written_ways.choices.items, written_ways.texts
    right = np.array([texts[row] == words[i] for row, i in enumerate(items.tolist())], dtype=bool)
    is_writable = np.bincount(items, right, minlength=len(words)) > 0
    return LogLinear.train_on(written_ways.choices, written_ways.features(), right, is_writable)


def capitalise(model: LogLinear, spellings: Spellings) -> list[str]:
    """Return every word in the most probable way."""
    scores = spellings.choices.priors + model.scores(spellings.features(), len(spellings.texts))
    return [spellings.texts[row] for row in spellings.choices.best(scores).tolist()]


Words = tuple[str, ...]
"""The words of a multiword token, two or more, in lower case."""


@dataclass(frozen=True, eq=False)
class Spacing:
    """Words that are written as one, and weights of spaces."""

    fused: Mapping[Words, str]
    model: LogLinear

    @cached_property
    def _lengths(self) -> list[int]:
        """Numbers of words that are written as one, the largest first."""
        return sorted(set(map(len, self.fused)), reverse=True)

    def text(self, words: list[str], tags: list[str], starts: Ints) -> list[str]:
        """Return the texts of sentences, with a space where nothing is known of a gap."""
        features = gap_features(words, tags, starts)
        spaces = self.model.scores(features, len(words)) >= 0
        cuts = pairwise(starts.tolist())
        return [self._joined(words[a:b], spaces[a:b].tolist()) for a, b in cuts]

    def _joined(self, words: list[str], spaces: list[bool]) -> str:
        parts, i = [], 0
        while i < len(words):
            n = self._written_as_one(words, i)
            text = (
                _copy_case(self.fused[_lower_words(words[i : i + n])], words[i])
                if n > 1
                else words[i]
            )
            i += n
            parts += [text, " " if spaces[i - 1] else ""]
        return "".join(parts).rstrip(" ")

    def _written_as_one(self, words: list[str], i: int) -> int:
        """Return the number of words from place i that are written as one, 1 if it stands alone."""
        lengths = (n for n in self._lengths if _lower_words(words[i : i + n]) in self.fused)
        return next((n for n in lengths if i + n <= len(words)), 1)

    @classmethod
    def train(
        cls, words: list[str], tags: list[str], surfaces: list[Surface], starts: Ints
    ) -> Spacing:
        """Learn from words in order, and how they are written."""
        spaces = np.array([surface.space_after for surface in surfaces])
        has_gap = np.ones(len(words), dtype=bool)
        has_gap[starts[1:] - 1] = False  # whether a space follows a sentence is no matter
        model = _train_spaces(gap_features(words, tags, starts), spaces, has_gap)
        return cls(_count_fused(words, surfaces), model)


def gap_features(words: list[str], tags: list[str], starts: Ints) -> LogLinearFeatures:
    """Return the features of the gap after each word."""
    n, lowered = len(words), [word.lower() for word in words]
    forms, labels = symbols([*lowered, ""]), symbols([*tags, ""])
    after, before = np.append(np.arange(1, n), -1), np.arange(-1, n - 1)
    after[starts[1:] - 1] = -1
    before[starts[:-1]] = -1
    turns = np.append(_closing_marks(lowered, starts), 0).astype(np.uint64)
    ends = symbols([*(word[-1:] for word in lowered), ""])
    begins = symbols([*(word[:1] for word in lowered), ""])
    left, right, rows = slice(0, n), after, np.arange(n)
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
    features = [
        LogLinearFeatures(rows, np.broadcast_to(mix_keys(i, *p), n))
        for i, p in enumerate(templates)
    ]
    return LogLinearFeatures.joined(features)


def _closing_marks(words: list[str], starts: Ints) -> list[int]:
    """Return whether a mark is the second of a pair, as of quotation marks, within sentences."""
    turns = []
    for a, b in pairwise(starts.tolist()):
        times: Counter[str] = Counter()
        for word in words[a:b]:
            turns.append(times[word] % 2)
            times[word] += 1
    return turns


def _train_spaces(features: LogLinearFeatures, spaces: Flags, has_gap: Flags) -> LogLinear:
    """Train with two candidates a gap: nothing, which has no features, and a space."""
    n = len(spaces)
    choices = Choices(np.arange(0, 2 * n + 1, 2), np.zeros(2 * n))
    right = np.stack([~spaces, spaces], axis=1).ravel()
    return LogLinear.train_on(
        choices, LogLinearFeatures(2 * features.rows + 1, features.keys), right, has_gap
    )


def _lower_words(words: Iterable[str]) -> Words:
    return tuple(word.lower() for word in words)


def _count_fused(words: list[str], surfaces: list[Surface]) -> dict[Words, str]:
    """Return the words in a row that are mostly written as one, and how."""
    lowered, text_counts = _lower_words(words), defaultdict[Words, Counter[str]](Counter)
    begins = [i for i, surface in enumerate(surfaces) if surface.text]
    sizes: list[int] = []  # of each word's token
    for a, b in pairwise([*begins, len(words)]):
        sizes += [b - a] * (b - a)
        if b - a > 1:
            text_counts[lowered[a:b]][surfaces[a].text.lower()] += 1
    times: Counter[Words] = Counter()
    for n in set(map(len, text_counts)):  # but for parts of longer tokens
        times.update(lowered[i : i + n] for i in range(len(words) - n + 1) if sizes[i] <= n)
    mostly = {
        tokens: texts for tokens, texts in text_counts.items() if 2 * texts.total() > times[tokens]
    }
    return {tokens: min(ts, key=lambda text: (-ts[text], text)) for tokens, ts in mostly.items()}


def _copy_case(text: str, word: str) -> str:
    """Return a text with the capitals of a word."""
    case = case_of(word)
    return text.upper() if case == "upper" else text.capitalize() if case == "first" else text


def format_fused(fused: Mapping[Words, str]) -> str:
    """Return words that are written as one, a line each."""
    return "\n".join("\t".join((*tokens, text)) for tokens, text in fused.items())


def parse_fused_lines(text: str) -> dict[Words, str]:
    """Return what `format_fused` wrote; a ValueError if it is none."""
    fused: dict[Words, str] = {}
    for line in text.split("\n") if text else ():
        first, second, *later_words, text_of_token = line.split("\t")
        tokens = (first, second, *later_words)
        fused[tokens] = text_of_token
    return fused
