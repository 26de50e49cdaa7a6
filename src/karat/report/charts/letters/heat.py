"""A heat map drawn with letters: numbers, each with a shade, in bands of columns that fit."""

from __future__ import annotations

from karat.errors import visible
from karat.report.charts.models import HeatMap
from karat.report.render.terminal import BOLD, CYAN, DIM, Sheet, display_width, truncate

SHADES = " ░▒▓█"
LONGEST_DOWN, LONGEST_ACROSS = 24, 14
MOST_CELLS = 10_000


def draw_heat_map(chart: HeatMap, sheet: Sheet) -> list[str]:
    """The table with its key."""
    if len(chart.rows) * len(chart.columns) > MOST_CELLS:
        size = f"{len(chart.rows):,} x {len(chart.columns):,} cells"
        return sheet.lines(f"{size} are too many to draw with letters", DIM)
    names = [_cut(name, min(LONGEST_DOWN, sheet.width // 3)) for name in chart.rows]
    indent = max(map(display_width, names))
    shown = [_text(chart, i, j) for i, j, _ in chart.cells]
    shown += [_cut(name, LONGEST_ACROSS) for name in chart.columns]
    wide = min(max(map(display_width, shown)), max(sheet.width - indent - 1, 1))
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
    return [*lines, *_key(chart, sheet)]


def _cut(name: str, width: int) -> str:
    return truncate(visible(name), max(width, 1))


def _text(chart: HeatMap, i: int, j: int) -> str:
    """A number with its shade and signs, in brackets at the edges of the region."""
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


def _key(chart: HeatMap, sheet: Sheet) -> list[str]:
    """The axes, the shades and the signs, explained."""
    low, high = (chart.number(end) for end in chart.ends)
    told = [f"{chart.row_axis} down, {chart.column_axis} across"]
    told.append(f"from {low} by {' '.join(SHADES[1:])} to {high}")
    told += [f"{sign} {name}" for sign, name in chart.keys]
    told += [f"[ ] {chart.outline.name}"] if chart.outline else []
    return sheet.lines(visible("; ".join(told)), DIM)
