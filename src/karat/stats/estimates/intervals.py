"""Intervals of means: Student's, corrected for skewness, and for scales that values pile up at.

**Skewness.** T = (mean - truth) / SE of n of N values with the skewness g is not symmetric. With
f = n / N and b = g / sqrt(n (1 - f)) its first and third cumulants are -b (1 - f) / 2 and
-b (2 - f), so that

    X = T + c / 3 T^2 + c^2 / 27 T^3 + d        c = b (2 - f) / 2,  d = b (1 - 2 f) / 6

is nearly Student's (Hall 1992, there for f = 0; the cubic term makes X rise with T). Ends of the
interval are where X is the quantile. Skewness is hard to measure, so an end is never nearer to the
mean than that of Student's own interval.

**Ends of a scale.** Where most values are the best one of the scale, a sample may hold no other at
all, and every interval that is made from its spread fails. The bounded form lets half an
observation at the end of the scale stand for what was not seen. The weights of the observations are
exponential numbers (the Bayesian bootstrap, Rubin 1981), that of the end a gamma number of shape
1/2; the lower bound is the 2.5% quantile of the weighted mean with the low end, the upper bound the
97.5% quantile of that with the high end. With a whole observation and labels of 0 and 1 this would
be the interval of Clopper and Pearson; Learned-Miller and Thomas (2020) have it for any bounded
value.
"""

from __future__ import annotations

from functools import lru_cache
from math import copysign, inf, sqrt
from typing import NamedTuple

from karat.arithmetic import log, power, product
from karat.arrays import Floats, np
from karat.stats.distributions import student_quantile, student_tail
from karat.stats.estimates.sampling import Expansion

LEVEL = 0.95
_DRAWS = 2000
_SEED = 20
MOST_BOUNDED = 1000
"""Labels up to which the bounded form is made; with more, the corrected one does as well."""


class MeanInterval(NamedTuple):
    """A mean, its standard error and the ends of its 95% interval."""

    mean: float
    low: float
    high: float
    error: float

    @property
    def width(self) -> float:
        """The distance of its ends."""
        return self.high - self.low

    def shifted(self, by: float) -> MeanInterval:
        """Return the interval of the mean plus a known number."""
        return MeanInterval(self.mean + by, self.low + by, self.high + by, self.error)

    def within(self, low: float | None, high: float | None) -> MeanInterval:
        """Return the part of the interval that lies on a scale."""
        least, most = -inf if low is None else low, inf if high is None else high
        mean, lower, upper = (min(max(end, least), most) for end in self[:3])
        return MeanInterval(mean, lower, upper, self.error)


def skewed_interval(found: Expansion, finite: bool = True, more: float = 0.0) -> MeanInterval:
    """Return Student's interval, corrected for skewness; `more` is a further variance."""
    own = found.error(finite)
    error = sqrt(own * own + more)
    if not error > 0 or found.freedom < 1:
        return MeanInterval(found.mean, found.mean, found.mean, error)
    fraction = found.fraction if finite else 0.0
    kept = own / error
    skewness = found.skewness * kept * kept * kept
    t = student_quantile((1 - LEVEL) / 2, found.freedom)
    reach = [max(t, end) for end in _reach(t, skewness, len(found.plain), fraction)]
    low, high = found.mean - reach[0] * error, found.mean + reach[1] * error
    return MeanInterval(found.mean, low, high, error)


def _reach(t: float, skewness: float, n: int, fraction: float) -> tuple[float, float]:
    """Return how many standard errors the ends are below and above the mean."""
    b = skewness / sqrt(n * max(1 - fraction, 1e-12))
    c, d = b * (2 - fraction) / 2, b * (1 - 2 * fraction) / 6
    if abs(c) < 1e-9:
        return t, t
    below, above = (3 / c * (_cube_root(1 + c * (x - d)) - 1) for x in (t, -t))
    return below, -above


def _cube_root(x: float) -> float:
    return copysign(float(power(abs(x), 1 / 3)), x) if x else 0.0


def bounded_interval(
    values: Floats,
    weights: Floats,
    ends: tuple[float, float],
    found: Expansion,
    finite: bool,
    more: float = 0.0,
) -> MeanInterval:
    """Return the interval that allows for values as far as the ends of the scale.

    `more` is a further variance: its distance and that of each end add up as squares.
    """
    draws, half = _exponentials(len(values))
    mass = weights / (float(weights.sum()) / len(weights))
    whole = product(draws, mass)
    total = product(draws, mass * values)
    low, high = (
        np.sort((total + half * end) / (whole + half))[place]
        for end, place in zip(ends, _places(), strict=True)
    )
    mean = float((mass * values).sum()) / len(values)
    shrink = sqrt(1 - found.fraction) if finite else 1.0
    t = student_quantile((1 - LEVEL) / 2, max(found.freedom, 1)) if more > 0 else 0.0
    gaps = (shrink * max(mean - float(low), 0.0), shrink * max(float(high) - mean, 0.0))
    below, above = (sqrt(gap * gap + t * t * more) for gap in gaps)
    own = found.error(finite)
    error = sqrt(own * own + more)
    return MeanInterval(found.mean, found.mean - below, found.mean + above, error)


def _places() -> tuple[int, int]:
    """Return the places of the quantiles among sorted draws."""
    tail = round(_DRAWS * (1 - LEVEL) / 2)
    return tail, _DRAWS - 1 - tail


@lru_cache(maxsize=4)
def _exponentials(n: int) -> tuple[Floats, Floats]:
    """Return exponential numbers, draws x n, and for each draw a gamma number of shape 1/2.

    A gamma number of shape 1/2 is an exponential one times x^2 / (x^2 + y^2) of a point of the
    disc: no function is needed that differs between processors.
    """
    rng = np.random.default_rng(_SEED)
    draws = -log(1 - rng.random((_DRAWS, n + 1)))
    points = rng.random((4 * _DRAWS, 2)) * 2 - 1
    squares = points * points
    inside = squares[(squares.sum(axis=1) < 1) & (squares.sum(axis=1) > 0)][:_DRAWS]
    half: Floats = draws[:, n] * inside[:, 0] / inside.sum(axis=1)
    return draws[:, :n], half


def two_sided(mean: float, error: float, freedom: int) -> float:
    """Return the p-value of a mean of 0 by Student's t; NaN without an error."""
    if not error > 0 or freedom < 1:
        return float("nan")
    return min(1.0, 2 * student_tail(abs(mean) / error, freedom))
