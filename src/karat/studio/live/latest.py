"""The newest live results: computed by one at a time, and never waited for long.

Small stores are computed at once. Of a large one a process computes; who asks gets what is known,
with its time, and the next results are computed meanwhile.
"""

from __future__ import annotations

import threading
import time
from weakref import WeakKeyDictionary

from karat.errors import KaratError
from karat.studio.live.results import LiveResults, live_results
from karat.studio.live.state import Version, version_in
from karat.studio.live.worker import Worker
from karat.studio.store.store import Store

FEW = 5000
"""Judgements of which results take a fraction of a second."""
PATIENCE = 0.5
"""Seconds that somebody waits for newer results."""


class Latest:
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
            version = version_in(connection)
        with self._changed:
            if self._is_known(version):
                return self._known
            if version.judgement < FEW:
                self._known = live_results(store)
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
        begun, found, fault = time.monotonic(), None, None
        try:
            self._worker = self._worker or Worker(store.path)
            found = self._worker.ask()
        except KaratError as error:
            self._worker, fault = None, error
        with self._changed:
            self._known, self._fault = found or self._known, fault
            self._busy = False
            self._rests_until = 2 * time.monotonic() - begun  # as long as it took
            self._changed.notify_all()


_LATEST: WeakKeyDictionary[Store, Latest] = WeakKeyDictionary()
_GUARD = threading.Lock()


def latest_results(store: Store) -> LiveResults | None:
    """Return the newest results of an open store; None if they are being computed."""
    with _GUARD:
        latest = _LATEST.setdefault(store, Latest())
    return latest.get(store)
