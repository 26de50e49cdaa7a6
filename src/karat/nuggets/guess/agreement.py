"""Agreement of scores with official ones, and of decisions with assessors' (Tables 2, 3 and 5).

Kendall's tau-b, R^2 and the root of the mean squared error of runs' scores, micro and macro, and
rank swaps: pairs of runs that guessed scores order otherwise than official ones. The size of a swap
is the difference of both official scores (section 4.1: most swaps of Pourpre were between runs less
than 0.1 apart, which is how far assessors differ).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, np
from karat.nuggets.guess.pool import Pool
from karat.nuggets.intervals.expected_scores import Returned
from karat.nuggets.intervals.intervals import ScoreInterval
from karat.nuggets.scores.official import RunScore
from karat.nuggets.sets.keys import Question
from karat.stats.correlation import r_squared, rmse, tau_b
from karat.stats.distributions import student_quantile
from karat.stats.significance import UNDECIDED, interval_verdict

AVERAGES = ("micro", "macro")
FAR = 0.1
"""Difference that official scores of two assessors may have (Voorhees 2003)."""


class Swap(NamedTuple):
    """Two runs in another order than the official one, and by how much they differ in both."""

    what: str
    average: str
    better: str
    """The run with the higher official score."""
    worse: str
    official: float
    guessed: float
    """Their difference in guessed scores: below 0."""


class ScoreAgreement(NamedTuple):
    """A way to score runs against official F."""

    what: str
    average: str
    """The average of F over questions: `micro` or `macro`."""
    threshold: float | None
    """The threshold that was chosen in hindsight."""
    tau_b: float
    r_squared: float
    rmse: float | None
    """None where it is on another scale."""
    swaps: int
    pairs: int
    """Pairs of runs with different official scores."""
    swap_median: float | None
    swap_largest: float | None
    swaps_far: int
    """Swaps of runs that differ by 0.1 or more."""


class JudgementAgreement(NamedTuple):
    """Decisions against assessors' (Table 5); the interval of F is over questions."""

    what: str
    precision: float
    recall: float
    f: float
    low: float | None
    high: float | None
    difference: float | None = None
    """F minus that of the calibrated classifier, with its interval over questions."""
    difference_low: float | None = None
    difference_high: float | None = None

    @property
    def verdict(self) -> str:
        """Whether it agrees `better` or `worse` than the calibrated classifier, or `undecided`."""
        low, high = self.difference_low, self.difference_high
        return UNDECIDED if low is None or high is None else interval_verdict((low, high))


class Averages(NamedTuple):
    """Scores of runs: F of sums over questions, and means of F."""

    micro: Floats
    macro: Floats


def averages(told: Returned, beta: float) -> Averages:
    """Return both averages of runs x questions; questions without weight do not count."""
    f = told.f(beta)
    known = ~np.isnan(f)
    counts = known.sum(axis=1)
    macro = np.where(known, f, 0.0).sum(axis=1) / np.where(counts > 0, counts, np.nan)
    return Averages(told.summed().f(beta), np.asarray(macro))


def of_run_scores(questions: Sequence[Question], scores: Sequence[RunScore]) -> Returned:
    """Return runs x questions of scores that are known."""
    table = np.zeros((4, len(scores), len(questions)))
    at = {question.id: k for k, question in enumerate(questions)}
    for i, score in enumerate(scores):
        for row in score.questions:
            cells = row.vital_returned, row.vital, row.allowance, row.length
            table[:, i, at[row.question]] = cells
    return Returned(*table)


def swapped(
    what: str, average: str, runs: Sequence[str], official: Floats, guessed: Floats
) -> Iterator[Swap]:
    """Yield the pairs of runs that guesses order otherwise, largest first; ties are no swaps."""
    apart, mine = (np.subtract.outer(x, x) for x in (official, guessed))
    i, j = np.nonzero((apart > SLACK) & (mine < -SLACK))
    for k in np.lexsort((j, i, -apart[i, j])).tolist():
        a, b = int(i[k]), int(j[k])
        yield Swap(what, average, runs[a], runs[b], float(apart[a, b]), float(mine[a, b]))


class Way(NamedTuple):
    """A way to score runs: both averages, the thresholds of both, whether it is on F's scale."""

    what: str
    scores: Averages
    thresholds: tuple[float | None, float | None] = (None, None)
    scaled: bool = True


def agreement_of_scores(
    way: Way, official: Averages, runs: Sequence[str]
) -> Iterator[tuple[ScoreAgreement, list[Swap]]]:
    """Yield how a way agrees with both averages of official F."""
    for average, theirs, mine, threshold in zip(
        AVERAGES, official, way.scores, way.thresholds, strict=True
    ):
        swaps = list(swapped(way.what, average, runs, theirs, mine))
        sizes = [swap.official for swap in swaps]
        pairs = int((np.subtract.outer(theirs, theirs) > SLACK).sum())
        yield (
            ScoreAgreement(
                way.what,
                average,
                threshold,
                tau_b(theirs, mine),
                r_squared(theirs, mine),
                rmse(theirs, mine) if way.scaled else None,
                len(sizes),
                pairs,
                float(np.median(sizes)) if sizes else None,
                max(sizes, default=None),
                sum(size >= FAR - SLACK for size in sizes),
            ),
            swaps,
        )


def agreement_of_judgements(
    what: str, pool: Pool, carried: Flags, labels: Floats, base: Flags | None = None
) -> JudgementAgreement:
    """Return precision, recall and F of decisions; the interval of F is over questions.

    `base` are the decisions of the calibrated classifier, which F is compared with.
    """
    hits, made, wanted = counts_by_question(pool, carried, labels)
    precision, recall = (share_interval(hits, part).score or 0.0 for part in (made, wanted))
    f, low, high = share_interval(2 * hits, made + wanted)
    than = ShareInterval() if base is None else f_difference(pool, carried, base, labels)
    return JudgementAgreement(what, precision, recall, f or 0.0, low, high, *than)


def counts_by_question(pool: Pool, carried: Flags, labels: Floats) -> Floats:
    """Return the pairs of each question that are rightly called carried, called so, and are so."""
    judged = ~np.isnan(labels)
    yes, said = judged & (labels > 0), judged & carried
    size = len(pool.questions)
    kinds = (pool.cell_question[some] for some in (yes & said, said, yes))
    return np.array([np.bincount(kind, minlength=size) for kind in kinds], dtype=np.float64)


class ShareInterval(NamedTuple):
    """A share, None of nothing, and its interval; there is none from one question."""

    score: float | None = None
    low: float | None = None
    high: float | None = None


def share_interval(top: Floats, bottom: Floats) -> ShareInterval:
    """Return the share of sums over questions, with the jackknife's interval.

    Questions that have nothing below do not count.
    """
    above, below, some = float(top.sum()), float(bottom.sum()), bottom > 0
    if some.sum() < 2:
        return ShareInterval(above / below if below else None)
    without = (above - top[some]) / (below - bottom[some])
    return ShareInterval(*jackknife_interval(above / below, without))


def f_difference(pool: Pool, one: Flags, other: Flags, labels: Floats) -> ShareInterval:
    """Return F of some decisions minus that of others, with the jackknife's interval."""
    scores = []
    for carried in (one, other):
        hits, made, wanted = counts_by_question(pool, carried, labels)
        top, bottom = 2 * hits, made + wanted
        above, below = np.append(top.sum() - top, top.sum()), bottom.sum()
        under = np.append(below - bottom, below)
        scores.append(np.divide(above, under, out=np.zeros_like(above), where=under > 0))
    *without, whole = (scores[0] - scores[1]).tolist()
    if len(without) < 2:
        return ShareInterval(whole)
    return ShareInterval(*jackknife_interval(whole, np.array(without), least=-1.0))


def jackknife_interval(
    value: float, without: Floats, least: float = 0.0, most: float = 1.0
) -> ScoreInterval:
    """Return the 95% interval of a score, given what it is without each of its n questions.

    With s_k the score without question k,

        variance = (n - 1) / n * sum over k of (s_k - mean of all s_k)^2,

    and the interval is Student's with n - 1 degrees of freedom.
    """
    n = len(without)
    variance = (n - 1) / n * float(np.square(without - without.mean()).sum())
    reach = student_quantile(0.025, n - 1) * sqrt(variance)
    return ScoreInterval(value, max(least, value - reach), min(most, value + reach))
