"""Statistics of two vectors, human and metric scores; each also works on many rows at once.

A vector that has no correlation (fewer than two points, or constant) has the value NaN, never 0;
`why_undefined` says why. NaN among the scores must have been left out: see `defined`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar, NamedTuple

from karat import _kernel
from karat.arithmetic import SLACK
from karat.arrays import ArrayLike, Floats, Ints, NDArray, as_floats, np
from karat.errors import InputError
from karat.progress import Stop, current_stop
from karat.registry import Registry, make_check
from karat.stats.distributions import MIN_POINTS, p_of_r, p_of_tau
from karat.stats.exchanges import MAX_EXACT_CELLS, Exchanges, Permutation
from karat.stats.grouped import (
    GroupRoutine,
    OfPairs,
    Pairs,
    cells_of_rows,
    pair_routine,
    pearson_routine,
)
from karat.stats.resampling import Copies, count_copies
from karat.stats.soft_pairwise import ScoreSums, exchange_soft, soft_pairwise_accuracy

_FAR = 8  # standard deviations, beyond which a share of 1e-15 lies


def exchange_pairs(human: Floats, first: Floats, second: Floats, tried: Exchanges) -> Permutation:
    """Test that the first metric is more accurate; rows are groups, NaN at the same cells in all.

    Where no group has two points, nothing is defined.
    """
    cells = cells_of_rows(~np.isnan(human))
    h, a, b = (cells.of(x) for x in (human, first, second))
    stop = current_stop()
    first_epsilon, second_epsilon = (calibrate(human, x, stop).epsilon for x in (first, second))
    if np.isnan(first_epsilon):
        return tried.undefined()
    right = _kernel.right_pairs(h, a, b, cells.offsets, first_epsilon, second_epsilon, stop.check)
    points = np.diff(cells.offsets)
    pairs = points * (points - 1) // 2
    sizes = np.unique(pairs[pairs > 0])
    by_size = np.stack([right[pairs == n].sum(axis=0) for n in sizes])
    weights = 1 / (sizes * int((pairs > 0).sum()))
    delta = float(((by_size[:, 0] - by_size[:, 1]) * weights).sum())
    coins = by_size.sum(axis=1)  # pairs that one metric alone has right, for each size of groups
    exact = int(coins.sum()) <= MAX_EXACT_CELLS
    if exact:  # each way in which few coins can fall
        coin_weights = np.repeat(weights, coins)
        outcomes = np.arange(1 << len(coin_weights))[:, None] >> np.arange(len(coin_weights)) & 1
        differences = np.asarray(((2 * outcomes - 1) * coin_weights).sum(axis=1))
    else:
        rng, differences = np.random.default_rng(tried.seed), np.zeros(tried.trials)
        for number, weight in zip(coins.tolist(), weights, strict=True):
            differences += (
                2 * binomial_quantiles(number, rng.random(tried.trials)) - number
            ) * weight
        tried.progress(tried.trials, tried.trials, "permuting")
    return tried.summarize(delta, differences, exact)


def binomial_quantiles(coins: int, shares: Floats) -> Ints:
    """The numbers of heads of fair coins at these shares of their distribution.

    Going away from the middle, C(n, k + 1) / C(n, k) = (n - k) / (k + 1).
    """
    middle = (coins + 1) // 2  # and coins // 2 has as much
    last = min(coins, middle + 2 + int(_FAR * np.sqrt(coins)))
    k = np.arange(middle, last)
    above = np.cumprod(np.concatenate([[1.0], (coins - k) / (k + 1)]))
    below = above[1 - coins % 2 :][::-1]
    cumulated = np.cumsum(np.concatenate([below, above]))
    places: Ints = np.searchsorted(cumulated, shares * cumulated[-1], side="right")
    return places + (middle - len(below))


BAND = 1 << 18  # pairs that are in memory at once, 24 bytes each


class TieCalibration(NamedTuple):
    """The best threshold and its accuracy, and what it was found on."""

    epsilon: float
    accuracy: float  # NaN if there is no pair
    groups: int  # with at least one pair
    left_out: int  # groups without
    pairs: int


def calibrate(
    human: ArrayLike, metric: ArrayLike, stop: Stop | None = None, copies: Ints | None = None
) -> TieCalibration:
    """Calibrate on the rows of two matrices, or on two vectors; NaN is left out.

    O(p log p) in the number p of pairs within rows, in memory for a fixed number of them.
    `copies` is for resamples: the number of pairs in each row that consist of two copies of one
    point, which do not count.
    """
    h, m = np.atleast_2d(np.asarray(human, float)), np.atleast_2d(np.asarray(metric, float))
    if h.shape != m.shape:
        shapes = f"human scores have the shape {h.shape} and metric scores {m.shape}"
        raise InputError(f"{shapes}: expected the same")
    both = ~(np.isnan(h) | np.isnan(m))
    if not (np.isfinite(h[both]).all() and np.isfinite(m[both]).all()):
        raise InputError("tie calibration: scores must be finite")
    sizes = both.sum(axis=1)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if copies is None:
        copies = np.zeros(len(h), np.int64)
    epsilon, accuracy, groups, pairs = _kernel.calibrate_ties(
        h[both], m[both], offsets, copies, BAND, stop.check if stop else None
    )
    if not groups:
        epsilon = accuracy = float("nan")
    return TieCalibration(epsilon, accuracy, groups, len(h) - groups, pairs)


Rows = Callable[[Floats, Floats], Floats]
Groups = tuple[float, int, int]  # a value, the groups it is of, the groups left out
Together = Callable[[Floats, Floats, Ints | None], Groups]
OfSegments = Callable[[Floats, Floats, ScoreSums | None], float]


def defined(human: ArrayLike, metric: ArrayLike) -> tuple[Floats, Floats]:
    """The points at which both are numbers, of two arrays of one shape, as two vectors."""
    h, m = as_floats(human), as_floats(metric)
    if h.shape != m.shape:
        shapes = f"human scores have the shape {h.shape} and metric scores {m.shape}"
        raise InputError(f"{shapes}: expected the same")
    both = ~(np.isnan(h) | np.isnan(m))
    return h[both], m[both]


def why_undefined(
    human: ArrayLike,
    metric: ArrayLike,
    names: tuple[str, str] = ("the human scores", "the metric scores"),
) -> str:
    """Why two vectors have no Pearson correlation, in a few words; empty if they have one."""
    h, m = defined(human, metric)
    if len(h) < 2:
        return f"{len(h)} point{'' if len(h) == 1 else 's'}, at least 2 are needed"
    for scores, name in zip((h, m), names, strict=True):
        if (scores == scores[0]).all():
            return f"{name} are constant"
        if not np.isfinite(scores).all():
            return f"{name} are not all finite"
    return ""


def each_row(rows: Rows, human: Floats, metric: Floats, width: tuple[int, ...] = ()) -> Floats:
    """A statistic of each row of two matrices, NaN left out: rows of one length go together.

    `width` is the shape of what `rows` gives for a row: empty for one number.
    """
    both = ~(np.isnan(human) | np.isnan(metric))
    if both.all() and both.shape[1]:
        return rows(human, metric)
    sizes = both.sum(axis=1)
    values = np.full((len(human), *width), np.nan)
    for size in np.unique(sizes[sizes > 0]):
        of_size = sizes == size
        shape = int(of_size.sum()), int(size)
        h, m = (
            human[of_size][both[of_size]].reshape(shape),
            metric[of_size][both[of_size]].reshape(shape),
        )
        values[of_size] = rows(h, m)
    return values


@dataclass(frozen=True)
class Pooled:
    """Sums over groups, and the statistic of the sums."""

    parts: Rows  # rows of human and metric scores, each a group -> rows x parts
    value: Callable[[Floats], Floats]  # sums of parts, along the last axis -> their statistics
    width: int  # the number of parts

    def rows(self, human: Floats, metric: Floats) -> Floats:
        """Return the statistic of each row on its own."""
        return self.value(self.parts(human, metric))

    def total(self, parts: Floats, times: Floats | None = None) -> Floats:
        """Return the statistic of draws x groups x parts; `times` says how often a group counts."""
        defined_parts = np.nan_to_num(parts)  # a group without points has no parts
        return self.value(
            (defined_parts if times is None else defined_parts * times[:, :, None]).sum(axis=1)
        )


@dataclass(frozen=True)
class Statistic:
    """A statistic under its name: of two vectors, of `rows` of two matrices, or over groups."""

    name: str
    rows: Rows
    help: str
    sign: int = 1  # -1 where lower is better
    together: Together | None = None
    """Where groups share something: the statistic over the rows of two matrices.

    The third argument is for resamples: in each row, the pairs of copies of one point.
    """
    grouped: GroupRoutine | None = None
    """Kernel routine for `each_group` of many draws or exchanges of all cells, if there is one."""
    of_segments: OfSegments | None = None
    """Of systems x segments, where the segments behind systems' scores tell how sure they are.

    With the function that scores sums, metric scores are statistics, as in `soft_pairwise`.
    """
    test: Callable[[Floats, Floats, Floats, Exchanges], Permutation] | None = None
    """Of human scores and two metrics, rows being groups: its own test that the first is better.

    With `behind`, rows are systems.
    """
    exchanges_cells: bool = True  # False if its own test exchanges something else
    p_value: Callable[[Floats, Floats], float] | None = None
    """Of two vectors: two-sided p of no correlation, points taken as independent."""
    pooled: Pooled | None = None  # over groups: pairs in one pool instead of the mean
    lowest: float = -1.0  # least value; the largest is 1. Averages of statistics need it
    resampled: Callable[[Floats, Floats, Copies], Floats] | None = None
    """Of the rows of two resampled matrices with NaN, where pairs of points are counted.

    A point that was drawn twice is tied with its own copy in both scores, so such pairs would count
    as agreement: they are left out. None where copies need no such care.
    """
    kind: ClassVar[str] = "statistics"

    @property
    def tested(self) -> bool:
        """True if metrics can be compared by exchanges."""
        return self.test is not None or (self.sign > 0 and self.of_segments is None)

    def each_group(self, human: Floats, metric: Floats) -> Floats:
        """Return what each row, a group, has: its value, or its parts where groups are pooled."""
        if self.pooled:
            return each_row(self.pooled.parts, human, metric, (self.pooled.width,))
        return each_row(self.rows, human, metric)

    def of_resamples(self, human: Floats, metric: Floats, points: Ints) -> Floats:
        """Return the statistic of each row of two resampled matrices; NaN is left out.

        `points` says which point was drawn at each place.
        """
        if self.resampled is None:
            return each_row(self.rows, human, metric)
        return self.resampled(
            human, metric, count_copies(points, ~(np.isnan(human) | np.isnan(metric)))
        )

    def __call__(self, human: ArrayLike, metric: ArrayLike) -> float:
        """Return the statistic of two vectors; points with a NaN are left out."""
        self._check_points()
        h, m = defined(human, metric)
        return float(self.rows(h.reshape(1, -1), m.reshape(1, -1))[0])

    def over(self, human: Floats, metric: Floats) -> Groups:
        """Return the statistic over the rows of two matrices, each a group; NaN is left out."""
        self._check_points()
        if self.together:
            return self.together(human, metric, None)
        values = self.each_group(human, metric)
        if self.pooled:
            used = int((np.nan_to_num(values) != 0).any(axis=1).sum())
            return float(self.pooled.total(values[None])[0]), used, len(values) - used
        defined_values = values[~np.isnan(values)]
        mean = float(defined_values.mean()) if len(defined_values) else float("nan")
        return mean, len(defined_values), len(values) - len(defined_values)

    def _check_points(self) -> None:
        if self.of_segments is not None:  # of points alone it would be another statistic
            raise InputError(f"{self.name} is of matrices: choose the level system or system-mean")


# ---------------------------------------------------------------------- lines and distances


def deviations(rows: Floats) -> Floats:
    """Deviations from the mean; exactly 0 where a row is constant, whatever the mean rounds to."""
    if rows.shape[1] == 0:
        return rows
    with np.errstate(invalid="ignore"):  # an infinite score makes it NaN
        moved: Floats = rows - rows.mean(axis=1, keepdims=True)
    moved[(rows == rows[:, :1]).all(axis=1)] = 0
    return moved


def quotient(top: NDArray[Any], bottom: NDArray[Any]) -> Floats:
    """Quotients; NaN where there is nothing to divide by."""
    out: Floats = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=out, where=bottom > 0)
    return out


def clipped(r: Floats) -> Floats:
    """Without what rounding leaves beyond 1."""
    return np.clip(r, -1, 1)


def pearson_rows(human: Floats, metric: Floats) -> Floats:
    """Pearson's r of each row: sum (h - mean h)(m - mean m) / (n sd(h) sd(m))."""
    h, m = deviations(human), deviations(metric)
    norms = np.sqrt((h * h).sum(axis=1)) * np.sqrt((m * m).sum(axis=1))
    return clipped(quotient((h * m).sum(axis=1), norms))


def _rmse_rows(human: Floats, metric: Floats) -> Floats:
    gaps = ((human - metric) ** 2).sum(axis=1)
    return np.sqrt(quotient(gaps, np.full(len(gaps), float(human.shape[1]))))


def _spearman_rows(human: Floats, metric: Floats) -> Floats:
    return pearson_rows(_kernel.average_ranks(human), _kernel.average_ranks(metric))


def _p_of(rows: Rows) -> Callable[[Floats, Floats], float]:
    """p of two vectors by Student's t of their r, which `rows` gives."""
    return lambda h, m: p_of_r(float(rows(h[None], m[None])[0]), len(h))


MAX_PERMUTED_POINTS = 7  # points whose orders are all tried: 5,040 of them


def _p_of_spearman(human: Floats, metric: Floats) -> float:
    """p of rho: of few points by all orders of one side, else by Student's t.

    Of n points in perfect order t is infinite; 2 of the n! orders are as perfect, or more in ties.
    """
    if len(human) > MAX_PERMUTED_POINTS:
        return p_of_r(float(_spearman_rows(human[None], metric[None])[0]), len(human))
    orders = np.array(list(permutations(metric)))
    rho = np.abs(_spearman_rows(np.tile(human, (len(orders), 1)), orders))
    is_defined = len(human) >= MIN_POINTS and not np.isnan(rho[0])
    return float((rho >= rho[0] - SLACK).mean()) if is_defined else float("nan")


pearson = Statistic(
    "pearson",
    pearson_rows,
    "Pearson's r: how close to a rising straight line",
    grouped=pearson_routine(),
    p_value=_p_of(pearson_rows),
)
spearman = Statistic(
    "spearman",
    _spearman_rows,
    "Spearman's rho: Pearson's r of ranks",
    p_value=_p_of_spearman,
)
r_squared = Statistic(
    "r2",
    lambda h, m: pearson_rows(h, m) ** 2,
    "R^2: share of the variance explained by a line",
    grouped=pearson_routine(squared=True),
    p_value=_p_of(pearson_rows),
    lowest=0.0,
)
rmse = Statistic("rmse", _rmse_rows, "root mean squared difference, on one scale", -1)


# ---------------------------------------------------------------------------------- of pairs


def _of_pairs(
    name: str,
    of: OfPairs,
    help: str,
    p_value: Callable[[Floats, Floats], float] | None = None,
    lowest: float = -1.0,
) -> Statistic:
    """Return a statistic of pairs and of the number of distinct points, by rows and by draws."""

    def counts(human: Floats, metric: Floats) -> Floats:
        return _kernel.pair_counts(human, metric, 0.0).astype(np.float64)

    def rows(human: Floats, metric: Floats) -> Floats:
        return of([*counts(human, metric).T], float(human.shape[1]))

    def resampled(human: Floats, metric: Floats, copies: Copies) -> Floats:
        pairs = each_row(counts, human, metric, (7,))
        pairs[:, 4] -= copies.pairs  # copies of one point are tied in both scores
        return of([*pairs.T], copies.points.astype(np.float64))

    return Statistic(
        name,
        rows,
        help,
        grouped=pair_routine(of),
        p_value=p_value,
        lowest=lowest,
        resampled=resampled,
    )


def _tau_b(pairs: Pairs, n: float | Floats) -> Floats:
    """(C - D) / sqrt((C + D + Th)(C + D + Tm)), Th, Tm tied in one only."""
    con, dis, h_ties, m_ties, *_ = pairs
    untied_h, untied_m = con + dis + m_ties, con + dis + h_ties
    return clipped(quotient(con - dis, np.sqrt(untied_h) * np.sqrt(untied_m)))


def _tau_c(pairs: Pairs, n: float | Floats) -> Floats:
    """2 (C - D) / (n^2 (k - 1) / k), k the smaller number of distinct scores (Stuart).

    n^2 is 2 P n / (n - 1), P being the number of pairs. In this form it holds for resamples, whose
    points are n distinct ones and whose pairs are those of distinct points; there it may exceed 1 a
    little, which is cut off.
    """
    con, dis, h_ties, m_ties, both, h_values, m_values = pairs
    classes = np.minimum(h_values, m_values)
    squared = 2 * (con + dis + h_ties + m_ties + both) * n / np.maximum(n - 1, 1)
    return clipped(quotient(2 * (con - dis), squared * (classes - 1) / np.maximum(classes, 1)))


def _tau_23(pairs: Pairs, n: float | Floats) -> Floats:
    """(C + Thm - D - Th - Tm) / pairs (Deutsch, Foster and Freitag 2023)."""
    return 2 * _accuracy(pairs, n) - 1


def _accuracy(pairs: Pairs, n: float | Floats) -> Floats:
    """Pairs with equal signs of difference (Kocmi et al. 2021, for systems)."""
    con, dis, h_ties, m_ties, both, *_ = pairs
    return quotient(con + both, con + dis + h_ties + m_ties + both)


tau_b = _of_pairs("tau-b", _tau_b, "Kendall's tau-b: pairs in order, ties taken out", p_of_tau)
tau_c = _of_pairs("tau-c", _tau_c, "Kendall's tau-c: for scales with few distinct values", p_of_tau)
tau_23 = _of_pairs("tau-23", _tau_23, "Kendall's tau that asks for ties where humans have them")
pairwise_accuracy = _of_pairs(
    "accuracy", _accuracy, "share of pairs ordered as humans do", lowest=0.0
)


def _calibrated_rows(human: Floats, metric: Floats, copies: Copies | None = None) -> Floats:
    """Return the accuracy of each row with its best tie threshold; Ctrl-C ends it."""
    pairs = np.zeros(len(human), np.int64) if copies is None else copies.pairs
    rows = zip(human, metric, pairs.reshape(-1, 1), strict=True)
    return np.array([calibrate(h, m, current_stop(), of_row).accuracy for h, m, of_row in rows])


calibrated_accuracy = Statistic(
    "acc-eq",
    _calibrated_rows,
    "the same with the best tie threshold, one for all groups",
    together=lambda h, m, copies: calibrate(h, m, current_stop(), copies)[1:4],
    test=exchange_pairs,
    exchanges_cells=False,
    lowest=0.0,
    resampled=_calibrated_rows,
)
soft_accuracy = Statistic(
    "spa",
    pairwise_accuracy.rows,
    "soft pairwise accuracy: pairs of systems, as sure as humans are",
    of_segments=lambda human, metric, score: (
        soft_pairwise_accuracy(human, metric, score=score).value
    ),
    test=exchange_soft,
    lowest=0.0,
)

# ----------------------------------------------------- pairs of all groups in one pool
#
# A group counts by its pairs, not as one of so many groups: what it adds are its `parts`, and the
# statistic is the value of their sums.


def kendall_like(name: str, gap: float, help: str) -> Statistic:
    """Return WMT's Kendall-like tau under a name: (C - D - Tm) / (C + D + Tm).

    The pairs are those whose human scores differ, by `gap` or more. A pair that is tied in the
    metric alone (Tm) counts as wrong.
    """
    apart = float(np.nextafter(gap, 0.0)) if gap else 0.0  # a difference of exactly `gap` counts

    def of(concordant: Floats, discordant: Floats, metric_ties: Floats) -> Floats:
        wrong = discordant + metric_ties
        return np.stack([concordant - wrong, concordant + wrong], axis=-1)

    def parts(human: Floats, metric: Floats) -> Floats:
        # The kernel's threshold is of its second scores: here those are the human ones.
        counts = _kernel.pair_counts(metric, human, apart).astype(np.float64)
        return of(counts[:, 0], counts[:, 1], counts[:, 2])

    def of_pairs(pairs: Pairs, n: float | Floats) -> Floats:
        return of(pairs[0], pairs[1], pairs[3])

    def value(sums: Floats) -> Floats:
        return quotient(sums[..., 0], sums[..., 1])

    pooled = Pooled(parts, value, 2)
    grouped = None if gap else pair_routine(of_pairs)
    return Statistic(name, pooled.rows, help, grouped=grouped, pooled=pooled)


def _difference_parts(human: Floats, metric: Floats) -> Floats:
    """sum dh dm, sum dh^2 and sum dm^2 over the pairs of each row.

    Of n points, sum dh dm over all pairs is n sum (h - mean h)(m - mean m).
    """
    h, m = deviations(human), deviations(metric)
    sums = [(x * y).sum(axis=1) for x, y in ((h, m), (h, h), (m, m))]
    pair_sums: Floats = human.shape[1] * np.stack(sums, axis=-1)
    return pair_sums


def _uncentred_r(sums: Floats) -> Floats:
    """sum dh dm / sqrt(sum dh^2 sum dm^2): r, since a pair in both orders has the mean 0."""
    return clipped(quotient(sums[..., 0], np.sqrt(sums[..., 1]) * np.sqrt(sums[..., 2])))


DIFFERENCES = Pooled(_difference_parts, _uncentred_r, 3)

any_difference = kendall_like(
    "kendall-like", 0.0, "WMT's Kendall-like tau: pairs that humans tell apart; metric ties wrong"
)
darr = kendall_like(
    "darr", 25.0, "kendall-like of pairs whose human scores differ by 25 points or more"
)
pairwise_difference_pearson = Statistic(
    "pdp",
    DIFFERENCES.rows,
    "Pearson's r of the score differences of pairs within groups",
    pooled=DIFFERENCES,
)

_STATISTICS = (
    *(pearson, spearman, tau_b, tau_c, tau_23, r_squared, rmse, pairwise_accuracy),
    *(calibrated_accuracy, soft_accuracy, any_difference, darr, pairwise_difference_pearson),
)

STATISTICS: Registry[Statistic] = Registry(
    "statistics",
    "statistic",
    {by.name: by for by in _STATISTICS},
    check=make_check(lambda value: isinstance(value, Statistic), "statistic", "a karat.Statistic"),
)


def statistic(name: str | Statistic) -> Statistic:
    """Return a statistic by its name; a statistic is returned as it is."""
    return name if isinstance(name, Statistic) else STATISTICS[name]
