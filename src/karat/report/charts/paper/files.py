"""Charts as files for papers: PNG, PDF and SVG by matplotlib (an extra), in one style.

The same chart gives the same bytes on every run: no dates, no random names. Nothing here touches
pyplot, so a program's own figures and settings are left alone.
"""

from __future__ import annotations

import os
from io import BytesIO
from typing import TYPE_CHECKING, Any

from karat.errors import MissingExtra, OutputError
from karat.output import Path, check_writable, write_atomically
from karat.report.charts.models import Chart, HeatMap, Intervals
from karat.report.charts.paper.letters import families, printable
from karat.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 6.5, 4.2  # inches: the text width of most papers
DPI = 200
STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": "#aab1bd",
    "axes.labelcolor": "#1c2026",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e3e6eb",
    "grid.linewidth": 0.6,
    "xtick.color": "#4a4f57",
    "ytick.color": "#4a4f57",
    "text.color": "#1c2026",
    "text.parse_math": False,  # a dollar in a system's name is a dollar
    "legend.frameon": False,
    "pdf.fonttype": 42,  # publishers refuse Type 3 fonts
    "svg.hashsalt": "karat",
}


def save_chart(chart: Chart, path: Path, *, title: bool = True) -> None:
    """Write the chart to a .png, .pdf or .svg file, whole or not at all.

    Without `title` it has no heading: in a paper that is the caption's work.
    """
    kind = os.path.splitext(os.fspath(path))[1].lower().lstrip(".")
    if kind not in _METADATA:
        found = f"its name ends in .{kind}" if kind else "its name has no ending"
        told = f"cannot write {os.fspath(path)}: {found}; a chart is a .png, .pdf or .svg file"
        raise OutputError(told)
    check_writable(path)
    write_atomically(path, chart_file(chart, kind, title=title))


def chart_file(chart: Chart, kind: str, *, title: bool = True) -> bytes:
    """The bytes of a file of that kind: png, pdf or svg."""
    check_matplotlib()
    from matplotlib import style

    with style.context(["default", {**STYLE, "font.family": list(families())}]):
        figure = _drawn(chart, title)
        told = {**_METADATA[kind], "Title": visible(chart.title)}
        found = BytesIO()
        figure.savefig(found, format=kind, metadata=told)
    return found.getvalue()


_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "pdf": {"Creator": "Karat", "Producer": None, "CreationDate": None},
    "svg": {"Creator": "Karat", "Date": None},
}
"""What a file says of itself; None keeps dates and versions out."""


def check_matplotlib() -> None:
    """Raise MissingExtra where there is no matplotlib."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "charts as PNG, PDF or SVG files need the package matplotlib: "
            "pip install 'karat[charts]'; reports with -f html or -f svg do without it"
        ) from error


def _drawn(chart: Chart, title: bool) -> Figure:
    from matplotlib.figure import Figure

    from karat.report.charts.paper.axes import draw

    size = (WIDTH, _height(chart))
    figure = Figure(figsize=size, dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    if title:
        axes.set_title(printable(chart.title))
    draw(chart, axes)
    return figure


def _height(chart: Chart) -> float:
    """Inches: rows of a table or of intervals want as much as there are."""
    if isinstance(chart, HeatMap):
        return min(1.3 + 0.3 * max(len(chart.rows), 1), 12.0)
    if isinstance(chart, Intervals):
        return min(0.9 + 0.25 * max(len(chart.items), 1), 12.0)
    return HEIGHT
