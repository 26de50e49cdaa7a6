"""Plots on two axes as drawings: labelled points with a line, curves with bands, histograms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import sub

from karat.report.charts.axis import Axis, drawable
from karat.report.charts.models import ChartLine, Point, XYChart, curve_runs, interval_bands
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import BELOW, LegendEntry, legend, marker, series_color
from karat.report.markup import Look, coordinate, element, quote, shape

SCATTER_TOP = 30.0  # room for the note above the plot
SCATTER_BOTTOM = 430.0
NARROW_SCATTER_BOTTOM = 220.0
LABEL_HEIGHT = 15.0
WIDE = 1.12  # allows for wide letters
MAX_POINT_LABEL = 34
CAP_LENGTH = 3.0  # half of the line at the end of a bar
BAR: Look = {"stroke": svg.MUTED, "stroke_width": 1, "stroke_opacity": 0.7}


def draw_scatter(chart: XYChart) -> svg.DrawingParts:
    """Draw points with their labels, bars and line; every point has its tooltip."""
    width = svg.NARROW if chart.narrow else svg.WIDTH
    bottom = NARROW_SCATTER_BOTTOM if chart.narrow else SCATTER_BOTTOM
    ticks = chart.ticks(4, 4) if chart.narrow else chart.ticks()
    x, y = svg.make_axes(ticks, SCATTER_TOP, bottom, width)
    parts = svg.draw_axes(x, y, chart.x_axis, chart.y_axis)
    reach = visible_span(chart.line, x, y) if chart.line else None
    if chart.line and reach and drawable(map(chart.line.at, reach)):
        (x1, x2), (y1, y2) = map(x.at, reach), (y.at(chart.line.at(end)) for end in reach)
        dashes: Look = {"stroke": svg.MUTED, "stroke_width": 1.5, "stroke_dasharray": "6 4"}
        parts.append(shape("line", x1=x1, y1=y1, x2=x2, y2=y2, **dashes))
    look: Look = {} if chart.has_labels else {"fill_opacity": 0.6}  # shows overlapping points
    dots = []
    for point in chart.plotted:
        across = x.at(point.x)
        bars = []
        if point.bar:
            low, high = map(y.at, point.bar)
            bars.append(shape("line", x1=across, y1=low, x2=across, y2=high, class_="bar", **BAR))
            left, right = across - CAP_LENGTH, across + CAP_LENGTH
            bars += [shape("line", x1=left, y1=y1, x2=right, y2=y1, **BAR) for y1 in (low, high)]
        sign = marker(chart.groups.index(point.group), svg.translate_to(across, y.at(point.y)))
        dots.append(element("g", svg.tooltip(point.story()), *bars, sign))
    parts.append(element("g", *dots, **look))
    parts += _draw_labels(chart, x, y) if chart.has_labels else []
    if chart.note:
        parts.append(svg.label(x.end, SCATTER_TOP - 12, svg.shorten(chart.note, width // 8), "end"))
    named_groups = chart.groups if chart.groups != [""] else []
    entries = [LegendEntry(marker(k), group or "other") for k, group in enumerate(named_groups)]
    key, end = legend(entries, x.start, bottom + BELOW, width)
    return [*parts, *key], end + 4


def visible_span(line: ChartLine, x: Axis, y: Axis) -> tuple[float, float] | None:
    """Return the range of x in which the line is inside the plot, None if it is outside."""
    (low, *_, high), (bottom, *_, top) = x.ticks.values, y.ticks.values
    if not drawable(line):
        return None
    if line.slope:
        ends = sorted((end - line.intercept) / line.slope for end in (bottom, top))
        low, high = max(low, ends[0]), min(high, ends[1])
    elif not bottom <= line.intercept <= top:
        return None
    return (low, high) if low < high and drawable([low, high]) else None


def _draw_labels(chart: XYChart, x: Axis, y: Axis) -> Iterator[str]:
    """Draw the labels of points where there is room, with lines to distant ones."""
    dots = [(x.at(point.x), y.at(point.y)) for point in chart.plotted]
    labels = [svg.shorten(point.label, MAX_POINT_LABEL) for point in chart.plotted]
    sizes = [(svg.extent(label) * WIDE, LABEL_HEIGHT) for label in labels]
    places = svg.place_labels(dots, sizes, svg.Box(x.start, y.end, x.end, y.start))
    for (dot_x, dot_y), label, place in zip(dots, labels, places, strict=True):
        if not place or not label or (place[1] and chart.narrow):
            continue
        box, is_far = place
        if is_far:
            near_x = min(max(dot_x, box.left), box.right)
            near_y = min(max(dot_y, box.top), box.bottom)
            yield svg.line(dot_x, dot_y, near_x, near_y, svg.RULE)
        label_x, anchor = (box.left + box.right) / 2, "middle"
        if box.left >= dot_x or box.right <= dot_x:  # it starts or ends beside its dot
            label_x, anchor = (box.left, "start") if box.left >= dot_x else (box.right, "end")
        look: Look = {"x": label_x, "y": box.top + 11.5, "text_anchor": anchor, **svg.HALO}
        yield element("text", quote(label), class_="label", **look)


CURVES_TOP = 16.0
CURVES_BOTTOM = 360.0
NARROW_CURVES_BOTTOM = 240.0
NAME_GAP = 15.0  # between the names at the ends
MAX_NAME_SHIFT = 40.0  # from the end of a curve to its name
MAX_CURVE_NAME = 26
MAX_MARKERS = 40  # on one curve: more would hide the line
BAND_OPACITY = 0.13
MAX_FULL_BANDS = 3  # bands of more curves are paler


def draw_curves(chart: XYChart) -> svg.DrawingParts:
    """Draw curves with bands; every marker has its tooltip.

    Curves are named at their ends if there is room, otherwise in a legend.
    """
    curves = list(chart.curves.values())
    names = [svg.shorten(name, MAX_CURVE_NAME) for name in chart.curves]
    width = svg.NARROW if chart.narrow else svg.WIDTH
    bottom = NARROW_CURVES_BOTTOM if chart.narrow else CURVES_BOTTOM
    ticks = chart.ticks(5, 4) if chart.narrow else chart.ticks()
    x, y = svg.make_axes(ticks, CURVES_TOP, bottom, width)
    apart = len(set(names)) == len(names) and not chart.narrow  # equal after cutting: a legend
    lasts = [curve_runs(points)[-1][-1] for points in curves]
    heights, ends = None, [y.at(point.y) for point in lasts]
    if apart and len({point.x for point in lasts}) == 1:
        heights = svg.space_out(ends, NAME_GAP, CURVES_TOP, CURVES_BOTTOM)
    if heights and max(map(abs, map(sub, ends, heights))) > MAX_NAME_SHIFT:
        heights = None  # a legend is clearer
    if heights:
        x = replace(x, end=svg.RIGHT - max(map(svg.extent, names)) - 18)
    parts = svg.draw_axes(x, y, chart.x_axis, chart.y_axis)
    shade = BAND_OPACITY * min(1.0, MAX_FULL_BANDS / len(curves))
    parts += [_draw_bands(x, y, points, k, shade) for k, points in enumerate(curves)]
    for k, (name, points) in enumerate(chart.curves.items()):
        parts.append(_draw_curve(x, y, name, points, k))
    if heights:
        for k, (last, name, height) in enumerate(zip(lasts, names, heights, strict=True)):
            across, up = x.at(last.x), y.at(last.y)
            if abs(up - height) > 4:
                parts.append(svg.line(across + 6, up, across + 13, height, series_color(k)))
            place: Look = {"x": across + 16, "y": height + 4}
            parts.append(element("text", quote(name), class_="label", **place, **svg.HALO))
        return parts, CURVES_BOTTOM + BELOW
    entries = [LegendEntry(svg.stroke(k), name) for k, name in enumerate(chart.curves)]
    key, end = legend(entries, 8.0 if chart.narrow else x.start, bottom + BELOW, width)
    return [*parts, *key], end + 4


def _draw_curve(x: Axis, y: Axis, name: str, points: Sequence[Point], number: int) -> str:
    runs = curve_runs(points)
    paths = [_polyline_path(x, y, [(point.x, point.y) for point in run]) for run in runs]
    look: Look = {"fill": "none", "stroke_width": 2.0, "stroke_linejoin": "round"}
    line = shape("path", d="".join(paths), **look, **svg.series_line(number))
    plotted = [point for run in runs for point in run]
    signs = []
    for point in plotted[:: math.ceil(len(plotted) / MAX_MARKERS)]:
        sign = marker(number, svg.translate_to(x.at(point.x), y.at(point.y)))
        signs.append(element("g", svg.tooltip(f"{name}, {point.story(joined=True)}"), sign))
    return element("g", svg.tooltip(name), line, *signs)


def _draw_bands(x: Axis, y: Axis, points: Sequence[Point], number: int, shade: float) -> str:
    """Draw intervals as areas; the interval of a single point is a line."""
    look: Look = {"fill": series_color(number), "fill_opacity": shade, "stroke": "none"}
    parts = []
    for run in interval_bands(points):
        lows = [(point.x, point.bar[0]) for point in run if point.bar]
        highs = [(point.x, point.bar[1]) for point in run if point.bar]
        if len(run) == 1:
            (at, low), (_, high) = lows[0], highs[0]
            parts.append(svg.line(x.at(at), y.at(low), x.at(at), y.at(high), series_color(number)))
        else:
            parts.append(
                shape("path", d=_polyline_path(x, y, [*lows, *reversed(highs)]) + "Z", **look)
            )
    return "".join(parts)


def _polyline_path(x: Axis, y: Axis, places: Sequence[tuple[float, float]]) -> str:
    points = [f"{coordinate(x.at(a))} {coordinate(y.at(b))}" for a, b in places]
    return "M" + "L".join(points)


HISTOGRAM_TOP, HISTOGRAM_BOTTOM = 16.0, 272.0  # the edges of a histogram


def draw_histogram(chart: XYChart) -> svg.DrawingParts:
    """Draw a bar for each area, with its tooltip."""
    width = svg.NARROW if chart.narrow else svg.WIDTH
    x, y = svg.make_axes(chart.ticks(), HISTOGRAM_TOP, HISTOGRAM_BOTTOM, width)
    parts = svg.draw_axes(x, y, chart.x_axis, chart.y_axis)
    for area in chart.areas:
        (left, right), top = map(x.at, area.x_range), y.at(area.y_range[1])
        place = {"x": left + 0.5, "y": top, "width": max(right - left - 1, 0.5)}
        look: Look = {"height": y.start - top, "fill": svg.ACCENT, "fill_opacity": 0.85}
        parts.append(element("rect", svg.tooltip(area.name), **place, **look))
    if chart.marker is not None:
        at, label = x.at(chart.marker), x.ticks.label(chart.marker, extra=1)
        parts.append(svg.dashed(at, HISTOGRAM_TOP, HISTOGRAM_BOTTOM))
        shift, anchor = (-6, "end") if at > (x.start + x.end) / 2 else (6, "start")
        parts.append(svg.label(at + shift, HISTOGRAM_TOP + 4, label, anchor))
    return parts, HISTOGRAM_BOTTOM + BELOW
