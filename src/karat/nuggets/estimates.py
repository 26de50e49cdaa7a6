"""Scores of runs from values of cells: decisions, judgements, or probabilities.

A nugget that a run has with the probability p counts p: the expected number of nuggets takes the
place of their number in the share A and in the official F. Here F is that of all runs of a pool at
once; `official` has the same formula, one answer at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.decisions import Decided
from karat.nuggets.judgements import SUPPORT
from karat.nuggets.keys import Question
from karat.nuggets.official import ALLOWANCE, Official, length, weights
from karat.nuggets.pool import Floats, Pool
from karat.nuggets.runs import Run


class Returned(NamedTuple):
    """What answers returned, and what they cost: an array each, of any shape."""

    returned: Floats
    total: Floats
    allowance: Floats
    length: Floats

    def f(self, beta: float) -> Floats:
        """F(beta); 0 where nothing was returned, NaN without any weight."""
        with np.errstate(divide="ignore", invalid="ignore"):
            recall = self.returned / self.total
            precision = np.where(self.length < self.allowance, 1.0, self.allowance / self.length)
            f = (beta**2 + 1) * precision * recall / (beta**2 * precision + recall)
        return np.where(self.total > 0, np.where(self.returned > 0, f, 0.0), np.nan)

    def kept(self, some: NDArray[np.bool_]) -> Returned:
        """The same of some answers; the others have no weight."""
        return self._replace(total=np.where(some, self.total, 0.0))

    def summed(self) -> Returned:
        """The sums over questions, the last axis, of those that have a weight: for micro F."""
        kept = self.total > 0
        return Returned(*(np.where(kept, part, 0.0).sum(axis=-1) for part in self))


def returned(pool: Pool, cells: Floats, how: Official) -> Returned:
    """Runs x questions; a question without a response returns nothing."""
    best = np.nan_to_num(pool.answers(cells))
    weight = np.concatenate([np.zeros(0), *(weights(q, how.weights) for q in pool.questions)])
    total = np.broadcast_to(_by_question(pool, weight[None]), lengths(pool).shape)
    allowance = ALLOWANCE * _by_question(pool, best)
    return Returned(_by_question(pool, best * weight), total, allowance, lengths(pool))


def _by_question(pool: Pool, table: Floats) -> Floats:
    """Sums over the nuggets of each question."""
    sums = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)
    return np.diff(sums[:, pool.nugget_starts], axis=1)


def lengths(pool: Pool) -> Floats:
    """Runs x questions: the characters of an answer, white space not counted."""
    found = np.zeros((len(pool.runs), len(pool.questions)))
    characters = [sum(map(len, text.split())) for text in pool.texts]
    np.add.at(found, (pool.run, pool.question), characters)
    return found


class Answers(NamedTuple):
    """The answers of one run, question by question."""

    share: Floats
    """A."""
    official: Returned


def of_answers(
    questions: Sequence[Question],
    run: Run,
    decided: Mapping[str, Decided],
    how: Official,
    chances: Mapping[str, Floats] | None = None,
) -> Answers:
    """What a run returned by decisions; with `chances` those in place of guesses."""
    least = SUPPORT if how.strict else np.nextafter(0, 1)
    share, official = [], []
    for question in questions:
        found = decided[question.id]
        values, carried = np.nan_to_num(found.values), np.nan_to_num(found.values) >= least
        if chances is not None:
            values = np.where(found.known, values, chances[question.id])
            carried = np.where(found.known, carried, chances[question.id])
        best, weight = carried.max(axis=0, initial=0.0), weights(question, how.weights)
        share.append(float(values.max(axis=0, initial=0.0).mean()))
        cost = length(run.responses(question.id))
        official.append((weight @ best, weight.sum(), ALLOWANCE * best.sum(), cost))
    return Answers(np.array(share), Returned(*np.array(official, dtype=np.float64).T))
