"""Random orders from seeds, and probabilities of draws."""

from __future__ import annotations

import random

_MASK = (1 << 64) - 1


def mix(seed: int, *numbers: int) -> int:
    """Return a pseudo-random number below 2^53 for a seed and numbers.

    The steps follow splitmix64 (Steele, Lea and Flood 2014).
    """
    state = seed & _MASK
    for number in numbers:
        state = (state + number * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state >> 11


def shuffled_ids(count: int, seed: int, digest: str) -> list[int]:
    """Return the ids of outputs in set order, shuffled so that they do not identify systems.

    Browsers see ids and a seed can be guessed, so the order also depends on the `digest` of the
    set, which cannot be computed without the set.
    """
    ids = list(range(1, count + 1))
    random.Random(f"{seed} {digest}").shuffle(ids)
    return ids


NOT_RANDOM = "not random"
"""Prefix of the reason of items not drawn at random; their stored probability is 1."""


def draw_probability(probability: float, reason: str) -> float | None:
    """Return the probability of a draw, or None if it was not random."""
    return None if reason.startswith(NOT_RANDOM) else probability
