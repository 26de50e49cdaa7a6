"""Rank statistics by looking at every pair, one after the other, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from math import sqrt

Vector = Sequence[float]


def pair_counts(human: Vector, metric: Vector, epsilon: float = 0.0) -> list[int]:
    """Concordant, discordant, tied in human only, in metric only, in both; distinct values."""
    counts = [0, 0, 0, 0, 0]
    points = list(zip(human, metric, strict=True))
    for (h1, m1), (h2, m2) in combinations(points, 2):
        if h1 == h2:
            counts[4 if abs(m1 - m2) <= epsilon else 2] += 1
        elif abs(m1 - m2) <= epsilon:
            counts[3] += 1
        else:
            counts[0 if (h1 > h2) == (m1 > m2) else 1] += 1
    return [*counts, len(set(human)), len(set(metric))]


def drawn_pair_counts(human: Vector, metric: Vector, times: Sequence[int]) -> list[int]:
    """The same where points are drawn several times; none makes a pair with its own copy."""
    counts = [0, 0, 0, 0, 0]
    drawn_points = [i for i, number in enumerate(times) if number]
    for i, j in combinations(drawn_points, 2):
        pair = pair_counts((human[i], human[j]), (metric[i], metric[j]))[:5]
        counts = [total + times[i] * times[j] * n for total, n in zip(counts, pair, strict=True)]
    return [*counts, len({human[i] for i in drawn_points}), len({metric[i] for i in drawn_points})]


def tau_b(human: Vector, metric: Vector) -> float:
    """(C - D) / sqrt((all - tied in human)(all - tied in metric))."""
    con, dis, h, m, both, *_ = pair_counts(human, metric)
    pairs = con + dis + h + m + both
    bottom = sqrt((pairs - h - both) * (pairs - m - both))
    return (con - dis) / bottom if bottom else float("nan")


def tau_c(human: Vector, metric: Vector) -> float:
    """2 k (C - D) / (n^2 (k - 1))."""
    con, dis, _, _, _, h_values, m_values = pair_counts(human, metric)
    k = min(h_values, m_values)
    return 2 * k * (con - dis) / (len(human) ** 2 * (k - 1)) if k > 1 else float("nan")


def tau_23(human: Vector, metric: Vector) -> float:
    """Pairs that are right minus pairs that are wrong, by all pairs; a tie is right if both tie."""
    signs = [
        (_sign(h1 - h2), _sign(m1 - m2))
        for (h1, m1), (h2, m2) in combinations(zip(human, metric, strict=True), 2)
    ]
    right = sum(1 if h == m else -1 for h, m in signs)
    return right / len(signs) if signs else float("nan")


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


Groups = Iterable[tuple[Vector, Vector]]


def kendall_like(groups: Groups, gap: float = 0.0) -> float:
    """WMT's: of the pairs of all groups that humans tell apart, right minus wrong by all."""
    right = wrong = 0
    for human, metric in groups:
        for (h1, m1), (h2, m2) in combinations(zip(human, metric, strict=True), 2):
            if h1 == h2 or abs(h1 - h2) < gap:
                continue
            if (h1 > h2 and m1 > m2) or (h1 < h2 and m1 < m2):
                right += 1
            else:
                wrong += 1
    return (right - wrong) / (right + wrong) if right + wrong else float("nan")


def pairwise_difference_pearson(groups: Groups) -> float:
    """Pearson's r of h[i] - h[j] and m[i] - m[j] over all ordered pairs of all groups."""
    human: list[float] = []
    metric: list[float] = []
    for h, m in groups:
        for i, j in permutations(range(len(h)), 2):
            human.append(h[i] - h[j])
            metric.append(m[i] - m[j])
    return pearson(human, metric)


def average_ranks(x: Vector) -> list[float]:
    """One more than the number below, and half the number of others that are equal."""
    return [sum(b < a for b in x) + (sum(b == a for b in x) + 1) / 2 for a in x]


def accuracy(human: Vector, metric: Vector, epsilon: float) -> float:
    """The share of pairs that are right at a threshold."""
    con, dis, h, m, both, *_ = pair_counts(human, metric, epsilon)
    return (con + both) / (con + dis + h + m + both)


def calibrate(groups: Iterable[tuple[Vector, Vector]]) -> tuple[float, float]:
    """The smallest best threshold of all differences there are, and its mean accuracy."""
    paired_groups = [(h, m) for h, m in groups if len(h) > 1]
    gaps = {abs(a - b) for _, m in paired_groups for a, b in combinations(m, 2)}
    tried = [
        (sum(accuracy(h, m, epsilon) for h, m in paired_groups) / len(paired_groups), epsilon)
        for epsilon in sorted({0.0, *gaps})
    ]
    best = max(value for value, _ in tried)
    return next(epsilon for value, epsilon in tried if value >= best - 1e-12), best


def repeated(values: Vector, times: Iterable[int]) -> list[float]:
    """Every value as often as it is there."""
    return [value for value, number in zip(values, times, strict=True) for _ in range(number)]


def pearson(x: Vector, y: Vector) -> float:
    """sum (x - mean x)(y - mean y) / sqrt(sum (x - mean x)^2 sum (y - mean y)^2)."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return float("nan")
    dx, dy = ([v - sum(z) / len(z) for v in z] for z in (x, y))
    products = sum(a * b for a, b in zip(dx, dy, strict=True))
    return products / sqrt(sum(a * a for a in dx) * sum(b * b for b in dy))
