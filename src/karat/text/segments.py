"""Segments: text for the kernel, from Python strings or from a mapped file.

All text is read through `Segments`: a length, the size of every stride of segments, and
views of a batch of strides. Only one batch is in memory at a time, so files may have any size.
"""

from __future__ import annotations

import mmap
import os
import select
import stat
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

from karat import _kernel
from karat.arrays import Ints, np
from karat.errors import InputError
from karat.progress import Progress, silent
from karat.storage.digests import bytes_digest
from karat.storage.mapping import check_mapped, map_whole
from karat.storage.output import temporary_file, writing_temporary
from karat.storage.unpacking import unpacked
from karat.text.sniffing import refuse_binary, refuse_json, refuse_sgml

STRIDE = 256
"""Segments are indexed, and batches cut, at multiples of this."""

_PIECE = 1 << 26  # bytes indexed between two calls of the progress callback

_COMPARED = 1 << 20  # bytes compared at once


class Segments(ABC):
    """A sequence of segments, in the order of the file or list it came from."""

    name: str
    """Name in messages: a file name, `candidates`, `references`."""
    ids: Sequence[str] | None = None
    """Ids of the segments; None if they are numbered from 1."""
    documents: Sequence[str] | None = None
    """The document of each segment, if known."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def sizes(self) -> Ints:
        """Return the number of bytes (characters for strings) in each stride."""

    @abstractmethod
    def views(self, start: int, stop: int) -> _kernel.Views:
        """Return the segments from `start`, a multiple of `STRIDE`, to `stop`."""

    def release(self, start: int, stop: int) -> None:  # noqa: B027 - strings have nothing to do
        """Release the memory of segments that were read; they can be read again."""

    def strings(self, indices: Sequence[int]) -> list[str]:
        """Return the texts of a few segments."""
        texts = []
        for i in indices:
            start = i - i % STRIDE
            texts.append(self.views(start, min(start + STRIDE, len(self))).strings()[i - start])
        return texts


def has_no_order(texts: object) -> bool:
    """Return whether this is a mapping, a table or a set, which have no order of texts."""
    return isinstance(texts, Mapping | set | frozenset) or hasattr(texts, "columns")


class Strings(Segments):
    """Segments from a list of strings; ASCII strings are read in place, never copied."""

    def __init__(
        self,
        strings: Iterable[str],
        name: str = "candidates",
        ids: Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
    ) -> None:
        self.ids, self.documents = ids, documents
        kind = type(strings).__name__
        if has_no_order(strings):
            raise InputError(f"{name} is a {kind}, which has no order: give a list of strings")
        if isinstance(strings, str | bytes):
            raise InputError(f"{name} is one {kind}: give a list of strings, or a pathlib.Path")
        try:
            # A copy of the sequence, not of the strings, so that it cannot change.
            self._strings = tuple(strings)
        except TypeError as error:
            raise InputError(f"{name} is {kind}, expected a list of strings") from error
        self.name = name
        bad = _kernel.first_not_str(self._strings)
        if bad >= 0:
            bad_kind = type(self._strings[bad]).__name__
            raise InputError(f"{name}[{bad}] is {bad_kind}, expected str")

    def __len__(self) -> int:
        return len(self._strings)

    def sizes(self) -> Ints:
        return _kernel.string_sizes(self._strings, STRIDE)

    def views(self, start: int, stop: int) -> _kernel.Views:
        return _kernel.Views.from_strings(self._strings, start, stop)

    def strings(self, indices: Sequence[int]) -> list[str]:
        return [self._strings[i] for i in indices]


class Lines(Segments):
    """Segments of a UTF-8 file, one per line; the file is memory-mapped.

    `\\n` or `\\r\\n` ends a line; the last one may lack it. A byte-order mark at the start of the
    file is skipped. Compressed files (`.gz`), pipes and standard input (`-`) go through an unnamed
    temporary file. The file is checked once, here: it must exist, hold at least one line and be
    valid UTF-8; `nul_line` is the first line with a NUL byte (1-based), if any. JSON
    lines, SGML, archives, images and so on are rejected, unless `as_text` means that the lines are
    segments, whatever they look like.
    """

    def __init__(
        self, path: str | os.PathLike[str], progress: Progress = silent, *, as_text: bool = False
    ) -> None:
        self.name = "standard input" if str(path) == "-" else str(path) or "''"
        self._buffer = map_file(path, self.name, as_text=as_text)
        self._start = 3 if self._buffer[:3] == b"\xef\xbb\xbf" else 0
        if not as_text:
            refuse_json(self._buffer, self._start, self.name)
            refuse_sgml(self._buffer, self._start, self.name)
        index = self._index(progress)
        self._lines = index.lines
        self.nul_line = index.nul_line + 1 if index.nul_line >= 0 else None
        # numpy is imported here, not in the kernel, where Ctrl-C would become another error.
        self._starts = [*np.asarray(index.starts()).tolist(), len(self._buffer)]

    def digest(self) -> str:
        """Return eight characters that change when the file does, for signatures."""
        return bytes_digest(self._buffer)

    def same_text(self, other: Lines) -> bool:
        """Return whether two files have the same bytes."""
        data, other_data = self._buffer, other._buffer
        pieces = (slice(at, at + _COMPARED) for at in range(0, len(data), _COMPARED))
        same_size = len(data) == len(other_data)
        return same_size and all(data[span] == other_data[span] for span in pieces)

    def _index(self, progress: Progress) -> _kernel.LineIndex:
        index = _kernel.LineIndex(STRIDE)
        at, size = self._start, len(self._buffer)
        while at < size and index.invalid_line < 0:
            before, at = at, index.feed(self._buffer, at, _PIECE)
            if size > _PIECE:
                self._release_bytes(before, at)
            progress(at, size, f"reading {self.name}")
        check_mapped()  # lost bytes read as zeros, without line ends
        if index.invalid_line >= 0:
            line, column = index.invalid_line + 1, index.invalid_column
            column += self._start if line == 1 else 0  # the byte-order mark counts too
            utf16 = self._buffer[:2] in (b"\xff\xfe", b"\xfe\xff")
            hint = "it looks like UTF-16; convert it" if utf16 else "convert the file"
            place = f"{self.name}, line {line}, byte {column + 1}"
            raise InputError(f"{place}: not valid UTF-8; {hint} to UTF-8 (for example with iconv)")
        if not index.lines:
            raise InputError(f"{self.name} is empty: expected one segment a line")
        return index

    def __len__(self) -> int:
        return self._lines

    def sizes(self) -> Ints:
        starts = np.asarray(self._starts, dtype=np.int64)
        return starts[1:] - starts[:-1]

    def views(self, start: int, stop: int) -> _kernel.Views:
        first, last = start // STRIDE, -(-stop // STRIDE)
        return _kernel.Views.from_lines(self._buffer, self._starts[first], self._starts[last])

    def release(self, start: int, stop: int) -> None:
        self._release_bytes(self._starts[start // STRIDE], self._starts[-(-stop // STRIDE)])

    def _release_bytes(self, start: int, stop: int) -> None:
        """Release pages of the mapped file; the system may keep them in its cache."""
        page = mmap.PAGESIZE
        first, last = -(-start // page) * page, stop // page * page
        if first < last and hasattr(mmap, "MADV_DONTNEED"):
            self._buffer.madvise(mmap.MADV_DONTNEED, first, last - first)


SEGMENTS = "one segment a line"
"""The expected content of most files, for messages."""


def map_file(
    path: str | os.PathLike[str], name: str, expected: str = SEGMENTS, as_text: bool = False
) -> mmap.mmap:
    """Map the bytes of a file; `.gz` files and pipes are unpacked to a temporary one.

    `expected` is the expected content, for messages. Binary formats are rejected unless `as_text`.
    """
    try:
        with _open(path, name, expected) as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise InputError(f"{name} is empty: expected {expected}")
            mapped = map_whole(file, name)
            if not as_text:
                refuse_binary(mapped, name, expected)
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    check_line_ends(mapped, name)
    return mapped


def check_line_ends(data: mmap.mmap | str, name: str) -> None:
    """Reject files whose lines end in CR alone: they would be one line."""
    newline, cr = ("\n", "\r") if isinstance(data, str) else (b"\n", b"\r")
    if data.find(newline) < 0 and 0 <= data.find(cr) < len(data) - 1:  # type: ignore[arg-type]
        convert = "convert with tr '\\r' '\\n' < OLD > NEW"
        raise InputError(f"{name}: lines end in CR alone (old Mac); {convert}")


def _open(path: str | os.PathLike[str], name: str, expected: str) -> IO[bytes]:
    """Open a regular file with the text in it."""
    if str(path) == "-":
        return _spool(_read(sys.stdin.buffer), name)
    if os.path.isdir(path):
        raise InputError(f"{path} is a directory: expected a text file, {expected}")
    file = open(path, "rb")  # noqa: SIM115 - the caller closes it
    packed = str(path).endswith(".gz")
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode) and not packed:
        return file
    with file:
        return _spool(unpacked(file, name) if packed else _read(file), name)


def _spool(pieces: Iterator[bytes], name: str) -> IO[bytes]:
    """Copy a stream to an unnamed temporary file, which can be mapped."""
    purpose = f"{name} is copied there to be read"
    spooled = temporary_file(purpose)
    try:
        for piece in pieces:
            with writing_temporary(purpose):
                spooled.write(piece)
        with writing_temporary(purpose):
            spooled.flush()
    except BaseException:
        with suppress(OSError):  # closing may have to write the rest
            spooled.close()
        raise
    return spooled


def _read(source: Any) -> Iterator[bytes]:
    """Yield everything from a pipe or a file.

    Pipes are polled: Ctrl-C just before a blocking read would be noticed only when data arrive.
    """
    try:
        descriptor = source.fileno()
        may_wait = os.name == "posix" and not stat.S_ISREG(os.fstat(descriptor).st_mode)
    except (OSError, AttributeError):  # unpacked, or in memory
        may_wait = False
    while True:
        if may_wait:
            while not select.select([descriptor], [], [], 0.2)[0]:
                pass
            piece = os.read(descriptor, 1 << 20)
        else:
            piece = source.read(1 << 20)
        if not piece:
            return
        yield piece


Texts: TypeAlias = "Segments | os.PathLike[str] | Iterable[str]"
"""Accepted forms of segments: `Segments`, the path of a file, or strings."""


def as_segments(texts: Texts, name: str) -> Segments:
    """Return `texts` as `Segments`, checked."""
    if isinstance(texts, Segments):
        return texts
    if isinstance(texts, os.PathLike):
        return Lines(Path(texts))
    return Strings(texts, name)


def batches(sources: Sequence[Segments], segments: int, nbytes: int) -> Iterator[tuple[int, int]]:
    """Cut aligned sources into batches of at most `segments` segments or about `nbytes` bytes.

    The cuts depend only on the text, never on the number of threads.
    """
    sizes = sum((source.sizes() for source in sources[1:]), start=sources[0].sizes())
    total, start, held = len(sources[0]), 0, 0
    for stride, size in enumerate(sizes.tolist()):
        at = stride * STRIDE
        if at > start and (held + size > nbytes or at + STRIDE - start > segments):
            yield start, at
            start, held = at, 0
        held += size
    if total > start:
        yield start, total
