"""From parallel text to a phrase table: words, links, phrases, probabilities."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.alignment import align_words
from karat.paraphrase.align.links import AnyLinks
from karat.paraphrase.align.parallel_text import Parallel, Words, parallel_tokens
from karat.paraphrase.table.phrase_pairs import (
    MAX_PHRASE_WORDS,
    PhraseCounts,
    PhraseOrder,
    PhraseRows,
    extract_phrases,
    sorted_phrases,
)
from karat.paraphrase.table.phrase_table import (
    ENGLISH,
    PIVOT,
    PhraseTable,
    describe_recipe,
    pad_phrases,
    to_offsets,
)
from karat.progress import Progress, silent
from karat.storage.arrays import ArrayFile, as_memory, forget_pages
from karat.text.tokens import Ragged, Recipe, Vocab
from karat.text.word_table import word_arrays

_PURPOSE = "the phrase table is made there"
_PAIRS = 1 << 20  # of one piece, at most
_VALUES = 1 << 22  # that are rewritten together


def sort_order(source: Vocab, pivot: Vocab) -> PhraseOrder:
    """Return the places of words in the order of their text."""
    return PhraseOrder(*(_word_ranks(vocab) for vocab in (source, pivot)))


def _word_ranks(vocab: Vocab) -> NDArray[np.int32]:
    words = vocab.words(0, len(vocab))
    places = np.empty(len(words), np.int32)
    places[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    return places


class PhraseTableFiles:
    """The arrays of a phrase table in temporary files, while they are made."""

    def __init__(self, stack: ExitStack, longest: int) -> None:
        self.longest = longest

        def file(dtype: str, width: int | None = None) -> ArrayFile:
            array_file = ArrayFile(dtype, _PURPOSE, width)
            stack.callback(array_file.close)
            return array_file

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

    def add(self, pairs: PhraseRows) -> None:
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
        offsets.append(len(ids) + to_offsets((rows >= 0).sum(axis=1))[1:])
        ids.append(rows[rows >= 0])

    def number_pivots(self, progress: Progress) -> None:
        """Number the pivot phrases of all pieces."""
        rows = self.pivots.mapped()
        bounds = [0, *(end for _, end in self.pieces)]
        parts = [rows[a:b] for a, b in pairwise(bounds)]
        union, n_numbered = _kernel.SortedUnion(parts, self.longest), 0
        at = bounds[:-1]
        while not union.done:
            union_rows, numbers = union.next(_PAIRS)
            self._phrases(self.pivot_ids, self.pivot_offsets, union_rows)
            for part, part_numbers in enumerate(numbers):
                self.numbers.write(at[part], part_numbers + np.int32(n_numbered))
                at[part] += len(part_numbers)
            n_numbered += len(union_rows)
            forget_pages([rows])
            progress(sum(at) - sum(bounds[:-1]), len(rows), "numbering pivot phrases")

    def sort_edges(self, progress: Progress) -> None:
        """Write the translations of each phrase by falling probability."""
        for phrase, offsets, numbers, times in self.numbered_pairs():
            phrase_of_pair = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            N = self.phrase_counts.read(phrase, phrase + len(offsets) - 1)
            p = times.astype(np.float64) / N[phrase_of_pair]
            order = np.lexsort((numbers, -p, phrase_of_pair))
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
            yield pad_phrases(Ragged(ids, offsets), self.longest)

    def _edges_of(self, phrase: int, end: int) -> Ints:
        """Return where the pairs of the phrases of a piece begin, and where the last end."""
        offsets = self.edge_offsets.read(phrase, phrase + _PAIRS + 1)
        while offsets[-1] < end:
            offsets = self.edge_offsets.read(phrase, phrase + 2 * len(offsets))
        piece_offsets: Ints = offsets[: int(np.searchsorted(offsets, end)) + 1]
        return piece_offsets

    def arrays(self, order: PhraseOrder, source: Vocab, pivot: Vocab) -> dict[str, NDArray[Any]]:
        """Return the arrays of the table, mapped."""
        words = _renumber_used_words(self.phrase_ids, order.source, source)
        pivot_words = _renumber_used_words(self.pivot_ids, order.pivot, pivot)
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


def _renumber_used_words(ids: ArrayFile, places: NDArray[np.int32], vocab: Vocab) -> Vocab:
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


def split_between_phrases(
    pieces: Iterable[PhraseRows], longest: int, max_rows: int
) -> Iterator[PhraseRows]:
    """Cut sorted pairs anew, so that all pairs of a source phrase are in one piece.

    Pieces have about `max_rows` pairs, at most a million; a pair takes some 150 bytes meanwhile.
    """
    min_rows = min(max_rows, _PAIRS)
    held: list[PhraseRows] = []
    for piece in pieces:
        held.append(piece)
        if sum(len(rows_held.counts) for rows_held in held) < min_rows:
            continue
        rows = PhraseRows(*map(np.concatenate, zip(*held, strict=True)))
        last = int(np.flatnonzero(_is_new(rows.ids[:, :longest]))[-1])
        if last:
            yield PhraseRows(rows.ids[:last], rows.counts[:last])
        held = [PhraseRows(rows.ids[last:].copy(), rows.counts[last:].copy())]
    if held and sum(len(rows_held.counts) for rows_held in held):
        yield PhraseRows(*map(np.concatenate, zip(*held, strict=True)))


_BYTES_OF_PAIR = 256  # a pair takes 40, and as much again while batches are merged


def train_pivot(
    corpora: Sequence[Parallel],
    source: Recipe = ENGLISH,
    pivot: Recipe = PIVOT,
    *,
    aligner: Aligner | None = None,
    links: AnyLinks | None = None,
    longest: int = MAX_PHRASE_WORDS,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> PhraseTable:
    """Build the phrase table of one or more parallel texts.

    Args:
        corpora: parallel texts, used together.
        source, pivot: tokenisation of the two languages.
        aligner: settings of the aligner.
        links: word alignment of another aligner, for all texts in order.
        longest: words of the longest phrases.
        memory: bytes of memory to use; beyond it, temporary files are used, with the same result.
            By default a quarter of the memory of this machine.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    work: dict[str, Any] = {"memory": memory, "threads": threads, "progress": progress}
    text = align_corpora(corpora, source, pivot, aligner=aligner, links=links, **work)
    return text.table(longest, **work)


@dataclass(frozen=True, eq=False)
class AlignedText:
    """The words of parallel texts, all taken together, and the links between them."""

    source: Words
    pivot: Words
    links: AnyLinks
    about: Mapping[str, Any]

    def phrases(
        self, longest: int = MAX_PHRASE_WORDS, *, memory: int | None = None, **work: Any
    ) -> PhraseCounts:
        """Return the phrase pairs that are consistent with the links."""
        most = max_pairs_in_memory(memory)
        return extract_phrases(self.source, self.pivot, self.links, longest, most_rows=most, **work)

    def table(
        self, longest: int = MAX_PHRASE_WORDS, *, memory: int | None = None, **work: Any
    ) -> PhraseTable:
        """Return the table of the phrase pairs; a large one lies in temporary files, mapped."""
        vocabs = self.source.vocab, self.pivot.vocab
        about = {**self.about, "longest": longest}
        order, progress = sort_order(*vocabs), work["progress"]
        aligned, max_rows = (
            (self.source, self.pivot, self.links, longest, order),
            max_pairs_in_memory(memory),
        )
        with ExitStack() as stack:
            held = stack.enter_context(sorted_phrases(*aligned, most_rows=max_rows, **work))
            files = PhraseTableFiles(stack, longest)
            for pairs in split_between_phrases(held.merged(progress), longest, max_rows):
                files.add(pairs)
            held.close()
            if not files.pieces:
                raise InputError("no phrase pair was found: the parallel text has no words to link")
            files.number_pivots(progress)
            files.sort_edges(progress)
            arrays = files.arrays(order, *vocabs)
        return PhraseTable.of_arrays("the phrase table", about, arrays)


def max_pairs_in_memory(memory: int | None) -> int:
    """Return how many phrase pairs may be in memory before they go to files."""
    return max(as_memory(memory) // _BYTES_OF_PAIR, 1)


def align_corpora(
    corpora: Sequence[Parallel],
    source: Recipe = ENGLISH,
    pivot: Recipe = PIVOT,
    *,
    aligner: Aligner | None = None,
    links: AnyLinks | None = None,
    **work: Any,
) -> AlignedText:
    """Cut parallel texts into words and link those, unless links are given."""
    about = describe_corpora(corpora, source, pivot)
    words, pivot_words = parallel_tokens(corpora, source, pivot, **work)
    if links is None:
        links, more = link_corpora(words, pivot_words, aligner, **work)
        about |= more
    return AlignedText(words, pivot_words, links, about)


def link_corpora(
    source: Words, pivot: Words, aligner: Aligner | None, **work: Any
) -> tuple[AnyLinks, dict[str, Any]]:
    """Link the words of parallel texts; what the table says of the links."""
    alignment = align_words(source, pivot, aligner, **work)
    _, _, empty, too_long = alignment.rows[0]
    return alignment.links, {"aligner": alignment.signature, "empty": empty, "too_long": too_long}


def describe_corpora(corpora: Sequence[Parallel], source: Recipe, pivot: Recipe) -> dict[str, Any]:
    """Return what a table says of its texts: recipes, names without folders, sizes."""
    about: dict[str, Any] = {"source": describe_recipe(source), "pivot": describe_recipe(pivot)}
    about["corpora"] = [_describe_corpus(corpus) for corpus in corpora]
    return about


def _describe_corpus(corpus: Parallel) -> dict[str, Any]:
    """Return the names of a parallel text's two sides, without their folders, and its size."""
    names = {side: os.path.basename(getattr(corpus, side).name) for side in ("source", "pivot")}
    return {**names, "segments": len(corpus)}
