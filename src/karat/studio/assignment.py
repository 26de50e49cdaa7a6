"""The next assignment of an assessor.

First what is open: an assignment with a lease, or one whose lease has ended and whose unit is still
free. Then, at a recorded rate, a calibration unit. Else a unit of the earliest round that has one
with a free place, in an order of the assessor's own; if no round has one, a new round is drawn.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import NamedTuple

from karat.errors import InputError, quoted
from karat.studio.sampling import draw_round
from karat.studio.store.assignments import parse_settings, view_in
from karat.studio.store.draws import draw_probability, mix, share
from karat.studio.store.events import stamp
from karat.studio.store.projects import check_open
from karat.studio.store.schema import StoreConnection
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


class _AssessorState(NamedTuple):
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
        asker = _read_asker(connection, assessor_id, settings)
        ends = stamp(now + timedelta(seconds=settings.lease_seconds))
        assignment = _renew_open(connection, asker, settings, ends)
        if assignment is None and (asker.quota is None or asker.judged < asker.quota):
            assignment = _make_assignment(connection, asker, settings, ends, stamp(now))
        return None if assignment is None else view_in(connection, assignment)


def read_progress(store: Store, assessor_id: int) -> Progress:
    """Return what an assessor has done, and may still be given."""
    with store.read() as connection:
        settings = _settings(connection)
        asker = _read_asker(connection, assessor_id, settings)
        if asker.quota is not None:
            left = max(asker.quota - asker.judged, 0)
            return Progress(asker.judged, asker.judged + left, left)
        units = connection.value("SELECT units FROM project")
        n_free, n_open = connection.execute(
            _LEFT, {"id": asker.id, "k": settings.overlap}
        ).fetchone()
        n_drawn = connection.value("SELECT count(*) FROM unit WHERE round > 0")
        left = units - n_drawn + n_free + n_open
        return Progress(asker.judged, asker.judged + left, left)


_LEFT = """
SELECT
    (SELECT count(*) FROM unit WHERE round > 0 AND taken < :k
        AND NOT EXISTS (SELECT 1 FROM assignment WHERE assessor = :id AND unit = unit.id)),
    (SELECT count(*) FROM assignment WHERE assessor = :id AND judged IS NULL AND lease IS NOT NULL)
"""


def end_leases(connection: StoreConnection, now: str) -> None:
    """Give back the places of assignments whose leases have ended."""
    ended = connection.rows(
        "SELECT assignment.id, unit, unit.round FROM assignment JOIN unit ON unit.id = unit "
        "WHERE judged IS NULL AND lease IS NOT NULL AND lease <= ?",
        now,
    )
    for assignment, unit, round in ended:
        connection.execute("UPDATE assignment SET lease = NULL WHERE id = ?", (assignment,))
        connection.execute("UPDATE unit SET taken = taken - 1 WHERE id = ?", (unit,))
        if round:
            connection.execute("UPDATE assessor SET frontier = min(frontier, ?)", (round,))


def _settings(connection: StoreConnection) -> ProjectSettings:
    row = connection.row("SELECT settings FROM project")
    if row is None:
        raise InputError("the store has no project yet: import a set first")
    return parse_settings(row[0])


def _read_asker(connection: StoreConnection, id: int, settings: ProjectSettings) -> _AssessorState:
    row = connection.row(
        "SELECT id, seed, quota, frontier, assigned, judged FROM assessor WHERE id = ? AND active",
        id,
    )
    if row is None:
        raise InputError(f"there is no active assessor with the id {quoted(id)}")
    asker = _AssessorState(*row)
    return asker._replace(quota=settings.quota) if asker.quota is None else asker


def _renew_open(
    connection: StoreConnection, asker: _AssessorState, settings: ProjectSettings, ends: str
) -> int | None:
    """Return an open assignment of the assessor, whose lease is renewed."""
    row = connection.row(
        "SELECT assignment.id, unit.id, lease FROM assignment JOIN unit ON unit.id = unit "
        "WHERE assessor = ? AND judged IS NULL AND (lease IS NOT NULL OR taken < ? OR answer "
        "IS NOT NULL) ORDER BY assignment.ord LIMIT 1",
        asker.id,
        settings.overlap,
    )
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


def _make_assignment(
    connection: StoreConnection,
    asker: _AssessorState,
    settings: ProjectSettings,
    ends: str,
    now: str,
) -> int | None:
    """Make an assignment, if a unit is left."""
    calibrates = share(asker.seed, _CALIBRATES, asker.assigned) < settings.calibration_rate
    unit = (
        _find_unit_in_round(connection, asker, 0, None)
        if calibrates and settings.calibration
        else None
    )
    if unit is None:
        unit = _find_unit(connection, asker, settings)
    if unit is None:
        return None
    reason, probability = CALIBRATION, None
    if unit.round:
        reason, round_probability = connection.row(
            "SELECT reason, probability FROM draw WHERE item = ?", unit.item
        )
        probability = draw_probability(round_probability, reason)
    seed = mix(asker.seed, _SIDES, unit.id)
    outputs = json.loads(unit.outputs)
    outputs.sort(key=lambda one: mix(seed, one))
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


def _find_unit(
    connection: StoreConnection, asker: _AssessorState, settings: ProjectSettings
) -> _Unit | None:
    """Return a free unit of the earliest round that has one, else of a new round."""
    newest = connection.value("SELECT coalesce(max(round), 0) FROM draw")
    unit = None
    rounds = connection.rows(
        "SELECT DISTINCT round FROM draw WHERE round >= ? ORDER BY round", asker.frontier
    )
    for (round,) in rounds:
        if unit := _find_unit_in_round(connection, asker, round, settings.overlap):
            _advance(connection, asker, round)
            return unit
    round = newest + 1
    while draw_round(connection, settings, round):
        if unit := _find_unit_in_round(connection, asker, round, settings.overlap):
            break
        round += 1  # none of its items had enough outputs for a task
    _advance(connection, asker, round)
    return unit


def _advance(connection: StoreConnection, asker: _AssessorState, round: int) -> None:
    """Note that earlier rounds have nothing for the assessor, until a place is given back."""
    if round > asker.frontier:
        connection.execute("UPDATE assessor SET frontier = ? WHERE id = ?", (round, asker.id))


def _find_unit_in_round(
    connection: StoreConnection, asker: _AssessorState, round: int, overlap: int | None
) -> _Unit | None:
    """Return the free unit of a round that comes first in the assessor's own order."""
    rows = connection.rows(
        "SELECT id FROM unit WHERE round = ? AND taken < ? AND NOT EXISTS "
        "(SELECT 1 FROM assignment WHERE assessor = ? AND unit = unit.id)",
        round,
        2**60 if overlap is None else overlap,
        asker.id,
    )
    if not rows:
        return None
    id = min((id for (id,) in rows), key=lambda one: mix(asker.seed, one))
    row = connection.execute("SELECT id, task, item, outputs, round FROM unit WHERE id = ?", (id,))
    return _Unit(*row.fetchone())
