"""Charts as SVG drawings."""

from __future__ import annotations

from karat.report.charts.models import CellChart, Chart, RowChart, XYChart
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.cells import draw_heat_map, draw_ranks
from karat.report.charts.svg.plots import draw_curves, draw_histogram, draw_scatter
from karat.report.charts.svg.regions import draw_regions
from karat.report.charts.svg.rows import draw_rows

_PLOTS = {
    "scatter": draw_scatter,
    "curves": draw_curves,
    "histogram": draw_histogram,
    "regions": draw_regions,
}


def chart_svg(chart: Chart) -> str:
    """Return a drawing that fits any page and follows its colors."""
    narrow = chart.narrow
    if not (chart.plotted or (isinstance(chart, XYChart) and chart.areas)):
        return svg.no_data(chart.title)
    if isinstance(chart, RowChart):
        narrow = chart.is_narrow
        parts, height = draw_rows(chart)
    elif isinstance(chart, CellChart):
        parts, height = (draw_heat_map if chart.ranks is None else draw_ranks)(chart)
    else:
        parts, height = _PLOTS[chart.kind](chart)
    return svg.chart(chart.title, chart.story, height, parts, svg.NARROW if narrow else svg.WIDTH)
