"""Results of the language-model functions: what the commands print, as data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.lm import TrainedModel, score_texts, train_model

Output = Callable[..., str]


@pytest.fixture
def trained(folder: Path) -> TrainedModel:
    return train_model([folder / "ref1.txt", folder / "ref2.txt"], folder / "model.lm", 3)


def test_what_was_trained(trained: TrainedModel, folder: Path, output: Output) -> None:
    report = json.loads(
        output("lm", "train", "ref1.txt", "ref2.txt", "--order", "3", "-o", "m.lm", "-f", "json")
    )
    assert trained.records() == report["rows"]
    assert report["signature"] == {"lm": trained.signature}
    assert list(trained.notes) == report["notes"]
    assert (folder / "m.lm").read_bytes() == (folder / "model.lm").read_bytes()
    assert len(repr(trained)) < 120


@pytest.mark.parametrize(
    ("by", "option"), [("text", ""), ("segment", "--segments"), ("word", "--words")]
)
def test_scores_are_those_of_the_command(
    trained: TrainedModel, folder: Path, output: Output, by: str, option: str
) -> None:
    more = (option,) if option else ()
    args = ("lm", "score", "a.txt", "c.txt", "--model", "model.lm", "-f", "json", *more)
    report = json.loads(output(*args))
    scores = score_texts([Path("a.txt"), Path("c.txt")], "model.lm", by=by)
    assert [row._asdict() for row in scores.rows] == report["rows"] == scores.records()
    assert scores.settings["by"] == by
    assert "<table" in scores._repr_html_()


def test_strings_are_one_text(trained: TrainedModel) -> None:
    scores = score_texts(["the cat sat", "a mat"], trained.path)
    assert [(row.text, row.sentences) for row in scores.rows] == [("texts", 2)]


def test_another_kind_of_rows(trained: TrainedModel) -> None:
    with pytest.raises(InputError, match="by=letter: expected one of text, segment, word"):
        score_texts(["the cat sat"], trained.path, by="letter")
