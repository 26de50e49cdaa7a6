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
from karat.realize.completion.content import content_trees
from karat.realize.completion.realizing import realize_content
from karat.realize.completion.scores import SlotScores, slot_scores
from karat.realize.completion.slots import wanted_slots
from karat.realize.inflection.lemma_realizer import LemmaRealizer
from karat.realize.input_trees import (
    SPACE,
    SPACES,
    InputTrees,
    Realizer,
    check_labels,
    input_trees,
    with_lemmas,
)
from karat.realize.model import (
    BOTH,
    INPUTS_SAID,
    RealizerModel,
    RealizerResult,
    fingerprints,
    input_kinds,
)
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
    """Scores of one realiser; `speed` is in sentences a second of processor time.

    From lemmas, `forms` is the share of words whose form is right.
    """

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
    forms: float | None = None


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
    slots: tuple[SlotScores, ...] = ()
    """Classes of words that were inserted, if the model can."""


PAPER = (
    ("LR, random trees", (0.412, 0.562, 0.416, 0.632)),
    ("supertags", (0.589, 0.724, 0.657, 0.762)),
)
"""Table 1 of the paper: 100 sentences of the Wall Street Journal, from words alone."""

TAKEN_OUT = {
    "function words and punctuation": ("function-words", "punctuation"),
    "function words": ("function-words",),
    "punctuation": ("punctuation",),
}
"""Classes of words that are taken out of trees for completion to put back."""


OTHER_DATA = (
    "The paper has no figures from lemmas: it says that morphology is under development. Those of "
    "the Surface Realization tasks (SR'19, track T1: taln.upf.edu/pages/msr2019-ws/SRST.html) are "
    "of other data, and are not given here: another version of the treebank, hints about order in "
    "the input, and another script for BLEU."
)
"""Why figures from lemmas stand alone."""


def evaluate_realizer(
    model: RealizerModel, treebank: Treebank, inputs: str = "both", *, progress: Progress = silent
) -> RealizerEvaluation:
    """Compare the realisers of a model on a treebank.

    Args:
        model, treebank: as `open_realizer` and `read_treebank` return them.
        inputs: comma-separated, `words`, `all` (with UPOS tags and relations) or `lemmas`; `both`
            is all that the model can be given.
        progress: function that is called with the progress.
    """
    kinds = _kinds(model, inputs)
    if kinds != ("words",):
        check_labels(treebank)
    words = [kind for kind in kinds if kind != "lemmas"]
    rows = [*_score_words(model, treebank, words, progress)]
    slots: list[SlotScores] = []
    for kind in model.completion if inputs == "both" else ():
        scored, of_slots = score_completion(model, treebank, kind, progress=progress)
        rows, slots = [*rows, *scored], slots + of_slots
    if "lemmas" in kinds:
        rows += score_lemmas(model.lemma_realizer(), treebank, progress=progress)
    seen = int(np.isin(fingerprints(input_trees(treebank)), model.seen).sum())
    training = TrainingOverlap(len(treebank), seen, seen / max(len(treebank), 1))
    lacking = [kind for kind in words if kind not in model.ordering]
    notes = [training.note, *([OTHER_DATA] if "lemmas" in kinds else [])]
    if len(lacking) == 1:  # else there is no ordering model at all, by choice; or nothing lacks
        advice = f"karat realize train --inputs {model.with_inputs(lacking[0])}"
        notes.append(f"The model has no ordering model for {INPUTS_SAID[lacking[0]]}: {advice}.")
    signatures = {key: metric(name).signature() for key, name in METRICS.items()}
    return RealizerEvaluation(
        name=treebank.name,
        rows=tuple(rows),
        settings={"inputs": inputs},
        notes=tuple(notes),
        signature="\n".join(signatures.values()),
        training=training,
        signatures=signatures,
        slots=tuple(slots),
    )


def _kinds(model: RealizerModel, inputs: str) -> tuple[str, ...]:
    """Return the kinds of input to evaluate; an error if there is no realiser for one of them."""
    if inputs != "both":
        kinds = input_kinds(inputs)
        for kind in kinds:
            model.best(kind)
        return kinds
    lemmas = () if model.inflection is None else ("lemmas",)
    return (*(kind for kind in BOTH if model.realizers(kind)), *lemmas)


def score_completion(
    model: RealizerModel, treebank: Treebank, inputs: str, *, progress: Progress = silent
) -> tuple[list[RealizerScores], list[SlotScores]]:
    """Take function words, punctuation or both out of trees, and score what is put back."""
    completer, ordering = model.completer(inputs), model.ordering["all"]
    references = input_trees(treebank, "all").without_spaces()
    gold = content_trees(treebank, completer.final)
    rows, slots = [], []
    for name, classes in TAKEN_OUT.items():
        wanted = wanted_slots(classes)
        begin = time.process_time()
        content = gold.without(wanted)
        found = realize_content(completer, ordering, content, wanted, progress=progress)
        seconds = time.process_time() - begin
        shown = found.inserted.trees.without_spaces()
        texts = [shown.sentence(i, best.nodes) for i, (best, *_) in enumerate(found.orders)]
        told = f"completion: {name}", f"{inputs}, content words"
        rows.append(_scores(*told, texts, references, seconds))
        slots += slot_scores(inputs, name, wanted, gold.fillings, found.fillings)
    return rows, slots


def _score_words(
    model: RealizerModel, treebank: Treebank, kinds: Sequence[str], progress: Progress
) -> list[RealizerScores]:
    """Score the realisers that are given forms."""
    rows: list[RealizerScores] = []
    for kind in kinds:
        trees = input_trees(treebank, kind)
        done = {row.model for row in rows if row.model.startswith("LR")}  # they see words alone
        chosen = [one for one in model.realizers(kind) if one.name not in done]
        rows += score_realizers(chosen, trees, progress=progress)
    return rows


def score_lemmas(
    realizer: LemmaRealizer, treebank: Treebank, *, progress: Progress = silent
) -> list[RealizerScores]:
    """Score sentences from lemmas: lemmas unchanged, forms by tree, and by neighbours too.

    All are in the same order, and are compared in lower case.
    """
    bank = with_lemmas(treebank)
    trees, whole = input_trees(bank, "lemmas"), input_trees(treebank).without_spaces()
    starts = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    right = [bank.words[j].lower() for j in (starts + trees.places).tolist()]
    realizer.forms(trees.choose([0]), realizer.realize(trees.choose([0])))  # see `score_realizers`
    begin = time.process_time()
    orders = realizer.realize(trees, 1, progress=progress)
    final = realizer.forms(trees, orders)
    realizer.inflection.capitalised(final)
    seconds = time.process_time() - begin
    nodes, rows = final.nodes.tolist(), []
    by_tree = realizer.inflected(trees).words
    for name, forms in (
        ("lemmas unchanged", [trees.words[j] for j in nodes]),
        ("forms by tree", [by_tree[j] for j in nodes]),
        ("forms in context", final.forms),
    ):
        share = sum(form == right[j] for form, j in zip(forms, nodes, strict=True)) / len(nodes)
        shown = [SPACES.sub(SPACE, form) for form in forms]
        rows.append(_scores(name, "lemmas", final.sentences(shown), whole, seconds, share))
    return rows


def _scores(
    model: str,
    inputs: str,
    found: list[str],
    trees: InputTrees,
    seconds: float,
    forms: float | None = None,
) -> RealizerScores:
    """Return all scores of sentences, which were made in some seconds of processor time."""
    references = trees.references()
    values = [float(metric(name).corpus(found, references).value) for name in METRICS.values()]
    gold = (trees.sentence(i, trees.reference(i)) for i in range(len(trees)))
    exact = sum(a == b for a, b in zip(found, gold, strict=True)) / len(found)
    speed = len(trees) / max(seconds, 1e-9)
    return RealizerScores._make((model, inputs, *values, exact, speed, forms))


def score_realizers(
    realizers: Sequence[Realizer], trees: InputTrees, *, progress: Progress = silent
) -> list[RealizerScores]:
    """Score every realiser on the same trees."""
    shown, rows = trees.without_spaces(), []
    for one in realizers:
        one.realize(trees.choose([0]))  # what is set up once is no matter of speed
        begin = time.process_time()
        orders = one.realize(trees, 1, progress=progress)
        seconds = time.process_time() - begin
        found = [shown.sentence(i, best.nodes) for i, (best, *_) in enumerate(orders)]
        rows.append(_scores(one.name, trees.inputs, found, shown, seconds))
    return rows
