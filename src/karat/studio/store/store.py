"""An open store: connections, durable transactions, copies and checks.

Writing transactions begin with BEGIN IMMEDIATE and are committed with `synchronous=FULL`, so that
acknowledged data survives a kill and a power cut. Readers have their own connections and do not
wait.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING, Any, TypeVar

from karat.errors import InputError, KaratError, OutputError, short
from karat.storage.output import as_path
from karat.studio.store.schema import APPLICATION, STEPS, DamagedStore, StoreConnection, migrate

if TYPE_CHECKING:
    from karat.studio.checking import StoreCheck


def lock_store(store: Path) -> IO[str]:
    """Lock a store until the returned file is closed: `STORE.lock`, which has the process id.

    The file stays, because removing it would be a race.
    """
    path = store.with_name(store.name + ".lock")
    try:
        file = open(path, "a+", encoding="ascii")  # noqa: SIM115
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"cannot make the lock {short(path)}: {reason}") from None
    if not _try_lock(file):
        file.seek(0)
        owner = file.read(20).strip() or "unknown"
        file.close()
        problem = f"{short(store)} is served by another process ({short(owner)})"
        raise InputError(f"{problem}: stop that one, or use its page")
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[str]) -> bool:
        """Take the lock at an offset far behind the text, so that others can read the text."""
        file.seek(1 << 20)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(file: IO[str]) -> bool:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


T = TypeVar("T")
WAIT = 30.0
"""Seconds to wait for another process that writes."""


class Store:
    """An open store; `create` and `open` return a writable one, `reading` a read-only one."""

    def __init__(
        self,
        path: Path,
        lock: IO[str] | None,
        only_reads: bool = False,
        may_be_empty: bool = True,
    ) -> None:
        self.path, self._lock, self._only_reads = path, lock, only_reads
        self._may_be_empty = may_be_empty
        self._thread_state = threading.local()  # the connection in use by each thread
        self._idle: list[StoreConnection] = []
        self._closed = False
        self._writing = threading.RLock()
        self._broken = ""
        self._files: dict[Path, tuple[int, int] | None] = {}
        self._companions: dict[type, Any] = {}
        self._companions_lock = threading.Lock()

    @classmethod
    def create(cls, path: str | PathLike[str]) -> Store:
        """Make a new store, readable by its owner only; the file must not exist."""
        store_path = as_path("store", path)
        try:
            make_private(store_path)
        except FileExistsError:
            raise InputError(f"{short(store_path)} exists: open it, or name another file") from None
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"cannot make the store {short(store_path)}: {reason}") from None
        try:
            return cls._migrated(cls(store_path, lock_store(store_path)))
        except BaseException:
            remove_store(store_path)
            raise

    @classmethod
    def open(
        cls, path: str | PathLike[str], exclusive: bool = True, may_be_empty: bool = True
    ) -> Store:
        """Open a store for judging.

        Args:
            path: file of the store.
            exclusive: raise InputError if another process serves the store.
            may_be_empty: make a store of an empty file, as an interrupted creation leaves it.
        """
        store_path = _existing_store(path)
        lock = lock_store(store_path) if exclusive else None
        return cls._migrated(cls(store_path, lock, may_be_empty=may_be_empty))

    @classmethod
    def reading(cls, path: str | PathLike[str]) -> Store:
        """Open a store to read, check or copy it, even while another process serves it."""
        store = cls(_existing_store(path), None, only_reads=True, may_be_empty=False)
        try:
            with store.read() as connection:
                store._check_kind(connection, len(STEPS))
        except BaseException:
            store.close()
            raise
        return store

    @contextmanager
    def explaining_damage(self) -> Iterator[Store]:
        """Turn exceptions caused by a damaged store into one sentence.

        An exception counts as damage only if the check of the store finds a problem.
        """
        try:
            yield self
        except KaratError:
            raise
        except Exception:
            problems = self.check().problems
            if not problems:
                raise
            advice = "use a copy or an export of it (karat studio --check lists all problems)"
            raise DamagedStore(
                f"{short(self.path.name)} is damaged: {problems[0].rstrip('.')}; {advice}"
            ) from None

    @classmethod
    def _migrated(cls, store: Store) -> Store:
        """Check that the file is a store before writing, then migrate it."""
        try:
            with store.read() as connection:
                store._check_kind(connection, 0)
                version = connection.value("PRAGMA user_version")
            if version < len(STEPS):
                with store.write() as connection:
                    migrate(connection)
            for path in (store.path, store.path.with_name(store.path.name + "-wal")):
                if number := _file_identity(path):
                    store._files[path] = number
        except BaseException:
            store.close()
            raise
        return store

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections and release the lock."""
        with self._writing:
            self._closed = True
            while self._idle:
                self._idle.pop().close()
            if self._lock:
                self._lock.close()

    @contextmanager
    def read(self) -> Iterator[StoreConnection]:
        """Yield a connection that reads one consistent state of the store."""
        outer: StoreConnection | None = getattr(self._thread_state, "connection", None)
        if outer is not None:  # nested in another block
            yield outer
            return
        with self._explaining_errors(), self._connected() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[StoreConnection]:
        """Yield a connection in a transaction that is durable at the end of the block.

        An exception rolls it back. A thread cannot nest it in another read or write.
        """
        if self._only_reads:
            raise InputError(f"{short(self.path)} was opened for reading only")
        if getattr(self._thread_state, "connection", None) is not None:
            raise RuntimeError("a transaction within another")
        with self._writing, self._explaining_errors(), self._connected() as connection:
            if self._broken:
                raise OutputError(self._broken)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                self.check_files_in_place()
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def companion(self, kind: type[T]) -> T:
        """Return the instance of a class, such as a cache, that belongs to the open store."""
        with self._companions_lock:
            companion: T = self._companions.setdefault(kind, kind())
            return companion

    def check_files_in_place(self) -> None:
        """Raise OutputError if the files were deleted, moved or replaced.

        SQLite would keep writing to the deleted file, and the data would be lost.
        """
        for path, number in self._files.items():
            if _file_identity(path) != number:
                self._broken = (
                    f"{short(path.name)} was deleted, moved or replaced while it was in use: "
                    "nothing more is saved; put it back, then start the studio again"
                )
        if self._broken:
            raise OutputError(self._broken)

    def check(self) -> StoreCheck:
        """Return the row counts and the problems of the store."""
        from karat.studio.checking import check_store

        with self.read() as connection:
            return check_store(connection, self.path.name)

    def backup(self, path: str | PathLike[str]) -> None:
        """Copy the store to a new file, even while it is in use."""
        target = Path(path)
        if os.path.lexists(target):
            raise InputError(f"{short(target)} exists: name another file for the copy")
        part = target.with_name(f"{target.name}.{token_hex(4)}.part")
        try:
            make_private(part)
            with closing(sqlite3.connect(part)) as copy, self._connected() as connection:
                connection.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
            part.rename(target)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"cannot write the copy {short(target)}: {reason}") from None
        finally:
            for ending in ("", "-journal", "-wal", "-shm"):
                part.with_name(part.name + ending).unlink(missing_ok=True)

    @contextmanager
    def _connected(self) -> Iterator[StoreConnection]:
        """Lend an idle connection, or a new one, to this thread."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        self._thread_state.connection = connection
        try:
            yield connection
        finally:
            self._thread_state.connection = None
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _connect(self) -> StoreConnection:
        mode = "ro" if self._only_reads else "rw"
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=WAIT,
            isolation_level=None,
            factory=StoreConnection,
            check_same_thread=False,  # lent to one thread at a time
        )
        connection.execute("PRAGMA foreign_keys = ON")
        if not self._only_reads and self._is_ours(connection):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _is_ours(self, connection: StoreConnection) -> bool:
        """Return whether the file is a store, or an empty file that may become one."""
        application = connection.value("PRAGMA application_id")
        return application == APPLICATION or (self._may_be_empty and _is_empty(connection))

    def _check_kind(self, connection: StoreConnection, min_version: int) -> None:
        if not self._is_ours(connection):
            if _is_empty(connection):
                raise InputError(f"{short(self.path)} is empty: expected a store of the studio")
            raise InputError(f"{short(self.path)} is a database, but not a store of the studio")
        version = connection.value("PRAGMA user_version")
        if not min_version <= version <= len(STEPS):
            is_old = version < min_version
            advice = "open it with karat studio once" if is_old else "use a newer Karat"
            problem = f"is a store of version {version}, this Karat has {len(STEPS)}"
            raise InputError(f"{short(self.path)} {problem}: {advice}")

    @contextmanager
    def _explaining_errors(self) -> Iterator[None]:
        """Turn each SQLite error into one sentence."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._explain_error(str(error)) from None

    def _explain_error(self, message: str) -> InputError | OutputError:
        name = short(self.path.name)  # assessors read it and must not see folders
        if "not a database" in message or "malformed" in message:
            return DamagedStore(f"{name} is not a store of the studio, or is damaged ({message})")
        if "locked" in message or "busy" in message:
            return OutputError(f"{name} is in use by another process: nothing was saved, try again")
        if "full" in message:
            return OutputError(
                f"the disk of {name} is full: nothing was saved; free some space, then save again"
            )
        if "disk I/O" in message:
            # After a failed sync the system may drop the data, and the next sync would succeed.
            self._broken = (
                f"the disk of {name} failed ({message}): nothing more is saved; repair the disk, "
                "then start the studio again"
            )
            return OutputError(self._broken)
        return OutputError(f"cannot save in {name} ({message}): nothing was saved")


def _is_empty(connection: StoreConnection) -> bool:
    """Return whether a database has no tables, as an empty file."""
    return not connection.value("SELECT count(*) FROM sqlite_master")


def make_private(path: Path) -> None:
    """Make an empty file for its owner only; SQLite gives its companion files the same mode."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def is_readable_by_others(path: Path) -> bool:
    """Return whether other users of the machine can read a file."""
    return os.name == "posix" and bool(path.stat().st_mode & 0o044)


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, or None if it does not exist."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def remove_store(path: Path) -> None:
    """Remove a store and its companion files."""
    for ending in ("", "-wal", "-shm", ".lock"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _existing_store(path: str | PathLike[str]) -> Path:
    store_path = as_path("store", path)
    try:
        is_file, is_folder = store_path.is_file(), store_path.is_dir()
        if store_path.is_symlink():  # one lock for all paths
            store_path = store_path.resolve()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot open the store {short(store_path)}: {error}") from None
    if is_folder:
        raise InputError(f"{short(store_path)} is a folder: expected a store of the studio")
    if not is_file:
        raise InputError(f"no such file: {short(store_path)}; expected a store of the studio")
    return store_path
