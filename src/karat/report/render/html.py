"""Reports as a web page - answer, pictures, examples, tables - and as a notebook shows them."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import NamedTuple

from karat.report.charts.models import HeatMap, RankMap
from karat.report.markup import Look, asset, data, element, quote
from karat.report.model import (
    Block,
    Cell,
    CellText,
    Column,
    Document,
    DocumentTexts,
    ExampleCase,
    Examples,
    Figure,
    Gallery,
    Link,
    Table,
    TextPassage,
    is_missing,
    sections,
)
from karat.report.render.svg import render_svg


def anchor(title: str) -> str:
    """The id of a figure: its title, written so that no two titles have the same.

    `_` and a number stand for what an address cannot hold, `-` for a space.
    """
    return "figure-" + "".join(
        "-" if c == " " else c if c.isascii() and c.isalnum() else _escape_char(c) for c in title
    )


def table_anchor(key: str) -> str:
    """The id of a table: its key as in `anchor`, but hyphens, which many keys have, stay."""
    return "table-" + "".join(
        c if c.isascii() and (c.isalnum() or c == "-") else _escape_char(c) for c in key
    )


def _escape_char(char: str) -> str:
    return f"_{ord(char):x}_"


def figure_block(figure: Figure) -> str:
    """A figure under its title, with the caption below."""
    title = element("figcaption", element("h2", quote(figure.title)))
    return _figure_element(figure, title)


def gallery_block(gallery: Gallery) -> str:
    """Small figures side by side, as many as the page is wide."""
    figures = [
        _figure_element(figure, element("figcaption", quote(figure.title)))
        for figure in gallery.figures
    ]
    caption = [element("p", quote(gallery.caption), class_="note")] if gallery.caption else []
    title = element("h2", quote(gallery.title))
    look_of = None if gallery.wide else "small dense" if _has_cells(gallery) else "small"
    inner = [*caption, element("div", *figures, class_=look_of)]
    if gallery.folded:
        look: Look = {"class_": "table", "id": anchor(gallery.title)}
        return element("details", element("summary", title), *inner, **look)
    return element("section", title, *inner, id=anchor(gallery.title))


def _has_cells(gallery: Gallery) -> bool:
    """True if the figures are cells full of numbers."""
    return any(isinstance(figure.drawing, HeatMap | RankMap) for figure in gallery.figures)


def _figure_element(figure: Figure, title: str) -> str:
    drawing = element("div", figure.html, class_="scroll")
    caption = [element("p", quote(figure.caption), class_="note")] if figure.caption else []
    return element("figure", title, drawing, *caption, id=anchor(figure.title))


def examples_block(examples: Examples | DocumentTexts, heading: str) -> str:
    """Render cases one below the other; with switches, a script shows one choice at a time."""
    tags = list(examples.switches)
    chosen = [_switch(examples, number, tag) for number, tag in enumerate(tags)]
    tools = [element("p", *chosen, class_="tools", hidden="hidden")] if chosen else []
    cases = [_case(case, tags) for case in examples.cases]
    title = [element("h2", quote(heading))] if heading else []
    look: Look = {"class_": "examples", "id": anchor(examples.title)}
    return element("section", *title, *tools, *_legend(examples), *cases, **look)


def _legend(examples: Examples | DocumentTexts) -> list[str]:
    """Say what the marks mean, if there are any."""
    passages = (passage for case in examples.cases for passage in case.passages)
    if not any(passage.marks for passage in passages):
        return []
    return [element("p", quote(examples.marked), class_="note")]


def _switch(examples: Examples | DocumentTexts, number: int, tag: str) -> str:
    values = dict.fromkeys(case.tags[tag] for case in examples.cases if tag in case.tags)
    options = [element("option", quote(value)) for value in values]
    select = element("select", *options, data_tag=str(number))
    return element("label", quote(examples.switches[tag]), " ", select)


def _case(case: ExampleCase, tags: list[str]) -> str:
    look: Look = {f"data_tag_{n}": case.tags.get(tag) for n, tag in enumerate(tags)}
    title = quote(case.title)
    if case.figure:
        title = element("a", title, href=f"#{anchor(case.figure)}")
    head = element("header", element("span", title), element("span", quote(case.facts)))
    lines = [
        element("dt", quote(passage.label)) + element("dd", marked(passage), dir="auto")
        for passage in case.passages
    ]
    return element("article", head, element("dl", *lines), class_="case", **look)


def marked(passage: TextPassage) -> str:
    """Return the text with its marked parts as markup."""
    parts, done = [], 0
    for start, end in passage.marks:
        parts.append(quote(passage.text[done:start]))
        parts.append(element("mark", quote(passage.text[start:end])))
        done = end
    return "".join([*parts, quote(passage.text[done:])])


LONG = 40
"""Letters of a text that would be one word a line in a narrow column."""

MAX_PAGE_ROWS = 100
"""Rows that a table shows at once; a script turns the pages."""

MIN_SEARCHED_ROWS = 12
"""Rows from which on a table can be searched."""


def table_block(table: Table, id: str, heading: str, *, folded: bool = False) -> str:
    """A table below its heading and its tools, in a container that scrolls on narrow screens."""
    inner = [*_tools(table), _scrolled(table, MAX_PAGE_ROWS, "unseen"), *notes_block(table.notes)]
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
    if len(table.rows) >= MIN_SEARCHED_ROWS:
        tools.append(element("label", "Search ", '<input type="search">'))
    for number, column in enumerate(table.shown_columns):
        if column.filter:
            tools.append(_filter(table, number, column))
    if any(column.detail for column in table.shown_columns):
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
    wide = str(len(table.shown_columns))
    parts = [element("caption", quote(table.title), class_=title)] if table.title else []
    parts.append(element("thead", element("tr", *map(_table_head, table.shown_columns))))
    bodies = [
        (name, [element("tr", *map(_cell, row)) for row in rows])
        for name, rows in sections(table, table.shown_columns, quote)
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


def pager(n_shown: int, rows: int) -> str:
    """Say how many rows of a long table are shown."""
    return f"Rows 1 to {n_shown:,} of {rows:,}"


def _table_head(column: Column) -> str:
    look = _classes("right" * (column.align == "right"), "detail" * column.detail)
    help_text = column.help or None
    return element("th", quote(column.title), scope="col", class_=look, title=help_text)


def _body(name: str | None, rows: Sequence[str], wide: str) -> str:
    lines = list(rows)
    if name is not None:
        head = element("th", name, scope="rowgroup", colspan=wide)
        lines.insert(0, element("tr", head, class_="group"))
    return element("tbody", "\n", "\n".join(lines), "\n")


def _cell(cell_text: CellText) -> str:
    cell, column, text, stressed = cell_text
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


_SKELETON = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
{style}
</head>
<body{look}>
{contents}<main>
{body}
</main>
{scripts}</body>
</html>
"""

MIN_LISTED_SECTIONS = 3
"""Minimum number of sections for a table of contents."""


class Section(NamedTuple):
    """A part of a page: its id, its title and its markup."""

    id: str
    title: str
    markup: str


def render_page(
    title: str, head: Sequence[str], sections: Sequence[Section], scripts: Sequence[str] = ()
) -> str:
    """Return a whole page from a plain title, markup, sections and the texts of its scripts."""
    style, *programs = (f"\n{text}" for text in (asset("report/page/style.css"), *scripts))
    listed = len(sections) >= MIN_LISTED_SECTIONS
    return _SKELETON.format(
        policy=_policy(style, programs),
        title=quote(title),
        style=element("style", style),
        look=' class="listed"' if listed else "",
        contents=_contents(sections) if listed else "",
        body="\n".join([*head, *(section.markup for section in sections)]),
        scripts="".join(element("script", text) + "\n" for text in programs),
    )


def _contents(sections: Sequence[Section]) -> str:
    links = [element("a", quote(section.title), href=f"#{section.id}") for section in sections]
    items = element("ul", *(element("li", link) for link in links))
    return element("nav", items, class_="contents", aria_label="Contents") + "\n"


def _policy(style: str, scripts: Sequence[str]) -> str:
    """The rules that the browser enforces on a report, which may quote hostile text.

    The page loads nothing, sends nothing, and runs no script and has no style but its own.
    """
    programs = " ".join(map(_hash, scripts)) or "'none'"
    sources = f"style-src {_hash(style)}; script-src {programs}"
    return f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def definitions() -> dict[str, str]:
    """Return the definition of every term, in Markdown, by its heading in `data/glossary.md`."""
    text = (resources.files("karat") / "data" / "glossary.md").read_text("utf-8")
    _, *terms = text.split("\n## ")
    return {
        term: definition.strip() for term, _, definition in (part.partition("\n") for part in terms)
    }


MAX_NOTEBOOK_ROWS = 200
"""Rows that a notebook shows."""

_FOLDERS = re.compile(r"""(?<![^\s'"=:,])(?:/[^\s'"/]+)+/(?=[^\s'"])""")
"""The folders of an absolute path in a command."""

_LINKS = re.compile(r"\[([^\]]+)\]\([^)]*\)")
"""A link in Markdown, with its text."""

_UNBREAKABLE = re.compile(r"\[[-+\d.,]+, [-+\d.,]+\]|\bp (?:=|&lt;=?) [\d.]+")
"""An interval or a p-value in running text."""

_TABLES, _EXAMPLES = "report/page/tables.js", "report/page/examples.js"


def render_html(document: Document) -> str:
    """Return the document as one self-contained page."""
    document = replace(document, blocks=tuple(_page_blocks(document)))
    sections = [_block_section(block, document) for block in document.blocks]
    sections += _terms_section(document)
    sections.append(_footer_section(document))
    scripts = dict.fromkeys(_scripts(document))
    return render_page(
        document.title, _header(document), sections, [asset(name) for name in scripts]
    )


def _page_blocks(document: Document) -> list[Block]:
    """Return the blocks for people, without tables that a figure covers."""
    covered = {key for figure in document.figures for key in figure.covers}
    unseen = {t.key for t in document.tables if t.readers == "programs" or t.key in covered}
    return [b for b in document.blocks if not (isinstance(b, Table) and b.key in unseen)]


def _scripts(document: Document) -> Iterator[str]:
    tables = [block for block in document.blocks if isinstance(block, Table)]
    if any(len(table.rows) > 1 for table in tables):
        yield _TABLES
    if any(
        isinstance(block, Examples | DocumentTexts) and block.switches for block in document.blocks
    ):
        yield _EXAMPLES
    yield from (figure.script for figure in document.figures if figure.script)


def _header(document: Document) -> list[str]:
    title = element("h1", quote(document.title))
    warnings = [element("p", quote(note), class_="warning") for note in document.warnings]
    if not document.answer:
        return [element("header", title, *warnings)]
    sentences = [element("p", _keep_together(sentence)) for sentence in document.answer]
    basis = [element("p", _keep_together(document.basis), class_="basis")] if document.basis else []
    return [
        element("header", title, element("div", *sentences, class_="answer"), *basis, *warnings)
    ]


def _keep_together(sentence: str) -> str:
    return _UNBREAKABLE.sub(lambda found: found[0].replace(" ", "&nbsp;"), quote(sentence))


def _block_section(block: Block, document: Document) -> Section:
    name = anchor(block.title)
    if isinstance(block, Figure):
        return Section(name, block.title, figure_block(block))
    if isinstance(block, Gallery):
        return Section(name, block.title, gallery_block(block))
    if isinstance(block, Examples | DocumentTexts):
        return Section(name, block.title, examples_block(block, _heading(block, document)))
    folded = bool(document.answer) or len(document.blocks) > len(document.tables)
    name = table_anchor(block.key)
    heading = _heading(block, document)
    markup = table_block(block, name, heading, folded=folded and not block.open)
    return Section(name, heading or block.title, markup)


def _heading(block: Table | Examples | DocumentTexts, document: Document) -> str:
    """Return the title of a block, unless it repeats the title of the page."""
    if block.title != document.title:
        return block.title
    return "" if block is document.blocks[0] else "Numbers"


def _terms_section(document: Document) -> list[Section]:
    tables = [b for b in document.blocks if isinstance(b, Table)]
    columns = [column for table in tables for column in table.shown_columns if column.title]
    help_texts = _glossary_terms(document, columns) | _column_helps(tables)
    if not help_texts:
        return []
    entries = [element("dt", quote(t)) + element("dd", quote(h)) for t, h in help_texts.items()]
    inner = element("details", element("summary", "Terms"), element("dl", *entries))
    return [Section("terms", "Terms", element("section", inner, id="terms"))]


def _column_helps(tables: Sequence[Table]) -> dict[str, str]:
    """Return the help texts of columns by title, with the table's where the texts differ."""
    by_title: dict[str, dict[str, str]] = {}
    for table in tables:
        for column in table.shown_columns:
            if column.title and column.help:
                by_title.setdefault(column.title, {}).setdefault(column.help, table.title)
    return {
        title if len(helps) == 1 else f"{title} ({table_title})": text
        for title, helps in by_title.items()
        for text, table_title in helps.items()
    }


def _glossary_terms(document: Document, columns: Sequence[Column]) -> dict[str, str]:
    """The terms of the glossary in the answer, in titles and in heads without a help text."""
    titles = [block.title for block in document.blocks]
    text = " ".join([*document.answer, document.basis, *titles, *document.notes])
    heads = {column.title for column in columns}
    return {
        term: _LINKS.sub(r"\1", definition).replace("`", "")
        for term, definition in definitions().items()
        if term in heads or (len(term) > 1 and re.search(rf"\b{re.escape(term)}\b", text))
    }


def _footer_section(document: Document) -> Section:
    """Return the foot of the page: notes, signatures and the command."""
    parts = [element("h2", "How it was made"), *notes_block(document.remarks)]
    if document.signatures:
        entries = [
            element("dt", quote(name)) + element("dd", element("code", quote(signature)))
            for name, signature in document.signatures.items()
        ]
        parts.append(element("dl", *entries))
    for title, text in document.appendix.items():
        inner = element("pre", element("code", quote(text)), tabindex="0")
        parts.append(element("details", element("summary", quote(title)), inner))
    if document.command:
        # Where a file lies on somebody's disk is not for the readers of a page.
        command = _FOLDERS.sub("", document.command)
        parts.append(element("p", element("code", quote(command)), class_="command"))
    return Section("made", "How it was made", element("footer", *parts, id="made"))


def render_notebook(document: Document) -> str:
    """Return the answer, the first figure, the first table cut where it is long, and the notes."""
    table = document.tables[0]
    parts = [element("p", element("strong", quote(sentence))) for sentence in document.answer]
    parts += [element("p", quote(note)) for note in document.warnings]
    parts.append(
        plain_table(replace(table, rows=table.rows[:MAX_NOTEBOOK_ROWS]), MAX_NOTEBOOK_ROWS)
    )
    if len(table.rows) > MAX_NOTEBOOK_ROWS:
        parts.append(element("p", pager(MAX_NOTEBOOK_ROWS, len(table.rows))))
    if document.figures:
        drawing = render_svg(replace(document, blocks=document.figures[:1])).encode("utf-8")
        source = f"data:image/svg+xml;base64,{b64encode(drawing).decode('ascii')}"
        parts.append(element("img", src=source, alt=document.figures[0].title))
    parts += [element("p", quote(note)) for note in document.remarks]
    return element("div", *parts)
