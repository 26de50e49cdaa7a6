"""The model of a chart drawn as SVG, by its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from karat.report.charts.models import (
    Bars,
    Chart,
    Curves,
    Forest,
    HeatMap,
    Histogram,
    Intervals,
    PairedIntervals,
    RankMap,
    Regions,
    Scatter,
    Tallies,
)
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.cells import draw_heat_map, draw_ranks
from karat.report.charts.svg.plots import draw_curves, draw_scatter
from karat.report.charts.svg.regions import draw_regions
from karat.report.charts.svg.rows import (
    draw_bars,
    draw_forest,
    draw_histogram,
    draw_intervals,
    draw_paired,
    draw_tallies,
)

_DRAWN: dict[type, Callable[[Any], svg.Drawn]] = {
    Scatter: draw_scatter,
    HeatMap: draw_heat_map,
    Curves: draw_curves,
    Intervals: draw_intervals,
    Bars: draw_bars,
    Histogram: draw_histogram,
    Regions: draw_regions,
    Forest: draw_forest,
    Tallies: draw_tallies,
    RankMap: draw_ranks,
    PairedIntervals: draw_paired,
}


def chart_svg(chart: Chart) -> str:
    """Return a drawing that fits any page and follows it into the dark."""
    if not chart.plotted:
        return svg.no_data(chart.title)
    parts, height = _DRAWN[type(chart)](chart)
    width = svg.NARROW if getattr(chart, "narrow", False) else svg.WIDTH
    return svg.chart(chart.title, chart.story, height, parts, width)
