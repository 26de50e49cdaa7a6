"""Spark: a local one in its own Java process, or a running master."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from karat.arrow.jobs import EngineWork, Report
from karat.arrow.pieces import TablePiece
from karat.errors import InputError, MetricError, MissingExtra, quoted
from karat.progress import interrupts_later
from karat.scale.clusters import (
    ATTEMPTS,
    Cluster,
    absolute,
    check_listening,
    first_line,
    import_extra,
    on_this_machine,
)
from karat.settings import (
    parse_settings,
    quote_if_needed,
    setting,
    split_unquoted,
    unquote_value,
)
from karat.storage.output import temporary_folder

T = TypeVar("T")

_POLL_SECONDS = 0.1
_CHECK_SECONDS = 5.0


class Delivered:
    """Accumulator that appends results to a list."""

    def zero(self, value: list[Any]) -> list[Any]:
        """Return the value of a task without results."""
        return []

    def addInPlace(self, value: list[Any], more: list[Any]) -> list[Any]:  # noqa: N802
        """Append results; Spark prescribes the name."""
        value.extend(more)
        return value


class SparkRunner:
    """Runs pieces as jobs of a Spark context."""

    def __init__(self, engine: Cluster, context: Any) -> None:
        self._engine, self._context = engine, context
        self._last_checked = time.monotonic()

    def run(
        self, work: EngineWork[T], pieces: Sequence[TablePiece], report: Report | None = None
    ) -> Iterator[tuple[int, T]]:
        """Yield results as they arrive.

        The job runs in its own thread, because a call of Java must not be interrupted.
        """
        from pyspark import InheritableThread

        arrived = self._context.accumulator([], Delivered())
        problems: list[Problem] = []

        def work_on(item: tuple[int, TablePiece]) -> None:
            arrived.add([outcome_of(work, *item)])

        def run_job() -> None:
            try:
                self._context.parallelize(numbered, len(numbered)).foreach(work_on)
            except Exception as error:  # examined here, while Java still runs
                task = _TASK.search(str(error))  # the tasks of a job are its pieces, in order
                problems.append((reason_of(error), int(task[1]) if task else None))

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
        if not (problems or missing):
            return
        reason, place = problems[0] if problems else ("gone", None)
        failed_piece = None if place is None else pieces[place]
        if reason == "gone":
            raise self._engine.gone()
        if reason == "died" and failed_piece:
            raise self._engine.lost_workers(failed_piece)
        raise self._engine.failed(failed_piece, first_line(reason))

    def _check_alive(self) -> None:
        """Check periodically that a master or executor is left: Spark would wait forever."""
        if time.monotonic() - self._last_checked < _CHECK_SECONDS:
            return
        self._last_checked = time.monotonic()
        masters = (self._engine.address or "").partition("spark://")[2]
        tracker = self._context._jsc.sc().statusTracker()
        if masters and len(tracker.getExecutorInfos()) <= 1:  # the driver alone
            try:
                check_listening(self._engine, masters)
            except InputError as error:
                raise self._engine.gone() from error


def outcome_of(work: EngineWork[T], at: int, piece: TablePiece) -> tuple[int, T | None, str]:
    """Return the position of a piece, and the result of its work or the error message.

    Spark would retry a task that raises, and report it as a Java exception.
    """
    try:
        return at, work(piece), ""
    except Exception as error:
        return at, None, f"{type(error).__name__}: {first_line(error)}"


Problem = tuple[str, int | None]
"""Reason for the end of a job, and the position of the piece concerned, if known."""
_TASK = re.compile(r"\bTask (\d+) in stage")
_DIED = re.compile(
    r"Python worker exited unexpectedly|ExecutorLostFailure|OutOfMemoryError|EOFException"
)
_RAISED = re.compile(r"^(?:pyspark\.\S+: )?([A-Za-z_][\w.]*(?:Error|Exception|Interrupt)\b:? ?.*)$")
_GONE = ("Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError", "BrokenPipeError")
_STOPPED = re.compile(
    r"SparkContext (?:was shut down|has been shutdown)|stopped SparkContext|Application .* killed"
)


def reason_of(error: BaseException) -> str:
    """Return `died` for dead workers, `gone` for a lost Spark, else the error of the work."""
    if type(error).__name__ in _GONE:
        return "gone"
    text = str(error)
    if _STOPPED.search(text):
        return "gone"
    lines = text.splitlines()
    inside = [i for i, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    if inside:  # a Python traceback of a worker, whose last line has the error
        for line in lines[inside[0] + 1 :]:
            match = _RAISED.match(line.strip()) if not line.startswith("  ") else None
            if match:
                return match.group(1)
    if _DIED.search(text):
        return "died"
    causes = [line.partition("Exception: ")[2] for line in lines if "Exception: " in line]
    return next((cause for cause in causes if cause), text)


_QUIET = {
    "spark.app.name": "karat",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.task.maxFailures": str(ATTEMPTS),
}
_LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}


@dataclass(frozen=True)
class Spark(Cluster):
    """Spark: a master such as spark://host:7077, yarn or k8s://…; any `spark.*` is a setting."""

    name: ClassVar[str] = "spark"
    title: ClassVar[str] = "Spark"
    conf: tuple[str, ...] = setting(
        (), "Spark's own settings: spark.executor.memory=4g and others, by their full names."
    )

    @classmethod
    def parse(cls, text: str) -> Spark:
        """Parse `spark:setting=value,…`; names that begin with `spark.` are Spark's settings."""
        head, _, rest = text.partition(":")
        items = [item.strip() for item in split_unquoted(rest, ",") if item.strip()]
        karat_items = ",".join(item for item in items if not item.startswith("spark."))
        more = [item.partition("=") for item in items if item.startswith("spark.")]
        engine = parse_settings(cls, f"{head}:{karat_items}" if karat_items else head)
        values = {key.strip(): unquote_value(value.strip()) for key, _, value in more}
        return engine.with_options({key: value or "" for key, value in values.items()})

    def _written(self, value: Callable[[str], str], names: Iterable[str] | None = None) -> str:
        if not self.conf:
            return super()._written(value, names)
        text = replace(self, conf=())._written(value, names)
        pairs = (item.partition("=") for item in self.conf)
        items = (f"{key}={quote_if_needed(value)}" for key, _, value in pairs)
        return text + ("," if ":" in text else ":") + ",".join(items)

    def with_options(self, options: Mapping[str, str]) -> Spark:
        """Return the engine with other settings; `spark.*` are passed to Spark."""
        if "conf" in options:
            raise MetricError("spark: give Spark's own settings by their full names, spark.…=…")
        karat_options = {
            key: value for key, value in options.items() if not key.startswith("spark.")
        }
        more = tuple(f"{key}={options[key]}" for key in options if key not in karat_options)
        engine = super().with_options(karat_options)
        return replace(engine, conf=(*self.conf, *more)) if isinstance(engine, Spark) else self

    def settings_for(self, workers: int, folder: str) -> dict[str, str]:
        """Return all settings for Spark."""
        master = self.address or f"local[{workers},{ATTEMPTS}]"
        settings = {"spark.master": master, **_QUIET}
        if self.address is None or on_this_machine(self.address):
            settings.update(_LOOPBACK)
        if self.address is None:
            settings.update({"spark.local.dir": folder, "spark.driver.memory": "1g"})
        for item in self.conf:
            key, equals, value = item.partition("=")
            if not (key.startswith("spark.") and equals):
                raise MetricError(f"spark: conf {quoted(item)}: expected spark.…=value")
            settings[key] = value
        return settings

    @contextmanager
    def running(self, pieces: int) -> Iterator[SparkRunner]:
        """Start a local Spark, or connect to a master."""
        import_extra("pyspark", self.title, "spark")
        self._check_java_and_address()
        with temporary_folder("karat-spark") as folder:
            chosen = self.settings_for(self.local_workers(pieces), folder)
            with (
                open(os.path.join(folder, "log"), "wb") as log,
                self._context(chosen, log) as context,
            ):
                yield SparkRunner(self, context)

    def _check_java_and_address(self) -> None:
        home = os.environ.get("JAVA_HOME")
        java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
        if java is None:
            location = f" in JAVA_HOME={home}" if home else ""
            raise MissingExtra(
                f"Spark needs Java 17 or later, and there is no java{location}: install it"
            )
        address = self.address or ""
        if address.startswith("sc://"):
            raise self.unreachable("Spark Connect has no tasks, expected spark://host:port")
        if address.startswith("spark://"):
            check_listening(self, address.removeprefix("spark://"))

    @contextmanager
    def _context(self, chosen: Mapping[str, str], log: Any) -> Iterator[Any]:
        """Start a Java process that writes to a log file; end it after the block."""
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway

        if SparkContext._active_spark_context is not None:
            raise InputError("this process has a SparkContext already: stop it first")
        conf = SparkConf(loadDefaults=False).setAll(list(chosen.items()))
        context = gateway = None
        try:
            try:
                with interrupts_later():  # also keeps out pyspark's handler, which calls Java
                    gateway = launch_gateway(conf, {"stderr": log, "stdout": log})
                    context = SparkContext(conf=conf, gateway=gateway)
                    context.setLogLevel("OFF")
                if self.address is None or "PYSPARK_PYTHON" not in os.environ:
                    context.pythonExec = sys.executable
            except Exception as error:  # any Java exception
                raise self.not_started(error) from error
            yield context
        finally:
            _stop_spark(context, gateway)


def _stop_spark(context: Any, gateway: Any) -> None:
    """Stop the context; the Java process ends when its input closes."""
    from pyspark import SparkContext

    with suppress(Exception):  # the Java process may be gone
        if context is not None:
            context.stop()
    if gateway is None:
        return
    with suppress(Exception):
        gateway.shutdown()
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(20)
    except Exception:
        gateway.proc.kill()
        gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None
