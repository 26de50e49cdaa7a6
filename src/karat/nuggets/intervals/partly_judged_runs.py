"""Runs that were judged in part: what has to be hidden of judged runs to make them alike.

How wrong a score is of which a part is guessed can be measured, as for scores that are guessed
throughout: of every judged run as large a part is hidden as the run at hand has unjudged, guesses
take the place of what is hidden, and the mixed scores are compared with the official ones.

A part has two sides, for an assessor may leave out whole questions or single pairs: the share of a
run's answers of which something is unjudged, and in those the mean share of unjudged pairs. Both
are rounded to eighths. There are eight masks for a part, each a step round a circle of eight places
on from the one before: an answer is hidden from in as many of them as the part has eighths of
questions, and each of its pairs in as many as it has eighths of pairs, where all answers are. The
places of questions are spread evenly, by multiples of the golden section; those of pairs are
scattered as if drawn, for so they are judged: if each question had its even share hidden, errors
would come out too small. Places know nothing of runs, and are the same every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.guess.pool import Floats, Ints, Pool

_PLACES = 8
_TURN = 3  # of pairs, for a step of questions: not the same places each time
_GOLDEN = (sqrt(5) - 1) / 2


class Part(NamedTuple):
    """What of a run nobody has judged."""

    questions: float
    """Of the answers, those with unjudged pairs."""
    pairs: float
    """The mean share of such pairs there."""

    @property
    def share(self) -> float:
        """Of all answers, each counting alike."""
        return self.questions * self.pairs

    def rounded(self) -> Part:
        """To eighths, at least one."""
        return Part(*(max(int(_PLACES * x + 0.5), 1) / _PLACES for x in self))


WHOLE = Part(1.0, 1.0)
NOTHING = Part(0.0, 0.0)


def part_of(unjudged: Floats) -> Part:
    """From the share of unjudged pairs in every answer of a run."""
    some = unjudged[unjudged > 0]
    return Part(len(some) / len(unjudged), float(some.mean())) if len(some) else NOTHING


def masks(pool: Pool, part: Part) -> Iterator[NDArray[np.bool_]]:
    """The cells to hide, mask after mask; one does where all of them are."""
    if part == WHOLE:
        yield np.ones(len(pool.cell_question), dtype=np.bool_)
        return
    questions, pairs = (round(_PLACES * x) for x in part)
    answer = _spread(pool.cell_question)
    pair = _scattered(pool.cell_question, number_in_answer(pool))
    for step in range(_PLACES):
        asked = (answer + step) % _PLACES < questions
        yield asked & ((pair + _TURN * step) % _PLACES < pairs)


def number_in_answer(pool: Pool) -> Ints:
    """Of every cell among those of its run and question: response by response."""
    same = pool.cell_question * len(pool.runs) + pool.cell_run
    first = np.flatnonzero(np.diff(same, prepend=-1))
    lengths = np.diff(first, append=len(same))
    found: Ints = np.arange(len(same)) - np.repeat(first, lengths)
    return found


def _spread(question: Ints) -> Ints:
    """Places of questions."""
    turns = _GOLDEN * question
    found: Ints = ((turns - np.floor(turns)) * _PLACES).astype(np.int64)
    return found


def _scattered(question: Ints, number: Ints) -> Ints:
    """Places of pairs: the first bits of a mix of both numbers (the finish of splitmix64)."""
    x = question.astype(np.uint64) << np.uint64(32) | number.astype(np.uint64)
    x += np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    found: Ints = ((x ^ x >> np.uint64(31)) >> np.uint64(61)).astype(np.int64)
    return found
