"""Phrase tables of more pairs than fit into memory: made from sorted pairs, into files.

Pairs come sorted by the text of their words, in pieces of whole source phrases. The first pass
numbers the source phrases and writes, for each piece, its different pivot phrases; their union
gives every pivot phrase its number. The second pass sorts the translations of each source phrase.
The arrays are those of `PhraseTable.from_counts`, to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.paraphrase.table.phrase_pairs import Order, Rows
from karat.paraphrase.table.phrase_table import padded, starts
from karat.progress import Progress
from karat.storage.arrays import ArrayFile, forget_pages
from karat.text.tokens import Ragged, Vocab
from karat.text.word_table import word_arrays

_PURPOSE = "the phrase table is made there"
_PAIRS = 1 << 20  # of one piece, at most
_VALUES = 1 << 22  # that are rewritten together


def text_order(source: Vocab, pivot: Vocab) -> Order:
    """Return the places of words in the order of their text."""
    return Order(*(_places(vocab) for vocab in (source, pivot)))


def _places(vocab: Vocab) -> NDArray[np.int32]:
    words = vocab.words(0, len(vocab))
    places = np.empty(len(words), np.int32)
    places[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    return places


class TableFiles:
    """The arrays of a phrase table in temporary files, while they are made."""

    def __init__(self, stack: ExitStack, longest: int) -> None:
        self.longest = longest

        def file(dtype: str, width: int | None = None) -> ArrayFile:
            found = ArrayFile(dtype, _PURPOSE, width)
            stack.callback(found.close)
            return found

        self.phrase_ids, self.phrase_offsets = file("int32"), file("int64")
        self.phrase_counts, self.edge_offsets = file("float64"), file("int64")
        self.pivot_ids, self.pivot_offsets = file("int32"), file("int64")
        self.edge_pivots, self.edge_probabilities = file("int32"), file("float64")
        for offsets in (self.phrase_offsets, self.edge_offsets, self.pivot_offsets):
            offsets.append(np.zeros(1, np.int64))
        # What is known of pairs on the way: which pivot phrase of its piece, and how often.
        self.locals, self.seen = file("int32"), file("int64")
        self.pivots, self.numbers = file("int32", longest), file("int32")
        self.pieces: list[tuple[int, int]] = []  # where the pairs of each piece end, and its pivots

    def add(self, pairs: Rows) -> None:
        """Take the next pairs, of whole source phrases."""
        source, pivot = pairs.ids[:, : self.longest], pairs.ids[:, self.longest :]
        first = np.flatnonzero(_is_new(source))
        before = len(self.seen)
        self._phrases(self.phrase_ids, self.phrase_offsets, source[first])
        self.phrase_counts.append(np.add.reduceat(pairs.counts, first).astype(np.float64))
        self.edge_offsets.append(before + np.append(first[1:], len(pairs.counts)))
        order = np.lexsort(pivot.T[::-1])
        new = _is_new(pivot[order])
        local = np.empty(len(order), np.int32)
        local[order] = np.cumsum(new) - 1
        self.pivots.append(pivot[order[new]])
        self.locals.append(local)
        self.seen.append(pairs.counts)
        self.pieces.append((len(self.seen), len(self.pivots)))

    def _phrases(self, ids: ArrayFile, offsets: ArrayFile, rows: NDArray[np.int32]) -> None:
        """Write phrases without what fills them up."""
        offsets.append(len(ids) + starts((rows >= 0).sum(axis=1))[1:])
        ids.append(rows[rows >= 0])

    def number_pivots(self, progress: Progress) -> None:
        """Number the pivot phrases of all pieces."""
        rows = self.pivots.mapped()
        bounds = [0, *(end for _, end in self.pieces)]
        parts = [rows[a:b] for a, b in pairwise(bounds)]
        union, held = _kernel.SortedUnion(parts, self.longest), 0
        at = bounds[:-1]
        while not union.done:
            found, numbers = union.next(_PAIRS)
            self._phrases(self.pivot_ids, self.pivot_offsets, found)
            for part, some in enumerate(numbers):
                self.numbers.write(at[part], some + np.int32(held))
                at[part] += len(some)
            held += len(found)
            forget_pages([rows])
            progress(sum(at) - sum(bounds[:-1]), len(rows), "numbering pivot phrases")

    def sort_edges(self, progress: Progress) -> None:
        """Write the translations of each phrase by falling probability."""
        for phrase, offsets, numbers, times in self.numbered_pairs():
            which = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            N = self.phrase_counts.read(phrase, phrase + len(offsets) - 1)
            p = times.astype(np.float64) / N[which]
            order = np.lexsort((numbers, -p, which))
            self.edge_pivots.append(numbers[order])
            self.edge_probabilities.append(p[order])
            progress(len(self.edge_pivots), len(self.seen), "sorting translations")

    def numbered_pairs(self) -> Iterator[tuple[int, Ints, NDArray[np.int32], Ints]]:
        """Yield for each piece its first phrase, where each one's pairs begin, and these pairs.

        Of a pair, the number of its pivot phrase, and how often it was seen.
        """
        first = pivots = phrase = 0
        for end, pivots_end in self.pieces:
            numbers = self.numbers.read(pivots, pivots_end)[self.locals.read(first, end)]
            offsets = self._edges_of(phrase, end)
            yield phrase, offsets, numbers, self.seen.read(first, end)
            first, pivots, phrase = end, pivots_end, phrase + len(offsets) - 1

    def phrase_rows(self) -> Iterator[NDArray[np.int32]]:
        """Yield the source phrases as rows of words, filled up with -1."""
        for ids, offsets in self._pieces_of_phrases():
            yield padded(Ragged(ids, offsets), self.longest)

    def _edges_of(self, phrase: int, end: int) -> Ints:
        """Return where the pairs of the phrases of a piece begin, and where the last end."""
        offsets = self.edge_offsets.read(phrase, phrase + _PAIRS + 1)
        while offsets[-1] < end:
            offsets = self.edge_offsets.read(phrase, phrase + 2 * len(offsets))
        found: Ints = offsets[: int(np.searchsorted(offsets, end)) + 1]
        return found

    def arrays(self, order: Order, source: Vocab, pivot: Vocab) -> dict[str, NDArray[Any]]:
        """Return the arrays of the table, mapped."""
        words = _used(self.phrase_ids, order.source, source)
        pivot_words = _used(self.pivot_ids, order.pivot, pivot)
        slots = ArrayFile("int32", _PURPOSE)
        slots.append(self._slots())
        phrases = {
            "phrase_ids": self.phrase_ids,
            "phrase_offsets": self.phrase_offsets,
            "phrase_counts": self.phrase_counts,
            "phrase_slots": slots,
            "edge_offsets": self.edge_offsets,
            "edge_pivots": self.edge_pivots,
            "edge_probabilities": self.edge_probabilities,
            "pivot_phrase_ids": self.pivot_ids,
            "pivot_phrase_offsets": self.pivot_offsets,
        }
        mapped = {name: file.mapped() for name, file in phrases.items()}
        slots.close()
        return word_arrays(words, "source") | word_arrays(pivot_words, "pivot") | mapped

    def _slots(self) -> NDArray[np.int32]:
        slots = _kernel.PhraseSlots(len(self.phrase_counts))
        for ids, offsets in self._pieces_of_phrases():
            slots.add(ids, offsets)
        return slots.take()

    def _pieces_of_phrases(self) -> Iterator[tuple[NDArray[np.int32], Ints]]:
        phrases = len(self.phrase_counts)
        for start in range(0, phrases, _PAIRS):
            offsets = self.phrase_offsets.read(start, min(start + _PAIRS, phrases) + 1)
            ids = self.phrase_ids.read(int(offsets[0]), int(offsets[-1]))
            yield ids, offsets - offsets[0]


def _used(ids: ArrayFile, places: NDArray[np.int32], vocab: Vocab) -> Vocab:
    """Return the words in use, in the order of their text; ids become their numbers."""
    used: Flags = np.zeros(len(places), np.bool_)
    for start in range(0, len(ids), _VALUES):
        used[ids.read(start, start + _VALUES)] = True
    number = (np.cumsum(used) - 1).astype(np.int32)
    for start in range(0, len(ids), _VALUES):
        ids.write(start, number[ids.read(start, start + _VALUES)])
    by_place = np.argsort(places)[used]
    words, ordered = vocab.words(0, len(vocab)), Vocab()
    ordered.add([words[i] for i in by_place.tolist()])
    return ordered


def _is_new(rows: NDArray[np.int32]) -> Flags:
    """Return for each of some sorted rows whether it is not the one before."""
    new: Flags = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return new


def whole_phrases(pieces: Iterable[Rows], longest: int, most: int) -> Iterator[Rows]:
    """Cut sorted pairs anew, so that all pairs of a source phrase are in one piece.

    Pieces have about `most` pairs, at most a million; a pair takes some 150 bytes meanwhile.
    """
    least = min(most, _PAIRS)
    held: list[Rows] = []
    for piece in pieces:
        held.append(piece)
        if sum(len(one.counts) for one in held) < least:
            continue
        rows = Rows(*map(np.concatenate, zip(*held, strict=True)))
        last = int(np.flatnonzero(_is_new(rows.ids[:, :longest]))[-1])
        if last:
            yield Rows(rows.ids[:last], rows.counts[:last])
        held = [Rows(rows.ids[last:].copy(), rows.counts[last:].copy())]
    if held and sum(len(one.counts) for one in held):
        yield Rows(*map(np.concatenate, zip(*held, strict=True)))
