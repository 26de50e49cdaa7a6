"""The layout of nugget-based RAG evaluation: JSON lines, an answer with a label for every nugget.

    {"qid": …, "query": …, "run_id": …, "answer_text": …,
     "nuggets": [{"text": …, "importance": "vital", "assignment": "partial_support"}]}

A response is a whole answer. Nuggets have no ids: they are numbered from 1, unless they have an
`id`; further descriptions may stand in `also`, votes in `votes`. Who assigned the labels may stand
beside an answer in `judge` and `kind` (person, model or adjudicated); several judges may label an
answer, each on a line. An object without `run_id` only gives nuggets, one without `nuggets` only an
answer, a nugget without `assignment` no judgement. Other members are passed over.

A run with several responses to a question is written as one answer, a response a line, with the
best label of any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from karat.errors import quoted, short
from karat.evalset.reading import (
    FileLocation,
    Reading,
    check_member,
    format_json_line,
    read_json_lines,
)
from karat.nuggets.formats.jsonl import is_votes
from karat.nuggets.sets.draft import NuggetDraft
from karat.nuggets.sets.judgements import NOT, PARTIAL, SUPPORT, Judged
from karat.nuggets.sets.keys import Nugget, Question
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response

LABELS = {"support": SUPPORT, "partial_support": PARTIAL, "not_support": NOT}
NAMES = {value: label for label, value in LABELS.items()}

_Found = dict[str, Any]


class _First(NamedTuple):
    """An answer where it stands first, and who judged it so far: several judges may."""

    place: FileLocation
    text: str
    judges: set[str]


def read_rag(path: Path, draft: NuggetDraft) -> None:
    """All answers of a file."""
    first: dict[tuple[str, str], _First] = {}
    for place, found in read_json_lines(path, draft.reading):
        question = check_member(found, "qid", str, place, draft.reading)
        nuggets = _nuggets(found, place, draft.reading)
        if question is None or nuggets is None:
            continue
        if nuggets:
            _take_key(question, found, [nugget for nugget, _ in nuggets], place, draft)
        if "run_id" not in found:
            continue
        tag = check_member(found, "run_id", str, place, draft.reading)
        text = check_member(found, "answer_text", str, place, draft.reading)
        if tag is None or text is None:
            continue
        judge = _judge(found, place, draft.reading)
        known = first.setdefault((tag, question), _First(place, text, set()))
        if known.place is place:
            draft.response(tag, question, Response(text), place)
        elif judge and (text != known.text or judge["judge"] in known.judges):
            told = f"run {short(tag)} answers question {short(question)} already ({known.place})"
            draft.problem(place, told)
        known.judges.add(judge["judge"] if judge else "")
        for nugget, label in nuggets:
            if label is not None and judge is not None:
                draft.judge(Judged(question, nugget.id, text, LABELS[label], tag, **judge), place)


def _judge(found: _Found, place: FileLocation, reading: Reading) -> dict[str, str] | None:
    """Who assigned the labels, as far as the object says it; None if anything is wrong."""
    names = {
        key: check_member(found, key, str, place, reading) if key in found else ""
        for key in ("judge", "kind")
    }
    return None if None in names.values() else {key: str(name) for key, name in names.items()}


def _nuggets(
    row: _Found, place: FileLocation, reading: Reading
) -> list[tuple[Nugget, str | None]] | None:
    """Nuggets and their labels; none if there are none; None if anything is wrong."""
    given = check_member(row, "nuggets", list, place, reading) if "nuggets" in row else []
    if given is None:
        return None
    for nugget in given:
        if not _is_nugget(nugget):
            expected = "text, importance (vital or okay) and perhaps assignment"
            reading.problem(place, f"found the nugget {quoted(nugget)}, expected {expected}")
            return None
    return [(_nugget(nugget, i), nugget.get("assignment")) for i, nugget in enumerate(given, 1)]


def _is_nugget(given: object) -> bool:
    if not isinstance(given, dict):
        return False
    also = given.get("also", [])
    return (
        isinstance(given.get("text"), str)
        and given.get("importance") in ("vital", "okay")
        and given.get("assignment") in [None, *LABELS]
        and isinstance(given.get("id", ""), str)
        and isinstance(also, list)
        and all(isinstance(text, str) for text in also)
        and is_votes(given.get("votes"))
    )


def _nugget(given: Mapping[str, Any], number: int) -> Nugget:
    texts, id = (given["text"], *given.get("also", ())), given.get("id", str(number))
    return Nugget(id, texts, given["importance"] == "vital", given.get("votes"))


def _take_key(
    id: str, found: _Found, mine: list[Nugget], place: FileLocation, draft: NuggetDraft
) -> None:
    """The nuggets of a question must be the same wherever they stand."""
    if known := draft.questions.get(id):
        both = mine, [nugget for nugget, _ in known.nuggets.values()]
        said = [[(one.id, one.descriptions[0], one.vital) for one in each] for each in both]
        if said[0] != said[1]:
            told = f"found other nuggets for question {short(id)} than before"
            draft.problem(place, f"{told} ({known.place})")
        return
    text = check_member(found, "query", str, place, draft.reading) if "query" in found else ""
    draft.question(id, place, text or "")
    for nugget in mine:
        draft.nugget(id, nugget, place)


# ------------------------------------------------------------------------------------ writing


def rag_lines(nuggets: NuggetSet) -> Iterator[str]:
    """Yield a line for each question and run; a question that no run answers has one without."""
    for question in nuggets.key.questions.values():
        runs = [run for run in nuggets.runs.values() if run.responses(question.id)]
        for run in runs:
            responses = run.responses(question.id)
            texts, best = [some.text for some in responses], nuggets.judgements.best
            known = {one.id: best(question.id, one.id, responses) for one in question.nuggets}
            labels = {id: NAMES[value] for id, value in known.items() if value is not None}
            answer = {"run_id": run.tag, "answer_text": "\n".join(texts)}
            yield format_json_line({**_plain(question, labels), **answer})
        if not runs:
            yield format_json_line(_plain(question, {}))


def _plain(question: Question, labels: Mapping[str, str]) -> _Found:
    numbered = all(nugget.id == str(i) for i, nugget in enumerate(question.nuggets, 1))
    nuggets = [_plain_nugget(nugget, labels, numbered) for nugget in question.nuggets]
    return {"query": question.text, "qid": question.id, "nuggets": nuggets}


def _plain_nugget(nugget: Nugget, labels: Mapping[str, str], numbered: bool) -> _Found:
    found: _Found = {} if numbered else {"id": nugget.id}
    found |= {"text": nugget.descriptions[0], "importance": nugget.importance}
    if nugget.id in labels:
        found["assignment"] = labels[nugget.id]
    if nugget.descriptions[1:]:
        found["also"] = list(nugget.descriptions[1:])
    if nugget.votes is not None:
        found["votes"] = nugget.votes
    return found
