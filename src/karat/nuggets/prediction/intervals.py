"""Intervals: how far a run's score may be from the official one, and why.

Two things are uncertain. The questions are a sample: others would give another mean. And guesses
may be wrong, by chance on single questions, or in one direction for a whole run because of its
style. The second part is larger, does not shrink with more questions, and is invisible to a
bootstrap over questions.

For judged runs, guessed without their own judgements, the errors e = guessed - official of every
run and question are known. They give the mean error, the variance B of a run's own error, and the
variance E of a question's error within a run. For a run with guessed scores a_1 … a_n on n
questions out of a population of N,

    score = mean a - mean e
    variance = (B + E / N) (1 + 1 / runs) + (1 - n / N) var(a) / n.

N = n is for the official score on these very questions (the paper's Figure 5), infinite N for
questions in general; E is then part of var(a) and adds nothing. The interval is Student's, with the
degrees of freedom of the sum of both terms (Welch and Satterthwaite).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import NamedTuple, TypeAlias

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError
from karat.nuggets.prediction.pool import Pool
from karat.nuggets.scores.official import (
    OfficialSettings,
    RunAnswers,
    jackknife_pseudo_values,
    pool_stats,
)
from karat.nuggets.sets.judgements import SUPPORT
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.stats.distributions import student_quantile, student_tail
from karat.stats.jackknife import UnitEstimate, jackknife
from karat.stats.significance import UNDECIDED, verdict


class ScoreErrors(NamedTuple):
    """Errors of guessed scores of judged runs."""

    bias: float  # the mean of guessed - official
    between: float  # the variance of a run's own error (B)
    within: float  # the variance of a question's error within a run (E)
    runs: int

    def chance(self, questions: int) -> float:
        """Return the share of chance, (E / N) / (B + E / N), in the variance of a mean."""
        by_chance = self.within / questions
        return by_chance / (self.between + by_chance) if by_chance else 0.0

    def split(self, chance: float) -> ScoreErrors:
        """Return the errors of whole runs with a share of chance, as if of one question."""
        run_variance, by_chance = self.between * (1 - chance), self.between * chance
        return self._replace(between=run_variance, within=by_chance)

    def scaled(self, guessed: float, doubtful: float, answered: float) -> ScoreErrors:
        """Return the errors if only a share of pairs is guessed and of questions is answered.

        A run's own error shrinks with the doubtful share, chance errors with its root. `doubtful`
        is the share of guesses and of pairs known from other runs, by their weight.
        """
        doubtful_share = doubtful * answered
        between = self.between * (doubtful_share * doubtful_share)
        within = self.within * doubtful * answered
        return ScoreErrors(self.bias * guessed * answered, between, within, self.runs)


class ScoreInterval(NamedTuple):
    """A score and the bounds of its interval."""

    score: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.high - self.low

    def around(self, score: float) -> ScoreInterval:
        """Return the interval, extended to include a score."""
        return ScoreInterval(self.score, min(self.low, score), max(self.high, score))

    def joined(self, other: ScoreInterval) -> ScoreInterval:
        """Return the interval, extended to include another one."""
        return self.around(other.low).around(other.high)


class RunIntervals(NamedTuple):
    """Intervals of a run's scores; F has none if no nugget has any weight."""

    share: ScoreInterval  # of A
    macro: ScoreInterval | None
    micro: ScoreInterval | None

    def holding(self, answers: RunAnswers, beta: float) -> RunIntervals:
        """Return the intervals, extended to include the scores of answers."""
        share, *f = answers.scores(beta)
        ends = (
            interval and interval.around(score) for interval, score in zip(self[1:], f, strict=True)
        )
        return RunIntervals(self.share.around(share), *ends)


class RunErrors(NamedTuple):
    """Errors of A, F macro and F micro; None if they could not be measured."""

    share: ScoreErrors | None = None
    macro: ScoreErrors | None = None
    micro: ScoreErrors | None = None

    def intervals(self, answers: RunAnswers, beta: float, general: bool) -> RunIntervals | None:
        """Return intervals of the scores of answers; None without errors of A."""
        if self.share is None:
            return None
        share, official_stats = (
            _interval(answers.share, self.share, general),
            answers.official_stats,
        )
        has_weight = official_stats.total > 0
        if self.macro is None or self.micro is None or has_weight.sum() < 1 + general:
            return RunIntervals(share, None, None)
        macro = _interval(official_stats.f(beta)[has_weight], self.macro, general)
        micro = score_interval(np.array([official_stats.sums().f(beta)]), self.micro, 1)
        if general:
            in_general = score_interval(jackknife_pseudo_values(official_stats, beta), self.micro)
            micro = micro.joined(in_general)
        return RunIntervals(share, macro, micro)

    def narrower(self, from_errors: RunIntervals, from_base_rates: RunIntervals) -> RunIntervals:
        """Return the narrower interval if errors were measured on few runs, else the first."""
        share, macro, micro = (
            min(first, second, key=lambda ends: ends.width)
            if first and second and few_runs(errors)
            else first or second
            for first, second, errors in zip(from_errors, from_base_rates, self, strict=True)
        )
        return RunIntervals(share or from_errors.share, macro, micro)


MIN_RUNS = 5  # judged runs whose errors suffice by themselves


def few_runs(errors: ScoreErrors | None) -> bool:
    """Return whether errors were measured on too few judged runs."""
    return errors is None or errors.runs < MIN_RUNS


def _interval(scores: Floats, errors: ScoreErrors, general: bool) -> ScoreInterval:
    """Return the interval on these questions; if `general`, extended to questions like these."""
    on_these = score_interval(scores, errors, len(scores))
    # A few scores may by chance be more alike than their errors are large.
    return on_these.joined(score_interval(scores, errors)) if general else on_these


def score_errors(guessed: Floats, official: Floats) -> ScoreErrors:
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
    return ScoreErrors(float(means.mean()), between, within, len(errors))


def whole_errors(guessed: Floats, official: Floats) -> ScoreErrors:
    """Return the errors of scores of whole runs: all variance is between runs."""
    errors = guessed - official
    return ScoreErrors(float(errors.mean()), float(errors.var(ddof=1)), 0.0, len(errors))


def score_interval(
    scores: Floats, errors: ScoreErrors, population: float = inf, level: float = 0.95
) -> ScoreInterval:
    """Return the interval of the mean of a run's guessed scores on the questions it answered."""
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
    """Return the interval of every run on its questions, from the errors of the others.

    None if there are too few. Scores are runs x questions, NaN where a run has no score.
    """
    judged = (~np.isnan(guessed - official)).sum(axis=1) > 1
    intervals: list[ScoreInterval | None] = []
    for k, scores in enumerate(guessed):
        is_other = np.arange(len(guessed)) != k
        run_scores = scores[~np.isnan(scores)]
        if (is_other & judged).sum() < 2 or not len(run_scores):
            intervals.append(None)
            continue
        errors = score_errors(guessed[is_other], official[is_other])
        interval = score_interval(run_scores, errors, len(run_scores))
        intervals.append(interval.around(float(run_scores.mean())))
    return intervals


def intervals_of_whole_runs(guessed: Floats, official: Floats) -> list[ScoreInterval | None]:
    """Return the interval of each run's score, such as micro F, from the errors of the others."""
    intervals: list[ScoreInterval | None] = []
    for k, score in enumerate(guessed):
        is_other = (np.arange(len(guessed)) != k) & ~np.isnan(official)
        if is_other.sum() < 2 or np.isnan(score):
            intervals.append(None)
            continue
        errors = whole_errors(guessed[is_other], official[is_other])
        intervals.append(score_interval(np.array([score]), errors, 1).around(float(score)))
    return intervals


def welch_freedom(parts: Sequence[tuple[float, float]]) -> float:
    """Return the degrees of freedom of a sum of variances: (sum of v)^2 / sum of v^2 / df."""
    terms = [(variance, max(df, 1)) for variance, df in parts if variance > 0]
    if len(terms) < 2:
        return float(terms[0][1]) if terms else 1.0
    total = sum(v for v, _ in terms)
    return total * total / sum(v * v / df for v, df in terms)


NOISE = 0.1  # prior share of identical responses that are labelled differently
_PAIRS = 50.0  # weight of that prior, in pairs of responses


@dataclass(frozen=True, eq=False)
class MeasuredErrors:
    """Judged runs, guesses about them without their own judgements, and these judgements.

    Scores are expected values. A, F macro and F micro have their own errors.
    """

    pool: Pool
    probabilities: Floats
    carried: Flags
    labels: Floats  # judgements in a cell's own run; NaN if not judged

    def errors(self, official_settings: OfficialSettings) -> RunErrors:
        """Return the errors of all guessed scores.

        They need two runs that were completely judged on two questions with that score.
        """
        if len(self._judged) < 2:
            return RunErrors()
        guessed = self.pool.question_scores(self.probabilities)
        share = score_errors(guessed[self._judged], self._official[self._judged])
        least = (
            SUPPORT if official_settings.strict else np.nextafter(0, 1)
        )  # as F counts judgements
        carried = (np.nan_to_num(self.labels) >= least).astype(np.float64)
        has_score = ~np.isnan(self._official)
        guessed_stats, official_stats = (
            pool_stats(self.pool, values, official_settings).select(has_score).run(self._judged)
            for values in (self.probabilities, carried)
        )
        f = official_stats.f(official_settings.beta)
        if ((~np.isnan(f)).sum(axis=1) > 1).sum() < 2:  # no nuggets are vital
            return RunErrors(share)
        macro = score_errors(guessed_stats.f(official_settings.beta), f)
        guessed_micro, official_micro = (
            stats.sums().f(official_settings.beta) for stats in (guessed_stats, official_stats)
        )
        scored = ~np.isnan(official_micro)
        micro = whole_errors(guessed_micro[scored], official_micro[scored])
        return RunErrors(share, macro, micro.split(macro.chance(self.pool.starts.size - 1)))

    @cached_property
    def _official(self) -> Floats:
        return official_scores(self.pool, self.labels)

    @cached_property
    def _judged(self) -> Ints:
        """The runs that were completely judged on two questions or more."""
        return np.flatnonzero((~np.isnan(self._official)).sum(axis=1) > 1)

    def doubt(self) -> float:
        """Return the weight of a pair known from an identical response, relative to a guess.

        Assessors are not consistent: identical responses may have different labels.

            doubt = noise / share of wrong guesses, at most 1
        """
        is_judged = ~np.isnan(self.labels)
        is_wrong = (self.carried != (self.labels > 0))[is_judged]
        wrong_share = float(is_wrong.mean()) if len(is_wrong) else 0.0
        return min(1.0, label_noise(self.pool, self.labels) / max(wrong_share, 0.01))


def label_noise(pool: Pool, labels: Floats) -> float:
    """Return the share of identical responses that are labelled differently, shrunk to 0.1.

    noise = (pairs of identical responses labelled differently + 5) / (such pairs + 50)
    """
    judged = np.flatnonzero(~np.isnan(labels))
    words = pool.text_ids[pool.cell_response[judged]] * (len(pool.nuggets) + 1)
    words += pool.cell_nugget[judged]
    order = np.argsort(words, kind="stable")
    bounds = np.flatnonzero(np.diff(words[order], prepend=-1, append=-1))
    sizes, at = np.diff(bounds), bounds[:-1]
    yes = np.add.reduceat((labels[judged[order]] > 0).astype(np.int64), at) if len(at) else sizes
    differ, pairs = float((yes * (sizes - yes)).sum()), float((sizes * (sizes - 1) // 2).sum())
    return (differ + NOISE * _PAIRS) / (pairs + _PAIRS)


def official_scores(pool: Pool, labels: Floats) -> Floats:
    """Return runs x questions: A, half for partial support; NaN if judgements are missing.

    If a response was judged to carry a nugget, judgements of the others are not needed.
    """
    values = np.nan_to_num(labels)
    best = pool.answers(values).ravel()[pool.answered]
    missing = (np.isnan(labels) & (best == 0)).astype(np.float64)
    is_missing = pool.question_scores(missing) > 0
    return np.where(is_missing, np.nan, pool.question_scores(values))


LIKE_MEASURED = 0.75
"""The least ratio of other judged runs on open questions to those where errors are measured."""


def has_enough_judged_peers(answered: Flags, judged: Flags, elsewhere: Ints) -> Flags:
    """Return for each run whether enough other runs were judged on its unjudged questions.

    Its intervals from measured errors can be trusted if at least `MIN_RUNS` other runs were judged
    on every such question, and their mean number is at least `LIKE_MEASURED` times that on the
    questions where errors are measured. Otherwise the classifier guesses worse than was measured.

    `answered` and `judged` are runs x questions; `elsewhere` counts judged runs that are not among
    these, for each question.
    """
    total = judged.sum(axis=0) + elsewhere
    mean_measured = float((total * (total - 1)).sum()) / max(int(total.sum()), 1)
    is_trusted = np.zeros(len(judged), np.bool_)
    for k, open_ in enumerate(answered & ~judged):
        counts = total[open_]
        if len(counts) and int(counts.min()) >= MIN_RUNS:
            is_trusted[k] = float(counts.mean()) >= LIKE_MEASURED * mean_measured
    return is_trusted


def judged_elsewhere(nuggets: NuggetSet) -> Ints:
    """Return for each question the number of judged runs that are not in the set."""
    judged_by_run: dict[tuple[str, str], set[str]] = {}
    for row in nuggets.judgements.deciding:
        if row.run and row.run not in nuggets.runs:
            judged_by_run.setdefault((row.question, row.run), set()).add(row.nugget)
    counts = dict.fromkeys(nuggets.key.questions, 0)
    for (question, _), judged in judged_by_run.items():
        if question in counts:
            key_nuggets = nuggets.key.questions[question].nuggets
            counts[question] += all(nugget.id in judged for nugget in key_nuggets)
    return np.array([*counts.values()], np.int64)


class Margin(NamedTuple):
    """The distances of a score to the ends of its interval on these questions."""

    below: float = 0.0
    above: float = 0.0


Margins: TypeAlias = tuple[Margin | None, Margin | None]
"""Margins of the old and the new score; None if it is unknown how wrong its guesses may be."""


EXACT: Margins = Margin(), Margin()  # margins of two scores that rest on no guesses


UNKNOWN_ERROR = "it is unknown how wrong the guesses may be"
"""Reason for no test of a difference that rests on guesses."""


class Significance(NamedTuple):
    """A difference of two mean scores over questions, with an interval and a p that agree.

    Both are None and NaN with fewer than two questions, or if it is unknown how wrong the guesses
    may be.
    """

    score: str
    questions: int
    old: float
    new: float
    delta: float
    p: float
    low: float | None = None  # ends of the 95% interval of the difference
    high: float | None = None
    untested_reason: str = UNKNOWN_ERROR  # the reason if there is no test

    @property
    def verdict(self) -> str:
        """`better` or `worse` where the interval and p decide, else `undecided`."""
        if self.low is None or self.high is None:
            return UNDECIDED
        return verdict(self.p, (self.low, self.high), self.questions)

    def __str__(self) -> str:
        if not self.questions:
            return f"No question has a nugget of any weight: there is no {self.score} to compare."
        moved = f"{self.score} goes from {self.old:.4f} to {self.new:.4f} ({self.delta:+.4f})"
        if self.questions < 2:
            return f"{moved} on one question: too few for a test."
        if self.low is None or self.high is None:
            return (
                f"{moved} over {self.questions:,} questions: no test, since {self.untested_reason}."
            )
        return (
            f"{moved} over {self.questions:,} questions: p = {self.p:.4f}, 95% interval "
            f"[{self.low:+.4f}, {self.high:+.4f}]."
        )


def paired_significance(
    score: str,
    pairs: Sequence[tuple[float, float]],
    margins: Margins = EXACT,
    untested_reason: str = UNKNOWN_ERROR,
) -> Significance:
    """Test whether the mean of the new scores differs.

    `pairs` are the old and the new score of each question; `margins` belong to the two means.
    `untested_reason` is the reason for no test if a margin is None.
    """
    if len(pairs) < 2:
        before, after = pairs[0] if pairs else (np.nan, np.nan)
        return Significance(score, len(pairs), before, after, after - before, np.nan)
    old, new = (_mean(np.array(side, np.float64)) for side in zip(*pairs, strict=True))
    scores = score, len(pairs), old.value, new.value
    if None in margins:
        return Significance(*scores, new.value - old.value, np.nan, untested_reason=untested_reason)
    difference = GuessedDifference.between(old, new, margins)
    return Significance(*scores, difference.value, difference.p(), *difference.interval())


def _mean(values: Floats) -> UnitEstimate:
    """Return the mean over questions, with the influence of each."""
    rows = np.stack([values, np.ones(len(values))], axis=1)
    return jackknife(lambda sums: sums[:, 0] / sums[:, 1], rows, np.ones(len(values), np.bool_))


class GuessedDifference(NamedTuple):
    """A difference of two means over questions, with intervals at all levels and a p-value.

    Other questions would give other differences, and guesses may be wrong. The ends of the
    intervals of both scores recover the variance of either (Zou and Donner 2008). With the
    jackknife interval of the differences d at a critical value t of Student's,

        low = mean d - sqrt((mean d - its low)^2 + (t / t_95)^2 margin^2)
        margin^2 = (new score - its low)^2 + (high of the old score - it)^2

    p belongs to the largest t whose interval excludes 0, so p and interval agree. Without guesses,
    both are those of the jackknife.
    """

    questions: UnitEstimate  # the difference, by the influence of questions
    below: float  # the margin of the lower end
    above: float

    @classmethod
    def between(cls, old: UnitEstimate, new: UnitEstimate, margins: Margins) -> GuessedDifference:
        """Return new minus old; margins are known."""
        first, second = (margin or Margin() for margin in margins)
        below = sqrt(second.below * second.below + first.above * first.above)
        above = sqrt(second.above * second.above + first.below * first.below)
        return cls(new - old, below, above)

    @property
    def value(self) -> float:
        """The difference."""
        return float(self.questions.value)

    def interval(self) -> tuple[float, float]:
        """Return the 95% interval, within the range of differences of scores."""
        at = self.questions.critical()
        low, high = self.value - self._distance(at, -1), self.value + self._distance(at, 1)
        return max(-1.0, low), min(1.0, high)

    def p(self) -> float:
        """Return the p-value of no difference."""
        side = -1 if self.value > 0 else 1
        margin = self._margin(side)
        if margin == 0 or self.value == 0:
            return self.questions.p()
        low, high = 0.0, abs(self.value) * self.questions.critical() / margin
        for _ in range(60):
            middle = (low + high) / 2
            excluded = self._distance(middle, side) < abs(self.value)
            low, high = (middle, high) if excluded else (low, middle)
        return min(1.0, 2 * student_tail(high, self.questions.units - 1))

    def _margin(self, side: int) -> float:
        return self.below if side < 0 else self.above

    def _distance(self, critical: float, side: int) -> float:
        """Return the distance from the difference to the lower (-1) or upper (1) end."""
        end = self.questions.interval(critical)[side > 0]
        reach = end - self.value
        guessing = self._margin(side) * critical / self.questions.critical()
        return sqrt(reach * reach + guessing * guessing)
