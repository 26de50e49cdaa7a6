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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from karat import __version__, _kernel
from karat.arrays import NDArray, np
from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.fergus.lp_chooser import as_orders, lm_words, small_batches
from karat.realize.input_trees import InputTrees, Order, Orders, check_inputs
from karat.realize.ordering.labelling import Labeller
from karat.realize.ordering.symbols import NodeColumns, columns_of
from karat.realize.ordering.weight_bytes import check_power_of_two, from_bytes, to_bytes
from karat.realize.treebank import Treebank
from karat.storage import schema
from karat.storage.store import ModelStore, damaged, with_prefix, without_prefix

BEAM, ALTERNATIVES = 64, 8
"""Width of the search, and number of orders kept of a subtree; training has less."""
BLOCK = 64  # weights that share an exponent when they are stored
BATCH = 256  # trees between two reports of progress

_LABELS = {
    "pass": schema.integer(0, 9),
    "kind": schema.text,
    "names": schema.list_of(schema.text, 1),
}
_ABOUT = schema.record(
    {
        "inputs": schema.text,
        "lm_weight": schema.real(-1e6, 1e6),
        "labels": schema.list_of(schema.record(_LABELS)),
        "trained": schema.mapping_of(schema.anything),
    }
)
"""The description of a model, beside that of its language model."""


class TreeletScores(NamedTuple):
    """A treelet in the order chosen, its head in brackets; what each group of features adds.

    The groups are in the kernel's order; their `sum` is w · f of the order.
    """

    treelet: str
    side: float
    pair: float
    neighbour: float
    triple: float
    across: float
    order: float
    sum: float


@dataclass(frozen=True, eq=False)
class OrderingModel:
    """Weights, a labeller, and a language model with its weight."""

    name: ClassVar[str] = "ordering model"
    """Name in reports."""

    inputs: str
    weights: NDArray[np.float32]
    labeller: Labeller
    language_model: LanguageModel
    lm_weight: float
    trained: Mapping[str, Any]
    """On what: the treebank's name, its sentences, the seed."""

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

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored model: its description and its arrays, which are what is used."""
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
    def stored(cls, store: ModelStore) -> OrderingModel:
        """Return the model in a store that has its parts."""
        said, arrays = store.about, store.arrays
        try:
            schema.check_fields(said, _ABOUT)
            check_inputs(said["inputs"])
            found = store.array("weights", "int8")
            check_power_of_two(len(found), "weights")
            weights = from_bytes(found, store.array("exponents", "int8"), BLOCK)
            labeller = Labeller.stored(said["labels"], arrays)
            model = LanguageModel(said["language_model"], without_prefix("lm_", arrays), store.name)
            model.check_finite(store.name)
            weight, trained = float(said["lm_weight"]), dict(said["trained"])
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(store.name, str(error)) from error
        return cls(said["inputs"], weights, labeller, model, weight, trained)

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = silent) -> Orders:
        """Return the k best orders of every tree, the best first; fewer if fewer were found."""
        if k < 1:
            raise InputError(f"k={k}: expected at least 1")
        found: Orders = []
        for part in small_batches(trees, BATCH):
            progress(len(found), len(trees), "ordering")
            found += self._order(part, k)
        progress(len(trees), len(trees), "ordering")
        return found

    def _order(self, trees: InputTrees, k: int) -> Orders:
        """Order a batch of trees, which are labelled first."""
        columns, words = self._columns(trees).kernel, lm_words(self.language_model, trees)
        model = self.language_model.kernel if self.lm_weight else None
        search = k, BEAM, ALTERNATIVES, model, words, self.lm_weight
        found = _kernel.order_trees(self.weights, columns, 0, len(trees), *search)
        counts, scores, nodes = found
        return as_orders(trees, nodes, scores, np.append(0, np.cumsum(counts)))

    def explain(self, trees: InputTrees, i: int, order: Order) -> list[TreeletScores]:
        """Return what each group of features adds to an order of tree i, treelet by treelet."""
        one = trees.choose([i])
        places = np.empty(len(order.nodes), dtype=np.int32)
        places[list(order.nodes)] = np.arange(len(order.nodes))
        heads, parts = _kernel.explain_order(self.weights, self._columns(one).kernel, 0, places)
        found = []
        for head, row in zip(heads[::-1].tolist(), parts[::-1].tolist(), strict=True):
            items = [head, *np.flatnonzero(one.heads == head).tolist()]
            words = {j: f"[{one.words[j]}]" if j == head else one.words[j] for j in items}
            treelet = " ".join(words[j] for j in sorted(items, key=lambda j: places[j]))
            found.append(TreeletScores._make((treelet, *row, sum(row))))
        return found

    def _columns(self, trees: InputTrees) -> NodeColumns:
        """Return the trees as the model sees them: labelled where it is given words alone."""
        if self.inputs == "all" and trees.inputs == "words":
            raise InputError(
                f"{trees.name}: this model was trained on words with tags and relations, "
                f"and the trees have only words: read them with inputs='all'"
            )
        if self.inputs == "lemmas" and trees.inputs != "lemmas":
            raise InputError(
                f"{trees.name}: this model was trained on words with XPOS and features, "
                f"and the trees have none: read them with inputs='lemmas'"
            )
        columns = columns_of(trees)
        return self.labeller.label(columns.blank() if self.inputs == "words" else columns)
