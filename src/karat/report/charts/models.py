"""Models of charts, free of any drawing: rows with intervals, points on two axes, cells.

There are three models: `RowChart`, `XYChart` and `CellChart`. A model holds numbers and words;
`svg.drawings` and `letters` draw it on demand. All have a `title`, a `caption`, their `plotted`
items (if empty: "no data") and a `story`, the chart in words. None, NaN and infinities mean
"missing". `narrow` charts are for phones, or side by side.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise, product
from typing import Literal, NamedTuple, TypeAlias

from karat.registry import load
from karat.report.charts.axis import Ticks, drawable, nice_ticks
from karat.report.model import Figure, cell_text, join_items
from karat.results import Column


def _drawable_interval(low: float | None, high: float | None) -> tuple[float, float] | None:
    return (low, high) if low is not None and high is not None and drawable([low, high]) else None


def _drawable_values(*values: float | None) -> list[float]:
    return [value for value in values if value is not None and drawable([value])]


# ------------------------------------------------------------------------- rows with intervals


class ChartRow(NamedTuple):
    """A labelled value with its interval, and perhaps another value to compare it with.

    `text` is the value as people read it; `detail` its interval or, of a difference, the verdict.
    `counts` are segments won, tied and lost, or of a strip, in each bin.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    text: str = ""
    detail: str = ""
    other: ChartRow | None = None
    counts: tuple[int, ...] = (0, 0, 0)

    @property
    def bar(self) -> tuple[float, float] | None:
        """The interval, if both ends can be drawn."""
        return _drawable_interval(self.low, self.high)

    @property
    def values(self) -> list[ChartRow]:
        """The values that can be drawn, the main one first."""
        return [row for row in (self, self.other) if row and drawable([row.value])]


@dataclass(frozen=True)
class RowChart:
    """A row per item on one axis.

    Kinds: `interval`, a dot at the value and a whisker from low to high, with a line at `baseline`;
    `bar`, a bar from the baseline; `pair`, two such lines below each other; `difference`, a forest
    plot whose axis is named after the baseline at 0, better to the right; `tally`, a bar divided
    into segments won, tied and lost; `strip`, shaded bins of differences from the baseline at 0.
    `names` says what the two values of pairs are, or what the two sides of differences mean; `span`
    is the range of differences, so that charts can share it; `better` is higher, lower or empty.
    """

    title: str
    axis: str
    rows: Sequence[ChartRow]
    kind: Literal["interval", "bar", "pair", "difference", "tally", "strip"] = "interval"
    baseline: float | None = None
    caption: str = ""
    narrow: bool = False
    names: tuple[str, str] = ("worse", "better")
    span: tuple[float, float] | None = None
    better: str = ""

    @cached_property
    def plotted(self) -> list[ChartRow]:
        """The rows that can be drawn; differences need an interval."""
        rows = (row for row in self.rows if drawable([row.value]))
        return [row for row in rows if row.bar or self.kind != "difference"]

    @property
    def is_narrow(self) -> bool:
        """Return whether the chart is narrow; only intervals and bars can be wide."""
        return self.narrow or self.kind not in ("interval", "bar")

    @property
    def base(self) -> list[float]:
        """The baseline, if it can be drawn."""
        return _drawable_values(self.baseline)

    @property
    def named_axis(self) -> str:
        """The name of the axis, with the better direction."""
        arrows = {"higher": " (higher is better →)", "lower": " (← lower is better)"}
        return f"{self.axis}{arrows.get(self.better, '')}"

    @property
    def has_pairs(self) -> bool:
        """Return whether any row has two values."""
        return any(len(row.values) > 1 for row in self.plotted)

    def ticks(self, about: int) -> Ticks:
        """Return about so many round values along the axis; at least one row is required."""
        values = [x for row in self.plotted for v in row.values for x in (v.value, *(v.bar or ()))]
        values += self.base
        return nice_ticks(min(values), max(values), about)

    def row_story(self, row: ChartRow) -> str:
        """Return a row in words, with all digits unless it has a text."""
        if self.kind == "tally":
            won, tied, lost = row.counts
            return f"{row.label}: {won:,} won, {tied:,} tied, {lost:,} lost"
        if self.kind == "strip":
            return f"{row.label}: {row.detail}"
        if self.kind == "difference":
            return f"{row.label}: {row.text}, {row.detail}"
        if self.kind == "pair":
            kinds = zip(self.names, row.values, strict=False)
            texts = [f"{name} {value.text} {value.detail}".rstrip() for name, value in kinds]
            return f"{row.label}: {', '.join(texts)}"
        reach = f", from {row.low!r} to {row.high!r}" if row.bar else ""
        return f"{row.label}: {row.value!r}{reach}"

    @property
    def story(self) -> str:
        """The chart in words."""
        heads = {
            "difference": f"Differences from {self.axis} with 95% intervals",
            "tally": f"Segments against {self.axis}",
            "strip": f"Differences from {self.axis} by segment",
        }
        rows = join_items([self.row_story(row) for row in self.plotted])
        return f"{heads.get(self.kind, self.named_axis)}. {rows}"


def difference_span(rows: Iterable[ChartRow]) -> tuple[float, float]:
    """Return the range that all intervals of differences and the baseline fit into."""
    ends = [end for row in rows for end in (row.value, row.low, row.high)]
    values = [0.0, *_drawable_values(*ends)]
    return min(values), max(values)


# ------------------------------------------------------------------------- points on two axes

MAX_LABELS = 30  # more labels would hide the points


class Point(NamedTuple):
    """A point, perhaps with an interval of y; the points of a group look alike or form a curve."""

    x: float
    y: float
    label: str = ""
    group: str = ""
    low: float | None = None
    high: float | None = None
    highlighted: bool = False

    @property
    def bar(self) -> tuple[float, float] | None:
        """The interval of y, if the point and both ends can be drawn."""
        return _drawable_interval(self.low, self.high) if drawable(self[:2]) else None

    def story(self, *, joined: bool = False) -> str:
        """Return the point in words, with all digits; points of curves have no names."""
        reach = f" (from {float(self.bar[0])!r} to {float(self.bar[1])!r})" if self.bar else ""
        if joined:
            return f"{float(self.x)!r}: {float(self.y)!r}{reach}"
        group = f" ({self.group})" if self.group else ""
        return f"{self.label}{group}: {float(self.x)!r}, {float(self.y)!r}{reach}"


class ChartLine(NamedTuple):
    """y = slope x + intercept."""

    slope: float
    intercept: float

    def at(self, x: float) -> float:
        """Return y at x."""
        return self.slope * x + self.intercept


class Area(NamedTuple):
    """A named rectangle: a bar of a histogram, or a region; highlighted ones are the subject."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    name: str
    highlighted: bool = False


class Stretch(NamedTuple):
    """A named stretch of an axis."""

    low: float
    high: float
    name: str


class StretchAxis(NamedTuple):
    """An axis of regions: its stretches, from end to end, and the values at its ticks."""

    stretches: Sequence[Stretch] = ()
    values: Sequence[float] = ()


@dataclass(frozen=True)
class XYChart:
    """Points or areas on two axes.

    Kinds: `scatter`, points with bars, a fitted `line` and a `note` such as `r = 0.81`; `curves`,
    which join the points of each group, with a band where they have intervals and a gap where a
    value is missing; `histogram`, areas as bars, with a dashed line at `marker` (see `histogram`);
    `regions`, areas and points between the stretches of both axes. `whole_x` allows only whole
    numbers along the x axis; `span` is the range of a histogram's values; `keys` are the legend of
    regions: an area, a highlighted area and a point.
    """

    title: str
    x_axis: str
    y_axis: str
    points: Sequence[Point] = ()
    line: ChartLine | None = None
    note: str = ""
    caption: str = ""
    narrow: bool = False
    kind: Literal["scatter", "curves", "histogram", "regions"] = "scatter"
    whole_x: bool = False
    areas: Sequence[Area] = ()
    marker: float | None = None
    span: tuple[float, float] = (0.0, 1.0)
    stretch_axes: tuple[StretchAxis, StretchAxis] = (StretchAxis(), StretchAxis())
    keys: tuple[str, str, str] = ("area", "highlighted", "point")

    @cached_property
    def plotted(self) -> list[Point]:
        """The points that can be drawn."""
        return [point for point in self.points if drawable(point[:2])]

    @cached_property
    def groups(self) -> list[str]:
        """The groups of points, in order of appearance; `[""]` if points have no groups."""
        return list(dict.fromkeys(point.group for point in self.plotted))

    @cached_property
    def curves(self) -> dict[str, list[Point]]:
        """The points of each group from left to right, including those without a value."""
        points = [point for point in self.points if drawable(point[:1])]
        names = [name for name in dict.fromkeys(p.group for p in points) if name in self.groups]
        points.sort(key=lambda point: point.x)
        return {name: [point for point in points if point.group == name] for name in names}

    @property
    def has_labels(self) -> bool:
        """True if there are few enough points to label each of them."""
        return len(self.plotted) <= MAX_LABELS

    def ticks(self, n_x: int | None = None, n_y: int = 6) -> tuple[Ticks, Ticks]:
        """Return about `n_x` and `n_y` round values along the axes; requires at least one item."""
        if self.kind == "histogram":
            most = max(area.y_range[1] for area in self.areas)
            x = nice_ticks(*self.span, about=4 if self.narrow else 8)
            return x, nice_ticks(0, most, integers=True)
        n_x = n_x or (8 if self.kind == "curves" else 6)
        xs = [point.x for point in self.plotted]
        ys = [y for point in self.plotted for y in (point.y, *(point.bar or ()))]
        if self.line == (1.0, 0.0):  # equal axes, so that the line is the diagonal
            xs = ys = [*xs, *ys]
        x = nice_ticks(min(xs), max(xs), n_x, self.whole_x)
        return x, nice_ticks(min(ys), max(ys), n_y)

    @property
    def story(self) -> str:
        """The chart in words: every point or region, the ends of curves, the range of values."""
        axes = f"{self.x_axis} across, {self.y_axis} up"
        if self.kind == "histogram":
            first, last = self.areas[0].x_range[0], self.areas[-1].x_range[1]
            count = sum(area.y_range[1] for area in self.areas)
            return f"{count} values from {first!r} to {last!r} of {self.x_axis}."
        if self.kind == "regions":
            places = []
            for area in sorted(self.areas, key=lambda area: area.highlighted):
                (left, right), (low, high) = area.x_range, area.y_range
                place = f"{left:g} to {right:g} across, {low:g} to {high:g} up"
                places.append(f"{self.keys[area.highlighted]} {area.name}: {place}")
            places += [f"{p.label}: {p.x:g} across, {p.y:g} up" for p in self.points]
            return f"{axes}. {join_items(places)}"
        if self.kind == "scatter":
            points = join_items([point.story() for point in self.plotted])
            note = f" {self.note}." if self.note else ""
            return f"{len(self.plotted)} points; {axes}.{note} {points}"
        curves = []
        for name, curve in self.curves.items():
            stories = [point.story(joined=True) for point in curve if drawable(point[:2])]
            curves.append(f"{name}: {', to '.join(stories[:1] + stories[1:][-1:])}")
        return f"{len(curves)} curves; {axes}. {join_items(curves)}"


def histogram(
    title: str,
    axis: str,
    values: Iterable[float],
    marker: float | None = None,
    bins: int = 20,
    narrow: bool = False,
) -> XYChart:
    """Return the numbers of values in equal bins, with a dashed line at `marker`.

    A bin includes its lower edge; the last bin includes both.
    """
    numbers = sorted(float(value) for value in values if drawable([value]))
    chart = XYChart(title, axis, "count", narrow=narrow, kind="histogram")
    if not numbers:
        return chart
    low, high = numbers[0], numbers[-1]
    marker = marker if drawable([marker]) else None
    reach = [low, high] if marker is None else [low, high, marker]
    chart = replace(chart, marker=marker, span=(min(reach), max(reach)))
    if low == high:  # one bin, as wide as if the axis had been divided
        first, *_, last = nice_ticks(*chart.span, about=4 if narrow else 8).values
        half = (last - first) / bins / 2
        edges = [max(first, low - half), min(last, high + half)]
    else:
        edges = [low + (high - low) * i / bins for i in range(bins)] + [high]
    starts = [bisect_left(numbers, edge) for edge in edges[:-1]]
    areas = []
    for ends, (start, end) in zip(pairwise(edges), pairwise([*starts, len(numbers)]), strict=True):
        if end > start:
            name = f"{ends[0]:.6g} to {ends[1]:.6g}: {end - start}"
            areas.append(Area(ends, (0, end - start), name))
    return replace(chart, areas=areas)


def curve_runs(points: Sequence[Point]) -> list[list[Point]]:
    """Return the parts of a curve between its missing values."""
    parts = groupby(points, lambda point: drawable(point[:2]))
    return [list(part) for placed, part in parts if placed]


def interval_bands(points: Sequence[Point]) -> list[list[Point]]:
    """Return the parts of a curve that have intervals."""
    return curve_runs([point if point.bar else point._replace(y=math.nan) for point in points])


# --------------------------------------------------------------------------------------- cells


class RankHead(NamedTuple):
    """The head above a column of ranks, which adjacent columns may share; help for it and below."""

    name: str
    help: str = ""
    column_help: str = ""


class CellMark(NamedTuple):
    """A sign in a cell, and its meaning."""

    row: int
    column: int
    sign: str
    name: str


class Outline(NamedTuple):
    """A named region of cells: its first and last rows and columns, both included."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    name: str


@dataclass(frozen=True)
class CellChart:
    """A table of numbers in colored cells, with marked cells and an outlined region.

    The larger a number, the darker its cell; `low` and `high` are the ends of the scale, by default
    those of the values. With `ranks`, the better the rank, the darker; then columns have `heads`,
    and cells `stories` that describe them.
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
    ranks: Sequence[Sequence[int | None]] | None = None
    heads: Sequence[RankHead] = ()
    stories: Sequence[Sequence[str]] = ()

    def __post_init__(self) -> None:
        lengths = {len(row) for row in self.values}
        if len(self.values) != len(self.rows) or lengths - {len(self.columns)}:
            shape = f"{len(self.rows)} x {len(self.columns)}"
            raise ValueError(f"a chart of {shape} cells has values of another shape")
        places = [(mark.row, mark.column) for mark in self.marks]
        places += zip(*self.outline[:2], strict=True) if self.outline else ()
        for row, column in places:
            if not (0 <= row < len(self.rows) and 0 <= column < len(self.columns)):
                raise ValueError(f"row {row}, column {column} is outside of the chart")

    def at(self, row: int, column: int) -> float | None:
        """Return the value of a cell, None if it is missing."""
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
        """The ends of the scale; at least one value is required."""
        low, high = _drawable_values(self.low), _drawable_values(self.high)
        return float(min(low or self.plotted)), float(max(high or self.plotted))

    def share(self, value: float) -> float:
        """Return the place of a value between the ends, from 0 to 1; halfway if they are equal."""
        low, high = self.ends
        return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.5

    def number(self, value: float | None) -> str:
        """Format a value as its cell shows it."""
        return cell_text(value, Column("", "", self.digits), str)

    def signs(self, row: int, column: int) -> str:
        """Return the signs in a cell."""
        return "".join(mark.sign for mark in self.marks if mark[:2] == (row, column))

    def cell_story(self, row: int, column: int) -> str:
        """Return a cell in words."""
        if self.stories:
            return self.stories[row][column]
        names = [mark.name for mark in self.marks if mark[:2] == (row, column)]
        marks = f" ({', '.join(names)})" if names else ""
        value = self.at(row, column)
        text = "missing" if value is None else self.number(value)
        place = f"{self.row_axis} {self.rows[row]}, {self.column_axis} {self.columns[column]}"
        return f"{place}: {text}{marks}"

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Signs and their meanings, each once."""
        return list(dict.fromkeys((mark.sign, mark.name) for mark in self.marks))

    @property
    def has_ranks(self) -> bool:
        """Return whether any cell has a rank."""
        return any(rank is not None for row in self.ranks or () for rank in row)

    @property
    def story(self) -> str:
        """The chart in words: its size, scale, marked cells and region, or the first ranks."""
        if self.ranks is not None:
            settings = []
            for k, (head, name) in enumerate(zip(self.heads, self.columns, strict=True)):
                ranks = zip(self.rows, (row[k] for row in self.ranks), strict=True)
                first = ", ".join(row for row, rank in ranks if rank == 1)
                settings.append(f"{head.name}, {name}: rank 1 {first or 'none'}")
            return f"Ranks of {len(self.rows)} metrics. {'; '.join(settings)}."
        size = f"{len(self.rows)} by {len(self.columns)} cells; {self.row_axis} down"
        parts = [f"{size}, {self.column_axis} across"]
        parts.append(f"from {self.number(self.ends[0])} to {self.number(self.ends[1])}")
        parts += [self.cell_story(mark.row, mark.column) for mark in self.marks]
        if self.outline:
            parts.append(f"outlined: {self.outline.name}")
        return "; ".join(dict.fromkeys(parts)) + "."


Chart: TypeAlias = RowChart | XYChart | CellChart


def chart_figure(chart: Chart) -> Figure:
    """Return a figure for pages, drawings and terminals."""
    draw = "karat.report.charts.letters:chart_sketch"
    return Figure(chart.title, chart, chart.caption, lambda layout: [*load(draw)(chart, layout)])


def intervals_figure(title: str, axis: str, rows: Iterable[ChartRow]) -> Figure:
    """Return a figure for pages and notebooks alone: a dot and a whisker for each item."""
    return Figure(title, RowChart(title, axis, list(rows)))
