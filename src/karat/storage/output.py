"""Atomic writing: files are either written completely or left unchanged."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import IO

from karat.errors import InputError, OutputError, quoted
from karat.storage.mapping import check_mapped

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def writing_temporary(purpose: str) -> Iterator[None]:
    """Turn errors of writing into one sentence; `purpose` is the purpose of the file."""
    try:
        yield
    except OSError as error:
        place = tempfile.tempdir  # None if none was found
        location = "a temporary file" if place is None else f"to the temporary folder {place}"
        do = "let TMPDIR name a folder that can be written to and has room"
        do = do if place is None else f"free some space there, or {do}"
        message = f"cannot write {location} ({purpose}): {error.strerror or error}; {do}"
        raise OutputError(message) from error


def temporary_file(purpose: str) -> IO[bytes]:
    """Return an open file without a name; the caller closes it."""
    with writing_temporary(purpose):
        return tempfile.TemporaryFile()


def temporary_pieces(purpose: str, write: Callable[[IO[bytes]], None]) -> Iterator[bytes]:
    """Yield the bytes that `write` writes to a temporary file, in pieces."""
    with temporary_file(purpose) as stream:
        with writing_temporary(purpose):
            write(stream)
        stream.seek(0)
        yield from iter(lambda: stream.read(_PIECE_SIZE), b"")


_PIECE_SIZE = 1 << 20


# ----------------------------------------------------------------------- names next to a target

TEMPORARY = ".karat-"
"""Prefix of temporary names."""
HAS_LOCKS = fcntl is not None
"""Whether files can be locked; without locks (Windows) names are random, and leftovers stay."""
_MAX_WRITERS = 100
"""Simultaneous writers of one target; for more, names are random."""
_MAX_FREE_SLOTS = 8
"""Consecutive free slots after which the search for leftovers ends."""


@contextmanager
def claimed_file(target: str, mode: int = 0o666) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the path of a new temporary file for `target`, and the file open for writing.

    The caller renames it while it is open (if there are locks); otherwise it is removed.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    # os.open instead of tempfile, whose files are private whatever the umask.
    path, descriptor = _claim(target, lambda path: os.open(path, flags, mode))
    identity = os.fstat(descriptor)
    with open(descriptor, "wb") as stream:
        try:
            yield path, stream
        finally:
            if not HAS_LOCKS:
                stream.close()
            _remove_if_at(path, identity)


@contextmanager
def claimed_folder(target: str, mode: int = 0o777) -> Iterator[str]:
    """Yield the path of a new temporary folder for `target`; it is removed unless renamed."""

    def create(path: str) -> int:
        os.mkdir(path, mode)
        return os.open(path, os.O_RDONLY) if HAS_LOCKS else os.open(os.devnull, os.O_RDONLY)

    path, descriptor = _claim(target, create)
    identity = os.lstat(path)
    try:
        yield path
    finally:
        _remove_if_at(path, identity)
        os.close(descriptor)


@contextmanager
def temporary_folder(name: str) -> Iterator[str]:
    """Yield a private temporary folder, which is removed at the end."""
    with claimed_folder(os.path.join(tempfile.gettempdir(), name), 0o700) as folder:
        yield folder


def _claim(target: str, create: Callable[[str], int]) -> tuple[str, int]:
    """Create and lock the first temporary name without a running writer; remove leftovers."""
    for slot in range(_MAX_WRITERS if HAS_LOCKS else 0):
        path = _temporary_path(target, str(slot))
        while not os.path.lexists(path) or _remove_leftover(path):
            try:
                descriptor = create(path)
            except FileExistsError:  # another writer was faster
                continue
            if _lock(descriptor) is not False and _is_at(path, os.fstat(descriptor)):
                _remove_later_leftovers(target, slot)
                return path, descriptor
            os.close(descriptor)  # another writer mistook the new file for a leftover
    path = _temporary_path(target, os.urandom(8).hex())
    return path, create(path)


def _temporary_path(target: str, suffix: str) -> str:
    folder, name = os.path.split(target)
    digest = sha256(os.fsencode(name)).hexdigest()[:16]
    return os.path.join(folder, f"{TEMPORARY}{digest}-{suffix}.tmp")


def _remove_leftover(path: str) -> bool:
    """Remove a temporary file or folder of this user without a writer; return the success."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        identity = os.fstat(descriptor)
        if identity.st_uid == os.geteuid() and _lock(descriptor):
            _remove_if_at(path, identity)
            return not os.path.lexists(path)
        return False
    finally:
        os.close(descriptor)


def _remove_later_leftovers(target: str, slot: int) -> None:
    """Remove leftovers of later slots, up to several consecutive free slots."""
    free = 0
    for later in range(slot + 1, _MAX_WRITERS):
        path = _temporary_path(target, str(later))
        if os.path.lexists(path):
            free = 0
            _remove_leftover(path)
        else:
            free += 1
        if free == _MAX_FREE_SLOTS:
            return


def _remove_if_at(path: str, identity: os.stat_result) -> None:
    """Remove the file or folder at `path` if it has that identity."""
    if _is_at(path, identity):
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            os.unlink(path)


def _is_at(path: str, identity: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), identity)
    except OSError:
        return False


def _lock(descriptor: int) -> bool | None:
    """Lock a file until it is closed; False if it is locked already, None without locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network disks have no locks
        return None
    return True


FilePath = str | os.PathLike[str]


def check_writable(path: FilePath) -> None:
    """Raise OutputError if `path` cannot be written, before any work is done."""
    target = os.fspath(path)
    check_local(target)
    if not target:
        raise OutputError("cannot write to a file without a name: name a file")
    if os.path.isdir(target):
        raise OutputError(f"cannot write {target}: it is a directory; name a file in it")
    if os.path.exists(target):
        _check_access(target, target)
    if _is_special(target):
        return
    parent = os.path.dirname(os.path.realpath(target))
    if not os.path.isdir(os.path.dirname(target) or os.curdir):  # nosuch/../file, too
        parent = os.path.dirname(target)
    if not os.path.isdir(parent):
        raise OutputError(f"cannot write {target}: there is no directory {parent}; create it first")
    _check_access(target, parent)


def check_local(path: FilePath) -> None:
    """Reject an address such as s3://bucket/file, which would become a local folder."""
    if "://" in str(path):
        problem = "is an address: results are written to files of this machine"
        raise OutputError(f"{path} {problem}; name a file or a mounted folder")


def write_atomically(path: FilePath, text: str | bytes | Iterable[str | bytes]) -> None:
    """Write bytes or UTF-8, in one or more pieces, to a temporary file, then rename it to `path`.

    Whatever interrupts this, `path` holds either its old content or all of the new.  The mode of
    an existing file is kept and a link is followed.  Devices and pipes are written to directly.
    """
    check_writable(path)
    target = os.fspath(path)
    pieces = [text] if isinstance(text, str | bytes) else text
    data = (encode_utf8(target, piece) for piece in pieces)
    try:
        check_mapped()
        if _is_special(target):
            # Appending, since /dev/stdout may be a file that the shell opened with >>.
            with open(os.open(target, os.O_WRONLY | os.O_APPEND), "wb") as stream:
                stream.writelines(data)
        else:
            with _replacement(os.path.realpath(target)) as stream:
                stream.writelines(data)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error


@contextmanager
def replacing(path: FilePath) -> Iterator[IO[bytes]]:
    """Open a seekable file that replaces `path` on success.

    Files are replaced as by `write_atomically`. Devices and pipes receive the bytes at the end.
    """
    check_writable(path)
    target = os.fspath(path)
    if _is_special(target):
        with temporary_file(f"{target} is written from there") as stream:
            yield stream
            stream.seek(0)
            write_atomically(path, iter(lambda: stream.read(_PIECE_SIZE), b""))
        return
    try:
        check_mapped()
        with _replacement(os.path.realpath(target)) as stream:
            yield stream
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error


def _check_access(target: str, place: str) -> None:
    if not os.access(place, os.W_OK):
        raise OutputError(f"cannot write {target}: no permission to write to {place}")


def encode_utf8(target: str, text: str | bytes) -> bytes:
    """Return text as UTF-8; raise OutputError with the name of the `target` file."""
    try:
        return text if isinstance(text, bytes) else text.encode("utf-8")
    except UnicodeEncodeError as error:
        reason = f"character {error.start} is a lone surrogate, which UTF-8 cannot hold"
        raise OutputError(f"cannot write {target}: {reason}") from error


def _is_special(target: str) -> bool:
    """Return whether this is a device, a pipe, or a standard stream."""
    if os.path.abspath(target).startswith(("/dev/std", "/dev/fd/", "/proc/self/fd/")):
        return True
    return os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode)


@contextmanager
def _replacement(target: str) -> Iterator[IO[bytes]]:
    with claimed_file(target) as (temporary, stream):
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
        check_mapped()  # the content may come from mapped files
        if os.path.exists(target):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        if not HAS_LOCKS:
            stream.close()
        os.replace(temporary, target)


def as_path(name: str, path: str | PathLike[str]) -> Path:
    """Return the path in a parameter; raise InputError if it is not a path."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"{name}={quoted(path)}: expected the path of a file")
    return Path(path)
