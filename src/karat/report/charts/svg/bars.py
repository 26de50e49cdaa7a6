"""Intervals, bars and histograms as drawings: a labelled row per item, or a bar per bin."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from karat.report.charts.axis import Axis
from karat.report.charts.models import Bars, Histogram, Interval, Intervals
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import BELOW, both, dashed, horizontal, plane
from karat.report.page.markup import Look, element, shape

BAR_ROW = 28  # height of a row
BAR_TOP = 8
MAX_LABEL, MAX_NARROW_LABEL = 32, 18
HISTOGRAM_TOP, HISTOGRAM_BOTTOM = 16.0, 272.0  # the edges of a histogram


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
        return [drawn, svg.line(zero, y - BAR_ROW / 2, zero, y + BAR_ROW / 2, svg.MUTED)]

    return _rows(chart, bar, [])


def _rows(
    chart: Intervals, draw: Callable[[Interval, Axis, float], list[str]], lines: list[float]
) -> svg.Drawn:
    ticks = chart.ticks()
    most = MAX_NARROW_LABEL if chart.narrow else MAX_LABEL
    labels = [svg.shorten(item.label, most) for item in chart.shown]
    values = [ticks.label(item.value, extra=2) for item in chart.shown]
    left = max(map(svg.extent, labels)) + 20
    scale = Axis(ticks, left, _width(chart) - max(map(svg.extent, values)) - 24)
    bottom = BAR_TOP + BAR_ROW * len(chart.shown)
    parts = [horizontal(scale, BAR_TOP, bottom, chart.axis)]
    parts += [dashed(scale.at(value), BAR_TOP, bottom) for value in lines]
    for index, item in enumerate(chart.shown):
        y = BAR_TOP + BAR_ROW * (index + 0.5)
        label = svg.label(left - 14, y + 4, labels[index], "end")
        printed = svg.label(_width(chart) - 4, y + 4, values[index], "end")
        parts.append(element("g", svg.tooltip(item.story), label, *draw(item, scale, y), printed))
    return parts, bottom + BELOW


def _width(chart: Intervals | Histogram) -> float:
    return svg.NARROW if chart.narrow else svg.WIDTH


def _interval(item: Interval, scale: Axis, y: float) -> list[str]:
    dot = shape("circle", cx=scale.at(item.value), cy=y, r=4, fill=svg.ACCENT)
    if not item.bar:
        return [dot]
    left, right = map(scale.at, item.bar)
    ends = [svg.line(x, y - 4, x, y + 4, svg.ACCENT, width=1.5) for x in (left, right)]
    return [svg.line(left, y, right, y, svg.ACCENT, width=1.5), *ends, dot]


def draw_histogram(chart: Histogram) -> svg.Drawn:
    """The drawing; every bar has its tooltip."""
    x, y = plane(chart.ticks(), HISTOGRAM_TOP, HISTOGRAM_BOTTOM, _width(chart))
    parts = both(x, y, chart.axis, "count")
    bins = zip(pairwise(chart.edges), chart.counts, strict=True)
    parts += [_bin(x, y, low, high, count) for (low, high), count in bins if count]
    for value in chart.base:
        place, label = x.at(value), x.ticks.label(value, extra=1)
        parts.append(dashed(place, HISTOGRAM_TOP, HISTOGRAM_BOTTOM))
        beside = (-6, "end") if place > (x.start + x.end) / 2 else (6, "start")
        parts.append(svg.label(place + beside[0], HISTOGRAM_TOP + 4, label, beside[1]))
    return parts, HISTOGRAM_BOTTOM + BELOW


def _bin(x: Axis, y: Axis, low: float, high: float, count: int) -> str:
    left, right = x.at(low), x.at(high)
    story = svg.tooltip(f"{low:.6g} to {high:.6g}: {count}")
    place = {"x": left + 0.5, "y": y.at(count), "width": max(right - left - 1, 0.5)}
    look: Look = {"height": y.start - y.at(count), "fill": svg.ACCENT, "fill_opacity": 0.85}
    return element("rect", story, **place, **look)
