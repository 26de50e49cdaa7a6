"""Simultaneous inference: many estimates from the same units.

Under the null, the statistics of a family of differences are t, with the correlations of the
influences of the units; the errors of their standard errors are correlated, too. The largest of
them gives one critical value for all (single-step max-t; Hothorn, Bretz and Westfall 2008), so
adjusted p-values and simultaneous intervals agree. Differences that move together, such as those of
two metrics on the same segments, are hardly corrected. The correction is never weaker than none and
never stronger than Bonferroni's.

`SingleStep` applies the same correction to p-values of any kind, such as those of estimates: it
turns the critical value into a level for single tests and single intervals.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import inf, isnan, sqrt

from karat.arithmetic import log, product
from karat.arrays import Floats, np
from karat.score_settings import CORRECTIONS
from karat.stats.distributions import student_tail
from karat.stats.jackknife import UnitEstimate
from karat.stats.power import detectable_difference
from karat.stats.significance import SIGNIFICANCE_LEVEL

SIMULTANEOUS, NONE = CORRECTIONS
_DRAWS = 10_000
_SEED = 12345
_MAX_DRAWN = 200  # correlated columns; with more estimates, Bonferroni's correction is used
_MAX_PAIRS = 2000  # with more pairs, Bonferroni's correction is used
_MANY_UNITS = 300  # with more, standard errors are treated as known
_SMALLEST = 1e-12  # relative variance below which a column depends on earlier ones


class JointEstimates:
    """Estimates from the same units, whose differences are tested together."""

    def __init__(self, estimates: Sequence[UnitEstimate]) -> None:
        self.estimates = estimates
        self._differences: dict[tuple[int, int], UnitEstimate] = {}

    def difference(self, pair: tuple[int, int]) -> UnitEstimate:
        """Return the difference of two estimates, by their indices, without influences."""
        if pair not in self._differences:
            difference = self.estimates[pair[0]] - self.estimates[pair[1]]
            self._differences[pair] = difference.without_influence()
        return self._differences[pair]

    def family(
        self, pairs: Sequence[tuple[int, int]], correction: str = SIMULTANEOUS
    ) -> TestFamily:
        """Return the tests of the differences of some pairs of estimates."""
        differences = [self.difference(pair) for pair in pairs]
        n_tests = sum(difference.error > 0 for difference in differences)
        too_many = len(pairs) > _MAX_PAIRS or len(self.estimates) > _MAX_DRAWN
        if correction == NONE or n_tests < 2 or too_many:
            largest = None
        else:
            largest = self._largest_statistics(pairs, differences)
        return TestFamily(differences, 1 if correction == NONE else len(pairs), largest)

    @cached_property
    def _draws(self) -> Floats:
        """Draws of all estimates under the null, normal with the covariance of their influences."""
        order = self._order
        influences = np.array([self.estimates[k].influence for k in order])
        scales = np.maximum(np.abs(influences).max(axis=1), np.finfo(float).tiny)
        scaled = influences / scales[:, None]
        factor = _cholesky(product(scaled, np.ascontiguousarray(scaled.T)))
        normal = _normal(_DRAWS * len(scales), 0).reshape(_DRAWS, -1)
        draws = np.empty((_DRAWS, len(scales)))
        draws[:, order] = product(normal, np.ascontiguousarray(factor.T)) * scales
        return draws

    @cached_property
    def _order(self) -> list[int]:
        """The estimates in an order of their own, so that draws do not depend on the callers'."""
        keys = [_sort_key(estimate.value, estimate.influence) for estimate in self.estimates]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def _largest_statistics(
        self, pairs: Sequence[tuple[int, int]], differences: Sequence[UnitEstimate]
    ) -> Floats:
        """Return the largest |t| of each draw, in ascending order."""
        rank = {k: place for place, k in enumerate(self._order)}
        ranks = [sorted((rank[first], rank[second])) for first, second in pairs]
        at = [k for k, difference in enumerate(differences) if difference.error > 0]
        at.sort(key=ranks.__getitem__)
        freedom = min(differences[k].units for k in at) - 1
        influences = None
        if freedom <= _MANY_UNITS and len(at) <= _MAX_DRAWN:
            rows = [(self.estimates[a] - self.estimates[b]).influence for a, b in pairs]
            influences = np.array([rows[k] for k in at])
        chi = _chi(influences, len(at), freedom)
        largest = np.zeros(_DRAWS)
        for k, scale in zip(at, chi, strict=True):
            (first, second), difference = pairs[k], differences[k]
            spread = difference.error * sqrt(difference.units * (difference.units - 1))
            gaps = np.abs(self._draws[:, first] - self._draws[:, second])
            np.maximum(largest, gaps / (spread * scale), out=largest)
        return np.sort(largest)


class TestFamily:
    """Differences that are tested together, with p-values and intervals that agree."""

    def __init__(
        self, differences: Sequence[UnitEstimate], n_tests: int, largest: Floats | None
    ) -> None:
        self.differences = differences
        self.n_tests = n_tests
        self._largest = largest

    def p(self, test: int, null: float = 0.0) -> float:
        """Return the adjusted p-value of a difference."""
        difference = self.differences[test]
        single = difference.p(null)
        bonferroni = min(1.0, self.n_tests * single)
        if self._largest is None:
            return bonferroni
        above = len(self._largest) - np.searchsorted(
            self._largest, abs(difference.statistic(null)), side="left"
        )
        return max(single, min(bonferroni, (1 + int(above)) / (1 + len(self._largest))))

    def interval(self, test: int) -> tuple[float, float]:
        """Return the interval of a difference: null values with an adjusted p of at least .05."""
        difference = self.differences[test]
        if difference.units < 2:
            return difference.interval()
        return difference.interval(self._critical(difference))

    def detectable(self, test: int, power: float = 0.8) -> float:
        """Return the smallest difference that this test finds with a power; NaN if there is none.

        The level is that of a single test with the same critical value.
        """
        difference = self.differences[test]
        if difference.units < 2:
            return float("nan")
        level = 2 * student_tail(self._critical(difference), difference.units - 1)
        deviation = difference.error * sqrt(difference.units)
        n_tests = max(1.0, SIGNIFICANCE_LEVEL / level)
        smallest = detectable_difference(deviation, difference.units, power, n_tests)
        return smallest if 0 < smallest < inf else float("nan")

    def _critical(self, difference: UnitEstimate) -> float:
        critical = difference.critical(SIGNIFICANCE_LEVEL / self.n_tests)
        if self._largest is None:
            return critical
        return max(difference.critical(), min(critical, _critical_value(self._largest)))


class SingleStep:
    """One correction of several p-values, and the level of single tests that agrees with it.

    A corrected p-value is below .05 exactly where the single one is below `level`, so an interval
    of the level 1 - `level` excludes the null exactly where the corrected p-value is below .05.
    """

    def __init__(self, n_tests: int, influences: Floats | None = None, freedom: int = 1) -> None:
        """Correct for a number of tests.

        Args:
            n_tests: the number of tests; 1 corrects nothing.
            influences: tests x units: the influence of each unit, or None if they are unknown or
                too many; the correction is then Bonferroni's. A row of zeros is independent.
            freedom: degrees of freedom of the test with the fewest.
        """
        self.n_tests = n_tests
        self.is_joint = influences is not None and 1 < n_tests <= _MAX_DRAWN
        self._freedom = freedom
        self._largest = np.empty(0)
        if influences is not None and self.is_joint:
            self._largest = _largest_of_draws(influences, freedom)

    @cached_property
    def level(self) -> float:
        """The level of single tests."""
        bonferroni = SIGNIFICANCE_LEVEL / max(self.n_tests, 1)
        if not self.is_joint:
            return bonferroni
        joint = self._single_p(_critical_value(self._largest))
        return min(SIGNIFICANCE_LEVEL, max(bonferroni, joint))

    def corrected(self, p: float) -> float:
        """Return the corrected p-value of a single one; NaN stays NaN."""
        bonferroni = min(1.0, self.n_tests * p)
        if isnan(p) or not self.is_joint:
            return p if isnan(p) else bonferroni
        statistics = self._largest.tolist()
        draws = len(statistics)
        below = bisect_left(statistics, True, key=lambda t: self._single_p(t) <= p)
        return max(p, min(bonferroni, (1 + draws - below) / (1 + draws)))

    def _single_p(self, statistic: float) -> float:
        return 2 * student_tail(statistic, self._freedom)


def _critical_value(largest: Floats) -> float:
    """Return the statistic that the largest of a draw exceeds with a probability below .05."""
    rank = int((1 + len(largest)) * SIGNIFICANCE_LEVEL + 1e-9)
    return float(largest[len(largest) - rank])


def _largest_of_draws(influences: Floats, freedom: int) -> Floats:
    """Return the largest |t| of each draw under the null, in ascending order."""
    order = sorted(range(len(influences)), key=lambda k: _sort_key(0.0, influences[k]))
    influences = influences[order]
    normal = _normal(_DRAWS * len(influences), 0).reshape(_DRAWS, -1)
    factor = _cholesky(_correlation(influences))
    draws = np.abs(product(normal, np.ascontiguousarray(factor.T)))
    largest = np.zeros(_DRAWS)
    chi = _chi(influences, len(influences), freedom)
    for statistics, scale in zip(draws.T, chi, strict=True):
        np.maximum(largest, statistics / scale, out=largest)
    return np.sort(largest)


def _sort_key(value: float, influence: Floats) -> tuple[float, bytes]:
    """Return a key that depends neither on the order of estimates nor on that of units."""
    return value, np.sort(influence).tobytes()


def _cholesky(covariance: Floats) -> Floats:
    """Return L with L L^T = covariance; columns that depend on earlier ones are 0."""
    n = len(covariance)
    factor = np.zeros((n, n))
    for j in range(n):
        rest = covariance[j:, j] - product(factor[j:, :j], factor[j, :j]) if j else covariance[:, 0]
        if rest[0] > _SMALLEST * max(float(covariance[j, j]), _SMALLEST):
            factor[j:, j] = rest / sqrt(float(rest[0]))
    return factor


@lru_cache(maxsize=8)
def _normal(count: int, stream: int) -> Floats:
    """Draw from the standard normal distribution by Marsaglia's polar method.

    Unlike numpy's draws, these need only this package's logarithm, whose bits are the same on every
    processor.
    """
    rng, values = np.random.default_rng([_SEED, stream]), np.empty(0)
    while len(values) < count:
        u, v = 2 * rng.random((2, count)) - 1
        square = u * u + v * v
        inside = (square > 0) & (square < 1)
        scale = np.sqrt(-2 * log(square[inside]) / square[inside])
        values = np.concatenate([values, u[inside] * scale, v[inside] * scale])
    values = values[:count]
    values.flags.writeable = False
    return values


def _correlation(influences: Floats) -> Floats:
    """Return the correlation of rows; a row of zeros is correlated with no other."""
    scale = np.abs(influences).max(axis=1, initial=0.0, keepdims=True)
    scaled = influences / np.where(scale > 0, scale, 1.0)
    covariance = product(scaled, np.ascontiguousarray(scaled.T))
    sizes = np.sqrt(np.diag(covariance))
    sizes = np.where(sizes > 0, sizes, 1.0)
    correlation: Floats = covariance / sizes / sizes[:, None] + np.diag((scale[:, 0] == 0) * 1.0)
    return correlation


def _chi(influences: Floats | None, count: int, freedom: int) -> Sequence[Floats | float]:
    """Draw sqrt(chi^2 / freedom) for each difference: the relative errors of its standard error.

    Squared errors of differences with the correlation r have the correlation r^2. Without
    influences they are drawn independently, which corrects more strongly. Each draw is the cube of
    Wilson and Hilferty (1931). With many degrees of freedom the errors are negligible.
    """
    if freedom > _MANY_UNITS:
        return [1.0] * count
    errors = _normal(_DRAWS * count, 1).reshape(_DRAWS, -1)
    if influences is not None:
        correlation = _correlation(influences)
        factor = _cholesky(correlation * correlation)
        errors = product(errors, np.ascontiguousarray(factor.T))
    small = 2 / (9 * freedom)
    cube_roots = np.maximum(1 - small + errors * sqrt(small), 0.05)
    return list(np.sqrt(cube_roots * cube_roots * cube_roots).T)
