"""Limits of a run: how many requests at once and a minute, how many attempts, how much in all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from karat.errors import InputError, quoted

MOST_AT_ONCE = 256
LONGEST = 86_400
"""Seconds of the longest wait."""


class Prices(NamedTuple):
    """Prices of a million tokens, in any currency."""

    prompt: float
    completion: float

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the price of so many tokens."""
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1e6


@dataclass(frozen=True)
class Limits:
    """Limits of a run.

    Parameters
    ----------
    concurrency : int
        Requests that are under way at the same time.
    rate : float
        Requests a minute, retries included; None: no limit.
    attempts : int
        Attempts for a request, invalid answers included.
    budget_requests, budget_tokens, budget_money : int, int, float
        Limits of this run: requests that are sent, retries included; tokens; money by `prices`.
    prices : Prices
        Prices of a million prompt tokens and of a million completion tokens.
    backoff : float
        Seconds before the second attempt; twice as many before each one after it.
    longest_wait : float
        The longest wait in seconds, also where the server asks for a longer one.
    grace : float
        Seconds that answers under way may still take when a run is stopped.
    seed : int
        Seed of the jitter of waits.
    """

    concurrency: int = 4
    rate: float | None = None
    attempts: int = 5
    budget_requests: int | None = None
    budget_tokens: int | None = None
    budget_money: float | None = None
    prices: Prices | None = None
    backoff: float = 1.0
    longest_wait: float = 60.0
    grace: float = 2.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts", "budget_requests", "budget_tokens"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise InputError(f"{name}={quoted(value)}: expected a whole number, at least 1")
        if self.concurrency > MOST_AT_ONCE:
            raise InputError(f"concurrency={self.concurrency}: expected at most {MOST_AT_ONCE}")
        for name in ("rate", "budget_money"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name}={quoted(value)}: expected a number, more than 0")
        self._check_waits()
        self._check_prices()

    def _check_waits(self) -> None:
        for name in ("backoff", "longest_wait", "grace"):
            value = getattr(self, name)
            if not 0 <= value <= LONGEST:
                raise InputError(f"{name}={quoted(value)}: expected seconds, 0 to {LONGEST:,}")

    def _check_prices(self) -> None:
        if self.prices is None and self.budget_money is not None:
            raise InputError(
                "a budget in money needs prices: give those of a million prompt tokens and of a "
                "million completion tokens"
            )
        if self.prices is not None:
            for value in self.prices:
                if not (math.isfinite(value) and value >= 0):
                    raise InputError(f"price {quoted(value)}: expected a number, at least 0")

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return the price of so many tokens, None without prices."""
        return None if self.prices is None else self.prices.cost(prompt_tokens, completion_tokens)
