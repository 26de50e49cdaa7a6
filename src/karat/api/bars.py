"""Progress bars for work that takes longer than a second: in terminals and in notebooks."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from karat.progress import Progress, silent

_WIDTH = 30
_PATIENCE = 1.0  # seconds before the bar shows
_PAUSE = 0.1  # seconds between two drawings


class _Bar(ABC):
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

    def __call__(self, done: int, total: int, what: str) -> None:
        now = time.monotonic()
        if now - self._started < _PATIENCE or now - self._drawn < _PAUSE:
            return
        self.draw(done, total, what[:40])
        self._drawn, self._shown = now, True

    @abstractmethod
    def draw(self, done: int, total: int, what: str) -> None:
        """Draw the bar, in place of an earlier one."""

    @abstractmethod
    def clear(self) -> None:
        """Take the bar away."""


class Bar(_Bar):
    """A bar on standard error, drawn only on a terminal."""

    def __call__(self, done: int, total: int, what: str) -> None:
        if sys.stderr.isatty():
            super().__call__(done, total, what)

    def draw(self, done: int, total: int, what: str) -> None:
        sys.stderr.write(f"\r\x1b[K{what:<12} {self._drawn_share(done, total)}")
        sys.stderr.flush()

    @staticmethod
    def _drawn_share(done: int, total: int) -> str:
        if not total:
            return f"{done:,}"
        full = int(done / total * _WIDTH)
        bar = "█" * full + "░" * (_WIDTH - full)
        return f"{bar} {done / total:4.0%} {done:,}/{total:,}"

    def clear(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class NotebookBar(_Bar):
    """One line in the output of a notebook's cell, which is updated and then emptied."""

    def __init__(self) -> None:
        super().__init__()
        self._handle: Any = None

    def draw(self, done: int, total: int, what: str) -> None:
        from html import escape

        counts = f"{done:,}/{total:,}" if total else f"{done:,}"
        element = f'<progress value="{done}" max="{total}"></progress>' if total else ""
        self._show(f"{what} {counts}", f"<div>{escape(what)} {element} {counts}</div>")

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
def shown(progress: Progress | bool) -> Iterator[Progress]:
    """Yield a progress callback: the one that is given, or a bar where True is."""
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield silent
    else:
        with NotebookBar() if in_notebook() else Bar() as bar:
            yield bar
