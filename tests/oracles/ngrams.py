"""N-grams as Counters of tuples: the definition, nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def grams(tokens: Sequence[Hashable], n: int) -> Counter[tuple[Hashable, ...]]:
    """S(X, n): the multiset of n-grams of X."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def total(tokens: Sequence[Hashable], n: int) -> int:
    """The number of n-grams of X."""
    return sum(grams(tokens, n).values())


def matches(candidate: Sequence[Hashable], reference: Sequence[Hashable], n: int) -> int:
    """Each n-gram counts min(count in candidate, count in reference) times."""
    mine, theirs = grams(candidate, n), grams(reference, n)
    return sum(min(count, theirs[gram]) for gram, count in mine.items())


def clipped(candidate: Sequence[Hashable], references: Sequence[Sequence[Hashable]], n: int) -> int:
    """Each n-gram counts min(count in candidate, largest count in any reference) times."""
    all_theirs = [grams(reference, n) for reference in references]
    return sum(
        min(count, max(theirs[gram] for theirs in all_theirs))
        for gram, count in grams(candidate, n).items()
    )


def closest_length(length: int, others: Sequence[int]) -> int:
    """The closest of other lengths; of two equally close ones the shorter."""
    return min(others, key=lambda other: (abs(other - length), other))
