"""A run: one thread decides, stores and reports; workers only send and receive.

So nothing here needs a lock, an answer is stored before anybody is told of it, and a request is in
flight in the cache before it is sent.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

from karat.asking.breaker import Breaker
from karat.asking.budget import Budget
from karat.asking.cache import Cache
from karat.asking.client.failures import INVALID, Completion, Failure
from karat.asking.endpoint import Endpoint
from karat.asking.jobs import Job
from karat.asking.limits import Limits
from karat.asking.requests import Answer, Request, estimated_prompt
from karat.asking.schedule import Schedule
from karat.asking.usage import FAILED
from karat.asking.workers import Outcome, Workers
from karat.errors import EndpointError, KaratError, short
from karat.progress import Progress, interrupts_later, own_stop

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
