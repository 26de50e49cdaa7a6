"""Insertion: content words with filled slots become trees that a realiser can order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from karat.arrays import np
from karat.realize.completion.content import ContentTrees
from karat.realize.completion.slots import SLOTS, Filling
from karat.realize.input_trees import InputTrees, input_trees
from karat.realize.treebank import Treebank

Node = tuple[str, str, str, int]
"""Word, tag, relation, and head within the tree, from 1; 0 is the root's."""
Slot = tuple[str, int]
"""A slot and the content word that has it."""


class Place(NamedTuple):
    """The place of a word in a slot: the number of its item, and its own within the item."""

    slot: Slot
    item: int
    part: int


@dataclass(frozen=True, eq=False)
class InsertedTrees:
    """Trees with the words of their slots; `places` has the place of each such node."""

    trees: InputTrees
    places: list[Place | None]


def completed(trees: ContentTrees, fillings: Mapping[str, list[Filling]]) -> InsertedTrees:
    """Return the trees with the words of their slots as daughters of the words that have them."""
    nodes: list[Node] = []
    places: list[Place | None] = []
    offsets = [0]
    for start, end in zip(trees.offsets[:-1].tolist(), trees.offsets[1:].tolist(), strict=True):
        mine, of_mine = _tree(trees, fillings, start, end)
        nodes += mine
        places += of_mine
        offsets.append(len(nodes))
    rows = ((word, "", tag, "", relation, "") for word, tag, relation, _ in nodes)
    heads = [head for *_, head in nodes]
    bank = Treebank.of_rows(trees.name, rows, heads, offsets, trees.ids)
    found = input_trees(bank, "all")
    starts = np.repeat(found.offsets[:-1], np.diff(found.offsets))
    return InsertedTrees(found, [places[j] for j in (starts + found.places).tolist()])


def _tree(
    trees: ContentTrees, fillings: Mapping[str, list[Filling]], start: int, end: int
) -> tuple[list[Node], list[Place | None]]:
    """Return one tree's content words, then all that is in their slots."""
    heads = [int(head) - start + 1 if head >= 0 else 0 for head in trees.heads[start:end]]
    columns = (trees.words, trees.tags, trees.relations)
    nodes: list[Node] = list(zip(*(column[start:end] for column in columns), heads, strict=True))
    places: list[Place | None] = [None] * len(nodes)
    for slot in SLOTS:
        for j in range(start, end):
            for item, (first, *fixed) in enumerate(fillings[slot][j]):
                nodes.append((first.word, first.tag, first.relation, j - start + 1))
                at = len(nodes)
                nodes += [(one.word, one.tag, one.relation, at) for one in fixed]
                places += [Place((slot, j), item, part) for part in range(1 + len(fixed))]
    return nodes, places
