"""From parallel text to a phrase table: words, links, phrases, probabilities."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.alignment import align_words
from karat.paraphrase.align.parallel_text import (
    Links,
    Parallel,
    StoredRagged,
    Words,
    check_lengths,
    check_links,
    parallel_tokens,
    run_in_batches,
)
from karat.paraphrase.table.phrase_table import (
    ENGLISH,
    PIVOT,
    PhraseCounts,
    PhraseTable,
    describe_recipe,
    is_new_row,
    number_rows,
)
from karat.progress import Progress, silent
from karat.storage.arrays import ArrayFile, as_memory, forget_pages
from karat.text.tokens import Ragged, Recipe, Vocab
from karat.text.word_table import word_arrays

MAX_PHRASE_WORDS = 4  # maximal length of a phrase

MAX_ROWS = 1 << 23  # phrase pairs in memory before they go to a temporary file

_SORTING = "phrase pairs are sorted there"
_SENTENCES = 4096  # sentences of a batch
_PIECE = 1 << 18  # rows merged between two checks for an interrupt


class PhraseRows(NamedTuple):
    """Sorted phrase pairs in the kernel's form: both phrases, each padded with -1."""

    ids: NDArray[np.int32]
    counts: Ints


def extract_phrases(
    source: Words,
    pivot: Words,
    links: Links,
    longest: int = MAX_PHRASE_WORDS,
    *,
    most_rows: int = MAX_ROWS,
    threads: int | None = None,
    progress: Progress = silent,
) -> PhraseCounts:
    """Return all phrase pairs of up to `longest` words on each side.

    Beyond `most_rows` pairs, sorted batches go to temporary files and are merged at the end. The
    result does not depend on this, nor on the number of threads.
    """
    work: dict[str, Any] = {"threads": threads, "progress": progress}
    return sort_phrases(source, pivot, links, longest, max_rows=most_rows, **work).counts(progress)


PhraseOrder = tuple[NDArray[np.int32], NDArray[np.int32]]
"""The rank of each word of both sides, by which phrases are sorted."""


class SortedPhrases:
    """Sorted batches of phrase pairs, up to `max_rows` pairs in memory, the others in files."""

    def __init__(self, longest: int, max_rows: int) -> None:
        self.longest, self.max_rows = longest, max_rows
        self.batches: list[PhraseRows] = []
        self.spilled: list[PhraseRows] = []

    def add(self, rows: PhraseRows) -> None:
        """Add a batch; if memory is full, merge the batches into one in files, mapped."""
        self.batches.append(rows)
        if sum(len(batch.counts) for batch in self.batches) > self.max_rows:
            ids, counts = (
                ArrayFile("int32", _SORTING, 2 * self.longest),
                ArrayFile("int64", _SORTING),
            )
            for piece in self._merge(self.batches):
                ids.append(piece.ids)
                counts.append(piece.counts)
            self.spilled.append(PhraseRows(ids.memory_map(), counts.memory_map()))
            self.batches = []

    def _merge(self, batches: list[PhraseRows]) -> Iterator[PhraseRows]:
        """Yield the rows of batches in order, counts of equal rows summed, piece by piece."""
        ids, counts = [batch.ids for batch in batches], [batch.counts for batch in batches]
        merge = _kernel.PhraseMerge(ids, counts, self.longest)
        while not merge.done:
            yield PhraseRows(*merge.next(_PIECE))

    def merged(self, progress: Progress) -> Iterator[PhraseRows]:
        """Yield all distinct phrase pairs in order, piece by piece."""
        batches = self.spilled + self.batches
        total, done = sum(len(batch.counts) for batch in batches), 0
        for piece in self._merge(batches):
            yield piece
            done += len(piece.counts)
            forget_pages(column for batch in self.spilled for column in batch)
            progress(done, total, "merging phrases")

    def counts(self, progress: Progress) -> PhraseCounts:
        """Return all phrase pairs, mapped if they do not fit into memory."""
        in_memory = not self.spilled
        source, pivot = (StoredRagged(_SORTING, in_memory) for _ in range(2))
        counts = ArrayFile("int64", _SORTING, in_memory=in_memory)
        for piece in self.merged(progress):
            source.append_padded(piece.ids[:, : self.longest])
            pivot.append_padded(piece.ids[:, self.longest :])
            counts.append(piece.counts)
        columns = (source.ids, source.offsets, pivot.ids, pivot.offsets, counts)
        return PhraseCounts(*(column.memory_map() for column in columns))


def sort_phrases(
    source: Words,
    pivot: Words,
    links: Links,
    longest: int = MAX_PHRASE_WORDS,
    order: PhraseOrder | None = None,
    *,
    max_rows: int = MAX_ROWS,
    threads: int | None = None,
    progress: Progress = silent,
) -> SortedPhrases:
    """Extract phrase pairs into sorted batches; with `order`, word ids become ranks."""
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
            ids = [ranks[side_ids] for ranks, side_ids in zip(order, ids, strict=True)]
        sides = ids[0], texts[0].offsets, ids[1], texts[1].offsets
        columns = part.source, part.pivot, part.offsets
        return PhraseRows(*_kernel.extract_phrases(*sides, *columns, 0, stop - start, longest))

    cuts = [(at, min(at + _SENTENCES, len(links))) for at in range(0, len(links), _SENTENCES)]
    for rows in run_in_batches(extract, cuts, threads, progress, "extracting phrases"):
        phrases.add(rows)
        forget_pages(vars(links).values())  # they may be mapped
    return phrases


_PURPOSE = "the phrase table is made there"
_PAIRS = 1 << 20  # maximal number of pairs of a piece
_VALUES = 1 << 22  # values rewritten together


def _text_order(vocab: Vocab) -> NDArray[np.int32]:
    """Return the rank of each word when sorted by text."""
    words = vocab.words(0, len(vocab))
    ranks = np.empty(len(words), np.int32)
    ranks[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    return ranks


class PhraseTableFiles:
    """The arrays of a phrase table under construction, in temporary files."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.phrases, self.pivots = (StoredRagged(_PURPOSE) for _ in range(2))
        file = partial(ArrayFile, purpose=_PURPOSE)
        self.phrase_counts, self.edge_offsets = file("float64"), file("int64")
        self.edge_offsets.append(np.zeros(1, np.int64))
        self.edge_pivots, self.edge_probabilities = file("int32"), file("float64")
        # For each pair, the number of its pivot phrase within the piece, and its count.
        self.piece_pivots, self.pair_counts = file("int32"), file("int64")
        # Pivot phrases of all pieces, and their numbers among all pivot phrases.
        self.pivot_rows, self.numbers = file("int32", width=longest), file("int32")
        self.pieces: list[tuple[int, int, int]] = []  # ends of its pairs, pivots and phrases

    def add(self, pairs: PhraseRows) -> None:
        """Add the next pairs, with all pairs of each source phrase."""
        source, pivot = pairs.ids[:, : self.longest], pairs.ids[:, self.longest :]
        first = np.flatnonzero(is_new_row(source))
        before = len(self.pair_counts)
        self.phrases.append_padded(source[first])
        self.phrase_counts.append(np.add.reduceat(pairs.counts, first).astype(np.float64))
        self.edge_offsets.append(before + np.append(first[1:], len(pairs.counts)))
        number_in_piece, distinct_pivots = number_rows(pivot)
        self.pivot_rows.append(distinct_pivots)
        self.piece_pivots.append(number_in_piece.astype(np.int32))
        self.pair_counts.append(pairs.counts)
        self.pieces.append((len(self.pair_counts), len(self.pivot_rows), len(self.phrases)))

    def number_pivots(self, progress: Progress) -> None:
        """Number the pivot phrases of all pieces."""
        rows = self.pivot_rows.memory_map()
        bounds = [0, *(end for _, end, _ in self.pieces)]
        parts = [rows[a:b] for a, b in pairwise(bounds)]
        union, n_numbered = _kernel.SortedUnion(parts, self.longest), 0
        next_rows = bounds[:-1]
        while not union.done:
            union_rows, numbers = union.next(_PAIRS)
            self.pivots.append_padded(union_rows)
            for part, part_numbers in enumerate(numbers):
                self.numbers.write(next_rows[part], part_numbers + np.int32(n_numbered))
                next_rows[part] += len(part_numbers)
            n_numbered += len(union_rows)
            forget_pages([rows])
            progress(sum(next_rows) - sum(bounds[:-1]), len(rows), "numbering pivot phrases")

    def sort_edges(self, progress: Progress) -> None:
        """Write the translations of each phrase, by falling probability."""
        for phrase, offsets, numbers, times in self.numbered_pairs():
            phrase_of_pair = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            N = self.phrase_counts.read(phrase, phrase + len(offsets) - 1)
            p = times.astype(np.float64) / N[phrase_of_pair]
            order = np.lexsort((numbers, -p, phrase_of_pair))
            self.edge_pivots.append(numbers[order])
            self.edge_probabilities.append(p[order])
            progress(len(self.edge_pivots), len(self.pair_counts), "sorting translations")

    def numbered_pairs(self) -> Iterator[tuple[int, Ints, NDArray[np.int32], Ints]]:
        """Yield for each piece its first phrase, the offsets of its phrases' pairs, and the pairs.

        A pair has the number of its pivot phrase and its count.
        """
        pairs = pivots = phrases = 0
        for pairs_end, pivots_end, phrases_end in self.pieces:
            in_piece = self.piece_pivots.read(pairs, pairs_end)
            numbers = self.numbers.read(pivots, pivots_end)[in_piece]
            offsets = self.edge_offsets.read(phrases, phrases_end + 1)
            yield phrases, offsets, numbers, self.pair_counts.read(pairs, pairs_end)
            pairs, pivots, phrases = pairs_end, pivots_end, phrases_end

    def arrays(self, order: PhraseOrder, source: Vocab, pivot: Vocab) -> dict[str, NDArray[Any]]:
        """Return the arrays of the table, mapped."""
        words = _renumber_used_words(self.phrases.ids, order[0], source)
        pivot_words = _renumber_used_words(self.pivots.ids, order[1], pivot)
        slots = _kernel.PhraseSlots(len(self.phrases))
        for phrases in self.phrase_pieces():
            slots.add(*phrases)
        slot_file = ArrayFile("int32", _PURPOSE)
        slot_file.append(slots.take())
        files = {
            "phrase_ids": self.phrases.ids,
            "phrase_offsets": self.phrases.offsets,
            "phrase_counts": self.phrase_counts,
            "phrase_slots": slot_file,
            "edge_offsets": self.edge_offsets,
            "edge_pivots": self.edge_pivots,
            "edge_probabilities": self.edge_probabilities,
            "pivot_phrase_ids": self.pivots.ids,
            "pivot_phrase_offsets": self.pivots.offsets,
        }
        mapped = {name: file.memory_map() for name, file in files.items()}
        return word_arrays(words, "source") | word_arrays(pivot_words, "pivot") | mapped

    def phrase_pieces(self) -> Iterator[Ragged]:
        """Yield the source phrases, piece by piece."""
        for start in range(0, len(self.phrases), _PAIRS):
            yield self.phrases.read(start, min(start + _PAIRS, len(self.phrases)))


def _renumber_used_words(ids: ArrayFile, ranks: NDArray[np.int32], vocab: Vocab) -> Vocab:
    """Return the words in use, sorted by text; ranks in `ids` become their numbers."""
    used: Flags = np.zeros(len(ranks), np.bool_)
    for start in range(0, len(ids), _VALUES):
        used[ids.read(start, start + _VALUES)] = True
    number = (np.cumsum(used) - 1).astype(np.int32)
    for start in range(0, len(ids), _VALUES):
        ids.write(start, number[ids.read(start, start + _VALUES)])
    words, ordered = vocab.words(0, len(vocab)), Vocab()
    ordered.add([words[i] for i in np.argsort(ranks)[used].tolist()])
    return ordered


def split_between_phrases(
    pieces: Iterable[PhraseRows], longest: int, max_rows: int
) -> Iterator[PhraseRows]:
    """Split sorted pairs so that all pairs of a source phrase are in one piece.

    Pieces have about `max_rows` pairs, at most a million; a pair needs about 150 bytes.
    """
    min_rows = min(max_rows, _PAIRS)
    held: list[PhraseRows] = []
    for piece in pieces:
        held.append(piece)
        if sum(len(rows_held.counts) for rows_held in held) < min_rows:
            continue
        rows = PhraseRows(*map(np.concatenate, zip(*held, strict=True)))
        last = int(np.flatnonzero(is_new_row(rows.ids[:, :longest]))[-1])
        if last:
            yield PhraseRows(rows.ids[:last], rows.counts[:last])
        held = [PhraseRows(rows.ids[last:].copy(), rows.counts[last:].copy())]
    if held and sum(len(rows_held.counts) for rows_held in held):
        yield PhraseRows(*map(np.concatenate, zip(*held, strict=True)))


_BYTES_OF_PAIR = 256  # generous: a pair has 40 bytes, twice that while batches are merged


def train_pivot(
    corpora: Sequence[Parallel],
    source: Recipe = ENGLISH,
    pivot: Recipe = PIVOT,
    *,
    aligner: Aligner | None = None,
    links: Links | None = None,
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
        longest: maximal number of words of a phrase.
        memory: bytes of memory to use; beyond it, temporary files are used, with the same result.
            By default a quarter of the memory of this machine.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    work: dict[str, Any] = {"memory": memory, "threads": threads, "progress": progress}
    about = describe_corpora(corpora, source, pivot)
    words, pivot_words = parallel_tokens(corpora, source, pivot, **work)
    if links is None:
        links, about_links = link_corpora(words, pivot_words, aligner, **work)
        about |= about_links
    return build_table(words, pivot_words, links, about, longest, **work)


def build_table(
    source: Words,
    pivot: Words,
    links: Links,
    about: Mapping[str, Any],
    longest: int = MAX_PHRASE_WORDS,
    *,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> PhraseTable:
    """Return the phrase table of aligned texts, mapped from temporary files."""
    max_rows = max_pairs_in_memory(memory)
    order = _text_order(source.vocab), _text_order(pivot.vocab)
    work: dict[str, Any] = {"max_rows": max_rows, "threads": threads, "progress": progress}
    phrases = sort_phrases(source, pivot, links, longest, order, **work)
    files = PhraseTableFiles(longest)
    for pairs in split_between_phrases(phrases.merged(progress), longest, max_rows):
        files.add(pairs)
    del phrases  # and its files
    if not files.pieces:
        raise InputError("no phrase pair was found: the parallel text has no words to link")
    files.number_pivots(progress)
    files.sort_edges(progress)
    arrays = files.arrays(order, source.vocab, pivot.vocab)
    return PhraseTable.of_arrays("the phrase table", {**about, "longest": longest}, arrays)


def max_pairs_in_memory(memory: int | None) -> int:
    """Return the number of phrase pairs that fit into memory."""
    return max(as_memory(memory) // _BYTES_OF_PAIR, 1)


def link_corpora(
    source: Words, pivot: Words, aligner: Aligner | None, **work: Any
) -> tuple[Links, dict[str, Any]]:
    """Return the links of parallel texts, and their description for the table."""
    alignment = align_words(source, pivot, aligner, **work)
    _, _, empty, too_long = alignment.rows[0]
    return alignment.links, {"aligner": alignment.signature, "empty": empty, "too_long": too_long}


def describe_corpora(
    corpora: Sequence[Parallel], source_recipe: Recipe, pivot_recipe: Recipe
) -> dict[str, Any]:
    """Return the metadata of a table: the recipes, file names and sizes of its corpora."""
    sides = ("source", "pivot")
    return {
        "source": describe_recipe(source_recipe),
        "pivot": describe_recipe(pivot_recipe),
        "corpora": [
            {side: os.path.basename(getattr(corpus, side).name) for side in sides}
            | {"segments": len(corpus)}
            for corpus in corpora
        ],
    }
