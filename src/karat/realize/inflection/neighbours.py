"""Forms that depend on their neighbours: a or an, le or l', do not or do n't.

    best = argmax over forms of Σ score(form) + Σ over neighbours of score(form, next form)

The best forms of a sentence are found together (Viterbi), since one may depend on the other: `will`
is `wo` before `n't`. Scores of pairs are sums of weights of the two forms, of how one begins and of
how the other ends. They are learned with the neighbours of the treebank on both sides:

    P(form | neighbours) = exp(score(form) + score(left, form) + score(form, right)) / Σ
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.realize.inflection.log_linear import (
    Choices,
    Features,
    Keys,
    LogLinear,
    mixed,
    symbols,
)

BEGINNINGS, ENDS = (1, 2, 3), (1, 2)
"""Characters of a form that its neighbours see."""
EDGE = ""
"""Stands before and after a sentence."""
FIRST_TEMPLATE = 60


class Candidates(NamedTuple):
    """Forms that the words of sentences may have, in the order of the sentences.

    Those of word i are the rows `choices.offsets[i]` to `choices.offsets[i + 1]`; `sentences[i]`
    is the first word of sentence i, and the last entry the number of words.
    """

    forms: list[str]
    choices: Choices
    sentences: Ints

    @classmethod
    def of(cls, sentences: Sequence[Sequence[dict[str, float]]]) -> Candidates:
        """Make candidates of forms with their scores (logarithms), word by word."""
        words = [word for sentence in sentences for word in sentence]
        offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
        priors = np.array([score for word in words for score in word.values()], dtype=np.float64)
        starts = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
        forms = [form for word in words for form in word]
        return cls(forms, Choices(offsets, priors), starts)


class FormParts(NamedTuple):
    """Symbols of forms, of how they begin and of how they end; a column a form."""

    whole: Keys
    beginnings: tuple[Keys, ...]
    ends: tuple[Keys, ...]

    @classmethod
    def of(cls, forms: list[str]) -> FormParts:
        """Return the symbols of forms; the last entry, at -1, is of the edge of a sentence."""
        listed = [*forms, EDGE]
        beginnings = tuple(symbols([form[:n] for form in listed]) for n in BEGINNINGS)
        ends = tuple(symbols([form[-n:] for form in listed]) for n in ENDS)
        return cls(symbols(listed), beginnings, ends)


def pair_features(parts: FormParts, left: Ints, right: Ints, rows: Ints) -> Features:
    """Return the features of neighbouring forms, for the rows they belong to."""
    before, after = parts.whole[left], parts.whole[right]
    made = [(before, after)]
    made += [(before, part[right]) for part in parts.beginnings]
    made += [(part[left], after) for part in parts.ends]
    keys = [mixed(FIRST_TEMPLATE + n, *both) for n, both in enumerate(made)]
    return Features(np.tile(rows, len(keys)), np.concatenate(keys))


def neighbour_rows(candidates: Candidates, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the chosen forms before and after each word, as rows; -1 at the edges."""
    before, after = np.append(-1, chosen[:-1]), np.append(chosen[1:], -1)
    before[candidates.sentences[:-1]] = -1
    after[candidates.sentences[1:] - 1] = -1
    return before, after


def choose_forms(model: LogLinear, candidates: Candidates, scores: Floats) -> Ints:
    """Return the row of the best form of every word, neighbours considered.

    Args:
        model: weights of pairs, beside which it may have others.
        candidates: forms of the words of sentences; their priors are not looked at.
        scores: score of each form without its neighbours.
    """
    pairs = _Pairs.of(model, candidates)
    found: Ints = candidates.choices.offsets[:-1].copy()
    for first, end in _doubtful_spans(candidates):
        found[first:end] = _best_path(candidates, scores, pairs, first, end)
    return found


class _Pairs(NamedTuple):
    """Scores of neighbouring forms: those of words i - 1 and i begin at `starts[i]`.

    Word i may be the first of a sentence, or the one after the last word.
    """

    starts: Ints
    scores: Floats

    @classmethod
    def of(cls, model: LogLinear, candidates: Candidates) -> _Pairs:
        """Score all pairs of which one word has several forms."""
        offsets, n = candidates.choices.offsets, len(candidates.choices.offsets) - 1
        counts = np.append(np.diff(offsets), 1)
        is_first = np.zeros(n + 1, dtype=bool)
        is_first[candidates.sentences] = True
        # A pair at an edge is two pairs: of the last word and the edge, of the edge and the first.
        before = np.append(1, counts[:-1])
        sizes = np.where(is_first, before + counts, before * counts)
        sizes = np.where((before > 1) | (counts > 1), sizes, 0)
        starts = np.append(0, np.cumsum(sizes))
        which = np.repeat(np.arange(n + 1), sizes)
        within = np.arange(len(which)) - starts[which]
        first, second = np.divmod(within, counts[which])
        edge = is_first[which]
        last_row = np.append(0, offsets[:-1])[which]  # the first row of the word before
        ends = edge & (within < before[which])
        left = np.where(edge, np.where(ends, last_row + within, -1), last_row + first)
        own = np.append(offsets[:-1], 0)[which]
        right = np.where(edge, np.where(ends, -1, own + within - before[which]), own + second)
        parts = FormParts.of(candidates.forms)
        found = pair_features(parts, left, right, np.arange(len(which)))
        return cls(starts, model.scores(found, len(which)))

    def between(self, word: int, before: int, count: int) -> Floats:
        """Return the scores of the forms of two neighbours, the first word's by rows."""
        found = self.scores[self.starts[word] : self.starts[word + 1]]
        return found.reshape(before, count) if len(found) else np.zeros((before, count))

    def after_edge(self, word: int, count: int) -> Floats:
        """Return the scores of the first word's forms."""
        found = self.scores[self.starts[word] : self.starts[word + 1]]
        return found[len(found) - count :] if len(found) else np.zeros(count)

    def before_edge(self, word: int, count: int) -> Floats:
        """Return the scores of the last word's forms; `word` is the one after it."""
        found = self.scores[self.starts[word] : self.starts[word + 1]]
        return found[:count] if len(found) else np.zeros(count)


def _doubtful_spans(candidates: Candidates) -> list[tuple[int, int]]:
    """Return the spans of words with several forms, within sentences."""
    doubtful = np.diff(candidates.choices.offsets) > 1
    cuts = np.zeros(len(doubtful) + 1, dtype=bool)
    cuts[candidates.sentences] = True
    begins = doubtful & (cuts[:-1] | ~np.append(False, doubtful[:-1]))
    ends = doubtful & (cuts[1:] | ~np.append(doubtful[1:], False))
    places = np.flatnonzero(begins).tolist(), (np.flatnonzero(ends) + 1).tolist()
    return list(zip(*places, strict=True))


def _best_path(
    candidates: Candidates, scores: Floats, pairs: _Pairs, first: int, end: int
) -> list[int]:
    """Return the rows of the best forms of a span of words, whose neighbours have one form."""
    offsets = candidates.choices.offsets
    counts = np.diff(offsets[first : end + 1]).tolist()
    edges = {int(i) for i in candidates.sentences[np.isin(candidates.sentences, (first, end))]}
    total = scores[offsets[first] : offsets[first + 1]].copy()
    if first in edges:
        total += pairs.after_edge(first, counts[0])
    else:
        total += pairs.between(first, 1, counts[0])[0]
    back = []
    for word in range(first + 1, end):
        before, count = counts[word - first - 1 : word - first + 1]
        sums = total[:, None] + pairs.between(word, before, count)
        back.append(sums.argmax(axis=0))
        total = sums.max(axis=0) + scores[offsets[word] : offsets[word + 1]]
    if end in edges:
        total = total + pairs.before_edge(end, counts[-1])
    else:
        total = total + pairs.between(end, counts[-1], 1)[:, 0]
    best = [int(total.argmax())]
    for steps in reversed(back):
        best.append(int(steps[best[-1]]))
    return [int(offsets[first + i]) + k for i, k in enumerate(reversed(best))]
