"""Tables wherever a set is taken: commands on one set, functions of Python, standard input."""

from __future__ import annotations

import io
import json
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import karat as kt

ROOT = Path(__file__).parents[2]
EXPORTS = sorted((ROOT / "tests" / "tables" / "exports").iterdir())
Called = Callable[..., Any]
ENDPOINT = "--endpoint demo"


@pytest.fixture
def tables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the example tables."""
    monkeypatch.chdir(folder)
    shutil.copytree(ROOT / "examples" / "tables", folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
def ratings() -> pd.DataFrame:
    return pd.read_csv(ROOT / "examples" / "tables" / "ratings.csv")


# ------------------------------------------------------------------------------------ commands

COMMANDS = {
    "meta ratings.csv -m chrf --resamples 20 --trials 10": "candidate=text",
    "meta fit ratings.csv -m bleu -m chrf": "candidate=text",
    "meta reliability ratings.csv -m chrf --lengths 1,2": "candidate=text",
    "estimate ratings.csv -J chrf": "candidate=text",
    "data check ratings.csv": "candidate=text",
    "data judges judgements.csv": "judge=judge",
    "data judges raters.csv --column judge=a,b,c": "judges a, b, c",
    "data draw ratings.csv 3": "candidate=text",
    f"judge ratings outputs.csv -d tone --scale 1-5 {ENDPOINT} -o log.jsonl": "candidate=output",
    f"judge pairs systems.csv {ENDPOINT} -o log.jsonl": "side by side: alpha, beta",
    f"nuggets draft rag.jsonl {ENDPOINT} -o key.jsonl": "contexts=retrieved_contexts",
    "grid outputs.csv --worst 1": "candidate=output",
    "grid systems.csv --system beta -s 2": "side by side: alpha, beta",
    "grid replies.csv --column candidate='first try' -r 'what we wanted'": "first try",
    "power systems.csv -m chrf": "side by side: alpha, beta",
    "compare v1.jsonl v2.jsonl -m chrf": "candidate=answer",
}


@pytest.mark.parametrize(("command", "reading"), COMMANDS.items())
def test_a_command_takes_a_table_and_says_how_it_was_read(
    tables: Path, run_karat: Called, command: str, reading: str
) -> None:
    completed = run_karat(*shlex.split(command))
    assert completed.returncode == 0, completed.stderr
    assert reading in " ".join(completed.stdout.split())


def test_gates_of_a_table_find_items_by_their_ids(tables: Path, run_karat: Called) -> None:
    written = run_karat("gate", "outputs.csv", "-b", "gate.tsv", "--update")
    assert written.stdout == "gate.tsv: 12 items of outputs by chrf\n"
    assert run_karat("gate", "v2.jsonl", "-b", "gate.tsv").returncode == 0
    assert run_karat("gate", "v1.jsonl", "-b", "gate.tsv").returncode == 1
    several = run_karat("gate", "systems.csv", "-b", "gate.tsv")
    assert several.returncode == 2
    assert "choose it, as in karat gate NAME --set FILE" in several.stderr
    assert run_karat("gate", "beta", "--set", "systems.csv", "-b", "gate.tsv").returncode == 1


@pytest.mark.parametrize(
    "command",
    [
        "meta - -m chrf --resamples 20 --trials 10",
        "data judges -",
        "data check -",
        "estimate - -J chrf",
        "data convert - as-set",
        "grid - --read-as table --system alpha",
    ],
)
def test_standard_input_is_a_table(
    tables: Path, run_karat: Called, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO((tables / "ratings.csv").read_bytes())))
    monkeypatch.setattr(sys, "stdin", stream)
    completed = run_karat(*command.split())
    assert completed.returncode == 0, completed.stderr


def test_standard_input_is_no_folder(tables: Path) -> None:
    with pytest.raises(kt.InputError, match="standard input is read as a table, not as dir"):
        kt.load_evalset("-", "dir")


def test_a_system_of_several_is_chosen(tables: Path, run_karat: Called) -> None:
    completed = run_karat("grid", "systems.csv")
    assert completed.returncode == 2
    assert "2 systems (alpha, beta): choose one with --system" in completed.stderr
    assert "no system 'zeta'" in run_karat("grid", "systems.csv", "--system", "zeta").stderr
    assert run_karat("grid", "demo", "--system", "atlas").returncode == 0
    args = ("grid", str(tables / "v1.jsonl"), "--system", "v1")
    assert run_karat(*args).returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        *("score FILE -m chrf", "compare FILE -m chrf", "meta FILE", "meta fit FILE -m chrf"),
        *(
            "meta reliability FILE",
            "estimate FILE -J chrf",
            "power FILE -m chrf",
            "grid FILE --system alpha",
        ),
        *("gate alpha --set FILE -b g.tsv -m chrf --update", "data flood FILE out -d quality"),
        *(f"judge pairs FILE {ENDPOINT} -o p.jsonl", f"nuggets draft FILE {ENDPOINT} -o k.jsonl"),
        f"judge ratings FILE -d quality {ENDPOINT} -o r.jsonl",
    ],
)
def test_commands_that_need_texts_refuse_ratings_alone(
    tables: Path, run_karat: Called, command: str
) -> None:
    completed = run_karat(*command.replace("FILE", "judgements.csv").split())
    assert completed.returncode == 2
    assert completed.stderr.count("\n") == 1
    assert "texts" in completed.stderr or "has no " in completed.stderr


def score_table(path: Path) -> None:
    """Ratings of 14 of 40 items by a person, of all by a model, and scores; no texts."""
    dice = np.random.default_rng(1)
    rows = []
    for item in range(40):
        for system in ("old", "new"):
            value = int(dice.integers(1, 6))
            label = min(5, max(1, value + int(dice.integers(-1, 2)))) if item < 14 else None
            rows.append([f"i{item}", system, label, value, value / 5 + dice.random() / 10])
    pd.DataFrame(rows, columns=["item", "model", "alice", "gpt", "comet"]).to_csv(path, index=False)


def test_scores_without_texts(tables: Path, run_karat: Called) -> None:
    score_table(tables / "few.csv")
    columns = ("--column", "judge=alice,gpt", "--column", "metric=comet")
    given = ("-m", "given:metric=comet")
    for args in (
        ("estimate", "few.csv", "--model-judge", "gpt"),
        ("estimate", "few.csv", "-J", "given:metric=comet"),
        ("meta", "few.csv", *given, "--resamples", "20", "--trials", "10"),
        ("compare", "few.csv", *given),
        ("score", "few.csv", *given),
        ("data", "judges", "few.csv", "--model-judge", "gpt"),
    ):
        completed = run_karat(*args, *columns)
        assert completed.returncode == 0, (args, completed.stderr)
    done = run_karat("compare", "few.csv", "-f", "json", *given, *columns)
    frame = pd.read_csv(tables / "few.csv")
    means = frame.groupby("model")["comet"].mean()
    scores = {row["system"]: row["score"] for row in json.loads(done.stdout)["rows"]}
    assert scores == pytest.approx(means.to_dict())


@pytest.mark.parametrize("name", ["judgements.csv", "rag.jsonl", "ratings.csv", "gaps.csv"])
@pytest.mark.parametrize("format", ["dir", "jsonl"])
def test_sets_of_tables_survive_conversion(
    tables: Path, run_karat: Called, name: str, format: str
) -> None:
    target = "converted" if format == "dir" else "converted.jsonl"
    assert run_karat("data", "convert", name, target, "-f", format).returncode == 0
    first, second = kt.load_evalset(name), kt.load_evalset(target)
    assert second.systems == first.systems
    assert second.contexts == first.contexts
    assert second.digest == first.digest


# ----------------------------------------------------------------------------------- data check


@pytest.mark.parametrize("path", EXPORTS, ids=[path.name for path in EXPORTS])
def test_suggested_commands_run_as_printed(tables: Path, run_karat: Called, path: Path) -> None:
    shutil.copy(path, tables / path.name)
    check = kt.check_evalset(path.name)
    assert check.reading
    assert 0 < len(check.commands) <= 3
    printed = run_karat("data", "check", path.name).stdout
    for row in check.commands:
        assert f"{row.command}  # {row.purpose}\n" in printed
        completed = run_karat(*shlex.split(row.command)[1:])
        assert completed.returncode == 0, (row.command, completed.stderr)


@pytest.mark.parametrize(
    ("name", "options", "commands"),
    [
        ("ratings.csv", (), ["meta", "data judges", "compare"]),
        ("systems.csv", (), ["compare", "judge ratings", "grid"]),
        ("rag.jsonl", (), ["score", "nuggets draft", "judge ratings"]),
        ("judgements.csv", (), ["data judges", "compare", "data draw"]),
        ("gaps.csv", (), ["score", "judge ratings", "grid"]),
        ("raters.csv", ("--column", "judge=a,b,c"), ["data judges", "data draw", "data convert"]),
    ],
)
def test_suggested_commands_fit_the_table(
    tables: Path, run_karat: Called, name: str, options: tuple[str, ...], commands: list[str]
) -> None:
    done = run_karat("data", "check", name, *options)
    lines = [line for line in done.stdout.splitlines() if line.startswith("karat ")]
    assert [
        line.startswith(f"karat {command} ") for line, command in zip(lines, commands, strict=True)
    ] == [True] * len(commands)
    for line in lines:
        completed = run_karat(*shlex.split(line, comments=True)[1:])
        assert completed.returncode == 0, (line, completed.stderr)


def test_each_kind_of_problem_is_shown_once_with_its_first_place() -> None:
    rows = [
        {"id": "a", "system": "x", "output": "It rains.", "reference": "It is raining."},
        {"id": "a", "system": "y", "output": "Идёт дождь.", "reference": "It is raining."},
        {"id": "b", "system": "x", "output": "The dog sleeps.", "reference": "A dog sleeps."},
        {"id": "b", "system": "y", "output": None, "reference": "A dog sleeps."},
        {"id": "c", "system": "x", "output": "Good night.", "reference": "A dog sleeps."},
        {"id": "c", "system": "y", "output": None, "reference": "A dog sleeps."},
    ]
    check = kt.check_evalset(rows)
    assert [tuple(issue) for issue in check.issues] == [
        ("segment with the source and references of an earlier one", 1, "segment c"),
        ("output in another script than its references", 1, "y, segment a"),
        ("missing output", 2, "y, segment b"),
    ]
    outputs = next(row for row in check.texts if row.texts == "outputs")
    assert (outputs.number, outputs.scripts) == (4, "Latin, Cyrillic")
    assert check.commands == ()  # a frame has no path


# -------------------------------------------------------------------------------------- Python

ENDPOINT_OF_DEMO = kt.Endpoint("demo", "word overlap")
FUNCTIONS: dict[str, Called] = {
    "meta_evaluate": lambda s: kt.meta_evaluate(s, metrics=["chrf"], resamples=20, trials=10),
    "meta_report": lambda s: kt.meta_report(s, metrics=["chrf"], resamples=20, trials=10),
    "fit_scores": lambda s: kt.fit_scores(s, metrics=["chrf"]),
    "reliability": lambda s: kt.reliability(s, metrics="chrf", lengths=(1, 2)),
    "judge_agreement": kt.judge_agreement,
    "estimate": lambda s: kt.estimate(s, judges="chrf"),
    "draw_units": lambda s: kt.draw_units(s, 3),
    "check_evalset": kt.check_evalset,
    "judge_ratings": lambda s: kt.judge_ratings(s, "score", endpoint=ENDPOINT_OF_DEMO),
    "judge_pairs": lambda s: kt.judge_pairs(s, endpoint=ENDPOINT_OF_DEMO),
    "draft_nuggets": lambda s: kt.draft_nuggets(s, endpoint=ENDPOINT_OF_DEMO),
    "explain_segments": lambda s: kt.explain_segments(s, system="alpha"),
    "score": lambda s: kt.score(s, metrics="chrf"),
    "compare": lambda s: kt.compare(s, metrics="chrf"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_a_path_a_frame_and_records(name: str, ratings: pd.DataFrame) -> None:
    path = ROOT / "examples" / "tables" / "ratings.csv"
    sources = (path, str(path), ratings, ratings.to_dict("records"), kt.load_evalset(path))
    results = [repr(FUNCTIONS[name](source).rows) for source in sources]
    assert len({result.replace("outputs", "ratings") for result in results}) == 1


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"score", "compare", "check_evalset"}))
@pytest.mark.parametrize("wrong", [3, None, [], [1, 2], {"a": 1}])
def test_a_function_refuses_other_values(name: str, wrong: Any) -> None:
    with pytest.raises(kt.InputError, match="expected an evaluation set, its name, a path"):
        FUNCTIONS[name](wrong)


def test_frames_are_saved_converted_and_gated(tmp_path: Path, ratings: pd.DataFrame) -> None:
    kt.save_evalset(ratings, tmp_path / "saved")
    kt.convert_evalset(ratings, tmp_path / "converted.jsonl", "jsonl")
    saved, converted = (kt.load_evalset(tmp_path / n) for n in ("saved", "converted.jsonl"))
    assert saved.digest == converted.digest
    alpha = ratings[ratings["model"] == "alpha"].drop(columns=["alice", "bob"])
    written = kt.write_baseline(alpha, baseline=tmp_path / "g.tsv")
    assert written.ids[:2] == ("q01", "q02")
    assert kt.gate(alpha[::-1], baseline=tmp_path / "g.tsv").verdict == "pass"


def test_several_tables_are_one_set() -> None:
    folder = ROOT / "examples" / "tables"
    evalset = kt.load_evalset({"old": folder / "v1.jsonl", "new": folder / "v2.jsonl"})
    assert list(evalset.systems) == ["old", "new"]
    assert list(kt.load_evalset([folder / "v1.jsonl", folder / "v2.jsonl"]).systems) == ["v1", "v2"]


def test_meta_evaluate_takes_an_experiment_or_settings(ratings: pd.DataFrame) -> None:
    settings: dict[str, Any] = {"levels": ("segment",), "resamples": 20, "trials": 10}
    path = str(ROOT / "examples" / "tables" / "ratings.csv")
    experiment = kt.Experiment(path, ("chrf",), **settings)
    expected = kt.meta_evaluate(experiment).rows
    assert kt.meta_evaluate(path, metrics="chrf", **settings).rows == expected
    assert kt.meta_evaluate(ratings, metrics=["chrf"], **settings).rows == expected
    assert kt.meta_evaluate(experiment, ratings).rows == expected
    default = kt.meta_evaluate(ratings, **settings)
    assert len({row.metric for row in default.rows}) == 6
    with pytest.raises(kt.InputError, match="the experiment has its settings: leave out levels"):
        kt.meta_evaluate(experiment, levels=("item",))
    with pytest.raises(kt.InputError, match="a meta-evaluation has no setting 'level_s'"):
        kt.meta_evaluate(ratings, level_s=1)
    with pytest.raises(kt.InputError, match="expected an Experiment as the first argument"):
        kt.meta_evaluate(ratings, ratings)
