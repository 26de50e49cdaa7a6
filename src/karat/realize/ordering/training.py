"""Training of the ordering model: labels, scales of features, weights, language model.

Rates and the weight of the language model were chosen on documents held out of EWT's training part;
experiments/realize_ordering.py repeats the choice of the weight.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.progress import Progress, silent
from karat.realize.fergus.lp_chooser import train_lm
from karat.realize.input_trees import InputTrees, check_inputs, input_trees
from karat.realize.ordering.feature_scales import SCALE_PARTS as SCALE_PARTS
from karat.realize.ordering.feature_scales import Scales, learn_scales, mean_scales
from karat.realize.ordering.labelling import FOLDS, Gold, Labeller, jackknife
from karat.realize.ordering.ordering_model import BLOCK, OrderingModel
from karat.realize.ordering.symbols import NodeColumns, columns_of, fine_symbols
from karat.realize.ordering.weight_bytes import from_bytes, to_bytes
from karat.realize.treebank import Treebank

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
