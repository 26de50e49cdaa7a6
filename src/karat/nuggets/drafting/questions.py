"""Questions to draft a key for, each with the documents that answer it.

    {"question": "q1", "text": "Who designed the lens?", "documents": ["…", "…"]}

One object a line. An evaluation set does, too: its segments are the questions, sources their texts,
and references the documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.catalogue import GivenPath
from karat.evalset.loading import as_evalset
from karat.evalset.reading import FileLocation, Reading, check_member, read_json_lines, read_lines
from karat.evalset.sets import EvalSet

MEMBERS = ("question", "text", "documents")


class Sourced(NamedTuple):
    """A question and its documents."""

    id: str
    text: str
    documents: tuple[str, ...]


def read_questions(given: EvalSet | GivenPath) -> tuple[str, tuple[Sourced, ...]]:
    """Return the name of a file or set, and its questions."""
    if not isinstance(given, EvalSet | str | PathLike):
        expected = "a file of questions, an evaluation set, or its name"
        raise InputError(f"found {quoted(given)}, expected {expected}")
    if not isinstance(given, EvalSet) and _is_questions(Path(given)):
        return Path(given).name, _of_file(Path(given))
    evalset = as_evalset(given)
    if not any(evalset.references):
        told = "has no references: a key is drafted from references or documents"
        raise InputError(f"{evalset.name} {told}")
    sources = evalset.sources or ("",) * len(evalset)
    rows = zip(evalset.segments, sources, evalset.references, strict=True)
    return evalset.name, tuple(Sourced(id, text, documents) for id, text, documents in rows)


def _is_questions(path: Path) -> bool:
    """Return whether a file has questions with documents, by its first object."""
    if not path.is_file():
        return False
    try:
        first = next((line for line in read_lines(path) if line.strip()), "")
    except InputError:
        return False
    return '"documents"' in first and '"question"' in first


def _of_file(path: Path) -> tuple[Sourced, ...]:
    reading, found = Reading(lister=""), dict[str, Sourced]()
    for place, row in read_json_lines(path, reading):
        if (question := _question(row, place, reading)) is None:
            continue
        if question.id in found:
            reading.problem(place, f"question {short(question.id)} again")
        found[question.id] = question
    reading.check()
    return tuple(found.values())


def _question(row: Mapping[str, Any], place: FileLocation, reading: Reading) -> Sourced | None:
    before = len(reading.problems)
    if unknown := [key for key in row if key not in MEMBERS]:
        told = f"found the name {quoted(unknown[0])}, expected {', '.join(MEMBERS)}"
        reading.problem(place, told)
    id = check_member(row, "question", str, place, reading)
    documents = check_member(row, "documents", list, place, reading)
    text = check_member({"text": "", **row}, "text", str, place, reading)
    if len(reading.problems) > before or id is None or documents is None:
        return None
    reading.check_name("question", id, place, blank=False)
    if not documents or not all(isinstance(one, str) and one.strip() for one in documents):
        reading.problem(place, "expected at least one document, each a text that is not empty")
    return Sourced(str(id), str(text), tuple(map(str, documents)))
