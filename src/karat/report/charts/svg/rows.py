"""Intervals, bars and histograms as drawings: a labelled row per item, or a bar per bin."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from karat.errors import visible
from karat.report.charts.axis import Axis, nice_ticks
from karat.report.charts.models import (
    Bars,
    ChartInterval,
    Forest,
    ForestChange,
    ForestTally,
    Histogram,
    Intervals,
    Pair,
    PairedEstimate,
    PairedIntervals,
    Tallies,
)
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import BELOW, dashed, draw_axes, draw_x_axis, make_axes
from karat.report.markup import Look, element, shape
from karat.report.render.text import display_width

BAR_ROW = 28  # height of a row
BAR_TOP = 8
MAX_LABEL, MAX_NARROW_LABEL = 32, 18
HISTOGRAM_TOP, HISTOGRAM_BOTTOM = 16.0, 272.0  # the edges of a histogram


def draw_intervals(chart: Intervals) -> svg.Drawn:
    """A dot at each item's value and a whisker around it, with a line at the baseline."""
    return _rows(chart, _interval, chart.base)


def draw_bars(chart: Bars) -> svg.Drawn:
    """A bar from the baseline to each item's value."""

    def bar(item: ChartInterval, scale: Axis, y: float) -> list[str]:
        zero = scale.at(chart.baseline)
        left, right = sorted((zero, scale.at(item.value)))
        place = {"x": left, "y": y - 8.0, "width": right - left, "height": 16.0}
        rectangle = shape("rect", **place, fill=svg.ACCENT, fill_opacity=0.85)
        # each row draws its part of the line that all bars start from
        return [rectangle, svg.line(zero, y - BAR_ROW / 2, zero, y + BAR_ROW / 2, svg.MUTED)]

    return _rows(chart, bar, [])


def _rows(
    chart: Intervals, draw: Callable[[ChartInterval, Axis, float], list[str]], lines: list[float]
) -> svg.Drawn:
    ticks = chart.ticks()
    most = MAX_NARROW_LABEL if chart.narrow else MAX_LABEL
    labels = [svg.shorten(item.label, most) for item in chart.plotted]
    values = [ticks.label(item.value, extra=2) for item in chart.plotted]
    left = max(map(svg.extent, labels)) + 20
    scale = Axis(ticks, left, _width(chart) - max(map(svg.extent, values)) - 24)
    bottom = BAR_TOP + BAR_ROW * len(chart.plotted)
    parts = [draw_x_axis(scale, BAR_TOP, bottom, chart.axis)]
    parts += [dashed(scale.at(value), BAR_TOP, bottom) for value in lines]
    for index, item in enumerate(chart.plotted):
        y = BAR_TOP + BAR_ROW * (index + 0.5)
        label = svg.label(left - 14, y + 4, labels[index], "end")
        printed = svg.label(_width(chart) - 4, y + 4, values[index], "end")
        parts.append(element("g", svg.tooltip(item.story), label, *draw(item, scale, y), printed))
    return parts, bottom + BELOW


def _width(chart: Intervals | Histogram) -> float:
    return svg.NARROW if chart.narrow else svg.WIDTH


def _interval(item: ChartInterval, scale: Axis, y: float) -> list[str]:
    dot = shape("circle", cx=scale.at(item.value), cy=y, r=4, fill=svg.ACCENT)
    if not item.bar:
        return [dot]
    left, right = map(scale.at, item.bar)
    ends = [svg.line(x, y - 4, x, y + 4, svg.ACCENT, width=1.5) for x in (left, right)]
    return [svg.line(left, y, right, y, svg.ACCENT, width=1.5), *ends, dot]


def draw_histogram(chart: Histogram) -> svg.Drawn:
    """The drawing; every bar has its tooltip."""
    x, y = make_axes(chart.ticks(), HISTOGRAM_TOP, HISTOGRAM_BOTTOM, _width(chart))
    parts = draw_axes(x, y, chart.axis, "count")
    bins = zip(pairwise(chart.edges), chart.counts, strict=True)
    parts += [_bin(x, y, low, high, count) for (low, high), count in bins if count]
    for value in chart.base:
        place, label = x.at(value), x.ticks.label(value, extra=1)
        parts.append(dashed(place, HISTOGRAM_TOP, HISTOGRAM_BOTTOM))
        label_side = (-6, "end") if place > (x.start + x.end) / 2 else (6, "start")
        parts.append(svg.label(place + label_side[0], HISTOGRAM_TOP + 4, label, label_side[1]))
    return parts, HISTOGRAM_BOTTOM + BELOW


def _bin(x: Axis, y: Axis, low: float, high: float, count: int) -> str:
    left, right = x.at(low), x.at(high)
    story = svg.tooltip(f"{low:.6g} to {high:.6g}: {count}")
    place = {"x": left + 0.5, "y": y.at(count), "width": max(right - left - 1, 0.5)}
    look: Look = {"height": y.start - y.at(count), "fill": svg.ACCENT, "fill_opacity": 0.85}
    return element("rect", story, **place, **look)


FOREST_ROW = 24.0
FOREST_TOP = 8.0
MAX_FOREST_LABEL = 22
LABEL_TAIL = 8  # letters at the end of a label that is cut
WIDE = 1.12  # capitals take more room than the usual letters
_COLORS = {"better": "var(--up, #0b6e4f)", "worse": "var(--down, #b3402a)"}
_NONE = "var(--none, #626b79)"
_SIGNS = {"better": "▲", "worse": "▼"}


def draw_forest(chart: Forest) -> svg.Drawn:
    """A dot with a whisker in each row: green if better, red if worse, hollow if undecided.

    Verdicts that are neither good nor bad have a colour of their own.
    """
    labels = [short_name(change.label) for change in chart.plotted]
    left = WIDE * max(map(svg.extent, labels)) + 14
    right = svg.NARROW - max(svg.extent(change.text) for change in chart.plotted) - 26
    low, high = chart.ends
    scale = (right - left) / ((high - low) or 1.0)
    zero, bottom = left - low * scale, FOREST_TOP + FOREST_ROW * len(chart.plotted)
    parts = [svg.dashed(zero, FOREST_TOP, bottom)]
    for index, change in enumerate(chart.plotted):
        y = FOREST_TOP + FOREST_ROW * (index + 0.5)
        parts.append(
            _change(change, labels[index], y, left, [zero + x * scale for x in change[1:4]])
        )
    return [*parts, *_ends(chart, zero, left, right, bottom)], bottom + 22


def short_name(label: str) -> str:
    """A label without its middle where it is long: names of runs often differ at the end."""
    if display_width(label) <= MAX_FOREST_LABEL:
        return svg.shorten(label, MAX_FOREST_LABEL)
    return svg.shorten(label, MAX_FOREST_LABEL - LABEL_TAIL) + visible(label[-LABEL_TAIL:])


def _change(change: ForestChange, label: str, y: float, left: float, places: list[float]) -> str:
    is_decided, (at, low, high) = change.verdict != "undecided", places
    color = _COLORS.get(change.verdict, svg.WARM) if is_decided else _NONE
    look: Look = {"fill": color if is_decided else "var(--paper, #ffffff)", "stroke": color}
    text = f"{change.text} {_SIGNS.get(change.verdict, '')}".rstrip()
    return element(
        "g",
        svg.tooltip(change.story),
        svg.label(left - 12, y + 4, label, "end"),
        svg.line(low, y, high, y, color, width=2.5),
        shape("circle", cx=at, cy=y, r=4, stroke_width=2, **look),
        svg.label(svg.NARROW - 2, y + 4, text, "end", color),
    )


def _ends(chart: Forest, zero: float, left: float, right: float, bottom: float) -> list[str]:
    """The baseline's name below its line, and what either side means, where there is room."""
    name = svg.shorten(chart.base, MAX_FOREST_LABEL)
    below, above = chart.sides
    half = svg.extent(name) / 2
    at = min(max(zero, left - 8 + half), svg.NARROW - half)
    parts = [svg.label(at, bottom + 14, name, "middle", svg.MUTED)]
    if at - half - left > svg.extent(below) + 8:
        parts.append(svg.label(left, bottom + 14, below, "start", svg.MUTED))
    if right - at - half > svg.extent(above) + 8:
        parts.append(svg.label(right, bottom + 14, above, "end", svg.MUTED))
    return parts


def draw_tallies(chart: Tallies) -> svg.Drawn:
    """A bar in each row: segments won, tied and lost, with their counts."""
    labels = [short_name(tally.label) for tally in chart.plotted]
    left = max(map(svg.extent, labels)) + 22
    parts = []
    for index, tally in enumerate(chart.plotted):
        y = FOREST_TOP + FOREST_ROW * (index + 0.5)
        label = svg.label(left - 12, y + 4, labels[index], "end")
        parts.append(element("g", svg.tooltip(tally.story), label, *_tally(tally, left, y)))
    bottom = FOREST_TOP + FOREST_ROW * len(chart.plotted)
    keys = [("won", _COLORS["better"]), ("tied", _NONE), ("lost", _COLORS["worse"])]
    for x, (name, color) in zip((left, left + 60, left + 120), keys, strict=True):
        parts.append(shape("rect", x=x, y=bottom + 6, width=9.0, height=9.0, fill=color))
        parts.append(svg.label(x + 14, bottom + 15, name, "start", svg.MUTED))
    return parts, bottom + 22


def _tally(tally: ForestTally, left: float, y: float) -> list[str]:
    total = (tally.wins + tally.ties + tally.losses) or 1
    room, x, parts = svg.NARROW - left - 4, left, []
    colors = (_COLORS["better"], _NONE, _COLORS["worse"])
    for count, color in zip(tally[1:], colors, strict=True):
        wide = room * count / total
        place: Look = {"x": x, "y": y - 8, "width": wide, "height": 16.0, "fill": color}
        parts.append(shape("rect", **place))
        if wide > svg.extent(f"{count:,}") + 6:
            middle = x + wide / 2
            parts.append(svg.label(middle, y + 4, f"{count:,}", "middle", "var(--paper, #ffffff)"))
        x += wide
    return parts


PAIRED_ROW = 26.0
LINE_OFFSET = 4.5  # from the middle of a row to each of its lines
KEY_ROW = 18.0  # the height of a line of the key
MAX_KEY_NAME = 48
PAPER = "var(--paper, #ffffff)"


def draw_paired(chart: PairedIntervals) -> svg.Drawn:
    """The main value as a full dot on a thick line, the other as a hollow one below it."""
    labels = [short_name(pair.label) for pair in chart.plotted]
    left = WIDE * max(map(svg.extent, labels)) + 14
    right = svg.NARROW - max(svg.extent(pair.main.text) for pair in chart.plotted) - 16
    axis = Axis(chart.ticks(3), left, right)
    key = _key(chart) if chart.compared else []
    top = KEY_ROW * len(key) + 8
    bottom = top + PAIRED_ROW * len(chart.plotted)
    parts = [*key, svg.draw_x_axis(axis, top, bottom, chart.named_axis)]
    for index, (pair, label) in enumerate(zip(chart.plotted, labels, strict=True)):
        parts.append(_pair(chart, pair, label, top + PAIRED_ROW * (index + 0.5), axis))
    return parts, bottom + 44


def _pair(chart: PairedIntervals, pair: Pair, label: str, y: float, axis: Axis) -> str:
    apart = LINE_OFFSET if len(pair.placed) > 1 else 0.0
    lines = [_line(pair.main, y - apart, axis, main=True)]
    lines += [_line(estimate, y + apart, axis, main=False) for estimate in pair.placed[1:]]
    return element(
        "g",
        svg.tooltip(chart.pair_story(pair)),
        svg.label(axis.start - 12, y + 4, label, "end"),
        *lines,
        svg.label(svg.NARROW - 2, y + 4, pair.main.text, "end"),
    )


def _line(estimate: PairedEstimate, y: float, axis: Axis, *, main: bool) -> str:
    color, width = (svg.ACCENT, 3.0) if main else (svg.MUTED, 1.5)
    look: Look = {"fill": color if main else PAPER, "stroke": color}
    bar = [svg.line(*(axis.at(estimate.low), y, axis.at(estimate.high), y), color, width=width)]
    dot = shape("circle", cx=axis.at(estimate.value), cy=y, r=3.5, stroke_width=1.5, **look)
    return element("g", *(bar if estimate.bar else []), dot)


def _key(chart: PairedIntervals) -> list[str]:
    sample, axis, parts = PairedEstimate(0.5, 0.0, 1.0, ""), Axis(nice_ticks(0, 1), 2, 34), []
    for k, name in enumerate(chart.names):
        y = KEY_ROW * k + 12
        label = svg.label(44, y, svg.shorten(name, MAX_KEY_NAME))
        parts.append(element("g", _line(sample, y - 4, axis, main=k == 0), label))
    return parts
