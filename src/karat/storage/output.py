"""Files that are either written whole or left as they were."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO

from karat.errors import OutputError
from karat.storage.mapping import check_mapped
from karat.storage.temporary import HAS_LOCKS, claimed_file, temporary_file

FilePath = str | os.PathLike[str]


def check_writable(path: FilePath) -> None:
    """Raise OutputError if `path` cannot be written, before any work is done for it."""
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
    """Refuse an address such as s3://bucket/file, which would become a folder of that name."""
    if "://" in str(path):
        told = "is an address: results are written to files of this machine"
        raise OutputError(f"{path} {told}; name a file or a mounted folder")


def write_atomically(path: FilePath, text: str | bytes | Iterable[str | bytes]) -> None:
    """Write bytes or UTF-8, in one or more pieces, to a temporary file, then rename it to `path`.

    Whatever interrupts this, `path` holds either its old content or all of the new.  The mode of
    an existing file is kept and a link is followed.  Devices and pipes are written to directly.
    """
    check_writable(path)
    target = os.fspath(path)
    pieces = [text] if isinstance(text, str | bytes) else text
    data = (_encoded(target, piece) for piece in pieces)
    try:
        check_mapped()
        if _is_special(target):
            # Appending, since /dev/stdout may be a file that the shell opened with >>.
            with open(os.open(target, os.O_WRONLY | os.O_APPEND), "wb") as stream:
                stream.writelines(data)
        else:
            _replace(os.path.realpath(target), data)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error


@contextmanager
def replacing(path: FilePath) -> Iterator[IO[bytes]]:
    """Open a file to write to, at any place in it, that replaces `path` when all went well.

    What `write_atomically` says of files is true of it. Devices and pipes get the bytes at the end.
    """
    check_writable(path)
    target = os.fspath(path)
    if _is_special(target):
        with temporary_file(f"{target} is written from there") as stream:
            yield stream
            stream.seek(0)
            write_atomically(path, iter(lambda: stream.read(1 << 20), b""))
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


def _encoded(target: str, text: str | bytes) -> bytes:
    try:
        return text if isinstance(text, bytes) else text.encode("utf-8")
    except UnicodeEncodeError as error:
        reason = f"character {error.start} is a lone surrogate, which UTF-8 cannot hold"
        raise OutputError(f"cannot write {target}: {reason}") from error


def _is_special(target: str) -> bool:
    """Return whether writing means sending: to a device, a pipe, or a stream of this process."""
    if os.path.abspath(target).startswith(("/dev/std", "/dev/fd/", "/proc/self/fd/")):
        return True
    return os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode)


def _replace(target: str, data: Iterable[bytes]) -> None:
    with _replacement(target) as stream:
        stream.writelines(data)


@contextmanager
def _replacement(target: str) -> Iterator[IO[bytes]]:
    with claimed_file(target) as (temporary, stream):
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
        check_mapped()  # what was written may have been read on the way
        if os.path.exists(target):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        if not HAS_LOCKS:
            stream.close()
        os.replace(temporary, target)
