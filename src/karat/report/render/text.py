"""Reports as text for terminals, and the display width of text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, zip_longest
from os.path import commonprefix

from karat.errors import JOINERS, visible
from karat.report.model import Document, Table, cell_text, sections
from karat.results import Column

ELLIPSIS = "…"
BOLD, DIM, RED, GREEN, YELLOW, MAGENTA, CYAN = "1", "2", "31", "32", "33", "35", "36"


@dataclass(frozen=True)
class TextLayout:
    """The width of the output in columns, and whether it supports color."""

    width: int
    color: bool

    def ink(self, text: str, code: str) -> str:
        """Return the text in bold, dim or a color; unchanged without color support."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text and code else text

    def lines(self, text: str | Iterable[str], code: str = "") -> list[str]:
        """Wrap running text to the width; each of several texts starts a new line."""
        texts = [text] if isinstance(text, str) else text
        wrapped = (line for t in texts for line in wrap(visible(t, keep="\n"), self.width))
        return [self.ink(line, code) for line in wrapped]


def display_width(text: str) -> int:
    """Return the terminal columns of a text: two per wide character, none per combining mark."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return the text with spaces to a width: after it or, aligned `right`, before it."""
    space = " " * (width - display_width(text))
    return space + text if right else text + space


def truncate(text: str, width: int) -> str:
    """Return the text if it fits, else as much as leaves room for an ellipsis."""
    if display_width(text) <= width:
        return text
    ends = accumulate(map(_char_width, text))
    return "".join(char for char, end in zip(text, ends, strict=True) if end < width) + ELLIPSIS


def split_letters(text: str) -> list[str]:
    """Split text into letters, each with its combining marks."""
    clusters: list[str] = []
    for char in text:
        if clusters and _char_width(char) == 0:
            clusters[-1] += char
        else:
            clusters.append(char)
    return clusters


def wrap(text: str, width: int) -> list[str]:
    """Wrap words into lines of at most `width` columns; a longer word gets its own line."""
    lines: list[str] = []
    for word in text.split():
        if lines and display_width(lines[-1]) + 1 + display_width(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _char_width(char: str) -> int:
    if char in JOINERS or unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    if "\u1160" <= char <= "\u11ff":
        return 0  # Hangul vowels and finals join the initial before them
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


MIN_NAME = 8  # columns that a truncated name keeps: fewer do not distinguish systems
MIN_TITLE = 16  # the same for the title above numbers, which nothing else explains
INDENT = "  "
COLUMN_GAP = 2  # spaces between columns


def panel_lines(
    table: Table, columns: Sequence[Column], widths: Sequence[int], layout: TextLayout
) -> Iterator[str]:
    """Yield the lines of some columns of a table side by side: heads, sub-headings and rows."""
    indent = "" if table.group is None else INDENT

    def line(cells: Sequence[tuple[str, str]]) -> str:  # each a text and its color code
        pieces = []
        for (text, code), column, width in zip(cells, columns, widths, strict=True):
            short = truncate(text, width).rstrip()
            # Spaces stay outside the escape codes: the end of a line can be stripped.
            inked, space = layout.ink(short, code), " " * (width - display_width(short))
            pieces.append(space + inked if column.align == "right" else inked + space)
        return (indent + (" " * COLUMN_GAP).join(pieces)).rstrip()

    yield ""
    yield line([(visible(column.title), DIM) for column in columns])
    yield layout.ink("─" * (sum(widths) + COLUMN_GAP * (len(widths) - 1) + len(indent)), DIM)
    if not table.rows:
        yield layout.ink("no rows", DIM)
    for heading, rows in sections(table, columns, visible):
        if heading is not None:
            yield layout.ink(truncate(heading, layout.width), CYAN)
        for row in rows:
            cells = []
            for (cell, column, text, is_emphasized), width in zip(row, widths, strict=True):
                pieces = [text]
                if column.wrap and isinstance(cell, str):  # first at the line feeds of the text
                    paragraphs = visible(cell, keep="\n").split("\n")
                    pieces = [piece for part in paragraphs for piece in wrap(part, width)]
                code = DIM if cell is None else BOLD if is_emphasized else ""
                cells.append([(piece, code) for piece in pieces])
            yield from map(line, zip_longest(*cells, fillvalue=("", "")))


def render_text(document: Document, *, color: bool = False, width: int = 100) -> str:
    """Render the document at most `width` columns wide; without `color`, free of escape codes."""
    layout = TextLayout(width, color)
    warnings, remarks = document.split_notes()
    blocks = [
        layout.lines(document.title, BOLD),
        layout.lines(document.answer) + layout.lines(document.basis, DIM),
        layout.lines(warnings, YELLOW),
    ]
    for part in document.parts:
        title = layout.lines(part.title, BOLD)
        if isinstance(part, Table):
            if part.lines is not None:
                blocks.append([*title, *(visible(part.lines(row)) for row in part.rows)])
            elif part.readers != "programs":
                lines = [
                    line
                    for panel in split_panels(part, layout)
                    for line in panel_lines(part, *panel, layout)
                ]
                title = title if part.title != document.title else []
                blocks.append([*title, *lines[1:], *layout.lines(part.notes, DIM)])
        elif part.sketch:
            blocks.append([*title, *part.sketch(layout), *layout.lines(part.caption, DIM)])
    blocks.append(layout.lines(remarks, DIM))
    # Never wrapped or cut: a signature is there to be copied.
    word, signatures = layout.ink("signature", DIM), (document.signatures or {}).values()
    blocks.append([f"{word}  {visible(signature)}" for signature in signatures])
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def split_panels(table: Table, layout: TextLayout) -> Iterator[tuple[list[Column], list[int]]]:
    """Yield columns and their widths in panels: one if all columns fit at their minimum width.

    Columns keep numbers, and right-aligned texts such as intervals, whole; other texts keep their
    start, and the names that lead rows as much as distinguishes them.
    """
    columns = table.shown_columns
    room = layout.width - (0 if table.group is None else len(INDENT))
    natural, floors = [], []
    for position, column in enumerate(columns):
        cells = [(row, column.cell(row)) for row in table.rows]
        texts = [cell_text(cell, column, visible, row=row) for row, cell in cells]
        natural.append(max(map(display_width, [visible(column.title), *texts])))
        is_number = [column.align == "right" or not isinstance(cell, str) for _, cell in cells]
        numbers = [text for text, keep in zip(texts, is_number, strict=True) if keep]
        start = MIN_TITLE if numbers and len(numbers) == len(texts) else MIN_NAME
        floors.append(max([min(natural[-1], start), *map(display_width, numbers)]))
        if position == 0:
            pairs = pairwise(sorted(set(texts)))
            starts = [
                name[: len(commonprefix(pair)) + 1]  # noqa: RUF071 - characters are meant
                for pair in pairs
                for name in pair
            ]
            longest = max(map(display_width, starts), default=0)
            distinct = min(longest + 1, natural[0])  # with the ellipsis
            floors[0] = max(floors[0], distinct) if distinct <= room / 3 else floors[0]
    panels = [[0]]  # column indices; the first column leads each panel
    for position in range(1, len(columns)):
        wider = [*panels[-1], position]
        width = sum(floors[c] + COLUMN_GAP for c in wider) - COLUMN_GAP
        if len(panels[-1]) == 1 or width <= room:
            panels[-1] = wider
        else:
            panels.append([0, position])
    for panel in panels:
        widths = share_width([natural[c] for c in panel], [floors[c] for c in panel], room)
        yield [columns[c] for c in panel], widths


def share_width(natural: Sequence[int], floors: Sequence[int], width: int) -> list[int]:
    """Return column widths that fit: the widest columns give way first, none below its floor.

    One cap for all columns is lowered until the row fits, so a long sentence loses its tail
    before a system's name loses a letter. Where even the floors are too wide, they are returned.
    """
    for cap in range(width, 0, -1):
        widths = [max(low, min(full, cap)) for full, low in zip(natural, floors, strict=True)]
        if sum(widths) + COLUMN_GAP * (len(widths) - 1) <= width:
            return widths
    return list(floors)
