"""A scatter plot drawn with letters: a letter for each point, or dots where there are many."""

from __future__ import annotations

from collections import Counter
from string import ascii_letters

from karat.report.charts.letters.frame import Plot
from karat.report.charts.models import Point, Scatter
from karat.report.render.terminal import CYAN, DIM, GREEN, MAGENTA, RED, YELLOW, Paper, truncate
from karat.visible import visible

INKS = (CYAN, YELLOW, MAGENTA, GREEN, RED)
SEVERAL = "*"  # letters that fall on one place
CROWD = "· one point; o two to four; ● five or more"


def draw_scatter(chart: Scatter, paper: Paper) -> list[str]:
    """The points and what they are."""
    points = chart.shown
    plot = Plot(*chart.ticks(across=4, up=4), paper)
    if len(points) <= len(ascii_letters):
        for letter, point in zip(ascii_letters, points, strict=False):
            place = plot.place(point.x, point.y)
            plot.signs[place] = (SEVERAL if place in plot.signs else letter, _ink(chart, point))
        several = any(sign == SEVERAL for sign, _ in plot.signs.values())
        told = _names(chart, paper)
        told += paper.lines(f"{SEVERAL} several points", DIM) if several else []
    else:
        for place, count in Counter(plot.place(point.x, point.y) for point in points).items():
            plot.signs[place] = ("·" if count == 1 else "o" if count < 5 else "●", CYAN)
        told = paper.lines(CROWD, DIM)
    return [*plot.lines(chart.x_axis, chart.y_axis), *paper.lines(chart.note, ""), *told]


def _ink(chart: Scatter, point: Point) -> str:
    return INKS[chart.groups.index(point.group) % len(INKS)]


def _names(chart: Scatter, paper: Paper) -> list[str]:
    """What each letter stands for."""
    x, y = chart.ticks()
    lines = []
    for letter, point in zip(ascii_letters, chart.shown, strict=False):
        values = f"{x.label(point.x, extra=2)}, {y.label(point.y, extra=2)}"
        if point.bar:
            low, high = (y.label(end, extra=2) for end in point.bar)
            values += f" (from {low} to {high})"
        group = f" ({point.group})" if point.group else ""
        told = truncate(visible(f" {point.label}{group}: {values}"), paper.width - 1)
        lines.append(paper.ink(letter, _ink(chart, point)) + told)
    return lines
