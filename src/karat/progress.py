"""What all long work takes: a callback, a number of threads, and a way to be stopped."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeAlias

from karat.errors import InputError, Interrupted

Progress: TypeAlias = Callable[[int, int, str], None]
"""`progress(done, total, what)`: called from the thread that started the work, now and then."""


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


def as_threads(threads: int | None) -> int:
    """The number of threads to use: as many as this process may, unless it is given."""
    if threads is not None and threads < 1:
        raise InputError(f"threads={threads}: expected at least 1")
    if threads is not None:
        return threads
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
