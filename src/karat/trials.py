"""Limits of resamples, trials, seeds and counts: a million is more than any interval needs."""

from __future__ import annotations

from numbers import Integral

from karat.errors import InputError, quoted

MOST_TRIALS = 1_000_000


def check_trials(name: str, value: int, least: int = 0) -> None:
    """Refuse a number of resamples or trials that is too small or too large."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST_TRIALS:
        raise InputError(f"{name}={quoted(value)}: expected {least} to {MOST_TRIALS:,}")


def check_seed(seed: int) -> None:
    """Refuse what is no seed; None would draw other numbers on every run."""
    check_count("seed", seed)


def check_count(name: str, value: int, least: int = 0) -> None:
    """Refuse what is no whole number of `least` or more."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name}={quoted(value)}: expected a whole number, {least} or more")
