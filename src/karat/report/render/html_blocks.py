"""Figures, galleries and examples as parts of a page."""

from __future__ import annotations

from karat.report.charts.models import HeatMap
from karat.report.charts.ranks import RankMap
from karat.report.model.table import Case, Examples, Figure, Gallery, Passage, Texts
from karat.report.page.markup import Look, element, quote


def anchor(title: str) -> str:
    """The id of a figure: its title, written so that no two titles have the same.

    `_` and a number stand for what an address cannot hold, `-` for a space.
    """
    return "figure-" + "".join(
        "-" if c == " " else c if c.isascii() and c.isalnum() else _number(c) for c in title
    )


def table_anchor(key: str) -> str:
    """The id of a table: its key as in `anchor`, but hyphens, which many keys have, stay."""
    return "table-" + "".join(
        c if c.isascii() and (c.isalnum() or c == "-") else _number(c) for c in key
    )


def _number(char: str) -> str:
    return f"_{ord(char):x}_"


def figure_block(figure: Figure) -> str:
    """A figure under its title, with the caption below."""
    title = element("figcaption", element("h2", quote(figure.title)))
    return _drawn(figure, title)


def gallery_block(gallery: Gallery) -> str:
    """Small figures side by side, as many as the page is wide."""
    figures = [
        _drawn(figure, element("figcaption", quote(figure.title))) for figure in gallery.figures
    ]
    caption = [element("p", quote(gallery.caption), class_="note")] if gallery.caption else []
    title = element("h2", quote(gallery.title))
    look_of = None if gallery.wide else "small dense" if _dense(gallery) else "small"
    inner = [*caption, element("div", *figures, class_=look_of)]
    if gallery.folded:
        look: Look = {"class_": "table", "id": anchor(gallery.title)}
        return element("details", element("summary", title), *inner, **look)
    return element("section", title, *inner, id=anchor(gallery.title))


def _dense(gallery: Gallery) -> bool:
    """True if the figures are cells full of numbers."""
    return any(isinstance(figure.drawing, HeatMap | RankMap) for figure in gallery.figures)


def _drawn(figure: Figure, title: str) -> str:
    drawing = element("div", figure.html, class_="scroll")
    caption = [element("p", quote(figure.caption), class_="note")] if figure.caption else []
    return element("figure", title, drawing, *caption, id=anchor(figure.title))


def examples_block(examples: Examples | Texts, heading: str) -> str:
    """Cases one below the other; a script shows those of one choice where there are switches."""
    tags = list(examples.switches)
    chosen = [_switch(examples, number, tag) for number, tag in enumerate(tags)]
    tools = [element("p", *chosen, class_="tools", hidden="hidden")] if chosen else []
    cases = [_case(case, tags) for case in examples.cases]
    title = [element("h2", quote(heading))] if heading else []
    look: Look = {"class_": "examples", "id": anchor(examples.title)}
    return element("section", *title, *tools, *_legend(examples), *cases, **look)


def _legend(examples: Examples | Texts) -> list[str]:
    """Say what the marks mean, if there are any."""
    passages = (passage for case in examples.cases for passage in case.passages)
    if not any(passage.marks for passage in passages):
        return []
    return [element("p", quote(examples.marked), class_="note")]


def _switch(examples: Examples | Texts, number: int, tag: str) -> str:
    values = dict.fromkeys(case.tags[tag] for case in examples.cases if tag in case.tags)
    options = [element("option", quote(value)) for value in values]
    select = element("select", *options, data_tag=str(number))
    return element("label", quote(examples.switches[tag]), " ", select)


def _case(case: Case, tags: list[str]) -> str:
    look: Look = {f"data_tag_{n}": case.tags.get(tag) for n, tag in enumerate(tags)}
    title = quote(case.title)
    if case.figure:
        title = element("a", title, href=f"#{anchor(case.figure)}")
    head = element("header", element("span", title), element("span", quote(case.facts)))
    lines = [
        element("dt", quote(one.label)) + element("dd", marked(one), dir="auto")
        for one in case.passages
    ]
    return element("article", head, element("dl", *lines), class_="case", **look)


def marked(passage: Passage) -> str:
    """The text with its marks as markup."""
    parts, done = [], 0
    for start, end in passage.marks:
        parts.append(quote(passage.text[done:start]))
        parts.append(element("mark", quote(passage.text[start:end])))
        done = end
    return "".join([*parts, quote(passage.text[done:])])
