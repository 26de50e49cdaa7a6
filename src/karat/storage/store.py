"""Models on disk: named arrays in one file that is mapped, not read.

A store is a `.npz` whose arrays begin at multiples of 64 bytes, with a text `about` (JSON) that
says what it is. NumPy opens it like any other archive; `read_store` maps it, so that a large model
is there at once and processes share its memory. Arrays that are made into something else before
use may be packed (deflated) instead. Nothing in it is ever executed.

The archive has a checksum of every array (CRC-32), which is looked at on opening: a file that was
changed by a single byte is refused. Of a store above `VERIFIED` bytes only the small arrays and the
packed ones are; `python -m zipfile -t FILE` looks at all.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from tokenize import TokenError
from typing import Any

from karat.arrays import NDArray, np
from karat.errors import InputError, quoted, short
from karat.storage.mapping import map_whole
from karat.storage.output import write_atomically
from karat.storage.unpacking import check_unpacked

ALIGNMENT = 64
VERIFIED = 1 << 28
"""Bytes of a file all of whose checksums are looked at: a tenth of a second's work."""
SMALL = 1 << 20
"""Bytes of an array that is verified in any file."""
LONGEST_ABOUT = 1 << 25
"""Bytes of the text that says what a store is."""
_ABOUT = "about.json"
_PADDING = 0xA1A1  # the id of an extra field that only fills space

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
class Store:
    """The description `about`, and the arrays, mapped and read-only."""

    name: str
    about: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def array(self, name: str, kind: str) -> NDArray[Any]:
        """An array of one dimension by its name, checked for its type (`int32`, `float64`, …)."""
        found = self.arrays.get(name)
        if found is None or found.dtype != np.dtype(kind) or found.ndim != 1:
            raise damaged(self.name, f"expected an array {quoted(name)} of {kind}")
        return found


def with_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays of a part, as they are named in the store of the whole."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays of the part whose names have that prefix, as the part names them."""
    found = ((name, array) for name, array in arrays.items() if name.startswith(prefix))
    return {name.removeprefix(prefix): array for name, array in found}


def is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a store (or another archive), and not text."""
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"PK"
    except IsADirectoryError as error:
        raise InputError(f"{os.fspath(path)}: expected a file, found a directory") from error
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: {error.strerror or error}") from error


def damaged(name: str, why: str) -> InputError:
    """Return the error for where a file of the right kind does not hold together.

    A part of a model may have said so already; it is said once.
    """
    if why.startswith(f"{name}: damaged ("):
        return InputError(why)
    return InputError(f"{name}: damaged ({why}): make it anew")


def write_store(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    about: Mapping[str, Any],
    arrays: Arrays,
    *,
    packed: Collection[str] = (),
) -> None:
    """Write a model whole or not at all; the same model gives the same bytes.

    The arrays named in `packed` are deflated: they take less room, and are read instead of mapped.
    """
    said = {"kind": kind, "version": version, **about}
    write_atomically(path, _pieces(json.dumps(said, ensure_ascii=False, indent=1), arrays, packed))


def _pieces(about: str, arrays: Arrays, packed: Collection[str]) -> Iterator[bytes]:
    """The bytes of the archive: about first, then each array at an aligned place."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, held, _ABOUT, about.encode())
        for name, array in arrays.items():
            one = io.BytesIO()
            little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
            np.lib.format.write_array(one, little, version=(1, 0), allow_pickle=False)
            _add(archive, held, f"{name}.npy", one.getvalue(), name in packed)
    yield held.getvalue()


def _add(
    archive: zipfile.ZipFile, held: io.BytesIO, name: str, data: bytes, packed: bool = False
) -> None:
    entry = zipfile.ZipInfo(name)  # dated 1980: no clock in the file
    entry.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    header = held.tell() + 30 + len(name.encode()) + 4
    entry.extra = struct.pack("<HH", _PADDING, -header % ALIGNMENT) + bytes(-header % ALIGNMENT)
    archive.writestr(entry, data)


def read_store(path: str | os.PathLike[str], kind: str, version: int) -> Store:
    """Map a model, after making sure that it is one of this kind and version, and complete."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            mapped = map_whole(file, name)
            with zipfile.ZipFile(file) as archive:
                _check_sizes(archive, name, len(mapped))
                about = json.loads(archive.read(_ABOUT))
                entries = [entry for entry in archive.infolist() if entry.filename != _ABOUT]
    except IsADirectoryError as error:
        raise InputError(f"{name}: expected a {kind} of Karat, found a directory") from error
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    except InputError:
        raise  # it says what is wrong
    except BROKEN as error:
        cut = "a damaged one, or one cut short: make it anew"
        found = cut if is_store(path) else "something else"
        raise InputError(f"{name}: expected a {kind} of Karat, found {found}") from error
    _check_kind(name, about, kind, version)
    verified = VERIFIED if len(mapped) <= VERIFIED else SMALL
    arrays = {e.filename.removesuffix(".npy"): _map(name, mapped, e, verified) for e in entries}
    return Store(name, about, arrays)


def _check_sizes(archive: zipfile.ZipFile, name: str, size: int) -> None:
    """Refuse an archive that would unpack to too much, or whose parts lie over each other."""
    entries = archive.infolist()
    packed = [e for e in entries if e.compress_type != zipfile.ZIP_STORED]
    check_unpacked(name, sum(e.compress_size for e in packed), sum(e.file_size for e in packed))
    if sum(e.compress_size for e in entries) > size:
        raise damaged(name, "its parts are larger than the file")
    about = archive.getinfo(_ABOUT).file_size
    if about > LONGEST_ABOUT:
        raise damaged(name, f"{_ABOUT} has {about:,} bytes, expected up to {LONGEST_ABOUT:,}")


def file_stamp(path: str) -> tuple[int, int] | None:
    """Return the time and the size of a file, by which a change is noticed; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def stored_kind(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of a file, such as a phrase table; None where it is nothing of Karat's."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(archive, os.fspath(path), os.path.getsize(path))
            about = json.loads(archive.read(_ABOUT))
    except (OSError, *BROKEN):
        return None
    found = about.get("kind") if isinstance(about, dict) else None
    return found if isinstance(found, str) else None


def _check_kind(name: str, about: object, kind: str, version: int) -> None:
    found = about.get("kind") if isinstance(about, dict) else None
    if not isinstance(about, dict) or found != kind:
        said = short(found) if found and isinstance(found, str) else "something else"
        raise InputError(f"{name}: expected a {kind} of Karat, found {said}")
    if about.get("version") != version:
        found = f"a {kind} of version {quoted(about.get('version'))}"
        reads = f"this Karat reads version {version}"
        raise InputError(f"{name}: {found}, and {reads}: make it anew")


def _map(name: str, mapped: mmap.mmap, entry: zipfile.ZipInfo, verified: int) -> NDArray[Any]:
    """One array of the archive, where it lies; a packed one in memory of its own.

    A mapped array of more than `verified` bytes is not looked through.
    """
    try:
        lengths = struct.unpack("<HH", mapped[entry.header_offset + 26 : entry.header_offset + 30])
        named, start = entry.header_offset + 30, entry.header_offset + 30 + sum(lengths)
        if mapped[named : named + lengths[0]] != entry.filename.encode():
            raise ValueError("it has two names")
        if entry.compress_type == zipfile.ZIP_STORED:
            if entry.file_size <= verified:
                _verify(memoryview(mapped)[start : start + entry.file_size], entry)
            return _array(mapped, start, entry.file_size)
        if entry.compress_type != zipfile.ZIP_DEFLATED:
            raise ValueError("packed in another way")
        packed = mapped[start : start + entry.compress_size]
        # Never more than it is said to have.
        held = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, entry.file_size + 1)
        _verify(held, entry)
        return _array(held, 0, entry.file_size)
    except (*BROKEN, SyntaxError, TokenError, TypeError, OverflowError) as error:
        raise damaged(name, f"{short(entry.filename)}: {error}") from error


def _verify(data: bytes | memoryview, entry: zipfile.ZipInfo) -> None:
    """Refuse what is not as it was written."""
    if len(data) < entry.file_size:
        raise ValueError("cut short")
    if zlib.crc32(data) != entry.CRC:
        raise ValueError("its checksum is another")


def _array(held: mmap.mmap | bytes, start: int, size: int) -> NDArray[Any]:
    """The array whose header begins at `start` and that has so many bytes with it."""
    head = io.BytesIO(held[start : start + 1024])
    np.lib.format.read_magic(head)
    shape, _, dtype = np.lib.format.read_array_header_1_0(head)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.hasobject or size != head.tell() + count * dtype.itemsize or start + size > len(held):
        raise ValueError("cut short")
    return np.frombuffer(held, dtype, count, start + head.tell()).reshape(shape)
