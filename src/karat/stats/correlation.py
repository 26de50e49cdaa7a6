"""Statistics of two vectors, human and metric scores; each also works on many rows at once.

An undefined correlation (fewer than two points, or constant scores) is NaN, never 0;
`why_undefined` gives the reason. Scores that are NaN must be left out first: see `defined`.
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

Rows = Callable[[Floats, Floats], Floats]
Groups = tuple[float, int, int]  # a value, and the numbers of groups used and left out
Together = Callable[[Floats, Floats, Ints | None], Groups]
OfSegments = Callable[[Floats, Floats, ScoreSums | None], float]


def defined(human: ArrayLike, metric: ArrayLike) -> tuple[Floats, Floats]:
    """Return the points at which both arrays have a number, as two vectors."""
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
    """Return why two vectors have no Pearson correlation; empty if they have one."""
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
    """Return a statistic of each row of two matrices without NaN; rows of one length go together.

    `width` is the shape of the result for one row: empty for one number.
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
    """A statistic that is computed from sums of parts over all groups."""

    parts: Rows  # from rows of human and metric scores, each a group, to rows x parts
    value: Callable[[Floats], Floats]  # from sums of parts, along the last axis, to the statistic
    width: int  # the number of parts

    def rows(self, human: Floats, metric: Floats) -> Floats:
        """Return the statistic of each row by itself."""
        return self.value(self.parts(human, metric))

    def total(self, parts: Floats, times: Floats | None = None) -> Floats:
        """Return the statistic of draws x groups x parts; each group counts `times` times."""
        defined_parts = np.nan_to_num(parts)  # NaN for groups without points
        return self.value(
            (defined_parts if times is None else defined_parts * times[:, :, None]).sum(axis=1)
        )


@dataclass(frozen=True)
class Statistic:
    """A named statistic of two vectors, of the rows of two matrices, or over groups."""

    name: str
    rows: Rows
    help: str
    sign: int = 1  # -1 where lower is better
    together: Together | None = None
    """For groups that share something: the statistic over the rows of two matrices.

    The third argument is for resamples: the number of pairs of copies of one point in each row.
    """
    grouped: GroupRoutine | None = None
    """Kernel routine that computes `each_group` for many resamples or exchanges, if any."""
    of_segments: OfSegments | None = None
    """For statistics of systems that depend on their segments: from systems x segments.

    If a function that scores sums is passed, metric scores are statistics, as in `soft_pairwise`.
    """
    test: Callable[[Floats, Floats, Floats, Exchanges], Permutation] | None = None
    """The statistic's own test that the first of two metrics is better; rows are groups.

    With `of_segments`, rows are systems.
    """
    exchanges_cells: bool = True  # False if its own test exchanges something else
    p_value: Callable[[Floats, Floats], float] | None = None
    """From two vectors to the two-sided p of no correlation, for independent points."""
    pooled: Pooled | None = None  # pools the pairs of all groups, instead of their mean
    lowest: float = -1.0  # smallest value, for averages of statistics; the largest is 1
    resampled: Callable[[Floats, Floats, Copies], Floats] | None = None
    """For statistics that count pairs: values of the rows of two resampled matrices with NaN.

    A point that was drawn twice is tied with its own copy in both scores. Such pairs would count as
    agreement, so they are left out. None if copies need no special treatment.
    """
    kind: ClassVar[str] = "statistics"

    @property
    def tested(self) -> bool:
        """True if metrics can be compared by a permutation test."""
        return self.test is not None or (self.sign > 0 and self.of_segments is None)

    def each_group(self, human: Floats, metric: Floats) -> Floats:
        """Return the value of each row, a group; or its parts, if groups are pooled."""
        if self.pooled:
            return each_row(self.pooled.parts, human, metric, (self.pooled.width,))
        return each_row(self.rows, human, metric)

    def of_resamples(self, human: Floats, metric: Floats, points: Ints) -> Floats:
        """Return the statistic of each row of two resampled matrices; NaN is left out.

        `points` has the number of the point that was drawn at each position.
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
        if self.of_segments is not None:
            raise InputError(f"{self.name} is of matrices: choose the level system or system-mean")


# ---------------------------------------------------------------------- lines and distances


def deviations(rows: Floats) -> Floats:
    """Return deviations from the mean of each row; exactly 0 in a constant row."""
    if rows.shape[1] == 0:
        return rows
    with np.errstate(invalid="ignore"):  # infinite scores give NaN
        moved: Floats = rows - rows.mean(axis=1, keepdims=True)
    moved[(rows == rows[:, :1]).all(axis=1)] = 0
    return moved


def quotient(top: NDArray[Any], bottom: NDArray[Any]) -> Floats:
    """Return quotients; NaN where the divisor is not positive."""
    out: Floats = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=out, where=bottom > 0)
    return out


def clipped(r: Floats) -> Floats:
    """Return correlations within -1 and 1, which rounding may exceed."""
    return np.clip(r, -1, 1)


def pearson_rows(human: Floats, metric: Floats) -> Floats:
    """Return Pearson's r of each row: sum (h - mean h)(m - mean m) / (n sd(h) sd(m))."""
    h, m = deviations(human), deviations(metric)
    norms = np.sqrt((h * h).sum(axis=1)) * np.sqrt((m * m).sum(axis=1))
    return clipped(quotient((h * m).sum(axis=1), norms))


def _rmse_rows(human: Floats, metric: Floats) -> Floats:
    gaps = ((human - metric) ** 2).sum(axis=1)
    return np.sqrt(quotient(gaps, np.full(len(gaps), float(human.shape[1]))))


def _spearman_rows(human: Floats, metric: Floats) -> Floats:
    return pearson_rows(_kernel.average_ranks(human), _kernel.average_ranks(metric))


def _p_of(rows: Rows) -> Callable[[Floats, Floats], float]:
    """Return the function that computes p of two vectors by Student's t from their r."""
    return lambda h, m: p_of_r(float(rows(h[None], m[None])[0]), len(h))


MAX_PERMUTED_POINTS = 7  # with up to this many points, all 5,040 orders are tried


def _p_of_spearman(human: Floats, metric: Floats) -> float:
    """Return p of rho: for few points by all orders of one side, else by Student's t.

    Student's t is infinite for a perfect order, although at least 2 of the n! orders are perfect.
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


# ------------------------------------------------------------------------- pairs of points


def _pair_statistic(
    name: str,
    of: OfPairs,
    help: str,
    p_value: Callable[[Floats, Floats], float] | None = None,
    lowest: float = -1.0,
) -> Statistic:
    """Return a statistic that is computed from counts of pairs and the number of points."""

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
    """Return (C - D) / sqrt((C + D + Th)(C + D + Tm)), with pairs tied in one score only."""
    con, dis, h_ties, m_ties, *_ = pairs
    untied_h, untied_m = con + dis + m_ties, con + dis + h_ties
    return clipped(quotient(con - dis, np.sqrt(untied_h) * np.sqrt(untied_m)))


def _tau_c(pairs: Pairs, n: float | Floats) -> Floats:
    """Return 2 (C - D) / (n^2 (k - 1) / k), k the smaller number of distinct scores (Stuart).

    n^2 is 2 P n / (n - 1), P being the number of pairs. This form also holds for resamples of n
    distinct points, in which only pairs of distinct points count; there the value may slightly
    exceed 1 and is clipped.
    """
    con, dis, h_ties, m_ties, both, h_values, m_values = pairs
    classes = np.minimum(h_values, m_values)
    squared = 2 * (con + dis + h_ties + m_ties + both) * n / np.maximum(n - 1, 1)
    return clipped(quotient(2 * (con - dis), squared * (classes - 1) / np.maximum(classes, 1)))


def _tau_23(pairs: Pairs, n: float | Floats) -> Floats:
    """Return (C + Thm - D - Th - Tm) / pairs (Deutsch, Foster and Freitag 2023)."""
    return 2 * _accuracy(pairs, n) - 1


def _accuracy(pairs: Pairs, n: float | Floats) -> Floats:
    """Return the share of pairs with equal signs of difference (Kocmi et al. 2021)."""
    con, dis, h_ties, m_ties, both, *_ = pairs
    return quotient(con + both, con + dis + h_ties + m_ties + both)


tau_b = _pair_statistic(
    "tau-b", _tau_b, "Kendall's tau-b: pairs in order, ties taken out", p_of_tau
)
tau_c = _pair_statistic(
    "tau-c", _tau_c, "Kendall's tau-c: for scales with few distinct values", p_of_tau
)
tau_23 = _pair_statistic(
    "tau-23", _tau_23, "Kendall's tau that asks for ties where humans have them"
)
pairwise_accuracy = _pair_statistic(
    "accuracy", _accuracy, "share of pairs ordered as humans do", lowest=0.0
)


# ------------------------------------------------------------------------ calibrated ties


BAND = 1 << 18  # pairs in memory at once, 24 bytes each


class TieCalibration(NamedTuple):
    """The tie threshold with the highest accuracy."""

    epsilon: float
    accuracy: float  # NaN if there is no pair
    groups: int  # groups with at least one pair
    left_out: int  # groups without a pair
    pairs: int


def calibrate(
    human: ArrayLike, metric: ArrayLike, stop: Stop | None = None, copies: Ints | None = None
) -> TieCalibration:
    """Return the best tie threshold for the rows of two matrices, or for two vectors; without NaN.

    It takes O(p log p) time for p pairs within rows, and memory for a fixed number of them.
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


_FAR = 8  # standard deviations: only a share of 1e-15 is farther from the mean


def exchange_pairs(
    human: Floats, first: Floats, second: Floats, exchanges: Exchanges
) -> Permutation:
    """Test whether the first metric is more accurate, by exchanging decisions on pairs.

    Rows are groups; NaN must be at the same cells in all. It is undefined if no group has a pair.
    """
    cells = cells_of_rows(~np.isnan(human))
    h, a, b = (cells.scores(x) for x in (human, first, second))
    stop = current_stop()
    first_epsilon, second_epsilon = (calibrate(human, x, stop).epsilon for x in (first, second))
    if np.isnan(first_epsilon):
        return exchanges.undefined()
    right = _kernel.right_pairs(h, a, b, cells.offsets, first_epsilon, second_epsilon, stop.check)
    points = np.diff(cells.offsets)
    pairs = points * (points - 1) // 2
    sizes = np.unique(pairs[pairs > 0])
    by_size = np.stack([right[pairs == n].sum(axis=0) for n in sizes])
    weights = 1 / (sizes * int((pairs > 0).sum()))
    delta = float(((by_size[:, 0] - by_size[:, 1]) * weights).sum())
    coins = by_size.sum(axis=1)  # pairs that only one metric has right, for each size of groups
    exact = int(coins.sum()) <= MAX_EXACT_CELLS
    if exact:  # all outcomes of few coins
        coin_weights = np.repeat(weights, coins)
        outcomes = np.arange(1 << len(coin_weights))[:, None] >> np.arange(len(coin_weights)) & 1
        differences = np.asarray(((2 * outcomes - 1) * coin_weights).sum(axis=1))
    else:
        trials = exchanges.trials
        rng, differences = np.random.default_rng(exchanges.seed), np.zeros(trials)
        for n_coins, weight in zip(coins.tolist(), weights, strict=True):
            heads = binomial_quantiles(n_coins, rng.random(trials))
            differences += (2 * heads - n_coins) * weight
        exchanges.progress(trials, trials, "permuting")
    return exchanges.summarize(delta, differences, exact)


def binomial_quantiles(coins: int, shares: Floats) -> Ints:
    """Return the number of heads of fair coins at each quantile of its distribution.

    Probabilities are computed from the middle outwards: C(n, k + 1) / C(n, k) = (n - k) / (k + 1).
    """
    middle = (coins + 1) // 2  # as likely as coins // 2
    last = min(coins, middle + 2 + int(_FAR * np.sqrt(coins)))
    k = np.arange(middle, last)
    above = np.cumprod(np.concatenate([[1.0], (coins - k) / (k + 1)]))
    below = above[1 - coins % 2 :][::-1]
    cumulated = np.cumsum(np.concatenate([below, above]))
    indices: Ints = np.searchsorted(cumulated, shares * cumulated[-1], side="right")
    return indices + (middle - len(below))


def _calibrated_rows(human: Floats, metric: Floats, copies: Copies | None = None) -> Floats:
    """Return the accuracy of each row with its own best tie threshold; Ctrl-C stops it."""
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
    of_segments=soft_pairwise_accuracy,
    test=exchange_soft,
    lowest=0.0,
)

# ----------------------------------------------------- pairs of all groups in one pool
#
# Groups are weighted by their number of pairs: each adds its `parts`, and the statistic is computed
# from the sums.


def kendall_like(name: str, gap: float, help: str) -> Statistic:
    """Return WMT's Kendall-like tau, (C - D - Tm) / (C + D + Tm), under a name.

    It counts pairs whose human scores differ, by `gap` or more. A pair that is tied in the metric
    only (Tm) counts as wrong.
    """
    apart = float(np.nextafter(gap, 0.0)) if gap else 0.0  # a difference of exactly `gap` counts

    def of(concordant: Floats, discordant: Floats, metric_ties: Floats) -> Floats:
        wrong = discordant + metric_ties
        return np.stack([concordant - wrong, concordant + wrong], axis=-1)

    def parts(human: Floats, metric: Floats) -> Floats:
        # The kernel's threshold applies to its second scores, so the human ones come second.
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
    """Return sum dh dm, sum dh^2 and sum dm^2 over the pairs of each row.

    For n points, sum dh dm over all pairs is n sum (h - mean h)(m - mean m).
    """
    h, m = deviations(human), deviations(metric)
    sums = [(x * y).sum(axis=1) for x, y in ((h, m), (h, h), (m, m))]
    pair_sums: Floats = human.shape[1] * np.stack(sums, axis=-1)
    return pair_sums


def _uncentred_r(sums: Floats) -> Floats:
    """Return sum dh dm / sqrt(sum dh^2 sum dm^2), which is r: pairs in both orders have mean 0."""
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
