"""Adjudications: what counts where assessors disagree; rows are only added, the newest counts."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.store.events import stamp
from karat.studio.store.judgements import StoredRow, check_uuid, json_text
from karat.studio.store.projects import check_blind
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks.task import is_integer, text_error

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
        if repeated := _find_repeated(connection, assessor_id, decision, text, seen_json):
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
                *(assessor_id, seen_json, _find_superseded(connection, decision), stamp(now)),
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


def _find_repeated(
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


def _find_superseded(connection: StoreConnection, decision: Adjudication) -> int | None:
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
