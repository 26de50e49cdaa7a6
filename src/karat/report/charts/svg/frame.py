"""The frame, axes, lines and lettering that all charts share.

Colours are CSS variables with a fallback, so that a chart follows the page into the dark and is
legible on its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from karat.errors import visible
from karat.report.charts.axis import Axis, Ticks
from karat.report.page.markup import Attribute, Look, element, quote, shape
from karat.report.render.terminal import display_width, truncate

ACCENT = "var(--accent, #2b6cb0)"
MUTED = "var(--muted, #626b79)"
GRID = "var(--line, #e3e6eb)"
RULE = "var(--rule, #aab1bd)"
WARM = "var(--warm, #b25a00)"
VIOLET = "var(--violet, #7a4fbf)"
HALO: Look = {"stroke": "var(--paper, #ffffff)", "stroke_width": 3, "paint_order": "stroke"}
MONOSPACE = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

WIDTH = 720
NARROW = 380  # of charts that stand side by side, and on phones
RIGHT = WIDTH - 16.0
BELOW = 48.0  # room for the tick labels and the name of the axis
LETTER = 6.7  # the usual advance of a letter at the charts' font size

Drawn: TypeAlias = tuple[list[str], float]
"""The parts of a chart and its height."""


def chart(
    title: str,
    description: str,
    height: float,
    parts: Sequence[str],
    width: float = WIDTH,
    *,
    fluid: bool = True,
    **look: Attribute,
) -> str:
    """A whole drawing, named and described for those who cannot see it.

    A fluid one fills the room it is given; else it has its own size.
    """
    usual: Look = {"role": "img", "font_family": "system-ui, sans-serif", "font_size": 12}
    return element(
        "svg",
        element("title", quote(title)),
        element("desc", quote(description)),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=None if fluid else width,
        height=None if fluid else height,
        fill="currentColor",
        **{**usual, **look},
    )


def size_of(drawing: str) -> tuple[float, float]:
    """The width and height of a whole drawing, which its first attributes tell."""
    found = _VIEW.search(drawing)
    return (float(found[1]), float(found[2])) if found else (WIDTH, 60.0)


_VIEW = re.compile(r'viewBox="0 0 (\d+) (\d+)"')


def no_data(title: str, why: str = "no data") -> str:
    """Return the drawing in place of a chart that has nothing to show."""
    return chart(title, why, 60, [label(WIDTH / 2, 35, why, "middle", MUTED)])


def label(x: float, y: float, content: str, anchor: str = "start", fill: str | None = None) -> str:
    """One line of lettering."""
    return element("text", quote(content), x=x, y=y, text_anchor=anchor, fill=fill)


def sideways(name: str, y: str) -> str:
    """The name of an axis along the left edge, around `y`."""
    turned = label(0, 0, shorten(name, 45), "middle", MUTED)
    return element("g", turned, transform=f"translate(14 {y}) rotate(-90)")


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, *, width: float = 1) -> str:
    """A straight line."""
    return shape("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width)


def tooltip(content: str) -> str:
    """The browser's own tooltip for the group it stands in."""
    return element("title", quote(content))


def shorten(label: str, columns: int) -> str:
    """A label of at most so many columns, on one line."""
    return truncate(visible(label), columns)


def extent(label: str) -> float:
    """About how long a label is when drawn."""
    return LETTER * display_width(label)


# ---------------------------------------------------------------------------------------- axes


def plane(
    ticks: tuple[Ticks, Ticks], top: float, bottom: float, width: float = WIDTH
) -> tuple[Axis, Axis]:
    """The two axes of a plot, with room at the left for what stands along the second."""
    across, up = ticks
    left = 40 + max(extent(up.label(value)) for value in up.values)
    return Axis(across, left, width - 16.0), Axis(up, bottom, top)


def both(x: Axis, y: Axis, x_name: str, y_name: str) -> list[str]:
    """The two axes of a plot, drawn."""
    parts = []
    for value in y.ticks.values:
        at = y.at(value)
        parts.append(line(x.start, at, x.end, at, GRID))
        parts.append(label(x.start - 8, at + 4, y.ticks.label(value), "end", MUTED))
    vertical = element("g", *parts, sideways(y_name, f"{(y.start + y.end) / 2:.2f}"))
    return [horizontal(x, y.end, y.start, x_name), vertical]


def horizontal(axis: Axis, top: float, bottom: float, name: str) -> str:
    """The axis below a plot that reaches from `top` to `bottom`."""
    parts = []
    for value in axis.ticks.values:
        x = axis.at(value)
        parts.append(line(x, top, x, bottom, GRID))
        parts.append(label(x, bottom + 17, axis.ticks.label(value), "middle", MUTED))
    middle = (axis.start + axis.end) / 2
    parts.append(label(middle, bottom + 37, shorten(name, 70), "middle", MUTED))
    return element("g", *parts)


def dashed(x: float, top: float, bottom: float) -> str:
    """A dashed vertical line across a plot."""
    dashes: Look = {"stroke": "currentColor", "stroke_opacity": 0.75, "stroke_dasharray": "4 3"}
    return shape("line", x1=x, y1=top, x2=x, y2=bottom, **dashes)
