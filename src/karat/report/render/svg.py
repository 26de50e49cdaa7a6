"""Reports as one SVG drawing: the figures below each other, legible in light and dark by itself."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from karat.errors import InputError, MissingExtra, visible
from karat.installation import install_command
from karat.report.charts.models import Chart
from karat.report.charts.svg import frame as svg
from karat.report.markup import Look, element, palette, quote, shape
from karat.report.model import Document, Figure

MARGIN = 16.0
HEADING = 28.0


def render_svg(document: Document) -> str:
    """Render the figures of a document; raise if there are none."""
    if not document.figures:
        raise InputError("there is no figure to draw: choose another format than svg")
    parts, y = [], MARGIN
    for figure in document.figures:
        figure_width, height = svg.drawing_size(figure.svg)
        look: Look = {"x": MARGIN, "y": y + 14, "font_size": 14, "font_weight": 600}
        parts.append(element("text", quote(figure.title), **look))
        place = {"x": MARGIN, "y": y + HEADING, "width": figure_width, "height": height}
        parts.append(element("svg", figure.svg, **place))
        y += HEADING + height + MARGIN
    width = max(svg.drawing_size(figure.svg)[0] for figure in document.figures) + 2 * MARGIN
    paper = shape("rect", width=width, height=y, fill="var(--paper, #ffffff)")
    style = element("style", palette(), "svg { color: var(--ink); }")
    description = "; ".join(figure.title for figure in document.figures)
    body = [style, paper, *parts]
    return svg.chart(document.title, description, y, body, width, fluid=False, role="group") + "\n"


INK = "#1c2026"
FONTS = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
RESOLUTION = 240  # pixels per inch
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_VARIABLE = re.compile(r'"var\(--[a-z0-9-]+, (#[0-9a-f]{6})\)"')
_SHEET = b"""\
#set document(title: sys.inputs.title, date: none)
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.drawing), format: "svg", width: 6.5in)
"""
"""The drawing alone on its page, as wide as the text of most papers."""


def chart_file(chart: Chart, kind: str) -> bytes:
    """Return the bytes of a png, pdf or svg file."""
    drawing = render_svg(Document(chart.title, (Figure(chart.title, chart),), "", {}))
    # Plain colors, which any program can read; text is unchanged.
    drawing = _VARIABLE.sub(r'"\1"', _STYLE.sub("", drawing))
    drawing = drawing.replace('"currentColor"', f'"{INK}"')
    drawing = drawing.replace('"system-ui, sans-serif"', f'"{FONTS}"')
    if kind == "svg":
        return drawing.encode()
    inputs = {"title": visible(chart.title), "drawing": drawing}
    image: bytes = typesetter().compile(_SHEET, format=kind, ppi=RESOLUTION, sys_inputs=inputs)
    return image


@cache
def typesetter() -> Any:
    """Return the compiler of PNG and PDF files; raise MissingExtra if it is not installed."""
    try:
        from typst import Compiler
    except ImportError as error:
        raise MissingExtra(
            "charts as PNG and PDF files need the package typst: "
            f"{install_command('charts')}; reports with -f html or -f svg do without it"
        ) from error
    return Compiler()
