"""A progress bar on standard error, for work that takes longer than a second."""

from __future__ import annotations

import sys
import time

_WIDTH = 30
_PATIENCE = 1.0  # seconds before the bar shows
_PAUSE = 0.1  # seconds between two drawings


class Bar:
    """`with Bar() as progress:` gives a progress callback; it draws only on a terminal."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._drawn = 0.0
        self._shown = False
        self._tty = sys.stderr.isatty()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, done: int, total: int, what: str) -> None:
        now = time.monotonic()
        if not self._tty or now - self._started < _PATIENCE or now - self._drawn < _PAUSE:
            return
        share = done / total if total else 1.0
        full = int(share * _WIDTH)
        bar = "█" * full + "░" * (_WIDTH - full)
        sys.stderr.write(f"\r\x1b[K{what[:40]:<12} {bar} {share:4.0%} {done:,}/{total:,}")
        sys.stderr.flush()
        self._drawn, self._shown = now, True
