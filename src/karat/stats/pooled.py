"""Statistics of pairs of points within groups, the pairs of all groups in one pool.

A group counts by its pairs, not as one of so many groups: what it adds are its `parts`, and the
statistic is the value of their sums.
"""

from __future__ import annotations

from karat import _kernel
from karat.arrays import Floats, np
from karat.stats.correlation import Pooled, Statistic, clipped, deviations, quotient
from karat.stats.grouped import Pairs, PairsOfGroups


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
    grouped = None if gap else PairsOfGroups(of_pairs)
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
