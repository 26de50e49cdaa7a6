"""Gates by outside scores: every run has scores of its own, and no references are needed."""

from __future__ import annotations

from pathlib import Path

import karat as kt


def scores(path: Path, values: list[float | str]) -> str:
    rows = [f"candidate\t{i}\t{value}\n" for i, value in enumerate(values, 1)]
    path.write_text("".join(["system\tsegment\tcomet\n", *rows]), "utf-8")
    return f"given:file={path}"


def test_another_run_has_other_scores(tmp_path: Path) -> None:
    outputs = [f"text {i}" for i in range(40)]
    baseline = tmp_path / "gate.tsv"
    by = scores(tmp_path / "comet.tsv", [0.8 + i % 3 / 100 for i in range(40)])
    kt.write_baseline(outputs, None, by, baseline=baseline)
    assert kt.gate(outputs, None, by, baseline=baseline).verdict == "pass"
    by = scores(tmp_path / "comet.tsv", [0.7 + i % 3 / 100 for i in range(40)])
    found = kt.gate(outputs, None, by, baseline=baseline)
    assert found.verdict == "fail"
    assert round(found.rows[0].delta, 12) == -0.1


def test_missing_scores_take_no_part(tmp_path: Path) -> None:
    outputs = [f"text {i}" for i in range(40)]
    baseline = tmp_path / "gate.tsv"
    by = scores(tmp_path / "comet.tsv", [0.5] * 39 + [""])
    kt.write_baseline(outputs, None, by, baseline=baseline)
    found = kt.gate(outputs, None, by, baseline=baseline)
    assert (found.verdict, found.rows[0].score) == ("pass", 0.5)


def test_items_that_only_one_run_has_a_score_of_take_no_part(tmp_path: Path) -> None:
    outputs = [f"text {i}" for i in range(40)]
    baseline = tmp_path / "gate.tsv"
    by = scores(tmp_path / "comet.tsv", [0.01 * i for i in range(40)])
    kt.write_baseline(outputs, None, by, baseline=baseline)
    better = [0.01 * i + 0.1 if i < 20 else "" for i in range(40)]
    found = kt.gate(outputs, None, scores(tmp_path / "comet.tsv", better), baseline=baseline)
    assert found.verdict == "pass"
    assert round(found.rows[0].delta, 12) == 0.1
