"""The frame, lines and lettering that all charts share.

Colours are CSS variables with a fallback, so that a chart follows the page into the dark and is
legible on its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.report.markup import element, quote, shape
from karat.report.terminal import display_width, truncate
from karat.report.visible import visible

ACCENT = "var(--accent, #2b6cb0)"
MUTED = "var(--muted, #626b79)"
GRID = "var(--line, #e3e6eb)"

WIDTH = 720
LETTER = 6.7  # the usual advance of a letter at the charts' font size
LONGEST_DESCRIPTION = 12  # items read out before a screen reader's user is told "and more"


def chart(title: str, description: str, height: float, parts: Sequence[str]) -> str:
    """A whole drawing, named and described for those who cannot see it."""
    return element(
        "svg",
        element("title", quote(title)),
        element("desc", quote(description)),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        viewBox=f"0 0 {WIDTH} {height:.0f}",
        font_family="system-ui, sans-serif",
        font_size=12,
        fill="currentColor",
    )


def no_data(title: str) -> str:
    """What is drawn in place of a chart that has nothing to show."""
    return chart(title, "no data", 60, [text(WIDTH / 2, 35, "no data", "middle", MUTED)])


def text(x: float, y: float, content: str, anchor: str = "start", fill: str | None = None) -> str:
    """One line of lettering."""
    return element("text", quote(content), x=x, y=y, text_anchor=anchor, fill=fill)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, *, width: float = 1) -> str:
    """A straight line."""
    return shape("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width)


def tooltip(content: str) -> str:
    """The browser's own tooltip for the group it stands in."""
    return element("title", quote(content))


def shorten(label: str, columns: int) -> str:
    """A label of at most so many columns, on one line."""
    return truncate(visible(label), columns)


def length(label: str) -> float:
    """About how long a label is when drawn."""
    return LETTER * display_width(label)


def enumeration(items: Sequence[str]) -> str:
    """The items in one sentence, the first dozen by name."""
    rest = len(items) - LONGEST_DESCRIPTION
    named = "; ".join(items[:LONGEST_DESCRIPTION])
    return f"{named}; and {rest} more" if rest > 0 else named
