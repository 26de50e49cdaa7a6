"""Arrays as numpy stores them, piece by piece: those in memory, and those that are in a file."""

from __future__ import annotations

import io
import mmap
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from karat.arrays import NDArray, np
from karat.storage.memory import forget_pages

_PIECE = 1 << 22  # bytes


class FileArray(NamedTuple):
    """An array of 64-bit whole numbers, not negative, that is all of an open file."""

    size: int
    file: int
    """The number of the file; whoever made it closes it."""

    def mapped(self) -> NDArray[Any]:
        """Return the array, mapped; it stays when the file is closed."""
        held = mmap.mmap(self.file, self.size * 8, access=mmap.ACCESS_READ)
        return np.frombuffer(held, np.dtype("<u8"), self.size)


Stored = NDArray[Any] | FileArray


def npy_header(array: Stored) -> bytes:
    """Return what stands before the numbers."""
    head = io.BytesIO()
    kind = "<u8" if isinstance(array, FileArray) else _little(array.dtype).str
    shape = (array.size,) if isinstance(array, FileArray) else array.shape
    said = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, said)
    return head.getvalue()


def npy_numbers(array: Stored) -> Iterator[bytes | memoryview]:
    """Yield the numbers, as bytes."""
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
            forget_pages([array])  # it may be a mapped file, larger than memory


def npy_size(array: Stored) -> int:
    """Return the number of those bytes."""
    return array.size * 8 if isinstance(array, FileArray) else int(array.nbytes)


def _little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    found: np.dtype[Any] = dtype.newbyteorder("<")
    return found
