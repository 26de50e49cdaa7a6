"""Statistics of pairs in one resample, pair by pair: no point makes a pair with its own copy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import isnan, nan, sqrt

Point = tuple[int, float, float]  # which point it is, its human and its metric score
Pair = tuple[float, float]  # the differences of human and of metric scores

Matrix = Sequence[Sequence[float]]


def groups(human: Matrix, metric: Matrix, at: str, draw: tuple[list[int], list[int]]):
    """The drawn points of each group that have both scores; systems' points are means."""
    systems, segments = draw
    cells = {
        (s, t): (human[s][t], metric[s][t])
        for s in set(systems)
        for t in set(segments)
        if not isnan(human[s][t] + metric[s][t])
    }
    if at == "system":
        system_cells = [(s, [cells[s, t] for t in segments if (s, t) in cells]) for s in systems]
        return [
            [
                (s, *(sum(x) / len(of) for x in zip(*of, strict=True)))
                for s, of in system_cells
                if of
            ]
        ]
    width = len(human[0])
    name = {(s, t): s * width + t for s, t in cells}
    drawn_cells = [[(s, t) for t in segments if (s, t) in cells] for s in systems]
    if at == "item":
        drawn_cells = [[(s, t) for s in systems if (s, t) in cells] for t in segments]
    if at == "segment":
        drawn_cells = [[cell for row in drawn_cells for cell in row]]
    return [[(name[cell], *cells[cell]) for cell in group] for group in drawn_cells]


def pairs_of(group: list[Point]) -> list[Pair]:
    """The differences of every two points that are not copies of one another."""
    return [
        (h1 - h2, m1 - m2)
        for (first_point, h1, m1), (second_point, h2, m2) in combinations(group, 2)
        if first_point != second_point
    ]


def _sign(x: float, epsilon: float = 0.0) -> int:
    return (x > epsilon) - (x < -epsilon)


def accuracy(group: list[Point], epsilon: float = 0.0) -> float:
    """The share of pairs with equal signs of difference."""
    pairs = pairs_of(group)
    right = sum(_sign(h) == _sign(m, epsilon) for h, m in pairs)
    return right / len(pairs) if pairs else nan


def tau_23(group: list[Point]) -> float:
    """Right pairs minus wrong ones."""
    return 2 * accuracy(group) - 1


def tau_b(group: list[Point]) -> float:
    """Concordant minus discordant pairs by the pairs that are not tied."""
    signs = [(_sign(h), _sign(m)) for h, m in pairs_of(group)]
    apart = [sum(pair[k] != 0 for pair in signs) for k in range(2)]
    return sum(h * m for h, m in signs) / sqrt(apart[0] * apart[1]) if all(apart) else nan


def tau_c(group: list[Point]) -> float:
    """2 (C - D) / (n^2 (k - 1) / k), where n^2 is 2 P n / (n - 1) for P pairs of n points."""
    pairs = pairs_of(group)
    n = len({point for point, _, _ in group})
    k = min(len({point[1] for point in group}), len({point[2] for point in group}))
    if k < 2:
        return nan
    squared = 2 * len(pairs) * n / (n - 1)
    tau = 2 * sum(_sign(h) * _sign(m) for h, m in pairs) / (squared * (k - 1) / k)
    return max(-1.0, min(1.0, tau))


def calibrated(all_groups: list[list[Point]]) -> float:
    """The best mean accuracy that any tie threshold gives."""
    with_pairs = [group for group in all_groups if pairs_of(group)]
    if not with_pairs:
        return nan
    gaps = {abs(m) for group in with_pairs for _, m in pairs_of(group)}
    return max(
        sum(accuracy(group, epsilon) for group in with_pairs) / len(with_pairs)
        for epsilon in {0.0, *gaps}
    )


def kendall_like(all_groups: list[list[Point]], gap: float) -> float:
    """Right minus wrong pairs, of those whose human scores are apart, in all groups."""
    pairs = [pair for group in all_groups for pair in pairs_of(group)]
    apart = [(h, m) for h, m in pairs if h and abs(h) >= gap]
    right = sum(1 if h * m > 0 else -1 for h, m in apart)
    return right / len(apart) if apart else nan


def pairwise_difference_pearson(all_groups: list[list[Point]]) -> float:
    """Pearson's r of the differences in both orders."""
    pairs = [pair for group in all_groups for pair in pairs_of(group)]
    squares = [sum(pair[k] ** 2 for pair in pairs) for k in range(2)]
    return sum(h * m for h, m in pairs) / sqrt(squares[0] * squares[1]) if all(squares) else nan


def value(statistic: str, all_groups: list[list[Point]]) -> float:
    """A statistic of pairs over groups."""
    pooled = {
        "acc-eq": calibrated,
        "kendall-like": lambda of: kendall_like(of, 0.0),
        "darr": lambda of: kendall_like(of, 25.0),
        "pdp": pairwise_difference_pearson,
    }
    if statistic in pooled:
        return pooled[statistic](all_groups)
    of_group = {"accuracy": accuracy, "tau-23": tau_23, "tau-b": tau_b, "tau-c": tau_c}[statistic]
    defined = [x for x in map(of_group, all_groups) if not isnan(x)]
    return sum(defined) / len(defined) if defined else nan


OF_PAIRS = ("accuracy", "acc-eq", "tau-23", "tau-b", "tau-c", "kendall-like", "darr", "pdp")
