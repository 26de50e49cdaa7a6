"""The ranking of three systems or more: a table for pages, and differences segment by segment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from karat.comparison import DIFFERENCE_BINS, CompareRow, Comparison
from karat.metrics.base import Metric
from karat.registry import load
from karat.report.charts.models import ChartRow, RowChart, difference_span
from karat.report.model import Figure, Gallery, format_signed, metric_label, score_digits
from karat.stats.significance import UNDECIDED

DIFFERENCES_CAPTION = "Dots: differences; lines: 95% intervals. Right of the dashed line is better."
SCRIPT = "report/page/ranking.js"


def directed_label(m: Metric) -> str:
    """Return the label of a metric, with an arrow if lower is better."""
    return f"{metric_label(m)} ↓" if m.sign < 0 else metric_label(m)


def difference_row(row: CompareRow, label: str) -> ChartRow:
    """Return a difference as a share of the metric's scale, positive if better."""
    scale = row.metric.sign / row.metric.full_scale
    value, *ends = (
        float("nan") if x is None else x * scale for x in (row.delta, row.delta_low, row.delta_high)
    )
    text = format_signed(row.delta or 0.0, score_digits(row.metric))
    return ChartRow(label, value, min(ends), max(ends), text, row.verdict or UNDECIDED)


def ranking_gallery(comparison: Comparison, metrics: Sequence[Metric]) -> Gallery:
    """Return the systems by score for each metric; pages have a table with switches.

    Drawings have the differences from the baseline, as shares of the metrics' scales.
    """
    base, figures = comparison.baseline, []
    changes = {
        m: [difference_row(r, r.system) for r in comparison.rows if r.metric == m and r.delta]
        for m in metrics
    }
    span = difference_span(row for m, rows in changes.items() if m.reads_texts for row in rows)
    for m in metrics:
        label, shared_span = directed_label(m), span if m.reads_texts else None
        chart = RowChart(label, base, changes[m], "difference", span=shared_span)
        page = partial(_ranking_page, comparison, metrics, m)
        figures.append(Figure(label, chart, page=page, script=SCRIPT))
    return Gallery("Ranking", tuple(figures), ranking_caption(comparison), wide=True)


def _ranking_page(comparison: Comparison, metrics: Sequence[Metric], m: Metric) -> str:
    return str(load("karat.report.ranking_page:ranking_page")(comparison, metrics, m))


def ranking_caption(comparison: Comparison) -> str:
    caption = "● Does not differ significantly from the best system; all pairs are tested together."
    if comparison.pairs:
        return caption
    return f"{caption} With so many systems, the baseline of the page cannot be changed."


def strip_gallery(comparison: Comparison, metrics: Sequence[Metric]) -> list[Gallery]:
    """Return the differences by segment, a strip for each system; nothing without their scores."""
    base, figures = comparison.baseline, []
    for m in metrics:
        rows = [row for row in comparison.rows if row.metric == m and row.wins is not None]
        if not rows:
            continue
        span, strips = comparison.largest_gap(m), []
        for row in rows:
            tally = f"{row.wins} won, {row.ties} tied, {row.losses} lost"
            text = f"▲ {row.wins} ▼ {row.losses}"
            counts = tuple(comparison.binned_differences(row.system, base, m))
            strips.append(ChartRow(row.system, 0.0, text=text, detail=tally, counts=counts))
        label = metric_label(m.of_segments())
        chart = RowChart(label, base, strips, "strip", span=(-span, span))
        figures.append(Figure(label, chart, script=SCRIPT))
    caption = (
        "A strip for each system: the darker, the more segments. Right of the dashed line it beats "
        f"the baseline. ▲ segments won, ▼ lost. Scores are put into {DIFFERENCE_BINS} bins."
    )
    title = f"Differences from {base} by segment"
    return [Gallery(title, tuple(figures), caption)] if figures else []
