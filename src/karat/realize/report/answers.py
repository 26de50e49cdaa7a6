"""The sentences that reports on realisers begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.model.cells import several
from karat.report.model.phrases import listing, sentence_case

if TYPE_CHECKING:
    from karat.realize.evaluation import RealizerEvaluation
    from karat.realize.explanation import RealizedTree

_FILE = {True: ", as in the file", False: ", not as in the file"}


def explanation_answer(found: RealizedTree) -> tuple[str, ...]:
    """Return the sentences of the realisers, and the one of the file where it is another."""
    made: dict[tuple[str, bool], list[str]] = {}
    for row in found.rows:
        if row.exact is not None:
            made.setdefault((row.sentence, row.exact), []).append(row.model)
    told = [
        f"{sentence_case(listing(models))}{_FILE[exact]}: {sentence}"
        for (sentence, exact), models in made.items()
    ]
    if not all(exact for _, exact in made):
        told += [f"In the file: {row.sentence}" for row in found.rows if row.exact is None]
    return tuple(told)


def evaluation_answer(found: RealizerEvaluation) -> tuple[str, ...]:
    """Name the realiser with the highest BLEU."""
    best = max(found.rows, key=lambda row: row.bleu)
    trees = several(found.training.sentences, "tree")
    scores = f"BLEU {best.bleu:.1f}, generation accuracy {best.generation:.3f}"
    exact = f"{best.exact:.1%} of sentences exactly as in the file"
    lead = "" if len(found.rows) == 1 else "Highest BLEU: "
    return (f"{lead}{best.model} from {best.inputs}: {scores}, {exact}, on {trees}.",)
