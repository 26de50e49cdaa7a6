"""Intervals of a run's scores where no errors were measured: its guesses shifted down and up.

How far they may be shifted is in `shifts.py`. What was judged in the run itself does not shift.
What is known from an identical response of another run does, as a guess as sure as assessors are
consistent (`NOISE`). If `general`, the choice of questions counts, too: at either end the reach of
the shift and that of Student's interval of the mean are sides of a right angle (Zou and Donner's
MOVER).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import hypot, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.decisions import Decided
from karat.nuggets.estimates import Answers, of_answers, pseudo_values
from karat.nuggets.intervals import Interval, student_quantile
from karat.nuggets.keys import Question
from karat.nuggets.logistic import logit, sigmoid
from karat.nuggets.measured import NOISE
from karat.nuggets.official import Official, weights
from karat.nuggets.pool import Floats
from karat.nuggets.runs import Run
from karat.nuggets.shifts import SetShift, Spread, reach


class GuessedRun(NamedTuple):
    """A run, what was decided of it, and the chances of its pairs."""

    questions: Sequence[Question]
    run: Run
    decided: Mapping[str, Decided]
    how: Official
    chances: Mapping[str, Floats]

    def doubting(self, own: Mapping[str, NDArray[np.bool_]]) -> GuessedRun:
        """The same, where judgements that are not the run's own are guesses, if sure ones."""
        decided, chances = {}, {}
        for id, found in ((q.id, self.decided[q.id]) for q in self.questions):
            likely = np.clip(found.values, NOISE, 1 - NOISE)
            decided[id] = replace(found, known=found.known & own[id])
            chances[id] = np.where(found.known, likely, self.chances[id])
        return self._replace(decided=decided, chances=chances)

    def at(self, shift: float) -> Answers:
        """The expected answers with all guesses shifted."""
        moved = {id: sigmoid(logit(p) + shift) for id, p in self.chances.items()}
        return of_answers(*self._replace(chances=moved))[0]

    def guessed(self, weighted: bool) -> tuple[float, float]:
        """Return m and I, of all nuggets or of those with a weight; m counts parts of questions."""
        worth, information = 0.0, 0.0
        for question in self.questions:
            found = self.decided[question.id]
            counts = weights(question, self.how.weights) > 0 if weighted else slice(None)
            sure = np.where(found.known, found.values > 0, self.chances[question.id])
            p = sure.max(axis=0, initial=0.0)[counts]
            open_ = (1 - found.known).max(axis=0, initial=0)[counts] * (1 - p) > 0
            if len(p):
                worth += float(open_.mean())
                information += float((p * (1 - p))[open_].sum())
        return worth, information


class _Score(NamedTuple):
    """A score of answers, and the values of single questions whose mean it is."""

    whole: Callable[[Answers], float]
    sample: Callable[[Answers], Floats]


def shifted_share(guessed: GuessedRun, known: SetShift, spread: Spread, general: bool) -> Interval:
    """The interval of A."""
    share = _Score(lambda told: float(told.share.mean()), lambda told: told.share)
    return _interval(guessed, share, (known, spread), general, weighted=False)


def shifted_f(
    guessed: GuessedRun, known: SetShift, spread: Spread, general: bool
) -> tuple[Interval | None, Interval | None]:
    """The intervals of F macro and micro; None without questions enough that have one."""
    beta = guessed.how.beta
    kept = guessed.at(0.0).official.total > 0
    if kept.sum() < 1 + general:
        return None, None
    macro = _Score(
        lambda told: float(told.official.f(beta)[kept].mean()),
        lambda told: told.official.f(beta)[kept],
    )
    micro = _Score(
        lambda told: float(told.official.summed().f(beta)),
        lambda told: pseudo_values(told.official, beta),
    )
    first, second = (
        _interval(guessed, score, (known, spread), general, weighted=True)
        for score in (macro, micro)
    )
    return first, second


def _interval(
    guessed: GuessedRun,
    score: _Score,
    shift: tuple[SetShift, Spread],
    general: bool,
    weighted: bool,
) -> Interval:
    """On these questions; or in general, which holds that on these."""
    here = _shifted(guessed, score, shift, guessed.guessed(weighted))
    if not general:
        return here
    wide = _shifted(guessed, score, shift, (inf, inf))
    values = score.sample(guessed.at(shift[0].mean))
    sampling = student_quantile(0.025, len(values) - 1) * (values.var(ddof=1) / len(values)) ** 0.5
    low = wide.score - hypot(wide.score - wide.low, sampling)
    high = wide.score + hypot(wide.high - wide.score, sampling)
    return here.joined(Interval(wide.score, max(0.0, low), min(1.0, high)))


def _shifted(
    guessed: GuessedRun,
    score: _Score,
    shift: tuple[SetShift, Spread],
    amount: tuple[float, float],
) -> Interval:
    """The score as learned of the set, and at both ends of what a shift may be."""
    known, spread = shift
    far = reach(known, spread, *amount)
    low, middle, high = (score.whole(guessed.at(known.mean + d)) for d in (-far, 0.0, far))
    return Interval(middle, low, high)
