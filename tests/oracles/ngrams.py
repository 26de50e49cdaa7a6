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
    candidate_grams, reference_grams = grams(candidate, n), grams(reference, n)
    return sum(min(count, reference_grams[gram]) for gram, count in candidate_grams.items())


def clipped(candidate: Sequence[Hashable], references: Sequence[Sequence[Hashable]], n: int) -> int:
    """Each n-gram counts min(count in candidate, largest count in any reference) times."""
    grams_by_reference = [grams(reference, n) for reference in references]
    return sum(
        min(count, max(reference_grams[gram] for reference_grams in grams_by_reference))
        for gram, count in grams(candidate, n).items()
    )


def closest_length(length: int, reference_lengths: Sequence[int]) -> int:
    """The closest of other lengths; of two equally close ones the shorter."""
    return min(
        reference_lengths,
        key=lambda reference_length: (abs(reference_length - length), reference_length),
    )
