"""Reports as one SVG drawing: the figures below each other, legible in light and dark by itself."""

from __future__ import annotations

from karat.errors import InputError
from karat.report.charts.svg import frame as svg
from karat.report.model.table import Document
from karat.report.page.markup import Look, element, quote, shape
from karat.report.page.page import palette

MARGIN = 16.0
HEADING = 28.0


def render_svg(document: Document) -> str:
    """The document's figures; a document without any cannot be drawn."""
    if not document.figures:
        raise InputError("there is no figure to draw: choose another format than svg")
    parts, y = [], MARGIN
    for figure in document.figures:
        wide, high = svg.size_of(figure.svg)
        look: Look = {"x": MARGIN, "y": y + 14, "font_size": 14, "font_weight": 600}
        parts.append(element("text", quote(figure.title), **look))
        place = {"x": MARGIN, "y": y + HEADING, "width": wide, "height": high}
        parts.append(element("svg", figure.svg, **place))
        y += HEADING + high + MARGIN
    width = max(svg.size_of(figure.svg)[0] for figure in document.figures) + 2 * MARGIN
    paper = shape("rect", width=width, height=y, fill="var(--paper, #ffffff)")
    style = element("style", palette(), "svg { color: var(--ink); }")
    told = "; ".join(figure.title for figure in document.figures)
    body = [style, paper, *parts]
    return svg.chart(document.title, told, y, body, width, fluid=False, role="group") + "\n"
