"""Classical paired tests: Williams' of two correlations, Wilcoxon's of two samples."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from karat import _kernel
from karat.arrays import ArrayLike, NDArray, as_floats, np
from karat.errors import InputError, quoted
from karat.stats.correlation import pearson
from karat.stats.distributions import normal_tail, student_tail

ALTERNATIVES = ("two-sided", "greater", "less")
MOST_EXACT = 50  # differences; beyond, the normal approximation is good


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
    known = ~np.isnan(h + a + b)
    h, a, b = h[known], a[known], b[known]
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
        exact = n <= MOST_EXACT and bool((sizes == 1).all())
    upper, lower = _exact_tails(r_plus, n) if exact else _normal_tails(r_plus, n, sizes)
    p = {"greater": upper, "less": lower, "two-sided": min(1.0, 2 * min(upper, lower))}
    return Wilcoxon(r_plus, p[alternative], n, exact)


def _exact_tails(r_plus: float, n: int) -> tuple[float, float]:
    """P(R >= r) and P(R <= r) if each of the ranks 1 … n is positive by a fair coin."""
    shares = np.ones(1)
    for rank in range(1, n + 1):
        longer = np.zeros(len(shares) + rank)
        longer[: len(shares)] += shares / 2
        longer[rank:] += shares / 2
        shares = longer
    r = round(r_plus)
    return float(shares[r:].sum()), float(shares[: r + 1].sum())


def _normal_tails(r_plus: float, n: int, ties: NDArray[np.intp]) -> tuple[float, float]:
    mean = n * (n + 1) / 4
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48
    z = (r_plus - mean) / sqrt(variance)
    return normal_tail(z), normal_tail(-z)
