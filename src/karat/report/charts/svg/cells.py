"""Cells as drawings: heat maps with numbers, signs, a region and the scale; maps of ranks."""

from __future__ import annotations

import math
from itertools import groupby

from karat.report.charts.models import CellChart
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import MUTED, RULE, LegendEntry, heat_color, ink_on, legend
from karat.report.markup import Look, coordinate, element, quote, shape

HEAT_TOP = 8.0
MAX_CELL_WIDTH, MAX_CELL_HEIGHT = 64.0, 36.0  # of a cell
MAX_ROWS_HEIGHT = 680.0  # of all rows together, if rows stay readable
MIN_ROW_HEIGHT = 14.0  # height of a row
MAX_CELL_NAME = 24
SLANT = 40  # degrees by which long names of columns are rotated
SCALE_LENGTH = 108.0  # length of the scale
MARK_GAP, MIN_MARK_GAP = 3.5, 1.5  # inset of the line in a marked cell; in a small cell
MIN_TWO_LINES = 28.0  # height of a cell that has a sign above its number
CELL_LETTER = 11 / 12  # size of the letters in cells, relative to others

Place = dict[str, float]
"""The rectangle of a cell: x, y, width and height."""


def draw_heat_map(chart: CellChart) -> svg.DrawingParts:
    """Draw numbers and signs in cells, each with its tooltip."""
    n_rows, n_columns = len(chart.rows), len(chart.columns)
    width, axis_room = (svg.NARROW, 34) if chart.narrow else (svg.WIDTH, 42)
    names = [svg.shorten(name, MAX_CELL_NAME) for name in chart.rows]
    left = max(map(svg.extent, names)) + axis_room
    cell_width = min(MAX_CELL_WIDTH, (width - left - 4) / n_columns)
    cell_height = min(MAX_CELL_HEIGHT, max(MIN_ROW_HEIGHT, MAX_ROWS_HEIGHT / n_rows))

    def place(row: int, column: int, rows: int = 1, columns: int = 1) -> Place:
        x, y = left + column * cell_width, HEAT_TOP + row * cell_height
        return {"x": x, "y": y, "width": columns * cell_width, "height": rows * cell_height}

    parts = [_heat_cell(chart, place(i, j), i, j, value) for i, j, value in chart.cells]
    if chart.outline:
        (top, last_row), (first, last), _ = chart.outline
        parts.append(_dashed_frame(place(top, first, last_row - top + 1, last - first + 1)))
    bottom = HEAT_TOP + n_rows * cell_height
    for i in range(0, n_rows, math.ceil(13 / cell_height)):
        y = HEAT_TOP + (i + 0.5) * cell_height + 4
        parts.append(svg.label(left - 8, y, names[i], "end", MUTED))
    parts.append(svg.draw_y_name(chart.row_axis, coordinate((HEAT_TOP + bottom) / 2)))
    column_names = [svg.shorten(name, MAX_CELL_NAME) for name in chart.columns]
    longest = max(map(svg.extent, column_names))
    placed = [(left + (j + 0.5) * cell_width, name) for j, name in enumerate(column_names)]
    if longest + 4 <= cell_width:
        names_bottom = bottom + 17
        parts += [svg.label(x, names_bottom, name, "middle", MUTED) for x, name in placed]
    else:  # too long to be level: names fall to the left
        y = bottom + 12
        for x, name in placed[:: math.ceil(14 / cell_width)]:
            turn = f"rotate(-{SLANT} {coordinate(x)} {coordinate(y)})"
            look: Look = {"text_anchor": "end", "fill": MUTED, "transform": turn}
            parts.append(element("text", quote(name), x=x + 3, y=y + 2, **look))
        names_bottom = y + longest * math.sin(math.radians(SLANT))
    right = left + n_columns * cell_width
    center, axis = (left + right) / 2, svg.shorten(chart.column_axis, 70)
    parts.append(svg.label(center, names_bottom + 20, axis, "middle", MUTED))
    # Phones show the left of a wide drawing: below narrow cells, the legend is narrow as well.
    room = svg.NARROW if right <= svg.NARROW else width
    key, end = legend(_heat_key(chart), 8.0 if chart.narrow else left, names_bottom + 34, room)
    return [*parts, *key], end + 4


def _cell_text(
    content: str, x: float, y: float, ink: str, anchor: str = "middle", **look: float
) -> str:
    """Draw a number or a sign in a cell."""
    plain: Look = {"font_size": 11, **look, "text_anchor": anchor, "fill": ink}
    return element("text", quote(content), x=x, y=y, **plain)


def _filled_cell(place: Place, color: str) -> str:
    return shape("rect", **place, fill=color, stroke=RULE, stroke_width=0.5)


def _heat_cell(chart: CellChart, place: Place, i: int, j: int, value: float | None) -> str:
    """Draw a cell with its signs and, if it is large enough, its number."""
    color = heat_color(chart.share(value)) if value is not None else ""
    ink = ink_on(color) if color else "currentColor"
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    is_low = place["height"] < MIN_TWO_LINES
    sign = ""
    if signs := chart.signs(i, j):
        gap = MARK_GAP if place["width"] > MAX_CELL_HEIGHT else MIN_MARK_GAP
        inner = {"x": place["x"] + gap, "y": place["y"] + gap}
        size = {"width": max(place["width"] - 2 * gap, 1), "height": place["height"] - 2 * gap}
        edge = shape("rect", **inner, **size, fill="none", stroke=ink, stroke_width=1.5)
        corner = place["x"] + 2 * gap, y + 4
        at = (*corner, ink, "start") if is_low else (x, y - 3, ink)
        sign = edge + _cell_text(signs, *at, font_weight=700)
    tooltip = svg.tooltip(chart.cell_story(i, j))
    if value is None:
        return element("g", tooltip, _hatched_cell(place), sign)
    number, text = chart.number(value), ""
    if svg.extent(number) * CELL_LETTER + 4 <= place["width"]:
        shift = svg.extent(signs) / 2 if sign and is_low else 0
        text = _cell_text(number, x + shift, y + 4 + (7 if sign and not is_low else 0), ink)
    return element("g", tooltip, _filled_cell(place, color), text, sign, class_="cell")


def _hatched_cell(place: Place) -> str:
    """Draw a cell without a value, filled with diagonal lines."""
    x, y, width, height = place.values()
    lines = []
    for k in range(6, int(width + height), 6):
        start = f"{coordinate(x + max(0.0, k - height))} {coordinate(y + min(k, height))}"
        end = f"{coordinate(x + min(k, width))} {coordinate(y + max(0.0, k - width))}"
        lines.append(f"M{start}L{end}")
    return _filled_cell(place, "none") + shape(
        "path", d="".join(lines) or "M0 0", stroke=RULE, fill="none"
    )


def _dashed_frame(place: Place) -> str:
    """Draw dashes over a broader line in the color of the paper, visible on any shade."""
    look: Look = {"fill": "none", "stroke": "var(--paper, #ffffff)", "stroke_width": 5}
    dashes: Look = {"fill": "none", "stroke": "currentColor", "stroke_width": 2.5}
    inner = shape("rect", **place, **dashes, stroke_dasharray="7 4")
    return shape("rect", **place, **look) + inner


def _heat_key(chart: CellChart) -> list[LegendEntry]:
    step = SCALE_LENGTH / 27
    size = {"width": step + 0.5, "height": 12}
    lefts = [(k * step - SCALE_LENGTH / 2, heat_color(k / 26)) for k in range(27)]
    shades = [shape("rect", x=left, y=-6, **size, fill=color) for left, color in lefts]
    low, high = map(chart.number, chart.ends)
    entries = [LegendEntry("".join(shades), f"{low} to {high}", SCALE_LENGTH + 12)]
    for sign, name in chart.keys:
        entries.append(LegendEntry(svg.label(0, 4, sign, "middle"), name, 18 + svg.extent(sign)))
    if chart.outline:
        entries.append(LegendEntry(_dashed_frame(svg.SWATCH), chart.outline.name, 32))
    if any(value is None for _, _, value in chart.cells):
        entries.append(LegendEntry(_hatched_cell(svg.SWATCH), "missing", 32))
    return entries


RANK_ROW = 24.0
RANK_HEAD = 18.0  # height of a line of names above the cells
MAX_RANK_WIDTH = 76.0  # of a cell
MAX_RANK_LABEL = 15
WIDE = 1.12  # capitals take more room than the usual letters
SHADES = (1.0, 0.62, 0.4, 0.22, 0.06)
"""Shades of the ranks 1 to 4 and of all worse ranks."""


def draw_ranks(chart: CellChart) -> svg.DrawingParts:
    """Draw ranks and values in cells below their heads, each with its tooltip."""
    labels = [svg.shorten(name, MAX_RANK_LABEL) for name in chart.rows]
    left = WIDE * max(map(svg.extent, labels)) + 10
    cell_width = min(MAX_RANK_WIDTH, (svg.NARROW - left - 2) / len(chart.columns))
    parts, top, head_left = [], RANK_HEAD, left
    for name, run in groupby(chart.heads, lambda head: head.name):
        heads = list(run)
        room = cell_width * len(heads)
        short = svg.shorten(name, int(room / svg.LETTER))
        label = svg.label(head_left + room / 2 - 1, RANK_HEAD - 5, short, "middle")
        parts.append(_with_tooltip(label, heads[0].help))
        head_left += room
    if len({*chart.columns}) > 1:
        top = 2 * RANK_HEAD
        for j, (name, head) in enumerate(zip(chart.columns, chart.heads, strict=True)):
            short = svg.shorten(name, int(cell_width / svg.LETTER))
            label = svg.label(left + cell_width * (j + 0.5) - 1, top - 6, short, "middle", MUTED)
            parts.append(_with_tooltip(label, head.column_help))
    for i, label in enumerate(labels):
        y = top + RANK_ROW * i
        parts.append(svg.label(left - 8, y + RANK_ROW / 2 + 4, label, "end"))
        for j in range(len(chart.columns)):
            place = {"x": left + cell_width * j, "y": y}
            place |= {"width": cell_width - 2, "height": RANK_ROW - 2}
            parts.append(_rank_cell(chart, place, i, j))
    bottom = top + RANK_ROW * len(labels)
    if not chart.has_ranks:
        return parts, bottom + 4
    parts.append(svg.label(left, bottom + 19, "rank", fill=MUTED))
    x = left + svg.extent("rank") + 6
    for rank in range(1, len(SHADES) + 1):
        text, color = f"{rank}+" if rank == len(SHADES) else str(rank), rank_color(rank)
        box = _filled_cell({"x": x, "y": bottom + 8, "width": 22.0, "height": 15.0}, color)
        name = _cell_text(text, x + 11, bottom + 8 + 11.5, ink_on(color))
        parts.append(element("g", box, name, class_="cell"))
        x += 25
    return parts, bottom + 26


def _with_tooltip(label: str, help: str) -> str:
    return element("g", svg.tooltip(help), label) if help else label


def _rank_cell(chart: CellChart, place: Place, i: int, j: int) -> str:
    """Draw the rank on the left, and the value with as many digits as there is room for."""
    number, rank = chart.at(i, j), chart.ranks[i][j] if chart.ranks else None
    if number is None:
        return shape("rect", **place, fill="none", stroke=RULE, stroke_dasharray="2 2")
    y, right = place["y"] + place["height"] / 2 + 4, place["x"] + place["width"] - 4
    room = place["width"] - 8 - (0 if rank is None else 4 + svg.extent(str(rank)))
    texts = (f"{number:.{digits}f}".replace("0.", ".", 1) for digits in (3, 2, 1))
    text = next((text for text in texts if svg.extent(text) * CELL_LETTER * 0.94 <= room), "")
    tooltip = svg.tooltip(chart.cell_story(i, j))
    color = "none" if rank is None else rank_color(rank)
    ink = "currentColor" if rank is None else ink_on(color)
    value = _cell_text(text, right, y, ink, "end") if text else ""
    if rank is None:
        return element("g", tooltip, _filled_cell(place, color), value)
    look: Look = {"font_size": 12, "font_weight": 700, "fill": ink}
    rank_text = element("text", str(rank), x=place["x"] + 5, y=y, **look)
    return element("g", tooltip, _filled_cell(place, color), rank_text, value, class_="cell")


def rank_color(rank: int) -> str:
    """Return the color of a rank: the better, the darker."""
    return heat_color(SHADES[min(rank, len(SHADES)) - 1])
