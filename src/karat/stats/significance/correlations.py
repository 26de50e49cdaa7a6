"""p of a correlation: how often two scores that have nothing to do with each other agree so far.

Two-sided. Points are taken as independent of each other.

    r of n points    t = r sqrt((n - 2) / (1 - r^2)), Student's distribution of n - 2 degrees
    Kendall's tau    z = (C - D) / sqrt(v), normal, where ties are taken out of the variance v
"""

from __future__ import annotations

from math import inf, isnan, nan, sqrt

from karat import _kernel
from karat.arrays import Floats, np
from karat.stats.distributions import normal_tail, student_tail

FEWEST = 3
"""Points that a correlation with a p needs: any two lie on a line."""


def p_of_r(r: float, n: int) -> float:
    """p of Pearson's r of n points, or of the rho of many; NaN where there is none."""
    if n < FEWEST or isnan(r):
        return nan
    left = 1 - r * r
    return 2 * student_tail(abs(r) * sqrt((n - 2) / left) if left > 0 else inf, n - 2)


def p_of_tau(human: Floats, metric: Floats) -> float:
    """p of Kendall's tau, b or c: of C - D, the concordant less the discordant pairs.

    With the groups of t equal human and u equal metric scores,
    v = (n(n-1)(2n+5) - sum t(t-1)(2t+5) - sum u(u-1)(2u+5)) / 18
    + sum t(t-1) sum u(u-1) / (2n(n-1)) + sum t(t-1)(t-2) sum u(u-1)(u-2) / (9n(n-1)(n-2)).
    """
    n = len(human)
    if n < FEWEST:
        return nan
    con, dis = _kernel.pair_counts(human[None], metric[None], 0.0)[0, :2].tolist()
    t, u = (np.unique(x, return_counts=True)[1].tolist() for x in (human, metric))
    twos = [sum(k * (k - 1) for k in sizes) for sizes in (t, u)]
    threes = [sum(k * (k - 1) * (k - 2) for k in sizes) for sizes in (t, u)]
    spread = n * (n - 1) * (2 * n + 5) - sum(k * (k - 1) * (2 * k + 5) for k in (*t, *u))
    pairs, triples = 2 * n * (n - 1), 9 * n * (n - 1) * (n - 2)
    v = spread / 18 + twos[0] * twos[1] / pairs + threes[0] * threes[1] / triples
    return 2 * normal_tail(abs(con - dis) / sqrt(v)) if v > 0 else nan
