"""Sentences from lemmas: inflect by the tree, order, inflect by the neighbours, write.

Forms are guessed before the words are ordered, because the ordering model knows forms; those that
depend on neighbours are chosen again when these are known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from karat.arrays import Ints, np
from karat.errors import InputError
from karat.progress import Progress, silent
from karat.realize.inflection.inflection import Inflection, tags_of
from karat.realize.inflection.nodes import Nodes
from karat.realize.inflection.ordered_forms import OrderedForms
from karat.realize.input_trees import InputTrees, Orders

if TYPE_CHECKING:
    from karat.realize.ordering.ordering_model import OrderingModel


@dataclass(frozen=True, eq=False)
class LemmaRealizer:
    """Inflection, and the ordering model that it writes for."""

    name: ClassVar[str] = "inflection, ordering model"
    """Name in reports."""

    inflection: Inflection
    ordering: OrderingModel

    def inflected(self, trees: InputTrees) -> InputTrees:
        """Return the trees with forms, guessed without their order, instead of lemmas."""
        if trees.inputs != "lemmas":
            raise InputError(f"{trees.name}: trees of lemmas are read with inputs='lemmas'")
        return replace(trees, words=self.inflection.inflector.first_forms(nodes_of(trees)))

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = silent) -> Orders:
        """Return the k best orders of every tree, the best first; fewer if fewer were found."""
        return self.ordering.realize(self.inflected(trees), k, progress=progress)

    def forms(self, trees: InputTrees, orders: Orders) -> OrderedForms:
        """Return the forms of all orders of all trees, neighbours considered."""
        return ordered_forms(self.inflection, trees, nodes_of(trees), orders)


def nodes_of(trees: InputTrees) -> Nodes:
    """Return the nodes of trees of lemmas."""
    columns = trees.words, trees.tags, trees.fine, trees.features
    return Nodes.of(columns, trees.relations, trees.mothers(), trees.offsets)


def ordered_forms(
    inflection: Inflection, trees: InputTrees, nodes: Nodes, orders: Orders
) -> OrderedForms:
    """Return the forms of all orders of trees of lemmas, neighbours considered."""
    order, cuts = _in_order(trees, orders)
    found = inflection.inflector.forms_in_order(nodes, order, cuts)
    tags, listed = tags_of(trees.tags, trees.fine), order.tolist()
    lemmas = [trees.lemmas[j] for j in listed]
    return OrderedForms(order, cuts, found, lemmas, [tags[j] for j in listed])


def _in_order(trees: InputTrees, orders: Orders) -> tuple[Ints, Ints]:
    """Return the nodes of all orders of all trees, and where each order begins."""
    parts = [
        np.array(order.nodes, dtype=np.int64) + start
        for start, few in zip(trees.offsets.tolist(), orders, strict=False)
        for order in few
    ]
    return np.concatenate(parts), np.cumsum([0, *map(len, parts)], dtype=np.int64)
