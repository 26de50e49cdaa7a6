"""Limits of memory, and pages of mapped files that are given back."""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Iterable
from typing import Any

from karat.arrays import NDArray, np
from karat.errors import InputError

MOST = 1 << 60
"""Bytes that no machine has."""
LEAST = 1 << 26
"""Bytes below which no limit can be kept: Python and its modules take about as much."""


def as_memory(memory: int | None, least: int | None = None) -> int:
    """Return the limit in bytes: a quarter of this machine's memory, unless it is given."""
    if memory is None:
        return quarter_of_memory()
    least = LEAST if least is None else least
    if memory < least:
        enough = math.ceil(least / 2**30 * 1000) / 1000
        found = f"memory of {memory / 2**30:.4g} GB ({memory:,} bytes)"
        raise InputError(f"{found}: expected at least {enough} GB ({least:,} bytes)")
    return min(memory, MOST)


def quarter_of_memory() -> int:
    """Return a quarter of this machine's memory, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, ValueError, OSError):
        return 1 << 31


def forget_pages(arrays: Iterable[NDArray[Any]]) -> None:
    """Give back the memory of mapped arrays, which are read again where they are used again.

    Pages of a mapped file count as memory of the process until somebody needs room.
    """
    for array in arrays:
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        forget_mapped(base.obj if isinstance(base, memoryview) else base)


def forget_mapped(mapped: object) -> None:
    """Give back the memory of a mapped file; nothing where the system cannot."""
    if isinstance(mapped, mmap.mmap) and hasattr(mapped, "madvise"):
        mapped.madvise(mmap.MADV_DONTNEED)
