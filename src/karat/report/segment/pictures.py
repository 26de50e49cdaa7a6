"""The pictures of one segment as figures, drawn when a renderer asks."""

from __future__ import annotations

from karat.metrics.accuracy import Alignment
from karat.metrics.gtm import Explanation
from karat.report.model.table import Figure
from karat.report.segment.edits_text import draw_edits
from karat.report.segment.grid_text import draw_grid

SCRIPT = "report/segment/grid.js"


def grid_figure(found: Explanation, title: str, caption: str) -> Figure:
    """Return the bitext grid of a matching."""

    def svg() -> str:
        from karat.report.segment.grid_svg import grid_svg

        return grid_svg(found, title)

    return Figure(title, svg, caption, lambda sheet: draw_grid(found, sheet), script=SCRIPT)


def edits_figure(found: Alignment, title: str, caption: str) -> Figure:
    """Return an edit alignment, which flows as words on pages."""

    def svg() -> str:
        from karat.report.segment.edits_svg import edits_svg

        return edits_svg(found, title)

    def page() -> str:
        from karat.report.segment.edits_svg import edits_html

        return edits_html(found)

    return Figure(title, svg, caption, lambda sheet: draw_edits(found, sheet), page, SCRIPT)
