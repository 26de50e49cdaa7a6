"""Models of charts, free of any drawing: points, heat maps, curves, intervals and bars.

A model holds numbers and words; `svg.drawings` and `letters` draw it on demand. All have a `title`,
a `caption`, their `plotted` items (none: "no data") and a `story`, the chart in words. None, NaN
and infinities mean "missing". `narrow` charts are for phones, or side by side.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise, product
from typing import ClassVar, NamedTuple, TypeAlias

from karat.report.charts.axis import Ticks, drawable, log_ticks, nice_ticks
from karat.report.model import Column, Figure, cell_text, join_items
from karat.report.render.text import Sheet


class ForestChange(NamedTuple):
    """A difference with its interval, placed so that better is to the right.

    `text` is the difference as people read it, `verdict` is undecided or what it shows, such as
    better or worse.
    """

    label: str
    value: float
    low: float
    high: float
    text: str
    verdict: str

    @property
    def story(self) -> str:
        """The difference in words."""
        return f"{self.label}: {self.text}, {self.verdict}"


@dataclass(frozen=True)
class Forest:
    """A row per difference: a dot, a whisker from low to high, and a line at the baseline.

    `span` is the range of the axis, so that several of these can share one; `sides` says what is
    to the left and to the right of the line.
    """

    title: str
    base: str
    changes: Sequence[ForestChange]
    span: tuple[float, float] | None = None
    caption: str = ""
    sides: tuple[str, str] = ("worse", "better")
    narrow: ClassVar[bool] = True

    @cached_property
    def plotted(self) -> list[ForestChange]:
        """The differences that have a place."""
        return [change for change in self.changes if drawable(change[1:4])]

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the axis; the baseline is always in it."""
        return self.span or forest_span(self.plotted)

    @property
    def story(self) -> str:
        """The chart in words."""
        differences = join_items([change.story for change in self.plotted])
        return f"Differences from {self.base} with 95% intervals. {differences}"


def forest_span(changes: Sequence[ForestChange]) -> tuple[float, float]:
    """Return the range that all intervals and the baseline fit into."""
    values = [x for change in changes for x in change[1:4] if drawable([x])]
    return min([0.0, *values]), max([0.0, *values])


class ForestTally(NamedTuple):
    """The number of segments that a system won, tied and lost."""

    label: str
    wins: int
    ties: int
    losses: int

    @property
    def story(self) -> str:
        """The counts in words."""
        return f"{self.label}: {self.wins:,} won, {self.ties:,} tied, {self.losses:,} lost"


@dataclass(frozen=True)
class Tallies:
    """A bar per system, divided into segments won, tied and lost."""

    title: str
    base: str
    plotted: Sequence[ForestTally]
    caption: str = ""
    narrow: ClassVar[bool] = True

    @property
    def story(self) -> str:
        """The chart in words."""
        return (
            f"Segments against {self.base}. {join_items([tally.story for tally in self.plotted])}"
        )


class Stretch(NamedTuple):
    """A named stretch of an axis."""

    low: float
    high: float
    name: str


class Area(NamedTuple):
    """A named rectangle of a plane; `asked` is the one that the chart is about."""

    across: tuple[float, float]
    up: tuple[float, float]
    name: str
    highlighted: bool = False


class Spot(NamedTuple):
    """A named point of a plane; `asked` points are what the chart is about."""

    x: float
    y: float
    name: str
    highlighted: bool = False


@dataclass(frozen=True)
class Regions:
    """Areas and spots of a plane whose axes have named stretches; the plane ends with these.

    `keys` says what an area, the one that was asked for, and a spot stand for.
    """

    title: str
    x_axis: str
    y_axis: str
    x_spans: Sequence[Stretch]
    y_spans: Sequence[Stretch]
    x_values: Sequence[float]
    y_values: Sequence[float]
    areas: Sequence[Area]
    spots: Sequence[Spot] = ()
    keys: tuple[str, str, str] = ("area", "asked", "spot")
    caption: str = ""

    @property
    def plotted(self) -> Sequence[Area]:
        """The areas, the one that was asked for last, so that it lies above the others."""
        return sorted(self.areas, key=lambda area: area.highlighted)

    @property
    def story(self) -> str:
        """The chart in words: every area and spot with its place."""
        places = [
            f"{self.keys[1 if area.highlighted else 0]} {area.name}: {_ends(area.across)} across, "
            f"{_ends(area.up)} up"
            for area in self.plotted
        ]
        places += [f"{spot.name}: {spot.x:g} across, {spot.y:g} up" for spot in self.spots]
        return f"{self.x_axis} across, {self.y_axis} up. {join_items(places)}"


def _ends(span: tuple[float, float]) -> str:
    return f"{span[0]:g} to {span[1]:g}"


class PairedEstimate(NamedTuple):
    """A value with its interval; `text` and `reach` are the two as people read them."""

    value: float
    low: float
    high: float
    text: str
    reach: str = ""

    @property
    def bar(self) -> tuple[float, float] | None:
        """The interval, if both ends have a place."""
        return (self.low, self.high) if drawable([self.low, self.high]) else None


class Pair(NamedTuple):
    """An item with its value, and the value that it is compared with, if there is one."""

    label: str
    main: PairedEstimate
    other: PairedEstimate | None = None

    @property
    def placed(self) -> list[PairedEstimate]:
        """The values that have a place, the main one first."""
        return [
            estimate
            for estimate in (self.main, self.other)
            if estimate and drawable([estimate.value])
        ]


@dataclass(frozen=True)
class PairedIntervals:
    """Two lines for each item, one below the other: its value and the one to compare it with.

    `names` says what the two are; `better` is higher, lower or empty.
    """

    title: str
    axis: str
    names: tuple[str, str]
    pairs: Sequence[Pair]
    better: str = ""
    caption: str = ""
    narrow: ClassVar[bool] = True

    @cached_property
    def plotted(self) -> list[Pair]:
        """The items whose main value has a place."""
        return [pair for pair in self.pairs if drawable([pair.main.value])]

    @property
    def compared(self) -> bool:
        """Return whether any item has two values."""
        return any(len(pair.placed) > 1 for pair in self.plotted)

    @property
    def named_axis(self) -> str:
        """The name of the axis, with the direction of goodness."""
        arrows = {"higher": " (higher is better →)", "lower": " (← lower is better)"}
        return f"{self.axis}{arrows.get(self.better, '')}"

    def ticks(self, about: int = 4) -> Ticks:
        """Round values along the axis, of items that there must be."""
        estimates = [estimate for pair in self.plotted for estimate in pair.placed]
        values = [x for estimate in estimates for x in (estimate.value, *(estimate.bar or ()))]
        return nice_ticks(min(values), max(values), about)

    def pair_story(self, pair: Pair) -> str:
        """An item in words."""
        kinds = zip(self.names, pair.placed, strict=False)
        texts = [f"{name} {estimate.text} {estimate.reach}".rstrip() for name, estimate in kinds]
        return f"{pair.label}: {', '.join(texts)}"

    @property
    def story(self) -> str:
        """The chart in words."""
        return f"{self.named_axis}. {join_items([self.pair_story(pair) for pair in self.plotted])}"


class RankCell(NamedTuple):
    """A metric's value in one setting, with its rank where metrics were compared."""

    value: float
    rank: int | None
    story: str
    """The cell in words."""


class RankColumn(NamedTuple):
    """A setting: columns side by side that share a head stand below it; both may be explained."""

    head: str
    name: str
    head_help: str = ""
    name_help: str = ""


@dataclass(frozen=True)
class RankMap:
    """A row per metric, a column per setting; the better the rank, the darker the cell."""

    title: str
    metrics: Sequence[str]
    columns: Sequence[RankColumn]
    cells: Sequence[Sequence[RankCell | None]]
    """A row for each metric; None where its agreement is undefined."""
    caption: str = ""
    narrow: ClassVar[bool] = True

    @cached_property
    def plotted(self) -> list[RankCell]:
        """The cells that have a value."""
        return [cell for row in self.cells for cell in row if cell and drawable([cell.value])]

    @property
    def ranked(self) -> bool:
        """Return whether any metrics were compared."""
        return any(cell.rank is not None for cell in self.plotted)

    @property
    def story(self) -> str:
        """The chart in words: who has rank 1 in each setting."""
        columns_in_words = []
        for k, column in enumerate(self.columns):
            cells = [row[k] for row in self.cells]
            first_metrics = [
                name
                for name, cell in zip(self.metrics, cells, strict=True)
                if cell and cell.rank == 1
            ]
            columns_in_words.append(
                f"{column.head}, {column.name}: rank 1 {', '.join(first_metrics) or 'nobody'}"
            )
        return f"Ranks of {len(self.metrics)} metrics. {'; '.join(columns_in_words)}."


MOST_LABELS = 30  # points whose labels stand beside them; more would hide the picture
_SMALLEST = 1e-300  # the least value with a place on a logarithmic axis


def _placed(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None and drawable([value])]


def _bar(low: float | None, high: float | None) -> tuple[float, float] | None:
    """An interval, if both ends have a place."""
    return (low, high) if low is not None and high is not None and drawable([low, high]) else None


def _reach(bar: tuple[float, float] | None) -> str:
    """An interval in words, if there is one."""
    return f" (from {float(bar[0])!r} to {float(bar[1])!r})" if bar else ""


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
        return _bar(self.low, self.high)

    @property
    def story(self) -> str:
        """The point in words, with all its digits."""
        group = f" ({self.group})" if self.group else ""
        return f"{self.label}{group}: {float(self.x)!r}, {float(self.y)!r}{_reach(self.bar)}"


class ChartLine(NamedTuple):
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
    line: ChartLine | None = None
    note: str = ""
    caption: str = ""
    narrow: bool = False

    @cached_property
    def plotted(self) -> list[Point]:
        """The points that have a place."""
        return [point for point in self.points if drawable(point[:2])]

    @cached_property
    def groups(self) -> list[str]:
        """The groups in the order in which they occur; `[""]` if there is but one look."""
        return list(dict.fromkeys(point.group for point in self.plotted))

    @property
    def labelled(self) -> bool:
        """True if there are few enough points for labels beside them."""
        return len(self.plotted) <= MOST_LABELS

    def ticks(self, across: int = 6, up: int = 6) -> tuple[Ticks, Ticks]:
        """About so many round values along both axes, of points that there must be."""
        xs = [point.x for point in self.plotted]
        ys = [y for point in self.plotted for y in (point.y, *(point.bar or ()))]
        if self.line == (1.0, 0.0):  # both axes alike, so that the line is the diagonal
            xs = ys = [*xs, *ys]
        return nice_ticks(min(xs), max(xs), across), nice_ticks(min(ys), max(ys), up)

    @property
    def story(self) -> str:
        """The chart in words."""
        points = join_items([point.story for point in self.plotted])
        note = f" {self.note}." if self.note else ""
        return f"{len(self.plotted)} points; {self.x_axis} across, {self.y_axis} up.{note} {points}"


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
    narrow: bool = False

    def __post_init__(self) -> None:
        lengths = {len(row) for row in self.values}
        if len(self.values) != len(self.rows) or lengths - {len(self.columns)}:
            shape = f"{len(self.rows)} x {len(self.columns)}"
            raise ValueError(f"a heat map of {shape} names has values of another shape")
        last = (len(self.rows) - 1, len(self.columns) - 1)
        places = [(mark.row, mark.column) for mark in self.marks]
        places += zip(*self.outline[:2], strict=True) if self.outline else ()
        for row, column in places:
            if not (0 <= row <= last[0] and 0 <= column <= last[1]):
                raise ValueError(f"row {row}, column {column} is outside of the heat map")

    def at(self, row: int, column: int) -> float | None:
        """The value of a cell, None where it is missing."""
        value = self.values[row][column]
        return float(value) if value is not None and drawable([value]) else None

    @property
    def cells(self) -> Iterator[tuple[int, int, float | None]]:
        """All cells, row by row."""
        for i, j in product(range(len(self.rows)), range(len(self.columns))):
            yield i, j, self.at(i, j)

    @cached_property
    def plotted(self) -> list[float]:
        """The values that are not missing."""
        return [value for _, _, value in self.cells if value is not None]

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The ends of the scale, of values that there must be."""
        low, high = _placed([self.low]), _placed([self.high])
        return float(min(low or self.plotted)), float(max(high or self.plotted))

    def share(self, value: float) -> float:
        """Return the place of a value between the ends, from 0 to 1; halfway if they are equal."""
        low, high = self.ends
        return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.5

    def number(self, value: float | None) -> str:
        """A value as it stands in its cell."""
        return cell_text(value, Column("", "", self.digits), str)

    def signs(self, row: int, column: int) -> str:
        """The signs in one cell."""
        return "".join(mark.sign for mark in self.marks if mark[:2] == (row, column))

    def cell_story(self, row: int, column: int) -> str:
        """One cell in words."""
        names = [mark.name for mark in self.marks if mark[:2] == (row, column)]
        mark_names = f" ({', '.join(names)})" if names else ""
        value = self.at(row, column)
        value_text = "missing" if value is None else self.number(value)
        place = f"{self.row_axis} {self.rows[row]}, {self.column_axis} {self.columns[column]}"
        return f"{place}: {value_text}{mark_names}"

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Signs and what they mean, each once."""
        return list(dict.fromkeys((mark.sign, mark.name) for mark in self.marks))

    @property
    def story(self) -> str:
        """The chart in words: its size, its scale, its marked cells and its region."""
        size = f"{len(self.rows)} by {len(self.columns)} cells; {self.row_axis} down"
        parts = [f"{size}, {self.column_axis} across"]
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
    def bar(self) -> tuple[float, float] | None:
        """The interval of y, if it and both ends have a place."""
        return _bar(self.low, self.high) if drawable(self[:2]) else None

    @property
    def story(self) -> str:
        """The point in words, with all its digits."""
        return f"{float(self.x)!r}: {float(self.y)!r}{_reach(self.bar)}"


class Curve(NamedTuple):
    """A named series of points."""

    name: str
    knots: Sequence[Knot]


@dataclass(frozen=True)
class Curves:
    """Named series over one axis, with bands where they have intervals.

    A missing value breaks a curve. With `log_x` only x > 0 has a place; with `whole_x` the axis has
    whole numbers alone.
    """

    title: str
    x_axis: str
    y_axis: str
    curves: Sequence[Curve]
    log_x: bool = False
    caption: str = ""
    narrow: bool = False
    whole_x: bool = False

    @cached_property
    def plotted(self) -> list[Curve]:
        """The curves that have anything to show, each from left to right."""
        least, plotted_curves = _SMALLEST if self.log_x else -math.inf, []
        for name, knots in self.curves:
            placed = [knot for knot in knots if drawable(knot[:1]) and knot.x >= least]
            if any(drawable(knot[:2]) for knot in placed):
                plotted_curves.append(Curve(name, sorted(placed, key=lambda knot: knot.x)))
        return plotted_curves

    def ticks(self, across: int = 8, up: int = 6) -> tuple[Ticks, Ticks]:
        """About so many round values along both axes, of curves that there must be."""
        knots = [knot for curve in self.plotted for knot in curve.knots if drawable(knot[:2])]
        xs = [knot.x for knot in knots]
        ys = [y for knot in knots for y in (knot.y, *(knot.bar or ()))]
        ends = min(xs), max(xs)
        x = log_ticks(*ends) if self.log_x else nice_ticks(*ends, across, self.whole_x)
        return x, nice_ticks(min(ys), max(ys), up)

    @property
    def story(self) -> str:
        """The chart in words: where every curve starts and ends."""
        curves_in_words = []
        for name, knots in self.plotted:
            knots_in_words = [knot.story for knot in knots if drawable(knot[:2])]
            curves_in_words.append(
                f"{name}: {', to '.join(knots_in_words[:1] + knots_in_words[1:][-1:])}"
            )
        axes = f"{self.x_axis} across, {self.y_axis} up"
        return f"{len(self.plotted)} curves; {axes}. {join_items(curves_in_words)}"


def curve_runs(knots: Sequence[Knot]) -> list[list[Knot]]:
    """The parts of a curve between its missing values."""
    parts = groupby(knots, lambda knot: drawable(knot[:2]))
    return [list(part) for placed, part in parts if placed]


def interval_bands(knots: Sequence[Knot]) -> list[list[Knot]]:
    """The parts of a curve that have intervals."""
    return curve_runs([knot if knot.bar else knot._replace(y=math.nan) for knot in knots])


class ChartInterval(NamedTuple):
    """A value with its interval, where it has one."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def bar(self) -> tuple[float, float] | None:
        """The interval, if both ends have a place."""
        return _bar(self.low, self.high)

    @property
    def story(self) -> str:
        """The item in words, with all its digits."""
        reach = f", from {self.low!r} to {self.high!r}" if self.bar else ""
        return f"{self.label}: {self.value!r}{reach}"


@dataclass(frozen=True)
class Intervals:
    """One row per item: a dot at its value, a whisker from low to high, a line at `baseline`."""

    title: str
    axis: str
    items: Sequence[ChartInterval]
    baseline: float | None = None
    caption: str = ""
    narrow: bool = False

    @cached_property
    def plotted(self) -> list[ChartInterval]:
        """The items that have a place."""
        return [item for item in self.items if drawable([item.value])]

    @property
    def base(self) -> list[float]:
        """The baseline, if it has a place."""
        return _placed([self.baseline])

    def ticks(self) -> Ticks:
        """Round values along the axis, of items that there must be."""
        values = _placed([end for item in self.plotted for end in (*item[1:], self.baseline)])
        return nice_ticks(min(values), max(values), 3 if self.narrow else 5)

    @property
    def story(self) -> str:
        """The chart in words."""
        return f"{self.axis}. {join_items([item.story for item in self.plotted])}"


@dataclass(frozen=True)
class Bars(Intervals):
    """One row per item: a bar from the baseline to its value."""

    baseline: float = 0.0


@dataclass(frozen=True)
class Histogram:
    """The number of values in each of `bins` equal bins, with a line at `marker`.

    A bin holds its lower edge; the last holds both.
    """

    title: str
    axis: str
    values: Sequence[float]
    marker: float | None = None
    bins: int = 20
    caption: str = ""
    narrow: bool = False

    @cached_property
    def plotted(self) -> list[float]:
        """The values that have a place, from low to high."""
        return sorted(float(value) for value in self.values if drawable([value]))

    @property
    def base(self) -> list[float]:
        """The marker, if it has a place."""
        return _placed([self.marker])

    def ticks(self) -> tuple[Ticks, Ticks]:
        """Round values along both axes, of values that there must be."""
        return self._across, nice_ticks(0, max(self.counts), integers=True)

    @property
    def _across(self) -> Ticks:
        about = 4 if self.narrow else 8
        return nice_ticks(min(self.plotted + self.base), max(self.plotted + self.base), about=about)

    @cached_property
    def edges(self) -> list[float]:
        """The beginnings of the bins, and the end of the last."""
        low, high = self.plotted[0], self.plotted[-1]
        if low == high:  # one bin, as wide as if the axis had been cut up
            first, *_, last = self._across.values
            half = (last - first) / self.bins / 2
            return [max(first, low - half), min(last, high + half)]
        return [low + (high - low) * i / self.bins for i in range(self.bins)] + [high]

    @cached_property
    def counts(self) -> list[int]:
        """The number of values in each bin."""
        starts = [bisect_left(self.plotted, edge) for edge in self.edges[:-1]]
        return [end - start for start, end in pairwise([*starts, len(self.plotted)])]

    @property
    def story(self) -> str:
        """The chart in words."""
        first, last = self.edges[0], self.edges[-1]
        return f"{len(self.plotted)} values from {first!r} to {last!r} of {self.axis}."


Chart: TypeAlias = (
    Scatter
    | HeatMap
    | Curves
    | Intervals
    | Bars
    | Histogram
    | Regions
    | Forest
    | Tallies
    | RankMap
    | PairedIntervals
)


def chart_figure(chart: Chart) -> Figure:
    """Return a figure for pages, drawings and terminals."""

    def sketch(sheet: Sheet) -> list[str]:
        from karat.report.charts.letters import chart_sketch

        return chart_sketch(chart, sheet)

    return Figure(chart.title, chart, chart.caption, sketch)


def intervals_figure(
    title: str,
    axis: str,
    items: Iterable[ChartInterval],
    base: float | None = None,
    *,
    narrow: bool = False,
) -> Figure:
    """Return a figure for pages and notebooks alone: a dot and a whisker for each item."""
    return Figure(title, Intervals(title, axis, list(items), base, narrow=narrow))
