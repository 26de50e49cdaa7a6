"""Shares of comparisons won by plain loops over judged pairs, all segments equally likely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

Shares = Mapping[tuple[str, str, str], float]
"""Segment, system and other system -> the first system's share; each pair stands in both orders."""


def both_orders(pairs: Sequence[tuple[str, str, str, float]]) -> dict[tuple[str, str, str], float]:
    """Return segment, system, other and share in both orders."""
    shares = {}
    for segment, system, other, share in pairs:
        shares[segment, system, other] = share
        shares[segment, other, system] = 1 - share
    return shares


def score_and_error(
    shares: Shares, coefficients: Mapping[str, float], systems: Sequence[str]
) -> tuple[float, float]:
    """Return the value of a sum of systems' scores, and its standard error for new segments.

    `coefficients` has the factor of each system: {a: 1} for its score, {a: 1, b: -1} for the
    difference of two. The mean of each ordered pair of systems is a ratio over segments; deviations
    are added up within segments.
    """
    value, by_segment = 0.0, {}
    touched = {s for s, a, _ in shares if a in coefficients}
    for a, factor in coefficients.items():
        system_segments = {s for s, system, _ in shares if system == a}
        for b in systems:
            pair_shares = {s: share for (s, x, y), share in shares.items() if (x, y) == (a, b)}
            if a == b:
                continue
            mean = sum(pair_shares.values()) / len(pair_shares)
            value += factor * mean / (len(systems) - 1)
            small = sqrt((1 - 1 / len(system_segments)) / (1 - 1 / len(pair_shares)))
            for s, share in pair_shares.items():
                part = factor * small * (share - mean) / len(pair_shares) / (len(systems) - 1)
                by_segment[s] = by_segment.get(s, 0.0) + part
    n = len(touched)
    return value, sqrt(sum(z * z for z in by_segment.values()) * n / (n - 1))
