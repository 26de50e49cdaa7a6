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
    found = [0, 0]
    for one, other in combinations(zip(*group, strict=True), 2):
        a = is_right(one[0], other[0], one[1], other[1], first_epsilon)
        b = is_right(one[0], other[0], one[2], other[2], second_epsilon)
        found[0] += a and not b
        found[1] += b and not a
    return found[0], found[1]


def exchanged_pairs(given: list[Group]) -> tuple[float, float]:
    """The difference of accuracies, and the exact share of exchanges of pairs that reach it."""
    kept = [g for g in given if len(g[0]) > 1]
    one, _ = pair_loops.calibrate([(h, a) for h, a, _ in kept])
    other, _ = pair_loops.calibrate([(h, b) for h, _, b in kept])
    whole = lcm(*(comb(len(h), 2) for h, _, _ in kept))
    coins: list[int] = []  # what each is worth, as a part of `whole`
    real = 0
    for group in kept:
        weight = whole // comb(len(group[0]), 2)
        mine, theirs = right_pairs(group, one, other)
        real += (mine - theirs) * weight
        coins += [weight] * (mine + theirs)
    ways = product(*((coin, -coin) for coin in coins))
    reached = sum(sum(way) >= real for way in ways)
    return real / whole / len(kept), reached / 2 ** len(coins)
