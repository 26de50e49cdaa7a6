"""The report of `grid` and `explain`: grids, or for tree accuracies the errors of treelets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from karat.explanation import SegmentExplanations
from karat.metrics.accuracy import Alignment
from karat.metrics.tree import TreeExplanation, Treelet
from karat.report.documents.grids import EDIT_COLUMNS, edit_rows, grid_answer, grid_blocks
from karat.report.documents.scores import SEGMENT
from karat.report.model.cells import brief, several
from karat.report.model.table import Block, Cell, Column, Document, Figure, Table, columns
from karat.report.segment.pictures import edits_figure

MOST_FIGURES = 40
"""Treelets of one segment that are drawn; a table has all of them."""

_COUNTS = (
    Column("substitutions", "S", align="right", help="Words in the place of others."),
    Column("insertions", "I", align="right", help="Words inserted, without those that moved."),
    Column("deletions", "D", align="right", help="Words deleted, without those that moved."),
    Column("moves", "M", align="right", help="Words that moved, if the metric counts moves."),
    Column("errors", "Errors", align="right", help="S + I + D + M."),
)
_ROWS = (
    SEGMENT,
    Column("score", "Score", 4, align="right", help="The segment's score."),
    *_COUNTS,
    Column("words", "Words", align="right", help="R, the words of the tree."),
    Column("reference", "Reference", align="right", help="The tree that counts, from 1."),
)
_PARTS = (
    Column("heading", "Segment", readers="people"),
    replace(SEGMENT, readers="programs"),
    Column("part", "Part", help="A treelet, or words lacking or besides."),
    Column("head", "Head", help="The head of the treelet."),
    Column("head_position", "Head position", align="right", readers="programs"),
    *_COUNTS,
    Column("share", "Share", 4, align="right", help="What it takes off the accuracy: errors / R."),
    Column("reference_order", "In the reference", help="Its words in order.", wrap=True),
    Column("candidate_order", "In the candidate", help="The same words in order.", wrap=True),
)
_EDITS = (SEGMENT, *columns(head="Head", head_position="Head position"), *EDIT_COLUMNS)


def explanations_document(result: SegmentExplanations, command: str) -> Document:
    """Return the pictures and rows of some segments of one candidate."""
    of_trees = isinstance(result.rows[0].found, TreeExplanation)
    blocks = (treelet_blocks if of_trees else grid_blocks)(result.rows)
    title = f"{result.system} by {result.metric}"
    signed = {str(result.metric): result.signature}
    answer = () if of_trees else grid_answer(result.rows)
    return Document(title, blocks, command, signed, result.notes, answer=answer)


def treelet_blocks(rows: Sequence[Any]) -> tuple[Block, ...]:
    """Return some segments of one candidate, treelet by treelet."""
    parts = [row for one in rows for row in _part_rows(one)]
    edits = [  # with places in the whole texts
        {"segment": one.segment, **_head(one.found, treelet), **row}
        for one in rows
        for treelet in one.found.treelets
        for row in edit_rows(_counted(treelet), treelet.nodes, sorted(treelet.places))
    ]
    return (
        *(figure for one in rows for figure in _figures(one)),
        Table("rows", "Scores", _ROWS, tuple(map(_row, rows))),
        Table("parts", "Treelets", _PARTS, parts, group="heading"),
        Table("edits", "Edits", _EDITS, edits, readers="programs"),
    )


def _figures(one: Any) -> Iterator[Figure]:
    """The treelets that have errors, in the order of their heads."""
    wrong = [treelet for treelet in one.found.treelets if treelet.errors]
    for treelet in wrong[:MOST_FIGURES]:
        title = f"Segment {one.segment}: the treelet of {one.found.tree.words[treelet.head]}"
        yield edits_figure(_counted(treelet), title, _caption(one.found, treelet))


def _counted(treelet: Treelet) -> Alignment:
    """The alignment as it is counted: without moves, a word that moved is deleted and inserted."""
    found = treelet.alignment
    if treelet.counts_moves:
        return found
    return replace(found, operations=tuple(o._replace(move=None) for o in found.operations))


def _caption(found: TreeExplanation, treelet: Treelet) -> str:
    counts = f"{treelet.substitutions} substituted, {treelet.insertions} inserted, "
    counts += f"{treelet.deletions} deleted"
    moved = f", {treelet.moves} moved" if treelet.counts_moves else ""
    share = brief(found.share(treelet.errors))
    return (
        f"{counts}{moved}: {several(treelet.errors, 'error')} of {found.errors:,}, "
        f"{share} off the accuracy. The reference stands above, the candidate below."
    )


def _row(one: Any) -> dict[str, Cell]:
    found = one.found
    sizes = {"errors": found.errors, "words": len(found.tree), "reference": found.reference + 1}
    return {"segment": one.segment, "score": found.value, **found.counts, **sizes}


def _part_rows(one: Any) -> Iterator[dict[str, Cell]]:
    """Every treelet, then what is lacking and what is besides; their errors are all there are."""
    found = one.found
    segment: dict[str, Cell] = {"heading": f"Segment {one.segment}", "segment": one.segment}
    for treelet in found.treelets:
        yield {
            **segment,
            "part": "treelet",
            **_head(found, treelet),
            **{column.key: getattr(treelet, column.key) for column in _COUNTS},
            "share": found.share(treelet.errors),
            "reference_order": " ".join(treelet.alignment.reference),
            "candidate_order": " ".join(treelet.alignment.candidate),
        }
    lacking = [found.tree.words[node] for node in found.lacking]
    besides = [found.candidate[place] for place in found.besides]
    for part, kind, order, words in (
        ("lacking", "deletions", "reference_order", lacking),
        ("besides", "insertions", "candidate_order", besides),
    ):
        if count := len(words):
            counts = {**dict.fromkeys((c.key for c in _COUNTS), 0), kind: count, "errors": count}
            own = {"share": found.share(count), order: " ".join(words)}
            yield {**segment, "part": part, **counts, **own}


def _head(found: TreeExplanation, treelet: Treelet) -> dict[str, Cell]:
    return {"head": found.tree.words[treelet.head], "head_position": treelet.head + 1}
