"""TREC RAG 2024 nuggets as JSON lines: an answer of a run with a label for every nugget.

    {"qid": …, "run_id": …, "query": …, "answer_text": …,
     "nuggets": [{"text": …, "importance": "vital", "assignment": "partial_support"}]}

Segments are topics, systems are runs, and the reference of a topic is its nuggets: one text with a
nugget a sentence (`references="joined"`), or a reference for each (`"listed"`). With s = 1 for
support, 1/2 for partial support (0 where strict) and 0 for none:

    all = mean of s over all nuggets        vital = mean of s over vital nuggets
    weighted = (sum over vital + sum over okay / 2) / (number of vital + number of okay / 2)

An answer to a topic without vital nuggets has no `vital` score.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Reading, check_filled, json_rows, member
from karat.evalset.sets import EvalSet

SUPPORT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
STRICT = {"support": 1.0, "partial_support": 0.0, "not_support": 0.0}
WEIGHTS = {
    "all": {"vital": 1.0, "okay": 1.0},
    "vital": {"vital": 1.0, "okay": 0.0},
    "weighted": {"vital": 1.0, "okay": 0.5},
}
JUDGE = "assignment"
"""The labels come without the name of who gave them."""


def read_rag24(
    path: Path, reading: Reading, *, references: str = "joined", name: str | None = None
) -> EvalSet:
    """Return the set in a file."""
    if references not in ("joined", "listed"):
        raise InputError(f"references={quoted(references)}: expected joined or listed")
    answers = list(_answers(path, reading))
    reading.check()
    topics = {answer["qid"]: answer for answer in answers}
    outputs = {(a["run_id"], a["qid"]): a["answer_text"] for a in answers}
    runs = dict.fromkeys(answer["run_id"] for answer in answers)
    dimensions = [*WEIGHTS, *(f"strict-{key}" for key in WEIGHTS)]
    texts = [[nugget["text"] for nugget in topic["nuggets"]] for topic in topics.values()]
    if references == "joined":
        texts = [[" ".join(f"{text.rstrip('.')}." for text in each)] for each in texts]
    check_filled(path, len(outputs), len(runs), len(topics))
    draft = EvalSetDraft(
        name or path.stem,
        list(topics),
        {run: [outputs.get((run, topic)) for topic in topics] for run in runs},
        reading=reading,
        where=path,
        references=texts,
        sources=[topic["query"] for topic in topics.values()],
        dimensions=[Dimension(key, low=0.0, high=1.0) for key in dimensions],
        description="TREC RAG 2024 answers with nugget assignments",
        licence="MIT repository, NIST data",
    )
    for answer in answers:
        _judge(answer, draft)
    return draft.finish()


def _answers(path: Path, reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield all answers, checked; the nuggets of a topic must be the same in all of its."""
    nuggets: dict[str, list[tuple[str, str]]] = {}
    kinds = {"qid": str, "run_id": str, "query": str, "answer_text": str, "nuggets": list}
    for place, found in json_rows(path, reading):
        answer = {key: member(found, key, kind, place, reading) for key, kind in kinds.items()}
        if None in answer.values():
            continue
        if not all(_is_nugget(nugget) for nugget in answer["nuggets"] or [None]):
            reading.problem(place, "expected nuggets with text, importance and assignment")
            continue
        mine = [(nugget["text"], nugget["importance"]) for nugget in answer["nuggets"]]
        if nuggets.setdefault(answer["qid"], mine) != mine:
            reading.problem(place, f"found other nuggets for topic {answer['qid']} than before")
        yield {**answer, "place": place}


def _is_nugget(nugget: object) -> bool:
    return (
        isinstance(nugget, dict)
        and isinstance(nugget.get("text"), str)
        and nugget.get("importance") in ("vital", "okay")
        and nugget.get("assignment") in list(SUPPORT)
    )


def _judge(answer: dict[str, Any], draft: EvalSetDraft) -> None:
    item = answer["run_id"], answer["qid"], JUDGE
    for prefix, support in (("", SUPPORT), ("strict-", STRICT)):
        for key, weights in WEIGHTS.items():
            pairs = [
                (weights[n["importance"]], support[n["assignment"]]) for n in answer["nuggets"]
            ]
            whole = sum(weight for weight, _ in pairs)
            if whole:
                value = sum(weight * s for weight, s in pairs) / whole
                draft.judge(*item, prefix + key, value, answer["place"])
