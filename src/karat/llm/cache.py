"""The cache: answers in an SQLite file, and the requests under way.

A request is marked `in flight` before it is sent; storing its answer or failure ends that state. So
after a kill, the requests in flight are those that may have been sent without a stored answer. Only
one process at a time can use a cache.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError, OutputError, short
from karat.llm.endpoint import Endpoint
from karat.llm.requests import Completion, EndpointFailure, RequestJob

APPLICATION = 0x4B415241  # KARA
VERSION = 1
_TABLES = """
CREATE TABLE requests (
    key TEXT PRIMARY KEY,             -- sha256 of endpoint, model, messages, parameters, schema
    state TEXT NOT NULL,              -- in flight, answered, failed
    attempts INTEGER NOT NULL,
    rejections INTEGER NOT NULL DEFAULT 0,
    answer TEXT,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    why TEXT,                         -- of the last failed attempt
    rejected TEXT                     -- the last invalid answer, for diagnosis
);
CREATE TABLE totals (
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (endpoint, model, name)
);
"""
_SEND = """
INSERT INTO requests (key, state, attempts) VALUES (?, 'in flight', 1)
ON CONFLICT (key) DO UPDATE SET state = 'in flight', attempts = attempts + 1
"""
_ANSWER = """
UPDATE requests SET state = 'answered', answer = ?, prompt_tokens = ?, completion_tokens = ?,
    why = NULL WHERE key = ?
"""
_FAIL = """
UPDATE requests SET state = 'failed', why = ?, rejections = rejections + ?,
    rejected = coalesce(?, rejected) WHERE key = ?
"""
_COUNT = """
INSERT INTO totals VALUES (?, ?, ?, ?)
ON CONFLICT (endpoint, model, name) DO UPDATE SET count = count + excluded.count
"""


class CachedReply(NamedTuple):
    """The row of a request in a cache."""

    state: str
    rejections: int
    answer: str | None
    prompt_tokens: int
    completion_tokens: int


def _address(path: Path, reading: bool) -> str:
    """Return the URI of a file; without the write-ahead log of a killed run it is immutable."""
    has_log = Path(f"{path}-wal").exists()
    mode = "mode=rwc" if not reading else "mode=ro" if has_log else "mode=ro&immutable=1"
    return f"{path.absolute().as_uri()}?{mode}"


class Cache:
    """An open cache, used by the thread that opened it; with `reading`, the file must exist."""

    def __init__(
        self, path: str | PathLike[str] | None, endpoint: Endpoint, reading: bool = False
    ) -> None:
        self.path = None if path is None else Path(path)
        self._reading = reading
        self._endpoint_and_model = (endpoint.name, endpoint.model)
        self._is_free = endpoint.is_demo
        with self._readable_errors():
            self._file = sqlite3.connect(
                ":memory:" if self.path is None else _address(self.path, reading),
                uri=True,
                timeout=0.2,
                isolation_level=None,
                cached_statements=16,
            )
        try:
            with self._readable_errors():
                self._prepare()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def stored(self, key: str) -> CachedReply | None:
        """Return the stored row of a request, or None."""
        with self._readable_errors():
            row = self._file.execute(
                "SELECT state, rejections, answer, prompt_tokens, completion_tokens "
                "FROM requests WHERE key = ?",
                (key,),
            ).fetchone()
        return None if row is None else CachedReply(*row)

    def totals(self) -> dict[str, int]:
        """Return the counts of all runs with this endpoint and model, by name."""
        with self._readable_errors():
            rows = self._file.execute(
                "SELECT name, count FROM totals WHERE endpoint = ? AND model = ?",
                self._endpoint_and_model,
            )
            return dict(rows.fetchall())

    def write(
        self,
        verdicts: Sequence[tuple[RequestJob, Completion | EndpointFailure]],
        sent: Sequence[RequestJob],
        counts: Mapping[str, int],
    ) -> None:
        """Store outcomes and requests to send in one durable transaction."""
        with self._readable_errors(), self._transaction():
            for job, verdict in verdicts:
                if isinstance(verdict, Completion):
                    tokens = (verdict.prompt_tokens, verdict.completion_tokens)
                    self._file.execute(_ANSWER, (verdict.text, *tokens, job.key))
                else:
                    is_invalid = verdict.rejected is not None
                    row = (verdict.reason(1), is_invalid, verdict.rejected, job.key)
                    self._file.execute(_FAIL, row)
            self._file.executemany(_SEND, [(job.key,) for job in sent])
            rows = [(*self._endpoint_and_model, name, count) for name, count in counts.items()]
            self._file.executemany(_COUNT, rows)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        if self._file.in_transaction:  # left by an interrupted write
            self._file.execute("ROLLBACK")
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._file.execute("COMMIT")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            raise

    def _prepare(self) -> None:
        """Check that the file is a cache before writing; create the tables in an empty file."""
        if not self._reading:
            self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
        (application,) = self._file.execute("PRAGMA application_id").fetchone()
        (version,) = self._file.execute("PRAGMA user_version").fetchone()
        (tables,) = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application != APPLICATION:
            raise InputError(f"{self._name} is a database, but not a cache of answers: {_OTHER}")
        if tables and version != VERSION:
            problem = f"{self._name} is a cache of version {version}, this Karat has {VERSION}"
            raise InputError(f"{problem}: {_OTHER}, or use the Karat that wrote it")
        if self._reading:
            return
        self._file.execute("PRAGMA journal_mode = WAL")
        # Answers are paid for and must survive a power cut. The demo's are free.
        self._file.execute(f"PRAGMA synchronous = {'NORMAL' if self._is_free else 'FULL'}")
        with self._transaction():  # takes and keeps the lock
            if not tables:
                for statement in _TABLES.split(";"):
                    self._file.execute(statement)
                self._file.execute(f"PRAGMA application_id = {APPLICATION}")
                self._file.execute(f"PRAGMA user_version = {VERSION}")

    @property
    def _name(self) -> str:
        return short(self.path or "the cache")

    @contextmanager
    def _readable_errors(self) -> Iterator[None]:
        """Turn each SQLite error into one sentence."""
        try:
            yield
        except sqlite3.Error as error:
            reason = str(error)
            if "locked" in reason or "busy" in reason:
                raise InputError(
                    f"{self._name} is in use by another run: wait for it, or {_OTHER}"
                ) from None
            if "not a database" in reason or "malformed" in reason:
                raise InputError(
                    f"{self._name} is not a cache of answers ({reason}): {_OTHER}"
                ) from None
            raise OutputError(
                f"cannot use the cache {self._name} ({reason}): stored answers are kept; correct "
                "that and run the same command again to continue"
            ) from None


_OTHER = "name another file for the cache"
