"""Each line of some texts once, whatever their size.

Lines are compared by digests of 128 bits, of which as many are sorted at a time as fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice

from karat.arrays import Flags, NDArray, np
from karat.paraphrase.align.parallel_text import each_line
from karat.storage.arrays import ArrayFile, as_memory
from karat.text.segments import Segments
from karat.text.word_table import StoredStrings

_PURPOSE = "lines of text are compared there"
_ROWS = 1 << 16  # that are read together
_BYTES_OF_LINE = 256  # while digests are sorted


def different_lines(texts: Sequence[Segments], memory: int | None = None) -> StoredStrings:
    """Return each line of all texts once, where it stands first."""
    digests, found = _digests(texts), StoredStrings()
    try:
        first = first_rows(digests, max(as_memory(memory) // _BYTES_OF_LINE, 1))
    finally:
        digests.close()
    for line, keep in zip(_lines(texts), first.tolist(), strict=True):
        if keep:
            found.append(line)
    return found.done()


def spread_lines(texts: Sequence[Segments], most: int = 1000) -> list[str]:
    """Return at most so many different lines with words, spread evenly over some texts."""
    step = max(-(-sum(map(len, texts)) // most), 1)
    return list(
        dict.fromkeys(line for line in islice(_lines(texts), 0, None, step) if line.split())
    )


def _lines(texts: Sequence[Segments]) -> Iterator[str]:
    for text in texts:
        yield from each_line(text)
        text.release(0, len(text))


def _digests(texts: Sequence[Segments]) -> ArrayFile:
    """Write 128 bits for each line, in two numbers."""
    digests, held = ArrayFile("uint64", _PURPOSE, 2), bytearray()
    for line in _lines(texts):
        held += sha256(line.encode("utf-8", "surrogatepass")).digest()[:16]
        if len(held) >= 16 * _ROWS:
            digests.append(np.frombuffer(bytes(held), "<u8"))
            held.clear()
    digests.append(np.frombuffer(bytes(held), "<u8"))
    return digests


def first_rows(rows: ArrayFile, most: int) -> Flags:
    """Return which rows are the first of their kind; about `most` are held at a time."""
    passes = -(-len(rows) // most)
    first: Flags = np.zeros(len(rows), np.bool_)
    for turn in range(passes):
        mine = [np.empty(0, np.int64)]
        found: list[NDArray[np.uint64]] = [np.empty((0, 2), np.uint64)]
        for start in range(0, len(rows), _ROWS):
            some = rows.read(start, start + _ROWS)
            here = np.flatnonzero(some[:, 0] % np.uint64(passes) == turn)
            mine.append(start + here)
            found.append(some[here])
        where, kept = np.concatenate(mine), np.concatenate(found)
        order = np.lexsort((kept[:, 1], kept[:, 0]))  # stable: of equal ones the first comes first
        new = np.ones(len(order), np.bool_)
        new[1:] = (kept[order[1:]] != kept[order[:-1]]).any(axis=1)
        first[where[order[new]]] = True
    return first
