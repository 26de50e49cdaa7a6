"""Phrase pairs that are consistent with a word alignment, and how often each was seen.

After Koehn, Och & Marcu (2003): two spans of words are a phrase pair if a link joins them and no
link leaves them. Words without links may stand anywhere in a phrase, at its ends too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.align.links import AnyLinks, Links, check_lengths, check_links
from karat.paraphrase.align.parallel_text import StoredRagged, Words, run_in_batches
from karat.progress import Progress, silent
from karat.storage.arrays import ArrayFile, forget_pages

MAX_PHRASE_WORDS = 4
"""Words of a phrase, at most."""

MAX_ROWS = 1 << 23
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


class PhraseRows(NamedTuple):
    """Sorted phrase pairs as the kernel has them: both phrases, each filled up with -1."""

    ids: NDArray[np.int32]
    counts: Ints


def extract_phrases(
    source: Words,
    pivot: Words,
    links: AnyLinks,
    longest: int = MAX_PHRASE_WORDS,
    *,
    most_rows: int = MAX_ROWS,
    threads: int | None = None,
    progress: Progress = silent,
) -> PhraseCounts:
    """Return all phrase pairs of up to `longest` words on each side.

    Beyond `most_rows` pairs, sorted batches go to temporary files and are merged at the end; the
    result does not depend on it, nor on the number of threads.
    """
    work: dict[str, Any] = {"max_rows": most_rows, "threads": threads, "progress": progress}
    return sort_phrases(source, pivot, links, longest, **work).counts(progress)


class PhraseOrder(NamedTuple):
    """For each word of both sides its place in an order, in which phrases are sorted."""

    source: NDArray[np.int32]
    pivot: NDArray[np.int32]


class SortedPhrases:
    """Sorted batches of phrase pairs, `max_rows` of them in memory, the others in files."""

    def __init__(self, longest: int, max_rows: int) -> None:
        self.longest, self.max_rows = longest, max_rows
        self.batches: list[PhraseRows] = []
        self.spilled: list[PhraseRows] = []

    def add(self, rows: PhraseRows) -> None:
        """Take the next batch; too many in memory become one sorted batch in files, mapped."""
        self.batches.append(rows)
        if sum(len(batch.counts) for batch in self.batches) > self.max_rows:
            ids, counts = (
                ArrayFile("int32", _PURPOSE, 2 * self.longest),
                ArrayFile("int64", _PURPOSE),
            )
            for piece in self._merge(self.batches):
                ids.append(piece.ids)
                counts.append(piece.counts)
            self.spilled.append(PhraseRows(ids.mapped(), counts.mapped()))
            self.batches = []

    def _merge(self, batches: list[PhraseRows]) -> Iterator[PhraseRows]:
        """Yield the rows of batches in order, equal ones put together, piece by piece."""
        ids, counts = [batch.ids for batch in batches], [batch.counts for batch in batches]
        merge = _kernel.PhraseMerge(ids, counts, self.longest)
        while not merge.done:
            yield PhraseRows(*merge.next(_PIECE))

    def merged(self, progress: Progress) -> Iterator[PhraseRows]:
        """Yield all phrase pairs in order, each once, piece by piece."""
        batches = self.spilled + self.batches
        total, done = sum(len(batch.counts) for batch in batches), 0
        for piece in self._merge(batches):
            yield piece
            done += len(piece.counts)
            forget_pages(column for batch in self.spilled for column in batch)
            progress(done, total, "merging phrases")

    def counts(self, progress: Progress) -> PhraseCounts:
        """Return all phrase pairs; those that did not fit into memory are mapped."""
        in_memory = not self.spilled
        source, pivot = (StoredRagged(_PURPOSE, in_memory) for _ in range(2))
        counts = ArrayFile("int64", _PURPOSE, in_memory=in_memory)
        for piece in self.merged(progress):
            source.append_padded(piece.ids[:, : self.longest])
            pivot.append_padded(piece.ids[:, self.longest :])
            counts.append(piece.counts)
        columns = (source.ids, source.offsets, pivot.ids, pivot.offsets, counts)
        return PhraseCounts(*(column.mapped() for column in columns))


def sort_phrases(
    source: Words,
    pivot: Words,
    links: AnyLinks,
    longest: int = MAX_PHRASE_WORDS,
    order: PhraseOrder | None = None,
    *,
    max_rows: int = MAX_ROWS,
    threads: int | None = None,
    progress: Progress = silent,
) -> SortedPhrases:
    """Extract phrase pairs into sorted batches; with `order`, words become their places in it."""
    if longest < 1:
        raise InputError(f"longest={longest}: expected at least one word")
    check_lengths(source, pivot, links)
    phrases = SortedPhrases(longest, max_rows)

    def extract(start: int, stop: int) -> PhraseRows:
        texts = source.part(start, stop), pivot.part(start, stop)
        part = links.part(start, stop)
        check_links(*texts, part, start)
        ids = [texts[0].ids, texts[1].ids]
        if order is not None:
            ids = [places[side_ids] for places, side_ids in zip(order, ids, strict=True)]
        sides = ids[0], texts[0].offsets, ids[1], texts[1].offsets
        columns = part.source, part.pivot, part.offsets
        return PhraseRows(*_kernel.extract_phrases(*sides, *columns, 0, stop - start, longest))

    cuts = [(at, min(at + _SENTENCES, len(links))) for at in range(0, len(links), _SENTENCES)]
    for rows in run_in_batches(extract, cuts, threads, progress, "extracting phrases"):
        phrases.add(rows)
        if isinstance(links, Links):
            forget_pages(links.arrays().values())  # it may be mapped
    return phrases
