"""Charts drawn with characters, for terminals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from string import ascii_letters

from karat.errors import visible
from karat.report.charts.axis import Axis, Ticks
from karat.report.charts.models import (
    Chart,
    ChartRow,
    HeatMap,
    Point,
    RowChart,
    XYChart,
    curve_runs,
)
from karat.report.render import text
from karat.report.render.text import BOLD, CYAN, DIM, Sheet, display_width, truncate

SHADES = " ░▒▓█"
LONGEST_DOWN, LONGEST_ACROSS = 24, 14
MAX_CELLS = 10_000


def draw_heat_map(chart: HeatMap, sheet: Sheet) -> list[str]:
    """Draw a heat map as a table of numbers and shades, with its key."""
    if len(chart.rows) * len(chart.columns) > MAX_CELLS:
        size = f"{len(chart.rows):,} x {len(chart.columns):,} cells"
        return sheet.lines(f"{size} are too many to draw with letters", DIM)
    names = [_cut(name, min(LONGEST_DOWN, sheet.width // 3)) for name in chart.rows]
    indent = max(map(display_width, names))
    cell_texts = [_text(chart, i, j) for i, j, _ in chart.cells]
    cell_texts += [_cut(name, LONGEST_ACROSS) for name in chart.columns]
    wide = min(max(map(display_width, cell_texts)), max(sheet.width - indent - 1, 1))
    step = max((sheet.width - indent - 1) // (wide + 1), 1)
    lines = []
    for start in range(0, len(chart.columns), step):
        chosen = range(start, min(start + step, len(chart.columns)))
        cut = [_cut(chart.columns[j], wide) for j in chosen]
        heads = [name + " " * (wide - display_width(name)) for name in cut]
        lines.append(sheet.ink(" " * (indent + 1) + " ".join(heads).rstrip(), DIM))
        for i, name in enumerate(names):
            cells = " ".join(_cell(chart, i, j, wide, sheet) for j in chosen)
            lines.append(f"{' ' * (indent - display_width(name))}{name} {cells}".rstrip())
        lines.append("")
    return [*lines, *_heat_key(chart, sheet)]


def _cut(name: str, width: int) -> str:
    return truncate(visible(name), max(width, 1))


def _text(chart: HeatMap, i: int, j: int) -> str:
    value = chart.at(i, j)
    shade = "" if value is None else SHADES[min(int(chart.share(value) * 5), 4)].strip()
    inner = f"{chart.number(value)}{shade}{visible(chart.signs(i, j))}"
    if not (chart.outline and chart.outline.rows[0] <= i <= chart.outline.rows[1]):
        return inner
    first, last = chart.outline.columns
    return f"{'[' if j == first else ''}{inner}{']' if j == last else ''}"


def _cell(chart: HeatMap, i: int, j: int, wide: int, sheet: Sheet) -> str:
    text = truncate(_text(chart, i, j), wide)
    value = chart.at(i, j)
    tone = DIM if value is None else CYAN if chart.share(value) >= 0.8 else ""
    ink = BOLD if chart.signs(i, j) else tone
    return sheet.ink(text, ink) + " " * (wide - display_width(text))


def _heat_key(chart: HeatMap, sheet: Sheet) -> list[str]:
    low, high = (chart.number(end) for end in chart.ends)
    key_items = [f"{chart.row_axis} down, {chart.column_axis} across"]
    key_items.append(f"from {low} by {' '.join(SHADES[1:])} to {high}")
    key_items += [f"{sign} {name}" for sign, name in chart.keys]
    key_items += [f"[ ] {chart.outline.name}"] if chart.outline else []
    return sheet.lines(visible("; ".join(key_items)), DIM)


MAIN, OTHER = tuple("├─┤●"), tuple("╶╌╴○")  # the ends and the inside of a line, and its dot
MAX_LABEL = 24  # columns of a label
MIN_SCALE = 8  # columns of the scale


def draw_rows(chart: RowChart, sheet: Sheet) -> list[str]:
    """Draw a line per value: its label, its interval and its number; and a key."""
    rows, paired = chart.plotted, chart.kind == "pair"
    ticks = chart.ticks(4 if paired else 3 if chart.narrow else 5)
    labels = [truncate(visible(row.label), min(MAX_LABEL, sheet.width // 3)) for row in rows]
    texts = [
        [v.text if paired else ticks.label(v.value, extra=2) for v in row.values] for row in rows
    ]
    left = max(map(display_width, labels))
    right = max(display_width(text) for row_texts in texts for text in row_texts)
    wide = sheet.width - left - right - 2
    if wide < MIN_SCALE:
        return sheet.lines("too narrow for a plot", DIM)
    axis = Axis(ticks, 0, wide - 1)
    lines = []
    for row, label, row_texts in zip(rows, labels, texts, strict=True):
        for k, (value, number) in enumerate(zip(row.values, row_texts, strict=True)):
            bar = _row_line(value, axis, wide, chart.base, OTHER if k else MAIN)
            name = "" if k else label
            space, inked = " " * (left - display_width(name)), sheet.ink(bar, DIM if k else CYAN)
            lines.append(f"{space}{name} {inked} {number:>{right}}")
    key = [f"{chart.named_axis}, {ticks.label(ticks.values[0])} to {ticks.label(ticks.values[-1])}"]
    key += ["¦ the baseline"] if chart.base else []
    if chart.compared:
        key += [
            f"{signs[3]} {name}" for signs, name in zip((MAIN, OTHER), chart.names, strict=True)
        ]
    return [*lines, *sheet.lines("; ".join(key), DIM)]


def _row_line(
    row: ChartRow, axis: Axis, wide: int, base: list[float], signs: tuple[str, ...]
) -> str:
    first, inside, last, dot = signs
    characters = [" "] * wide
    if row.bar:
        low, high = sorted(round(axis.at(end)) for end in row.bar)
        characters[low : high + 1] = inside * (high - low + 1)
        characters[low], characters[high] = first, last
    for at in (round(axis.at(value)) for value in base):
        characters[at] = "┼" if characters[at] == inside else "¦"
    characters[round(axis.at(row.value))] = dot
    return "".join(characters)


HEIGHT = 16  # rows of the plot itself: with the axes it stays within 20
MIN_PLOT_WIDTH = 12  # columns of the plot itself

INKS = (CYAN, text.YELLOW, text.MAGENTA, text.GREEN, text.RED)
SEVERAL = "*"  # letters that fall on one place
CROWD = "· one point; o two to four; ● five or more"
SIGNS = "●○■□▲△◆◇" + ascii_letters
BETWEEN = "·"

Place = tuple[int, int]


@dataclass(frozen=True)
class Plot:
    """Signs by row and column, with the codes of their inks."""

    across: Ticks
    up: Ticks
    sheet: Sheet
    signs: dict[Place, tuple[str, str]] = field(default_factory=dict)

    @cached_property
    def margin(self) -> int:
        """Columns that the numbers along the left take."""
        return max(display_width(self.up.label(value)) for value in self.up.values)

    @property
    def width(self) -> int:
        """Columns of the plot itself."""
        return self.sheet.width - self.margin - 2

    def column(self, x: float) -> int:
        """The column of a value."""
        return round(Axis(self.across, 0, self.width - 1).at(x))

    def row(self, y: float) -> int:
        """The row of a value."""
        return round(Axis(self.up, HEIGHT - 1, 0).at(y))

    def place(self, x: float, y: float) -> Place:
        """The row and column of a point."""
        return self.row(y), self.column(x)

    def lines(self, x_name: str, y_name: str) -> list[str]:
        """The plot with its axes and their names, at most as wide as the sheet."""
        if self.width < MIN_PLOT_WIDTH:
            return self.sheet.lines("too narrow for a plot", DIM)
        labels = {self.row(value): self.up.label(value) for value in self.up.values}
        rows = [self._row(i, labels.get(i, "")) for i in range(HEIGHT)]
        y_named = self.sheet.ink(truncate(visible(y_name), self.sheet.width), DIM)
        return [y_named, *rows, *self._below(x_name)]

    def _row(self, row: int, label: str) -> str:
        cells = [self.signs.get((row, column), (" ", "")) for column in range(self.width)]
        line = "".join(self.sheet.ink(sign, code) for sign, code in cells)
        edge = f"{label:>{self.margin}} {'┤' if label else '│'}"
        return self.sheet.ink(edge, DIM) + (line.rstrip() if line.strip() else "")

    def _below(self, name: str) -> list[str]:
        ticks = [(self.column(value), self.across.label(value)) for value in self.across.values]
        edge = "".join("┬" if column in dict(ticks) else "─" for column in range(self.width))
        numbers = ""
        for column, label in ticks:
            at = self.margin + 2 + column - display_width(label) // 2
            at = min(at, self.sheet.width - display_width(label))
            if at > len(numbers) or not numbers:
                numbers += " " * (at - len(numbers)) + label
        text = truncate(visible(name), self.sheet.width)
        space = max(self.margin + 2 + (self.width - display_width(text)) // 2, 0)
        name_line = " " * min(space, self.sheet.width - display_width(text)) + text
        lines = (" " * (self.margin + 1) + "└" + edge, numbers, name_line)
        return [self.sheet.ink(line, DIM) for line in lines]


def draw_scatter(chart: XYChart, sheet: Sheet) -> list[str]:
    """Draw a scatter plot and list its points."""
    points = chart.plotted
    plot = Plot(*chart.ticks(across=4, up=4), sheet)
    if len(points) <= len(ascii_letters):
        for letter, point in zip(ascii_letters, points, strict=False):
            place = plot.place(point.x, point.y)
            plot.signs[place] = (SEVERAL if place in plot.signs else letter, _ink(chart, point))
        several = any(sign == SEVERAL for sign, _ in plot.signs.values())
        point_names = _names(chart, sheet)
        point_names += sheet.lines(f"{SEVERAL} several points", DIM) if several else []
    else:
        for place, count in Counter(plot.place(point.x, point.y) for point in points).items():
            plot.signs[place] = ("·" if count == 1 else "o" if count < 5 else "●", CYAN)
        point_names = sheet.lines(CROWD, DIM)
    return [*plot.lines(chart.x_axis, chart.y_axis), *sheet.lines(chart.note, ""), *point_names]


def _ink(chart: XYChart, point: Point) -> str:
    return INKS[chart.groups.index(point.group) % len(INKS)]


def _names(chart: XYChart, sheet: Sheet) -> list[str]:
    x, y = chart.ticks()
    lines = []
    for letter, point in zip(ascii_letters, chart.plotted, strict=False):
        values = f"{x.label(point.x, extra=2)}, {y.label(point.y, extra=2)}"
        if point.bar:
            low, high = (y.label(end, extra=2) for end in point.bar)
            values += f" (from {low} to {high})"
        group = f" ({point.group})" if point.group else ""
        point_text = truncate(visible(f" {point.label}{group}: {values}"), sheet.width - 1)
        lines.append(sheet.ink(letter, _ink(chart, point)) + point_text)
    return lines


def draw_curves(chart: XYChart, sheet: Sheet) -> list[str]:
    """Draw curves and their names, without bands."""
    plot = Plot(*chart.ticks(across=4, up=4), sheet)
    names, points = [], {}
    for k, (name, curve) in enumerate(chart.curves.items()):
        sign, ink = SIGNS[k % len(SIGNS)], INKS[k % len(INKS)]
        names.append(f"{sign} {visible(name)}")
        for run in curve_runs(curve):
            places = [plot.place(point.x, point.y) for point in run]
            points.update(dict.fromkeys(places, (sign, ink)))
            for (top, left), (bottom, right) in pairwise(places):
                for column in range(left + 1, right):
                    row = round(top + (bottom - top) * (column - left) / (right - left))
                    plot.signs[row, column] = (BETWEEN, ink)
    plot.signs.update(points)  # signs over dots
    return [*plot.lines(chart.x_axis, chart.y_axis), *sheet.lines("; ".join(names), "")]


def chart_sketch(chart: Chart, sheet: Sheet) -> list[str]:
    """Return the lines of the chart, at most as wide as the sheet."""
    if not chart.plotted:
        return sheet.lines("no data", DIM)
    if isinstance(chart, HeatMap):
        return draw_heat_map(chart, sheet)
    if isinstance(chart, XYChart):
        return (draw_curves if chart.joined else draw_scatter)(chart, sheet)
    if isinstance(chart, RowChart):
        return draw_rows(chart, sheet)
    raise TypeError(f"no drawing with letters for {type(chart).__name__}")
