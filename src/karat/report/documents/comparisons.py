"""The report of `compare`: scores with intervals and tests, and the segments that differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from karat.comparison import CompareRow, Comparison, Example
from karat.metrics.base import Metric
from karat.report.charts.models import Histogram
from karat.report.documents import scores
from karat.report.model.table import Cell, Column, Decimals, Document, Figure, Table, columns

_COLUMNS = (
    *(scores.METRIC, scores.SYSTEM, scores.SCORE, scores.LOW, scores.HIGH),
    Column("delta", "Delta", align="right", signed=True, help="Score minus the baseline's."),
    Column("p", "p", 4, align="right", help="p of the difference, by the paired test below."),
    Column("better", "Better", None, "right", "Share of resamples in which it beats the baseline."),
    Column("wins", "Wins", align="right", help="Segments on which it beats the baseline."),
    Column("losses", "Losses", align="right", help="Segments on which the baseline beats it."),
    Column("ties", "Ties", align="right", help="Segments on which both score the same."),
)
_TEXTS = "The first reference, the baseline's and the system's text."
_DIFFERENCES = (
    Column("system", "System", help="The system compared with the baseline."),
    scores.SEGMENT_ID,
    Column("baseline_score", "Baseline", align="right", help="The baseline's score there."),
    Column("system_score", "Score", align="right", help="The system's score there."),
    Column("delta", "Delta", align="right", signed=True, help="System minus baseline."),
    Column("text", "Text", help=_TEXTS, wrap=True, readers="people"),
    *columns("programs", reference="Reference", baseline_text="Baseline's text"),
    *columns("programs", system_text="System's text"),
)


def comparison_document(comparison: Comparison, command: str) -> Document:
    """Return the whole comparison."""
    metrics = list(dict.fromkeys(row.metric for row in comparison.rows))
    corpus, baseline = comparison.signatures, comparison.baseline
    best = scores.emphasis([(row.metric, row.score.value) for row in comparison.rows])
    title = f"Comparison with {baseline}"
    cells = tuple(map(_cells, comparison.rows))
    tables = [Table("rows", title, _COLUMNS, cells, group="metric", emphasis=best)]
    if comparison.examples:
        rows = tuple(_example_cells(one, metrics[0], baseline) for one in comparison.examples)
        name = f"Segments that differ most from {baseline} by {metrics[0].of_segments()}"
        tables.append(Table("segments", name, _DIFFERENCES, rows, group="system"))
    blocks: list[Table | Figure] = [*tables, *_figures(comparison, metrics)]
    segments = scores.segment_signatures(comparison) if comparison.values else {}
    signatures = {**corpus, **segments, **corpus}
    document = Document(title, tuple(blocks), command, signatures, comparison.notes)
    return scores.with_form(document, comparison.form)


def _cells(row: CompareRow) -> dict[str, Cell]:
    better = None if row.better is None else Decimals(row.better, 3)
    delta = scores.decimals(row.metric, row.delta)
    return {**row._asdict(), **scores.score_cells(row), "delta": delta, "better": better}


def _example_cells(example: Example, metric: Metric, baseline: str) -> dict[str, Cell]:
    a, b = example.baseline_score, example.system_score
    texts = f"{example.which}: {example.reference}\n{baseline}: {example.baseline_text}"
    return {
        **example._asdict(),
        "segment": example.segment + 1 if example.id is None else example.id,
        "baseline_score": scores.decimals(metric, a),
        "system_score": scores.decimals(metric, b),
        "delta": scores.decimals(metric, b - a),
        "text": f"{texts}\n{example.system}: {example.system_text}",
    }


def _figures(comparison: Comparison, metrics: Sequence[Metric]) -> list[Figure]:
    """Scores by each metric; how segments differ from the baseline's, by the first metric."""
    figures = []
    for m in metrics:
        rows = [row for row in comparison.rows if row.metric == m]
        base = next(row.score.value for row in rows if row.system == comparison.baseline)
        figure = scores.scores_figure(f"{m} with 95% intervals", m, rows, base)
        figures.append(replace(figure, caption=f"Dashed: {comparison.baseline}."))
    if not comparison.values:  # too many segments to keep the scores of all
        return figures
    metric = metrics[0]
    bases = comparison.segment_scores(comparison.baseline, metric)
    systems = dict.fromkeys(row.system for row in comparison.rows)
    for system in (one for one in systems if one != comparison.baseline):
        gaps = (comparison.segment_scores(system, metric) - bases).tolist()
        title = f"{system} minus {comparison.baseline}, segment by segment"
        axis = f"difference in {metric.of_segments()}"
        figures.append(Figure(title, Histogram(title, axis, gaps, marker=0.0)))
    return figures
