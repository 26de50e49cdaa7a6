"""Calibration: units with known answers, and how well each assessor judged them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.reading import Reading, read_json_lines
from karat.studio.store.assignments import view_in
from karat.studio.store.schema import StoreConnection
from karat.studio.store.settings import CalibrationItem, ProjectSettings, compared_dimensions
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.task import (
    AssignmentView,
    NuggetView,
    OutputView,
    first_error,
    is_done,
    text_error,
)

MAX_TEXT = 100_000


class CalibrationScore(NamedTuple):
    """Agreement of an assessor with the known answers."""

    assessor: str
    judged: int
    likeness: float
    """The mean over calibration units, from 0 to 1."""


def add_calibration(
    connection: StoreConnection, settings: ProjectSettings, ids: Iterator[int]
) -> None:
    """Add the calibration items of a project; their output ids mix with others."""
    item = connection.value("SELECT max(id) FROM item")
    for number, entry in enumerate(settings.calibration, 1):
        _check_known_answer(entry, number, settings)
        connection.execute(
            "INSERT INTO item (id, source, refs, ord, outputs, calibration) "
            "VALUES (?, ?, ?, ?, ?, 1)",
            (item + number, entry.source, json.dumps(entry.references), item, len(entry.outputs)),
        )
        output_ids = sorted(next(ids) for _ in entry.outputs)  # in the order of the known answer
        connection.executemany(
            "INSERT INTO output (id, item, system, text, hash) VALUES (?, ?, '', ?, ?)",
            [
                (id, item + number, text, sha256(text.encode("utf-8")).hexdigest())
                for id, text in zip(output_ids, entry.outputs, strict=True)
            ],
        )
        connection.executemany(
            "INSERT INTO nugget (item, nugget, importance, descriptions) VALUES (?, ?, ?, ?)",
            [
                (item + number, n.id, n.importance, json.dumps(n.descriptions))
                for n in _nugget_views(entry)
            ],
        )
        connection.execute(
            "INSERT INTO unit (task, item, outputs, round, answer) VALUES (?, ?, ?, 0, ?)",
            (
                entry.task,
                item + number,
                json.dumps(output_ids),
                json.dumps(entry.value, ensure_ascii=False),
            ),
        )


def _nugget_views(entry: CalibrationItem) -> list[NuggetView]:
    return [NuggetView(str(k), "vital", (text,)) for k, text in enumerate(entry.nuggets, 1)]


def _check_known_answer(entry: CalibrationItem, number: int, settings: ProjectSettings) -> None:
    """Raise InputError if a known answer is not a valid answer."""
    task = TASKS[entry.task]
    texts = (entry.source or "", *entry.outputs, *entry.references, *entry.nuggets)
    if error := first_error([text_error("text", text, MAX_TEXT) for text in texts]):
        raise InputError(f"calibration item {number}: {error}")
    if len(task.targets(range(len(entry.outputs)))) != 1:
        raise InputError(f"calibration item {number}: expected {task.outputs_per_unit}")
    if task.needs_nuggets and not entry.nuggets:
        error = "expected nuggets, a list of their descriptions"
        raise InputError(f"calibration item {number}: {error}")
    outputs = tuple(OutputView(k, text) for k, text in enumerate(entry.outputs, 1))
    view = AssignmentView(
        0, entry.task, settings.tasks[entry.task], outputs, nuggets=tuple(_nugget_views(entry))
    )
    error = task.find_error(entry.value, view) or (
        "" if is_done(entry.value) else "the answer is a draft"
    )
    if error:
        raise InputError(f"calibration item {number}: {error}")
    if (dimensions := compared_dimensions(settings.tasks)) and not (
        entry.source or any(entry.references)
    ):
        error = f"{short(dimensions[0])} compares an output with another text"
        raise InputError(f"calibration item {number}: {error}: add source or references")


def calibration_scores(store: Store) -> list[CalibrationScore]:
    """Return the score of every assessor who judged a calibration unit."""
    with store.read() as connection:
        rows = connection.rows(
            "SELECT assessor.name, assignment.id, value, answer FROM assignment "
            "JOIN unit ON unit.id = unit JOIN judgement ON judgement.id = assignment.judged "
            "JOIN assessor ON assessor.id = assignment.assessor "
            "WHERE answer IS NOT NULL ORDER BY assessor.id, assignment.id"
        )
        scores: dict[str, list[float]] = {}
        for name, assignment, value, answer in rows:
            view = view_in(connection, assignment)
            scores.setdefault(name, []).append(_compare_answers(view, json.loads(value), answer))
    return [CalibrationScore(name, len(values), fmean(values)) for name, values in scores.items()]


def _compare_answers(view: AssignmentView, value: Mapping[str, Any], answer: str) -> float:
    return TASKS[view.task].likeness(value, json.loads(answer), view)


_REQUIRED = ("outputs", "value")
_LISTS = ("outputs", "references", "nuggets")
_FIELDS = (*_REQUIRED, "source", "references", "nuggets")


def read_calibration(path: str | os.PathLike[str], task: str) -> tuple[CalibrationItem, ...]:
    """Return the calibration items of a file, for the task of a project."""
    reading = Reading()
    entries = []
    for place, row in read_json_lines(Path(path), reading):
        if error := next(_find_problems(row), ""):
            raise InputError(f"{place}: {error}")
        texts = {name: tuple(row.get(name, ())) for name in _LISTS}
        entries.append(CalibrationItem(task, value=row["value"], source=row.get("source"), **texts))
    reading.check()
    if not entries:
        raise InputError(f"{os.fspath(path)}: expected calibration items, one JSON object a line")
    return tuple(entries)


def _find_problems(row: dict[str, Any]) -> Iterator[str]:
    """Yield the errors of a calibration item."""
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
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
