"""The ordering model: a log-linear model of the order of treelets."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from karat import __version__, _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.fergus import as_orders, lm_words, small_batches, train_lm
from karat.realize.input_trees import InputTrees, Order, Orders, check_inputs, input_trees
from karat.realize.labelling import FOLDS, Gold, Labeller, jackknife
from karat.realize.symbols import (
    NodeColumns,
    check_power_of_two,
    columns_of,
    fine_symbols,
    from_bytes,
    to_bytes,
)
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


SCALE_BEST, SCALE_BEAM, SCALE_ALTERNATIVES = 8, 32, 4
"""Number of orders of a sentence that are compared, and limits of their search."""
SCALE_EPOCHS, SCALE_RATE, SCALE_DAMPING, SCALE_DECAY = 6, 0.1, 10.0, 0.001
SCALE_EVERY = 2  # of the trees that were not seen, one in so many, for time
SCALE_PARTS = 4  # of the trees, between two reports of progress


class Scales(NamedTuple):
    """A factor for each class of features (`_kernel.feature_classes`), and the language model's."""

    classes: NDArray[np.float32]
    language_model: float

    @classmethod
    def of(cls, found: NDArray[Any]) -> Scales:
        """Make scales of what the kernel adds to 1: by template, frequency, language model."""
        templates, frequencies = np.split(found[:-1], [_kernel.TEMPLATES])
        classes = 1 + templates[:, None] + frequencies[None, :]
        return cls(classes.astype(np.float32).ravel(), 1 + float(found[-1]))

    def scaled(
        self, weights: NDArray[np.float32], classes: NDArray[np.uint16]
    ) -> NDArray[np.float32]:
        """Return the weights, each times the scale of its class."""
        found: NDArray[np.float32] = weights * self.classes[classes]
        return found


def mean_scales(found: Sequence[NDArray[np.float32]]) -> Scales:
    """Return the mean scales of several models; without any, nothing changes."""
    none = np.zeros((1, _kernel.TEMPLATES + _kernel.FREQUENCIES + 1), dtype=np.float32)
    return Scales.of((np.stack(found) if found else none).mean(axis=0, dtype=np.float64))


def learn_scales(
    weights: NDArray[np.float32],
    columns: NodeColumns,
    trees: InputTrees,
    seen: Ints,
    unseen: Ints,
    model: LanguageModel,
    lm_weight: float,
    seed: int,
    step: Callable[[str], None],
) -> NDArray[np.float32]:
    """Return what is added to 1, for weights and a language model of the trees `seen`."""
    bits = len(weights).bit_length() - 1
    classes = _kernel.feature_classes(columns.kernel, trees.places, seen, bits)
    trainer, words = _kernel.ScaleTrainer(weights, classes), lm_words(model, trees)
    search = (
        SCALE_BEST,
        SCALE_BEAM,
        SCALE_ALTERNATIVES,
        model.kernel if lm_weight else None,
        words,
        lm_weight,
    )
    for part in np.array_split(unseen[::SCALE_EVERY], SCALE_PARTS):
        step("scales of features")
        trainer.see(columns.kernel, trees.places, np.ascontiguousarray(part), *search)
    return trainer.fit(SCALE_EPOCHS, SCALE_RATE, SCALE_DAMPING, SCALE_DECAY, seed)


BITS = 24
TRAINING_BEAM, TRAINING_ALTERNATIVES = 32, 3
EPOCHS = 4
PARTS = 4  # of an epoch, between two reports of progress
REMEMBERED = 3  # epochs at whose parts the weights are kept for their mean
RATE, DROPOUT, DAMPING = 0.05, 0.5, 1.0
HIDDEN = 1.0
"""A word that the treebank has n times is hidden with a chance of HIDDEN / (HIDDEN + n)."""
LM_ORDER, LM_WEIGHT = 3, 0.3
HALVES = 2  # of the treebank, each of which teaches scales on the other
FEWEST = 1000  # sentences; fewer teach no scales, and neither do labels guessed from words

Report = Callable[[str], None]


def train_ordering(
    treebank: Treebank,
    inputs: str = "words",
    *,
    seed: int = 1,
    lm_weight: float = LM_WEIGHT,
    threads: int | None = None,
    progress: Progress = silent,
) -> OrderingModel:
    """Train an ordering model; the same treebank and seed give the same model."""
    check_inputs(inputs)
    halves = HALVES if inputs != "words" and len(treebank) >= FEWEST else 0
    step = _counted(progress, inputs, halves)
    trees = input_trees(treebank, "all")
    labeller, columns = _labelled(treebank, trees, inputs, seed, step, threads)
    scales = _scales(treebank, trees, columns, halves, lm_weight, seed, step)
    every = np.arange(len(trees), dtype=np.int64)
    weights = train_weights(columns, trees.places, every, seed, step)
    if halves:
        classes = _kernel.feature_classes(columns.kernel, trees.places, every, BITS)
        weights = scales.scaled(weights, classes)
    step("language model")
    model = train_lm(trees, LM_ORDER)
    name = os.path.basename(treebank.name)
    trained = {"treebank": name, "sentences": len(treebank), "seed": seed}
    # Rounded as they are stored, so that a model is the same before and after.
    weights = from_bytes(*to_bytes(weights, BLOCK), BLOCK)
    labeller = Labeller.stored(labeller.about(), labeller.arrays())
    lm_weight *= scales.language_model
    return OrderingModel(inputs, weights, labeller, model, lm_weight, trained)


def _counted(progress: Progress, inputs: str, halves: int) -> Report:
    """Return a function that reports each step of the work as it begins."""
    labels = {"words": 2, "all": 1, "lemmas": 0}[inputs] * (FOLDS + 1)
    total = labels + (1 + halves) * EPOCHS * PARTS + halves * SCALE_PARTS + 1
    done = 0

    def step(what: str) -> None:
        nonlocal done
        progress(done, total, what)
        done += 1

    return step


def _labelled(
    treebank: Treebank, trees: InputTrees, inputs: str, seed: int, step: Report, threads: int | None
) -> tuple[Labeller, NodeColumns]:
    """Return a labeller of what is not given, and the trees with the labels it would find."""
    columns = columns_of(trees)
    starts = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    listed = (starts + trees.places).tolist()
    fine = [treebank.xpos[j] for j in listed]
    if inputs == "lemmas":  # all labels are given
        found = fine_symbols(fine, [treebank.features[j] for j in listed])
        return Labeller({}), replace(columns, fine=found)
    gold = {"fine": Gold.of(fine)}
    if inputs == "all":
        return jackknife(columns, gold, _folds(treebank), (1,), seed, step, threads)
    gold |= {"tags": Gold.of(trees.tags), "relations": Gold.of(trees.relations)}
    return jackknife(columns.blank(), gold, _folds(treebank), (0, 1), seed, step, threads)


def _folds(treebank: Treebank, folds: int = FOLDS) -> NDArray[np.int32]:
    """Return the fold of each sentence: by document where there are enough, else in turn."""
    documents = np.unique(treebank.documents)
    if len(documents) >= 2 * folds:
        return treebank.documents % folds
    return (np.arange(len(treebank)) % folds).astype(np.int32)


def _scales(
    treebank: Treebank,
    trees: InputTrees,
    columns: NodeColumns,
    halves: int,
    lm_weight: float,
    seed: int,
    step: Report,
) -> Scales:
    """Return the mean of what each half's model teaches on the half that it has not seen."""
    of_first, found = _folds(treebank, 2) == 0, []
    for half in range(halves):
        seen = np.flatnonzero(of_first == bool(half))
        unseen = np.flatnonzero(of_first != bool(half))
        weights = train_weights(columns, trees.places, seen, seed, step)
        model = train_lm(trees.choose(seen.tolist()), LM_ORDER)
        told = seen, unseen, model, lm_weight, seed, step
        found.append(learn_scales(weights, columns, trees, *told))
    return mean_scales(found)


def train_weights(
    columns: NodeColumns, places: NDArray[np.int32], chosen: Ints, seed: int, step: Report
) -> NDArray[np.float32]:
    """Train the weights of the features; the seed decides the order of the trees."""
    trainer = _kernel.OrderingTrainer(
        BITS, TRAINING_BEAM, TRAINING_ALTERNATIVES, RATE, DROPOUT, DAMPING
    )
    rng = np.random.default_rng(seed)
    # Rare words are hidden more often, as new texts have unknown ones.
    known, which = np.unique(columns.words, return_inverse=True)
    counts = np.bincount(which[columns.nodes_of(chosen)], minlength=len(known))
    hidden = (HIDDEN / (HIDDEN + counts)).astype(np.float32)[which]
    for epoch in range(EPOCHS):
        for part in np.array_split(rng.permutation(len(chosen)), PARTS):
            step(f"ordering, epoch {epoch + 1} of {EPOCHS}")
            trainer.train(columns.kernel, places, hidden, chosen[part], seed * 1000 + epoch)
            if epoch >= EPOCHS - REMEMBERED:
                trainer.remember()
    return trainer.mean()
