"""Statistics of groups of cells after draws and exchanges, every cell and pair one by one."""

from __future__ import annotations

from itertools import combinations, product
from math import comb, lcm

import numpy as np
from oracles import pair_loops

Vector = list[float]
Group = tuple[Vector, Vector, Vector]  # human scores and those of two metrics


def groups(matrices: list[np.ndarray], by: str) -> list[Group]:
    """The scores of the cells that have all three, in groups: all, of each column or each row."""
    human, first, second = matrices
    cells = [
        (s, t)
        for s, t in np.ndindex(*human.shape)
        if not np.isnan(human[s, t] + first[s, t] + second[s, t])
    ]
    keys = {"segment": lambda c: 0, "item": lambda c: c[1], "by-system": lambda c: c[0]}
    total = {"segment": 1, "item": human.shape[1], "by-system": human.shape[0]}[by]
    return [
        tuple([float(x[c]) for c in cells if keys[by](c) == g] for x in matrices)  # type: ignore[misc]
        for g in range(total)
    ]


def is_right(h1: float, h2: float, m1: float, m2: float, epsilon: float) -> bool:
    """A pair in the same order, or tied in both."""
    metric = 0 if abs(m1 - m2) <= epsilon else 1 if m1 > m2 else -1
    return metric == (h1 > h2) - (h1 < h2)


def right_pairs(group: Group, first_epsilon: float, second_epsilon: float) -> tuple[int, int]:
    """Pairs that only the first metric gets right, and only the second."""
    only_right = [0, 0]
    for left, right in combinations(zip(*group, strict=True), 2):
        a = is_right(left[0], right[0], left[1], right[1], first_epsilon)
        b = is_right(left[0], right[0], left[2], right[2], second_epsilon)
        only_right[0] += a and not b
        only_right[1] += b and not a
    return only_right[0], only_right[1]


def exchanged_pairs(all_groups: list[Group]) -> tuple[float, float]:
    """The difference of accuracies, and the exact share of exchanges of pairs that reach it."""
    paired_groups = [g for g in all_groups if len(g[0]) > 1]
    first_epsilon, _ = pair_loops.calibrate([(h, a) for h, a, _ in paired_groups])
    second_epsilon, _ = pair_loops.calibrate([(h, b) for h, _, b in paired_groups])
    common_multiple = lcm(*(comb(len(h), 2) for h, _, _ in paired_groups))
    coins: list[int] = []  # what each is worth, as a part of `common_multiple`
    real = 0
    for group in paired_groups:
        weight = common_multiple // comb(len(group[0]), 2)
        first_only, second_only = right_pairs(group, first_epsilon, second_epsilon)
        real += (first_only - second_only) * weight
        coins += [weight] * (first_only + second_only)
    sign_choices = product(*((coin, -coin) for coin in coins))
    reached = sum(sum(signed_coins) >= real for signed_coins in sign_choices)
    return real / common_multiple / len(paired_groups), reached / 2 ** len(coins)
