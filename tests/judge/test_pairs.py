"""Pairs: both orders always, flips as ties, position bias."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judge.judges import PromptValues, a_set, judge, server_arguments

import karat as kt
from karat.errors import InputError
from karat.llm.interview import JudgedValue
from karat.llm.pairs import parse_preference, settle_orders

TEXTS = {"1": "First words.", "2": "Second words."}


def preferring(text: str, values: PromptValues) -> dict[str, Any]:
    """Prefers outputs that contain a text; a tie if both or none do."""
    good = [value for value in values["outputs"] if text in value["text"]]
    if len(good) != 1:
        return {"evidence": "", "better": "tie"}
    return {"evidence": text, "better": good[0]["id"]}


def always_first(values: PromptValues) -> dict[str, Any]:
    return {"evidence": values["outputs"][0]["text"], "better": "1"}


@pytest.mark.parametrize(
    ("item", "two", "value"),
    [(1, 0, 1), (0, 1, 0), (0.5, 0.5, 0.5), (1, 1, 0.5), (0, 0, 0.5), (1, 0.5, 0.5), (0.5, 1, 0.5)],
)
def test_both_orders_must_agree(item: float, two: float, value: float) -> None:
    assert settle_orders(JudgedValue(item, ""), JudgedValue(two, "")) == value


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ({"better": "1", "evidence": "first"}, JudgedValue(1, "first")),
        ({"better": 2, "evidence": "Second"}, JudgedValue(0, "Second")),
        ({"better": "Tie", "evidence": "nowhere"}, JudgedValue(0.5, "")),
        ({"better": "3", "evidence": "first"}, "unknown better"),
        ({"evidence": "first"}, "unknown better"),
        ({"better": "1"}, "no evidence"),
        ({"better": "1", "evidence": "second"}, "the evidence does not occur in the text"),
    ],
)
def test_answers(answer: dict[str, Any], result: object) -> None:
    if isinstance(result, JudgedValue):
        assert parse_preference(TEXTS, json.dumps(answer)) == result
    else:
        with pytest.raises(ValueError, match=str(result)):
            parse_preference(TEXTS, json.dumps(answer))


def test_a_steady_judge(tmp_path: Path) -> None:
    with judge(lambda values: preferring("cat", values)) as server:
        pairs = kt.judge_pairs(a_set(), **server_arguments(server, tmp_path))
    rows = [(row.segment, row.system, row.other, row.value, row.flipped) for row in pairs.rows]
    assert rows == [("1", "alpha", "beta", 1, False), ("2", "alpha", "beta", 0.5, None)]
    assert pairs.usage.sent == 2
    first = [came.content.index("A cat") < came.content.index("Dogs") for came in server.asked]
    assert sorted(first) == [False, True]  # each was shown first once
    assert not any("alpha" in json.dumps(came.body) for came in server.asked)
    assert pairs.bias == (1, 0, 0.0, 2, 0.5)
    assert "1 pair of equal outputs counts as a tie; nobody was asked about it." in pairs.notes


def test_a_judge_who_prefers_the_first(tmp_path: Path) -> None:
    systems = {"a": ("One.", "Two."), "b": ("Three.", "Four."), "c": ("Five.", "Six.")}
    with judge(always_first) as server:
        pairs = kt.judge_pairs(
            kt.make_evalset("three", systems), **server_arguments(server, tmp_path)
        )
    assert [(row.value, row.flipped, row.evidence) for row in pairs.rows] == [(0.5, True, "")] * 6
    assert pairs.usage.sent == 12
    assert pairs.bias == (6, 6, 1.0, 12, 1.0)
    message = (
        "The order changed the winner of 6 of 6 pairs (100.0%), which count as ties; the output "
    )
    assert f"{message}shown first won 100.0% of the decided answers." in pairs.summary


def test_a_baseline_and_a_log_that_sets_read(tmp_path: Path) -> None:
    systems = {"a": ("One.",), "base": ("Two.",), "c": ("Three.",)}
    part = kt.make_evalset("three", systems)
    with judge(lambda values: preferring("One", values)) as server:
        pairs = kt.judge_pairs(part, baseline="base", **server_arguments(server, tmp_path))
    assert [(row.system, row.other, row.value) for row in pairs.rows] == [
        ("a", "base", 1),
        ("c", "base", 0.5),
    ]
    pairs.save_log(tmp_path / "log.jsonl")
    added = part.with_judgements(tmp_path / "log.jsonl")
    assert added.rated_by("gpt-test", "preference").tolist() == [[1], [0.25], [0.5]]


def test_one_order_alone_is_missing(tmp_path: Path) -> None:
    def half(values: PromptValues) -> Any:
        return "?" if values["outputs"][0]["text"] == "Dogs." else preferring("Cats", values)

    systems = {"a": ("Cats.", "Cats!"), "b": ("Dogs.", "Cows.")}
    part = kt.make_evalset("two", systems)
    with judge(half) as server:
        pairs = kt.judge_pairs(
            part, **server_arguments(server, tmp_path, limits=kt.Limits(attempts=1))
        )
        assert len(server.asked) == 4
    (row,) = pairs.missing
    assert (row.reason, row.example) == ("invalid answer (invalid JSON)", "a and b, segment 1")
    assert [(item.segment, item.value) for item in pairs.rows] == [("2", 1)]


def test_a_quality_has_a_dimension_of_its_own(tmp_path: Path) -> None:
    with judge(lambda values: preferring("cat", values)) as server:
        pairs = kt.judge_pairs(a_set(), dimension="fluency", **server_arguments(server, tmp_path))
    assert 'quality: "fluency"' in server.asked[0].content
    assert pairs.dimension == kt.Dimension(
        "fluency preference", low=0, high=1, guideline="Does it read well?"
    )


@pytest.mark.parametrize(
    ("systems", "more", "message"),
    [
        ({"a": ("x",)}, {}, "one has one system: expected at least two"),
        ({"a": ("x",), "b": ("y",)}, {"baseline": "z"}, "'z'"),
    ],
)
def test_refused(systems: Any, more: dict[str, Any], message: str) -> None:
    part = kt.make_evalset("one", systems)
    with pytest.raises(InputError) as error:
        kt.judge_pairs(part, endpoint=kt.Endpoint("demo", "m"), **more)
    assert message in str(error.value)
