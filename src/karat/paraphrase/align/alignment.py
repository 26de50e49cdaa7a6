"""Word alignment: two HMMs, one for each direction, that learn to agree.

After Liang, Taskar & Klein (2006): IBM model 1 first, then the HMM, both directions together. In
the E-step a link counts as far as both directions believe in it. Words are learned by their first
characters; links are those of words. Nothing is random, and expectations are added up as whole
numbers: the result is the same for any number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.align.aligner import Aligner, Iteration, Learner, make_learner, shorten_words
from karat.paraphrase.align.links import AnyLinks, Links, StoredLinks, check_lengths, symmetrize
from karat.paraphrase.align.parallel_text import (
    Parallel,
    Words,
    cut_batches,
    cut_parts,
    measure_texts,
    parallel_tokens,
    run_in_batches,
    word_count,
)
from karat.progress import Progress, silent
from karat.results import Result
from karat.storage.arrays import ArrayFile, as_memory, forget_pages
from karat.text.tokens import Recipe, Tokens


class Linked(NamedTuple):
    """Links of a text, the number of word pairs that stand together, and the memory they took."""

    links: AnyLinks
    pairs: int
    nbytes: int


def link_words(learner: Learner, kernel: Any, source: Tokens, pivot: Tokens, **work: Any) -> Links:
    """Return the links of a text by the learner's aligner; `work` is `threads` and `progress`."""
    cuts = cut_batches(source, pivot)

    def decoded(rule: str) -> Links:
        decode = learner.decode(kernel, rule)
        batches = run_in_batches(decode, cuts, step_name="linking words", **work)
        return _join_links(Links(*batch) for batch in batches)

    decoding = learner.how.decoding
    if decoding == "posterior":
        return decoded("mean")
    return symmetrize(source, pivot, decoded("forward"), decoded("backward"), decoding)


def _join_links(batches: Iterable[Links]) -> Links:
    """Join the links of all batches; the kernel gives ends of sentences within a batch."""
    parts, held = [(np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(1, np.int64))], 0
    for batch in batches:
        parts.append((batch.source, batch.pivot, batch.offsets + held))
        held += len(batch.source)
    return Links(*map(np.concatenate, zip(*parts, strict=True)))


_PURPOSE = "pairs of words are counted there"
_BYTES_OF_CELL = 48  # 24 of them are held; the rest is for what is going on beside
_PAIRS = 1 << 19  # that are added up together


def batch_cells(memory: int) -> int:
    """Return how many cells (pairs of words in a sentence pair) fit into so many bytes."""
    return max(memory // _BYTES_OF_CELL, 1)


def align_by_parts(
    source: Words,
    pivot: Words,
    aligner: Aligner,
    max_cells: int,
    threads: int | None,
    progress: Progress,
) -> Linked:
    """Align part by part, each of at most so many cells."""
    work: dict[str, Any] = {"threads": threads, "progress": progress}
    with ExitStack() as stack:
        table = _PartTables(stack, source, pivot, aligner)
        for cut in cut_parts(source, pivot, aligner.longest, max_cells):
            table.add_part(*cut)
            progress(cut[1], len(source), "finding word pairs")
        table.number_pairs(progress)
        for step in aligner.iterations():
            table.iterate(step, **work)
        links = StoredLinks()
        for part in table.parts:
            links.append(table.links(part, **work))
        return Linked(links, table.pairs, table.nbytes)


class _TextPart(NamedTuple):
    """Sentences of a part, and where its cells, its word pairs and their rows lie in the files."""

    sentences: tuple[int, int]
    cells: tuple[int, int]
    pairs: tuple[int, int]
    rows: tuple[int, int]


class _PartTables:
    """The word pairs of all parts."""

    def __init__(self, stack: ExitStack, source: Words, pivot: Words, aligner: Aligner) -> None:
        self.source, self.pivot = source, pivot
        self.learner = make_learner(source, pivot, aligner)
        self.parts: list[_TextPart] = []
        self.bounds: list[Ints] = []  # for each range of pairs: where each part's end

        def file(dtype: str, width: int | None = None) -> ArrayFile:
            array_file = ArrayFile(dtype, _PURPOSE, width)
            stack.callback(array_file.close)
            return array_file

        self.cells, self.columns, self.numbers = file("int32"), file("int32"), file("int32")
        self.rows, self.counts = file("int64"), file("int64")
        self.entries = file(self.learner.dtype, self.learner.width)
        self.posteriors = file("uint16", 2)
        self.keys, self.all_keys = file("int32", 2), file("int32", 2)

    @property
    def pairs(self) -> int:
        return len(self.all_keys)

    @property
    def nbytes(self) -> int:
        """The memory of the largest part."""
        of_cell = 8 if self.learner.keeps_posteriors else 4
        sizes = [of_cell * (c - a) + 16 * (d - b) for _, (a, c), (b, d), _ in self.parts]
        return max(sizes, default=0)

    def text(self, part: _TextPart) -> tuple[Tokens, Tokens]:
        return self.source.part(*part.sentences), self.pivot.part(*part.sentences)

    # ------------------------------------------------------------------------------ word pairs

    def add_part(self, start: int, stop: int) -> None:
        """Find the word pairs of some sentences."""
        source, pivot = self.source.part(start, stop), self.pivot.part(start, stop)
        texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
        rows, columns, cells = _kernel.word_pairs(*texts, self.learner.how.longest)
        before = [len(file) for file in (self.cells, self.columns, self.rows)]
        self.cells.append(cells)
        if self.learner.keeps_posteriors:
            self.posteriors.append(np.zeros((len(cells), 2), np.uint16))
        del cells
        self.columns.append(columns)
        self.rows.append(rows)
        for at in range(0, len(columns), _PAIRS):
            end = min(at + _PAIRS, len(columns))
            self.keys.append(_pair_keys(rows, columns, at, end))
            self.entries.append(self._unset(end - at))
        after = [len(file) for file in (self.cells, self.columns, self.rows)]
        self.parts.append(_TextPart((start, stop), *zip(before, after, strict=True)))

    def number_pairs(self, progress: Progress) -> None:
        """Number the pairs of all parts together, range by range."""
        keys = self.keys.mapped()
        union = _kernel.SortedUnion([keys[a:b] for _, _, (a, b), _ in self.parts], 2)
        ends = np.array([part.pairs[0] for part in self.parts], dtype=np.int64)
        total = len(keys)
        while not union.done:
            rows, numbers = union.next(_PAIRS)
            self.all_keys.append(rows)
            for part, part_numbers in enumerate(numbers):
                self.numbers.write(int(ends[part]), part_numbers)
                ends[part] += len(part_numbers)
            self.bounds.append(ends.copy())
            forget_pages([keys])
            progress(int(sum(ends) - sum(p.pairs[0] for p in self.parts)), total, "sorting pairs")

    # ------------------------------------------------------------------------------ iterations

    def _unset(self, size: int) -> NDArray[Any]:
        """Return entries of word pairs before anything was counted."""
        shape = size if self.learner.width is None else (size, self.learner.width)
        return np.full(shape, self.learner.first, self.learner.dtype)

    def aligner(self, part: _TextPart, source: Tokens, pivot: Tokens) -> tuple[Any, NDArray[Any]]:
        """Return the aligner of a part, with what is known so far, and its last posteriors."""
        texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
        cells, entries = self.cells.read(*part.cells), self.entries.read(*part.pairs)
        cell_range = part.cells if self.learner.keeps_posteriors else (0, 0)
        posteriors = self.posteriors.read(*cell_range)
        return self.learner.part(texts, cells, entries, posteriors), posteriors

    def iterate(self, step: Iteration, threads: int | None, progress: Progress) -> None:
        """Count in all parts, then estimate."""
        for part in self.parts:
            source, pivot = self.text(part)
            kernel, posteriors = self.aligner(part, source, pivot)
            cuts = cut_batches(source, pivot)
            part_progress = _shift_progress(progress, part.sentences[0], len(self.source))
            expect = self.learner.expect(kernel, step)
            deque(run_in_batches(expect, cuts, threads, part_progress, step.what), maxlen=0)
            self.posteriors.write(part.cells[0], posteriors)
            self._collect(part, kernel)
            self.learner.add_part(kernel)
        self._estimate(progress, step.what)
        self.learner.update_parts(step)

    def _collect(self, part: _TextPart, kernel: Any) -> None:
        """Write the counts of a part, and add them to those of the words."""
        rows = self.rows.read(*part.rows)
        first, size = part.pairs[0], part.pairs[1] - part.pairs[0]
        for at in range(0, size, _PAIRS):
            end = min(at + _PAIRS, size)
            counts = kernel.counts(at, end)
            self.counts.write(first + at, counts)
            columns = self.columns.read(first + at, first + end)
            self.learner.add_pairs(_source_words(rows, at, end), columns, counts)

    def _estimate(self, progress: Progress, step_name: str) -> None:
        """Add up the counts of each pair, and give its new entry to all parts."""
        starts = np.array([part.pairs[0] for part in self.parts], dtype=np.int64)
        for number, ends in enumerate(self.bounds):
            keys = self.all_keys.read(number * _PAIRS, (number + 1) * _PAIRS)
            cuts = zip(starts.tolist(), ends.tolist(), strict=True)
            ranges = [cut for cut in cuts if cut[0] < cut[1]]
            numbers = [self.numbers.read(*cut) for cut in ranges]
            sums = np.zeros(len(keys), np.int64)
            for at, cut in zip(numbers, ranges, strict=True):
                _kernel.add_at(sums, at, self.counts.read(*cut))
            held = partial(self._held, len(keys), numbers, ranges)
            entries = self.learner.entries(keys, sums, held)
            for at, cut in zip(numbers, ranges, strict=True):
                self.entries.write(cut[0], entries[at])
            starts = ends
            progress(number + 1, len(self.bounds), f"{step_name}: estimating")

    def _held(self, size: int, numbers: list[Any], cuts: list[tuple[int, int]]) -> NDArray[Any]:
        """Return the entries that some pairs have so far."""
        held = self._unset(size)
        for at, cut in zip(numbers, cuts, strict=True):
            held[at] = self.entries.read(*cut)
        return held

    def links(self, part: _TextPart, **work: Any) -> Links:
        """Return the links of a part."""
        source, pivot = self.text(part)
        kernel, _ = self.aligner(part, source, pivot)
        return link_words(self.learner, kernel, source, pivot, **work)


def _pair_keys(rows: Ints, columns: NDArray[np.int32], start: int, stop: int) -> NDArray[np.int32]:
    """Return some word pairs as (source, pivot)."""
    return np.stack([_source_words(rows, start, stop), columns[start:stop]], axis=1)


def _source_words(rows: Ints, start: int, stop: int) -> NDArray[np.int32]:
    """Return the source words of some pairs."""
    first = int(np.searchsorted(rows, start, side="right")) - 1
    last = int(np.searchsorted(rows, stop, side="left"))
    cut: Ints = np.clip(rows[first : last + 1], start, stop)
    sizes = cut[1:] - cut[:-1]
    return np.repeat(np.arange(first, last, dtype=np.int32), sizes)


def _shift_progress(progress: Progress, before: int, total: int) -> Progress:
    """Report what is done of a part as done of the whole."""
    return lambda done, _, what: progress(before + done, total, what)


WORDS = Recipe("none", "lower")
"""The default recipe: what white space separates, lower-cased."""

MAX_WORDS = 2**31 - 1
"""Words that a side may have: sums of expectations over all of them fit into 64 bits."""
_STORED_CELLS = 1 << 28  # beyond it, entries of the table are looked for each time: 1 GB is saved


class AlignmentRow(NamedTuple):
    """The number of sentence pairs and links, and of pairs that have none.

    Those with an empty side (`empty`) or with more than `longest` words on a side (`too_long`).
    """

    sentences: int
    links: int
    empty: int
    too_long: int


@dataclass(frozen=True, eq=False, repr=False)
class WordAlignment(Result):
    """The links of two texts; `pairs` is the number of word pairs that stand together."""

    links: AnyLinks
    rows: tuple[AlignmentRow]
    pairs: int
    nbytes: int
    """The memory of the table of word pairs."""
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def align_words(
    source: Words,
    pivot: Words,
    aligner: Aligner | None = None,
    *,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> WordAlignment:
    """Learn from two texts that are aligned line by line, and link their words.

    Beyond `memory` bytes (default: a quarter of this machine's) the text is looked at part by part
    and the table of word pairs lies in temporary files; the links are the same.
    """
    check_lengths(source, pivot)
    _check_size(source, pivot)
    settings = (aligner or Aligner()).resolved()
    source, pivot = shorten_words(source, settings.prefix), shorten_words(pivot, settings.prefix)
    size = measure_texts(source, pivot, settings.longest)
    work: dict[str, Any] = {"threads": threads, "progress": progress}
    max_cells = batch_cells(as_memory(memory))
    if size.cells > max_cells:
        linked = align_by_parts(source, pivot, settings, max_cells, **work)
    else:
        linked = _align_at_once(
            source.part(0, size.pairs), pivot.part(0, size.pairs), settings, **work
        )
    row = AlignmentRow(size.pairs, linked.links.size, size.empty, size.too_long)
    long = f"with more than {settings.longest} words on a side"
    skipped = {"with an empty side": size.empty, long: size.too_long}
    notes = tuple(
        f"no links for {'1 sentence pair' if n == 1 else f'{n:,} sentence pairs'} {reason}"
        for reason, n in skipped.items()
        if n
    )
    return WordAlignment(
        linked.links, (row,), linked.pairs, linked.nbytes, vars(settings), notes, str(settings)
    )


def _check_size(source: Words, pivot: Words) -> None:
    """Refuse a text whose counts would not fit."""
    words = max(map(word_count, (source, pivot)))
    if words > MAX_WORDS:
        raise InputError(
            f"a side of the parallel text has {words:,} words, and at most {MAX_WORDS:,} can be "
            "aligned together: cut the text into parts, and align each by itself"
        )


def _align_at_once(source: Tokens, pivot: Tokens, aligner: Aligner, **work: Any) -> Linked:
    """Align with all word pairs in memory."""
    cuts, learner = cut_batches(source, pivot), make_learner(source, pivot, aligner)
    work["progress"](0, len(source), "finding word pairs")
    texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
    kernel: Any = learner.whole(texts, _STORED_CELLS)
    for step in aligner.iterations():
        expect = learner.expect(kernel, step)
        deque(run_in_batches(expect, cuts, step_name=step.what, **work), maxlen=0)
        learner.update(kernel, step)
    return Linked(link_words(learner, kernel, source, pivot, **work), kernel.pairs, kernel.nbytes)


def align_text(
    text: Parallel,
    source: Recipe = WORDS,
    pivot: Recipe = WORDS,
    aligner: Aligner | None = None,
    *,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> WordAlignment:
    """Align the words of a parallel text, cut by a recipe for each side."""
    work: dict[str, Any] = {"memory": memory, "threads": threads, "progress": progress}
    tokens = parallel_tokens([text], source, pivot, **work)
    return align_words(*tokens, aligner, **work)
