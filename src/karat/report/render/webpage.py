"""Reports as a web page - answer, pictures, examples, tables - and as a notebook shows them."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace

from karat.report.glossary import definitions
from karat.report.model.table import (
    Block,
    Column,
    Document,
    Examples,
    Figure,
    Gallery,
    Table,
    Texts,
)
from karat.report.page.markup import element, quote
from karat.report.page.page import Section, asset, page
from karat.report.render.html_blocks import (
    anchor,
    examples_block,
    figure_block,
    gallery_block,
    table_anchor,
)
from karat.report.render.html_tables import notes_block, pager, plain_table, table_block
from karat.report.render.svg import render_svg

MOST_ROWS = 200
"""Rows that a notebook shows."""

_FOLDERS = re.compile(r"""(?<![^\s'"=:,])(?:/[^\s'"/]+)+/(?=[^\s'"])""")
"""The folders of an absolute path in a command."""

_LINKS = re.compile(r"\[([^\]]+)\]\([^)]*\)")
"""A link in Markdown, with its text."""

_WHOLE = re.compile(r"\[[-+\d.,]+, [-+\d.,]+\]|\bp (?:=|&lt;=?) [\d.]+")
"""An interval or a p-value in running text."""

_TABLES, _EXAMPLES = "report/page/tables.js", "report/page/examples.js"


def render_html(document: Document) -> str:
    """Return the document as one self-contained page."""
    document = replace(document, blocks=tuple(_seen(document)))
    sections = [_section(block, document) for block in document.blocks]
    sections += _terms(document)
    sections.append(_made(document))
    scripts = dict.fromkeys(_scripts(document))
    return page(document.title, _page_head(document), sections, [asset(name) for name in scripts])


def _seen(document: Document) -> list[Block]:
    """The blocks for people, but the tables that figures show in another form."""
    covered = {key for figure in document.figures for key in figure.covers}
    unseen = {t.key for t in document.tables if t.readers == "programs" or t.key in covered}
    return [b for b in document.blocks if not (isinstance(b, Table) and b.key in unseen)]


def _scripts(document: Document) -> Iterator[str]:
    """The scripts that the tables and figures want."""
    tables = [block for block in document.blocks if isinstance(block, Table)]
    if any(len(table.rows) > 1 for table in tables):
        yield _TABLES
    if any(isinstance(block, Examples | Texts) and block.switches for block in document.blocks):
        yield _EXAMPLES
    yield from (figure.script for figure in document.figures if figure.script)


def _page_head(document: Document) -> list[str]:
    """The title, the answer and warnings."""
    title = element("h1", quote(document.title))
    warnings = [element("p", quote(note), class_="warning") for note in document.warnings]
    if not document.answer:
        return [element("header", title, *warnings)]
    told = [element("p", _unbroken(sentence)) for sentence in document.answer]
    basis = [element("p", _unbroken(document.basis), class_="basis")] if document.basis else []
    return [element("header", title, element("div", *told, class_="answer"), *basis, *warnings)]


def _unbroken(sentence: str) -> str:
    """A sentence whose intervals and p-values stand on one line each."""
    return _WHOLE.sub(lambda found: found[0].replace(" ", "&nbsp;"), quote(sentence))


def _section(block: Block, document: Document) -> Section:
    name = anchor(block.title)
    if isinstance(block, Figure):
        return Section(name, block.title, figure_block(block))
    if isinstance(block, Gallery):
        return Section(name, block.title, gallery_block(block))
    if isinstance(block, Examples | Texts):
        return Section(name, block.title, examples_block(block, _heading(block, document)))
    folded = bool(document.answer) or len(document.blocks) > len(document.tables)
    name = table_anchor(block.key)
    heading = _heading(block, document)
    shown = table_block(block, name, heading, folded=folded and not block.open)
    return Section(name, heading or block.title, shown)


def _heading(block: Table | Examples | Texts, document: Document) -> str:
    """The title of a block, if it is not the one that stands above it already."""
    if block.title != document.title:
        return block.title
    return "" if block is document.blocks[0] else "Numbers"


def _terms(document: Document) -> list[Section]:
    """Columns and the glossary's terms that the page uses, for those who cannot hover."""
    tables = [b for b in document.blocks if isinstance(b, Table)]
    columns = [column for table in tables for column in table.shown if column.title]
    told = _used(document, columns) | _column_helps(tables)
    if not told:
        return []
    entries = [element("dt", quote(t)) + element("dd", quote(h)) for t, h in told.items()]
    inner = element("details", element("summary", "Terms"), element("dl", *entries))
    return [Section("terms", "Terms", element("section", inner, id="terms"))]


def _column_helps(tables: Sequence[Table]) -> dict[str, str]:
    """Return the help texts of columns by title, with the table's where the texts differ."""
    by_title: dict[str, dict[str, str]] = {}
    for table in tables:
        for column in table.shown:
            if column.title and column.help:
                by_title.setdefault(column.title, {}).setdefault(column.help, table.title)
    return {
        title if len(helps) == 1 else f"{title} ({table_title})": text
        for title, helps in by_title.items()
        for text, table_title in helps.items()
    }


def _used(document: Document, columns: Sequence[Column]) -> dict[str, str]:
    """The terms of the glossary in the answer, in titles and in heads without a help text."""
    titles = [block.title for block in document.blocks]
    text = " ".join([*document.answer, document.basis, *titles, *document.notes])
    heads = {column.title for column in columns}
    return {
        term: _LINKS.sub(r"\1", told).replace("`", "")
        for term, told in definitions().items()
        if term in heads or (len(term) > 1 and re.search(rf"\b{re.escape(term)}\b", text))
    }


def _made(document: Document) -> Section:
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
    parts = [element("p", element("strong", quote(told))) for told in document.answer]
    parts += [element("p", quote(note)) for note in document.warnings]
    parts.append(plain_table(replace(table, rows=table.rows[:MOST_ROWS]), MOST_ROWS))
    if len(table.rows) > MOST_ROWS:
        parts.append(element("p", pager(MOST_ROWS, len(table.rows))))
    if document.figures:
        drawn = render_svg(replace(document, blocks=document.figures[:1])).encode("utf-8")
        source = f"data:image/svg+xml;base64,{b64encode(drawn).decode('ascii')}"
        parts.append(element("img", src=source, alt=document.figures[0].title))
    parts += [element("p", quote(note)) for note in document.remarks]
    return element("div", *parts)
