"""Tables as parts of a page: folded, with a head that stays, rows that a script searches."""

from __future__ import annotations

from collections.abc import Sequence

from karat.report.model.cells import Shown, is_missing, sections
from karat.report.model.table import Cell, Column, Link, Table
from karat.report.page.markup import data, element, quote
from karat.report.render.html_blocks import anchor

LONG = 40
"""Letters of a text that would be one word a line in a narrow column."""

MOST_DRAWN = 100
"""Rows that a table shows at once; a script turns the pages."""

FEWEST_SEARCHED = 12
"""Rows from which on a table can be searched."""


def table_block(table: Table, id: str, heading: str, *, folded: bool = False) -> str:
    """A table below its heading and its tools, in a container that scrolls on narrow screens."""
    inner = [*_tools(table), _scrolled(table, MOST_DRAWN, "unseen"), *notes_block(table.notes)]
    if not folded:
        head = [element("h2", quote(heading))] if heading else []
        return element("section", "\n".join([*head, *inner]), id=id)
    title = element("h2", quote(heading), " ", _count(len(table.rows)))
    return element("details", element("summary", title), "\n".join(inner), class_="table", id=id)


def plain_table(table: Table, most: int) -> str:
    """A table with its title and notes, without the tools of a page."""
    return element("section", "\n".join([_scrolled(table, most), *notes_block(table.notes)]))


def _count(rows: int) -> str:
    return element("small", f"{rows:,} row{'s' * (rows != 1)}")


def _tools(table: Table) -> list[str]:
    """Search, filters and columns on demand, which a script brings to life."""
    tools = []
    if len(table.rows) >= FEWEST_SEARCHED:
        tools.append(element("label", "Search ", '<input type="search">'))
    for number, column in enumerate(table.shown):
        if column.filter:
            tools.append(_filter(table, number, column))
    if any(column.detail for column in table.shown):
        tools.append(element("label", '<input type="checkbox">', " All columns"))
    return [element("p", *tools, class_="tools", hidden="hidden")] if tools else []


def _filter(table: Table, number: int, column: Column) -> str:
    values = dict.fromkeys(
        row.text for _, rows in sections(table, [column], quote) for (row,) in rows
    )
    options = ['<option value="">all</option>', *(element("option", text) for text in values)]
    select = element("select", *options, data_column=str(number))
    return element("label", quote(column.title), " ", select)


def _scrolled(table: Table, most: int, title: str | None = None) -> str:
    wide = str(len(table.shown))
    parts = [element("caption", quote(table.title), class_=title)] if table.title else []
    parts.append(element("thead", element("tr", *map(_table_head, table.shown))))
    bodies = [
        (name, [element("tr", *map(_cell, row)) for row in rows])
        for name, rows in sections(table, table.shown, quote)
    ]
    left = most
    for name, rows in bodies:
        if left > 0:
            parts.append(_body(name, rows[:left], wide))
        left -= len(rows)
    if not table.rows:
        cell = element("td", "no rows", class_="missing", colspan=wide)
        parts.append(element("tbody", element("tr", cell)))
    # Focusable, so that the keyboard can scroll it too.
    frame = {"class_": "scroll", "tabindex": "0", "role": "region"}
    inner = element("table", "\n", "\n".join(parts), "\n")
    block = element("div", inner, **frame, aria_label=table.title or "table")
    if left >= 0:
        return block
    look = {"class_": "note pages", "data_rows": str(len(table.rows))}
    note = element("p", pager(most, len(table.rows)), **look)
    return block + note + data(bodies)


def pager(shown: int, rows: int) -> str:
    """Say how many rows of a long table are shown."""
    return f"Rows 1 to {shown:,} of {rows:,}"


def _table_head(column: Column) -> str:
    look = _classes("right" * (column.align == "right"), "detail" * column.detail)
    told = column.help or None
    return element("th", quote(column.title), scope="col", class_=look, title=told)


def _body(name: str | None, rows: Sequence[str], wide: str) -> str:
    lines = list(rows)
    if name is not None:
        head = element("th", name, scope="rowgroup", colspan=wide)
        lines.insert(0, element("tr", head, class_="group"))
    return element("tbody", "\n", "\n".join(lines), "\n")


def _cell(shown: Shown) -> str:
    cell, column, text, stressed = shown
    right = "right" * (column.align == "right")
    detail = "detail" * column.detail
    if is_missing(cell):
        return element("td", text, class_=_classes(right, "missing", detail))
    inner = element("strong", text) if stressed else text
    if isinstance(cell, Link):
        inner = element("a", inner, href=f"#{anchor(cell.figure)}")
    # Long texts have a class of their own: a narrow screen keeps some room for them.
    long = "long" * (not right and isinstance(cell, str) and len(cell) > LONG)
    look = _classes(right, long, detail)
    return element("td", inner, class_=look, data_value=_sort_key(cell))


def _classes(*names: str) -> str | None:
    return " ".join(filter(None, names)) or None


def _sort_key(cell: Cell) -> str | None:
    """The full value of a number, which its few shown digits may hide from the sorting."""
    if isinstance(cell, (str, bool)) or cell is None:
        return None
    return repr(float(cell)) if isinstance(cell, float) else str(cell)


def notes_block(notes: Sequence[str]) -> list[str]:
    """Notes, a paragraph each."""
    return [element("p", quote(note), class_="note") for note in notes]
