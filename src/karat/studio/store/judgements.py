"""Assignments as assessors see them, judgements, and adjudications of disagreements.

Rows are added and never changed; the newest row of an assignment or dispute counts. Clients make
the uuids of rows, so that they can repeat a request: the same uuid with the same content is stored
once. A revision or an undo names the row that it replaces, which must be the newest: requests in
the wrong order are refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from karat.errors import InputError, quoted
from karat.studio.store.people import now as time_of_now
from karat.studio.store.people import role_in, stamp
from karat.studio.store.projects import REVEALED, check_open, project_in
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, TASKS
from karat.studio.tasks.checks import is_done, is_integer, text_error
from karat.studio.tasks.task import AssignmentView, NuggetView, OutputView

MAX_VALUE_BYTES = 100_000
MAX_MILLISECONDS = 7 * 24 * 3600 * 1000
"""Limit of the time for one answer."""
MAX_SEEN = 1000
COUNTED = f"""
CASE WHEN j.value IS NULL OR json_extract(j.value, '$.done') = 0
OR (a.task = '{NUGGETS.name}' AND EXISTS
    (SELECT 1 FROM nugget n WHERE n.item = a.item AND NOT n.dropped
    AND n.nugget NOT IN (SELECT key FROM json_each(j.value, '$.nuggets'))))
THEN NULL ELSE j.id END
"""
"""The newest judgement j of an assignment a if it is complete, with all nuggets of the key."""


# Assignments


def view_assignment(store: Store, assessor: int, assignment: int) -> AssignmentView:
    """Return an assignment; raise InputError if it belongs to another assessor."""
    with store.read() as connection:
        _check_assignment(connection, assessor, assignment)
        return view_in(connection, assignment)


def _check_assignment(connection: StoreConnection, assessor: int, assignment: int) -> None:
    query = "SELECT 1 FROM assignment WHERE id = ? AND assessor = ?"
    if connection.row(query, assignment, assessor) is None:
        raise InputError(f"you have no assignment {quoted(assignment)}")


def list_assignments(store: Store, assessor: int) -> list[int]:
    """Return the assignments of an assessor in order."""
    with store.read() as connection:
        return connection.column(
            "SELECT id FROM assignment WHERE assessor = ? ORDER BY ord", assessor
        )


def find_neighbours(store: Store, assessor: int, assignment: int) -> dict[str, int | None]:
    """Return the previous and following assignment, and the milliseconds spent on this one."""
    query = (
        "SELECT (SELECT id FROM assignment WHERE assessor = a.assessor AND ord < a.ord "
        "ORDER BY ord DESC LIMIT 1), (SELECT id FROM assignment WHERE assessor = a.assessor "
        "AND ord > a.ord ORDER BY ord LIMIT 1), (SELECT coalesce(max(ms), 0) FROM judgement "
        "WHERE assignment = a.id) FROM assignment a WHERE id = ? AND assessor = ?"
    )
    with store.read() as connection:
        row = connection.row(query, assignment, assessor)
    return dict(zip(("previous", "following", "ms"), row, strict=True))


def view_in(connection: StoreConnection, assignment: int) -> AssignmentView:
    """Return an assignment without systems, within a transaction."""
    task, item, outputs = connection.row(
        "SELECT task, item, outputs FROM assignment WHERE id = ?", assignment
    )
    source, context, refs = connection.row(
        "SELECT source, context, refs FROM item WHERE id = ?", item
    )
    text, newest = connection.newest("judgement", "value", "uuid", assignment=assignment)
    settings = project_in(connection).settings
    has_nuggets, show = TASKS[task].needs_nuggets, settings.show
    nuggets, dropped = view_key(connection, item) if has_nuggets else ((), ())
    edit = connection.row("SELECT 1 FROM key_edit WHERE item = ? LIMIT 1", item)
    return AssignmentView(
        assignment,
        task,
        settings.tasks[task],
        tuple(view_output(connection, id) for id in json.loads(outputs)),
        source if show.source else None,
        context if show.context else None,
        tuple(json.loads(refs)) if show.reference else (),
        nuggets,
        None if text is None else json.loads(text),
        newest,
        dropped,
        edited=has_nuggets and edit is not None,
    )


def view_output(connection: StoreConnection, id: int) -> OutputView:
    """Return an output without its system."""
    return OutputView(id, connection.value("SELECT text FROM output WHERE id = ?", id))


def view_key(
    connection: StoreConnection, item: int
) -> tuple[tuple[NuggetView, ...], tuple[str, ...]]:
    """Return the nuggets of an item, and the ids of dropped ones."""
    rows = connection.rows(
        "SELECT nugget, importance, descriptions FROM nugget WHERE item = ? AND NOT dropped "
        "ORDER BY coalesce(ord, id), id",
        item,
    )
    dropped = connection.column("SELECT nugget FROM nugget WHERE item = ? AND dropped", item)
    nuggets = (NuggetView(id, weight, tuple(json.loads(text))) for id, weight, text in rows)
    return tuple(nuggets), tuple(dropped)


# Rows from clients


class StoredRow(NamedTuple):
    """A stored row, and whether it existed before the request."""

    id: int
    duplicate: bool


def find_repeated(
    connection: StoreConnection,
    table: str,
    uuid: str,
    content: Mapping[str, object],
    supersedes: str | None,
    noun: str,
) -> StoredRow | None:
    """Return the row with a uuid, or None; raise InputError if its content differs."""
    columns = ", ".join(f"row.{name}" for name in content)
    row = connection.row(
        f"SELECT row.id, replaced.uuid, {columns} FROM {table} row "
        f"LEFT JOIN {table} replaced ON replaced.id = row.supersedes WHERE row.uuid = ?",
        uuid,
    )
    if row is None:
        return None
    if row[1:] != (supersedes, *content.values()):
        raise InputError(f"uuid {uuid} belongs to another {noun}: make a new one")
    return StoredRow(row[0], True)


def check_uuids(uuid: object, supersedes: object) -> None:
    """Raise InputError for UUIDs that are not canonical; `supersedes` may be None."""
    for name, text in (("uuid", uuid), ("supersedes", supersedes)):
        try:
            is_uuid = isinstance(text, str) and str(UUID(text)) == text
        except ValueError:
            is_uuid = False
        if not is_uuid and not (name == "supersedes" and text is None):
            expected = "expected a UUID such as 6c1f8b7e-4f5a-4e0a-9d1c-2b3a4c5d6e7f"
            raise InputError(f"found {name}={quoted(text)}, {expected}")


def json_text(value: object) -> str:
    """Return canonical JSON; raise InputError if the value is too long or not JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError, RecursionError):
        raise InputError("the value is not JSON in UTF-8: expected texts and numbers") from None
    if size > MAX_VALUE_BYTES:
        raise InputError(f"the value has {size:,} bytes, expected at most {MAX_VALUE_BYTES:,}")
    return text


# Judgements


class SentJudgement(NamedTuple):
    """An answer as a client sends it."""

    uuid: str
    assignment: int
    value: Any
    """A JSON object in the form of the task; None undoes the newest answer."""
    ms: int
    """Milliseconds spent by the assessor."""
    supersedes: str | None = None
    """The uuid of the newest judgement of the assignment; None if this is the first."""


def judge(
    store: Store, assessor_id: int, judgement: SentJudgement, now: datetime | None = None
) -> StoredRow:
    """Store an answer durably; raise InputError if it is not valid."""
    if not is_integer(judgement.ms) or not 0 <= judgement.ms <= MAX_MILLISECONDS:
        raise InputError(f"found ms={quoted(judgement.ms)}, expected 0 to {MAX_MILLISECONDS:,}")
    if not isinstance(judgement.value, dict):
        raise InputError(f"found the value {quoted(judgement.value)}, expected an object")
    return _store_judgement(store, assessor_id, judgement, json_text(judgement.value), now)


def undo(
    store: Store,
    assessor_id: int,
    uuid: str,
    of_assignment: int,
    supersedes: str | None = None,
    now: datetime | None = None,
) -> StoredRow:
    """Undo the newest answer of an assignment by adding a row without a value.

    `supersedes` is the uuid of that answer; without it, any newest answer is undone.
    """
    undoing = SentJudgement(uuid, of_assignment, None, 0, supersedes)
    return _store_judgement(store, assessor_id, undoing, None, now)


def _store_judgement(
    store: Store, assessor: int, judgement: SentJudgement, text: str | None, now: datetime | None
) -> StoredRow:
    assignment, supersedes = judgement.assignment, judgement.supersedes
    check_uuids(judgement.uuid, supersedes)
    if not is_integer(assignment) or not 0 < assignment < 2**53:
        raise InputError(f"found the assignment {quoted(assignment)}, expected its number")
    content = {"assessor": assessor, "assignment": assignment, "value": text, "ms": judgement.ms}
    time = now or time_of_now()
    undoes_any = text is None and judgement.supersedes is None
    with store.write() as connection:
        if undoes_any:
            supersedes = connection.optional_value(
                "SELECT b.uuid FROM judgement j JOIN judgement b ON b.id = j.supersedes "
                "WHERE j.uuid = ?",
                judgement.uuid,
            )
        if repeated := find_repeated(
            connection, "judgement", judgement.uuid, content, supersedes, "judgement"
        ):
            return repeated
        check_open(connection)
        _check_assignment(connection, assessor, assignment)
        before, newest, newest_text = connection.newest(
            "judgement", "id", "uuid", "value", assignment=assignment
        )
        if text is None and newest_text is None:
            raise InputError(f"assignment {assignment} has no answer to take back")
        if newest != judgement.supersedes and not undoes_any:
            raise InputError(
                f"assignment {assignment} has a newer answer, perhaps of another tab: look at that "
                f"one first (found supersedes={quoted(judgement.supersedes)}, but its newest "
                f"judgement is {quoted(newest)})"
            )
        if text is not None:
            view = view_in(connection, assignment)
            if error := TASKS[view.task].find_error(judgement.value, view):
                more = "; the key of the question was edited: load it again" * view.edited
                raise InputError(f"assignment {assignment}: {error}{more}")
        id = connection.insert(
            "judgement", uuid=judgement.uuid, **content, supersedes=before, time=stamp(time)
        )
        set_counted_judgement(
            connection, assignment, id if is_done(judgement.value) else None, time
        )
        return StoredRow(id, False)


def set_counted_judgement(
    connection: StoreConnection, assignment: int, judged: int | None, time: datetime | None
) -> None:
    """Set the judgement that counts for an assignment; with None the assignment is open again.

    A lease begins at `time`. If the place of the assignment in its unit was released, it is taken
    again.
    """
    unit, assessor, before, lease = connection.row(
        "SELECT unit, assessor, judged, lease FROM assignment WHERE id = ?", assignment
    )
    ends = None if time is None else lease_end(connection, time)
    connection.execute(
        "UPDATE assignment SET judged = ?, lease = ? WHERE id = ?", (judged, ends, assignment)
    )
    if change := (judged is not None) - (before is not None):
        connection.execute(
            "UPDATE assessor SET judged = judged + ? WHERE id = ?", (change, assessor)
        )
    if before is None and lease is None:
        connection.execute("UPDATE unit SET taken = taken + 1 WHERE id = ?", (unit,))


def lease_end(connection: StoreConnection, time: datetime) -> str:
    """Return the end of a lease that begins at a time."""
    return stamp(time + timedelta(seconds=project_in(connection).settings.lease_seconds))


# Adjudications


class Overtaken(InputError):
    """A decision that does not supersede the newest one on the same target."""


class Adjudication(NamedTuple):
    """A decision as a client sends it."""

    uuid: str
    task: str
    item: int
    output: int | None
    about: str
    """A dimension or a nugget; for pairs and spans, `choice` or `spans`."""
    value: Any
    """None undoes the previous decision."""
    seen_judgements: tuple[int, ...] = ()
    """Ids of the judgements that were shown."""
    supersedes: str | None = None
    """The uuid of the newest decision on the same target; None if this is the first."""


def adjudicate(
    store: Store, assessor_id: int, decision: Adjudication, now: datetime | None = None
) -> StoredRow:
    """Store a decision of an adjudicator or owner durably; raise InputError if it is invalid."""
    check_uuids(decision.uuid, decision.supersedes)
    for name in ("item", "output"):
        id = getattr(decision, name)
        if not (is_integer(id) and 0 < id < 2**53) and not (name == "output" and id is None):
            raise InputError(f"found the {name} {quoted(id)}, expected its number")
    for name in ("task", "about"):
        if error := text_error(name, getattr(decision, name), 500):
            raise InputError(error)
    ids = decision.seen_judgements
    if len(ids) > MAX_SEEN or not all(map(is_integer, ids)):
        raise InputError(f"seen: expected at most {MAX_SEEN:,} numbers of judgements")
    target = {name: getattr(decision, name) for name in ("task", "item", "output", "about")}
    content = {
        **target,
        "value": None if decision.value is None else json_text(decision.value),
        "assessor": assessor_id,
        "seen": json.dumps(list(decision.seen_judgements)),
    }
    with store.write() as connection:
        if repeated := find_repeated(
            connection, "adjudication", decision.uuid, content, decision.supersedes, "decision"
        ):
            return repeated
        if project_in(connection).state == REVEALED:
            problem = "the systems are revealed: a decision would not be blind, none is taken"
            raise InputError(problem)
        if role_in(connection, assessor_id) not in ("adjudicator", "owner"):
            raise InputError("only adjudicators and the owner decide on disagreements")
        n_judged, n_outputs = connection.row(
            "SELECT count(*), (SELECT count(*) FROM output WHERE id = ?3 AND item = ?2) "
            "FROM assignment WHERE task = ?1 AND item = ?2 AND judged IS NOT NULL",
            *(decision.task, decision.item, decision.output),
        )
        if not n_judged:
            problem = f"nobody judged item {decision.item} in the task {quoted(decision.task)}"
            raise InputError(problem)
        if decision.output is not None and not n_outputs:
            raise InputError(f"item {decision.item} has no output {decision.output}")
        before, newest = connection.newest("adjudication", "id", "uuid", **target)
        if newest is None and decision.supersedes is not None:
            problem = f"there is no decision {quoted(decision.supersedes)}"
            raise InputError(f"item {decision.item}: {problem}")
        if newest != decision.supersedes:
            advice = "somebody else has decided this meanwhile: look at that decision first"
            raise Overtaken(f"item {decision.item}: {advice}")
        id = connection.insert(
            "adjudication", uuid=decision.uuid, **content, supersedes=before, time=stamp(now)
        )
        return StoredRow(id, False)
