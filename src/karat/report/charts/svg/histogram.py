"""A histogram as a drawing: a bar for every bin that holds something."""

from __future__ import annotations

from itertools import pairwise

from karat.report.charts.axis import Axis
from karat.report.charts.models import Histogram
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.axes import BELOW, both, dashed, plane
from karat.report.page.markup import Look, element

TOP, BOTTOM = 16.0, 272.0


def draw_histogram(chart: Histogram) -> svg.Drawn:
    """The drawing; every bar has its tooltip."""
    x, y = plane(chart.ticks(), TOP, BOTTOM)
    parts = both(x, y, chart.axis, "count")
    bins = zip(pairwise(chart.edges), chart.counts, strict=True)
    parts += [_bin(x, y, low, high, count) for (low, high), count in bins if count]
    parts += [dashed(x.at(value), TOP, BOTTOM) for value in chart.base]
    parts += [_marker_label(x, value) for value in chart.base]
    return parts, BOTTOM + BELOW


def _bin(x: Axis, y: Axis, low: float, high: float, count: int) -> str:
    left, right = x.at(low), x.at(high)
    story = svg.tooltip(f"{low:.6g} to {high:.6g}: {count}")
    place = {"x": left + 0.5, "y": y.at(count), "width": max(right - left - 1, 0.5)}
    look: Look = {"height": y.start - y.at(count), "fill": svg.ACCENT, "fill_opacity": 0.85}
    return element("rect", story, **place, **look)


def _marker_label(x: Axis, value: float) -> str:
    place = x.at(value)
    late = place > (x.start + x.end) / 2
    label = x.ticks.label(value, extra=1)
    return svg.text(place + (-6 if late else 6), TOP + 4, label, "end" if late else "start")
