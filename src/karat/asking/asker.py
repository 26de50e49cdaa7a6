"""Ask many requests, or return what asking them would take."""

from __future__ import annotations

import time
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from karat.asking.cache import Cache
from karat.asking.endpoint import Endpoint
from karat.asking.limits import Limits, Prices
from karat.asking.lines import line_to
from karat.asking.requests import Answer, Request, as_requests, estimated_prompt
from karat.asking.run import Check, Run
from karat.asking.usage import Totals, Usage, as_totals, failures_of
from karat.asking.workers import Workers
from karat.progress import Progress, silent

__all__ = ["Asked", "Limits", "Plan", "Prices", "Usage", "ask", "plan", "spent"]

Place = str | PathLike[str]


class Asked(NamedTuple):
    """Answers in the order of the requests, and what they took."""

    answers: tuple[Answer, ...]
    usage: Usage


class Plan(NamedTuple):
    """A dry run: what would be asked."""

    requests: int
    cached: int
    """Requests with a stored answer."""
    to_send: int
    """Requests that would be sent, without retries."""
    prompt_tokens: int
    """Estimated tokens of the requests to send: characters / 4."""
    completion_tokens: int | None
    """Tokens that their answers have at most; None without `max_tokens`."""
    cost: float | None
    """The price of these tokens at most, None without prices or `max_tokens`."""


def accept(request: Request, text: str) -> str:
    """Accept every answer."""
    return ""


def ask(
    requests: Iterable[Request],
    endpoint: Endpoint,
    *,
    cache: Place | None,
    limits: Limits | None = None,
    check: Check = accept,
    progress: Progress = silent,
) -> Asked:
    """Ask all requests that have no stored answer.

    Parameters
    ----------
    requests : iterable of Request
        What is asked; ids must differ.
    endpoint : Endpoint
        Where and which model is asked.
    cache : path or None
        File that keeps answers. A run that was stopped or killed goes on from it. None keeps
        nothing.
    limits : Limits
        Limits of requests at once, attempts, rate and budget.
    check : callable
        `check(request, text)` returns an empty string, or why the text is no valid answer. An
        invalid answer is a failed attempt.
    progress : callable
        `progress(done, total, what)`.

    Raises EndpointError where asking further is of no use; stored answers are kept.
    """
    limits, started = limits or Limits(), time.monotonic()
    asked = as_requests(requests)
    key = endpoint.key()
    with Cache(cache, endpoint) as stored:
        run = Run(asked, endpoint, stored, limits, check, progress)
        workers = Workers(line_to(endpoint, key), limits.concurrency)
        try:
            run.ask(workers)
        finally:
            workers.end(abort=workers.busy > 0)
        totals = as_totals(stored.totals(), limits)
    return Asked(run.final(), _usage(run, totals, limits, time.monotonic() - started))


def _usage(run: Run, totals: Totals, limits: Limits, seconds: float) -> Usage:
    counts = run.counts
    return Usage(
        len(run.answers),
        counts["cached"],
        sum(answer.text is None for answer in run.final()),
        counts["sent"],
        counts["retried"],
        failures_of(counts),
        counts["repeated"],
        counts["prompt_tokens"],
        counts["completion_tokens"],
        counts["estimated_tokens"],
        limits.cost(counts["prompt_tokens"], counts["completion_tokens"]),
        seconds,
        totals,
        run.notes(),
    )


def plan(
    requests: Iterable[Request],
    endpoint: Endpoint,
    cache: Place | None,
    limits: Limits | None = None,
) -> Plan:
    """Return what `ask` would send, without sending or writing anything."""
    asked = as_requests(requests)
    jobs = {endpoint.cache_key(request): request for request in asked}
    if cache is not None and _is_filled(cache):
        with Cache(cache, endpoint, reading=True) as stored:
            jobs = {key: jobs[key] for key in jobs if not stored.has_answer(key)}
    prompt = sum(map(estimated_prompt, jobs.values()))
    most = None if endpoint.max_tokens is None else endpoint.max_tokens * len(jobs)
    cost = None if most is None else (limits or Limits()).cost(prompt, most)
    return Plan(len(asked), len(asked) - len(jobs), len(jobs), prompt, most, cost)


def _is_filled(cache: Place) -> bool:
    """Return whether a cache is there and holds anything."""
    return Path(cache).exists() and Path(cache).stat().st_size > 0


def spent(endpoint: Endpoint, cache: Place, limits: Limits | None = None) -> Totals:
    """Return the counts of all runs with a cache, those that were stopped or killed included."""
    limits = limits or Limits()
    if not _is_filled(cache):
        return as_totals({}, limits)
    with Cache(cache, endpoint, reading=True) as stored:
        return as_totals(stored.totals(), limits)
