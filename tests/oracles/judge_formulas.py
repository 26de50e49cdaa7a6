"""Agreement of judges as the papers' formulas read, by loops; None is no judgement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

Table = Sequence[Sequence[float | None]]  # judges x units


def alpha(table: Table, scale: str) -> float:
    """Krippendorff's alpha from a table of coincidences o[c, k]."""
    coincidences: Counter[tuple[float, float]] = Counter()
    for unit in zip(*table, strict=True):
        values = [v for v in unit if v is not None]
        for c, k in permutations(values, 2):
            coincidences[c, k] += 1 / (len(values) - 1)  # type: ignore[assignment]
    sizes: Counter[float] = Counter()
    for (c, _), share in coincidences.items():
        sizes[c] += share  # type: ignore[assignment]
    n = sum(sizes.values())

    def distance(c: float, k: float) -> float:
        if scale == "nominal":
            return float(c != k)
        if scale == "interval":
            return (c - k) ** 2
        low, high = sorted((c, k))
        between = sum(size for value, size in sizes.items() if low <= value <= high)
        return (between - (sizes[c] + sizes[k]) / 2) ** 2 if c != k else 0.0

    observed = sum(o * distance(c, k) for (c, k), o in coincidences.items()) / n
    expected = sum(sizes[c] * sizes[k] * distance(c, k) for c in sizes for k in sizes)
    return 1 - observed / (expected / (n * (n - 1)))


def mean_squares(rows: Sequence[Sequence[float]]) -> tuple[float, float, float, float]:
    """Between units, within units, between judges, and of the rest, of units x judges."""
    n, k = len(rows), len(rows[0])
    mean = sum(map(sum, rows)) / (n * k)
    unit = [sum(row) / k for row in rows]
    judge = [sum(row[j] for row in rows) / n for j in range(k)]
    between = k * sum((u - mean) ** 2 for u in unit) / (n - 1)
    within = sum((x - u) ** 2 for row, u in zip(rows, unit, strict=True) for x in row)
    judges = n * sum((j - mean) ** 2 for j in judge) / (k - 1)
    rest = sum(
        (rows[i][j] - unit[i] - judge[j] + mean) ** 2 for i in range(n) for j in range(k)
    ) / ((n - 1) * (k - 1))
    return between, within / (n * (k - 1)), judges, rest
