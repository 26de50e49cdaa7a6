"""Adjudications: what counts where assessors disagree; rows are only added, the newest counts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.store.events import stamp
from karat.studio.store.judgements import StoredRow, check_uuid, json_text
from karat.studio.store.projects import check_blind
from karat.studio.store.store import Store
from karat.studio.tasks.task import is_whole, wrong_text

MOST_SEEN = 1000


class Overtaken(InputError):
    """A decision that does not name the newest one on the same thing."""


class Adjudication(NamedTuple):
    """A decision as a client sends it."""

    uuid: str
    task: str
    item: int
    output: int | None
    about: str
    """A dimension or a nugget; for pairs and spans, `choice` or `spans`."""
    value: Any
    """None undoes the decision before."""
    seen: tuple[int, ...] = ()
    """Ids of the judgements that were shown."""
    supersedes: str | None = None
    """The uuid of the newest decision on the same thing; None if this is the first."""


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


def adjudicate(
    store: Store, assessor_id: int, given: Adjudication, now: datetime | None = None
) -> StoredRow:
    """Store a decision of an adjudicator or the owner; the same uuid is stored once."""
    _check(given)
    text = None if given.value is None else json_text(given.value)
    seen = json.dumps(list(given.seen))
    with store.write() as connection:
        if found := _repeated(connection, assessor_id, given, text, seen):
            return found
        check_blind(connection)
        _check_role(connection, assessor_id)
        _check_target(connection, given)
        added = connection.execute(
            "INSERT INTO adjudication (uuid, task, item, output, about, value, assessor, seen, "
            "supersedes, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(given.uuid, given.task, given.item, given.output, given.about, text),
                *(assessor_id, seen, _superseded(connection, given), stamp(now)),
            ),
        )
        return StoredRow(int(added.lastrowid or 0), False)


def decisions(store: Store, every: bool = False) -> list[AdjudicationRow]:
    """Return the decisions that count, or `every` row, undone and replaced ones, too."""
    newest = (
        "1"
        if every
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
    return [_decided(row) for row in rows]


def _decided(row: Sequence[Any]) -> AdjudicationRow:
    value = None if row[6] is None else json.loads(row[6])
    return AdjudicationRow._make((*row[:6], value, row[7], tuple(json.loads(row[8])), *row[9:]))


def _check(given: Adjudication) -> None:
    check_uuid("uuid", given.uuid)
    if given.supersedes is not None:
        check_uuid("supersedes", given.supersedes)
    for name in ("item", "output"):
        id = getattr(given, name)
        if not (is_whole(id) and 0 < id < 2**53) and not (name == "output" and id is None):
            raise InputError(f"found the {name} {quoted(id)}, expected its number")
    for name in ("task", "about"):
        if told := wrong_text(name, getattr(given, name), 500):
            raise InputError(told)
    if len(given.seen) > MOST_SEEN or not all(is_whole(id) for id in given.seen):
        raise InputError(f"seen: expected at most {MOST_SEEN:,} numbers of judgements")


def _check_role(connection: sqlite3.Connection, assessor: int) -> None:
    row = connection.execute(
        "SELECT role FROM assessor WHERE id = ? AND active", (assessor,)
    ).fetchone()
    if row is None or row[0] == "assessor":
        raise InputError("only adjudicators and the owner decide on disagreements")


def _check_target(connection: sqlite3.Connection, given: Adjudication) -> None:
    """Refuse a decision on what nobody judged."""
    row = connection.execute(
        "SELECT count(*), (SELECT count(*) FROM output WHERE id = ?3 AND item = ?2) "
        "FROM assignment WHERE task = ?1 AND item = ?2 AND judged IS NOT NULL",
        (given.task, given.item, given.output),
    ).fetchone()
    if not row[0]:
        raise InputError(f"nobody judged item {given.item} in the task {quoted(given.task)}")
    if given.output is not None and not row[1]:
        raise InputError(f"item {given.item} has no output {given.output}")


def _repeated(
    connection: sqlite3.Connection, assessor: int, given: Adjudication, text: str | None, seen: str
) -> StoredRow | None:
    row = connection.execute(
        "SELECT j.id, j.assessor, j.task, j.item, j.output, j.about, j.value, j.seen, b.uuid "
        "FROM adjudication j LEFT JOIN adjudication b ON b.id = j.supersedes WHERE j.uuid = ?",
        (given.uuid,),
    ).fetchone()
    if row is None:
        return None
    target = (given.task, given.item, given.output, given.about)
    if row[1:] != (assessor, *target, text, seen, given.supersedes):
        raise InputError(f"uuid {given.uuid} stands for another decision: make a new one")
    return StoredRow(row[0], True)


def _superseded(connection: sqlite3.Connection, given: Adjudication) -> int | None:
    """Return the newest decision on the same thing, which must be the one that is replaced."""
    row = connection.execute(
        "SELECT id, uuid FROM adjudication WHERE task = ? AND item = ? AND output IS ? "
        "AND about = ? ORDER BY id DESC LIMIT 1",
        (given.task, given.item, given.output, given.about),
    ).fetchone()
    newest = None if row is None else row[1]
    if newest is None and given.supersedes is not None:
        raise InputError(f"item {given.item}: there is no decision {quoted(given.supersedes)}")
    if newest != given.supersedes:
        told = "somebody else has decided this meanwhile: look at that decision first"
        raise Overtaken(f"item {given.item}: {told}")
    return None if row is None else int(row[0])
