"""Ranks and values of metrics as a drawing, narrow enough for a phone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from karat.report.charts.ranks import RankCell, RankMap
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.colors import heat_color, ink_on
from karat.report.page.markup import Look, element, quote, shape

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
    return ([*parts, *_rank_key(left, bottom + 8)], bottom + 26) if chart.ranked else (parts, bottom + 4)


def _heads(chart: RankMap, left: float, wide: float) -> tuple[list[str], float]:
    """The levels, below them the statistics where there are several, and where they end."""
    parts, at = [], left
    for head, run in groupby(chart.columns, lambda column: column.head):
        own = list(run)
        room = wide * len(own)
        name = svg.shorten(head, int(room / svg.LETTER))
        label = svg.label(at + room / 2 - 1, RANK_HEAD - 5, name, "middle")
        parts.append(_explained(label, own[0].head_help))
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
    """The value with as many decimals as there is room for, or none."""
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
    """The colours of ranks."""
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
