"""Results of the nugget commands as data: flat rows that are those of the commands' JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import karat as kt
from karat.results import Result

DEMO = kt.load_nuggets("demo-nuggets")
CALLS: dict[str, tuple[tuple[str, ...], Callable[[], Result]]] = {
    "score": (
        ("score", "heron", "wren", "-k", "demo-nuggets", "--classifier", "paper:n=1"),
        lambda: kt.score_nuggets(DEMO.select("heron", "wren"), classifier="paper:n=1"),
    ),
    "diff": (
        ("diff", "heron", "kestrel", "-k", "demo-nuggets"),
        lambda: kt.diff_nuggets(DEMO.select("heron"), DEMO.select("kestrel")),
    ),
    "tune": (("tune", "demo-nuggets"), lambda: kt.tune_nuggets(DEMO)),
    "evaluate": (
        ("evaluate", "demo-nuggets", "--leave-out", "question"),
        lambda: kt.evaluate_nuggets(DEMO, by="question"),
    ),
    "describe": (("describe", "demo-nuggets"), lambda: kt.describe_nuggets("demo-nuggets")),
}


FIELD_OF_KEY = {"known": "known_share", "what": "method"}
"""Fields whose keys in JSON are shorter."""


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_the_numbers_of_its_command(name: str, output: Callable[..., str]) -> None:
    args, call = CALLS[name]
    printed, called_result = json.loads(output("nuggets", *args, "-f", "json")), call()
    assert json.loads(json.dumps(called_result.records())) == printed["rows"]
    assert list(called_result.notes) == printed["notes"]
    assert called_result.signature == printed["signature"].get("nugget-f", "")
    assert len(repr(called_result)) < 200
    for row, printed_row in zip(called_result.rows, printed["rows"], strict=True):
        assert all(value is None or isinstance(value, str | int | float) for value in row)
        row_values: dict[str, Any] = {
            key: getattr(row, FIELD_OF_KEY.get(key, key)) for key in printed_row
        }
        assert row_values == printed_row


def test_a_set_that_cannot_be_read_has_problems_and_no_rows() -> None:
    contents = kt.describe_nuggets("no-such-set")
    assert (contents.rows, contents.problem_count) == ((), 1)
    assert "no such folder or file" in contents.problems[0]


def test_versions_are_sets_of_one_run() -> None:
    with pytest.raises(kt.InputError, match=r"old holds 2 runs \(heron, wren\), expected one"):
        kt.diff_nuggets(DEMO.select("heron", "wren"), DEMO.select("kestrel"))


def test_settings_say_what_was_asked_in_the_words_of_the_command() -> None:
    scored = kt.score_nuggets(DEMO.select("heron"), classifier="paper:n=1,stem=porter")
    assert scored.settings["classifier"] == "paper:n=1,stem=porter"
    tuned = kt.tune_nuggets(DEMO, classifier="paper:stem=porter")
    assert tuned.settings["classifier"] == "paper:stem=porter"
    evaluated = kt.evaluate_nuggets(DEMO, by="question", beta=5.0)
    settings = {key: evaluated.settings[key] for key in ("leave_out", "beta", "classifier")}
    assert settings == {"leave_out": "question", "beta": 5.0, "classifier": "paper"}
    with pytest.raises(kt.InputError, match="classifier=calibrated: expected paper, with settings"):
        kt.tune_nuggets(DEMO, classifier="calibrated")


def test_a_notebook_shows_the_runs_and_their_intervals() -> None:
    page = kt.score_nuggets(DEMO)._repr_html_()
    assert 'alt="Differences from heron"' in page
    assert "<table" in page
