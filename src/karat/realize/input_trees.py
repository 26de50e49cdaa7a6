"""The input of a realiser, unordered dependency trees, and its output, orders.

The paper's input has only fully inflected words at the nodes of an unordered tree
(`inputs="words"`); shallow input also has a tag and a relation for each (`inputs="all"`). Input of
lemmas (`inputs="lemmas"`) also has treebank-specific tags (XPOS) and features, and no forms. Words
are lower-cased, because a capital would reveal the first word.

The nodes are renumbered by content (csrc/realize/canonical_order.hpp): the root is node 0, heads
precede their daughters, the nodes of a subtree are consecutive, and sisters are sorted by their
content and that of their daughters. So models cannot see the order of the file. Only `places` keeps
it, for references and reports.

Trees that are not projective are realised like any other. Realisers keep every subtree together, so
they cannot produce the reference sentence of such a tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.progress import Progress
from karat.realize.tree_notation import read_notation
from karat.realize.treebank import (
    MISSING,
    NOTATIONS,
    SNIFFED_BYTES,
    FlatTrees,
    Treebank,
    check_forms,
    complete_problem,
    first_character,
    is_notation,
    parse_treebank,
    text_problem,
)
from karat.settings import check_count
from karat.storage.output import as_path
from karat.text.segments import map_file
from karat.text.trees import Tree, Trees

MAX_WORDS = 1000
"""Maximal number of words of a sentence."""

SPACE = "␣"
"""Replacement for a space within a word, where spaces separate words."""
SPACES = re.compile(r"\s")

INPUTS = ("words", "all", "lemmas")
"""Kinds of input: the word of a node alone; its word, tag (UPOS) and relation; its lemma, both tags
(UPOS, XPOS), features and relation."""
PART_OF_WORD = "goeswith"
"""Relation of the second part of a split word; its head has the lemma of the whole."""


class WordOrder(NamedTuple):
    """An order of the nodes of a tree, and the model's log score."""

    nodes: tuple[int, ...]
    score: float


Orders = list[list[WordOrder]]
"""The best orders of every tree."""


@dataclass(frozen=True, eq=False)
class InputTrees(FlatTrees):
    """Trees: tree i has the nodes `offsets[i]` to `offsets[i + 1]` of every column.

    `heads` count from 0 within the tree, -1 for the root, and `heads[j] < j`. `tags` and
    `relations` are empty strings if only words are given. `places` are the positions of nodes in
    their sentences; models must not use them. For lemmas, `words` are the lower-cased lemmas, and
    `fine` (XPOS), `features` and `lemmas` (in their original case) are given; otherwise these are
    empty lists. Without `has_word_order`, the trees have no sentences, and `places` is meaningless.
    """

    name: str
    inputs: str
    words: list[str]
    tags: list[str]
    relations: list[str]
    heads: NDArray[np.int32]
    offsets: Ints
    places: NDArray[np.int32]
    ids: list[str]
    fine: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    has_word_order: bool = True

    def __repr__(self) -> str:
        return f"<InputTrees {self.name}: {len(self):,} trees, {len(self.words):,} nodes>"

    def slice(self, i: int) -> slice:
        """Return the slice of tree i in the columns."""
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))

    def mothers(self) -> Ints:
        """Return the position of every node's head in the columns, -1 for roots."""
        places: Ints = np.where(self.heads < 0, -1, self.starts + self.heads)
        return places

    def mother(self, node: int) -> int | None:
        """Return the head of a node of the only tree; None for the root."""
        return int(self.heads[node]) if self.heads[node] >= 0 else None

    def select(self, chosen: Sequence[int]) -> InputTrees:
        """Return some of the trees, in the given order."""
        parts = [np.arange(self.offsets[i], self.offsets[i + 1]) for i in chosen]
        nodes = np.concatenate(parts or [np.arange(0)])
        columns: dict[str, Any] = {name: getattr(self, name) for name in _COLUMNS}
        for name, column in columns.items():
            columns[name] = [column[j] for j in nodes.tolist()] if column else column
        return replace(
            self,
            heads=self.heads[nodes],
            offsets=np.cumsum([0, *map(len, parts)], dtype=np.int64),
            places=self.places[nodes],
            ids=[self.ids[i] for i in chosen],
            **columns,
        )

    def without_spaces(self) -> InputTrees:
        """Return the trees with spaces in words, such as `20 000`, replaced by `SPACE`."""
        return replace(self, words=[SPACES.sub(SPACE, word) for word in self.words])

    def sentence(self, i: int, nodes: Sequence[int]) -> str:
        """Return the words of tree i in a given order."""
        start = int(self.offsets[i])
        return " ".join(self.words[start + j] for j in nodes)

    def sentences(self, orders: Orders) -> list[str]:
        """Return the sentences of all orders of all trees."""
        pairs = ((i, order) for i, tree_orders in enumerate(orders) for order in tree_orders)
        return [self.sentence(i, order.nodes) for i, order in pairs]

    def reference(self, i: int) -> tuple[int, ...]:
        """Return the nodes of tree i in the order of the treebank."""
        return tuple(np.argsort(self.places[self.slice(i)], kind="stable").tolist())

    def reference_sentences(self) -> list[str]:
        """Return the sentences of the treebank."""
        return [self.sentence(i, self.reference(i)) for i in range(len(self))]

    def references(self) -> Trees:
        """Return the trees in the word order of the treebank, for metrics."""
        trees = []
        for i, tree_id in enumerate(self.ids):
            nodes, part = self.reference(i), self.slice(i)
            rank = {node: place for place, node in enumerate(nodes, 1)}
            heads, words = self.heads[part].tolist(), self.words[part]
            reference_heads = tuple(rank.get(heads[node], 0) for node in nodes)
            trees.append(Tree(tuple(words[node] for node in nodes), reference_heads, tree_id))
        return Trees(trees)


_COLUMNS = ("words", "tags", "relations", "fine", "features", "lemmas")


class Realizer(Protocol):
    """Interface of the paper's models and the ordering model."""

    @property
    def name(self) -> str:
        """Name in reports."""

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = ...) -> Orders:
        """Return up to k orders of every tree, the best first."""


def input_trees(treebank: Treebank, inputs: str = "words", *, lower: bool = True) -> InputTrees:
    """Return the sentences of a treebank as unordered trees."""
    check_inputs(inputs)
    check_lengths(treebank)
    return unordered_trees(treebank, inputs, lower=lower)


def unordered_trees(treebank: Treebank, inputs: str, *, lower: bool = True) -> InputTrees:
    """Return the sentences of a treebank as unordered trees, of any length."""
    texts = treebank.lemmas if inputs == "lemmas" else treebank.words
    words, blank = [word.lower() for word in texts] if lower else list(texts), [""] * len(texts)
    contents = {"words": words, "tags": blank, "relations": blank}  # what nodes are sorted by
    if inputs != "words":
        contents |= {"tags": treebank.upos, "relations": treebank.relations}
    if inputs == "lemmas":
        contents |= {"fine": treebank.xpos, "features": treebank.features}
    keys = number_contents(list(zip(*contents.values(), strict=True)))
    starts, heads = treebank.starts, treebank.heads - 1
    order = _kernel.canonical_order(keys, heads, treebank.offsets)
    nodes = order + starts
    moved = np.empty(len(words), dtype=np.int32)
    moved[nodes] = np.arange(len(words)) - starts
    mothers = heads[nodes]
    above = np.where(mothers < 0, -1, moved[starts + np.maximum(mothers, 0)]).astype(np.int32)
    if inputs == "lemmas":  # nodes are not sorted by the case of lemmas
        contents["lemmas"] = treebank.lemmas
    columns: dict[str, Any] = {
        name: [column[j] for j in nodes.tolist()] for name, column in contents.items()
    }
    return InputTrees(
        treebank.name,
        inputs,
        heads=above,
        offsets=treebank.offsets,
        places=order,
        ids=treebank.ids,
        has_word_order=treebank.has_word_order,
        **columns,
    )


def number_contents(contents: Sequence[Any]) -> NDArray[np.int32]:
    """Return the rank of every node's content among the distinct contents."""
    number = {content: i for i, content in enumerate(sorted(set(contents)))}
    return np.array([number[content] for content in contents], dtype=np.int32)


def check_inputs(inputs: str, allowed: Sequence[str] = INPUTS) -> None:
    """Raise if a kind of input is unknown."""
    if inputs not in allowed:
        raise InputError(f"inputs={quoted(inputs)}: expected one of {', '.join(allowed)}")


def check_lengths(treebank: Treebank) -> None:
    """Raise if a sentence is too long: time is quadratic in the size of a treelet."""
    lengths = np.diff(treebank.offsets)
    if (lengths > MAX_WORDS).any():
        first = int((lengths > MAX_WORDS).argmax())
        raise InputError(
            f"{treebank.place(first)}: {lengths[first]:,} words: expected at most {MAX_WORDS:,} "
            "in a sentence: leave it out, or cut it"
        )


def read_trees(path: str | Path, inputs: str = "words", *, lower: bool = True) -> InputTrees:
    """Read trees from CoNLL-U, the format of the Surface Realization tasks, brackets or JSON.

    Args:
        path: the file.
        inputs: `words`, `all` for words with UPOS tags and relations, or `lemmas` for lemmas with
            UPOS and XPOS tags, features and relations.
        lower: lower-case the words.
    """
    check_inputs(inputs)
    return input_trees(to_inputs(read_input(path), inputs), inputs, lower=lower)


def to_inputs(treebank: Treebank, inputs: str) -> Treebank:
    """Return a treebank as one kind of input; raise if columns of that kind are missing."""
    if inputs != "words":
        check_labels(treebank, inputs)
    if inputs == "lemmas":
        return with_lemmas(treebank)
    check_forms(treebank)
    return treebank


def read_input(path: str | Path) -> Treebank:
    """Read trees in CoNLL-U, brackets or JSON as a treebank.

    Args:
        path: the file.
    """
    resolved = as_path("path", path)
    name = "standard input" if str(path) == "-" else str(path)
    buffer = map_file(resolved, name, NOTATIONS)
    begin = buffer[:SNIFFED_BYTES]
    if is_notation(begin):
        return read_notation(bytes(buffer), name)
    text = begin.decode("utf-8-sig", "replace")
    if len(buffer) < SNIFFED_BYTES and not first_character(text):
        raise InputError(f"{name}: no sentences: expected {NOTATIONS}")
    lines = enumerate(text.split("\n"), 1)
    number, line = next(((n, ln) for n, ln in lines if ln.strip() and ln[0] != "#"), (0, "\t"))
    if "\t" not in line and not line[0].isdigit() and "\ufffd" not in line:
        problem = f"found {quoted(line.rstrip())}, expected {NOTATIONS}"
        raise InputError(f"{name}, line {number}: {problem}")
    treebank = parse_treebank(buffer, name)
    # Reject cells that would break a line of the output, and misspelt Complete=No.
    for column_name, label in _WRITTEN.items():
        column: list[str] = getattr(treebank, column_name)
        problems = {cell: text_problem(cell) for cell in set(column)}
        if column_name == "features":
            problems = {cell: issue or complete_problem(cell) for cell, issue in problems.items()}
        if any(problems.values()):
            j = next(j for j, cell in enumerate(column) if problems[cell])
            finding = f"{label} is {quoted(column[j])}, {problems[column[j]]}"
            raise InputError(f"{treebank.word_place(j)}: {finding}")
    return treebank


_WRITTEN = {
    "words": "form (FORM)",
    "lemmas": "lemma (LEMMA)",
    "upos": "tag (UPOS)",
    "xpos": "tag (XPOS)",
    "relations": "relation (DEPREL)",
    "features": "features (FEATS)",
}


def with_lemmas(treebank: Treebank) -> Treebank:
    """Return the sentences without parts of split words; raise if a word has no lemma."""
    check_lemmas(treebank)
    lacking, part = without_lemma(treebank)
    if lacking.any():
        raise InputError(
            f"{treebank.word_place(int(lacking.argmax()))}: no lemma: give it in the third column, "
            f"or give --inputs words or all"
        )
    return treebank.keep(~part)


def without_lemma(treebank: Treebank) -> tuple[Flags, Flags]:
    """Return which words lack a lemma, and which need none because they are parts of words."""
    lacks_lemma = np.array([lemma in ("", MISSING) for lemma in treebank.lemmas])
    is_part = np.array([relation == PART_OF_WORD for relation in treebank.relations])
    is_head = np.zeros(len(lacks_lemma), dtype=bool)
    is_head[treebank.mothers[treebank.heads > 0]] = True
    part = lacks_lemma & is_part & ~is_head & (treebank.heads > 0)  # never the root
    return lacks_lemma & ~part, part


def check_lemmas(treebank: Treebank) -> None:
    """Raise if a treebank has no lemmas."""
    if not set(treebank.lemmas) - {"", MISSING}:
        raise InputError(f"{treebank.name}: no lemmas (LEMMA): give --inputs words or all")


def check_labels(treebank: Treebank, inputs: str = "all") -> None:
    """Raise if a treebank has no tags or relations: a model would use blanks as labels."""
    expected = [(treebank.upos, "tags (UPOS)"), (treebank.relations, "relations")]
    for column, label in expected[1:] if inputs == "relations" else expected:
        if set(column) - {"", MISSING}:
            continue
        if inputs == "lemmas":
            problem = f"no {label}: --inputs lemmas needs them, give one for every word"
            raise InputError(f"{treebank.place(0)}: {problem}")
        raise InputError(f"{treebank.name}: no {label}: give --inputs words")


MAX_BEST = 1000
"""Maximal number of sentences, assignments or orders of a tree."""

REALIZERS = ("fergus", "ordering")
"""Realizers that can write a sentence: the paper's, and the ordering model."""

_EXPECTED = {
    "model": "a model, as open_realizer returns it",
    "trees": "trees, as read_trees returns them",
    "treebank": "a treebank, as read_treebank returns it",
}


def check_type(name: str, value: object, *kinds: type) -> None:
    """Raise if a model, trees or a treebank has another type, such as a path."""
    if not isinstance(value, kinds):
        raise InputError(f"{name}={quoted(value)}: expected {_EXPECTED[name]}")


def check_best(name: str, value: int) -> None:
    """Raise if a number of sentences is out of range."""
    check_count(name, value, 1)
    if value > MAX_BEST:
        raise InputError(f"{name}={quoted(value)}: expected at most {MAX_BEST:,}")


def to_names(name: str, value: Any) -> tuple[str, ...]:
    """Return names that are given as a list, as a comma-separated string, or as None."""
    if value is None or isinstance(value, str):
        return tuple(item.strip() for item in value.split(",")) if value else ()
    names = value if isinstance(value, Iterable) and not isinstance(value, bytes) else [None]
    names = tuple(names)
    if not all(isinstance(item, str) for item in names):
        raise InputError(f"{name}={quoted(value)}: expected a list of names")
    return names


def parse_input_kinds(inputs: str, allowed: Sequence[str]) -> list[str]:
    """Return the kinds of input in a comma-separated list; raise if one is unknown."""
    if not isinstance(inputs, str):
        problem = "expected a string, with commas between names"
        raise InputError(f"inputs={quoted(inputs)}: {problem}")
    names = [name.strip() for name in inputs.split(",")]
    for name in names:
        check_inputs(name, allowed)
    return names
