"""Insertion: content words with filled slots become trees that a realiser can order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from karat.arrays import Ints, np
from karat.realize.completion.content import ContentTrees
from karat.realize.completion.slots import SLOTS, Filling, Item
from karat.realize.input_trees import InputTrees, unordered_trees
from karat.realize.treebank import Treebank

Slot = tuple[str, int]
"""A slot and the content word that has it."""


class Place(NamedTuple):
    """The place of a word in a slot: the number of its item, and its own within the item."""

    slot: Slot
    item: int
    part: int


class Node(NamedTuple):
    """A word of a completed tree.

    `head` counts from 1 within the tree, 0 is the root's. `place` is None for content words.
    `source` is the word's place in the treebank's columns, -1 if it was inserted.
    """

    word: str
    tag: str
    relation: str
    head: int
    place: Place | None
    source: int


@dataclass(frozen=True, eq=False)
class InsertedTrees:
    """Trees with the words of their slots.

    `places` has the place of each word in a slot, None for content words; `sources` where words
    of the input stood in the treebank's columns, -1 for inserted ones.
    """

    trees: InputTrees
    places: list[Place | None]
    sources: Ints


def completed(trees: ContentTrees, fillings: Mapping[str, list[Filling]]) -> InsertedTrees:
    """Return the trees with the words of their slots as daughters of the words that have them.

    They may be longer than an input may be.
    """
    nodes, offsets = _all_nodes(trees, fillings)
    rows = ((one.word, "", one.tag, "", one.relation, "") for one in nodes)
    bank = Treebank.of_rows(trees.name, rows, [one.head for one in nodes], offsets, trees.ids)
    found = unordered_trees(bank, "all")
    starts = np.repeat(found.offsets[:-1], np.diff(found.offsets))
    moved = [nodes[j] for j in (starts + found.places).tolist()]
    sources = np.array([one.source for one in moved], dtype=np.int64)
    return InsertedTrees(found, [one.place for one in moved], sources)


def as_given(trees: ContentTrees, treebank: Treebank) -> Treebank:
    """Return content words with what is in their slots, as a person would write the trees.

    The content words of a sentence come first, in the order of `trees`, which were made of
    `treebank`.
    """
    nodes, offsets = _all_nodes(trees, trees.fillings)
    lemmas, fine = treebank.lemmas, treebank.xpos
    features = dict(zip(trees.places.tolist(), trees.features, strict=True))
    rows = (
        (word, lemmas[j], tag, fine[j], relation, features.get(j, treebank.features[j]))
        for word, tag, relation, _, _, j in nodes
    )
    return Treebank.of_rows(trees.name, rows, [one.head for one in nodes], offsets, trees.ids)


def _all_nodes(
    trees: ContentTrees, fillings: Mapping[str, list[Filling]]
) -> tuple[list[Node], list[int]]:
    """Return the words of all trees, and where each tree begins."""
    nodes: list[Node] = []
    offsets = [0]
    for start, end in pairwise(trees.offsets.tolist()):
        nodes += _tree(trees, fillings, start, end)
        offsets.append(len(nodes))
    return nodes, offsets


def _tree(
    trees: ContentTrees, fillings: Mapping[str, list[Filling]], start: int, end: int
) -> list[Node]:
    """Return one tree's content words, then all that is in their slots."""
    heads = [int(head) - start + 1 if head >= 0 else 0 for head in trees.heads[start:end]]
    nodes = [
        Node(trees.words[j], trees.tags[j], trees.relations[j], head, None, int(trees.places[j]))
        for j, head in enumerate(heads, start)
    ]
    for slot in SLOTS:
        for j in range(start, end):
            for item, words in enumerate(fillings[slot][j]):
                # What the input has in a slot is not changed.
                sources = trees.sources[slot][j][item] if trees.sources[slot][j] else ()
                nodes += _item(words, (slot, j), item, (j - start + 1, len(nodes) + 1), sources)
    return nodes


def _item(
    words: Item, slot: Slot, item: int, heads: tuple[int, int], sources: tuple[int, ...]
) -> Iterator[Node]:
    """Yield the words of an item in a slot; `heads` are those of its first word and of others."""
    for part, one in enumerate(words):
        place, source = Place(slot, item, part), sources[part] if sources else -1
        yield Node(one.word, one.tag, one.relation, heads[part > 0], place, source)
