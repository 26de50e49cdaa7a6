"""`karat paraphrase explain`: the steps to a pivot F1, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from arguments import with_option
from oracles.small_tables import PAPER, table

ARGUMENTS = ("paraphrase", "explain", "out.txt", "--originals", "in.txt", "-t", "paper.npz")


@pytest.fixture(autouse=True)
def pairs(folder: Path) -> None:
    (folder / "in.txt").write_text("Morning , sir .\n.\nMorning , sir .\n")
    (folder / "out.txt").write_text("Hello , Querrien .\n.\nnothing alike\n")
    table(PAPER).save(folder / "paper.npz")


def test_the_steps_are_shown(output: Callable[..., str]) -> None:
    text = output(*ARGUMENTS, "--edge", "0")
    for words in ("0.3800", "Bonjour , 0.9 / Salut , 0.1", "in both: 4 n-grams"):
        assert words in text


def test_programs_get_everything(output: Callable[..., str]) -> None:
    report = json.loads(output(*ARGUMENTS, "--edge", "0", "--worst", "2", "-f", "json"))
    assert [row["pair"] for row in report["rows"]] == [3, 1]
    assert report["rows"][1]["pivot_f1"] == 0.38
    assert len([row for row in report["ngrams"] if row["pair"] == 1]) == 20
    assert {row["translation"] for row in report["edges"]} >= {"Bonjour ,", "Salut ,", "nothing"}
    assert report["phrases"][-1]["probability"] == 50 / 70


def test_numbered_pairs(output: Callable[..., str]) -> None:
    report = json.loads(output(*ARGUMENTS, "-s", "2", "-s", "1", "-f", "json"))
    assert [row["pair"] for row in report["rows"]] == [2, 1]


def test_people_are_not_shown_too_much(output: Callable[..., str], folder: Path) -> None:
    (folder / "in.txt").write_text("a b c d e f g h\n.\n.\n")
    text = output(*ARGUMENTS)
    assert "only in the original: 26 n-grams" in text
    assert "The 12 heaviest n-grams of each kind are shown" in text
    assert "a b c d" not in text


def test_a_page_can_be_written(output: Callable[..., str], folder: Path) -> None:
    output(*ARGUMENTS, "-o", "why.html")
    assert "Bonjour" in (folder / "why.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-s", "4"), "--segment 4: the last pair of out.txt is 3"),
        (("-s", "1", "--worst", "1"), "exclude each other: give one"),
        (("--edge", "3"), "edge=3.0: expected 0 to 1"),
        (("--originals", "short.txt"), "they must be equal"),
        (("-t", "in.txt"), "in.txt: expected a phrase table of Karat"),
        (("-t", "none.npz"), "none.npz: No such file"),
        (("-o", "paper.npz"), "cannot write .npz files"),
        (("-o", "./in.txt"), "is one of the inputs"),
    ],
)
def test_bad_input(
    run_karat: Callable[..., Any], folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    (folder / "short.txt").write_text("one\n")
    done = run_karat(*with_option(ARGUMENTS, *arguments))
    assert done.returncode == 2
    message = done.stderr
    assert words in message
    assert "Traceback" not in message
