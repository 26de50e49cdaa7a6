"""Classes of features, and scales that let the treebank's orders win, from their definitions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oracles.order_features import Feature, Tree, treelet_features

MASK = (1 << 64) - 1
FAMILY, FREQUENCIES = 64, 6


def features(tree: Tree) -> Iterator[Feature]:
    """All features of a tree's order."""
    for node in range(len(tree.heads)):
        if tree.daughters(node):
            for group in treelet_features(tree, node).values():
                yield from group


def frequency(times: int) -> int:
    """Never, once, 2-3, 4-10, 11-50 times, more often."""
    return sum(times > most for most in (0, 1, 3, 10, 50))


def template(feature: Feature) -> int:
    """The number of a template among all of all families."""
    return (feature.number >> 16) * FAMILY + (feature.number & (FAMILY - 1))


class Sentence(NamedTuple):
    """The scores of its orders, for each what the scales multiply, and which is right."""

    scores: Sequence[float]
    parts: Sequence[dict[int, float]]
    right: int


def chances(sentence: Sentence, scales: Sequence[float]) -> list[float]:
    """P of every order."""
    scores = [
        score + sum(scales[i] * x for i, x in part.items())
        for score, part in zip(sentence.scores, sentence.parts, strict=True)
    ]
    top = max(scores)
    p = [math.exp(score - top) for score in scores]
    return [x / sum(p) for x in p]


def loss(sentences: Sequence[Sentence], scales: Sequence[float]) -> float:
    """-log P of the right orders."""
    return -sum(math.log(chances(s, scales)[s.right]) for s in sentences)


def random_numbers(state: int) -> Iterator[int]:
    """SplitMix64."""
    while True:
        state = state + 0x9E3779B97F4A7C15 & MASK
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31


def fitted(
    sentences: Sequence[Sentence],
    size: int,
    epochs: int,
    rate: float,
    damping: float,
    decay: float,
    seed: int,
) -> list[float]:
    """The mean of the scales after each epoch but the first."""
    scales, squares, sums = [0.0] * size, [0.0] * size, [0.0] * size
    turn, dice = list(range(len(sentences))), random_numbers(seed)
    for epoch in range(epochs):
        for i in range(len(turn), 1, -1):
            j = next(dice) % i
            turn[i - 1], turn[j] = turn[j], turn[i - 1]
        for t in turn:
            slopes: dict[int, float] = {}
            for k, p in enumerate(chances(sentences[t], scales)):
                for i, x in sentences[t].parts[k].items():
                    slopes[i] = slopes.get(i, 0.0) + (p - (k == sentences[t].right)) * x
            for i, slope in slopes.items():
                total = slope + decay * scales[i]
                squares[i] += total * total
                scales[i] -= rate * total / math.sqrt(squares[i] + damping)
        if epoch:
            sums = [a + b for a, b in zip(sums, scales, strict=True)]
    return [x / (epochs - 1) for x in sums] if epochs > 1 else scales
