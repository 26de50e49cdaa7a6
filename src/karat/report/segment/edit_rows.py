"""The steps of an edit alignment as rows, for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.metrics.explain.edits import Alignment
from karat.report.model.table import Cell, Column

EDIT_COLUMNS = (
    Column("kind", "Kind"),
    Column("reference_position", "Reference position", align="right"),
    Column("reference_word", "Reference word"),
    Column("candidate_position", "Candidate position", align="right"),
    Column("candidate_word", "Candidate word"),
    Column("move", "Move", align="right"),
)


def edit_rows(
    edits: Alignment, reference_places: Sequence[int], candidate_places: Sequence[int]
) -> Iterator[dict[str, Cell]]:
    """Every step; its words stand at these places of the whole texts, which are shown from 1."""
    for step in edits.operations:
        i, j = step.reference, step.candidate
        yield {
            "kind": step.kind,
            "reference_position": None if i is None else reference_places[i] + 1,
            "reference_word": None if i is None else edits.reference[i],
            "candidate_position": None if j is None else candidate_places[j] + 1,
            "candidate_word": None if j is None else edits.candidate[j],
            "move": None if step.move is None else step.move + 1,
        }
