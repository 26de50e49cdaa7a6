"""Evaluation: how well realisers restore a treebank's sentences from its trees.

Each tree is realised without its order, and the sentence compared with the treebank's: the paper's
four accuracies, BLEU and GTM's F (e = 2) over the words as the treebank cuts them, the share of
sentences that are exactly right, and sentences a second of processor time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.arrays import np
from karat.metrics.names import metric
from karat.progress import Progress, silent
from karat.realize.input_trees import INPUTS, InputTrees, Realizer, check_labels, input_trees
from karat.realize.model import INPUTS_SAID, RealizerModel, RealizerResult, fingerprints
from karat.realize.treebank import Treebank

METRICS = {
    "simple": "simple_accuracy",
    "generation": "generation_accuracy",
    "simple_tree": "simple_tree_accuracy",
    "generation_tree": "generation_tree_accuracy",
    "bleu": "bleu:tok=none",
    "gtm": "gtm:e=2",
}
"""Column -> its metric."""
MOSTLY = 0.5
"""The share of known sentences from which on an evaluation is one of training data."""


class RealizerScores(NamedTuple):
    """Scores of one realiser; `speed` is in sentences a second of processor time."""

    model: str
    inputs: str
    simple: float
    generation: float
    simple_tree: float
    generation_tree: float
    bleu: float
    gtm: float
    exact: float
    speed: float


class TrainingOverlap(NamedTuple):
    """Number of sentences, of those that the model was trained on, and their share."""

    sentences: int
    seen: int
    share: float

    @property
    def note(self) -> str:
        """The worth of the figures, in a sentence."""
        noun = "sentence" if self.sentences == 1 else "sentences"
        many = f"{self.seen:,} of {self.sentences:,} {noun} ({self.share:.1%})"
        if self.share >= MOSTLY:
            return f"The model was trained on {many}: these figures say nothing about other text."
        if self.seen:
            return f"{many} occur in what the model was trained on too."
        return "The model was trained on none of these sentences."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RealizerEvaluation(RealizerResult):
    """All realisers of a model on one treebank: a row each."""

    rows: tuple[RealizerScores, ...]
    training: TrainingOverlap
    signatures: dict[str, str]
    """Column -> the signature of its metric."""


PAPER = (
    ("LR, random trees", (0.412, 0.562, 0.416, 0.632)),
    ("supertags", (0.589, 0.724, 0.657, 0.762)),
)
"""Table 1 of the paper: 100 sentences of the Wall Street Journal, from words alone."""


def evaluate_realizer(
    model: RealizerModel, treebank: Treebank, inputs: str = "both", *, progress: Progress = silent
) -> RealizerEvaluation:
    """Compare the realisers of a model on a treebank.

    Args:
        model, treebank: as `open_realizer` and `read_treebank` return them.
        inputs: `words`, `all` (with UPOS tags and relations), or `both` in turn.
        progress: function that is called with the progress.
    """
    if inputs != "both":
        model.best(inputs)  # an error if there is none, instead of an empty table
    if inputs != "words":
        check_labels(treebank)
    rows: list[RealizerScores] = []
    kinds = INPUTS if inputs == "both" else (inputs,)
    for kind in kinds:
        trees = input_trees(treebank, kind)
        done = {row.model for row in rows if row.model.startswith("LR")}  # they see words alone
        chosen = [one for one in model.realizers(kind) if one.name not in done]
        rows += score_realizers(chosen, trees, progress=progress)
    seen = int(np.isin(fingerprints(trees), model.seen).sum())
    training = TrainingOverlap(len(trees), seen, seen / max(len(trees), 1))
    lacking = [INPUTS_SAID[kind] for kind in kinds if kind not in model.ordering]
    notes = [training.note]
    if len(lacking) == 1:  # else there is no ordering model at all, by choice; or nothing lacks
        advice = "karat realize train --inputs both"
        notes.append(f"The model has no ordering model for {lacking[0]}: {advice}.")
    signatures = {key: metric(name).signature() for key, name in METRICS.items()}
    return RealizerEvaluation(
        name=treebank.name,
        rows=tuple(rows),
        settings={"inputs": inputs},
        notes=tuple(notes),
        signature="\n".join(signatures.values()),
        training=training,
        signatures=signatures,
    )


def score_realizers(
    realizers: Sequence[Realizer], trees: InputTrees, *, progress: Progress = silent
) -> list[RealizerScores]:
    """Score every realiser on the same trees."""
    shown, rows = trees.without_spaces(), []
    references = shown.references()
    gold = [shown.sentence(i, shown.reference(i)) for i in range(len(shown))]
    for one in realizers:
        one.realize(trees.choose([0]))  # what is set up once is no matter of speed
        begin = time.process_time()
        orders = one.realize(trees, 1, progress=progress)
        taken = max(time.process_time() - begin, 1e-9)
        found = [shown.sentence(i, best.nodes) for i, (best, *_) in enumerate(orders)]
        values = [float(metric(name).corpus(found, references).value) for name in METRICS.values()]
        exact = sum(a == b for a, b in zip(found, gold, strict=True)) / len(gold)
        row = (one.name, trees.inputs, *values, exact, len(trees) / taken)
        rows.append(RealizerScores._make(row))
    return rows
