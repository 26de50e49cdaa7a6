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
from karat.llm.client import Line, line_to
from karat.llm.endpoint import Endpoint
from karat.llm.requests import (
    FAILED,
    INVALID,
    OF_THE_ANSWER,
    UNREACHABLE,
    Answer,
    Completion,
    Failure,
    Job,
    Limits,
    Prices,
    Request,
    Totals,
    Usage,
    as_requests,
    as_totals,
    estimated_prompt,
    failures_of,
)
from karat.progress import Progress, interrupts_later, own_stop, silent

WAITING = 2
"""Requests that wait to be asked again, for each that may be under way."""


class Schedule:
    """Requests in their order, those to ask again once their waits are over.

    A server that names a time (Retry-After) is sent nothing before it. While many requests wait to
    be asked again, no others are begun: a server in trouble does not use up all attempts of all.
    """

    def __init__(self, jobs: Iterable[Job], limits: Limits) -> None:
        self._limits = limits
        self._fresh = deque(jobs)
        self._waiting: list[tuple[float, int, Job]] = []
        self._not_before = 0.0
        self._longest_asked = 0.0

    def __len__(self) -> int:
        return len(self._fresh) + len(self._waiting)

    def ready_at(self, now: float) -> float:
        """Return when the next request can be sent."""
        if self._next_fresh() is not None:
            return max(now, self._not_before)
        return max(self._waiting[0][0], self._not_before) if self._waiting else float("inf")

    def first(self, now: float) -> Job | None:
        """Return the request to send next, if there is one by now."""
        if now < self._not_before:
            return None
        if self._waiting and self._waiting[0][0] <= now:
            return self._waiting[0][2]
        return self._next_fresh()

    def send(self, job: Job, now: float) -> None:
        """Take the first request off the schedule."""
        if self._waiting and self._waiting[0][2] is job:
            heapq.heappop(self._waiting)
        else:
            self._fresh.popleft()
        if self._limits.rate is not None:
            self._not_before = max(now, self._not_before) + 60 / self._limits.rate

    def again(self, job: Job, now: float, asked: float | None) -> None:
        """Put a request that failed back, after a wait."""
        wait = self._backoff(job)
        if asked is not None:
            self._longest_asked = max(self._longest_asked, asked)
            asked = min(asked, self._limits.longest_wait)
            wait = max(wait, asked)
            self._not_before = max(self._not_before, now + asked)
        heapq.heappush(self._waiting, (now + wait, min(job.places), job))

    def notes(self) -> list[str]:
        """Return a sentence if a server asked for longer waits than there are."""
        longest = self._limits.longest_wait
        if self._longest_asked <= longest:
            return []
        asked = f"the server asked for a wait of {self._longest_asked:,.0f} s (Retry-After)"
        return [f"{asked}; the longest wait is {longest:g} s"]

    def clear(self) -> list[Job]:
        """Take off all requests and return them."""
        left = [*self._fresh, *(job for _, _, job in self._waiting)]
        self._fresh.clear()
        self._waiting.clear()
        return left

    def _next_fresh(self) -> Job | None:
        """Return the first request that was not asked yet, unless too many others wait."""
        crowded = len(self._waiting) >= WAITING * self._limits.concurrency
        return None if crowded or not self._fresh else self._fresh[0]

    def _backoff(self, job: Job) -> float:
        """Return a wait that doubles with every attempt, half of it random.

        The random part depends on the request and the attempt, not on the order of threads.
        """
        doubled: int = 2 ** min(job.tries - 1, 30)
        longest = min(self._limits.backoff * doubled, self._limits.longest_wait)
        jitter = random.Random(f"{self._limits.seed} {job.key} {job.tries}").random()
        return longest * (1 + jitter) / 2


class Budget:
    """Costs so far, and the most that requests under way may cost.

    The prompt's tokens are estimated and the completion has `max_tokens`; without `max_tokens`, or
    where the estimate is low, the last requests may cost more than is left.
    """

    def __init__(self, limits: Limits, max_tokens: int | None) -> None:
        self._limits, self._completion = limits, max_tokens or 0
        self._sent = 0
        self._spent = (0, 0)
        self._held: dict[Job, tuple[int, int]] = {}

    def allows(self, job: Job) -> bool:
        """Return whether the request can be sent now."""
        return self._holds([*self._held.values(), self._most(job)])

    def is_out(self, job: Job) -> bool:
        """Return whether the request cannot be sent even if those under way cost nothing."""
        return not self._holds([self._most(job)])

    def send(self, job: Job) -> None:
        """Count a request as sent and hold back what it may cost."""
        self._sent += 1
        self._held[job] = self._most(job)

    def settle(self, job: Job, prompt_tokens: int, completion_tokens: int) -> None:
        """Count what a request cost."""
        self._held.pop(job, None)
        self._spent = (self._spent[0] + prompt_tokens, self._spent[1] + completion_tokens)

    def _most(self, job: Job) -> tuple[int, int]:
        return job.prompt_tokens, self._completion

    def _holds(self, more: list[tuple[int, int]]) -> bool:
        limits = self._limits
        prompt = self._spent[0] + sum(part for part, _ in more)
        completion = self._spent[1] + sum(part for _, part in more)
        cost = limits.cost(prompt, completion) or 0.0
        return (
            (limits.budget_requests is None or self._sent < limits.budget_requests)
            and (limits.budget_tokens is None or prompt + completion <= limits.budget_tokens)
            and (limits.budget_money is None or cost <= limits.budget_money)
        )


MOST_IN_A_ROW = 10
"""Requests in a row that may stay without an answer."""


class Breaker:
    """Counts requests that stay without an answer, one after the other.

    A failure of the endpoint ends the run after ten. One of a single request (refused, or only
    invalid answers) does so only if nothing was ever answered.
    """

    def __init__(self, endpoint: Endpoint, answered: bool) -> None:
        self._endpoint, self._answered = endpoint, answered
        self._reached = False
        self._in_a_row = 0

    def answered(self) -> None:
        """Note an answer."""
        self._answered = self._reached = True
        self._in_a_row = 0

    def failed(self, failure: Failure) -> None:
        """Note a failed attempt."""
        self._reached |= failure.kind != UNREACHABLE

    def missing(self, failure: Failure, why: str) -> str:
        """Note a request without an answer; return the sentence that ends the run, if it does."""
        self._in_a_row += 1
        if failure.kind == UNREACHABLE and not self._reached:
            return f"cannot connect to {self._endpoint.name}: {why}: check the URL and the server"
        of_one = failure.kind in OF_THE_ANSWER or not failure.again
        if self._in_a_row < MOST_IN_A_ROW or (of_one and self._answered):
            return ""
        return (
            f"{self._in_a_row} requests in a row to {self._endpoint.name} stay without an answer, "
            f"the last because of {why}: {self._advice(failure)}"
        )

    def _advice(self, failure: Failure) -> str:
        if failure.kind in OF_THE_ANSWER:
            return f"check whether the model {self._endpoint.model} can do the task"
        if not failure.again:
            parameters = "temperature, max_tokens, seed and response_format"
            return f"check {parameters} (--omit leaves one out, None or False in Python)"
        return "check the server, and run the same again to go on"


Outcome = Completion | Failure


class Workers:
    """Threads with a line each; jobs go in, jobs with outcomes come out in any order."""

    def __init__(self, line: Callable[[], Line], number: int) -> None:
        self.number = number
        self.busy = 0
        self._line = line
        self._lines: list[Line] = []
        self._threads: list[threading.Thread] = []
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._outcomes: SimpleQueue[tuple[Job, Outcome | BaseException]] = SimpleQueue()

    def send(self, job: Job) -> None:
        """Give a job to the next free worker; there must be one."""
        if len(self._threads) <= self.busy:
            self._start()
        self.busy += 1
        self._jobs.put(job)

    def take(self, seconds: float, arrived: list[tuple[Job, Outcome]]) -> None:
        """Wait for outcomes and add all that there are; none if the time is over."""
        with suppress(Empty):
            arrived.append(self._outcome(seconds))
            while True:
                arrived.append(self._outcome(0))

    def end(self, abort: bool) -> None:
        """End the threads; with `abort`, those that still wait for an answer as well."""
        for _ in self._threads:
            self._jobs.put(None)
        if abort:
            for line in self._lines:
                line.abort()
        deadline = time.monotonic() + 1
        for thread in self._threads:  # one that looks up a host's name cannot be ended
            thread.join(max(deadline - time.monotonic(), 0))

    def _outcome(self, seconds: float) -> tuple[Job, Outcome]:
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
        line = self._line()
        thread = threading.Thread(target=self._work, args=(line,), name="karat", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            raise KaratError(
                f"cannot start thread {len(self._threads) + 1}: ask with less concurrency"
            ) from None
        self._lines.append(line)
        self._threads.append(thread)

    def _work(self, line: Line) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                self._outcomes.put((job, line.ask(job)))
            except BaseException as error:
                self._outcomes.put((job, error))
        line.close()


Check = Callable[[Request, str], str]
_LOOK = 0.2  # seconds between two looks at whether to stop
OVER_BUDGET = "budget"


class Run:
    """The requests of one call, from the cache or asked."""

    def __init__(
        self,
        requests: Sequence[Request],
        endpoint: Endpoint,
        cache: Cache,
        limits: Limits,
        check: Check,
        progress: Progress,
    ) -> None:
        self.answers: list[Answer | None] = [None] * len(requests)
        self.counts: Counter[str] = Counter()
        self._ended = 0
        self._held_back = False
        self._requests, self._endpoint, self._cache = requests, endpoint, cache
        self._limits, self._check, self._progress = limits, check, progress
        self._arrived: list[tuple[Job, Outcome]] = []
        jobs = self._look_up()
        self._breaker = Breaker(endpoint, answered=bool(self.counts["cached"]))
        self._budget = Budget(limits, endpoint.max_tokens)
        self.schedule = Schedule(jobs, limits)

    def _look_up(self) -> list[Job]:
        """Take stored answers from the cache; return the rest, each once."""
        jobs: dict[str, Job] = {}
        for place, request in enumerate(self._requests):
            key = self._endpoint.cache_key(request)
            if key in jobs:
                jobs[key].places.append(place)
                continue
            stored = self._cache.stored(key)
            if stored is not None and stored.state == "answered":
                tokens = (stored.prompt_tokens, stored.completion_tokens)
                self.answers[place] = Answer(request.id, stored.answer, "", True, *tokens)
                self.counts["cached"] += 1
                self._ended += 1
                continue
            jobs[key] = Job(request, key, [place])
            if stored is not None:
                jobs[key].rejections = stored.rejections
                jobs[key].in_flight = stored.state == "in flight"
        return list(jobs.values())

    def final(self) -> tuple[Answer, ...]:
        """Return the answers in the order of the requests."""
        return tuple(answer for answer in self.answers if answer is not None)

    def notes(self) -> tuple[str, ...]:
        """Return sentences on what the limits did."""
        missing = [place for place, found in enumerate(self.final()) if found.why == OVER_BUDGET]
        if not missing:
            return tuple(self.schedule.notes())
        most = estimated_prompt(self._requests[missing[0]]), self._endpoint.max_tokens or 0
        told = f"{most[0]:,} tokens and up to {most[1]:,} of the answer"
        note = f"the budget does not hold the next request (about {told}); {len(missing):,} missing"
        return (note, *self.schedule.notes())

    def ask(self, workers: Workers) -> None:
        """Ask until every request has an answer or is missing."""
        try:
            self._report()
            while len(self.schedule) or workers.busy or self._arrived:
                self._step(workers)
        except BaseException:
            self._wind_down(workers)
            raise

    def _step(self, workers: Workers) -> None:
        """Decide on what has arrived, store it together with what is sent now, send it, wait."""
        own_stop().check()
        verdicts = self._verdicts()
        stop = self._act_on(verdicts)
        ready = [] if stop else self._ready(workers.number - workers.busy)
        with interrupts_later():  # else outcomes would be stored twice, or requests not sent
            self._store(verdicts, ready)
            for job in ready:
                workers.send(job)
        if stop:
            raise EndpointError(f"{stop}; stored answers are kept")
        self._report()
        if workers.busy or len(self.schedule):
            workers.take(self._pause(workers), self._arrived)

    def _pause(self, workers: Workers) -> float:
        """Return how long to wait for outcomes at most."""
        if workers.busy == workers.number or self._held_back:
            return _LOOK
        now = time.monotonic()
        return min(max(self.schedule.ready_at(now) - now, 0.001), _LOOK)

    def _report(self) -> None:
        failed = sum(count for name, count in self.counts.items() if name.startswith(FAILED))
        tokens = self.counts["prompt_tokens"] + self.counts["completion_tokens"]
        told = f"asking: {tokens:,} tokens, {failed:,} failed"  # bars show 40 characters
        self._progress(self._ended, len(self._requests), told)

    def _wind_down(self, workers: Workers) -> None:
        """Store answers that arrive within the grace; a second Ctrl-C ends that, too."""
        deadline = time.monotonic() + self._limits.grace
        with suppress(KeyboardInterrupt):
            while workers.busy and (left := deadline - time.monotonic()) > 0:
                workers.take(left, self._arrived)
        with suppress(KaratError), interrupts_later():  # the first error is the one to report
            self._store(self._verdicts(), [])

    # ------------------------------------------------------------------ sending

    def _ready(self, free: int) -> list[Job]:
        """Take the requests off the schedule that are sent now."""
        ready: list[Job] = []
        self._held_back = False
        now = time.monotonic()
        while len(ready) < free and (job := self.schedule.first(now)) is not None:
            if not self._budget.allows(job):
                self._held_back = True
                if self._budget.is_out(job):
                    self._end_of_budget()
                break
            self.schedule.send(job, now)
            self._budget.send(job)
            job.tries += 1
            ready.append(job)
        return ready

    def _end_of_budget(self) -> None:
        for job in self.schedule.clear():
            self._end(job, None, OVER_BUDGET)

    # ------------------------------------------------------------------ outcomes

    def _verdicts(self) -> list[tuple[Job, Outcome]]:
        """Return what has arrived, invalid answers as failures."""
        return [(job, self._verdict(job, outcome)) for job, outcome in self._arrived]

    def _verdict(self, job: Job, outcome: Outcome) -> Outcome:
        why = "" if isinstance(outcome, Failure) else self._check(job.request, outcome.text)
        if isinstance(outcome, Failure) or not why:
            return outcome
        why += f", cut at max_tokens={self._endpoint.max_tokens}" * outcome.cut
        tokens = (outcome.prompt_tokens, outcome.completion_tokens, outcome.estimated)
        return Failure(INVALID, short(why), True, "", None, outcome.text, *tokens)

    def _act_on(self, verdicts: Sequence[tuple[Job, Outcome]]) -> str:
        """End requests or ask again; return the sentence that ends the run, if one does."""
        stops = []
        for job, verdict in verdicts:
            self._budget.settle(job, verdict.prompt_tokens, verdict.completion_tokens)
            if isinstance(verdict, Completion):
                self._breaker.answered()
                self._end(job, verdict)
            else:
                stops.append(self._act_on_failure(job, verdict))
        return next(filter(None, stops), "")

    def _act_on_failure(self, job: Job, failure: Failure) -> str:
        self._breaker.failed(failure)
        job.rejections += failure.rejected is not None
        if failure.stop:
            return failure.stop
        if failure.again and job.tries < self._limits.attempts:
            self.schedule.again(job, time.monotonic(), failure.wait)
            return ""
        why = failure.why(job.tries)
        self._end(job, None, why)
        return self._breaker.missing(failure, why)

    def _end(self, job: Job, done: Completion | None, why: str = "") -> None:
        """Answer all requests of a job, or leave them without an answer."""
        text = None if done is None else done.text
        tokens = (0, 0) if done is None else (done.prompt_tokens, done.completion_tokens)
        for place in job.places:
            again = done is not None and place != job.places[0]
            self.answers[place] = Answer(self._requests[place].id, text, why, again, *tokens)
            self._ended += 1
            self.counts["cached"] += again

    def _store(self, verdicts: Sequence[tuple[Job, Outcome]], ready: Sequence[Job]) -> None:
        """Store outcomes, and that requests are in flight, in one transaction."""
        counts = counted(verdicts, ready)
        if verdicts or ready:
            self._cache.write(verdicts, ready, counts)
        self._arrived.clear()
        self.counts += counts
        for job in ready:
            job.in_flight = False


def counted(verdicts: Sequence[tuple[Job, Outcome]], ready: Sequence[Job]) -> Counter[str]:
    """Return the counts of outcomes and of requests that are sent."""
    counts: Counter[str] = Counter(sent=len(ready))
    counts["repeated"] = sum(job.in_flight for job in ready)
    counts["retried"] = sum(job.tries > 1 for job in ready)
    for _, verdict in verdicts:
        counts[FAILED + verdict.kind if isinstance(verdict, Failure) else "answered"] += 1
        counts["prompt_tokens"] += verdict.prompt_tokens
        counts["completion_tokens"] += verdict.completion_tokens
        tokens = verdict.prompt_tokens + verdict.completion_tokens
        counts["estimated_tokens"] += tokens * verdict.estimated
    return +counts


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
