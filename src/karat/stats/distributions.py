"""Tails and quantiles of the normal distribution and of Student's t, and p of correlations."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf, isnan, nan, sqrt

from karat import _kernel
from karat.arithmetic import erfc, exp, log, log1p, log_gamma
from karat.arrays import Floats, np


def normal_tail(z: float) -> float:
    """Return P(Z >= z)."""
    return 0.5 * erfc(z / sqrt(2))


@lru_cache(maxsize=1024)
def normal_quantile(tail: float) -> float:
    """Return the z with P(Z >= z) = tail, for tails of at most 1/2, by bisection."""
    return _bisect(normal_tail, tail, 40.0)


def student_tail(t: float, freedom: float) -> float:
    """Return P(T >= t): half the regularised incomplete beta I_x(v/2, 1/2) at x = v/(v + t^2)."""
    x = freedom / (freedom + t * t)
    complement = t * t / (freedom + t * t) if x > 0.5 else 1 - x  # 1 - x would lose a small t
    half = 0.5 * incomplete_beta(freedom / 2, 0.5, x, complement)
    return half if t >= 0 else 1 - half


@lru_cache(maxsize=1024)  # runs of one set have the same degrees of freedom
def student_quantile(tail: float, freedom: float) -> float:
    """Return the t with P(T >= t) = tail, for tails below 1/2, by bisection."""
    high = 1.0
    while student_tail(high, freedom) > tail:
        high *= 2
    return _bisect(lambda t: student_tail(t, freedom), tail, high)


def _bisect(falling: Callable[[float], float], value: float, high: float) -> float:
    """Return the point between 0 and `high` at which a falling function has a value."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > value else (low, middle)
    return (low + high) / 2


def incomplete_beta(a: float, b: float, x: float, complement: float | None = None) -> float:
    """Return the regularised I_x(a, b); mirrored where its continued fraction converges slowly.

    `complement` is 1 - x; pass it if it is known more precisely than the subtraction gives it.
    """
    if complement is None:
        complement = 1 - x
    if x <= 0 or complement <= 0:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, complement, x)
    scale = log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    front = exp(scale + a * log(x) + b * log1p(-x)) / a
    value, c, d = 1.0, 1.0, 0.0  # 1 + d1/(1 + d2/(1 + ...)), by Lentz's recurrences
    for k in range(1, 10000):
        m = k // 2
        if k % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _away_from_zero(1 + term * d)
        c = _away_from_zero(1 + term / c)
        value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return front / value


def _away_from_zero(x: float) -> float:
    return x if abs(x) > 1e-300 else 1e-300


MIN_POINTS = 3  # points needed for p of a correlation: any two lie on a line


def p_of_r(r: float, n: int) -> float:
    """Return p of Pearson's r, or of rho for many points; NaN if there are too few."""
    if n < MIN_POINTS or isnan(r):
        return nan
    left = 1 - r * r
    return 2 * student_tail(abs(r) * sqrt((n - 2) / left) if left > 0 else inf, n - 2)


def p_of_tau(human: Floats, metric: Floats) -> float:
    """Return p of Kendall's tau-b or tau-c from C - D, concordant minus discordant pairs.

    Its variance, with groups of t equal human and u equal metric scores, is
    v = (n(n-1)(2n+5) - sum t(t-1)(2t+5) - sum u(u-1)(2u+5)) / 18
    + sum t(t-1) sum u(u-1) / (2n(n-1)) + sum t(t-1)(t-2) sum u(u-1)(u-2) / (9n(n-1)(n-2)).
    """
    n = len(human)
    if n < MIN_POINTS:
        return nan
    con, dis = _kernel.pair_counts(human[None], metric[None], 0.0)[0, :2].tolist()
    t, u = (np.unique(x, return_counts=True)[1].tolist() for x in (human, metric))
    twos = [sum(k * (k - 1) for k in sizes) for sizes in (t, u)]
    threes = [sum(k * (k - 1) * (k - 2) for k in sizes) for sizes in (t, u)]
    spread = n * (n - 1) * (2 * n + 5) - sum(k * (k - 1) * (2 * k + 5) for k in (*t, *u))
    pairs, triples = 2 * n * (n - 1), 9 * n * (n - 1) * (n - 2)
    v = spread / 18 + twos[0] * twos[1] / pairs + threes[0] * threes[1] / triples
    return 2 * normal_tail(abs(con - dis) / sqrt(v)) if v > 0 else nan
