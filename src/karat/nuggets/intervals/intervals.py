"""Intervals: how far a run's score may be from the official one, and why.

Two things are uncertain. The questions are a sample: other ones would give another mean. And what
was guessed may be wrong, by chance on single questions, or all in one direction for a whole run,
because its way of writing suits the classifier or does not. The second is the larger part, does not
go away with more questions, and a bootstrap over questions does not see it.

Of judged runs whose cells were guessed without their own judgements we know the errors
e = guessed - official of every run and question, and from those the mean error, the variance B of a
run's own error, and the variance E of a question's error within a run. For a run with guessed
scores a_1 … a_n on n questions out of a population of N,

    score = mean a - mean e
    variance = (B + E / N) (1 + 1 / runs) + (1 - n / N) var(a) / n.

With N = n this is about the official score on these very questions (the paper's Figure 5), with N
infinite about questions in general; then E is part of var(a), and adds nothing more. The interval
is Student's, its degrees of freedom those of both terms together (Welch and Satterthwaite).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import NamedTuple

from karat.arrays import Floats, np
from karat.errors import InputError
from karat.nuggets.intervals.expected_scores import Answers, pseudo_values
from karat.stats.distributions import student_quantile


class Errors(NamedTuple):
    """Errors of guessed scores of judged runs."""

    bias: float
    """The mean of guessed - official."""
    between: float
    """The variance of a run's own error (B)."""
    within: float
    """The variance of a question's error within a run (E)."""
    runs: int

    def chance(self, questions: int) -> float:
        """The share of chance, (E / N) / (B + E / N), in the variance of a mean."""
        by_chance = self.within / questions
        return by_chance / (self.between + by_chance) if by_chance else 0.0

    def split(self, chance: float) -> Errors:
        """Errors of whole runs, of which a share is chance: they have but one question."""
        own, by_chance = self.between * (1 - chance), self.between * chance
        return self._replace(between=own, within=by_chance)

    def scaled(self, guessed: float, doubtful: float, answered: float) -> Errors:
        """The errors where only a share of pairs is guessed, and of questions is answered.

        What is wrong with a run as a whole shrinks with the share that is in doubt, what is wrong
        by chance with its root. `doubtful` is the share of guesses, and of what is nearly one.
        """
        wrong = doubtful * answered
        between, within = self.between * (wrong * wrong), self.within * doubtful * answered
        return Errors(self.bias * guessed * answered, between, within, self.runs)


class ScoreInterval(NamedTuple):
    """A score and the bounds of its interval."""

    score: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """The distance of its bounds."""
        return self.high - self.low

    def around(self, shown: float) -> ScoreInterval:
        """Return the interval made to hold a score that was found in another way."""
        return ScoreInterval(self.score, min(self.low, shown), max(self.high, shown))

    def joined(self, other: ScoreInterval) -> ScoreInterval:
        """Return the interval made to hold another one."""
        return self.around(other.low).around(other.high)


class RunIntervals(NamedTuple):
    """Intervals of a run's scores; those of F are missing where no nugget has any weight."""

    share: ScoreInterval
    """Of A."""
    macro: ScoreInterval | None
    micro: ScoreInterval | None

    def holding(self, shown: Answers, beta: float) -> RunIntervals:
        """Return the intervals made to hold the scores of answers, too."""
        share, *f = shown.scores(beta)
        ends = (one and one.around(score) for one, score in zip(self[1:], f, strict=True))
        return RunIntervals(self.share.around(share), *ends)


class AllErrors(NamedTuple):
    """The errors of A, of F macro and of F micro; None where judgements do not tell them."""

    share: Errors | None = None
    macro: Errors | None = None
    micro: Errors | None = None

    def intervals(self, told: Answers, beta: float, general: bool) -> RunIntervals | None:
        """Return intervals of the scores of answers; None without errors of A."""
        if self.share is None:
            return None
        share, official = _interval(told.share, self.share, general), told.official
        kept = official.total > 0
        if self.macro is None or self.micro is None or kept.sum() < 1 + general:
            return RunIntervals(share, None, None)
        macro = _interval(official.f(beta)[kept], self.macro, general)
        micro = score_interval(np.array([official.summed().f(beta)]), self.micro, 1)
        if general:
            micro = micro.joined(score_interval(pseudo_values(official, beta), self.micro))
        return RunIntervals(share, macro, micro)

    def narrower(self, found: RunIntervals, other: RunIntervals) -> RunIntervals:
        """Return the narrower interval of each score whose errors tell little; or the only one."""
        share, macro, micro = (
            min(one, two, key=lambda ends: ends.width)
            if one and two and few_runs(told)
            else one or two
            for one, two, told in zip(found, other, self, strict=True)
        )
        return RunIntervals(share or found.share, macro, micro)


FEWEST_RUNS = 5
"""Judged runs whose errors tell enough by themselves."""


def few_runs(errors: Errors | None) -> bool:
    """Return whether judged runs are too few to tell enough of errors by themselves."""
    return errors is None or errors.runs < FEWEST_RUNS


def _interval(scores: Floats, errors: Errors, general: bool) -> ScoreInterval:
    """Return the interval on these questions; or in general, which holds that on these."""
    here = score_interval(scores, errors, len(scores))
    # A few scores may by chance be more alike than their errors are large.
    return here.joined(score_interval(scores, errors)) if general else here


def score_errors(guessed: Floats, official: Floats) -> Errors:
    """Return the errors of runs x questions; NaN where a run has no score."""
    errors = guessed - official
    errors = errors[(~np.isnan(errors)).sum(axis=1) > 1]
    if len(errors) < 2:
        raise InputError(
            f"{len(errors)} runs were judged on two questions or more: expected at least 2 runs, "
            "to learn how much guessed scores are wrong"
        )
    counts = (~np.isnan(errors)).sum(axis=1)
    means = np.nanmean(errors, axis=1)
    within = float(np.nansum((errors - means[:, None]) ** 2) / (counts - 1).sum())
    between = max(0.0, float(means.var(ddof=1)) - float((within / counts).mean()))
    return Errors(float(means.mean()), between, within, len(errors))


def whole_errors(guessed: Floats, official: Floats) -> Errors:
    """Return the errors of scores of whole runs, not of questions: all of it is a run's own."""
    errors = guessed - official
    return Errors(float(errors.mean()), float(errors.var(ddof=1)), 0.0, len(errors))


def score_interval(
    scores: Floats, errors: Errors, population: float = inf, level: float = 0.95
) -> ScoreInterval:
    """The interval of the mean of a run's guessed scores, one for each question it answered."""
    a = np.asarray(scores, dtype=np.float64)
    n = len(a)
    if not n or (n < 2 and population > n):
        raise InputError(f"{n} questions: expected at least 2, or as many as the population has")
    if population < n:
        raise InputError(f"population={population}: expected at least the {n} questions scored")
    guessing = (errors.between + errors.within / population) * (1 + 1 / errors.runs)
    sampling = (1 - n / population) * float(a.var(ddof=1)) / n if population > n else 0.0
    variance = guessing + sampling
    freedom = welch_freedom([(guessing, errors.runs - 1), (sampling, n - 1)])
    reach = student_quantile((1 - level) / 2, freedom) * sqrt(variance)
    score = float(a.mean()) - errors.bias
    low, high = (min(1.0, max(0.0, end)) for end in (score - reach, score + reach))
    return ScoreInterval(score, low, high)


def intervals_of_runs(guessed: Floats, official: Floats) -> list[ScoreInterval | None]:
    """The interval of every run on its questions, from the errors of the others; None without any.

    Runs x questions, NaN where a run has no score.
    """
    found: list[ScoreInterval | None] = []
    for k, scores in enumerate(guessed):
        others = np.arange(len(guessed)) != k
        judged = (~np.isnan(guessed - official)).sum(axis=1) > 1
        mine = scores[~np.isnan(scores)]
        if (others & judged).sum() < 2 or not len(mine):
            found.append(None)
        else:
            errors = score_errors(guessed[others], official[others])
            found.append(score_interval(mine, errors, len(mine)).around(float(mine.mean())))
    return found


def welch_freedom(parts: Sequence[tuple[float, float]]) -> float:
    """Return the degrees of freedom of a sum of variances: (sum of v)^2 / sum of v^2 / df."""
    some = [(variance, max(df, 1)) for variance, df in parts if variance > 0]
    if len(some) < 2:
        return float(some[0][1]) if some else 1.0
    whole = sum(v for v, _ in some)
    return whole * whole / sum(v * v / df for v, df in some)
