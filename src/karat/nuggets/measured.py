"""How wrong scores of guesses are, measured on judged runs that were guessed without themselves.

Scores are expected values: the share A of nuggets, F macro, and F micro; each has errors of its
own (`intervals.Errors`). Where judgements cannot tell, the errors are those of a model that was
learned on another set (`PRIOR_…`; `experiments/nuggets_intervals.py`).

Assessors do not agree with themselves: identical responses are not always labelled alike. What is
known of a response from an identical one of another run is in doubt, too:

    noise = (pairs of identical responses labelled differently + 5) / (such pairs + 50)
    doubt = noise / share of wrong guesses, at most 1

is what such a pair counts beside a guess. 50 pairs of which a tenth differ are a prior, for sets
that have few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.calibrated import PRIOR_ERRORS
from karat.nuggets.estimates import returned
from karat.nuggets.intervals import Errors, score_errors, whole_errors
from karat.nuggets.judgements import SUPPORT
from karat.nuggets.official import Official
from karat.nuggets.pool import Floats, Pool

PRIOR_MACRO = Errors(0.0, 0.0015, 0.037, 25)
"""Of F macro without judgements; the mean error on the other set is part of a run's own."""
PRIOR_MICRO = Errors(0.0, 0.0011, 0.0011, 25)
"""Of F micro without judgements."""
_NOISE, _PAIRS = 0.1, 50.0  # identical responses labelled differently, and what that weighs
_WRONG = 0.2  # wrong guesses where nothing is measured


class AllErrors(NamedTuple):
    """The errors of A, of F macro and of F micro."""

    share: Errors
    macro: Errors
    micro: Errors


PRIOR_ALL = AllErrors(PRIOR_ERRORS, PRIOR_MACRO, PRIOR_MICRO)


@dataclass(frozen=True, eq=False)
class Measured:
    """Judged runs, what was guessed of them without themselves, and their judgements."""

    pool: Pool
    probabilities: Floats
    carried: NDArray[np.bool_]
    labels: Floats
    """In a cell's own run; NaN where nobody judged."""

    def errors(self, how: Official) -> AllErrors:
        """The errors of all scores; the prior's if too few answers were judged whole."""
        official = official_scores(self.pool, self.labels)
        judged = np.flatnonzero((~np.isnan(official)).sum(axis=1) > 1)
        if len(judged) < 2:
            return PRIOR_ALL
        guessed = self.pool.question_scores(self.probabilities)
        return AllErrors(
            score_errors(guessed[judged], official[judged]), *self._f_errors(how, official, judged)
        )

    def _f_errors(
        self, how: Official, official: Floats, judged: NDArray[np.int64]
    ) -> tuple[Errors, Errors]:
        least = SUPPORT if how.strict else np.nextafter(0, 1)
        told = (np.nan_to_num(self.labels) >= least).astype(np.float64)
        known = ~np.isnan(official)
        both = [returned(self.pool, cells, how).kept(known) for cells in (self.probabilities, told)]
        f = [one.f(how.beta)[judged] for one in both]
        if ((~np.isnan(f[1])).sum(axis=1) > 1).sum() < 2:  # no vital nuggets
            return PRIOR_MACRO, PRIOR_MICRO
        micro = [one.summed().f(how.beta)[judged] for one in both]
        scored = ~np.isnan(micro[1])
        macro = score_errors(*f)
        whole = whole_errors(micro[0][scored], micro[1][scored])
        return macro, whole.split(macro.chance(self.pool.starts.size - 1))

    def doubt(self) -> float:
        """What a pair known from an identical response counts beside a guess."""
        judged = ~np.isnan(self.labels)
        wrong = float((self.carried != (self.labels > 0))[judged].mean()) if judged.any() else 0.0
        return min(1.0, label_noise(self.pool, self.labels) / max(wrong, 0.01))


PRIOR_DOUBT = _NOISE / _WRONG
"""Where no runs were judged that could tell."""


def label_noise(pool: Pool, labels: Floats) -> float:
    """How often identical responses of two runs are labelled differently, shrunk to a tenth."""
    judged = np.flatnonzero(~np.isnan(labels))
    words = pool.same[pool.cell_response[judged]] * (len(pool.nuggets) + 1)
    words += pool.cell_nugget[judged]
    order = np.argsort(words, kind="stable")
    bounds = np.flatnonzero(np.diff(words[order], prepend=-1, append=-1))
    sizes, at = np.diff(bounds), bounds[:-1]
    yes = np.add.reduceat((labels[judged[order]] > 0).astype(np.int64), at) if len(at) else sizes
    differ, pairs = float((yes * (sizes - yes)).sum()), float((sizes * (sizes - 1) // 2).sum())
    return (differ + _NOISE * _PAIRS) / (pairs + _PAIRS)


def official_scores(pool: Pool, labels: Floats) -> Floats:
    """Runs x questions: A, half for partial support; NaN where judgements do not tell all of it.

    Assessors may stop at the first response that carries a nugget: then the others do not matter.
    """
    told = np.nan_to_num(labels)
    best = pool.answers(told).ravel()[pool.answered]
    missing = (np.isnan(labels) & (best == 0)).astype(np.float64)
    found: Floats = np.where(pool.question_scores(missing) > 0, np.nan, pool.question_scores(told))
    return found
