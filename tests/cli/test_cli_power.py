"""`karat power`: its answers, and input that it refuses in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Called = Callable[..., Any]
Output = Callable[..., str]
PILOT = ("atlas", "beacon", "--set", "demo")


def test_the_answer_is_the_smallest_difference_that_the_pilot_shows(output: Output) -> None:
    text = output("power", *PILOT, "-m", "bleu")
    report = json.loads(output("power", *PILOT, "-m", "bleu", "-f", "json"))
    (row,) = report["rows"]
    assert (
        f"beacon against atlas: 12 segments can detect a BLEU difference of {row['detectable']:.1f}"
        in (text)
    )
    assert "Power 80% at the level .05, one test, by segment." in text
    assert (row["system"], row["metric"], row["units"]) == ("beacon", "bleu", 12)
    assert (row["difference"], row["power"], row["units_needed"]) == (None, None, None)


def test_the_answer_is_the_units_that_a_difference_needs(output: Output) -> None:
    args = ("power", *PILOT, "-m", "bleu", "-m", "chrf", "--difference", "5", "--power", "0.9")
    text = " ".join(output(*args).split())
    rows = json.loads(output(*args, "-f", "json"))["rows"]
    for row, label in zip(rows, ("BLEU", "chrF"), strict=True):
        needed = f"{row['units_needed']:,} segments; the pilot has 12."
        assert f"beacon against atlas: a {label} difference of 5 needs {needed}" in text
    assert "Power 90% at the level .05, corrected for 2 tests" in text


def test_many_comparisons_are_in_the_table(output: Output) -> None:
    text = output("power", "--set", "demo", "-m", "bleu", "-m", "chrf")
    assert "The table has 2 more comparisons." in text


def test_five_units_are_too_few(output: Output, folder: Any) -> None:
    for name in ("x", "y", "r"):
        lines = [f"{name} {n} a b c d {'e' * n}" for n in range(5)]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    text = output("power", "x.txt", "y.txt", "-r", "r.txt", "-m", "chrf")
    assert "5 segments are too few to decide anything by chrF." in text


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("--difference", "-1"), "found -1, expected 0 or more"),
        (("--difference", "x"), "'x': expected a number, or METRIC=NUMBER"),
        (("--difference", "chrf=1"), "chrf: no such metric; there is bleu"),
        (("-m", "blue"), "unknown metric 'blue'"),
        (("--power", "1.5"), "expected at least 0.05 and at most 0.999"),
        (("--tests", "0"), "tests"),
        (("--baseline", "delta"), "baseline 'delta' is not one of the systems"),
    ],
)
def test_bad_input(run_karat: Called, args: tuple[str, ...], sentence: str) -> None:
    done = run_karat("power", *PILOT, "-m", "bleu", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("karat: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_one_system_is_no_comparison(run_karat: Called) -> None:
    done = run_karat("power", "atlas", "--set", "demo", "-m", "bleu")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "karat: one system was given: a comparison needs at least two\n"


def test_one_segment_is_no_pilot(run_karat: Called, folder: Any) -> None:
    for name in ("x", "y", "r"):
        (folder / f"{name}.txt").write_text(f"a b c {name}\n", "utf-8")
    done = run_karat("power", "x.txt", "y.txt", "-r", "r.txt", "-m", "chrf")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the pilot has 1 unit: at least two are needed" in done.stderr


def test_units_of_a_file_are_used(output: Output, folder: Any) -> None:
    (folder / "pairs.txt").write_text("".join(f"{n // 2}\n" for n in range(12)))
    args = ("power", *PILOT, "-m", "bleu", "-f", "json")
    (row,) = json.loads(output(*args, "--units", "pairs.txt"))["rows"]
    assert row["units"] == 6
    assert json.loads(output(*args))["rows"][0]["units"] == 12


def test_tables_are_pilots(run_karat: Called, folder: Any) -> None:
    pilots = [
        [f"{word} cat {i} sat on the {word if i % 3 else 'mat'}" for i in range(12)]
        for word in ("a", "the", "one")
    ]
    for name, texts in zip(("a.txt", "b.txt", "ref.txt"), pilots, strict=True):
        (folder / name).write_text("".join(f"{text}\n" for text in texts))
    names = ("a", "b", "reference")
    rows = [dict(zip(names, row, strict=True)) for row in zip(*pilots, strict=True)]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "table.jsonl").write_text(lines)
    options = ("-m", "chrf", "-f", "json")
    named = ("--column", "system=a,b")
    of_table = json.loads(run_karat("power", "table.jsonl", *named, *options).stdout)
    of_files = json.loads(run_karat("power", "a.txt", "b.txt", "-r", "ref.txt", *options).stdout)
    assert of_table["rows"] == of_files["rows"]
