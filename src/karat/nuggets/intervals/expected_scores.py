"""Scores of runs from values of cells: decisions, judgements, or probabilities.

A nugget that a run has with the probability p counts p: the expected number of nuggets takes the
place of their number in the share A and in the official F. Here F is that of all runs of a pool at
once; `official` has the same formula, one answer at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from karat.arrays import Flags, Floats, np
from karat.nuggets.prediction.pool import Pool
from karat.nuggets.scores.decisions import AnswerDecisions
from karat.nuggets.scores.official import (
    ALLOWANCE,
    Official,
    answer_length,
    nugget_weights,
    sums_between,
)
from karat.nuggets.sets.keys_and_runs import Question, Run


class NuggetStats(NamedTuple):
    """Nuggets that answers returned, and their cost: an array each, of any shape."""

    returned: Floats
    total: Floats
    allowance: Floats
    length: Floats

    def f(self, beta: float) -> Floats:
        """F(beta); 0 where nothing was returned, NaN without any weight."""
        square = beta * beta
        with np.errstate(divide="ignore", invalid="ignore"):
            recall = self.returned / self.total
            precision = np.where(self.length < self.allowance, 1.0, self.allowance / self.length)
            f = (square + 1) * precision * recall / (square * precision + recall)
        return np.where(self.total > 0, np.where(self.returned > 0, f, 0.0), np.nan)

    def kept(self, some: Flags) -> NuggetStats:
        """Return some answers; the others have no weight."""
        return self._replace(total=np.where(some, self.total, 0.0))

    def summed(self) -> NuggetStats:
        """The sums over questions, the last axis, of those that have a weight: for micro F."""
        kept = self.total > 0
        return NuggetStats(*(np.where(kept, part, 0.0).sum(axis=-1) for part in self))


def jackknife_pseudo_values(told: NuggetStats, beta: float) -> Floats:
    """The jackknife's, of F micro: n F - (n - 1) F without k, for each of n questions k.

    The variance of their mean is the jackknife's of F; their mean is F, less the jackknife's bias.
    """
    kept = np.flatnonzero(told.total > 0)
    without = [told.kept(np.arange(len(told.total)) != k).summed().f(beta) for k in kept]
    return np.asarray(len(kept) * told.summed().f(beta) - (len(kept) - 1) * np.array(without))


def pool_stats(pool: Pool, cells: Floats, how: Official) -> NuggetStats:
    """Runs x questions; a question without a response returns nothing."""
    best = np.nan_to_num(pool.answers(cells))
    weight = np.concatenate(
        [np.zeros(0), *(nugget_weights(q, how.weights) for q in pool.questions)]
    )
    starts, cost = pool.nugget_starts, pool.lengths
    total = np.broadcast_to(sums_between(weight[None], starts), cost.shape)
    carried, found = (sums_between(table, starts) for table in (best, best * weight))
    return NuggetStats(found, total, ALLOWANCE * carried, cost)


class RunAnswers(NamedTuple):
    """The answers of one run, question by question."""

    share: Floats
    """A."""
    official: NuggetStats

    def scores(self, beta: float) -> tuple[float, float, float]:
        """Return A, F macro and F micro; F is NaN where no nugget has any weight."""
        f, kept = self.official.f(beta), self.official.total > 0
        macro = float(f[kept].mean()) if kept.any() else np.nan
        return float(self.share.mean()), macro, float(self.official.summed().f(beta))


def run_answers(
    questions: Sequence[Question],
    run: Run,
    decided: Mapping[str, AnswerDecisions],
    how: Official,
    chances: Mapping[str, Floats],
) -> tuple[RunAnswers, RunAnswers]:
    """Return the answers of a run: expected, with chances in place of guesses; and by decisions.

    All questions have nuggets.
    """
    told: list[list[Floats]] = []
    shown: list[list[Floats]] = []
    for question in questions:
        found, chance = decided[question.id], chances[question.id]
        shown.append([found.best, found.returned(how.strict)])
        told.append(shown[-1])
        if not found.known.all():
            tables = found.values, found.carried(how.strict)
            expected = (np.where(found.known, table, chance) for table in tables)
            told[-1] = [table.max(axis=0, initial=0.0) for table in expected]
    ends = np.cumsum([0, *(len(question.nuggets) for question in questions)])
    weight = np.concatenate([nugget_weights(question, how.weights) for question in questions])
    cost = np.array([answer_length(run.responses(q.id)) for q in questions], dtype=np.float64)
    answers = []
    for best in (told, shown):
        support, carried = (np.concatenate(some) for some in zip(*best, strict=True))
        sums = sums_between(np.stack([support, weight * carried, weight, carried]), ends)
        official = NuggetStats(sums[1], sums[2], ALLOWANCE * sums[3], cost)
        answers.append(RunAnswers(sums[0] / np.diff(ends), official))
    return answers[0], answers[1]
