"""Arrays in unnamed temporary files, for what would not fit into memory."""

from __future__ import annotations

import mmap
import threading
from contextlib import suppress
from typing import Any

from karat.arrays import NDArray, np
from karat.storage.temporary import temporary_file, writing_temporary


class ArrayFile:
    """Rows of numbers in a temporary file, which grows at its end; rows may be written again.

    Without `width` a row is one number, and arrays have one dimension. Reading takes no memory but
    the result's. Several threads may read.
    """

    def __init__(self, dtype: str, purpose: str, width: int | None = None) -> None:
        self.dtype, self.purpose = np.dtype(dtype), purpose
        self._shape = () if width is None else (width,)
        self._width = width or 1
        self._rows = 0
        self._file = temporary_file(purpose)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._rows

    @property
    def _bytes(self) -> int:
        return self.dtype.itemsize * self._width

    def append(self, rows: NDArray[Any]) -> None:
        """Write rows behind the last."""
        self.write(self._rows, rows)

    def write(self, start: int, rows: NDArray[Any]) -> None:
        """Write rows from a place on, which is at most the end."""
        data = np.ascontiguousarray(rows, dtype=self.dtype)
        with self._lock, writing_temporary(self.purpose):
            self._file.seek(start * self._bytes)
            self._file.write(data.reshape(-1).view(np.uint8).data if data.size else b"")
        self._rows = max(self._rows, start + data.size // self._width)

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return rows in memory of their own."""
        stop = self._rows if stop is None else min(stop, self._rows)
        found = np.empty((stop - start, *self._shape), dtype=self.dtype)
        with self._lock, writing_temporary(self.purpose):
            self._file.seek(start * self._bytes)
            left = found.reshape(-1).view(np.uint8).data if found.size else memoryview(b"")
            while left:
                got = self._file.readinto(left)  # type: ignore[attr-defined]
                if not got:
                    raise OSError("the file was cut short")
                left = left[got:]
        return found

    def mapped(self) -> NDArray[Any]:
        """Return all rows, mapped; rows that are written later are not in it."""
        shape = (self._rows, *self._shape)
        if not self._rows:
            return np.empty(shape, dtype=self.dtype)
        with self._lock, writing_temporary(self.purpose):
            self._file.flush()
            held = mmap.mmap(self._file.fileno(), self._rows * self._bytes, access=mmap.ACCESS_READ)
        return np.frombuffer(held, dtype=self.dtype).reshape(shape)

    def close(self) -> None:
        """Remove the file; arrays that are mapped stay."""
        with suppress(OSError):  # what could not be written is reported where it was
            self._file.close()
