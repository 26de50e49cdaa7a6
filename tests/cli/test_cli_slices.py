"""`compare --slice` and `--slices`: what they print and refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import karat as kt
from karat.cli.main import main

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def demo(folder: Path) -> list[str]:
    """The demonstration's texts, and the arguments that name them; `genres` has a label a line."""
    source = resources.files("karat") / "data" / "demo"
    for name in ("atlas", "cinder"):
        text = (source / "systems" / f"{name}.txt").read_text("utf-8")
        (folder / f"{name}.txt").write_text(text, "utf-8")
    reference = (source / "reference-1.txt").read_text("utf-8")
    (folder / "gold.txt").write_text(reference, "utf-8")
    labels = [("news", "chat")[i % 2] for i in range(len(reference.splitlines()))]
    (folder / "genres").write_text("\n".join(labels) + "\n")
    return ["compare", "atlas.txt", "cinder.txt", "-r", "gold.txt", "-m", "bleu"]


def test_the_answer_names_the_slices_of_losses(demo: list[str], output: Any) -> None:
    text = output(*demo, "--slices", "genres", "--examples", "0")
    assert "cinder is worse than atlas in slice news by BLEU " in " ".join(text.split())
    assert "Comparison by slice" in text
    assert "news: 40 segments" in text


def test_json_has_the_slices(demo: list[str], output: Any, folder: Path) -> None:
    printed = json.loads(output(*demo, "--slices", "genres", "-f", "json"))
    labels = (folder / "genres").read_text().split()
    texts = {n: (folder / f"{n}.txt").read_text("utf-8").splitlines() for n in ("atlas", "cinder")}
    references = (folder / "gold.txt").read_text("utf-8").splitlines()
    comparison = kt.compare(texts, references, "bleu", slices=labels)
    assert printed["slices"] == comparison.records("slices")


def test_length_is_a_slice_of_texts_and_sets(demo: list[str], output: Any) -> None:
    for command in (demo, ["compare", "atlas", "beacon", "--set", "demo", "-m", "bleu"]):
        printed = json.loads(output(*command, "--slice", "length", "-f", "json"))
        assert {row["slice"] for row in printed["slices"]} == {"short", "medium", "long"}
        assert all(row["bounds"].endswith(" words") for row in printed["slices"])


def test_a_page_has_the_slices(demo: list[str], run_karat: Run, folder: Path) -> None:
    assert run_karat(*demo, "--slices", "genres", "-o", "page.html").returncode == 0
    page = (folder / "page.html").read_text("utf-8")
    assert "Differences from atlas by slice" in page
    assert "Comparison by slice" in page


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--slices", "none"], "none: No such file"),
        (
            ["--slices", "short"],
            "short: found 3 lines, expected 80: the label of a slice for each segment",
        ),
        (
            ["--slices", "gaps"],
            "gaps, line 3: found an empty line, expected the label of the segment's slice",
        ),
        (["--slices", "gold.txt"], "slices, expected at most 50"),
        (["--slices", "genres", "--slice", "length"], "--slice and --slices exclude each other"),
        (["--slices", "genres", "-o", "genres"], "genres"),
        (["--slice", "domain"], "slices by 'domain': the inputs know length; give labels"),
        (["--slice", "length", "--buckets", "9"], "slices need single segments"),
    ],
)
def test_bad_slices_are_one_sentence(
    demo: list[str], run_karat: Run, folder: Path, arguments: list[str], problem: str
) -> None:
    (folder / "short").write_text("a\nb\nc\n")
    (folder / "gaps").write_text("a\nb\n\n" + "c\n" * 77)
    done = run_karat(*demo, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("karat: ")
    assert done.stderr.count("\n") == 1
    assert problem in done.stderr


def test_a_table_has_its_slices_in_a_column(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    rows = [
        {"system": s, "id": i, "candidate": f"a b {s}", "reference": "a b c", "topic": i % 2}
        for i in range(20)
        for s in "cd"
    ]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["compare", "t.jsonl", "--by", "system", "--id", "id", "-m", "rouge1", "-f", "json"]
    assert main([*command, "--slice", "topic"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in printed["slices"]] == ["worse", "worse"]
    Path("labels").write_text("a\n" * 20)
    assert main([*command, "--slices", "labels"]) == 0
    assert [row["slice"] for row in json.loads(capsys.readouterr().out)["slices"]] == ["a"]
    assert main([*command, "--slices", "labels", "--engine", "dask"]) == 2
    assert "--slices is for text: name a column of the table with --slice" in (
        capsys.readouterr().err
    )
