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
    carried, cost = _by_question(pool, best), pool.lengths
    total = np.broadcast_to(_by_question(pool, weight[None]), cost.shape)
    return Returned(_by_question(pool, best * weight), total, ALLOWANCE * carried, cost)


def _by_question(pool: Pool, table: Floats) -> Floats:
    """Sums over the nuggets of each question."""
    sums = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)
    return np.diff(sums[:, pool.nugget_starts], axis=1)


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
    chances: Mapping[str, Floats],
) -> tuple[Answers, Answers]:
    """What a run returned: expected, with chances in place of guesses; and by decisions."""
    least = SUPPORT if how.strict else np.nextafter(0, 1)
    rows = []
    for question in questions:
        found, chance = decided[question.id], chances[question.id]
        carried = (found.values >= least).astype(np.float64)
        shown = [np.fmax.reduce(table, axis=0, initial=0.0) for table in (found.values, carried)]
        told = shown
        if not found.known.all():
            tables = (np.where(found.known, table, chance) for table in (found.values, carried))
            told = [table.max(axis=0, initial=0.0) for table in tables]
        weight = weights(question, how.weights)
        whole = weight.sum(), length(run.responses(question.id))
        rows.append([_row(weight, *whole, *best) for best in (told, shown)])
    both = np.array(rows, dtype=np.float64)
    expected, plain = (Answers(both[:, k, 0], Returned(*both[:, k, 1:].T)) for k in (0, 1))
    return expected, plain


def _row(
    weight: Floats, total: float, cost: int, support: Floats, carried: Floats
) -> tuple[float, float, float, float, int]:
    """A, and the parts of `Returned`."""
    allowance = ALLOWANCE * float(carried.sum())
    return float(support.mean()), float(weight @ carried), total, allowance, cost
