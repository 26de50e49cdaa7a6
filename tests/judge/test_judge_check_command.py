"""`karat judge check`: a log of ratings against people, on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Called = Callable[..., Any]


ALL_SYSTEMS = [
    word for name in ("atlas", "beacon", "cinder", "drift") for word in ("--family", name)
]


@pytest.fixture
def log(run_karat: Called, folder: Path) -> Path:
    rating = ["judge", "ratings", "demo", "-d", "adequacy", "--endpoint", "demo"]
    assert run_karat(*rating, "-o", "log.jsonl").returncode == 0
    return folder / "log.jsonl"


def test_a_log_is_checked(run_karat: Called, log: Path) -> None:
    done = run_karat("judge", "check", "demo", "-j", "log.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert "demo (word overlap) as a judge of demo\n" in done.stdout
    answer = " ".join(done.stdout.split())
    assert "it is shown to be as good as 0 of 3 annotators (ε 0.1)." in answer
    assert "Warning: demo (word overlap)'s errors in adequacy differ between systems" in done.stdout


def test_settings_are_in_the_result(run_karat: Called, log: Path) -> None:
    options = ["--annotators", "expert", "--shuffles", "50", "--family", "drift", "-f", "json"]
    done = run_karat("judge", "check", "demo", "-j", "log.jsonl", *options)
    [row] = json.loads(done.stdout)["rows"]
    assert row["epsilon"] == 0.2
    assert {row["bias"] for row in json.loads(done.stdout)["biases"]} == {"length", "family"}
    done = run_karat("judge", "check", "demo", "-j", "log.jsonl", *options, "--epsilon", ".3")
    assert json.loads(done.stdout)["rows"][0]["epsilon"] == 0.3


def test_an_anchor_that_was_judged_again(run_karat: Called, log: Path) -> None:
    lines = log.read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines[1:25]]
    anchor = [{**row, "value": min(5, row["value"] + 1)} for row in rows]
    path = log.parent / "anchor.jsonl"
    path.write_text("\n".join([lines[0], *map(json.dumps, anchor)]), "utf-8")
    options = ["-j", "log.jsonl", "--anchor", "anchor.jsonl"]
    done = run_karat("judge", "check", "demo", *options, "-f", "json")
    drift = next(row for row in json.loads(done.stdout)["biases"] if row["bias"] == "drift")
    assert (drift["items"], drift["flagged"]) == (24, True)
    assert -1 <= drift["value"] < 0
    done = run_karat("judge", "check", "demo", *options)
    assert "adequacy: bias by drift" in " ".join(done.stdout.split())


def test_a_page_is_written(run_karat: Called, log: Path) -> None:
    done = run_karat("judge", "check", "demo", "-j", "log.jsonl", "-o", "page.html")
    assert (done.returncode, done.stdout) == (0, "")
    assert "Errors by system" in (log.parent / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("demo",), "demo: no judge is known to be a model: add its ratings (-j LOG"),
        (("demo", "-J", "anna", "-d", "adequacy"), "demo: found 2 people who rated adequacy"),
        (("demo", "-J", "zoe"), "demo has no judge 'zoe'"),
        (("demo", "-j", "log.jsonl", "-d", "fluency"), "rated nothing in fluency"),
        (("demo", "-j", "log.jsonl", "--family", "x"), "demo has no system 'x'"),
        (("demo", "-j", "log.jsonl", "--unit", "document", "-d", "adequacy"), "in at least 6 doc"),
        (("demo", "-j", "log.jsonl", "--anchor", "none.jsonl"), "none.jsonl: No such file"),
        (("demo", "-j", "log.jsonl", "--epsilon", "2"), "--epsilon"),
        (
            ("demo", "-j", "log.jsonl", "--epsilon", "x"),
            "'--epsilon': found 'x', expected a number.",
        ),
        (
            ("demo", "-j", "log.jsonl", *ALL_SYSTEMS),
            "family has every system of demo: expected at least one system of another family",
        ),
        (("demo-nuggets", "-J", "x"), "demo-nuggets"),
    ],
)
def test_bad_input(run_karat: Called, log: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run_karat("judge", "check", *arguments, "-o", "page.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (log.parent / "page.html").exists()


def test_raters_must_be_named(run_karat: Called, folder: Path) -> None:
    rows = [
        f"{s}\t{k}\t{judge}\tq\t{(k + len(s)) % 5}"
        for s in ("A", "B")
        for k in range(1, 9)
        for judge in ("experts", "gpt")
    ]
    set_folder = folder / "means"
    set_folder.mkdir()
    header = "system\tsegment\tjudge\tdimension\tvalue"
    (folder / "ratings.tsv").write_text("\n".join([header, *rows]) + "\n", "utf-8")
    done = run_karat("judge", "check", "ratings.tsv", "--model-judge", "gpt")
    assert done.returncode == 2
    assert "the raters of q are not named" in done.stderr


def test_ratings_are_not_too_large_and_anchors_have_tabs(run_karat: Called, folder: Path) -> None:
    header = "system,segment,judge,dimension,value"
    rows = [
        f"{s},s{k},{judge},q,{(k + len(judge)) % 5}"
        for s in ("A", "B")
        for k in range(8)
        for judge in ("ann", "bob", "cleo", "judge-1")
    ]
    check = ["judge", "check", "ratings.csv", "-J", "judge-1"]
    (folder / "ratings.csv").write_text("\n".join([header, *rows]), "utf-8")
    done = run_karat(*check, "--anchor", "ratings.csv")
    assert done.returncode == 2
    assert "(and perhaps kind and other), with tabs between them" in done.stderr
    huge_rows = [f"{row}e200" for row in rows]
    (folder / "ratings.csv").write_text("\n".join([header, *huge_rows]), "utf-8")
    done = run_karat(*check)
    message = "karat: ratings: found a rating of 4e+200 in q, expected at most 1e+100\n"
    assert (done.returncode, done.stderr) == (2, message)
