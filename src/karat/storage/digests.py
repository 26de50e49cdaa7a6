"""Digests for signatures: eight hexadecimal digits that change when content does.

A signature has such a digest of every file, model and data set that can change its number: of the
content, never of the path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from karat.arrays import NDArray, np

DIGITS = 8
_PIECE = 1 << 22  # bytes read at once


def bytes_digest(*pieces: bytes | memoryview | Any) -> str:
    """Return the digest of the concatenated pieces."""
    hasher = sha256()
    for piece in pieces:
        hasher.update(piece)
    return hasher.hexdigest()[:DIGITS]


def text_digest(text: str) -> str:
    """Return the digest of a text."""
    return bytes_digest(text.encode("utf-8", "surrogatepass"))


def data_digest(*parts: object) -> str:
    """Return the digest of values in their order: strings, numbers, and lists or tuples of them.

    Arrays of numbers may be among the parts; missing values (NaN) and negative zeros of floats are
    equal to each other whatever their bits.
    """
    pieces = []
    for part in parts:
        if not isinstance(part, np.ndarray):
            pieces.append(json.dumps(part, ensure_ascii=True).encode() + b"\n")
            continue
        pieces.append(f"{part.shape}{part.dtype.kind}".encode())
        if part.dtype.kind == "f":
            missing = np.isnan(part)
            values: NDArray[Any] = np.where(missing, 0.0, part).astype("<f8") + 0.0
            pieces += [missing.tobytes(), values.tobytes()]
        else:
            pieces.append(np.ascontiguousarray(part, "<i8").tobytes())
    return bytes_digest(*pieces)


def file_sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file, which is read piece by piece."""
    hasher = sha256()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            hasher.update(piece)
    return hasher.hexdigest()


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the digest of a file; cached until its time or size changes."""
    return _file_sha256(*_stamp(path))[:DIGITS]


def files_digest(paths: Sequence[Path]) -> str:
    """Return the digest of the contents of several files, in order."""
    digests = [bytes.fromhex(_file_sha256(*_stamp(path))) for path in paths]
    return bytes_digest(*digests)


def archive_digest(checksums: Iterable[tuple[str, int]]) -> str:
    """Return the digest of an archive from the names and checksums of its parts.

    Archives contain the CRC-32 of each part, so a model of many gigabytes need not be read.
    """
    return text_digest("\n".join(f"{name}:{checksum:08x}" for name, checksum in checksums))


def _stamp(path: str | os.PathLike[str]) -> tuple[str, int, int]:
    status = os.stat(path)
    return os.fspath(path), status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _file_sha256(path: str, _time: int, _size: int) -> str:
    return file_sha256(path)
