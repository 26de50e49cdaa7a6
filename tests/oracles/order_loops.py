"""Orders of treelets by looking at all of them, and the loss of a tree from its definition."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

Order = tuple[int, ...]


def daughters(heads: Sequence[int], node: int) -> list[int]:
    """The daughters of a node, in the order of their numbers."""
    return [i for i, head in enumerate(heads) if head == node]


def projective_orders(heads: Sequence[int], node: int = 0) -> Iterator[Order]:
    """All orders of a subtree that keep every subtree of it together."""
    for items in permutations([node, *daughters(heads, node)]):
        parts = [[(node,)] if i == node else list(projective_orders(heads, i)) for i in items]
        for chosen in product(*parts):
            yield tuple(i for part in chosen for i in part)


def treelet_orders(heads: Sequence[int], places: Sequence[int], node: int) -> Iterator[list[int]]:
    """The places of all nodes when one treelet is ordered in every way, all others as they are."""
    for items in permutations([node, *daughters(heads, node)]):
        rank = {i: k for k, i in enumerate(items)}
        order = _spelled(heads, places, 0, node, rank)
        new_places = [0] * len(heads)
        for place, i in enumerate(order):
            new_places[i] = place
        yield new_places


def _spelled(
    heads: Sequence[int], places: Sequence[int], at: int, node: int, rank: dict[int, int]
) -> list[int]:
    items = [at, *daughters(heads, at)]
    items.sort(key=lambda i: rank[i] if at == node else places[i])
    return [j for i in items for j in ([i] if i == at else _spelled(heads, places, i, node, rank))]


def loss(
    heads: Sequence[int],
    places: Sequence[int],
    score: Callable[[Sequence[int], int], float],
) -> float:
    """-log P of a tree's order: of each treelet against all its orders, the others being given."""
    total = 0.0
    for node in range(len(heads)):
        if daughters(heads, node):
            scores = [score(p, node) for p in treelet_orders(heads, places, node)]
            total += math.log(sum(map(math.exp, scores))) - score(places, node)
    return total


def expected_minus_gold(
    heads: Sequence[int],
    places: Sequence[int],
    weights: NDArray[np.float64],
    features: Callable[[Sequence[int], int], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """The slopes of `loss`: the features expected of each treelet less those of its order."""
    total = np.zeros_like(weights)
    for node in range(len(heads)):
        if daughters(heads, node):
            rows = np.array([features(p, node) for p in treelet_orders(heads, places, node)])
            chances = np.exp(rows @ weights)
            total += chances @ rows / chances.sum() - features(places, node)
    return total
