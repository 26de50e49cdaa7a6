"""Results of the paraphrase functions: what the commands print, as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.paraphrase import align_text, convert_table, read_parallel, write_controls
from karat.results import Result

IN = ["I want to buy a new car.", "Could you help me, please?"]
OUT = ["I would like to purchase a new automobile.", "Please help."]


def result_makers() -> dict[str, Callable[[Path], Result]]:
    """What makes one result of each kind, in a folder."""
    return {
        "score": lambda _: kt.score_paraphrases({"A": OUT, "B": IN}, IN, resamples=20),
        "explain": lambda _: kt.explain_paraphrases(OUT, IN, worst=1),
        "generate": lambda _: kt.generate_paraphrases(IN, n=2),
        "evaluate": lambda _: kt.evaluate_paraphrases("demo-paraphrases", folds=2, resamples=20),
        "align": lambda folder: align_text(read_parallel(folder / "pairs.tsv")),
        "table": lambda folder: convert_table(folder / "moses.txt", folder / "table.npz"),
        "controls": lambda folder: write_controls("demo-paraphrases", folder / "controls"),
    }


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "pairs.tsv").write_text("the house\tdas haus\na book\tein buch\n\tnichts\n")
    (tmp_path / "moses.txt").write_text("a ||| b ||| 1 1 1 1\n")
    return tmp_path


@pytest.mark.parametrize("name", result_makers())
def test_a_result_says_what_it_is(texts: Path, name: str) -> None:
    result = result_makers()[name](texts)
    assert is_dataclass(result)
    assert all(hasattr(row, "_fields") for row in result.rows)
    assert isinstance(result.settings, Mapping)
    assert all(isinstance(note, str) for note in result.notes)
    assert isinstance(result.signature, str)
    assert len(repr(result)) < 120
    assert len(result.records()) >= len(result.rows) > 0
    assert "<table" in result._repr_html_()


@pytest.fixture
def command(tmp_path: Path, run_karat: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Run a command on the same texts, and read its JSON."""

    def run(*args: str) -> dict[str, Any]:
        (tmp_path / "in.txt").write_text("\n".join(IN) + "\n")
        (tmp_path / "out.txt").write_text("\n".join(OUT) + "\n")
        report: dict[str, Any] = json.loads(run_karat("paraphrase", *args, "-f", "json").stdout)
        return report

    return run


def test_scores_are_those_of_the_command(command: Callable[..., dict[str, Any]]) -> None:
    report = command("score", "out.txt", "in.txt", "--originals", "in.txt", "--segments")
    scores = kt.score_paraphrases({"out": OUT, "in": IN}, IN)
    assert scores.records() == report["rows"]
    assert [row._asdict() for row in scores.segments] == report["segments"]
    assert [scores.signature] == list(report["signature"].values())
    assert list(scores.notes) == report["notes"]
    assert kt.score_paraphrases(OUT, IN, segments=False).segments == ()


def test_systems_of_one_name_have_a_row_each() -> None:
    scores = kt.score_paraphrases([("A", OUT), ("A", IN)], IN, resamples=0)
    assert [row.system for row in scores.rows] == ["A", "A"]
    assert scores.rows[0].pem != scores.rows[1].pem


def test_explanations_are_those_of_the_command(command: Callable[..., dict[str, Any]]) -> None:
    report = command("explain", "out.txt", "--originals", "in.txt", "--worst", "2", "--edge", "0.3")
    explanation = kt.explain_paraphrases(OUT, IN, worst=2, edge=0.3)
    assert [row._asdict() for row in explanation.rows] == report["rows"] == explanation.records()
    assert [(row.segment, row.pem) for row in explanation.pem] == [
        (row["pair"], row["pem"]) for row in report["pem"]
    ]
    assert explanation.settings["edge"] == 0.3
    grams = [" ".join(gram.words) for pair in explanation.pairs for gram in pair.grams]
    assert grams == [row["ngram"] for row in report["ngrams"]]


def test_generated_rows_are_those_of_the_command(command: Callable[..., dict[str, Any]]) -> None:
    report = command("generate", "in.txt", "--n-best", "2")
    generated = kt.generate_paraphrases(IN, n=2)
    assert [row._asdict() for row in generated.rows] == report["rows"]
    assert list(generated.notes) == report["notes"]


def test_an_evaluation_has_its_points(command: Callable[..., dict[str, Any]]) -> None:
    report = command("evaluate", "demo-paraphrases", "--folds", "2", "--resamples", "20")
    evaluation = kt.evaluate_paraphrases("demo-paraphrases", folds=2, resamples=20)
    assert [row._asdict() for row in evaluation.gains] == report["better"]
    assert evaluation.records() == report["rows"]
    assert len(evaluation.predictions) == report["rows"][0]["rows"] == 160
    assert {point.system for point in evaluation.system_means} == {
        p.system for p in evaluation.predictions
    }
    assert kt.evaluate_paraphrases("demo-paraphrases", folds=2, resamples=0).gains == ()


def test_an_alignment_counts_what_it_left_out(texts: Path) -> None:
    alignment = align_text(read_parallel(texts / "pairs.tsv"))
    assert alignment.rows[0] == (3, len(alignment.links.source), 1, 0)
    assert alignment.notes == ("no links for 1 sentence pair with an empty side",)
    assert alignment.signature.startswith("fertility-joint:model1=4,")
