"""The offline stand-in: word overlap, worked by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

import karat as kt
from karat.llm.demo import answer, overlap
from karat.llm.task_prompts import bundled_prompts

DEMO = kt.Endpoint("demo", "word overlap")


def demo_answer(task: str, **values: Any) -> dict[str, Any]:
    prompt, slots, _ = bundled_prompts()[task]
    return dict(json.loads(answer(prompt.messages(dict.fromkeys(slots.all) | values))))


@pytest.mark.parametrize(
    ("text", "other", "f"),
    [
        ("the cat sat", "The cat ran!", 2 * 2 / 6),
        ("a a b", "a b b", 2 * 2 / 6),
        ("x", "y", 0),
        ("", "", 0),
    ],
)
def test_overlap(text: str, other: str, f: float) -> None:
    assert overlap(text, other) == pytest.approx(f)


@pytest.mark.parametrize(
    ("scale", "value"),
    [
        ({"low": 1, "high": 5, "better": "higher"}, 4),  # 1 + 4 x 2/3 = 3.67
        ({"low": 1, "high": 5, "better": "lower"}, 2),
        ({"low": 0, "high": 0.5, "better": "higher"}, 0.5 * 2 / 3),
    ],
)
def test_ratings(scale: dict[str, Any], value: float) -> None:
    outputs = [{"id": "1", "text": "the cat sat"}]
    result = demo_answer("ratings", outputs=outputs, references=["the cat ran", "no"], scale=scale)
    (entry,) = result["answers"]
    assert entry["value"] == pytest.approx(value)
    assert (entry["id"], entry["evidence"]) == ("1", "the cat sat")


def test_pairs_and_nuggets() -> None:
    outputs = [{"id": "1", "text": "x"}, {"id": "2", "text": "a cat"}]
    assert demo_answer("pairs", outputs=outputs, source="the cat") == {
        "evidence": "a cat",
        "better": "2",
    }
    equal = [{"id": "1", "text": "x"}, {"id": "2", "text": "y"}]
    assert demo_answer("pairs", outputs=equal, references=["z"]) == {
        "evidence": "",
        "better": "tie",
    }
    texts = ("built by Ada Marlow", "Marlow built ships", "made of iron", "of it")
    nuggets = [{"id": str(k), "text": text} for k, text in enumerate(texts)]
    result = demo_answer("nuggets", response="Well. Ada Marlow built it.", nuggets=nuggets)
    labels = [entry["label"] for entry in result["answers"]]
    assert labels == ["support", "partial_support", "not_support", "partial_support"]
    assert result["answers"][0]["evidence"] == "Ada Marlow built it."


def test_it_says_that_it_is_no_model() -> None:
    ratings = kt.judge_ratings("demo", "adequacy", endpoint=DEMO)
    assert ratings.judge == "demo (word overlap)"
    assert ratings.notes[0].startswith("demo is the offline stand-in: it counts shared words")
    assert (len(ratings.rows), ratings.missing) == (48, ())


def test_a_prompt_that_it_cannot_read() -> None:
    assert "finds no lines" in answer([("user", "Hello?")])
