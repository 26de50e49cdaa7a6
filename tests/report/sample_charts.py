"""One chart of each kind, as a report on human judgement has them."""

from __future__ import annotations

import math

from karat.report.charts.models import (
    CellMark,
    ChartInterval,
    ChartLine,
    Curve,
    Curves,
    HeatMap,
    Intervals,
    Knot,
    Outline,
    Pair,
    PairedEstimate,
    PairedIntervals,
    Point,
    Scatter,
)

SCATTER = Scatter(
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
HEAT_MAP = HeatMap(
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
CURVES = Curves(
    "Reliability",
    "segments",
    "Pearson's r",
    [
        Curve("bleu", [Knot(1, 0.1, 0.0, 0.2), Knot(5, 0.5, 0.4, 0.6), Knot(25, 0.6, 0.5, 0.7)]),
        Curve("gtm $e$", [Knot(25, 0.8), Knot(1, 0.3), Knot(5, math.nan)]),
    ],
    caption="95% intervals.",
)
INTERVALS = Intervals(
    "Correlations",
    "Pearson's r",
    [
        ChartInterval("bleu", 0.7, 0.5, 0.8),
        ChartInterval("chrf", 0.75),
        ChartInterval("none", math.nan),
    ],
    baseline=0.6,
)
BARS = Scatter(
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
PAIRED = PairedIntervals(
    "Human scores",
    "quality",
    ("people with chrF", "people alone"),
    [
        Pair("atlas", PairedEstimate(4.2, 4.0, 4.4, "4.2"), PairedEstimate(4.1, 3.8, 4.4, "4.1")),
        Pair("beacon <b>", PairedEstimate(3.9, math.nan, math.nan, "3.9")),
        Pair("none", PairedEstimate(math.nan, 1, 2, "–")),
    ],
    "higher",
)
CHARTS = (SCATTER, BARS, HEAT_MAP, CURVES, INTERVALS, PAIRED)
