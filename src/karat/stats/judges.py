"""Agreement of judges: Krippendorff's alpha, the intraclass correlation, kappa, and outliers.

Tables are judges x units; NaN is a judgement that was not made.
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
    """Krippendorff's alpha, and the number of units behind it."""

    value: float  # NaN if undefined
    units: int  # units with at least two judgements


def krippendorff_alpha(table: Floats, scale: str = "interval") -> Alpha:
    """Return 1 - observed / expected disagreement (Krippendorff 2011).

    Both are means of squared distances over pairs of judgements: observed, over pairs within units,
    each unit weighted by its judgements; expected, over all pairs. On an ordinal scale, values are
    replaced by their mean ranks among all judgements, and the interval formula applies. Units with
    fewer than two judgements do not count. Alpha is undefined if all judgements are equal, or for a
    single unit, whose observed and expected disagreement are the same.
    """
    if scale not in SCALES:
        raise InputError(f"scale {quoted(scale)}: expected one of {', '.join(SCALES)}")
    is_judged = ~np.isnan(table)
    pairable = is_judged & (is_judged.sum(axis=0) >= 2)
    values = table.T[pairable.T]  # unit after unit
    unit = np.nonzero(pairable.T)[0]
    n_units = len(np.unique(unit))
    if n_units < 2 or (values == values[0]).all():
        return Alpha(float("nan"), n_units)
    within, overall = SCALES[scale](values, unit), SCALES[scale](values, np.zeros_like(unit))
    sizes = np.bincount(unit)[np.unique(unit)]
    observed = float((within / (sizes - 1)).sum()) / len(values)
    expected = float(overall[0]) / (len(values) * (len(values) - 1))
    return Alpha(1 - observed / expected, n_units)


def _interval(values: Floats, unit: Positions) -> Floats:
    """Return the sum of (a - b)^2 over ordered pairs of each unit: 2 m sum (x - mean)^2."""
    _, unit = np.unique(unit, return_inverse=True)
    sizes = np.bincount(unit)
    moved = values - (np.bincount(unit, values) / sizes)[unit]
    return np.asarray(2 * sizes * np.bincount(unit, moved**2), np.float64)


def _ordinal(values: Floats, unit: Positions) -> Floats:
    _, value_index, counts = np.unique(values, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts / 2
    return _interval(middles[value_index], unit)


def _nominal(values: Floats, unit: Positions) -> Floats:
    """Return the number of ordered pairs a != b of each unit: m^2 - sum over values of count^2."""
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


def intraclass_correlation(table: Floats) -> float:
    """Return ICC(2,1), for judges that are a sample of all judges (Shrout and Fleiss 1979).

    With n units that all k judges judged, and the mean squares B between units, J between judges
    and E of the residuals, it is (B - E) / (B + (k - 1) E + k (J - E) / n). It is NaN for fewer
    than two units or judges, and if all judgements are equal.
    """
    x = table[:, ~np.isnan(table).any(axis=0)].T
    n, k = x.shape
    if k < 2 or n < 2 or (x == x[:1, :1]).all():
        return float("nan")
    mean, unit_means = x.mean(), x.mean(axis=1, keepdims=True)
    units = k * float(((unit_means - mean) ** 2).sum())
    judges = n * float(((x.mean(axis=0) - mean) ** 2).sum())
    within = float(((x - unit_means) ** 2).sum())
    residual = max(0.0, within - judges)
    B, J, E = units / (n - 1), judges / (k - 1), residual / ((n - 1) * (k - 1))
    divisor = B + (k - 1) * E + k * (J - E) / n
    return (B - E) / divisor if divisor else float("nan")


class Kappa(NamedTuple):
    """Agreement of two judges on the units that both labelled."""

    value: float  # NaN if undefined
    equal: float  # the share of equal labels; NaN without a common unit
    units: int
    reason: str = ""  # reason for a NaN


def cohen_kappa(first: Floats, second: Floats) -> Kappa:
    """Return (o - e) / (1 - e), o the observed and e the expected agreement (Cohen 1960).

    Labels are nominal; units with a NaN do not count.
    """
    if first.shape != second.shape:
        raise InputError(f"{first.size} and {second.size} labels: expected the same number")
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
    """Return flat rows as a table; judges and units are in order of first occurrence."""
    x = np.asarray(values, np.float64).ravel()
    if not len(units) == len(judges) == len(x):
        sizes = f"{len(units)}, {len(judges)}"
        raise InputError(
            f"{len(x)} values for columns of {sizes} rows: expected the same number of each"
        )
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
    """Return the distinct labels in order of first occurrence, and the number of each row's."""
    numbers: dict[Any, int] = {}
    codes = [numbers.setdefault(label, len(numbers)) for label in labels]
    return list(numbers), np.array(codes, dtype=np.intp)


def distinct_judges(table: JudgeTable) -> JudgeTable:
    """Return the table with identical judges merged into one, named as the first."""
    groups = identical_judges(table.values)
    names = [table.judges[number] for number in dict.fromkeys(groups)]
    return JudgeTable(names, table.units, merge_judges(table.values, groups))


def inter_judge(table: JudgeTable, systems: Sequence[Any] | None = None) -> list[float]:
    """Return Pearson's r of every two judges over the units that both judged; NaN if undefined.

    With `systems`, which names the system of each unit, it is r over the means of systems.
    """
    if systems is not None and len(systems) != len(table.units):
        raise InputError(
            f"{len(systems)} systems for {len(table.units)} units: expected the same number"
        )
    codes = None if systems is None else _encode(systems)[1]
    correlations = []
    for i, j in combinations(range(len(table.judges)), 2):
        both = np.flatnonzero(~np.isnan(table.values[i] + table.values[j]))
        pair = table.values[[i, j]][:, both]
        if codes is not None:
            members = [codes[both] == system for system in np.unique(codes[both])]
            means = [[values[is_member].mean() for is_member in members] for values in pair]
            pair = np.array(means, np.float64).reshape(2, -1)
        correlations.append(pearson(*pair) if pair.shape[1] > 1 else float("nan"))
    return correlations


MIN_GAP = 0.2  # distance from the median r at which a judge can be flagged
MIN_COMPARED_JUDGES = 3  # comparable judges needed to flag one
MIN_SHARED_UNITS = 2  # units needed to compare a judge with others


class Standing(NamedTuple):
    """A judge's correlation with the mean of the others."""

    judge: Any
    r: float
    n: int  # units that the judge shares with others, not counting identical judges
    flagged: bool
    reason: str
    comparable: bool = True  # False if the judge shares too few units with others
    identical: tuple[Any, ...] = ()  # judges with the same values (see `identical_judges`)


def standings(table: JudgeTable) -> list[Standing]:
    """Compare each judge with the mean of the others, unit by unit, and flag outliers.

    A judge is flagged if both hold: r is more than 0.2 below the median of all judges, and Fisher's
    z = atanh r is below the median by more than three times the larger of the judges' spread
    (1.4826 times the median distance from the median) and the sampling error of z,
    1 / sqrt(n - 3). A judge who gave one value to everything is flagged if the others' values make
    that unlikely (p < 0.001). Identical judges count as one. A judge who shares fewer than two
    units with others is not comparable. With fewer than three comparable judges none is flagged. No
    judge is ever left out.
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
    """Compare a judge, such as a model, with the mean of people (judges x units); never flag it.

    Identical people count as one.
    """
    means = _means(merge_judges(other_values, identical_judges(other_values)))
    return _compare_with_means(judge, judge_values, means, "people", "the means of people")


def _means(values: Floats) -> Floats:
    """Return the mean over judges of each unit; NaN without a judgement."""
    return quotient(np.nansum(values, axis=0), (~np.isnan(values)).sum(axis=0))


def _compare_with_means(
    judge: Any, judge_values: Floats, means: Floats, compared_with: str, name: str
) -> Standing:
    """Return the correlation of a judge with means; the last two arguments are for messages."""
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
    # The judge gave one value to everything: how likely is that for a judge like the others?
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
