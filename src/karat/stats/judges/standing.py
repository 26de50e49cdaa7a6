"""Judges: their scales made alike, how they correlate, and which of them stand apart.

Judgements are flat rows: the unit that was judged, the judge, the value; NaN is none. A judge who
judged a unit twice counts with the mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.arithmetic import log1p, power
from karat.errors import InputError
from karat.stats.correlation import pearson, why_undefined
from karat.stats.judges.identical import LEAST_CHANCE, groups

Floats = NDArray[np.float64]
Labels = NDArray[Any]


class JudgeTable(NamedTuple):
    """Judgements as judges x units; NaN where a judge did not judge a unit."""

    judges: list[Any]
    units: list[Any]
    values: Floats


def judge_table(units: Sequence[Any], judges: Sequence[Any], values: ArrayLike) -> JudgeTable:
    """The table of flat rows; judges and units in order of first sight."""
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


# ------------------------------------------------------------------------------ one scale


class Normalised(NamedTuple):
    """z-scores of the rows, and the judges that have none, with the reason."""

    values: Floats
    without: dict[Any, str]


def z_normalise(judges: Sequence[Any], values: ArrayLike) -> Normalised:
    """z = (x - mean) / sd over each judge's own values; sd is that of a sample (n - 1).

    A judge with one judgement, or with equal ones, has no scale: the result is NaN, and the judge
    is named in `without`. 0 would pull the means of the units judged towards the middle.
    """
    x = _values(values, judges)
    who, rows = _numbered(judges)
    z = np.full(len(x), np.nan)
    without = {}
    for k, judge in enumerate(who):
        mine = (rows == k) & ~np.isnan(x)
        why = _why_no_scale(x[mine])
        if why:
            without[judge] = why
        else:
            z[mine] = (x[mine] - x[mine].mean()) / x[mine].std(ddof=1)
    return Normalised(z, without)


def _why_no_scale(values: Floats) -> str:
    if len(values) < 2:
        return f"{len(values)} judgement{'' if len(values) == 1 else 's'}"
    return "all judgements are equal" if (values == values[0]).all() else ""


class UnitMeans(NamedTuple):
    """The mean judgement of each unit, and how many it is of; NaN where there is none."""

    units: list[Any]
    means: Floats
    counts: NDArray[np.intp]


def unit_means(units: Sequence[Any], values: ArrayLike) -> UnitMeans:
    """Means over all judgements of a unit, in order of first sight."""
    x = _values(values, units)
    what, columns = _numbered(units)
    known = ~np.isnan(x)
    counts = np.bincount(columns[known], minlength=len(what))
    means = np.full(len(what), np.nan)
    sums = np.bincount(columns[known], x[known], len(what))
    np.divide(sums, counts, out=means, where=counts > 0)
    return UnitMeans(what, means, counts)


# ------------------------------------------------------------------- judges with each other


class JudgePair(NamedTuple):
    """Pearson's r of two judges over the n units, or systems, that both judged."""

    first: Any
    second: Any
    r: float
    n: int
    why: str  # why r is NaN


def inter_judge(table: JudgeTable, leave_out: Iterable[Any] = ()) -> list[JudgePair]:
    """Pearson's r of every two judges, unit by unit; units in `leave_out` do not count."""
    kept = _without(table, set(leave_out))
    rows = zip(kept.judges, kept.values, strict=True)
    return [_pair(a, x, b, y) for (a, x), (b, y) in combinations(rows, 2)]


def inter_judge_systems(
    table: JudgeTable, systems: Sequence[Any], leave_out: Iterable[Any] = ()
) -> list[JudgePair]:
    """The same of systems' means, over the units that both judged; systems[u] made unit u.

    Controls can be left out by their names: they lie so far apart that every judge agrees on them.
    """
    if len(systems) != len(table.units):
        raise InputError(f"{len(systems)} systems for {len(table.units)} units: expected as many")
    out = set(leave_out)
    names = [name for name in _numbered(systems)[0] if name not in out]
    members = [np.array([s == name for s in systems]) for name in names]
    rows = list(zip(table.judges, table.values, strict=True))
    found = []
    for (a, x), (b, y) in combinations(rows, 2):
        both = ~np.isnan(x + y)
        shared = [m & both for m in members if (m & both).any()]
        means = [np.array([v[m].mean() for m in shared]) for v in (x, y)]
        found.append(_pair(a, means[0], b, means[1]))
    return found


def _pair(first: Any, x: Floats, second: Any, y: Floats) -> JudgePair:
    n = int((~np.isnan(x + y)).sum())
    names = f"the scores of {first}", f"the scores of {second}"
    return JudgePair(first, second, pearson(x, y), n, why_undefined(x, y, names))


def _without(table: JudgeTable, out: set[Any]) -> JudgeTable:
    kept = [k for k, unit in enumerate(table.units) if unit not in out]
    return JudgeTable(table.judges, [table.units[k] for k in kept], table.values[:, kept])


# ------------------------------------------------------------------------ judges that stand apart

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
    """Each judge against the mean of the others, unit by unit, and who stands apart.

    A judge is flagged if both hold: r is more than 0.2 below the median of all judges, and Fisher's
    z = atanh r is below the median by more than three times the larger of the judges' spread
    (1.4826 times the median distance from the median) and the sampling error of z,
    1 / sqrt(n - 3). A judge who gave one value to everything is flagged if the others' values make
    that unlikely (p < 0.001). Identical judges count as one. A judge who shares fewer than two
    units with others is not comparable. With fewer than three comparable judges nobody is flagged,
    and nobody is ever dropped.
    """
    same = groups(table.values)
    found = [_leave_one_out(table, k, same) for k in range(len(table.judges))]
    counted = {same[k]: one for k, one in enumerate(found) if one.comparable}
    if len(counted) < 3:
        return [one._replace(flagged=False) for one in found]
    known = np.array([one.r for one in counted.values() if not np.isnan(one.r)])
    return [_judged(one, known) for one in found]


def _leave_one_out(table: JudgeTable, k: int, same: Sequence[int]) -> Standing:
    others = _merged(table.values, [g if g != same[k] else -1 for g in same])
    counts = (~np.isnan(others)).sum(axis=0)
    means = np.full(others.shape[1], np.nan)
    np.divide(np.nansum(others, axis=0), counts, out=means, where=counts > 0)
    mine = table.values[k]
    both = ~np.isnan(mine + means)
    n = int(both.sum())
    twins = tuple(judge for j, judge in enumerate(table.judges) if j != k and same[j] == same[k])
    if n < LEAST_SHARED:
        return Standing(table.judges[k], float("nan"), n, False, _apart(n, twins), False, twins)
    why = why_undefined(means, mine, ("the others' means", "the judge's scores"))
    stuck = _stuck(mine[both], others[:, both])
    return Standing(table.judges[k], pearson(means, mine), n, stuck, why, True, twins)


def _apart(n: int, twins: Sequence[Any]) -> str:
    shared = "no overlap" if n == 0 else f"an overlap of {n}"
    return f"{shared} with {'further' if twins else 'other'} judges: cannot be compared"


def _merged(values: Floats, same: Sequence[int]) -> Floats:
    """Judges x units with identical judges as one; those numbered -1 are left out."""
    kept = [g for g in dict.fromkeys(same) if g >= 0]
    found = np.full((len(kept), values.shape[1]), np.nan)
    for row, group in zip(found, kept, strict=True):
        for mine in values[[k for k, g in enumerate(same) if g == group]]:
            np.copyto(row, mine, where=~np.isnan(mine))
    return found


def _stuck(mine: Floats, others: Floats) -> bool:
    """Whether one value for everything is unlikely from a judge who judges as the others do."""
    if not len(mine) or (mine != mine[0]).any():
        return False
    given = others[~np.isnan(others)]
    share = np.unique(given, return_counts=True)[1].max() / len(given)
    return bool(power(share, len(mine)) < LEAST_CHANCE)


def _judged(one: Standing, everyone: Floats) -> Standing:
    if np.isnan(one.r):
        return one
    middle = float(np.median(everyone))
    z = np.median(_fisher(everyone)) - _fisher(np.array(one.r))
    if one.n > 3 and middle - one.r > LEAST_GAP and z > 3 * max(_spread(everyone), _error(one.n)):
        why = f"r is {middle - one.r:.2f} below the median of all judges"
        return one._replace(flagged=True, why=why)
    return one


def _fisher(r: Floats) -> Floats:
    """atanh r, finite at 1."""
    inside = np.clip(r, -1 + 1e-12, 1 - 1e-12)
    found: Floats = 0.5 * (log1p(inside) - log1p(-inside))
    return found


def _spread(r: Floats) -> float:
    z = _fisher(r)
    return 1.4826 * float(np.median(np.abs(z - np.median(z))))


def _error(n: int) -> float:
    return float(1 / np.sqrt(n - 3))
