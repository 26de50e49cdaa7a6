"""Intervals of a run's scores where no errors were measured: its guesses shifted down and up.

How far they may be shifted is in `base_rates.py`. What was judged in the run itself does not shift.
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

from karat.arithmetic import sigmoid
from karat.arrays import Flags, Floats, np
from karat.nuggets.guess.calibrated.logistic import logit
from karat.nuggets.intervals.base_rates import SetShift, Spread, reach
from karat.nuggets.intervals.expected_scores import Answers, of_answers, pseudo_values
from karat.nuggets.intervals.intervals import RunIntervals, ScoreInterval
from karat.nuggets.intervals.measured_errors import NOISE
from karat.nuggets.scores.decisions import Decided
from karat.nuggets.scores.official import Official, weights
from karat.nuggets.sets.keys import Question
from karat.nuggets.sets.runs import Run
from karat.stats.distributions import student_quantile


class GuessedRun(NamedTuple):
    """A run, what was decided of it, and the chances of its pairs."""

    questions: Sequence[Question]
    run: Run
    decided: Mapping[str, Decided]
    how: Official
    chances: Mapping[str, Floats]
    own: Mapping[str, Flags]
    """The pairs that were judged in the run itself."""

    def doubting(self) -> GuessedRun:
        """Return the run with judgements that are not its own as guesses, if sure ones."""
        decided, chances = {}, {}
        for id, found in ((q.id, self.decided[q.id]) for q in self.questions):
            likely = np.clip(found.values, NOISE, 1 - NOISE)
            decided[id] = replace(found, known=found.known & self.own[id])
            chances[id] = np.where(found.known, likely, self.chances[id])
        return self._replace(decided=decided, chances=chances)

    def at(self, shift: float) -> Answers:
        """Return the expected answers with all guesses shifted."""
        moved = {id: sigmoid(logit(p) + shift) for id, p in self.chances.items()}
        return of_answers(self.questions, self.run, self.decided, self.how, moved)[0]

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


def shifted_intervals(
    guessed: GuessedRun, known: SetShift, spread: Spread, general: bool
) -> RunIntervals:
    """Return intervals of A and F; of F None without questions enough that have one."""
    run, beta = guessed.doubting(), guessed.how.beta
    middle = run.at(known.mean)

    def interval(score: int, sample: Callable[[], Floats]) -> ScoreInterval:
        """On these questions; or in general, where their choice counts, which holds that."""
        found = []
        for amount in (run.guessed(weighted=score > 0), (inf, inf))[: 1 + general]:
            far = reach(known, spread, *amount)
            ends = (run.at(known.mean - far), middle, run.at(known.mean + far))
            low, value, high = (told.scores(beta)[score] for told in ends)
            found.append(ScoreInterval(value, low, high))
        return found[0].joined(_sampled(found[1], sample())) if general else found[0]

    share = interval(0, lambda: middle.share)
    kept = middle.official.total > 0
    if kept.sum() < 1 + general:
        return RunIntervals(share, None, None)
    macro = interval(1, lambda: middle.official.f(beta)[kept])
    return RunIntervals(share, macro, interval(2, lambda: pseudo_values(middle.official, beta)))


def _sampled(ends: ScoreInterval, values: Floats) -> ScoreInterval:
    """Return the interval where the choice of questions, whose scores are the values, counts."""
    sampling = student_quantile(0.025, len(values) - 1) * sqrt(values.var(ddof=1) / len(values))
    below, above = ends.score - ends.low, ends.high - ends.score
    low = ends.score - sqrt(below * below + sampling * sampling)
    high = ends.score + sqrt(above * above + sampling * sampling)
    return ScoreInterval(ends.score, max(0.0, low), min(1.0, high))
