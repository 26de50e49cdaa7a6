"""Charts with one labelled row per item: intervals and bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.axis import Axis, dashed, drawable, horizontal
from karat.report.charts.ticks import Ticks, nice_ticks
from karat.report.page.markup import element, shape

ROW = 28  # height of a row
TOP = 8
BELOW = 48  # room for the tick labels and the name of the axis
LONGEST_LABEL = 32

Interval = tuple[str, float, float | None, float | None]


@dataclass(frozen=True)
class Mark:
    """What one row shows: its label, its value and the whole story for the tooltip."""

    label: str
    value: float
    story: str


def interval_chart(
    items: Sequence[Interval], *, title: str, axis: str, baseline: float | None = None
) -> str:
    """A dot at each item's value and a whisker from low to high, with a line at `baseline`.

    Items without a value are left out; those without both bounds have no whisker.
    """
    kept = [item for item in items if drawable([item[1]])]
    if not kept:
        return svg.no_data(title)
    bounds = [v for item in kept for v in (*item[1:], baseline) if v is not None and drawable([v])]
    marks = [Mark(item[0], item[1], interval_story(item)) for item in kept]
    lines = [baseline] if baseline is not None and drawable([baseline]) else []

    def draw(index: int, scale: Axis, y: float) -> list[str]:
        _, value, low, high = kept[index]
        dot = shape("circle", cx=scale.at(value), cy=y, r=4, fill=svg.ACCENT)
        return [*_whisker(scale, low, high, y), dot]

    ticks = nice_ticks(min(bounds), max(bounds))
    return _rows(marks, ticks, draw, title=title, name=axis, lines=lines)


def bar_chart(items: Sequence[tuple[str, float]], *, title: str, axis: str) -> str:
    """A bar from zero to each item's value; items without a value are left out."""
    kept = [item for item in items if drawable([item[1]])]
    if not kept:
        return svg.no_data(title)
    values = [0.0, *(value for _, value in kept)]
    marks = [Mark(label, value, f"{label}: {value!r}") for label, value in kept]

    def draw(index: int, scale: Axis, y: float) -> list[str]:
        left, right = sorted((scale.at(0), scale.at(kept[index][1])))
        place = {"x": left, "y": y - 8.0, "width": right - left, "height": 16.0}
        bar = shape("rect", **place, fill=svg.ACCENT, fill_opacity=0.85)
        zero = scale.at(0)  # each row draws its part of the line that all bars start from
        return [bar, svg.line(zero, y - ROW / 2, zero, y + ROW / 2, svg.MUTED)]

    return _rows(marks, nice_ticks(min(values), max(values)), draw, title=title, name=axis)


def _rows(
    marks: Sequence[Mark],
    ticks: Ticks,
    draw: Callable[[int, Axis, float], list[str]],
    *,
    title: str,
    name: str,
    lines: Sequence[float] = (),
) -> str:
    labels = [svg.shorten(mark.label, LONGEST_LABEL) for mark in marks]
    values = [ticks.label(mark.value, extra=2) for mark in marks]
    left = max(map(svg.length, labels)) + 20
    scale = Axis(ticks, left, svg.WIDTH - max(map(svg.length, values)) - 24)
    bottom = TOP + ROW * len(marks)
    parts = [horizontal(scale, TOP, bottom, name)]
    parts += [dashed(scale.at(value), TOP, bottom) for value in lines]
    for index, mark in enumerate(marks):
        y = TOP + ROW * (index + 0.5)
        label = svg.text(left - 14, y + 4, labels[index], "end")
        printed = svg.text(svg.WIDTH - 4, y + 4, values[index], "end")
        parts.append(element("g", svg.tooltip(mark.story), label, *draw(index, scale, y), printed))
    story = svg.enumeration([mark.story for mark in marks])
    return svg.chart(title, f"{name}. {story}", bottom + BELOW, parts)


def _whisker(scale: Axis, low: float | None, high: float | None, y: float) -> list[str]:
    if low is None or high is None or not drawable([low, high]):
        return []
    left, right = scale.at(low), scale.at(high)
    ends = [svg.line(x, y - 4, x, y + 4, svg.ACCENT, width=1.5) for x in (left, right)]
    return [svg.line(left, y, right, y, svg.ACCENT, width=1.5), *ends]


def interval_story(item: Interval) -> str:
    """One item in words, with all its digits."""
    label, value, low, high = item
    if low is None or high is None or not drawable([low, high]):
        return f"{label}: {value!r}"
    return f"{label}: {value!r}, from {low!r} to {high!r}"
