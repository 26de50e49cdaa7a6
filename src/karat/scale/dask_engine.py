"""Dask: pieces as tasks of a `distributed` cluster, with a limit on tasks under way."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from karat.arrow.jobs import EngineWork, Report
from karat.arrow.pieces import TablePiece
from karat.progress import interrupts_later
from karat.scale.clusters import (
    ANSWER_SECONDS,
    ATTEMPTS,
    Cluster,
    absolute,
    first_line,
    import_extra,
)

T = TypeVar("T")

_CONFIG = {
    "distributed.scheduler.allowed-failures": ATTEMPTS - 1,
    "distributed.worker.profile.enabled": False,  # it would sample stacks every 10 ms
}
_QUICK_ANSWER = {"distributed.comm.timeouts.connect": f"{ANSWER_SECONDS}s"}
_MIN_WINDOW = 8
_PAUSE = 0.02
"""Seconds between two checks for results."""
_TIMEOUT_SECONDS = {True: 60.0, False: 600.0}
"""Maximum time without workers: on this machine (True) or elsewhere (False)."""


@dataclass(frozen=True)
class Dask(Cluster):
    """A cluster of Dask's `distributed`, such as tcp://host:8786."""

    name: ClassVar[str] = "dask"
    title: ClassVar[str] = "Dask"

    @contextmanager
    def running(self, pieces: int) -> Iterator[DaskRunner]:
        """Start local workers, or connect to a scheduler."""
        distributed = import_extra("distributed", self.title, "dask")
        dask = import_extra("dask", self.title, "dask")
        # Workers may start slowly on a busy machine; an address must answer quickly.
        config = _CONFIG if self.address is None else _CONFIG | _QUICK_ANSWER
        with _quiet_client(), dask.config.set(config), ExitStack() as stack:
            if self.address is None:
                stack.enter_context(_without_script())
                workers = self.local_workers(pieces)
                client = self._local(distributed, workers, stack)
            else:
                workers = 0
                client = self._connected(distributed, stack)
            yield DaskRunner(self, distributed, client, workers)

    def _local(self, distributed: ModuleType, workers: int, stack: ExitStack) -> Any:
        with interrupts_later(), _interrupts_blocked():
            try:
                cluster = distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",  # None would open port 8787 on all networks
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
                stack.enter_context(cluster)
                return stack.enter_context(distributed.Client(cluster, set_as_default=False))
            except (OSError, RuntimeError, ValueError) as error:
                raise self.not_started(error) from error

    def _connected(self, distributed: ModuleType, stack: ExitStack) -> Any:
        try:
            kind = asyncio.run(_server_type(str(self.address)))
        except (OSError, ValueError, TypeError, asyncio.TimeoutError) as error:
            raise self.unreachable(f"no answer in {ANSWER_SECONDS:.0f} seconds") from error
        if kind != "Scheduler":
            raise self.unreachable(f"this is a Dask {kind}, expected a scheduler")
        try:
            client = distributed.Client(self.address, timeout=ANSWER_SECONDS, set_as_default=False)
            stack.enter_context(client)
            client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except (OSError, asyncio.TimeoutError) as error:
            raise self.unreachable("the scheduler has no workers") from error
        return client


@contextmanager
def _quiet_client() -> Iterator[None]:
    """Silence the log of the client: the error message reports a lost scheduler."""
    logger = logging.getLogger("distributed.client")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


async def _server_type(address: str) -> str:
    """Return the type of the server; a client would wait longer and print a traceback."""
    core = import_extra("distributed.core", "Dask", "dask")

    async def ask() -> str:
        async with core.rpc(address, timeout=ANSWER_SECONDS) as remote:
            return str((await remote.identity()).get("type"))

    return await asyncio.wait_for(ask(), ANSWER_SECONDS)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in this thread, and in all threads and processes that it starts.

    A terminal sends Ctrl-C to workers, too, but the client must end them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # before blocking: its start unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_script() -> Iterator[None]:
    """Hide the file of the main script, because new workers would run it again."""
    script = sys.modules["__main__"]
    stand_in = ModuleType("__main__")
    hidden = {"__file__": None, "__spec__": None}
    vars(stand_in).update({**vars(script), **hidden})
    sys.modules["__main__"] = stand_in
    try:
        yield
    finally:
        sys.modules["__main__"] = script


class DaskRunner:
    """Runs pieces on a scheduler with workers."""

    def __init__(self, engine: Dask, distributed: Any, client: Any, started: int) -> None:
        self._engine, self._distributed, self._client = engine, distributed, client
        self._started = started

    def run(
        self, work: EngineWork[T], pieces: Sequence[TablePiece], report: Report | None = None
    ) -> Iterator[tuple[int, T]]:
        """Yield results as they arrive, with several pieces per worker under way."""
        waiting = iter(enumerate(pieces))
        under_way: dict[Any, int] = {}
        stream = self._distributed.as_completed(loop=self._client.loop)
        try:
            self._submit(work, waiting, under_way, stream)
            while under_way:
                self._wait(stream)
                future = next(stream)
                if future.status in ("lost", "pending"):  # its worker died: it is run again
                    stream.add(future)
                    continue
                piece_number = under_way.pop(future)
                result = self._result(future, pieces[piece_number])
                future.release()  # the cluster need not keep it
                self._submit(work, waiting, under_way, stream)
                yield piece_number, result
        finally:
            with suppress(Exception):  # the cluster may be gone
                self._client.cancel(list(under_way), force=True)

    def _wait(self, stream: Any) -> None:
        """Wait for a result; raise an error if the cluster stays without workers."""
        last_had_workers = last_checked = time.monotonic()
        while not stream.has_ready():
            time.sleep(_PAUSE)
            now = time.monotonic()
            if now - last_checked < 1:
                continue
            last_checked = now
            if self._client.nthreads():
                last_had_workers = now
            elif now - last_had_workers > _TIMEOUT_SECONDS[self._started > 0]:
                raise self._engine.gone()

    def _submit(
        self, work: Any, waiting: Iterator[Any], under_way: dict[Any, int], stream: Any
    ) -> None:
        """Submit pieces until enough are under way."""
        for _ in range(self._window() - len(under_way)):
            piece_number, piece = next(waiting, (-1, None))
            if piece is None:
                return
            future = self._client.submit(work, absolute(piece), pure=False)
            under_way[future] = piece_number
            stream.add(future)

    def _window(self) -> int:
        """Return the maximum number of pieces under way; in a local cluster, one per worker.

        When a worker dies, the scheduler counts a failure for all pieces assigned to it, even for
        waiting ones. A cluster elsewhere gets more pieces, because only waiting ones let it grow.
        """
        if self._started:
            return self._started
        threads: int = sum(self._client.nthreads().values())
        return max(_MIN_WINDOW, 2 * threads)

    def _result(self, future: Any, piece: TablePiece) -> Any:
        try:
            return future.result()
        except self._distributed.KilledWorker as error:
            raise self._engine.lost_workers(piece) from error
        except self._distributed.CancelledError as error:
            raise self._engine.gone() from error
        except Exception as error:
            message = f"{type(error).__name__}: {first_line(error)}"
            raise self._engine.failed(piece, message) from error
