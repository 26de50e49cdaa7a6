"""Workers: threads that send requests and hand back what came of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Protocol

from karat.asking.client.failures import Completion, Failure
from karat.asking.jobs import Job
from karat.errors import KaratError

Outcome = Completion | Failure


class Line(Protocol):
    """A connection of a worker to a language model."""

    def ask(self, job: Job) -> Outcome:
        """Send the request of a job and return what came of it."""

    def abort(self) -> None:
        """End what another thread is waiting for."""

    def close(self) -> None:
        """End the connection."""


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
