"""From the model of a chart to a figure of a report."""

from __future__ import annotations

from karat.report.charts.models import Chart
from karat.report.model.table import Figure
from karat.report.render.terminal import Sheet


def chart_figure(chart: Chart) -> Figure:
    """Return a figure for pages, drawings and terminals."""

    def sketch(sheet: Sheet) -> list[str]:
        from karat.report.charts.letters.drawings import chart_sketch

        return chart_sketch(chart, sheet)

    return Figure(chart.title, chart, chart.caption, sketch)
