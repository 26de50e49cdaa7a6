"""`--judgements` and `--model-judge`: judgements added to a set, in every command that judges."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt

Called = Callable[..., Any]
Output = Callable[..., str]
COMMANDS = (
    ("meta", "demo", "-m", "bleu", "--resamples", "0", "--trials", "0"),
    ("meta", "reliability", "demo", "-m", "bleu", "--repeats", "2"),
    ("meta", "fit", "demo", "-m", "bleu", "-m", "ter"),
    ("plane", "fit", "demo", "--resamples", "0", "--splits", "0"),
    ("data", "judges", "demo"),
    ("data", "check", "demo"),
)


@pytest.fixture
def log(folder: Path) -> str:
    """Ratings of fluency by a model: one above the mean of people, but never above 5."""
    demo = kt.load_evalset("demo")
    human = demo.human("fluency")
    rows: list[dict[str, Any]] = [{"judgements": "demo", "dimensions": [{"name": "fluency"}]}]
    for i, system in enumerate(demo.systems):
        for k, segment in enumerate(demo.segments):
            value = min(5.0, human[i, k] + 1)
            judgement = {
                "system": system,
                "segment": segment,
                "judge": "gpt",
                "dimension": "fluency",
            }
            rows.append({**judgement, "value": value, "evidence": "a"})
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "log.jsonl"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_models_are_left_out_of_human_scores(
    output: Output, run_karat: Called, log: str, command: tuple[str, ...]
) -> None:
    report = json.loads(output(*command, "-f", "json"))
    added = json.loads(output(*command, "-j", log, "--model-judge", "gpt", "-f", "json"))
    person = json.loads(output(*command, "-j", log, "-f", "json"))
    assert added["rows"] == report["rows"]
    assert person["rows"] != report["rows"]
    assert any("gpt" in note for note in added["notes"])
    done = run_karat(*command, "--model-judge", "gtp")
    assert (done.returncode, "demo has no judge 'gtp'" in done.stderr + done.stdout) == (2, True)
    assert "--judgements is empty" in run_karat(*command, "--judgements", "").stderr


def test_an_experiment_keeps_its_additions(output: Output, log: str, folder: Path) -> None:
    arguments = ("meta", "demo", "-m", "bleu", "-d", "fluency", "--trials", "0", "--resamples", "0")
    added = ("-j", log, "--model-judge", "gpt", "--save", "e.toml", "-f", "json")
    report = json.loads(output(*arguments, *added))
    text = (folder / "e.toml").read_text()
    assert 'judgements = ["log.jsonl"]\nmodel_judges = ["gpt"]\n' in text
    again = json.loads(output("meta", "--experiment", "e.toml", "-f", "json"))
    assert (again["rows"], again["notes"]) == (report["rows"], report["notes"])
    output(*arguments, "--save", "plain.toml")
    assert "judgements" not in (folder / "plain.toml").read_text()


def test_converted_sets_keep_kinds(output: Output, folder: Path, log: str) -> None:
    output("data", "convert", "demo", "both", "-j", log, "--model-judge", "gpt")
    evalset = kt.load_evalset(folder / "both")
    assert evalset.model_judges == ("gpt",)
    demo = kt.load_evalset("demo")
    assert (evalset.human("fluency") == demo.human("fluency")).all()


def test_no_output_overwrites_a_log(run_karat: Called, folder: Path, log: str) -> None:
    for command in COMMANDS:
        done = run_karat(*command, "-j", log, "-o", log)
        assert (done.returncode, (folder / log).stat().st_size > 1000) == (2, True)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"system": "nobody"}, "log.jsonl, line 50: a judgement of system 'nobody'"),
        ({"value": 1}, "log.jsonl, line 50: judge 'gpt' gave fluency of system 'atlas' on segment"),
        ({"kind": "robot"}, "log.jsonl, line 50: found the kind 'robot', expected one of person,"),
    ],
)
def test_bad_logs_are_one_sentence(
    run_karat: Called, folder: Path, log: str, row: dict[str, Any], message: str
) -> None:
    first = json.loads((folder / log).read_text().splitlines()[1])
    with (folder / log).open("a") as file:
        file.write(json.dumps({**first, **row}) + "\n")
    done = run_karat("meta", "demo", "-m", "bleu", "-j", log)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


def test_dimensions_of_models_have_no_human_scores(run_karat: Called, folder: Path) -> None:
    rows = [
        {"segment": "d1.1", "system": a, "other": b, "judge": "m", "value": 1, "kind": "model"}
        for a, b in (("atlas", "drift"), ("beacon", "drift"))
    ]
    segment = kt.load_evalset("demo").segments[0]
    lines = [json.dumps({**row, "segment": segment, "dimension": "preference"}) for row in rows]
    (folder / "pairs.jsonl").write_text("\n".join(lines))
    arguments = (
        "meta",
        "demo",
        "-m",
        "bleu",
        "-j",
        "pairs.jsonl",
        "--resamples",
        "0",
        "--trials",
        "0",
    )
    done = run_karat(*arguments, "-f", "json")
    assert {row["dimension"] for row in json.loads(done.stdout)["rows"]} == {
        *("adequacy", "fluency", "errors")
    }
    refused = run_karat(*arguments, "-d", "preference")
    assert (refused.returncode, "has no human scores of preference" in refused.stderr) == (2, True)
    judges = json.loads(
        run_karat("data", "judges", "demo", "-j", "pairs.jsonl", "-f", "json").stdout
    )
    (model,) = (row for row in judges["judges"] if row["kind"] == "model")
    assert (model["dimension"], model["judgements"], model["r"]) == ("preference", 3, None)
    assert model["note"] == "no overlap with people: cannot be compared"
