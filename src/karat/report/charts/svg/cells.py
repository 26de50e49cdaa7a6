"""A heat map as a drawing: shaded cells with their numbers, signs, a region and the scale."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from karat.report.charts.models import HeatMap, RankCell, RankMap
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import LegendEntry, heat_color, ink_on, legend
from karat.report.markup import Look, coordinate, element, quote, shape

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
    tooltip = svg.tooltip(chart.cell_story(i, j))
    if value is None:
        return element("g", tooltip, _hatched(place), _sign(chart, place, i, j, "currentColor"))
    color = heat_color(chart.share(value))
    ink = ink_on(color)
    cell = shape("rect", **place, fill=color, stroke=svg.RULE, stroke_width=0.5)
    signs = _sign(chart, place, i, j, ink)
    number = _number(chart.number(value), place, ink, down=7 if signs else 0)
    return element("g", tooltip, cell, number, signs, class_="cell")


def _number(number: str, place: dict[str, float], ink: str, down: float) -> str:
    """The value, where its cell is large enough for it."""
    if svg.extent(number) * CELL_LETTER + 4 > place["width"]:
        return ""
    look: Look = {"font_size": 11, "text_anchor": "middle", "fill": ink}
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2 + 4 + down
    return element("text", quote(number), x=x, y=y, **look)


def _sign(chart: HeatMap, place: dict[str, float], i: int, j: int, ink: str) -> str:
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
    yield svg.draw_y_name(chart.row_axis, coordinate((HEAT_TOP + frame.bottom) / 2))


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


def _heat_key(chart: HeatMap) -> list[LegendEntry]:
    low, high = chart.ends
    wide = SCALE_LENGTH / 27
    size = {"width": wide + 0.5, "height": 12}
    lefts = [(k * wide - SCALE_LENGTH / 2, heat_color(k / 26)) for k in range(27)]
    shades = [shape("rect", x=left, y=-6, **size, fill=color) for left, color in lefts]
    entries = [
        LegendEntry(
            "".join(shades), f"{chart.number(low)} to {chart.number(high)}", SCALE_LENGTH + 12
        )
    ]
    for sign, name in chart.keys:
        entries.append(LegendEntry(svg.label(0, 4, sign, "middle"), name, 18 + svg.extent(sign)))
    swatch = {"x": -10.0, "y": -7.0, "width": 20.0, "height": 14.0}
    if chart.outline:
        entries.append(LegendEntry(_framed(swatch), chart.outline.name, 32))
    if any(value is None for _, _, value in chart.cells):
        entries.append(LegendEntry(_hatched(swatch), "missing", 32))
    return entries


RANK_ROW = 24.0
RANK_HEAD = 18.0  # height of a line of names above the cells
MAX_RANK_WIDTH = 76.0  # of a cell
MAX_RANK_LABEL = 15
WIDE = 1.12  # capitals take more room than the usual letters
SHADES = (1.0, 0.62, 0.4, 0.22, 0.06)
"""Of the ranks 1 to 4, and of all below."""


def draw_ranks(chart: RankMap) -> svg.Drawn:
    """The drawing; every cell has its tooltip."""
    labels = [svg.shorten(name, MAX_RANK_LABEL) for name in chart.metrics]
    left = WIDE * max(map(svg.extent, labels)) + 10
    wide = min(MAX_RANK_WIDTH, (svg.NARROW - left - 2) / len(chart.columns))
    parts, top = _heads(chart, left, wide)
    for i, label in enumerate(labels):
        y = top + RANK_ROW * i
        parts.append(svg.label(left - 8, y + RANK_ROW / 2 + 4, label, "end"))
        for j, cell in enumerate(chart.cells[i]):
            place = {"x": left + wide * j, "y": y, "width": wide - 2, "height": RANK_ROW - 2}
            parts.append(_rank_cell(cell, place))
    bottom = top + RANK_ROW * len(labels)
    return (
        ([*parts, *_rank_key(left, bottom + 8)], bottom + 26)
        if chart.ranked
        else (parts, bottom + 4)
    )


def _heads(chart: RankMap, left: float, wide: float) -> tuple[list[str], float]:
    """The levels, below them the statistics where there are several, and where they end."""
    parts, at = [], left
    for head, run in groupby(chart.columns, lambda column: column.head):
        head_columns = list(run)
        room = wide * len(head_columns)
        name = svg.shorten(head, int(room / svg.LETTER))
        label = svg.label(at + room / 2 - 1, RANK_HEAD - 5, name, "middle")
        parts.append(_explained(label, head_columns[0].head_help))
        at += room
    if len({column.name for column in chart.columns}) == 1:
        return parts, RANK_HEAD
    for j, column in enumerate(chart.columns):
        name = svg.shorten(column.name, int(wide / svg.LETTER))
        middle = left + wide * (j + 0.5) - 1
        label = svg.label(middle, 2 * RANK_HEAD - 6, name, "middle", svg.MUTED)
        parts.append(_explained(label, column.name_help))
    return parts, 2 * RANK_HEAD


def _explained(label: str, help: str) -> str:
    return element("g", svg.tooltip(help), label) if help else label


def _rank_cell(cell: RankCell | None, place: dict[str, float]) -> str:
    if cell is None:
        return shape("rect", **place, fill="none", stroke=svg.RULE, stroke_dasharray="2 2")
    if cell.rank is None:
        box = shape("rect", **place, fill="none", stroke=svg.RULE, stroke_width=0.5)
        return element("g", svg.tooltip(cell.story), box, _value(cell, place, "currentColor"))
    color = rank_color(cell.rank)
    ink = ink_on(color)
    box = shape("rect", **place, fill=color, stroke=svg.RULE, stroke_width=0.5)
    look: Look = {"font_size": 12, "font_weight": 700, "fill": ink}
    y = place["y"] + place["height"] / 2 + 4
    rank = element("text", str(cell.rank), x=place["x"] + 5, y=y, **look)
    value = _value(cell, place, ink)
    return element("g", svg.tooltip(cell.story), box, rank, value, class_="cell")


def _value(cell: RankCell, place: dict[str, float], ink: str) -> str:
    room = place["width"] - 8 - (0 if cell.rank is None else 4 + svg.extent(str(cell.rank)))
    texts = (f"{cell.value:.{digits}f}".replace("0.", ".", 1) for digits in (3, 2, 1))
    text = next((text for text in texts if svg.extent(text) * CELL_LETTER * 0.94 <= room), "")
    x, y = place["x"] + place["width"] - 4, place["y"] + place["height"] / 2 + 4
    look: Look = {"font_size": 11, "text_anchor": "end", "fill": ink}
    return element("text", quote(text), x=x, y=y, **look) if text else ""


def rank_color(rank: int) -> str:
    """The colour of a rank, the darker the better."""
    return heat_color(SHADES[min(rank, len(SHADES)) - 1])


def _rank_key(left: float, top: float) -> Iterator[str]:
    yield svg.label(left, top + 11, "rank", fill=svg.MUTED)
    x = left + svg.extent("rank") + 6
    for rank in range(1, len(SHADES) + 1):
        text, color = f"{rank}+" if rank == len(SHADES) else str(rank), rank_color(rank)
        place = {"x": x, "y": top, "width": 22.0, "height": 15.0}
        box = shape("rect", **place, fill=color, stroke=svg.RULE, stroke_width=0.5)
        look: Look = {"font_size": 11, "text_anchor": "middle", "fill": ink_on(color)}
        name = element("text", text, x=x + 11, y=top + 11.5, **look)
        yield element("g", box, name, class_="cell")
        x += 25
