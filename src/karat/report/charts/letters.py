"""Charts drawn with characters, for terminals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from string import ascii_letters

from karat.errors import visible
from karat.report.charts.axis import Axis, Ticks
from karat.report.charts.models import CellChart, Chart, RowChart, XYChart, curve_runs
from karat.report.render import text
from karat.report.render.text import BOLD, CYAN, DIM, TextLayout, display_width, pad, truncate

SHADES = " ░▒▓█"
LONGEST_DOWN, LONGEST_ACROSS = 24, 14
MAX_CELLS = 10_000


def draw_heat_map(chart: CellChart, layout: TextLayout) -> list[str]:
    """Draw a heat map as a table of numbers and shades, with its key."""
    if len(chart.rows) * len(chart.columns) > MAX_CELLS:
        size = f"{len(chart.rows):,} x {len(chart.columns):,} cells"
        return layout.lines(f"{size} are too many to draw with letters", DIM)
    longest = max(min(LONGEST_DOWN, layout.width // 3), 1)
    names = [truncate(visible(name), longest) for name in chart.rows]
    indent = max(map(display_width, names))
    texts = {(i, j): _heat_cell_text(chart, i, j, value) for i, j, value in chart.cells}
    column_names = [truncate(visible(name), LONGEST_ACROSS) for name in chart.columns]
    room = max(layout.width - indent - 1, 1)
    cell_width = min(max(map(display_width, [*texts.values(), *column_names])), room)
    step = max((layout.width - indent - 1) // (cell_width + 1), 1)
    lines = []
    for start in range(0, len(chart.columns), step):
        columns = range(start, min(start + step, len(chart.columns)))
        cut = [truncate(visible(chart.columns[j]), max(cell_width, 1)) for j in columns]
        padded = [pad(name, cell_width) for name in cut]
        lines.append(layout.ink(" " * (indent + 1) + " ".join(padded).rstrip(), DIM))
        for i, name in enumerate(names):
            cells = []
            for j in columns:
                text, value = truncate(texts[i, j], cell_width), chart.at(i, j)
                tone = DIM if value is None else CYAN if chart.share(value) >= 0.8 else ""
                inked = layout.ink(text, BOLD if chart.signs(i, j) else tone)
                cells.append(inked + " " * (cell_width - display_width(text)))
            lines.append(f"{pad(name, indent, right=True)} {' '.join(cells)}".rstrip())
        lines.append("")
    low, high = (chart.number(end) for end in chart.ends)
    key_items = [f"{chart.row_axis} down, {chart.column_axis} across"]
    key_items.append(f"from {low} by {' '.join(SHADES[1:])} to {high}")
    key_items += [f"{sign} {name}" for sign, name in chart.keys]
    key_items += [f"[ ] {chart.outline.name}"] if chart.outline else []
    return [*lines, *layout.lines(visible("; ".join(key_items)), DIM)]


def _heat_cell_text(chart: CellChart, i: int, j: int, value: float | None) -> str:
    shade = "" if value is None else SHADES[min(int(chart.share(value) * 5), 4)].strip()
    inner = f"{chart.number(value)}{shade}{visible(chart.signs(i, j))}"
    if not (chart.outline and chart.outline.rows[0] <= i <= chart.outline.rows[1]):
        return inner
    first, last = chart.outline.columns
    return f"{'[' if j == first else ''}{inner}{']' if j == last else ''}"


MAIN, OTHER = tuple("├─┤●"), tuple("╶╌╴○")  # the ends and the inside of a line, and its dot
MAX_LABEL = 24  # columns of a label
MIN_SCALE = 8  # columns of the scale


def draw_rows(chart: RowChart, layout: TextLayout) -> list[str]:
    """Draw a line per value: its label, its interval and its number; and a key."""
    rows, paired = chart.plotted, chart.kind == "pair"
    ticks = chart.ticks(4 if paired else 3 if chart.narrow else 5)
    labels = [truncate(visible(row.label), min(MAX_LABEL, layout.width // 3)) for row in rows]
    texts = [
        [v.text if paired else ticks.label(v.value, extra=2) for v in row.values] for row in rows
    ]
    label_width = max(map(display_width, labels))
    number_width = max(display_width(text) for row_texts in texts for text in row_texts)
    scale_width = layout.width - label_width - number_width - 2
    if scale_width < MIN_SCALE:
        return layout.lines("too narrow for a plot", DIM)
    axis = Axis(ticks, 0, scale_width - 1)
    lines = []
    for row, label, row_texts in zip(rows, labels, texts, strict=True):
        for k, (value, number) in enumerate(zip(row.values, row_texts, strict=True)):
            first, inside, last, dot = OTHER if k else MAIN
            characters = [" "] * scale_width
            if value.bar:
                low, high = sorted(round(axis.at(end)) for end in value.bar)
                characters[low : high + 1] = inside * (high - low + 1)
                characters[low], characters[high] = first, last
            for at in (round(axis.at(base)) for base in chart.base):
                characters[at] = "┼" if characters[at] == inside else "¦"
            characters[round(axis.at(value.value))] = dot
            inked, name = layout.ink("".join(characters), DIM if k else CYAN), "" if k else label
            name = pad(name, label_width, right=True)
            lines.append(f"{name} {inked} {number:>{number_width}}")
    key = [f"{chart.named_axis}, {ticks.label(ticks.values[0])} to {ticks.label(ticks.values[-1])}"]
    key += ["¦ the baseline"] if chart.base else []
    if chart.has_pairs:
        key += [f"{MAIN[3]} {chart.names[0]}", f"{OTHER[3]} {chart.names[1]}"]
    return [*lines, *layout.lines("; ".join(key), DIM)]


HEIGHT = 16  # rows of the plot itself: with the axes it stays within 20
MIN_PLOT_WIDTH = 12  # columns of the plot itself

INKS = (CYAN, text.YELLOW, text.MAGENTA, text.GREEN, text.RED)
SEVERAL = "*"  # several points at one place
CROWD = "· one point; o two to four; ● five or more"
SIGNS = "●○■□▲△◆◇" + ascii_letters
BETWEEN = "·"

Place = tuple[int, int]


@dataclass(frozen=True)
class Plot:
    """Signs by row and column, with the codes of their inks."""

    across: Ticks
    up: Ticks
    layout: TextLayout
    signs: dict[Place, tuple[str, str]] = field(default_factory=dict)

    @cached_property
    def margin(self) -> int:
        """The width of the numbers along the left edge."""
        return max(display_width(self.up.label(value)) for value in self.up.values)

    @property
    def width(self) -> int:
        """Columns of the plot itself."""
        return self.layout.width - self.margin - 2

    def place(self, x: float, y: float) -> Place:
        """Return the row and column of a point."""
        column = round(Axis(self.across, 0, self.width - 1).at(x))
        return round(Axis(self.up, HEIGHT - 1, 0).at(y)), column

    def lines(self, x_name: str, y_name: str) -> list[str]:
        """Return the plot with its axes and their names, at most as wide as the text."""
        layout, width, edge = self.layout, self.width, self.margin + 2
        if width < MIN_PLOT_WIDTH:
            return layout.lines("too narrow for a plot", DIM)
        corner = self.across.values[0], self.up.values[0]
        labels = {self.place(corner[0], y)[0]: self.up.label(y) for y in self.up.values}
        lines = [layout.ink(truncate(visible(y_name), layout.width), DIM)]
        for row in range(HEIGHT):
            cells = [self.signs.get((row, column), (" ", "")) for column in range(width)]
            line = "".join(layout.ink(sign, code) for sign, code in cells)
            label = labels.get(row, "")
            inked = layout.ink(f"{label:>{self.margin}} {'┤' if label else '│'}", DIM)
            lines.append(inked + (line.rstrip() if line.strip() else ""))
        ticks = [(self.place(x, corner[1])[1], self.across.label(x)) for x in self.across.values]
        rule = "".join("┬" if column in dict(ticks) else "─" for column in range(width))
        numbers = ""
        for column, label in ticks:
            at = edge + column - display_width(label) // 2
            at = min(at, layout.width - display_width(label))
            if at > len(numbers) or not numbers:
                numbers += " " * (at - len(numbers)) + label
        name = truncate(visible(x_name), layout.width)
        space = max(edge + (width - display_width(name)) // 2, 0)
        name = " " * min(space, layout.width - display_width(name)) + name
        below = (" " * (edge - 1) + "└" + rule, numbers, name)
        return lines + [layout.ink(line, DIM) for line in below]


def draw_scatter(chart: XYChart, layout: TextLayout) -> list[str]:
    """Draw a scatter plot and list its points."""
    plot, key = Plot(*chart.ticks(n_x=4, n_y=4), layout), []
    if len(chart.plotted) <= len(ascii_letters):
        x, y = chart.ticks()
        for letter, point in zip(ascii_letters, chart.plotted, strict=False):
            place, ink = plot.place(*point[:2]), INKS[chart.groups.index(point.group) % len(INKS)]
            plot.signs[place] = (SEVERAL if place in plot.signs else letter, ink)
            values = f"{x.label(point.x, extra=2)}, {y.label(point.y, extra=2)}"
            if point.bar:
                low, high = (y.label(end, extra=2) for end in point.bar)
                values += f" (from {low} to {high})"
            group = f" ({point.group})" if point.group else ""
            text = truncate(visible(f" {point.label}{group}: {values}"), layout.width - 1)
            key.append(layout.ink(letter, ink) + text)
        several = any(sign == SEVERAL for sign, _ in plot.signs.values())
        key += layout.lines(f"{SEVERAL} several points", DIM) if several else []
    else:
        for place, count in Counter(plot.place(*point[:2]) for point in chart.plotted).items():
            plot.signs[place] = ("·" if count == 1 else "o" if count < 5 else "●", CYAN)
        key = layout.lines(CROWD, DIM)
    return [*plot.lines(chart.x_axis, chart.y_axis), *layout.lines(chart.note), *key]


def draw_curves(chart: XYChart, layout: TextLayout) -> list[str]:
    """Draw curves and their names, without bands."""
    plot = Plot(*chart.ticks(n_x=4, n_y=4), layout)
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
    return [*plot.lines(chart.x_axis, chart.y_axis), *layout.lines("; ".join(names), "")]


_SKETCHES = {"scatter": draw_scatter, "curves": draw_curves}


def chart_sketch(chart: Chart, layout: TextLayout) -> list[str]:
    """Return the lines of the chart, at most as wide as the text."""
    if not chart.plotted:
        return layout.lines("no data", DIM)
    if isinstance(chart, CellChart):
        return draw_heat_map(chart, layout)
    if isinstance(chart, RowChart):
        return draw_rows(chart, layout)
    return _SKETCHES[chart.kind](chart, layout)
