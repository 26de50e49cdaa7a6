"""A process that computes live results, so that people who judge never wait for them.

Python runs one thread at a time. Results of a large store take seconds, in which each answer to an
assessor would wait; in a process of lower priority they do not matter. It ends with the studio.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from karat.errors import KaratError, OutputError
from karat.studio.live.results import LiveResults, live_results
from karat.studio.store.store import Store

LOWER = 10
"""The priority: steps below that of the studio."""


class Worker:
    """The process, as the studio knows it; one question at a time."""

    def __init__(self, path: Path) -> None:
        context = get_context("spawn")
        try:
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=serve, args=(theirs, str(path)), daemon=True)
            self._process.start()
        except OSError as error:
            why = error.strerror or error
            raise OutputError(f"the live results could not be computed: {why}") from None
        theirs.close()  # so that an end of the process is noticed

    def ask(self) -> LiveResults:
        """Return the results as they are now."""
        try:
            self._pipe.send(None)
            found = self._pipe.recv()
        except (EOFError, OSError):
            raise OutputError("the live results could not be computed: try again") from None
        if isinstance(found, KaratError):
            raise found
        results: LiveResults = found
        return results


def serve(pipe: Connection, path: str) -> None:
    """Compute whenever asked, until the studio ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the studio, and that ends this
    if hasattr(os, "nice"):
        os.nice(LOWER)
    with suppress(OSError):  # the studio no longer listens
        try:
            with Store.reading(path) as store:
                while _asked(pipe):
                    pipe.send(_results(store))
        except KaratError as error:  # it is not a store any more
            if _asked(pipe):
                pipe.send(error)


def _results(store: Store) -> LiveResults | KaratError:
    try:
        with store.intact():
            return live_results(store)
    except KaratError as error:
        return error


def _asked(pipe: Connection) -> bool:
    try:
        pipe.recv()
    except (EOFError, OSError):
        return False
    return True
