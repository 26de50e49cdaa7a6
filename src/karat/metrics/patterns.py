"""Regular expressions with a time limit for each text.

Some patterns, such as `(a+)+$`, take exponential time on some texts, and Python's `re` cannot be
interrupted. So texts are matched by another process, which is killed when a text takes too long.
It starts with the first match and ends with this process. The limit is on processor time, so that a
busy machine changes nothing; Windows has no such timer, and the limit is on elapsed time there.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from karat.arrays import Flags, np
from karat.errors import InputError, short

SECONDS_PER_TEXT = 2.0
"""Most time that one text may take."""
_SECONDS_PER_CHECK = 0.1  # between two checks whether the work was stopped
_SCRIPT = Path(__file__).with_name("regex_worker.py")


class TooSlow(Exception):
    """A text took longer than the limit; `index` is its index."""

    def __init__(self, index: int) -> None:
        super().__init__(f"text {index} took too long")
        self.index = index


def pattern_problem(pattern: str) -> str:
    """Describe why a pattern does not compile; empty if it does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except re.error as error:
        place = "" if error.pos is None else f" at character {error.pos + 1}"
        return f"{error.msg}{place}"
    except RecursionError:
        return "it is nested too deeply"
    except (OverflowError, MemoryError) as error:
        return str(error) or "it is too large"
    return ""


class _Worker:
    """A process that matches patterns."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, TypeError) as error:
            raise InputError(f"regex: cannot start {sys.executable} to match: {error}") from error
        self._input: Any = self._process.stdin
        self._output: Any = self._process.stdout
        self._replies: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        """Put replies into the queue as they come, and an empty one at the end."""
        with self._output:
            while reply := self._output.read1():
                self._replies.put(reply)
        self._replies.put(b"")

    def match(
        self, pattern: str, full: bool, texts: Sequence[str], check: Callable[[], None] | None
    ) -> bytes:
        """Return `1` or `0` for each text; raise `TooSlow`."""
        request = json.dumps([pattern, full, SECONDS_PER_TEXT, *texts]).encode("ascii")
        try:
            self._input.write(len(request).to_bytes(8, "little"))
            self._input.write(request)
            self._input.flush()
        except OSError as error:
            raise self._ended() from error
        replies, since = b"", time.monotonic()
        while len(replies) < len(texts):
            if check is not None:
                check()
            try:
                reply = self._replies.get(timeout=_SECONDS_PER_CHECK)
            except Empty:
                waited = time.monotonic() - since
                if not hasattr(signal, "setitimer") and waited > SECONDS_PER_TEXT:
                    raise TooSlow(len(replies)) from None
                continue
            if not reply:
                if self._process.wait() == -getattr(signal, "SIGPROF", 0):
                    raise TooSlow(len(replies))
                raise self._ended()
            replies, since = replies + reply, time.monotonic()
        return replies

    def _ended(self) -> InputError:
        code = self._process.wait()
        return InputError(
            f"regex: the process that matches patterns ended with code {code}: is there enough "
            "memory?"
        )

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):  # a broken pipe has unsent data
            self._input.close()


_idle: list[_Worker] = []
"""Processes that wait for work; each thread takes one for itself."""


def _take_worker() -> _Worker:
    """Return an idle process of this process (not of one that it was forked from), or a new one."""
    while _idle:
        try:
            worker = _idle.pop()
        except IndexError:  # another thread was faster
            break
        if worker.owner == os.getpid():
            return worker
    return _Worker()


@atexit.register
def close_workers() -> None:
    """End all idle processes."""
    while _idle:
        worker = _idle.pop()
        if worker.owner == os.getpid():
            worker.close()


def match_texts(
    pattern: str, full: bool, texts: Sequence[str], check: Callable[[], None] | None = None
) -> Flags:
    """Return whether each text contains a match of a pattern, or as a whole is one.

    Raise `TooSlow` if a text takes too long. `check` raises if the work was stopped.
    """
    worker = _take_worker()
    try:
        replies = worker.match(pattern, full, texts, check)
    except BaseException:
        worker.close()
        raise
    _idle.append(worker)
    matched: Flags = np.frombuffer(replies, np.uint8) == ord("1")
    return matched


def too_slow_error(pattern: str, segment: int) -> InputError:
    """Return the error for a segment on which a pattern takes too long."""
    return InputError(
        f"segment {segment:,}: the pattern {short(pattern)} takes more than "
        f"{SECONDS_PER_TEXT:g} seconds on this text; simplify the pattern (nested repeats, as in "
        "(a+)+, can take forever), or leave out the metric"
    )
