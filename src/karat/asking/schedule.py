"""The schedule: which request is sent when."""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Iterable

from karat.asking.jobs import Job
from karat.asking.limits import Limits

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
