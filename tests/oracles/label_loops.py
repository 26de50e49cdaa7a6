"""Labels by the most obvious means, and a labeller's training in loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray


def accuracy(predictions: list[str], right: list[str]) -> float:
    """The share of labels that are right."""
    return sum(a == b for a, b in zip(predictions, right, strict=True)) / len(right)


def most_frequent(words: list[str], labels: list[str]) -> list[str]:
    """Every word with its most frequent label: what a labeller must be better than."""
    counts = Counter(zip(words, labels, strict=True))
    best = {word: label for (word, label), _ in sorted(counts.items(), key=lambda item: item[1])}
    return [best[word] for word in words]


def trained(
    rows: list[list[int]],
    gold: list[list[int]],
    sizes: list[int],
    height: int,
    rate: float,
    damping: float,
) -> list[NDArray[np.float64]]:
    """The table of each kind after one walk over all nodes, nothing dropped: AdaGrad by rows."""
    tables = []
    for kind, labels in enumerate(sizes):
        table, squares = np.zeros((height, labels)), np.zeros(height)
        for node_rows, right in zip(rows, gold, strict=True):
            slope = chances(table, node_rows) - np.eye(labels)[right[kind]]
            square = float(slope @ slope)
            if square < 1e-6:
                continue
            for r in node_rows:
                squares[r] += square
                table[r] -= rate / np.sqrt(squares[r] + damping) * slope
        tables.append(table)
    return tables


def chances(table: NDArray[np.float64], rows: list[int]) -> NDArray[np.float64]:
    """P(label | node)."""
    scores = sum((table[r] for r in rows), np.zeros(table.shape[1]))
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def best_two(p: NDArray[np.float64], sure: float) -> list[int]:
    """The most probable label, and the second, or -1 where the first is sure."""
    ranked = sorted(range(len(p)), key=lambda k: -p[k])
    return [ranked[0], -1 if p[ranked[0]] >= sure or len(p) < 2 else ranked[1]]
