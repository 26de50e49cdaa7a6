"""Jobs of Spark: pieces are the tasks of one job; an accumulator brings results as they are done.

Spark adds what a task leaves in an accumulator exactly once, however often the task was tried.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from karat.arrow.engines import Report, Work
from karat.arrow.pieces import Piece
from karat.errors import InputError
from karat.scale.clusters import Cluster, absolute, check_listening, first_line

T = TypeVar("T")

_POLL_SECONDS = 0.1
_LOOK_SECONDS = 5.0


class Delivered:
    """Accumulator that appends results to a list."""

    def zero(self, value: list[Any]) -> list[Any]:
        """Return the value of a task that has left nothing."""
        return []

    def addInPlace(self, value: list[Any], more: list[Any]) -> list[Any]:  # noqa: N802
        """Append; Spark calls it by this name."""
        value.extend(more)
        return value


class SparkRunner:
    """A context, and the jobs that it runs."""

    def __init__(self, engine: Cluster, context: Any) -> None:
        self._engine, self._context = engine, context
        self._looked = time.monotonic()

    def run(
        self, work: Work[T], pieces: Sequence[Piece], report: Report | None = None
    ) -> Iterator[tuple[int, T]]:
        """Yield results as they come.

        The job waits in a thread of its own: a call of Java must not be interrupted.
        """
        from pyspark import InheritableThread

        arrived = self._context.accumulator([], Delivered())
        problems: list[Problem] = []

        def work_on(item: tuple[int, Piece]) -> None:
            arrived.add([outcome_of(work, *item)])

        def run_job() -> None:
            try:
                self._context.parallelize(numbered, len(numbered)).foreach(work_on)
            except Exception as error:
                problems.append(problem_of(error))  # asks Java: now, while it runs

        numbered = [(at, absolute(piece)) for at, piece in enumerate(pieces)]
        missing = set(range(len(pieces)))
        job = InheritableThread(target=run_job, daemon=True)
        job.start()
        try:
            while job.is_alive() or arrived.value:
                if not arrived.value:
                    job.join(_POLL_SECONDS)
                    self._check_alive()
                while arrived.value:
                    at, result, error = arrived.value.pop(0)
                    if error:
                        raise self._engine.failed(pieces[at], error)
                    missing.discard(at)
                    yield at, result
        finally:
            if job.is_alive():
                with suppress(Exception):
                    self._context.cancelAllJobs()
                job.join(10)
        if problems or missing:
            raise self._error(problems, pieces)

    def _check_alive(self) -> None:
        """Now and then, see whether a master or an executor is left: Spark would wait for ever."""
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        masters = (self._engine.address or "").partition("spark://")[2]
        tracker = self._context._jsc.sc().statusTracker()
        if masters and len(tracker.getExecutorInfos()) <= 1:  # the driver alone
            try:
                check_listening(self._engine, masters)
            except InputError as error:
                raise self._engine.gone() from error

    def _error(self, problems: list[Problem], pieces: Sequence[Piece]) -> Exception:
        reason, at = problems[0] if problems else ("gone", None)
        piece = None if at is None else pieces[at]
        if reason == "gone":
            return self._engine.gone()
        if reason == "died" and piece:
            return self._engine.lost_workers(piece)
        return self._engine.failed(piece, first_line(reason))


def outcome_of(work: Work[T], at: int, piece: Piece) -> tuple[int, T | None, str]:
    """Return the place of a piece and the result of its work, or the error that it raised.

    A task that fails would be tried again, and Spark would tell of it in Java's words.
    """
    try:
        return at, work(piece), ""
    except Exception as error:
        return at, None, f"{type(error).__name__}: {first_line(error)}"


Problem = tuple[str, int | None]
"""Reason for the end of a job, and the place of the piece that it is about."""
_TASK = re.compile(r"\bTask (\d+) in stage")


def problem_of(error: BaseException) -> Problem:
    """Return the reason for an error of Spark; the tasks of a job are its pieces, in order."""
    task = _TASK.search(str(error))
    return reason_of(error), int(task.group(1)) if task else None


_DIED = re.compile(
    r"Python worker exited unexpectedly|ExecutorLostFailure|OutOfMemoryError|EOFException"
)
_RAISED = re.compile(r"^(?:pyspark\.\S+: )?([A-Za-z_][\w.]*(?:Error|Exception|Interrupt)\b:? ?.*)$")
_GONE = ("Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError", "BrokenPipeError")
_STOPPED = re.compile(
    r"SparkContext (?:was shut down|has been shutdown)|stopped SparkContext|Application .* killed"
)


def reason_of(error: BaseException) -> str:
    """Return `died`, if workers did; `gone`, if Spark is; else the error that the work raised."""
    if type(error).__name__ in _GONE:
        return "gone"
    text = str(error)
    if _STOPPED.search(text):
        return "gone"
    lines = text.splitlines()
    inside = [i for i, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    if inside:  # of Python, in a worker: its last line says what it was
        for line in lines[inside[0] + 1 :]:
            found = _RAISED.match(line.strip()) if not line.startswith("  ") else None
            if found:
                return found.group(1)
    if _DIED.search(text):
        return "died"
    causes = [line.partition("Exception: ")[2] for line in lines if "Exception: " in line]
    return next((cause for cause in causes if cause), text)
