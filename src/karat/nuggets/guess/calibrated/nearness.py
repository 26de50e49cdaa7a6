"""Nearness: how alike responses are where they speak of a nugget.

Two long answers may say the same of one nugget and differ in all else. So every nugget has a
likeness of its own, in which those units of text weigh most that stand in its descriptions, or in
sentences that are about it:

    r(s, g)    = root of the share of the nugget's words, by idf and informativeness, in sentence s
    near(g)    = cosine over stems + cosine over character 3-grams, present or not,
                 weighted by `csrc/nuggets/nearness.hpp`

3-grams that more than three in four responses have are left out: they weigh little and cost most.
No judgement has a part in it. The idf is that among the responses to the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import log, product
from karat.arrays import Floats, Ints, np
from karat.nuggets.guess.pool import Pool
from karat.nuggets.scores.ragged_words import code_points
from karat.text.tokens import Ragged

_LEAST = 0.05  # informativeness of a word that all nuggets of a question have
_UNITS = ((1, 1.0), (3, 0.75))  # stems and characters: how many make a unit; in what share at most


class Nearness(NamedTuple):
    """The responses to one question, and the descriptions of its nuggets."""

    sentences: tuple[Ragged, ...]
    """As stems, and as characters."""
    bounds: Ints
    """The first sentence of each response."""
    texts: tuple[Ragged, ...]
    nuggets: Ints
    """The first description of each nugget."""
    relevance: Floats
    """Sentences x nuggets."""

    def parts(self, first: int, most: int) -> Iterator[tuple[slice, Near]]:
        """Some nuggets at a time: which, and the likeness for these.

        A table of the first responses has at most so many numbers, or one nugget.
        """
        count = len(self.nuggets) - 1
        wide = max(most // max(first * first, 1), 1)
        for start in range(0, count, wide):
            some = slice(start, min(start + wide, count))
            bounds = self.nuggets[start : some.stop + 1]
            about = bounds - bounds[0], np.ascontiguousarray(self.relevance[:, some])
            found = []
            for units, texts, (n, share) in zip(self.sentences, self.texts, _UNITS, strict=True):
                mine = _part(texts, int(bounds[0]), int(bounds[-1]))
                often = int(share * (len(self.bounds) - 1))
                given = *units, self.bounds, *mine, *about, n, often
                found.append(_kernel.nugget_nearness(*given))
            yield some, Near(found)


class Near(NamedTuple):
    """The likeness of the responses to a question for some nuggets: by stems, by characters."""

    units: list[_kernel.NuggetNearness]

    def table(self, first: int) -> Floats:
        """Nuggets x the first responses x these."""
        found = sum(unit.table(first, None) for unit in self.units)
        return np.ascontiguousarray(np.moveaxis(np.asarray(found), 2, 0))

    def sum(self, values: Floats) -> Floats:
        """Responses x nuggets: the sum of likeness times value over the first responses.

        There is a row of values for each of these, with a column for each nugget.
        """
        return np.asarray(sum(unit.sum(values, None) for unit in self.units))


def nearness(
    pool: Pool, parts: Sequence[str], bounds: Ints, stems: Ragged, texts: Ragged
) -> list[Nearness]:
    """Of every question. `parts` are the sentences of all responses, and those of response i begin
    at `bounds[i]`; `stems` are their words, and `texts` those of all descriptions, in their order.
    """
    characters, nuggets = code_points([*parts, *pool.descriptions]), pool.description_starts
    found = []
    asked = zip(pairwise(pool.starts.tolist()), pairwise(pool.nugget_starts.tolist()), strict=True)
    for (start, end), (first, last) in asked:
        mine, own = bounds[start : end + 1], nuggets[first : last + 1]
        here, there = ((int(x[0]), int(x[-1])) for x in (mine, own))
        sentences = _part(stems, *here), _part(characters, *here)
        told = _part(texts, *there), _part(characters, *(len(parts) + t for t in there))
        mine, own = mine - mine[0], own - own[0]
        relevance = _relevance(sentences[0], mine, told[0], own)
        found.append(Nearness(sentences, mine, told, own, relevance))
    return found


def _part(rows: Ragged, first: int, last: int) -> Ragged:
    offsets = rows.offsets[first : last + 1]
    return Ragged(rows.ids[offsets[0] : offsets[-1]], offsets - offsets[0])


def _relevance(sentences: Ragged, bounds: Ints, texts: Ragged, nuggets: Ints) -> Floats:
    """The root of the share of a nugget's words in each sentence; of its descriptions the best."""
    words, column = np.unique(texts.ids.astype(np.int64), return_inverse=True)
    have, inside = _present(sentences, words), np.zeros((len(texts.offsets) - 1, len(words)))
    inside[np.repeat(np.arange(len(inside)), texts.lengths), column.ravel()] = 1
    said = _any(have, bounds).sum(axis=0)
    idf = log((len(bounds) - 1 + 1) / (said + 0.5))
    weights = inside * idf * np.maximum(1 - _any(inside, nuggets).mean(axis=0), _LEAST)
    shares = product(have, weights.T) / np.maximum(weights.sum(axis=1), 1e-9)
    best = [shares[:, a:b].max(axis=1, initial=0.0) for a, b in pairwise(nuggets.tolist())]
    return np.sqrt(np.stack(best, axis=1)) if best else np.zeros((len(have), 0))


def _present(rows: Ragged, words: Ints) -> Floats:
    """Rows x some words: 1 where a row has the word."""
    found = np.zeros((len(rows.offsets) - 1, len(words)))
    if len(words):
        at = np.minimum(np.searchsorted(words, rows.ids), len(words) - 1)
        hits = words[at] == rows.ids
        found[np.repeat(np.arange(len(found)), rows.lengths)[hits], at[hits]] = 1
    return found


def _any(rows: Floats, bounds: Ints) -> Floats:
    """Groups of rows that begin at `bounds`: 1 where any of the group has it."""
    found, some = np.zeros((len(bounds) - 1, rows.shape[1])), np.diff(bounds) > 0
    if some.any():
        found[some] = np.maximum.reduceat(rows, bounds[:-1][some], axis=0)
    return found
