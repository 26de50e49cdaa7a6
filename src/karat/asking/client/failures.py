"""Failed attempts to get an answer, by kind."""

from __future__ import annotations

from typing import NamedTuple

UNREACHABLE = "no connection"
TIMEOUT = "time-out"
DROPPED = "dropped connection"
GARBAGE = "no completion"
TOO_LARGE = "too large"
EMPTY = "empty answer"
INVALID = "invalid answer"

UNMETERED = (TIMEOUT, DROPPED, GARBAGE, TOO_LARGE)
"""Kinds of attempts that the server may have charged, and nobody knows how many tokens."""
OF_THE_ANSWER = (EMPTY, INVALID)
"""Kinds that say nothing against the endpoint: it answered."""


class Failure(NamedTuple):
    """An attempt that gave no answer."""

    kind: str
    """One of the kinds above, or `HTTP 500`."""
    detail: str = ""
    """The words of the server or the system, short and without the key."""
    again: bool = True
    """Whether another attempt may help."""
    stop: str = ""
    """The sentence that ends the run, where no other request can succeed either."""
    wait: float | None = None
    """Seconds that the server asked to wait for (Retry-After)."""
    rejected: str | None = None
    """The text of an invalid answer, for diagnosis."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    """Whether the tokens are estimated."""

    def why(self, attempts: int) -> str:
        """Return why a request is missing after so many attempts."""
        times = f" after {attempts} attempts" * (attempts > 1)
        return f"{self.kind}{times}" + f" ({self.detail})" * bool(self.detail)


class Completion(NamedTuple):
    """The text that a language model answered."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    estimated: bool = False
    """Whether the tokens are estimated: the server did not count them."""
    cut: bool = False
    """Whether the answer ended at `max_tokens`."""
