"""Regions as drawings: named stretches along both axes, areas and points between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from karat.errors import visible
from karat.report.charts.axis import Axis, Ticks
from karat.report.charts.models import Stretch, XYChart
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import LegendEntry, legend
from karat.report.markup import Look, coordinate, element, quote, shape

TOP = 10.0
BOTTOM = 370.0
STEP = 24.0  # between the tracks of overlapping stretches
CAP = 4.0  # half of the line at the end of a stretch
INSET = 3.0  # of an area, to separate areas that share an edge
TEXT = 15.0  # height of a line of letters
NARROW = 6.2  # the advance of small letters: names of stretches may reach to their ends
BOLD = 1.15  # the advance of bold letters, relative to others


def draw_regions(chart: XYChart) -> svg.DrawingParts:
    """Draw areas and points between the named stretches of both axes, each with its tooltip."""
    x_axis, y_axis = chart.stretch_axes
    rows, columns = (assign_tracks(axis.stretches) for axis in chart.stretch_axes)
    across, up = (
        Ticks((min(s.low for s in axis.stretches), max(s.high for s in axis.stretches)), 0)
        for axis in chart.stretch_axes
    )
    left = 44 + STEP * (max(columns, default=0) + 1)
    x, y = Axis(across, left, svg.RIGHT), Axis(up, BOTTOM, TOP)
    edge = {"x": left, "y": TOP, "width": x.end - left, "height": BOTTOM - TOP}
    parts = [shape("rect", **edge, fill="none", stroke=svg.RULE)]
    for at, value in ((x.at(value), value) for value in x_axis.values):
        parts.append(svg.line(at, TOP, at, BOTTOM, svg.GRID))
        parts.append(svg.label(at, BOTTOM + 17, f"{value:g}", "middle", svg.MUTED))
    for at, value in ((y.at(value), value) for value in y_axis.values):
        parts.append(svg.line(left, at, x.end, at, svg.GRID))
        parts.append(svg.label(left - 8, at + 4, f"{value:g}", "end", svg.MUTED))
    parts.append(svg.draw_y_name(chart.y_axis, coordinate((TOP + BOTTOM) / 2)))
    parts += [*_draw_areas(chart, x, y), *_draw_points(chart, x, y)]
    for span, column in zip(y_axis.stretches, columns, strict=True):
        at, low, high = left - 22 - STEP * column, y.at(span.low) - 2, y.at(span.high) + 2
        parts.append(svg.line(at, low, at, high, svg.RULE, width=1.5))
        for end in (low, high):
            parts.append(svg.line(at - CAP, end, at + CAP, end, svg.RULE, width=1.5))
        name = svg.label(0, 0, _fit_name(span.name, low - high), "middle")
        turn = f"{svg.translate_to(at - 5, (low + high) / 2)} rotate(-90)"
        parts.append(element("g", svg.tooltip(span.name), name, transform=turn))
    for span, row in zip(x_axis.stretches, rows, strict=True):
        at, low, high = BOTTOM + 28 + 2 * STEP * row, x.at(span.low) + 2, x.at(span.high) - 2
        parts.append(svg.line(low, at, high, at, svg.RULE, width=1.5))
        for end in (low, high):
            parts.append(svg.line(end, at - CAP, end, at + CAP, svg.RULE, width=1.5))
        name = svg.label((low + high) / 2, at + TEXT, _fit_name(span.name, high - low), "middle")
        parts.append(element("g", svg.tooltip(span.name), name))
    below = BOTTOM + 22 + 2 * STEP * (max(rows, default=0) + 1)
    middle = (left + svg.RIGHT) / 2
    parts.append(svg.label(middle, below, svg.shorten(chart.x_axis, 90), "middle", svg.MUTED))
    area_name, highlighted_name, point_name = chart.keys
    entries = [LegendEntry(shape("rect", **svg.SWATCH, **_area_style(False)), area_name)]
    if any(area.highlighted for area in chart.areas):
        entries.append(
            LegendEntry(shape("rect", **svg.SWATCH, **_area_style(True)), highlighted_name)
        )
    if any(not point.highlighted for point in chart.points):
        entries.append(LegendEntry(_dot(False), point_name))
    key, end = legend(entries, left, below + 10)
    return [*parts, *key], end + 4


def assign_tracks(spans: Sequence[Stretch]) -> list[int]:
    """Return a track for each stretch: the first one in which it overlaps no other."""
    track_numbers: list[int] = []
    for at, span in enumerate(spans):
        near = [k for k in range(at) if spans[k].low < span.high and span.low < spans[k].high]
        used_tracks = {track_numbers[k] for k in near}
        track_numbers.append(next(k for k in range(at + 1) if k not in used_tracks))
    return track_numbers


def _fit_name(name: str, room: float, bold: bool = False) -> str:
    return svg.shorten(name, max(int(room / (NARROW * (BOLD if bold else 1))), 3))


def _area_style(highlighted: bool) -> Look:
    if highlighted:
        return {"fill": svg.ACCENT, "fill_opacity": 0.16, "stroke": svg.ACCENT, "stroke_width": 3}
    return {"fill": svg.MUTED, "fill_opacity": 0.08, "stroke": svg.RULE, "stroke_width": 1}


def _draw_areas(chart: XYChart, x: Axis, y: Axis) -> Iterator[str]:
    """Draw areas, highlighted ones on top; names of areas with a common corner are stacked.

    A name that does not fit is broken after its first part.
    """
    line_counts = Counter[tuple[float, float]]()
    for area in sorted(chart.areas, key=lambda area: area.highlighted):
        (left, right), (bottom, top) = map(x.at, area.x_range), map(y.at, area.y_range)
        width, height = max(right - left - 2 * INSET, 1), max(bottom - top - 2 * INSET, 1)
        rectangle = {"x": left + INSET, "y": top + INSET, "width": width, "height": height}
        text_style: Look = {"font_weight": "bold"} if area.highlighted else {"fill": svg.MUTED}
        max_width = right - left - 4 * INSET
        first_part, comma, second_part = area.name.partition(", ")
        label_lines = [_fit_name(area.name, max_width, area.highlighted)]
        if label_lines[0] != visible(area.name) and comma:
            label_lines = [
                _fit_name(part, max_width, area.highlighted)
                for part in (f"{first_part},", second_part)
            ]
        labels = []
        for line in label_lines:
            baseline = top + 16 + TEXT * line_counts[left, top]
            label_style: Look = {"x": left + 3 * INSET, "y": baseline, **svg.HALO, **text_style}
            labels.append(element("text", quote(line), **label_style))
            line_counts[left, top] += 1
        box = shape("rect", **rectangle, rx=5, **_area_style(area.highlighted))
        yield element("g", svg.tooltip(area.name), box, *labels)


def _draw_points(chart: XYChart, x: Axis, y: Axis) -> Iterator[str]:
    """Draw points, highlighted ones on top; names of points at one place are stacked."""
    lines = Counter[tuple[float, float]]()
    elements = []
    for point in sorted(chart.points, key=lambda point: not point.highlighted):
        across, up, name = x.at(point.x), y.at(point.y), svg.shorten(point.label, 40)
        right = across + 10 + svg.extent(name) < svg.RIGHT
        at = {"x": across + 10 if right else across - 10, "y": up + 4 + TEXT * lines[across, up]}
        lines[across, up] += 1
        weight: Look = {"font_weight": "bold"} if point.highlighted else {}
        look: Look = {"text_anchor": "start" if right else "end", **svg.HALO, **weight}
        label = element("text", quote(name), **at, **look)
        dot = _dot(point.highlighted, across, up)
        elements.append(element("g", svg.tooltip(point.label), dot, label))
    yield from reversed(elements)


def _dot(highlighted: bool, x: float = 0, y: float = 0) -> str:
    radius, color = (7, svg.ACCENT) if highlighted else (4, svg.MUTED)
    return shape("circle", cx=x, cy=y, r=radius, fill=color)
