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
from typing import Any

from karat.errors import quoted
from karat.evalset.reading import Place, Reading, json_line, json_rows, member, number
from karat.nuggets.sets.draft import NuggetDraft
from karat.nuggets.sets.judgements import Judged
from karat.nuggets.sets.keys import Nugget
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response

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
    take_rows(json_rows(path, draft.reading), draft)


def take_rows(rows: Iterable[tuple[Place, _Found]], draft: NuggetDraft) -> None:
    """Put the objects of all lines into a draft."""
    for place, found in rows:
        if place.line == 1 and (names := HEADERS.get(next(iter(found), ""))):
            _texts(found, names, names, place, draft.reading)
        elif "nuggets" in found:
            _question(found, place, draft)
        elif isinstance(found.get("nugget"), dict):
            told = _texts({**found, "nugget": ""}, ADDITION, ADDITION, place, draft.reading)
            nugget = _nugget(found["nugget"], place, draft.reading)
            if told and nugget:
                draft.add(told["question"], nugget, place)
        elif "nugget" in found and "description" in found:
            if texts := _texts(found, DESCRIPTION, DESCRIPTION, place, draft.reading):
                draft.add_words(texts["question"], texts["nugget"], texts["description"], place)
        elif "nugget" in found:
            _judgement(found, place, draft)
        elif "run" in found and "question" not in found:
            if texts := _texts(found, ("run",), RUN, place, draft.reading):
                draft.run(texts["run"], place, texts["institution"])
        elif texts := _texts(found, RESPONSE[:3], RESPONSE, place, draft.reading):
            response = Response(texts["response"], texts["document"])
            draft.response(texts["run"], texts["question"], response, place)


def _texts(
    found: _Found, needed: tuple[str, ...], allowed: tuple[str, ...], place: Place, reading: Reading
) -> dict[str, str] | None:
    """The members that are strings, those that may be left out as ""; None if anything is wrong."""
    before = len(reading.problems) + reading.more
    if unknown := [key for key in found if key not in allowed]:
        known = ", ".join(allowed)
        reading.problem(place, f"found the name {quoted(unknown[0])}, expected {known}")
    kept = {key: member(found, key, str, place, reading) for key in needed}
    for key in allowed:
        if key in found and key not in (*needed, "nuggets", "value"):
            kept[key] = member(found, key, str, place, reading)
    if len(reading.problems) + reading.more > before:
        return None
    return {key: str(kept.get(key, "")) for key in allowed}


def _question(found: _Found, place: Place, draft: NuggetDraft) -> None:
    texts = _texts(found, ("question",), QUESTION, place, draft.reading)
    nuggets = member(found, "nuggets", list, place, draft.reading)
    if texts is None or nuggets is None:
        return
    draft.question(texts["question"], place, texts["text"])
    for given in nuggets:
        if nugget := _nugget(given, place, draft.reading):
            draft.nugget(texts["question"], nugget, place)


def _nugget(given: object, place: Place, reading: Reading) -> Nugget | None:
    found = given if isinstance(given, dict) else {}
    texts = found.get("descriptions")
    good = (
        isinstance(found.get("id"), str)
        and found.get("importance") in ("vital", "okay")
        and isinstance(texts, list)
        and bool(texts)
        and all(isinstance(text, str) for text in texts)
        and is_votes(found.get("votes"))
        and set(found) <= set(NUGGET)
    )
    if not good:
        expected = "id, importance (vital or okay), descriptions and perhaps votes"
        reading.problem(place, f"found the nugget {quoted(given)}, expected {expected}")
        return None
    vital = found["importance"] == "vital"
    return Nugget(found["id"], tuple(found["descriptions"]), vital, found.get("votes"))


def is_votes(given: object) -> bool:
    """Return whether this is a number of assessors, or nothing."""
    return given is None or (isinstance(given, int) and not isinstance(given, bool) and given >= 0)


def _judgement(found: _Found, place: Place, draft: NuggetDraft) -> None:
    texts = _texts(found, JUDGEMENT[:3], JUDGEMENT, place, draft.reading)
    given = found.get("value")
    value = None if isinstance(given, str) else number(given)
    if value is None:
        draft.problem(place, f"found the value {quoted(given)}, expected 0, 0.5 or 1")
    elif texts is not None:
        draft.judge(Judged(**{**texts, "value": value}), place)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------ writing


def jsonl_lines(nuggets: NuggetSet) -> Iterator[str]:
    """Yield the lines of a file that reads back as the set."""
    for question in nuggets.key.questions.values():
        found = {"question": question.id, **_filled(text=question.text)}
        yield json_line({**found, "nuggets": [_plain_nugget(one) for one in question.nuggets]})
    for run in nuggets.runs.values():
        yield json_line({"run": run.tag, **_filled(institution=run.institution)})
        for id, responses in run.answers.items():
            for response in responses:
                found = {"run": run.tag, "question": id, "response": response.text}
                yield json_line({**found, **_filled(document=response.document)})
    for row in nuggets.judgements.rows:
        yield judgement_line(row)


def judgement_line(row: Judged) -> str:
    """One judgement as a line, so that a file of them can be added to."""
    found = {key: getattr(row, key) for key in JUDGEMENT[:4]}
    more = _filled(run=row.run, judge=row.judge, kind=row.kind, evidence=row.evidence)
    return json_line({**found, **more})


def _plain_nugget(nugget: Nugget) -> dict[str, Any]:
    return {
        "id": nugget.id,
        "importance": nugget.importance,
        **({} if nugget.votes is None else {"votes": nugget.votes}),
        "descriptions": list(nugget.descriptions),
    }


def _filled(**texts: str) -> dict[str, str]:
    return {key: text for key, text in texts.items() if text}
