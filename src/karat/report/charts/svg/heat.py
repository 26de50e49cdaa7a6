"""A heat map as a drawing: shaded cells with their numbers, signs, a region and the scale."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from karat.report.charts.models import HeatMap
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.colors import heat_color, ink_on
from karat.report.charts.svg.legend import Entry, legend
from karat.report.page.markup import Look, coordinate, element, quote, shape

HEAT_TOP = 8.0
MAX_CELL_WIDTH, MAX_CELL_HEIGHT = 64.0, 36.0  # of a cell
MAX_ROWS_HEIGHT = 680.0  # of all the rows together, as long as a row stays readable
MIN_ROW_HEIGHT = 14.0  # height of a row
MAX_CELL_NAME = 24
SLANT = 40  # degrees by which long names of columns fall
SCALE_LENGTH = 108.0  # length of the scale
MARK_GAP, MIN_MARK_GAP = 3.5, 1.5  # between a cell and the line around a marked one; of small cells
CELL_LETTER = 11 / 12  # the cells' letters against the charts'


@dataclass(frozen=True)
class HeatFrame:
    """The position of the cells in the drawing."""

    left: float
    wide: float
    high: float
    rows: int
    columns: int

    def place(self, row: int, column: int, rows: int = 1, columns: int = 1) -> dict[str, float]:
        """The rectangle of some cells."""
        x, y = self.left + column * self.wide, HEAT_TOP + row * self.high
        return {"x": x, "y": y, "width": columns * self.wide, "height": rows * self.high}

    @property
    def bottom(self) -> float:
        return HEAT_TOP + self.rows * self.high

    @property
    def right(self) -> float:
        return self.left + self.columns * self.wide


def draw_heat_map(chart: HeatMap) -> svg.Drawn:
    """The drawing; every cell has its tooltip."""
    width, space = (svg.NARROW, 34) if chart.narrow else (svg.WIDTH, 42)
    left = max(svg.extent(_short(name)) for name in chart.rows) + space
    wide = min(MAX_CELL_WIDTH, (width - left - 4) / len(chart.columns))
    high = min(MAX_CELL_HEIGHT, max(MIN_ROW_HEIGHT, MAX_ROWS_HEIGHT / len(chart.rows)))
    frame = HeatFrame(left, wide, high, len(chart.rows), len(chart.columns))
    parts = [_heat_cell(chart, frame, i, j, value) for i, j, value in chart.cells]
    if chart.outline:
        (top, bottom), (first, last), _ = chart.outline
        parts.append(_framed(frame.place(top, first, bottom - top + 1, last - first + 1)))
    parts += _row_names(chart, frame)
    names, below = _column_names(chart, frame)
    key, end = legend(_heat_key(chart), 8.0 if chart.narrow else frame.left, below + 14, width)
    return [*parts, *names, *key], end + 4


def _short(name: str) -> str:
    return svg.shorten(name, MAX_CELL_NAME)


# ---------------------------------------------------------------------------------------- cells


def _heat_cell(chart: HeatMap, frame: HeatFrame, i: int, j: int, value: float | None) -> str:
    place = frame.place(i, j)
    told = svg.tooltip(chart.cell_story(i, j))
    if value is None:
        return element("g", told, _hatched(place), _sign(chart, place, i, j, "currentColor"))
    color = heat_color(chart.share(value))
    ink = ink_on(color)
    cell = shape("rect", **place, fill=color, stroke=svg.RULE, stroke_width=0.5)
    signs = _sign(chart, place, i, j, ink)
    number = _number(chart.number(value), place, ink, down=7 if signs else 0)
    return element("g", told, cell, number, signs, class_="cell")


def _number(number: str, place: dict[str, float], ink: str, down: float) -> str:
    """The value, where its cell is large enough for it."""
    if svg.extent(number) * CELL_LETTER + 4 > place["width"]:
        return ""
    look: Look = {"font_size": 11, "text_anchor": "middle", "fill": ink}
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2 + 4 + down
    return element("text", quote(number), x=x, y=y, **look)


def _sign(chart: HeatMap, place: dict[str, float], i: int, j: int, ink: str) -> str:
    """The signs of a marked cell above its number, and a line around it."""
    signs = chart.signs(i, j)
    if not signs:
        return ""
    gap = MARK_GAP if place["width"] > MAX_CELL_HEIGHT else MIN_MARK_GAP
    inner = {"x": place["x"] + gap, "y": place["y"] + gap}
    size = {"width": max(place["width"] - 2 * gap, 1), "height": place["height"] - 2 * gap}
    edge = shape("rect", **inner, **size, fill="none", stroke=ink, stroke_width=1.5)
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2 - 3
    look: Look = {"font_size": 11, "font_weight": 700, "text_anchor": "middle", "fill": ink}
    return edge + element("text", quote(signs), x=x, y=y, **look)


def _hatched(place: dict[str, float]) -> str:
    """A cell without a value: lines from the lower left to the upper right."""
    x, y, wide, high = place.values()
    lines = []
    for k in range(6, int(wide + high), 6):
        start = f"{coordinate(x + max(0.0, k - high))} {coordinate(y + min(k, high))}"
        end = f"{coordinate(x + min(k, wide))} {coordinate(y + max(0.0, k - wide))}"
        lines.append(f"M{start}L{end}")
    edge = shape("rect", **place, fill="none", stroke=svg.RULE, stroke_width=0.5)
    return edge + shape("path", d="".join(lines) or "M0 0", stroke=svg.RULE, fill="none")


def _framed(place: dict[str, float]) -> str:
    """Dashes over a broader line in the colour of the paper, so that any shade shows them."""
    look: Look = {"fill": "none", "stroke": "var(--paper, #ffffff)", "stroke_width": 5}
    dashes: Look = {"fill": "none", "stroke": "currentColor", "stroke_width": 2.5}
    inner = shape("rect", **place, **dashes, stroke_dasharray="7 4")
    return shape("rect", **place, **look) + inner


# ---------------------------------------------------------------------------------------- names


def _row_names(chart: HeatMap, frame: HeatFrame) -> Iterator[str]:
    step = math.ceil(13 / frame.high)
    for i in range(0, frame.rows, step):
        y = HEAT_TOP + (i + 0.5) * frame.high + 4
        yield svg.label(frame.left - 8, y, _short(chart.rows[i]), "end", svg.MUTED)
    yield svg.sideways(chart.row_axis, coordinate((HEAT_TOP + frame.bottom) / 2))


def _column_names(chart: HeatMap, frame: HeatFrame) -> tuple[list[str], float]:
    """Names below the columns, falling where they are too long to stand level, and their end."""
    names = [_short(name) for name in chart.columns]
    longest = max(map(svg.extent, names))
    middles = [frame.left + (j + 0.5) * frame.wide for j in range(frame.columns)]
    placed = list(zip(middles, names, strict=True))
    if longest + 4 <= frame.wide:
        below = frame.bottom + 17
        level = [svg.label(x, below, name, "middle", svg.MUTED) for x, name in placed]
    else:
        step = math.ceil(14 / frame.wide)
        level, y = [], frame.bottom + 12
        for x, name in placed[::step]:
            turn = f"rotate(-{SLANT} {coordinate(x)} {coordinate(y)})"
            look: Look = {"text_anchor": "end", "fill": svg.MUTED, "transform": turn}
            level.append(element("text", quote(name), x=x + 3, y=y + 2, **look))
        below = y + longest * math.sin(math.radians(SLANT))
    axis = svg.shorten(chart.column_axis, 70)
    middle = (frame.left + frame.right) / 2
    return [*level, svg.label(middle, below + 20, axis, "middle", svg.MUTED)], below + 20


# ------------------------------------------------------------------------------------ the legend


def _heat_key(chart: HeatMap) -> list[Entry]:
    """The scale, then every sign that occurs."""
    low, high = chart.ends
    wide = SCALE_LENGTH / 27
    size = {"width": wide + 0.5, "height": 12}
    lefts = [(k * wide - SCALE_LENGTH / 2, heat_color(k / 26)) for k in range(27)]
    shades = [shape("rect", x=left, y=-6, **size, fill=color) for left, color in lefts]
    entries = [Entry("".join(shades), f"{chart.number(low)} to {chart.number(high)}", SCALE_LENGTH + 12)]
    for sign, name in chart.keys:
        entries.append(Entry(svg.label(0, 4, sign, "middle"), name, 18 + svg.extent(sign)))
    swatch = {"x": -10.0, "y": -7.0, "width": 20.0, "height": 14.0}
    if chart.outline:
        entries.append(Entry(_framed(swatch), chart.outline.name, 32))
    if any(value is None for _, _, value in chart.cells):
        entries.append(Entry(_hatched(swatch), "missing", 32))
    return entries
