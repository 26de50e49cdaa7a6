"""The model of a chart drawn with letters, by its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from karat.report.charts.letters.curves import draw_curves
from karat.report.charts.letters.heat import draw_heat_map
from karat.report.charts.letters.intervals import draw_intervals
from karat.report.charts.letters.scatter import draw_scatter
from karat.report.charts.models import Chart, Curves, HeatMap, Intervals, Scatter
from karat.report.render.terminal import DIM, Paper

_DRAWN: dict[type, Callable[[Any, Paper], list[str]]] = {
    Scatter: draw_scatter,
    HeatMap: draw_heat_map,
    Curves: draw_curves,
    Intervals: draw_intervals,
}


def chart_sketch(chart: Chart, paper: Paper) -> list[str]:
    """Return the lines of the chart, at most as wide as the paper."""
    return _DRAWN[type(chart)](chart, paper) if chart.shown else paper.lines("no data", DIM)
