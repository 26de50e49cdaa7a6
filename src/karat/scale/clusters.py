"""Clusters: settings, addresses, pieces and failures shared by all engines."""

from __future__ import annotations

import os
import re
import socket
import threading
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar

from karat import __version__
from karat.arrow.jobs import Engine
from karat.arrow.pieces import TablePiece
from karat.errors import InputError, MetricError, MissingExtra, short
from karat.installation import install_command
from karat.progress import n_threads
from karat.settings import setting

ANSWER_SECONDS = 5.0
"""Time limit for an answer from an address."""
ATTEMPTS = 4
"""Attempts per piece when workers die."""


@dataclass(frozen=True)
class Cluster(Engine):
    """An engine whose workers are other processes, on this machine or elsewhere."""

    title: ClassVar[str]  # name in messages
    address: str | None = setting(
        None, "Address of a cluster; by default a local one is started.", kind=str, place=True
    )
    workers: int | None = setting(
        None, "Workers of a local cluster; by default one for each processor.", kind=int, low=1
    )

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if self.address is not None and self.workers is not None:
            problem = (
                "address and workers are both given, but a running cluster has its own workers"
            )
            raise MetricError(f"{self.name}: {problem}: leave one out")

    def local_workers(self, pieces: int) -> int:
        """Return the number of workers to start for a number of pieces."""
        return max(1, min(n_threads(self.workers), pieces))

    # ---------------------------------------------------------------------------------- failures

    def unreachable(self, reason: str) -> InputError:
        """Return the error for an unusable address."""
        return InputError(f"{self.title} at {self.address}: {reason}: is it running there?")

    def not_started(self, error: BaseException | str) -> InputError:
        """Return the error for a cluster that did not start."""
        if self.address is not None:
            return self.unreachable(first_line(error))
        return InputError(f"{self.title} does not start on this machine: {first_line(error)}")

    def lost_workers(self, piece: TablePiece) -> InputError:
        """Return the error for a piece whose workers died ATTEMPTS times."""
        return InputError(
            f"{place_of(piece)}: {ATTEMPTS} {self.title} workers died on this piece, most likely "
            "for lack of memory: use fewer workers, or give them more memory"
        )

    def failed(self, piece: TablePiece | None, error: str) -> InputError:
        """Return the error for an exception in a worker, with the piece if it is known."""
        location = f"{place_of(piece)}: " if piece else ""
        return InputError(
            f"{location}a {self.title} worker failed: {error} (every worker needs Karat "
            f"{__version__}, its extras and the same files)"
        )

    def gone(self) -> InputError:
        """Return the error for a cluster that ended before the work was done."""
        location = "on this machine" if self.address is None else f"at {self.address}"
        problem = f"{self.title} {location} went away before the work was done"
        return InputError(f"{problem}: start it again")


def first_line(error: BaseException | str) -> str:
    """Return the first line of a message, or the type of an error without a message."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return short(lines[0]).rstrip(".")


def place_of(piece: TablePiece) -> str:
    """Return the file and the first row of a piece, for messages."""
    return f"{piece.path}, from row {piece.first + 1:,}"


def import_extra(module: str, title: str, extra: str) -> Any:
    """Import a module of an optional package; raise MissingExtra if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        if error.name and error.name.partition(".")[0] != module.partition(".")[0]:
            problem = f"{title} cannot be used, because {error.name} is not installed"
        else:
            problem = f"{title} is not installed"
        raise MissingExtra(f"{problem}: {install_command(extra)}") from error


def absolute(piece: TablePiece) -> TablePiece:
    """Return a piece with an absolute path, valid in any working directory."""
    if "://" in piece.path:
        return piece
    return replace(piece, path=os.path.abspath(piece.path))


def check_listening(cluster: Cluster, places: str) -> None:
    """Raise InputError unless one of the comma-separated `host:port` accepts a connection."""
    reason = "no host:port"
    for place in places.split(","):
        host, _, port = place.rpartition(":")
        if not (host and re.fullmatch("[0-9]{1,5}", port) and int(port) < 1 << 16):
            raise cluster.unreachable(f"expected host:port, found {short(place)}")
        reason = _connection_problem(host.strip("[]"), int(port))
        if not reason:
            return
    raise cluster.unreachable(reason)


def _connection_problem(host: str, port: int) -> str:
    """Return the reason why no connection is possible; "" if it is.

    A DNS lookup can block, so it runs in its own thread.
    """
    reasons = [f"no answer in {ANSWER_SECONDS:.0f} seconds"]

    def connect() -> None:
        try:
            socket.create_connection((host, port), ANSWER_SECONDS).close()
            reasons.append("")
        except TimeoutError:
            pass
        except OSError as error:
            reasons.append((error.strerror or str(error)).lower())

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(ANSWER_SECONDS)
    return reasons[-1]


def on_this_machine(address: str) -> bool:
    """Return whether an address is a loopback address."""
    host = address.partition("://")[2] or address
    return host.startswith(("127.", "localhost:", "[::1]:"))
