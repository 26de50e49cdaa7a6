"""Compressed files, unpacked piece by piece and never beyond a limit.

A small file can unpack to any size. So there are two limits: a file may unpack to 2 GB, and what
is larger than 64 MB may be at most 200 times as large as it was packed. Honest text deflates to a
third or a tenth, so the second limit ends the reading of most hostile files early. The variable
KARAT_MAX_UNPACKED names another number of bytes (such as 500M or 20G); it is then the only limit.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from typing import IO

from karat.errors import InputError, quoted

VARIABLE = "KARAT_MAX_UNPACKED"
MOST_BYTES = 2 << 30
MOST_TIMES = 200
FLOOR = 64 << 20
"""Bytes up to which any ratio will do."""

NOT_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)
"""Errors of reading a damaged `.gz` file."""

_PIECE = 1 << 20
_SIZE = re.compile(r"([0-9]{1,15})([KMG]?)B?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30}


def most_unpacked() -> int | None:
    """Return the number of bytes that the user allows; None if nothing was said."""
    given = os.environ.get(VARIABLE)
    if not given:
        return None
    found = _SIZE.fullmatch(given.strip())
    if not found or not int(found[1]):
        raise InputError(f"{VARIABLE}={quoted(given)}: expected bytes, such as 500M or 20G")
    return int(found[1]) << _UNITS[found[2].upper()]


def check_unpacked(name: str, packed: int, unpacked: int) -> None:
    """Refuse a file that unpacks to too much: `packed` bytes became `unpacked`, or would."""
    said = most_unpacked()
    most = MOST_BYTES if said is None else said
    do = f"if you trust it, let {VARIABLE} name the bytes to allow, such as 20G"
    if unpacked > most:
        raise InputError(f"{name}: it unpacks to more than {_shown(most)}; {do}")
    if said is None and unpacked > FLOOR and unpacked > MOST_TIMES * packed:
        times = f"{MOST_TIMES} times its size ({_shown(unpacked)} from {_shown(packed)})"
        raise InputError(f"{name}: it unpacks to more than {times}; {do}")


def _shown(size: int) -> str:
    for unit, bits in (("GB", 30), ("MB", 20), ("kB", 10)):
        if size >= 1 << bits:
            return f"{size / (1 << bits):.3g} {unit}"
    return f"{size} bytes"


def unpacked(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield what a `.gz` file holds, in pieces; errors of a damaged one are sentences."""
    done = 0
    try:
        with gzip.GzipFile(fileobj=file) as archive:
            while piece := archive.read(_PIECE):
                done += len(piece)
                check_unpacked(name, _position(file, done), done)
                yield piece
    except NOT_GZIP as error:
        raise InputError(f"{name}: not a complete gzip file ({error})") from error


def _position(file: IO[bytes], done: int) -> int:
    """Return how much of a file was read; a pipe does not say, so that only the bytes count."""
    try:
        return file.tell()
    except OSError:
        return done


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return all bytes of a file, unpacked if its name ends in .gz."""
    with open(path, "rb") as file:
        if not os.fspath(path).endswith(".gz"):
            return file.read()
        return b"".join(unpacked(file, os.fspath(path)))
