"""The reports of `score`: a row per metric and system, or one per segment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.arrays import Floats
from karat.metrics.base import Metric, Score
from karat.report.charts.models import ChartRow, RowChart
from karat.report.model import (
    Document,
    Figure,
    Gallery,
    Table,
    format_brief,
    join_names,
    metric_label,
    score_digits,
)
from karat.results import Column, LazyRows, number
from karat.scoring import (
    DOCUMENT_COLUMNS,
    INTERVAL,
    METRIC,
    METRIC_NAME,
    SCORE,
    SYSTEM,
    VARIANCE_COLUMNS,
    DocumentScore,
    ScoreResults,
    ScoreRow,
    Scoring,
    metric_digits,
)

if TYPE_CHECKING:
    from karat.arrow.table_scores import WrittenShards


def scoring_answer(scoring: Scoring) -> tuple[str, ...]:
    """Return the systems with the best score by each metric, of two systems or more."""
    metrics = list(dict.fromkeys(row.metric for row in scoring.rows))
    systems = {row.system for row in scoring.rows}
    leads: dict[tuple[str, ...], list[Metric]] = {}
    ties: list[Metric] = []
    for m in metrics:
        best = scoring.best_systems(m)
        if len(best) == sum(row.metric == m for row in scoring.rows):
            ties.append(m)
        elif best:
            leads.setdefault(best, []).append(m)

    def list_metrics(chosen: Sequence[Metric]) -> str:
        if len(chosen) == len(metrics) > 1:
            return "both metrics" if len(metrics) == 2 else f"all {len(metrics)} metrics"
        return join_names([metric_label(m) for m in chosen])

    sentences = []
    if len(leads) == 1:
        ((leaders, by),) = leads.items()
        sentences.append(f"Best by {list_metrics(by)}: {join_names(leaders)}.")
    elif leads:
        parts = [f"{join_names(leaders)} by {list_metrics(by)}" for leaders, by in leads.items()]
        sentences.append(f"Best: {'; '.join(parts)}.")
    if ties:
        sentences.append(f"All systems have the same score by {list_metrics(ties)}.")
    if not sentences:
        return ()
    if len({(scoring.skipped or {}).get(system, 0) for system in systems}) > 1:
        sentences.append("Systems are scored on different rows, since some were skipped.")
    return (*sentences, "Differences are not tested: use karat compare.")


SEGMENT = number("segment", "Segment", help="The number of the segment, from 1.")
SEGMENT_ID = replace(SEGMENT, help="The number of the segment, from 1, or its id.")
PARTS = Column(
    "parts",
    "Parts",
    readers="people",
    help="What the score is made from.",
    wrap=True,
    value=lambda row: parts_text(row.metric, row.score),
)

_PART_LETTERS = {
    "precision": "P",
    "recall": "R",
    "f": "F",
    "ps": "PS",
    "rs": "RS",
    "bp": "BP",
    "wp": "WP",
    "entailment": "entailment",
    "contradiction": "contradiction",
    "simple_tree_accuracy": "STA",
}
_COUNT_LETTERS = {
    "correct": "correct",
    "unchanged": "unchanged",
    "substitutions": "S",
    "insertions": "I",
    "deletions": "D",
    "moves": "M",
    "edits": "edits",
    "shifts": "shifts",
    "tokens": "words",
    "numbers": "numbers",
    "negation": "negation",
    "names": "names",
    "sentences": "sentences",
    "unsupported": "unsupported",
}


def parts_text(metric: Metric, score: Score) -> str:
    """Return the parts of a score in one short line."""
    digits = score_digits(metric)
    words = []
    for letter in ("p", "r"):  # of all orders: `P 71.3/48.1/33.5/22.0`
        keys = (f"{letter}{n}" for n in range(1, 99))
        steps = [f"{score.parts[key]:.{digits}f}" for key in keys if key in score.parts]
        words += [f"{letter.upper()} {'/'.join(steps)}"] if steps else []
    for name, short in _PART_LETTERS.items():
        if name in score.parts:
            places = digits if name in ("precision", "recall", "f") else 3
            words.append(f"{short} {score.parts[name]:.{places}f}")
    counts = (name for name in _COUNT_LETTERS if name in score.parts)
    words += [f"{_COUNT_LETTERS[name]} {format_brief(score.parts[name])}" for name in counts]
    if "reference_length" in score.parts:
        lengths = score.parts["length"], score.parts["reference_length"]
        words.append("length {:.0f}/{:.0f}".format(*lengths))
    return "  ".join(words)


def part_columns(
    rows: Sequence[ScoreRow | DocumentScore], columns: Sequence[Column]
) -> list[Column]:
    """Return a column for programs for each part of the scores that has no column yet."""
    used_keys = {column.key for column in columns}
    names = dict.fromkeys(name for row in rows for name in row.score.parts)

    def part(name: str, row: ScoreRow | DocumentScore) -> float | None:
        return float(row.score.parts[name]) if name in row.score.parts else None

    return [
        Column(name, name, readers="programs", value=partial(part, name))
        for name in names
        if name not in used_keys
    ]


def scoring_document(scoring: Scoring) -> Document:
    """Return the scores of segments or documents if requested, otherwise the scores of systems."""
    if scoring.documents:
        return note_signature_form(_documents_document(scoring), scoring.form)
    if scoring.values:
        filters = [replace(column, filter=True) for column in (METRIC_NAME, SYSTEM)]
        columns = [*filters, SEGMENT_ID, _SEGMENT_SCORE]
        table = Table("rows", "Segment scores", columns, _segment_rows(scoring))
        signatures = segment_signatures(scoring)
        document = Document("Segment scores", (table,), "", signatures, scoring.remarks)
        return note_signature_form(document, scoring.form)
    metrics = dict.fromkeys(row.metric for row in scoring.rows)
    rows = [row for m in metrics for row in scoring.rows if row.metric == m]
    figures = []
    for m in metrics:
        metric_rows = [row for row in rows if row.metric == m]
        items = [ChartRow(row.system, row.score.value, row.low, row.high) for row in metric_rows]
        title = f"{metric_label(m)} by system"
        chart = RowChart(title, str(m), items, narrow=len(metrics) > 1)
        figures.append(Figure(title, chart))
    columns = [METRIC, SYSTEM, SCORE, *(INTERVAL if scoring.inference else ())]
    columns += [skipped_column(scoring.skipped)] if scoring.skipped is not None else []
    columns += [PARTS, *part_columns(rows, columns)]
    best = best_cells(rows)
    table = Table("rows", "Scores", columns, rows, group="metric", emphasis=best, open=True)
    pictures = [Gallery("Scores by metric", tuple(figures))] if len(figures) > 1 else figures
    signatures = {str(row.metric): row.score.signature for row in rows}
    has_rivals = len({row.system for row in rows}) > 1
    answer = scoring_answer(scoring) if has_rivals else ()
    blocks = (*pictures, table, *variance_tables(scoring))
    document = Document("Scores", blocks, "", signatures, scoring.notes, answer=answer)
    return note_signature_form(document, scoring.form)


def variance_tables(results: ScoreResults[Any]) -> list[Table]:
    """Return the table of variances by unit, if units have several segments."""
    if not results.variances or results.inference is None:
        return []
    title = f"Variance by {results.inference.unit}"
    note = "More units, or more segments per unit: as many halve the width of the interval."
    notes = (note,) if any(row.more_units for row in results.variances) else ()
    rows = results.variances
    return [Table("variances", title, VARIANCE_COLUMNS, rows, group="metric", notes=notes)]


def skipped_column(skipped: Mapping[str, int], **look: Any) -> Column:
    """Return the column of the rows of each system that were skipped."""
    reason = "Rows of the system that were skipped because a candidate or a reference is missing."
    look["value"] = lambda row: skipped.get(row.system, 0)
    return number("skipped", "Skipped", help=reason, **look)


def best_cells(rows: Sequence[Any]) -> frozenset[tuple[int, str]]:
    """Return the cells with the best score by each metric."""
    best: dict[Metric, float] = {}
    for row in rows:
        best[row.metric] = max(best.get(row.metric, -math.inf), row.metric.sign * row.score.value)
    return frozenset(
        (index, "score")
        for index, row in enumerate(rows)
        if row.metric.sign * row.score.value == best[row.metric]
    )


def _documents_document(scoring: Scoring) -> Document:
    """Return the scores of documents; a note on all documents of a system is stated once for it."""
    metrics = list(dict.fromkeys(row.metric for row in scoring.documents))
    rows = [row for m in metrics for row in scoring.documents if row.metric == m]
    columns = (*DOCUMENT_COLUMNS, PARTS, *part_columns(rows, DOCUMENT_COLUMNS))
    table = Table("rows", "Document scores", columns, rows, group="metric", open=True)
    signatures = {str(m): m.signature(scoring.references, scoring.form) for m in metrics}
    notes = [note for m in metrics for note in m.remarks()]
    documents: dict[tuple[str, Metric], list[DocumentScore]] = {}
    for row in rows:
        documents.setdefault((row.system, row.metric), []).append(row)
    for (system, m), scored in documents.items():
        for note in dict.fromkeys(note for row in scored for note in row.score.notes):
            names = [row.document for row in scored if note in row.score.notes]
            listed = "" if len(names) == len(scored) else f", {join_names(names)}"
            notes.append(f"{system}, {m}{listed}: {note}")
    return Document("Document scores", (table,), "", signatures, tuple(dict.fromkeys(notes)))


class _SegmentScore(NamedTuple):
    metric: str
    system: str
    segment: int | str
    score: float
    digits: int


_SEGMENT_SCORE = replace(SCORE, digits=lambda row: row.digits, value=None)


def _segment_rows(scoring: Scoring) -> LazyRows[_SegmentScore]:
    def make(name: str, system: str, values: Floats, digits: int, i: int) -> _SegmentScore:
        ids = scoring.ids[system] if isinstance(scoring.ids, Mapping) else scoring.ids
        segment = i + 1 if ids is None else ids[i]
        return _SegmentScore(name, system, segment, float(values[i]), digits)

    metrics = dict.fromkeys(row.metric.of_segments() for row in scoring.rows)
    return LazyRows(
        [
            (len(values), partial(make, str(m), system, values, metric_digits(m)))
            for m in metrics
            for (system, of), values in scoring.values.items()
            if of == m
        ]
    )


def segment_signatures(results: ScoreResults[Any]) -> dict[str, str]:
    """Return the full signatures of the metrics of segment scores."""
    metrics = dict.fromkeys(row.metric.of_segments() for row in results.rows)
    return {str(m): m.signature(results.references) for m in metrics}


_SHARDS = (
    Column("folder", "Folder", help="The folder of the shards."),
    Column("shard", "Shard", help="The part of the pieces that was done."),
    number("pieces", "Pieces", help="Pieces of this part, done now or before."),
    number("of", "Of", help="All pieces of the table."),
    number("rows", "Rows", help="Rows of the table in this part."),
)


def shards_document(written: WrittenShards) -> Document:
    """Return how much of a table a run did."""
    return Document("Shards", (Table("rows", "Shards", _SHARDS, written.rows),))


def signature_document(signatures: Mapping[str, str], command: str) -> Document:
    """Return the signatures of metrics, without scores."""
    columns = (METRIC_NAME, Column("signature", "Signature"))
    rows = [{"metric": name, "signature": text} for name, text in signatures.items()]
    table = Table("rows", "Signatures", columns, rows)
    return Document("Signatures", (table,), command, signatures, ())


def note_signature_form(document: Document, form: str) -> Document:
    """Add a note on metrics without a signature in the requested form."""
    signatures, notes = document.signatures or {}, document.notes or ()
    karat_only = [name for name, text in signatures.items() if "|karat=" in text]
    if form == "karat" or not karat_only:
        return document
    note = (
        f"sacreBLEU's form of signatures cannot express {', '.join(karat_only)}: signed in Karat's."
    )
    return replace(document, notes=(*notes, note))
