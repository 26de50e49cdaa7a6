"""The model of a chart drawn as SVG."""

from __future__ import annotations

from karat.report.charts.models import Chart, HeatMap, Histogram, RankMap, Regions, RowChart
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.cells import draw_heat_map, draw_ranks
from karat.report.charts.svg.plots import draw_curves, draw_scatter
from karat.report.charts.svg.regions import draw_regions
from karat.report.charts.svg.rows import draw_histogram, draw_rows


def chart_svg(chart: Chart) -> str:
    """Return a drawing that fits any page and follows it into the dark."""
    if not chart.plotted:
        return svg.no_data(chart.title)
    narrow = chart.narrow
    if isinstance(chart, RowChart):
        narrow = chart.is_narrow
        parts, height = draw_rows(chart)
    elif isinstance(chart, HeatMap):
        parts, height = draw_heat_map(chart)
    elif isinstance(chart, RankMap):
        parts, height = draw_ranks(chart)
    elif isinstance(chart, Histogram):
        parts, height = draw_histogram(chart)
    elif isinstance(chart, Regions):
        parts, height = draw_regions(chart)
    else:
        parts, height = (draw_curves if chart.joined else draw_scatter)(chart)
    return svg.chart(chart.title, chart.story, height, parts, svg.NARROW if narrow else svg.WIDTH)
