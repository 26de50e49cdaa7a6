"""Judges: how they correlate, and which of them stand apart.

Judgements are flat rows: the unit that was judged, the judge, the value; NaN is none. A judge who
judged a unit twice counts with the mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from karat.arithmetic import log1p, power
from karat.arrays import ArrayLike, Floats, NDArray, np
from karat.errors import InputError
from karat.stats.correlation import pearson, why_undefined
from karat.stats.judges.identical import LEAST_CHANCE, groups

Labels = NDArray[Any]


class JudgeTable(NamedTuple):
    """Judgements as judges x units; NaN where a judge did not judge a unit."""

    judges: list[Any]
    units: list[Any]
    values: Floats


def judge_table(units: Sequence[Any], judges: Sequence[Any], values: ArrayLike) -> JudgeTable:
    """Return the table of flat rows; judges and units in order of first sight."""
    x = _values(values, units, judges)
    who, rows = _numbered(judges)
    what, columns = _numbered(units)
    known = ~np.isnan(x)
    cells = rows[known] * len(what) + columns[known]
    sums = np.bincount(cells, x[known], len(who) * len(what))
    counts = np.bincount(cells, minlength=len(who) * len(what))
    table = np.full(len(sums), np.nan)
    np.divide(sums, counts, out=table, where=counts > 0)
    return JudgeTable(who, what, table.reshape(len(who), len(what)))


def _values(values: ArrayLike, *labels: Sequence[Any]) -> Floats:
    x = np.asarray(values, np.float64).ravel()
    if any(len(column) != len(x) for column in labels):
        sizes = ", ".join(str(len(column)) for column in labels)
        raise InputError(f"{len(x)} values for columns of {sizes} rows: expected as many of each")
    return x


def _numbered(labels: Iterable[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Distinct labels in order of first sight, and the number of each row's."""
    numbers: dict[Any, int] = {}
    found = [numbers.setdefault(label, len(numbers)) for label in labels]
    return list(numbers), np.array(found, dtype=np.intp)


class JudgePair(NamedTuple):
    """Pearson's r of two judges over the n units, or systems, that both judged, or NaN."""

    first: Any
    second: Any
    r: float
    n: int


def inter_judge(table: JudgeTable) -> list[JudgePair]:
    """Return Pearson's r of every two judges, unit by unit."""
    return inter_judge_systems(table, range(len(table.units)))


def inter_judge_systems(table: JudgeTable, systems: Sequence[Any]) -> list[JudgePair]:
    """Return Pearson's r of every two judges over systems' means; systems[u] made unit u.

    The means are those of the units that both judged.
    """
    if len(systems) != len(table.units):
        raise InputError(f"{len(systems)} systems for {len(table.units)} units: expected as many")
    names, made_by = _numbered(systems)
    found = []
    for i, j in combinations(range(len(table.judges)), 2):
        both = np.flatnonzero(~np.isnan(table.values[i] + table.values[j]))
        pair = table.values[[i, j]][:, both]
        if len(names) < len(systems):
            pair = _means(pair, made_by[both])
        r = pearson(*pair) if pair.shape[1] > 1 else float("nan")
        found.append(JudgePair(table.judges[i], table.judges[j], r, pair.shape[1]))
    return found


def _means(pair: Floats, made_by: NDArray[np.intp]) -> Floats:
    """Return the means of each system that is there."""
    members = [made_by == system for system in np.unique(made_by)]
    found = [[values[mine].mean() for mine in members] for values in pair]
    return np.array(found, np.float64).reshape(2, -1)


LEAST_GAP = 0.2
LEAST_SHARED = 2


class Standing(NamedTuple):
    """A judge's correlation with the mean of the others."""

    judge: Any
    r: float
    n: int  # units that the judge and another judged; identical judges are no others
    flagged: bool
    why: str
    comparable: bool = True
    """Whether the judge shares units with others; without, nothing can be said."""
    identical: tuple[Any, ...] = ()
    """Judges that gave the same values to all shared units (see `identical_judges`)."""


def standings(table: JudgeTable) -> list[Standing]:
    """Compare each judge with the mean of the others, unit by unit; flag who stands apart.

    A judge is flagged if both hold: r is more than 0.2 below the median of all judges, and Fisher's
    z = atanh r is below the median by more than three times the larger of the judges' spread
    (1.4826 times the median distance from the median) and the sampling error of z,
    1 / sqrt(n - 3). A judge who gave one value to everything is flagged if the others' values make
    that unlikely (p < 0.001). Identical judges count as one. A judge who shares fewer than two
    units with others is not comparable. With fewer than three comparable judges nobody is flagged,
    and nobody is ever dropped.
    """
    same = groups(table.values)
    merged = _merged(table.values, same)
    found = [_leave_one_out(table, k, same, merged) for k in range(len(table.judges))]
    counted = {same[k]: one for k, one in enumerate(found) if one.comparable}
    if len(counted) < 3:
        return [one._replace(flagged=False) for one in found]
    known = np.array([one.r for one in counted.values() if not np.isnan(one.r)])
    return [_judged(one, known) for one in found]


def _leave_one_out(table: JudgeTable, k: int, same: Sequence[int], merged: Floats) -> Standing:
    others = merged[[group != same[k] for group in dict.fromkeys(same)]]
    counts = (~np.isnan(others)).sum(axis=0)
    means = np.full(others.shape[1], np.nan)
    np.divide(np.nansum(others, axis=0), counts, out=means, where=counts > 0)
    mine = table.values[k]
    both = ~np.isnan(mine + means)
    n = int(both.sum())
    twins = tuple(judge for j, judge in enumerate(table.judges) if j != k and same[j] == same[k])
    if n < LEAST_SHARED:
        shared = "no overlap" if n == 0 else f"an overlap of {n}"
        why = f"{shared} with {'further' if twins else 'other'} judges: cannot be compared"
        why = why if len(table.judges) > 1 else "one judge: cannot be compared"
        return Standing(table.judges[k], float("nan"), n, False, why, False, twins)
    why = why_undefined(means, mine, ("the others' means", "the judge's scores"))
    stuck = _stuck(mine[both], others[:, both])
    return Standing(table.judges[k], pearson(means, mine), n, stuck, why, True, twins)


def _merged(values: Floats, same: Sequence[int]) -> Floats:
    """Return judges x units with identical judges as one."""
    kept = list(dict.fromkeys(same))
    found = np.full((len(kept), values.shape[1]), np.nan)
    for mine, group in zip(values, same, strict=True):
        np.copyto(found[kept.index(group)], mine, where=~np.isnan(mine))
    return found


def _stuck(mine: Floats, others: Floats) -> bool:
    """Return whether one value for everything is unlikely if a judge judges as the others do."""
    if not len(mine) or (mine != mine[0]).any():
        return False
    given = others[~np.isnan(others)]
    share = np.unique(given, return_counts=True)[1].max() / len(given)
    return bool(power(share, len(mine)) < LEAST_CHANCE)


def _judged(one: Standing, everyone: Floats) -> Standing:
    if np.isnan(one.r) or one.n <= 3:
        return one
    gap = float(np.median(everyone)) - one.r
    z = _fisher(everyone)
    spread = 1.4826 * float(np.median(np.abs(z - np.median(z))))
    below = np.median(z) - _fisher(np.array(one.r))
    if gap > LEAST_GAP and below > 3 * max(spread, float(1 / np.sqrt(one.n - 3))):
        return one._replace(flagged=True, why=f"r is {gap:.2f} below the median of all judges")
    return one


def _fisher(r: Floats) -> Floats:
    """Return atanh r, finite at 1."""
    inside = np.clip(r, -1 + 1e-12, 1 - 1e-12)
    found: Floats = 0.5 * (log1p(inside) - log1p(-inside))
    return found
