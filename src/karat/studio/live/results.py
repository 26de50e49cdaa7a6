"""All live results of one state of a store, as the owner's page shows them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

from karat.errors import KaratError, OutputError
from karat.studio.disputes import Dispute, find_disputes
from karat.studio.live.progress import Coverage, Workload, coverage, read_workloads
from karat.studio.live.state import Version, read_version
from karat.studio.live.statistics import LiveAgreement, LiveEstimate, estimates, get_agreement
from karat.studio.store.events import stamp
from karat.studio.store.projects import REVEALED
from karat.studio.store.store import Store

MAX_DISPUTES = 10


class LiveResults(NamedTuple):
    """Results of one version of a store."""

    version: Version
    time: str
    """When they were computed."""
    coverage: Coverage
    agreement: LiveAgreement
    work: Mapping[int, Workload]
    disputes: list[Dispute]
    """The largest."""
    estimates: list[LiveEstimate]
    """Empty before somebody may see them."""


def compute_live_results(store: Store) -> LiveResults:
    """Compute the results of the current version of a store."""
    with store.read() as connection:
        version = read_version(connection)
        may_estimate = version.has_asked or version.state == REVEALED
        return LiveResults(
            version,
            stamp(),
            coverage(store),
            get_agreement(store),
            read_workloads(store),
            find_disputes(store)[:MAX_DISPUTES],
            estimates(store) if may_estimate else [],
        )


LOWER = 10
"""The priority: steps below that of the studio."""


class Worker:
    """The process, as the studio knows it; one question at a time."""

    def __init__(self, path: Path) -> None:
        context = get_context("spawn")
        try:
            self._pipe, worker_end = context.Pipe()
            self._process = context.Process(target=serve, args=(worker_end, str(path)), daemon=True)
            self._process.start()
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"the live results could not be computed: {reason}") from None
        worker_end.close()  # so that an end of the process is noticed

    def ask(self) -> LiveResults:
        """Return the results as they are now."""
        try:
            self._pipe.send(None)
            reply = self._pipe.recv()
        except (EOFError, OSError):
            raise OutputError("the live results could not be computed: try again") from None
        if isinstance(reply, KaratError):
            raise reply
        results: LiveResults = reply
        return results


def serve(pipe: Connection, path: str) -> None:
    """Compute whenever asked, until the studio ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the studio, and that ends this
    if hasattr(os, "nice"):
        os.nice(LOWER)
    with suppress(OSError):  # the studio no longer listens
        try:
            with Store.reading(path) as store:
                while _wait_for_request(pipe):
                    pipe.send(_results(store))
        except KaratError as error:  # it is not a store any more
            if _wait_for_request(pipe):
                pipe.send(error)


def _results(store: Store) -> LiveResults | KaratError:
    try:
        with store.intact():
            return compute_live_results(store)
    except KaratError as error:
        return error


def _wait_for_request(pipe: Connection) -> bool:
    try:
        pipe.recv()
    except (EOFError, OSError):
        return False
    return True


FEW = 5000
"""Judgements of which results take a fraction of a second."""
PATIENCE = 0.5
"""Seconds that somebody waits for newer results."""


class LatestResults:
    """The results of one store."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._known: LiveResults | None = None
        self._fault: KaratError | None = None
        self._busy = False
        self._rests_until = 0.0
        self._worker: Worker | None = None

    def get(self, store: Store) -> LiveResults | None:
        """Return the newest results; None if there are none yet."""
        with store.read() as connection:
            version = read_version(connection)
        with self._changed:
            if self._is_known(version):
                return self._known
            if version.judgement < FEW:
                self._known = compute_live_results(store)
                return self._known
            self._begin(store)
            self._changed.wait_for(lambda: self._is_known(version) or not self._busy, PATIENCE)
            if self._fault and self._known is None:
                raise self._fault
            return self._known

    def _is_known(self, version: Version) -> bool:
        return self._known is not None and self._known.version == version

    def _begin(self, store: Store) -> None:
        """Let the process compute, if it does not yet and has rested."""
        if not self._busy and time.monotonic() >= self._rests_until:
            self._busy = True
            threading.Thread(target=self._compute, args=(store,), daemon=True).start()

    def _compute(self, store: Store) -> None:
        begun, results, fault = time.monotonic(), None, None
        try:
            self._worker = self._worker or Worker(store.path)
            results = self._worker.ask()
        except KaratError as error:
            self._worker, fault = None, error
        with self._changed:
            self._known, self._fault = results or self._known, fault
            self._busy = False
            self._rests_until = 2 * time.monotonic() - begun  # as long as it took
            self._changed.notify_all()


_LATEST: WeakKeyDictionary[Store, LatestResults] = WeakKeyDictionary()
_LATEST_LOCK = threading.Lock()


def get_latest_results(store: Store) -> LiveResults | None:
    """Return the newest results of an open store; None if they are being computed."""
    with _LATEST_LOCK:
        latest = _LATEST.setdefault(store, LatestResults())
    return latest.get(store)
