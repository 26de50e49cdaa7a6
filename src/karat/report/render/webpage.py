"""Reports as a web page: tables that sort, figures, signatures and the command at the foot."""

from __future__ import annotations

from collections.abc import Sequence

from karat.report.model.cells import is_missing, show
from karat.report.model.sections import Section, for_people, heading, sections, shown_columns
from karat.report.model.table import Cell, Column, Document, Figure, Link, Row, Table
from karat.report.page.markup import element, quote
from karat.report.page.page import asset, page

LONG = 40
"""Letters of a text that would be one word a line in a narrow column."""


def render_html(document: Document) -> str:
    """The document as one self-contained page."""
    body = [
        figure_block(block) if isinstance(block, Figure) else table_block(block, document.title)
        for block in for_people(document)
    ]
    body += _notes(document.notes)
    body += signature_block(document)
    body += [_appendix(title, text) for title, text in document.appendix.items()]
    body.append(element("footer", element("code", quote(document.command))))
    return page(document.title, body, [asset(name) for name in _scripts(document)])


def _scripts(document: Document) -> list[str]:
    """The scripts that its tables and figures want, each once."""
    sorting = (
        ["report/page/sort.js"] if any(len(table.rows) > 1 for table in document.tables) else []
    )
    return list(dict.fromkeys(sorting + [f.script for f in document.figures if f.script]))


def table_block(table: Table, above: str = "") -> str:
    """A table in a container of its own, which scrolls where the screen is narrow.

    A title that already stands `above` is there for screen readers only.
    """
    columns = shown_columns(table)
    unseen = "unseen" if table.title == above else None
    parts = [element("caption", quote(table.title), class_=unseen)] if table.title else []
    parts.append(element("thead", element("tr", *map(_column_head, columns))))
    parts += [_section(table, columns, section) for section in sections(table)] or [_empty(columns)]
    # Focusable, so that the keyboard can scroll it too.
    frame = {"class_": "scroll", "tabindex": "0", "role": "region"}
    inner = element("table", "\n", "\n".join(parts), "\n")
    block = element("div", inner, **frame, aria_label=table.title or "table")
    return element("section", "\n".join([block, *_notes(table.notes)]))


def figure_block(figure: Figure) -> str:
    """A figure under its title, with the caption below."""
    title = element("figcaption", element("strong", quote(figure.title)))
    drawing = element("div", figure.html, class_="scroll")
    caption = [element("p", quote(figure.caption), class_="note")] if figure.caption else []
    return element("figure", title, drawing, *caption, id=anchor(figure.title))


def signature_block(document: Document) -> list[str]:
    """The full signatures, each under its metric's short name; nothing if there are none."""
    if not document.signatures:
        return []
    entries = [
        element("dt", quote(name)) + element("dd", element("code", quote(signature)))
        for name, signature in document.signatures.items()
    ]
    summary = element("summary", "Signatures")
    return [element("details", summary, element("dl", *entries), open="open")]


def _appendix(title: str, text: str) -> str:
    inner = element("pre", element("code", quote(text)), tabindex="0")
    return element("details", element("summary", quote(title)), inner)


def anchor(title: str) -> str:
    """The id of a figure: its title, written so that no two titles have the same.

    `_` and a number stand for what an address cannot hold, `-` for a space.
    """
    return "figure-" + "".join(
        "-" if c == " " else c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in title
    )


def _column_head(column: Column) -> str:
    return element(
        "th", quote(column.title), scope="col", class_=_align(column), title=column.help or None
    )


def _section(table: Table, columns: Sequence[Column], section: Section) -> str:
    rows = [_row(table, columns, index, row) for index, row in section.rows]
    above = heading(table, section, quote)
    if above is not None:
        head = element("th", above, scope="rowgroup", colspan=str(len(columns)))
        rows.insert(0, element("tr", head, class_="group"))
    return element("tbody", "\n", "\n".join(rows), "\n")


def _row(table: Table, columns: Sequence[Column], index: int, row: Row) -> str:
    stressed = [(index, column.key) in table.emphasis for column in columns]
    cells = [_cell(row.get(c.key), c, bold) for c, bold in zip(columns, stressed, strict=True)]
    return element("tr", *cells)


def _cell(cell: Cell, column: Column, stressed: bool) -> str:
    text = show(cell, column, quote)
    if is_missing(cell):
        return element("td", text, class_=f"{_align(column) or ''} missing".strip())
    inner = element("strong", text) if stressed else text
    if isinstance(cell, Link):
        inner = element("a", inner, href=f"#{anchor(cell.figure)}")
    # Long texts have a class of their own: a narrow screen keeps some room for them.
    long = "long" if isinstance(cell, str) and len(cell) > LONG else None
    return element("td", inner, class_=_align(column) or long, data_value=_sort_key(cell))


def _sort_key(cell: Cell) -> str | None:
    """The full value of a number, which its few shown digits may hide from the sorting."""
    if isinstance(cell, (str, bool)) or cell is None:
        return None
    return repr(float(cell)) if isinstance(cell, float) else str(cell)


def _empty(columns: Sequence[Column]) -> str:
    cell = element("td", "no rows", class_="missing", colspan=str(len(columns)))
    return element("tbody", element("tr", cell))


def _align(column: Column) -> str | None:
    return "right" if column.align == "right" else None


def _notes(notes: Sequence[str]) -> list[str]:
    return [element("p", quote(note), class_="note") for note in notes]
