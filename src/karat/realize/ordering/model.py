"""The ordering model: a log-linear model of the order of every treelet (a head and its daughters).

    P(order | treelet) = exp(w · f(order)) / Σ exp(w · f(other)),  over the k best orders

The features f tell which daughters stand before the head (side), which of two daughters on one side
comes first (pair), which items are neighbours, which three stand in a row (triple), which two stand
on both sides of the head (across), and how all stand (order): their words, tags, relations, sizes,
and the words that their subtrees begin and end with. For these the tree is
ordered bottom-up; of each subtree a few orders are kept for the treelet above to choose from. The
log-probability of an n-gram language model, times a weight, is added
(csrc/realize/ordering/model.hpp).

Given words alone, the model first guesses tags and relations (`karat.realize.ordering.labelling`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat import __version__, _kernel
from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.fergus.lp_chooser import lm_words
from karat.realize.input_trees import INPUTS, InputTrees, Order
from karat.realize.ordering.labelling import Labeller
from karat.realize.ordering.symbols import Columns, columns_of
from karat.realize.ordering.weight_bytes import from_bytes, to_bytes
from karat.realize.treebank import Treebank
from karat.schema import anything, check_fields, named, number, record, text
from karat.schema import listed as list_of
from karat.schema import whole as whole_number
from karat.store import Store, damaged, read_store, with_prefix, without_prefix, write_store

KIND, VERSION = "word-order model", 4
GROUPS = ("side", "pair", "neighbour", "triple", "across", "order")
"""The kinds of features, in the order of the kernel's."""
BEAM, ALTERNATIVES = 64, 8
"""How wide the search is, and how many orders of a subtree are kept; training has less."""
BLOCK = 64  # weights that share an exponent when they are stored
RUN = 256  # trees between two reports of progress

_LABELS = record({"pass": whole_number(0, 9), "kind": text, "names": list_of(text, 1)})
_ABOUT = record(
    {
        "inputs": text,
        "lm_weight": number(-1e6, 1e6),
        "labels": list_of(_LABELS),
        "trained": named(anything),
    }
)
"""The description of a model, beside that of its language model."""

Path = str | os.PathLike[str]


class TreeletParts(NamedTuple):
    """A treelet in the order it was given: its words, the head's place, what each group adds."""

    words: tuple[str, ...]
    head: int
    parts: dict[str, float]

    @property
    def score(self) -> float:
        """w · f of the order."""
        return sum(self.parts.values())


@dataclass(frozen=True, eq=False)
class OrderingModel:
    """Weights, a labeller, and a language model with its weight."""

    inputs: str
    weights: NDArray[np.float32]
    labeller: Labeller
    language_model: LanguageModel
    lm_weight: float
    trained: Mapping[str, Any]
    """On what: the treebank's name, its sentences, the seed."""

    @property
    def name(self) -> str:
        """What reports call it."""
        return "ordering model"

    @classmethod
    def train(
        cls,
        treebank: Treebank,
        inputs: str = "words",
        *,
        seed: int = 1,
        progress: Progress = silent,
    ) -> OrderingModel:
        """Train on a treebank; `inputs` says what will be known of a node: words, or all."""
        from karat.realize.ordering.training import train_ordering

        return train_ordering(treebank, inputs, seed=seed, progress=progress)

    # ------------------------------------------------------------------------------ on disk

    def save(self, path: Path) -> None:
        """Write the model; what is stored is what is used, so nothing changes by it."""
        write_store(path, KIND, VERSION, *self.parts())

    @classmethod
    def open(cls, path: Path) -> OrderingModel:
        """Open a model that `save` wrote."""
        return cls.stored(read_store(path, KIND, VERSION))

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What is stored: a text about the model, and its arrays."""
        about = {
            "inputs": self.inputs,
            "lm_weight": self.lm_weight,
            "labels": self.labeller.about(),
            "language_model": self.language_model.about,
            "karat": __version__,
            "trained": dict(self.trained),
        }
        weights, exponents = to_bytes(self.weights, BLOCK)
        arrays = {"weights": weights, "exponents": exponents, **self.labeller.arrays()}
        return about, arrays | with_prefix("lm_", self.language_model.arrays)

    @classmethod
    def stored(cls, store: Store) -> OrderingModel:
        """The model in a store that has its parts."""
        said, arrays = store.about, store.arrays
        try:
            check_fields(said, _ABOUT)
            check_inputs(said["inputs"])
            found = _power_of_two(store.array("weights", "int8"))
            weights = from_bytes(found, store.array("exponents", "int8"), BLOCK)
            labeller = Labeller.stored(said["labels"], arrays)
            model = LanguageModel(said["language_model"], without_prefix("lm_", arrays), store.name)
            model.check_finite(store.name)
            weight, trained = float(said["lm_weight"]), dict(said["trained"])
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(store.name, str(error)) from error
        return cls(said["inputs"], weights, labeller, model, weight, trained)

    # ------------------------------------------------------------------------------ applied

    def realize(
        self, trees: InputTrees, k: int = 1, *, progress: Progress = silent
    ) -> list[list[Order]]:
        """For every tree its k best orders, the best first; fewer if fewer were found."""
        if k < 1:
            raise InputError(f"k={k}: expected at least 1")
        found: list[list[Order]] = []
        for begin in range(0, len(trees), RUN):
            progress(begin, len(trees), "ordering")
            found += self._run(trees.choose(range(begin, min(begin + RUN, len(trees)))), k)
        progress(len(trees), len(trees), "ordering")
        return found

    def _run(self, trees: InputTrees, k: int) -> list[list[Order]]:
        """The orders of a run of trees, which are labelled first."""
        columns, words = self._columns(trees), lm_words(self.language_model, trees)
        counts, scores, nodes = _kernel.order_trees(
            self.weights,
            columns.kernel,
            0,
            len(trees),
            k,
            BEAM,
            ALTERNATIVES,
            self.language_model.kernel if self.lm_weight else None,
            words,
            self.lm_weight,
        )
        sizes = np.repeat(np.diff(columns.offsets), counts)
        stops = np.cumsum(sizes).tolist()
        listed = nodes.tolist()
        orders = [
            Order(tuple(listed[stop - size : stop]), score)
            for size, stop, score in zip(sizes.tolist(), stops, scores.tolist(), strict=True)
        ]
        ends = np.cumsum(counts).tolist()
        return [orders[e - c : e] for e, c in zip(ends, counts.tolist(), strict=True)]

    def explain(self, trees: InputTrees, i: int, order: Order) -> list[TreeletParts]:
        """What each group of features adds to an order of tree i, treelet by treelet."""
        one = trees.choose([i])
        places = np.empty(len(order.nodes), dtype=np.int32)
        places[list(order.nodes)] = np.arange(len(order.nodes))
        columns = self._columns(one)
        heads, parts = _kernel.explain_order(self.weights, columns.kernel, 0, places)
        return [
            _treelet_parts(one, int(head), places, row)
            for head, row in zip(heads[::-1], parts[::-1].tolist(), strict=True)
        ]

    def _columns(self, trees: InputTrees) -> Columns:
        """The trees as the model sees them: labelled where it is given words alone."""
        if self.inputs == "all" and trees.inputs != "all":
            raise InputError(
                f"{trees.name}: this model was trained on words with tags and relations, "
                f"and the trees have only words: read them with inputs='all'"
            )
        columns = columns_of(trees)
        return self.labeller.label(columns if self.inputs == "all" else columns.blank())


def _treelet_parts(
    tree: InputTrees, head: int, places: NDArray[np.int32], row: list[float]
) -> TreeletParts:
    items = sorted([head, *np.flatnonzero(tree.heads == head).tolist()], key=lambda j: places[j])
    words = tuple(tree.words[j] for j in items)
    return TreeletParts(words, items.index(head), dict(zip(GROUPS, row, strict=True)))


def _power_of_two(weights: NDArray[Any]) -> NDArray[Any]:
    if len(weights) < 2 or len(weights) & (len(weights) - 1):
        raise ValueError(f"{len(weights)} weights, expected a power of two")
    return weights


def check_inputs(inputs: str) -> None:
    """What may be known of a node."""
    if inputs not in INPUTS:
        raise InputError(f"inputs={quoted(inputs)}: expected one of {', '.join(INPUTS)}")
