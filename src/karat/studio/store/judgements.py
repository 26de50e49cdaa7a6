"""Judgements: rows that are added and never changed; the newest one of an assignment counts.

A client makes the uuid of what it sends, so that it may send it again: the same uuid with the same
content is stored once. A revision and an undo name the judgement that they replace, which must be
the newest, so that requests in a wrong order are refused instead of making another history.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from karat.errors import InputError, quoted
from karat.studio.store.assignments import settings_of, shown_in
from karat.studio.store.events import now as time_of_now
from karat.studio.store.events import stamp
from karat.studio.store.projects import check_open
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.task import is_done, is_whole

LONGEST_VALUE = 100_000
LONGEST_TIME = 7 * 24 * 3600 * 1000
"""Milliseconds that one answer may take."""


COUNTED = """
CASE WHEN j.value IS NULL OR json_extract(j.value, '$.done') = 0 OR (a.task = 'nuggets' AND EXISTS
    (SELECT 1 FROM nugget n WHERE n.item = a.item AND NOT n.dropped
    AND n.nugget NOT IN (SELECT key FROM json_each(j.value, '$.nuggets'))))
THEN NULL ELSE j.id END
"""
"""The newest judgement j of an assignment a if it is complete: it has all nuggets of the key."""


class SentJudgement(NamedTuple):
    """An answer as a client sends it."""

    uuid: str
    assignment: int
    value: Any
    """A JSON object, as the task of the assignment has it."""
    ms: int
    """Milliseconds that the assessor took."""
    supersedes: str | None = None
    """The uuid of the newest judgement of the assignment; None if this is the first."""


class StoredRow(NamedTuple):
    """The row of a judgement, and whether it was there already."""

    id: int
    duplicate: bool


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


def judge(
    store: Store, assessor_id: int, judgement: SentJudgement, now: datetime | None = None
) -> StoredRow:
    """Store an answer, which is on the disk when this returns; what is wrong is refused."""
    text = _checked(judgement)
    return _add(store, assessor_id, judgement, text, now)


def undo(
    store: Store,
    assessor_id: int,
    uuid: str,
    of_assignment: int,
    supersedes: str | None = None,
    now: datetime | None = None,
) -> StoredRow:
    """Take the newest answer of an assignment back by a row without a value.

    `supersedes` is the uuid of that answer; without it, the newest is taken back, whatever it is.
    """
    taken_back = SentJudgement(uuid, of_assignment, None, 0, supersedes)
    _check_ids(taken_back)
    return _add(store, assessor_id, taken_back, None, now)


def _add(
    store: Store, assessor: int, given: SentJudgement, text: str | None, now: datetime | None
) -> StoredRow:
    with store.write() as connection:
        if found := _repeated(connection, assessor, given, text):
            return found
        check_open(connection)
        unit, judged, lease = _own_assignment(connection, assessor, given.assignment)
        before = _superseded(connection, given, undoes=text is None)
        if text is not None:
            shown = shown_in(connection, given.assignment)
            if told := TASKS[shown.task].check(given.value, shown):
                more = "; the key of the question was edited: load it again" * shown.edited
                raise InputError(f"assignment {given.assignment}: {told}{more}")
        time = now or time_of_now()
        added = connection.execute(
            "INSERT INTO judgement (uuid, assignment, assessor, value, ms, supersedes, time) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (given.uuid, given.assignment, assessor, text, given.ms, before, stamp(time)),
        )
        id = int(added.lastrowid or 0)
        complete = text is not None and is_done(given.value)
        mark(connection, assessor, given.assignment, id if complete else None, judged, time)
        if judged is None and lease is None:  # the slot was given back, and is taken again
            connection.execute("UPDATE unit SET taken = taken + 1 WHERE id = ?", (unit,))
        return StoredRow(id, False)


def mark(
    connection: sqlite3.Connection,
    assessor: int,
    assignment: int,
    judged: int | None,
    before: int | None,
    time: datetime,
) -> None:
    """Note that an assignment is judged, or is open again with a lease."""
    (text,) = connection.execute("SELECT settings FROM project").fetchone()
    ends = stamp(time + timedelta(seconds=settings_of(text).lease_seconds))
    connection.execute(
        "UPDATE assignment SET judged = ?, lease = ? WHERE id = ?", (judged, ends, assignment)
    )
    change = (judged is not None) - (before is not None)
    if change:
        connection.execute(
            "UPDATE assessor SET judged = judged + ? WHERE id = ?", (change, assessor)
        )


def _repeated(
    connection: sqlite3.Connection, assessor: int, given: SentJudgement, text: str | None
) -> StoredRow | None:
    """Return the row with the same uuid, which must have the same content."""
    row = connection.execute(
        "SELECT j.id, j.assessor, j.assignment, j.value, j.ms, b.uuid FROM judgement j "
        "LEFT JOIN judgement b ON b.id = j.supersedes WHERE j.uuid = ?",
        (given.uuid,),
    ).fetchone()
    if row is None:
        return None
    before = row[5] if text is None and given.supersedes is None else given.supersedes
    if row[1:] != (assessor, given.assignment, text, given.ms, before):
        raise InputError(f"uuid {given.uuid} stands for another judgement: make a new one")
    return StoredRow(row[0], True)


def _own_assignment(
    connection: sqlite3.Connection, assessor: int, assignment: int
) -> tuple[int, int | None, str | None]:
    row = connection.execute(
        "SELECT unit, judged, lease FROM assignment WHERE id = ? AND assessor = ?",
        (assignment, assessor),
    ).fetchone()
    if row is None:
        raise InputError(f"you have no assignment {quoted(assignment)}")
    return row[0], row[1], row[2]


def _superseded(connection: sqlite3.Connection, given: SentJudgement, undoes: bool) -> int | None:
    """Return the newest row of the assignment, which must be the one that is replaced."""
    row = connection.execute(
        "SELECT id, uuid, value FROM judgement WHERE assignment = ? ORDER BY id DESC LIMIT 1",
        (given.assignment,),
    ).fetchone()
    if undoes and (row is None or row[2] is None):
        raise InputError(f"assignment {given.assignment} has no answer to take back")
    newest = None if row is None else row[1]
    if newest != given.supersedes and not (undoes and given.supersedes is None):
        raise InputError(
            f"assignment {given.assignment} has a newer answer, perhaps of another tab: look at "
            f"that one first (found supersedes={quoted(given.supersedes)}, but its newest "
            f"judgement is {quoted(newest)})"
        )
    return None if row is None else int(row[0])


def _checked(given: SentJudgement) -> str:
    """Return the value as text of one spelling; a judgement of the wrong form is refused."""
    _check_ids(given)
    if not is_whole(given.ms) or not 0 <= given.ms <= LONGEST_TIME:
        raise InputError(f"found ms={quoted(given.ms)}, expected 0 to {LONGEST_TIME:,}")
    if not isinstance(given.value, dict):
        raise InputError(f"found the value {quoted(given.value)}, expected an object")
    return json_text(given.value)


def json_text(value: object) -> str:
    """Return a value as text of one spelling; one that is too long or no JSON is refused."""
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError, RecursionError):
        raise InputError("the value is no JSON in UTF-8: expected texts and numbers") from None
    if size > LONGEST_VALUE:
        raise InputError(f"the value has {size:,} bytes, expected at most {LONGEST_VALUE:,}")
    return text


def _check_ids(given: SentJudgement) -> None:
    check_uuid("uuid", given.uuid)
    if given.supersedes is not None:
        check_uuid("supersedes", given.supersedes)
    if not is_whole(given.assignment) or not 0 < given.assignment < 2**53:
        raise InputError(f"found the assignment {quoted(given.assignment)}, expected its number")


def check_uuid(name: str, text: object) -> None:
    """Refuse what is no UUID as text, in the usual spelling."""
    try:
        good = isinstance(text, str) and str(UUID(text)) == text
    except ValueError:
        good = False
    if not good:
        told = "expected a UUID such as 6c1f8b7e-4f5a-4e0a-9d1c-2b3a4c5d6e7f"
        raise InputError(f"found {name}={quoted(text)}, {told}")


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
    connection: sqlite3.Connection, which: str, assessor: int | None, assignment: int | None
) -> Iterator[StoredJudgement]:
    rows = connection.execute(
        f"{_HISTORY_ROWS} WHERE {which} AND (?1 IS NULL OR j.assessor = ?1) "
        "AND (?2 IS NULL OR a.id = ?2) ORDER BY j.id",
        (assessor, assignment),
    )
    for row in rows:
        value = None if row[7] is None else json.loads(row[7])
        yield StoredJudgement._make((*row[:6], tuple(json.loads(row[6])), value, *row[8:]))
