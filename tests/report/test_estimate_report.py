"""The report of estimates: pictures, tables and warnings, in every format."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest
from sample_charts import pair, paired
from sample_estimates import THREE, difference, make_estimate, row

from karat.estimation.estimate_results import Estimate, EstimateDifference, EstimateRow, JudgeWorth
from karat.estimation.planning import PlannedUnit
from karat.report.charts.letters import chart_sketch
from karat.report.charts.models import RowChart
from karat.report.charts.svg.drawings import chart_svg
from karat.report.render.html import render_notebook
from karat.report.render.renderers import render
from karat.report.render.text import TextLayout, display_width

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("format", ["text", "json", "csv", "tsv", "md", "latex"])
def test_output_equals_the_golden_file(format: str) -> None:
    golden = GOLDEN / f"estimate.{format}"
    output = render(THREE.document("karat estimate set -J chrf"), format, width=80)
    output = output.replace(THREE.signature.split("\n")[0], "estimate:…")  # it has the version
    if os.environ.get("KARAT_GOLDEN") == "write":
        golden.write_bytes(output.encode())
    assert output == golden.read_bytes().decode()


def test_json_has_the_fields_of_the_result() -> None:
    report = json.loads(THREE.render("json"))
    for key, kind in {
        "rows": EstimateRow,
        "differences": EstimateDifference,
        "judges": JudgeWorth,
        "planned": PlannedUnit,
    }.items():
        assert set(report[key][0]) == set(kind._fields), key  # type: ignore[attr-defined]
    assert report["rows"][2]["ratio"] is None
    assert list(report["notes"]) == list(THREE.notes)


def test_warnings_stand_beside_the_answer() -> None:
    page, (warning, note) = THREE.render("html"), THREE.notes[::-1]
    head = page.partition("<header>")[2].partition("</header>")[0]
    assert f'<p class="warning">{warning}</p>' in head
    assert note not in head
    assert page.count(warning) == 1
    for text in (THREE.render("text"), THREE.render("md"), render_notebook(THREE.document())):
        assert text.index(warning) < text.index("Estimate")
        assert text.index(warning) < text.index(note)
        assert text.count(warning) == 1
    assert f"\x1b[33m{warning}" in render(THREE.document(), "text", color=True)


def pictures(estimate: Estimate) -> list[object]:
    return [figure.drawing for figure in estimate.document().figures]


def test_pictures_show_both_intervals_and_the_bias() -> None:
    scores, bias = pictures(THREE)
    assert isinstance(scores, RowChart)
    assert [row.label for row in scores.rows] == ["A", "B <b>", "C"]
    assert scores.names == ("people with chrF", "people alone")
    first = scores.rows[0]
    assert first[1:4] == (84.0, 83.0, 85.0)
    assert first.other is not None
    assert first.other[1:4] == (83.5, 82.25, 84.75)
    assert isinstance(bias, RowChart)
    biases = {change.label: (change.text, change.detail) for change in bias.rows}
    assert biases == {
        "A": ("0.0", "undecided"),
        "B <b>": ("+2.0", "higher than people do"),
        "C": ("-2.0", "lower than people do"),
    }
    assert "<b>" not in THREE.render("html").partition("<body")[2]


def test_without_judges_there_is_one_line_a_system_and_no_bias() -> None:
    alone = row("A", 84.0)._replace(bias=nan, bias_low=nan, bias_high=nan)
    estimate = make_estimate((alone,), judges=())
    (scores,) = pictures(estimate)
    assert isinstance(scores, RowChart)
    assert scores.rows[0].other is None
    assert not scores.has_pairs
    (table,) = estimate.document().tables
    assert {column.key for column in table.shown_columns} == {
        *("system", "estimate", "low", "high", "labels", "more", "form")
    }
    assert {column.key for column in table.columns} >= set(EstimateRow._fields)


def test_every_system_has_its_place_by_letters() -> None:
    lines = chart_sketch(CHART, TextLayout(60, False))
    assert [display_width(line) <= 60 for line in lines] == [True] * len(lines)
    # 70 to 85 on 50 columns: 80 is 10 / 15 of the way from the first to the last
    assert lines == [
        " atlas                     ├────────────●─────┤           80",
        "                 ╶╌╌╌╌╌╌╌╌╌○╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╴           76",
        "日本語                 ●                                  75",
        "score (← lower is better), 70 to 85; ● both; ○ one alone",
    ]
    assert chart_sketch(CHART, TextLayout(12, False)) == ["too narrow", "for a plot"]


CHART = paired(
    "Scores",
    "score",
    ("both", "one alone"),
    [
        pair("atlas", (80, 76, 82, "80"), (76, 73, 82, "76")),
        pair("日本語", (75, nan, nan, "75"), (nan, nan, nan, "–")),
        pair("unseen", (nan, 1, 2, "–")),
    ],
    "lower",
)


def test_the_drawing_names_every_line_and_the_better_direction() -> None:
    drawing = chart_svg(CHART)
    assert drawing.startswith("<svg")
    assert "score (← lower is better)" in drawing
    assert drawing.count("<circle") == 3 + 2  # and two of the key
    assert "atlas: both 80, one alone 76" in drawing
    assert "unseen" not in drawing
    assert "no data" in chart_svg(paired("Scores", "score", ("a", "b"), []))


def test_differences_to_a_baseline_that_is_not_the_best() -> None:
    estimate = make_estimate(
        (row("A", 84.0), row("B", 83.0)), (difference("A", 1.0, "better", "B"),)
    )
    assert "Differences from B" in estimate.render("text")


def test_an_interval_that_excludes_0_is_not_printed_with_an_end_at_0() -> None:
    near = difference("B", -1.004)._replace(low=-2.0, high=-0.004)
    estimate = make_estimate((row("A", 84.0), row("B", 83.0)), (near,))
    assert "-0.004" in estimate.render("text")
    decided = difference("B", -1.004, "undecided")._replace(low=-2.0, high=0.004)
    assert "0.004" not in replace(estimate, differences=(decided,)).render("text")
