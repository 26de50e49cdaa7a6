"""Reports as a web page, with tables that sort, and the short form that a notebook shows."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace

from karat.report.model.cells import Shown, is_missing, sections
from karat.report.model.table import Cell, Column, Document, Figure, Link, Table
from karat.report.page.markup import element, quote
from karat.report.page.page import asset, page
from karat.report.render.svg import render_svg

LONG = 40
"""Letters of a text that would be one word a line in a narrow column."""

MOST_ROWS = 200
"""Rows that a notebook shows."""


def render_html(document: Document) -> str:
    """The document as one self-contained page."""
    body = [
        figure_block(block) if isinstance(block, Figure) else table_block(block, document.title)
        for block in document.for_people
    ]
    body += _notes(document.notes)
    body += signature_block(document)
    for title, text in document.appendix.items():
        inner = element("pre", element("code", quote(text)), tabindex="0")
        body.append(element("details", element("summary", quote(title)), inner))
    body.append(element("footer", element("code", quote(document.command))))
    # The scripts that its tables and figures want, each once.
    scripts = dict.fromkeys(["report/page/sort.js"] * any(len(t.rows) > 1 for t in document.tables))
    scripts |= dict.fromkeys(figure.script for figure in document.figures if figure.script)
    return page(document.title, body, [asset(name) for name in scripts])


def render_notebook(document: Document) -> str:
    """The first table, cut where it is long, the first figure, and the notes, for a notebook."""
    table = document.tables[0]
    parts = [table_block(replace(table, rows=table.rows[:MOST_ROWS]))]
    if len(table.rows) > MOST_ROWS:
        parts.append(element("p", f"{MOST_ROWS:,} of {len(table.rows):,} rows"))
    if document.figures:
        drawn = render_svg(replace(document, blocks=document.figures[:1])).encode("utf-8")
        source = f"data:image/svg+xml;base64,{b64encode(drawn).decode('ascii')}"
        parts.append(element("img", src=source, alt=document.figures[0].title))
    parts += [element("p", quote(note)) for note in document.notes]
    return element("div", *parts)


def table_block(table: Table, above: str = "") -> str:
    """A table in a container of its own, which scrolls where the screen is narrow.

    A title that already stands `above` is there for screen readers only.
    """
    wide = str(len(table.shown))
    unseen = "unseen" if table.title == above else None
    parts = [element("caption", quote(table.title), class_=unseen)] if table.title else []
    heads = []
    for column in table.shown:
        look = {"scope": "col", "class_": _align(column), "title": column.help or None}
        heads.append(element("th", quote(column.title), **look))
    parts.append(element("thead", element("tr", *heads)))
    for name, rows in sections(table, table.shown, quote):
        lines = [element("tr", *map(_cell, row)) for row in rows]
        if name is not None:
            head = element("th", name, scope="rowgroup", colspan=wide)
            lines.insert(0, element("tr", head, class_="group"))
        parts.append(element("tbody", "\n", "\n".join(lines), "\n"))
    if not table.rows:
        cell = element("td", "no rows", class_="missing", colspan=wide)
        parts.append(element("tbody", element("tr", cell)))
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


def anchor(title: str) -> str:
    """The id of a figure: its title, written so that no two titles have the same.

    `_` and a number stand for what an address cannot hold, `-` for a space.
    """
    return "figure-" + "".join(
        "-" if c == " " else c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in title
    )


def _cell(shown: Shown) -> str:
    cell, column, text, stressed = shown
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


def _align(column: Column) -> str | None:
    return "right" if column.align == "right" else None


def _notes(notes: Sequence[str]) -> list[str]:
    return [element("p", quote(note), class_="note") for note in notes]
