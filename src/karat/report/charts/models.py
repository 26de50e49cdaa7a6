"""What charts show, free of how it is drawn: points, a heat map, curves, intervals.

A model is numbers and words alone. `figures` makes drawings and sketches of it without any other
package, `plots` files for papers with matplotlib. None, NaN and infinities mean "missing".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from karat.report.charts.svg.axis import drawable
from karat.report.charts.svg.frame import enumeration
from karat.report.charts.svg.rows import interval_story
from karat.report.charts.ticks import Ticks, log_ticks, nice_ticks

MOST_LABELS = 30  # points whose labels stand beside them; more would hide the picture
_SMALLEST = 1e-300  # the least value with a place on a logarithmic axis


class Point(NamedTuple):
    """One point of a scatter plot; points of one group look alike; y may have an interval."""

    x: float
    y: float
    label: str
    group: str = ""
    low: float | None = None
    high: float | None = None

    @property
    def bar(self) -> tuple[float, float] | None:
        """The interval of y, if both ends have a place."""
        low, high = self.low, self.high
        return (low, high) if low is not None and high is not None and drawable(self[4:]) else None


class Line(NamedTuple):
    """y = slope x + intercept."""

    slope: float
    intercept: float

    def at(self, x: float) -> float:
        """The line's height."""
        return self.slope * x + self.intercept


@dataclass(frozen=True)
class Scatter:
    """Points on two axes, perhaps with bars, a fitted line and a note such as `r = 0.81`."""

    title: str
    x_axis: str
    y_axis: str
    points: Sequence[Point]
    line: Line | None = None
    note: str = ""
    caption: str = ""

    @cached_property
    def shown(self) -> list[Point]:
        """The points that have a place."""
        return [point for point in self.points if drawable(point[:2])]

    @cached_property
    def groups(self) -> list[str]:
        """The groups in the order in which they occur; `[""]` if there is but one look."""
        return list(dict.fromkeys(point.group for point in self.shown))

    @property
    def labelled(self) -> bool:
        """Whether there are few enough points for labels beside them."""
        return len(self.shown) <= MOST_LABELS

    def ticks(self, across: int = 6, up: int = 6) -> tuple[Ticks, Ticks]:
        """About so many round values along both axes, of points that there must be."""
        xs = [point.x for point in self.shown]
        ys = [y for point in self.shown for y in (point.y, *(point.bar or ()))]
        return nice_ticks(min(xs), max(xs), across), nice_ticks(min(ys), max(ys), up)

    @property
    def story(self) -> str:
        """The chart in words."""
        told = enumeration([point_story(point) for point in self.shown])
        note = f" {self.note}." if self.note else ""
        return f"{len(self.shown)} points; {self.x_axis} across, {self.y_axis} up.{note} {told}"


def point_story(point: Point) -> str:
    """One point in words, with all its digits."""
    group = f" ({point.group})" if point.group else ""
    told = f"{point.label}{group}: {float(point.x)!r}, {float(point.y)!r}"
    if not point.bar:
        return told
    low, high = map(float, point.bar)
    return f"{told} (from {low!r} to {high!r})"


class CellMark(NamedTuple):
    """A sign in one cell of a heat map, and what it means."""

    row: int
    column: int
    sign: str
    name: str


class Outline(NamedTuple):
    """A region of a heat map: its first and last rows and columns, both included."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    name: str


@dataclass(frozen=True)
class HeatMap:
    """A table of numbers, the larger the darker, with marked cells and an outlined region.

    `low` and `high` are the ends of the scale; without them, those of the values.
    """

    title: str
    row_axis: str
    column_axis: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]
    digits: int = 2
    marks: Sequence[CellMark] = ()
    outline: Outline | None = None
    low: float | None = None
    high: float | None = None
    caption: str = ""

    def __post_init__(self) -> None:
        lengths = {len(row) for row in self.values}
        if len(self.values) != len(self.rows) or lengths - {len(self.columns)}:
            shape = f"{len(self.rows)} x {len(self.columns)}"
            raise ValueError(f"a heat map of {shape} names has values of another shape")
        last = (len(self.rows) - 1, len(self.columns) - 1)
        for row, column in self._places():
            if not (0 <= row <= last[0] and 0 <= column <= last[1]):
                raise ValueError(f"row {row}, column {column} is outside of the heat map")

    def _places(self) -> Iterator[tuple[int, int]]:
        yield from ((mark.row, mark.column) for mark in self.marks)
        if self.outline:
            yield from zip(self.outline.rows, self.outline.columns, strict=True)

    def at(self, row: int, column: int) -> float | None:
        """The value of a cell, None where it is missing."""
        value = self.values[row][column]
        return float(value) if value is not None and drawable([value]) else None

    @property
    def cells(self) -> Iterator[tuple[int, int, float | None]]:
        """All cells, row by row."""
        for i in range(len(self.rows)):
            for j in range(len(self.columns)):
                yield i, j, self.at(i, j)

    @cached_property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the scale; None where there is no value at all."""
        known = [value for _, _, value in self.cells if value is not None]
        if not known:
            return None
        low, high = self.low, self.high
        return (
            float(low) if low is not None and drawable([low]) else min(known),
            float(high) if high is not None and drawable([high]) else max(known),
        )

    def share(self, value: float) -> float:
        """Where a value lies between the ends, from 0 to 1; halfway if they are the same."""
        low, high = self.ends or (value, value)
        return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.5

    def number(self, value: float | None) -> str:
        """A value as it stands in its cell."""
        if value is None:
            return "\u2013"
        text = f"{value:.{self.digits}{'f' if abs(value) < 1e15 else 'e'}}"
        return text.lstrip("-") if not text.strip("-0.") else text

    def signs(self, row: int, column: int) -> str:
        """The signs in one cell."""
        return "".join(mark.sign for mark in self.marks if mark[:2] == (row, column))

    def cell_story(self, row: int, column: int) -> str:
        """One cell in words."""
        names = [mark.name for mark in self.marks if mark[:2] == (row, column)]
        what = f" ({', '.join(names)})" if names else ""
        value = self.at(row, column)
        told = "missing" if value is None else self.number(value)
        rows, columns = f"{self.row_axis} {self.rows[row]}", f"{self.column_axis} "
        return f"{rows}, {columns}{self.columns[column]}: {told}{what}"

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Signs and what they mean, each once."""
        return list(dict.fromkeys((mark.sign, mark.name) for mark in self.marks))

    @property
    def story(self) -> str:
        """The chart in words: its size, its scale, its marked cells and its region."""
        size = f"{len(self.rows)} by {len(self.columns)} cells; {self.row_axis} down"
        parts = [f"{size}, {self.column_axis} across"]
        if self.ends:
            parts.append(f"from {self.number(self.ends[0])} to {self.number(self.ends[1])}")
        parts += [self.cell_story(mark.row, mark.column) for mark in self.marks]
        if self.outline:
            parts.append(f"outlined: {self.outline.name}")
        return "; ".join(dict.fromkeys(parts)) + "."


class Knot(NamedTuple):
    """A point of a curve, perhaps with an interval."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None

    @property
    def banded(self) -> bool:
        """Whether it has a place and both ends of its interval."""
        return drawable(self)


class Curve(NamedTuple):
    """A named series of points."""

    name: str
    knots: Sequence[Knot]


@dataclass(frozen=True)
class Curves:
    """Named series over one axis, with bands where they have intervals.

    A missing value breaks a curve. With `log_x` only x > 0 has a place.
    """

    title: str
    x_axis: str
    y_axis: str
    curves: Sequence[Curve]
    log_x: bool = False
    caption: str = ""

    @cached_property
    def shown(self) -> list[Curve]:
        """The curves that have anything to show, each from left to right."""
        kept = [Curve(name, self._in_order(knots)) for name, knots in self.curves]
        return [curve for curve in kept if any(drawable(knot[:2]) for knot in curve.knots)]

    def _in_order(self, knots: Sequence[Knot]) -> list[Knot]:
        least = _SMALLEST if self.log_x else -math.inf
        placed = [knot for knot in knots if drawable(knot[:1]) and knot.x >= least]
        return sorted(placed, key=lambda knot: knot.x)

    def ticks(self, across: int = 8, up: int = 6) -> tuple[Ticks, Ticks]:
        """About so many round values along both axes, of curves that there must be."""
        knots = [knot for curve in self.shown for knot in curve.knots if drawable(knot[:2])]
        xs = [knot.x for knot in knots]
        ends = [end for knot in knots if knot.banded for end in knot[2:] if end is not None]
        ys = [*(knot.y for knot in knots), *ends]
        x = log_ticks(min(xs), max(xs)) if self.log_x else nice_ticks(min(xs), max(xs), across)
        return x, nice_ticks(min(ys), max(ys), up)

    @property
    def story(self) -> str:
        """The chart in words: where every curve starts and ends."""
        told = enumeration([_curve_story(curve) for curve in self.shown])
        return f"{len(self.shown)} curves; {self.x_axis} across, {self.y_axis} up. {told}"


def runs(knots: Sequence[Knot]) -> list[list[Knot]]:
    """The parts of a curve between its missing values."""
    parts: list[list[Knot]] = [[]]
    for knot in knots:
        if drawable(knot[:2]):
            parts[-1].append(knot)
        else:
            parts.append([])
    return [part for part in parts if part]


def bands(knots: Sequence[Knot]) -> list[list[Knot]]:
    """The parts of a curve that have intervals."""
    return runs([knot if knot.banded else knot._replace(y=math.nan) for knot in knots])


def knot_story(knot: Knot) -> str:
    """One point of a curve in words, with all its digits."""
    x, y, low, high = knot
    told = f"{float(x)!r}: {float(y)!r}"
    if low is None or high is None or not knot.banded:
        return told
    return f"{told} (from {float(low)!r} to {float(high)!r})"


def _curve_story(curve: Curve) -> str:
    known = [knot for knot in curve.knots if drawable(knot[:2])]
    first, last = knot_story(known[0]), knot_story(known[-1])
    return f"{curve.name}: {first}" if len(known) == 1 else f"{curve.name}: {first}, to {last}"


class Interval(NamedTuple):
    """A value with its interval, where it has one."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Intervals:
    """One row per item: a dot at its value, a whisker from low to high, a line at `baseline`."""

    title: str
    axis: str
    items: Sequence[Interval]
    baseline: float | None = None
    caption: str = ""

    @cached_property
    def shown(self) -> list[Interval]:
        """The items that have a place."""
        return [item for item in self.items if drawable([item.value])]

    def ticks(self, about: int = 5) -> Ticks:
        """About so many round values along the axis, of items that there must be."""
        found = [v for item in self.shown for v in (*item[1:], self.baseline)]
        kept = [v for v in found if v is not None and drawable([v])]
        return nice_ticks(min(kept), max(kept), about)

    @property
    def story(self) -> str:
        """The chart in words."""
        return f"{self.axis}. {enumeration([interval_story(item) for item in self.shown])}"


Chart: TypeAlias = Scatter | HeatMap | Curves | Intervals
