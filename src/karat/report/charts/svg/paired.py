"""Two intervals for each item, drawn narrow enough for a phone."""

from __future__ import annotations

from karat.report.charts.axis import Axis, nice_ticks
from karat.report.charts.paired import Estimated, Pair, PairedIntervals
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.forest import WIDE, short_name
from karat.report.page.markup import Look, element, shape

PAIRED_ROW = 26.0
LINE_OFFSET = 4.5  # from the middle of a row to each of its lines
KEY_ROW = 18.0  # the height of a line of the key
MAX_KEY_NAME = 48
PAPER = "var(--paper, #ffffff)"


def draw_paired(chart: PairedIntervals) -> svg.Drawn:
    """The main value as a full dot on a thick line, the other as a hollow one below it."""
    labels = [short_name(pair.label) for pair in chart.shown]
    left = WIDE * max(map(svg.extent, labels)) + 14
    right = svg.NARROW - max(svg.extent(pair.main.text) for pair in chart.shown) - 16
    axis = Axis(chart.ticks(3), left, right)
    key = _key(chart) if chart.compared else []
    top = KEY_ROW * len(key) + 8
    bottom = top + PAIRED_ROW * len(chart.shown)
    parts = [*key, svg.horizontal(axis, top, bottom, chart.named_axis)]
    for index, (pair, label) in enumerate(zip(chart.shown, labels, strict=True)):
        parts.append(_pair(chart, pair, label, top + PAIRED_ROW * (index + 0.5), axis))
    return parts, bottom + 44


def _pair(chart: PairedIntervals, pair: Pair, label: str, y: float, axis: Axis) -> str:
    apart = LINE_OFFSET if len(pair.placed) > 1 else 0.0
    lines = [_line(pair.main, y - apart, axis, main=True)]
    lines += [_line(one, y + apart, axis, main=False) for one in pair.placed[1:]]
    return element(
        "g",
        svg.tooltip(chart.told(pair)),
        svg.label(axis.start - 12, y + 4, label, "end"),
        *lines,
        svg.label(svg.NARROW - 2, y + 4, pair.main.text, "end"),
    )


def _line(one: Estimated, y: float, axis: Axis, *, main: bool) -> str:
    color, width = (svg.ACCENT, 3.0) if main else (svg.MUTED, 1.5)
    look: Look = {"fill": color if main else PAPER, "stroke": color}
    bar = [svg.line(*(axis.at(one.low), y, axis.at(one.high), y), color, width=width)]
    dot = shape("circle", cx=axis.at(one.value), cy=y, r=3.5, stroke_width=1.5, **look)
    return element("g", *(bar if one.bar else []), dot)


def _key(chart: PairedIntervals) -> list[str]:
    """The two lines, each with its name."""
    one, axis, parts = Estimated(0.5, 0.0, 1.0, ""), Axis(nice_ticks(0, 1), 2, 34), []
    for k, name in enumerate(chart.names):
        y = KEY_ROW * k + 12
        label = svg.label(44, y, svg.shorten(name, MAX_KEY_NAME))
        parts.append(element("g", _line(one, y - 4, axis, main=k == 0), label))
    return parts
