"""The ending of an output says its format, or is refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Called = Callable[..., Any]
FILES = ("score", "a.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu")


def test_csv_has_the_rows_of_json(folder: Path, output: Callable[..., str]) -> None:
    output(*FILES, "-o", "out.csv")
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        csv_rows = list(csv.DictReader(file, strict=True))
    expected = json.loads(output(*FILES, "-f", "json"))["rows"]
    assert [row["system"] for row in csv_rows] == ["a", "b"]
    assert [float(row["score"]) for row in csv_rows] == [row["score"] for row in expected]
    assert (folder / "out.csv").read_bytes() == output(*FILES, "-f", "csv").encode()


@pytest.mark.parametrize(
    ("name", "start"),
    [("X.JSON", "{"), ("x.htm", "<!doctype"), ("x.markdown", "#"), ("x.out", "Scores")],
)
def test_endings_choose_the_format(
    folder: Path, output: Callable[..., str], name: str, start: str
) -> None:
    output(*FILES, "-o", name)
    assert (folder / name).read_text("utf-8").startswith(start)


@pytest.mark.parametrize(
    "args",
    [
        ("demo", "--output", "x.csv"),
        ("demo", "--output", "x.json"),
    ],
)
def test_a_page_is_called_a_page(folder: Path, run_karat: Called, args: tuple[str, ...]) -> None:
    done = run_karat(*args)
    sentence = (
        f"karat: {args[-2]} {args[-1]}: the report is a web page; use a name like page.html\n"
    )
    assert (done.returncode, done.stderr) == (2, sentence)
    assert not (folder / args[-1]).exists()


@pytest.mark.parametrize(
    "name", ["o.xlsx", "o.parquet", "o.docx", "o.pdf", "o.PNG", "o.jsonl", "o.json.gz", "o.zip"]
)
@pytest.mark.parametrize("more", [(), ("-f", "tsv")])
def test_formats_that_are_not_written_are_refused(
    folder: Path, run_karat: Called, name: str, more: tuple[str, ...]
) -> None:
    done = run_karat(*FILES, "-o", name, *more)
    assert done.returncode == 2
    ending = name.rpartition(".")[2].lower()
    assert done.stderr == (
        f"karat: {name}: cannot write .{ending} files; use one of .txt, "
        ".json, .tsv, .csv, .md, .tex, .html, .svg\n"
    )
    assert not (folder / name).exists()
