"""The exact output of the commands, kept in files so that a change of it shows in a diff.

After a wanted change, write the files anew with `KARAT_GOLDEN=write pytest tests/cli` and read the
diff. The version and digits beyond the tenth decimal are left out: they may change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt

GOLDEN = Path(__file__).parent / "golden"
FORMATS = ("text", "json", "tsv", "md", "latex", "html")
SCORED = ("-r", "ref1.txt", "-m", "bleu", "-m", "chrf:n=4", "-m", "rougeL:stem=porter-nltk")
GRID = ("-r", "ref1.txt", "-r", "ref2.txt")
COMMANDS = {
    "score": ("score", "a.txt", "named=b.txt", "-r", "ref2.txt", *SCORED, "--intervals"),
    "compare": (
        "compare",
        "a.txt",
        "b.txt",
        "c.txt",
        *SCORED,
        "--baseline",
        "b",
    ),
    "segments": ("score", "a.txt", "c.txt", *SCORED, "--segments"),
    "metrics": ("metrics", "chrf", "rougeLsum"),
    "grid": ("grid", "a.txt", *GRID, "--segment", "2", "--segment", "3"),
}
ASKED = ("--endpoint", "demo", "-o", "out.jsonl")
FEW = ("--resamples", "40")
JUDGED = {
    "meta": ("meta", "demo", "-m", "bleu", "-m", "ter", "-d", "fluency", "--trials", "40", *FEW),
    "plane-fit": (
        "plane",
        "fit",
        "demo",
        "-d",
        "errors",
        "--task",
        "mt",
        "--guideline",
        "adequacy",
        "--splits",
        "10",
        *FEW,
    ),
    "plane-recommend": ("plane", "recommend", "--task", "qa", "--guideline", "strict"),
    "judges": ("data", "judges", "demo", "--exclude", "drift"),
    "nuggets-score": ("nuggets", "score", "heron", "wren", "-k", "demo-nuggets", "--nuggets"),
    "nuggets-paper": (
        "nuggets",
        "score",
        "heron",
        "kestrel",
        "-k",
        "demo-nuggets",
        "--classifier",
        "paper:stem=porter,normalised=yes,responses=yes",
    ),
    "nuggets-diff": ("nuggets", "diff", "heron", "kestrel", "-k", "demo-nuggets"),
    "nuggets-tune": ("nuggets", "tune", "demo-nuggets", "--classifier", "paper:once=yes"),
    "nuggets-describe": ("nuggets", "describe", "demo-nuggets"),
    "judge-ratings": ("judge", "ratings", "demo", "-d", "adequacy", *ASKED),
    "judge-pairs": ("judge", "pairs", "demo", "--sample", "5", *ASKED),
    "judge-nuggets": ("judge", "nuggets", "demo-nuggets", *ASKED),
    "judge-plan": ("judge", "ratings", "demo", "-d", "x", "--scale", "1-3", "--dry-run", *ASKED),
    "nuggets-draft": ("nuggets", "draft", "demo", "--sample", "2", *ASKED),
}  # as text and JSON; test_cli_meta.py has the other formats
DRAWN = ("score", "grid")  # as SVG too


def plain(text: str) -> str:
    """The output without the version and without digits that rounding may change."""
    text = text.replace(f"karat={kt.__version__}", "karat=VERSION")
    return re.sub(r"\d+\.\d{11,}(e[+-]\d+)?", lambda found: f"{float(found[0]):.10f}", text)


def page_body(text: str) -> str:
    """An HTML page without its style and script, which have files of their own."""
    return text.partition("<body>")[2].partition("<script>")[0]


def check(text: str, name: str) -> None:
    """Compare with the golden file, or write it where that was asked for."""
    path = GOLDEN / name
    if os.environ.get("KARAT_GOLDEN") == "write":
        path.write_bytes(text.encode("utf-8"))
    assert text == path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", COMMANDS)
def test_output_equals_the_golden_file(output: Callable[..., str], name: str, format: str) -> None:
    text = plain(output(*COMMANDS[name], "--format", format))
    check(page_body(text) if format == "html" else text, f"{name}.{format}")


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("name", JUDGED)
def test_judged_sets_give_the_golden_file(
    output: Callable[..., str], name: str, format: str
) -> None:
    check(plain(output(*JUDGED[name], "--format", format)), f"{name}.{format}")


@pytest.mark.parametrize("format", FORMATS)
def test_planted_errors_give_the_golden_file(
    output: Callable[..., str], tmp_path: Path, format: str
) -> None:
    planted = str(tmp_path / "planted.csv")
    count = output("data", "challenge", "demo", planted)
    text = output("meta", "challenge", planted, "-m", "chrf", "-m", "rouge1", "--format", format)
    text = plain(text).replace(planted, "planted.csv")
    text = page_body(text) if format == "html" else text
    check(count.replace(planted, "planted.csv") + text, f"challenge.{format}")


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing_equals_the_golden_file(output: Callable[..., str], name: str) -> None:
    check(plain(output(*COMMANDS[name], "--format", "svg")), f"{name}.svg")


def test_signatures_equal_the_golden_file(output: Callable[..., str]) -> None:
    text = output("score", "a.txt", *SCORED, "-r", "ref2.txt", "-m", "aev", "--signature-only")
    check(plain(text), "signature.text")


def test_text_is_the_default_format(output: Callable[..., str]) -> None:
    args = ("score", "a.txt", *SCORED)
    assert output(*args) == output(*args, "--format", "text")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_process_of_its_own_prints_the_same(
    karat: Callable[..., Any], output: Callable[..., str], name: str
) -> None:
    done = karat(*COMMANDS[name])
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == output(*COMMANDS[name]).encode("utf-8")


def test_every_golden_file_belongs_to_a_test() -> None:
    expected = {f"{name}.{format}" for name in COMMANDS for format in FORMATS}
    expected |= {f"{name}.{format}" for name in JUDGED for format in ("text", "json")}
    expected |= {f"challenge.{format}" for format in FORMATS}
    expected |= {f"{name}.svg" for name in DRAWN} | {"signature.text"}
    assert {path.name for path in GOLDEN.iterdir()} == expected
