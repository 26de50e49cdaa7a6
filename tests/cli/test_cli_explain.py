"""`karat explain`: tree accuracies treelet by treelet, in every format, and what it refuses."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REFERENCE = "There was no cost estimate for the second phase"
RESULT = "There was estimate for phase the second no cost"
HEADS = (5, 5, 5, 5, 0, 5, 9, 9, 6)
NAMES = ("simple_tree_accuracy", "generation_tree_accuracy")


def conllu(text: str, heads: tuple[int, ...]) -> str:
    """A sentence with its heads."""
    rows = [
        f"{i}\t{word}\t_\tX\t_\t_\t{head}\tdep\t_\t_"
        for i, (word, head) in enumerate(zip(text.split(), heads, strict=True), 1)
    ]
    return "\n".join(rows) + "\n\n"


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    hard = conllu("<b>&\u202e | \x1b[31m the the", (0, 1, 1, 1, 1))
    trees = conllu(REFERENCE, HEADS) + conllu("a b c d", (0, 1, 2, 3)) + hard
    (folder / "ref.conllu").write_text(trees)
    (folder / "out.txt").write_text(f"{RESULT}\nb a x\n\x1b[31m | the <b>&\u202e\n")
    (folder / "ref.txt").write_text("a\nb\nc\n")


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_add_up_to_the_score(output: Callable[..., str], name: str) -> None:
    command_arguments = (
        "explain",
        "out.txt",
        "-r",
        "ref.conllu",
        "-m",
        name,
        "--worst",
        "3",
        "-f",
        "json",
    )
    report = json.loads(output(*command_arguments))
    scored = json.loads(
        output("score", "out.txt", "-r", "ref.conllu", "-m", name, "--segments", "-f", "json")
    )
    scores = {row["segment"]: row["score"] for row in scored["rows"]}
    assert sorted(row["segment"] for row in report["rows"]) == [1, 2, 3]
    for row in report["rows"]:
        parts = [part for part in report["parts"] if part["segment"] == row["segment"]]
        assert row["score"] == scores[row["segment"]]
        assert sum(part["errors"] for part in parts) == row["errors"]
        assert 1 - sum(part["share"] for part in parts) == pytest.approx(row["score"], abs=1e-12)
        for kind in ("substitutions", "insertions", "deletions", "moves"):
            assert sum(part[kind] for part in parts) == row[kind]


def test_the_worst_come_first_and_the_first_is_the_default(output: Callable[..., str]) -> None:
    worst = json.loads(
        output("explain", "out.txt", "-r", "ref.conllu", "--worst", "2", "-f", "json")
    )
    scores = [row["score"] for row in worst["rows"]]
    assert scores == sorted(scores)
    first = json.loads(output("explain", "out.txt", "-r", "ref.conllu", "-f", "json"))
    assert [row["segment"] for row in first["rows"]] == [1]
    edits = [edit for edit in first["edits"] if edit["move"]]
    assert {(edit["head"], edit["kind"], edit["reference_position"]) for edit in edits} >= {
        ("estimate", "delete", 3),
        ("phase", "delete", 9),
    }


def test_the_papers_example_is_read(output: Callable[..., str]) -> None:
    printed = output("explain", "out.txt", "-r", "ref.conllu")
    assert "the treelet of estimate" in printed
    assert "2 moved: 2 errors of 3, 0.222 off the accuracy." in printed
    assert "The reference stands above, the candidate below." in " ".join(printed.split())
    assert "the treelet of for" not in printed


def test_what_is_drawn_is_what_is_counted(output: Callable[..., str]) -> None:
    simple = output("explain", "out.txt", "-r", "ref.conllu", "-m", "simple_tree_accuracy")
    assert "M1" not in simple
    assert "2 inserted, 2 deleted: 4 errors of 6, 0.444 off the accuracy." in simple
    assert "Shares are of" not in simple
    assert "Shares are of the simple tree accuracy" in output(
        "explain", "out.txt", "-r", "ref.conllu", "-m", "quality_accuracy"
    )


@pytest.mark.parametrize("format", ["text", "md", "latex", "html", "svg", "tsv"])
def test_no_text_commands_a_reader(output: Callable[..., str], format: str) -> None:
    printed = output("explain", "out.txt", "-r", "ref.conllu", "--worst", "3", "--format", format)
    assert not {"\x1b", "\u202e"} & set(printed) or format == "tsv"
    if format == "svg":
        ET.fromstring(printed)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("out.txt", "-r", "ref.conllu", "-s", "4"), "segment 4: the last segment of out.txt is 3"),
        (
            ("out.txt", "-r", "ref.conllu", "-s", "1", "--worst", "1"),
            "segments are chosen by number and as the worst",
        ),
        (
            ("out.txt", "-r", "ref.conllu", "-m", "bleu"),
            "bleu cannot explain segments: expected gtm",
        ),
        (("out.txt", "-r", "ref.txt"), "ref.txt has no trees: generation_tree_accuracy needs"),
        (
            ("out.txt", "-r", "ref.txt", "--worst", "1"),
            "generation_tree_accuracy needs dependency trees",
        ),
        (("out.txt", "-r", "missing.conllu"), "missing.conllu: No such file"),
        (("out.txt", "-r", "ref.conllu", "-o", "out.txt"), "out.txt is one of the inputs"),
    ],
)
def test_bad_input_is_one_sentence(
    run_karat: Callable[..., Any], arguments: tuple[str, ...], expected: str
) -> None:
    done = run_karat("explain", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("karat: ")
    assert done.stderr.count("\n") == 1
    assert expected in done.stderr
