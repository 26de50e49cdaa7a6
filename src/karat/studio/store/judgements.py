"""Judgements: rows that are added and never changed; the newest one of an assignment counts.

A client makes the uuid of what it sends, so that it may send it again: the same uuid with the same
content is stored once. A revision and an undo name the judgement that they replace, which must be
the newest, so that requests in a wrong order are refused instead of making another history.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from karat.errors import InputError, quoted
from karat.studio.store.assignments import parse_settings, view_in
from karat.studio.store.events import now as time_of_now
from karat.studio.store.events import stamp
from karat.studio.store.projects import check_open
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.task import is_done, is_integer

MAX_VALUE_BYTES = 100_000
MAX_MILLISECONDS = 7 * 24 * 3600 * 1000
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


def judge(
    store: Store, assessor_id: int, judgement: SentJudgement, now: datetime | None = None
) -> StoredRow:
    """Store an answer durably; raise InputError if it is not valid."""
    text = _check_judgement(judgement)
    return _store_judgement(store, assessor_id, judgement, text, now)


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
    return _store_judgement(store, assessor_id, taken_back, None, now)


def _store_judgement(
    store: Store, assessor: int, judgement: SentJudgement, text: str | None, now: datetime | None
) -> StoredRow:
    with store.write() as connection:
        if repeated := _find_repeated(connection, assessor, judgement, text):
            return repeated
        check_open(connection)
        unit, judged, lease = _read_assignment(connection, assessor, judgement.assignment)
        before = _find_superseded(connection, judgement, undoes=text is None)
        if text is not None:
            view = view_in(connection, judgement.assignment)
            if error := TASKS[view.task].find_error(judgement.value, view):
                more = "; the key of the question was edited: load it again" * view.edited
                raise InputError(f"assignment {judgement.assignment}: {error}{more}")
        time = now or time_of_now()
        added = connection.execute(
            "INSERT INTO judgement (uuid, assignment, assessor, value, ms, supersedes, time) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                judgement.uuid,
                judgement.assignment,
                assessor,
                text,
                judgement.ms,
                before,
                stamp(time),
            ),
        )
        id = int(added.lastrowid or 0)
        complete = text is not None and is_done(judgement.value)
        mark(connection, assessor, judgement.assignment, id if complete else None, judged, time)
        if judged is None and lease is None:  # the slot was given back, and is taken again
            connection.execute("UPDATE unit SET taken = taken + 1 WHERE id = ?", (unit,))
        return StoredRow(id, False)


def mark(
    connection: StoreConnection,
    assessor: int,
    assignment: int,
    judged: int | None,
    before: int | None,
    time: datetime,
) -> None:
    """Note that an assignment is judged, or is open again with a lease."""
    text = connection.value("SELECT settings FROM project")
    ends = stamp(time + timedelta(seconds=parse_settings(text).lease_seconds))
    connection.execute(
        "UPDATE assignment SET judged = ?, lease = ? WHERE id = ?", (judged, ends, assignment)
    )
    change = (judged is not None) - (before is not None)
    if change:
        connection.execute(
            "UPDATE assessor SET judged = judged + ? WHERE id = ?", (change, assessor)
        )


def _find_repeated(
    connection: StoreConnection, assessor: int, judgement: SentJudgement, text: str | None
) -> StoredRow | None:
    """Return the row with the same uuid, which must have the same content."""
    row = connection.row(
        "SELECT j.id, j.assessor, j.assignment, j.value, j.ms, b.uuid FROM judgement j "
        "LEFT JOIN judgement b ON b.id = j.supersedes WHERE j.uuid = ?",
        judgement.uuid,
    )
    if row is None:
        return None
    before = row[5] if text is None and judgement.supersedes is None else judgement.supersedes
    if row[1:] != (assessor, judgement.assignment, text, judgement.ms, before):
        raise InputError(f"uuid {judgement.uuid} stands for another judgement: make a new one")
    return StoredRow(row[0], True)


def _read_assignment(
    connection: StoreConnection, assessor: int, assignment: int
) -> tuple[int, int | None, str | None]:
    row = connection.row(
        "SELECT unit, judged, lease FROM assignment WHERE id = ? AND assessor = ?",
        assignment,
        assessor,
    )
    if row is None:
        raise InputError(f"you have no assignment {quoted(assignment)}")
    return row[0], row[1], row[2]


def _find_superseded(
    connection: StoreConnection, judgement: SentJudgement, undoes: bool
) -> int | None:
    """Return the newest row of the assignment, which must be the one that is replaced."""
    row = connection.row(
        "SELECT id, uuid, value FROM judgement WHERE assignment = ? ORDER BY id DESC LIMIT 1",
        judgement.assignment,
    )
    if undoes and (row is None or row[2] is None):
        raise InputError(f"assignment {judgement.assignment} has no answer to take back")
    newest = None if row is None else row[1]
    if newest != judgement.supersedes and not (undoes and judgement.supersedes is None):
        raise InputError(
            f"assignment {judgement.assignment} has a newer answer, perhaps of another tab: look "
            f"at that one first (found supersedes={quoted(judgement.supersedes)}, but its newest "
            f"judgement is {quoted(newest)})"
        )
    return None if row is None else int(row[0])


def _check_judgement(judgement: SentJudgement) -> str:
    """Return the value as text of one spelling; a judgement of the wrong form is refused."""
    _check_ids(judgement)
    if not is_integer(judgement.ms) or not 0 <= judgement.ms <= MAX_MILLISECONDS:
        raise InputError(f"found ms={quoted(judgement.ms)}, expected 0 to {MAX_MILLISECONDS:,}")
    if not isinstance(judgement.value, dict):
        raise InputError(f"found the value {quoted(judgement.value)}, expected an object")
    return json_text(judgement.value)


def json_text(value: object) -> str:
    """Return a value as text of one spelling; one that is too long or no JSON is refused."""
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError, RecursionError):
        raise InputError("the value is no JSON in UTF-8: expected texts and numbers") from None
    if size > MAX_VALUE_BYTES:
        raise InputError(f"the value has {size:,} bytes, expected at most {MAX_VALUE_BYTES:,}")
    return text


def _check_ids(judgement: SentJudgement) -> None:
    check_uuid("uuid", judgement.uuid)
    if judgement.supersedes is not None:
        check_uuid("supersedes", judgement.supersedes)
    if not is_integer(judgement.assignment) or not 0 < judgement.assignment < 2**53:
        raise InputError(
            f"found the assignment {quoted(judgement.assignment)}, expected its number"
        )


def check_uuid(name: str, text: object) -> None:
    """Require a UUID in canonical spelling."""
    try:
        is_uuid = isinstance(text, str) and str(UUID(text)) == text
    except ValueError:
        is_uuid = False
    if not is_uuid:
        expected = "expected a UUID such as 6c1f8b7e-4f5a-4e0a-9d1c-2b3a4c5d6e7f"
        raise InputError(f"found {name}={quoted(text)}, {expected}")
