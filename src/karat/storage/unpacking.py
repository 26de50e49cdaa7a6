"""Compressed files, unpacked piece by piece up to a limit.

A small file can unpack to any size. So there are two limits: a file may unpack to 2 GB, and above
64 MB it may be at most 200 times as large as its packed size. Normal text deflates to a third or a
tenth, so the second limit stops most hostile files early. The variable KARAT_MAX_UNPACKED sets
another limit in bytes (such as 500M or 20G), which is then the only one.
"""

from __future__ import annotations

import gzip
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from importlib import import_module
from os import PathLike
from types import TracebackType
from typing import IO

from karat.errors import InputError, MissingExtra, quoted
from karat.installation import install_command

VARIABLE = "KARAT_MAX_UNPACKED"
MAX_UNPACKED_BYTES = 2 << 30
MAX_RATIO = 200
FLOOR = 64 << 20
"""Any ratio is allowed up to this many bytes."""

NOT_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)
"""Errors of reading a damaged `.gz` file."""

_ADVICE = f"if you trust it, set {VARIABLE} to the bytes to allow, such as 20G"
_PIECE = 1 << 20
_SIZE = re.compile(r"([0-9]{1,15})([KMG]?)B?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30}


def max_unpacked() -> int | None:
    """Return the limit in bytes set by the user; None if it is not set."""
    setting = os.environ.get(VARIABLE)
    if not setting:
        return None
    match = _SIZE.fullmatch(setting.strip())
    if not match or not int(match[1]):
        raise InputError(f"{VARIABLE}={quoted(setting)}: expected bytes, such as 500M or 20G")
    return int(match[1]) << _UNITS[match[2].upper()]


def check_unpacked(name: str, packed: int, unpacked: int) -> None:
    """Raise if a file of `packed` bytes unpacks to too many bytes, `unpacked`."""
    allowed = max_unpacked()
    most = MAX_UNPACKED_BYTES if allowed is None else allowed
    if unpacked > most:
        raise InputError(f"{name}: it unpacks to more than {_format_size(most)}; {_ADVICE}")
    check_unpacked_ratio(name, packed, unpacked)


def check_unpacked_ratio(name: str, packed: int, unpacked: int) -> None:
    """Raise if a file unpacks to too many times its size; a streamed file may have any size."""
    allowed = max_unpacked()
    if allowed is not None and unpacked > allowed:
        raise InputError(f"{name}: it unpacks to more than {_format_size(allowed)}; {_ADVICE}")
    if allowed is None and unpacked > FLOOR and unpacked > MAX_RATIO * packed:
        times = f"{MAX_RATIO} times its size ({_format_size(unpacked)} from {_format_size(packed)})"
        raise InputError(f"{name}: it unpacks to more than {times}; {_ADVICE}")


def _format_size(size: int) -> str:
    for unit, bits in (("GB", 30), ("MB", 20), ("kB", 10)):
        if size >= 1 << bits:
            return f"{size / (1 << bits):.3g} {unit}"
    return f"{size} bytes"


def unpacked(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the unpacked content of a `.gz` file in pieces."""
    done = 0
    try:
        with gzip.GzipFile(fileobj=file) as archive:
            while piece := archive.read(_PIECE):
                done += len(piece)
                try:
                    packed = file.tell()
                except OSError:  # a pipe has no position: only the limit in bytes applies
                    packed = done
                check_unpacked(name, packed, done)
                yield piece
    except NOT_GZIP as error:
        raise InputError(f"{name}: not a complete gzip file ({error})") from error


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return all bytes of a file, unpacked if its name ends in .gz."""
    with open(path, "rb") as file:
        if not os.fspath(path).endswith(".gz"):
            return file.read()
        return b"".join(unpacked(file, os.fspath(path)))


_ZSTANDARD = 93
_HEAD = struct.Struct("<26xHH")  # header of a member: lengths of its name and extra field
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)


class ZipMembers:
    """The members of an open zip file, by name."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except _DAMAGED as error:
            raise InputError(f"{path}: not a zip file ({error})") from error
        self._infos = {info.filename: info for info in self._zip.infolist()}
        self.names = list(self._infos)
        packed, unpacked = (
            sum(getattr(info, size) for info in self._infos.values())
            for size in ("compress_size", "file_size")
        )
        check_unpacked(str(path), packed, unpacked)

    def __enter__(self) -> ZipMembers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._zip.close()

    def read(self, name: str) -> bytes:
        """Return the content of a member."""
        info = self._infos[name]
        try:
            if info.compress_type != _ZSTANDARD:
                return self._zip.read(info)
            codec = import_module("pyarrow").Codec("zstd")
            return bytes(codec.decompress(self._packed(info), info.file_size).to_pybytes())
        except (NotImplementedError, *_DAMAGED) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(f"{self.path}, {name}: cannot be unpacked ({reason})") from error
        except ImportError:
            problem = "it is packed with Zstandard, which needs pyarrow"
            raise MissingExtra(f"{self.path}: {problem}: {install_command('arrow')}") from None

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        """Return the packed bytes of a member, which `zipfile` does not provide."""
        file = self._zip.fp
        if file is None:
            raise ValueError("closed")
        file.seek(info.header_offset)
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise EOFError("the file ends early")
        name, extra = _HEAD.unpack(head)
        file.seek(info.header_offset + _HEAD.size + name + extra)
        return file.read(info.compress_size)
