"""The report of `compare`: scores with intervals and tests, and the segments that differ most."""

from __future__ import annotations

from collections.abc import Sequence

from karat.comparison import CompareRow, Comparison, Example
from karat.metrics.base import Metric
from karat.report.charts.models import Histogram, Interval, Intervals
from karat.report.documents.scores import (
    HIGH,
    LOW,
    METRIC,
    SCORE,
    SYSTEM,
    decimals,
    emphasis,
    segment_signatures,
    with_form,
)
from karat.report.model.table import Cell, Column, Decimals, Document, Figure, Table

_COLUMNS = (
    METRIC,
    SYSTEM,
    SCORE,
    LOW,
    HIGH,
    Column("delta", "Delta", align="right", signed=True, help="Score minus the baseline's."),
    Column("p", "p", 4, align="right", help="p of the difference, by the paired test below."),
    Column(
        "better", "Better", align="right", help="Share of resamples in which it beats the baseline."
    ),
    Column("wins", "Wins", align="right", help="Segments on which it beats the baseline."),
    Column("losses", "Losses", align="right", help="Segments on which the baseline beats it."),
    Column("ties", "Ties", align="right", help="Segments on which both score the same."),
)
_DIFFERENCES = (
    Column("system", "System", help="The system compared with the baseline."),
    Column("segment", "Segment", align="right", help="The number of the segment, from 1."),
    Column("baseline_score", "Baseline", align="right", help="The baseline's score there."),
    Column("system_score", "Score", align="right", help="The system's score there."),
    Column("delta", "Delta", align="right", signed=True, help="System minus baseline."),
    Column(
        "text",
        "Text",
        help="The first reference, the baseline's and the system's text.",
        wrap=True,
        readers="people",
    ),
    Column("reference", "Reference", readers="programs"),
    Column("baseline_text", "Baseline's text", readers="programs"),
    Column("system_text", "System's text", readers="programs"),
)


def comparison_document(comparison: Comparison, command: str) -> Document:
    """Return the whole comparison."""
    metrics = list(dict.fromkeys(row.metric for row in comparison.rows))
    corpus = comparison.signatures
    tables = [_table(comparison)]
    if comparison.examples:
        tables.append(_example_table(comparison, metrics[0]))
    document = Document(
        title=f"Comparison with {comparison.baseline}",
        blocks=(*tables, *_figures(comparison, metrics)),
        command=command,
        signatures={**corpus, **segment_signatures(comparison), **corpus},
        notes=comparison.notes,
    )
    return with_form(document, comparison.form)


def _table(comparison: Comparison) -> Table:
    rows = comparison.rows
    best = emphasis([(row.metric, row.score.value) for row in rows])
    title = f"Comparison with {comparison.baseline}"
    cells = tuple(_cells(row) for row in rows)
    return Table("rows", title, _COLUMNS, cells, group="metric", emphasis=best)


def _cells(row: CompareRow) -> dict[str, Cell]:
    m = row.metric
    return {
        "metric": str(m),
        "system": row.system,
        "score": decimals(m, row.score.value),
        "low": decimals(m, row.low),
        "high": decimals(m, row.high),
        "delta": decimals(m, row.delta),
        "p": row.p,
        "better": None if row.better is None else Decimals(row.better, 3),
        "wins": row.wins,
        "losses": row.losses,
        "ties": row.ties,
    }


def _example_table(comparison: Comparison, metric: Metric) -> Table:
    rows = tuple(_example_cells(one, metric, comparison.baseline) for one in comparison.examples)
    title = f"Segments that differ most from {comparison.baseline} by {metric.of_segments()}"
    return Table("segments", title, _DIFFERENCES, rows, group="system")


def _example_cells(example: Example, metric: Metric, baseline: str) -> dict[str, Cell]:
    a, b = example.baseline_score, example.system_score
    return {
        "system": example.system,
        "segment": example.segment + 1,
        "baseline_score": decimals(metric, a),
        "system_score": decimals(metric, b),
        "delta": decimals(metric, b - a),
        "reference": example.reference,
        "baseline_text": example.baseline_text,
        "system_text": example.system_text,
        "text": (
            f"{example.which}: {example.reference}\n{baseline}: {example.baseline_text}\n"
            f"{example.system}: {example.system_text}"
        ),
    }


def _figures(comparison: Comparison, metrics: Sequence[Metric]) -> list[Figure]:
    figures = []
    for m in metrics:
        rows = [row for row in comparison.rows if row.metric == m]
        base = next(row.score.value for row in rows if row.system == comparison.baseline)
        items = [Interval(row.system, row.score.value, row.low, row.high) for row in rows]
        title = f"{m} with 95% intervals"
        chart = Intervals(title, str(m), items, base)
        figures.append(Figure(title, chart, f"Dashed: {comparison.baseline}."))
    return [*figures, *_histograms(comparison, metrics[0])]


def _histograms(comparison: Comparison, metric: Metric) -> list[Figure]:
    """How each system's segments differ from the baseline's, by the first metric."""
    base = comparison.segment_scores(comparison.baseline, metric)
    figures = []
    for system in dict.fromkeys(row.system for row in comparison.rows):
        if system == comparison.baseline:
            continue
        gaps = (comparison.segment_scores(system, metric) - base).tolist()
        title = f"{system} minus {comparison.baseline}, segment by segment"
        axis = f"difference in {metric.of_segments()}"
        figures.append(Figure(title, Histogram(title, axis, gaps, marker=0.0)))
    return figures
