"""Curves drawn with letters: a sign at every point, dots in between."""

from __future__ import annotations

from itertools import pairwise
from string import ascii_letters

from karat.report.charts.letters.frame import Plot
from karat.report.charts.letters.scatter import INKS
from karat.report.charts.models import Curves, Knot, runs
from karat.report.render.terminal import Paper
from karat.visible import visible

SIGNS = "●○■□▲△◆◇" + ascii_letters
BETWEEN = "·"


def draw_curves(chart: Curves, paper: Paper) -> list[str]:
    """The curves and their names; bands are left out."""
    plot = Plot(*chart.ticks(across=4, up=4), paper)
    parts = [(k, run) for k, curve in enumerate(chart.shown) for run in runs(curve.knots)]
    for k, run in parts:
        _between(plot, run, INKS[k % len(INKS)])
    for k, run in parts:  # signs over dots
        for knot in run:
            plot.signs[plot.place(knot.x, knot.y)] = (_sign(k), INKS[k % len(INKS)])
    names = [f"{_sign(k)} {visible(curve.name)}" for k, curve in enumerate(chart.shown)]
    return [*plot.lines(chart.x_axis, chart.y_axis), *paper.lines("; ".join(names), "")]


def _sign(number: int) -> str:
    return SIGNS[number % len(SIGNS)]


def _between(plot: Plot, run: list[Knot], ink: str) -> None:
    for a, b in pairwise(run):
        (top, left), (bottom, right) = plot.place(a.x, a.y), plot.place(b.x, b.y)
        for column in range(left + 1, right):
            row = round(top + (bottom - top) * (column - left) / (right - left))
            plot.signs[row, column] = (BETWEEN, ink)
