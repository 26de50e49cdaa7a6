"""Colours that carry numbers or names: ordered for the eye, whatever colours it sees, and in print.

Contrast and relative luminance are those of the Web Content Accessibility Guidelines.
"""

from __future__ import annotations

from karat.report.page.markup import Look

HEAT = (
    *("#f1f8f6", "#c4e4e0", "#99cfd0", "#72b8c1", "#51a1b1"),
    *("#3989a1", "#28718f", "#1e597a", "#174566"),
)
"""From low to high, in equal steps of lightness, so that grey print keeps the order."""

SERIES = (
    *("#2151d3", "#d97f0a", "#057f59", "#a66b9b"),
    *("#8b8b46", "#1e97f7", "#801e0d", "#1c2026"),
)
"""Told apart with any colour vision; on a page, `--series-1` and so on take their place."""

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
    """The colour of a series by its number, from 0."""
    k = number % len(SERIES)
    return f"var(--series-{k + 1}, {SERIES[k]})"


def series_line(number: int) -> Look:
    """Return the look of a series' line: those that share a colour differ in their dashes."""
    dashes = DASHES[(number + number // len(SERIES)) % len(DASHES)]
    return {"stroke": series_color(number), "stroke_dasharray": dashes}


def heat_color(share: float) -> str:
    """The colour at a place between 0, low, and 1, high."""
    place = min(max(share, 0.0), 1.0) * (len(HEAT) - 1)
    k = min(int(place), len(HEAT) - 2)
    pairs = zip(_channels(HEAT[k]), _channels(HEAT[k + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - k)):02x}" for a, b in pairs)


def ink_on(color: str) -> str:
    """Black or white, whichever stands out more; its contrast is never below 4.5."""
    return max("#000000", "#ffffff", key=lambda ink: contrast(ink, color))


def contrast(a: str, b: str) -> float:
    """(L1 + 0.05) / (L2 + 0.05), where L1 is the luminance of the lighter colour."""
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    """0.2126 R + 0.7152 G + 0.0722 B, of linear channels."""
    from karat.arithmetic import power  # numpy is loaded where colours are compared

    red, green, blue = (
        c / 12.92 if c <= 0.04045 else float(power((c + 0.055) / 1.055, 2.4))
        for c in (channel / 255 for channel in _channels(color))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _channels(color: str) -> list[int]:
    return [int(color[k : k + 2], 16) for k in (1, 3, 5)]
