"""Generation: the best sentences of every tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from karat.progress import Progress, silent
from karat.realize.fergus.punctuation import punctuate
from karat.realize.input_trees import InputTrees
from karat.realize.model import RealizerModel, RealizerResult


class RealizedSentence(NamedTuple):
    """A sentence for a tree; trees and ranks count from 1, the score is a weighted log."""

    tree: int
    rank: int
    score: float
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class RealizedSentences(RealizerResult):
    """Sentences for trees, the best of each tree first."""


def realize_trees(
    model: RealizerModel,
    trees: InputTrees,
    n_best: int = 1,
    *,
    punctuation: bool = False,
    progress: Progress = silent,
) -> RealizedSentences:
    """Write the `n_best` best sentences of every tree, with the best realiser for its inputs.

    `punctuation` puts in the punctuation that the input lacks.
    """
    orders = model.best(trees.inputs).realize(trees, n_best, progress=progress)
    texts = [trees.sentence(i, order.nodes) for i, few in enumerate(orders) for order in few]
    if punctuation:
        texts = punctuate(model.language_model(trees.inputs), texts)
    ranked = ((i, rank, o) for i, few in enumerate(orders, 1) for rank, o in enumerate(few, 1))
    pairs = zip(ranked, texts, strict=True)
    rows = tuple(RealizedSentence(i, rank, order.score, text) for (i, rank, order), text in pairs)
    told = model.fallback(trees.inputs)
    settings = {"inputs": trees.inputs, "n_best": n_best, "punctuation": punctuation}
    return RealizedSentences(trees.name, rows, settings, (told,) if told else ())
