"""Intervals of means at every level, and p-values that agree with them.

Each form of interval is a family of nested intervals, one for every level. The p-value is the
smallest alpha at which the interval excludes 0, so an interval and its p never contradict each
other.

**Skewness.** T = (mean - truth) / SE of n of N values with the skewness g is not symmetric. With
f = n / N and b = g / sqrt(n (1 - f)) its first and third cumulants are -b (1 - f) / 2 and
-b (2 - f), so that

    X = T + c / 3 T^2 + c^2 / 27 T^3 + d        c = b (2 - f) / 2,  d = b (1 - 2 f) / 6

is nearly Student's (Hall 1992 for f = 0; the cubic term makes X rise with T). The interval ends
where X is the quantile. Skewness is hard to estimate, so an end is never nearer to the mean than
that of Student's own interval.

**Ends of a scale.** If most values are at one end of the scale, a sample may contain no other, and
intervals computed from its spread fail. The bounded form adds half an observation at the end of the
scale for values that were not seen. Observations have exponential weights (the Bayesian bootstrap,
Rubin 1981), the added one a gamma weight of shape 1/2. The lower bound is the 2.5% quantile of the
weighted mean with the low end, the upper bound the 97.5% quantile with the high end. With a whole
observation and labels of 0 and 1 this would be the interval of Clopper and Pearson; Learned-Miller
and Thomas (2020) extend it to any bounded value.

The weighted mean of values v with weights a is at most x where

    S = sum a_i (v_i - x) E_i + (end - x) G <= 0

S is a sum of gamma numbers, so its cumulant function is known, and the saddlepoint approximation
(Lugannani and Rice 1980, in the form of Barndorff-Nielsen) gives the probability without random
numbers, far into the tail. Its relative error at 2.5% is below 1% in general and up to 6% where
all values are equal, always towards wider intervals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import copysign, fsum, inf, nan, sqrt
from typing import NamedTuple, TypeVar

from karat.arithmetic import log, power
from karat.arrays import Floats, Ints, np
from karat.stats.distributions import normal_quantile, normal_tail, student_quantile, student_tail
from karat.stats.population import Expansion

LEVEL = 0.95
ALPHA = 1 - LEVEL
MAX_BOUNDED_LABELS = 1000  # with more labels, the skewness-corrected form is as good

Family = TypeVar("Family", bound="IntervalFamily")


class MeanInterval(NamedTuple):
    """A mean, its standard error and the ends of its interval."""

    mean: float
    low: float
    high: float
    error: float

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low

    def within(self, low: float | None, high: float | None) -> MeanInterval:
        """Return the interval clipped to a scale; None is an open end."""
        least, most = -inf if low is None else low, inf if high is None else high
        mean, lower, upper = (min(max(end, least), most) for end in self[:3])
        return MeanInterval(mean, lower, upper, self.error)


@dataclass(frozen=True, eq=False)
class IntervalFamily(ABC):
    """The intervals of a mean at all levels."""

    mean: float
    error: float  # the standard error of the mean

    def interval(self, alpha: float = ALPHA) -> MeanInterval:
        """Return the interval at the confidence level 1 - alpha."""
        below, above = (self._distance(alpha, side) for side in (-1, 1))
        return MeanInterval(self.mean, self.mean - below, self.mean + above, self.error)

    def p_value(self) -> float:
        """Return the smallest alpha at which the interval excludes 0; NaN if there is no test."""
        if self.mean == 0:
            return 1.0
        return min(1.0, 2 * self._tail(abs(self.mean), -1 if self.mean > 0 else 1))

    def shifted(self: Family, by: float) -> Family:
        """Return the intervals of the mean plus a constant."""
        return replace(self, mean=self.mean + by)

    @abstractmethod
    def _distance(self, alpha: float, side: int) -> float:
        """Return the distance from the mean to the lower (-1) or upper (1) end."""

    @abstractmethod
    def _tail(self, distance: float, side: int) -> float:
        """Return half the alpha at which the end on a side has this distance from the mean."""


class PointEstimate(IntervalFamily):
    """A mean without a distribution: known exactly (error 0), or without an interval (NaN)."""

    def p_value(self) -> float:
        """Return NaN: there is no test."""
        return nan

    def _distance(self, alpha: float, side: int) -> float:
        return self.error

    def _tail(self, distance: float, side: int) -> float:
        return nan


@dataclass(frozen=True, eq=False)
class ScaledIntervals(IntervalFamily):
    """Intervals with known ends at 95%; at other levels they scale with Student's t."""

    below: float
    above: float
    freedom: int

    def _distance(self, alpha: float, side: int) -> float:
        quantile = student_quantile(alpha / 2, self.freedom)
        return self._at_95(side) * quantile / student_quantile(ALPHA / 2, self.freedom)

    def _tail(self, distance: float, side: int) -> float:
        distance_at_95 = self._at_95(side)
        if distance_at_95 == 0:
            return 0.0
        t = distance / distance_at_95 * student_quantile(ALPHA / 2, self.freedom)
        return student_tail(t, self.freedom)

    def _at_95(self, side: int) -> float:
        return self.below if side < 0 else self.above


# --------------------------------------------------------------------------------- Student's


@dataclass(frozen=True, eq=False)
class StudentIntervals(IntervalFamily):
    """Student's intervals, with any degrees of freedom."""

    freedom: float

    def _distance(self, alpha: float, side: int) -> float:
        return student_quantile(alpha / 2, self.freedom) * self.error

    def _tail(self, distance: float, side: int) -> float:
        return student_tail(distance / self.error, self.freedom)


@dataclass(frozen=True, eq=False)
class SkewedIntervals(IntervalFamily):
    """Student's intervals corrected for skewness."""

    freedom: float
    c: float
    d: float

    def _distance(self, alpha: float, side: int) -> float:
        t = student_quantile(alpha / 2, self.freedom)
        return max(t, self._reach(t, side)) * self.error

    def _tail(self, distance: float, side: int) -> float:
        t = distance / self.error
        return student_tail(max(min(t, self._corrected(t, side)), 0.0), self.freedom)

    def _reach(self, t: float, side: int) -> float:
        """Return the |T| at which |X| is t: cbrt(1 + y) - 1 = y / (r^2 + r + 1)."""
        x = -side * t - self.d
        cube = 1 + self.c * x
        root = copysign(float(power(abs(cube), 1 / 3)), cube) if cube else 0.0
        return -side * 3 * x / (root * root + root + 1)

    def _corrected(self, t: float, side: int) -> float:
        """Return the |X| at which |T| is t: the inverse of `_reach`."""
        x, c = -side * t, self.c
        return -side * (x + c / 3 * x * x + c * c / 27 * x * x * x + self.d)


def skewed_intervals(
    expansion: Expansion, finite: bool = True, more: float = 0.0, freedom: float | None = None
) -> IntervalFamily:
    """Return Student's intervals corrected for skewness; `more` is an additional variance.

    `freedom` has the degrees of freedom of the sum; by default those of the sample.
    """
    sampling_error = expansion.error(finite)
    error = sqrt(sampling_error * sampling_error + more)
    if not error > 0:
        return PointEstimate(expansion.mean, error)
    fraction = expansion.fraction if finite else 0.0
    share = sampling_error / error
    skewness = expansion.skewness * share * share * share
    b = skewness / sqrt(len(expansion.plain) * max(1 - fraction, 1e-12))
    c, d = b * (2 - fraction) / 2, b * (1 - 2 * fraction) / 6
    return SkewedIntervals(expansion.mean, error, freedom or expansion.freedom, c, d)


# ----------------------------------------------------------------------------------- bounded


@dataclass(frozen=True, eq=False)
class BoundedIntervals(IntervalFamily):
    """Intervals that allow for unseen values up to the ends of the scale.

    `more` is an additional variance; its distance is added to that of each end in squares.
    """

    values: Floats
    masses: Floats  # weights of the values, with mean 1
    ends: tuple[float, float]  # the lowest and the highest possible value
    shrink: float  # factor of distances that accounts for a finite population
    freedom: float  # degrees of freedom of `more`
    more: float

    @cached_property
    def centre(self) -> float:
        """The weighted mean of the values."""
        return float((self.masses * self.values).sum()) / len(self.values)

    def _distance(self, alpha: float, side: int) -> float:
        t = student_quantile(alpha / 2, self.freedom) if self.more > 0 else 0.0
        return self._joined(self._gap(normal_quantile(alpha / 2), side), t)

    def _joined(self, gap: float, t: float) -> float:
        return sqrt(self.shrink * gap * self.shrink * gap + t * t * self.more)

    def _gap(self, z: float, side: int) -> float:
        """Return the distance from the mean to the quantile with the normal score z."""
        values = np.append(self.values, self.ends[side > 0])
        reach = float(np.max(side * (values - self.centre)))
        return _find_root(lambda gap: self._score(gap, side) - z, reach) if reach > 0 else 0.0

    def _score(self, gap: float, side: int) -> float:
        """Return the normal score of the probability of a mean farther away than `gap`."""
        values = gap - side * (self.values - self.centre)
        end = gap - side * (self.ends[side > 0] - self.centre)
        return -_saddlepoint(np.append(self.masses * values, end))

    def _tail(self, distance: float, side: int) -> float:
        if not self.more > 0:
            gap = distance / self.shrink if self.shrink > 0 else inf
            return normal_tail(self._score(gap, side))

        def excess(t: float) -> float:
            z = normal_quantile(student_tail(t, self.freedom))
            return self._joined(self._gap(z, side), t) - distance

        return student_tail(_find_root(excess, distance / sqrt(self.more)), self.freedom)


def bounded_intervals(
    values: Floats,
    weights: Floats,
    ends: tuple[float, float],
    expansion: Expansion,
    finite: bool,
    more: float = 0.0,
    freedom: float | None = None,
) -> BoundedIntervals:
    """Return the intervals that allow for unseen values up to the ends of the scale.

    `values` and `weights` are those of labelled units. `more` is an additional variance, and
    `freedom` has its degrees of freedom; by default those of the sample.
    """
    sampling_error = expansion.error(finite)
    return BoundedIntervals(
        mean=expansion.mean,
        error=sqrt(sampling_error * sampling_error + more),
        values=values,
        masses=weights / (float(weights.sum()) / len(weights)),
        ends=ends,
        shrink=sqrt(1 - expansion.fraction) if finite else 1.0,
        freedom=freedom or max(expansion.freedom, 1),
        more=more,
    )


def _saddlepoint(scales: Floats) -> float:
    """Return r with P(S <= 0) = Phi(r) for a sum S of scaled gamma numbers.

    Their shapes are 1, that of the last one 1/2. K(s) = -sum shape log(1 - s scale) is the cumulant
    function of S; it is convex, and K'(s) = 0 at the saddlepoint.
    """
    least, most = float(scales.min()), float(scales.max())
    if least >= 0 or most <= 0:
        return -inf if least >= 0 else inf
    low, high, s = 1 / least, 1 / most, 0.0
    for _ in range(_MAX_STEPS):
        tilted = scales / (1 - s * scales)
        slope, curvature = _shaped_sum(tilted), _shaped_sum(tilted * tilted)
        low, high = (low, s) if slope > 0 else (s, high)
        before, s = s, s - slope / curvature
        if not low < s < high:
            s = (low + high) / 2
        if abs(s - before) <= 1e-7 * abs(s):  # its error is the square of that
            break
    tilted = scales / (1 - s * scales)
    squares = tilted * tilted
    spread = sqrt(_shaped_sum(squares))
    w = copysign(sqrt(max(2 * _shaped_sum(log(1 - s * scales)), 0.0)), s)
    if abs(w) < 1e-3:  # the limit: a sixth of the skewness
        return w + _shaped_sum(squares * tilted) / (3 * spread * spread * spread)
    return w + log(s * spread / w) / w


_MAX_STEPS = 100


def _shaped_sum(values: Floats) -> float:
    """Return the sum of values times shapes: the last one counts half."""
    return float(values.sum() - 0.5 * values[-1])


def _find_root(rising: Callable[[float], float], high: float) -> float:
    """Return the root of a rising function between 0 and `high` by the Illinois method."""
    low, below, above = 0.0, rising(0.0), inf
    if below >= 0:
        return 0.0
    before = 0.0
    for _ in range(_MAX_STEPS):
        secant = (low * above - high * below) / (above - below)
        middle = secant if low < secant < high else (low + high) / 2
        value = rising(middle)
        repeated = value * before > 0
        if value < 0:
            low, below, above = middle, value, above / 2 if repeated else above
        else:
            high, above, below = middle, value, below / 2 if repeated else below
        before = value
        if abs(value) < 1e-9 or high - low <= 1e-14 * high:
            break
    return middle


def unit_values(judged: Floats, sums: Floats, sizes: Floats, probability: Floats) -> Floats:
    """Return units x columns: the value of each unit, from the comparisons of one system.

    Every unit must have a comparison, and every opponent comparisons on at least two units.

    Args:
        judged: opponents x units, the number of segments that were compared.
        sums: opponents x units x columns, sums of the values of these comparisons.
        sizes: the number of segments of each unit.
        probability: the probability with which each unit was drawn.
    """
    if (judged == sizes).all():
        means: Floats = (sums / sizes[:, None]).mean(axis=0)
        return means
    weights, n = 1 / probability, len(sizes)
    total = fsum((sizes * weights).tolist())
    totals = np.zeros(sums.shape[1:])
    for judged_counts, values in zip(judged, sums, strict=True):
        reach, count = fsum((judged_counts * weights).tolist()), int((judged_counts > 0).sum())
        mean = (values * weights[:, None]).sum(axis=0) / reach
        factor = sqrt((1 - 1 / n) / (1 - 1 / count)) * total / reach
        totals += mean + factor * (values - judged_counts[:, None] * mean) / sizes[:, None]
    return totals / len(judged)


def spread_over_units(values: Floats, indices: Ints, weights: Floats) -> Floats:
    """Extend values of some units to more units, keeping the mean and its error.

    `indices` are the positions of the units among all; `weights` are those of all units.
    """
    unit_weights = weights[indices]
    mean = fsum((unit_weights * values).tolist()) / fsum(unit_weights.tolist())
    spread_values = np.full(len(weights), mean)
    spread_values[indices] = mean + fsum(weights.tolist()) / fsum(unit_weights.tolist()) * (
        values - mean
    )
    return spread_values
