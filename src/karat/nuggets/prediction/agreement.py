"""Agreement of decisions and scores with the official ones: arrays in, numbers out.

Intervals over questions are the jackknife's. With s_k the score without question k of n,

    variance = (n - 1) / n * sum over k of (s_k - mean of all s_k)^2,

and the 95% interval is Student's with n - 1 degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isnan, sqrt
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, np
from karat.nuggets.prediction.pool import Pool
from karat.nuggets.scores.official import NuggetStats, RunScore
from karat.stats.correlation import r_squared, rmse, tau_b
from karat.stats.distributions import student_quantile
from karat.stats.significance import UNDECIDED, interval_verdict

AVERAGES = ("micro", "macro")
FAR = 0.1  # difference that official scores of two assessors may have (Voorhees 2003)
IN_HINDSIGHT = "threshold in hindsight"
"""The paper chose one threshold for each set by its result there (section 2.4)."""


class Swap(NamedTuple):
    """Two runs that guesses and official scores order differently, and both differences."""

    method: str
    average: str
    better: str  # the run with the higher official score
    worse: str
    official: float
    guessed: float  # difference of their guessed scores: below 0


class ScoreAgreement(NamedTuple):
    """Agreement of a method of scoring runs with official F."""

    method: str
    average: str
    threshold: float | None  # threshold chosen in hindsight
    tau_b: float
    r_squared: float
    rmse: float | None  # None for scores on another scale
    swaps: int
    pairs: int  # pairs of runs with different official scores
    swap_median: float | None
    swap_largest: float | None
    swaps_far: int  # swaps of runs that differ by 0.1 or more


class JudgementAgreement(NamedTuple):
    """Agreement of decisions with assessors (Table 5); the interval of F is over questions."""

    method: str
    precision: float
    recall: float
    f: float
    low: float | None
    high: float | None
    difference: float | None = None
    """F minus the F of the calibrated classifier, with its interval over questions."""
    difference_low: float | None = None
    difference_high: float | None = None

    @property
    def verdict(self) -> str:
        """`better` or `worse` than the calibrated classifier, or `undecided`."""
        low, high = self.difference_low, self.difference_high
        return UNDECIDED if low is None or high is None else interval_verdict((low, high))


class AverageScores(NamedTuple):
    """Scores of runs: F of sums over questions, and means of F."""

    micro: Floats
    macro: Floats


def average_f(stats: NuggetStats, beta: float) -> AverageScores:
    """Return both averages of runs x questions; questions without weight do not count."""
    f = stats.f(beta)
    has_f = ~np.isnan(f)
    counts = has_f.sum(axis=1)
    macro = np.where(has_f, f, 0.0).sum(axis=1) / np.where(counts > 0, counts, np.nan)
    return AverageScores(stats.sums().f(beta), np.asarray(macro))


# ------------------------------------------------------------------------------ scores of runs


class ScoringMethod(NamedTuple):
    """Both averages of a method, its thresholds for both, and whether it has the scale of F."""

    name: str
    scores: AverageScores
    thresholds: tuple[float | None, float | None] = (None, None)
    scaled: bool = True
    run_scores: Sequence[RunScore] = ()  # scores of Pourpre, as published


def in_hindsight(
    name: str,
    official: AverageScores,
    thresholds: Sequence[float],
    scores_at: Callable[[float], AverageScores],
) -> ScoringMethod:
    """Return a method at the thresholds with the best tau-b, one for each average."""
    scores = [scores_at(threshold) for threshold in thresholds]
    best = []
    for k, official_scores in enumerate(official):
        taus = [tau_b(official_scores, averages[k]) for averages in scores]
        best.append(max(range(len(taus)), key=lambda t: -2.0 if isnan(taus[t]) else taus[t]))
    micro, macro = best
    averages = AverageScores(scores[micro].micro, scores[macro].macro)
    return ScoringMethod(
        f"{name}, {IN_HINDSIGHT}", averages, (float(thresholds[micro]), float(thresholds[macro]))
    )


def swapped(
    method: str, average: str, runs: Sequence[str], official: Floats, guessed: Floats
) -> Iterator[Swap]:
    """Yield the pairs of runs that guesses swap, largest difference first; ties are not swaps."""
    official_gap, guessed_gap = (np.subtract.outer(x, x) for x in (official, guessed))
    i, j = np.nonzero((official_gap > SLACK) & (guessed_gap < -SLACK))
    for k in np.lexsort((j, i, -official_gap[i, j])).tolist():
        pair = int(i[k]), int(j[k])
        gaps = float(official_gap[pair]), float(guessed_gap[pair])
        yield Swap(method, average, runs[pair[0]], runs[pair[1]], *gaps)


def agreement_of_scores(
    method: ScoringMethod, official: AverageScores, runs: Sequence[str]
) -> Iterator[tuple[ScoreAgreement, list[Swap]]]:
    """Yield the agreement of a method with both averages of official F, and the swaps."""
    for average, official_scores, scores, threshold in zip(
        AVERAGES, official, method.scores, method.thresholds, strict=True
    ):
        swaps = list(swapped(method.name, average, runs, official_scores, scores))
        sizes = [swap.official for swap in swaps]
        row = ScoreAgreement(
            method=method.name,
            average=average,
            threshold=threshold,
            tau_b=tau_b(official_scores, scores),
            r_squared=r_squared(official_scores, scores),
            rmse=rmse(official_scores, scores) if method.scaled else None,
            swaps=len(sizes),
            pairs=int((np.subtract.outer(official_scores, official_scores) > SLACK).sum()),
            swap_median=float(np.median(sizes)) if sizes else None,
            swap_largest=max(sizes, default=None),
            swaps_far=sum(size >= FAR - SLACK for size in sizes),
        )
        yield row, swaps


# --------------------------------------------------------------------------------- decisions


class JackknifeInterval(NamedTuple):
    """A score (None without questions) and its interval (None for a single question)."""

    score: float | None = None
    low: float | None = None
    high: float | None = None


def jackknife_interval(
    value: float, without: Sequence[float] | Floats, least: float = 0.0
) -> JackknifeInterval:
    """Return the 95% interval of a score, given the scores without each of its questions."""
    n = len(without)
    if n < 2:
        return JackknifeInterval(value)
    scores = np.asarray(without)
    variance = (n - 1) / n * float(np.square(scores - scores.mean()).sum())
    reach = student_quantile(0.025, n - 1) * sqrt(variance)
    return JackknifeInterval(value, max(least, value - reach), min(1.0, value + reach))


def counts_by_question(pool: Pool, carried: Flags, labels: Floats) -> Floats:
    """Return numbers of pairs by question: true positives, predicted and actual positives."""
    judged = ~np.isnan(labels)
    yes, predicted = judged & (labels > 0), judged & carried
    size = len(pool.questions)
    kinds = (pool.cell_question[mask] for mask in (yes & predicted, predicted, yes))
    return np.array([np.bincount(kind, minlength=size) for kind in kinds], dtype=np.float64)


def _leave_one_out(top: Floats, bottom: Floats) -> Floats:
    """Return the ratio of sums without each question and, last, over all questions."""
    above = np.append(top.sum() - top, top.sum())
    below = np.append(bottom.sum() - bottom, bottom.sum())
    shares: Floats = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return shares


def share_interval(top: Floats, bottom: Floats) -> JackknifeInterval:
    """Return the ratio of sums over the questions with a positive denominator."""
    nonempty = bottom > 0
    if not nonempty.any():
        return JackknifeInterval()
    *without, share = _leave_one_out(top[nonempty], bottom[nonempty]).tolist()
    return jackknife_interval(share, without)


def f_difference(pool: Pool, first: Flags, second: Flags, labels: Floats) -> JackknifeInterval:
    """Return the difference of F between two sets of decisions."""
    scores = []
    for carried in (first, second):
        hits, predicted, actual = counts_by_question(pool, carried, labels)
        scores.append(_leave_one_out(2 * hits, predicted + actual))
    *without, difference = (scores[0] - scores[1]).tolist()
    return jackknife_interval(difference, without, least=-1.0)


def agreement_of_judgements(
    method: str, pool: Pool, carried: Flags, labels: Floats, base: Flags | None = None
) -> JudgementAgreement:
    """Return precision, recall and F of decisions; the interval of F is over questions.

    `base` has the decisions of the calibrated classifier, for the difference of F.
    """
    hits, predicted, actual = counts_by_question(pool, carried, labels)
    precision, recall = (share_interval(hits, part).score or 0.0 for part in (predicted, actual))
    f, low, high = share_interval(2 * hits, predicted + actual)
    difference = JackknifeInterval() if base is None else f_difference(pool, carried, base, labels)
    return JudgementAgreement(method, precision, recall, f or 0.0, low, high, *difference)
