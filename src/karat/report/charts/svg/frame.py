"""The frame, axes, lines and text that all charts share.

Colors are CSS variables with a fallback: a chart follows the page's dark mode and is legible alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from karat.errors import visible
from karat.report.charts.axis import Axis, Ticks
from karat.report.markup import Attribute, Look, coordinate, element, quote, shape
from karat.report.render.text import display_width, truncate

ACCENT = "var(--accent, #2b6cb0)"
MUTED = "var(--muted, #626b79)"
GRID = "var(--line, #e3e6eb)"
RULE = "var(--rule, #aab1bd)"
WARM = "var(--warm, #b25a00)"
VIOLET = "var(--violet, #7a4fbf)"
HALO: Look = {"stroke": "var(--paper, #ffffff)", "stroke_width": 3, "paint_order": "stroke"}
MONOSPACE = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

WIDTH = 720
NARROW = 380  # of charts side by side, and on phones
RIGHT = WIDTH - 16.0
BELOW = 48.0  # room for the tick labels and the name of the axis
LETTER = 6.7  # the usual advance of a letter at the charts' font size

DrawingParts: TypeAlias = tuple[list[str], float]
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
    """Return a complete SVG element with a title and a description for screen readers.

    A fluid drawing fills the available width; otherwise it has a fixed size.
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


def drawing_size(drawing: str) -> tuple[float, float]:
    """Return the width and height of a drawing, from its viewBox."""
    match = _VIEW.search(drawing)
    return (float(match[1]), float(match[2])) if match else (WIDTH, 60.0)


_VIEW = re.compile(r'viewBox="0 0 (\d+) (\d+)"')


def no_data(title: str, reason: str = "no data") -> str:
    """Return the drawing in place of a chart that has nothing to show."""
    return chart(title, reason, 60, [label(WIDTH / 2, 35, reason, "middle", MUTED)])


def label(x: float, y: float, content: str, anchor: str = "start", fill: str | None = None) -> str:
    """Draw a line of text."""
    return element("text", quote(content), x=x, y=y, text_anchor=anchor, fill=fill)


def draw_y_name(name: str, y: str) -> str:
    """Draw the name of an axis along the left edge, centered at `y`."""
    turned = label(0, 0, shorten(name, 45), "middle", MUTED)
    return element("g", turned, transform=f"translate(14 {y}) rotate(-90)")


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, *, width: float = 1) -> str:
    """Draw a straight line."""
    return shape("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width)


def tooltip(content: str) -> str:
    """Return the tooltip of the enclosing group."""
    return element("title", quote(content))


def shorten(label: str, columns: int) -> str:
    """Return the label on one line, cut to a number of columns."""
    return truncate(visible(label), columns)


def extent(label: str) -> float:
    """Estimate the width of a label in the drawing."""
    return LETTER * display_width(label)


# ---------------------------------------------------------------------------------------- axes


def make_axes(
    ticks: tuple[Ticks, Ticks], top: float, bottom: float, width: float = WIDTH
) -> tuple[Axis, Axis]:
    """Return the two axes of a plot, with room for the tick labels of the y axis."""
    across, up = ticks
    left = 40 + max(extent(up.label(value)) for value in up.values)
    return Axis(across, left, width - 16.0), Axis(up, bottom, top)


def draw_axes(x: Axis, y: Axis, x_name: str, y_name: str) -> list[str]:
    """Draw the two axes of a plot."""
    parts = []
    for value in y.ticks.values:
        at = y.at(value)
        parts.append(line(x.start, at, x.end, at, GRID))
        parts.append(label(x.start - 8, at + 4, y.ticks.label(value), "end", MUTED))
    vertical = element("g", *parts, draw_y_name(y_name, f"{(y.start + y.end) / 2:.2f}"))
    return [draw_x_axis(x, y.end, y.start, x_name), vertical]


def draw_x_axis(axis: Axis, top: float, bottom: float, name: str) -> str:
    """Draw the x axis of a plot that extends from `top` to `bottom`."""
    parts = []
    for value in axis.ticks.values:
        x = axis.at(value)
        parts.append(line(x, top, x, bottom, GRID))
        parts.append(label(x, bottom + 17, axis.ticks.label(value), "middle", MUTED))
    middle = (axis.start + axis.end) / 2
    parts.append(label(middle, bottom + 37, shorten(name, 70), "middle", MUTED))
    return element("g", *parts)


def dashed(x: float, top: float, bottom: float) -> str:
    """Draw a dashed vertical line across a plot."""
    dashes: Look = {"stroke": "currentColor", "stroke_opacity": 0.75, "stroke_dasharray": "4 3"}
    return shape("line", x1=x, y1=top, x2=x, y2=bottom, **dashes)


HEAT = (
    *("#f1f8f6", "#c4e4e0", "#99cfd0", "#72b8c1", "#51a1b1"),
    *("#3989a1", "#28718f", "#1e597a", "#174566"),
)
"""From low to high, in equal steps of lightness, which keep their order in gray print."""

SERIES = (
    *("#2151d3", "#d97f0a", "#057f59", "#a66b9b"),
    *("#8b8b46", "#1e97f7", "#801e0d", "#1c2026"),
)
"""Distinct for any color vision; pages override them by `--series-1` and so on."""

DASHES = (None, "7 3", "2 3", "9 3 2 3")
MARKERS = (
    "M0 -4A4 4 0 1 1 0 4A4 4 0 1 1 0 -4Z",
    "M-3.5 -3.5H3.5V3.5H-3.5Z",
    "M0 -4.5L4.5 3.5H-4.5Z",
    "M0 -5L5 0L0 5L-5 0Z",
    "M0 4.5L4.5 -3.5H-4.5Z",
    "M-4 -4L0 -1.5L4 -4L1.5 0L4 4L0 1.5L-4 4L-1.5 0Z",
    "M-1.5 -4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
    "M0 -5L1.6 -1.6L5 0L1.6 1.6L0 5L-1.6 1.6L-5 0L-1.6 -1.6Z",
)
"""Outlines around the origin: disc, square, triangle, diamond and so on."""


def series_color(number: int) -> str:
    """Return the color of a series by its number, from 0."""
    k = number % len(SERIES)
    return f"var(--series-{k + 1}, {SERIES[k]})"


def series_line(number: int) -> Look:
    """Return the look of a series' line; series with the same color differ in their dashes."""
    dashes = DASHES[(number + number // len(SERIES)) % len(DASHES)]
    return {"stroke": series_color(number), "stroke_dasharray": dashes}


def heat_color(share: float) -> str:
    """Return the color of a share, from 0 (low) to 1 (high)."""
    place = min(max(share, 0.0), 1.0) * (len(HEAT) - 1)
    k = min(int(place), len(HEAT) - 2)
    pairs = zip(_channels(HEAT[k]), _channels(HEAT[k + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - k)):02x}" for a, b in pairs)


def ink_on(color: str) -> str:
    """Return black or white, whichever has more contrast: always at least 4.5."""
    return max("#000000", "#ffffff", key=lambda ink: contrast(ink, color))


def contrast(a: str, b: str) -> float:
    """Return (L1 + 0.05) / (L2 + 0.05), where L1 is the luminance of the lighter color."""
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    """Return 0.2126 R + 0.7152 G + 0.0722 B, of linear channels."""
    from karat.arithmetic import power  # loads numpy

    red, green, blue = (
        c / 12.92 if c <= 0.04045 else float(power((c + 0.055) / 1.055, 2.4))
        for c in (channel / 255 for channel in _channels(color))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _channels(color: str) -> list[int]:
    return [int(color[k : k + 2], 16) for k in (1, 3, 5)]


LEGEND_ROW = 20.0
SWATCH = {"x": -10.0, "y": -7.0, "width": 20.0, "height": 14.0}  # a sample of an area
SAMPLE_WIDTH = 30.0  # room for the sign before its meaning
MAX_MEANING = 40


class LegendEntry(NamedTuple):
    """A sign, drawn around the origin, its meaning and the width of its room."""

    sample: str
    meaning: str
    room: float = SAMPLE_WIDTH


def legend(
    entries: Sequence[LegendEntry], left: float, top: float, width: float = WIDTH
) -> tuple[list[str], float]:
    """Draw the entries between `left` and the right edge; return them and their bottom."""
    parts, x, y = [], left, top + LEGEND_ROW / 2
    for entry in entries:
        meaning = shorten(entry.meaning, MAX_MEANING)
        entry_width = entry.room + extent(meaning) + 22
        if x > left and x + entry_width > width:
            x, y = left, y + LEGEND_ROW
        parts.append(element("g", entry.sample, transform=translate_to(x + entry.room / 2 - 3, y)))
        parts.append(label(x + entry.room, y + 4, meaning))
        x += entry_width
    return parts, (y + LEGEND_ROW / 2 if entries else top)


def translate_to(x: float, y: float) -> str:
    """Return the transform that moves the origin to a point."""
    return f"translate({coordinate(x)} {coordinate(y)})"


def marker(number: int, at: str | None = None) -> str:
    """Draw the marker of a series, at the origin unless it is moved."""
    outline = MARKERS[number % len(MARKERS)]
    return shape("path", d=outline, fill=series_color(number), transform=at)


def stroke(number: int) -> str:
    """Draw a sample of a series' line with its marker."""
    line = shape("line", x1=-12, y1=0, x2=12, y2=0, stroke_width=2, **series_line(number))
    return line + marker(number)


DISTANCES = (8.0, 15.0, 24.0, 36.0)  # from a dot to its label: the nearest free one is used
DOT = 5.0  # half the side of the square that a dot covers
_AROUND = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))


class Box(NamedTuple):
    """A rectangle, y growing downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Return whether the two share more than an edge."""
        is_beside = self.right <= other.left or other.right <= self.left
        is_above = self.bottom <= other.top or other.bottom <= self.top
        return not (is_beside or is_above)

    def inside(self, other: Box) -> bool:
        """Return whether it lies within another."""
        is_within_width = other.left <= self.left and self.right <= other.right
        return is_within_width and other.top <= self.top and self.bottom <= other.bottom


def place_labels(
    dots: Sequence[tuple[float, float]], sizes: Sequence[tuple[float, float]], within: Box
) -> list[tuple[Box, bool] | None]:
    """Return a free place for the label of each dot, None if there is no free place.

    A label covers no dot and no other label; True if it needs a line to its distant dot. Labels
    with the fewest choices are placed first.
    """
    occupied = [Box(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in dots]

    def is_free(box: Box) -> bool:
        return box.inside(within) and not any(box.meets(other) for other in occupied)

    choices = []
    for (x, y), (width, height) in zip(dots, sizes, strict=True):
        places = []
        for distance, (across, down) in product(DISTANCES, _AROUND):
            near = distance * (0.7 if across and down else 1.0)
            left = x + across * near - width * (1 - across) / 2
            top = y + down * near - height * (1 - down) / 2
            places.append((Box(left, top, left + width, top + height), distance > DISTANCES[0]))
        choices.append([place for place in places if is_free(place[0])])
    labels: list[tuple[Box, bool] | None] = [None] * len(dots)
    for k in sorted(range(len(dots)), key=lambda k: len(choices[k])):
        label = labels[k] = next((place for place in choices[k] if is_free(place[0])), None)
        occupied += [label[0]] if label else []
    return labels


def space_out(
    positions: Sequence[float], gap: float, low: float, high: float
) -> list[float] | None:
    """Return positions in low..high at least `gap` apart, None if there is no room."""
    order = sorted(range(len(positions)), key=lambda k: positions[k])
    if gap * (len(order) - 1) > high - low:
        return None
    placed = list(positions)
    edge = low - gap
    for k in order:
        edge = placed[k] = max(placed[k], edge + gap)
    edge = high + gap
    for k in reversed(order):
        edge = placed[k] = min(placed[k], edge - gap)
    return placed
