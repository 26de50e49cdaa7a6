"""TREC's text formats: fields between blanks or tabs, the last one free text to the end of line.

    key.txt      QID NUGGET vital|okay DESCRIPTION
    runs/*.txt   QID TAG DOCID RESPONSE
    judged.txt   QID TAG ITEM DOCID RESPONSE        part 1: what was judged
                 QID TAG ITEM NUGGET                part 2: the response carries the nugget

What TREC's files cannot say is written so: `vital/6` for a nugget that six assessors called vital,
`QID NUGGET also WORDS` for a further description (after the nugget's own line), `QID - question
WORDS` for the question itself, `-` where there is no document or tag; and in part 2 `NUGGET=0.5`
for a response that carries the nugget in part, `NUGGET=0` for one that does not, `NUGGET=?` for
one that nobody judged.

Assessors credit one response of a system with a nugget, so silence means two things: if no response
of the system has the nugget, all of them were judged not to carry it; if one has it, nothing is
known of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from karat.errors import OutputError, quoted, short
from karat.evalset.conversion import NamedFile
from karat.evalset.formats.directory import file_name, text_files
from karat.evalset.reading import FileLocation, parse_number, read_lines
from karat.nuggets.sets.draft import NuggetDraft
from karat.nuggets.sets.judgements import SUPPORT, Judged, Judgements
from karat.nuggets.sets.keys import Key, Nugget
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, Run, normal

KEY, RUNS, JUDGED = "key.txt", "runs", "judged.txt"
NOTHING = "-"
_Row = tuple[FileLocation, tuple[str | None, ...]]
_IMPORTANCE = re.compile(r"(vital|okay)(?:/([0-9]{1,9}))?", re.IGNORECASE)
_FIELD = r"([^ \t]+)"
_GAP = r"[ \t]+"
_TEXT = r"(?:[ \t](.*))?"  # one blank only: what follows belongs to the text
_LINES = {
    n: re.compile(_GAP.join([_FIELD] * n) + _TEXT, re.DOTALL)  # a text may hold odd line ends
    for n in (3, 4)
}


def is_importance(field: str) -> bool:
    """Return whether a third field is one of a key."""
    return bool(_IMPORTANCE.fullmatch(field)) or field in ("also", "question")


def read_folder(path: Path, draft: NuggetDraft) -> None:
    """A folder with key.txt and, if they are there, runs/ and judged.txt."""
    read_key(path / KEY, draft)
    files = text_files(path / RUNS, draft.reading)
    for file in files:
        read_runs(file, draft)
    if (path / JUDGED).exists():
        wanted = draft.take
        if files:  # part 1 repeats the runs
            draft.take = tuple(part for part in wanted if part != "runs")
        read_judgements(path / JUDGED, draft)
        draft.take = wanted


def _rows(path: Path, fields: int, expected: str, draft: NuggetDraft) -> Iterator[_Row]:
    for place, line in draft.reading.numbered(read_lines(path), path):
        if found := _LINES[fields].fullmatch(line):
            yield place, found.groups()
        elif line.strip(" \t"):
            draft.problem(place, f"found {len(line.split())} fields, expected {expected}")


# ------------------------------------------------------------------------------------ the key


def read_key(path: Path, draft: NuggetDraft) -> None:
    """A key."""
    for place, row in _rows(path, 3, "QID NUGGET vital|okay DESCRIPTION", draft):
        question, id, importance, text = (field or "" for field in row)
        if importance == "question":
            if text or question not in draft.questions:
                draft.question(question, place, text)
        elif importance == "also":
            draft.also(question, id, text, place)
        elif found := _IMPORTANCE.fullmatch(importance):
            if question not in draft.questions:
                draft.question(question, place)
            votes = None if found[2] is None else int(found[2])
            draft.nugget(question, Nugget(id, (text,), found[1].lower() == "vital", votes), place)
        else:
            draft.problem(place, f"found {quoted(importance)}, expected vital or okay")


def key_lines(key: Key) -> Iterator[str]:
    """Yield the lines of a key."""
    for question in key.questions.values():
        if question.text:
            yield _line((question.id, NOTHING, "question"), question.text)
        for nugget in question.nuggets:
            votes = "" if nugget.votes is None else f"/{nugget.votes}"
            first, *others = nugget.descriptions
            yield _line((question.id, nugget.id, nugget.importance + votes), first)
            for text in others:
                yield _line((question.id, nugget.id, "also"), text)


# ----------------------------------------------------------------------------------- the runs


def read_runs(path: Path, draft: NuggetDraft) -> None:
    """The responses of one run or several, in the order of the lines."""
    for place, row in _rows(path, 3, "QID TAG DOCID RESPONSE", draft):
        question, tag, document, text = row
        if text is None:
            draft.problem(place, "found 3 fields, expected QID TAG DOCID RESPONSE")
        else:
            draft.response(tag or "", question or "", Response(text, _given(document)), place)


def run_lines(run: Run) -> Iterator[str]:
    """Yield the lines of a run."""
    for question, responses in run.answers.items():
        for response in responses:
            yield _line((question, run.tag, response.document or NOTHING), response.text)


def _given(field: str | None) -> str:
    return "" if field in (None, NOTHING) else str(field)


# ----------------------------------------------------------------------------- the judgements


class _Answer:
    """One system's answer to one question: its items, and what was said of each."""

    def __init__(self) -> None:
        self.items: dict[str, tuple[FileLocation, str]] = {}
        self.said: dict[tuple[str, str], list[tuple[FileLocation, float | None]]] = {}

    def judged(self, nuggets: Iterable[str]) -> Iterator[tuple[FileLocation, str, str, float]]:
        """Place, response, nugget and value: what was said, and what silence says."""
        carried = {n for (_, n), said in self.said.items() if any(value for _, value in said)}
        known = list(nuggets)
        unknown = dict.fromkeys(n for _, n in self.said if n not in known)
        for id, (first, text) in self.items.items():
            for nugget in (*known, *unknown):
                for place, value in self.said.get((id, nugget), ()):
                    if value is not None:
                        yield place, text, nugget, value
                if (id, nugget) not in self.said and nugget not in carried and nugget in known:
                    yield first, text, nugget, 0.0


def read_judgements(path: Path, draft: NuggetDraft) -> None:
    """A judged file; the key must be in the draft already, for what silence says."""
    answers: dict[tuple[str, str], _Answer] = {}
    later: list[tuple[_Answer, str, str, str, FileLocation]] = []
    for place, row in _rows(path, 4, "QID TAG ITEM DOCID RESPONSE, or QID TAG ITEM NUGGET", draft):
        (question, tag, item, field), text = map(str, row[:4]), row[4]
        answer = answers.setdefault((question, tag), _Answer())
        if text is None or (not text.strip() and item in answer.items):
            later.append((answer, question, item, field, place))
        elif item in answer.items:
            draft.problem(place, f"item {short(item)} again (first {answer.items[item][0]})")
        else:
            answer.items[item] = place, text
            draft.response(tag, question, Response(text, _given(field)), place)
    for said in later:
        _say(*said, draft)
    for (question, tag), answer in answers.items():
        known = draft.questions[question].nuggets if question in draft.questions else {}
        for place, text, nugget, value in answer.judged(known):
            draft.judge(Judged(question, nugget, text, value, _given(tag)), place)


def _say(
    answer: _Answer, id: str, item: str, field: str, place: FileLocation, draft: NuggetDraft
) -> None:
    """A line of part 2."""
    if item not in answer.items:
        draft.problem(place, f"item {short(item)}, which no line of part 1 has")
        return
    known = draft.questions[id].nuggets if id in draft.questions else {}
    nugget, equals, given = field.rpartition("=")
    value: float | None = SUPPORT
    if not equals or field in known:
        nugget = field
    elif given == "?":
        value = None
    elif (value := parse_number(given)) is None:
        draft.problem(place, f"found {quoted(field)}, expected NUGGET or NUGGET=0, 0.5, 1 or ?")
        return
    answer.said.setdefault((item, nugget), []).append((place, value))


def judged_lines(judgements: Judgements, key: Key) -> Iterator[str]:
    """Both parts; where judgements contradict each other, the value that counts is written.

    The labels of models are left out.
    """
    answers: dict[tuple[str, str], dict[str, str]] = {}
    for row in judgements.deciding:
        texts = answers.setdefault((row.question, row.run or NOTHING), {})
        texts.setdefault(normal(row.response), row.response)
    for (question, tag), texts in answers.items():
        for item, text in enumerate(texts.values(), 1):
            yield _line((question, tag, str(item), NOTHING), text)
    for (question, tag), texts in answers.items():
        for nugget in key.questions[question].nuggets:
            values = [judgements.known.get((question, nugget.id, text)) for text in texts]
            silence = None if any(values) else 0.0
            for item, value in enumerate(values, 1):
                if value != silence:  # else silence says it
                    said = "" if value == SUPPORT else "=?" if value is None else f"={value:g}"
                    yield " ".join(_checked((question, tag, str(item), nugget.id + said))) + "\n"


# --------------------------------------------------------------------------------- the folder


def trec_files(nuggets: NuggetSet) -> Iterator[NamedFile]:
    """Yield the files of a folder that reads back; line ends in texts become blanks."""
    yield KEY, key_lines(nuggets.key)
    for file, run in {file_name(tag): run for tag, run in nuggets.runs.items()}.items():
        yield f"{RUNS}/{file}", run_lines(run)
    if nuggets.judgements.deciding:
        yield JUDGED, judged_lines(nuggets.judgements, nuggets.key)


def _line(fields: tuple[str, ...], text: str) -> str:
    return " ".join((*_checked(fields), text.replace("\r", " ").replace("\n", " "))) + "\n"


def _checked(fields: tuple[str, ...]) -> tuple[str, ...]:
    for field in fields:
        if not field or any(c in field for c in " \t\r\n"):
            raise OutputError(
                f"{quoted(field)} has white space, which TREC's files cannot hold in an id: choose "
                "another format"
            )
    return fields
