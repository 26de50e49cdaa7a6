"""Ray: pieces as remote tasks, with a limit on tasks under way."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from karat.arrow.jobs import EngineWork, Report
from karat.arrow.pieces import TablePiece
from karat.errors import InputError
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

T = TypeVar("T")

_ENVIRONMENT = {
    "RAY_worker_niceness": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_task_oom_retries": str(ATTEMPTS - 1),  # infinite by default
    "RAY_raylet_start_wait_time_s": "60",
}
_LOOPBACK = "127.0.0.1"
_STORE_BYTES = 200 << 20  # results are small; Ray's default is a third of the memory
_MIN_WINDOW = 8
_WAIT_SECONDS = 1.0
_CHECK_SECONDS = 5.0


@dataclass(frozen=True)
class Ray(Cluster):
    """A cluster of Ray, such as host:6379, ray://host:10001 or auto."""

    name: ClassVar[str] = "ray"
    title: ClassVar[str] = "Ray"

    @contextmanager
    def running(self, pieces: int) -> Iterator[RayRunner]:
        """Start local workers, or connect to a cluster, or use the session of this process."""
        with _environment(), _quiet_listener():
            ray = import_extra("ray", self.title, "ray")
            if ray.is_initialized():
                problem = "this process has a Ray session already"
                if self.workers is not None:
                    raise InputError(f"{problem}, which has its own workers: leave workers out")
                if self.address not in (None, "auto", head_of(ray)):
                    advice = "leave the address out, or end it"
                    raise InputError(f"{problem}, not at {self.address}: {advice}")
                yield RayRunner(self, ray)
                return
            try:
                self._start(ray, pieces)
                yield RayRunner(self, ray)
            finally:
                ray.shutdown()

    def _start(self, ray: Any, pieces: int) -> None:
        settings: dict[str, Any] = {"address": self.address}
        if self.address is None:
            settings = {
                "address": "local",  # else Ray would join a running cluster
                "num_cpus": self.local_workers(pieces),
                "include_dashboard": False,
                "object_store_memory": _STORE_BYTES,
                "_node_ip_address": _LOOPBACK,
            }
        elif "://" not in self.address and on_this_machine(self.address):
            settings["_node_ip_address"] = _LOOPBACK
        if self.address is not None and self.address != "auto":
            check_listening(self, self.address.removeprefix("ray://").rstrip("/"))
        try:
            # Ray's messages are hidden; its exceptions have the relevant information.
            with interrupts_later(), _silent_errors():
                ray.init(**settings, log_to_driver=False, logging_level="CRITICAL")
        except (OSError, RuntimeError, ValueError, TimeoutError) as error:
            raise self.not_started(error) from error


@contextmanager
def _environment() -> Iterator[None]:
    """Set variables for the import and start of Ray; remove them afterwards."""
    added = {name: value for name, value in _ENVIRONMENT.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextmanager
def _silent_errors() -> Iterator[None]:
    """Discard standard error, including that of compiled code."""
    sys.stderr.flush()
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


class _OutputOfOwnThreads:
    """Standard output without the messages of Ray's threads about dead workers."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write unless called from a thread of Ray."""
        if threading.current_thread().name.startswith("ray_"):
            return len(text)
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _quiet_listener() -> Iterator[None]:
    """Keep Ray's messages out of standard output, which is for results."""
    before = sys.stdout
    sys.stdout = _OutputOfOwnThreads(before)
    try:
        yield
    finally:
        sys.stdout = before


def head_of(ray: Any) -> str:
    """Return host:port of the head of the cluster; "" for a `ray://` client."""
    if import_extra("ray.util.client", "Ray", "ray").ray.is_connected():
        return ""
    return str(ray.get_runtime_context().gcs_address)


class RayRunner:
    """Runs pieces on a started or connected cluster."""

    def __init__(self, engine: Ray, ray: Any) -> None:
        self._engine, self._ray = engine, ray
        self._head = head_of(ray)
        self._window, self._next_check = _MIN_WINDOW, 0.0

    def run(
        self, work: EngineWork[T], pieces: Sequence[TablePiece], report: Report | None = None
    ) -> Iterator[tuple[int, T]]:
        """Yield results as they arrive, with several pieces per worker under way."""
        ray, waiting = self._ray, iter(enumerate(pieces))
        under_way: dict[Any, int] = {}

        def work_on(piece: TablePiece) -> T:  # Ray does not accept partial functions
            return work(piece)

        task = ray.remote(work_on).options(
            max_retries=ATTEMPTS - 1, retry_exceptions=False, num_cpus=1, name="karat"
        )
        try:
            while True:
                self._check_head()
                self._submit(task, waiting, under_way)
                if not under_way:
                    return
                done, _ = ray.wait(list(under_way), num_returns=1, timeout=_WAIT_SECONDS)
                for reference in done:
                    at = under_way.pop(reference)
                    yield at, self._get_result(reference, pieces[at])
                done = reference = None
        finally:
            with suppress(Exception):  # the cluster may be gone
                for reference in under_way:
                    ray.cancel(reference, force=True)

    def _submit(self, task: Any, waiting: Iterator[Any], under_way: dict[Any, int]) -> None:
        """Submit pieces until the window is full."""
        while len(under_way) < self._window:
            at, piece = next(waiting, (-1, None))
            if piece is None:
                return
            under_way[task.remote(absolute(piece))] = at

    def _check_head(self) -> None:
        """Check periodically that the head answers, and update the number of processors.

        Without a head, most calls of Ray block, and after a minute Ray ends this process.
        """
        if time.monotonic() < self._next_check:
            return
        if self._head:
            try:
                check_listening(self._engine, self._head)
            except InputError as error:
                raise self._engine.gone() from error
        processors = int(self._ray.cluster_resources().get("CPU", 0))
        self._window = max(_MIN_WINDOW, 2 * processors)
        self._next_check = time.monotonic() + _CHECK_SECONDS

    def _get_result(self, done: Any, piece: TablePiece) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(done)
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError) as error:
            raise self._engine.lost_workers(piece) from error
        except errors.RayTaskError as error:
            cause = error.cause
            problem = f"{type(cause).__name__}: {first_line(cause)}"
            raise self._engine.failed(piece, problem) from error
        except (errors.RayError, OSError) as error:
            raise self._engine.gone() from error
