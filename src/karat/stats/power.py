"""Power: how likely a test of units finds a true difference, and how many units it needs.

With the standard deviation s of the influences of units, n units and a true difference d, the
statistic is noncentral t with n - 1 degrees of freedom and ncp = d sqrt(n) / s. With the critical
value c and v = n - 1 (Johnson and Welch 1940),

    power = Phi((ncp - c (1 - 1 / (4 v))) / sqrt(1 + c^2 / (2 v)))

Units that happen to look skewed make the test more careful (`stats/jackknife.py`). For differences
without skewness, that raises the critical value by about 0.4 (c^2 + 1/2) / n. The factor was fitted
to simulated power (`experiments/significance.py --sizes`).
"""

from __future__ import annotations

from math import inf, sqrt

from karat.stats.distributions import normal_quantile, normal_tail, student_quantile
from karat.stats.significance import SIGNIFICANCE_LEVEL, min_deciding_units

MAX_UNITS = 1_000_000_000


def power_of(deviation: float, units: int, difference: float, n_tests: float = 1) -> float:
    """Return the probability that a difference is found; 0 with too few units to decide."""
    if units < min_deciding_units(n_tests):
        return 0.0
    if deviation == 0:
        return float(difference != 0)
    critical, freedom = _critical(units, n_tests), units - 1
    noncentrality = abs(difference) * sqrt(units) / deviation
    z = (noncentrality - critical * (1 - 1 / (4 * freedom))) / _spread(critical, freedom)
    return normal_tail(-z)


def detectable_difference(
    deviation: float, units: int, power: float = 0.8, n_tests: float = 1
) -> float:
    """Return the smallest difference that is found with this power; infinite with too few units."""
    if units < min_deciding_units(n_tests):
        return inf
    critical, freedom = _critical(units, n_tests), units - 1
    noncentrality = critical * (1 - 1 / (4 * freedom))
    noncentrality += _normal_point(power) * _spread(critical, freedom)
    return noncentrality * deviation / sqrt(units)


def units_needed(
    deviation: float, difference: float, power: float = 0.8, n_tests: float = 1
) -> int | None:
    """Return the fewest units that find a difference with this power; None if no number does."""
    low = min_deciding_units(n_tests)
    if difference == 0 or power_of(deviation, MAX_UNITS, difference, n_tests) < power:
        return None
    high = low
    while power_of(deviation, high, difference, n_tests) < power:
        low, high = high, min(2 * high, MAX_UNITS)
    while low < high:
        middle = (low + high) // 2
        if power_of(deviation, middle, difference, n_tests) < power:
            low = middle + 1
        else:
            high = middle
    return high


def _critical(units: int, n_tests: float) -> float:
    critical = student_quantile(SIGNIFICANCE_LEVEL / n_tests / 2, units - 1)
    return critical + 0.4 * (critical * critical + 0.5) / units


def _spread(critical: float, freedom: int) -> float:
    return sqrt(1 + critical * critical / (2 * freedom))


def _normal_point(probability: float) -> float:
    """Return the z with P(Z <= z) = probability."""
    if probability >= 0.5:
        return normal_quantile(1 - probability)
    return -normal_quantile(probability)
