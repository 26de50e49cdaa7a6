"""Charts as files for papers: the SVG drawing in light colours, and PNG and PDF made of it.

Typst (an extra) turns the drawing into the other two: no second way to draw a chart. The same
chart gives the same bytes on every run: no dates, no random names.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from karat.errors import MissingExtra, visible
from karat.report.charts.models import Chart
from karat.report.model.table import Document, Figure
from karat.report.render.svg import render_svg

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
    # Plain colours, which any program reads; words in it are left alone.
    drawing = _VARIABLE.sub(r'"\1"', _STYLE.sub("", drawing))
    drawing = drawing.replace('"currentColor"', f'"{INK}"')
    drawing = drawing.replace('"system-ui, sans-serif"', f'"{FONTS}"')
    if kind == "svg":
        return drawing.encode()
    given = {"title": visible(chart.title), "drawing": drawing}
    made: bytes = typesetter().compile(_SHEET, format=kind, ppi=RESOLUTION, sys_inputs=given)
    return made


@cache
def typesetter() -> Any:
    """Return what turns drawings into other files; MissingExtra if it is not installed."""
    try:
        from typst import Compiler
    except ImportError as error:
        raise MissingExtra(
            "charts as PNG and PDF files need the package typst: "
            "pip install 'karat[charts]'; reports with -f html or -f svg do without it"
        ) from error
    return Compiler()
