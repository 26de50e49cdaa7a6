"""Plots drawn with letters: two axes with round numbers, and points or curves in between."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from string import ascii_letters

from karat.errors import visible
from karat.report.charts.axis import Axis, Ticks
from karat.report.charts.models import Curves, Point, Scatter, runs
from karat.report.render import terminal
from karat.report.render.terminal import CYAN, DIM, Sheet, display_width, truncate

HEIGHT = 16  # rows of the plot itself: with the axes it stays within 20
NARROWEST = 12  # columns of the plot itself

INKS = (CYAN, terminal.YELLOW, terminal.MAGENTA, terminal.GREEN, terminal.RED)
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
        if self.width < NARROWEST:
            return self.sheet.lines("too narrow for a plot", DIM)
        labels = {self.row(value): self.up.label(value) for value in self.up.values}
        rows = [self._row(i, labels.get(i, "")) for i in range(HEIGHT)]
        y_named = self.sheet.ink(truncate(visible(y_name), self.sheet.width), DIM)
        return [y_named, *rows, *self._below(x_name)]

    def _row(self, row: int, label: str) -> str:
        cells = [self.signs.get((row, column), (" ", "")) for column in range(self.width)]
        drawn = "".join(self.sheet.ink(sign, code) for sign, code in cells)
        edge = f"{label:>{self.margin}} {'┤' if label else '│'}"
        return self.sheet.ink(edge, DIM) + (drawn.rstrip() if drawn.strip() else "")

    def _below(self, name: str) -> list[str]:
        """The lower edge, the numbers below its ticks that have room, and the axis' name."""
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
        named = " " * min(space, self.sheet.width - display_width(text)) + text
        lines = (" " * (self.margin + 1) + "└" + edge, numbers, named)
        return [self.sheet.ink(line, DIM) for line in lines]


def draw_scatter(chart: Scatter, sheet: Sheet) -> list[str]:
    """The points and what they are."""
    points = chart.shown
    plot = Plot(*chart.ticks(across=4, up=4), sheet)
    if len(points) <= len(ascii_letters):
        for letter, point in zip(ascii_letters, points, strict=False):
            place = plot.place(point.x, point.y)
            plot.signs[place] = (SEVERAL if place in plot.signs else letter, _ink(chart, point))
        several = any(sign == SEVERAL for sign, _ in plot.signs.values())
        told = _names(chart, sheet)
        told += sheet.lines(f"{SEVERAL} several points", DIM) if several else []
    else:
        for place, count in Counter(plot.place(point.x, point.y) for point in points).items():
            plot.signs[place] = ("·" if count == 1 else "o" if count < 5 else "●", CYAN)
        told = sheet.lines(CROWD, DIM)
    return [*plot.lines(chart.x_axis, chart.y_axis), *sheet.lines(chart.note, ""), *told]


def _ink(chart: Scatter, point: Point) -> str:
    return INKS[chart.groups.index(point.group) % len(INKS)]


def _names(chart: Scatter, sheet: Sheet) -> list[str]:
    """Return the meaning of each letter."""
    x, y = chart.ticks()
    lines = []
    for letter, point in zip(ascii_letters, chart.shown, strict=False):
        values = f"{x.label(point.x, extra=2)}, {y.label(point.y, extra=2)}"
        if point.bar:
            low, high = (y.label(end, extra=2) for end in point.bar)
            values += f" (from {low} to {high})"
        group = f" ({point.group})" if point.group else ""
        told = truncate(visible(f" {point.label}{group}: {values}"), sheet.width - 1)
        lines.append(sheet.ink(letter, _ink(chart, point)) + told)
    return lines


def draw_curves(chart: Curves, sheet: Sheet) -> list[str]:
    """The curves and their names; bands are left out."""
    plot = Plot(*chart.ticks(across=4, up=4), sheet)
    names, points = [], {}
    for k, curve in enumerate(chart.shown):
        sign, ink = SIGNS[k % len(SIGNS)], INKS[k % len(INKS)]
        names.append(f"{sign} {visible(curve.name)}")
        for run in runs(curve.knots):
            places = [plot.place(knot.x, knot.y) for knot in run]
            points.update(dict.fromkeys(places, (sign, ink)))
            for (top, left), (bottom, right) in pairwise(places):
                for column in range(left + 1, right):
                    row = round(top + (bottom - top) * (column - left) / (right - left))
                    plot.signs[row, column] = (BETWEEN, ink)
    plot.signs.update(points)  # signs over dots
    return [*plot.lines(chart.x_axis, chart.y_axis), *sheet.lines("; ".join(names), "")]
