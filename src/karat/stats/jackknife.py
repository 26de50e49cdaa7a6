"""Jackknife inference: intervals and p-values from independent units, without random draws.

A score is a function f of the sum of the rows of n units. Leaving out unit u gives f_(u), and

    psi_u = (n - 1) (f - f_(u)), minus its mean        influence of unit u
    SE^2  = sum psi_u^2 / (n (n - 1))                  jackknife variance (Tukey 1958)

A difference of two systems on the same units has the influence psi_u of the first minus that of
the second, so it is paired. With t = (f - null) / SE and the skewness g of psi,

    h(t) = t + a t^2 + a^2 t^3 / 3 + a / 2,   a = g / (3 sqrt(n))      (Hall 1992)

removes the skewness from t. Under the null, min(|t|, |h(t)|) is compared with Student's t with
n - 1 degrees of freedom: the plain t alone is too certain of skewed differences, and h alone of few
units. An interval holds all null values that this test does not reject at its level, so interval
and p-value come from one distribution and cannot contradict each other. A comparison with
bootstraps and sign-flip tests is in `experiments/significance.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import copysign, inf, isnan, ldexp, sqrt
from typing import Any, overload

from karat.arithmetic import SLACK, exact_sum, exact_sums, power
from karat.arrays import Flags, Floats, NDArray, np
from karat.stats.distributions import student_quantile, student_tail
from karat.stats.significance import SIGNIFICANCE_LEVEL

_CHUNK = 1 << 16  # units left out at a time

Measure = Callable[[Floats], Floats]
"""Returns the score of each row, or sum of rows."""


@dataclass(frozen=True, eq=False)
class UnitEstimate:
    """A number estimated from independent units, such as a score or a difference of scores."""

    value: float
    influence: Floats
    """The influence of each unit; 0 for units without a score. The sum is 0."""
    units: int
    """Number of units with a score."""

    def __sub__(self, other: UnitEstimate) -> UnitEstimate:
        """Return the paired difference from an estimate on the same units."""
        size = abs(self.value) + abs(other.value)
        return UnitEstimate(
            float(_without_rounding(self.value - other.value, SLACK * size)),
            _without_rounding(self.influence - other.influence, SLACK * size * self.units),
            min(self.units, other.units),
        )

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Mean square and mean cube of the influence, in units of its largest value."""
        scaled = self.influence / (self._scale or 1)
        squares = scaled * scaled
        return float(exact_sum(squares)) / self.units, float(
            exact_sum(squares * scaled)
        ) / self.units

    @cached_property
    def _scale(self) -> float:
        return float(np.abs(self.influence).max(initial=0))

    @cached_property
    def error(self) -> float:
        """Standard error; NaN with fewer than two units."""
        if self.units < 2:
            return float("nan")
        return self._scale * sqrt(self._moments[0] / (self.units - 1))

    @cached_property
    def _skew(self) -> float:
        """The constant a of the transformation h."""
        square, cube = self._moments
        return cube / (square * sqrt(square)) / (3 * sqrt(self.units)) if square > 0 else 0.0

    def statistic(self, null: float = 0.0) -> float:
        """Return min(|t|, |h(t)|) with the sign of t; infinite if units do not vary."""
        gap = self.value - null
        if self.error == 0:
            return 0.0 if abs(gap) <= SLACK * abs(self.value) else copysign(inf, gap)
        t, a = gap / self.error, self._skew
        unskewed = t + a * t * t + a * a * t * t * t / 3 + a / 2
        return copysign(min(abs(t), abs(unskewed)), t)

    def p(self, null: float = 0.0) -> float:
        """Return the two-sided p-value of a null value; NaN if undefined, as with a single unit.

        Units that all differ by the same amount give 2^(1 - n), the p-value of a sign test.
        """
        if self.units < 2:
            return float("nan")
        statistic = abs(self.statistic(null))
        if statistic == inf:
            return ldexp(1.0, 1 - self.units)
        if isnan(statistic):
            return statistic
        return min(1.0, 2 * student_tail(statistic, self.units - 1))

    def critical(self, level: float = SIGNIFICANCE_LEVEL) -> float:
        """Return the size of the statistic at which p is `level`."""
        return student_quantile(level / 2, self.units - 1)

    def interval(self, critical: float | None = None) -> tuple[float, float]:
        """Return the null values whose statistic is at most `critical`: by default, 95%.

        The interval is NaN with fewer than two units. If units do not vary, it has no width, or
        reaches to 0 if there are too few units for their agreement to be significant.
        """
        if self.units < 2:
            return float("nan"), float("nan")
        limit = self.critical() if critical is None else critical
        if self.error == 0:
            if ldexp(1.0, 1 - self.units) < 2 * student_tail(limit, self.units - 1):
                return self.value, self.value
            return min(self.value, 0.0), max(self.value, 0.0)
        below = max(limit, self._invert(limit)) * self.error
        above = max(limit, -self._invert(-limit)) * self.error
        return self.value - below, self.value + above

    def _invert(self, unskewed: float) -> float:
        """Return the t with h(t) = unskewed: h(t) = ((1 + a t)^3 - 1) / (3 a) + a / 2."""
        a = self._skew
        if abs(a) < 1e-9:
            return unskewed
        cube = 1 + 3 * a * (unskewed - a / 2)
        return (copysign(float(power(abs(cube), 1 / 3)), cube) - 1) / a


@overload
def _without_rounding(values: float, slack: float) -> float: ...
@overload
def _without_rounding(values: Floats, slack: float) -> Floats: ...
def _without_rounding(values: float | Floats, slack: float) -> float | Floats:
    """Return 0 instead of values that may be rounding errors."""
    return np.where(np.abs(values) <= slack, 0.0, values)[()]


def jackknife(measure: Measure, rows: NDArray[Any], has_score: Flags) -> UnitEstimate:
    """Return the score of the sum of rows, one row per unit, with the influence of each unit.

    Units where `has_score` is false have rows of zeros and no influence.
    """
    total, scored = exact_sums(rows).astype(np.float64), np.flatnonzero(has_score)
    value, n = float(measure(total[None])[0]), len(scored)
    influence = np.zeros(len(rows))
    if n < 2:
        return UnitEstimate(value, influence, n)
    for start in range(0, n, _CHUNK):
        units = scored[start : start + _CHUNK]
        influence[units] = (n - 1) * (value - measure(total - rows[units]))
    influence[scored] -= float(exact_sum(influence)) / n
    return UnitEstimate(value, _without_rounding(influence, SLACK * n * abs(value)), n)
