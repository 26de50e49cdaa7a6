"""Rows as drawings: intervals, bars, differences, pairs and tallies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import NamedTuple

from karat.errors import visible
from karat.report.charts.axis import Axis, nice_ticks
from karat.report.charts.models import ChartRow, RowChart, difference_span
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import ACCENT, BELOW, MUTED
from karat.report.markup import Look, element, shape
from karat.report.render.text import display_width

TOP = 8.0
MAX_LABEL, MAX_NARROW_LABEL = 32, 18
MAX_SHORT_NAME = 22
LABEL_TAIL = 8  # letters that a cut label keeps at its end
KEY_ROW = 18.0  # the height of a line of the key of pairs
MAX_KEY_NAME = 48
PAIR_OFFSET = 4.5  # from the middle of a row to each of its two lines
PAPER = "var(--paper, #ffffff)"
_COLORS = {"better": "var(--up, #0b6e4f)", "worse": "var(--down, #b3402a)"}
_NONE = "var(--none, #626b79)"
_TALLY_COLORS = (_COLORS["better"], _NONE, _COLORS["worse"])
_SIGNS = {"better": "▲", "worse": "▼"}

Place = Callable[[float], float]


class RowLayout(NamedTuple):
    """The dimensions of a kind of rows."""

    height: float  # of a row
    wide: float  # factor of the width of labels, for wide letters
    left: float  # room beside the labels
    right: float  # room beside the values' texts
    label_gap: float
    text_gap: float
    below: float  # room for the axis or the key


_PLAIN = RowLayout(28.0, 1.0, 20, 24, 14, 4, BELOW)
_LAYOUTS = {
    "interval": _PLAIN,
    "bar": _PLAIN,
    "pair": RowLayout(26.0, 1.12, 14, 16, 12, 2, 44),
    "difference": RowLayout(24.0, 1.12, 14, 26, 12, 2, 22),
    "tally": RowLayout(24.0, 1.0, 22, 4, 12, 2, 22),
    "strip": RowLayout(24.0, 1.12, 14, 22, 12, 2, 22),
}


def draw_rows(chart: RowChart) -> svg.DrawingParts:
    """Draw a labelled row per item with its value as text; every row has its tooltip."""
    rows, kind, layout = chart.plotted, chart.kind, _LAYOUTS[chart.kind]
    width = svg.NARROW if chart.is_narrow else svg.WIDTH
    if kind in ("interval", "bar"):
        most = MAX_NARROW_LABEL if chart.narrow else MAX_LABEL
        labels = [svg.shorten(row.label, most) for row in rows]
        ticks = chart.ticks(3 if chart.narrow else 5)
        texts = [ticks.label(row.value, extra=2) for row in rows]
    else:
        labels = [short_name(row.label) for row in rows]
        texts = [row.text for row in rows]
    left = max(layout.wide * svg.extent(label) + _wide_letters(label) for label in labels)
    left += layout.left
    right = width - max(map(svg.extent, texts)) - layout.right
    key = list(_draw_pair_key(chart.names)) if kind == "pair" and chart.has_pairs else []
    top = KEY_ROW * len(key) + TOP
    bottom = top + layout.height * len(rows)
    parts = key
    if kind in ("difference", "strip"):
        low, high = chart.span or difference_span(rows)  # the baseline, 0, is always in it
        scale = (right - left) / ((high - low) or 1.0)
        zero = left - low * scale
        at: Place = lambda value: zero + value * scale  # noqa: E731
        parts.append(svg.dashed(zero, top, bottom))
    elif kind == "tally":
        at = lambda share: left + share * (right - left)  # noqa: E731
    else:
        axis = Axis(chart.ticks(3) if kind == "pair" else ticks, left, right)
        at = axis.at
        parts.append(svg.draw_x_axis(axis, top, bottom, chart.named_axis))
        if kind == "interval":
            parts += [svg.dashed(at(value), top, bottom) for value in chart.base]
    for index, (row, label, text) in enumerate(zip(rows, labels, texts, strict=True)):
        y = top + layout.height * (index + 0.5)
        color = _verdict_color(row.detail) if kind == "difference" else None
        marks = [svg.tooltip(chart.row_story(row))]
        marks.append(svg.label(left - layout.label_gap, y + 4, label, "end"))
        marks += _MARKS[kind](chart, row, at, y)
        if kind != "tally":
            signed = f"{text} {_SIGNS.get(row.detail, '')}".rstrip()
            marks.append(svg.label(width - layout.text_gap, y + 4, signed, "end", color))
        parts.append(element("g", *marks))
    if kind in ("difference", "strip"):
        parts += _side_labels(chart, zero, left, right, bottom)
    elif kind == "tally":
        for k, (name, color) in enumerate(zip(("won", "tied", "lost"), _TALLY_COLORS, strict=True)):
            x = left + 60 * k
            parts.append(shape("rect", x=x, y=bottom + 6, width=9.0, height=9.0, fill=color))
            parts.append(svg.label(x + 14, bottom + 15, name, "start", MUTED))
    return parts, bottom + layout.below


def _wide_letters(label: str) -> float:
    """Return the additional width of a label with many wide letters, such as `medium`."""
    n_wide = sum(map(label.count, "mMW@"))
    return 8.0 * max(0, n_wide - 1 - len(label) // 8)


def short_name(label: str) -> str:
    """Cut the middle of a long label: names of runs often differ at the end."""
    if display_width(label) <= MAX_SHORT_NAME:
        return svg.shorten(label, MAX_SHORT_NAME)
    return svg.shorten(label, MAX_SHORT_NAME - LABEL_TAIL) + visible(label[-LABEL_TAIL:])


def _draw_interval(_: RowChart, row: ChartRow, at: Place, y: float) -> Iterator[str]:
    if row.bar:
        left, right = map(at, row.bar)
        yield svg.line(left, y, right, y, ACCENT, width=1.5)
        for x in (left, right):
            yield svg.line(x, y - 4, x, y + 4, ACCENT, width=1.5)
    yield shape("circle", cx=at(row.value), cy=y, r=4, fill=ACCENT)


def _draw_bar(chart: RowChart, row: ChartRow, at: Place, y: float) -> Iterator[str]:
    zero, half = at(chart.baseline or 0.0), _PLAIN.height / 2
    left, right = sorted((zero, at(row.value)))
    place = {"x": left, "y": y - 8.0, "width": right - left, "height": 16.0}
    yield shape("rect", **place, fill=ACCENT, fill_opacity=0.85)
    # each row draws its part of the line that all bars start from
    yield svg.line(zero, y - half, zero, y + half, MUTED)


def _verdict_color(verdict: str) -> str:
    """Return green for better, red for worse, gray for undecided, else a neutral color."""
    return _NONE if verdict == "undecided" else _COLORS.get(verdict, svg.WARM)


def _draw_difference(_: RowChart, row: ChartRow, at: Place, y: float) -> Iterator[str]:
    """Draw a dot with a whisker, hollow if undecided."""
    color = _verdict_color(row.detail)
    look: Look = {"fill": PAPER if row.detail == "undecided" else color, "stroke": color}
    low, high = row.bar or (row.value, row.value)
    yield svg.line(at(low), y, at(high), y, color, width=2.5)
    yield shape("circle", cx=at(row.value), cy=y, r=4, stroke_width=2, **look)


def _draw_pair(_: RowChart, row: ChartRow, at: Place, y: float) -> Iterator[str]:
    """Draw the main value as a full dot on a thick line, the other as a hollow dot below."""
    offset = PAIR_OFFSET if len(row.values) > 1 else 0.0
    yield _draw_pair_line(row, at, y - offset, main=True)
    for other in row.values[1:]:
        yield _draw_pair_line(other, at, y + offset, main=False)


def _draw_pair_line(row: ChartRow, at: Place, y: float, *, main: bool) -> str:
    color, width = (ACCENT, 3.0) if main else (MUTED, 1.5)
    look: Look = {"fill": color if main else PAPER, "stroke": color}
    bar = [svg.line(at(row.bar[0]), y, at(row.bar[1]), y, color, width=width)] if row.bar else []
    dot = shape("circle", cx=at(row.value), cy=y, r=3.5, stroke_width=1.5, **look)
    return element("g", *bar, dot)


def _draw_pair_key(names: tuple[str, str]) -> Iterator[str]:
    axis = Axis(nice_ticks(0, 1), 2, 34)
    for k, name in enumerate(names):
        y = KEY_ROW * k + 12
        label = svg.label(44, y, svg.shorten(name, MAX_KEY_NAME))
        line = _draw_pair_line(ChartRow("", 0.5, 0.0, 1.0), axis.at, y - 4, main=k == 0)
        yield element("g", line, label)


def _side_labels(
    chart: RowChart, zero: float, left: float, right: float, bottom: float
) -> Iterator[str]:
    """Draw the name of the baseline and, if there is room, the meaning of both sides."""
    name = svg.shorten(chart.axis, MAX_SHORT_NAME)
    below, above = chart.names
    half = svg.extent(name) / 2
    at = min(max(zero, left - 8 + half), svg.NARROW - half)
    yield svg.label(at, bottom + 14, name, "middle", MUTED)
    if at - half - left > svg.extent(below) + 8:
        yield svg.label(left, bottom + 14, below, "start", MUTED)
    if right - at - half > svg.extent(above) + 8:
        yield svg.label(right, bottom + 14, above, "end", MUTED)


def _draw_tally(_: RowChart, row: ChartRow, at: Place, y: float) -> Iterator[str]:
    """Draw a bar divided into segments won, tied and lost, with their counts."""
    total, x, full_width = sum(row.counts) or 1, at(0), at(1) - at(0)
    for count, color in zip(row.counts, _TALLY_COLORS, strict=True):
        width = full_width * count / total
        yield shape("rect", x=x, y=y - 8, width=width, height=16.0, fill=color)
        if width > svg.extent(f"{count:,}") + 6:
            yield svg.label(x + width / 2, y + 4, f"{count:,}", "middle", PAPER)
        x += width


def _draw_strip(chart: RowChart, row: ChartRow, at: Place, y: float) -> Iterator[str]:
    """Draw a bin for each range of differences: the darker, the more segments."""
    low, high = chart.span or (-1.0, 1.0)
    left, width = at(low), (at(high) - at(low)) / len(row.counts)
    most, middle = max(row.counts) or 1, len(row.counts) // 2
    bins = []
    for k, count in enumerate(row.counts):
        if count:
            color = _COLORS["better" if k > middle else "worse"] if k != middle else _NONE
            look: Look = {"fill": color, "fill_opacity": 0.15 + 0.85 * sqrt(count / most)}
            place = {"x": left + k * width, "y": y - 8, "width": width, "height": 16.0}
            bins.append(shape("rect", **place, **look))
    yield element("g", *bins, class_="bins", data_left=left, data_width=width, data_y=y - 8)


_MARKS: dict[str, Callable[[RowChart, ChartRow, Place, float], Iterator[str]]] = {
    "interval": _draw_interval,
    "bar": _draw_bar,
    "pair": _draw_pair,
    "difference": _draw_difference,
    "tally": _draw_tally,
    "strip": _draw_strip,
}
