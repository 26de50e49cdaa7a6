"""The ending of an output decides its format, or is refused."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
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
    "name", ["o.xls", "o.feather", "o.docx", "o.pdf", "o.PNG", "o.jsonl", "o.json.gz", "o.zip"]
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
        ".json, .tsv, .csv, .md, .tex, .html, .svg, .xlsx, .parquet\n"
    )
    assert not (folder / name).exists()


# ------------------------------------------------------------------------------- binary formats


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_spreadsheets_and_parquet_have_the_rows_of_json(
    folder: Path, output: Callable[..., str], ending: str
) -> None:
    assert output(*FILES, "-o", f"out.{ending}") == ""
    read = pd.read_excel if ending == "xlsx" else pd.read_parquet
    scores = list(read(folder / f"out.{ending}")["score"])
    expected = json.loads(output(*FILES, "-f", "json"))["rows"]
    assert scores == [row["score"] for row in expected]
    first = (folder / f"out.{ending}").read_bytes()
    output(*FILES, "-o", f"out.{ending}")
    assert (folder / f"out.{ending}").read_bytes() == first


def test_the_sheet_about_the_report_has_the_command(
    folder: Path, output: Callable[..., str]
) -> None:
    output(*FILES, "-o", "out.xlsx")
    book = openpyxl.load_workbook(folder / "out.xlsx")
    assert book.sheetnames == ["Scores", "About"]
    rows = list(book["About"].iter_rows(values_only=True))
    assert ("Report", "command", "karat score a.txt b.txt -r ref1.txt -m bleu -o out.xlsx") in rows
    assert ("Setting", "references", 1) in rows


@pytest.mark.parametrize("format", ["xlsx", "parquet"])
def test_bytes_go_to_pipes(folder: Path, karat: Called, format: str) -> None:
    done = karat(*FILES, "-f", format)
    assert (done.returncode, done.stderr) == (0, b"")
    (folder / "piped").write_bytes(done.stdout)
    read = pd.read_excel if format == "xlsx" else pd.read_parquet
    assert list(read(folder / "piped")["system"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "format"), [("x.xlsx", "tsv"), ("x.csv", "xlsx"), ("x.xlsx", "parquet")]
)
def test_an_ending_of_another_format_is_refused(
    folder: Path, run_karat: Called, name: str, format: str
) -> None:
    done = run_karat(*FILES, "-o", name, "-f", format)
    ending = name.partition(".")[2]
    assert (done.returncode, done.stderr) == (
        2,
        f"karat: {name}: a .{ending} file cannot hold {format}; leave out -f {format}, or use "
        "another ending\n",
    )
    assert not (folder / name).exists()


def test_an_unknown_ending_can_hold_any_format(folder: Path, output: Callable[..., str]) -> None:
    output(*FILES, "-f", "xlsx", "-o", "x.out")
    assert (folder / "x.out").read_bytes().startswith(b"PK")


def test_a_missing_package_is_named_before_any_work(
    folder: Path, run_karat: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl.writer.excel", None)
    done = run_karat("score", "none.txt", "-r", "none.txt", "-o", "x.xlsx")
    assert (done.returncode, done.stderr) == (
        2,
        "karat: XLSX files need openpyxl, which is not installed: pip install 'karat-eval[xlsx]'\n",
    )
