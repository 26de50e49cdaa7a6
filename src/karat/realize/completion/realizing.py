"""Content words to sentences: slots are filled, trees ordered, slots decided again and ordered.

The first order has the widest likely filling of every slot; it tells where words would stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from karat.realize.completion.candidates import widest
from karat.realize.completion.completer import Choice, CompletedTrees, Completer
from karat.realize.completion.content import ContentTrees
from karat.realize.completion.insertion import InsertedTrees, Slot, completed
from karat.realize.completion.rescoring import WEIGHTS, FillingScore, rescored
from karat.realize.completion.slots import Filling
from karat.realize.input_trees import Orders, Realizer

if TYPE_CHECKING:
    from karat.lm.model import LanguageModel

Fillings = Mapping[str, list[Filling]]


class ContentOrderer(Realizer, Protocol):
    """A realizer that can order completed trees: FERGUS or the ordering model."""

    @property
    def language_model(self) -> LanguageModel:
        """The language model that helps to decide what fills a slot."""


@dataclass(frozen=True, eq=False)
class RealizedContent:
    """Trees with the words that were inserted, their best orders, and what is in every slot."""

    inserted: InsertedTrees
    orders: Orders
    fillings: Fillings
    choices: tuple[Choice, ...]
    wide: InsertedTrees
    """The trees with the widest likely fillings."""
    wide_orders: Orders
    scores: Mapping[Slot, Mapping[Filling, FillingScore]]
    """Slots that were decided by more than their classifier: scores of what was tried."""


def realize_content(
    completer: Completer,
    orderer: ContentOrderer,
    content: ContentTrees,
    slots: Sequence[str],
    k: int = 1,
) -> RealizedContent:
    """Insert words into slots, and return the k best orders of every tree.

    Features and candidates of all trees are held at once: give it blocks of trees.
    """
    found = completer.complete(content, slots)
    fillings = _changed(found, {(one.slot, one.node): widest(one) for one in found.choices})
    wide = completed(found.trees, fillings)
    wide_orders = orderer.realize(wide.trees)
    models = orderer.language_model, completer.classes, WEIGHTS[completer.inputs]
    best = rescored(wide, wide_orders, found.choices, fillings, *models)
    fillings = _changed(found, best.best, fillings)
    inserted = completed(found.trees, fillings)
    orders = orderer.realize(inserted.trees, k)
    return RealizedContent(
        inserted, orders, fillings, found.choices, wide, wide_orders, best.scores
    )


def _changed(
    found: CompletedTrees, best: Mapping[tuple[str, int], Filling], of: Fillings | None = None
) -> Fillings:
    """Return fillings with others in some slots."""
    filled = {slot: list(column) for slot, column in (of or found.fillings).items()}
    for (slot, j), filling in best.items():
        filled[slot][j] = filling
    return filled
