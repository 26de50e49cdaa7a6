"""Usage: what a run, or all runs with a cache, asked for and got, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from karat.asking.client.failures import UNMETERED
from karat.asking.limits import Limits

FAILED = "failed: "
"""Before the kind of a failure, in the names of counts."""


class Totals(NamedTuple):
    """Counts of all runs with a cache, killed ones included, for one endpoint and model."""

    sent: int
    """Requests that were sent, retries included."""
    answered: int
    failures: Mapping[str, int]
    """Failed attempts by kind."""
    repeated: int
    """Requests that were under way at a kill and sent again."""
    prompt_tokens: int
    completion_tokens: int
    """Tokens of all answers, invalid ones included."""
    estimated_tokens: int
    """Tokens among them that the server did not count: characters / 4."""
    cost: float | None
    """The price of these tokens, None without prices."""


class Usage(NamedTuple):
    """Requests, answers, tokens and costs of a run."""

    requests: int
    cached: int
    """Requests that were not sent: their answers were stored, or asked for by another request."""
    missing: int
    """Requests without an answer."""
    sent: int
    """Requests that were sent, retries included."""
    retried: int
    """Attempts after the first."""
    failures: Mapping[str, int]
    """Failed attempts by kind."""
    repeated: int
    """Requests that were under way at a kill and sent again."""
    prompt_tokens: int
    completion_tokens: int
    """Tokens of all answers of this run, invalid ones included."""
    estimated_tokens: int
    """Tokens among them that the server did not count: characters / 4."""
    cost: float | None
    """The price of these tokens, None without prices."""
    seconds: float
    totals: Totals
    """All runs with this cache, endpoint and model."""
    notes: tuple[str, ...] = ()
    """Sentences for the user."""

    @property
    def unmetered(self) -> int:
        """Requests that the server may have charged without saying how many tokens."""
        return self.repeated + sum(self.failures.get(kind, 0) for kind in UNMETERED)


def as_totals(counts: Mapping[str, int], limits: Limits) -> Totals:
    """Return counts by name as totals."""
    found = Counter(counts)
    return Totals(
        found["sent"],
        found["answered"],
        failures_of(counts),
        found["repeated"],
        found["prompt_tokens"],
        found["completion_tokens"],
        found["estimated_tokens"],
        limits.cost(found["prompt_tokens"], found["completion_tokens"]),
    )


def failures_of(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of failures by kind."""
    kinds = {n.removeprefix(FAILED): count for n, count in counts.items() if n.startswith(FAILED)}
    return dict(sorted(kinds.items()))
