"""`karat data`, and sets in `score` and `compare`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.evalset.catalogue import VARIABLE
from karat.evalset.loading import KNOWN

Called = Callable[..., Any]
Output = Callable[..., str]
BUNDLED = [name for name, known in KNOWN.items() if known.bundled]
FORMATS = ("text", "json", "tsv", "md", "latex", "html")


def checked(output: Output, *args: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(output("data", "check", *args, "--format", "json"))
    return report


def test_check_tells_what_is_in_a_set(output: Output) -> None:
    contents = checked(output, "demo")
    assert contents["rows"] == [
        {
            "name": "demo",
            "systems": 4,
            "segments": 12,
            "groups": 3,
            "references_min": 3,
            "references_median": 3.0,
            "references_max": 3,
            "judgements": 320,
            "judges": 3,
            "missing": 0,
            "empty": 0,
        }
    ]
    assert [row["system"] for row in contents["systems"]] == ["atlas", "beacon", "cinder", "drift"]
    errors = {row["dimension"]: row for row in contents["dimensions"]}["errors"]
    assert (errors["better"], errors["low"], errors["high"]) == ("lower", 0, None)
    assert (errors["lowest"], errors["highest"], errors["judges"]) == (0, 7, 1)
    assert "problems" not in contents


@pytest.mark.parametrize("format", FORMATS)
def test_check_and_list_in_every_format(output: Output, format: str) -> None:
    assert "fluency" in output("data", "check", "demo", "--format", format)
    assert "ted-zhen" in output("data", "list", "--format", format)


def broken(folder: Path) -> None:
    (folder / "set" / "systems").mkdir(parents=True)
    (folder / "set" / "karat.toml").write_text('[[dimension]]\nname = "d"\n')
    (folder / "set" / "systems" / "A.txt").write_text("one\n\n")
    rows = "A\t1\tj\td\tx\nB\t1\tj\td\t1\n"
    (folder / "set" / "human.tsv").write_text(f"system\tsegment\tjudge\tdimension\tvalue\n{rows}")


def test_check_lists_every_problem_and_fails(run_karat: Called, folder: Path) -> None:
    broken(folder)
    done = run_karat("data", "check", "set", "--format", "json", "--output", "report.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "karat: set cannot be used: 2 problems, see the report\n"
    assert json.loads((folder / "report.json").read_text("utf-8"))["problems"] == [
        {"problem": "set/human.tsv, line 2: found the value 'x', expected a finite number"},
        {"problem": "set/human.tsv, line 3: a judgement of system 'B', which is not in the set"},
    ]


def test_other_commands_name_the_first_problem(run_karat: Called, folder: Path) -> None:
    broken(folder)
    for args in (("score", "--set", "set"), ("data", "convert", "set", "new")):
        done = run_karat(*args)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "karat: set/human.tsv, line 2: found the value 'x', expected a finite number (and 1 "
            "more: karat data check lists them)\n"
        )
    assert not (folder / "new").exists()


def test_notes_are_no_failure(output: Output, folder: Path) -> None:
    broken(folder)
    (folder / "set" / "human.tsv").unlink()
    contents = checked(output, "set")
    assert contents["systems"][0]["empty"] == 1
    assert "d: no judgements" in contents["notes"]


def test_convert_there_and_back(output: Output, folder: Path) -> None:
    assert output("data", "convert", "demo", "one") == f"one: {kt.load_evalset('demo')!r}\n"
    output("data", "convert", "one", "two.jsonl", "--format", "jsonl")
    output("data", "convert", "two.jsonl", "three")
    assert kt.load_evalset(folder / "three") == kt.load_evalset("demo")


def test_convert_overwrites_nothing(run_karat: Called, folder: Path) -> None:
    before = (folder / "a.txt").read_bytes()
    done = run_karat("data", "convert", "demo", "a.txt", "--format", "jsonl")
    assert (done.returncode, done.stderr) == (
        2,
        "karat: a.txt exists already: name a new file or folder\n",
    )
    assert (folder / "a.txt").read_bytes() == before
    assert not [name for name in os.listdir(folder) if name.startswith(".karat")]


def test_options_go_to_the_reader(output: Output, run_karat: Called, folder: Path) -> None:
    header = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    rows = "".join(
        f"{name}\td\t1\tr\ts\tt {name}\tNo-error\tNo-error\n" for name in ("A", "B", "C")
    )
    (folder / "rows.tsv").write_text(header + rows)
    contents = checked(output, "rows.tsv", "--option", "references=B,C")
    assert (contents["rows"][0]["systems"], contents["rows"][0]["references_max"]) == (1, 2)
    done = run_karat("data", "check", "rows.tsv", "--option", "references")
    assert (done.returncode, done.stderr) == (
        2,
        "karat: --option references: expected NAME=VALUE\n",
    )
    assert "has no option 'x'" in run_karat("data", "check", "rows.tsv", "--option", "x=1").stdout
    assert "expected one of dir" in run_karat("data", "check", "rows.tsv", "--read-as", "x").stdout


def test_list_says_what_is_here(
    output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    listed = json.loads(output("data", "list", "--format", "json"))
    assert [row["name"] for row in listed["rows"]] == list(KNOWN)
    assert [row["name"] for row in listed["rows"] if row["here"]] == list(BUNDLED)
    assert listed["notes"] == ["KARAT_DATA is not set: no data to look for."]
    (tmp_path / "data" / "nlg-e2e").mkdir(parents=True)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "data"))
    listed = json.loads(output("data", "list", "--format", "json"))
    assert [row["name"] for row in listed["rows"] if row["here"]] == [*BUNDLED, "e2e"]


def test_data_alone_shows_its_help(output: Output) -> None:
    printed = output("data")
    assert printed == output("data", "--help")
    for name in ("check", "convert", "list"):
        assert f"\n  {name} " in printed
        assert output("data", name, "--help").startswith(f"Usage: karat data {name} ")
        assert max(map(len, output("data", name, "--help").splitlines())) <= 80


def scores(text: str) -> list[tuple[str, float]]:
    return [(row["system"], row["score"]) for row in json.loads(text)["rows"]]


def test_score_reads_a_set(output: Output, folder: Path) -> None:
    expected = kt.score(kt.load_evalset("demo"), metrics="bleu")
    args = ("--set", "demo", "-m", "bleu", "--format", "json")
    all_scores = scores(output("score", *args))
    assert all_scores == [(row.system, row.score.value) for row in expected.rows]
    assert scores(output("score", "drift", "beacon", *args)) == [all_scores[3], all_scores[1]]
    signature = output("score", "--set", "demo", "-m", "bleu", "--signature-only")
    assert "|nrefs=3|" in signature


def test_compare_reads_a_set(output: Output) -> None:
    args = ("compare", "atlas", "drift", "--set", "demo", "-m", "chrf")
    report = json.loads(output(*args, "--format", "json"))
    assert [row["system"] for row in report["rows"]] == ["atlas", "drift"]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("score", "-m", "bleu"), "Missing argument 'CANDIDATE...'."),
        (("compare", "-m", "bleu"), "Missing argument 'CANDIDATE...'."),
        (("score", "--set", "demo", "-r", "ref1.txt"), "--set has its own references"),
        (("score", "--set", "demo", "--optional-references"), "--set has its own references"),
        (("score", "atlsa", "--set", "demo"), "demo has no system 'atlsa'; did you mean atlas?"),
        (("compare", "atlas", "--set", "demo"), "one system was given"),
        (("score", "--set", "nowhere"), "nowhere: no such folder or file, nor a known set"),
        (("data", "chekc", "demo"), "No such command 'chekc'"),
    ],
)
def test_bad_calls(run_karat: Called, args: tuple[str, ...], sentence: str) -> None:
    done = run_karat(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"karat: {sentence}")


def test_sets_are_completed(karat: Callable[..., Any]) -> None:
    def completed(*words: str) -> list[str]:
        env = {
            "_KARAT_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["karat", *words]),
            "COMP_CWORD": str(len(words)),
        }
        text: str = karat(env=env).stdout.decode("utf-8")
        return text.splitlines()

    assert completed("data", "check", "sum") == ["plain,summeval"]
    completions = ["plain,demo", "plain,demo-labels", "plain,demo-paraphrases"]
    assert completed("score", "--set", "de") == completions
    assert completed("data", "check", "./") == ["file,./"]
    assert completed("data", "c") == ["plain,challenge", "plain,check", "plain,convert"]
