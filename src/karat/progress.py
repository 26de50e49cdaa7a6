"""The parts of all long work: a callback, threads that work in order, and a way to stop it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from karat.errors import InputError, Interrupted, quoted
from karat.storage.mapping import check_mapped

if TYPE_CHECKING:
    from concurrent.futures import Future


Job = TypeVar("Job")
Done = TypeVar("Done")

Progress: TypeAlias = Callable[[int, int, str], None]
"""`progress(done, total, what)`: called from the thread that started the work, now and then.

A total of 0 is one that nobody knows."""


def silent(done: int, total: int, stage: str) -> None:
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
    signals: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if before is not None:  # else a handler in C, which Python cannot set again
        try:
            signal.signal(signal.SIGINT, lambda number, frame: signals.append(number))
        except ValueError:  # not the main thread
            before = None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if signals:
        signal.raise_signal(signal.SIGINT)


_working = threading.local()


def current_stop() -> Stop:
    """The request to stop that this thread's work must heed; elsewhere one that nobody makes."""
    stop: Stop | None = getattr(_working, "stop", None)
    return stop or Stop()


def n_threads(threads: int | None) -> int:
    """The number of threads to use: as many as this process may, unless it is given."""
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise InputError(f"threads={quoted(threads)}: expected a whole number, at least 1")
    if hasattr(os, "sched_getaffinity"):
        return threads or len(os.sched_getaffinity(0))
    return threads or os.cpu_count() or 1


def map_in_order(
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

    def next_result() -> Done:
        try:
            return waiting.popleft().result()
        finally:
            check_mapped()  # an error too may come of a file that was cut short

    with ThreadPoolExecutor(workers, thread_name_prefix="karat") as pool:
        waiting: deque[Future[Done]] = deque()
        try:
            for job in jobs:
                waiting.append(pool.submit(checked, job))
                if len(waiting) >= 2 * workers:
                    yield next_result()
            while waiting:
                yield next_result()
        except BaseException:
            stopped.request()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def map_jobs(
    work: Callable[[Job, Progress], Done],
    jobs: Sequence[Job],
    threads: int,
    progress: Progress,
    stage: str,
) -> list[Done]:
    """`work` of every job, on threads if there are several; a job reports how far it has come.

    On one thread every report counts. On several, jobs are counted once they are done, and a report
    only looks whether to stop.
    """
    results: list[Done] = []
    size = 1

    def within(done: int, total: int, _: str) -> None:
        progress(len(results) * total + done, len(jobs) * total, stage)

    def only_stop(done: int, total: int, _: str) -> None:
        nonlocal size
        size = total
        current_stop().check()

    if threads == 1 or len(jobs) < 2:
        for job in jobs:
            results.append(work(job, within))
        return results
    for done in map_in_order(lambda job: work(job, only_stop), jobs, threads):
        results.append(done)
        progress(len(results) * size, len(jobs) * size, stage)
    return results


_WIDTH = 30
_PATIENCE = 1.0  # seconds before the bar shows
_PAUSE = 0.1  # seconds between two drawings


class _Bar:
    """`with ... as progress:` gives a progress callback; what it drew is gone at the end."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._drawn = 0.0
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._shown:
            self.clear()

    def __call__(self, done: int, total: int, stage: str) -> None:
        now = time.monotonic()
        if now - self._started < _PATIENCE or now - self._drawn < _PAUSE:
            return
        self.draw(done, total, stage[:40])
        self._drawn, self._shown = now, True

    def draw(self, done: int, total: int, stage: str) -> None:
        """Draw the bar, in place of an earlier one."""
        raise NotImplementedError

    def clear(self) -> None:
        """Remove the bar."""
        raise NotImplementedError


class Bar(_Bar):
    """A bar on standard error, drawn only on a terminal."""

    def __call__(self, done: int, total: int, stage: str) -> None:
        if sys.stderr.isatty():
            super().__call__(done, total, stage)

    def draw(self, done: int, total: int, stage: str) -> None:
        text = f"{done:,}"
        if total:
            full = int(done / total * _WIDTH)
            bar = "█" * full + "░" * (_WIDTH - full)
            text = f"{bar} {done / total:4.0%} {done:,}/{total:,}"
        sys.stderr.write(f"\r\x1b[K{stage:<12} {text}")
        sys.stderr.flush()

    def clear(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class NotebookBar(_Bar):
    """One line in the output of a notebook's cell, which is updated and then emptied."""

    def __init__(self) -> None:
        super().__init__()
        self._handle: Any = None

    def draw(self, done: int, total: int, stage: str) -> None:
        from html import escape

        counts = f"{done:,}/{total:,}" if total else f"{done:,}"
        element = f'<progress value="{done}" max="{total}"></progress>' if total else ""
        self._show(f"{stage} {counts}", f"<div>{escape(stage)} {element} {counts}</div>")

    def clear(self) -> None:
        self._show("", "")

    def _show(self, plain: str, html: str) -> None:
        content = {"text/plain": plain, "text/html": html}
        if self._handle is None:
            self._handle = sys.modules["IPython.display"].display(
                content, raw=True, display_id=True
            )
        else:
            self._handle.update(content, raw=True)


def in_notebook() -> bool:
    """Return whether this runs in the kernel of a notebook, which shows rich output."""
    running = sys.modules.get("IPython")
    shell = running.get_ipython() if running else None
    return shell is not None and hasattr(shell, "kernel") and "IPython.display" in sys.modules


@contextmanager
def progress_callback(progress: Progress | bool) -> Iterator[Progress]:
    """Yield a progress callback: the one that is given, or a bar where True is."""
    if progress is True:
        with NotebookBar() if in_notebook() else Bar() as bar:
            yield bar
    else:
        yield progress or silent
