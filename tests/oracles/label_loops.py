"""Labels by the most obvious means: what a labeller must be better than."""

from __future__ import annotations

from collections import Counter


def accuracy(found: list[str], right: list[str]) -> float:
    """The share of labels that are right."""
    return sum(a == b for a, b in zip(found, right, strict=True)) / len(right)


def most_frequent(words: list[str], labels: list[str]) -> list[str]:
    """Every word with its most frequent label: what a labeller must be better than."""
    counts = Counter(zip(words, labels, strict=True))
    best = {word: label for (word, label), _ in sorted(counts.items(), key=lambda item: item[1])}
    return [best[word] for word in words]
