"""Reports in a notebook: the first table and its picture, in the notebook's own style."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace

from karat.report.model.table import Document
from karat.report.page.markup import element, quote
from karat.report.render.svg import render_svg
from karat.report.render.webpage import table_block

MOST_ROWS = 200


def render_notebook(document: Document) -> str:
    """Return the first table, cut where it is long, the first figure, and the notes."""
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
