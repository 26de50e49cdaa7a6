"""The keyboard of an assessor: single keys on a terminal, lines elsewhere."""

from __future__ import annotations

import codecs
import os
import re
import sys
from contextlib import suppress
from typing import Any

_BEGUN = re.compile(r"\x1b(\[[0-?]*[ -/]*|O)?")
_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.)")
"""Sequences that keys such as the arrows send."""
_PAUSE = 0.05  # seconds within which the rest of a sequence follows
_END, _STOP = "\x04", "\x03"  # Ctrl-D, Ctrl-C


class Keyboard:
    """Standard input; what was typed ahead is kept, whichever way it is asked for."""

    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._found: list[Any] | None = None
        self._typed = ""
        self._decoder = codecs.getincrementaldecoder(sys.stdin.encoding or "utf-8")("replace")

    def __enter__(self) -> Keyboard:
        try:
            import termios
        except ImportError:  # a system that has none: lines are read
            return self
        with suppress(termios.error):  # no terminal
            self._found = termios.tcgetattr(self._fd)
        return self

    def __exit__(self, *error: object) -> None:
        self._set(by_key=False)

    def key(self) -> str:
        """The next key, empty for one that is no character; without a terminal, of a line."""
        if self._found is None:
            return self.line().strip()[:1] or "?"
        self._set(by_key=True)
        while not self._typed:
            self._read()
        if self._typed[0] == "\x1b":
            return self._escape()
        pressed, self._typed = self._typed[0], self._typed[1:]
        if pressed == _END:
            raise EOFError
        if pressed == _STOP:
            raise KeyboardInterrupt
        return pressed

    def line(self) -> str:
        """The next line."""
        self._set(by_key=False)
        while "\n" not in self._typed and not self._typed.startswith(_END):
            try:
                self._read()
            except EOFError:
                if not self._typed:
                    raise
                self._typed += "\n"
        if self._typed.startswith(_END):
            raise EOFError
        line, _, self._typed = self._typed.partition("\n")
        return line.removesuffix("\r")

    def _escape(self) -> str:
        """Pass over a sequence."""
        import select

        while _BEGUN.fullmatch(self._typed) and select.select([self._fd], [], [], _PAUSE)[0]:
            self._read()
        found = _SEQUENCE.match(self._typed) or _BEGUN.fullmatch(self._typed)
        self._typed = self._typed[found.end() if found else 1 :]
        return ""

    def _read(self) -> None:
        try:
            data = os.read(self._fd, 4096)
        except OSError as error:  # the terminal has gone
            raise EOFError from error
        if not data:
            raise EOFError
        self._typed += self._decoder.decode(data)

    def _set(self, by_key: bool) -> None:
        """Keys one by one and unseen, or lines as the terminal had them; Ctrl-C stays Ctrl-C."""
        if self._found is None:
            return
        import termios

        mode = [*self._found]
        if by_key:
            mode[3] = mode[3] & ~(termios.ICANON | termios.ECHO)
            mode[6] = [*mode[6]]
            mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        with suppress(termios.error):  # the terminal has gone: the next reading says so
            termios.tcsetattr(self._fd, termios.TCSANOW, mode)
