"""From the model of a chart to a figure of a report."""

from __future__ import annotations

from collections.abc import Iterable

from karat.report.charts.models import Chart, Interval, Intervals
from karat.report.model.table import Figure
from karat.report.render.terminal import Sheet


def chart_figure(chart: Chart) -> Figure:
    """Return a figure for pages, drawings and terminals."""

    def sketch(sheet: Sheet) -> list[str]:
        from karat.report.charts.letters.drawings import chart_sketch

        return chart_sketch(chart, sheet)

    return Figure(chart.title, chart, chart.caption, sketch)


def intervals_figure(
    title: str,
    axis: str,
    items: Iterable[Interval],
    base: float | None = None,
    *,
    narrow: bool = False,
) -> Figure:
    """Return a figure for pages and notebooks alone: a dot and a whisker for each item."""
    return Figure(title, Intervals(title, axis, list(items), base, narrow=narrow))
