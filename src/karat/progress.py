"""Long work: progress callbacks and bars, threads with results in order, and a way to stop."""

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
"""`progress(done, total, stage)`, called now and then from the thread that started the work.

A total of 0 means that the total is unknown."""


def silent(done: int, total: int, stage: str) -> None:
    """Ignore progress."""


class Stop:
    """A request to stop, shared by workers: `stop.check()` raises once it was made."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def request(self) -> None:
        """Request all workers that share this object to stop."""
        self._event.set()

    def check(self) -> None:
        """Raise `Interrupted` if a stop was requested."""
        if self._event.is_set():
            raise Interrupted("interrupted: the work was stopped on request")


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Delay Ctrl-C until the end of a block that must not be interrupted.

    Do nothing outside the main thread, and if the signal handler is not a Python function.
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
    """Return the stop request of this worker thread; elsewhere, one that is never made."""
    stop: Stop | None = getattr(_working, "stop", None)
    return stop or Stop()


def n_threads(threads: int | None) -> int:
    """Return the number of threads to use; by default all processors of this process."""
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise InputError(f"threads={quoted(threads)}: expected a whole number, at least 1")
    if hasattr(os, "sched_getaffinity"):
        return threads or len(os.sched_getaffinity(0))
    return threads or os.cpu_count() or 1


def map_in_order(
    work: Callable[[Job], Done], jobs: Iterable[Job], workers: int, stop: Stop | None = None
) -> Generator[Done, None, None]:
    """Yield `work(job)` of every job in the order of jobs, with two jobs per worker in flight.

    The kernel releases the GIL. Closing the generator stops the workers before their next job or,
    if they check `stop`, during one. Results are yielded only if no mapped file was truncated.
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
            check_mapped()  # an error may also come from a file that was truncated

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
    """Return `work(job, progress)` of every job, on threads if there are several.

    On one thread, progress within jobs is reported. On several, only finished jobs are reported,
    and a job's own reports only check whether to stop.
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


class Bar:
    """A bar on standard error, if that is a terminal; `with Bar() as progress` clears it."""

    def __init__(self) -> None:
        self._is_visible = sys.stderr.isatty()
        self._started = time.monotonic()
        self._drawn = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._drawn:
            self.clear()

    def __call__(self, done: int, total: int, stage: str) -> None:
        now = time.monotonic()
        is_early = now - self._started < _PATIENCE or now - self._drawn < _PAUSE
        if self._is_visible and not is_early:
            self.draw(done, total, stage[:40])
            self._drawn = now

    def draw(self, done: int, total: int, stage: str) -> None:
        """Draw the bar over the previous one."""
        text = f"{done:,}"
        if total:
            full = int(done / total * _WIDTH)
            bar = "█" * full + "░" * (_WIDTH - full)
            text = f"{bar} {done / total:4.0%} {done:,}/{total:,}"
        sys.stderr.write(f"\r\x1b[K{stage:<12} {text}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Remove the bar."""
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class NotebookBar(Bar):
    """One line in the output of a notebook cell, updated in place and cleared at the end."""

    def __init__(self) -> None:
        super().__init__()
        self._is_visible = True
        self._handle: Any = None

    def draw(self, done: int, total: int, stage: str) -> None:
        """Update the line."""
        from html import escape

        counts = f"{done:,}/{total:,}" if total else f"{done:,}"
        element = f'<progress value="{done}" max="{total}"></progress>' if total else ""
        self._show(f"{stage} {counts}", f"<div>{escape(stage)} {element} {counts}</div>")

    def clear(self) -> None:
        """Empty the line."""
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
    """Return whether this runs in a notebook, which shows rich output."""
    running = sys.modules.get("IPython")
    shell = running.get_ipython() if running else None
    return shell is not None and hasattr(shell, "kernel") and "IPython.display" in sys.modules


@contextmanager
def progress_callback(progress: Progress | bool) -> Iterator[Progress]:
    """Yield a progress callback: the given one, or a bar for True."""
    if progress is True:
        with NotebookBar() if in_notebook() else Bar() as bar:
            yield bar
    else:
        yield progress or silent
