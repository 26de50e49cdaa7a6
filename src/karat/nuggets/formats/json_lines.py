"""JSON lines: keys, runs and judgements, in one file or in several, one object per line.

    {"question": "q1", "text": "…", "nuggets": [{"id": "1", "importance": "vital", "votes": 6,
                                                  "descriptions": ["…"]}]}
    {"run": "A", "institution": "…"}
    {"run": "A", "question": "q1", "response": "…", "document": "…"}
    {"question": "q1", "nugget": "1", "response": "…", "value": 1, "run": "A", "judge": "…",
     "kind": "person", "evidence": "…"}
    {"question": "q1", "nugget": "1", "description": "…"}
    {"question": "q1", "nugget": {"id": "8", "importance": "okay", "descriptions": ["…"]}}

The last two are part of judgements: additions of an assessor to the key, a description of a nugget
and a missing nugget.

`text`, `votes`, `institution` and `document` are optional; so are `run`, `judge`, `kind` (person,
model or adjudicated) and `evidence` (words of the response) of a judgement. The first line may
identify the file as the log or the draft of a language model.

    {"judgements": "NAME", "signature": "…"}
    {"key": "NAME", "drafted_by": "MODEL", "signature": "…"}

`value` is 1 (the response carries the nugget), 0.5 (in part) or 0. The responses of a run are in
rank order; other lines may be in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

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
"""First member of a first line that identifies a file, and all members of that line."""

LABELS = {"support": SUPPORT, "partial_support": PARTIAL, "not_support": NOT}
_Record = Mapping[str, Any]


def read_jsonl(path: Path, draft: NuggetDraft) -> None:
    """Read all lines of a file."""
    take_rows(read_json_lines(path, draft.reading), draft)


def take_rows(rows: Iterable[tuple[FileLocation, _Record]], draft: NuggetDraft) -> None:
    """Add the objects of all lines to a draft."""
    reading = draft.reading
    for place, row in rows:
        if place.line == 1 and (names := HEADERS.get(next(iter(row), ""))):
            _texts(row, names, names, place, reading)
        elif "nuggets" in row:
            _question(row, place, draft)
        elif isinstance(row.get("nugget"), dict):
            _add_missing_nugget(row, place, draft)
        elif "nugget" in row and "description" in row:
            if texts := _texts(row, DESCRIPTION, DESCRIPTION, place, reading):
                draft.add_words(texts["question"], texts["nugget"], texts["description"], place)
        elif "nugget" in row:
            texts = _texts(row, JUDGEMENT[:3], JUDGEMENT, place, reading)
            raw_value = row.get("value")
            value = None if isinstance(raw_value, str) else parse_number(raw_value)
            if value is None:
                draft.problem(place, f"found the value {quoted(raw_value)}, expected 0, 0.5 or 1")
            elif texts is not None:
                row_fields: dict[str, Any] = {**texts, "value": value}
                draft.judge(JudgedResponse(**row_fields), place)
        elif "run" in row and "question" not in row:
            if texts := _texts(row, ("run",), RUN, place, reading):
                draft.run(texts["run"], place, texts["institution"])
        elif texts := _texts(row, RESPONSE[:3], RESPONSE, place, reading):
            response = Response(texts["response"], texts["document"])
            draft.response(texts["run"], texts["question"], response, place)


def _question(row: _Record, place: FileLocation, draft: NuggetDraft) -> None:
    texts = _texts(row, ("question",), QUESTION, place, draft.reading)
    entries = check_member(row, "nuggets", list, place, draft.reading)
    if texts is None or entries is None:
        return
    draft.question(texts["question"], place, texts["text"])
    for entry in entries:
        if nugget := _nugget(entry, place, draft.reading):
            draft.nugget(texts["question"], nugget, place)


def _add_missing_nugget(row: _Record, place: FileLocation, draft: NuggetDraft) -> None:
    texts = _texts({**row, "nugget": ""}, ADDITION, ADDITION, place, draft.reading)
    nugget = _nugget(row["nugget"], place, draft.reading)
    if texts and nugget:
        draft.add(texts["question"], nugget, place)


def _texts(
    row: _Record,
    required: tuple[str, ...],
    allowed: tuple[str, ...],
    place: FileLocation,
    reading: Reading,
) -> dict[str, str] | None:
    """Return the string members, missing optional ones as ""; None after any problem."""
    before = len(reading.problems) + reading.more
    if unknown := [key for key in row if key not in allowed]:
        expected = ", ".join(allowed)
        reading.problem(place, f"found the name {quoted(unknown[0])}, expected {expected}")
    optional = (key for key in allowed if key in row and key not in (*required, "nuggets", "value"))
    values = {key: check_member(row, key, str, place, reading) for key in (*required, *optional)}
    if len(reading.problems) + reading.more > before:
        return None
    return {key: str(values.get(key, "")) for key in allowed}


def _nugget(entry: object, place: FileLocation, reading: Reading) -> Nugget | None:
    """Return the nugget of an entry; None after a problem."""
    fields = entry if isinstance(entry, dict) else {}
    if set(fields) <= set(NUGGET):
        nugget = _parse_nugget(fields, fields.get("id"), fields.get("descriptions"))
        if nugget:
            return nugget
    expected = "id, importance (vital or okay), descriptions and perhaps votes"
    reading.problem(place, f"found the nugget {quoted(entry)}, expected {expected}")
    return None


def _parse_nugget(fields: _Record, id: object, texts: object) -> Nugget | None:
    """Return the nugget of an object's members; None if a member is invalid."""
    votes = fields.get("votes")
    is_count = isinstance(votes, int) and not isinstance(votes, bool) and votes >= 0
    if (
        isinstance(id, str)
        and fields.get("importance") in ("vital", "okay")
        and isinstance(texts, list)
        and texts
        and all(isinstance(text, str) for text in texts)
        and (votes is None or is_count)
    ):
        return Nugget(id, tuple(texts), fields["importance"] == "vital", votes)
    return None


def jsonl_lines(nuggets: NuggetSet) -> Iterator[str]:
    """Yield the lines of a file that reads back as the set."""
    for question in nuggets.key.questions.values():
        entries = [
            {
                "id": nugget.id,
                "importance": nugget.importance,
                **({} if nugget.votes is None else {"votes": nugget.votes}),
                "descriptions": list(nugget.descriptions),
            }
            for nugget in question.nuggets
        ]
        text = _filled(text=question.text)
        yield format_json_line({"question": question.id, **text, "nuggets": entries})
    for run in nuggets.runs.values():
        yield format_json_line({"run": run.tag, **_filled(institution=run.institution)})
        for id, responses in run.answers.items():
            for response in responses:
                fields = {"run": run.tag, "question": id, "response": response.text}
                yield format_json_line({**fields, **_filled(document=response.document)})
    for row in nuggets.judgements.rows:
        judgement = {key: getattr(row, key) for key in JUDGEMENT[:4]}
        more = _filled(run=row.run, judge=row.judge, kind=row.kind, evidence=row.evidence)
        yield format_json_line({**judgement, **more})


def _filled(**texts: str) -> dict[str, str]:
    return {key: text for key, text in texts.items() if text}


# ------------------------------------------------------------------ nugget-based RAG evaluation


def read_rag(path: Path, draft: NuggetDraft) -> None:
    """Read all answers of a file; several judges may have judged an answer."""
    first: dict[tuple[str, str], tuple[FileLocation, str, set[str]]] = {}
    for place, row in read_json_lines(path, draft.reading):
        question = check_member(row, "qid", str, place, draft.reading)
        nuggets = _rag_nuggets(row, place, draft.reading)
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
        judge = {
            key: check_member({key: "", **row}, key, str, place, draft.reading)
            for key in ("judge", "kind")
        }
        is_valid, name = None not in judge.values(), str(judge["judge"] or "")
        first_place, first_text, judges = first.setdefault((tag, question), (place, text, set()))
        if first_place is place:
            draft.response(tag, question, Response(text), place)
        elif is_valid and (text != first_text or name in judges):
            problem = f"run {short(tag)} answers question {short(question)} already"
            draft.problem(place, f"{problem} ({first_place})")
        judges.add(name)
        for nugget, label in nuggets if is_valid else ():
            if label is not None:
                fields = name, "", str(judge["kind"])
                judged = JudgedResponse(question, nugget.id, text, LABELS[label], tag, *fields)
                draft.judge(judged, place)


def _rag_nuggets(
    row: _Record, place: FileLocation, reading: Reading
) -> list[tuple[Nugget, str | None]] | None:
    """Return nuggets and their labels, perhaps none; None after a problem."""
    entries = check_member({"nuggets": [], **row}, "nuggets", list, place, reading)
    nuggets: list[tuple[Nugget, str | None]] = []
    for number, entry in enumerate(entries or (), 1):
        fields = entry if isinstance(entry, dict) else {}
        also, label = fields.get("also", []), fields.get("assignment")
        texts = [fields.get("text"), *also] if isinstance(also, list) else None
        nugget = _parse_nugget(fields, fields.get("id", str(number)), texts)
        if nugget is None or label not in [None, *LABELS]:
            expected = "text, importance (vital or okay) and perhaps assignment"
            reading.problem(place, f"found the nugget {quoted(entry)}, expected {expected}")
            return None
        nuggets.append((nugget, label))
    return None if entries is None else nuggets


def _take_key(
    id: str, row: _Record, nuggets: list[Nugget], place: FileLocation, draft: NuggetDraft
) -> None:
    """Add the nuggets of a question, which must be the same in every line."""
    if earlier := draft.questions.get(id):
        compared = [
            [(nugget.id, nugget.descriptions[0], nugget.vital) for nugget in side]
            for side in (nuggets, earlier.nuggets.values())
        ]
        if compared[0] != compared[1]:
            problem = f"found other nuggets for question {short(id)} than before"
            draft.problem(place, f"{problem} ({earlier.place})")
        return
    text = check_member({"query": "", **row}, "query", str, place, draft.reading)
    draft.question(id, place, text or "")
    for nugget in nuggets:
        draft.nugget(id, nugget, place)


def rag_lines(nuggets: NuggetSet) -> Iterator[str]:
    """Yield a line for each question and run; a question without answers has a line without run."""
    names = {value: label for label, value in LABELS.items()}
    for question in nuggets.key.questions.values():
        runs = [run for run in nuggets.runs.values() if run.responses(question.id)]
        for run in runs:
            responses, best = run.responses(question.id), nuggets.judgements.best
            values = {n.id: best(question.id, n.id, responses) for n in question.nuggets}
            labels = {id: names[value] for id, value in values.items() if value is not None}
            answer = "\n".join(response.text for response in responses)
            fields = {"run_id": run.tag, "answer_text": answer}
            yield format_json_line({**_rag_question(question, labels), **fields})
        if not runs:
            yield format_json_line(_rag_question(question, {}))


def _rag_question(question: Question, labels: Mapping[str, str]) -> dict[str, Any]:
    is_numbered = all(nugget.id == str(i) for i, nugget in enumerate(question.nuggets, 1))
    nuggets = []
    for nugget in question.nuggets:
        fields: dict[str, Any] = {} if is_numbered else {"id": nugget.id}
        fields |= {"text": nugget.descriptions[0], "importance": nugget.importance}
        if nugget.id in labels:
            fields["assignment"] = labels[nugget.id]
        if nugget.descriptions[1:]:
            fields["also"] = list(nugget.descriptions[1:])
        if nugget.votes is not None:
            fields["votes"] = nugget.votes
        nuggets.append(fields)
    return {"query": question.text, "qid": question.id, "nuggets": nuggets}
