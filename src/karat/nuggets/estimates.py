"""Scores of runs from values of cells: decisions, judgements, or probabilities.

A nugget that a run has with the probability p counts p: the expected number of nuggets takes the
place of their number in the share A and in the official F. Here F is that of all runs of a pool at
once; `official` has the same formula, one answer at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karat.nuggets.official import ALLOWANCE, Official, weights
from karat.nuggets.pool import Floats, Pool


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
            precision = np.where(
                self.length < self.allowance, 1.0, self.allowance / self.length
            )
            f = (beta**2 + 1) * precision * recall / (beta**2 * precision + recall)
        return np.where(self.total > 0, np.where(self.returned > 0, f, 0.0), np.nan)

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
