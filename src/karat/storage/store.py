"""Models on disk: named arrays in one memory-mapped file.

A store is a `.npz` file whose arrays begin at multiples of 64 bytes, with a JSON description
`about`. NumPy opens it like any other archive; `read_store` maps it, so that a large model
is available at once and processes share its memory. Arrays that are converted before
use may be packed (deflated) instead. Nothing in it is ever executed.

The archive has a checksum of every array (CRC-32), which is verified on opening: a file that was
changed by a single byte is rejected. In a store above `VERIFIED` bytes only small and packed arrays
are verified; `python -m zipfile -t FILE` verifies all.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from tokenize import TokenError
from typing import IO, Any

from karat.arrays import NDArray, np
from karat.errors import InputError, quoted, short
from karat.storage.arrays import Stored, npy_header, npy_pieces, npy_size
from karat.storage.digests import archive_digest
from karat.storage.mapping import map_whole
from karat.storage.output import replacing
from karat.storage.unpacking import check_unpacked

ALIGNMENT = 64
VERIFIED = 1 << 28
"""The largest file in bytes whose checksums are all verified: about a tenth of a second."""
SMALL = 1 << 20
"""The largest array in bytes that is verified in any file."""
MAX_ABOUT_BYTES = 1 << 25
"""The largest description of a store."""
_ABOUT = "about.json"
_PADDING = 0xA1A1  # the id of an extra field that only fills space
_LARGE = 20  # bytes that zipfile adds to the header of parts that may exceed 2 GB

BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    KeyError,
    RuntimeError,  # and NotImplementedError: encrypted, or of a later version
    ValueError,
)
"""The errors that reading a damaged archive raises."""

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class ModelStore:
    """The description `about`, and the arrays, mapped and read-only."""

    name: str
    about: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    digest: str = ""
    """Digest of the content, for signatures; empty for a part of a file."""

    @property
    def description(self) -> dict[str, Any]:
        """The description of the model: `about` without its kind and version."""
        return {k: v for k, v in self.about.items() if k not in ("kind", "version")}

    def array(self, name: str, kind: str) -> NDArray[Any]:
        """Return a one-dimensional array by name; require its type (`int32`, `float64`, …)."""
        array = self.arrays.get(name)
        if array is None or array.dtype != np.dtype(kind) or array.ndim != 1:
            raise damaged(self.name, f"expected an array {quoted(name)} of {kind}")
        return array


def with_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Return arrays with a prefix before their names."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names have a prefix, without the prefix."""
    selected = ((name, array) for name, array in arrays.items() if name.startswith(prefix))
    return {name.removeprefix(prefix): array for name, array in selected}


def is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a store or another zip archive."""
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"PK"
    except IsADirectoryError as error:
        raise InputError(f"{os.fspath(path)}: expected a file, found a directory") from error
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: {error.strerror or error}") from error


def damaged(name: str, reason: str) -> InputError:
    """Return the error for a damaged file; do not repeat that of a part."""
    if reason.startswith(f"{name}: damaged ("):
        return InputError(reason)
    return InputError(f"{name}: damaged ({reason}): create it again")


def write_store(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    about: Mapping[str, Any],
    arrays: Mapping[str, Stored],
    *,
    packed: Collection[str] = (),
) -> None:
    """Write a model atomically; the same model gives the same bytes.

    No array is copied in memory. The arrays named in `packed` are deflated: they need less space,
    and are read instead of mapped.
    """
    description = _description_bytes(kind, version, about)
    with replacing(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        with _open_entry(archive, stream, _ABOUT, len(description)) as part:
            part.write(description)
        for name, array in arrays.items():
            head = npy_header(array)
            size = len(head) + npy_size(array)
            with _open_entry(archive, stream, f"{name}.npy", size, name in packed) as part:
                part.write(head)
                for piece in npy_pieces(array):
                    part.write(piece)


def _description_bytes(kind: str, version: int, about: Mapping[str, Any]) -> bytes:
    description = {"kind": kind, "version": version, **about}
    return json.dumps(description, ensure_ascii=False, indent=1).encode()


def content_digest(
    kind: str, version: int, about: Mapping[str, Any], arrays: Mapping[str, Stored]
) -> str:
    """Return the digest that a model will have when it is written to a file."""
    checksums = [(_ABOUT, zlib.crc32(_description_bytes(kind, version, about)))]
    for name, array in arrays.items():
        checksum = zlib.crc32(npy_header(array))
        for piece in npy_pieces(array):
            checksum = zlib.crc32(piece, checksum)
        checksums.append((f"{name}.npy", checksum))
    return archive_digest(checksums)


def store_digest(path: str | os.PathLike[str], kind: str) -> str:
    """Return the digest of a stored model without opening it; `kind` is for the error."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _entries_digest(archive.infolist())
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: {error.strerror or error}") from error
    except BROKEN as error:
        problem = f"expected a {kind} of Karat, found something else"
        raise InputError(f"{os.fspath(path)}: {problem}") from error


def _entries_digest(entries: Iterable[zipfile.ZipInfo]) -> str:
    return archive_digest((entry.filename, entry.CRC) for entry in entries)


def _open_entry(
    archive: zipfile.ZipFile, stream: IO[bytes], name: str, size: int, packed: bool = False
) -> IO[bytes]:
    """Open a part of the archive with `size` bytes, aligned."""
    entry = zipfile.ZipInfo(name)  # dated 1980: no clock in the file
    entry.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    entry.file_size = size
    header = stream.tell() + 30 + len(name.encode()) + 4
    header += _LARGE if size * 1.05 > zipfile.ZIP64_LIMIT else 0
    entry.extra = struct.pack("<HH", _PADDING, -header % ALIGNMENT) + bytes(-header % ALIGNMENT)
    return archive.open(entry, "w")


def read_store(path: str | os.PathLike[str], kind: str, version: int) -> ModelStore:
    """Map a model, checked to be complete and of this kind and version."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            mapped = map_whole(file, name)
            with zipfile.ZipFile(file) as archive:
                _check_sizes(archive, name, len(mapped))
                about = json.loads(archive.read(_ABOUT))
                digest = _entries_digest(archive.infolist())
                entries = [entry for entry in archive.infolist() if entry.filename != _ABOUT]
    except IsADirectoryError as error:
        raise InputError(f"{name}: expected a {kind} of Karat, found a directory") from error
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    except InputError:
        raise
    except BROKEN as error:
        cut = "a damaged or truncated one: create it again"
        content = cut if is_store(path) else "something else"
        raise InputError(f"{name}: expected a {kind} of Karat, found {content}") from error
    _check_kind(name, about, kind, version)
    verified = VERIFIED if len(mapped) <= VERIFIED else SMALL
    arrays = {
        e.filename.removesuffix(".npy"): _map_array(name, mapped, e, verified) for e in entries
    }
    return ModelStore(name, about, arrays, digest)


def _check_sizes(archive: zipfile.ZipFile, name: str, size: int) -> None:
    """Reject an archive that unpacks to too much, or whose parts overlap."""
    entries = archive.infolist()
    packed = [e for e in entries if e.compress_type != zipfile.ZIP_STORED]
    check_unpacked(name, sum(e.compress_size for e in packed), sum(e.file_size for e in packed))
    if sum(e.compress_size for e in entries) > size:
        raise damaged(name, "its parts are larger than the file")
    about = archive.getinfo(_ABOUT).file_size
    if about > MAX_ABOUT_BYTES:
        raise damaged(name, f"{_ABOUT} has {about:,} bytes, expected up to {MAX_ABOUT_BYTES:,}")


def file_stamp(path: str) -> tuple[int, int] | None:
    """Return the time and the size of a file, to detect changes; None without a file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None
    return status.st_mtime_ns, status.st_size


def stored_kind(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of a store, such as a phrase table; None for other files."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(archive, os.fspath(path), os.path.getsize(path))
            about = json.loads(archive.read(_ABOUT))
    except (OSError, *BROKEN):
        return None
    kind = about.get("kind") if isinstance(about, dict) else None
    return kind if isinstance(kind, str) else None


def _check_kind(name: str, about: object, kind: str, version: int) -> None:
    stored_kind = about.get("kind") if isinstance(about, dict) else None
    if not isinstance(about, dict) or stored_kind != kind:
        is_named = stored_kind and isinstance(stored_kind, str)
        content = short(stored_kind) if is_named else "something else"
        raise InputError(f"{name}: expected a {kind} of Karat, found {content}")
    if about.get("version") != version:
        content = f"a {kind} of version {quoted(about.get('version'))}"
        reads = f"this Karat reads version {version}"
        raise InputError(f"{name}: {content}, and {reads}: create it again")


def _map_array(name: str, mapped: mmap.mmap, entry: zipfile.ZipInfo, verified: int) -> NDArray[Any]:
    """One array of the archive, where it lies; a packed one in memory of its own.

    A mapped array of more than `verified` bytes is not looked through.
    """
    try:
        lengths = struct.unpack("<HH", mapped[entry.header_offset + 26 : entry.header_offset + 30])
        name_start, start = entry.header_offset + 30, entry.header_offset + 30 + sum(lengths)
        if mapped[name_start : name_start + lengths[0]] != entry.filename.encode():
            raise ValueError("it has two names")
        if entry.compress_type == zipfile.ZIP_STORED:
            if entry.file_size <= verified:
                _verify(memoryview(mapped)[start : start + entry.file_size], entry)
            return _parse_array(mapped, start, entry.file_size)
        if entry.compress_type != zipfile.ZIP_DEFLATED:
            raise ValueError("packed in another way")
        packed = mapped[start : start + entry.compress_size]
        # At most one byte more than the header declares.
        held = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, entry.file_size + 1)
        _verify(held, entry)
        return _parse_array(held, 0, entry.file_size)
    except (*BROKEN, SyntaxError, TokenError, TypeError, OverflowError) as error:
        raise damaged(name, f"{short(entry.filename)}: {error}") from error


def _verify(data: bytes | memoryview, entry: zipfile.ZipInfo) -> None:
    """Check the size and checksum of an array."""
    if len(data) < entry.file_size:
        raise ValueError("cut short")
    if zlib.crc32(data) != entry.CRC:
        raise ValueError("its checksum differs")


def _parse_array(held: mmap.mmap | bytes, start: int, size: int) -> NDArray[Any]:
    """Return the array in `size` bytes from `start`, header included."""
    head = io.BytesIO(held[start : start + 1024])
    np.lib.format.read_magic(head)
    shape, _, dtype = np.lib.format.read_array_header_1_0(head)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.hasobject or size != head.tell() + count * dtype.itemsize or start + size > len(held):
        raise ValueError("cut short")
    return np.frombuffer(held, dtype, count, start + head.tell()).reshape(shape)
