"""Agreement of judges: Krippendorff's alpha and intraclass correlations.

Both take a table of judges x units in which NaN is a judgement that was not made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from karat.arithmetic import log1p, power
from karat.arrays import ArrayLike, Floats, NDArray, np
from karat.errors import InputError, quoted
from karat.evalset.judgements import CHANCE_LEVEL, identical_judges, merge_judges
from karat.stats.correlation import pearson, quotient, why_undefined

Positions = NDArray[np.intp]


class Alpha(NamedTuple):
    """Krippendorff's alpha, and what it is of."""

    value: float  # NaN if undefined
    units: int  # judged by at least two
    judgements: int  # of those units
    reason: str = ""


def krippendorff_alpha(table: Floats, scale: str = "interval") -> Alpha:
    """1 - observed / expected disagreement (Krippendorff 2011), on a nominal, ordinal or interval
    scale; units with fewer than two judgements do not count.

    Both are means of squared distances over pairs of judgements: observed, of those of one unit,
    each unit weighted by its judgements; expected, of all. On an ordinal scale the distance of two
    values is that of their middle places among all judgements, so it is the interval formula again.
    """
    if scale not in SCALES:
        raise InputError(f"scale {quoted(scale)}: expected one of {', '.join(SCALES)}")
    is_judged = ~np.isnan(table)
    pairable = is_judged & (is_judged.sum(axis=0) >= 2)
    values = table.T[pairable.T]  # unit after unit
    unit = np.nonzero(pairable.T)[0]
    units = len(np.unique(unit))
    if not len(values):
        return Alpha(float("nan"), 0, 0, "no unit was judged twice")
    if (values == values[0]).all():
        return Alpha(float("nan"), units, len(values), "all judgements are equal")
    if units == 1:  # observed and expected are the same: it would be 0, whatever was judged
        return Alpha(float("nan"), units, len(values), "one unit was judged twice, two are needed")
    within, overall = SCALES[scale](values, unit), SCALES[scale](values, np.zeros_like(unit))
    sizes = np.bincount(unit)[np.unique(unit)]
    observed = float((within / (sizes - 1)).sum()) / len(values)
    expected = float(overall[0]) / (len(values) * (len(values) - 1))
    return Alpha(1 - observed / expected, units, len(values))


def _interval(values: Floats, unit: Positions) -> Floats:
    """Sums over ordered pairs of a unit of (a - b)^2: 2 m sum (x - mean)^2."""
    _, unit = np.unique(unit, return_inverse=True)
    sizes = np.bincount(unit)
    moved = values - (np.bincount(unit, values) / sizes)[unit]
    return np.asarray(2 * sizes * np.bincount(unit, moved**2), np.float64)


def _ordinal(values: Floats, unit: Positions) -> Floats:
    _, value_index, counts = np.unique(values, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts / 2
    return _interval(middles[value_index], unit)


def _nominal(values: Floats, unit: Positions) -> Floats:
    """Sums over ordered pairs of a unit of [a != b]: m^2 - sum over values of count^2."""
    _, unit = np.unique(unit, return_inverse=True)
    _, value_index = np.unique(values, return_inverse=True)
    cells, counts = np.unique(unit * (value_index.max() + 1) + value_index, return_counts=True)
    equal = np.bincount(cells // (value_index.max() + 1), counts.astype(float) ** 2)
    return np.bincount(unit).astype(float) ** 2 - equal


SCALES: dict[str, Callable[[Floats, Positions], Floats]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}


class Intraclass(NamedTuple):
    """The six intraclass correlations of Shrout and Fleiss, of units that every judge judged."""

    icc1: float  # judges differ from unit to unit
    icc2: float  # judges are a sample of all judges
    icc3: float  # these judges and no others
    icc1k: float  # the same of the mean of all judges
    icc2k: float
    icc3k: float
    units: int
    left_out: int
    reason: str = ""


def intraclass(table: Floats) -> Intraclass:
    """ICC(1,1), (2,1), (3,1) and (1,k), (2,k), (3,k) (Shrout and Fleiss 1979).

    With n units, k judges and the mean squares B between units, W within units, J between judges
    and E of what is left: (B - W)/(B + (k-1)W); (B - E)/(B + (k-1)E + k(J - E)/n);
    (B - E)/(B + (k-1)E); (B - W)/B; (B - E)/(B + (J - E)/n); (B - E)/B.
    """
    is_complete = ~np.isnan(table).any(axis=0)
    x = table[:, is_complete].T
    n, k = x.shape
    left_out = int((~is_complete).sum())
    reason = "all judgements are equal" if (x == x[:1, :1]).all() else ""
    if k < 2 or n < 2:
        reason = f"{n} units judged by all of {k} judges, at least 2 of each are needed"
    if reason:
        return Intraclass._make((*[float("nan")] * 6, n, left_out, reason))
    mean, unit_means = x.mean(), x.mean(axis=1, keepdims=True)
    units = k * float(((unit_means - mean) ** 2).sum())
    judges = n * float(((x.mean(axis=0) - mean) ** 2).sum())
    within = float(((x - unit_means) ** 2).sum())
    rest = max(0.0, within - judges)
    B, W, J = units / (n - 1), within / (n * (k - 1)), judges / (k - 1)
    E = rest / ((n - 1) * (k - 1))
    fractions = [
        (B - W, B + (k - 1) * W),
        (B - E, B + (k - 1) * E + k * (J - E) / n),
        (B - E, B + (k - 1) * E),
        (B - W, B),
        (B - E, B + (J - E) / n),
        (B - E, B),
    ]
    values = [top / bottom if bottom else float("nan") for top, bottom in fractions]
    return Intraclass._make((*values, n, left_out, ""))


class Kappa(NamedTuple):
    """Agreement of two judges on the units that both labelled."""

    value: float  # NaN if undefined; `why` has the reason
    equal: float  # the share of equal labels; NaN without a common unit
    units: int
    reason: str = ""


def cohen_kappa(first: Floats, second: Floats) -> Kappa:
    """(o - e) / (1 - e), o the share of equal labels, e that of independent judges (Cohen 1960).

    Labels are nominal; a unit where either is NaN does not count.
    """
    if first.shape != second.shape:
        raise InputError(f"{first.size} and {second.size} labels: expected as many of each")
    both = ~np.isnan(first) & ~np.isnan(second)
    x, y = first[both], second[both]
    if not len(x):
        return Kappa(float("nan"), float("nan"), 0, "no overlap")
    equal = float((x == y).mean())
    labels = np.unique(np.concatenate([x, y]))
    chance = sum(float((x == label).mean()) * float((y == label).mean()) for label in labels)
    if len(labels) < 2:
        return Kappa(float("nan"), equal, len(x), "all labels are equal")
    return Kappa((equal - chance) / (1 - chance), equal, len(x))


class JudgeTable(NamedTuple):
    """Judgements as judges x units; NaN where a judge did not judge a unit."""

    judges: list[Any]
    units: list[Any]
    values: Floats


def judge_table(units: Sequence[Any], judges: Sequence[Any], values: ArrayLike) -> JudgeTable:
    """Return the table of flat rows; judges and units in order of first sight."""
    x = np.asarray(values, np.float64).ravel()
    if not len(units) == len(judges) == len(x):
        sizes = f"{len(units)}, {len(judges)}"
        raise InputError(f"{len(x)} values for columns of {sizes} rows: expected as many of each")
    judge_names, rows = _encode(judges)
    unit_names, columns = _encode(units)
    is_judged = ~np.isnan(x)
    cells = rows[is_judged] * len(unit_names) + columns[is_judged]
    sums = np.bincount(cells, x[is_judged], len(judge_names) * len(unit_names))
    counts = np.bincount(cells, minlength=len(judge_names) * len(unit_names))
    return JudgeTable(
        judge_names, unit_names, quotient(sums, counts).reshape(len(judge_names), len(unit_names))
    )


def _encode(labels: Iterable[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Distinct labels in order of first sight, and the number of each row's."""
    numbers: dict[Any, int] = {}
    codes = [numbers.setdefault(label, len(numbers)) for label in labels]
    return list(numbers), np.array(codes, dtype=np.intp)


def distinct_judges(table: JudgeTable) -> JudgeTable:
    """Return the table with identical judges as one, under the name of the first."""
    groups = identical_judges(table.values)
    names = [table.judges[number] for number in dict.fromkeys(groups)]
    return JudgeTable(names, table.units, merge_judges(table.values, groups))


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
    names, system_codes = _encode(systems)
    pairs = []
    for i, j in combinations(range(len(table.judges)), 2):
        both = np.flatnonzero(~np.isnan(table.values[i] + table.values[j]))
        pair = table.values[[i, j]][:, both]
        if len(names) < len(systems):  # the means of each system that is there
            members = [system_codes[both] == system for system in np.unique(system_codes[both])]
            means = [[values[is_member].mean() for is_member in members] for values in pair]
            pair = np.array(means, np.float64).reshape(2, -1)
        r = pearson(*pair) if pair.shape[1] > 1 else float("nan")
        pairs.append(JudgePair(table.judges[i], table.judges[j], r, pair.shape[1]))
    return pairs


MIN_GAP = 0.2
MIN_COMPARED_JUDGES = 3  # comparable judges from which on one can be flagged
MIN_SHARED_UNITS = 2


class Standing(NamedTuple):
    """A judge's correlation with the mean of the others."""

    judge: Any
    r: float
    n: int  # units that the judge and another judged; identical judges are no others
    flagged: bool
    reason: str
    comparable: bool = True  # shares enough units with others
    identical: tuple[Any, ...] = ()  # judges with the same values (see `identical_judges`)


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
    groups = identical_judges(table.values)
    merged = merge_judges(table.values, groups)
    compared = [_leave_one_out(table, k, groups, merged) for k in range(len(table.judges))]
    counted = {groups[k]: standing for k, standing in enumerate(compared) if standing.comparable}
    if len(counted) < MIN_COMPARED_JUDGES:
        return [standing._replace(flagged=False) for standing in compared]
    correlations = np.array(
        [standing.r for standing in counted.values() if not np.isnan(standing.r)]
    )
    return [_flag_outlier(standing, correlations) for standing in compared]


def compare_with_people(judge: Any, judge_values: Floats, other_values: Floats) -> Standing:
    """Compare a judge with the mean of others (judges x units), who never stands apart from them.

    For a judge who is none of them, such as a model beside people. Identical others count as one.
    """
    means = _means(merge_judges(other_values, identical_judges(other_values)))
    return _compare_with_means(judge, judge_values, means, "people", "the means of people")


def _means(values: Floats) -> Floats:
    """Return the mean over judges of each unit, NaN where there is none."""
    return quotient(np.nansum(values, axis=0), (~np.isnan(values)).sum(axis=0))


def _compare_with_means(
    judge: Any, judge_values: Floats, means: Floats, compared_with: str, name: str
) -> Standing:
    """Return the correlation of a judge with the means of others, of which sentences speak."""
    n = int((~np.isnan(judge_values + means)).sum())
    if n < MIN_SHARED_UNITS:
        overlap = "no overlap" if n == 0 else f"an overlap of {n}"
        reason = f"{overlap} with {compared_with}: cannot be compared"
        return Standing(judge, float("nan"), n, False, reason, False)
    reason = why_undefined(means, judge_values, (name, "the judge's scores"))
    return Standing(judge, pearson(means, judge_values), n, False, reason)


def _leave_one_out(table: JudgeTable, k: int, groups: Sequence[int], merged: Floats) -> Standing:
    other_values = merged[[group != groups[k] for group in dict.fromkeys(groups)]]
    means, judge, values = _means(other_values), table.judges[k], table.values[k]
    twins = tuple(name for j, name in enumerate(table.judges) if j != k and groups[j] == groups[k])
    compared_with = "further judges" if twins else "other judges"
    standing = _compare_with_means(judge, values, means, compared_with, "the others' means")
    standing = standing._replace(identical=twins)
    if not standing.comparable:
        alone = len(table.judges) == 1
        return standing._replace(reason="one judge: cannot be compared") if alone else standing
    both = ~np.isnan(values + means)
    if (values[both] != values[both][0]).any():
        return standing
    # One value for everything: how likely is it if the judge judges as the others do?
    shared_values = other_values[:, both]
    counts = np.unique(shared_values[~np.isnan(shared_values)], return_counts=True)[1]
    likelihood = power(counts.max() / counts.sum(), standing.n)
    return standing._replace(flagged=bool(likelihood < CHANCE_LEVEL))


def _flag_outlier(standing: Standing, everyone: Floats) -> Standing:
    if np.isnan(standing.r) or standing.n <= 3:
        return standing
    gap = float(np.median(everyone)) - standing.r
    z = _fisher(everyone)
    spread = 1.4826 * float(np.median(np.abs(z - np.median(z))))
    below = np.median(z) - _fisher(np.array(standing.r))
    if gap > MIN_GAP and below > 3 * max(spread, float(1 / np.sqrt(standing.n - 3))):
        return standing._replace(
            flagged=True, reason=f"r is {gap:.2f} below the median of all judges"
        )
    return standing


def _fisher(r: Floats) -> Floats:
    """Return atanh r, finite at 1."""
    inside = np.clip(r, -1 + 1e-12, 1 - 1e-12)
    return 0.5 * (log1p(inside) - log1p(-inside))
