"""Parallel text, and the links between its words."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.progress import Progress, Stop, map_in_order, n_threads, silent
from karat.storage.arrays import ArrayFile, as_memory, forget_pages
from karat.text.references import check_aligned
from karat.text.segments import STRIDE, Lines, Segments
from karat.text.tokens import Ragged, Recipe, Tokens, Vocab, check_choice, token_parts
from karat.text.word_table import StoredStrings

_PURPOSE = "the words of a text are held there"


class StoredRagged:
    """Rows of numbers of different lengths, in temporary files or in memory."""

    def __init__(self, purpose: str, in_memory: bool = False) -> None:
        file = partial(ArrayFile, purpose=purpose, in_memory=in_memory)
        self.ids, self.offsets = file("int32"), file("int64")
        self.offsets.append(np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def append(self, ids: NDArray[np.int32], lengths: Ints) -> None:
        """Add the next rows."""
        self.offsets.append(np.cumsum(lengths) + len(self.ids))
        self.ids.append(ids)

    def append_padded(self, rows: NDArray[np.int32]) -> None:
        """Append rows that are padded with -1."""
        self.append(rows[rows >= 0], (rows >= 0).sum(axis=1))

    def read(self, start: int, stop: int) -> Ragged:
        """Return some of the rows."""
        offsets = self.offsets.read(start, stop + 1)
        return Ragged(self.ids.read(int(offsets[0]), int(offsets[-1])), offsets - offsets[0])


class StoredTokens:
    """Token ids in temporary files or in memory; the vocabulary is in memory."""

    def __init__(self, in_memory: bool = False) -> None:
        self.vocab = Vocab()
        self._rows = StoredRagged(_PURPOSE, in_memory)
        self._mapped: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def size(self) -> int:
        """The number of words."""
        return len(self._rows.ids)

    def append(self, tokens: Tokens) -> None:
        """Add the next segments."""
        self._rows.append(tokens.ids, np.diff(tokens.offsets))

    def part(self, start: int, stop: int) -> Tokens:
        """Return some of the segments."""
        ids, offsets = self._rows.read(start, stop)
        return Tokens(ids if self._mapped is None else self._mapped[ids], offsets, self.vocab)

    def map(self, function: Callable[[str], str]) -> StoredTokens:
        """Return the tokens with a function applied to each word; the files are shared."""
        mapped_tokens, target = copy(self), Vocab()
        mapped = target.add([function(word) for word in self.vocab.words(0, len(self.vocab))])
        mapped_tokens.vocab = target
        mapped_tokens._mapped = mapped if self._mapped is None else mapped[self._mapped]
        return mapped_tokens


Words = Tokens | StoredTokens  # the tokens of a text, in memory or in files


def word_count(words: Words) -> int:
    """Return the number of words of a text."""
    return int(words.offsets[-1]) if isinstance(words, Tokens) else words.size


_SHARE = 32  # text may use this fraction (1/32) of memory

_Path = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Parallel:
    """Two texts whose segments are translations of each other."""

    source: Segments
    pivot: Segments

    def __post_init__(self) -> None:
        check_aligned([self.source, self.pivot])

    def __len__(self) -> int:
        return len(self.source)


def read_parallel(
    source: _Path, pivot: _Path | None = None, progress: Progress = silent, *, as_text: bool = False
) -> Parallel:
    """Read two files aligned line by line, or one with two columns separated by a tab.

    Files may be compressed (`.gz`). `as_text` also reads files that look like JSON.
    """
    if pivot is not None:
        if str(source) == str(pivot) == "-":
            raise InputError("standard input (-) is named twice: it can be read once")
        both = (Lines(Path(path), progress, as_text=as_text) for path in (source, pivot))
        return Parallel(*both)
    lines = Lines(Path(source), progress, as_text=as_text)
    columns = [StoredStrings(name=f"{lines.name}, column {k}") for k in (1, 2)]
    for number, line in enumerate(iterate_lines(lines, progress), 1):
        row = line.split("\t")
        if len(row) != 2:
            n_columns = "1 column" if len(row) == 1 else f"{len(row)} columns"
            raise InputError(
                f"{lines.name}, line {number}: found {n_columns}, expected two with a tab "
                "between (source, pivot); for two files that are aligned line by line, name both"
            )
        for column, text in zip(columns, row, strict=True):
            column.append(text)
    lines.release(0, len(lines))
    return Parallel(columns[0].done(), columns[1].done())


def iterate_lines(texts: Segments, progress: Progress = silent) -> Iterator[str]:
    """Yield the segments of a text one by one."""
    for start in range(0, len(texts), STRIDE):
        end = min(start + STRIDE, len(texts))
        yield from texts.views(start, end).strings()
        progress(end, len(texts), f"reading {texts.name}")


def parallel_tokens(
    texts: Sequence[Parallel], source: Recipe, pivot: Recipe, **work: Any
) -> tuple[Words, Words]:
    """Return the tokens of both sides of some parallel texts; `work` as for `join_tokens`."""
    if not texts:
        raise InputError("no parallel text was given: name at least one")
    words = join_tokens([text.source for text in texts], source, **work)
    return words, join_tokens([text.pivot for text in texts], pivot, **work)


def join_tokens(
    texts: Sequence[Segments], recipe: Recipe, memory: int | None = None, **work: Any
) -> Words:
    """Return the tokens of one or more texts, in order; `work` is `threads` and `progress`.

    They are in memory if they need a small part of `memory`, else in temporary files.
    """
    size = sum(int(text.sizes().sum()) for text in texts)
    in_memory = size <= as_memory(memory) // _SHARE
    tokens = StoredTokens(in_memory)
    for text in texts:
        for part in token_parts(text, recipe, tokens.vocab, **work):
            tokens.append(part)
            if not in_memory:
                text.release(0, len(text))
    return tokens.part(0, len(tokens)) if in_memory else tokens


T = TypeVar("T")

_CELLS = 1 << 20  # word pairs of a batch, about a tenth of a second of work
_SENTENCES = 1 << 16  # sentence pairs whose lengths are read together


def run_in_batches(
    work: Callable[[int, int], T],
    cuts: Sequence[tuple[int, int]],
    threads: int | None,
    progress: Progress,
    step_name: str,
    stop: Stop | None = None,
) -> Iterator[T]:
    """Yield `work(start, stop)` of every batch, in order, and report progress after each."""
    done = map_in_order(lambda cut: work(*cut), cuts, n_threads(threads), stop)
    with closing(done):  # otherwise a traceback would keep the workers running
        for (_, end), result in zip(cuts, done, strict=True):
            yield result
            progress(end, cuts[-1][1], step_name)


def cut_batches(source: Tokens, pivot: Tokens) -> list[tuple[int, int]]:
    """Return batches of sentences of about equal work; they depend on the text only."""
    if not len(source):
        return []
    cells = np.diff(source.offsets) * np.diff(pivot.offsets)
    before = np.concatenate([[0], np.cumsum(cells + 1)])
    ends = np.flatnonzero(np.diff(before // _CELLS)) + 1
    bounds = [0, *ends.tolist(), len(source)]
    return [(a, b) for a, b in pairwise(bounds) if a < b]


def measure_texts(source: Words, pivot: Words, longest: int) -> tuple[int, int, int]:
    """Return the numbers of sentence pairs with an empty or too long side, and of cells.

    Cells are pairs of words in the same sentence pair.
    """
    empty = too_long = cells = 0
    for lengths in _lengths(source, pivot):
        without = lengths.min(axis=0) == 0
        long = ~without & (lengths.max(axis=0) > longest)
        empty, too_long = empty + int(without.sum()), too_long + int(long.sum())
        cells += int(lengths.prod(axis=0)[~long].sum())
    return empty, too_long, cells


def cut_parts(
    source: Words, pivot: Words, longest: int, max_cells: int
) -> Iterator[tuple[int, int]]:
    """Yield parts of at most `max_cells` cells, or of one sentence pair."""
    start = at = held = 0
    for lengths in _lengths(source, pivot):
        cells = np.where(lengths.max(axis=0) > longest, 0, lengths.prod(axis=0))
        for size in cells.tolist():
            if at > start and held + size > max_cells:
                yield start, at
                start, held = at, 0
            at, held = at + 1, held + size
    if at > start:
        yield start, at


def _lengths(source: Words, pivot: Words) -> Iterator[Ints]:
    """Yield the numbers of words of both sides for batches of sentence pairs."""
    for start in range(0, len(source), _SENTENCES):
        stop = min(start + _SENTENCES, len(source))
        yield np.stack([np.diff(side.part(start, stop).offsets) for side in (source, pivot)])


RULES = {
    "intersection": "links of both alignments",
    "union": "links of either alignment",
    "grow-diag": "the intersection, extended to neighbouring links of unlinked words",
    "grow-diag-final-and": "grow-diag, and links of either between two unlinked words",
}
"""Rule that combines two alignments -> the links that it keeps."""

_LINKS_PURPOSE = "links of words are held there"
_LINES = 1 << 12  # lines formatted together
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


@dataclass(frozen=True, eq=False)
class Links:
    """Sentence s links words `source[k]` and `pivot[k]`, `offsets[s]` <= k < `offsets[s + 1]`.

    Words are numbered from 0 in their sentence.
    """

    source: NDArray[np.int32]
    pivot: NDArray[np.int32]
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, sentence: int) -> list[tuple[int, int]]:
        if not 0 <= sentence < len(self):
            raise IndexError(f"sentence {sentence} of {len(self)}")
        links = self.part(sentence, sentence + 1)
        return list(zip(links.source.tolist(), links.pivot.tolist(), strict=True))

    @property
    def size(self) -> int:
        """The number of links."""
        return len(self.source)

    def part(self, start: int, stop: int) -> Links:
        """Return the links of some sentences."""
        offsets = self.offsets[start : stop + 1]
        part_links = slice(offsets[0], offsets[-1])
        return Links(self.source[part_links], self.pivot[part_links], offsets - offsets[0])

    def __repr__(self) -> str:
        return f"<Links: {len(self.source):,} in {len(self):,} sentences>"

    @classmethod
    def of(cls, rows: Iterable[Sequence[tuple[int, int]]]) -> Links:
        """Return the links of lists of pairs, one list for each sentence."""
        sentences = list(rows)
        flat = np.array([pair for row in sentences for pair in row], np.int32).reshape(-1, 2)
        offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
        return cls(flat[:, 0].copy(), flat[:, 1].copy(), offsets)


class LinkFiles:
    """Links that are appended sentence by sentence, in temporary files or in memory."""

    def __init__(self, in_memory: bool = False) -> None:
        file = partial(ArrayFile, purpose=_LINKS_PURPOSE, in_memory=in_memory)
        self._source, self._pivot, self._offsets = file("int32"), file("int32"), file("int64")
        self._offsets.append(np.zeros(1, np.int64))

    def append(self, source: NDArray[np.int32], pivot: NDArray[np.int32], ends: Ints) -> None:
        """Append the links of the next sentences; `ends` has the end of each, relative to these."""
        self._offsets.append(ends + len(self._source))
        self._source.append(source)
        self._pivot.append(pivot)

    def links(self) -> Links:
        """Return all links, mapped if they are in files."""
        return Links(*(file.memory_map() for file in (self._source, self._pivot, self._offsets)))


def check_lengths(source: Sized, pivot: Sized, links: Sized | None = None) -> None:
    """Raise if texts and links have different numbers of sentences."""
    if len(source) != len(pivot):
        raise InputError(
            f"the source text has {len(source):,} sentences and the pivot text {len(pivot):,}: "
            "expected two texts that are aligned line by line"
        )
    if links is not None and len(links) != len(source):
        raise InputError(
            f"the texts have {len(source):,} sentences and the links {len(links):,}: "
            "expected one line of links for each sentence pair"
        )


def check_links(source: Tokens, pivot: Tokens, links: Links, n_before: int = 0) -> None:
    """Raise if a link is outside its sentence; `n_before` is the number of earlier sentences."""
    for tokens, ends, side in ((source, links.source, "source"), (pivot, links.pivot, "pivot")):
        lengths = np.repeat(np.diff(tokens.offsets), np.diff(links.offsets))
        outside = np.flatnonzero((ends < 0) | (ends >= lengths))
        if len(outside):
            first = int(outside[0])
            sentence = n_before + int(np.searchsorted(links.offsets, first, side="right"))
            raise InputError(
                f"sentence {sentence:,}: a link names {side} word {ends[first]}, and there are "
                f"{lengths[first]}, counted from 0: were the links made from another tokenisation?"
            )


def symmetrize(source: Tokens, pivot: Tokens, first: Links, second: Links, rule: str) -> Links:
    """Combine two alignments of the same texts; links are (source, pivot) in both.

    After Och & Ney (2003) and Koehn, Och & Marcu (2003).
    """
    check_choice("rule", rule, RULES)
    for links in (first, second):
        check_lengths(source, pivot, links)
        check_links(source, pivot, links)
    sizes = np.diff(source.offsets), np.diff(pivot.offsets)
    arguments: list[Any] = [*sizes, *vars(first).values(), *vars(second).values(), rule]
    return Links(*_kernel.symmetrize(*arguments))


def read_pharaoh(path: str | os.PathLike[str], progress: Progress = silent) -> Links:
    """Read a file of links in Pharaoh format, which may be compressed (`.gz`)."""
    lines = Lines(Path(path), progress)

    def parse(word: str, line_number: int) -> tuple[int, int]:
        if (match := _LINK.fullmatch(word)) is None:
            raise InputError(
                f"{lines.name}, line {line_number}: found {quoted(word)}, expected links as in 0-0 "
                "1-2 (source-pivot, words counted from 0)"
            )
        return int(match[1]), int(match[2])

    return Links.of(
        [parse(word, number) for word in line.split()]
        for number, line in enumerate(iterate_lines(lines, progress), 1)
    )


def pharaoh_lines(links: Links) -> Iterator[str]:
    """Yield the lines of a file of links in Pharaoh format."""
    for start in range(0, len(links), _LINES):
        part = links.part(start, min(start + _LINES, len(links)))
        for sentence in range(len(part)):
            yield " ".join(f"{i}-{j}" for i, j in part[sentence]) + "\n"
        forget_pages(vars(links).values())  # they may be mapped
