"""Areas of a plane as a drawing: named stretches along both axes, areas and spots between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.errors import visible
from karat.report.charts.models import Area, Regions, Spot, Stretch
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import LegendEntry, legend
from karat.report.markup import Look, coordinate, element, quote, shape

TOP = 10.0
BOTTOM = 370.0
STEP = 24.0  # between stretches that overlap, and so stand beside each other
CAP = 4.0  # half of the line at the end of a stretch
INSET = 3.0  # of an area, so that areas that share an edge stay apart
TEXT = 15.0  # height of a line of letters
NARROW = 6.2  # the advance of small letters: names of stretches may reach to their ends
BOLD = 1.15  # the advance of bold letters, relative to others


class PlaneFrame(NamedTuple):
    """The place of the plane in the drawing, and the ranges that are shown."""

    left: float
    across: tuple[float, float]
    up: tuple[float, float]

    def x(self, value: float) -> float:
        """The place of a value across."""
        low, high = self.across
        return self.left + (value - low) / (high - low) * (svg.RIGHT - self.left)

    def y(self, value: float) -> float:
        """The place of a value up."""
        low, high = self.up
        return BOTTOM - (value - low) / (high - low) * (BOTTOM - TOP)


def draw_regions(chart: Regions) -> svg.Drawn:
    """The drawing; every area and spot has its tooltip."""
    rows, columns = tracks(chart.x_spans), tracks(chart.y_spans)
    ends = [(min(s.low for s in spans), max(s.high for s in spans)) for spans in _both(chart)]
    frame = PlaneFrame(44 + STEP * (max(columns, default=0) + 1), *ends)
    parts = [*_axes(chart, frame)]
    parts += _areas(chart.plotted, frame)
    parts += _spots(chart.spots, frame)
    parts += _spans_up(chart, frame, columns)
    parts += _spans_across(chart, frame, rows)
    below = BOTTOM + 22 + 2 * STEP * (max(rows, default=0) + 1)
    middle = (frame.left + svg.RIGHT) / 2
    parts.append(svg.label(middle, below, svg.shorten(chart.x_axis, 90), "middle", svg.MUTED))
    key, end = legend(_key(chart), frame.left, below + 10)
    return [*parts, *key], end + 4


def _both(chart: Regions) -> tuple[Sequence[Stretch], Sequence[Stretch]]:
    return chart.x_spans, chart.y_spans


def tracks(spans: Sequence[Stretch]) -> list[int]:
    """The number of a track for each stretch, the first in which it meets no other."""
    track_numbers: list[int] = []
    for at, span in enumerate(spans):
        near = [k for k in range(at) if spans[k].low < span.high and span.low < spans[k].high]
        used_tracks = {track_numbers[k] for k in near}
        track_numbers.append(next(k for k in range(at + 1) if k not in used_tracks))
    return track_numbers


# ---------------------------------------------------------------------------------------- axes


def _axes(chart: Regions, frame: PlaneFrame) -> Iterator[str]:
    edge = {"x": frame.left, "y": TOP, "width": svg.RIGHT - frame.left, "height": BOTTOM - TOP}
    yield shape("rect", **edge, fill="none", stroke=svg.RULE)
    for value in chart.x_values:
        x = frame.x(value)
        yield svg.line(x, TOP, x, BOTTOM, svg.GRID)
        yield svg.label(x, BOTTOM + 17, f"{value:g}", "middle", svg.MUTED)
    for value in chart.y_values:
        y = frame.y(value)
        yield svg.line(frame.left, y, svg.RIGHT, y, svg.GRID)
        yield svg.label(frame.left - 8, y + 4, f"{value:g}", "end", svg.MUTED)
    yield svg.draw_y_name(chart.y_axis, coordinate((TOP + BOTTOM) / 2))


def _spans_up(chart: Regions, frame: PlaneFrame, columns: list[int]) -> Iterator[str]:
    for span, column in zip(chart.y_spans, columns, strict=True):
        x = frame.left - 22 - STEP * column
        low, high = frame.y(span.low) - 2, frame.y(span.high) + 2
        yield svg.line(x, low, x, high, svg.RULE, width=1.5)
        for end in (low, high):
            yield svg.line(x - CAP, end, x + CAP, end, svg.RULE, width=1.5)
        name = svg.label(0, 0, _fitting(span.name, low - high), "middle")
        turn = f"translate({coordinate(x - 5)} {coordinate((low + high) / 2)}) rotate(-90)"
        yield element("g", svg.tooltip(span.name), name, transform=turn)


def _spans_across(chart: Regions, frame: PlaneFrame, rows: list[int]) -> Iterator[str]:
    for span, row in zip(chart.x_spans, rows, strict=True):
        y = BOTTOM + 28 + 2 * STEP * row
        low, high = frame.x(span.low) + 2, frame.x(span.high) - 2
        yield svg.line(low, y, high, y, svg.RULE, width=1.5)
        for end in (low, high):
            yield svg.line(end, y - CAP, end, y + CAP, svg.RULE, width=1.5)
        name = svg.label((low + high) / 2, y + TEXT, _fitting(span.name, high - low), "middle")
        yield element("g", svg.tooltip(span.name), name)


def _fitting(name: str, room: float, bold: bool = False) -> str:
    return svg.shorten(name, max(int(room / (NARROW * (BOLD if bold else 1))), 3))


# ------------------------------------------------------------------------------ areas and spots


def _look(highlighted: bool) -> Look:
    if highlighted:
        return {"fill": svg.ACCENT, "fill_opacity": 0.16, "stroke": svg.ACCENT, "stroke_width": 3}
    return {"fill": svg.MUTED, "fill_opacity": 0.08, "stroke": svg.RULE, "stroke_width": 1}


def _areas(areas: Sequence[Area], frame: PlaneFrame) -> Iterator[str]:
    """The areas with their names; those that share a corner have theirs below each other."""
    lines = Counter[tuple[float, float]]()
    for area in areas:
        left, right = (frame.x(value) for value in area.across)
        bottom, top = (frame.y(value) for value in area.up)
        wide, high = max(right - left - 2 * INSET, 1), max(bottom - top - 2 * INSET, 1)
        corner = {"x": left + INSET, "y": top + INSET, "width": wide, "height": high}
        look: Look = {"font_weight": "bold"} if area.highlighted else {"fill": svg.MUTED}
        labels = []
        for name in _lines(area, right - left - 4 * INSET):
            y = top + 16 + TEXT * lines[left, top]
            place: Look = {"x": left + 3 * INSET, "y": y, **svg.HALO, **look}
            labels.append(element("text", quote(name), **place))
            lines[left, top] += 1
        box = shape("rect", **corner, rx=5, **_look(area.highlighted))
        yield element("g", svg.tooltip(area.name), box, *labels)


def _lines(area: Area, room: float) -> list[str]:
    """The name of an area: in one line if it fits, else broken after its first part."""
    single_line = _fitting(area.name, room, area.highlighted)
    first, comma, second_part = area.name.partition(", ")
    if single_line == visible(area.name) or not comma:
        return [single_line]
    return [_fitting(part, room, area.highlighted) for part in (f"{first},", second_part)]


def _spots(spots: Sequence[Spot], frame: PlaneFrame) -> Iterator[str]:
    """The spots, what was asked for above others; names of one place are below each other."""
    lines = Counter[tuple[float, float]]()
    elements = []
    for spot in sorted(spots, key=lambda spot: not spot.highlighted):
        x, y = frame.x(spot.x), frame.y(spot.y)
        name = svg.shorten(spot.name, 40)
        right = x + 10 + svg.extent(name) < svg.RIGHT
        at = {"x": x + 10 if right else x - 10, "y": y + 4 + TEXT * lines[x, y]}
        lines[x, y] += 1
        weight: Look = {"font_weight": "bold"} if spot.highlighted else {}
        look: Look = {"text_anchor": "start" if right else "end", **svg.HALO, **weight}
        label = element("text", quote(name), **at, **look)
        elements.append(element("g", svg.tooltip(spot.name), _dot(spot.highlighted, x, y), label))
    yield from reversed(elements)


def _dot(highlighted: bool, x: float = 0, y: float = 0) -> str:
    return shape(
        "circle",
        cx=x,
        cy=y,
        r=7 if highlighted else 4,
        fill=svg.ACCENT if highlighted else svg.MUTED,
    )


def _key(chart: Regions) -> list[LegendEntry]:
    """The entries of the legend: areas and spots."""
    swatch = {"x": -10.0, "y": -7.0, "width": 20.0, "height": 14.0}
    area, highlighted_name, spot = chart.keys
    entries = [LegendEntry(shape("rect", **swatch, **_look(False)), area)]
    if any(item.highlighted for item in chart.areas):
        entries.append(LegendEntry(shape("rect", **swatch, **_look(True)), highlighted_name))
    if any(not item.highlighted for item in chart.spots):
        entries.append(LegendEntry(_dot(False), spot))
    return entries
