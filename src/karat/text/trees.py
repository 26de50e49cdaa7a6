"""Dependency trees of references, as in CoNLL-U: words with heads."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError, quoted, short
from karat.text.references import (
    GroupedReferences,
    VaryingReferences,
    check_aligned,
    starts_of,
)
from karat.text.segments import map_file


@dataclass(frozen=True)
class Tree:
    """A sentence as a dependency tree: `heads[i]` is the number of word i's head, 0 for the root.

    Words are numbered from 1, as in CoNLL-U: Tree(("a", "cat", "sat"), (2, 3, 0)).
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    id: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        object.__setattr__(self, "heads", tuple(self.heads))
        name = f"tree {short(self.id)}" if self.id else "tree"
        if len(self.words) != len(self.heads):
            raise InputError(f"{name}: {len(self.words)} words and {len(self.heads)} heads")
        n = len(self.heads)
        for head in self.heads:
            if not isinstance(head, int) or isinstance(head, bool) or abs(head) > n:
                expected = f"found the head {quoted(head)}, expected a number from 0 to {n}"
                raise InputError(f"{name}: {expected}")
        heads, offsets = np.array(self.heads, dtype=np.int32), np.array([0, n], dtype=np.int64)
        if problem := _kernel.check_trees(heads, offsets)[1]:
            raise InputError(f"{name}: {problem}")

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        return " ".join(self.words)


class TreeBatch(NamedTuple):
    """The trees of a batch of segments: words, heads, and the offset of each tree."""

    words: _kernel.Views
    heads: NDArray[np.int32]
    offsets: Ints


class Trees(GroupedReferences):
    """References that are trees; as text, each is its words joined by spaces.

    `Trees(trees)` takes for each segment one tree or a sequence of trees.
    """

    _lines: Sequence[int] = ()

    def __init__(self, trees: Iterable[Tree] | Iterable[Sequence[Tree]]) -> None:
        groups = [[group] if isinstance(group, Tree) else list(group) for group in trees]
        for i, group in enumerate(groups):
            if not group or not all(isinstance(tree, Tree) for tree in group):
                raise InputError(f"references[{i}]: expected a Tree or a list of them, not empty")
        flat = [tree for group in groups for tree in group]
        words = [word for tree in flat for word in tree.words]
        heads = [head for tree in flat for head in tree.heads]
        views = _kernel.Views.from_strings(words, 0, len(words))
        offsets = starts_of([len(tree) for tree in flat])
        self._batch = TreeBatch(views, np.array(heads, dtype=np.int32), offsets)
        self._ids: Sequence[str] = [tree.id for tree in flat]
        super().__init__("references", [len(group) for group in groups])

    @classmethod
    def flat(cls, name: str, batch: TreeBatch, ids: Sequence[str], lines: Sequence[int]) -> Trees:
        """Return checked trees of a file, one per segment, with the lines where they begin."""
        trees = cls.__new__(cls)
        GroupedReferences.__init__(trees, name, np.ones(len(batch.offsets) - 1, np.int64))
        trees._batch, trees._ids, trees._lines = batch, ids, lines
        return trees

    @classmethod
    def combine(cls, sources: Sequence[Trees]) -> Trees:
        """Return the trees of several sources of the same length as references of one set."""
        check_aligned(sources)
        if len(sources) == 1:
            return sources[0]
        trees = cls([list(chain(*group)) for group in zip(*sources, strict=True)])
        trees._name = sources[0].name
        return trees

    def place(self, segment: int) -> str:
        """Return the segment's number, with its line and sentence if they are known."""
        if not len(self._lines):
            return super().place(segment)
        sentence = f", sentence {self._ids[segment]}" if self._ids[segment] else ""
        return f"{super().place(segment)} (line {self._lines[segment]:,}{sentence})"

    def __getitem__(self, segment: int) -> list[Tree]:
        """The trees of one segment."""
        if not -len(self) <= segment < len(self):
            raise IndexError(f"segment {segment} of {len(self)}")
        at = segment % len(self)
        return [self._tree(k) for k in range(int(self._starts[at]), int(self._starts[at + 1]))]

    def __iter__(self) -> Iterator[list[Tree]]:
        return (self[i] for i in range(len(self)))

    def _tree(self, k: int) -> Tree:
        begin, end = int(self._batch.offsets[k]), int(self._batch.offsets[k + 1])
        words = self._batch.words.slice(begin, end).strings()
        return Tree(tuple(words), tuple(self._batch.heads[begin:end].tolist()), self._ids[k])

    def sizes(self) -> Ints:
        """Return an estimate: eight bytes per word."""
        sizes: Ints = np.diff(self._batch.offsets[self._cuts()]) * 8
        return sizes

    def trees(self, start: int, stop: int) -> TreeBatch:
        first, last = int(self._starts[start]), int(self._starts[stop])
        offsets = self._batch.offsets[first : last + 1]
        begin, end = int(offsets[0]), int(offsets[-1])
        return TreeBatch(
            self._batch.words.slice(begin, end), self._batch.heads[begin:end], offsets - begin
        )

    def views(self, start: int, stop: int) -> tuple[_kernel.Views, Ints]:
        batch = self.trees(start, stop)
        words, cuts = batch.words.strings(), batch.offsets.tolist()
        texts = [" ".join(words[a:b]) for a, b in pairwise(cuts)]
        starts = self._starts[start : stop + 1]
        return _kernel.Views.from_strings(texts, 0, len(texts)), starts - starts[0]

    def strings(self, indices: Sequence[int]) -> list[list[str]]:
        return [[str(tree) for tree in self[i]] for i in indices]


class TextWithTrees(VaryingReferences):
    """Texts with a tree each: tree metrics read the trees, other metrics the texts.

    The words of a tree may differ from the tokens of the text.
    """

    def __init__(
        self, references: Sequence[Sequence[str]], trees: Sequence[Sequence[Tree]]
    ) -> None:
        super().__init__(references)
        self._trees = Trees(trees)

    def __getitem__(self, segment: int) -> list[Tree]:
        """The trees of one segment."""
        return self._trees[segment]

    def trees(self, start: int, stop: int) -> TreeBatch:
        return self._trees.trees(start, stop)


def has_trees(references: object) -> bool:
    """Return whether references are given as a list of trees, or of lists of trees."""
    first = references[0] if isinstance(references, list | tuple) and references else None
    return isinstance(first[0] if isinstance(first, list | tuple) and first else first, Tree)


EXPECTED = "CoNLL-U, one word a line"
"""The expected content, for messages."""


class ConlluColumns(NamedTuple):
    """Columns of a CoNLL-U file: sentence i has the words `offsets[i]` to `offsets[i + 1]`.

    `ids`, `documents` (the number of its document) and `lines` (where it begins) are by sentence.
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
    columns = read_columns(path)
    run = TreeBatch(columns.words, columns.heads, columns.offsets)
    return Trees.flat(str(path), run, columns.ids.strings(), columns.lines.tolist())


def conllu_lines(trees: Iterable[Tree]) -> Iterator[str]:
    """Yield the lines of a CoNLL-U file that `read_conllu` reads as these trees."""
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
    result = _kernel.read_treebank(buffer, 3 if buffer[:3] == b"\xef\xbb\xbf" else 0)
    if len(result) == 3:
        problem, line, sentence = result
        location = f", sentence {short(sentence)}" if sentence else ""
        raise InputError(f"{name}, line {line}{location}: {problem}")
    columns = ConlluColumns(*result)
    if len(columns.offsets) == 1:
        raise InputError(f"{name}: no sentences: expected {EXPECTED}")
    return columns
