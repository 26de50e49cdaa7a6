"""Curves as a drawing: lines with bands, named at their ends where there is room."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from karat.report.charts.axis import Axis
from karat.report.charts.models import Curve, Curves, interval_bands, runs
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.colors import series_color, series_line
from karat.report.charts.svg.frame import BELOW, RIGHT, both, plane
from karat.report.charts.svg.labels import spaced
from karat.report.charts.svg.legend import Entry, legend, marker, moved, stroke
from karat.report.page.markup import Look, coordinate, element, quote, shape

CURVES_TOP = 16.0
CURVES_BOTTOM = 360.0
NARROW_CURVES_BOTTOM = 240.0  # the same of narrow ones
NAME_GAP = 15.0  # between the names at the ends
MAX_NAME_SHIFT = 40.0  # that a name may stand from the end of its curve
MAX_CURVE_NAME = 26
MAX_MARKERS = 40  # on one curve: more would hide the line
BAND_OPACITY = 0.13  # the opacity of a band
MAX_FULL_BANDS = 3  # curves; bands of more are paler, so that curves stay in sight where many overlap


def draw_curves(chart: Curves) -> svg.Drawn:
    """The drawing; every marker has its tooltip."""
    names = [svg.shorten(curve.name, MAX_CURVE_NAME) for curve in chart.shown]
    bottom, width = (NARROW_CURVES_BOTTOM, svg.NARROW) if chart.narrow else (CURVES_BOTTOM, svg.WIDTH)
    x, y = plane(chart.ticks(5, 4) if chart.narrow else chart.ticks(), CURVES_TOP, bottom, width)
    apart = len(set(names)) == len(names) and not chart.narrow  # cut alike: a legend
    places = _ends(chart, y) if apart else None
    if places:
        x = replace(x, end=RIGHT - max(map(svg.extent, names)) - 18)
    parts = both(x, y, chart.x_axis, chart.y_axis)
    shade = BAND_OPACITY * min(1.0, MAX_FULL_BANDS / len(chart.shown))
    parts += [_bands(x, y, curve, k, shade) for k, curve in enumerate(chart.shown)]
    parts += [_curve(x, y, curve, k) for k, curve in enumerate(chart.shown)]
    if places:
        parts += _names(x, y, chart.shown, names, places)
        return parts, CURVES_BOTTOM + BELOW
    entries = [Entry(stroke(k), curve.name) for k, curve in enumerate(chart.shown)]
    key, end = legend(entries, 8.0 if chart.narrow else x.start, bottom + BELOW, width)
    return [*parts, *key], end + 4


def _ends(chart: Curves, y: Axis) -> list[float] | None:
    """Return the places of the names beside the ends; None where a legend is clearer."""
    lasts = [runs(curve.knots)[-1][-1] for curve in chart.shown]
    if len({knot.x for knot in lasts}) > 1:
        return None
    wanted = [y.at(knot.y) for knot in lasts]
    places = spaced(wanted, NAME_GAP, CURVES_TOP, CURVES_BOTTOM)
    if places is None or max(abs(a - b) for a, b in zip(wanted, places, strict=True)) > MAX_NAME_SHIFT:
        return None
    return places


def _names(
    x: Axis, y: Axis, curves: Sequence[Curve], names: Sequence[str], places: Sequence[float]
) -> Iterator[str]:
    for k, curve in enumerate(curves):
        last = runs(curve.knots)[-1][-1]
        across, up = x.at(last.x), y.at(last.y)
        if abs(up - places[k]) > 4:
            yield svg.line(across + 6, up, across + 13, places[k], series_color(k))
        place: Look = {"x": across + 16, "y": places[k] + 4}
        yield element("text", quote(names[k]), class_="label", **place, **svg.HALO)


def _curve(x: Axis, y: Axis, curve: Curve, number: int) -> str:
    paths = [_path(x, y, [(knot.x, knot.y) for knot in run]) for run in runs(curve.knots)]
    look: Look = {"fill": "none", "stroke_width": 2.0, "stroke_linejoin": "round"}
    line = shape("path", d="".join(paths), **look, **series_line(number))
    known = [knot for run in runs(curve.knots) for knot in run]
    signs = []
    for knot in known[:: math.ceil(len(known) / MAX_MARKERS)]:
        sign = marker(number, moved(x.at(knot.x), y.at(knot.y)))
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
