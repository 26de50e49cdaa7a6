"""Rows of a store as tests look at them: judgements, decisions and events."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from karat.studio.store.store import Store


class StoredJudgement(NamedTuple):
    """A stored judgement with what it is about."""

    id: int
    uuid: str
    assignment: int
    assessor: int
    task: str
    item: int
    outputs: tuple[int, ...]
    value: Any
    """None if it was undone."""
    ms: int
    supersedes: int | None
    time: str


_HISTORY_ROWS = """
SELECT j.id, j.uuid, a.id, j.assessor, a.task, a.item, a.outputs, j.value, j.ms, j.supersedes,
    j.time FROM judgement j JOIN assignment a ON a.id = j.assignment
"""


def current(
    store: Store, assessor: int | None = None, assignment: int | None = None
) -> list[StoredJudgement]:
    """Return the newest row of each assignment, without drafts and what was taken back."""
    with store.read() as connection:
        return list(_rows(connection, "a.judged = j.id", assessor, assignment))


def history(
    store: Store, assessor: int | None = None, assignment: int | None = None
) -> list[StoredJudgement]:
    """Return all rows in the order in which they were stored."""
    with store.read() as connection:
        return list(_rows(connection, "1", assessor, assignment))


def _rows(
    connection: sqlite3.Connection, condition: str, assessor: int | None, assignment: int | None
) -> Iterator[StoredJudgement]:
    rows = connection.execute(
        f"{_HISTORY_ROWS} WHERE {condition} AND (?1 IS NULL OR j.assessor = ?1) "
        "AND (?2 IS NULL OR a.id = ?2) ORDER BY j.id",
        (assessor, assignment),
    )
    for row in rows:
        value = None if row[7] is None else json.loads(row[7])
        yield StoredJudgement._make((*row[:6], tuple(json.loads(row[6])), value, *row[8:]))


class AdjudicationRow(NamedTuple):
    """A stored decision."""

    id: int
    uuid: str
    task: str
    item: int
    output: int | None
    about: str
    value: Any
    assessor: int
    seen: tuple[int, ...]
    supersedes: int | None
    time: str


def decisions(store: Store, with_superseded: bool = False) -> list[AdjudicationRow]:
    """Return the decisions that count, or `with_superseded` row, undone and replaced ones, too."""
    newest = (
        "1"
        if with_superseded
        else (
            "value IS NOT NULL AND id NOT IN "
            "(SELECT supersedes FROM adjudication WHERE supersedes IS NOT NULL)"
        )
    )
    with store.read() as connection:
        rows = connection.execute(
            "SELECT id, uuid, task, item, output, about, value, assessor, seen, supersedes, time "
            f"FROM adjudication WHERE {newest} ORDER BY id"
        ).fetchall()
    return [_parse_decision(row) for row in rows]


def _parse_decision(row: Sequence[Any]) -> AdjudicationRow:
    value = None if row[6] is None else json.loads(row[6])
    return AdjudicationRow._make((*row[:6], value, row[7], tuple(json.loads(row[8])), *row[9:]))


class Event(NamedTuple):
    """One thing that happened."""

    time: str
    assessor: int | None
    what: str
    detail: dict[str, Any]


def events(store: Store) -> list[Event]:
    """Return all events, the first one first."""
    with store.read() as connection:
        rows = connection.execute("SELECT time, assessor, what, detail FROM event ORDER BY id")
        return [Event(time, who, event, json.loads(detail)) for time, who, event, detail in rows]
