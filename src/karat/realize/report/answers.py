"""The sentences that reports on realisers begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.model.cells import several

if TYPE_CHECKING:
    from karat.realize.evaluation import RealizerEvaluation
    from karat.realize.explanation import RealizedTree

_FILE = {True: " (as in the file)", False: " (not as in the file)", None: ""}


def explanation_answer(found: RealizedTree) -> tuple[str, ...]:
    """Return the sentence of each realiser, and whether it is the one of the file."""
    return tuple(f"{row.model}: {row.sentence}{_FILE[row.exact]}" for row in found.rows)


def evaluation_answer(found: RealizerEvaluation) -> tuple[str, ...]:
    """Name the realiser with the highest BLEU."""
    best = max(found.rows, key=lambda row: row.bleu)
    trees = several(found.training.sentences, "tree")
    scores = f"BLEU {best.bleu:.1f}, generation accuracy {best.generation:.3f}"
    exact = f"{best.exact:.1%} of sentences exactly as in the file"
    lead = "" if len(found.rows) == 1 else "Highest BLEU: "
    return (f"{lead}{best.model} from {best.inputs}: {scores}, {exact}, on {trees}.",)
