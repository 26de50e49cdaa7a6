"""Word alignment of texts whose word pairs do not fit into memory.

The text is cut into parts. Each has a table of the word pairs that stand together in it, in files:
which pair each cell has, the entries of the pairs (probabilities or counts), and the posteriors of
the cells if the model needs the last ones. An iteration takes the parts one after the other and
counts, in whole numbers; then the counts of a pair are added up over all parts that have it, and
its new entry goes to each of them. Sums of whole numbers are the same in any order, so the links
are those of an alignment in memory, bit for bit.

Pairs are taken in their order, some hundred thousand at a time. All parts have theirs in that order
too, so that every file is read and written from its beginning to its end.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.paraphrase.align.aligner import Aligner, Iteration
from karat.paraphrase.align.batches import batch_cuts, by_batches, large_cuts
from karat.paraphrase.align.learners import learner_of
from karat.paraphrase.align.linking import Linked, link_words
from karat.paraphrase.align.links import Links, StoredLinks
from karat.paraphrase.align.stored_tokens import Words
from karat.progress import Progress
from karat.storage.arrays import ArrayFile, forget_pages
from karat.text.tokens import Tokens

_PURPOSE = "pairs of words are counted there"
_BYTES_OF_CELL = 48  # 24 of them are held; the rest is for what is going on beside
_PAIRS = 1 << 19  # that are added up together


def batch_cells(memory: int) -> int:
    """Return how many cells (pairs of words in a sentence pair) fit into so many bytes."""
    return max(memory // _BYTES_OF_CELL, 1)


def align_by_parts(
    source: Words, pivot: Words, how: Aligner, most: int, threads: int | None, progress: Progress
) -> Linked:
    """Align part by part, each of at most so many cells."""
    work: dict[str, Any] = {"threads": threads, "progress": progress}
    with ExitStack() as stack:
        table = _Table(stack, source, pivot, how)
        for cut in large_cuts(source, pivot, how.longest, most):
            table.add_part(*cut)
            progress(cut[1], len(source), "finding word pairs")
        table.number_pairs(progress)
        for step in how.iterations():
            table.iterate(step, **work)
        links = StoredLinks()
        for part in table.parts:
            links.append(table.links(part, **work))
        return Linked(links, table.pairs, table.nbytes)


class _Part(NamedTuple):
    """Sentences of a part, and where its cells, its word pairs and their rows lie in the files."""

    sentences: tuple[int, int]
    cells: tuple[int, int]
    pairs: tuple[int, int]
    rows: tuple[int, int]


class _Table:
    """The word pairs of all parts."""

    def __init__(self, stack: ExitStack, source: Words, pivot: Words, how: Aligner) -> None:
        self.source, self.pivot = source, pivot
        self.learner = learner_of(source, pivot, how)
        self.parts: list[_Part] = []
        self.bounds: list[Ints] = []  # for each range of pairs: where each part's end

        def file(dtype: str, width: int | None = None) -> ArrayFile:
            found = ArrayFile(dtype, _PURPOSE, width)
            stack.callback(found.close)
            return found

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

    def text(self, part: _Part) -> tuple[Tokens, Tokens]:
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
            self.keys.append(_keys(rows, columns, at, end))
            self.entries.append(self._unset(end - at))
        after = [len(file) for file in (self.cells, self.columns, self.rows)]
        self.parts.append(_Part((start, stop), *zip(before, after, strict=True)))

    def number_pairs(self, progress: Progress) -> None:
        """Number the pairs of all parts together, range by range."""
        keys = self.keys.mapped()
        union = _kernel.SortedUnion([keys[a:b] for _, _, (a, b), _ in self.parts], 2)
        ends = np.array([part.pairs[0] for part in self.parts], dtype=np.int64)
        total = len(keys)
        while not union.done:
            rows, numbers = union.next(_PAIRS)
            self.all_keys.append(rows)
            for part, found in enumerate(numbers):
                self.numbers.write(int(ends[part]), found)
                ends[part] += len(found)
            self.bounds.append(ends.copy())
            forget_pages([keys])
            progress(int(sum(ends) - sum(p.pairs[0] for p in self.parts)), total, "sorting pairs")

    # ------------------------------------------------------------------------------ iterations

    def _unset(self, size: int) -> NDArray[Any]:
        """Return entries of word pairs before anything was counted."""
        shape = size if self.learner.width is None else (size, self.learner.width)
        return np.full(shape, self.learner.first, self.learner.dtype)

    def aligner(self, part: _Part, source: Tokens, pivot: Tokens) -> tuple[Any, NDArray[Any]]:
        """Return the aligner of a part, with what is known so far, and its last posteriors."""
        texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
        cells, entries = self.cells.read(*part.cells), self.entries.read(*part.pairs)
        kept = part.cells if self.learner.keeps_posteriors else (0, 0)
        posteriors = self.posteriors.read(*kept)
        return self.learner.part(texts, cells, entries, posteriors), posteriors

    def iterate(self, step: Iteration, threads: int | None, progress: Progress) -> None:
        """Count in all parts, then estimate."""
        for part in self.parts:
            source, pivot = self.text(part)
            kernel, posteriors = self.aligner(part, source, pivot)
            cuts = batch_cuts(source, pivot)
            shown = _shifted(progress, part.sentences[0], len(self.source))
            expect = self.learner.expect(kernel, step)
            deque(by_batches(expect, cuts, threads, shown, step.what), maxlen=0)
            self.posteriors.write(part.cells[0], posteriors)
            self._collect(part, kernel)
            self.learner.add_part(kernel)
        self._estimate(progress, step.what)
        self.learner.update_parts(step)

    def _collect(self, part: _Part, kernel: Any) -> None:
        """Write the counts of a part, and add them to those of the words."""
        rows = self.rows.read(*part.rows)
        first, size = part.pairs[0], part.pairs[1] - part.pairs[0]
        for at in range(0, size, _PAIRS):
            end = min(at + _PAIRS, size)
            counts = kernel.counts(at, end)
            self.counts.write(first + at, counts)
            columns = self.columns.read(first + at, first + end)
            self.learner.add_pairs(_sources(rows, at, end), columns, counts)

    def _estimate(self, progress: Progress, what: str) -> None:
        """Add up the counts of each pair, and give its new entry to all parts."""
        starts = np.array([part.pairs[0] for part in self.parts], dtype=np.int64)
        for number, ends in enumerate(self.bounds):
            keys = self.all_keys.read(number * _PAIRS, (number + 1) * _PAIRS)
            cuts = zip(starts.tolist(), ends.tolist(), strict=True)
            some = [cut for cut in cuts if cut[0] < cut[1]]
            numbers = [self.numbers.read(*cut) for cut in some]
            sums = np.zeros(len(keys), np.int64)
            for at, cut in zip(numbers, some, strict=True):
                _kernel.add_at(sums, at, self.counts.read(*cut))
            held = partial(self._held, len(keys), numbers, some)
            found = self.learner.entries(keys, sums, held)
            for at, cut in zip(numbers, some, strict=True):
                self.entries.write(cut[0], found[at])
            starts = ends
            progress(number + 1, len(self.bounds), f"{what}: estimating")

    def _held(self, size: int, numbers: list[Any], cuts: list[tuple[int, int]]) -> NDArray[Any]:
        """Return the entries that some pairs have so far."""
        held = self._unset(size)
        for at, cut in zip(numbers, cuts, strict=True):
            held[at] = self.entries.read(*cut)
        return held

    def links(self, part: _Part, **work: Any) -> Links:
        """Return the links of a part."""
        source, pivot = self.text(part)
        kernel, _ = self.aligner(part, source, pivot)
        return link_words(self.learner, kernel, source, pivot, **work)


def _keys(rows: Ints, columns: NDArray[np.int32], start: int, stop: int) -> NDArray[np.int32]:
    """Return some word pairs as (source, pivot)."""
    return np.stack([_sources(rows, start, stop), columns[start:stop]], axis=1)


def _sources(rows: Ints, start: int, stop: int) -> NDArray[np.int32]:
    """Return the source words of some pairs."""
    first = int(np.searchsorted(rows, start, side="right")) - 1
    last = int(np.searchsorted(rows, stop, side="left"))
    cut: Ints = np.clip(rows[first : last + 1], start, stop)
    sizes = cut[1:] - cut[:-1]
    return np.repeat(np.arange(first, last, dtype=np.int32), sizes)


def _shifted(progress: Progress, before: int, total: int) -> Progress:
    """Report what is done of a part as done of the whole."""
    return lambda done, _, what: progress(before + done, total, what)
