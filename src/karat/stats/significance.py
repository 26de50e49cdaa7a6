"""Significance: p-values of differences, their correction for many tests, and verdicts.

Every command that reports a verdict uses `verdict`; reports read the verdict from the result and
never derive it from p or from an interval.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

from karat.arithmetic import SLACK, log
from karat.arrays import ArrayLike, Flags, Floats, np
from karat.errors import InputError

SIGNIFICANCE_LEVEL = 0.05  # significant: p below this; also the default level of ranks of metrics
MIN_DECIDING_UNITS = 6
"""The fewest units (segments, buckets, questions, labels) that can decide a single test.

A two-sided sign test of five units has p >= 2 / 2^5 = 0.0625, however large the differences are.
"""
BETTER, WORSE, UNDECIDED = "better", "worse", "undecided"


# ---------------------------------------------------------------------------------- verdicts


def is_significant(p: float) -> bool:
    """Return whether p is below the level; an undefined p (NaN) is not significant."""
    return p < SIGNIFICANCE_LEVEL


def min_deciding_units(n_tests: float = 1) -> int:
    """Return the fewest units with which one of several corrected tests can decide.

    A two-sided sign test of n units has p >= 2^(1 - n), which must be at most .05 / `n_tests`.
    """
    return ceil(1 + float(log(n_tests / SIGNIFICANCE_LEVEL)) / float(log(2.0)) - 1e-9)


def verdict(
    p: float,
    ends: tuple[float, float],
    units: int,
    sign: int = 1,
    min_units: int = MIN_DECIDING_UNITS,
) -> str:
    """Return better, worse or undecided.

    A difference is decided if p is significant, its interval excludes zero and there are enough
    units. All three are required, since an interval and a test can disagree near the level, and a
    bootstrap of very few units is far too certain.

    Args:
        p: p-value of the difference.
        ends: ends of its 95% interval.
        units: number of units behind the test and the interval.
        sign: 1 if a positive difference is better, -1 if a negative one is.
        min_units: the fewest units that can decide.
    """
    if units < min_units or not is_significant(p):
        return UNDECIDED
    return interval_verdict((sign * ends[0], sign * ends[1]))


def interval_verdict(ends: tuple[float, float]) -> str:
    """Return better or worse if both ends lie above or below zero, else undecided.

    Use it alone only for differences that have an interval but no test. NaN is undecided.
    """
    if ends[0] > 0 and ends[1] > 0:
        return BETTER
    return WORSE if ends[0] < 0 and ends[1] < 0 else UNDECIDED


def ahead(first: Floats, second: Floats) -> Flags:
    """Return where `first` is above `second` by more than rounding."""
    return first - second > SLACK * np.maximum(np.abs(first), np.abs(second))


# ---------------------------------------------------------------------------------- p-values


def paired_bootstrap(system: Floats, baseline: Floats, difference: float) -> float:
    """Return p of the difference, from the scores of both systems on the same resamples.

    The absolute differences |a - b|, centred on their mean, are the null distribution (Riezler and
    Maxwell 2005; Koehn 2004).
    """
    trials = np.abs(system - baseline)
    return _p_value(trials - trials.mean(), abs(difference), np.stack([system, baseline]))


def approximate_randomization(first: Floats, second: Floats, difference: float) -> float:
    """Return p of the difference, from the scores of both after exchanges of their segments."""
    return _p_value(np.abs(first - second), abs(difference), np.stack([first, second]))


def _p_value(trials: Floats, real: float, scores: Floats) -> float:
    """Return (1 + trials beyond the real difference) / (1 + trials), rounding errors ignored."""
    slack = SLACK * float(np.abs(scores).max(initial=0))
    if real <= slack:  # sacreBLEU's strict comparison would call two equal systems different
        return 1.0
    return float((1 + np.count_nonzero(trials > real + slack)) / (1 + len(trials)))


# -------------------------------------------------------------------------------- many tests


def holm(p_values: ArrayLike) -> Floats:
    """Correct p-values by Holm (1979): the chance of any false positive stays below the level.

    The k-th smallest of m becomes the largest of (m - j + 1) p_j over j <= k, at most 1.
    """
    return _corrected(p_values, lambda p, m: np.maximum.accumulate(p * (m - np.arange(m))))


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Correct p-values by Benjamini and Hochberg (1995), which bounds the false discovery rate.

    The k-th smallest of m becomes the smallest of m p_j / j over j >= k.
    """

    def smallest(p: Floats, m: int) -> Floats:
        scaled = p * m / np.arange(1, m + 1)
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _corrected(p_values, smallest)


def benjamini_yekutieli(p_values: ArrayLike) -> Floats:
    """Correct the p-values of each row by Benjamini and Yekutieli (2001), for dependent tests.

    These are the values of `benjamini_hochberg` times 1 + 1/2 + ... + 1/m, at most 1.
    """
    p = np.asarray(p_values, np.float64)
    ranks = np.arange(1, p.shape[-1] + 1)
    order = np.argsort(p, axis=-1, kind="stable")
    scaled = np.take_along_axis(p, order, axis=-1) * (p.shape[-1] * (1 / ranks).sum()) / ranks
    falling = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    corrected = np.empty_like(p)
    np.put_along_axis(corrected, order, np.minimum(falling, 1), axis=-1)
    return corrected


def _corrected(p_values: ArrayLike, correct_sorted: Callable[[Floats, int], Floats]) -> Floats:
    """Apply a correction to the p-values in ascending order; NaN stays NaN and does not count."""
    p = np.asarray(p_values, float)
    flat, corrected = p.ravel(), np.full(p.size, np.nan)
    order = np.argsort(flat, kind="stable")[: int((~np.isnan(flat)).sum())]
    corrected[order] = np.minimum(correct_sorted(flat[order], len(order)), 1)
    return corrected.reshape(p.shape)


CORRECTIONS: dict[str, Callable[[ArrayLike], Floats]] = {
    "none": lambda p_values: np.array(p_values, float),
    "holm": holm,
    "bh": benjamini_hochberg,
}


def separates_ranks(p: Any, level: float) -> Any:
    """Return whether p (a number or an array) puts two metrics into different ranks.

    As in the WMT metrics tasks, p equal to the level does. NaN does not.
    """
    return p <= level * (1 + SLACK)


def clusters(p_values: ArrayLike, level: float = SIGNIFICANCE_LEVEL) -> list[int]:
    """Return the ranks of metrics sorted by falling score, as in the WMT metrics tasks.

    p_values[i, j], i < j, is that of "metric i is better than metric j". The first metric has rank
    1. Going down, a metric starts the next rank if any metric of the current rank is better than it
    at p <= level, so metrics with the same rank do not differ significantly. NaN separates nothing.
    """
    p = np.asarray(p_values, float)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise InputError(f"p-values have the shape {p.shape}: expected a square")
    ranks: list[int] = []
    start = 0
    for j in range(len(p)):
        if separates_ranks(p[start:j, j], level).any():
            start = j
        ranks.append(ranks[-1] + (start == j) if ranks else 1)
    return ranks
