"""Errors of a judge against people: agreement, and biases, with 95% intervals by unit.

The error of an item is e = f - h, the judge's value minus the mean of people. All numbers are
functions of sums over items, so that their intervals are those of `UnitEstimate`, with units left
out one by one.

**Agreement.** For each rating v by a person of an item that others rated too, the judge's value f
and v are both compared with the others: Pearson's r with the mean of the others, the share of
others with an equal value, and the root mean square distance to the others. So the judge and the
person have the same targets, and their difference is paired.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, Ints, np
from karat.stats.alternative_annotator import AnnotatorPanel
from karat.stats.jackknife import Measure, UnitEstimate, jackknife
from karat.stats.significance import MIN_DECIDING_UNITS


def sum_by_unit(unit: Ints, columns: Iterable[Floats]) -> Floats:
    """Return the sum of each column over the items of each unit: units x columns."""
    table = np.stack([np.asarray(column, np.float64) for column in columns], axis=1)
    sums = np.zeros((int(unit.max(initial=-1)) + 1, table.shape[1]))
    np.add.at(sums, unit, table)
    return sums


def estimate_of_units(measure: Measure, unit: Ints, columns: Iterable[Floats]) -> UnitEstimate:
    """Return a function of sums over items, with the influence of each unit.

    It has no units if it is undefined for all items or without one of the units.
    """
    _, numbers = np.unique(unit, return_inverse=True)
    rows = sum_by_unit(numbers.reshape(-1), columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(measure(rows.sum(axis=0)[None])[0])
        if not np.isfinite([value, *measure(rows.sum(axis=0) - rows)]).all():
            return UnitEstimate(value, np.zeros(len(rows)), 0)
        return jackknife(measure, rows, np.ones(len(rows), np.bool_))


def mean_of_units(values: Floats, unit: Ints) -> UnitEstimate:
    """Return the mean over items: sum of values / number of items."""
    return estimate_of_units(
        lambda sums: sums[:, 0] / sums[:, 1], unit, [values, np.ones(len(values))]
    )


def slope_of_units(x: Floats, y: Floats, unit: Ints) -> UnitEstimate:
    """Return the least-squares slope of y on x over items."""
    x, y = x - x.mean(), y - y.mean()

    def slope(sums: Floats) -> Floats:
        n, sx, sy, sxx, sxy = sums.T
        gap: Floats = (n * sxy - sx * sy) / (n * sxx - sx * sx)
        return gap

    return estimate_of_units(slope, unit, [np.ones(len(x)), x, y, x * x, x * y])


def difference_of_units(values: Floats, is_first: Flags, unit: Ints) -> UnitEstimate:
    """Return the mean of the first group of items minus the mean of the others."""
    first = is_first.astype(np.float64)

    def gap(sums: Floats) -> Floats:
        difference: Floats = sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]
        return difference

    return estimate_of_units(gap, unit, [values * first, first, values * (1 - first), 1 - first])


class GroupErrors(NamedTuple):
    """The mean error of a group of items, such as a system, alone and relative to all groups."""

    group: int
    items: int
    units: int
    mean: UnitEstimate
    relative: UnitEstimate | None
    """The mean minus the mean over groups; None for a single group or with too few units."""


def errors_by_group(errors: Floats, group: Ints, unit: Ints) -> list[GroupErrors]:
    """Return the mean error of each group; groups with enough units are compared."""
    _, numbers = np.unique(unit, return_inverse=True)
    numbers = numbers.reshape(-1)
    groups = np.unique(group).tolist()
    units = {g: len(np.unique(numbers[group == g])) for g in groups}
    compared = [g for g in groups if units[g] >= MIN_DECIDING_UNITS]
    columns = [column for g in compared for column in (errors * (group == g), 1.0 * (group == g))]

    def relative(place: int) -> UnitEstimate:
        def measure(sums: Floats) -> Floats:
            means = sums[:, ::2] / sums[:, 1::2]
            gap: Floats = means[:, place] - means.mean(axis=1)
            return gap

        return estimate_of_units(measure, numbers, columns)

    result = []
    for g in groups:
        mean = mean_of_units(errors[group == g], numbers[group == g])
        gap = relative(compared.index(g)) if g in compared and len(compared) > 1 else None
        result.append(GroupErrors(g, int((group == g).sum()), units[g], mean, gap))
    return result


class PanelAgreement(NamedTuple):
    """Agreement of the judge, and of a person, with the other people, by one measure."""

    measure: str
    judge: UnitEstimate
    people: UnitEstimate


R, EQUAL, DISTANCE = "r", "equal", "distance"
MEASURE_LIMITS = {R: (-1.0, 1.0), EQUAL: (0.0, 1.0), DISTANCE: (0.0, inf)}


def panel_agreement(panel: AnnotatorPanel) -> list[PanelAgreement]:
    """Return the agreement of the judge with people beside that of people with each other."""
    row, other = panel.pairs
    other_values, n_rows = panel.value[other], len(panel.value)
    counts = np.bincount(row, minlength=n_rows)
    target = np.bincount(row, other_values, n_rows) / counts
    center = float(panel.value.mean())

    def estimate(measure: str, values: Floats) -> UnitEstimate:
        if measure == R:
            x, y = values - center, target - center
            return estimate_of_units(
                _pearson, panel.unit, [np.ones(n_rows), x, y, x * x, y * y, x * y]
            )
        gaps = values[row] - other_values
        by_pair = 1.0 * (gaps == 0) if measure == EQUAL else gaps * gaps
        means = np.bincount(row, by_pair, n_rows) / counts
        root = _mean if measure == EQUAL else _root_mean
        return estimate_of_units(root, panel.unit, [means, np.ones(n_rows)])

    judged = panel.judge[panel.item]
    return [
        PanelAgreement(measure, estimate(measure, judged), estimate(measure, panel.value))
        for measure in (R, EQUAL, DISTANCE)
    ]


def _mean(sums: Floats) -> Floats:
    mean: Floats = sums[:, 0] / sums[:, 1]
    return mean


def _root_mean(sums: Floats) -> Floats:
    return np.sqrt(np.maximum(_mean(sums), 0))


def _pearson(sums: Floats) -> Floats:
    """Return Pearson's r from sums of 1, x, y, x^2, y^2 and x y; NaN if x or y is constant."""
    n, sx, sy, sxx, syy, sxy = sums.T
    vx, vy = n * sxx - sx * sx, n * syy - sy * sy
    is_constant = (vx <= SLACK * n * sxx) | (vy <= SLACK * n * syy)
    with np.errstate(invalid="ignore", divide="ignore"):
        r: Floats = np.where(is_constant, np.nan, (n * sxy - sx * sy) / np.sqrt(vx * vy))
    return r
