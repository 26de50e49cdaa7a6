"""The next assignment of an assessor, and the rounds in which items are drawn.

Open assignments come first: those with a lease, and those whose lease has ended while their unit is
still free. Next, at the calibration rate, comes a calibration unit; else a unit of the earliest
round with a free place, in an order that differs between assessors. If no round has one, a new
round is drawn.

A round draws items with known probabilities from those not drawn yet. It is random (all items are
equally likely) or prefers useful items, whose labels are the most informative by the current
estimates. The first round is random. All outputs of a drawn item become units.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from math import floor
from typing import Any, NamedTuple, TypeVar

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, quoted
from karat.estimation.planning import PlannedUnit, plan_units
from karat.estimation.samples import LabelScale, Sample
from karat.estimation.system_estimates import predict
from karat.evalset.draws import SEGMENT
from karat.stats.population import Design
from karat.studio.store.draws import draw_probability, mix
from karat.studio.store.judgements import lease_end, view_in
from karat.studio.store.people import stamp
from karat.studio.store.projects import check_open, project_in
from karat.studio.store.schema import StoreConnection
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.task import AssignmentView

CALIBRATION = "calibration"
MIN_LABELLED = 10
"""Labelled items needed to estimate usefulness."""
_CALIBRATION_DRAW, _ORDER_DRAW = 1, 2  # purposes of random numbers


class Progress(NamedTuple):
    """Numbers of assignments of an assessor: done, in total, and left."""

    done: int
    total: int
    left: int


class _AssessorState(NamedTuple):
    """The assessor of a request."""

    id: int
    seed: int
    quota: int | None
    frontier: int
    assigned: int
    judged: int


class Unit(NamedTuple):
    """A unit to judge."""

    id: int
    task: str
    item: int
    outputs: str
    round: int


UNIT_COLUMNS = ", ".join(Unit._fields)


def next_assignment(store: Store, assessor_id: int, now: datetime) -> AssignmentView | None:
    """Return the next assignment with a new lease; None if nothing is left."""
    with store.write() as connection:
        check_open(connection)
        settings = project_in(connection).settings
        _end_leases(connection, stamp(now))
        assessor = _read_assessor(connection, assessor_id, settings)
        ends = lease_end(connection, now)
        assignment = _renew_open(connection, assessor, settings, ends)
        if assignment is None and (assessor.quota is None or assessor.judged < assessor.quota):
            assignment = _make_assignment(connection, assessor, settings, ends, stamp(now))
        return None if assignment is None else view_in(connection, assignment)


def read_progress(store: Store, assessor_id: int) -> Progress:
    """Return the progress of an assessor."""
    with store.read() as connection:
        project = project_in(connection)
        assessor = _read_assessor(connection, assessor_id, project.settings)
        if assessor.quota is not None:
            n_left = max(assessor.quota - assessor.judged, 0)
        else:
            n_drawn, n_free, n_open = connection.row(
                "SELECT (SELECT count(*) FROM unit WHERE round > 0), "
                "(SELECT count(*) FROM unit WHERE round > 0 AND taken < ?2 AND NOT EXISTS "
                "(SELECT 1 FROM assignment WHERE assessor = ?1 AND unit = unit.id)), "
                "(SELECT count(*) FROM assignment WHERE assessor = ?1 AND judged IS NULL "
                "AND lease IS NOT NULL)",
                *(assessor.id, project.settings.overlap),
            )
            n_left = project.units - n_drawn + n_free + n_open
        return Progress(assessor.judged, assessor.judged + n_left, n_left)


def _end_leases(connection: StoreConnection, now: str) -> None:
    """Release the places of assignments whose leases have ended."""
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


def _read_assessor(
    connection: StoreConnection, id: int, settings: ProjectSettings
) -> _AssessorState:
    row = connection.row(
        "SELECT id, seed, coalesce(quota, ?), frontier, assigned, judged FROM assessor "
        "WHERE id = ? AND active",
        *(settings.quota, id),
    )
    if row is None:
        raise InputError(f"there is no active assessor with the id {quoted(id)}")
    return _AssessorState(*row)


def _renew_open(
    connection: StoreConnection, assessor: _AssessorState, settings: ProjectSettings, ends: str
) -> int | None:
    """Renew the lease of an open assignment and return it, or None."""
    row = connection.row(
        "SELECT assignment.id, unit.id, lease FROM assignment JOIN unit ON unit.id = unit "
        "WHERE assessor = ? AND judged IS NULL AND (lease IS NOT NULL OR taken < ? OR answer "
        "IS NOT NULL) ORDER BY assignment.ord LIMIT 1",
        *(assessor.id, settings.overlap),
    )
    if row is None:
        return None
    assignment, unit, lease = row
    connection.execute("UPDATE assignment SET lease = ? WHERE id = ?", (ends, assignment))
    if lease is None:
        connection.execute("UPDATE unit SET taken = taken + 1 WHERE id = ?", (unit,))
    return int(assignment)


def _make_assignment(
    connection: StoreConnection,
    assessor: _AssessorState,
    settings: ProjectSettings,
    ends: str,
    now: str,
) -> int | None:
    """Make an assignment; return None if no unit is left."""
    share = mix(assessor.seed, _CALIBRATION_DRAW, assessor.assigned) / 2**53  # uniform in [0, 1)
    unit = None
    if settings.calibration and share < settings.calibration_rate:
        unit = _find_unit_in_round(connection, assessor, 0, None)
    unit = unit or _find_unit(connection, assessor, settings)
    if unit is None:
        return None
    seed = mix(assessor.seed, _ORDER_DRAW, unit.id)
    connection.execute("UPDATE unit SET taken = taken + 1 WHERE id = ?", (unit.id,))
    return insert_assignment(connection, unit, assessor.id, seed, now, lease=ends)


def insert_assignment(
    connection: StoreConnection,
    unit: Unit,
    assessor: int,
    seed: int,
    time: str,
    lease: str | None = None,
) -> int:
    """Add an assignment of a unit, whose outputs are shown in an order that follows from a seed."""
    reason, probability = CALIBRATION, None
    if unit.round:
        query = "SELECT reason, probability FROM draw WHERE item = ?"
        reason, drawn_probability = connection.row(query, unit.item)
        probability = draw_probability(drawn_probability, reason)
    outputs = sorted(json.loads(unit.outputs), key=lambda output: mix(seed, output))
    connection.execute("UPDATE assessor SET assigned = assigned + 1 WHERE id = ?", (assessor,))
    return connection.insert(
        "assignment",
        unit=unit.id,
        assessor=assessor,
        task=unit.task,
        item=unit.item,
        outputs=json.dumps(outputs),
        reason=reason,
        probability=probability,
        round=unit.round,
        seed=seed,
        ord=connection.value("SELECT assigned FROM assessor WHERE id = ?", assessor),
        lease=lease,
        made=time,
    )


def _find_unit(
    connection: StoreConnection, assessor: _AssessorState, settings: ProjectSettings
) -> Unit | None:
    """Return a free unit of the earliest round that has one, else of a new round.

    Store the round as the frontier of the assessor: earlier rounds are skipped until a place is
    released.
    """
    unit, round = None, 0
    for round in connection.column("SELECT DISTINCT round FROM draw ORDER BY round"):
        if round >= assessor.frontier:
            unit = _find_unit_in_round(connection, assessor, round, settings.overlap)
            if unit:
                break
    while unit is None:
        round += 1
        if not draw_round(connection, settings, round):
            break
        # A round may have no units: items may have too few outputs for a task.
        unit = _find_unit_in_round(connection, assessor, round, settings.overlap)
    if round > assessor.frontier:
        connection.execute("UPDATE assessor SET frontier = ? WHERE id = ?", (round, assessor.id))
    return unit


def _find_unit_in_round(
    connection: StoreConnection, assessor: _AssessorState, round: int, overlap: int | None
) -> Unit | None:
    """Return the unit of a round that is first in the assessor's order and free for them.

    A unit is free until `overlap` assessors have taken it; None means any number.
    """
    ids = connection.column(
        "SELECT id FROM unit WHERE round = ? AND taken < ? AND NOT EXISTS "
        "(SELECT 1 FROM assignment WHERE assessor = ? AND unit = unit.id)",
        *(round, 2**60 if overlap is None else overlap, assessor.id),
    )
    if not ids:
        return None
    first_id = min(ids, key=lambda unit: mix(assessor.seed, unit))
    return Unit(*connection.row(f"SELECT {UNIT_COLUMNS} FROM unit WHERE id = ?", first_id))


# Rounds


def is_random(round: int, share: float) -> bool:
    """Return whether a round is random: the first one, and a share of all others."""
    return round == 1 or floor(round * share) > floor((round - 1) * share)


def prepare_rounds(store: Store) -> None:
    """Fill the cache of items and outputs before the first request: large sets take a second."""
    with store.read() as connection:
        settings = project_in(connection).settings
        if settings.predictor is None:
            _make_uniform_sample(connection)
        else:
            make_sample(connection, settings)


def draw_round(connection: StoreConnection, settings: ProjectSettings, round: int) -> bool:
    """Draw items and make their units; return False if no items are left."""
    n_left = connection.value(
        "SELECT (SELECT count(*) FROM item WHERE NOT calibration AND outputs > 0) "
        "- (SELECT count(*) FROM draw)"
    )
    if not n_left:
        return False
    planned = _plan(connection, settings, round, min(n_left, settings.round_items))
    connection.executemany(
        "INSERT INTO draw (item, round, probability, reason) VALUES (?, ?, ?, ?)",
        [(int(unit.unit), round, unit.probability, unit.reason) for unit in planned],
    )
    add_units(connection, settings, round, [int(unit.unit) for unit in planned])
    return True


def _plan(
    connection: StoreConnection, settings: ProjectSettings, round: int, count: int
) -> tuple[PlannedUnit, ...]:
    """Draw items for a round."""
    seed = mix(settings.seed, round)
    if settings.predictor is None or is_random(round, settings.random_share):
        return plan_units(_make_uniform_sample(connection), None, count, seed)
    sample = make_sample(connection, settings)
    enough = (sample.is_labelled.sum(axis=1) >= MIN_LABELLED).all()
    return plan_units(sample, predict(sample) if enough else None, count, seed)


def add_units(
    connection: StoreConnection, settings: ProjectSettings, round: int, items: Sequence[int]
) -> None:
    """Make the units of drawn items."""
    rows = []
    for item in items:
        outputs = connection.column("SELECT id FROM output WHERE item = ? ORDER BY id", item)
        for task in settings.tasks:
            for target in TASKS[task].targets(outputs):
                rows.append((task, item, json.dumps(target), round))
    connection.executemany(
        "INSERT INTO unit (task, item, outputs, round) VALUES (?, ?, ?, ?)", rows
    )


# Samples that rounds are planned from


class _Outputs(NamedTuple):
    """Outputs sorted by id; systems and items are given by position."""

    systems: tuple[str, ...]
    ids: Ints
    system: Ints
    item: Ints
    predicted: Floats


T = TypeVar("T")
_project_cache: dict[tuple[object, str], Any] = {}
"""Items and outputs of the last project: reading 200,000 takes a second."""


def _read_once(connection: StoreConnection, read: Callable[[StoreConnection], T]) -> T:
    """Return the cached result of `read` for the current project."""
    project = connection.row("SELECT set_digest, made, settings FROM project")
    for other in [key for key in _project_cache if key[0] != project]:
        _project_cache.pop(other, None)
    key = project, read.__name__
    cached = _project_cache.get(key)
    rows: T = read(connection) if cached is None else cached
    _project_cache[key] = rows
    return rows


def _read_items(connection: StoreConnection) -> Ints:
    """Return the ids of items with outputs, in order."""
    query = "SELECT id FROM item WHERE NOT calibration AND outputs > 0 ORDER BY id"
    return np.array(connection.column(query), dtype=np.int64)


def _read_outputs(connection: StoreConnection) -> _Outputs:
    rows = connection.rows(
        "SELECT id, item, system, predicted FROM output "
        "WHERE item NOT IN (SELECT id FROM item WHERE calibration) ORDER BY id"
    )
    items = _read_once(connection, _read_items)
    systems = tuple(sorted({row[2] for row in rows}))
    numbers = {name: k for k, name in enumerate(systems)}
    return _Outputs(
        systems,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([numbers[row[2]] for row in rows], dtype=np.int64),
        np.searchsorted(items, np.array([row[1] for row in rows], dtype=np.int64)),
        np.array([row[3] or 0.0 for row in rows]),
    )


def make_sample(connection: StoreConnection, settings: ProjectSettings) -> Sample:
    """Return the first dimension of a project as a sample: systems x items.

    Drawn items without labels count as items without outputs, so that no round draws them again. So
    do items that were not drawn at random, because their labels are not representative.
    """
    items, outputs = _read_once(connection, _read_items), _read_once(connection, _read_outputs)
    shape = len(outputs.systems), len(items)
    design = _read_design(connection, items)
    y, scale = _mean_labels(connection, settings, outputs, shape)
    y[:, (design.round > 0) & np.isnan(design.probability)] = np.nan
    present = np.zeros(shape, bool)
    present[outputs.system, outputs.item] = True
    waiting: Flags = (design.round > 0) & np.asarray(np.isnan(y).all(axis=0))
    present[:, waiting] = False
    predicted = np.zeros((*shape, 1))
    predicted[outputs.system, outputs.item, 0] = outputs.predicted
    return Sample(
        name="",
        dimension="",
        systems=outputs.systems,
        units=tuple(map(str, items.tolist())),
        unit=SEGMENT,
        y=y,
        x=np.where(np.isnan(y)[:, :, None], 0.0, predicted),
        all_values=predicted,
        present=present,
        judges=("predictor",),
        design=design,
        scale=scale,
        labels=(~np.isnan(y)).sum(axis=1),
    )


def _make_uniform_sample(connection: StoreConnection) -> Sample:
    """Return a sample of one system, with drawn items as labelled ones, for random rounds."""
    items = _read_once(connection, _read_items)
    design = _read_design(connection, items)
    no_values = np.zeros((1, len(items), 0))
    return Sample(
        name="",
        dimension="",
        systems=("",),
        units=tuple(map(str, items.tolist())),
        unit=SEGMENT,
        y=np.where(design.round > 0, 0.0, np.nan)[None, :],
        x=no_values,
        all_values=no_values,
        present=np.ones((1, len(items)), bool),
        judges=(),
        design=design,
    )


def _read_design(connection: StoreConnection, items: Ints) -> Design:
    """Return the round and probability of each item; NaN if it was not drawn at random."""
    n = len(items)
    round, probability = np.zeros(n, np.int64), np.full(n, np.nan)
    rows = connection.rows("SELECT item, round, probability, reason FROM draw")
    if rows:
        item_ids = np.array([row[0] for row in rows], dtype=np.int64)
        positions = np.searchsorted(items, item_ids)
        round[positions] = [row[1] for row in rows]
        probabilities = [draw_probability(row[2], row[3]) for row in rows]
        probability[positions] = np.array(probabilities, np.float64)  # None becomes NaN
    return Design(np.ones(n), probability, round)


def _mean_labels(
    connection: StoreConnection,
    settings: ProjectSettings,
    outputs: _Outputs,
    shape: tuple[int, int],
) -> tuple[Floats, LabelScale]:
    """Return the mean value of each output over assessors (higher is better; NaN without one).

    Only values of the first scale count; without scales, all values do.
    """
    about, scale = None, LabelScale(0.0, 1.0)
    if scales := settings.rating_scales:
        first, about = scales[0], str(scales[0]["dimension"])
        sign = 1 if first["better"] == "higher" else -1
        scale = LabelScale(float(first["low"]), float(first["high"]), sign)
    rows = connection.execute(
        "SELECT a.task, a.outputs, j.value FROM assignment a JOIN judgement j ON j.id = a.judged "
        "WHERE a.round > 0"
    )
    labels = [
        (output, value * scale.sign)
        for task, outputs_text, text in rows
        for output, dimension, value in TASKS[task].to_judgements(
            json.loads(text), json.loads(outputs_text)
        )
        if about in (dimension, None) and not isinstance(value, list)
    ]
    total, count = np.zeros(shape), np.zeros(shape)
    if labels:
        ids = np.array([output for output, _ in labels], dtype=np.int64)
        positions = np.searchsorted(outputs.ids, ids)
        cell = outputs.system[positions], outputs.item[positions]
        np.add.at(total, cell, [value for _, value in labels])
        np.add.at(count, cell, 1.0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan), scale
