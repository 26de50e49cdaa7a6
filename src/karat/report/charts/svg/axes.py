"""The axes of a plot: a light grid line and a label at every tick, and their names."""

from __future__ import annotations

from karat.report.charts.axis import Axis, Ticks
from karat.report.charts.svg import frame as svg
from karat.report.page.markup import Look, element, shape

RIGHT = svg.WIDTH - 16.0
BELOW = 48.0  # room for the tick labels and the name of the axis


def plane(
    ticks: tuple[Ticks, Ticks], top: float, bottom: float, right: float = RIGHT
) -> tuple[Axis, Axis]:
    """The two axes of a plot, with room at the left for what stands along the second."""
    across, up = ticks
    left = 40 + max(svg.length(up.label(value)) for value in up.values)
    return Axis(across, left, right), Axis(up, bottom, top)


def both(x: Axis, y: Axis, x_name: str, y_name: str) -> list[str]:
    """The two axes of a plot, drawn."""
    return [horizontal(x, y.end, y.start, x_name), _vertical(y, x.start, x.end, y_name)]


def horizontal(axis: Axis, top: float, bottom: float, name: str) -> str:
    """The axis below a plot that reaches from `top` to `bottom`."""
    parts = []
    for value in axis.ticks.values:
        x = axis.at(value)
        parts.append(svg.line(x, top, x, bottom, svg.GRID))
        parts.append(svg.text(x, bottom + 17, axis.ticks.label(value), "middle", svg.MUTED))
    middle = (axis.start + axis.end) / 2
    parts.append(svg.text(middle, bottom + 37, svg.shorten(name, 70), "middle", svg.MUTED))
    return element("g", *parts)


def _vertical(axis: Axis, left: float, right: float, name: str) -> str:
    parts = []
    for value in axis.ticks.values:
        y = axis.at(value)
        parts.append(svg.line(left, y, right, y, svg.GRID))
        parts.append(svg.text(left - 8, y + 4, axis.ticks.label(value), "end", svg.MUTED))
    return element("g", *parts, svg.sideways(name, f"{(axis.start + axis.end) / 2:.2f}"))


def dashed(x: float, top: float, bottom: float) -> str:
    """A dashed vertical line across a plot."""
    dashes: Look = {"stroke": "currentColor", "stroke_opacity": 0.75, "stroke_dasharray": "4 3"}
    return shape("line", x1=x, y1=top, x2=x, y2=bottom, **dashes)
