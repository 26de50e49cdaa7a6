"""The report of `grid` and `explain`: grids or treelets, by what the metric explains with."""

from __future__ import annotations

from karat.explanation import SegmentExplanations
from karat.metrics.explain.treelets import TreeExplanation
from karat.report.documents.grids import grid_blocks
from karat.report.documents.treelets import treelet_blocks
from karat.report.model.table import Document


def explanations_document(result: SegmentExplanations, command: str) -> Document:
    """Return the pictures and rows of some segments of one candidate."""
    of_trees = isinstance(result.rows[0].found, TreeExplanation)
    return Document(
        title=f"{result.system} by {result.metric}",
        blocks=(treelet_blocks if of_trees else grid_blocks)(result.rows),
        command=command,
        signatures={str(result.metric): result.signature},
        notes=result.notes,
    )
