"""The legend of a chart: the meaning of its signs, in rows below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.colors import MARKERS, series_color, series_line
from karat.report.page.markup import coordinate, element, shape

ROW = 20.0
SAMPLE = 30.0  # room for the sign before its meaning
LONGEST = 40


class Entry(NamedTuple):
    """A sign, drawn around the middle of its room, and its meaning."""

    sample: str
    meaning: str
    room: float = SAMPLE


def legend(
    entries: Sequence[Entry], left: float, top: float, width: float = svg.WIDTH
) -> tuple[list[str], float]:
    """The entries from `left` to the edge of the chart, and where they end."""
    parts, x, y = [], left, top + ROW / 2
    for entry in entries:
        meaning = svg.shorten(entry.meaning, LONGEST)
        wide = entry.room + svg.extent(meaning) + 22
        if x > left and x + wide > width:
            x, y = left, y + ROW
        parts.append(element("g", entry.sample, transform=moved(x + entry.room / 2 - 3, y)))
        parts.append(svg.label(x + entry.room, y + 4, meaning))
        x += wide
    return parts, (y + ROW / 2 if entries else top)


def moved(x: float, y: float) -> str:
    """The transform that puts the origin there."""
    return f"translate({coordinate(x)} {coordinate(y)})"


def marker(number: int, at: str | None = None) -> str:
    """The marker of a series around the origin, or moved."""
    outline = MARKERS[number % len(MARKERS)]
    return shape("path", d=outline, fill=series_color(number), transform=at)


def stroke(number: int) -> str:
    """A piece of a series' line with its marker."""
    line = shape("line", x1=-12, y1=0, x2=12, y2=0, stroke_width=2, **series_line(number))
    return line + marker(number)
