"""Reports as a web page - answer, pictures, examples, tables - and as a notebook shows them."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import NamedTuple

from karat.report.charts.models import CellChart
from karat.report.markup import Look, asset, data, element, quote
from karat.report.model import (
    Block,
    CellText,
    Document,
    Examples,
    Figure,
    Gallery,
    Table,
    TextPassage,
    sections,
)
from karat.report.render.svg import render_svg


def anchor(title: str) -> str:
    """Return the id of a figure, unique to its title.

    Spaces become `-`, other characters that an address cannot hold `_` and their number.
    """
    return "figure-" + "-".join(map(_escape, title.split(" ")))


def _escape(text: str) -> str:
    return re.sub("[^A-Za-z0-9]", lambda match: f"_{ord(match[0]):x}_", text)


def _figure_element(figure: Figure, title: str) -> str:
    drawing = element("div", figure.html, class_="scroll")
    inner = [element("figcaption", title), drawing, *_notes([figure.caption])]
    return element("figure", *inner, id=anchor(figure.title))


def gallery_block(gallery: Gallery) -> str:
    """Return small figures side by side, in rows that fit the page."""
    figures = [_figure_element(figure, quote(figure.title)) for figure in gallery.figures]
    title = element("h2", quote(gallery.title))
    has_cells = any(isinstance(figure.drawing, CellChart) for figure in gallery.figures)
    layout = None if gallery.wide else "small dense" if has_cells else "small"
    inner = [*_notes([gallery.caption]), element("div", *figures, class_=layout)]
    if gallery.folded:
        look: Look = {"class_": "table", "id": anchor(gallery.title)}
        return element("details", element("summary", title), *inner, **look)
    return element("section", title, *inner, id=anchor(gallery.title))


def examples_block(examples: Examples, heading: str) -> str:
    """Render cases one below the other; with switches, a script shows one choice at a time."""
    tags, switches = examples.choices, []
    for number, (tag, values) in enumerate(tags.items()):
        options = [element("option", quote(value)) for value in values]
        select = element("select", *options, data_tag=str(number))
        switches.append(element("label", quote(examples.switches[tag]), " ", select))
    tools = [element("p", *switches, class_="tools", hidden="hidden")] if switches else []
    has_marks = any(passage.marks for case in examples.cases for passage in case.passages)
    parts = [element("h2", quote(heading))] if heading else []
    parts += tools + _notes([examples.marked] if has_marks else [])
    for case in examples.cases:
        look: Look = {f"data_tag_{n}": case.tags.get(tag) for n, tag in enumerate(tags)}
        title = quote(case.title)
        if case.figure:
            title = element("a", title, href=f"#{anchor(case.figure)}")
        head = element("header", element("span", title), element("span", quote(case.facts)))
        texts = element("dl", *_entries(((p.label, marked(p)) for p in case.passages), dir="auto"))
        parts.append(element("article", head, texts, class_="case", **look))
    return element("section", *parts, class_="examples", id=anchor(examples.title))


def marked(passage: TextPassage) -> str:
    """Return the text with its marked parts as markup."""
    parts, done = [], 0
    for start, end in passage.marks:
        parts.append(quote(passage.text[done:start]))
        parts.append(element("mark", quote(passage.text[start:end])))
        done = end
    return "".join([*parts, quote(passage.text[done:])])


LONG = 40
"""Length from which a text needs a minimum width on narrow screens."""

MAX_PAGE_ROWS = 100
"""Rows that a table shows at once; a script turns the pages."""

_ROWS_SHOWN = "Rows 1 to {:,} of {:,}"

MIN_SEARCHED_ROWS = 12
"""Minimum number of rows for a search box."""


def table_block(table: Table, id: str, heading: str, *, folded: bool = False) -> str:
    """Return a table below its heading and its tools: search, filters, columns on demand."""
    tools = []
    if len(table.rows) >= MIN_SEARCHED_ROWS:
        tools.append(element("label", "Search ", '<input type="search">'))
    for number, column in enumerate(table.shown_columns):
        if column.filter:
            cells = (cell for _, rows in sections(table, [column], quote) for (cell,) in rows)
            options = [element("option", text) for text in dict.fromkeys(c.text for c in cells)]
            inner = ['<option value="">all</option>', *options]
            select = element("select", *inner, data_column=str(number))
            tools.append(element("label", quote(column.title), " ", select))
    if any(column.detail for column in table.shown_columns):
        tools.append(element("label", '<input type="checkbox">', " All columns"))
    inner = [element("p", *tools, class_="tools", hidden="hidden")] if tools else []
    inner += [_scrolling_table(table, MAX_PAGE_ROWS, "unseen"), *_notes(table.notes)]
    if not folded:
        head = [element("h2", quote(heading))] if heading else []
        return element("section", "\n".join([*head, *inner]), id=id)
    count = element("small", f"{len(table.rows):,} row{'s' * (len(table.rows) != 1)}")
    title = element("summary", element("h2", quote(heading), " ", count))
    return element("details", title, "\n".join(inner), class_="table", id=id)


def _scrolling_table(table: Table, max_rows: int, title_class: str | None = None) -> str:
    """Return a table in a container that scrolls on narrow screens; a script turns its pages."""
    columns = table.shown_columns
    n_columns = str(len(columns))
    parts = [element("caption", quote(table.title), class_=title_class)] if table.title else []
    heads = []
    for column in columns:
        look = _classes("right" * (column.align == "right"), "detail" * column.detail)
        help_text = column.help or None
        heads.append(element("th", quote(column.title), scope="col", class_=look, title=help_text))
    parts.append(element("thead", element("tr", *heads)))
    bodies = [
        (name, [element("tr", *map(_cell, row)) for row in rows])
        for name, rows in sections(table, columns, quote)
    ]
    rows_left = max_rows
    for name, rows in bodies:
        if rows_left > 0:
            lines = rows[:rows_left]
            if name is not None:
                head = element("th", name, scope="rowgroup", colspan=n_columns)
                lines.insert(0, element("tr", head, class_="group"))
            parts.append(element("tbody", "\n", "\n".join(lines), "\n"))
        rows_left -= len(rows)
    if not table.rows:
        cell = element("td", "no rows", class_="missing", colspan=n_columns)
        parts.append(element("tbody", element("tr", cell)))
    # Focusable, so that the keyboard can scroll it too.
    frame = {"class_": "scroll", "tabindex": "0", "role": "region"}
    inner = element("table", "\n", "\n".join(parts), "\n")
    block = element("div", inner, **frame, aria_label=table.title or "table")
    if rows_left >= 0:
        return block
    pager = {"class_": "note pages", "data_rows": str(len(table.rows))}
    return (
        block + element("p", _ROWS_SHOWN.format(max_rows, len(table.rows)), **pager) + data(bodies)
    )


def _cell(cell_text: CellText) -> str:
    cell, column, text, is_emphasized = cell_text
    right = "right" * (column.align == "right")
    detail = "detail" * column.detail
    if cell is None:
        return element("td", text, class_=_classes(right, "missing", detail))
    # Narrow screens keep a minimum width for long texts.
    long = "long" * (not right and isinstance(cell, str) and len(cell) > LONG)
    full_value = None  # of a number, for sorting by all its digits
    if not isinstance(cell, (str, bool)):
        full_value = repr(float(cell)) if isinstance(cell, float) else str(cell)
    inner = element("strong", text) if is_emphasized else text
    return element("td", inner, class_=_classes(right, long, detail), data_value=full_value)


def _classes(*names: str) -> str | None:
    return " ".join(filter(None, names)) or None


def _notes(notes: Sequence[str]) -> list[str]:
    return [element("p", quote(note), class_="note") for note in notes if note]


def _entries(definitions: Iterable[tuple[str, str]], **look: str) -> list[str]:
    """Return terms, as plain text, with their definitions, as markup."""
    return [element("dt", quote(t)) + element("dd", inner, **look) for t, inner in definitions]


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
    """Return a whole page from a plain title, markup, sections and the texts of its scripts.

    The browser enforces its policy, since reports may quote hostile text: the page loads nothing,
    sends nothing, and runs no script and has no style but its own.
    """
    style, *programs = (f"\n{text}" for text in (asset("report/page/style.css"), *scripts))
    hashes = " ".join(map(_policy_hash, programs)) or "'none'"
    sources = f"style-src {_policy_hash(style)}; script-src {hashes}"
    contents = ""
    if listed := len(sections) >= MIN_LISTED_SECTIONS:
        links = [element("a", quote(section.title), href=f"#{section.id}") for section in sections]
        items = element("ul", *(element("li", link) for link in links))
        contents = element("nav", items, class_="contents", aria_label="Contents") + "\n"
    return _SKELETON.format(
        policy=f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'",
        title=quote(title),
        style=element("style", style),
        look=' class="listed"' if listed else "",
        contents=contents,
        body="\n".join([*head, *(section.markup for section in sections)]),
        scripts="".join(element("script", text) + "\n" for text in programs),
    )


def _policy_hash(text: str) -> str:
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


def render_html(document: Document) -> str:
    """Return the document as one self-contained page."""
    covered = {key for figure in document.figures for key in figure.covers}
    unseen = {t.key for t in document.tables if t.readers == "programs" or t.key in covered}
    blocks = [b for b in document.blocks if not (isinstance(b, Table) and b.key in unseen)]
    document = replace(document, blocks=blocks)
    scripts = []
    if any(isinstance(block, Table) and len(block.rows) > 1 for block in blocks):
        scripts.append("report/page/tables.js")
    if any(isinstance(block, Examples) and block.choices for block in blocks):
        scripts.append("report/page/examples.js")
    scripts += [figure.script for figure in document.figures if figure.script]
    page_sections = [_block_section(block, document) for block in blocks]
    page_sections += [*_terms_section(document), _footer_section(document)]
    programs = [asset(name) for name in dict.fromkeys(scripts)]
    parts = [element("h1", quote(document.title))]
    if document.answer:
        sentences = [element("p", _keep_together(sentence)) for sentence in document.answer]
        parts.append(element("div", *sentences, class_="answer"))
        if document.basis:
            parts.append(element("p", _keep_together(document.basis), class_="basis"))
    parts += [element("p", quote(note), class_="warning") for note in document.split_notes()[0]]
    return render_page(document.title, [element("header", *parts)], page_sections, programs)


def _keep_together(sentence: str) -> str:
    return _UNBREAKABLE.sub(lambda match: match[0].replace(" ", "&nbsp;"), quote(sentence))


def _block_section(block: Block, document: Document) -> Section:
    name, heading = anchor(block.title), block.title
    if isinstance(block, Figure):
        title = element("h2", quote(block.title))
        return Section(name, block.title, _figure_element(block, title))
    if isinstance(block, Gallery):
        return Section(name, block.title, gallery_block(block))
    if block.title == document.title:  # not twice
        heading = "" if block is document.blocks[0] else "Numbers"
    if isinstance(block, Examples):
        return Section(name, block.title, examples_block(block, heading))
    # as in `anchor`, but hyphens, which many keys have, stay
    name = "table-" + "-".join(map(_escape, block.key.split("-")))
    folded = bool(document.answer) or len(document.blocks) > len(document.tables)
    markup = table_block(block, name, heading, folded=folded and not block.open)
    return Section(name, heading or block.title, markup)


def _terms_section(document: Document) -> list[Section]:
    """Return definitions: glossary terms in the answer, titles and heads; helps of columns.

    Columns with the same title but different helps are listed with their tables.
    """
    heads: set[str] = set()
    helps_by_title: dict[str, dict[str, str]] = {}
    for table in (block for block in document.blocks if isinstance(block, Table)):
        for column in (column for column in table.shown_columns if column.title):
            heads.add(column.title)
            if column.help:
                helps_by_title.setdefault(column.title, {}).setdefault(column.help, table.title)
    titles = [block.title for block in document.blocks]
    text = " ".join([*document.answer, document.basis, *titles, *(document.notes or ())])
    terms = {
        term: _LINKS.sub(r"\1", definition).replace("`", "")
        for term, definition in definitions().items()
        if term in heads or (len(term) > 1 and re.search(rf"\b{re.escape(term)}\b", text))
    }
    terms |= {
        title if len(helps) == 1 else f"{title} ({table_title})": help_text
        for title, helps in helps_by_title.items()
        for help_text, table_title in helps.items()
    }
    if not terms:
        return []
    entries = element("dl", *_entries((term, quote(text)) for term, text in terms.items()))
    inner = element("details", element("summary", "Terms"), entries)
    return [Section("terms", "Terms", element("section", inner, id="terms"))]


def _footer_section(document: Document) -> Section:
    """Return the foot of the page: notes, signatures and the command."""
    parts = [element("h2", "How it was made"), *_notes(document.split_notes()[1])]
    if document.signatures:
        signatures = document.signatures.items()
        entries = _entries((name, element("code", quote(text))) for name, text in signatures)
        parts.append(element("dl", *entries))
    for title, text in document.appendix.items():
        inner = element("pre", element("code", quote(text)), tabindex="0")
        parts.append(element("details", element("summary", quote(title)), inner))
    if document.command:
        # Readers of a page need not know the folders of its author.
        command = _FOLDERS.sub("", document.command)
        parts.append(element("p", element("code", quote(command)), class_="command"))
    return Section("made", "How it was made", element("footer", *parts, id="made"))


def render_notebook(document: Document) -> str:
    """Return the answer, the first figure, the first table cut where it is long, and the notes."""
    table = document.tables[0]
    parts = [element("p", element("strong", quote(sentence))) for sentence in document.answer]
    warnings, remarks = document.split_notes()
    parts += [element("p", quote(note)) for note in warnings]
    short = _scrolling_table(replace(table, rows=table.rows[:MAX_NOTEBOOK_ROWS]), MAX_NOTEBOOK_ROWS)
    parts.append(element("section", "\n".join([short, *_notes(table.notes)])))
    if len(table.rows) > MAX_NOTEBOOK_ROWS:
        parts.append(element("p", _ROWS_SHOWN.format(MAX_NOTEBOOK_ROWS, len(table.rows))))
    if document.figures:
        drawing = render_svg(replace(document, blocks=document.figures[:1])).encode("utf-8")
        source = f"data:image/svg+xml;base64,{b64encode(drawing).decode('ascii')}"
        parts.append(element("img", src=source, alt=document.figures[0].title))
    parts += [element("p", quote(note)) for note in remarks]
    return element("div", *parts)
