"""Means of ratings, and differences of two means, where both items and raters are samples.

Raters who rate several items shift all of them, so ratings are crossed: rating y_ir of item i by
rater r is

    y_ir = mu + a_i + b_r + e_ir        with the variances s_a^2, s_b^2 and s_e^2

b is the severity of a rater (for a difference of systems: how much more a rater likes one of them),
and e has the rest: a rater's taste for single items, and noise. An item is a unit, such as a
document with all its segments.

A mean T = sum w_ir y_ir with the weights w (sum 1), w_i = sum_r w_ir and w_r = sum_i w_ir has

    Var(T) = s_a^2 sum w_i^2 + s_b^2 sum w_r^2 + s_e^2 sum w_ir^2        raters in general
    Var(T) = (Var(T) of the means of items: s^2 / n)                     these raters

The first answers "would other raters of other items agree?", the second "would these raters, of
other items?". Resampling items alone answers only the second, however few the raters are.

**Components.** With the residuals t_ir = w_ir (y_ir - T), the three sums of squares

    Q_a = sum_i (sum_r t_ir)^2        Q_b = sum_r (sum_i t_ir)^2        Q_e = sum_ir t_ir^2

have expectations that are linear in the components, with coefficients that the weights give. Solved
for the components, they are unbiased for any pattern of missing ratings. To first order
Var(T) = Q_a + Q_b - Q_e, as in Owen (2007), whose pigeonhole bootstrap resamples items and raters,
and in Cameron, Gelbach and Miller (2011). The sums of squares are as in Gao and Owen (2017), but
with the weights of the mean, so that what they estimate is the variance of this mean even if the
components differ between items. If every rater rated all n items, these are the mean squares of the
analysis of variance, and Var(T) = (MS_a + MS_b - MS_e) / (n_items n_raters), the absolute error
of generalizability theory (Brennan 2001). Negative components count as 0.

**A difference** of two systems, T_1 - T_2, has the variances of both and twice their covariance.
The covariance is estimated in the same way, with products in place of squares: raters in common,
items in common, and cells (item and rater) in common. So severity cancels if all raters rated both
systems, and counts if each rated other outputs.

**Degrees of freedom** are Satterthwaite's (1946): Var(T)^2 / sum (M_k^2 / f_k) over the mean
squares M_k of which Var(T) consists. f of raters is (sum of eigenvalues)^2 / (sum of their squares)
of the covariance of the rater totals: n_raters - 1 if all have the same weight, and less if some
rated more. With three raters it is 2, and Student's quantile is 4.3. The sum never has fewer than
the mean square with the fewest: differences of mean squares can be smaller than their errors.

**What cannot be told apart.** If every item has one rater, s_a^2 and s_e^2 cannot, and if every
rater has one item, s_b^2 and s_e^2 cannot. Only the sum counts in Var(T), and it is assigned to the
rest, e. For items of a finite set, of which a share f was rated, the variance of a is smaller by
1 - f, that of e is not; with one rater for every item, nothing is subtracted. A single rater does
not show how raters differ, so there is no interval for raters in general.

References: A. B. Owen (2007), The pigeonhole bootstrap, Annals of Applied Statistics 1; K. Gao and
A. B. Owen (2017), Efficient moment calculations for variance components in large unbalanced crossed
random effects models, Electronic Journal of Statistics 11; R. L. Brennan (2001), Generalizability
Theory; A. C. Cameron, J. B. Gelbach and D. L. Miller (2011), Robust inference with multiway
clustering, Journal of Business and Economic Statistics 29; F. E. Satterthwaite (1946), An
approximate distribution of estimates of variance components, Biometrics Bulletin 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nan, sqrt
from typing import NamedTuple

from karat.arrays import ArrayLike, Floats, Ints, np
from karat.errors import InputError
from karat.stats.estimates import IntervalFamily, MeanInterval, PointEstimate, StudentIntervals

THESE, ANY = "these", "any"
RATERS = {
    THESE: "these raters, whoever they are",
    ANY: "other raters like these, so that differences between raters count",
}
"""Choices of raters -> the raters to whom intervals generalize."""
MIN_RATERS = 2  # a single rater does not show how raters differ
_TINY = 1e-9  # coefficients that are smaller, relative to others, are zero


class Ratings(NamedTuple):
    """Ratings of one system: a row for every unit (item or document) and rater of it."""

    unit: Ints  # number of the unit
    rater: Ints  # number of the rater
    value: Floats  # mean of the rater's ratings of the unit
    weight: Floats  # weight in the mean; their sum is 1

    @property
    def mean(self) -> float:
        """The weighted mean; that of equal values has no rounding error."""
        first_value = float(self.value[0])
        return first_value + float((self.weight * (self.value - first_value)).sum())

    def minus(self, other: Ratings) -> Ratings | None:
        """Return the differences of two systems' ratings; None unless all are of the same cells."""
        names = "unit", "rater", "weight"
        if not all(np.array_equal(getattr(self, k), getattr(other, k)) for k in names):
            return None
        return self._replace(value=self.value - other.value)


class VarianceParts(NamedTuple):
    """Parts of a variance: of items, of raters, and of the rest (taste for single items, noise).

    NaN is a part that cannot be told apart: the rest is then in that of items, or raters are in the
    rest.
    """

    items: float
    raters: float
    rest: float

    @property
    def total(self) -> float:
        """The variance of the mean."""
        return sum(part for part in self if not isnan(part))

    @property
    def shares(self) -> VarianceParts:
        """The parts divided by their sum; NaN if that is 0."""
        if not self.total > 0:
            return VarianceParts(nan, nan, nan)
        return VarianceParts(*(part / self.total for part in self))


@dataclass(frozen=True)
class RaterSpread:
    """The variance of a mean of crossed ratings, or of a difference of two, by its sources."""

    parts: VarianceParts  # of the variance of the mean, for new items and raters in general
    between_items: VarianceParts  # what the spread of the means of items has of each source
    rater_square: float  # mean square of raters: their part, and what else is in their means
    units: int
    raters: int
    freedoms: VarianceParts  # degrees of freedom of the mean squares of items, raters and the rest
    separates_items: bool = True  # False if every unit has one rater: items are part of the rest
    separates_raters: bool = True  # False if every rater has one unit: raters are part of the rest

    @property
    def identified(self) -> bool:
        """True if differences between raters can be estimated."""
        return self.raters >= MIN_RATERS

    def generalize(
        self, sampling_variance: float, fraction: float = 0.0, more: float = 0.0
    ) -> RaterVariance:
        """Return the variance for raters in general.

        Args:
            sampling_variance: variance of the mean for these raters, from the spread of items.
            fraction: share of a finite population of items that was rated; 0 for new items.
            more: a further part of the variance that does not depend on raters.
        """
        rest = 1 - fraction
        part, inside = self.parts, self.between_items
        added = max(part.raters - rest * inside.raters, 0.0)
        added += max(part.rest - rest * inside.rest, 0.0)
        total = sampling_variance + more + added
        noise = max(self.rater_square - part.raters, 0.0)
        squares = VarianceParts(sampling_variance, self.rater_square, rest * noise)
        uncertainty = sum(
            square * square / freedom
            for square, freedom in zip(squares, self.freedoms, strict=True)
            if square > 0
        )
        least = min(self.freedoms.items, self.freedoms.raters)
        freedom = max(total * total / uncertainty, least) if uncertainty > 0 else least
        by_raters = min(part.raters, total)
        by_rest = min(part.rest, total - by_raters)
        by_items = total - by_raters - by_rest
        contributions = VarianceParts(by_items, by_raters, by_rest)
        if not self.separates_raters:
            contributions = VarianceParts(by_items, nan, by_raters + by_rest)
        elif not self.separates_items:
            contributions = VarianceParts(by_items + by_rest, by_raters, nan)
        return RaterVariance(added, freedom, contributions)


class RaterVariance(NamedTuple):
    """The variance of a mean for raters in general, compared with that for these raters."""

    added: float  # variance to add to that for these raters
    freedom: float  # Satterthwaite's degrees of freedom of the sum
    parts: VarianceParts  # of the sum


def rater_spread(first: Ratings, second: Ratings | None = None) -> RaterSpread:
    """Return the variance of a weighted mean of ratings, by source.

    With `second`, it is that of the difference of the means of two systems, whose units and raters
    have the same numbers.
    """
    if second is not None and (differences := first.minus(second)):
        first, second = differences, None
    systems = [first] if second is None else [first, second]
    n_units = 1 + max(int(ratings.unit.max()) for ratings in systems)
    n_raters = 1 + max(int(ratings.rater.max()) for ratings in systems)
    shape = n_units, n_raters
    sources = [_estimate_sources(ratings, ratings, shape) for ratings in systems]
    if second is not None:
        limit = sqrt(max(sources[0].parts.raters, 0.0) * max(sources[1].parts.raters, 0.0))
        sources.append(_estimate_sources(first, second, shape).times(-2, 2 * limit))
    parts = _nonnegative(_sum_parts([source.parts for source in sources]))
    inside = _sum_parts([source.between_items for source in sources])
    if not parts.raters > 0:
        inside = inside._replace(raters=0.0)
    by_rater = [np.bincount(x.rater, x.weight, n_raters).astype(np.float64) for x in systems]
    by_unit = [np.bincount(x.unit, x.weight, n_units) for x in systems]
    unit_weights, rater_weights = (
        np.asarray(sum(weights) / len(systems), np.float64) for weights in (by_unit, by_rater)
    )
    units, raters = int((unit_weights > 0).sum()), int((rater_weights > 0).sum())
    cells = len(np.unique(np.concatenate([_cells(ratings, n_raters) for ratings in systems])))
    item_freedom = _freedom(unit_weights)
    return RaterSpread(
        parts,
        _nonnegative(inside),
        max(sum(source.rater_square for source in sources), 0.0),
        units,
        raters,
        VarianceParts(
            item_freedom,
            min(_freedom(rater_weights), _apart_freedom(by_rater, sources)),
            max(float(cells - units - raters + 1), item_freedom),
        ),
        all(source.separates_items for source in sources[: len(systems)]),
        all(source.separates_raters for source in sources[: len(systems)]),
    )


def _sum_parts(parts: list[VarianceParts]) -> VarianceParts:
    return VarianceParts(*(sum(values) for values in zip(*parts, strict=True)))


def _nonnegative(parts: VarianceParts) -> VarianceParts:
    """Return parts without negative ones; items and the rest keep their sum, if that is positive.

    If few items have two raters, these two are hard to tell apart, but their sum is not.
    """
    items, raters, rest = parts
    both = max(items + rest, 0.0)
    return VarianceParts(min(max(items, 0.0), both), max(raters, 0.0), min(max(rest, 0.0), both))


def _freedom(weights: Floats) -> float:
    """Return (tr M)^2 / tr M^2 of the covariance M of weighted deviations w_k (b_k - sum w b).

    M_kl = w_k w_l (1[k = l] - w_k - w_l + sum w^2). It is K - 1 for K equal weights; at least 1.
    """
    squared = weights * weights
    second, third, fourth, fifth = (
        float((squared * x).sum()) for x in (1.0, weights, squared, squared * weights)
    )
    trace = second - 2 * third + second * second
    squares = (
        fourth * (1 + 4 * second)
        - 4 * fifth
        + second * second * (second * second - 4 * third)
        + 2 * third * third
    )
    return max(trace * trace / squares, 1.0) if squares > _TINY * fourth else 1.0


def _apart_freedom(by_rater: list[Floats], sources: list[_Sources]) -> float:
    """Return Satterthwaite's degrees of freedom of the raters of two systems without common raters.

    If a few raters of one system differ much, many raters of the other do not help.
    """
    squares = [source.rater_square for source in sources[: len(by_rater)]]
    uncertainty = sum(
        square * square / _freedom(weights)
        for square, weights in zip(squares, by_rater, strict=True)
    )
    return sum(squares) * sum(squares) / uncertainty if uncertainty > 0 else inf


# ------------------------------------------------------------------------------ sums of squares


class _Sources(NamedTuple):
    """The sources of a variance, or of a covariance of the means of two systems."""

    parts: VarianceParts
    between_items: VarianceParts
    rater_square: float
    separates_items: bool
    separates_raters: bool

    def times(self, factor: float, limit: float) -> _Sources:
        """Return a multiple, in which the part of raters is not larger than `limit`."""
        parts, inside = (
            VarianceParts(*(factor * value for value in values))
            for values in (self.parts, self.between_items)
        )
        if abs(parts.raters) > limit:
            scale = limit / abs(parts.raters)
            parts = parts._replace(raters=scale * parts.raters)
            inside = inside._replace(raters=scale * inside.raters)
        return self._replace(
            parts=parts, between_items=inside, rater_square=factor * self.rater_square
        )


def _cells(ratings: Ratings, n_raters: int) -> Ints:
    cells: Ints = ratings.unit * n_raters + ratings.rater
    return cells


def _estimate_sources(first: Ratings, second: Ratings, shape: tuple[int, int]) -> _Sources:
    """Return the sources of the covariance of two weighted means; of the variance, for one twice.

    The residuals are t = w (y - T) and u = v (z - U). With the weights W_i and V_i of the units,
    W_r and V_r of the raters, and A = sum W_i V_i, B = sum W_r V_r and C = sum w v, the sums of
    products have these coefficients of the covariances of items, of raters and of the rest:

        sum_i t_i u_i    sum W_i V_i (1 - W_i - V_i + A)    X     C - sum w v (W_i + V_i) + A C
        sum_r t_r u_r    X    sum W_r V_r (1 - W_r - V_r + B)     C - sum w v (W_r + V_r) + B C
        sum_ir t u       as above (1, 3)    as above (2, 3)       C - sum w v (w + v) + C^2

    with X = C - sum w V_i V_r - sum v W_i W_r + A B.
    """
    n_units, n_raters = shape
    units, raters, unit_residuals, rater_residuals = (
        [np.bincount(codes, weights, n).astype(np.float64) for codes, weights, n in columns]
        for columns in (
            [(x.unit, x.weight, n_units) for x in (first, second)],
            [(x.rater, x.weight, n_raters) for x in (first, second)],
            [(x.unit, x.weight * (x.value - x.mean), n_units) for x in (first, second)],
            [(x.rater, x.weight * (x.value - x.mean), n_raters) for x in (first, second)],
        )
    )
    at = also_at = np.arange(len(first.unit))
    if first is not second:
        _, at, also_at = np.intersect1d(
            _cells(first, n_raters), _cells(second, n_raters), True, return_indices=True
        )
    w, v = first.weight[at], second.weight[also_at]
    residuals = (w * (first.value[at] - first.mean), v * (second.value[also_at] - second.mean))
    unit_square = float((units[0] * units[1]).sum())
    rater_square = float((raters[0] * raters[1]).sum())
    cell_square = float((w * v).sum())
    reach = float((first.weight * units[1][first.unit] * raters[1][first.rater]).sum())
    reach += float((second.weight * units[0][second.unit] * raters[0][second.rater]).sum())
    in_units, in_raters = (
        cell_square
        - float((w * v * (weights[0][codes] + weights[1][codes])).sum())
        + square * cell_square
        for weights, codes, square in (
            (units, first.unit[at], unit_square),
            (raters, first.rater[at], rater_square),
        )
    )
    across = cell_square - reach + unit_square * rater_square
    coefficients = (
        (_centred(units, unit_square), across, in_units),
        (across, _centred(raters, rater_square), in_raters),
        (
            in_units,
            in_raters,
            cell_square - float((w * v * (w + v)).sum()) + cell_square * cell_square,
        ),
    )
    products = (
        float((unit_residuals[0] * unit_residuals[1]).sum()),
        float((rater_residuals[0] * rater_residuals[1]).sum()),
        float((residuals[0] * residuals[1]).sum()),
    )
    squares = unit_square, rater_square, cell_square
    solved = _separable(squares, coefficients[1][1])
    components = _solve(coefficients, products, solved)
    n = int(((units[0] > 0) | (units[1] > 0)).sum())
    factor = n / max(n - 1, 1)  # that of s^2 / n
    return _Sources(
        VarianceParts(*(c * square for c, square in zip(components, squares, strict=True))),
        VarianceParts(*(factor * c * k for c, k in zip(components, coefficients[0], strict=True))),
        products[1] * rater_square / coefficients[1][1] if solved[1] else 0.0,
        *solved[:2],
    )


def _centred(weights: list[Floats], square: float) -> float:
    """Return sum w v (1 - w - v + sum w v) over units or raters."""
    first, second = weights
    return float((first * second * (1 - first - second + square)).sum())


def _separable(squares: tuple[float, float, float], raters: float) -> list[bool]:
    """Return which of items, raters and the rest can be told apart.

    If every unit has one rater, the sum of squares of its weights is that of the cells; then items
    count as part of the rest. So do raters with one unit each. Two systems without common cells
    have no rest in common.
    """
    by_units, by_raters, by_cells = squares
    return [
        abs(by_units - by_cells) > _TINY * by_units,
        raters > _TINY * by_raters and abs(by_raters - by_cells) > _TINY * by_raters,
        by_cells > _TINY * by_units,
    ]


def _solve(
    coefficients: tuple[tuple[float, float, float], ...],
    products: tuple[float, float, float],
    solved: list[bool],
) -> tuple[float, float, float]:
    """Return the components that are solved for, 0 for the others: elimination with pivots."""
    chosen = [k for k, is_solved in enumerate(solved) if is_solved]
    rows = [[*(coefficients[k][j] for j in chosen), products[k]] for k in chosen]
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda row: abs(rows[row][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        if rows[k][k] == 0:
            return 0.0, 0.0, 0.0
        for row in range(len(rows)):
            if row != k:
                factor = rows[row][k] / rows[k][k]
                rows[row] = [x - factor * y for x, y in zip(rows[row], rows[k], strict=True)]
    components = [0.0, 0.0, 0.0]
    for k, number in enumerate(chosen):
        components[number] = rows[k][-1] / rows[k][k]
    return components[0], components[1], components[2]


# --------------------------------------------------------------------------------------- tables


@dataclass(frozen=True)
class CrossedMean:
    """A mean of crossed ratings, or a difference of two, for these raters and for any."""

    mean: float
    units: int
    raters: int
    error_these: float  # standard error for these raters; NaN for a single unit
    error_any: float  # for raters in general; NaN for a single rater
    freedom_these: float
    freedom_any: float
    parts: VarianceParts  # of the variance for raters in general

    def intervals(self, raters: str = ANY) -> IntervalFamily:
        """Return Student's intervals at all levels; their p is from the same t."""
        if raters not in RATERS:
            raise InputError(f"raters={raters!r}: expected one of {', '.join(RATERS)}")
        error, freedom = (
            (self.error_these, self.freedom_these)
            if raters == THESE
            else (self.error_any, self.freedom_any)
        )
        if not error > 0:
            return PointEstimate(self.mean, nan)
        return StudentIntervals(self.mean, error, freedom)

    def interval(self, raters: str = ANY) -> MeanInterval:
        """Return the 95% interval; NaN where it cannot be estimated."""
        return self.intervals(raters).interval()

    def p_value(self, raters: str = ANY) -> float:
        """Return the two-sided p of a mean of 0; NaN where it cannot be estimated."""
        return self.intervals(raters).p_value()


def crossed_mean(
    table: ArrayLike, other: ArrayLike | None = None, units: ArrayLike | None = None
) -> CrossedMean:
    """Return the mean of ratings, or the difference from another system's, with its errors.

    The mean is that of the means of items over their raters. For a difference, only items that were
    rated for both systems count. If items have units, such as documents, all units weigh the same.

    Args:
        table: ratings, items x raters; NaN where a rater did not rate an item.
        other: ratings of another system, of the same items by the same raters.
        units: the unit of each item; by default each item is a unit.
    """
    tables = [_checked_table(values) for values in ([table] if other is None else [table, other])]
    n_items = len(tables[0])
    if any(values.shape != tables[0].shape for values in tables):
        raise InputError(
            f"ratings of two systems have {tables[0].shape} and {tables[1].shape} items and "
            "raters: expected the same; use NaN for missing ratings"
        )
    codes = np.arange(n_items)
    if units is not None:
        labels = np.asarray(units)
        if labels.shape != (n_items,):
            raise InputError(f"{labels.size} units for {n_items} items: expected one for each")
        codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    rated = np.all([~np.isnan(values).all(axis=1) for values in tables], axis=0)
    items = np.flatnonzero(rated)
    if not len(items):
        raise InputError(
            "no item has a rating" + (" for both systems" if other is not None else "")
        )
    codes = np.unique(codes[items], return_inverse=True)[1].reshape(-1)
    systems = [_ratings_of(values[items], codes) for values in tables]
    return ratings_mean(*systems)


def ratings_mean(first: Ratings, second: Ratings | None = None) -> CrossedMean:
    """Return the mean of ratings, or the difference of two systems' means, with its errors.

    All units weigh the same, and both systems have the same units.
    """
    systems = [first] if second is None else [first, second]
    rated = np.bincount(first.unit) > 0
    n = int(rated.sum())
    means, mean = np.zeros(n), 0.0
    for ratings, sign in zip(systems, (1, -1), strict=False):
        centred = ratings.weight * (ratings.value - ratings.mean)
        means += sign * np.bincount(ratings.unit, centred)[rated] * n
        mean += sign * ratings.mean
    spread = rater_spread(*systems)
    if n < 2:
        parts = VarianceParts(nan, nan, nan)
        return CrossedMean(mean, n, spread.raters, nan, nan, nan, nan, parts)
    sampling = float((means * means).sum()) / (n * (n - 1))
    variance = spread.generalize(sampling)
    return CrossedMean(
        mean,
        n,
        spread.raters,
        sqrt(sampling),
        sqrt(sampling + variance.added) if spread.identified else nan,
        float(n - 1),
        variance.freedom,
        variance.parts,
    )


def _checked_table(values: ArrayLike) -> Floats:
    table = np.asarray(values, np.float64)
    if table.ndim != 2:
        raise InputError(f"ratings have {table.ndim} axes: expected items x raters")
    if np.isinf(table).any():
        raise InputError("a rating is infinite: expected numbers, and NaN for missing ratings")
    return table


def _ratings_of(table: Floats, units: Ints) -> Ratings:
    """Return the ratings of items x raters; units, items of a unit, and raters of an item weigh
    the same."""
    item, rater = np.nonzero(~np.isnan(table))
    per_item, per_unit = np.bincount(item), np.bincount(units)
    share = 1.0 / (per_item[item] * per_unit[units[item]] * len(per_unit))
    return merge_ratings(Ratings(units[item], rater, table[item, rater], share))


def merge_ratings(ratings: Ratings) -> Ratings:
    """Return ratings with one row per unit and rater: the weighted mean of the rater's values."""
    if not len(ratings.unit):
        return ratings
    n_raters = int(ratings.rater.max()) + 1
    cells, row = np.unique(_cells(ratings, n_raters), return_inverse=True)
    sums, weights = (
        np.bincount(row.reshape(-1), column).astype(np.float64)
        for column in (ratings.weight * ratings.value, ratings.weight)
    )
    return Ratings(cells // n_raters, cells % n_raters, sums / weights, weights)
