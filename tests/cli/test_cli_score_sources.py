"""Columns of tables and judgements of sets as metrics on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest

import karat as kt
from karat.cli.main import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def log(tmp_path: Path, capsys: Capture) -> Path:
    """The ratings of the demonstration set by the offline stand-in of a model."""
    path = tmp_path / "log.jsonl"
    words = ["judge", "ratings", "demo", "-d", "adequacy", "--endpoint", "demo", "-o", str(path)]
    assert main(words) == 0
    capsys.readouterr()
    return path


def write_runs(path: Path, column: str = "latency", texts: bool = False) -> Path:
    """Two models on twelve items; the second is slower by 1, and has one missing value."""
    lines = [f"id,model,{column}" + ",output" * texts]
    for item in range(12):
        for slower, model in enumerate(("old", "new")):
            value = "" if (item, model) == (3, "new") else item % 4 + slower
            lines.append(f"{item},{model},{value}" + f",text {item}" * texts)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("texts", [True, False])
def test_compare_by_a_column(tmp_path: Path, capsys: Capture, texts: bool) -> None:
    table = str(write_runs(tmp_path / "runs.csv", texts=texts))
    words = ["compare", table, "--by", "model", "--id", "id", "-m", "given:column=latency"]
    assert main([*words, "--baseline", "old", "-f", "json"]) == 0
    output = json.loads(capsys.readouterr().out)
    rows = {row["system"]: row for row in output["rows"]}
    assert rows["new"]["delta"] == pytest.approx(1)
    assert rows["new"]["verdict"] == "worse"
    assert rows["new"]["wins"] == 0
    assert rows["new"]["losses"] == 11
    assert rows["old"]["score"] == pytest.approx(fmean(i % 4 for i in range(12) if i != 3))
    assert main([*words, "--baseline", "old"]) == 0
    shown = capsys.readouterr().out
    assert "lower is better, by its name" in shown
    assert ("old: text" in shown) is texts
    assert main(["score", table, *words[2:]]) == 0
    assert "1 of 12 segments has no score" in capsys.readouterr().out


def test_a_gate_on_a_column_without_texts(tmp_path: Path, capsys: Capture) -> None:
    fast, slow = tmp_path / "fast.csv", tmp_path / "slow.csv"
    fast.write_text("id,cost_usd\n" + "".join(f"{i},{i % 3}\n" for i in range(20)))
    slow.write_text("id,cost_usd\n" + "".join(f"{i},{i % 3 + 0.5}\n" for i in range(20)))
    gate = ["--id", "id", "-b", str(tmp_path / "gate.tsv")]
    assert main(["gate", str(fast), *gate, "-m", "given:column=cost_usd", "--update"]) == 0
    assert main(["gate", str(fast), *gate]) == 0
    capsys.readouterr()
    assert main(["gate", str(slow), *gate, "-f", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["rows"][0]["delta"] == pytest.approx(-0.5)
    assert main(["gate", str(slow), *gate, "--max-drop", "1"]) == 0


def test_a_gate_refuses_an_unknown_direction(tmp_path: Path, capsys: Capture) -> None:
    table = tmp_path / "run.csv"
    table.write_text("id,foo\n" + "".join(f"{i},{i}\n" for i in range(20)))
    gate = ["gate", str(table), "--id", "id", "-b", str(tmp_path / "gate.tsv"), "--update"]
    assert main([*gate, "-m", "given:column=foo"]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "add higher=yes or higher=no, as in given:column=foo,higher=no" in message
    assert main([*gate, "-m", "given:column=foo,higher=no"]) == 0


def test_a_column_of_text_is_refused(tmp_path: Path, capsys: Capture) -> None:
    table = tmp_path / "run.csv"
    table.write_text("id,model,latency\n1,a,0.5\n2,a,fast\n")
    assert main(["score", str(table), "--id", "id", "-m", "given:column=latency"]) == 2
    assert "'latency' is 'fast'; every row needs a finite number" in capsys.readouterr().err


def test_a_log_of_a_model_is_a_metric(log: Path, tmp_path: Path, capsys: Capture) -> None:
    judged = kt.load_evalset("demo", judgements=log)
    (judge,) = judged.model_judges
    name = f'given:metric="adequacy/{judge}"'
    ratings = judged.rated_by(judge, "adequacy")
    source = ["--set", "demo", "-j", str(log), "-m", name]
    assert main(["score", *source, "-f", "json"]) == 0
    scores = {row["system"]: row["score"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert scores == pytest.approx(dict(zip(judged.systems, ratings.mean(axis=1), strict=True)))
    assert main(["compare", *source, "-f", "json"]) == 0
    compared = json.loads(capsys.readouterr().out)["rows"]
    assert {row["system"]: row["score"] for row in compared} == pytest.approx(scores)
    assert main(["power", *source, "-f", "json"]) == 0
    powered = {row["system"]: row["delta"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert powered["drift"] == pytest.approx(scores["drift"] - scores["atlas"])
    gate = ["gate", "atlas", *source, "-b", str(tmp_path / "gate.tsv")]
    assert main([*gate, "--update"]) == 0
    assert main(gate) == 0
    assert main([*gate[:1], "drift", *gate[2:]]) == 1
    meta = ["meta", "demo", "-j", str(log), "-m", name, "-d", "adequacy", "--level", "segment"]
    capsys.readouterr()
    assert main([*meta, "--statistic", "pearson", "--resamples", "0", "-f", "json"]) == 0
    value = json.loads(capsys.readouterr().out)["rows"][0]["value"]
    assert value == pytest.approx(_correlation(judged, judge))
    assert main(["estimate", "demo-labels", "-J", "given:metric=quality"]) == 2
    assert "also in the human scores of quality" in capsys.readouterr().err


def _correlation(judged: kt.EvalSet, judge: str) -> float:
    import numpy as np

    human, model = judged.human("adequacy"), judged.rated_by(judge, "adequacy")
    return float(np.corrcoef(human.ravel(), model.ravel())[0, 1])


def test_judgements_of_files_are_refused(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    for command in ("score", "compare", "power"):
        words = [command, str(tmp_path / "a.txt"), "-r", str(tmp_path / "a.txt"), "-j", "log.jsonl"]
        assert main(words) == 2
        assert "--judgements is only for evaluation sets" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", "--set", "demo", "-m", "fluency"), "demo has judgements of that dimension"),
        (("meta", "demo", "-m", "fluency"), "demo has judgements of that dimension"),
        (("meta", "fit", "demo", "-m", "fluency"), "demo has judgements of that dimension"),
        (("meta", "reliability", "demo", "-m", "fluency"), "demo has judgements of that dimension"),
        (("score", "--set", "demo", "-m", "latency"), "scores is given:column=latency"),
        (("compare", "runs.csv", "-m", "latency"), "scores is given:column=latency"),
        (("meta", "demo", "-d", "fluency", "-m", "given:metric=fluency"), "use karat data judges"),
    ],
)
def test_errors_name_the_metric_to_write(
    words: tuple[str, ...], message: str, capsys: Capture
) -> None:
    assert main([*words]) == 2
    assert message in capsys.readouterr().err


def test_default_metrics_of_a_set_without_references(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "systems").mkdir()
    for system in "AB":
        texts = "".join(f"{system} {i}\n" for i in range(8))
        (tmp_path / "systems" / f"{system}.txt").write_text(texts)
    rows = [(s, i, "ann", "fluency", i % 3 + (s == "B")) for s in "AB" for i in range(1, 9)]
    lines = [("system", "segment", "judge", "dimension", "value"), *rows]
    (tmp_path / "human.tsv").write_text("".join("\t".join(map(str, x)) + "\n" for x in lines))
    settings = '[[dimension]]\nname = "fluency"\nbetter = "higher"\n'
    (tmp_path / "karat.toml").write_text(f'name = "runs"\n{settings}')
    note = "runs has no references: its judgements and scores are the metrics."
    for command in ("score", "compare", "power"):
        assert main([command, "--set", str(tmp_path)]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert note in shown
        assert "given:metric=fluency" in shown
        assert "bleu" not in shown
    assert main(["score", "--set", str(tmp_path), "-m", "bleu"]) == 2
    assert "8 of 8 segments have no reference" in capsys.readouterr().err
    assert (
        main(["gate", "A", "--set", str(tmp_path), "-b", str(tmp_path / "g.tsv"), "--update"]) == 0
    )
    assert "by given:metric=fluency" in capsys.readouterr().out
    page = tmp_path.parent / "page.html"
    assert main(["meta", str(tmp_path), "-m", "given:metric=fluency/ann", "-o", str(page)]) == 2
    assert main(["score", "--set", str(tmp_path), "--signature-only"]) == 0
    assert "given:file=none,metric=fluency" in capsys.readouterr().out
