"""A terminal: how much room text takes on it, and what a report for it is printed on."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, zip_longest

from karat.errors import JOINERS, visible
from karat.report.model import (
    Column,
    Document,
    Figure,
    Row,
    Shown,
    Table,
    cell_text,
    is_missing,
    sections,
)

ELLIPSIS = "…"
BOLD, DIM, RED, GREEN, YELLOW, MAGENTA, CYAN = "1", "2", "31", "32", "33", "35", "36"


@dataclass(frozen=True)
class Sheet:
    """The sheet that text is set on: its width in columns, and whether it takes colour."""

    width: int
    color: bool

    def ink(self, text: str, code: str) -> str:
        """The text in bold, dim or a colour, or just the text on a sheet without colour."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text and code else text

    def lines(self, text: str, code: str) -> list[str]:
        """Running text, wrapped to the width."""
        return [self.ink(line, code) for line in wrap(visible(text, keep="\n"), self.width)]


def display_width(text: str) -> int:
    """The number of terminal columns: two for a wide character, none for a combining mark."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def truncate(text: str, width: int) -> str:
    """The text itself if it fits, else as much of it as leaves room for an ellipsis."""
    if display_width(text) <= width:
        return text
    ends = accumulate(map(_char_width, text))
    return "".join(char for char, end in zip(text, ends, strict=True) if end < width) + ELLIPSIS


def letters(text: str) -> list[str]:
    """The text letter by letter, each with the marks that combine with it."""
    found: list[str] = []
    for char in text:
        if found and _char_width(char) == 0:
            found[-1] += char
        else:
            found.append(char)
    return found


def pad(text: str, width: int, align: str) -> tuple[str, str]:
    """The spaces before and after the text that make it `width` columns wide."""
    space = " " * (width - display_width(text))
    return (space, "") if align == "right" else ("", space)


def wrap(text: str, width: int) -> list[str]:
    """The text's words in lines of at most `width` columns; a longer word keeps its own line."""
    lines: list[str] = []
    for word in text.split():
        if lines and display_width(lines[-1]) + 1 + display_width(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def widest(texts: Iterable[str]) -> int:
    """The display width of the widest text, zero if there is none."""
    return max(map(display_width, texts), default=0)


def _char_width(char: str) -> int:
    if char in JOINERS or unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    if "\u1160" <= char <= "\u11ff":
        return 0  # Hangul vowels and finals join the initial before them
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


SHORTEST = 8  # columns that a truncated name keeps: fewer do not tell systems apart
TITLE = 16  # the same of the title above numbers, which nothing else explains
INDENT = "  "
GAP = 2  # spaces between columns


@dataclass(frozen=True)
class Panel:
    """The columns of a table that fit side by side, with the width of each."""

    table: Table
    columns: tuple[Column, ...]
    widths: tuple[int, ...]
    sheet: Sheet
    indent: str


def render_text(document: Document, *, color: bool = False, width: int = 100) -> str:
    """The document as text at most `width` columns wide; without `color`, free of escape codes."""
    sheet = Sheet(width, color)
    blocks = [sheet.lines(document.title, BOLD)]
    blocks.append([line for told in document.answer for line in sheet.lines(told, "")])
    if document.basis:
        blocks[-1] += sheet.lines(document.basis, DIM)
    blocks.append([line for note in document.warnings for line in sheet.lines(note, YELLOW)])
    blocks += [_block(block, sheet, document.title) for block in document.for_people]
    blocks.append(_notes(document.remarks, sheet))
    # Never wrapped or cut: a signature is there to be copied.
    word, signatures = sheet.ink("signature", DIM), document.signatures.values()
    blocks.append([f"{word}  {visible(signature)}" for signature in signatures])
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _block(block: Table | Figure, sheet: Sheet, above: str) -> list[str]:
    title = sheet.lines(block.title, BOLD)
    if isinstance(block, Figure):
        drawn = block.sketch(sheet) if block.sketch else None
        return [] if drawn is None else [*title, *drawn, *sheet.lines(block.caption, DIM)]
    separated = [line for panel in _panels(block, sheet) for line in ("", *_grid(panel))][1:]
    return [*(title if block.title != above else []), *separated, *_notes(block.notes, sheet)]


def _panels(table: Table, sheet: Sheet) -> list[Panel]:
    """One panel where all columns fit at their floors, else as many as it takes."""
    columns = table.shown
    indent = "" if table.group is None else INDENT
    room = sheet.width - len(indent)
    natural = [_natural(table, column) for column in columns]
    floors = [_floor(table, column) for column in columns]
    if columns and (apart := _apart(table, columns[0])) <= room / 3:
        floors[0] = max(floors[0], apart)
    result = []
    for chosen in panels(floors, room):
        widths = shared_widths([natural[c] for c in chosen], [floors[c] for c in chosen], room)
        own = tuple(columns[c] for c in chosen)
        result.append(Panel(table, own, tuple(widths), sheet, indent))
    return result


def _natural(table: Table, column: Column) -> int:
    return widest([visible(column.title), *_texts(column, table.rows)])


def _floor(table: Table, column: Column) -> int:
    """The least width of a column: whole numbers, and the start of strings and of the title.

    Texts that are set like numbers, at the right, are intervals and marked scores: also whole.
    """
    right = column.align == "right"
    numbers = [row for row in table.rows if right or not isinstance(row.get(column.key), str)]
    start = TITLE if numbers and len(numbers) == len(table.rows) else SHORTEST
    return max(min(_natural(table, column), start), widest(_texts(column, numbers)))


def _apart(table: Table, column: Column) -> int:
    """The least width at which names that lead rows are still told apart."""
    names = sorted(set(_texts(column, table.rows)))
    pairs = ((pair, _same(*pair)) for pair in pairwise(names))
    starts = [name[: same + 1] for pair, same in pairs for name in pair]
    return min(widest(starts) + 1, _natural(table, column))  # and the sign of what was cut


def _same(one: str, other: str) -> int:
    """Return the number of characters that two strings begin with alike."""
    differs = (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differs, min(len(one), len(other)))


def _texts(column: Column, rows: Iterable[Row]) -> list[str]:
    return [cell_text(row.get(column.key), column, visible) for row in rows]


def _grid(panel: Panel) -> list[str]:
    ink = panel.sheet.ink
    rule = ink("─" * (row_width(panel.widths) + len(panel.indent)), DIM)
    titles = _line(panel, [(visible(column.title), DIM) for column in panel.columns])
    body: list[str] = []
    for above, rows in sections(panel.table, panel.columns, visible):
        body += [] if above is None else [ink(truncate(above, panel.sheet.width), CYAN)]
        body += [line for row in rows for line in _row(panel, row)]
    return [titles, rule, *(body or [ink("no rows", DIM)])]


def _row(panel: Panel, row: Sequence[Shown]) -> list[str]:
    """The lines of one row: several where a cell is wrapped, at its own line feeds first."""
    cells = []
    for (cell, column, text, stressed), width in zip(row, panel.widths, strict=True):
        code = DIM if is_missing(cell) else BOLD if stressed else ""
        pieces = [text]
        if column.wrap:
            lines = cell_text(cell, column, lambda text: visible(text, keep="\n")).split("\n")
            pieces = [piece for line in lines for piece in wrap(line, width)]
        cells.append([(piece, code) for piece in pieces])
    return [_line(panel, line) for line in zip_longest(*cells, fillvalue=("", ""))]


def _line(panel: Panel, cells: Sequence[tuple[str, str]]) -> str:
    pieces = []
    for (text, code), column, width in zip(cells, panel.columns, panel.widths, strict=True):
        short = truncate(text, width).rstrip()
        before, after = pad(short, width, column.align)
        # Spaces stay outside the escape codes, so that the end of a line can be stripped.
        pieces.append(before + panel.sheet.ink(short, code) + after)
    return (panel.indent + (" " * GAP).join(pieces)).rstrip()


def _notes(notes: Sequence[str], sheet: Sheet) -> list[str]:
    return [line for note in notes for line in sheet.lines(note, DIM)]


def shared_widths(natural: Sequence[int], floors: Sequence[int], width: int) -> list[int]:
    """Column widths that fit: the widest columns give way first, none below its floor.

    One cap for all columns is lowered until the row fits, so a long sentence loses its tail
    before a system's name loses a letter.  Where even the floors are too wide, they are returned.
    """
    for cap in range(width, 0, -1):
        widths = [max(low, min(full, cap)) for full, low in zip(natural, floors, strict=True)]
        if row_width(widths) <= width:
            return widths
    return list(floors)


def panels(floors: Sequence[int], width: int) -> list[list[int]]:
    """Column indices in panels that fit one above the other, the first column leading each."""
    result = [[0]]
    for column in range(1, len(floors)):
        wider = [*result[-1], column]
        if len(result[-1]) == 1 or row_width([floors[c] for c in wider]) <= width:
            result[-1] = wider
        else:
            result.append([0, column])
    return result


def row_width(widths: Sequence[int]) -> int:
    """The width of a row of such columns."""
    return sum(widths) + GAP * (len(widths) - 1)
