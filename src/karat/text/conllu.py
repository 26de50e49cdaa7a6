"""CoNLL-U files: the columns of all sentences, one after the other, as views of the mapped file."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError, short
from karat.text.segments import map_file
from karat.text.trees import Tree, TreeBatch, Trees

EXPECTED = "CoNLL-U, one word a line"
"""The expected content, for messages."""


class ConlluColumns(NamedTuple):
    """Sentence i has the words `offsets[i]` to `offsets[i + 1]` of every column.

    `ids`, `documents` (which one it belongs to) and `lines` (where it begins) are by sentence.
    """

    words: _kernel.Views
    lemmas: _kernel.Views
    upos: _kernel.Views
    xpos: _kernel.Views
    relations: _kernel.Views
    heads: NDArray[np.int32]
    offsets: Ints
    ids: _kernel.Views
    documents: NDArray[np.int32]
    lines: Ints


def read_columns(path: str | os.PathLike[str]) -> ConlluColumns:
    """Return the columns of a CoNLL-U file (`.gz` too): one root, no cycle, words numbered."""
    return columns_in(*map_conllu(path))


def read_conllu(path: str | os.PathLike[str]) -> Trees:
    """Read dependency trees from a CoNLL-U file, checked: one root, no cycle, words numbered.

    Of the comments only `sent_id` is read, of the ten columns only ID, FORM and HEAD. Multiword
    ranges (3-4) and empty nodes (5.1) are skipped: the words of a tree are `do n't`, not `don't`.

    Args:
        path: the file; `.gz` is fine.
    """
    found = read_columns(path)
    run = TreeBatch(found.words, found.heads, found.offsets)
    return Trees.flat(str(path), run, found.ids.strings(), found.lines.tolist())


def conllu_lines(trees: Iterable[Tree]) -> Iterator[str]:
    """The lines of a CoNLL-U file that `read_conllu` reads as these trees."""
    for tree in trees:
        if tree.id:
            yield f"# sent_id = {tree.id}\n"
        for number, (word, head) in enumerate(zip(tree.words, tree.heads, strict=True), 1):
            yield f"{number}\t{word}\t_\t_\t_\t_\t{head}\t_\t_\t_\n"
        yield "\n"


def map_conllu(path: str | os.PathLike[str]) -> tuple[mmap.mmap, str]:
    """Map a CoNLL-U file; return its bytes and its name for messages."""
    name = "standard input" if str(path) == "-" else str(path)
    return map_file(Path(path), name, EXPECTED), name


def columns_in(buffer: mmap.mmap, name: str) -> ConlluColumns:
    """Return the columns of a mapped file."""
    found = _kernel.read_treebank(buffer, 3 if buffer[:3] == b"\xef\xbb\xbf" else 0)
    if len(found) == 3:
        problem, line, sentence = found
        where = f", sentence {short(sentence)}" if sentence else ""
        raise InputError(f"{name}, line {line}{where}: {problem}")
    columns = ConlluColumns(*found)
    if len(columns.offsets) == 1:
        raise InputError(f"{name}: no sentences: expected {EXPECTED}")
    return columns
