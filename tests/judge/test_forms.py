"""Forms of answers: JSON by id, numbers on a scale, quotes that occur."""

from __future__ import annotations

import json

import pytest

from karat.llm.interview import InvalidAnswer, JudgedValue, json_object, occurs
from karat.llm.ratings import RatingScale, parse_ratings
from karat.llm.supports import parse_supports

TEXTS = {"1": "A cat\n sat down.", "2": ""}
SCALE = RatingScale(1, 5, "higher")


def answer(first: object, second: object = None, **more: object) -> str:
    item = {"id": "1", "evidence": "cat sat", "value": 4} | (
        first if isinstance(first, dict) else {}
    )
    two = {"id": "2", "evidence": "", "value": 1} | (second if isinstance(second, dict) else {})
    return json.dumps({"answers": [item, two], **more})


@pytest.mark.parametrize(
    "text",
    [
        answer({}),
        f"```json\n{answer({})}\n```",
        f"<think>Is {{this}} good?</think>\n{answer({})}",
        f"Here it is: {answer({})} I hope it helps.",
        answer({"evidence": "CAT   SAT", "id": 1}, unasked="x"),
    ],
)
def test_valid_ratings(text: str) -> None:
    ratings = parse_ratings(TEXTS, SCALE, text)
    assert {key: rating.value for key, rating in ratings.items()} == {TEXTS["1"]: 4, "": 1}
    assert ratings[TEXTS["1"]].evidence.casefold() == "cat sat"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I think it is good.", "invalid JSON"),
        ("[1, 2]", "invalid JSON"),
        ("", "invalid JSON"),
        ("[" * 100_000, "invalid JSON"),
        ('{"answers": [' + "1" * 5000 + "]}", "invalid JSON"),
        ('{"answers": 4}', "no list of answers"),
        ('{"answers": [4]}', "no list of answers"),
        (answer({"id": "3"}), "wrong ids"),
        (answer({"id": "2"}), "wrong ids"),
        (answer({})[:-2] + ', {"id": "3"}]}', "wrong ids"),
        (answer({"value": "4"}), "the value is not a number"),
        (answer({"value": True}), "the value is not a number"),
        (answer({"value": None}), "the value is not a number"),
        (answer({"value": 6}), "the value is off the scale"),
        (answer({"value": 10**400}), "the value is off the scale"),
        (answer({"value": float("inf")}), "the value is off the scale"),
        (answer({"evidence": "\ud800"}), "invalid JSON"),
        (answer({"value": 0.99}), "the value is off the scale"),
        (answer({"value": float("nan")}), "the value is off the scale"),
        (answer({"evidence": ""}), "no evidence"),
        (answer({"evidence": ["cat"]}), "the evidence is not a text"),
        (answer({"evidence": "a dog"}), "the evidence does not occur in the text"),
        (answer({}, {"evidence": "cat"}), "the evidence does not occur in the text"),
    ],
)
def test_invalid_ratings(text: str, reason: str) -> None:
    with pytest.raises(InvalidAnswer, match=f"^{reason}$"):
        parse_ratings(TEXTS, SCALE, text)


@pytest.mark.parametrize(
    ("better", "value", "valid"),
    [("higher", 5, True), ("higher", 1, False), ("lower", 1, True), ("lower", 5, False)],
)
def test_only_the_best_value_needs_no_evidence(better: str, value: int, valid: bool) -> None:
    text = json.dumps({"answers": [{"id": "1", "evidence": "", "value": value}]})
    scale = RatingScale(1, 5, better)
    if valid:
        assert parse_ratings({"1": "words"}, scale, text) == {"words": JudgedValue(value, "")}
    else:
        with pytest.raises(InvalidAnswer, match="no evidence"):
            parse_ratings({"1": "words"}, scale, text)


@pytest.mark.parametrize(
    ("label", "evidence", "result"),
    [
        ("support", "cat sat", JudgedValue(1.0, "cat sat")),
        (" Partial_Support", "cat", JudgedValue(0.5, "cat")),
        ("not_support", "", JudgedValue(0.0, "")),
        ("not_support", "words that are nowhere", JudgedValue(0.0, "")),
        ("support", "", "no evidence"),
        ("partial_support", "dog", "the evidence does not occur in the text"),
        ("yes", "cat", "unknown label"),
        (1, "cat", "unknown label"),
    ],
)
def test_supports(label: object, evidence: str, result: object) -> None:
    text = json.dumps({"answers": [{"id": "1", "evidence": evidence, "label": label}]})
    if isinstance(result, JudgedValue):
        assert parse_supports(TEXTS["1"], ["1"], text) == {"1": result}
    else:
        with pytest.raises(InvalidAnswer, match=str(result)):
            parse_supports(TEXTS["1"], ["1"], text)


def test_the_last_brace_is_not_searched_in_strings() -> None:
    assert json_object('well: {"a": "}"} done') == {"a": "}"}
    assert occurs("", "anything")
    assert not occurs("ab", "a b")
