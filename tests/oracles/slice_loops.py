"""Slices by loops: bands of length by trying all ends, tests by leaving out unit after unit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from karat.metrics.base import Metric
from karat.stats.jackknife import UnitEstimate
from karat.stats.simultaneous import JointEstimates, TestFamily


def bands(lengths: Sequence[int]) -> list[str]:
    """The band of each segment, by the ends whose shares are nearest to 1/3 and 2/3."""
    n, ends = len(lengths), []
    for share in (1, 2):
        best = None
        for end in sorted(set(lengths))[:-1]:
            gap = abs(3 * sum(length <= end for length in lengths) - share * n)
            if best is None or gap < best[0]:
                best = gap, end
        if best is not None and best[1] not in ends:
            ends.append(best[1])
    names = {0: ["all"], 1: ["short", "long"], 2: ["short", "medium", "long"]}[len(ends)]
    return [names[sum(length > end for end in ends)] for length in lengths]


def unit_estimate(
    metric: Metric, rows: np.ndarray, units: Sequence[Hashable], inside: Sequence[bool]
) -> UnitEstimate:
    """The score of some segments, with the influence of every unit; 0 for units outside."""
    sums: dict[Hashable, np.ndarray] = {}
    for row, unit, is_inside in zip(rows, units, inside, strict=True):
        if is_inside:
            sums[unit] = sums.get(unit, np.zeros(rows.shape[1])) + row
    total = sum(sums.values())

    def score(row: np.ndarray) -> float:
        return float(metric.measure(row[None])["value"][0])

    left_out = {u: (len(sums) - 1) * (score(total) - score(total - sums[u])) for u in sums}
    mean = sum(left_out.values()) / len(sums)
    order = dict.fromkeys(units)
    influence = [left_out[u] - mean if u in left_out else 0.0 for u in order]
    return UnitEstimate(score(total), np.array(influence), len(sums))


def slice_family(
    metric: Metric,
    rows: tuple[np.ndarray, np.ndarray],
    units: Sequence[Hashable],
    slices: Sequence[str],
) -> tuple[list[str], TestFamily]:
    """The slices in order, and the tests of the first system against the second in each."""
    labels = list(dict.fromkeys(slices))
    estimates = [
        unit_estimate(metric, table, units, [label == name for label in slices])
        for name in labels
        for table in rows
    ]
    pairs = [(2 * at, 2 * at + 1) for at in range(len(labels))]
    return labels, JointEstimates(estimates).family(pairs)
