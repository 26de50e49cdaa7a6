"""The model of a chart drawn with letters, by its type; intervals as rows with whiskers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from karat.errors import visible
from karat.report.charts.axis import Axis
from karat.report.charts.letters.heat import draw_heat_map
from karat.report.charts.letters.paired import draw_paired
from karat.report.charts.letters.plots import draw_curves, draw_scatter
from karat.report.charts.models import Chart, Curves, HeatMap, Interval, Intervals, Scatter
from karat.report.charts.paired import PairedIntervals
from karat.report.render.terminal import CYAN, DIM, Sheet, display_width, truncate

LONGEST = 24  # columns of a label
NARROWEST = 8  # columns of the scale


def draw_intervals(chart: Intervals, sheet: Sheet) -> list[str]:
    """The rows, and what the axis is."""
    items = chart.shown
    ticks = chart.ticks()
    labels = [truncate(visible(item.label), min(LONGEST, sheet.width // 3)) for item in items]
    values = [ticks.label(item.value, extra=2) for item in items]
    left, right = max(map(display_width, labels)), max(map(len, values))
    wide = sheet.width - left - right - 2
    if wide < NARROWEST:
        return sheet.lines("too narrow for a plot", DIM)
    axis = Axis(ticks, 0, wide - 1)
    lines = []
    for item, label, value in zip(items, labels, values, strict=True):
        space = " " * (left - display_width(label))
        bar = sheet.ink(_bar(item, axis, wide, chart.base), CYAN)
        lines.append(f"{space}{label} {bar} {value:>{right}}")
    ends = f"{ticks.label(ticks.values[0])} to {ticks.label(ticks.values[-1])}"
    base = ["¦ the baseline"] if chart.base else []
    return [*lines, *sheet.lines("; ".join([f"{chart.axis}, {ends}", *base]), DIM)]


def _bar(item: Interval, axis: Axis, wide: int, base: list[float]) -> str:
    signs = [" "] * wide
    if item.bar:
        low, high = sorted(round(axis.at(end)) for end in item.bar)
        signs[low : high + 1] = "─" * (high - low + 1)
        signs[low], signs[high] = "├", "┤"
    for at in (round(axis.at(value)) for value in base):
        signs[at] = "┼" if signs[at] == "─" else "¦"
    signs[round(axis.at(item.value))] = "●"
    return "".join(signs)


_DRAWN: dict[type, Callable[[Any, Sheet], list[str]]] = {
    Scatter: draw_scatter,
    HeatMap: draw_heat_map,
    Curves: draw_curves,
    Intervals: draw_intervals,
    PairedIntervals: draw_paired,
}


def chart_sketch(chart: Chart, sheet: Sheet) -> list[str]:
    """Return the lines of the chart, at most as wide as the sheet."""
    return _DRAWN[type(chart)](chart, sheet) if chart.shown else sheet.lines("no data", DIM)
