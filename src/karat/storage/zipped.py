"""Members of zip files, those packed with Zstandard too, never beyond the limits of unpacking."""

from __future__ import annotations

import struct
import zipfile
import zlib
from importlib import import_module
from os import PathLike
from types import TracebackType

from karat.errors import InputError, MissingExtra
from karat.storage.unpacking import check_unpacked

_ZSTANDARD = 93
_HEAD = struct.Struct("<26xHH")  # of a member: the lengths of its name and of what follows it
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)


class ZipMembers:
    """A zip file that is open: its names, and what is under them."""

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
        """Return what is under a name."""
        info = self._infos[name]
        try:
            if info.compress_type != _ZSTANDARD:
                return self._zip.read(info)
            return _unpacked(self._packed(info), info.file_size)
        except (NotImplementedError, *_DAMAGED) as error:
            told = " ".join(str(error).split()) or type(error).__name__
            raise InputError(f"{self.path}, {name}: cannot be unpacked ({told})") from error
        except MissingExtra as error:
            raise MissingExtra(f"{self.path}: {error}") from error

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        """Return the bytes as they are packed, which `zipfile` alone does not give."""
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


def _unpacked(data: bytes, size: int) -> bytes:
    """Return what Zstandard packed, with whichever package is here."""
    try:
        found = import_module("pyarrow").Codec("zstd").decompress(data, size)
        return bytes(found.to_pybytes())
    except ImportError:
        told = "it is packed with Zstandard, which needs pyarrow"
        raise MissingExtra(f"{told}: pip install 'karat[arrow]'") from None
