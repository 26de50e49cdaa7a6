"""Reports for the terminal: aligned columns, one rule, no boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from karat.report.model.cells import is_missing, show
from karat.report.model.sections import Section, for_people, heading, sections, shown_columns
from karat.report.model.table import Cell, Column, Document, Figure, Row, Table
from karat.report.render.column_widths import GAP, panels, share, total
from karat.report.render.paper import BOLD, CYAN, DIM, Paper
from karat.report.render.text_width import pad, truncate, widest, wrap
from karat.visible import visible

SHORTEST = 8  # columns that a truncated name keeps: fewer no longer tell systems apart
TITLE = 16  # the same of the title above numbers, which nothing else explains
INDENT = "  "


@dataclass(frozen=True)
class Panel:
    """The columns of a table that fit side by side, with the width of each."""

    table: Table
    columns: tuple[Column, ...]
    widths: tuple[int, ...]
    paper: Paper

    @property
    def indent(self) -> str:
        return _indent(self.table)


def render_text(document: Document, *, color: bool = False, width: int = 100) -> str:
    """The document as text at most `width` columns wide; without `color`, free of escape codes."""
    paper = Paper(width, color)
    blocks = [paper.lines(document.title, BOLD)]
    blocks += [_block(block, paper, document.title) for block in for_people(document)]
    blocks.append(_notes(document.notes, paper))
    blocks.append(_signatures(document, paper))
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _block(block: Table | Figure, paper: Paper, above: str) -> list[str]:
    if isinstance(block, Table):
        return _table(block, paper, above)
    return [] if block.sketch is None else _figure(block, paper)


def _figure(figure: Figure, paper: Paper) -> list[str]:
    drawn = figure.sketch(paper) if figure.sketch else []
    return [*paper.lines(figure.title, BOLD), *drawn, *paper.lines(figure.caption, DIM)]


def _table(table: Table, paper: Paper, above: str) -> list[str]:
    title = [] if table.title == above else paper.lines(table.title, BOLD)
    grids = [_grid(panel) for panel in _panels(table, paper)]
    separated = [line for grid in grids for line in ("", *grid)][1:]
    return [*title, *separated, *_notes(table.notes, paper)]


def _panels(table: Table, paper: Paper) -> list[Panel]:
    """One panel where all columns fit at their floors, else as many as it takes."""
    columns = shown_columns(table)
    room = paper.width - len(_indent(table))
    natural = [_natural(table, column) for column in columns]
    floors = [_floor(table, column) for column in columns]
    if columns and (apart := _apart(table, columns[0])) <= room / 3:
        floors[0] = max(floors[0], apart)
    result = []
    for chosen in panels(floors, room):
        widths = share([natural[c] for c in chosen], [floors[c] for c in chosen], room)
        result.append(Panel(table, tuple(columns[c] for c in chosen), tuple(widths), paper))
    return result


def _natural(table: Table, column: Column) -> int:
    return widest([visible(column.title), *_texts(column, table.rows)])


def _floor(table: Table, column: Column) -> int:
    """The least width of a column: whole numbers, and the start of strings and of the title."""
    numbers = [row for row in table.rows if not isinstance(row.get(column.key), str)]
    start = TITLE if numbers and len(numbers) == len(table.rows) else SHORTEST
    return max(min(_natural(table, column), start), widest(_texts(column, numbers)))


def _apart(table: Table, column: Column) -> int:
    """The least width at which names that lead rows are still told apart."""
    names = sorted(set(_texts(column, table.rows)))
    pairs = ((pair, _same(*pair)) for pair in pairwise(names))
    starts = [name[: same + 1] for pair, same in pairs for name in pair]
    return min(widest(starts) + 1, _natural(table, column))  # and the sign of what was cut


def _same(one: str, other: str) -> int:
    """How many characters two strings begin with alike."""
    differs = (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differs, min(len(one), len(other)))


def _texts(column: Column, rows: Iterable[Row]) -> list[str]:
    return [show(row.get(column.key), column, visible) for row in rows]


def _grid(panel: Panel) -> list[str]:
    ink = panel.paper.ink
    rule = ink("─" * (total(panel.widths) + len(panel.indent)), DIM)
    body = [line for section in sections(panel.table) for line in _section(panel, section)]
    return [_header(panel), rule, *(body or [ink("no rows", DIM)])]


def _header(panel: Panel) -> str:
    titles = [(visible(column.title), DIM) for column in panel.columns]
    return _line(panel, titles)


def _section(panel: Panel, section: Section) -> list[str]:
    above = heading(panel.table, section, visible)
    lines = [line for index, row in section.rows for line in _row(panel, index, row)]
    if above is None:
        return lines
    return [panel.paper.ink(truncate(above, panel.paper.width), CYAN), *lines]


def _marked(panel: Panel, index: int, row: Row) -> list[tuple[str, str]]:
    """Each cell's text with the code it is inked in, empty for plain."""
    result = []
    for column in panel.columns:
        cell = row.get(column.key)
        stressed = (index, column.key) in panel.table.emphasis
        result.append((show(cell, column, _quote(column)), _code(cell, stressed)))
    return result


def _broken(text: str, width: int) -> list[str]:
    """The text in lines of at most `width`, broken at its own line feeds first."""
    return [piece for line in text.split("\n") for piece in wrap(line, width)]


def _quote(column: Column) -> Callable[[str], str]:
    """Strings without control characters; line feeds stay where lines may be broken."""
    return (lambda text: visible(text, keep="\n")) if column.wrap else visible


def _code(cell: Cell, stressed: bool) -> str:
    if is_missing(cell):
        return DIM
    return BOLD if stressed else ""


def _row(panel: Panel, index: int, row: Row) -> list[str]:
    """The lines of one row: several where a cell is wrapped."""
    cells = []
    for (text, code), column, width in zip(
        _marked(panel, index, row), panel.columns, panel.widths, strict=True
    ):
        pieces = _broken(text, width) if column.wrap else [text]
        cells.append([(piece, code) for piece in pieces])
    return [_line(panel, line) for line in zip_longest(*cells, fillvalue=("", ""))]


def _line(panel: Panel, cells: Sequence[tuple[str, str]]) -> str:
    pieces = []
    for (text, code), column, width in zip(cells, panel.columns, panel.widths, strict=True):
        short = truncate(text, width).rstrip()
        before, after = pad(short, width, column.align)
        # Spaces stay outside the escape codes, so that the end of a line can be stripped.
        pieces.append(before + panel.paper.ink(short, code) + after)
    return (panel.indent + (" " * GAP).join(pieces)).rstrip()


def _indent(table: Table) -> str:
    return "" if table.group is None else INDENT


def _notes(notes: Sequence[str], paper: Paper) -> list[str]:
    return [line for note in notes for line in paper.lines(note, DIM)]


def _signatures(document: Document, paper: Paper) -> list[str]:
    # Never wrapped or cut: a signature is there to be copied.
    return [
        f"{paper.ink('signature', DIM)}  {visible(signature)}"
        for signature in document.signatures.values()
    ]
