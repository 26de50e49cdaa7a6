"""From the model of a chart to a figure of a report, without any other package."""

from __future__ import annotations

from karat.report.chart_models import Chart, Curves, HeatMap, Intervals, Scatter
from karat.report.chart_rows import interval_chart
from karat.report.curves_svg import curves_svg
from karat.report.curves_text import curves_sketch
from karat.report.heat_svg import heat_svg
from karat.report.heat_text import heat_sketch
from karat.report.intervals_text import intervals_sketch
from karat.report.scatter_svg import scatter_svg
from karat.report.scatter_text import scatter_sketch
from karat.report.table import Figure, Sketch


def chart_figure(chart: Chart) -> Figure:
    """A figure for pages, drawings and terminals."""
    return Figure(chart.title, chart_svg(chart), chart.caption, sketch=chart_sketch(chart))


def chart_svg(chart: Chart) -> str:
    """The chart as a drawing that follows the page into the dark."""
    if isinstance(chart, Scatter):
        return scatter_svg(chart)
    if isinstance(chart, HeatMap):
        return heat_svg(chart)
    if isinstance(chart, Curves):
        return curves_svg(chart)
    return _intervals_svg(chart)


def chart_sketch(chart: Chart) -> Sketch:
    """The chart as letters."""
    if isinstance(chart, Scatter):
        return scatter_sketch(chart)
    if isinstance(chart, HeatMap):
        return heat_sketch(chart)
    if isinstance(chart, Curves):
        return curves_sketch(chart)
    return intervals_sketch(chart)


def _intervals_svg(chart: Intervals) -> str:
    items, title, axis = chart.items, chart.title, chart.axis
    return interval_chart(items, title=title, axis=axis, baseline=chart.baseline)
