"""Probabilities of draws: none for an item that was chosen otherwise than at random."""

from __future__ import annotations

NOT_RANDOM = "not random"
"""Begins the reason of items that were chosen otherwise; the store has 1 as their probability."""


def drawn_with(probability: float, reason: str) -> float | None:
    """Return the probability of a draw; None for an item that was not drawn at random."""
    return None if reason.startswith(NOT_RANDOM) else probability
