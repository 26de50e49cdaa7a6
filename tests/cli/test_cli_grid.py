"""`karat grid` on input that it must refuse, and on text that is hard to draw."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HARD = (
    "",
    "one",
    "\u2502 \u2500 \u25a0 \u00b7",  # box drawing, and the signs of the grid itself
    "<script>alert(1)</script> & ]]> --> </svg>",
    "\u05e9\u05dc\u05d5\u05dd \u65e5\u672c e\u0301 \U0001f469\u200d\U0001f467",
    "x\u202ey \x1b[31mred",
)


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    text = "".join(f"{line}\n" for line in HARD)
    (folder / "hard.txt").write_bytes(text.encode())
    (folder / "turned.txt").write_bytes("".join(f"{line[::-1]}\n" for line in HARD).encode())
    (folder / "gap.txt").write_text("a\n\nc\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("a.txt", "-r", "ref1.txt", "-s", "5"), "segment 5: the last segment of a.txt is 4"),
        (("a.txt", "-r", "ref1.txt", "-s", "0"), "0 is not in the range x>=1"),
        (
            ("a.txt", "-r", "ref1.txt", "-s", "1", "--worst", "1"),
            "segments are chosen by number and as the worst",
        ),
        (("a.txt", "-r", "ref1.txt", "-m", "bleu"), "bleu cannot explain segments: expected gtm"),
        (("a.txt", "-r", "gap.txt"), "a.txt has 4 segments and gap.txt has 3 segments"),
        (
            ("gap.txt", "-r", "gap.txt", "-s", "2", "--optional-references"),
            "segment 2 has no reference",
        ),
        (
            ("gap.txt", "-r", "gap.txt", "--worst", "1", "--optional-references"),
            "segment 2 has no refer",
        ),
        (("a.txt", "-r", "missing.txt"), "missing.txt: No such file"),
        (("a.txt", "-r", "ref1.txt", "-o", "nowhere/grid.html"), "there is no directory"),
        (("a.txt", "-r", "ref1.txt", "-o", "a.txt"), "a.txt is one of the inputs"),
    ],
)
def test_bad_input_is_one_sentence_and_no_file(
    run_karat: Callable[..., Any], folder: Path, arguments: tuple[str, ...], expected: str
) -> None:
    before = sorted(folder.iterdir())
    done = run_karat("grid", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("karat: ")
    assert done.stderr.count("\n") == 1
    assert expected in done.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("format", ["text", "md", "latex", "html", "svg"])
def test_no_text_commands_a_reader(output: Callable[..., str], format: str) -> None:
    printed = output("grid", "hard.txt", "-r", "turned.txt", "--worst", "99", "--format", format)
    assert not {"\x1b", "\u202e"} & set(printed)
    assert "<script>alert" not in printed or format not in ("html", "svg")
    if format == "svg":
        ET.fromstring(printed)


def test_a_segment_asked_for_twice_is_shown_once(output: Callable[..., str]) -> None:
    twice = output("grid", "a.txt", "-r", "ref1.txt", "-s", "2", "-s", "2")
    assert twice.count("Segment 2: matching") == 1
    assert twice == output("grid", "a.txt", "-r", "ref1.txt", "-s", "2")
