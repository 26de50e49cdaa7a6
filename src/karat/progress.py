"""The one callback type that all long work takes, and the way it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeAlias

from karat.errors import Interrupted

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
