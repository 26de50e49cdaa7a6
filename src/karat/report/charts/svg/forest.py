"""Differences with intervals, and wins against losses, drawn narrow enough for a phone."""

from __future__ import annotations

from karat.errors import visible
from karat.report.charts.forest import Change, Forest, Tallies, Tally
from karat.report.charts.svg import frame as svg
from karat.report.page.markup import Look, element, shape
from karat.report.render.terminal import display_width

ROW = 24.0
TOP = 8.0
LONGEST_LABEL = 22
KEPT = 8  # letters at the end of a label that is cut
WIDE = 1.12  # capitals take more room than the usual letters
_COLORS = {"better": "var(--up, #0b6e4f)", "worse": "var(--down, #b3402a)"}
_NONE = "var(--none, #626b79)"
_SIGNS = {"better": "▲", "worse": "▼"}


def draw_forest(chart: Forest) -> svg.Drawn:
    """A dot with a whisker in each row: green if better, red if worse, hollow if undecided.

    Verdicts that are neither good nor bad have a colour of their own.
    """
    labels = [short_name(change.label) for change in chart.shown]
    left = WIDE * max(map(svg.extent, labels)) + 14
    right = svg.NARROW - max(svg.extent(change.text) for change in chart.shown) - 26
    low, high = chart.ends
    scale = (right - left) / ((high - low) or 1.0)
    zero, bottom = left - low * scale, TOP + ROW * len(chart.shown)
    parts = [svg.dashed(zero, TOP, bottom)]
    for index, change in enumerate(chart.shown):
        y = TOP + ROW * (index + 0.5)
        parts.append(
            _change(change, labels[index], y, left, [zero + x * scale for x in change[1:4]])
        )
    return [*parts, *_ends(chart, zero, left, right, bottom)], bottom + 22


def short_name(label: str) -> str:
    """A label without its middle where it is long: names of runs often differ at the end."""
    if display_width(label) <= LONGEST_LABEL:
        return svg.shorten(label, LONGEST_LABEL)
    return svg.shorten(label, LONGEST_LABEL - KEPT) + visible(label[-KEPT:])


def _change(change: Change, label: str, y: float, left: float, places: list[float]) -> str:
    decided, (at, low, high) = change.verdict != "undecided", places
    color = _COLORS.get(change.verdict, svg.WARM) if decided else _NONE
    look: Look = {"fill": color if decided else "var(--paper, #ffffff)", "stroke": color}
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
    name = svg.shorten(chart.base, LONGEST_LABEL)
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
    labels = [short_name(tally.label) for tally in chart.shown]
    left = max(map(svg.extent, labels)) + 22
    parts = []
    for index, tally in enumerate(chart.shown):
        y = TOP + ROW * (index + 0.5)
        label = svg.label(left - 12, y + 4, labels[index], "end")
        parts.append(element("g", svg.tooltip(tally.story), label, *_tally(tally, left, y)))
    bottom = TOP + ROW * len(chart.shown)
    keys = [("won", _COLORS["better"]), ("tied", _NONE), ("lost", _COLORS["worse"])]
    for x, (name, color) in zip((left, left + 60, left + 120), keys, strict=True):
        parts.append(shape("rect", x=x, y=bottom + 6, width=9.0, height=9.0, fill=color))
        parts.append(svg.label(x + 14, bottom + 15, name, "start", svg.MUTED))
    return parts, bottom + 22


def _tally(tally: Tally, left: float, y: float) -> list[str]:
    whole = (tally.wins + tally.ties + tally.losses) or 1
    room, x, parts = svg.NARROW - left - 4, left, []
    colors = (_COLORS["better"], _NONE, _COLORS["worse"])
    for count, color in zip(tally[1:], colors, strict=True):
        wide = room * count / whole
        place: Look = {"x": x, "y": y - 8, "width": wide, "height": 16.0, "fill": color}
        parts.append(shape("rect", **place))
        if wide > svg.extent(f"{count:,}") + 6:
            middle = x + wide / 2
            parts.append(svg.label(middle, y + 4, f"{count:,}", "middle", "var(--paper, #ffffff)"))
        x += wide
    return parts
