"""Drafts of keys: facts that are short, different and quoted, in files that commands read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judge.judges import PromptValues, judge, server_arguments

import karat as kt
from karat.errors import InputError, OutputError
from karat.nuggets.drafting import read_facts
from karat.nuggets.formats.loading import load_nuggets

DOCUMENTS = ("The bridge was built\nby Ada in 1901.", "It is made of iron.")


def fact(text: str = "Ada built it", **more: Any) -> dict[str, Any]:
    return {"document": "1", "quote": "built by Ada", "fact": text, "importance": "vital"} | more


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (fact(" ".join(["word"] * 13)), "longer than 12 words"),
        (fact("..."), "no words, or control characters"),
        (fact("a \x00 b"), "no words, or control characters"),
        (fact(importance="crucial"), "neither vital nor okay"),
        (fact(document="3"), "no document of that number"),
        (fact(document=None), "no document of that number"),
        (fact(quote="built by Bob"), "no quote that occurs in the document"),
        (fact(quote=""), "no quote that occurs in the document"),
        (fact(document="2"), "no quote that occurs in the document"),
        (fact("ADA  built it."), "a duplicate"),
    ],
)
def test_refused_facts(arguments: dict[str, Any], reason: str) -> None:
    result = read_facts(DOCUMENTS, 20, json.dumps({"facts": [fact(), arguments]}))
    assert [item.text for item in result.accepted] == ["Ada built it"]
    assert [item.reason for item in result.refused] == [reason]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"facts": []}, "no facts"),
        ({"facts": [fact(quote="x y")]}, r"no valid fact \(no quote that occurs in the document\)"),
        ({"nuggets": []}, "no list of facts"),
    ],
)
def test_answers_that_are_asked_again(answer: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_facts(DOCUMENTS, 20, json.dumps(answer))


def test_at_most_so_many() -> None:
    facts = [fact(f"fact {k}", document=1) for k in range(4)]
    result = read_facts(DOCUMENTS, 3, json.dumps({"facts": facts}))
    assert [len(part) for part in result] == [3, 1]
    assert result.refused[0].reason == "more than 3 facts"


QUESTIONS = [
    {"question": "q1", "text": "Who built it?", "documents": list(DOCUMENTS)},
    {"question": "q2", "documents": ["Nothing to see."]},
]


def drafting(values: PromptValues) -> Any:
    if values["question"] is None:
        return "no idea"
    okay = fact("made of iron", document="2", quote="made of iron", importance="okay")
    return {"facts": [fact(), okay, fact("Ada built it!")]}


def test_a_key_that_every_command_reads(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in QUESTIONS), "utf-8")
    with judge(drafting) as server:
        draft = kt.draft_nuggets(path, **server_arguments(server, tmp_path))
    assert [(row.nugget, row.importance, row.description, row.quote) for row in draft.rows] == [
        ("1", "vital", "Ada built it", "built by Ada"),
        ("2", "okay", "made of iron", "made of iron"),
    ]
    assert [(row.question, row.fact, row.reason) for row in draft.refused] == [
        ("q1", "Ada built it!", "a duplicate")
    ]
    assert [row.question for row in draft.missing] == ["q2"]
    message = (
        "gpt-test drafted 2 nuggets (1 vital) for 1 question of questions.jsonl. 1 fact refused."
    )
    assert draft.summary.startswith(message)
    for name in ("key.jsonl", "key.txt"):
        draft.save_log(tmp_path / name)
        key = load_nuggets(tmp_path / name).key
        assert key == draft.key
        assert key.questions["q1"].text == "Who built it?"
        companion = (tmp_path / f"{name}.draft.jsonl").read_text("utf-8").splitlines()
        assert json.loads(companion[0])["drafted_by"] == "gpt-test"
        assert json.loads(companion[1])["quote"] == "built by Ada"
    first = json.loads((tmp_path / "key.jsonl").read_text("utf-8").splitlines()[0])
    assert first["drafted_by"] == "gpt-test"
    assert "|prompt=draft.v1@" in first["signature"]
    with pytest.raises(OutputError, match=r"ends in \.jsonl"):
        draft.save_log(tmp_path / "key.md")


def test_references_of_a_set_are_documents() -> None:
    draft = kt.draft_nuggets("demo", endpoint=kt.Endpoint("demo", "m"), most=2, sample=3)
    assert len(draft.questions) == 3
    assert len(draft.rows) == 6
    assert all(len(row.description.split()) <= 12 for row in draft.rows)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"question": "q", "documents": []}', "line 1: expected at least one document"),
        ('{"question": "q", "documents": ["x"], "extra": 1}', "line 1: found the name 'extra'"),
        ('{"question": 3, "documents": ["x"]}', "line 1:"),
        ('{"question": "q", "documents": ["x"]}\n' * 2, "line 2: question q again"),
        ('{"question": "q", "documents": ["x"]}\n{', "line 2"),
    ],
)
def test_questions_that_are_wrong(lines: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(lines, "utf-8")
    with pytest.raises(InputError) as error:
        kt.draft_nuggets(path, endpoint=kt.Endpoint("demo", "m"))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "prompt", "message"),
    [
        (None, None, "found None, expected an evaluation set, its name, a path"),
        ("demo", 3, "prompt=3: expected the path of a file"),
    ],
)
def test_arguments_of_a_wrong_type(arguments: Any, prompt: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kt.draft_nuggets(arguments, endpoint=kt.Endpoint("demo", "m"), prompt=prompt)


def test_signatures_say_which_questions_were_drawn() -> None:
    options: Any = {"endpoint": kt.Endpoint("demo", "m"), "most": 2}
    all_values, part = (
        kt.draft_nuggets("demo", **options, **drawing) for drawing in ({}, {"sample": 3})
    )
    assert all_values.signature.startswith("draft-nuggets:most=2|")
    assert part.signature.startswith("draft-nuggets:most=2,sample=3,seed=12345|")
    assert (part.settings["sample"], part.settings["seed"]) == (3, 12345)


def test_a_set_without_references() -> None:
    part = kt.make_evalset("bare", {"a": ("x",)})
    with pytest.raises(InputError, match="bare has no contexts and no references"):
        kt.draft_nuggets(part, endpoint=kt.Endpoint("demo", "m"))
