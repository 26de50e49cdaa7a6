"""A small document that holds every difficulty at once."""

from __future__ import annotations

import math

import pytest

from karat.report.charts.models import ChartRow, RowChart
from karat.report.model import Document, Figure, Table
from karat.results import Column

HOSTILE = 'a|b\\c\t"q"\n<script>alert(1)</script>\x1b[31m & $x_1$ #50% ~^{}\u202e'


@pytest.fixture
def hostile() -> str:
    return HOSTILE


@pytest.fixture
def document() -> Document:
    scores = Table(
        key="rows",
        title="Scores",
        columns=(
            Column("metric", "Metric"),
            Column("system", "System"),
            Column("score", "Score", digits=2, align="right", help='On a "0..100" scale.'),
            Column("delta", "Difference", digits=1, align="right", signed=True),
            Column("segments", "Segments", align="right"),
            Column("significant", "Significant"),
        ),
        rows=(
            {"metric": "bleu", "system": "A", "score": 30.123456789012345, "segments": 7},
            {
                "metric": "bleu",
                "system": HOSTILE,
                "score": math.nan,
                "delta": 1.25,
                "segments": 7,
                "significant": True,
            },
            {
                "metric": "ter",
                "system": "日本語システム",
                "score": 0.1 + 0.2,
                "delta": -0.01,
                "segments": None,
                "significant": False,
            },
            {"metric": "ter", "system": "[x]*", "score": math.inf, "delta": -2.0, "segments": 0},
        ),
        group="metric",
        emphasis=frozenset({(0, "score")}),
        notes=("- a note with <b>markup</b> & more",),
    )
    words = Table("words", "Words", (Column("word", "Word"),), ({"word": "_snake_case_"},))
    chart = RowChart("BLEU", "BLEU", [ChartRow("A", 30.1, 29.0, 31.0)])
    return Document(
        title="Two <systems>",
        blocks=(scores, words, Figure("Figure & title", chart, "caption <i>")),
        command="karat score 'x\ny' ``` -- \udc80",
        signatures={"bleu": "bleu:n=4,refs=1", "ter": "ter:case=lower,refs=1"},
        notes=("1. Three segments were empty.",),
    )
