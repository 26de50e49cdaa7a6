"""Gates by outside scores: every run has scores of its own, and no references are needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat as kt
from karat.cli.main import main


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
    verdict_result = kt.gate(outputs, None, by, baseline=baseline)
    assert verdict_result.verdict == "fail"
    assert round(verdict_result.rows[0].delta, 12) == -0.1


def test_missing_scores_take_no_part(tmp_path: Path) -> None:
    outputs = [f"text {i}" for i in range(40)]
    baseline = tmp_path / "gate.tsv"
    by = scores(tmp_path / "comet.tsv", [0.5] * 39 + [""])
    kt.write_baseline(outputs, None, by, baseline=baseline)
    verdict_result = kt.gate(outputs, None, by, baseline=baseline)
    assert (verdict_result.verdict, verdict_result.rows[0].score) == ("pass", 0.5)


def test_items_that_only_one_run_has_a_score_of_take_no_part(tmp_path: Path) -> None:
    outputs = [f"text {i}" for i in range(40)]
    baseline = tmp_path / "gate.tsv"
    by = scores(tmp_path / "comet.tsv", [0.01 * i for i in range(40)])
    kt.write_baseline(outputs, None, by, baseline=baseline)
    better = [0.01 * i + 0.1 if i < 20 else "" for i in range(40)]
    verdict_result = kt.gate(
        outputs, None, scores(tmp_path / "comet.tsv", better), baseline=baseline
    )
    assert verdict_result.verdict == "pass"
    assert round(verdict_result.rows[0].delta, 12) == 0.1


# ------------------------------------------------------------------- columns of the table itself


def rows(tokens: list[int | None]) -> list[dict[str, object]]:
    texts = enumerate(tokens)
    return [{"id": f"q{i}", "output": "a", "reference": "a", "tokens": n} for i, n in texts]


@pytest.mark.parametrize("form", ["jsonl", "csv", "frame"])
def test_a_column_of_the_table(tmp_path: Path, form: str) -> None:
    """`gate` reads scores from a column of the table, as `score` and `compare` do."""

    def table(tokens: list[int | None]) -> object:
        if form == "frame":
            return rows(tokens)
        path = tmp_path / f"run.{form}"
        if form == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows(tokens)))
        else:
            lines = [",".join(str(value) for value in row.values()) for row in rows(tokens)]
            path.write_text("\n".join(["id,output,reference,tokens", *lines]) + "\n")
        return path

    baseline = tmp_path / "gate.tsv"
    settings = {"baseline": baseline, "id": "id"}
    by = ["given:column=tokens,higher=no", "chrf"]
    tokens: list[int | None] = [100 + i % 5 for i in range(30)]
    kt.write_baseline(table(tokens), None, by, **settings)
    repeated = kt.gate(table(tokens), None, by, **settings)
    assert repeated.verdict == "pass"
    assert [row.score for row in repeated.rows] == [102, 100]
    longer = kt.gate(table([n and n + 50 for n in tokens]), None, **settings)
    assert longer.verdict == "fail"
    assert longer.rows[0].delta == -50  # towards worse, since lower is better


def test_a_column_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows([1] * 10)))
    words = ["gate", str(path), "--id", "id", "-b", str(tmp_path / "b.tsv"), "--update"]
    assert main([*words, "-m", "given:column=token"]) == 2
    assert "run.jsonl has no column 'token'; did you mean tokens?" in capsys.readouterr().err
