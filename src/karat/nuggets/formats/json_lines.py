"""JSON lines: keys, runs and judgements, in one file or in several, one object a line.

    {"question": "q1", "text": "…", "nuggets": [{"id": "1", "importance": "vital", "votes": 6,
                                                  "descriptions": ["…"]}]}
    {"run": "A", "institution": "…"}
    {"run": "A", "question": "q1", "response": "…", "document": "…"}
    {"question": "q1", "nugget": "1", "response": "…", "value": 1, "run": "A", "judge": "…",
     "kind": "person", "evidence": "…"}
    {"question": "q1", "nugget": "1", "description": "…"}
    {"question": "q1", "nugget": {"id": "8", "importance": "okay", "descriptions": ["…"]}}

The last two stand among judgements: what an assessor added to the key while judging, further words
for a nugget and a nugget that was missing.

`text`, `votes`, `institution`, `document`, and of a judgement `run`, `judge`, `kind` (person, model
or adjudicated) and `evidence` (words of the response) may be left out. The first line may say what
the file is: the log or the draft of a language model.

    {"judgements": "NAME", "signature": "…"}
    {"key": "NAME", "drafted_by": "MODEL", "signature": "…"}

`value` is 1 (the response carries the nugget), 0.5 (in part) or 0. A run's responses stand in the
order it gave them; lines may otherwise stand in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from karat.errors import quoted, short
from karat.evalset.reading import (
    FileLocation,
    Reading,
    check_member,
    format_json_line,
    parse_number,
    read_json_lines,
)
from karat.nuggets.sets.judgements import NOT, PARTIAL, SUPPORT, JudgedResponse
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response
from karat.nuggets.sets.nugget_set import NuggetDraft, NuggetSet

QUESTION = ("question", "text", "nuggets")
NUGGET = ("id", "importance", "votes", "descriptions")
RUN = ("run", "institution")
RESPONSE = ("run", "question", "response", "document")
DESCRIPTION = ("question", "nugget", "description")
ADDITION = ("question", "nugget")
JUDGEMENT = ("question", "nugget", "response", "value", "run", "judge", "kind", "evidence")
HEADERS = {"judgements": ("judgements", "signature"), "key": ("key", "drafted_by", "signature")}
"""First member of a first line that says what a file is, and all its members."""

_Found = Mapping[str, Any]


def read_jsonl(path: Path, draft: NuggetDraft) -> None:
    """All lines of a file."""
    take_rows(read_json_lines(path, draft.reading), draft)


def take_rows(rows: Iterable[tuple[FileLocation, _Found]], draft: NuggetDraft) -> None:
    """Put the objects of all lines into a draft."""
    for place, row in rows:
        if place.line == 1 and (names := HEADERS.get(next(iter(row), ""))):
            _texts(row, names, names, place, draft.reading)
        elif "nuggets" in row:
            _question(row, place, draft)
        elif isinstance(row.get("nugget"), dict):
            addition = _texts({**row, "nugget": ""}, ADDITION, ADDITION, place, draft.reading)
            nugget = _nugget(row["nugget"], place, draft.reading)
            if addition and nugget:
                draft.add(addition["question"], nugget, place)
        elif "nugget" in row and "description" in row:
            if texts := _texts(row, DESCRIPTION, DESCRIPTION, place, draft.reading):
                draft.add_words(texts["question"], texts["nugget"], texts["description"], place)
        elif "nugget" in row:
            _judgement(row, place, draft)
        elif "run" in row and "question" not in row:
            if texts := _texts(row, ("run",), RUN, place, draft.reading):
                draft.run(texts["run"], place, texts["institution"])
        elif texts := _texts(row, RESPONSE[:3], RESPONSE, place, draft.reading):
            response = Response(texts["response"], texts["document"])
            draft.response(texts["run"], texts["question"], response, place)


def _texts(
    row: _Found,
    needed: tuple[str, ...],
    allowed: tuple[str, ...],
    place: FileLocation,
    reading: Reading,
) -> dict[str, str] | None:
    """The members that are strings, those that may be left out as ""; None if anything is wrong."""
    before = len(reading.problems) + reading.more
    if unknown := [key for key in row if key not in allowed]:
        expected = ", ".join(allowed)
        reading.problem(place, f"found the name {quoted(unknown[0])}, expected {expected}")
    values = {key: check_member(row, key, str, place, reading) for key in needed}
    for key in allowed:
        if key in row and key not in (*needed, "nuggets", "value"):
            values[key] = check_member(row, key, str, place, reading)
    if len(reading.problems) + reading.more > before:
        return None
    return {key: str(values.get(key, "")) for key in allowed}


def _question(row: _Found, place: FileLocation, draft: NuggetDraft) -> None:
    texts = _texts(row, ("question",), QUESTION, place, draft.reading)
    nuggets = check_member(row, "nuggets", list, place, draft.reading)
    if texts is None or nuggets is None:
        return
    draft.question(texts["question"], place, texts["text"])
    for entry in nuggets:
        if nugget := _nugget(entry, place, draft.reading):
            draft.nugget(texts["question"], nugget, place)


def _nugget(entry: object, place: FileLocation, reading: Reading) -> Nugget | None:
    fields = entry if isinstance(entry, dict) else {}
    texts = fields.get("descriptions")
    good = (
        isinstance(fields.get("id"), str)
        and fields.get("importance") in ("vital", "okay")
        and isinstance(texts, list)
        and bool(texts)
        and all(isinstance(text, str) for text in texts)
        and is_votes(fields.get("votes"))
        and set(fields) <= set(NUGGET)
    )
    if not good:
        expected = "id, importance (vital or okay), descriptions and perhaps votes"
        reading.problem(place, f"found the nugget {quoted(entry)}, expected {expected}")
        return None
    vital = fields["importance"] == "vital"
    return Nugget(fields["id"], tuple(fields["descriptions"]), vital, fields.get("votes"))


def is_votes(value: object) -> bool:
    """Return whether this is a number of assessors, or nothing."""
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def _judgement(row: _Found, place: FileLocation, draft: NuggetDraft) -> None:
    texts = _texts(row, JUDGEMENT[:3], JUDGEMENT, place, draft.reading)
    raw_value = row.get("value")
    value = None if isinstance(raw_value, str) else parse_number(raw_value)
    if value is None:
        draft.problem(place, f"found the value {quoted(raw_value)}, expected 0, 0.5 or 1")
    elif texts is not None:
        draft.judge(JudgedResponse(**{**texts, "value": value}), place)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------ writing


def jsonl_lines(nuggets: NuggetSet) -> Iterator[str]:
    """Yield the lines of a file that reads back as the set."""
    for question in nuggets.key.questions.values():
        fields = {"question": question.id, **_filled(text=question.text)}
        yield format_json_line(
            {**fields, "nuggets": [_plain_nugget(nugget) for nugget in question.nuggets]}
        )
    for run in nuggets.runs.values():
        yield format_json_line({"run": run.tag, **_filled(institution=run.institution)})
        for id, responses in run.answers.items():
            for response in responses:
                fields = {"run": run.tag, "question": id, "response": response.text}
                yield format_json_line({**fields, **_filled(document=response.document)})
    for row in nuggets.judgements.rows:
        yield judgement_line(row)


def judgement_line(row: JudgedResponse) -> str:
    """One judgement as a line, so that a file of them can be added to."""
    fields = {key: getattr(row, key) for key in JUDGEMENT[:4]}
    more = _filled(run=row.run, judge=row.judge, kind=row.kind, evidence=row.evidence)
    return format_json_line({**fields, **more})


def _plain_nugget(nugget: Nugget) -> dict[str, Any]:
    return {
        "id": nugget.id,
        "importance": nugget.importance,
        **({} if nugget.votes is None else {"votes": nugget.votes}),
        "descriptions": list(nugget.descriptions),
    }


def _filled(**texts: str) -> dict[str, str]:
    return {key: text for key, text in texts.items() if text}


LABELS = {"support": SUPPORT, "partial_support": PARTIAL, "not_support": NOT}
NAMES = {value: label for label, value in LABELS.items()}

_RagObject = dict[str, Any]


class _First(NamedTuple):
    """An answer where it stands first, and who judged it so far: several judges may."""

    place: FileLocation
    text: str
    judges: set[str]


def read_rag(path: Path, draft: NuggetDraft) -> None:
    """All answers of a file."""
    first: dict[tuple[str, str], _First] = {}
    for place, row in read_json_lines(path, draft.reading):
        question = check_member(row, "qid", str, place, draft.reading)
        nuggets = _nuggets(row, place, draft.reading)
        if question is None or nuggets is None:
            continue
        if nuggets:
            _take_key(question, row, [nugget for nugget, _ in nuggets], place, draft)
        if "run_id" not in row:
            continue
        tag = check_member(row, "run_id", str, place, draft.reading)
        text = check_member(row, "answer_text", str, place, draft.reading)
        if tag is None or text is None:
            continue
        judge = _judge(row, place, draft.reading)
        first_answer = first.setdefault((tag, question), _First(place, text, set()))
        if first_answer.place is place:
            draft.response(tag, question, Response(text), place)
        elif judge and (text != first_answer.text or judge["judge"] in first_answer.judges):
            problem = f"run {short(tag)} answers question {short(question)} already"
            draft.problem(place, f"{problem} ({first_answer.place})")
        first_answer.judges.add(judge["judge"] if judge else "")
        for nugget, label in nuggets:
            if label is not None and judge is not None:
                draft.judge(
                    JudgedResponse(question, nugget.id, text, LABELS[label], tag, **judge), place
                )


def _judge(row: _RagObject, place: FileLocation, reading: Reading) -> dict[str, str] | None:
    """Who assigned the labels, as far as the object says it; None if anything is wrong."""
    names = {
        key: check_member(row, key, str, place, reading) if key in row else ""
        for key in ("judge", "kind")
    }
    return None if None in names.values() else {key: str(name) for key, name in names.items()}


def _nuggets(
    row: _RagObject, place: FileLocation, reading: Reading
) -> list[tuple[Nugget, str | None]] | None:
    """Nuggets and their labels; none if there are none; None if anything is wrong."""
    entries = check_member(row, "nuggets", list, place, reading) if "nuggets" in row else []
    if entries is None:
        return None
    for nugget in entries:
        if not _is_nugget(nugget):
            expected = "text, importance (vital or okay) and perhaps assignment"
            reading.problem(place, f"found the nugget {quoted(nugget)}, expected {expected}")
            return None
    return [
        (_parse_rag_nugget(nugget, i), nugget.get("assignment"))
        for i, nugget in enumerate(entries, 1)
    ]


def _is_nugget(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    also = entry.get("also", [])
    return (
        isinstance(entry.get("text"), str)
        and entry.get("importance") in ("vital", "okay")
        and entry.get("assignment") in [None, *LABELS]
        and isinstance(entry.get("id", ""), str)
        and isinstance(also, list)
        and all(isinstance(text, str) for text in also)
        and is_votes(entry.get("votes"))
    )


def _parse_rag_nugget(entry: Mapping[str, Any], number: int) -> Nugget:
    texts, id = (entry["text"], *entry.get("also", ())), entry.get("id", str(number))
    return Nugget(id, texts, entry["importance"] == "vital", entry.get("votes"))


def _take_key(
    id: str, row: _RagObject, nuggets: list[Nugget], place: FileLocation, draft: NuggetDraft
) -> None:
    """The nuggets of a question must be the same wherever they stand."""
    if earlier := draft.questions.get(id):
        both = nuggets, earlier.nuggets.values()
        compared = [[(item.id, item.descriptions[0], item.vital) for item in side] for side in both]
        if compared[0] != compared[1]:
            problem = f"found other nuggets for question {short(id)} than before"
            draft.problem(place, f"{problem} ({earlier.place})")
        return
    text = check_member(row, "query", str, place, draft.reading) if "query" in row else ""
    draft.question(id, place, text or "")
    for nugget in nuggets:
        draft.nugget(id, nugget, place)


# ------------------------------------------------------------------------------------ writing


def rag_lines(nuggets: NuggetSet) -> Iterator[str]:
    """Yield a line for each question and run; a question that no run answers has one without."""
    for question in nuggets.key.questions.values():
        runs = [run for run in nuggets.runs.values() if run.responses(question.id)]
        for run in runs:
            responses = run.responses(question.id)
            texts, best = [response.text for response in responses], nuggets.judgements.best
            values = {
                nugget.id: best(question.id, nugget.id, responses) for nugget in question.nuggets
            }
            labels = {id: NAMES[value] for id, value in values.items() if value is not None}
            answer = {"run_id": run.tag, "answer_text": "\n".join(texts)}
            yield format_json_line({**_plain(question, labels), **answer})
        if not runs:
            yield format_json_line(_plain(question, {}))


def _plain(question: Question, labels: Mapping[str, str]) -> _RagObject:
    numbered = all(nugget.id == str(i) for i, nugget in enumerate(question.nuggets, 1))
    nuggets = [_rag_nugget(nugget, labels, numbered) for nugget in question.nuggets]
    return {"query": question.text, "qid": question.id, "nuggets": nuggets}


def _rag_nugget(nugget: Nugget, labels: Mapping[str, str], numbered: bool) -> _RagObject:
    fields: _RagObject = {} if numbered else {"id": nugget.id}
    fields |= {"text": nugget.descriptions[0], "importance": nugget.importance}
    if nugget.id in labels:
        fields["assignment"] = labels[nugget.id]
    if nugget.descriptions[1:]:
        fields["also"] = list(nugget.descriptions[1:])
    if nugget.votes is not None:
        fields["votes"] = nugget.votes
    return fields
