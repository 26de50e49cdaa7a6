"""Labels of nuggets by a model, and their log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judge.judges import PromptValues, judge, server_arguments

import karat as kt
from karat.errors import InputError
from karat.nuggets.formats.loading import load_nuggets

KEY = """q1 - question Who built the bridge?
q1 n1 vital built by Ada
q1 n2 okay opened in 1901
q1 n3 okay made of iron
q2 n1 vital it rains
"""
RUNS = """q1 heron d1 Ada built it, and it is made of iron.
q1 wren d2 ada  built it, and it is made of IRON.
q1 wren d3 Nobody knows.
q2 wren d4 It pours.
"""


@pytest.fixture
def nuggets(tmp_path: Path) -> kt.NuggetSet:
    (tmp_path / "key.txt").write_text(KEY, "utf-8")
    (tmp_path / "runs.txt").write_text(RUNS, "utf-8")
    return load_nuggets(tmp_path / "key.txt", tmp_path / "runs.txt")


def by_word(values: PromptValues) -> dict[str, Any]:
    """Supports what shares its last word with the response."""
    words = values["response"].casefold().strip(".").split()
    listed = []
    for nugget in values["nuggets"]:
        last = nugget["text"].split()[-1].casefold()
        label = "support" if last in words else "not_support"
        listed.append({"id": nugget["id"], "evidence": last * (last in words), "label": label})
    return {"answers": listed}


def test_labels_and_their_log(nuggets: kt.NuggetSet, tmp_path: Path) -> None:
    with judge(by_word) as server:
        supports = kt.judge_nuggets(nuggets, **server_arguments(server, tmp_path))
    rows = [(row.question, row.nugget, row.label, row.evidence, row.runs) for row in supports.rows]
    both = ("heron", "wren")  # white space and case do not matter: one response of two runs
    assert rows == [
        ("q1", "n1", "support", "ada", both),
        ("q1", "n2", "not_support", "", both),
        ("q1", "n3", "support", "iron", both),
        ("q1", "n1", "not_support", "", ("wren",)),
        ("q1", "n2", "not_support", "", ("wren",)),
        ("q1", "n3", "not_support", "", ("wren",)),
        ("q2", "n1", "not_support", "", ("wren",)),
    ]
    assert supports.usage.sent == 3
    assert 'question: "Who built the bridge?"' in server.asked[0].content
    assert not any("heron" in came.content for came in server.asked)
    supports.save_log(tmp_path / "log.jsonl")
    read = load_nuggets(tmp_path / "key.txt", tmp_path / "runs.txt", tmp_path / "log.jsonl")
    assert [(row.judge, row.kind) for row in read.judgements.rows] == [("gpt-test", "model")] * 7
    assert read.judgements.rows[2].evidence == "iron"
    assert not read.judgements.deciding  # evidence, never a judgement
    kt.save_nuggets(read, tmp_path / "all.jsonl")
    assert load_nuggets(tmp_path / "all.jsonl").judgements.rows[2].evidence == "iron"


def test_batches_of_nuggets(nuggets: kt.NuggetSet, tmp_path: Path) -> None:
    with judge(by_word) as server:
        supports = kt.judge_nuggets(nuggets, batch=2, **server_arguments(server, tmp_path))
    assert supports.usage.sent == 5
    assert [row.value for row in supports.rows] == [1, 0, 1, 0, 0, 0, 0]


def test_replicates_take_the_median(nuggets: kt.NuggetSet, tmp_path: Path) -> None:
    labels = ["support", "not_support", "partial_support"]

    def cycling_answer(values: PromptValues) -> dict[str, Any]:
        asked_for.append(1)
        label = labels[len(asked_for) % 3]
        evidence = values["response"].split()[0] if label != "not_support" else ""
        listed = [
            {"id": value["id"], "evidence": evidence, "label": label} for value in values["nuggets"]
        ]
        return {"answers": listed}

    asked_for: list[int] = []
    with judge(cycling_answer) as server:
        supports = kt.judge_nuggets(nuggets, replicates=3, **server_arguments(server, tmp_path))
    assert {(row.label, row.value, row.answers) for row in supports.rows} == {
        ("partial_support", 0.5, 3)
    }


def test_missing_labels_are_counted(nuggets: kt.NuggetSet, tmp_path: Path) -> None:
    def broken(values: PromptValues) -> Any:
        return "?" if "Nobody" in values["response"] else by_word(values)

    with judge(broken) as server:
        supports = kt.judge_nuggets(nuggets, **server_arguments(server, tmp_path))
    assert (len(supports.rows), supports.expected) == (4, 7)
    assert [(row.missing, row.example) for row in supports.missing] == [
        (3, "question q1, nugget n1, run wren")
    ]


def test_a_key_without_runs(tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_text(KEY, "utf-8")
    with pytest.raises(InputError, match=r"key\.txt has no responses: expected at least one run"):
        kt.judge_nuggets(tmp_path / "key.txt", endpoint=kt.Endpoint("demo", "m"))
