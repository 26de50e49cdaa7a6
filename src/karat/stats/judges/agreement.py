"""Agreement of judges: Krippendorff's alpha and intraclass correlations.

Both take a table of judges x units in which NaN is a judgement that was not made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, quoted

Ints = NDArray[np.intp]


class Alpha(NamedTuple):
    """Krippendorff's alpha, and what it is of."""

    value: float  # NaN if undefined
    units: int  # judged by at least two
    judgements: int  # of those units
    why: str = ""


def krippendorff_alpha(table: Floats, scale: str = "interval") -> Alpha:
    """1 - observed / expected disagreement (Krippendorff 2011), on a nominal, ordinal or interval
    scale; units with fewer than two judgements do not count.

    Both are means of squared distances over pairs of judgements: observed, of those of one unit,
    each unit weighted by its judgements; expected, of all. On an ordinal scale the distance of two
    values is that of their middle places among all judgements, so it is the interval formula again.
    """
    if scale not in SCALES:
        raise InputError(f"scale {quoted(scale)}: expected one of {', '.join(SCALES)}")
    known = ~np.isnan(table)
    pairable = known & (known.sum(axis=0) >= 2)
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


def _interval(values: Floats, unit: Ints) -> Floats:
    """Sums over ordered pairs of a unit of (a - b)^2: 2 m sum (x - mean)^2."""
    _, unit = np.unique(unit, return_inverse=True)
    sizes = np.bincount(unit)
    moved = values - (np.bincount(unit, values) / sizes)[unit]
    return np.asarray(2 * sizes * np.bincount(unit, moved**2), np.float64)


def _ordinal(values: Floats, unit: Ints) -> Floats:
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts / 2
    return _interval(middles[which], unit)


def _nominal(values: Floats, unit: Ints) -> Floats:
    """Sums over ordered pairs of a unit of [a != b]: m^2 - sum over values of count^2."""
    _, unit = np.unique(unit, return_inverse=True)
    _, which = np.unique(values, return_inverse=True)
    cells, counts = np.unique(unit * (which.max() + 1) + which, return_counts=True)
    equal = np.bincount(cells // (which.max() + 1), counts.astype(float) ** 2)
    return np.bincount(unit).astype(float) ** 2 - equal


SCALES: dict[str, Callable[[Floats, Ints], Floats]] = {
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
    why: str = ""


def intraclass(table: Floats) -> Intraclass:
    """ICC(1,1), (2,1), (3,1) and (1,k), (2,k), (3,k) (Shrout and Fleiss 1979).

    With n units, k judges and the mean squares B between units, W within units, J between judges
    and E of what is left: (B - W)/(B + (k-1)W); (B - E)/(B + (k-1)E + k(J - E)/n);
    (B - E)/(B + (k-1)E); (B - W)/B; (B - E)/(B + (J - E)/n); (B - E)/B.
    """
    whole = ~np.isnan(table).any(axis=0)
    x = table[:, whole].T
    n, k = x.shape
    left_out = int((~whole).sum())
    why = "all judgements are equal" if (x == x[:1, :1]).all() else ""
    if k < 2 or n < 2:
        why = f"{n} units judged by all of {k} judges, at least 2 of each are needed"
    if why:
        nan = float("nan")
        return Intraclass(nan, nan, nan, nan, nan, nan, n, left_out, why)
    B, W, J, E = _mean_squares(x)
    return Intraclass(
        _ratio(B - W, B + (k - 1) * W),
        _ratio(B - E, B + (k - 1) * E + k * (J - E) / n),
        _ratio(B - E, B + (k - 1) * E),
        _ratio(B - W, B),
        _ratio(B - E, B + (J - E) / n),
        _ratio(B - E, B),
        n,
        left_out,
    )


def _mean_squares(x: Floats) -> tuple[float, float, float, float]:
    n, k = x.shape
    mean = x.mean()
    units = k * float(((x.mean(axis=1) - mean) ** 2).sum())
    judges = n * float(((x.mean(axis=0) - mean) ** 2).sum())
    within = float(((x - x.mean(axis=1, keepdims=True)) ** 2).sum())
    rest = max(0.0, within - judges)
    return units / (n - 1), within / (n * (k - 1)), judges / (k - 1), rest / ((n - 1) * (k - 1))


def _ratio(top: float, bottom: float) -> float:
    return top / bottom if bottom else float("nan")
