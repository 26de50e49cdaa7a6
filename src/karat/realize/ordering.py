"""The ordering model: a log-linear model of the order of every treelet (a head and its daughters).

    P(order | treelet) = exp(w · f(order)) / Σ exp(w · f(other)),  over the k best orders

The features f describe which daughters precede the head (side), which of two daughters on one side
comes first (pair), which items are neighbours, three items in a row (triple), two items on
different sides of the head (across), and the whole order: their words, tags, relations, sizes,
and the words that their subtrees begin and end with. The tree is ordered bottom-up; of each subtree
a few orders are kept for the treelet above to choose from. The log-probability of an n-gram
language model, times a weight, is added (csrc/realize/ordering/model.hpp). Given words alone, the
model first guesses tags and relations (`labelling`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, ClassVar, NamedTuple

from karat import __version__, _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.fergus import lm_words, order_in_batches, to_orders, train_lm
from karat.realize.input_trees import InputTrees, Orders, WordOrder, check_inputs, input_trees
from karat.realize.labelling import FOLDS, Gold, Labeller, jackknife
from karat.realize.symbols import (
    NodeColumns,
    check_power_of_two,
    fine_symbols,
    from_bytes,
    to_bytes,
    to_columns,
)
from karat.realize.treebank import Treebank
from karat.storage import schema
from karat.storage.store import ModelStore, damaged, with_prefix, without_prefix

BEAM, ALTERNATIVES = 64, 8
"""Width of the search, and number of orders kept for a subtree; training uses less."""
BLOCK = 64  # stored weights that share an exponent
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
"""Schema of a model's description, without its language model."""


class TreeletScores(NamedTuple):
    """An ordered treelet, its head in brackets, and the contribution of each group of features.

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
    """Training data and seed."""

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored model: its description and its arrays."""
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
    def from_store(cls, store: ModelStore) -> OrderingModel:
        """Return the model of a store."""
        description, arrays = store.about, store.arrays
        try:
            schema.check_fields(description, _ABOUT)
            check_inputs(description["inputs"])
            levels = store.array("weights", "int8")
            check_power_of_two(len(levels), "weights")
            weights = from_bytes(levels, store.array("exponents", "int8"), BLOCK)
            labeller = Labeller.from_arrays(description["labels"], arrays)
            model = LanguageModel(
                description["language_model"], without_prefix("lm_", arrays), store.name
            )
            model.check_finite(store.name)
            weight, trained = float(description["lm_weight"]), dict(description["trained"])
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(store.name, str(error)) from error
        return cls(description["inputs"], weights, labeller, model, weight, trained)

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = silent) -> Orders:
        """Return the k best orders of every tree, the best first; fewer if fewer were found."""
        if k < 1:
            raise InputError(f"k={k}: expected at least 1")

        def order(batch: InputTrees) -> Orders:
            columns, words = (
                self.labelled_columns(batch).kernel,
                lm_words(self.language_model, batch),
            )
            model = self.language_model.kernel if self.lm_weight else None
            search = k, BEAM, ALTERNATIVES, model, words, self.lm_weight
            ordered = _kernel.order_trees(self.weights, columns, 0, len(batch), *search)
            counts, scores, nodes = ordered
            return to_orders(batch, nodes, scores, np.append(0, np.cumsum(counts)))

        return order_in_batches(order, trees, BATCH, progress)

    def explain(self, trees: InputTrees, i: int, order: WordOrder) -> list[TreeletScores]:
        """Return what each group of features contributes to the treelets of an order of tree i."""
        single = trees.select([i])
        places = np.empty(len(order.nodes), dtype=np.int32)
        places[list(order.nodes)] = np.arange(len(order.nodes))
        heads, parts = _kernel.explain_order(
            self.weights, self.labelled_columns(single).kernel, 0, places
        )
        treelet_scores = []
        for head, row in zip(heads[::-1].tolist(), parts[::-1].tolist(), strict=True):
            items = [head, *np.flatnonzero(single.heads == head).tolist()]
            words = {j: f"[{single.words[j]}]" if j == head else single.words[j] for j in items}
            treelet = " ".join(words[j] for j in sorted(items, key=lambda j: places[j]))
            treelet_scores.append(TreeletScores._make((treelet, *row, sum(row))))
        return treelet_scores

    def labelled_columns(self, trees: InputTrees) -> NodeColumns:
        """Return the columns of trees; missing labels are predicted."""
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
        columns = to_columns(trees)
        return self.labeller.label(columns.blank() if self.inputs == "words" else columns)


SCALE_BEST, SCALE_BEAM, SCALE_ALTERNATIVES = 8, 32, 4
"""Number of orders of a sentence to compare, and limits of their search."""
SCALE_EPOCHS, SCALE_RATE, SCALE_DAMPING, SCALE_DECAY = 6, 0.1, 10.0, 0.001
SCALE_TREE_STEP = 2  # use every second unseen tree, to save time
SCALE_PARTS = 4  # parts of the trees, for reports of progress


def mean_scales(additions: Sequence[NDArray[np.float32]]) -> tuple[NDArray[np.float32], float]:
    """Return a factor for each class of features, and one for the language model.

        scale(feature) = 1 + a(template) + b(frequency of the feature in the treebank's orders)

    Classes are those of `_kernel.feature_classes`. Weights overfit their training trees, so some
    templates and frequent features seem better than they are. A model of half of the treebank
    orders the other half; a, b and the scale of the language model maximise the probability of the
    treebank's orders against the other best orders (csrc/realize/ordering/scales.hpp).

    `additions` are a, b and the addition of the language model, by several models, whose mean is
    used. Without any, all scales are 1.
    """
    none = np.zeros((1, _kernel.TEMPLATES + _kernel.FREQUENCIES + 1), dtype=np.float32)
    mean = (np.stack(additions) if additions else none).mean(axis=0, dtype=np.float64)
    templates, frequencies = np.split(mean[:-1], [_kernel.TEMPLATES])
    classes = 1 + templates[:, None] + frequencies[None, :]
    return classes.astype(np.float32).ravel(), 1 + float(mean[-1])


def learn_scales(
    columns: NodeColumns, trees: InputTrees, is_seen: Flags, seed: int, step: Report
) -> NDArray[np.float32]:
    """Return the additions to 1, learned by a model of some trees that orders the others."""
    seen_trees, unseen_trees = np.flatnonzero(is_seen), np.flatnonzero(~is_seen)
    weights = train_weights(columns, trees.places, seen_trees, seed, step)
    model = train_lm(trees.select(seen_trees.tolist()), LM_ORDER)
    bits = len(weights).bit_length() - 1
    classes = _kernel.feature_classes(columns.kernel, trees.places, seen_trees, bits)
    trainer, words = _kernel.ScaleTrainer(weights, classes), lm_words(model, trees)
    search = SCALE_BEST, SCALE_BEAM, SCALE_ALTERNATIVES, model.kernel, words, LM_WEIGHT
    for part in np.array_split(unseen_trees[::SCALE_TREE_STEP], SCALE_PARTS):
        step("scales of features")
        trainer.see(columns.kernel, trees.places, np.ascontiguousarray(part), *search)
    return trainer.fit(SCALE_EPOCHS, SCALE_RATE, SCALE_DAMPING, SCALE_DECAY, seed)


BITS = 24
TRAINING_BEAM, TRAINING_ALTERNATIVES = 32, 3
EPOCHS = 4
PARTS = 4  # parts of an epoch, for reports of progress
REMEMBERED = 3  # last epochs whose weights are averaged
RATE, DROPOUT, DAMPING = 0.05, 0.5, 1.0
HIDDEN = 1.0
"""A word with count n is hidden with probability HIDDEN / (HIDDEN + n)."""
LM_ORDER, LM_WEIGHT = 3, 0.3
HALVES = 2  # scales are learned from each half of the treebank
MIN_SCALE_SENTENCES = 1000  # no scales are learned from fewer sentences, nor from words alone

Report = Callable[[str], None]


def train_ordering(
    treebank: Treebank,
    inputs: str = "words",
    *,
    seed: int = 1,
    progress: Progress = silent,
) -> OrderingModel:
    """Train an ordering model; the result is determined by the treebank and the seed.

    Rates and the weight of the language model were tuned on held-out documents of EWT's training
    part; experiments/realize_ordering.py repeats the choice of the weight.
    """
    check_inputs(inputs)
    halves = HALVES if inputs != "words" and len(treebank) >= MIN_SCALE_SENTENCES else 0
    labelling_steps = {"words": 2, "all": 1, "lemmas": 0}[inputs] * (FOLDS + 1)
    n_steps = labelling_steps + (1 + halves) * EPOCHS * PARTS + halves * SCALE_PARTS + 1
    steps_done = count()

    def step(description: str) -> None:
        progress(next(steps_done), n_steps, description)

    trees = input_trees(treebank, "all")
    labeller, columns = _label_treebank(treebank, trees, inputs, seed, step)
    is_first = _folds(treebank, 2) == 0
    additions = [
        learn_scales(columns, trees, is_first == bool(half), seed, step) for half in range(halves)
    ]
    class_scales, lm_scale = mean_scales(additions)
    all_trees = np.arange(len(trees), dtype=np.int64)
    weights = train_weights(columns, trees.places, all_trees, seed, step)
    if halves:
        classes = _kernel.feature_classes(columns.kernel, trees.places, all_trees, BITS)
        weights = weights * class_scales[classes]
    step("language model")
    model = train_lm(trees, LM_ORDER)
    name = os.path.basename(treebank.name)
    trained = {"treebank": name, "sentences": len(treebank), "seed": seed}
    # Round as in storage, so that a model does not change when it is saved.
    weights = from_bytes(*to_bytes(weights, BLOCK), BLOCK)
    labeller = Labeller.from_arrays(labeller.about(), labeller.arrays())
    return OrderingModel(inputs, weights, labeller, model, LM_WEIGHT * lm_scale, trained)


def _label_treebank(
    treebank: Treebank, trees: InputTrees, inputs: str, seed: int, step: Report
) -> tuple[Labeller, NodeColumns]:
    """Return a labeller of missing labels, and the trees with predicted labels."""
    columns = to_columns(trees)
    positions = (trees.starts + trees.places).tolist()
    fine = [treebank.xpos[j] for j in positions]
    if inputs == "lemmas":  # all labels are given
        fine_column = fine_symbols(fine, [treebank.features[j] for j in positions])
        return Labeller({}), replace(columns, fine=fine_column)
    gold = {"fine": Gold.of(fine)}
    if inputs == "all":
        return jackknife(columns, gold, _folds(treebank), (1,), seed, step)
    gold |= {"tags": Gold.of(trees.tags), "relations": Gold.of(trees.relations)}
    return jackknife(columns.blank(), gold, _folds(treebank), (0, 1), seed, step)


def _folds(treebank: Treebank, folds: int = FOLDS) -> NDArray[np.int32]:
    """Return the fold of each sentence: by document if there are enough, else alternating."""
    documents = np.unique(treebank.documents)
    if len(documents) >= 2 * folds:
        return treebank.documents % folds
    return (np.arange(len(treebank)) % folds).astype(np.int32)


def train_weights(
    columns: NodeColumns, places: NDArray[np.int32], chosen: Ints, seed: int, step: Report
) -> NDArray[np.float32]:
    """Train the weights of the features; the seed decides the order of the trees."""
    trainer = _kernel.OrderingTrainer(
        BITS, TRAINING_BEAM, TRAINING_ALTERNATIVES, RATE, DROPOUT, DAMPING
    )
    rng = np.random.default_rng(seed)
    # Rare words are hidden more often, since new texts have unknown words.
    distinct, word_number = np.unique(columns.words, return_inverse=True)
    counts = np.bincount(word_number[columns.nodes_of(chosen)], minlength=len(distinct))
    hidden = (HIDDEN / (HIDDEN + counts)).astype(np.float32)[word_number]
    for epoch in range(EPOCHS):
        for part in np.array_split(rng.permutation(len(chosen)), PARTS):
            step(f"ordering, epoch {epoch + 1} of {EPOCHS}")
            trainer.train(columns.kernel, places, hidden, chosen[part], seed * 1000 + epoch)
            if epoch >= EPOCHS - REMEMBERED:
                trainer.remember()
    return trainer.mean()
