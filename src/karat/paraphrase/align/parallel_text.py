"""Parallel text: two files aligned line by line, or one of two columns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from karat.errors import InputError
from karat.progress import Progress, silent
from karat.text.recipe import Recipe
from karat.text.references import check_aligned
from karat.text.segments import STRIDE, Lines, Segments, Strings
from karat.text.tokens import Tokens, Vocab, tokenize

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
    source: _Path,
    pivot: _Path | None = None,
    progress: Progress = silent,
    *,
    as_text: bool = False,
) -> Parallel:
    """Two files aligned line by line, or one of two columns with a tab between (`.gz` too).

    `as_text` reads files that look like JSON, too.
    """
    if pivot is not None:
        if str(source) == str(pivot) == "-":
            raise InputError("standard input (-) is named twice: it can be read once")
        both = (Lines(Path(path), progress, as_text=as_text) for path in (source, pivot))
        return Parallel(*both)
    lines = Lines(Path(source), progress, as_text=as_text)
    rows = list(_columns(lines, progress))
    return Parallel(
        Strings([row[0] for row in rows], f"{lines.name}, column 1"),
        Strings([row[1] for row in rows], f"{lines.name}, column 2"),
    )


def _columns(lines: Lines, progress: Progress) -> Iterator[list[str]]:
    for start in range(0, len(lines), STRIDE):
        stop = min(start + STRIDE, len(lines))
        for number, line in enumerate(lines.views(start, stop).strings(), start + 1):
            row = line.split("\t")
            if len(row) != 2:
                raise InputError(_wrong_columns(lines.name, number, len(row)))
            yield row
        progress(stop, len(lines), f"reading {lines.name}")


def _wrong_columns(name: str, line: int, found: int) -> str:
    columns = "1 column" if found == 1 else f"{found} columns"
    return (
        f"{name}, line {line}: found {columns}, expected two with a tab between (source, pivot); "
        "for two files that are aligned line by line, name both"
    )


def parallel_tokens(
    texts: Sequence[Parallel],
    source: Recipe,
    pivot: Recipe,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> tuple[Tokens, Tokens]:
    """The words of one or more parallel texts, one after the other, each side by its recipe."""
    if not texts:
        raise InputError("no parallel text was given: name at least one")
    sides = ([text.source for text in texts], source), ([text.pivot for text in texts], pivot)
    words, pivot_words = (
        joined_tokens(segments, recipe, threads=threads, progress=progress)
        for segments, recipe in sides
    )
    return words, pivot_words


def joined_tokens(
    texts: Sequence[Segments],
    recipe: Recipe,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Tokens:
    """The words of one or more texts, one after the other."""
    vocab = Vocab()
    return _joined([_tokens(one, recipe, vocab, threads, progress) for one in texts], vocab)


def _tokens(
    text: Segments, recipe: Recipe, vocab: Vocab, threads: int | None, progress: Progress
) -> Tokens:
    how = (recipe.tok, recipe.case, recipe.stem, recipe.stop)
    return tokenize(text, *how, vocab=vocab, threads=threads, progress=progress)


def _joined(parts: Sequence[Tokens], vocab: Vocab) -> Tokens:
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.ids) for part in parts)])
    offsets = [part.offsets[1:] + held for part, held in zip(parts, before[:-1], strict=True)]
    ids = np.concatenate([part.ids for part in parts])
    return Tokens(ids, np.concatenate([np.zeros(1, np.int64), *offsets]), vocab)
