"""Arrays in files: limits of memory, mapped arrays, and NPY data."""

from __future__ import annotations

import io
import math
import mmap
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import IO, Any, NamedTuple

from karat.arrays import NDArray, np
from karat.errors import InputError
from karat.storage.output import temporary_file, writing_temporary

MAX_MEMORY = 1 << 60
"""More bytes than any machine has."""
MIN_MEMORY = 1 << 26
"""The lowest limit in bytes: Python and its modules need about as much."""


def as_memory(memory: int | None, least: int | None = None) -> int:
    """Return the memory limit in bytes; the default is a quarter of the machine's memory."""
    if memory is None:
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
        except (AttributeError, ValueError, OSError):
            return 1 << 31
    least = MIN_MEMORY if least is None else least
    if memory < least:
        enough = math.ceil(least / 2**30 * 1000) / 1000
        problem = f"memory of {memory / 2**30:.4g} GB ({memory:,} bytes)"
        raise InputError(f"{problem}: expected at least {enough} GB ({least:,} bytes)")
    return min(memory, MAX_MEMORY)


def forget_pages(arrays: Iterable[NDArray[Any]]) -> None:
    """Release the memory of mapped arrays; they are read again when they are used again.

    Otherwise, pages of a mapped file count as memory of the process until memory is scarce.
    """
    for array in arrays:
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        mapped = base.obj if isinstance(base, memoryview) else base
        if isinstance(mapped, mmap.mmap) and hasattr(mapped, "madvise"):
            mapped.madvise(mmap.MADV_DONTNEED)


_PIECE = 1 << 22  # bytes


class FileArray(NamedTuple):
    """An array of unsigned 64-bit integers that is the whole content of an open file."""

    size: int
    file: int
    """The file descriptor; its owner closes it."""

    def memory_map(self) -> NDArray[Any]:
        """Return the memory-mapped array; it stays valid when the file is closed."""
        mapping = mmap.mmap(self.file, self.size * 8, access=mmap.ACCESS_READ)
        return np.frombuffer(mapping, np.dtype("<u8"), self.size)


Stored = NDArray[Any] | FileArray


def npy_header(array: Stored) -> bytes:
    """Return the header of an array in the NPY format."""
    head = io.BytesIO()
    kind = "<u8" if isinstance(array, FileArray) else _little(array.dtype).str
    shape = (array.size,) if isinstance(array, FileArray) else array.shape
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, header)
    return head.getvalue()


def npy_pieces(array: Stored) -> Iterator[bytes | memoryview]:
    """Yield the bytes of an array's numbers in pieces, without its header."""
    if isinstance(array, FileArray):
        os.lseek(array.file, 0, os.SEEK_SET)
        left = array.size * 8
        while left:
            piece = os.read(array.file, min(left, _PIECE))
            if not piece:
                raise OSError("a temporary file was cut short")
            left -= len(piece)
            yield piece
    else:
        little = np.ascontiguousarray(array).astype(_little(array.dtype), copy=False)
        data = little.reshape(-1).view(np.uint8).data if little.size else memoryview(b"")
        for at in range(0, len(data), _PIECE):
            yield data[at : at + _PIECE]
            forget_pages([array])  # a mapped file may be larger than memory


def npy_size(array: Stored) -> int:
    """Return the number of bytes of the numbers."""
    return array.size * 8 if isinstance(array, FileArray) else int(array.nbytes)


def _little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    little_endian: np.dtype[Any] = dtype.newbyteorder("<")
    return little_endian


class ArrayFile:
    """Rows of numbers in a temporary file; rows can be appended and overwritten.

    Without `width` a row is one number, and arrays have one dimension. Reading needs only the
    memory of the result. Several threads may read. The file is removed with the object. With
    `in_memory` the rows are held in memory instead.
    """

    def __init__(
        self, dtype: str, purpose: str, width: int | None = None, in_memory: bool = False
    ) -> None:
        self.dtype, self.purpose = np.dtype(dtype), purpose
        self._row_shape = () if width is None else (width,)
        self._width = width or 1
        self._row_count = 0
        self._file: IO[bytes] = io.BytesIO() if in_memory else temporary_file(purpose)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._row_count

    @property
    def _row_bytes(self) -> int:
        return self.dtype.itemsize * self._width

    def append(self, rows: NDArray[Any]) -> None:
        """Write rows after the last."""
        self.write(self._row_count, rows)

    def write(self, start: int, rows: NDArray[Any]) -> None:
        """Write rows from index `start`, which is at most the number of rows."""
        data = np.ascontiguousarray(rows, dtype=self.dtype)
        with self._lock, writing_temporary(self.purpose):
            self._file.seek(start * self._row_bytes)
            self._file.write(data.reshape(-1).view(np.uint8).data if data.size else b"")
        self._row_count = max(self._row_count, start + data.size // self._width)

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return a copy of rows."""
        stop = self._row_count if stop is None else min(stop, self._row_count)
        rows = np.empty((stop - start, *self._row_shape), dtype=self.dtype)
        with self._lock, writing_temporary(self.purpose):
            self._file.seek(start * self._row_bytes)
            left = rows.reshape(-1).view(np.uint8).data if rows.size else memoryview(b"")
            while left:
                got = self._file.readinto(left)  # type: ignore[attr-defined]
                if not got:
                    raise OSError("the file was cut short")
                left = left[got:]
        return rows

    def memory_map(self) -> NDArray[Any]:
        """Return all rows as a memory-mapped array; rows written later are not in it."""
        shape = (self._row_count, *self._row_shape)
        if not self._row_count:
            return np.empty(shape, dtype=self.dtype)
        if isinstance(self._file, io.BytesIO):
            return np.frombuffer(self._file.getvalue(), dtype=self.dtype).reshape(shape)
        with self._lock, writing_temporary(self.purpose):
            self._file.flush()
            mapping = mmap.mmap(
                self._file.fileno(), self._row_count * self._row_bytes, access=mmap.ACCESS_READ
            )
        return np.frombuffer(mapping, dtype=self.dtype).reshape(shape)

    def close(self) -> None:
        """Remove the file; mapped arrays stay valid."""
        with suppress(OSError):  # errors of writing were reported by `write`
            self._file.close()
