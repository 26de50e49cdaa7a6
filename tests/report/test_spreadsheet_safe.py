"""CSV and TSV that a spreadsheet opens: no text in them is taken for a formula."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import karat as kt
from karat.cli.main import main

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\r=1", "＝1"]
HARMLESS = ["a=b", "1-2", "'quoted", "x; =1+1", "", " =1", "-5", "+1.5e3"]


def ranked(texts: list[str]) -> kt.RankedSegments:
    return kt.score({"=sys": texts}, texts, "chrf", segments=True).worst(len(texts))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    plain, safe = (ranked([text]).render("csv", spreadsheet_safe=flag) for flag in (False, True))
    before, after = (
        next(csv.DictReader(io.StringIO(output, newline=""))) for output in (plain, safe)
    )
    assert (before["candidate"], before["system"]) == (text, "=sys")
    assert (after["candidate"], after["system"]) == (f"'{text}", "'=sys")
    assert after["chrf"] == before["chrf"]


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_stays_as_it_is(text: str) -> None:
    output = ranked([text]).render("csv", spreadsheet_safe=True)
    row = next(csv.DictReader(io.StringIO(output, newline="")))
    assert row["candidate"] == text


def test_numbers_stay_numbers() -> None:
    comparison = kt.compare(
        {"a": ["x y"] * 3, "b": ["x y z"] * 3}, ["x y z"] * 3, "chrf", baseline="b"
    )
    for format in ("csv", "tsv"):
        text = comparison.render(format, spreadsheet_safe=True)
        delimiter = "," if format == "csv" else "\t"
        rows = list(csv.DictReader(io.StringIO(text.split("\r\n\r\n")[0]), delimiter=delimiter))
        assert float(rows[1]["delta"]) < 0
        assert "'-" not in text


def test_tsv() -> None:
    assert "\t'=1+1\t" in ranked(["=1+1"]).render("tsv", spreadsheet_safe=True)
    assert "\t=1+1\t" in ranked(["=1+1"]).render("tsv")


@pytest.mark.parametrize("format", ["json", "text", "html", "md", "latex", "svg"])
def test_other_formats_are_refused(format: str) -> None:
    with pytest.raises(kt.OutputError, match="--spreadsheet-safe is for csv and tsv"):
        ranked(["a"]).render(format, spreadsheet_safe=True)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("out.txt").write_text("=1+1 b\n")
    Path("ref.txt").write_text("a b\n")
    words = ["score", "out.txt", "-r", "ref.txt", "-m", "chrf", "--worst", "1"]
    assert main([*words, "--spreadsheet-safe", "-o", "safe.csv"]) == 0
    assert ",'=1+1 b," in Path("safe.csv").read_text()
    assert main([*words, "-o", "plain.csv"]) == 0
    assert ",=1+1 b," in Path("plain.csv").read_text()


def test_the_command_refuses_other_formats_before_it_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["score", "none.txt", "-r", "none.txt", "--spreadsheet-safe"]) == 2
    assert capsys.readouterr().err == (
        "karat: --spreadsheet-safe is for csv and tsv, and the output is text: leave it out, or "
        "choose one of these formats (-f csv)\n"
    )
