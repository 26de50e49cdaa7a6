"""BLEU and ROUGE beside the plane, and planes of groups: the tables, on the bundled set."""

from __future__ import annotations

import plane_beside as experiment
import pytest

import karat as kt

(DEMO,) = experiment.DEMO


def test_metrics_have_one_row_for_one_reference_and_one_for_all() -> None:
    rows = list(experiment.beside_rows(DEMO, resamples=9))
    named_rows = [dict(zip(experiment.BESIDE_HEADS, row, strict=True)) for row in rows]
    cells = [row for row in named_rows if row["metric"].startswith("AEv")]
    assert {row["references"] for row in cells} == {"1"}
    metric_rows = [row for row in named_rows if not row["metric"].startswith("AEv")]
    assert [(row["metric"], row["references"]) for row in metric_rows] == [
        (name, references) for name in experiment.BESIDE for references in ("1", "all")
    ]
    fit = kt.fit_plane(
        kt.load_evalset("demo"),
        "fluency",
        references=[2],
        compare_with=["bleu:case=lower"],
        resamples=0,
    )
    all_references_row = next(row for row in metric_rows if row["references"] == "all")
    assert all_references_row["R^2 %"] == f"{100 * fit.compared[1].r2:.1f}"


def test_groups_have_a_row_each_after_the_whole() -> None:
    rows = list(experiment.group_rows(DEMO, resamples=9))
    named_rows = [dict(zip(experiment.GROUP_HEADS, row, strict=True)) for row in rows]
    assert [row["group"] for row in named_rows] == ["all", "page-1", "page-2", "page-3"]
    assert sum(int(row["segments"]) for row in named_rows[1:]) == int(named_rows[0]["segments"])
    assert {row["prediction"] for row in named_rows} <= {"holds", "fails", "undecided"}


def test_both_tables_are_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["plane_beside.py", "--sets", "demo", "--resamples", "5"])
    experiment.main()
    text = capsys.readouterr().out
    assert text.count("## ") == 2
    assert "Groups of segments" in text
