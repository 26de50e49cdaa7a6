"""An axis: data values to positions, with a light grid line and a label at every tick."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from karat.report.charts.svg import frame as svg
from karat.report.charts.ticks import LogTicks, Ticks
from karat.report.page.markup import Look, element, shape

_LARGEST = 1e300  # beyond it, differences overflow


def drawable(values: Iterable[float | None]) -> bool:
    """Whether all the values have a place on an axis; None, NaN and infinities have none."""
    return all(v is not None and math.isfinite(v) and abs(v) < _LARGEST for v in values)


@dataclass(frozen=True)
class Axis:
    """Ticks laid out from `start` to `end`, in the units of the drawing."""

    ticks: Ticks
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where the value lies."""
        low, high = self.ticks.values[0], self.ticks.values[-1]
        return self.start + (value - low) / (high - low) * (self.end - self.start)


@dataclass(frozen=True)
class LogAxis(Axis):
    """The same by logarithms: all values are above zero."""

    def at(self, value: float) -> float:
        """Where the value lies."""
        from karat.arithmetic import log10  # numpy is loaded where it is needed

        first, last = self.ticks.values[0], self.ticks.values[-1]
        low, high, here = map(log10, (first, last, value))
        return self.start + (here - low) / (high - low) * (self.end - self.start)


def plane(
    across: Ticks, up: Ticks, *, top: float, right: float, bottom: float
) -> tuple[Axis, Axis]:
    """The two axes of a plot, with room at the left for what stands along the second."""
    left = 40 + max(svg.length(up.label(value)) for value in up.values)
    kind = LogAxis if isinstance(across, LogTicks) else Axis
    return kind(across, left, right), Axis(up, bottom, top)


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


def vertical(axis: Axis, left: float, right: float, name: str) -> str:
    """The axis to the left of a plot that reaches from `left` to `right`."""
    parts = []
    for value in axis.ticks.values:
        y = axis.at(value)
        parts.append(svg.line(left, y, right, y, svg.GRID))
        parts.append(svg.text(left - 8, y + 4, axis.ticks.label(value), "end", svg.MUTED))
    parts.append(_sideways(svg.shorten(name, 45), (axis.start + axis.end) / 2))
    return element("g", *parts)


def dashed(x: float, top: float, bottom: float) -> str:
    """A dashed vertical line across a plot."""
    dashes: Look = {"stroke": "currentColor", "stroke_opacity": 0.75, "stroke_dasharray": "4 3"}
    return shape("line", x1=x, y1=top, x2=x, y2=bottom, **dashes)


def _sideways(name: str, y: float) -> str:
    turned = svg.text(0, 0, name, "middle", svg.MUTED)
    return element("g", turned, transform=f"translate(14 {y:.2f}) rotate(-90)")
