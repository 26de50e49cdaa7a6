"""Intervals drawn with letters: a row per item with a whisker around its value."""

from __future__ import annotations

from karat.report.charts.models import Interval, Intervals
from karat.report.charts.svg.axis import Axis, drawable
from karat.report.model.table import Sketch
from karat.report.render.paper import CYAN, DIM, Paper
from karat.report.render.text_width import display_width, truncate
from karat.visible import visible

LONGEST = 24  # columns of a label
NARROWEST = 8  # columns of the scale


def intervals_sketch(chart: Intervals) -> Sketch:
    """How the rows are drawn on paper."""
    return lambda paper: _draw(chart, paper)


def _draw(chart: Intervals, paper: Paper) -> list[str]:
    items = chart.shown
    if not items:
        return paper.lines("no data", DIM)
    ticks = chart.ticks()
    labels = [truncate(visible(item.label), min(LONGEST, paper.width // 3)) for item in items]
    values = [ticks.label(item.value, extra=2) for item in items]
    left, right = max(map(display_width, labels)), max(map(len, values))
    wide = paper.width - left - right - 2
    if wide < NARROWEST:
        return paper.lines("too narrow for a plot", DIM)
    axis = Axis(ticks, 0, wide - 1)
    lines = []
    for item, label, value in zip(items, labels, values, strict=True):
        space = " " * (left - display_width(label))
        bar = paper.ink(_bar(item, axis, wide, chart.baseline), CYAN)
        lines.append(f"{space}{label} {bar} {value:>{right}}")
    ends = f"{ticks.label(ticks.values[0])} to {ticks.label(ticks.values[-1])}"
    base = ["¦ the baseline"] if _drawn(chart.baseline) else []
    return [*lines, *paper.lines("; ".join([f"{chart.axis}, {ends}", *base]), DIM)]


def _drawn(value: float | None) -> bool:
    return value is not None and drawable([value])


def _bar(item: Interval, axis: Axis, wide: int, baseline: float | None) -> str:
    signs = [" "] * wide
    if item.low is not None and item.high is not None and drawable([item.low, item.high]):
        low, high = sorted(round(axis.at(end)) for end in (item.low, item.high))
        signs[low : high + 1] = "─" * (high - low + 1)
        signs[low], signs[high] = "├", "┤"
    if baseline is not None and drawable([baseline]):
        at = round(axis.at(baseline))
        signs[at] = "┼" if signs[at] == "─" else "¦"
    signs[round(axis.at(item.value))] = "●"
    return "".join(signs)
