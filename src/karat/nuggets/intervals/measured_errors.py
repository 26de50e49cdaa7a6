"""Errors of scores of guesses, measured on judged runs that were guessed without themselves.

Scores are expected values: the share A of nuggets, F macro, and F micro; each has errors of its
own (`intervals.Errors`). Where judgements cannot tell, there are none, and intervals come from
`shifted_scores.py`.

Assessors do not agree with themselves: identical responses are not always labelled alike. What is
known of a response from an identical one of another run is in doubt, too:

    noise = (pairs of identical responses labelled differently + 5) / (such pairs + 50)
    doubt = noise / share of wrong guesses, at most 1

is what such a pair counts beside a guess. 50 pairs of which a tenth differ are a prior, for sets
that have few.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from karat.arrays import Flags, Floats, Ints, np
from karat.nuggets.guess.pool import Pool
from karat.nuggets.intervals.expected_scores import Returned, returned
from karat.nuggets.intervals.intervals import AllErrors, score_errors, whole_errors
from karat.nuggets.scores.official import Official
from karat.nuggets.sets.judgements import SUPPORT

NOISE = 0.1
"""Identical responses that are labelled differently, where that is not measured."""
_PAIRS = 50.0  # what that weighs beside measured ones


@dataclass(frozen=True, eq=False)
class Measured:
    """Judged runs, what was guessed of them without themselves, and their judgements."""

    pool: Pool
    probabilities: Floats
    carried: Flags
    labels: Floats
    """In a cell's own run; NaN where nobody judged."""

    def errors(self, how: Official) -> AllErrors:
        """Return the errors of all scores of guesses.

        None if fewer than two runs were judged whole on two questions, which F must have for its.
        """
        if len(self._judged) < 2:
            return AllErrors()
        guessed = self.pool.question_scores(self.probabilities)
        share = score_errors(guessed[self._judged], self._official[self._judged])
        least = SUPPORT if how.strict else np.nextafter(0, 1)  # as F counts judgements
        carried = (np.nan_to_num(self.labels) >= least).astype(np.float64)
        told, official = (self._returned(x, how) for x in (self.probabilities, carried))
        f = official.f(how.beta)
        if ((~np.isnan(f)).sum(axis=1) > 1).sum() < 2:  # no nuggets are vital
            return AllErrors(share)
        macro = score_errors(told.f(how.beta), f)
        mine, whole = (one.summed().f(how.beta) for one in (told, official))
        scored = ~np.isnan(whole)
        micro = whole_errors(mine[scored], whole[scored])
        return AllErrors(share, macro, micro.split(macro.chance(self.pool.starts.size - 1)))

    @cached_property
    def _official(self) -> Floats:
        return official_scores(self.pool, self.labels)

    @cached_property
    def _judged(self) -> Ints:
        """The runs that were judged whole on two questions or more."""
        return np.flatnonzero((~np.isnan(self._official)).sum(axis=1) > 1)

    def _returned(self, cells: Floats, how: Official) -> Returned:
        """Return what the judged runs returned where their official scores are known."""
        found = returned(self.pool, cells, how).kept(~np.isnan(self._official))
        return Returned(*(part[self._judged] for part in found))

    def doubt(self) -> float:
        """Return what a pair known from an identical response counts beside a guess."""
        judged = ~np.isnan(self.labels)
        wrong = float((self.carried != (self.labels > 0))[judged].mean()) if judged.any() else 0.0
        return min(1.0, label_noise(self.pool, self.labels) / max(wrong, 0.01))


def label_noise(pool: Pool, labels: Floats) -> float:
    """Return the share of identical responses that are labelled differently, drawn to a tenth."""
    judged = np.flatnonzero(~np.isnan(labels))
    words = pool.same[pool.cell_response[judged]] * (len(pool.nuggets) + 1)
    words += pool.cell_nugget[judged]
    order = np.argsort(words, kind="stable")
    bounds = np.flatnonzero(np.diff(words[order], prepend=-1, append=-1))
    sizes, at = np.diff(bounds), bounds[:-1]
    yes = np.add.reduceat((labels[judged[order]] > 0).astype(np.int64), at) if len(at) else sizes
    differ, pairs = float((yes * (sizes - yes)).sum()), float((sizes * (sizes - 1) // 2).sum())
    return (differ + NOISE * _PAIRS) / (pairs + _PAIRS)


def official_scores(pool: Pool, labels: Floats) -> Floats:
    """Return runs x questions: A, half for partial support; NaN where judgements do not tell it.

    Assessors may stop at the first response that carries a nugget: then the others do not matter.
    """
    told = np.nan_to_num(labels)
    best = pool.answers(told).ravel()[pool.answered]
    missing = (np.isnan(labels) & (best == 0)).astype(np.float64)
    found: Floats = np.where(pool.question_scores(missing) > 0, np.nan, pool.question_scores(told))
    return found
