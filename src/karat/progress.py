"""The parts of all long work: a callback, threads that work in order, and a way to stop it."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from karat.errors import InputError, Interrupted, quoted
from karat.storage.mapping import check_mapped

if TYPE_CHECKING:
    from concurrent.futures import Future

Job = TypeVar("Job")
Done = TypeVar("Done")

Progress: TypeAlias = Callable[[int, int, str], None]
"""`progress(done, total, what)`: called from the thread that started the work, now and then.

A total of 0 is one that nobody knows."""


def silent(done: int, total: int, what: str) -> None:
    """Report to nobody."""


class Stop:
    """A request to stop that any worker can look at: `stop.check()` raises once it was made."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def request(self) -> None:
        """Ask all workers that share this object to stop."""
        self._event.set()

    def check(self) -> None:
        """Raise `Interrupted` if a stop was requested."""
        if self._event.is_set():
            raise Interrupted("interrupted: the work was stopped on request")


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Put off Ctrl-C until the end of a block that must not end half-way.

    Does nothing outside the main thread, and where the handler is not one of Python's.
    """
    asked: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if before is not None:  # else a handler in C, which Python cannot set again
        try:
            signal.signal(signal.SIGINT, lambda number, frame: asked.append(number))
        except ValueError:  # not the main thread
            before = None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if asked:
        signal.raise_signal(signal.SIGINT)


_working = threading.local()


def own_stop() -> Stop:
    """The request to stop that this thread's work must heed; elsewhere one that nobody makes."""
    found: Stop | None = getattr(_working, "stop", None)
    return found or Stop()


def as_threads(threads: int | None) -> int:
    """The number of threads to use: as many as this process may, unless it is given."""
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise InputError(f"threads={quoted(threads)}: expected a whole number, at least 1")
    if hasattr(os, "sched_getaffinity"):
        return threads or len(os.sched_getaffinity(0))
    return threads or os.cpu_count() or 1


def in_order(
    work: Callable[[Job], Done], jobs: Iterable[Job], workers: int, stop: Stop | None = None
) -> Generator[Done, None, None]:
    """`work` of every job on threads, in the order of the jobs; two a worker are under way.

    What the kernel does releases the GIL. Whoever stops listening stops the workers: before their
    next job or, if they look at `stop`, within one. A result is given only if all mapped files are
    still as long as they were.
    """
    from concurrent.futures import ThreadPoolExecutor

    stopped = stop or Stop()

    def checked(job: Job) -> Done:
        stopped.check()
        _working.stop = stopped
        return work(job)

    with ThreadPoolExecutor(workers, thread_name_prefix="karat") as pool:
        waiting: deque[Future[Done]] = deque()
        try:
            for job in jobs:
                waiting.append(pool.submit(checked, job))
                if len(waiting) >= 2 * workers:
                    yield _checked(waiting.popleft())
            while waiting:
                yield _checked(waiting.popleft())
        except BaseException:
            stopped.request()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def side_by_side(
    work: Callable[[Job, Progress], Done],
    jobs: Sequence[Job],
    threads: int,
    progress: Progress,
    what: str,
) -> list[Done]:
    """`work` of every job, on threads if there are several; a job reports how far it has come.

    On one thread every report counts. On several, jobs are counted once they are done, and a report
    only looks whether to stop.
    """
    found: list[Done] = []
    size = 1

    def within(done: int, total: int, _: str) -> None:
        progress(len(found) * total + done, len(jobs) * total, what)

    def only_stop(done: int, total: int, _: str) -> None:
        nonlocal size
        size = total
        own_stop().check()

    if threads == 1 or len(jobs) < 2:
        for job in jobs:
            found.append(work(job, within))
        return found
    for done in in_order(lambda job: work(job, only_stop), jobs, threads):
        found.append(done)
        progress(len(found) * size, len(jobs) * size, what)
    return found


def _checked(future: Future[Done]) -> Done:
    try:
        return future.result()
    finally:
        check_mapped()  # an error too may come of a file that was cut short
