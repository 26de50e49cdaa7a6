"""From the model of a chart to a figure of a report, without any other package."""

from __future__ import annotations

from karat.report.charts.letters.curves import curves_sketch
from karat.report.charts.letters.heat import heat_sketch
from karat.report.charts.letters.intervals import intervals_sketch
from karat.report.charts.letters.scatter import scatter_sketch
from karat.report.charts.models import Chart, Curves, HeatMap, Intervals, Scatter
from karat.report.charts.svg.curves import curves_svg
from karat.report.charts.svg.heat import heat_svg
from karat.report.charts.svg.rows import interval_chart
from karat.report.charts.svg.scatter import scatter_svg
from karat.report.model.table import Figure, Sketch


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
