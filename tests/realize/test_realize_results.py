"""Results as data: each command of `karat realize` is one call whose rows are those of its JSON."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from karat import realize
from karat.realize.cli import command
from karat.results import Result

DEMO = resources.files("karat") / "data" / "treebank" / "demo.conllu"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few trees, the bundled treebank and the paper's models of it."""
    folder = tmp_path_factory.mktemp("results")
    text = DEMO.read_text("utf-8")
    (folder / "bank.conllu").write_text(text, "utf-8")
    (folder / "few.conllu").write_text("\n\n".join(text.split("\n\n")[:4]) + "\n\n", "utf-8")
    training = realize.train_realizer_file(folder / "bank.conllu", folder / "m.npz", "fergus")
    (row,) = training.rows
    assert (row.models, row.sentences) == ("baselines, supertags", 182)
    assert row.megabytes == pytest.approx((folder / "m.npz").stat().st_size / 1e6)
    assert training.settings == {"realizer": "fergus", "inputs": "words", "lm_order": 3}
    assert training.records() == [row._asdict()]
    return folder


def command_json(*arguments: object) -> Any:
    """The JSON of a command."""
    done = CliRunner().invoke(command, [*map(str, arguments), "-f", "json"], standalone_mode=False)
    assert done.exception is None
    return json.loads(done.output)


def result_and_command(name: str, place: Path) -> tuple[Result, str, list[object]]:
    """A result, the table of its rows, and its command."""
    model, sample = realize.open_realizer(place / "m.npz"), place / "few.conllu"
    trees = realize.read_trees(sample)
    if name == "generate":
        line = ["generate", sample, "--model", place / "m.npz", "--n-best", 2]
        return realize.realize_trees(model, trees, 2), "rows", line
    if name == "explain":
        return realize.explain_tree(model, trees, 1), "results", [
            "explain", sample, "--model", place / "m.npz", "--segment", 2
        ]  # fmt: skip
    if name == "grammar":
        return realize.list_supertags(place / "m.npz", 5), "rows", [
            "grammar", place / "m.npz", "--most", 5
        ]  # fmt: skip
    evaluation = realize.evaluate_realizer(model, realize.read_treebank(sample))
    return evaluation, "rows", ["evaluate", sample, "--model", place / "m.npz"]


@pytest.mark.parametrize("name", ["generate", "explain", "grammar", "evaluate"])
def test_the_rows_of_a_result_are_those_of_the_json(place: Path, name: str) -> None:
    result, table, line = result_and_command(name, place)
    message = command_json(*line)
    left, right = result.records(), message[table]
    for row in (*left, *right):
        row.pop("speed", None)
    assert left == right
    assert len(left) == len(result.rows)
    assert list(result.notes) == message["notes"][: len(result.notes)]
    assert len(repr(result)) < 100
    assert "<table" in result._repr_html_()


def test_an_evaluation_has_the_signatures_of_its_metrics(place: Path) -> None:
    result, _, line = result_and_command("evaluate", place)
    assert result.signature.split("\n") == list(command_json(*line)["signature"].values())
    assert result.settings == {"inputs": "every"}


def test_forms_are_told_only_of_lemmas(place: Path) -> None:
    result, _, line = result_and_command("evaluate", place)
    assert "forms" not in result.records()[0]
    assert "forms" not in command_json(*line)["rows"][0]
    assert "Forms" not in str(result)


def test_what_is_public_is_listed() -> None:
    assert {"evaluate_realizer", "explain_tree", "open_realizer"} <= set(realize.__all__)
    assert all(getattr(realize, name).__doc__ for name in realize.__all__)
