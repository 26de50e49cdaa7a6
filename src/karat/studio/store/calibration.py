"""Calibration: units with known answers, and how well each assessor judged them."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.reading import Reading, json_rows
from karat.studio.store.assignments import shown_in
from karat.studio.store.imports import comparing
from karat.studio.store.settings import CalibrationItem, ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.task import (
    AssignmentView,
    NuggetView,
    OutputView,
    first_wrong,
    is_done,
    wrong_text,
)

LONGEST_TEXT = 100_000


class CalibrationScore(NamedTuple):
    """Agreement of an assessor with the known answers."""

    assessor: str
    judged: int
    likeness: float
    """The mean over calibration units, from 0 to 1."""


def add_calibration(
    connection: sqlite3.Connection, settings: ProjectSettings, ids: Iterator[int]
) -> None:
    """Add the calibration items of a project, with ids among those of other outputs."""
    (item,) = connection.execute("SELECT max(id) FROM item").fetchone()
    for number, one in enumerate(settings.calibration, 1):
        _check_known_answer(one, number, settings)
        connection.execute(
            "INSERT INTO item (id, source, refs, ord, outputs, calibration) "
            "VALUES (?, ?, ?, ?, ?, 1)",
            (item + number, one.source, json.dumps(one.references), item, len(one.outputs)),
        )
        own = sorted(next(ids) for _ in one.outputs)  # in the order of the known answer
        connection.executemany(
            "INSERT INTO output (id, item, system, text, hash) VALUES (?, ?, '', ?, ?)",
            [
                (id, item + number, text, sha256(text.encode("utf-8")).hexdigest())
                for id, text in zip(own, one.outputs, strict=True)
            ],
        )
        connection.executemany(
            "INSERT INTO nugget (item, nugget, importance, descriptions) VALUES (?, ?, ?, ?)",
            [
                (item + number, n.id, n.importance, json.dumps(n.descriptions))
                for n in _nugget_views(one)
            ],
        )
        connection.execute(
            "INSERT INTO unit (task, item, outputs, round, answer) VALUES (?, ?, ?, 0, ?)",
            (one.task, item + number, json.dumps(own), json.dumps(one.value, ensure_ascii=False)),
        )


def _nugget_views(one: CalibrationItem) -> list[NuggetView]:
    return [NuggetView(str(k), "vital", (text,)) for k, text in enumerate(one.nuggets, 1)]


def _check_known_answer(one: CalibrationItem, number: int, settings: ProjectSettings) -> None:
    """Refuse a known answer that nobody could give."""
    task = TASKS[one.task]
    texts = (one.source or "", *one.outputs, *one.references, *one.nuggets)
    if told := first_wrong([wrong_text("text", text, LONGEST_TEXT) for text in texts]):
        raise InputError(f"calibration item {number}: {told}")
    if len(task.targets(range(len(one.outputs)))) != 1:
        told = "two outputs" if one.task == "pairs" else "one output"
        raise InputError(f"calibration item {number}: expected {told}")
    if one.task == "nuggets" and not one.nuggets:
        told = "expected nuggets, a list of their descriptions"
        raise InputError(f"calibration item {number}: {told}")
    outputs = tuple(OutputView(k, text) for k, text in enumerate(one.outputs, 1))
    shown = AssignmentView(
        0, one.task, settings.tasks[one.task], outputs, nuggets=tuple(_nugget_views(one))
    )
    told = task.check(one.value, shown) or ("" if is_done(one.value) else "the answer is a draft")
    if told:
        raise InputError(f"calibration item {number}: {told}")
    if (dimensions := comparing(settings.tasks)) and not (one.source or any(one.references)):
        told = f"{short(dimensions[0])} compares an output with another text"
        raise InputError(f"calibration item {number}: {told}: add source or references")


def calibration_scores(store: Store) -> list[CalibrationScore]:
    """Return the score of every assessor who judged a calibration unit."""
    with store.read() as connection:
        rows = connection.execute(
            "SELECT assessor.name, assignment.id, value, answer FROM assignment "
            "JOIN unit ON unit.id = unit JOIN judgement ON judgement.id = assignment.judged "
            "JOIN assessor ON assessor.id = assignment.assessor "
            "WHERE answer IS NOT NULL ORDER BY assessor.id, assignment.id"
        ).fetchall()
        found: dict[str, list[float]] = {}
        for name, assignment, value, answer in rows:
            shown = shown_in(connection, assignment)
            found.setdefault(name, []).append(_compare_answers(shown, json.loads(value), answer))
    return [CalibrationScore(name, len(own), fmean(own)) for name, own in found.items()]


def _compare_answers(shown: AssignmentView, value: Mapping[str, Any], answer: str) -> float:
    return TASKS[shown.task].likeness(value, json.loads(answer), shown)


_REQUIRED = ("outputs", "value")
_LISTS = ("outputs", "references", "nuggets")
_FIELDS = (*_REQUIRED, "source", "references", "nuggets")


def read_calibration(path: str | os.PathLike[str], task: str) -> tuple[CalibrationItem, ...]:
    """Return the calibration items of a file, for the task of a project."""
    reading = Reading()
    found = []
    for place, row in json_rows(Path(path), reading):
        if told := next(_find_problems(row), ""):
            raise InputError(f"{place}: {told}")
        texts = {name: tuple(row.get(name, ())) for name in _LISTS}
        found.append(CalibrationItem(task, value=row["value"], source=row.get("source"), **texts))
    reading.check()
    if not found:
        raise InputError(f"{os.fspath(path)}: expected calibration items, one JSON object a line")
    return tuple(found)


def _find_problems(row: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the members of an object."""
    for name in _REQUIRED:
        if name not in row:
            yield f"{name} is missing: expected {' and '.join(_REQUIRED)}"
    for name, value in row.items():
        if name not in _FIELDS:
            yield f"found the name {quoted(name)}, expected {', '.join(_FIELDS)}"
        if name in _LISTS and not _are_texts(value):
            yield f"found {name}={quoted(value)}, expected a list of texts"
    if not isinstance(row.get("value", {}), dict):
        yield f"found value={quoted(row['value'])}, expected an object, as answers are"
    if not isinstance(row.get("source", ""), str):
        yield f"found source={quoted(row['source'])}, expected a text"


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
