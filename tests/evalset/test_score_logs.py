"""Logs of judgements as scores: `given:file=LOG`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.cli.main import main

HEADER = {"judgements": "demo", "dimensions": [{"name": "errors", "better": "lower"}]}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of the offline stand-in's ratings of the demonstration set."""
    path = tmp_path / "log.jsonl"
    words = ["judge", "ratings", "demo", "-d", "adequacy", "--endpoint", "demo", "-o", str(path)]
    assert main(words) == 0
    return path


def write(path: Path, header: dict[str, Any], *rows: tuple[str, str, str, str, object]) -> str:
    keys = ("system", "segment", "judge", "dimension", "value")
    lines = [header, *(dict(zip(keys, row, strict=True)) for row in rows)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"given:file={path}"


def test_score_compare_and_gate_read_a_log(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    by = ["-m", f"given:file={log}"]
    assert main(["score", "--set", "demo", *by, "-f", "json"]) == 0
    scores = {r["system"]: r["score"] for r in json.loads(capsys.readouterr().out)["rows"]}
    judged = kt.load_evalset("demo", judgements=log)
    ratings: dict[str, list[float]] = {}
    for row in judged.judgements:
        if row.judge.startswith("demo ("):
            ratings.setdefault(row.system, []).append(row.value)
    assert scores == pytest.approx(
        {name: sum(system_scores) / len(system_scores) for name, system_scores in ratings.items()}
    )
    assert main(["compare", "--set", "demo", *by, "-f", "json"]) == 0
    compared = {r["system"]: r["score"] for r in json.loads(capsys.readouterr().out)["rows"]}
    assert compared == scores
    gate = ["gate", "atlas", "--set", "demo", *by, "-b", str(tmp_path / "gate.tsv")]
    assert main([*gate, "--update"]) == 0
    assert main(gate) == 0


def test_a_log_of_comparisons_has_the_shares_that_outputs_won(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pairs.jsonl"
    assert main(["judge", "pairs", "demo", "--endpoint", "demo", "-o", str(path)]) == 0
    judged = kt.load_evalset("demo", judgements=path)
    scored = kt.score("demo", metrics=f"given:file={path}")
    for row in scored.rows:
        of_model = (item for item in judged.judgements if item.judge.startswith("demo ("))
        system_scores = [item.value for item in of_model if item.system == row.system]
        assert row.score.value == pytest.approx(sum(system_scores) / len(system_scores))


def test_several_judges_have_a_mean(tmp_path: Path) -> None:
    rows = [("candidate", "1", judge, "errors", value) for judge, value in (("m", 2), ("n", 5))]
    by = write(tmp_path / "log.jsonl", HEADER, *rows, ("candidate", "2", "m", "errors", 1))
    scored = kt.score(["a", "b"], metrics=by, segments=True)
    assert scored.segment_scores("candidate", by).tolist() == [3.5, 1]
    assert kt.metric(by).sign == -1  # the log says that less is better
    assert not scored.notes  # and nothing is taken for granted


def test_one_of_several_dimensions(tmp_path: Path) -> None:
    rows = [("candidate", "1", "m", name, value) for name, value in (("errors", 2), ("style", 4))]
    by = write(tmp_path / "log.jsonl", HEADER, *rows)
    assert kt.score(["a"], metrics=f"{by},column=style").rows[0].score.value == 4
    assert kt.score(["a"], metrics=f"{by},column=errors").rows[0].score.value == 2
    message = r"the log has several dimensions \(it has errors, style\): name one, as in column=err"
    with pytest.raises(kt.InputError, match=message):
        kt.score(["a"], metrics=by)
    with pytest.raises(kt.InputError, match=r"the log has no 'stile'; did you mean style\?"):
        kt.score(["a"], metrics=f"{by},column=stile")


def test_logs_that_hold_no_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by = write(tmp_path / "log.jsonl", HEADER)
    with pytest.raises(kt.InputError, match="the log has no judgement"):
        kt.score(["a"], metrics=by)
    by = write(tmp_path / "log.jsonl", HEADER, ("candidate", "1", "m", "errors", "many"))
    with pytest.raises(kt.InputError, match=r"line 2: found .*many"):
        kt.score(["a"], metrics=by)
    labels = tmp_path / "labels.jsonl"
    words = ["judge", "nuggets", "demo-nuggets", "--endpoint", "demo", "-o", str(labels)]
    assert main(words) == 0
    with pytest.raises(kt.InputError, match=r"line 2: found an object with question, nugget"):
        kt.score(["a"], metrics=f"given:file={labels}")


def test_documents_have_the_means_of_their_ratings(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    words = ["score", "--set", "demo", "-m", f"given:file={log}", "--level", "document"]
    assert main([*words, "-f", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    by_document: dict[tuple[str, str], list[float]] = {}
    demo = kt.load_evalset("demo")
    documents = dict(zip(demo.segments, demo.groups or (), strict=True))
    for row in kt.load_evalset("demo", judgements=log).judgements:
        if row.judge.startswith("demo ("):
            by_document.setdefault((row.system, documents[row.segment]), []).append(row.value)
    means = {key: sum(values) / len(values) for key, values in by_document.items()}
    assert {(row["system"], row["document"]): row["score"] for row in rows} == pytest.approx(means)
    assert {row["segments"] for row in rows} == {4}
