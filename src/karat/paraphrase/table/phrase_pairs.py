"""Phrase pairs that are consistent with a word alignment, and how often each was seen.

After Koehn, Och & Marcu (2003): two spans of words are a phrase pair if a link joins them and no
link leaves them. Words without links may stand anywhere in a phrase, at its ends too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.align.batches import by_batches
from karat.paraphrase.align.links import Links, check_sentences
from karat.progress import Progress, silent
from karat.storage.temporary import temporary_file, writing_temporary
from karat.text.tokens import Tokens

LONGEST = 4
"""Words of a phrase, at most."""

MOST_ROWS = 1 << 23
"""Phrase pairs that are held in memory before they go to a temporary file."""

_PURPOSE = "phrase pairs are sorted there"
_SENTENCES = 4096  # of one batch
_PIECE = 1 << 18  # rows that are merged between two looks at the keyboard


@dataclass(frozen=True, eq=False)
class PhraseCounts:
    """Pair k joins two phrases, `ids[offsets[k]:offsets[k + 1]]` of each side, `counts[k]` times.

    Pairs are unique and sorted by the ids of the source phrase, then of the pivot phrase; a phrase
    comes before those that it begins.
    """

    source_ids: NDArray[np.int32]
    source_offsets: Ints
    pivot_ids: NDArray[np.int32]
    pivot_offsets: Ints
    counts: Ints

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"<PhraseCounts: {len(self):,} pairs, seen {int(self.counts.sum()):,} times>"


class _Rows(NamedTuple):
    """Sorted phrase pairs as the kernel has them: both phrases, each filled up with -1."""

    ids: NDArray[np.int32]
    counts: Ints


def extract_phrases(
    source: Tokens,
    pivot: Tokens,
    links: Links,
    longest: int = LONGEST,
    *,
    most_rows: int = MOST_ROWS,
    threads: int | None = None,
    progress: Progress = silent,
) -> PhraseCounts:
    """Return all phrase pairs of up to `longest` words on each side.

    Beyond `most_rows` pairs, sorted batches go to temporary files and are merged at the end; the
    result does not depend on it, nor on the number of threads.
    """
    if longest < 1:
        raise InputError(f"longest={longest}: expected at least one word")
    check_sentences(source, pivot, links)
    held = _Held(longest, most_rows)

    def extract(start: int, stop: int) -> _Rows:
        texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
        joins = (links.source, links.pivot, links.offsets)
        return _Rows(*_kernel.extract_phrases(*texts, *joins, start, stop, longest))

    cuts = [(at, min(at + _SENTENCES, len(links))) for at in range(0, len(links), _SENTENCES)]
    try:
        for rows in by_batches(extract, cuts, threads, progress, "extracting phrases"):
            held.add(rows)
        return held.result(progress)
    finally:
        held.close()


class _Held:
    """Sorted batches: those in memory, and those that had to go to temporary files."""

    def __init__(self, longest: int, most_rows: int) -> None:
        self.longest, self.most_rows = longest, most_rows
        self.batches: list[_Rows] = []
        self.spilled: list[_Rows] = []
        self.files: list[IO[bytes]] = []

    def add(self, rows: _Rows) -> None:
        self.batches.append(rows)
        if sum(len(batch.counts) for batch in self.batches) > self.most_rows:
            self.spill()

    def spill(self) -> None:
        """Merge what is in memory into one sorted batch in two unnamed files, and map them."""
        ids, counts = temporary_file(_PURPOSE), temporary_file(_PURPOSE)
        self.files += [ids, counts]
        for piece in _merged(self.batches, self.longest):
            with writing_temporary(_PURPOSE):
                ids.write(piece.ids.tobytes())
                counts.write(piece.counts.tobytes())
        with writing_temporary(_PURPOSE):
            ids.flush()
            counts.flush()
        mapped = np.memmap(ids, np.int32, "r").reshape(-1, 2 * self.longest)
        self.spilled.append(_Rows(mapped, np.memmap(counts, np.int64, "r")))
        self.batches = []

    def result(self, progress: Progress) -> PhraseCounts:
        batches = self.spilled + self.batches
        total = sum(len(batch.counts) for batch in batches)
        pieces, done = [_Rows(np.empty((0, 2 * self.longest), np.int32), np.empty(0, np.int64))], 0
        for piece in _merged(batches, self.longest):
            pieces.append(piece)
            done += len(piece.counts)
            progress(done, total, "merging phrases")
        source = _side([piece.ids[:, : self.longest] for piece in pieces])
        pivot = _side([piece.ids[:, self.longest :] for piece in pieces])
        return PhraseCounts(*source, *pivot, np.concatenate([piece.counts for piece in pieces]))

    def close(self) -> None:
        for file in self.files:
            with suppress(OSError):  # what could not be written is reported where it was
                file.close()


def _merged(batches: list[_Rows], longest: int) -> Iterator[_Rows]:
    """Yield the rows of all batches in order, equal ones put together, piece by piece."""
    ids, counts = [one.ids for one in batches], [one.counts for one in batches]
    merge = _kernel.PhraseMerge(ids, counts, longest)
    while not merge.done:
        yield _Rows(*merge.next(_PIECE))


def _side(phrases: list[NDArray[np.int32]]) -> tuple[NDArray[np.int32], Ints]:
    """Return phrases without what fills them up, and where each begins."""
    words = np.concatenate([(part >= 0).sum(axis=1) for part in phrases])
    ids = np.concatenate([part[part >= 0] for part in phrases])
    return ids, np.concatenate([[0], np.cumsum(words, dtype=np.int64)])
