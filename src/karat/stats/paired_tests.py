"""PERM-BOTH: the test that metric A is better than metric B (Deutsch, Dror and Roth 2021).

Both metrics are standardised over the cells that humans and both metrics have, since only then
can scores of different scales stand in for each other. In each trial every cell of the
systems x segments matrix is exchanged between the metrics by a fair coin, and

    p = (1 + trials whose difference is at least the real one) / (1 + trials)

for the hypothesis that A agrees better with humans than B. `share` is the same without the ones,
as mt-metrics-eval prints it.

Where no more than 12 cells are compared, all exchanges are gone through instead, and p is the share
of those whose difference is at least the real one. It is exact then, and no seed matters; the cells
as they are count among the exchanges, so that p is never 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import SLACK
from karat.arrays import ArrayLike, Flags, Floats, as_floats, np
from karat.errors import InputError, quoted
from karat.progress import Progress, silent
from karat.settings import SEED
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
_CELLS = 1 << 22  # that are exchanged or not at a time


class Triple(NamedTuple):
    """Human scores and two metrics, systems x segments, on the cells that all have; NaN elsewhere.

    Both metrics have mean 0 and standard deviation 1.
    """

    human: Floats
    first: Floats
    second: Floats

    @property
    def has_scores(self) -> Flags:
        """The cells that all have."""
        return ~np.isnan(self.human)


def perm_both_many(of: Triple, measures: Measures, tried: Exchanges) -> Permutation:
    """Test any agreement.

    `measures(h, a, b, chosen)` is the agreement with h of `a` after the exchange of each mask in
    `chosen`, which says what is taken from `b`.
    """
    shape = of.human.shape

    def differences(chosen: Flags) -> Floats:
        # What `a` does not take from `b`, `b` takes from `a`.
        values = measures(*of, np.concatenate([chosen, ~chosen]))
        return values[: len(chosen)] - values[len(chosen) :]

    delta = float(differences(np.zeros((1, *shape), dtype=bool))[0])
    size = max(1, _CELLS // max(1, of.human.size))
    return tried.test(delta, lambda words: differences(masks(words, shape)), size)


def perm_both_pearson(of: Triple, tried: Exchanges) -> Permutation:
    """Test Pearson's r over all cells, from sums: nothing is exchanged one by one.

    With g = human, standardised, and n cells, r = sum(g m) / sqrt(n sum(m^2) - sum(m)^2), and each
    sum after an exchange is the sum before and the chosen cells' differences.
    """
    g, n = _standard(of.human), int(of.has_scores.sum())
    before, after = (np.nan_to_num(np.stack([m, m * m, g * m], axis=-1)) for m in of[1:])
    first_sums, second_sums = before.sum(axis=(0, 1)), after.sum(axis=(0, 1))

    def differences(words: Words) -> Floats:
        moved = chosen_sums(words, after - before)
        return _r(first_sums + moved, n) - _r(second_sums - moved, n)

    return tried.test(float(_r(first_sums, n) - _r(second_sums, n)), differences)


def _r(sums: Floats, n: int) -> Floats:
    spread = n * sums[..., 1] - sums[..., 0] ** 2
    spread = np.where(spread > SLACK * n * n, spread, np.nan)  # a constant, but for rounding
    return sums[..., 2] / np.sqrt(spread)


def perm_both_system_pearson(of: Triple, tried: Exchanges) -> Permutation:
    """Test Pearson's r of the systems' mean scores."""
    has_cells = of.has_scores.any(axis=1)
    counts = of.has_scores.sum(axis=1)[has_cells]
    human, first_sums, second_sums = (np.nansum(x, axis=1)[has_cells] for x in of)
    means = (human / counts).reshape(1, -1)
    gaps = np.nan_to_num(of.second - of.first)

    def difference(moved: Floats) -> Floats:
        x, y = (first_sums + moved) / counts, (second_sums - moved) / counts
        return pearson_rows(means, x) - pearson_rows(means, y)

    delta = float(difference(np.zeros((1, len(counts))))[0])
    return tried.test(
        delta, lambda words: difference(chosen_system_sums(words, gaps)[:, has_cells])
    )


def paired_permutation(
    first: Floats,
    second: Floats,
    trials: int = 10000,
    seed: int = SEED,
    progress: Progress = silent,
) -> Permutation:
    """Test that the mean of `first` is above that of `second` by exchanging pairs."""
    gaps = (first - second)[~np.isnan(first - second)].reshape(1, -1, 1)
    has_pair = np.ones(gaps.shape[:2], dtype=bool)
    n = max(1, gaps.shape[1])
    total = float(gaps.sum()) if gaps.size else float("nan")
    return Exchanges(has_pair, trials, seed, progress).test(
        total / n, lambda words: (total - 2 * chosen_sums(words, gaps)[:, 0]) / n
    )


def standardised(human: Floats, first: Floats, second: Floats) -> Triple:
    """Return the cells that all three have, the metrics on one scale."""
    if not human.shape == first.shape == second.shape or human.ndim != 2:
        shapes = f"scores have the shapes {human.shape}, {first.shape} and {second.shape}"
        raise InputError(f"{shapes}: expected one shape, systems x segments")
    missing = np.isnan(human) | np.isnan(first) | np.isnan(second)
    h, a, b = (np.where(missing, np.nan, x) for x in (human, first, second))
    return Triple(h, _standard(a), _standard(b))


def _standard(scores: Floats) -> Floats:
    """Mean 0 and standard deviation 1; a constant becomes 0, so that it correlates with nothing."""
    defined_scores = scores[~np.isnan(scores)]
    if not len(defined_scores) or (defined_scores == defined_scores[0]).all():
        return np.where(np.isnan(scores), np.nan, 0.0)
    moved: Floats = scores - defined_scores.mean()
    return moved / float(np.sqrt(np.nanmean(moved**2)))


ALTERNATIVES = ("two-sided", "greater", "less")
MAX_EXACT_DIFFERENCES = 50  # differences; beyond, the normal approximation is good


class Williams(NamedTuple):
    """t with n - 3 degrees of freedom, and p for "the first correlates better"."""

    t: float
    p: float
    n: int


def williams(human: ArrayLike, first: ArrayLike, second: ArrayLike) -> Williams:
    """Return Williams' test of two Pearson correlations with the same human scores.

    Args:
        human: human scores.
        first, second: scores of the two metrics. NaN is left out.
    """
    h, a, b = (as_floats(x).ravel() for x in (human, first, second))
    if not len(h) == len(a) == len(b):
        sizes = f"{len(h)} human scores, {len(a)} and {len(b)} metric scores"
        raise InputError(f"{sizes}: expected as many of each")
    is_complete = ~np.isnan(h + a + b)
    h, a, b = h[is_complete], a[is_complete], b[is_complete]
    return williams_of(pearson(h, a), pearson(h, b), pearson(a, b), len(h))


def williams_of(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Williams' test from correlations: 1 human scores, 2 and 3 metrics (1959; Steiger 1980).

    t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2K (n-1)/(n-3) + ((r12+r13)/2)^2 (1-r23)^3),
    K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23.
    """
    if n < 4 or np.isnan(r12 + r13 + r23):
        return Williams(float("nan"), float("nan"), n)
    if r12 == r13:  # metrics that are equal have no spread either: 0 / 0
        return Williams(0.0, 0.5, n)
    k = max(0.0, 1 - r12 * r12 - r13 * r13 - r23 * r23 + 2 * r12 * r13 * r23)
    mean, apart = (r12 + r13) / 2, 1 - r23
    spread = 2 * k * (n - 1) / (n - 3) + mean * mean * apart * apart * apart
    top = (r12 - r13) * sqrt((n - 1) * (1 + r23))
    if spread <= 0:
        return Williams(float("nan"), float("nan"), n)
    t = top / sqrt(spread)
    return Williams(t, student_tail(t, n - 3), n)


class Wilcoxon(NamedTuple):
    """The sum of ranks of positive differences, its p, and how many differences are not 0."""

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
        exact: use the exact distribution; by default up to 50 differences without ties. Else the
            normal distribution is used, with a correction for ties. Without any difference, p is 1.
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
        upper, lower = _exact_tails(r_plus, n)
    else:
        variance = n * (n + 1) * (2 * n + 1) / 24 - float((sizes**3 - sizes).sum()) / 48
        z = (r_plus - n * (n + 1) / 4) / sqrt(variance)
        upper, lower = normal_tail(z), normal_tail(-z)
    p = {"greater": upper, "less": lower, "two-sided": min(1.0, 2 * min(upper, lower))}
    return Wilcoxon(r_plus, p[alternative], n, exact)


def _exact_tails(r_plus: float, n: int) -> tuple[float, float]:
    """P(R >= r) and P(R <= r) if each of the ranks 1 … n is positive by a fair coin."""
    shares = np.ones(1)
    for rank in range(1, n + 1):
        shares = (np.pad(shares, (0, rank)) + np.pad(shares, (rank, 0))) / 2
    r = round(r_plus)
    return float(shares[r:].sum()), float(shares[: r + 1].sum())
