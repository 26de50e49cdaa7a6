"""Requests to a language model, their replies and failures, limits of a run, and its usage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat.errors import InputError, quoted

CHARACTERS_A_TOKEN = 4
"""Characters that are taken for one token where a server does not count them."""


class Message(NamedTuple):
    """A message of a chat."""

    role: str
    content: str


class Request(NamedTuple):
    """Messages that a language model is asked to answer."""

    id: str
    """The caller's name of the request, unique in a run."""
    messages: tuple[Message, ...]
    schema: str = ""
    """The form of valid answers, such as `name@hash`: another form is another request."""
    replicate: int = 0
    """The number of the answer that is wanted, where one request is asked several times."""


class Reply(NamedTuple):
    """The answer to a request, or why it is missing."""

    id: str
    text: str | None
    """None: the answer is missing."""
    reason: str = ""
    """Why the answer is missing, one clause."""
    cached: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0


def check_requests(requests: Iterable[Request]) -> list[Request]:
    """Return the requests as a list; their ids must differ."""
    listed = list(requests)
    seen_ids: set[str] = set()
    for request in listed:
        if not request.messages:
            raise InputError(f"request {quoted(request.id)}: expected at least one message")
        if request.id in seen_ids:
            raise InputError(f"request {quoted(request.id)} is there twice: give each its own id")
        seen_ids.add(request.id)
    return listed


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has: its characters / 4, rounded up."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def estimated_prompt(request: Request) -> int:
    """Return about how many tokens the messages of a request have."""
    return sum(estimated_tokens(message.content) for message in request.messages)


@dataclass(eq=False)
class RequestJob:
    """A request that has no stored answer."""

    request: Request
    key: str
    """The cache's name of the request."""
    places: list[int] = field(default_factory=list)
    """The places of all requests of the run with this key."""
    tries: int = 0
    """Attempts in this run."""
    rejections: int = 0
    """Invalid answers in all runs."""
    in_flight: bool = False
    """Whether a run was killed while the request was under way."""

    @property
    def prompt_tokens(self) -> int:
        """The estimated tokens of the messages."""
        return estimated_prompt(self.request)


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


class EndpointFailure(NamedTuple):
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

    def reason(self, attempts: int) -> str:
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


MAX_CONCURRENCY = 256
MAX_SECONDS = 86_400
"""Seconds of the longest wait."""


class Prices(NamedTuple):
    """Prices of a million tokens, in any currency."""

    prompt: float
    completion: float


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
        if self.concurrency > MAX_CONCURRENCY:
            raise InputError(f"concurrency={self.concurrency}: expected at most {MAX_CONCURRENCY}")
        for name in ("rate", "budget_money"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name}={quoted(value)}: expected a number, more than 0")
        for name in ("backoff", "longest_wait", "grace"):
            value = getattr(self, name)
            if not 0 <= value <= MAX_SECONDS:
                raise InputError(f"{name}={quoted(value)}: expected seconds, 0 to {MAX_SECONDS:,}")
        if self.prices is None and self.budget_money is not None:
            raise InputError(
                "a budget in money needs prices: give those of a million prompt tokens and of a "
                "million completion tokens"
            )
        for price in self.prices or ():
            if not (math.isfinite(price) and price >= 0):
                raise InputError(f"price {quoted(price)}: expected a number, at least 0")

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return the price of so many tokens, None without prices."""
        if self.prices is None:
            return None
        prices = self.prices
        return (prices.prompt * prompt_tokens + prices.completion * completion_tokens) / 1e6


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


def counted_usage(counts: Mapping[str, int], limits: Limits) -> dict[str, Any]:
    """Return the fields that `Totals` and `Usage` share, from counts by name."""
    names = ("sent", "repeated", "prompt_tokens", "completion_tokens", "estimated_tokens")
    fields: dict[str, Any] = {name: counts.get(name, 0) for name in names}
    kinds = {n.removeprefix(FAILED): count for n, count in counts.items() if n.startswith(FAILED)}
    fields["failures"] = dict(sorted(kinds.items()))
    fields["cost"] = limits.cost(fields["prompt_tokens"], fields["completion_tokens"])
    return fields
