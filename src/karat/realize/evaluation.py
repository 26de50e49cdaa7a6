"""How well realisers restore a treebank's sentences from its trees.

Each tree is realised without its order, and the sentence compared with the treebank's: the paper's
four accuracies, BLEU and GTM's F (e = 2) over the words as the treebank cuts them, the share of
sentences that are exactly right, and sentences a second of processor time. How many sentences the
model was trained on is told beside.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from karat.metrics.names import metric
from karat.progress import Progress, silent
from karat.realize.input_trees import INPUTS, InputTrees, Order, Realizer, check_labels, input_trees
from karat.realize.model import RealizerModel
from karat.realize.training_overlap import count_seen
from karat.realize.treebank import Treebank
from karat.text.trees import Trees

METRICS = {
    "simple": "simple_accuracy",
    "generation": "generation_accuracy",
    "simple_tree": "simple_tree_accuracy",
    "generation_tree": "generation_tree_accuracy",
    "bleu": "bleu:tok=none",
    "gtm": "gtm:e=2",
}
"""Column -> the metric it shows."""


class Evaluated(NamedTuple):
    """One realiser's row."""

    name: str
    inputs: str
    values: dict[str, float]
    exact: float
    speed: float
    """Sentences a second of processor time."""


class Evaluation(NamedTuple):
    """All realisers of a model on one treebank."""

    name: str
    rows: list[Evaluated]
    sentences: int
    seen: int
    """Sentences that the model was trained on."""
    lacking: tuple[str, ...]
    """The kinds of input that were asked for and that no ordering model was trained for."""


PAPER = (
    ("LR, random trees", (0.412, 0.562, 0.416, 0.632)),
    ("supertags", (0.589, 0.724, 0.657, 0.762)),
)
"""Table 1 of the paper: 100 sentences of the Wall Street Journal, from words alone."""


def evaluate_model(
    model: RealizerModel, treebank: Treebank, inputs: str = "both", *, progress: Progress = silent
) -> Evaluation:
    """All realisers of a model: from words, with tags and relations, or one, then the other."""
    if inputs != "both":
        model.best(inputs)  # an error if there is none, instead of an empty table
    if inputs != "words":
        check_labels(treebank)
    rows: list[Evaluated] = []
    kinds = INPUTS if inputs == "both" else (inputs,)
    for kind in kinds:
        trees = input_trees(treebank, kind)
        done = {row.name for row in rows if row.name.startswith("LR")}  # they see words alone
        rows += evaluate(
            [r for r in model.realizers(kind) if r.name not in done], trees, progress=progress
        )
    lacking = tuple(kind for kind in kinds if kind not in model.ordering)
    return Evaluation(treebank.name, rows, len(trees), count_seen(trees, model.seen), lacking)


def evaluate(
    realizers: Sequence[Realizer], trees: InputTrees, *, progress: Progress = silent
) -> list[Evaluated]:
    """Every realiser on the same trees."""
    shown = trees.without_spaces()
    references = shown.references()
    return [_evaluated(realizer, trees, shown, references, progress) for realizer in realizers]


def _evaluated(
    realizer: Realizer, trees: InputTrees, shown: InputTrees, references: Trees, progress: Progress
) -> Evaluated:
    realizer.realize(trees.choose([0]))  # what is set up once is no matter of speed
    begin = time.process_time()
    orders = realizer.realize(trees, 1, progress=progress)
    taken = max(time.process_time() - begin, 1e-9)
    found = sentences(shown, orders)
    values = {
        key: float(metric(name).corpus(found, references).value) for key, name in METRICS.items()
    }
    right = [s == shown.sentence(i, shown.reference(i)) for i, s in enumerate(found)]
    exact, speed = sum(right) / len(right), len(trees) / taken
    return Evaluated(realizer.name, trees.inputs, values, exact, speed)


def sentences(trees: InputTrees, orders: Sequence[Sequence[Order]]) -> list[str]:
    """The best sentence of every tree."""
    return [trees.sentence(i, found[0].nodes) for i, found in enumerate(orders)]
