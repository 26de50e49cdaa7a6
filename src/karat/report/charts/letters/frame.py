"""A plot drawn with letters: two axes with round numbers, and signs in between."""

from __future__ import annotations

from dataclasses import dataclass, field

from karat.report.charts.axis import Axis, Ticks
from karat.report.render.terminal import DIM, Paper, display_width, truncate
from karat.visible import visible

HEIGHT = 16  # rows of the plot itself: with the axes it stays within 20
NARROWEST = 12  # columns of the plot itself

Place = tuple[int, int]


@dataclass(frozen=True)
class Plot:
    """Signs by row and column, with the codes of their inks."""

    across: Ticks
    up: Ticks
    paper: Paper
    signs: dict[Place, tuple[str, str]] = field(default_factory=dict)

    @property
    def margin(self) -> int:
        """Columns that the numbers along the left take."""
        return max(display_width(self.up.label(value)) for value in self.up.values)

    @property
    def width(self) -> int:
        """Columns of the plot itself."""
        return self.paper.width - self.margin - 2

    @property
    def x(self) -> Axis:
        """From values to columns."""
        return Axis(self.across, 0, self.width - 1)

    @property
    def y(self) -> Axis:
        """From values to rows."""
        return Axis(self.up, HEIGHT - 1, 0)

    def place(self, x: float, y: float) -> Place:
        """The row and column of a point."""
        return round(self.y.at(y)), round(self.x.at(x))

    def lines(self, x_name: str, y_name: str) -> list[str]:
        """The plot with its axes and their names, at most as wide as the paper."""
        if self.width < NARROWEST:
            return self.paper.lines("too narrow for a plot", DIM)
        labels = {round(self.y.at(value)): self.up.label(value) for value in self.up.values}
        rows = [self._row(i, labels.get(i, "")) for i in range(HEIGHT)]
        return [
            self._named(y_name),
            *rows,
            self._edge(),
            self._numbers(),
            self._named(x_name, True),
        ]

    def _row(self, row: int, label: str) -> str:
        cells = [self.signs.get((row, column), (" ", "")) for column in range(self.width)]
        drawn = "".join(self.paper.ink(sign, code) for sign, code in cells)
        edge = f"{label:>{self.margin}} {'┤' if label else '│'}"
        return self.paper.ink(edge, DIM) + (
            drawn.rstrip() if any(s != " " for s, _ in cells) else ""
        )

    def _columns(self) -> list[tuple[int, str]]:
        return [(round(self.x.at(value)), self.across.label(value)) for value in self.across.values]

    def _edge(self) -> str:
        ticks = {column for column, _ in self._columns()}
        line = "".join("┬" if column in ticks else "─" for column in range(self.width))
        return self.paper.ink(" " * (self.margin + 1) + "└" + line, DIM)

    def _numbers(self) -> str:
        """The numbers below the ticks, those that have room."""
        line = ""
        for column, label in self._columns():
            at = self.margin + 2 + column - display_width(label) // 2
            at = min(at, self.paper.width - display_width(label))
            if at > len(line) or not line:
                line += " " * (at - len(line)) + label
        return self.paper.ink(line, DIM)

    def _named(self, name: str, below: bool = False) -> str:
        text = truncate(visible(name), self.paper.width)
        space = max(self.margin + 2 + (self.width - display_width(text)) // 2, 0) if below else 0
        space = min(space, self.paper.width - display_width(text))
        return self.paper.ink(" " * space + text, DIM)
