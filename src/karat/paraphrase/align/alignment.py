"""Word alignment by two HMMs, one for each direction, that are trained to agree.

After Liang, Taskar & Klein (2006): IBM model 1 first, then the HMM, both directions together. In
the E-step, a link counts as far as both directions agree on it. The models see the first characters
of words only. Nothing is random, and expectations are summed as integers: the result does not
depend on the number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.align.aligner import LEARNERS, Aligner, Iteration, PartAligner
from karat.paraphrase.align.parallel_text import (
    LinkFiles,
    Links,
    Parallel,
    Words,
    check_lengths,
    cut_batches,
    cut_parts,
    measure_texts,
    parallel_tokens,
    run_in_batches,
    symmetrize,
    word_count,
)
from karat.progress import Progress, silent
from karat.results import Result
from karat.storage.arrays import ArrayFile, as_memory, forget_pages
from karat.text.tokens import Recipe, Tokens

_PURPOSE = "pairs of words are counted there"
_BYTES_OF_CELL = 48  # 24 are stored; the rest is working memory
_PAIRS = 1 << 19  # word pairs that are summed together


class _TextPart(NamedTuple):
    """Spans of the sentences of a part, and of its cells, word pairs and rows in the files."""

    sentences: tuple[int, int]
    cells: tuple[int, int]
    pairs: tuple[int, int]
    rows: tuple[int, int]


class _WordPairs:
    """The word pairs of a text and their estimates, by part, in memory or in files.

    Each part has its own pairs. All pairs are numbered together, range by range, so that the counts
    of all parts can be summed. A cell is a position of two words in a sentence pair.
    """

    def __init__(self, source: Words, pivot: Words, aligner: Aligner, in_memory: bool) -> None:
        self.source, self.pivot = source, pivot
        self.learner = LEARNERS[aligner.model](source, pivot, aligner)
        self.parts: list[_TextPart] = []
        self.range_ends: list[Ints] = []  # for each range of pairs, its end in each part
        file = partial(ArrayFile, purpose=_PURPOSE, in_memory=in_memory)
        self.cells, self.columns, self.numbers = file("int32"), file("int32"), file("int32")
        self.rows, self.counts = file("int64"), file("int64")
        first = self.learner.first_entries(0)
        self.entries = file(first.dtype.str, width=None if first.ndim == 1 else first.shape[1])
        self.posteriors = file("uint16", width=2)
        self.keys, self.all_keys = file("int32", width=2), file("int32", width=2)

    @property
    def nbytes(self) -> int:
        """Memory of the largest part in bytes."""
        bytes_of_cell = 8 if self.learner.keeps_posteriors else 4
        sizes = [bytes_of_cell * (c - a) + 16 * (d - b) for _, (a, c), (b, d), _ in self.parts]
        return max(sizes, default=0)

    def add_part(self, start: int, stop: int) -> None:
        """Add the word pairs of some sentences."""
        source, pivot = self.source.part(start, stop), self.pivot.part(start, stop)
        texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
        rows, columns, cells = _kernel.word_pairs(*texts, self.learner.aligner.longest)
        before = [len(file) for file in (self.cells, self.columns, self.rows)]
        self.cells.append(cells)
        if self.learner.keeps_posteriors:
            self.posteriors.append(np.zeros((len(cells), 2), np.uint16))
        del cells
        self.columns.append(columns)
        self.rows.append(rows)
        for first in range(0, len(columns), _PAIRS):
            end = min(first + _PAIRS, len(columns))
            sources = _source_words(rows, first, end)
            self.keys.append(np.stack([sources, columns[first:end]], axis=1))
            self.entries.append(self.learner.first_entries(end - first))
        after = [len(file) for file in (self.cells, self.columns, self.rows)]
        self.parts.append(_TextPart((start, stop), *zip(before, after, strict=True)))

    def number_pairs(self, progress: Progress) -> None:
        """Number the pairs of all parts together, range by range."""
        keys = self.keys.memory_map()
        union = _kernel.SortedUnion([keys[a:b] for _, _, (a, b), _ in self.parts], 2)
        ends = np.array([part.pairs[0] for part in self.parts], dtype=np.int64)
        n_numbered = 0
        while not union.done:
            rows, numbers = union.next(_PAIRS)
            self.all_keys.append(rows)
            for part, part_numbers in enumerate(numbers):
                self.numbers.write(int(ends[part]), part_numbers)
                ends[part] += len(part_numbers)
                n_numbered += len(part_numbers)
            self.range_ends.append(ends.copy())
            forget_pages([keys])
            progress(n_numbered, len(keys), "sorting pairs")

    def _open(self, part: _TextPart) -> tuple[Tokens, Tokens, PartAligner, NDArray[Any]]:
        """Return both texts of a part, its aligner and its posteriors."""
        source, pivot = self.source.part(*part.sentences), self.pivot.part(*part.sentences)
        texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
        cells, entries = self.cells.read(*part.cells), self.entries.read(*part.pairs)
        posteriors = self.posteriors.read(*part.cells if self.learner.keeps_posteriors else (0, 0))
        return source, pivot, self.learner.part(texts, cells, entries, posteriors), posteriors

    def iterate(self, step: Iteration, threads: int | None, progress: Progress) -> None:
        """Run an iteration of EM: count in all parts, then estimate."""
        for part in self.parts:
            source, pivot, part_aligner, posteriors = self._open(part)
            expect = partial(part_aligner.expect, **self.learner.e_step_options(step))
            batches = cut_batches(source, pivot)
            part_progress = partial(self._report_part, progress, part)
            deque(run_in_batches(expect, batches, threads, part_progress, step.name), maxlen=0)
            self.posteriors.write(part.cells[0], posteriors)
            self._collect_counts(part, part_aligner)
            self.learner.add_part(part_aligner)
        self._estimate(progress, step.name)
        self.learner.update(step)

    def _report_part(
        self, progress: Progress, part: _TextPart, done: int, _: int, name: str
    ) -> None:
        """Report the progress in a part as progress in the whole text."""
        progress(part.sentences[0] + done, len(self.source), name)

    def _collect_counts(self, part: _TextPart, part_aligner: PartAligner) -> None:
        """Store the counts of a part, and add them to the totals of the words."""
        rows = self.rows.read(*part.rows)
        first, size = part.pairs[0], part.pairs[1] - part.pairs[0]
        for start in range(0, size, _PAIRS):
            end = min(start + _PAIRS, size)
            counts = part_aligner.counts(start, end)
            self.counts.write(first + start, counts)
            columns = self.columns.read(first + start, first + end)
            self.learner.add_pairs(_source_words(rows, start, end), columns, counts)

    def _estimate(self, progress: Progress, step_name: str) -> None:
        """Sum the counts of each pair over all parts, and write its new entry to all parts."""
        starts = np.array([part.pairs[0] for part in self.parts], dtype=np.int64)
        for k, ends in enumerate(self.range_ends):
            keys = self.all_keys.read(k * _PAIRS, (k + 1) * _PAIRS)
            cuts = zip(starts.tolist(), ends.tolist(), strict=True)
            numbered_cuts = [(self.numbers.read(*cut), cut) for cut in cuts if cut[0] < cut[1]]
            sums = np.zeros(len(keys), np.int64)
            for numbers, cut in numbered_cuts:
                _kernel.add_at(sums, numbers, self.counts.read(*cut))
            read_last = partial(self._last_entries, len(keys), numbered_cuts)
            entries = self.learner.entries(keys, sums, read_last)
            for numbers, cut in numbered_cuts:
                self.entries.write(cut[0], entries[numbers])
            starts = ends
            progress(k + 1, len(self.range_ends), f"{step_name}: estimating")

    def _last_entries(
        self, size: int, numbered_cuts: list[tuple[Any, tuple[int, int]]]
    ) -> NDArray[Any]:
        """Return the current entries of a range of pairs."""
        entries = self.learner.first_entries(size)
        for numbers, cut in numbered_cuts:
            entries[numbers] = self.entries.read(*cut)
        return entries

    def link(self, part: _TextPart, **work: Any) -> Links:
        """Return the links of a part; `work` is `threads` and `progress`."""
        source, pivot, part_aligner, _ = self._open(part)
        aligner, batches = self.learner.aligner, cut_batches(source, pivot)

        def decode(rule: str) -> Links:
            options: dict[str, Any] = {**self.learner.decode_options(), "rule": rule}
            decode_batch = partial(
                part_aligner.decode, **options, threshold=aligner.threshold or 0.5
            )
            links = LinkFiles(in_memory=True)
            for batch in run_in_batches(decode_batch, batches, step_name="linking words", **work):
                links.append(*batch)
            return links.links()

        if aligner.decoding == "posterior":
            return decode("mean")
        return symmetrize(source, pivot, decode("forward"), decode("backward"), aligner.decoding)


def _source_words(rows: Ints, start: int, stop: int) -> NDArray[np.int32]:
    """Return the source words of some pairs."""
    first = int(np.searchsorted(rows, start, side="right")) - 1
    last = int(np.searchsorted(rows, stop, side="left"))
    cut: Ints = np.clip(rows[first : last + 1], start, stop)
    return np.repeat(np.arange(first, last, dtype=np.int32), np.diff(cut))


WORDS = Recipe("none", "lower")  # default recipe: split at white space, lower-case

MAX_WORDS = 2**31 - 1
"""Maximal number of words of a side: sums of expectations fit into 64 bits."""


class AlignmentRow(NamedTuple):
    """Numbers of sentence pairs and links, and of sentence pairs that are not aligned.

    These have an empty side (`empty`) or more than `longest` words on a side (`too_long`).
    """

    sentences: int
    links: int
    empty: int
    too_long: int


@dataclass(frozen=True, eq=False, repr=False)
class WordAlignment(Result):
    """The links of two texts; `pairs` is the number of different word pairs."""

    links: Links
    rows: tuple[AlignmentRow]
    pairs: int
    nbytes: int  # memory of the table of word pairs
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
    """Align the words of two texts that are aligned line by line.

    Beyond `memory` bytes (default: a quarter of the memory of this machine) the text is processed
    in parts, and the table of word pairs is in temporary files; the links are the same.
    """
    check_lengths(source, pivot)
    if (words := max(map(word_count, (source, pivot)))) > MAX_WORDS:
        raise InputError(
            f"a side of the parallel text has {words:,} words, and at most {MAX_WORDS:,} can be "
            "aligned together: split the text, and align each part by itself"
        )
    settings = (aligner or Aligner()).resolved()
    if prefix := settings.prefix:
        source, pivot = (side.map(lambda word: word[:prefix]) for side in (source, pivot))
    empty, too_long, cells = measure_texts(source, pivot, settings.longest)
    max_cells = max(as_memory(memory) // _BYTES_OF_CELL, 1)
    in_memory = cells <= max_cells
    pairs = _WordPairs(source, pivot, settings, in_memory)
    for cut in cut_parts(source, pivot, settings.longest, max_cells):
        pairs.add_part(*cut)
        progress(cut[1], len(source), "finding word pairs")
    pairs.number_pairs(progress)
    for step in settings.iterations():
        pairs.iterate(step, threads, progress)
    link_files = LinkFiles(in_memory)
    for part in pairs.parts:
        part_links = pairs.link(part, threads=threads, progress=progress)
        link_files.append(part_links.source, part_links.pivot, part_links.offsets[1:])
    links = link_files.links()
    skipped = {
        "with an empty side": empty,
        f"with more than {settings.longest} words on a side": too_long,
    }
    return WordAlignment(
        links,
        (AlignmentRow(len(source), links.size, empty, too_long),),
        len(pairs.all_keys),
        pairs.nbytes,
        vars(settings),
        tuple(
            f"no links for {'1 sentence pair' if n == 1 else f'{n:,} sentence pairs'} {reason}"
            for reason, n in skipped.items()
            if n
        ),
        str(settings),
    )


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
    """Align the words of a parallel text, tokenised by a recipe for each side."""
    work: dict[str, Any] = {"memory": memory, "threads": threads, "progress": progress}
    tokens = parallel_tokens([text], source, pivot, **work)
    return align_words(*tokens, aligner, **work)
