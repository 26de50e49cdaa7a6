"""`karat score` with a reference file of trees."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

WORDS = ["There", "was", "no", "cost", "estimate", "for", "the", "second", "phase"]
HEADS = (5, 5, 5, 5, 0, 5, 9, 9, 6)
RESULT = "There was estimate for phase the second no cost"
TREES = ("-r", "ref.conllu", "-m", "simple_tree_accuracy")


def conllu(name: str, words: Sequence[str], heads: Sequence[int], first: int = 1) -> str:
    """A sentence, its words numbered from `first` on."""
    rows = [
        f"{i}\t{word}\t{word}\tX\t_\t_\t{head}\tdep\t_\t_"
        for i, (word, head) in enumerate(zip(words, heads, strict=True), first)
    ]
    return f"# sent_id = {name}\n" + "\n".join(rows) + "\n\n"


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    wsj = conllu("wsj", WORDS, HEADS)
    moved = conllu("moved", RESULT.split(), (3, 3, 0, 3, 4, 7, 5, 3, 3))
    chain = conllu("chain", ["a", "b", "c", "d"], (0, 1, 2, 3))
    bad = conllu("wsj", WORDS[1:], HEADS[1:], first=2)
    files = {"ref": wsj, "bad": bad, "one": wsj + chain, "two": moved + chain, "three": moved * 3}
    for name, text in files.items():
        (folder / f"{name}.conllu").write_text(text)
    (folder / "out.txt").write_text(RESULT + "\n")
    (folder / "outs.txt").write_text(RESULT + "\nb a c d\n")


def test_a_file_of_trees_serves_all_metrics(output: Callable[..., str]) -> None:
    other_metrics = ("generation_tree_accuracy", "simple_accuracy", "ter")
    more = [part for name in other_metrics for part in ("-m", name)]
    report = json.loads(output("score", "out.txt", *TREES, *more, "--format", "json"))
    scores = {row["metric"]: row["score"] for row in report["rows"]}
    expected = dict(
        zip(("simple_tree_accuracy", *other_metrics), (1 / 3, 2 / 3, 4 / 9, 200 / 9), strict=True)
    )
    assert scores == pytest.approx(expected)


def test_the_counts_are_read_beside_the_score(output: Callable[..., str]) -> None:
    names = ("generation_tree_accuracy", "simple_accuracy", "wer", "ter", "quality_accuracy")
    printed = output("score", "out.txt", *TREES, *(part for name in names for part in ("-m", name)))
    lines = [line.split(maxsplit=2) for line in printed.splitlines() if line.startswith("  out ")]
    assert [line[2] if line[2:] else "" for line in lines] == [
        "unchanged 6 S 0 I 3 D 3 words 9",
        "unchanged 6 S 0 I 0 D 0 M 3 words 9",
        "unchanged 6 S 1 I 2 D 2 words 9",
        "S 1 I 2 D 2 words 9",
        "edits 2 shifts 2 words 9",
        "STA 0.333 S 0",
    ]


def test_of_several_trees_the_best_counts(output: Callable[..., str]) -> None:
    def scores(*references: str) -> list[float]:
        reference_options = [part for name in references for part in ("-r", f"{name}.conllu")]
        options = ("-m", "generation_tree_accuracy", "--segments", "--format", "json")
        report = json.loads(output("score", "outs.txt", *reference_options, *options))
        return [row["score"] for row in report["rows"]]

    assert scores("one") == pytest.approx([2 / 3, 3 / 4])
    assert scores("one", "two") == scores("two", "one") == pytest.approx([1, 3 / 4])


def test_the_number_of_trees_is_in_the_signature(output: Callable[..., str]) -> None:
    arguments = ("outs.txt", "-r", "one.conllu", "-r", "two.conllu", "-m", "ter", "-m", TREES[-1])
    report = json.loads(output("score", *arguments, "--format", "json"))
    assert all("nrefs=2" in signature for signature in report["signature"].values())
    assert report["rows"][0]["score"] == pytest.approx(100 / 13)  # as text, too: one shift


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("outs.txt", "-r", "one.conllu", "-r", "three.conllu", "-m", TREES[-1]),
            "outs.txt has 2 segments and three.conllu has 3 segments: they must be equal; "
            "segment 3 (line 23, sentence moved) of three.conllu is the first",
        ),
        (
            ("out.txt", "-r", "ref.conllu", "-r", "one.conllu", "-m", TREES[-1]),
            "segment 2 (line 12, sentence chain) of one.conllu is the first",
        ),
        (
            ("outs.txt", "-r", "one.conllu", "-r", "bad.conllu", "-m", TREES[-1]),
            "bad.conllu, line 2, sentence wsj: found word",
        ),
        (("out.txt", *TREES, "--optional-references"), "ref.conllu has a tree for every segment"),
        (("a.txt", *TREES), "a.txt has 4 segments and ref.conllu has 1 segment"),
        (
            ("o=out.txt", *TREES, "-r", "out.txt"),
            "ref.conllu is a file of trees and out.txt is not",
        ),
        (
            ("out.txt", "-r", "bad.conllu", "-m", "ter"),
            "bad.conllu, line 2, sentence wsj: found word",
        ),
        (("o=out.txt", "-r", "out.txt", "-m", "simple_tree_accuracy"), "needs dependency trees"),
        (("out.txt", "-r", "none.conllu"), "none.conllu: No such file"),
    ],
)
def test_bad_trees(
    run_karat: Callable[..., Any], arguments: tuple[str, ...], sentence: str
) -> None:
    done = run_karat("score", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
