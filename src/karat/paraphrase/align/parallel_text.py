"""Parallel text: two files aligned line by line, or one of two columns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.arrays import np
from karat.errors import InputError
from karat.paraphrase.align.stored_tokens import Words, stored_tokens
from karat.progress import Progress, silent
from karat.storage.arrays import as_memory
from karat.text.references import check_aligned
from karat.text.segments import STRIDE, Lines, Segments
from karat.text.tokens import Recipe, Tokens, Vocab, tokenize
from karat.text.word_table import StoredStrings

_SHARE = 32  # one part in so many of memory may be text

_Path = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Parallel:
    """Segment i of `source` and segment i of `pivot` say the same in two languages."""

    source: Segments
    pivot: Segments

    def __post_init__(self) -> None:
        check_aligned([self.source, self.pivot])

    def __len__(self) -> int:
        return len(self.source)


def read_parallel(
    source: _Path, pivot: _Path | None = None, progress: Progress = silent, *, as_text: bool = False
) -> Parallel:
    """Read two files aligned line by line, or one of two columns with a tab between (`.gz` too).

    `as_text` reads files that look like JSON, too.
    """
    if pivot is not None:
        if str(source) == str(pivot) == "-":
            raise InputError("standard input (-) is named twice: it can be read once")
        both = (Lines(Path(path), progress, as_text=as_text) for path in (source, pivot))
        return Parallel(*both)
    lines = Lines(Path(source), progress, as_text=as_text)
    columns = [StoredStrings(name=f"{lines.name}, column {k}") for k in (1, 2)]
    for number, line in enumerate(each_line(lines, progress), 1):
        row = line.split("\t")
        if len(row) != 2:
            found = "1 column" if len(row) == 1 else f"{len(row)} columns"
            raise InputError(
                f"{lines.name}, line {number}: found {found}, expected two with a tab between "
                "(source, pivot); for two files that are aligned line by line, name both"
            )
        for column, text in zip(columns, row, strict=True):
            column.append(text)
    lines.release(0, len(lines))
    return Parallel(columns[0].done(), columns[1].done())


def each_line(texts: Segments, progress: Progress = silent) -> Iterator[str]:
    """Yield the segments of a text one by one."""
    for start in range(0, len(texts), STRIDE):
        end = min(start + STRIDE, len(texts))
        yield from texts.views(start, end).strings()
        progress(end, len(texts), f"reading {texts.name}")


def parallel_tokens(
    texts: Sequence[Parallel], source: Recipe, pivot: Recipe, **work: Any
) -> tuple[Words, Words]:
    """Return the words of parallel texts, one after the other, each side by its recipe.

    `work` is `memory`, `threads` and `progress`.
    """
    if not texts:
        raise InputError("no parallel text was given: name at least one")
    words = joined_tokens([text.source for text in texts], source, **work)
    return words, joined_tokens([text.pivot for text in texts], pivot, **work)


def joined_tokens(
    texts: Sequence[Segments], recipe: Recipe, memory: int | None = None, **work: Any
) -> Words:
    """Return the words of one or more texts, one after the other.

    They are in memory if that takes a small part of `memory`, else in temporary files.
    """
    if sum(int(text.sizes().sum()) for text in texts) > as_memory(memory) // _SHARE:
        return stored_tokens(texts, recipe, **work)
    vocab = Vocab()
    how = (recipe.tok, recipe.case, recipe.stem, recipe.stop)
    parts = [tokenize(one, *how, vocab=vocab, **work) for one in texts]
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.ids) for part in parts)])
    offsets = [part.offsets[1:] + held for part, held in zip(parts, before[:-1], strict=True)]
    ids = np.concatenate([part.ids for part in parts])
    return Tokens(ids, np.concatenate([np.zeros(1, np.int64), *offsets]), vocab)
