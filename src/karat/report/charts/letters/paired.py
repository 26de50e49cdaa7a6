"""Two intervals for each item, drawn with letters."""

from __future__ import annotations

from karat.errors import visible
from karat.report.charts.axis import Axis
from karat.report.charts.paired import Estimated, PairedIntervals
from karat.report.render.terminal import CYAN, DIM, Sheet, display_width, truncate

LONGEST = 24  # columns of a label
NARROWEST = 8  # columns of the scale
MAIN, OTHER = tuple("├─┤●"), tuple("╶╌╴○")  # the ends and the inside of a line, and its dot


def draw_paired(chart: PairedIntervals, sheet: Sheet) -> list[str]:
    """A line for the main value, one below it for the other, and a key."""
    pairs = chart.shown
    labels = [truncate(visible(pair.label), min(LONGEST, sheet.width // 3)) for pair in pairs]
    left = max(map(display_width, labels))
    right = max(display_width(one.text) for pair in pairs for one in pair.placed)
    wide = sheet.width - left - right - 2
    if wide < NARROWEST:
        return sheet.lines("too narrow for a plot", DIM)
    axis = Axis(chart.ticks(), 0, wide - 1)
    lines = []
    for pair, label in zip(pairs, labels, strict=True):
        for one, name in zip(pair.placed, (label, ""), strict=False):
            main = one is pair.main
            bar = sheet.ink(_bar(one, axis, wide, MAIN if main else OTHER), CYAN if main else DIM)
            space = " " * (left - display_width(name))
            lines.append(f"{space}{name} {bar} {one.text:>{right}}")
    return [*lines, *sheet.lines(_key(chart), DIM)]


def _bar(one: Estimated, axis: Axis, wide: int, signs: tuple[str, ...]) -> str:
    first, inside, last, dot = signs
    drawn = [" "] * wide
    if one.bar:
        low, high = (round(axis.at(end)) for end in one.bar)
        drawn[low : high + 1] = inside * (high - low + 1)
        drawn[low], drawn[high] = first, last
    drawn[round(axis.at(one.value))] = dot
    return "".join(drawn)


def _key(chart: PairedIntervals) -> str:
    ticks = chart.ticks()
    ends = f"{ticks.label(ticks.values[0])} to {ticks.label(ticks.values[-1])}"
    names = [f"{signs[3]} {name}" for signs, name in zip((MAIN, OTHER), chart.names, strict=True)]
    return "; ".join([f"{chart.named_axis}, {ends}", *(names if chart.compared else [])])
