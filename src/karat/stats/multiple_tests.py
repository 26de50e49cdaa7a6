"""Many tests at once: corrected p-values, and clusters of what cannot be told apart."""

from __future__ import annotations

from collections.abc import Callable

from karat.arrays import ArrayLike, Floats, np
from karat.errors import InputError
from karat.stats.significance import SIGNIFICANCE_LEVEL, separates_ranks


def holm(p_values: ArrayLike) -> Floats:
    """Holm's correction (1979): the chance of any false finding stays below the level.

    The k-th smallest of m becomes the largest of (m - j + 1) p_j over j <= k, at most 1.
    """
    return _corrected(p_values, lambda p, m: np.maximum.accumulate(p * (m - np.arange(m))))


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Benjamini and Hochberg's correction (1995): of the findings, few are false.

    The k-th smallest of m becomes the smallest of m p_j / j over j >= k.
    """

    def smallest(p: Floats, m: int) -> Floats:
        scaled = p * m / np.arange(1, m + 1)
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _corrected(p_values, smallest)


def _corrected(p_values: ArrayLike, rising: Callable[[Floats, int], Floats]) -> Floats:
    """Correct the p-values in rising order; a NaN stays one and does not count."""
    p = np.asarray(p_values, float)
    flat, corrected = p.ravel(), np.full(p.size, np.nan)
    order = np.argsort(flat, kind="stable")[: int((~np.isnan(flat)).sum())]
    corrected[order] = np.minimum(rising(flat[order], len(order)), 1)
    return corrected.reshape(p.shape)


CORRECTIONS: dict[str, Callable[[ArrayLike], Floats]] = {
    "none": lambda p_values: np.array(p_values, float),
    "holm": holm,
    "bh": benjamini_hochberg,
}


def single_level(correction: str, corrected: ArrayLike, level: float) -> float:
    """Return the level for single tests that decides as a correction does.

    A p-value is below it exactly where the corrected one is below `level`, so the intervals at this
    level agree with corrected p-values. With m tests, r of them decided, that is level / (m - r)
    for Holm, the level at which its steps end, and level r / m for Benjamini and Hochberg, whose
    intervals are those of Benjamini and Yekutieli (2005). A NaN does not count.
    """
    p = np.asarray(corrected, float)
    tests, n_decided = int((~np.isnan(p)).sum()), int((p < level).sum())
    if correction == "holm":
        return level / max(tests - n_decided, 1)
    if correction == "bh":
        return level * max(n_decided, 1) / max(tests, 1)
    return level


def clusters(p_values: ArrayLike, level: float = SIGNIFICANCE_LEVEL) -> list[int]:
    """Ranks of metrics that are sorted by falling score, as the WMT metrics tasks give them.

    p_values[i, j], i < j, is that of "metric i is better than metric j". The first metric has rank
    1. Going down, a metric starts the next rank if any metric of the present rank is better than it
    at p <= level, so metrics of one rank are not told apart. A NaN tells nothing apart.
    """
    p = np.asarray(p_values, float)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise InputError(f"p-values have the shape {p.shape}: expected a square")
    ranks: list[int] = []
    start = 0
    for j in range(len(p)):
        if separates_ranks(p[start:j, j], level).any():
            start = j
        ranks.append(ranks[-1] + (start == j) if ranks else 1)
    return ranks


def simultaneous_intervals(draws: Floats, level: float = 0.95) -> list[tuple[float, float]]:
    """Return an interval for each row of `draws`, measures x resamples made on the same draws.

    Every interval is cut at the same rank k: [x_(k), x_(N-1-k)] of the sorted values of its row.
    k is the largest for which at least `level` of the resamples lie within all intervals (Besag,
    Green, Higdon and Mengersen 1995, section 6.3). Measures that move together are hardly
    corrected; of one measure this is the percentile interval.
    """
    ordered, total = np.sort(draws, axis=1), draws.shape[1]
    depths = np.full(total, int(total * (1 - level) / 2 + 1e-9))
    for sorted_values, values in zip(ordered, draws, strict=True):
        least = np.searchsorted(sorted_values, values, side="right") - 1
        most = total - 1 - np.searchsorted(sorted_values, values, side="left")
        depths = np.minimum(depths, np.minimum(least, most))
    cut = int(np.sort(depths)[int(total * (1 - level) + 1e-9)])
    return [
        (float(sorted_values[cut]), float(sorted_values[total - 1 - cut]))
        for sorted_values in ordered
    ]
