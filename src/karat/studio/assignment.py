"""The next assignment of an assessor.

First what is open: an assignment with a lease, or one whose lease has ended and whose unit is still
free. Then, at a recorded rate, a calibration unit. Else a unit of the earliest round that has one
with a free place, in an order of the assessor's own; if no round has one, a new round is drawn.
"""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime, timedelta
from typing import NamedTuple

from karat.errors import InputError, quoted
from karat.studio.sampling import draw_round
from karat.studio.store.assignments import settings_of, shown_in
from karat.studio.store.draws import drawn_with, mixed, share
from karat.studio.store.events import stamp
from karat.studio.store.projects import check_open
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks.task import AssignmentView

CALIBRATION = "calibration"
_CALIBRATES, _SIDES = 1, 2  # what a number is drawn for


class Progress(NamedTuple):
    """Assignments that an assessor has done, all of them, and those that are left."""

    done: int
    total: int
    left: int


class _Asker(NamedTuple):
    """The assessor who asks."""

    id: int
    seed: int
    quota: int | None
    frontier: int
    assigned: int
    judged: int


def next_assignment(store: Store, assessor_id: int, now: datetime) -> AssignmentView | None:
    """Return what the assessor judges next, with a new lease; None if there is nothing left."""
    with store.write() as connection:
        check_open(connection)
        settings = _settings(connection)
        end_leases(connection, stamp(now))
        asker = _asker(connection, assessor_id, settings)
        ends = stamp(now + timedelta(seconds=settings.lease_seconds))
        found = _renewed(connection, asker, settings, ends)
        if found is None and (asker.quota is None or asker.judged < asker.quota):
            found = _assigned(connection, asker, settings, ends, stamp(now))
        return None if found is None else shown_in(connection, found)


def progress_of(store: Store, assessor_id: int) -> Progress:
    """Return what an assessor has done, and may still be given."""
    with store.read() as connection:
        settings = _settings(connection)
        asker = _asker(connection, assessor_id, settings)
        if asker.quota is not None:
            left = max(asker.quota - asker.judged, 0)
            return Progress(asker.judged, asker.judged + left, left)
        (units,) = connection.execute("SELECT units FROM project").fetchone()
        free, own = connection.execute(_LEFT, {"id": asker.id, "k": settings.overlap}).fetchone()
        (drawn,) = connection.execute("SELECT count(*) FROM unit WHERE round > 0").fetchone()
        left = units - drawn + free + own
        return Progress(asker.judged, asker.judged + left, left)


_LEFT = """
SELECT
    (SELECT count(*) FROM unit WHERE round > 0 AND taken < :k
        AND NOT EXISTS (SELECT 1 FROM assignment WHERE assessor = :id AND unit = unit.id)),
    (SELECT count(*) FROM assignment WHERE assessor = :id AND judged IS NULL AND lease IS NOT NULL)
"""


def end_leases(connection: sqlite3.Connection, now: str) -> None:
    """Give back the places of assignments whose leases have ended."""
    ended = connection.execute(
        "SELECT assignment.id, unit, unit.round FROM assignment JOIN unit ON unit.id = unit "
        "WHERE judged IS NULL AND lease IS NOT NULL AND lease <= ?",
        (now,),
    ).fetchall()
    for assignment, unit, round in ended:
        connection.execute("UPDATE assignment SET lease = NULL WHERE id = ?", (assignment,))
        connection.execute("UPDATE unit SET taken = taken - 1 WHERE id = ?", (unit,))
        if round:
            connection.execute("UPDATE assessor SET frontier = min(frontier, ?)", (round,))


def _settings(connection: sqlite3.Connection) -> ProjectSettings:
    row = connection.execute("SELECT settings FROM project").fetchone()
    if row is None:
        raise InputError("the store has no project yet: import a set first")
    return settings_of(row[0])


def _asker(connection: sqlite3.Connection, id: int, settings: ProjectSettings) -> _Asker:
    row = connection.execute(
        "SELECT id, seed, quota, frontier, assigned, judged FROM assessor WHERE id = ? AND active",
        (id,),
    ).fetchone()
    if row is None:
        raise InputError(f"there is no active assessor with the id {quoted(id)}")
    found = _Asker(*row)
    return found._replace(quota=settings.quota) if found.quota is None else found


def _renewed(
    connection: sqlite3.Connection, asker: _Asker, settings: ProjectSettings, ends: str
) -> int | None:
    """Return an open assignment of the assessor, whose lease is renewed."""
    row = connection.execute(
        "SELECT assignment.id, unit.id, lease FROM assignment JOIN unit ON unit.id = unit "
        "WHERE assessor = ? AND judged IS NULL AND (lease IS NOT NULL OR taken < ? OR answer "
        "IS NOT NULL) ORDER BY assignment.ord LIMIT 1",
        (asker.id, settings.overlap),
    ).fetchone()
    if row is None:
        return None
    assignment, unit, lease = row
    connection.execute("UPDATE assignment SET lease = ? WHERE id = ?", (ends, assignment))
    if lease is None:
        connection.execute("UPDATE unit SET taken = taken + 1 WHERE id = ?", (unit,))
    return int(assignment)


class _Unit(NamedTuple):
    """A unit that is free for the assessor."""

    id: int
    task: str
    item: int
    outputs: str
    round: int


def _assigned(
    connection: sqlite3.Connection, asker: _Asker, settings: ProjectSettings, ends: str, now: str
) -> int | None:
    """Make an assignment, if a unit is left."""
    calibrates = share(asker.seed, _CALIBRATES, asker.assigned) < settings.calibration_rate
    unit = _free_in(connection, asker, 0, None) if calibrates and settings.calibration else None
    if unit is None:
        unit = _free(connection, asker, settings)
    if unit is None:
        return None
    reason, probability = CALIBRATION, None
    if unit.round:
        reason, drawn = connection.execute(
            "SELECT reason, probability FROM draw WHERE item = ?", (unit.item,)
        ).fetchone()
        probability = drawn_with(drawn, reason)
    seed = mixed(asker.seed, _SIDES, unit.id)
    outputs = json.loads(unit.outputs)
    outputs.sort(key=lambda one: mixed(seed, one))
    added = connection.execute(
        "INSERT INTO assignment (unit, assessor, task, item, outputs, reason, probability, round, "
        "seed, ord, lease, made) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(unit.id, asker.id, unit.task, unit.item, json.dumps(outputs), reason, probability),
            *(unit.round, seed, asker.assigned + 1, ends, now),
        ),
    )
    connection.execute("UPDATE unit SET taken = taken + 1 WHERE id = ?", (unit.id,))
    connection.execute("UPDATE assessor SET assigned = assigned + 1 WHERE id = ?", (asker.id,))
    return int(added.lastrowid or 0)


def _free(connection: sqlite3.Connection, asker: _Asker, settings: ProjectSettings) -> _Unit | None:
    """Return a free unit of the earliest round that has one, else of a new round."""
    (newest,) = connection.execute("SELECT coalesce(max(round), 0) FROM draw").fetchone()
    found = None
    rounds = connection.execute(
        "SELECT DISTINCT round FROM draw WHERE round >= ? ORDER BY round", (asker.frontier,)
    ).fetchall()
    for (round,) in rounds:
        if found := _free_in(connection, asker, round, settings.overlap):
            _advance(connection, asker, round)
            return found
    round = newest + 1
    while draw_round(connection, settings, round):
        if found := _free_in(connection, asker, round, settings.overlap):
            break
        round += 1  # none of its items had enough outputs for a task
    _advance(connection, asker, round)
    return found


def _advance(connection: sqlite3.Connection, asker: _Asker, round: int) -> None:
    """Note that earlier rounds have nothing for the assessor, until a place is given back."""
    if round > asker.frontier:
        connection.execute("UPDATE assessor SET frontier = ? WHERE id = ?", (round, asker.id))


def _free_in(
    connection: sqlite3.Connection, asker: _Asker, round: int, overlap: int | None
) -> _Unit | None:
    """Return the free unit of a round that comes first in the assessor's own order."""
    rows = connection.execute(
        "SELECT id FROM unit WHERE round = ? AND taken < ? AND NOT EXISTS "
        "(SELECT 1 FROM assignment WHERE assessor = ? AND unit = unit.id)",
        (round, 2**60 if overlap is None else overlap, asker.id),
    ).fetchall()
    if not rows:
        return None
    id = min((id for (id,) in rows), key=lambda one: mixed(asker.seed, one))
    row = connection.execute("SELECT id, task, item, outputs, round FROM unit WHERE id = ?", (id,))
    return _Unit(*row.fetchone())
