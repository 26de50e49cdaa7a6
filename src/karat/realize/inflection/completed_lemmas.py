"""Completed trees as trees of lemmas: words of the input have theirs, inserted words get some.

An inserted word is a form with a tag. If its lemma is sure, its form is chosen again with those of
its neighbours: `a` or `an`, `de` or `d'`. Else it stays as it is, and so do marks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from karat.realize.completion.insertion import InsertedTrees, Place
from karat.realize.completion.slots import CLASSES
from karat.realize.inflection.form_table import Cell, FormTable
from karat.realize.inflection.inflection import Inflection
from karat.realize.inflection.lemma_realizer import nodes_of, ordered_forms
from karat.realize.inflection.nodes import Nodes
from karat.realize.inflection.ordered_forms import OrderedForms
from karat.realize.inflection.typography import plain
from karat.realize.input_trees import InputTrees, Orders
from karat.realize.treebank import Treebank


class _Word(NamedTuple):
    """A node as a tree of lemmas has it; `lemma` is as it is written."""

    lemma: str
    fine: str
    features: str


@dataclass(frozen=True, eq=False)
class CompletedLemmas:
    """Trees of lemmas with inserted words, and their nodes, some of which have known forms."""

    trees: InputTrees
    nodes: Nodes

    def forms(self, inflection: Inflection, orders: Orders) -> OrderedForms:
        """Return the forms of all orders of all trees, neighbours considered."""
        return ordered_forms(inflection, self.trees, self.nodes, orders)


def completed_lemmas(
    inserted: InsertedTrees, treebank: Treebank, table: FormTable
) -> CompletedLemmas:
    """Return completed trees as trees of lemmas.

    Args:
        inserted: trees that were made of `treebank`.
        treebank: content words with their lemmas.
        table: forms of all lemmas.
    """
    trees, words, known = inserted.trees, list[_Word](), dict[int, str]()
    for node, source in enumerate(inserted.sources.tolist()):
        if source >= 0:
            words.append(_given(treebank, source))
            continue
        form, tag = plain(trees.words[node]), trees.tags[node]
        cell = None if _is_mark(inserted.places[node]) else table.cell_of(form, tag)
        if cell is None:
            known[node] = form
            words.append(_Word(form, table.usual_tags(form, tag).partition(" ")[2], ""))
        else:
            words.append(_of_cell(cell))
    lemmas, fine, features = map(list, zip(*words, strict=True))
    lowered = [lemma.lower() for lemma in lemmas]
    made = replace(
        trees, inputs="lemmas", words=lowered, fine=fine, features=features, lemmas=lemmas
    )
    return CompletedLemmas(made, replace(nodes_of(made), known=known))


def _is_mark(place: Place | None) -> bool:
    return place is not None and place.slot[0] in CLASSES["punctuation"]


def _given(treebank: Treebank, j: int) -> _Word:
    return _Word(treebank.lemmas[j], treebank.xpos[j], treebank.features[j])


def _of_cell(cell: Cell) -> _Word:
    return _Word(cell.lemma, cell.xpos, cell.features)
