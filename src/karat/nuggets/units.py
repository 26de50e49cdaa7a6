"""Summary content units as nuggets: line-aligned files, and which units each summary carries.

    ids.txt                     one document a line: the questions
    SCUs.txt                    the units of its reference, tabs between them: the nuggets
    summaries/SYSTEM.summary    one summary a line: the one response of a run
    labels/SYSTEM.label         1 or 0 for every unit, tabs between them; a system may have none

Units are not weighed, so all are vital; they are numbered from 1. In the other direction
importance, votes and further descriptions are lost, several responses become one line, a question
without a response gets an empty line, and partial support becomes 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from karat.errors import InputError, OutputError, quoted, short
from karat.evalset.reading import Place, read_lines
from karat.evalset.saving import NamedFile
from karat.nuggets.draft import Draft
from karat.nuggets.judgements import Judged
from karat.nuggets.keys import Key, Nugget
from karat.nuggets.runs import Response, Run
from karat.nuggets.sets import NuggetSet

IDS, UNITS, SUMMARIES, LABELS = "ids.txt", "SCUs.txt", "summaries", "labels"


def read_units(path: Path, draft: Draft) -> None:
    """A folder."""
    ids = read_lines(path / IDS)
    counts = _read_key(path / UNITS, ids, draft)
    files = sorted((path / SUMMARIES).glob("*.summary"))
    for file in files:
        texts = _aligned(file, len(ids))
        draft.run(file.stem, Place(str(file), 1))
        for (place, text), question in zip(draft.reading.numbered(texts, file), ids, strict=True):
            draft.response(file.stem, question, Response(text), place)
        labels = path / LABELS / f"{file.stem}.label"
        if labels.exists():
            _read_labels(labels, list(zip(ids, counts, texts, strict=True)), draft)


def _aligned(path: Path, count: int) -> list[str]:
    lines = read_lines(path)
    if len(lines) != count:
        raise InputError(f"{path}: found {len(lines):,} lines, expected {count:,}, as {IDS} has")
    return lines


def _read_key(path: Path, ids: list[str], draft: Draft) -> list[int]:
    """The questions; how many units each has."""
    lines = _aligned(path, len(ids))
    for (place, line), id in zip(draft.reading.numbered(lines, path), ids, strict=True):
        draft.question(id, place)
        for i, text in enumerate(line.split("\t"), 1):
            draft.nugget(id, Nugget(str(i), (text,)), place)
    return [len(line.split("\t")) for line in lines]


def _read_labels(path: Path, rows: list[tuple[str, int, str]], draft: Draft) -> None:
    lines = _aligned(path, len(rows))
    for (place, line), (question, count, text) in zip(
        draft.reading.numbered(lines, path), rows, strict=True
    ):
        labels = line.split("\t")
        if len(labels) != count or not {*labels} <= {"0", "1"}:
            draft.reading.problem(place, f"found {quoted(line)}, expected {count} labels 0 or 1")
            continue
        for i, label in enumerate(labels, 1):
            draft.judge(Judged(question, str(i), text, float(label), path.stem), place)


# ------------------------------------------------------------------------------------ writing


def units_files(nuggets: NuggetSet) -> Iterator[NamedFile]:
    """The files of a folder; a run must be judged whole, or not at all."""
    questions = nuggets.key.questions.values()
    yield IDS, [f"{question.id}\n" for question in questions]
    yield UNITS, ["\t".join(_units(question.nuggets)) + "\n" for question in questions]
    for run in nuggets.runs.values():
        if not run.tag or any(c in run.tag for c in "/\\\0"):
            raise OutputError(f"run {quoted(run.tag)} cannot be the name of a file: rename it")
        yield f"{SUMMARIES}/{run.tag}.summary", _summaries(run, nuggets.key)
        labels = _labels(run, nuggets)
        if labels:
            yield f"{LABELS}/{run.tag}.label", labels


def _units(nuggets: tuple[Nugget, ...]) -> list[str]:
    return [_one_line(nugget.descriptions[0]).replace("\t", " ") for nugget in nuggets]


def _summaries(run: Run, key: Key) -> Iterator[str]:
    for question in key.questions:
        yield " ".join(_one_line(some.text) for some in run.responses(question)) + "\n"


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def _labels(run: Run, nuggets: NuggetSet) -> list[str]:
    """A line for each question; nothing if nothing of the run was judged."""
    rows = {
        question.id: [_label(question.id, nugget.id, run, nuggets) for nugget in question.nuggets]
        for question in nuggets.key.questions.values()
    }
    silent = [question for question in rows if not run.responses(question)]
    judged = [label for labels in rows.values() for label in labels if label is not None]
    missing = [q for q, labels in rows.items() if None in labels and q not in silent]
    if judged and missing:
        raise OutputError(
            f"run {short(run.tag)} was not judged on all nuggets of question {short(missing[0])}: "
            "content units need every label; choose another format"
        )
    return ["\t".join(label or "0" for label in row) + "\n" for row in rows.values() if judged]


def _label(question: str, nugget: str, run: Run, nuggets: NuggetSet) -> str | None:
    keys = [(question, nugget, some.normal) for some in run.responses(question)]
    known = [v for v in map(nuggets.judgements.known.get, keys) if v is not None]
    return None if not known else str(int(any(known)))
