"""A scatter plot as a drawing: labelled points, groups, a fitted line and a note."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from karat.report.charts.axis import Axis, drawable
from karat.report.charts.models import (
    ChartLine,
    Curve,
    Curves,
    Point,
    Scatter,
    curve_runs,
    interval_bands,
)
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import (
    BELOW,
    RIGHT,
    Box,
    LegendEntry,
    Placed,
    draw_axes,
    legend,
    make_axes,
    marker,
    place_labels,
    series_color,
    series_line,
    space_out,
    stroke,
    translate_to,
)
from karat.report.markup import Look, coordinate, element, quote, shape

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
    bottom, width = (
        (NARROW_SCATTER_BOTTOM, svg.NARROW) if chart.narrow else (SCATTER_BOTTOM, svg.WIDTH)
    )
    ticks = chart.ticks(4, 4) if chart.narrow else chart.ticks()
    x, y = make_axes(ticks, SCATTER_TOP, bottom, width)
    parts = draw_axes(x, y, chart.x_axis, chart.y_axis)
    parts += _fitted(chart.line, x, y)
    groups = {group: number for number, group in enumerate(chart.groups)}
    look: Look = {} if chart.labelled else {"fill_opacity": 0.6}  # so that crowds show
    dots = []
    for point in chart.plotted:
        sign = marker(groups[point.group], translate_to(x.at(point.x), y.at(point.y)))
        dots.append(element("g", svg.tooltip(point.story), *_bar(x, y, point), sign))
    parts.append(element("g", *dots, **look))
    parts += _labels(chart, x, y) if chart.labelled else []
    if chart.note:
        parts.append(svg.label(x.end, SCATTER_TOP - 12, svg.shorten(chart.note, width // 8), "end"))
    named_groups = chart.groups if chart.groups != [""] else []
    entries = [LegendEntry(marker(k), group or "other") for k, group in enumerate(named_groups)]
    key, end = legend(entries, x.start, bottom + BELOW, width)
    return [*parts, *key], end + 4


def _bar(x: Axis, y: Axis, point: Point) -> Iterator[str]:
    if point.bar:
        across, (low, high) = x.at(point.x), map(y.at, point.bar)
        yield shape("line", x1=across, y1=low, x2=across, y2=high, class_="bar", **BAR)
        for end in (low, high):
            yield shape(
                "line", x1=across - CAP_LENGTH, y1=end, x2=across + CAP_LENGTH, y2=end, **BAR
            )


# ------------------------------------------------------------------------------- the fitted line


def visible_span(line: ChartLine, x: Axis, y: Axis) -> tuple[float, float] | None:
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


def _fitted(line: ChartLine | None, x: Axis, y: Axis) -> Iterator[str]:
    reach = visible_span(line, x, y) if line else None
    if line and reach and drawable(map(line.at, reach)):
        (x1, x2), (y1, y2) = map(x.at, reach), (y.at(line.at(end)) for end in reach)
        look: Look = {"stroke": svg.MUTED, "stroke_width": 1.5, "stroke_dasharray": "6 4"}
        yield shape("line", x1=x1, y1=y1, x2=x2, y2=y2, **look)


# --------------------------------------------------------------------------------------- labels


def _labels(chart: Scatter, x: Axis, y: Axis) -> Iterator[str]:
    dots = [(x.at(point.x), y.at(point.y)) for point in chart.plotted]
    labels = [svg.shorten(point.label, MAX_POINT_LABEL) for point in chart.plotted]
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


CURVES_TOP = 16.0
CURVES_BOTTOM = 360.0
NARROW_CURVES_BOTTOM = 240.0  # the same of narrow ones
NAME_GAP = 15.0  # between the names at the ends
MAX_NAME_SHIFT = 40.0  # that a name may stand from the end of its curve
MAX_CURVE_NAME = 26
MAX_MARKERS = 40  # on one curve: more would hide the line
BAND_OPACITY = 0.13  # the opacity of a band
MAX_FULL_BANDS = (
    3  # curves; bands of more are paler, so that curves stay in sight where many overlap
)


def draw_curves(chart: Curves) -> svg.Drawn:
    """The drawing; every marker has its tooltip."""
    names = [svg.shorten(curve.name, MAX_CURVE_NAME) for curve in chart.plotted]
    bottom, width = (
        (NARROW_CURVES_BOTTOM, svg.NARROW) if chart.narrow else (CURVES_BOTTOM, svg.WIDTH)
    )
    x, y = make_axes(
        chart.ticks(5, 4) if chart.narrow else chart.ticks(), CURVES_TOP, bottom, width
    )
    apart = len(set(names)) == len(names) and not chart.narrow  # cut alike: a legend
    places = _ends(chart, y) if apart else None
    if places:
        x = replace(x, end=RIGHT - max(map(svg.extent, names)) - 18)
    parts = draw_axes(x, y, chart.x_axis, chart.y_axis)
    shade = BAND_OPACITY * min(1.0, MAX_FULL_BANDS / len(chart.plotted))
    parts += [_bands(x, y, curve, k, shade) for k, curve in enumerate(chart.plotted)]
    parts += [_curve(x, y, curve, k) for k, curve in enumerate(chart.plotted)]
    if places:
        parts += _names(x, y, chart.plotted, names, places)
        return parts, CURVES_BOTTOM + BELOW
    entries = [LegendEntry(stroke(k), curve.name) for k, curve in enumerate(chart.plotted)]
    key, end = legend(entries, 8.0 if chart.narrow else x.start, bottom + BELOW, width)
    return [*parts, *key], end + 4


def _ends(chart: Curves, y: Axis) -> list[float] | None:
    """Return the places of the names beside the ends; None where a legend is clearer."""
    lasts = [curve_runs(curve.knots)[-1][-1] for curve in chart.plotted]
    if len({knot.x for knot in lasts}) > 1:
        return None
    positions = [y.at(knot.y) for knot in lasts]
    places = space_out(positions, NAME_GAP, CURVES_TOP, CURVES_BOTTOM)
    if (
        places is None
        or max(abs(a - b) for a, b in zip(positions, places, strict=True)) > MAX_NAME_SHIFT
    ):
        return None
    return places


def _names(
    x: Axis, y: Axis, curves: Sequence[Curve], names: Sequence[str], places: Sequence[float]
) -> Iterator[str]:
    for k, curve in enumerate(curves):
        last = curve_runs(curve.knots)[-1][-1]
        across, up = x.at(last.x), y.at(last.y)
        if abs(up - places[k]) > 4:
            yield svg.line(across + 6, up, across + 13, places[k], series_color(k))
        place: Look = {"x": across + 16, "y": places[k] + 4}
        yield element("text", quote(names[k]), class_="label", **place, **svg.HALO)


def _curve(x: Axis, y: Axis, curve: Curve, number: int) -> str:
    paths = [_path(x, y, [(knot.x, knot.y) for knot in run]) for run in curve_runs(curve.knots)]
    look: Look = {"fill": "none", "stroke_width": 2.0, "stroke_linejoin": "round"}
    line = shape("path", d="".join(paths), **look, **series_line(number))
    plotted_knots = [knot for run in curve_runs(curve.knots) for knot in run]
    signs = []
    for knot in plotted_knots[:: math.ceil(len(plotted_knots) / MAX_MARKERS)]:
        sign = marker(number, translate_to(x.at(knot.x), y.at(knot.y)))
        signs.append(element("g", svg.tooltip(f"{curve.name}, {knot.story}"), sign))
    return element("g", svg.tooltip(curve.name), line, *signs)


def _bands(x: Axis, y: Axis, curve: Curve, number: int, shade: float) -> str:
    """The intervals as areas; that of a single point is a line."""
    look: Look = {"fill": series_color(number), "fill_opacity": shade, "stroke": "none"}
    parts = []
    for run in interval_bands(curve.knots):
        lows = [(k.x, k.bar[0]) for k in run if k.bar]
        highs = [(k.x, k.bar[1]) for k in run if k.bar]
        if len(run) == 1:
            (at, low), (_, high) = lows[0], highs[0]
            parts.append(svg.line(x.at(at), y.at(low), x.at(at), y.at(high), series_color(number)))
        else:
            parts.append(shape("path", d=_path(x, y, [*lows, *reversed(highs)]) + "Z", **look))
    return "".join(parts)


def _path(x: Axis, y: Axis, places: Sequence[tuple[float, float]]) -> str:
    points = [f"{coordinate(x.at(a))} {coordinate(y.at(b))}" for a, b in places]
    return "M" + "L".join(points)
