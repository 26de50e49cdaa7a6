"""Paired tests: PERM-BOTH between two metrics, Williams and Wilcoxon.

PERM-BOTH tests whether metric A agrees better with humans than metric B (Deutsch, Dror and Roth
2021). Both metrics are standardised over the cells that humans and both metrics have, so that their
scores can be exchanged. In each trial every cell of the systems x segments matrix is exchanged
between the metrics by a fair coin, and

    p = (1 + trials whose difference is at least the real one) / (1 + trials)

With at most 12 cells, all exchanges are tried instead, and p is the share of those whose difference
is at least the real one. This p is exact and independent of the seed; the unchanged cells are one
of the exchanges, so p is never 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import SLACK
from karat.arrays import ArrayLike, Flags, Floats, as_floats, np
from karat.errors import InputError, quoted
from karat.stats.correlation import pearson, pearson_rows
from karat.stats.distributions import normal_tail, student_tail
from karat.stats.exchanges import (
    Exchanges,
    Permutation,
    Words,
    chosen_sums,
    chosen_system_sums,
    masks,
)

Measures = Callable[[Floats, Floats, Floats, Flags], Floats]
_CELLS = 1 << 22  # cells of all trials in memory at once


class Triple(NamedTuple):
    """Human scores and two metrics, systems x segments, on the cells scored by all; NaN elsewhere.

    Both metrics have mean 0 and standard deviation 1.
    """

    human: Floats
    first: Floats
    second: Floats

    @property
    def has_scores(self) -> Flags:
        """The cells that all three score."""
        return ~np.isnan(self.human)


def perm_both_many(scores: Triple, measures: Measures, exchanges: Exchanges) -> Permutation:
    """Test the difference in any measure of agreement.

    `measures(h, a, b, chosen)` returns the agreement of `a` with h after each exchange; the masks
    in `chosen` mark the cells that are taken from `b`.
    """
    shape = scores.human.shape

    def differences(chosen: Flags) -> Floats:
        # The second metric after an exchange is the first one after the opposite exchange.
        values = measures(*scores, np.concatenate([chosen, ~chosen]))
        return values[: len(chosen)] - values[len(chosen) :]

    delta = float(differences(np.zeros((1, *shape), dtype=bool))[0])
    size = max(1, _CELLS // max(1, scores.human.size))
    return exchanges.test(delta, lambda words: differences(masks(words, shape)), size)


def perm_both_pearson(scores: Triple, exchanges: Exchanges) -> Permutation:
    """Test Pearson's r over all cells from sums, without exchanging matrices.

    With g = standardised human scores and n cells, r = sum(g m) / sqrt(n sum(m^2) - sum(m)^2). Each
    sum after an exchange is the sum before plus the differences of the chosen cells.
    """
    g, n = _standardize(scores.human), int(scores.has_scores.sum())
    before, after = (np.nan_to_num(np.stack([m, m * m, g * m], axis=-1)) for m in scores[1:])
    first_sums, second_sums = before.sum(axis=(0, 1)), after.sum(axis=(0, 1))

    def differences(words: Words) -> Floats:
        moved = chosen_sums(words, after - before)
        return _pearson_from_sums(first_sums + moved, n) - _pearson_from_sums(
            second_sums - moved, n
        )

    return exchanges.test(
        float(_pearson_from_sums(first_sums, n) - _pearson_from_sums(second_sums, n)), differences
    )


def _pearson_from_sums(sums: Floats, n: int) -> Floats:
    spread = n * sums[..., 1] - sums[..., 0] ** 2
    spread = np.where(spread > SLACK * n * n, spread, np.nan)  # NaN if constant except for rounding
    return sums[..., 2] / np.sqrt(spread)


def perm_both_system_pearson(scores: Triple, exchanges: Exchanges) -> Permutation:
    """Test Pearson's r of the systems' mean scores."""
    has_cells = scores.has_scores.any(axis=1)
    counts = scores.has_scores.sum(axis=1)[has_cells]
    human, first_sums, second_sums = (np.nansum(x, axis=1)[has_cells] for x in scores)
    means = (human / counts).reshape(1, -1)
    gaps = np.nan_to_num(scores.second - scores.first)

    def difference(moved: Floats) -> Floats:
        x, y = (first_sums + moved) / counts, (second_sums - moved) / counts
        return pearson_rows(means, x) - pearson_rows(means, y)

    delta = float(difference(np.zeros((1, len(counts))))[0])
    return exchanges.test(
        delta, lambda words: difference(chosen_system_sums(words, gaps)[:, has_cells])
    )


def standardised(human: Floats, first: Floats, second: Floats) -> Triple:
    """Return the cells that all three score, with both metrics standardised."""
    if not human.shape == first.shape == second.shape or human.ndim != 2:
        shapes = f"scores have the shapes {human.shape}, {first.shape} and {second.shape}"
        raise InputError(f"{shapes}: expected one shape, systems x segments")
    missing = np.isnan(human) | np.isnan(first) | np.isnan(second)
    h, a, b = (np.where(missing, np.nan, x) for x in (human, first, second))
    return Triple(h, _standardize(a), _standardize(b))


def _standardize(scores: Floats) -> Floats:
    """Return scores with mean 0 and standard deviation 1; constant scores become 0."""
    defined_scores = scores[~np.isnan(scores)]
    if not len(defined_scores) or (defined_scores == defined_scores[0]).all():
        return np.where(np.isnan(scores), np.nan, 0.0)
    moved: Floats = scores - defined_scores.mean()
    return moved / float(np.sqrt(np.nanmean(moved**2)))


ALTERNATIVES = ("two-sided", "greater", "less")
MAX_EXACT_DIFFERENCES = 50  # with more differences, the normal approximation is good


class Williams(NamedTuple):
    """Williams' t with n - 3 degrees of freedom, and p for "the first correlates better"."""

    t: float
    p: float
    n: int


def williams(human: ArrayLike, first: ArrayLike, second: ArrayLike) -> Williams:
    """Test whether the first metric's Pearson correlation with human scores is higher (Williams).

    Args:
        human: human scores.
        first, second: scores of the two metrics for the same items. Items with a NaN are left out.
    """
    h, a, b = (as_floats(x).ravel() for x in (human, first, second))
    if not len(h) == len(a) == len(b):
        sizes = f"{len(h)} human scores, {len(a)} and {len(b)} metric scores"
        raise InputError(f"{sizes}: expected the same number of each")
    is_complete = ~np.isnan(h + a + b)
    h, a, b = h[is_complete], a[is_complete], b[is_complete]
    return williams_from_correlations(pearson(h, a), pearson(h, b), pearson(a, b), len(h))


def williams_from_correlations(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Run Williams' test on correlations of 1 human scores, 2 and 3 metrics (Steiger 1980).

    t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2K (n-1)/(n-3) + ((r12+r13)/2)^2 (1-r23)^3),
    K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23.
    """
    if n < 4 or np.isnan(r12 + r13 + r23):
        return Williams(float("nan"), float("nan"), n)
    if r12 == r13:  # equal metrics would give 0 / 0
        return Williams(0.0, 0.5, n)
    determinant = max(0.0, 1 - r12 * r12 - r13 * r13 - r23 * r23 + 2 * r12 * r13 * r23)
    mean, distance = (r12 + r13) / 2, 1 - r23
    variance = 2 * determinant * (n - 1) / (n - 3) + mean * mean * distance * distance * distance
    numerator = (r12 - r13) * sqrt((n - 1) * (1 + r23))
    if variance <= 0:
        return Williams(float("nan"), float("nan"), n)
    t = numerator / sqrt(variance)
    return Williams(t, student_tail(t, n - 3), n)


class Wilcoxon(NamedTuple):
    """The sum of ranks of positive differences, its p, and the number of nonzero differences."""

    r_plus: float
    p: float
    n: int
    exact: bool


def wilcoxon(
    first: ArrayLike, second: ArrayLike, alternative: str = "two-sided", exact: bool | None = None
) -> Wilcoxon:
    """Return Wilcoxon's signed-rank test of first - second, without NaN and zero differences.

    Args:
        first, second: paired values.
        alternative: `two-sided`, `greater` or `less`.
        exact: use the exact distribution, given the ties; by default up to 50 differences without
            ties. Else the normal distribution is used, with a correction for ties. Without any
            difference, p is 1.
    """
    if alternative not in ALTERNATIVES:
        expected = f"expected one of {', '.join(ALTERNATIVES)}"
        raise InputError(f"alternative {quoted(alternative)}: {expected}")
    gaps = as_floats(first) - as_floats(second)
    gaps = gaps[~np.isnan(gaps) & (gaps != 0)]
    n = len(gaps)
    if not n:
        return Wilcoxon(0.0, 1.0, 0, True)
    ranks = _kernel.average_ranks(np.abs(gaps).reshape(1, -1))[0]
    r_plus = float(ranks[gaps > 0].sum())
    sizes = np.unique(ranks, return_counts=True)[1]
    if exact is None:
        exact = n <= MAX_EXACT_DIFFERENCES and bool((sizes == 1).all())
    if exact:
        upper, lower = _exact_tails(r_plus, ranks)
    else:
        variance = n * (n + 1) * (2 * n + 1) / 24 - float((sizes**3 - sizes).sum()) / 48
        z = (r_plus - n * (n + 1) / 4) / sqrt(variance)
        upper, lower = normal_tail(z), normal_tail(-z)
    p = {"greater": upper, "less": lower, "two-sided": min(1.0, 2 * min(upper, lower))}
    return Wilcoxon(r_plus, p[alternative], n, exact)


def _exact_tails(r_plus: float, ranks: Floats) -> tuple[float, float]:
    """Return P(R >= r) and P(R <= r) if each of the ranks is positive by a fair coin.

    Ties have mid-ranks, so twice a rank is a whole number.
    """
    doubled = (2 * ranks).astype(np.int64).tolist()
    shares = np.zeros(sum(doubled) + 1)
    shares[0] = 1
    for rank in doubled:
        shares[rank:] += shares[:-rank].copy()
        shares /= 2
    r = round(2 * r_plus)
    return float(shares[r:].sum()), float(shares[: r + 1].sum())
