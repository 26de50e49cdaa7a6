"""Human scores by plain loops over rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean, stdev

Row = tuple[str, str, str, str, float]


def normalised(rows: Iterable[Row]) -> list[Row]:
    """(x - m) / s for each judge; a judge whose values do not differ is left out."""
    by_judge: dict[str, list[float]] = defaultdict(list)
    all_rows = list(rows)
    for row in all_rows:
        by_judge[row[2]].append(row[4])
    return [
        (*row[:4], (row[4] - fmean(by_judge[row[2]])) / stdev(by_judge[row[2]]))
        for row in all_rows
        if len(set(by_judge[row[2]])) > 1
    ]


def human(
    rows: Iterable[Row],
    systems: Iterable[str],
    segments: Iterable[str],
    dimension: str,
    sign: int,
    z: bool,
) -> list[list[float | None]]:
    """The mean over judges of every output, None where there is no judgement."""
    dimension_rows = [row for row in rows if row[3] == dimension]
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in normalised(dimension_rows) if z else dimension_rows:
        cells[row[0], row[1]].append(row[4])
    columns = list(segments)
    return [[sign * fmean(cells[a, b]) if cells[a, b] else None for b in columns] for a in systems]
