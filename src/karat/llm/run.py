"""Send many requests: schedule, budget, retries, circuit breaker, workers and cache."""

from __future__ import annotations

import heapq
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

from karat.errors import EndpointError, KaratError, short
from karat.llm.cache import Cache
from karat.llm.client import ModelConnection, connection_maker
from karat.llm.endpoint import Endpoint
from karat.llm.requests import (
    ANSWER_FAILURES,
    FAILED,
    INVALID,
    UNREACHABLE,
    Completion,
    EndpointFailure,
    Limits,
    Reply,
    Request,
    RequestJob,
    Totals,
    Usage,
    check_requests,
    counted_usage,
    estimated_prompt,
)
from karat.progress import Progress, current_stop, interrupts_later, silent

WAITING_PER_WORKER = 2
"""Waiting retries per concurrent request at which no new request is started."""


class Schedule:
    """The order of requests: new ones in sequence, retries once their waits are over.

    Nothing is sent before the time that a server names (Retry-After). While many retries wait, no
    new request is started, so that an outage does not use up the attempts of every request.
    """

    def __init__(self, jobs: Iterable[RequestJob], limits: Limits) -> None:
        self._limits = limits
        self._fresh = deque(jobs)
        self._waiting: list[tuple[float, int, RequestJob]] = []
        self._not_before = 0.0
        self._longest_asked = 0.0

    def __len__(self) -> int:
        return len(self._fresh) + len(self._waiting)

    def ready_at(self, now: float) -> float:
        """Return the time at which the next request can be sent."""
        if self._next_fresh() is not None:
            return max(now, self._not_before)
        return max(self._waiting[0][0], self._not_before) if self._waiting else float("inf")

    def first(self, now: float) -> RequestJob | None:
        """Return the next request if it can be sent now."""
        if now < self._not_before:
            return None
        if self._waiting and self._waiting[0][0] <= now:
            return self._waiting[0][2]
        return self._next_fresh()

    def send(self, job: RequestJob, now: float) -> None:
        """Remove the first request from the schedule."""
        if self._waiting and self._waiting[0][2] is job:
            heapq.heappop(self._waiting)
        else:
            self._fresh.popleft()
        if self._limits.rate is not None:
            self._not_before = max(now, self._not_before) + 60 / self._limits.rate

    def retry(self, job: RequestJob, now: float, requested_wait: float | None) -> None:
        """Schedule a retry after a wait that doubles with every attempt.

        Half of the wait is random: it depends on the request and the attempt, not on thread order.
        """
        doubled: int = 2 ** min(job.tries - 1, 30)
        longest = min(self._limits.backoff * doubled, self._limits.longest_wait)
        jitter = random.Random(f"{self._limits.seed} {job.key} {job.tries}").random()
        wait = longest * (1 + jitter) / 2
        if requested_wait is not None:
            self._longest_asked = max(self._longest_asked, requested_wait)
            requested_wait = min(requested_wait, self._limits.longest_wait)
            wait = max(wait, requested_wait)
            self._not_before = max(self._not_before, now + requested_wait)
        heapq.heappush(self._waiting, (now + wait, min(job.places), job))

    def notes(self) -> list[str]:
        """Return a note if a server asked for a longer wait than the limit."""
        longest = self._limits.longest_wait
        if self._longest_asked <= longest:
            return []
        message = f"the server asked for a wait of {self._longest_asked:,.0f} s (Retry-After)"
        return [f"{message}; the longest wait is {longest:g} s"]

    def clear(self) -> list[RequestJob]:
        """Remove and return all requests."""
        jobs = [*self._fresh, *(job for _, _, job in self._waiting)]
        self._fresh.clear()
        self._waiting.clear()
        return jobs

    def _next_fresh(self) -> RequestJob | None:
        """Return the first request not sent yet, unless too many retries wait."""
        is_crowded = len(self._waiting) >= WAITING_PER_WORKER * self._limits.concurrency
        return None if is_crowded or not self._fresh else self._fresh[0]


class Budget:
    """Costs so far, plus the maximum cost of requests under way.

    Prompt tokens are estimated and a completion counts as `max_tokens`. Without `max_tokens`, or if
    the estimate is too low, the last requests may exceed the budget.
    """

    def __init__(self, limits: Limits, max_tokens: int | None) -> None:
        self._limits, self._completion = limits, max_tokens or 0
        self._sent = self._prompt_tokens = self._completion_tokens = 0
        self._under_way: set[RequestJob] = set()

    def allows(self, job: RequestJob) -> bool:
        """Return whether the request can be sent now."""
        return self._holds([*self._under_way, job])

    def is_out(self, job: RequestJob) -> bool:
        """Return whether the request exceeds the budget even if those under way cost nothing."""
        return not self._holds([job])

    def send(self, job: RequestJob) -> None:
        """Count a request as sent and reserve its maximum cost."""
        self._sent += 1
        self._under_way.add(job)

    def settle(self, job: RequestJob, prompt_tokens: int, completion_tokens: int) -> None:
        """Replace the reserved cost of a request by its actual cost."""
        self._under_way.discard(job)
        self._prompt_tokens += prompt_tokens
        self._completion_tokens += completion_tokens

    def _holds(self, jobs: list[RequestJob]) -> bool:
        limits = self._limits
        prompt = self._prompt_tokens + sum(job.prompt_tokens for job in jobs)
        completion = self._completion_tokens + self._completion * len(jobs)
        cost = limits.cost(prompt, completion) or 0.0
        return (
            (limits.budget_requests is None or self._sent < limits.budget_requests)
            and (limits.budget_tokens is None or prompt + completion <= limits.budget_tokens)
            and (limits.budget_money is None or cost <= limits.budget_money)
        )


MAX_CONSECUTIVE_FAILURES = 10
"""Consecutive unanswered requests that end a run."""


class Breaker:
    """Circuit breaker: counts consecutive requests without an answer.

    Ten failures of the endpoint end the run. Failures of single requests (refused, or only invalid
    answers) end it only if no request was ever answered.
    """

    def __init__(self, endpoint: Endpoint, answered: bool) -> None:
        self._endpoint, self._has_answered = endpoint, answered
        self._was_reached = False
        self._consecutive_failures = 0

    def record_answer(self) -> None:
        """Record an answer."""
        self._has_answered = self._was_reached = True
        self._consecutive_failures = 0

    def record_failure(self, failure: EndpointFailure) -> None:
        """Record a failed attempt."""
        self._was_reached |= failure.kind != UNREACHABLE

    def record_missing(self, failure: EndpointFailure, reason: str) -> str:
        """Record an unanswered request; return the message that ends the run, or ""."""
        server, model = self._endpoint.name, self._endpoint.model
        self._consecutive_failures += 1
        if failure.kind == UNREACHABLE and not self._was_reached:
            return f"cannot connect to {server}: {reason}: check the URL and the server"
        is_single = failure.kind in ANSWER_FAILURES or not failure.may_retry
        is_tolerated = is_single and self._has_answered
        if self._consecutive_failures < MAX_CONSECUTIVE_FAILURES or is_tolerated:
            return ""
        advice = "check the server, and run the same again to go on"
        if failure.kind in ANSWER_FAILURES:
            advice = f"check whether the model {model} can do the task"
        elif not failure.may_retry:
            parameters = "temperature, max_tokens, seed and response_format"
            advice = f"check {parameters} (--omit leaves one out, None or False in Python)"
        return (
            f"{self._consecutive_failures} requests in a row to {server} stay without an answer, "
            f"the last because of {reason}: {advice}"
        )


Outcome = Completion | EndpointFailure


class Workers:
    """Threads with one connection each: jobs go in, outcomes come out in any order."""

    def __init__(self, connect: Callable[[], ModelConnection], number: int) -> None:
        self.number = number
        self.busy = 0
        self._connect = connect
        self._connections: list[ModelConnection] = []
        self._threads: list[threading.Thread] = []
        self._jobs: SimpleQueue[RequestJob | None] = SimpleQueue()
        self._outcomes: SimpleQueue[tuple[RequestJob, Outcome | BaseException]] = SimpleQueue()

    def send(self, job: RequestJob) -> None:
        """Give a job to the next free worker; the caller checks that there is one."""
        if len(self._threads) <= self.busy:
            self._start()
        self.busy += 1
        self._jobs.put(job)

    def take(self, seconds: float, arrived: list[tuple[RequestJob, Outcome]]) -> None:
        """Wait for an outcome and append all available ones; append none on time-out."""
        with suppress(Empty):
            arrived.append(self._outcome(seconds))
            while True:
                arrived.append(self._outcome(0))

    def end(self, abort: bool) -> None:
        """End the threads; with `abort`, also those waiting for an answer."""
        for _ in self._threads:
            self._jobs.put(None)
        if abort:
            for connection in self._connections:
                connection.abort()
        deadline = time.monotonic() + 1
        for thread in self._threads:  # a DNS lookup cannot be interrupted
            thread.join(max(deadline - time.monotonic(), 0))

    def _outcome(self, seconds: float) -> tuple[RequestJob, Outcome]:
        job, outcome = (
            self._outcomes.get(timeout=seconds) if seconds else self._outcomes.get_nowait()
        )
        self.busy -= 1
        if isinstance(outcome, KaratError):
            raise outcome
        if isinstance(outcome, BaseException):  # not shown: its frames hold the key
            raise RuntimeError(f"a worker failed with {type(outcome).__name__}")
        return job, outcome

    def _start(self) -> None:
        connection = self._connect()
        thread = threading.Thread(target=self._work, args=(connection,), name="karat", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            raise KaratError(
                f"cannot start thread {len(self._threads) + 1}: ask with less concurrency"
            ) from None
        self._connections.append(connection)
        self._threads.append(thread)

    def _work(self, connection: ModelConnection) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                self._outcomes.put((job, connection.ask(job)))
            except BaseException as error:
                self._outcomes.put((job, error))
        connection.close()


Check = Callable[[Request, str], str]
_POLL_SECONDS = 0.2  # between two checks for interruption
OVER_BUDGET = "budget"


class RequestRun:
    """The requests of one call of `ask`, answered from the cache or by the endpoint."""

    def __init__(
        self,
        requests: Sequence[Request],
        endpoint: Endpoint,
        cache: Cache,
        limits: Limits,
        check: Check,
        progress: Progress,
    ) -> None:
        self.answers: list[Reply | None] = [None] * len(requests)
        self.counts: Counter[str] = Counter()
        self._ended = 0
        self._held_back = False
        self._requests, self._endpoint, self._cache = requests, endpoint, cache
        self._limits, self._check, self._progress = limits, check, progress
        self._new_outcomes: list[tuple[RequestJob, Outcome]] = []
        jobs = self._look_up()
        self._breaker = Breaker(endpoint, answered=bool(self.counts["cached"]))
        self._budget = Budget(limits, endpoint.max_tokens)
        self.schedule = Schedule(jobs, limits)

    def _look_up(self) -> list[RequestJob]:
        """Take stored answers from the cache; return the other requests without duplicates."""
        jobs: dict[str, RequestJob] = {}
        for position, request in enumerate(self._requests):
            key = self._endpoint.cache_key(request)
            if key in jobs:
                jobs[key].places.append(position)
                continue
            stored = self._cache.stored(key)
            if stored is not None and stored.state == "answered":
                tokens = (stored.prompt_tokens, stored.completion_tokens)
                self.answers[position] = Reply(request.id, stored.answer, "", True, *tokens)
                self.counts["cached"] += 1
                self._ended += 1
                continue
            jobs[key] = RequestJob(request, key, [position])
            if stored is not None:
                jobs[key].rejections = stored.rejections
                jobs[key].in_flight = stored.state == "in flight"
        return list(jobs.values())

    def replies(self) -> tuple[Reply, ...]:
        """Return the answers in the order of the requests."""
        return tuple(answer for answer in self.answers if answer is not None)

    def notes(self) -> tuple[str, ...]:
        """Return notes on the effects of limits."""
        missing = [
            place for place, reply in enumerate(self.replies()) if reply.reason == OVER_BUDGET
        ]
        if not missing:
            return tuple(self.schedule.notes())
        prompt_tokens = estimated_prompt(self._requests[missing[0]])
        tokens = f"{prompt_tokens:,} tokens and up to {self._endpoint.max_tokens or 0:,}"
        problem = f"the budget does not hold the next request (about {tokens} of the answer)"
        return (f"{problem}; {len(missing):,} missing", *self.schedule.notes())

    def ask(self, workers: Workers) -> None:
        """Send requests until each has an answer or is missing."""
        try:
            self._report()
            while len(self.schedule) or workers.busy or self._new_outcomes:
                self._step(workers)
        except BaseException:
            self._wind_down(workers)
            raise

    def _step(self, workers: Workers) -> None:
        """Process outcomes, store them together with the requests to send, send these, wait."""
        current_stop().check()
        outcomes = self._validated_outcomes()
        stop = self._act_on(outcomes)
        ready = [] if stop else self._ready(workers.number - workers.busy)
        with interrupts_later():  # else outcomes would be stored twice, or requests not sent
            self._store(outcomes, ready)
            for job in ready:
                workers.send(job)
        if stop:
            raise EndpointError(f"{stop}; stored answers are kept")
        self._report()
        if workers.busy or len(self.schedule):
            pause = _POLL_SECONDS
            if workers.busy < workers.number and not self._held_back:
                now = time.monotonic()
                pause = min(max(self.schedule.ready_at(now) - now, 0.001), _POLL_SECONDS)
            workers.take(pause, self._new_outcomes)

    def _report(self) -> None:
        failed = sum(count for name, count in self.counts.items() if name.startswith(FAILED))
        tokens = self.counts["prompt_tokens"] + self.counts["completion_tokens"]
        status = f"asking: {tokens:,} tokens, {failed:,} failed"  # bars show 40 characters
        self._progress(self._ended, len(self._requests), status)

    def _wind_down(self, workers: Workers) -> None:
        """Store answers that arrive within the grace period; a second Ctrl-C ends it."""
        deadline = time.monotonic() + self._limits.grace
        with suppress(KeyboardInterrupt):
            while workers.busy and (left := deadline - time.monotonic()) > 0:
                workers.take(left, self._new_outcomes)
        with suppress(KaratError), interrupts_later():  # the first error is the one to report
            self._store(self._validated_outcomes(), [])

    # ------------------------------------------------------------------ sending

    def _ready(self, free: int) -> list[RequestJob]:
        """Remove the requests to send now from the schedule."""
        ready: list[RequestJob] = []
        self._held_back = False
        now = time.monotonic()
        while len(ready) < free and (job := self.schedule.first(now)) is not None:
            if not self._budget.allows(job):
                self._held_back = True
                if self._budget.is_out(job):
                    for left_over in self.schedule.clear():
                        self._end(left_over, None, OVER_BUDGET)
                break
            self.schedule.send(job, now)
            self._budget.send(job)
            job.tries += 1
            ready.append(job)
        return ready

    # ------------------------------------------------------------------ outcomes

    def _validated_outcomes(self) -> list[tuple[RequestJob, Outcome]]:
        """Return the new outcomes, with invalid answers turned into failures."""
        return [
            (job, self._validate(job, outcome) if isinstance(outcome, Completion) else outcome)
            for job, outcome in self._new_outcomes
        ]

    def _validate(self, job: RequestJob, completion: Completion) -> Outcome:
        """Return a completion if it is a valid answer, else the failure."""
        reason = self._check(job.request, completion.text)
        if not reason:
            return completion
        cut = f", cut at max_tokens={self._endpoint.max_tokens}" * completion.cut
        return EndpointFailure(
            INVALID,
            short(reason + cut),
            rejected=completion.text,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            estimated=completion.estimated,
        )

    def _act_on(self, outcomes: Sequence[tuple[RequestJob, Outcome]]) -> str:
        """End requests or schedule retries; return the message that ends the run, or ""."""
        stops = []
        for job, outcome in outcomes:
            self._budget.settle(job, outcome.prompt_tokens, outcome.completion_tokens)
            if isinstance(outcome, Completion):
                self._breaker.record_answer()
                self._end(job, outcome)
            else:
                stops.append(self._act_on_failure(job, outcome))
        return next(filter(None, stops), "")

    def _act_on_failure(self, job: RequestJob, failure: EndpointFailure) -> str:
        self._breaker.record_failure(failure)
        job.rejections += failure.rejected is not None
        if failure.stop:
            return failure.stop
        if failure.may_retry and job.tries < self._limits.attempts:
            self.schedule.retry(job, time.monotonic(), failure.wait)
            return ""
        reason = failure.reason(job.tries)
        self._end(job, None, reason)
        return self._breaker.record_missing(failure, reason)

    def _end(self, job: RequestJob, completion: Completion | None, reason: str = "") -> None:
        """Record the answer, or its absence, for all requests of a job."""
        text, *tokens = completion[:3] if completion else (None, 0, 0)
        for position in job.places:
            is_repeated = completion is not None and position != job.places[0]
            request = self._requests[position]
            self.answers[position] = Reply(request.id, text, reason, is_repeated, *tokens)
            self._ended += 1
            self.counts["cached"] += is_repeated

    def _store(
        self, outcomes: Sequence[tuple[RequestJob, Outcome]], ready: Sequence[RequestJob]
    ) -> None:
        """Store outcomes and mark requests as in flight, in one transaction."""
        counts: Counter[str] = Counter(sent=len(ready))
        counts["repeated"] = sum(job.in_flight for job in ready)
        counts["retried"] = sum(job.tries > 1 for job in ready)
        for _, outcome in outcomes:
            failed = isinstance(outcome, EndpointFailure) and FAILED + outcome.kind
            counts[failed or "answered"] += 1
            counts["prompt_tokens"] += outcome.prompt_tokens
            counts["completion_tokens"] += outcome.completion_tokens
            tokens = outcome.prompt_tokens + outcome.completion_tokens
            counts["estimated_tokens"] += tokens * outcome.estimated
        if outcomes or ready:
            self._cache.write(outcomes, ready, +counts)
        self._new_outcomes.clear()
        self.counts += counts
        for job in ready:
            job.in_flight = False


Place = str | PathLike[str]


class AskResult(NamedTuple):
    """Answers in the order of the requests, and their usage."""

    answers: tuple[Reply, ...]
    usage: Usage


class Plan(NamedTuple):
    """Result of a dry run: the requests that would be sent."""

    requests: int
    cached: int
    """Requests with a stored answer."""
    to_send: int
    """Requests that would be sent, without retries."""
    prompt_tokens: int
    """Estimated tokens of the requests to send: characters / 4."""
    completion_tokens: int | None
    """Maximum tokens of their answers; None without `max_tokens`."""
    cost: float | None
    """Maximum price of these tokens; None without prices or `max_tokens`."""


def ask(
    requests: Iterable[Request],
    endpoint: Endpoint,
    *,
    cache: Place | None,
    limits: Limits | None = None,
    check: Check = lambda request, text: "",
    progress: Progress = silent,
) -> AskResult:
    """Send all requests that have no stored answer.

    Args:
        requests: requests with unique ids.
        endpoint: server and model.
        cache: file that keeps answers, so that an interrupted run can continue; None keeps nothing.
        limits: concurrency, attempts, rate and budget.
        check: `check(request, text)` returns "" or the reason why an answer is invalid. An invalid
            answer is a failed attempt.
        progress: function that is called with the progress.

    Raises EndpointError if no further request can succeed; stored answers are kept.
    """
    limits, started = limits or Limits(), time.monotonic()
    request_list = check_requests(requests)
    key = endpoint.key()
    with Cache(cache, endpoint) as stored:
        run = RequestRun(request_list, endpoint, stored, limits, check, progress)
        workers = Workers(connection_maker(endpoint, key), limits.concurrency)
        try:
            run.ask(workers)
        finally:
            workers.end(abort=workers.busy > 0)
        totals = stored.totals()
    answers = run.replies()
    usage = Usage(
        requests=len(answers),
        cached=run.counts["cached"],
        missing=sum(answer.text is None for answer in answers),
        retried=run.counts["retried"],
        **counted_usage(run.counts, limits),
        seconds=time.monotonic() - started,
        totals=Totals(answered=totals.get("answered", 0), **counted_usage(totals, limits)),
        notes=run.notes(),
    )
    return AskResult(answers, usage)


def plan(
    requests: Iterable[Request],
    endpoint: Endpoint,
    cache: Place | None,
    limits: Limits | None = None,
) -> Plan:
    """Return the requests that `ask` would send, without sending or writing anything."""
    request_list = check_requests(requests)
    jobs = {endpoint.cache_key(request): request for request in request_list}
    if cache is not None and Path(cache).exists() and Path(cache).stat().st_size > 0:
        with Cache(cache, endpoint, reading=True) as stored:
            rows = {key: stored.stored(key) for key in jobs}
        answered = {key for key, row in rows.items() if row and row.state == "answered"}
        jobs = {key: request for key, request in jobs.items() if key not in answered}
    n_requests, n_jobs = len(request_list), len(jobs)
    prompt_tokens = sum(map(estimated_prompt, jobs.values()))
    max_completion_tokens, cost = None, None
    if endpoint.max_tokens is not None:
        max_completion_tokens = endpoint.max_tokens * n_jobs
        cost = (limits or Limits()).cost(prompt_tokens, max_completion_tokens)
    return Plan(n_requests, n_requests - n_jobs, n_jobs, prompt_tokens, max_completion_tokens, cost)
