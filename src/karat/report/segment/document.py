"""The report of `grid` and `explain`: grids, or for tree accuracies the errors of treelets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from karat.explanation import SegmentExplanations
from karat.metrics.accuracy import Alignment
from karat.metrics.gtm import Explanation
from karat.metrics.tree import TreeExplanation, Treelet
from karat.report.documents.scores import SEGMENT
from karat.report.model import (
    Block,
    Case,
    Cell,
    Column,
    Document,
    Figure,
    Passage,
    Table,
    Texts,
    brief,
    columns,
    several,
)
from karat.report.segment.text import draw_edits, draw_grid

SCRIPT = "report/segment/grid.js"


def grid_figure(found: Explanation, title: str, caption: str) -> Figure:
    """Return the bitext grid of a matching."""

    def svg() -> str:
        from karat.report.segment.svg import grid_svg

        return grid_svg(found, title)

    return Figure(title, svg, caption, lambda sheet: draw_grid(found, sheet), script=SCRIPT)


def edits_figure(found: Alignment, title: str, caption: str) -> Figure:
    """Return an edit alignment, which flows as words on pages."""

    def svg() -> str:
        from karat.report.segment.svg import edits_svg

        return edits_svg(found, title)

    def page() -> str:
        from karat.report.segment.svg import edits_html

        return edits_html(found)

    return Figure(title, svg, caption, lambda sheet: draw_edits(found, sheet), page, SCRIPT)


EDIT_COLUMNS = (
    *columns(kind="Kind", reference_position="Reference position"),
    *columns(reference_word="Reference word", candidate_position="Candidate position"),
    *columns(candidate_word="Candidate word", move="Move"),
)
_GRIDS = (
    SEGMENT,
    Column("score", "F", 4, align="right", help="The segment's score."),
    Column("precision", "P", 4, align="right", help="Size over the candidate's words."),
    Column("recall", "R", 4, align="right", help="Size over the references' mean length."),
    Column("size", "Size", 4, align="right", help="(sum of length^e)^(1/e) over what counts."),
    Column("sum", "Sum", 2, align="right", help="The sum of length^e over what counts."),
    Column("candidate_words", "Words", align="right", help="Words of the candidate."),
    Column("reference_words", "Ref.", 2, align="right", help="The references' mean length."),
    Column("cap", "Cap", 2, align="right", help="No more hits than this count."),
    Column("hits", "Hits", align="right", help="Hits of the grid."),
    Column("runs", "Runs", align="right", help="Runs of the matching."),
    Column("proven", "Proven", help="Whether the matching is proven to be the maximum."),
    Column("bound", "Bound", 4, align="right", help="No matching has a larger size."),
)
_RUNS = (
    Column("heading", "Segment", readers="people"),
    replace(SEGMENT, readers="programs"),
    Column("length", "Length", align="right", help="Words of the run."),
    Column("counted", "Counted", 2, align="right", help="What the cap leaves of it."),
    Column("candidate_position", "Candidate", align="right", help="Its first word, from 1."),
    Column("reference", "Reference", align="right", help="The number of the reference, from 1."),
    Column("reference_position", "Position", align="right", help="Its first word there, from 1."),
    Column("words", "Words", help="As they stand in the candidate.", wrap=True),
)
_GRID_EDITS = (SEGMENT, *columns(reference="Reference"), *EDIT_COLUMNS)


def grid_blocks(rows: Sequence[Any]) -> tuple[Block, ...]:
    """Return the grids and edit alignments of some segments of one candidate."""
    runs = [row for one in rows for row in _run_rows(one)]
    edits = [
        {"segment": one.segment, "reference": one.found.nearest + 1, **row}
        for one, found in ((one, one.found.edits()) for one in rows)
        for row in edit_rows(found, range(len(found.reference)), range(len(found.candidate)))
    ]
    return (
        *(block for one in rows for block in _pictures(one)),
        Table("rows", "Scores", _GRIDS, tuple(map(_grid_row, rows))),
        Table("runs", "Runs, the longest first", _RUNS, runs, group="heading"),
        Table("edits", "Edits", _GRID_EDITS, edits, readers="programs"),
    )


def _pictures(one: Any) -> list[Block]:
    """The texts of a segment above its pictures."""
    found, name = one.found, f"Segment {one.segment}"
    many = len(found.references) > 1
    passages = [
        Passage(f"reference {n}" if many else "reference", " ".join(words))
        for n, words in enumerate(found.references, 1)
    ]
    passages.append(_matched(found))
    facts = f"F {found.value:.4f}, P {found.precision:.4f}, R {found.recall:.4f}"
    return [Texts(name, (Case("", facts, tuple(passages), {}),)), *grid_figures(found, name)]


def _matched(found: Explanation) -> Passage:
    """The candidate, with the words marked that no run has."""
    matched = {b.row + k for b in found.blocks for k in range(b.length)}
    marks, at = [], 0
    for place, word in enumerate(found.candidate):
        if place not in matched:
            marks.append((at, at + len(word)))
        at += len(word) + 1
    return Passage("candidate", " ".join(found.candidate), tuple(marks))


def grid_answer(rows: Sequence[Any]) -> tuple[str, ...]:
    """Say for a single segment how much of it the references share."""
    if len(rows) != 1:
        return ()
    found = rows[0].found
    hits = sum(block.length for block in found.blocks)
    words = several(len(found.candidate), "word")
    whose = "the reference" if len(found.references) == 1 else "the references"
    runs = several(len(found.blocks), "run")
    shared = f"{hits} of {words} match {whose}, in {runs}" if hits else f"No word matches {whose}"
    scores = f"F {found.value:.3f}, precision {found.precision:.3f}, recall {found.recall:.3f}"
    return (f"{shared}: {scores}.",)


def grid_figures(found: Explanation, name: str) -> list[Figure]:
    """The two pictures of a segment: its grid and its edits."""
    many = len(found.references)
    beside = f"nearest reference ({found.nearest + 1} of {many})" if many > 1 else "reference"
    edits, edited = found.edits(), f"{name}: from the {beside} to the candidate"
    return [
        grid_figure(found, f"{name}: matching", caption(found)),
        edits_figure(edits, edited, _counts(edits)),
    ]


def caption(found: Explanation) -> str:
    """The numbers of a matching in one sentence."""
    mean = sum(map(len, found.references)) / len(found.references)
    words = f"{several(len(found.candidate), 'word')} against {brief(mean)}"
    sizes = f"size {brief(found.size)}; {words}"
    capped = f"; no more than {brief(found.cap)} hits count" if found.pared else ""
    return (
        f"F {found.value:.4f}, P {found.precision:.4f}, R {found.recall:.4f}: {sizes}{capped}. "
        f"{_certificate(found)}"
    )


def _certificate(found: Explanation) -> str:
    if found.proven:
        return "No matching is larger."
    if found.largest > found.size:
        larger = f"The greedy search missed a matching of the size {brief(found.largest)}"
        return f"{larger}; search=exact finds it."
    return f"A larger matching may exist: the largest has at most the size {brief(found.bound)}."


def _counts(edits: Alignment) -> str:
    moves = len(edits.moves)
    return (
        f"{edits.count('keep')} kept, {edits.count('substitute')} substituted, "
        f"{edits.count('insert') - moves} inserted, {edits.count('delete') - moves} deleted, "
        f"{moves} moved. The reference stands above, the candidate below."
    )


def _grid_row(one: Any) -> dict[str, Cell]:
    found = one.found
    same = ("precision", "recall", "size", "sum", "cap", "proven", "bound")
    return {
        **{name: getattr(found, name) for name in same},
        "segment": one.segment,
        "score": found.value,
        "candidate_words": len(found.candidate),
        "reference_words": sum(map(len, found.references)) / len(found.references),
        "hits": found.hit_count,
        "runs": len(found.blocks),
    }


def _run_rows(one: Any) -> Iterator[dict[str, Cell]]:
    for block in one.found.blocks:
        words = one.found.candidate[block.row : block.row + block.length]
        yield {
            **block._asdict(),
            "heading": f"Segment {one.segment}",
            "segment": one.segment,
            "candidate_position": block.row + 1,
            "reference": block.reference + 1,
            "reference_position": block.position + 1,
            "words": " ".join(words),
        }


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


MOST_FIGURES = 40
"""Treelets of one segment that are drawn; a table has all of them."""

_COUNTS = (
    Column("substitutions", "S", align="right", help="Words in the place of others."),
    Column("insertions", "I", align="right", help="Words inserted, without those that moved."),
    Column("deletions", "D", align="right", help="Words deleted, without those that moved."),
    Column("moves", "M", align="right", help="Words that moved, if the metric counts moves."),
    Column("errors", "Errors", align="right", help="S + I + D + M."),
)
_TREES = (
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
_TREE_EDITS = (SEGMENT, *columns(head="Head", head_position="Head position"), *EDIT_COLUMNS)


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
        Table("rows", "Scores", _TREES, tuple(map(_tree_row, rows))),
        Table("parts", "Treelets", _PARTS, parts, group="heading"),
        Table("edits", "Edits", _TREE_EDITS, edits, readers="programs"),
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


def _tree_row(one: Any) -> dict[str, Cell]:
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
