"""The report of `grid` and `explain`: grids, treelets, facts that differ, or support."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from karat.explanation import SegmentExplanations
from karat.metrics.accuracy import Alignment
from karat.metrics.entailment import SupportExplanation
from karat.metrics.facts import FactsExplanation
from karat.metrics.gtm import Explanation
from karat.metrics.tree import TreeExplanation, Treelet
from karat.registry import load
from karat.report.documents.facts import facts_document
from karat.report.documents.scores import SEGMENT
from karat.report.documents.support import support_document
from karat.report.model import (
    Block,
    Document,
    ExampleCase,
    Examples,
    Figure,
    Table,
    TextPassage,
    data_table,
    format_brief,
    format_count,
    reference_passages,
)
from karat.report.segment.text import draw_edits, draw_grid
from karat.results import Cell, Column, number, people_column, program_columns

SCRIPT = "report/segment/grid.js"


def edits_figure(alignment: Alignment, title: str, caption: str) -> Figure:
    """Return an edit alignment, which flows as words on pages."""
    return Figure(
        title,
        lambda: str(load("karat.report.segment.svg:edits_svg")(alignment, title)),
        caption,
        partial(draw_edits, alignment),
        lambda: str(load("karat.report.segment.svg:edits_html")(alignment)),
        SCRIPT,
    )


def _explained(
    key: str, title: str, digits: int | None, help: str, value: Callable[[Any], Any] | None = None
) -> Column:
    """Return a column that reads the row's explanation."""
    read = value or attrgetter(key)
    return number(key, title, digits, help, value=lambda row: read(row.explanation))


def _mean_length(explanation: Explanation) -> float:
    return sum(map(len, explanation.references)) / len(explanation.references)


_EDIT_KEYS = (
    *("kind", "reference_position", "reference_word"),
    *("candidate_position", "candidate_word", "move"),
)
_PROVEN = "Whether the matching is proven to be the maximum."
_GRIDS = (
    SEGMENT,
    _explained("score", "F", 4, "The segment's score.", attrgetter("value")),
    _explained("precision", "P", 4, "Size over the candidate's words."),
    _explained("recall", "R", 4, "Size over the references' mean length."),
    _explained("size", "Size", 4, "(sum of length^e)^(1/e) over what counts."),
    _explained("sum", "Sum", 2, "The sum of length^e over what counts."),
    _explained(
        "candidate_words", "Words", None, "Words of the candidate.", lambda e: len(e.candidate)
    ),
    _explained("reference_words", "Ref.", 2, "The references' mean length.", _mean_length),
    _explained("cap", "Cap", 2, "No more hits than this count."),
    _explained("hits", "Hits", None, "Hits of the grid.", attrgetter("hit_count")),
    _explained("runs", "Runs", None, "Runs of the matching.", lambda e: len(e.blocks)),
    Column("proven", "Proven", help=_PROVEN, value=attrgetter("explanation.proven")),
    _explained("bound", "Bound", 4, "No matching has a larger size."),
)
_HEADING = people_column("heading", "Segment", lambda row: f"Segment {row['segment']}")
_RUNS = (
    _HEADING,
    replace(SEGMENT, readers="programs"),
    number("length", "Length", help="Words of the run."),
    number("counted", "Counted", 2, "What the cap leaves of it."),
    number("candidate_position", "Candidate", help="Its first word, from 1."),
    number("reference", "Reference", help="The number of the reference, from 1."),
    number("reference_position", "Position", help="Its first word there, from 1."),
    Column("words", "Words", help="As they stand in the candidate.", wrap=True),
)


def grid_blocks(rows: Sequence[Any]) -> tuple[Block, ...]:
    """Return the grids and edit alignments of some segments of one candidate."""
    pictures: list[Block] = []
    runs: list[dict[str, Cell]] = []
    edits: list[dict[str, Cell]] = []
    for row in rows:
        explanation, place = row.explanation, {"segment": row.segment}
        pictures += _segment_pictures(explanation, f"Segment {row.segment}")
        for block in explanation.blocks:
            words = explanation.candidate[block.row : block.row + block.length]
            positions = {"candidate_position": block.row + 1, "reference": block.reference + 1}
            positions["reference_position"] = block.position + 1
            runs.append({**block._asdict(), **place, **positions, "words": " ".join(words)})
        alignment = explanation.edits()
        sides = range(len(alignment.reference)), range(len(alignment.candidate))
        place["reference"] = explanation.nearest + 1
        edits += [place | edit for edit in edit_rows(alignment, *sides)]
    return (
        *pictures,
        Table("rows", "Scores", _GRIDS, rows),
        Table("runs", "Runs, the longest first", _RUNS, runs, group="heading"),
        data_table("edits", ["segment", "reference", *_EDIT_KEYS], edits),
    )


def _segment_pictures(explanation: Explanation, name: str) -> list[Block]:
    """Return the texts, with unmatched words of the candidate marked, the grid and the edits."""
    passages = reference_passages([" ".join(words) for words in explanation.references])
    matched = {b.row + k for b in explanation.blocks for k in range(b.length)}
    marks, at = [], 0
    for place, word in enumerate(explanation.candidate):
        if place not in matched:
            marks.append((at, at + len(word)))
        at += len(word) + 1
    passages.append(TextPassage("candidate", " ".join(explanation.candidate), tuple(marks)))
    case = ExampleCase("", _scores_text(explanation), tuple(passages), {})
    return [
        Examples(name, (case,), None, marked="Marked: words without a match."),
        *grid_figures(explanation, name),
    ]


def _scores_text(explanation: Explanation) -> str:
    return f"F {explanation.value:.4f}, P {explanation.precision:.4f}, R {explanation.recall:.4f}"


def grid_answer(rows: Sequence[Any]) -> tuple[str, ...]:
    """Describe how much of a single segment matches the references."""
    if len(rows) != 1:
        return ()
    explanation = rows[0].explanation
    hits = sum(block.length for block in explanation.blocks)
    words = format_count(len(explanation.candidate), "word")
    whose = "the reference" if len(explanation.references) == 1 else "the references"
    runs = format_count(len(explanation.blocks), "run")
    shared = f"{hits} of {words} match {whose}, in {runs}" if hits else f"No word matches {whose}"
    scores = f"F {explanation.value:.3f}, precision {explanation.precision:.3f}"
    return (f"{shared}: {scores}, recall {explanation.recall:.3f}.",)


def grid_figures(explanation: Explanation, name: str) -> list[Figure]:
    """Return the two pictures of a segment: its grid and its edits."""
    many, reference = len(explanation.references), "reference"
    if many > 1:
        reference = f"nearest reference ({explanation.nearest + 1} of {many})"
    edits = explanation.edits()
    moves = len(edits.moves)
    counts = (
        f"{edits.count('keep')} kept, {edits.count('substitute')} substituted, "
        f"{edits.count('insert') - moves} inserted, {edits.count('delete') - moves} deleted, "
        f"{moves} moved. The reference stands above, the candidate below."
    )
    title = f"{name}: matching"
    grid = Figure(
        title,
        lambda: str(load("karat.report.segment.svg:grid_svg")(explanation, title)),
        grid_caption(explanation),
        partial(draw_grid, explanation),
        script=SCRIPT,
    )
    return [
        grid,
        edits_figure(edits, f"{name}: from the {reference} to the candidate", counts),
    ]


def grid_caption(explanation: Explanation) -> str:
    """Describe a matching in one sentence, and whether it is the largest in another."""
    words = format_count(len(explanation.candidate), "word")
    sizes = f"size {format_brief(explanation.size)}; {words} against"
    sizes += f" {format_brief(_mean_length(explanation))}"
    if explanation.pared:
        sizes += f"; no more than {format_brief(explanation.cap)} hits count"
    if explanation.proven:
        optimality = "No matching is larger."
    elif explanation.largest > explanation.size:
        largest = format_brief(explanation.largest)
        optimality = (
            f"The greedy search missed a matching of the size {largest}; search=exact finds it."
        )
    else:
        bound = format_brief(explanation.bound)
        optimality = f"A larger matching may exist: the largest has at most the size {bound}."
    return f"{_scores_text(explanation)}: {sizes}. {optimality}"


def edit_rows(
    edits: Alignment, reference_places: Sequence[int], candidate_places: Sequence[int]
) -> Iterator[dict[str, Cell]]:
    """Yield a row per edit; words are numbered from 1 by their positions in the full texts."""
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


MAX_TREELET_FIGURES = 40
"""Treelets of one segment that are drawn; a table has all of them."""

_COUNTS = (
    number("substitutions", "S", help="Words in the place of others."),
    number("insertions", "I", help="Words inserted, without those that moved."),
    number("deletions", "D", help="Words deleted, without those that moved."),
    number("moves", "M", help="Words that moved, if the metric counts moves."),
    number("errors", "Errors", help="S + I + D + M."),
)
_TREES = (
    SEGMENT,
    number("score", "Score", 4, "The segment's score."),
    *_COUNTS,
    number("words", "Words", help="R, the words of the tree."),
    number("reference", "Reference", help="The tree that counts, from 1."),
)
_PARTS = (
    _HEADING,
    replace(SEGMENT, readers="programs"),
    Column("part", "Part", help="A treelet, or words lacking or besides."),
    Column("head", "Head", help="The head of the treelet."),
    *program_columns("head_position"),
    *_COUNTS,
    number("share", "Share", 4, "What it takes off the accuracy: errors / R."),
    Column("reference_order", "In the reference", help="Its words in order.", wrap=True),
    Column("candidate_order", "In the candidate", help="The same words in order.", wrap=True),
)


def explanations_document(result: SegmentExplanations) -> Document:
    """Return the pictures and rows of some segments of one candidate."""
    title, signatures = (
        f"{result.system} by {result.metric}",
        {str(result.metric): result.signature},
    )
    if isinstance(result.rows[0].explanation, FactsExplanation):
        explained = [(row.segment, row.explanation) for row in result.rows]
        return facts_document(title, result.metric, explained)  # type: ignore[arg-type]
    if isinstance(result.rows[0].explanation, SupportExplanation):
        sentences = [(row.segment, row.explanation) for row in result.rows]
        return support_document(title, result.metric, sentences)  # type: ignore[arg-type]
    if isinstance(result.rows[0].explanation, TreeExplanation):
        return Document(title, treelet_blocks(result.rows), signatures=signatures)
    answer = grid_answer(result.rows)
    return Document(title, grid_blocks(result.rows), signatures=signatures, answer=answer)


def treelet_blocks(rows: Sequence[Any]) -> tuple[Block, ...]:
    """Return some segments of one candidate, treelet by treelet."""
    figures: list[Figure] = []
    scores: list[dict[str, Cell]] = []
    edits: list[dict[str, Cell]] = []
    for row in rows:
        explanation, segment = row.explanation, {"segment": row.segment}
        wrong = [treelet for treelet in explanation.treelets if treelet.errors]
        for treelet in wrong[:MAX_TREELET_FIGURES]:
            title = f"Segment {row.segment}: the treelet of {explanation.tree.words[treelet.head]}"
            moved = f", {treelet.moves} moved" if treelet.counts_moves else ""
            share = format_brief(explanation.share(treelet.errors))
            caption = (
                f"{treelet.substitutions} substituted, {treelet.insertions} inserted, "
                f"{treelet.deletions} deleted{moved}: {format_count(treelet.errors, 'error')} of "
                f"{explanation.errors:,}, {share} off the accuracy. The reference stands above, "
                "the candidate below."
            )
            figures.append(edits_figure(_counted_alignment(treelet), title, caption))
        scores.append(
            {
                **segment,
                "score": explanation.value,
                **explanation.counts,
                "errors": explanation.errors,
                "words": len(explanation.tree),
                "reference": explanation.reference + 1,
            }
        )
        for treelet in explanation.treelets:  # with places in the whole texts
            sides = treelet.nodes, sorted(treelet.places)
            place = segment | _head_cells(explanation, treelet)
            edits += [place | edit for edit in edit_rows(_counted_alignment(treelet), *sides)]
    parts = [part for row in rows for part in _part_rows(row)]
    return (
        *figures,
        Table("rows", "Scores", _TREES, scores),
        Table("parts", "Treelets", _PARTS, parts, group="heading"),
        data_table("edits", ["segment", "head", "head_position", *_EDIT_KEYS], edits),
    )


def _counted_alignment(treelet: Treelet) -> Alignment:
    """Return the alignment as counted: without moves, a moved word is deleted and inserted."""
    alignment = treelet.alignment
    if treelet.counts_moves:
        return alignment
    return replace(alignment, operations=tuple(o._replace(move=None) for o in alignment.operations))


def _part_rows(row: Any) -> Iterator[dict[str, Cell]]:
    """Yield every treelet, then missing and extra words; their errors add up to the total."""
    explanation, segment = row.explanation, {"segment": row.segment}
    for treelet in explanation.treelets:
        yield {
            **segment,
            "part": "treelet",
            **_head_cells(explanation, treelet),
            **{column.key: getattr(treelet, column.key) for column in _COUNTS},
            "share": explanation.share(treelet.errors),
            "reference_order": " ".join(treelet.alignment.reference),
            "candidate_order": " ".join(treelet.alignment.candidate),
        }
    lacking = [explanation.tree.words[node] for node in explanation.lacking]
    besides = [explanation.candidate[place] for place in explanation.besides]
    for part, kind, order, words in (
        ("lacking", "deletions", "reference_order", lacking),
        ("besides", "insertions", "candidate_order", besides),
    ):
        if count := len(words):
            counts = {**dict.fromkeys((c.key for c in _COUNTS), 0), kind: count, "errors": count}
            share_and_order = {"share": explanation.share(count), order: " ".join(words)}
            yield {**segment, "part": part, **counts, **share_and_order}


def _head_cells(explanation: TreeExplanation, treelet: Treelet) -> dict[str, Cell]:
    return {"head": explanation.tree.words[treelet.head], "head_position": treelet.head + 1}
