"""Word alignment of texts whose word pairs do not fit into memory.

The text is cut into parts. Each has a table of the word pairs that stand together in it, in files:
which pair each cell has, and the probabilities of the pairs. An iteration takes the parts one after
the other and counts, in whole numbers; then the counts of a pair are added up over all parts that
have it, and its new probabilities go to each of them. Sums of whole numbers are the same in any
order, so the links are those of an alignment in memory, bit for bit.

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
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.batches import batch_cuts, by_batches, large_cuts
from karat.paraphrase.align.linking import Linked, link_words
from karat.paraphrase.align.links import Links, StoredLinks
from karat.paraphrase.align.stored_tokens import Words
from karat.progress import Progress
from karat.storage.array_file import ArrayFile
from karat.storage.memory import forget_pages
from karat.text.tokens import Tokens

_PURPOSE = "pairs of words are counted there"
_BYTES_OF_CELL = 48  # 20 of them are held; the rest is for what is going on beside
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
        for hmm, what in how.iterations():
            table.iterate(hmm, what, **work)
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
        self.source, self.pivot, self.how = source, pivot, how
        self.words = (0, 0)
        self.parts: list[_Part] = []
        self.bounds: list[Ints] = []  # for each range of pairs: where each part's end
        self.jumps = _kernel.first_jumps()

        def file(dtype: str, width: int | None = None) -> ArrayFile:
            found = ArrayFile(dtype, _PURPOSE, width)
            stack.callback(found.close)
            return found

        self.cells, self.columns, self.numbers = file("int32"), file("int32"), file("int32")
        self.rows, self.counts, self.entries = file("int64"), file("int64"), file("float32", 2)
        self.keys, self.all_keys = file("int32", 2), file("int32", 2)

    @property
    def pairs(self) -> int:
        return len(self.all_keys)

    @property
    def nbytes(self) -> int:
        """The memory of the largest part."""
        sizes = [4 * (c - a) + 16 * (d - b) for _, (a, c), (b, d), _ in self.parts]
        return max(sizes, default=0)

    def text(self, part: _Part) -> tuple[Tokens, Tokens]:
        return self.source.part(*part.sentences), self.pivot.part(*part.sentences)

    # ------------------------------------------------------------------------------ word pairs

    def add_part(self, start: int, stop: int) -> None:
        """Find the word pairs of some sentences."""
        source, pivot = self.source.part(start, stop), self.pivot.part(start, stop)
        texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
        rows, columns, cells = _kernel.word_pairs(*texts, self.how.longest)
        mine = len(rows) - 1, int(columns.max(initial=-1)) + 1
        self.words = max(self.words[0], mine[0]), max(self.words[1], mine[1])
        before = [len(file) for file in (self.cells, self.columns, self.rows)]
        self.cells.append(cells)
        del cells
        self.columns.append(columns)
        self.rows.append(rows)
        for at in range(0, len(columns), _PAIRS):
            end = min(at + _PAIRS, len(columns))
            self.keys.append(_keys(rows, columns, at, end))
            self.entries.append(np.ones((end - at, 2), np.float32))
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

    def aligner(self, part: _Part, source: Tokens, pivot: Tokens) -> _kernel.JointAligner:
        """Return the aligner of a part, with what is known so far."""
        texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
        cells, entries = self.cells.read(*part.cells), self.entries.read(*part.pairs)
        root = self.how.agreement == "root"
        return _kernel.JointAligner(*texts, self.how.longest, root, cells, entries, self.jumps)

    def iterate(self, hmm: bool, what: str, threads: int | None, progress: Progress) -> None:
        """Count in all parts, then estimate."""
        totals = np.zeros(self.words[0], np.int64), np.zeros(self.words[1], np.int64)
        jumps = np.zeros((2, 2, self.jumps.shape[1]), np.int64)
        for part in self.parts:
            source, pivot = self.text(part)
            kernel = self.aligner(part, source, pivot)
            cuts = batch_cuts(source, pivot)
            shown = _shifted(progress, part.sentences[0], len(self.source))
            expect = partial(kernel.expect, hmm=hmm)
            deque(by_batches(expect, cuts, threads, shown, what), maxlen=0)
            self._collect(part, kernel, totals)
            jumps += kernel.jump_counts()
        if hmm:
            self.jumps = _kernel.update_jumps(self.jumps, jumps)
        self._estimate(totals, progress, what)

    def _collect(
        self, part: _Part, kernel: _kernel.JointAligner, totals: tuple[Ints, Ints]
    ) -> None:
        """Write the counts of a part, and add them to those of the words."""
        rows = self.rows.read(*part.rows)
        first, size = part.pairs[0], part.pairs[1] - part.pairs[0]
        for at in range(0, size, _PAIRS):
            end = min(at + _PAIRS, size)
            counts = kernel.counts(at, end)
            self.counts.write(first + at, counts)
            _kernel.add_at(totals[0], _sources(rows, at, end), counts)
            _kernel.add_at(totals[1], self.columns.read(first + at, first + end), counts)

    def _estimate(self, totals: tuple[Ints, Ints], progress: Progress, what: str) -> None:
        """Add up the counts of each pair, and give its probabilities to all parts."""
        starts = np.array([part.pairs[0] for part in self.parts], dtype=np.int64)
        for number, ends in enumerate(self.bounds):
            keys = self.all_keys.read(number * _PAIRS, (number + 1) * _PAIRS)
            sums, held = np.zeros(len(keys), np.int64), np.zeros((len(keys), 2), np.float32)
            cuts = zip(starts.tolist(), ends.tolist(), strict=True)
            some = [cut for cut in cuts if cut[0] < cut[1]]
            numbers = [self.numbers.read(*cut) for cut in some]
            for at, cut in zip(numbers, some, strict=True):
                _kernel.add_at(sums, at, self.counts.read(*cut))
            if not (totals[0][keys[:, 0]].all() and totals[1][keys[:, 1]].all()):
                for at, cut in zip(numbers, some, strict=True):  # of words without counts
                    held[at] = self.entries.read(*cut)
            found = _kernel.estimate_pairs(keys, sums, *totals, held)
            for at, cut in zip(numbers, some, strict=True):
                self.entries.write(cut[0], found[at])
            starts = ends
            progress(number + 1, len(self.bounds), f"{what}: estimating")

    def links(self, part: _Part, **work: Any) -> Links:
        """Return the links of a part."""
        source, pivot = self.text(part)
        return link_words(self.aligner(part, source, pivot), source, pivot, self.how, **work)


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
