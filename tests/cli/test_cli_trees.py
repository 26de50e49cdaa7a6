"""`karat score` with a reference file of trees."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WORDS = ["There", "was", "no", "cost", "estimate", "for", "the", "second", "phase"]
HEADS = (5, 5, 5, 5, 0, 5, 9, 9, 6)
RESULT = "There was estimate for phase the second no cost"
TREES = ("-r", "ref.conllu", "-m", "simple_tree_accuracy")


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    rows = [
        f"{i}\t{word}\t{word}\tX\t_\t_\t{head}\tdep\t_\t_"
        for i, (word, head) in enumerate(zip(WORDS, HEADS, strict=True), 1)
    ]
    (folder / "ref.conllu").write_text("# sent_id = wsj\n" + "\n".join(rows) + "\n\n")
    (folder / "bad.conllu").write_text("# sent_id = wsj\n" + "\n".join(rows[1:]) + "\n\n")
    (folder / "out.txt").write_text(RESULT + "\n")


def test_a_file_of_trees_serves_all_metrics(output: Callable[..., str]) -> None:
    others = ("generation_tree_accuracy", "simple_accuracy", "ter")
    more = [part for name in others for part in ("-m", name)]
    found = json.loads(output("score", "out.txt", *TREES, *more, "--format", "json"))
    scores = {row["metric"]: row["score"] for row in found["rows"]}
    expected = dict(
        zip(("simple_tree_accuracy", *others), (1 / 3, 2 / 3, 4 / 9, 200 / 9), strict=True)
    )
    assert scores == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("a.txt", *TREES), "a.txt has 4 segments and ref.conllu has 1 segment"),
        (("out.txt", *TREES, "-r", "out.txt"), "it can be the only reference, found 2"),
        (
            ("out.txt", "-r", "bad.conllu", "-m", "ter"),
            "bad.conllu, line 2, sentence wsj: found word",
        ),
        (("out.txt", "-r", "out.txt", "-m", "simple_tree_accuracy"), "needs dependency trees"),
        (("out.txt", "-r", "none.conllu"), "none.conllu: No such file"),
    ],
)
def test_bad_trees(called: Callable[..., Any], arguments: tuple[str, ...], sentence: str) -> None:
    done = called("score", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
