"""The reports of `score`: a row per metric and system, or one per segment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from karat.arrays import Floats
from karat.metrics.base import Metric, Score
from karat.report.charts.models import ChartInterval, intervals_figure
from karat.report.model import (
    Block,
    Cell,
    Column,
    Decimals,
    Document,
    Figure,
    Gallery,
    Row,
    Table,
    format_brief,
    join_names,
    metric_label,
    number,
)
from karat.results import LazyRows
from karat.scoring import DocumentScore, ScoreResults, ScoreRow, Scoring

if TYPE_CHECKING:
    from karat.arrow.table_scores import WrittenShards
    from karat.comparison import CompareRow


def scoring_answer(scoring: Scoring) -> tuple[str, ...]:
    """Return the systems with the best score by each metric; nothing for a single system."""
    by_metric: dict[Metric, list[ScoreRow]] = {}
    for row in scoring.rows:
        by_metric.setdefault(row.metric, []).append(row)
    if not by_metric or len({row.system for row in scoring.rows}) < 2:
        return ()
    leads: dict[tuple[str, ...], list[Metric]] = {}
    ties: list[Metric] = []
    for m, rows in by_metric.items():
        best = scoring.best_systems(m)
        if len(best) == len(rows):
            ties.append(m)
        elif best:
            leads.setdefault(best, []).append(m)
    sentences = [_leaders_sentence(leads, len(by_metric))] if leads else []
    if ties:
        sentences.append(
            f"All systems have the same score by {_list_metrics(ties, len(by_metric))}."
        )
    if not sentences:
        return ()
    if len({(scoring.skipped or {}).get(row.system, 0) for row in scoring.rows}) > 1:
        sentences.append("Systems are scored on different rows, since some were skipped.")
    return (*sentences, "Differences are not tested: use karat compare.")


def _leaders_sentence(leads: Mapping[tuple[str, ...], Sequence[Metric]], metrics: int) -> str:
    if len(leads) == 1:
        ((systems, by),) = leads.items()
        return f"Best by {_list_metrics(by, metrics)}: {join_names(systems)}."
    parts = (
        f"{join_names(systems)} by {_list_metrics(by, metrics)}" for systems, by in leads.items()
    )
    return f"Best: {'; '.join(parts)}."


def _list_metrics(chosen: Sequence[Metric], n_metrics: int) -> str:
    if len(chosen) == n_metrics > 1:
        return "both metrics" if n_metrics == 2 else f"all {n_metrics} metrics"
    return join_names([metric_label(m) for m in chosen])


METRIC = Column("metric", "Metric", help="The metric's name; its full signature is below.")
SEGMENT = number("segment", "Segment", help="The number of the segment, from 1.")
SEGMENT_ID = replace(SEGMENT, help="The number of the segment, from 1, or its id.")
SYSTEM = Column("system", "System", help="The name of the system.")
LOW = number("low", "Low", help="Lower end of the 95% bootstrap interval.")
HIGH = number("high", "High", help="Upper end of the 95% bootstrap interval.")
SCORE = number("score", "Score", help="The corpus score, on the metric's own scale.")
PARTS = Column("parts", "Parts", help="What the score is made from.", wrap=True, readers="people")


def score_cell(metric: Metric, value: float | None) -> Cell:
    """Two decimals on a scale of 100, four on a scale of 1."""
    return None if value is None else Decimals(value, 2 if metric.full_scale > 10 else 4)


_PART_LETTERS = {"precision": "P", "recall": "R", "ps": "PS", "rs": "RS", "bp": "BP", "wp": "WP"}
_PART_LETTERS["simple_tree_accuracy"] = "STA"
_COUNT_LETTERS = {
    "unchanged": "unchanged",
    "substitutions": "S",
    "insertions": "I",
    "deletions": "D",
}
_COUNT_LETTERS |= {"moves": "M", "edits": "edits", "shifts": "shifts", "tokens": "words"}


def parts_text(metric: Metric, score: Score) -> str:
    """The parts of a score in one short line."""
    digits = 1 if metric.full_scale > 10 else 3
    words = []
    for letter in ("p", "r"):  # of all orders: `P 71.3/48.1/33.5/22.0`
        keys = (f"{letter}{n}" for n in range(1, 99))
        steps = [f"{score.parts[key]:.{digits}f}" for key in keys if key in score.parts]
        words += [f"{letter.upper()} {'/'.join(steps)}"] if steps else []
    for name, short in _PART_LETTERS.items():
        if name in score.parts:
            places = digits if name in ("precision", "recall") else 3
            words.append(f"{short} {score.parts[name]:.{places}f}")
    counts = (name for name in _COUNT_LETTERS if name in score.parts)
    words += [f"{_COUNT_LETTERS[name]} {format_brief(score.parts[name])}" for name in counts]
    if "reference_length" in score.parts:
        lengths = score.parts["length"], score.parts["reference_length"]
        words.append("length {:.0f}/{:.0f}".format(*lengths))
    return "  ".join(words)


def segment_signatures(results: ScoreResults[Any]) -> dict[str, str]:
    """The full signature of each metric that scores segments."""
    metrics = dict.fromkeys(row.metric.of_segments() for row in results.rows)
    return {str(m): m.signature(results.references) for m in metrics}


def scoring_document(scoring: Scoring, command: str) -> Document:
    """Return the scores of segments or documents if they were asked for, else those of systems."""
    if scoring.documents:
        return note_signature_form(_documents_document(scoring, command), scoring.form)
    if not scoring.values:
        return note_signature_form(_score_document(scoring, command), scoring.form)
    columns = (*(replace(column, filter=True) for column in (METRIC, SYSTEM)), SEGMENT_ID, SCORE)
    table = Table("rows", "Segment scores", columns, _segment_rows(scoring))
    signatures = segment_signatures(scoring)
    notes = scoring.remarks
    return note_signature_form(
        Document("Segment scores", (table,), command, signatures, notes), scoring.form
    )


_DOCUMENT = Column("document", "Document", help="The document that the segments belong to.")
_SEGMENTS = number("segments", "Segments", help="The document's segments.")


def _documents_document(scoring: Scoring, command: str) -> Document:
    metrics = list(dict.fromkeys(row.metric for row in scoring.documents))
    rows = [row for m in metrics for row in scoring.documents if row.metric == m]
    names = list(dict.fromkeys(name for row in rows for name in row.score.parts))
    columns = [replace(METRIC, filter=True), replace(SYSTEM, filter=True), _DOCUMENT, _SEGMENTS]
    score_help = "The score of the document, from the sums of its segments' statistics."
    columns += [replace(SCORE, help=score_help), PARTS]
    used_keys = {column.key for column in columns}
    columns += [Column(name, name, readers="programs") for name in names if name not in used_keys]
    cells: list[Row] = []
    for row in rows:
        parts: dict[str, Cell] = {name: float(value) for name, value in row.score.parts.items()}
        of_document: dict[str, Cell] = {
            "metric": str(row.metric),
            "system": row.system,
            "document": row.document,
            "segments": row.segments,
            "score": score_cell(row.metric, row.score.value),
            "parts": parts_text(row.metric, row.score),
        }
        cells.append(parts | of_document)
    table = Table("rows", "Document scores", tuple(columns), tuple(cells), group="metric")
    signatures = {str(m): m.signature(scoring.references, scoring.form) for m in metrics}
    remarks = (note for m in metrics for note in m.remarks())
    notes = tuple(dict.fromkeys([*remarks, *_document_notes(rows)]))
    return Document("Document scores", (replace(table, open=True),), command, signatures, notes)


def _document_notes(rows: Sequence[DocumentScore]) -> Iterator[str]:
    """Yield the notes of scores; a note on all documents of a system is stated once for it."""
    documents: dict[tuple[str, Metric], list[DocumentScore]] = {}
    for row in rows:
        documents.setdefault((row.system, row.metric), []).append(row)
    for (system, m), scored in documents.items():
        for note in dict.fromkeys(note for row in scored for note in row.score.notes):
            names = [row.document for row in scored if note in row.score.notes]
            if len(names) == len(scored):
                yield f"{system}, {m}: {note}"
            else:
                yield f"{system}, {m}, {join_names(names)}: {note}"


_SHARDS = (
    Column("folder", "Folder", help="The folder of the shards."),
    Column("shard", "Shard", help="The part of the pieces that was done."),
    number("pieces", "Pieces", help="Pieces of this part, done now or before."),
    number("of", "Of", help="All pieces of the table."),
    number("rows", "Rows", help="Rows of the table in this part."),
)


def shards_document(written: WrittenShards, command: str) -> Document:
    """Return how much of a table a run did."""
    table = Table("rows", "Shards", _SHARDS, [row._asdict() for row in written.rows])
    return Document("Shards", (table,), command, {}, notes=written.notes)


def _score_document(scoring: Scoring, command: str) -> Document:
    by_metric: dict[Metric, list[ScoreRow]] = {}
    for row in scoring.rows:
        by_metric.setdefault(row.metric, []).append(row)
    has_many_metrics = len(by_metric) > 1
    figures = [
        scores_figure(f"{metric_label(m)} by system", m, metric_rows, narrow=has_many_metrics)
        for m, metric_rows in by_metric.items()
    ]
    rows = [row for metric_rows in by_metric.values() for row in metric_rows]
    table = replace(_score_table(rows, bool(scoring.resamples)), open=True)
    table = with_skipped(table, scoring.skipped)
    signatures = {str(row.metric): row.score.signature for row in rows}
    blocks: tuple[Block, ...] = (*figures, table)
    if len(figures) > 1:
        blocks = (Gallery("Scores by metric", tuple(figures)), table)
    notes, answer = scoring.notes, scoring_answer(scoring)
    return Document("Scores", blocks, command, signatures, notes, answer=answer)


def _score_table(rows: Sequence[ScoreRow], intervals: bool) -> Table:
    columns = [METRIC, SYSTEM, SCORE, *([LOW, HIGH] if intervals else [])]
    names = list(dict.fromkeys(name for row in rows for name in row.score.parts))
    columns += [PARTS, *(Column(name, name, readers="programs") for name in names)]
    cells = []
    for row in rows:
        parts: dict[str, Cell] = {name: float(value) for name, value in row.score.parts.items()}
        cells.append(parts | score_cells(row) | {"parts": parts_text(row.metric, row.score)})
    best = best_cells([(row.metric, row.score.value) for row in rows])
    return Table("rows", "Scores", tuple(columns), tuple(cells), group="metric", emphasis=best)


SKIPPED = number(
    "skipped",
    "Skipped",
    help="Rows of the system that were skipped because a candidate or a reference is missing.",
)


def with_skipped(table: Table, skipped: Mapping[str, int] | None) -> Table:
    """Return a table of systems with a column of skipped rows, if rows may be skipped.

    A comparison has no room for it: there the column is for programs, and a note has the numbers.
    """
    if skipped is None:
        return table
    rows = tuple({**row, "skipped": skipped.get(str(row["system"]), 0)} for row in table.rows)
    columns = list(table.columns)
    if PARTS in columns:
        columns.insert(columns.index(PARTS), SKIPPED)
    else:
        columns.append(replace(SKIPPED, readers="programs"))
    return replace(table, columns=tuple(columns), rows=rows)


def best_cells(scores: Sequence[tuple[Metric, float]]) -> frozenset[tuple[int, str]]:
    """The cells with the best score by each metric."""
    best: dict[Metric, float] = {}
    for m, value in scores:
        best[m] = max(best.get(m, -math.inf), m.sign * value)
    return frozenset((i, "score") for i, (m, x) in enumerate(scores) if m.sign * x == best[m])


def score_cells(row: ScoreRow | CompareRow) -> dict[str, Cell]:
    """A system's score by a metric, with its interval."""
    m = row.metric
    ends = {"low": score_cell(m, row.low), "high": score_cell(m, row.high)}
    score = score_cell(m, row.score.value)
    return {"metric": str(m), "system": row.system, "score": score, **ends}


def scores_figure(title: str, metric: Metric, rows: Sequence[ScoreRow], *, narrow: bool) -> Figure:
    """Scores of systems by one metric."""
    items = (ChartInterval(row.system, row.score.value, row.low, row.high) for row in rows)
    return intervals_figure(title, str(metric), items, narrow=narrow)


def signature_document(signatures: Mapping[str, str], command: str) -> Document:
    """The signatures alone, by metric, before anything is scored."""
    columns = (METRIC, Column("signature", "Signature"))
    rows = tuple({"metric": name, "signature": text} for name, text in signatures.items())
    table = Table("rows", "Signatures", columns, rows)
    return Document("Signatures", (table,), command, signatures)


def note_signature_form(document: Document, form: str) -> Document:
    """Add a note on metrics without a signature in the requested form."""
    karat_only = [name for name, text in document.signatures.items() if "|karat=" in text]
    if form == "karat" or not karat_only:
        return document
    note = (
        f"sacreBLEU's form of signatures cannot express {', '.join(karat_only)}: signed in Karat's."
    )
    return replace(document, notes=(*document.notes, note))


def _segment_rows(scoring: Scoring) -> LazyRows[Row]:
    given_ids = scoring.ids

    def make(metric: Metric, name: str, system: str, values: Floats, i: int) -> Row:
        score = score_cell(metric, float(values[i]))
        ids = given_ids[system] if isinstance(given_ids, Mapping) else given_ids
        segment = i + 1 if ids is None else ids[i]
        return {"metric": name, "system": system, "segment": segment, "score": score}

    metrics = dict.fromkeys(row.metric.of_segments() for row in scoring.rows)
    values = scoring.values.items()
    score_arrays = [
        (m, system, scores) for m in metrics for (system, of), scores in values if of == m
    ]
    return LazyRows(
        [(len(scores), partial(make, m, str(m), s, scores)) for m, s, scores in score_arrays]
    )
