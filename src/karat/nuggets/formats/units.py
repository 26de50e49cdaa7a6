"""Summary content units as nuggets: line-aligned files, and which units each summary carries.

    ids.txt                     one document a line: the questions
    SCUs.txt                    the units of its reference, tabs between them: the nuggets
    summaries/SYSTEM.summary    one summary a line: the one response of a run
    labels/SYSTEM.label         1 or 0 for every unit, tabs between them; a system may have none

A `.summary` or `.label` file may be given by itself: its lines are those of `ids.txt` in the folder
that it stands in, or of the key where there is no such folder.

Units are not weighed, so all are vital; they are numbered from 1. In the other direction
importance, votes and further descriptions are lost, several responses become one line, a question
without a response gets an empty line, and partial support becomes 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError, OutputError, quoted, short
from karat.evalset.conversion import NamedFile
from karat.evalset.reading import FileLocation, read_lines
from karat.nuggets.sets.draft import NuggetDraft
from karat.nuggets.sets.judgements import Judged
from karat.nuggets.sets.keys import Nugget
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, Run

IDS, UNITS, SUMMARIES, LABELS = "ids.txt", "SCUs.txt", "summaries", "labels"


def read_units(path: Path, draft: NuggetDraft) -> None:
    """A folder."""
    ids = _Ids(read_lines(path / IDS), IDS)
    counts = _read_key(path / UNITS, ids, draft)
    for file in sorted((path / SUMMARIES).glob("*.summary")):
        texts = _read_run(file, ids, draft)
        labels = path / LABELS / f"{file.stem}.label"
        if labels.exists():
            _read_labels(labels, ids, counts, texts, draft)


def read_summary(path: Path, draft: NuggetDraft) -> None:
    """The summaries of one system: a run."""
    _read_run(path, _ids_of(path, draft), draft)


def read_label(path: Path, draft: NuggetDraft) -> None:
    """The labels of one system, whose summaries stand in the folder beside."""
    ids = _ids_of(path, draft)
    summaries = path.parent.parent / SUMMARIES / f"{path.stem}.summary"
    if not summaries.exists():
        raise InputError(f"{path}: expected the summaries that were judged in {summaries}")
    counts = [len(draft.questions[id].nuggets) if id in draft.questions else 0 for id in ids.ids]
    _read_labels(path, ids, counts, ids.aligned(summaries), draft)


class _Ids(NamedTuple):
    """The questions in the order of the lines, and where that order comes from."""

    ids: list[str]
    source: str

    def aligned(self, path: Path) -> list[str]:
        """Return the lines of a file, one for each question."""
        lines, count = read_lines(path), len(self.ids)
        if len(lines) != count:
            told = f"found {len(lines):,} lines, expected {count:,}, as {self.source} has"
            raise InputError(f"{path}: {told}")
        return lines


def _ids_of(path: Path, draft: NuggetDraft) -> _Ids:
    """Of the folder that a file stands in, or else of the key."""
    beside = path.parent.parent / IDS
    if beside.exists():
        return _Ids(read_lines(beside), str(beside))
    return _Ids([*draft.questions], "the key")


def _read_key(path: Path, ids: _Ids, draft: NuggetDraft) -> list[int]:
    """Take the questions and return how many units each has."""
    lines = ids.aligned(path)
    for (place, line), id in zip(draft.reading.numbered(lines, path), ids.ids, strict=True):
        draft.question(id, place)
        for i, text in enumerate(line.split("\t"), 1):
            draft.nugget(id, Nugget(str(i), (text,)), place)
    return [len(line.split("\t")) for line in lines]


def _read_run(path: Path, ids: _Ids, draft: NuggetDraft) -> list[str]:
    """Take the run of a file, named after it, and return its texts."""
    texts = ids.aligned(path)
    draft.run(path.stem, FileLocation(str(path), 1))
    for (place, text), question in zip(draft.reading.numbered(texts, path), ids.ids, strict=True):
        draft.response(path.stem, question, Response(text), place)
    return texts


def _read_labels(
    path: Path, ids: _Ids, counts: list[int], texts: list[str], draft: NuggetDraft
) -> None:
    rows = zip(ids.ids, counts, texts, strict=True)
    lines = draft.reading.numbered(ids.aligned(path), path)
    for (place, line), (question, count, text) in zip(lines, rows, strict=True):
        labels = line.split("\t")
        if len(labels) != count or not {*labels} <= {"0", "1"}:
            draft.problem(place, f"found {quoted(line)}, expected {count} labels 0 or 1")
            continue
        for i, label in enumerate(labels, 1):
            draft.judge(Judged(question, str(i), text, float(label), path.stem), place)


# ------------------------------------------------------------------------------------ writing


def units_files(nuggets: NuggetSet) -> Iterator[NamedFile]:
    """Yield the files of a folder; a run must be judged whole, or not at all."""
    questions = nuggets.key.questions.values()
    yield IDS, [f"{question.id}\n" for question in questions]
    units = ([_one_line(one.descriptions[0]) for one in question.nuggets] for question in questions)
    yield UNITS, ["\t".join(text.replace("\t", " ") for text in row) + "\n" for row in units]
    for run in nuggets.runs.values():
        if not run.tag or any(c in run.tag for c in "/\\\0"):
            raise OutputError(f"run {quoted(run.tag)} cannot be the name of a file: rename it")
        answers = ([_one_line(one.text) for one in run.responses(q.id)] for q in questions)
        yield f"{SUMMARIES}/{run.tag}.summary", [" ".join(texts) + "\n" for texts in answers]
        if labels := _labels(run, nuggets):
            yield f"{LABELS}/{run.tag}.label", labels


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def _labels(run: Run, nuggets: NuggetSet) -> list[str]:
    """Return a line for each question; nothing if nothing of the run was judged."""
    rows = {
        id: [nuggets.judgements.best(id, one.id, run.responses(id)) for one in question.nuggets]
        for id, question in nuggets.key.questions.items()
    }
    silent = [question for question in rows if not run.responses(question)]
    judged = [label for labels in rows.values() for label in labels if label is not None]
    missing = [q for q, labels in rows.items() if None in labels and q not in silent]
    if judged and missing:
        raise OutputError(
            f"run {short(run.tag)} was not judged on all nuggets of question {short(missing[0])}: "
            "content units need every label; choose another format"
        )
    return ["\t".join(f"{bool(v):d}" for v in row) + "\n" for row in rows.values() if judged]
