"""The rule that calls a difference better, worse or undecided.

Every command that reports a verdict uses `verdict`; reports read the verdict from the result and
never derive it from p or from an interval.
"""

from __future__ import annotations

from typing import Any

from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, np

SIGNIFICANCE_LEVEL = 0.05  # significant: p below this; also the default level of ranks of metrics
MIN_DECIDING_UNITS = 6
"""The fewest units (segments, buckets, questions, labels) that can decide.

A two-sided sign test of five units has p >= 2 / 2^5 = 0.0625, however large the differences are.
"""
BETTER, WORSE, UNDECIDED = "better", "worse", "undecided"


def is_significant(p: float) -> bool:
    """Return whether p is below the level; an undefined p (NaN) is not significant."""
    return p < SIGNIFICANCE_LEVEL


def separates_ranks(p: Any, level: float) -> Any:
    """Return whether p (a number or an array) puts two metrics into different ranks.

    As in the WMT metrics tasks, p equal to the level does. NaN does not.
    """
    return p <= level * (1 + SLACK)


def verdict(p: float, ends: tuple[float, float], units: int, sign: int = 1) -> str:
    """Return better, worse or undecided.

    A difference is decided if p is significant, its interval excludes zero and there are enough
    units. All three are required, since an interval and a test can disagree near the level, and a
    bootstrap of very few units is far too certain.

    Args:
        p: p-value of the difference.
        ends: ends of its 95% interval.
        units: number of units that the test and the interval rest on.
        sign: 1 if a positive difference is better, -1 if a negative one is.
    """
    if units < MIN_DECIDING_UNITS or not is_significant(p):
        return UNDECIDED
    return interval_verdict((sign * ends[0], sign * ends[1]))


def interval_verdict(ends: tuple[float, float]) -> str:
    """Return better or worse if both ends lie above or below zero, else undecided.

    By itself it is for differences that have an interval but no test. NaN is undecided.
    """
    if ends[0] > 0 and ends[1] > 0:
        return BETTER
    return WORSE if ends[0] < 0 and ends[1] < 0 else UNDECIDED


def ahead(first: Floats, second: Floats) -> Flags:
    """Return where `first` is above `second` by more than rounding."""
    return first - second > SLACK * np.maximum(np.abs(first), np.abs(second))


def _p_value(trials: Floats, real: float, scores: Floats) -> float:
    """Trials beyond the real difference; what only rounding tells apart is equal."""
    slack = SLACK * float(np.abs(scores).max(initial=0))
    if real <= slack:  # sacreBLEU's strict comparison would call two equal systems different
        return 1.0
    return float((1 + np.count_nonzero(trials > real + slack)) / (1 + len(trials)))


def paired_bootstrap(system: Floats, baseline: Floats, difference: float) -> float:
    """p of the difference, from scores of both on the same resamples.

    The resampled differences |a - b|, centred on their mean, stand for the null hypothesis
    (Riezler and Maxwell 2005; Koehn 2004).
    """
    trials = np.abs(system - baseline)
    return _p_value(trials - trials.mean(), abs(difference), np.stack([system, baseline]))


def approximate_randomization(first: Floats, second: Floats, difference: float) -> float:
    """p of the difference, from scores of both after random exchanges of their segments."""
    return _p_value(np.abs(first - second), abs(difference), np.stack([first, second]))
