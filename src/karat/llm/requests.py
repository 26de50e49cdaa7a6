"""Requests to a language model, their replies and failures, limits of a run, and its usage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat.errors import InputError, quoted

CHARACTERS_A_TOKEN = 4
"""Estimate for servers that do not count tokens."""


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
    """Form of valid answers, such as `name@hash`; another form makes another request."""
    replicate: int = 0
    """Number of the repetition if a request is sent several times."""


class Reply(NamedTuple):
    """The answer to a request, or the reason why it is missing."""

    id: str
    text: str | None
    """None if the answer is missing."""
    reason: str = ""
    """Reason why the answer is missing, as one clause."""
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
    """Return an estimate of the tokens of a text: characters / 4, rounded up."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def estimated_prompt(request: Request) -> int:
    """Return an estimate of the tokens of the messages of a request."""
    return sum(estimated_tokens(message.content) for message in request.messages)


@dataclass(eq=False)
class RequestJob:
    """A request that has no stored answer."""

    request: Request
    key: str
    """Key of the request in the cache."""
    places: list[int] = field(default_factory=list)
    """Positions of all requests of the run with this key."""
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

ANSWER_FAILURES = (EMPTY, INVALID)
"""Failures of the answer, not of the endpoint."""


class EndpointFailure(NamedTuple):
    """An attempt without a valid answer."""

    kind: str
    """One of the kinds above, or `HTTP 500`."""
    detail: str = ""
    """Short message of the server or the system, without the key."""
    may_retry: bool = True
    """Whether another attempt may help."""
    stop: str = ""
    """Message that ends the run, if no other request can succeed either."""
    wait: float | None = None
    """Seconds to wait, as requested by the server (Retry-After)."""
    rejected: str | None = None
    """The text of an invalid answer, for diagnosis."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    """Whether the tokens are estimated."""

    def reason(self, attempts: int) -> str:
        """Return the reason why a request is missing after some attempts."""
        times = f" after {attempts} attempts" * (attempts > 1)
        return f"{self.kind}{times}" + f" ({self.detail})" * bool(self.detail)


class Completion(NamedTuple):
    """The answer of a language model."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    estimated: bool = False
    """Whether the tokens are estimated because the server did not count them."""
    cut: bool = False
    """Whether the answer was cut at `max_tokens`."""


MAX_CONCURRENCY = 256
MAX_SECONDS = 86_400
"""Upper limit of all settings in seconds."""


class Prices(NamedTuple):
    """Prices of a million tokens, in any currency."""

    prompt: float
    completion: float


@dataclass(frozen=True)
class Limits:
    """Limits of a run.

    Args:
        concurrency: requests at the same time.
        rate: maximum requests per minute, retries included; None for no limit.
        attempts: attempts for a request, invalid answers included.
        budget_requests, budget_tokens, budget_money: limits of this run: requests sent, retries
            included; tokens; cost by `prices`.
        prices: prices of a million prompt tokens and of a million completion tokens.
        backoff: seconds before the second attempt, doubled for each further one.
        longest_wait: maximum wait in seconds, even if the server asks for more.
        grace: seconds to wait for answers under way when a run is stopped.
        seed: seed of the random part of waits.
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
        """Return the price of tokens, or None without prices."""
        if self.prices is None:
            return None
        prices = self.prices
        return (prices.prompt * prompt_tokens + prices.completion * completion_tokens) / 1e6


FAILED = "failed: "
"""Prefix of the counts of failures, followed by the kind."""


class Totals(NamedTuple):
    """Counts of all runs with a cache, killed ones included, for one endpoint and model."""

    sent: int
    """Requests sent, retries included."""
    answered: int
    failures: Mapping[str, int]
    """Failed attempts by kind."""
    repeated: int
    """Requests sent again because a run was killed while they were under way."""
    prompt_tokens: int
    completion_tokens: int
    """Tokens of all answers, invalid ones included."""
    estimated_tokens: int
    """Those that the server did not count: characters / 4."""
    cost: float | None
    """Price of these tokens; None without prices."""


class Usage(NamedTuple):
    """Requests, answers, tokens and costs of a run."""

    requests: int
    cached: int
    """Requests answered by the cache or by an equal request."""
    missing: int
    """Requests without an answer."""
    sent: int
    """Requests sent, retries included."""
    retried: int
    """Attempts after the first."""
    failures: Mapping[str, int]
    """Failed attempts by kind."""
    repeated: int
    """Requests sent again because a run was killed while they were under way."""
    prompt_tokens: int
    completion_tokens: int
    """Tokens of all answers of this run, invalid ones included."""
    estimated_tokens: int
    """Those that the server did not count: characters / 4."""
    cost: float | None
    """Price of these tokens; None without prices."""
    seconds: float
    totals: Totals
    """All runs with this cache, endpoint and model."""
    notes: tuple[str, ...] = ()
    """Sentences for the user."""


def counted_usage(counts: Mapping[str, int], limits: Limits) -> dict[str, Any]:
    """Return the fields shared by `Totals` and `Usage`."""
    names = ("sent", "repeated", "prompt_tokens", "completion_tokens", "estimated_tokens")
    fields: dict[str, Any] = {name: counts.get(name, 0) for name in names}
    kinds = {n.removeprefix(FAILED): count for n, count in counts.items() if n.startswith(FAILED)}
    fields["failures"] = dict(sorted(kinds.items()))
    fields["cost"] = limits.cost(fields["prompt_tokens"], fields["completion_tokens"])
    return fields
