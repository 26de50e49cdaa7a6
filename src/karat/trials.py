"""Limits of resamples and trials: a million is more than any interval needs."""

from __future__ import annotations

from karat.errors import InputError, quoted

MOST_TRIALS = 1_000_000


def check_trials(name: str, value: int, least: int = 0) -> None:
    """Refuse a number of resamples or trials that is too small or too large."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST_TRIALS:
        raise InputError(f"{name}={quoted(value)}: expected {least} to {MOST_TRIALS:,}")
