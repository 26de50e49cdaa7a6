"""Memory-mapped files, and a check that none was truncated while it was in use.

If another program truncates a mapped file, the missing part
reads as zeros (see `csrc/core/mapped_files.hpp`), and `check_mapped` raises. It is called after
each piece of work and before anything is printed or written, so no result is computed from those
zeros.
"""

from __future__ import annotations

import mmap
import threading
import weakref
from contextlib import suppress
from typing import IO, NamedTuple

from karat import _kernel
from karat.errors import InputError, visible


class _Mapping(NamedTuple):
    """A mapped file in use."""

    name: str
    mapped: weakref.ref[mmap.mmap]
    watched: _kernel.Watched


_in_use: dict[int, _Mapping] = {}
_lock = threading.Lock()


def map_whole(file: IO[bytes], name: str) -> mmap.mmap:
    """Map an open file, and watch it while the mapping is in use; the file may be closed."""
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    key = id(mapped)
    with _lock:
        _in_use[key] = _Mapping(name, weakref.ref(mapped), _kernel.Watched(mapped, visible(name)))
    weakref.finalize(mapped, _in_use.pop, key, None).atexit = False
    return mapped


def check_mapped() -> None:
    """Raise if a file became shorter while it was in use."""
    for name, reference, watched in _in_use.copy().values():
        mapped = reference()
        if mapped is None:
            continue
        is_short = watched.lost
        with suppress(OSError, ValueError):  # it was closed
            is_short = is_short or mapped.size() < len(mapped)
        if is_short:
            advice = "wait until nothing writes to it, and start again"
            raise InputError(f"{name} became shorter while it was read; {advice}")
