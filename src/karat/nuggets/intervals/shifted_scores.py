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
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.arithmetic import sigmoid
from karat.nuggets.guess.calibrated.logistic import logit
from karat.nuggets.guess.pool import Floats
from karat.nuggets.intervals.base_rates import SetShift, Spread, reach
from karat.nuggets.intervals.expected_scores import Answers, of_answers, pseudo_values
from karat.nuggets.intervals.intervals import Interval, student_quantile
from karat.nuggets.intervals.measured_errors import NOISE
from karat.nuggets.scores.decisions import Decided
from karat.nuggets.scores.official import Official, weights
from karat.nuggets.sets.keys import Question
from karat.nuggets.sets.runs import Run


class GuessedRun(NamedTuple):
    """A run, what was decided of it, and the chances of its pairs."""

    questions: Sequence[Question]
    run: Run
    decided: Mapping[str, Decided]
    how: Official
    chances: Mapping[str, Floats]

    def doubting(self, own: Mapping[str, NDArray[np.bool_]]) -> GuessedRun:
        """Return the run with judgements that are not its own as guesses, if sure ones."""
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
            sure = np.where(found.known, found.values, self.chances[question.id])
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


class _Moved(NamedTuple):
    """The answers with guesses shifted down, as learned of the set, and up."""

    low: Answers
    middle: Answers
    high: Answers

    def interval(self, score: _Score) -> Interval:
        """From the one end to the other."""
        low, middle, high = (score.whole(told) for told in self)
        return Interval(middle, low, high)


def shifted_share(guessed: GuessedRun, known: SetShift, spread: Spread, general: bool) -> Interval:
    """The interval of A."""
    share = _Score(lambda told: float(told.share.mean()), lambda told: told.share)
    moved = _moved(guessed, known, spread, general, weighted=False)
    return _interval(share, *moved)


def shifted_f(
    guessed: GuessedRun, known: SetShift, spread: Spread, general: bool
) -> tuple[Interval | None, Interval | None]:
    """The intervals of F macro and micro; None without questions enough that have one."""
    beta = guessed.how.beta
    moved = _moved(guessed, known, spread, general, weighted=True)
    kept = moved[0].middle.official.total > 0
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
    return _interval(macro, *moved), _interval(micro, *moved)


def _moved(
    guessed: GuessedRun, known: SetShift, spread: Spread, general: bool, weighted: bool
) -> list[_Moved]:
    """By what shifts may be on these questions; if `general`, and on questions in general."""
    middle, moved = guessed.at(known.mean), []
    for amount in (guessed.guessed(weighted), (inf, inf))[: 1 + general]:
        far = reach(known, spread, *amount)
        moved.append(_Moved(guessed.at(known.mean - far), middle, guessed.at(known.mean + far)))
    return moved


def _interval(score: _Score, here: _Moved, wide: _Moved | None = None) -> Interval:
    """On these questions; or in general, where their choice counts, which holds that on these."""
    found = here.interval(score)
    if wide is None:
        return found
    ends, values = wide.interval(score), score.sample(wide.middle)
    sampling = student_quantile(0.025, len(values) - 1) * sqrt(values.var(ddof=1) / len(values))
    below, above = ends.score - ends.low, ends.high - ends.score
    low = ends.score - sqrt(below * below + sampling * sampling)
    high = ends.score + sqrt(above * above + sampling * sampling)
    return found.joined(Interval(ends.score, max(0.0, low), min(1.0, high)))
