"""The model of a chart drawn as SVG, by its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from karat.report.charts.areas import Regions
from karat.report.charts.forest import Forest, Tallies
from karat.report.charts.models import (
    Bars,
    Chart,
    Curves,
    HeatMap,
    Histogram,
    Intervals,
    Scatter,
)
from karat.report.charts.paired import PairedIntervals
from karat.report.charts.ranks import RankMap
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.bars import draw_bars, draw_histogram, draw_intervals
from karat.report.charts.svg.curves import draw_curves
from karat.report.charts.svg.forest import draw_forest, draw_tallies
from karat.report.charts.svg.heat import draw_heat_map
from karat.report.charts.svg.paired import draw_paired
from karat.report.charts.svg.ranks import draw_ranks
from karat.report.charts.svg.regions import draw_regions
from karat.report.charts.svg.scatter import draw_scatter

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
    if not chart.shown:
        return svg.no_data(chart.title)
    parts, height = _DRAWN[type(chart)](chart)
    width = svg.NARROW if getattr(chart, "narrow", False) else svg.WIDTH
    return svg.chart(chart.title, chart.story, height, parts, width)
