"""AUC and its standard error by loops over all pairs of scores."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt


def area(good: Sequence[float], bad: Sequence[float]) -> Fraction:
    """Return the share of pairs whose good score is higher; a tie is half a pair."""
    total = Fraction(0)
    for g in good:
        for b in bad:
            total += 1 if g > b else Fraction(1, 2) if g == b else 0
    return total / (len(good) * len(bad))


def area_error(good: Sequence[float], bad: Sequence[float], items: Sequence[int]) -> float:
    """Return the standard error of the area, by items."""
    value, m = area(good, bad), len(good)
    influence: dict[int, Fraction] = {}
    for g, b, item in zip(good, bad, items, strict=True):
        part = area([g], bad) + area(good, [b]) - 2 * value
        influence[item] = influence.get(item, Fraction(0)) + part
    n = len(influence)
    squares = sum((n * part / m) ** 2 for part in influence.values())
    return sqrt(squares / (n * (n - 1)))
