"""One chart of each kind, as a report on human judgement has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from karat.report.charts.models import (
    CellChart,
    CellMark,
    ChartLine,
    ChartRow,
    Outline,
    Point,
    RowChart,
    XYChart,
)

Value = tuple[float, float, float, str]
"""A value, its interval and its text."""


def joined(
    title: str,
    x_axis: str,
    y_axis: str,
    curves: Sequence[tuple[str, Sequence[Any]]],
    **options: Any,
) -> XYChart:
    """Return curves, each a name and its knots."""
    points = [Point(x, y, "", name, *ends) for name, knots in curves for x, y, *ends in knots]
    return XYChart(title, x_axis, y_axis, points, kind="curves", **options)


def pair(label: str, main: Value, other: Value | None = None) -> ChartRow:
    """Return a row with a value and the value that it is compared with."""
    return ChartRow(label, *main, other=ChartRow("", *other) if other else None)


def paired(
    title: str, axis: str, names: tuple[str, str], rows: Sequence[ChartRow], better: str = ""
) -> RowChart:
    """Return two lines for each row."""
    return RowChart(title, axis, rows, "pair", names=names, better=better)


SCATTER = XYChart(
    "Human scores against BLEU",
    "BLEU",
    "human score",
    [
        Point(20.0, 70.0, "atlas", "online"),
        Point(25.0, 74.0, "beacon <b>", "submitted"),
        Point(31.0, 73.0, "日本語", "submitted"),
        Point(math.nan, 80.0, "unseen", "submitted"),
    ],
    ChartLine(0.3, 65.0),
    "r = 0.81 [0.60, 0.93]",
    "Three systems.",
)
HEAT_MAP = CellChart(
    "R² on the plane",
    "N",
    "alpha",
    ["2", "1"],
    ["0", "0.5", "1"],
    [[0.25, 0.5, 0.75], [0.0, None, 1.0]],
    marks=[
        CellMark(1, 2, "▲", "maximum"),
        CellMark(0, 2, "◆", "BLEU"),
        CellMark(0, 2, "●", "pick"),
    ],
    outline=Outline((0, 0), (1, 2), "predicted"),
    caption="Squared correlations.",
)
CURVES = joined(
    "Reliability",
    "segments",
    "Pearson's r",
    [
        ("bleu", [(1, 0.1, 0.0, 0.2), (5, 0.5, 0.4, 0.6), (25, 0.6, 0.5, 0.7)]),
        ("gtm $e$", [(25, 0.8), (1, 0.3), (5, math.nan)]),
    ],
    caption="95% intervals.",
)
INTERVALS = RowChart(
    "Correlations",
    "Pearson's r",
    [
        ChartRow("bleu", 0.7, 0.5, 0.8),
        ChartRow("chrf", 0.75),
        ChartRow("none", math.nan),
    ],
    baseline=0.6,
)
BARS = XYChart(
    "Official and guessed scores",
    "official",
    "guessed",
    [
        Point(0.2, 0.25, "heron", "", 0.1, 0.35),
        Point(0.5, 0.45, "plover", "", 0.4, 0.55),
        Point(0.7, 0.75, "wren", "", None, 0.9),
        Point(0.8, 0.7, "kestrel", "", math.nan, 0.9),
    ],
    ChartLine(1.0, 0.0),
    caption="Two have bars.",
)
PAIRED = paired(
    "Human scores",
    "quality",
    ("people with chrF", "people alone"),
    [
        pair("atlas", (4.2, 4.0, 4.4, "4.2"), (4.1, 3.8, 4.4, "4.1")),
        pair("beacon <b>", (3.9, math.nan, math.nan, "3.9")),
        pair("none", (math.nan, 1, 2, "–")),
    ],
    "higher",
)
CHARTS = (SCATTER, BARS, HEAT_MAP, CURVES, INTERVALS, PAIRED)
