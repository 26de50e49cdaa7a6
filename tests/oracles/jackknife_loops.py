"""Jackknife inference in plain Python: leave out each unit in turn, and scipy's Student t."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import scipy.optimize
import scipy.stats

Row = Sequence[float]
Score = Callable[[Row], float]


def total(rows: Sequence[Row]) -> list[float]:
    """The sum of rows, column by column."""
    return [sum(column) for column in zip(*rows, strict=True)]


def influences(rows: Sequence[Row], score: Score) -> list[float]:
    """(n - 1) (f - f without the unit), centred."""
    n, value = len(rows), score(total(rows))
    raw = []
    for unit in range(n):
        rest = [row for other, row in enumerate(rows) if other != unit]
        raw.append((n - 1) * (value - score(total(rest))))
    mean = sum(raw) / n
    return [psi - mean for psi in raw]


def standard_error(psi: Sequence[float]) -> float:
    """The jackknife standard error of the sum's score."""
    n = len(psi)
    return sqrt(sum(x * x for x in psi) / (n * (n - 1)))


def statistic(value: float, psi: Sequence[float], null: float) -> float:
    """The smaller of |t| and Hall's |h(t)|."""
    n = len(psi)
    square = sum(x * x for x in psi) / n
    skewness = sum(x**3 for x in psi) / n / square**1.5
    a = skewness / (3 * sqrt(n))
    t = (value - null) / standard_error(psi)
    h = t + a * t**2 + a**2 * t**3 / 3 + a / 2
    return min(abs(t), abs(h))


def p_value(value: float, psi: Sequence[float], null: float = 0.0) -> float:
    """The two-sided p of a null value by Student's t."""
    return float(2 * scipy.stats.t.sf(statistic(value, psi, null), len(psi) - 1))


def interval(value: float, psi: Sequence[float], level: float = 0.05) -> tuple[float, float]:
    """The ends of the null values with p of at least `level`, found by bisection.

    p falls on both sides of the plateau of p = 1 between t = 0 and h(t) = 0, and h increases.
    """
    error, n = standard_error(psi), len(psi)
    limit = float(scipy.stats.t.isf(level / 2, n - 1))

    def end(side: int) -> float:
        def beyond(t: float) -> float:
            null = value - side * t * error
            return statistic(value, psi, null) - limit

        step = 1.0
        while beyond(step) < 0:
            step *= 2
        # the statistic of t > 0 may touch 0 once, below `step`, where h changes its sign
        grid = [step * k / 4096 for k in range(4097)]
        last = max(t for t in grid if beyond(t) <= 0)
        t = scipy.optimize.brentq(beyond, last, last + step / 4096, xtol=1e-14)
        return value - side * float(t) * error

    return end(1), end(-1)


def ratio_score(row: Row) -> float:
    """A score with a denominator that varies: 100 times the share of matches."""
    return 100 * row[0] / row[1]


def f_score(row: Row) -> float:
    """A skewed score: the harmonic mean of two shares."""
    precision, recall = row[0] / row[1], row[0] / row[2]
    return 2 * precision * recall / (precision + recall) if row[0] else 0.0
