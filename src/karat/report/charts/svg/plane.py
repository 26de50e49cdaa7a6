"""Charts with two axes: histograms and scatter plots."""

from __future__ import annotations

from collections.abc import Sequence

from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.axis import Axis, dashed, drawable, horizontal, plane, vertical
from karat.report.charts.ticks import Ticks, nice_ticks
from karat.report.page.markup import Look, element

TOP = 16
RIGHT = svg.WIDTH - 16
BELOW = 48  # room for the tick labels and the name of the axis

Point = tuple[float, float, str]


def histogram(
    values: Sequence[float], *, title: str, axis: str, bins: int = 20, marker: float | None = None
) -> str:
    """How many values fall in each of `bins` equal bins, with a dashed line at `marker`.

    A bin holds its lower edge; the last holds both.
    """
    if bins < 1:
        raise ValueError(f"a histogram needs at least one bin, not {bins}")
    kept = sorted(float(value) for value in values if drawable([value]))
    if not kept:
        return svg.no_data(title)
    line = [marker] if marker is not None and drawable([marker]) else []
    ticks = nice_ticks(min(kept + line), max(kept + line), about=8)
    edges = _edges(kept, ticks, bins)
    counts = _counts(kept, edges)
    return _draw_histogram(ticks, edges, counts, title=title, name=axis, line=line)


def scatter(
    points: Sequence[Point], *, title: str, x_axis: str, y_axis: str, diagonal: bool = False
) -> str:
    """A dot per (x, y, label), the label as its tooltip.

    With `diagonal` both axes share one scale and the line x = y is drawn.
    """
    kept = [point for point in points if drawable(point[:2])]
    if not kept:
        return svg.no_data(title)
    xs, ys = [x for x, _, _ in kept], [y for _, y, _ in kept]
    if diagonal:
        xs = ys = xs + ys
    height = 520
    across, up = nice_ticks(min(xs), max(xs), about=6), nice_ticks(min(ys), max(ys), about=6)
    x, y = _frame(across, up, height)
    parts = [horizontal(x, TOP, y.start, x_axis), vertical(y, x.start, x.end, y_axis)]
    if diagonal:
        parts.append(svg.line(x.start, y.start, x.end, y.end, svg.MUTED))
    parts += [_dot(x, y, point) for point in kept]
    story = f"{len(kept)} points; {x_axis} across, {y_axis} up."
    return svg.chart(title, story, height, parts)


def _frame(across: Ticks, up: Ticks, height: float) -> tuple[Axis, Axis]:
    return plane(across, up, top=TOP, right=RIGHT, bottom=height - BELOW)


def _dot(x: Axis, y: Axis, point: Point) -> str:
    across, up, label = point
    story = svg.tooltip(f"{label}: {across!r}, {up!r}")
    look: Look = {"r": 4, "fill": svg.ACCENT, "fill_opacity": 0.6}
    return element("circle", story, cx=x.at(across), cy=y.at(up), **look)


def _edges(kept: Sequence[float], ticks: Ticks, bins: int) -> list[float]:
    low, high = kept[0], kept[-1]
    if low == high:  # one bin, as wide as if the axis had been cut up
        first, last = ticks.values[0], ticks.values[-1]
        half = (last - first) / bins / 2
        return [max(first, low - half), min(last, high + half)]
    return [low + (high - low) * i / bins for i in range(bins)] + [high]


def _counts(kept: Sequence[float], edges: Sequence[float]) -> list[int]:
    counts = [0] * (len(edges) - 1)
    index = 0
    for value in kept:
        while index < len(counts) - 1 and value >= edges[index + 1]:
            index += 1
        counts[index] += 1
    return counts


def _draw_histogram(
    ticks: Ticks,
    edges: Sequence[float],
    counts: Sequence[int],
    *,
    title: str,
    name: str,
    line: Sequence[float],
) -> str:
    height = 320
    x, y = _frame(ticks, nice_ticks(0, max(counts), whole=True), height)
    parts = [horizontal(x, TOP, y.start, name), vertical(y, x.start, x.end, "count")]
    bins = list(zip(edges, edges[1:], counts, strict=False))
    parts += [_bin(x, y, low, high, count) for low, high, count in bins if count]
    parts += [dashed(x.at(value), TOP, y.start) for value in line]
    parts += [_marker_label(x, value) for value in line]
    story = f"{sum(counts)} values from {edges[0]!r} to {edges[-1]!r} of {name}."
    return svg.chart(title, story, height, parts)


def _bin(x: Axis, y: Axis, low: float, high: float, count: int) -> str:
    left, right = x.at(low), x.at(high)
    story = svg.tooltip(f"{low:.6g} to {high:.6g}: {count}")
    place = {"x": left + 0.5, "y": y.at(count), "width": max(right - left - 1, 0.5)}
    look: Look = {"height": y.start - y.at(count), "fill": svg.ACCENT, "fill_opacity": 0.85}
    return element("rect", story, **place, **look)


def _marker_label(x: Axis, value: float) -> str:
    place = x.at(value)
    anchor = "end" if place > (x.start + x.end) / 2 else "start"
    shift = -6 if anchor == "end" else 6
    return svg.text(place + shift, TOP + 4, x.ticks.label(value, extra=1), anchor)
