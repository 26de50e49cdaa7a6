"""Least squares the slow way: whole numbers and fractions for the fit, a fit for every left-out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def solve(a: list[list[Fraction]], b: list[Fraction]) -> list[Fraction]:
    """x with a x = b, by elimination."""
    rows = [[*row, right] for row, right in zip(a, b, strict=True)]
    for i in range(len(rows)):
        pivot = next(r for r in range(i, len(rows)) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(len(rows)):
            if r != i:
                rows[r] = [v - rows[r][i] * w for v, w in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def coefficients(x: Sequence[Sequence[float]], y: Sequence[float]) -> list[Fraction]:
    """Intercept and slopes, exactly."""
    points = [[Fraction(1), *map(Fraction, row)] for row in x]
    k = range(len(points[0]))
    square = [[sum((p[i] * p[j] for p in points), Fraction()) for j in k] for i in k]
    right = [
        sum((p[i] * Fraction(v) for p, v in zip(points, y, strict=True)), Fraction()) for i in k
    ]
    return solve(square, right)


def predict(fit: Sequence[Fraction], row: Sequence[float]) -> float:
    """What coefficients say of a point."""
    return float(fit[0] + sum(b * Fraction(v) for b, v in zip(fit[1:], row, strict=True)))


def left_out(
    x: Sequence[Sequence[float]], y: Sequence[float], groups: Sequence[int]
) -> list[float]:
    """Each point by the fit of all points of other groups."""
    predictions = []
    for row, group in zip(x, groups, strict=True):
        rest = [i for i, other in enumerate(groups) if other != group]
        predictions.append(predict(coefficients([x[i] for i in rest], [y[i] for i in rest]), row))
    return predictions
