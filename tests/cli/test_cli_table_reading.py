"""How a table on the command line is read: whole if it is small, streamed if that is asked for."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Called = Callable[..., Any]

ROWS = (("q1", "the cat sat on a mat", "the cat sat on the mat"), ("q2", "a dog", "the dog ran"))
TABLE = "id,output,reference\n" + "".join(f"{','.join(row)}\n" for row in ROWS)


@pytest.fixture
def table(folder: Path) -> Path:
    (folder / "a.csv").write_text(TABLE)
    (folder / "b.csv").write_text(TABLE.replace("a dog", "a fox"))
    return folder / "a.csv"


def refusal(run_karat: Called, *words: str) -> str:
    done = run_karat(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    return str(done.stderr)


def test_named_columns_do_not_change_the_reader(table: Path, output: Callable[..., str]) -> None:
    named = ("--candidate", "output", "-r", "reference", "--id", "id")
    words = ("score", "a.csv", "-m", "chrf", "-f", "json")
    rows = [json.loads(output(*words, *more))["rows"] for more in ((), named)]
    assert rows[0] == rows[1]
    table.write_bytes(TABLE.replace("cat", "café").encode("cp1252"))
    assert output(*words, *named, "--encoding", "cp1252")


@pytest.mark.parametrize(
    "option",
    [
        ("--encoding", "utf-8"),
        ("--separator", ","),
        ("--header", "1"),
        ("--repeated-ids", "first"),
        ("--schema", "none"),
        ("--column", "unit=id"),
    ],
)
def test_streamed_tables_refuse_settings_that_they_ignore(
    table: Path, run_karat: Called, option: tuple[str, str]
) -> None:
    (table.parent / "parts").mkdir()
    (table.parent / "parts" / "a.csv").write_text(TABLE)
    for words in (("a.csv", "--rows", "rows"), ("parts",)):
        printed = refusal(run_karat, "score", *words, *option)
        assert f"{option[0]} {option[1]} is not used for streamed tables" in printed


@pytest.mark.parametrize("command", ["compare", "power"])
@pytest.mark.parametrize(
    "option",
    [
        ("--skip-missing",),
        ("--encoding", "utf-8"),
        ("--separator", ","),
        ("--header", "1"),
        ("--repeated-ids", "first"),
        ("--schema", "none"),
        ("--decimal", "."),
        ("--column", "id=id"),
    ],
)
def test_several_tables_take_every_setting(
    table: Path, output: Callable[..., str], command: str, option: tuple[str, ...]
) -> None:
    assert output(command, "a.csv", "b.csv", "-m", "chrf", *option)


@pytest.mark.parametrize("blank", ["", "  "])
def test_an_empty_cell_is_missing_in_both_readers(
    table: Path, run_karat: Called, output: Callable[..., str], blank: str
) -> None:
    table.write_text(TABLE + f"q3,{blank},some text\n")
    streamed = ("--rows", "rows")
    printed = refusal(run_karat, "score", "a.csv", "-m", "chrf", *streamed)
    assert "row 3: column 'output' is empty" in printed
    assert "--skip-missing" in printed
    words = ("score", "a.csv", "-m", "chrf", "--skip-missing", "-f", "json")
    whole, rows = json.loads(output(*words)), json.loads(output(*words, *streamed))
    assert whole["rows"][0]["score"] == rows["rows"][0]["score"]
    assert "1 row was skipped" in " ".join(rows["notes"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.csv", "--sheet", "x"), "--sheet is only for workbooks"),
        (("a.csv", "--column", "records=/x"), "--column records=/x is only for JSON"),
        (("a.csv", "--rating-scale", "fluency=1..5"), "a.csv has no ratings"),
        (("a.jsonl", "--header", "1"), "--header is only for delimited text and workbooks"),
        (("a.jsonl", "--separator", ","), "--separator is only for delimited text"),
        (("a.csv", "-r", "b.csv"), "a table has its references in a column"),
        (("parts",), "both have the id 'q1'"),
    ],
)
def test_options_without_an_effect_are_refused(
    table: Path, run_karat: Called, words: tuple[str, ...], message: str
) -> None:
    names = ("id", "output", "reference")
    lines = [json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in ROWS]
    (table.parent / "a.jsonl").write_text("".join(lines))
    (table.parent / "parts").mkdir()
    for name in ("a.csv", "b.csv"):
        (table.parent / "parts" / name).write_text(TABLE)
    assert message in refusal(run_karat, "score", *words)


def test_streamed_columns_are_shown(table: Path, output: Callable[..., str]) -> None:
    notes = json.loads(output("score", "a.csv", "-m", "chrf", "--rows", "rows", "-f", "json"))
    assert "a.csv: candidate=output, reference=reference" in notes["notes"]


def _command(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("karat")), *words]


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_table_on_standard_input(table: Path, name: str) -> None:
    words = _command("score", name, "-m", "chrf", "-f", "json")
    done = subprocess.run(words, input=TABLE.encode(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"][0]["system"] == "stdin"
    words = _command("compare", "-", name, "-m", "chrf")
    done = subprocess.run(words, input=TABLE.encode(), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
@pytest.mark.parametrize("words", [("score", "-m", "chrf"), ("data", "check")])
def test_a_pipe_is_read_once(table: Path, words: tuple[str, ...]) -> None:
    os.mkfifo(table.parent / "pipe.csv")
    writer = subprocess.Popen(["sh", "-c", "cat a.csv > pipe.csv"], cwd=table.parent)
    try:
        done = subprocess.run(
            _command(*words, "pipe.csv"),
            cwd=table.parent,
            capture_output=True,
            timeout=60,
            check=False,
        )
    finally:
        writer.kill()
        writer.wait()
    assert (done.returncode, done.stderr) == (0, b"")


def test_streamed_gzip_files_have_a_limit(table: Path, run_karat: Called) -> None:
    line = b"x" * 1000 + b"," + b"y" * 1000 + b"\n"
    with gzip.open(table.parent / "bomb.csv.gz", "wb") as file:
        file.write(b"output,reference\n")
        for _ in range(70):
            file.write(line * 512)
    printed = refusal(run_karat, "score", "bomb.csv.gz", "--rows", "rows", "-m", "chrf")
    assert "it unpacks to more than" in printed
