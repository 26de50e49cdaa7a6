"""TREC's text formats: fields between blanks or tabs, the last one free text to the end of line.

    key.txt      QID NUGGET vital|okay DESCRIPTION
    runs/*.txt   QID TAG DOCID RESPONSE
    judged.txt   QID TAG ITEM DOCID RESPONSE        part 1: what was judged
                 QID TAG ITEM NUGGET                part 2: the response carries the nugget

Extensions of TREC's formats: `vital/6` for a nugget that six assessors called vital, `QID NUGGET
also WORDS` for a further description (after the nugget's own line), `QID - question WORDS` for the
text of the question, `-` for no document or tag; and in part 2 `NUGGET=0.5` for a response that
carries the nugget in part, `NUGGET=0` for one that does not, `NUGGET=?` for an unjudged one.

Assessors credit one response of a system with a nugget, so a missing line means two things: if no
response of the system has the nugget, all of them were judged not to carry it; if one has it, the
others were not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError, OutputError, quoted, short
from karat.evalset.conversion import NamedFile
from karat.evalset.formats.directory import file_name, text_files
from karat.evalset.reading import FileLocation, parse_number, read_lines
from karat.nuggets.sets.judgements import SUPPORT, JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, NuggetKey, Response, Run, normal
from karat.nuggets.sets.nugget_set import NuggetDraft, NuggetSet

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
    """Return whether a field can be the third field of a line of a key."""
    return bool(_IMPORTANCE.fullmatch(field)) or field in ("also", "question")


def read_folder(path: Path, draft: NuggetDraft) -> None:
    """Read a folder with key.txt and, optionally, runs/ and judged.txt."""
    read_key(path / KEY, draft)
    files = text_files(path / RUNS, draft.reading)
    for file in files:
        read_runs(file, draft)
    if (path / JUDGED).exists():
        parts = draft.take
        if files:  # part 1 repeats the runs
            draft.take = tuple(part for part in parts if part != "runs")
        read_judgements(path / JUDGED, draft)
        draft.take = parts


def _rows(path: Path, fields: int, expected: str, draft: NuggetDraft) -> Iterator[_Row]:
    for place, line in draft.reading.numbered(read_lines(path), path):
        if match := _LINES[fields].fullmatch(line):
            yield place, match.groups()
        elif line.strip(" \t"):
            draft.problem(place, f"found {len(line.split())} fields, expected {expected}")


def read_key(path: Path, draft: NuggetDraft) -> None:
    """Read a key."""
    for place, row in _rows(path, 3, "QID NUGGET vital|okay DESCRIPTION", draft):
        question, id, importance, text = (field or "" for field in row)
        if importance == "question":
            if text or question not in draft.questions:
                draft.question(question, place, text)
        elif importance == "also":
            draft.also(question, id, text, place)
        elif match := _IMPORTANCE.fullmatch(importance):
            if question not in draft.questions:
                draft.question(question, place)
            votes = None if match[2] is None else int(match[2])
            draft.nugget(question, Nugget(id, (text,), match[1].lower() == "vital", votes), place)
        else:
            draft.problem(place, f"found {quoted(importance)}, expected vital or okay")


def key_lines(key: NuggetKey) -> Iterator[str]:
    """Yield the lines of a key."""
    for question in key.questions.values():
        if question.text:
            yield _line((question.id, NOTHING, "question"), question.text)
        for nugget in question.nuggets:
            votes = "" if nugget.votes is None else f"/{nugget.votes}"
            first, *further = nugget.descriptions
            yield _line((question.id, nugget.id, nugget.importance + votes), first)
            for text in further:
                yield _line((question.id, nugget.id, "also"), text)


def read_runs(path: Path, draft: NuggetDraft) -> None:
    """Read the responses of one run or several, in the order of the lines."""
    for place, row in _rows(path, 3, "QID TAG DOCID RESPONSE", draft):
        question, tag, document, text = row
        if text is None:
            draft.problem(place, "found 3 fields, expected QID TAG DOCID RESPONSE")
        else:
            draft.response(tag or "", question or "", Response(text, _or_empty(document)), place)


def run_lines(run: Run) -> Iterator[str]:
    """Yield the lines of a run."""
    for question, responses in run.answers.items():
        for response in responses:
            yield _line((question, run.tag, response.document or NOTHING), response.text)


def _or_empty(field: str | None) -> str:
    return "" if field in (None, NOTHING) else str(field)


class _JudgedAnswer(NamedTuple):
    """One system's answer to one question: its items, and the judgements of each."""

    items: dict[str, tuple[FileLocation, str]]
    judgements: dict[tuple[str, str], list[tuple[FileLocation, float | None]]]

    def rows(self, nuggets: Iterable[str]) -> Iterator[tuple[FileLocation, str, str, float]]:
        """Yield place, response, nugget and value, including judgements by a missing line."""
        judged = self.judgements.items()
        carried = {n for (_, n), values in judged if any(value for _, value in values)}
        key_nuggets = list(nuggets)
        unknown = dict.fromkeys(n for _, n in self.judgements if n not in key_nuggets)
        for id, (first, text) in self.items.items():
            for nugget in (*key_nuggets, *unknown):
                for place, value in self.judgements.get((id, nugget), ()):
                    if value is not None:
                        yield place, text, nugget, value
                is_silent = (id, nugget) not in self.judgements and nugget in key_nuggets
                if is_silent and nugget not in carried:
                    yield first, text, nugget, 0.0


def read_judgements(path: Path, draft: NuggetDraft) -> None:
    """Read a judged file; the draft must have the key, to interpret missing lines."""
    answers: dict[tuple[str, str], _JudgedAnswer] = {}
    second_part: list[tuple[FileLocation, str, str, str, str]] = []
    for place, row in _rows(path, 4, "QID TAG ITEM DOCID RESPONSE, or QID TAG ITEM NUGGET", draft):
        (question, tag, item, field), text = map(str, row[:4]), row[4]
        answer = answers.setdefault((question, tag), _JudgedAnswer({}, {}))
        if text is None or (not text.strip() and item in answer.items):
            second_part.append((place, question, tag, item, field))
        elif item in answer.items:
            draft.problem(place, f"item {short(item)} again (first {answer.items[item][0]})")
        else:
            answer.items[item] = place, text
            draft.response(tag, question, Response(text, _or_empty(field)), place)
    key = {id: drafted.nuggets for id, drafted in draft.questions.items()}
    for place, question, tag, item, field in second_part:
        answer = answers[question, tag]
        nugget, equals, raw_value = field.rpartition("=")
        value: float | None = SUPPORT
        if item not in answer.items:
            draft.problem(place, f"item {short(item)}, which no line of part 1 has")
            continue
        if not equals or field in key.get(question, ()):
            nugget = field
        elif raw_value == "?":
            value = None
        elif (value := parse_number(raw_value)) is None:
            draft.problem(place, f"found {quoted(field)}, expected NUGGET or NUGGET=0, 0.5, 1 or ?")
            continue
        answer.judgements.setdefault((item, nugget), []).append((place, value))
    for (question, tag), answer in answers.items():
        for place, text, nugget, value in answer.rows(key.get(question, ())):
            draft.judge(JudgedResponse(question, nugget, text, value, _or_empty(tag)), place)


def judged_lines(judgements: Judgements, key: NuggetKey) -> Iterator[str]:
    """Yield the lines of both parts, with the value that counts if judgements differ.

    Labels of models are left out.
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
            values = [judgements.values.get((question, nugget.id, text)) for text in texts]
            silence = None if any(values) else 0.0
            for item, value in enumerate(values, 1):
                if value != silence:  # otherwise the line can be missing
                    suffix = "" if value == SUPPORT else "=?" if value is None else f"={value:g}"
                    yield " ".join(_checked((question, tag, str(item), nugget.id + suffix))) + "\n"


def trec_files(nuggets: NuggetSet) -> Iterator[NamedFile]:
    """Yield the files of a folder that reads back; line ends in texts become blanks."""
    yield KEY, key_lines(nuggets.key)
    for file, run in {file_name(tag): run for tag, run in nuggets.runs.items()}.items():
        yield f"{RUNS}/{file}", run_lines(run)
    if nuggets.judgements.deciding:
        yield JUDGED, judged_lines(nuggets.judgements, nuggets.key)


def _line(fields: tuple[str, ...], text: str) -> str:
    return " ".join((*_checked(fields), _one_line(text))) + "\n"


def _checked(fields: tuple[str, ...]) -> tuple[str, ...]:
    for field in fields:
        if not field or any(c in field for c in " \t\r\n"):
            raise OutputError(
                f"{quoted(field)} has white space, which TREC's files cannot hold in an id: choose "
                "another format"
            )
    return fields


# ------------------------------------------------------------------------------- content units

IDS, UNITS, SUMMARIES, LABELS = "ids.txt", "SCUs.txt", "summaries", "labels"


def read_units(path: Path, draft: NuggetDraft) -> None:
    """Read a folder of content units: every file has a line for each question."""
    ids = read_lines(path / IDS)
    units = [line.split("\t") for line in _aligned(path / UNITS, ids, IDS)]
    lines = draft.reading.numbered(units, path / UNITS)
    for (place, texts), id in zip(lines, ids, strict=True):
        draft.question(id, place)
        for i, text in enumerate(texts, 1):
            draft.nugget(id, Nugget(str(i), (text,)), place)
    for file in sorted((path / SUMMARIES).glob("*.summary")):
        texts = _read_run(file, ids, IDS, draft)
        labels = path / LABELS / f"{file.stem}.label"
        if labels.exists():
            _read_labels(labels, ids, IDS, [len(row) for row in units], texts, draft)


def read_summary(path: Path, draft: NuggetDraft) -> None:
    """Read the summaries of one system: a run."""
    _read_run(path, *_ids_of(path, draft), draft)


def read_label(path: Path, draft: NuggetDraft) -> None:
    """Read the labels of one system; its summaries are in the neighboring folder."""
    ids, source = _ids_of(path, draft)
    summaries = path.parent.parent / SUMMARIES / f"{path.stem}.summary"
    if not summaries.exists():
        raise InputError(f"{path}: expected the summaries that were judged in {summaries}")
    counts = [len(draft.questions[id].nuggets) if id in draft.questions else 0 for id in ids]
    _read_labels(path, ids, source, counts, _aligned(summaries, ids, source), draft)


def _aligned(path: Path, ids: list[str], source: str) -> list[str]:
    """Return the lines of a file, one for each question in the order of `source`."""
    lines = read_lines(path)
    if len(lines) != len(ids):
        problem = f"found {len(lines):,} lines, expected {len(ids):,}, as {source} has"
        raise InputError(f"{path}: {problem}")
    return lines


def _ids_of(path: Path, draft: NuggetDraft) -> tuple[list[str], str]:
    """Return the ids of the folder of a file, or else of the key, and their source."""
    ids_path = path.parent.parent / IDS
    if ids_path.exists():
        return read_lines(ids_path), str(ids_path)
    return [*draft.questions], "the key"


def _read_run(path: Path, ids: list[str], source: str, draft: NuggetDraft) -> list[str]:
    """Add the run of a file, named after the file, and return its texts."""
    texts = _aligned(path, ids, source)
    draft.run(path.stem, FileLocation(str(path), 1))
    for (place, text), question in zip(draft.reading.numbered(texts, path), ids, strict=True):
        draft.response(path.stem, question, Response(text), place)
    return texts


def _read_labels(
    path: Path,
    ids: list[str],
    source: str,
    counts: list[int],
    texts: list[str],
    draft: NuggetDraft,
) -> None:
    lines = draft.reading.numbered(_aligned(path, ids, source), path)
    for (place, line), question, count, text in zip(lines, ids, counts, texts, strict=True):
        labels = line.split("\t")
        if len(labels) != count or not {*labels} <= {"0", "1"}:
            draft.problem(place, f"found {quoted(line)}, expected {count} labels 0 or 1")
            continue
        for i, label in enumerate(labels, 1):
            draft.judge(JudgedResponse(question, str(i), text, float(label), path.stem), place)


def units_files(nuggets: NuggetSet) -> Iterator[NamedFile]:
    """Yield the files of a folder; a run must be judged completely or not at all."""
    questions = nuggets.key.questions.values()
    yield IDS, [f"{question.id}\n" for question in questions]
    units = ([_one_line(n.descriptions[0]) for n in question.nuggets] for question in questions)
    yield UNITS, ["\t".join(text.replace("\t", " ") for text in row) + "\n" for row in units]
    for run in nuggets.runs.values():
        if not run.tag or any(c in run.tag for c in "/\\\0"):
            raise OutputError(f"run {quoted(run.tag)} cannot be the name of a file: rename it")
        answers = ([_one_line(item.text) for item in run.responses(q.id)] for q in questions)
        yield f"{SUMMARIES}/{run.tag}.summary", [" ".join(texts) + "\n" for texts in answers]
        if labels := _labels(run, nuggets):
            yield f"{LABELS}/{run.tag}.label", labels


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def _labels(run: Run, nuggets: NuggetSet) -> list[str]:
    """Return a line for each question; empty if the run was not judged."""
    best = nuggets.judgements.best
    rows = {
        id: [best(id, nugget.id, run.responses(id)) for nugget in question.nuggets]
        for id, question in nuggets.key.questions.items()
    }
    if all(label is None for labels in rows.values() for label in labels):
        return []
    missing = [id for id, labels in rows.items() if None in labels and run.responses(id)]
    if missing:
        raise OutputError(
            f"run {short(run.tag)} was not judged on all nuggets of question {short(missing[0])}: "
            "content units need every label; choose another format"
        )
    return ["\t".join(f"{bool(v):d}" for v in row) + "\n" for row in rows.values()]
