"""Charts with one labelled row per item: intervals and bars."""

from __future__ import annotations

from collections.abc import Callable

from karat.report.charts.axis import Axis
from karat.report.charts.models import Bars, Interval, Intervals
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.axes import BELOW, dashed, horizontal
from karat.report.page.markup import element, shape

ROW = 28  # height of a row
TOP = 8
LONGEST_LABEL = 32


def draw_intervals(chart: Intervals) -> svg.Drawn:
    """A dot at each item's value and a whisker around it, with a line at the baseline."""
    return _rows(chart, _interval, chart.base)


def draw_bars(chart: Bars) -> svg.Drawn:
    """A bar from the baseline to each item's value."""

    def bar(item: Interval, scale: Axis, y: float) -> list[str]:
        zero = scale.at(chart.baseline)
        left, right = sorted((zero, scale.at(item.value)))
        place = {"x": left, "y": y - 8.0, "width": right - left, "height": 16.0}
        drawn = shape("rect", **place, fill=svg.ACCENT, fill_opacity=0.85)
        # each row draws its part of the line that all bars start from
        return [drawn, svg.line(zero, y - ROW / 2, zero, y + ROW / 2, svg.MUTED)]

    return _rows(chart, bar, [])


def _rows(
    chart: Intervals, draw: Callable[[Interval, Axis, float], list[str]], lines: list[float]
) -> svg.Drawn:
    ticks = chart.ticks()
    labels = [svg.shorten(item.label, LONGEST_LABEL) for item in chart.shown]
    values = [ticks.label(item.value, extra=2) for item in chart.shown]
    left = max(map(svg.length, labels)) + 20
    scale = Axis(ticks, left, svg.WIDTH - max(map(svg.length, values)) - 24)
    bottom = TOP + ROW * len(chart.shown)
    parts = [horizontal(scale, TOP, bottom, chart.axis)]
    parts += [dashed(scale.at(value), TOP, bottom) for value in lines]
    for index, item in enumerate(chart.shown):
        y = TOP + ROW * (index + 0.5)
        label = svg.text(left - 14, y + 4, labels[index], "end")
        printed = svg.text(svg.WIDTH - 4, y + 4, values[index], "end")
        parts.append(element("g", svg.tooltip(item.story), label, *draw(item, scale, y), printed))
    return parts, bottom + BELOW


def _interval(item: Interval, scale: Axis, y: float) -> list[str]:
    dot = shape("circle", cx=scale.at(item.value), cy=y, r=4, fill=svg.ACCENT)
    if not item.bar:
        return [dot]
    left, right = map(scale.at, item.bar)
    ends = [svg.line(x, y - 4, x, y + 4, svg.ACCENT, width=1.5) for x in (left, right)]
    return [svg.line(left, y, right, y, svg.ACCENT, width=1.5), *ends, dot]
