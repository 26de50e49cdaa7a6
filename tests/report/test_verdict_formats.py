"""Every output format of a comparison agrees with the verdicts of its rows."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

import karat as kt
from karat.comparison import Comparison

REFERENCE = "one two three four five six"
METRICS = ["chrf", "ter"]
ERRORS = {
    "base": [2, 3, 4, 5, 0, 0, 4, 5],
    "loose": [0, 1, 3, 1, 1, 3, 1, 1],  # better than base, but not certainly
    "best": [0, 0, 1, 0, 0, 0, 0, 1],
    "worst": [5, 5, 6, 6, 5, 5, 6, 6],
}
MARKS = {"better": "†", "worse": "‡", "undecided": "", None: ""}


def with_errors(count: int) -> str:
    """The reference with the last words wrong."""
    return " ".join([*REFERENCE.split()[: 6 - count], *["x"] * count])


def comparison(segments: int) -> Comparison:
    systems = {name: [*map(with_errors, errors[:segments])] for name, errors in ERRORS.items()}
    return kt.compare(systems, [REFERENCE] * segments, METRICS)


@pytest.fixture(scope="module", params=[8, 4], ids=["8 segments", "4 segments"])
def result(request: pytest.FixtureRequest) -> Comparison:
    return comparison(request.param)


def verdicts(result: Comparison) -> dict[tuple[str, str], str | None]:
    return {(row.system, str(row.metric)): row.verdict for row in result.rows}


def test_p_decides_if_there_are_enough_units() -> None:
    enough = comparison(8)
    for metric in METRICS:
        rows = [enough[name, metric] for name in ("loose", "best", "worst")]
        assert [row.verdict for row in rows] == ["undecided", "better", "worse"]
        for row in rows:
            assert (row.p < 0.05) == (row.verdict != "undecided")
            assert (row.delta_low <= 0 <= row.delta_high) == (row.verdict == "undecided")
    assert {row.verdict for row in comparison(4).rows} == {"undecided", None}
    systems = {name: [*map(with_errors, ERRORS[name][:4])] for name in ("base", "worst")}
    row = kt.compare(systems, [REFERENCE] * 4, "ter")["worst", "ter"]
    assert row.p < 0.05  # of too few units
    assert (row.verdict, row.units) == ("undecided", 4)


def test_text_and_markdown(result: Comparison) -> None:
    for format in ("text", "md"):
        sentences = re.sub(r"\s+", " ", result.render(format)).replace("\\", "")
        decided_systems = {
            name for (name, _), verdict in verdicts(result).items() if verdict != "undecided"
        }
        for name in ("loose", "best", "worst"):
            assert bool(re.search(f"{name} (beats|is worse than) base", sentences)) == (
                name in decided_systems
            )


def test_json_csv_and_tsv(result: Comparison) -> None:
    tables = {"json": json.loads(result.render("json"))["rows"]}
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        tables[format] = [*csv.DictReader(io.StringIO(result.render(format)), delimiter=delimiter)]
    for rows in tables.values():
        assert {(row["system"], row["metric"]): row["verdict"] or None for row in rows} == verdicts(
            result
        )


def test_wide_tables_for_programs(result: Comparison) -> None:
    rows = json.loads(result.wide().render("json"))["rows"]
    rows += csv.DictReader(io.StringIO(result.wide().render("csv")))
    for row in rows:
        for metric in METRICS:
            assert (row[f"{metric} verdict"] or None) == result[row["system"], metric].verdict


ROWS = {
    "text": r"^{}  .*$",
    "md": r"^\| {} \|.*$",
    "latex": r"^{} & .*$",
    "html": r"<tr><td[^>]*>{}</td>.*?</tr>",
}


@pytest.mark.parametrize("format", ROWS)
def test_marks_of_wide_tables(result: Comparison, format: str) -> None:
    text = result.wide().render(format)
    text = text.replace(r"\textsuperscript{\dag}", "†").replace(r"\textsuperscript{\ddag}", "‡")
    for name in ERRORS:
        (line,) = re.findall(ROWS[format].format(name), text, re.MULTILINE)
        marks = [MARKS[result[name, metric].verdict] for metric in METRICS]
        for metric, mark in zip(METRICS, marks, strict=True):
            assert f"{result[name, metric].score.value:.2f}{mark}" in line
        assert sorted(re.findall("[†‡]", line)) == sorted("".join(marks))


def test_the_legend_explains_marks_only_where_there_can_be_any() -> None:
    rule = "† better and ‡ worse than base (95% interval of the difference by segment excludes"
    assert comparison(8).wide().document().notes[0].startswith(rule)
    assert not any("†" in note for note in comparison(4).wide().document().notes)


def test_the_ranking_of_the_page(result: Comparison) -> None:
    page = result.render("html")
    cells = re.findall(r'<tr data-system="(\d)".*?<td class="verdict (\w+)">', page)
    rows = [row for metric in METRICS for row in result.rows if str(row.metric) == metric]
    assert [verdict for _, verdict in cells] == [row.verdict or "missing" for row in rows]
    assert [result.systems[int(number)] for number, _ in cells] == [row.system for row in rows]


def test_latex_states_the_conclusion(result: Comparison) -> None:
    comments = [line for line in result.render("latex").splitlines() if line.startswith("% ")]
    for sentence in result.document().answer:
        assert f"% {sentence}" in comments


def test_scores_that_few_segments_have_decide_nothing(tmp_path: Path) -> None:
    """Eight segments, of which five have scores from outside: they are too few."""
    texts = [REFERENCE] * 8

    def compared(scored: int) -> Comparison:
        path = tmp_path / f"{scored}.tsv"
        scores = {"base": range(8), "new": range(10, 18)}
        lines = [
            f"{system}\t{number}\t{value}"
            for system, values in scores.items()
            for number, value in enumerate(values[:scored], 1)
        ]
        path.write_text("system\tsegment\tscore\n" + "\n".join(lines) + "\n", encoding="utf-8")
        return kt.compare({"base": texts, "new": texts}, texts, f"given:file={path}")

    small, enough = compared(5), compared(6)
    assert [small.rows[0].verdict, small.rows[0].units] == ["undecided", 5]
    assert [enough.rows[0].verdict, enough.rows[0].units] == ["better", 6]
    assert small.summary.startswith("5 segments with a score are too few to tell systems apart")
    assert "beats" in enough.summary
    basis = enough.document().basis
    assert basis.startswith("8 segments (6 of them with scores of both systems), 1 reference.")
    assert compared(8).document().basis.startswith("8 segments, 1 reference.")


def test_a_comparison_of_buckets_says_how_many_segments_there_are() -> None:
    rows = [
        {"system": name, "id": n, "candidate": with_errors(errors), "reference": REFERENCE}
        for name in ("base", "best")
        for n, errors in enumerate(ERRORS[name] * 5)
    ]
    result = kt.compare(rows, None, "chrf", by="system", id="id", buckets=8)
    assert (result.segments, result.settings["buckets"], result.values) == (40, 8, {})
    assert result.document().basis.startswith("40 segments in 8 buckets, 1 reference. Decided")
    assert "error by bucket of segments" in json.loads(result.render("json"))["notes"][0]


def test_few_buckets_decide_nothing() -> None:
    systems = {name: [*map(with_errors, errors)] for name, errors in ERRORS.items()}
    result = kt.compare(systems, [REFERENCE] * 8, "chrf", buckets=4)
    assert {row.verdict for row in result.rows} == {None, "undecided"}
    needed = "at least 7 are needed for 3 tests."
    assert result.summary == f"4 buckets are too few to tell systems apart: {needed}"
    assert result.document().basis.startswith("8 segments in 4 buckets, 1 reference. At least 7")


def test_the_lead_column_has_a_legend_where_it_is_shown() -> None:
    systems = {name: [*map(with_errors, errors)] for name, errors in ERRORS.items()}
    many = {name: texts * 3 for name, texts in systems.items()}
    document = kt.compare(many, [REFERENCE] * 24, "chrf").document()
    assert any(note.startswith("Lead: ● marks") for note in document.notes or ())
    pair = dict(list(many.items())[:2])
    document = kt.compare(pair, [REFERENCE] * 24, "chrf").document()
    assert not any(note.startswith("Lead") for note in document.notes or ())


def test_notes_name_the_interval_of_shares() -> None:
    pair = {"a": ["x", "y"] * 6, "b": ["x"] * 12}
    notes = {m: kt.compare(pair, ["x"] * 12, m).notes[0] for m in ("em", "chrf")}
    assert notes["chrf"].startswith("The interval of a difference (95%) and its p come from")
    assert "Intervals of shares are Jeffreys'" in notes["em"]
    assert "Jeffreys" not in notes["chrf"]
