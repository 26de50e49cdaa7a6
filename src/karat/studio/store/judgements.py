"""Assignments, judgements and adjudications."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from karat.errors import InputError, quoted
from karat.studio.store.people import now as time_of_now
from karat.studio.store.people import stamp
from karat.studio.store.projects import check_blind, check_open
from karat.studio.store.schema import StoreConnection
from karat.studio.store.settings import parse_settings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.task import (
    AssignmentView,
    NuggetView,
    OutputView,
    is_done,
    is_integer,
    text_error,
)


def view_assignment(store: Store, assessor: int, assignment: int) -> AssignmentView:
    """Return an assignment of an assessor, for example an earlier one."""
    with store.read() as connection:
        row = connection.row(
            "SELECT 1 FROM assignment WHERE id = ? AND assessor = ?", assignment, assessor
        )
        if row is None:
            raise InputError(f"you have no assignment {quoted(assignment)}")
        return view_in(connection, assignment)


def list_assignments(store: Store, assessor: int) -> list[int]:
    """Return the assignments of an assessor in the order in which they were given out."""
    with store.read() as connection:
        rows = connection.rows(
            "SELECT id FROM assignment WHERE assessor = ? ORDER BY ord", assessor
        )
    return [id for (id,) in rows]


def view_in(connection: StoreConnection, assignment: int) -> AssignmentView:
    """Return what may be shown of an assignment, within a transaction."""
    task, item, outputs = connection.row(
        "SELECT task, item, outputs FROM assignment WHERE id = ?", assignment
    )
    text = connection.value("SELECT settings FROM project")
    settings = parse_settings(text)
    source, context, refs = connection.row(
        "SELECT source, context, refs FROM item WHERE id = ?", item
    )
    value, newest = _newest_answer(connection, assignment)
    show, has_nuggets = settings.show, TASKS[task].needs_nuggets
    dropped, edited = _edit_state(connection, item) if has_nuggets else ((), False)
    return AssignmentView(
        assignment,
        task,
        settings.tasks[task],
        tuple(view_output(connection, id) for id in json.loads(outputs)),
        source if show.source else None,
        context if show.context else None,
        tuple(json.loads(refs)) if show.reference else (),
        _nuggets_in_key(connection, item) if has_nuggets else (),
        value,
        newest,
        dropped,
        edited,
    )


def view_output(connection: StoreConnection, id: int) -> OutputView:
    """Return an output without its system."""
    text = connection.value("SELECT text FROM output WHERE id = ?", id)
    return OutputView(id, text)


def view_key(
    connection: StoreConnection, item: int
) -> tuple[tuple[NuggetView, ...], tuple[str, ...]]:
    """Return the nuggets of an item, and the ids of those that were dropped."""
    return _nuggets_in_key(connection, item), _edit_state(connection, item)[0]


def _nuggets_in_key(connection: StoreConnection, item: int) -> tuple[NuggetView, ...]:
    rows = connection.execute(
        "SELECT nugget, importance, descriptions FROM nugget WHERE item = ? AND NOT dropped "
        "ORDER BY coalesce(ord, id), id",
        (item,),
    )
    return tuple(NuggetView(id, weight, tuple(json.loads(text))) for id, weight, text in rows)


def _edit_state(connection: StoreConnection, item: int) -> tuple[tuple[str, ...], bool]:
    """Return the nuggets that were dropped, and whether the key of a question was edited."""
    rows = connection.execute("SELECT nugget FROM nugget WHERE item = ? AND dropped", (item,))
    dropped = tuple(id for (id,) in rows)
    edit = connection.row("SELECT 1 FROM key_edit WHERE item = ? LIMIT 1", item)
    return dropped, edit is not None


def _newest_answer(connection: StoreConnection, assignment: int) -> tuple[Any, str | None]:
    row = connection.row(
        "SELECT value, uuid FROM judgement WHERE assignment = ? ORDER BY id DESC LIMIT 1",
        assignment,
    )
    if row is None:
        return None, None
    return None if row[0] is None else json.loads(row[0]), row[1]


class Neighbours(NamedTuple):
    """The place of an assignment, for the page that shows it."""

    previous: int | None
    following: int | None
    ms: int
    """Milliseconds spent on it until its newest answer."""


def find_neighbours(store: Store, assessor: int, assignment: int) -> Neighbours:
    """Return the neighbours of an assignment in the order in which they were given out."""
    with store.read() as connection:
        order = connection.value(
            "SELECT ord FROM assignment WHERE id = ? AND assessor = ?", assignment, assessor
        )
        before, after = (
            connection.row(
                f"SELECT id FROM assignment WHERE assessor = ? AND ord {sign} ? "
                f"ORDER BY ord {direction} LIMIT 1",
                assessor,
                order,
            )
            for sign, direction in (("<", "DESC"), (">", "ASC"))
        )
        ms = connection.value(
            "SELECT coalesce(max(ms), 0) FROM judgement WHERE assignment = ?", assignment
        )
    return Neighbours(before and before[0], after and after[0], ms)


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


MAX_SEEN = 1000


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
    seen_judgements: tuple[int, ...] = ()
    """Ids of the judgements that were shown."""
    supersedes: str | None = None
    """The uuid of the newest decision on the same thing; None if this is the first."""


def adjudicate(
    store: Store, assessor_id: int, decision: Adjudication, now: datetime | None = None
) -> StoredRow:
    """Store a decision of an adjudicator or the owner; the same uuid is stored once."""
    _check_form(decision)
    text = None if decision.value is None else json_text(decision.value)
    seen_json = json.dumps(list(decision.seen_judgements))
    with store.write() as connection:
        if repeated := _find_repeated_decision(connection, assessor_id, decision, text, seen_json):
            return repeated
        check_blind(connection)
        _check_role(connection, assessor_id)
        _check_target(connection, decision)
        added = connection.execute(
            "INSERT INTO adjudication (uuid, task, item, output, about, value, assessor, seen, "
            "supersedes, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(
                    decision.uuid,
                    decision.task,
                    decision.item,
                    decision.output,
                    decision.about,
                    text,
                ),
                *(
                    assessor_id,
                    seen_json,
                    _find_superseded_decision(connection, decision),
                    stamp(now),
                ),
            ),
        )
        return StoredRow(int(added.lastrowid or 0), False)


def _check_form(decision: Adjudication) -> None:
    check_uuid("uuid", decision.uuid)
    if decision.supersedes is not None:
        check_uuid("supersedes", decision.supersedes)
    for name in ("item", "output"):
        id = getattr(decision, name)
        if not (is_integer(id) and 0 < id < 2**53) and not (name == "output" and id is None):
            raise InputError(f"found the {name} {quoted(id)}, expected its number")
    for name in ("task", "about"):
        if error := text_error(name, getattr(decision, name), 500):
            raise InputError(error)
    if len(decision.seen_judgements) > MAX_SEEN or not all(
        is_integer(id) for id in decision.seen_judgements
    ):
        raise InputError(f"seen: expected at most {MAX_SEEN:,} numbers of judgements")


def _check_role(connection: StoreConnection, assessor: int) -> None:
    row = connection.row("SELECT role FROM assessor WHERE id = ? AND active", assessor)
    if row is None or row[0] == "assessor":
        raise InputError("only adjudicators and the owner decide on disagreements")


def _check_target(connection: StoreConnection, decision: Adjudication) -> None:
    """Raise InputError if the item or output of a decision was not judged."""
    row = connection.row(
        "SELECT count(*), (SELECT count(*) FROM output WHERE id = ?3 AND item = ?2) "
        "FROM assignment WHERE task = ?1 AND item = ?2 AND judged IS NOT NULL",
        decision.task,
        decision.item,
        decision.output,
    )
    if not row[0]:
        raise InputError(f"nobody judged item {decision.item} in the task {quoted(decision.task)}")
    if decision.output is not None and not row[1]:
        raise InputError(f"item {decision.item} has no output {decision.output}")


def _find_repeated_decision(
    connection: StoreConnection,
    assessor: int,
    decision: Adjudication,
    text: str | None,
    seen_json: str,
) -> StoredRow | None:
    row = connection.row(
        "SELECT j.id, j.assessor, j.task, j.item, j.output, j.about, j.value, j.seen, b.uuid "
        "FROM adjudication j LEFT JOIN adjudication b ON b.id = j.supersedes WHERE j.uuid = ?",
        decision.uuid,
    )
    if row is None:
        return None
    target = (decision.task, decision.item, decision.output, decision.about)
    if row[1:] != (assessor, *target, text, seen_json, decision.supersedes):
        raise InputError(f"uuid {decision.uuid} stands for another decision: make a new one")
    return StoredRow(row[0], True)


def _find_superseded_decision(connection: StoreConnection, decision: Adjudication) -> int | None:
    """Return the newest decision on the same thing, which must be the one that is replaced."""
    row = connection.row(
        "SELECT id, uuid FROM adjudication WHERE task = ? AND item = ? AND output IS ? "
        "AND about = ? ORDER BY id DESC LIMIT 1",
        decision.task,
        decision.item,
        decision.output,
        decision.about,
    )
    newest = None if row is None else row[1]
    if newest is None and decision.supersedes is not None:
        raise InputError(
            f"item {decision.item}: there is no decision {quoted(decision.supersedes)}"
        )
    if newest != decision.supersedes:
        advice = "somebody else has decided this meanwhile: look at that decision first"
        raise Overtaken(f"item {decision.item}: {advice}")
    return None if row is None else int(row[0])
