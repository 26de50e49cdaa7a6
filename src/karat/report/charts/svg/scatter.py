"""A scatter plot as a drawing: labelled points, groups, a fitted line and a note."""

from __future__ import annotations

from collections.abc import Iterator

from karat.report.charts.axis import Axis, drawable
from karat.report.charts.models import Line, Point, Scatter
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import BELOW, both, plane
from karat.report.charts.svg.labels import Box, Placed, place_labels
from karat.report.charts.svg.legend import Entry, legend, marker, moved
from karat.report.page.markup import Look, element, quote, shape

SCATTER_TOP = 30.0  # room for the note above the plot
SCATTER_BOTTOM = 430.0
NARROW_SCATTER_BOTTOM = 220.0  # the same of a narrow one
LABEL_HEIGHT = 15.0  # height of a label
WIDE = 1.12  # broad letters take more room than the usual ones
MAX_POINT_LABEL = 34
CAP_LENGTH = 3.0  # half of the line at the end of a bar
BAR: Look = {"stroke": svg.MUTED, "stroke_width": 1, "stroke_opacity": 0.7}


def draw_scatter(chart: Scatter) -> svg.Drawn:
    """The drawing; every point has its tooltip."""
    bottom, width = (NARROW_SCATTER_BOTTOM, svg.NARROW) if chart.narrow else (SCATTER_BOTTOM, svg.WIDTH)
    ticks = chart.ticks(4, 4) if chart.narrow else chart.ticks()
    x, y = plane(ticks, SCATTER_TOP, bottom, width)
    parts = both(x, y, chart.x_axis, chart.y_axis)
    parts += _fitted(chart.line, x, y)
    groups = {group: number for number, group in enumerate(chart.groups)}
    look: Look = {} if chart.labelled else {"fill_opacity": 0.6}  # so that crowds show
    dots = []
    for point in chart.shown:
        sign = marker(groups[point.group], moved(x.at(point.x), y.at(point.y)))
        dots.append(element("g", svg.tooltip(point.story), *_bar(x, y, point), sign))
    parts.append(element("g", *dots, **look))
    parts += _labels(chart, x, y) if chart.labelled else []
    if chart.note:
        parts.append(svg.label(x.end, SCATTER_TOP - 12, svg.shorten(chart.note, width // 8), "end"))
    named = chart.groups if chart.groups != [""] else []
    entries = [Entry(marker(k), group or "other") for k, group in enumerate(named)]
    key, end = legend(entries, x.start, bottom + BELOW, width)
    return [*parts, *key], end + 4


def _bar(x: Axis, y: Axis, point: Point) -> Iterator[str]:
    """The interval, with a cap at each end."""
    if point.bar:
        across, (low, high) = x.at(point.x), map(y.at, point.bar)
        yield shape("line", x1=across, y1=low, x2=across, y2=high, class_="bar", **BAR)
        for end in (low, high):
            yield shape("line", x1=across - CAP_LENGTH, y1=end, x2=across + CAP_LENGTH, y2=end, **BAR)


# ------------------------------------------------------------------------------- the fitted line


def visible_span(line: Line, x: Axis, y: Axis) -> tuple[float, float] | None:
    """The least and largest x at which the line is within the plot; None if it never is."""
    (low, *_, high), (bottom, *_, top) = x.ticks.values, y.ticks.values
    if not drawable(line):
        return None
    if line.slope:
        ends = sorted((end - line.intercept) / line.slope for end in (bottom, top))
        low, high = max(low, ends[0]), min(high, ends[1])
    elif not bottom <= line.intercept <= top:
        return None
    return (low, high) if low < high and drawable([low, high]) else None


def _fitted(line: Line | None, x: Axis, y: Axis) -> Iterator[str]:
    reach = visible_span(line, x, y) if line else None
    if line and reach and drawable(map(line.at, reach)):
        (x1, x2), (y1, y2) = map(x.at, reach), (y.at(line.at(end)) for end in reach)
        look: Look = {"stroke": svg.MUTED, "stroke_width": 1.5, "stroke_dasharray": "6 4"}
        yield shape("line", x1=x1, y1=y1, x2=x2, y2=y2, **look)


# --------------------------------------------------------------------------------------- labels


def _labels(chart: Scatter, x: Axis, y: Axis) -> Iterator[str]:
    dots = [(x.at(point.x), y.at(point.y)) for point in chart.shown]
    labels = [svg.shorten(point.label, MAX_POINT_LABEL) for point in chart.shown]
    sizes = [(svg.extent(label) * WIDE, LABEL_HEIGHT) for label in labels]
    places = place_labels(dots, sizes, Box(x.start, y.end, x.end, y.start))
    for dot, label, place in zip(dots, labels, places, strict=True):
        if place and label and not (place.far and chart.narrow):
            yield from _label(dot, label, place)


def _label(dot: tuple[float, float], label: str, place: Placed) -> Iterator[str]:
    box = place.box
    if place.far:
        across = min(max(dot[0], box.left), box.right)
        yield svg.line(*dot, across, min(max(dot[1], box.top), box.bottom), svg.RULE)
    x, anchor = (box.left + box.right) / 2, "middle"
    if box.left >= dot[0] or box.right <= dot[0]:  # it starts or ends beside its dot
        x, anchor = (box.left, "start") if box.left >= dot[0] else (box.right, "end")
    look: Look = {"x": x, "y": box.top + 11.5, "text_anchor": anchor, **svg.HALO}
    yield element("text", quote(label), class_="label", **look)
