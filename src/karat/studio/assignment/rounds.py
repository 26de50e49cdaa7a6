"""Rounds: items drawn with known probabilities from those that no round has drawn yet.

A round is random - all items are equally likely - or prefers useful items, whose labels tell most
by the estimates of now. The first is random. All outputs of a drawn item become units.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from math import floor

from karat.estimation.planning import PlannedUnit, plan_units
from karat.estimation.system_estimates import predict
from karat.studio.assignment.sample import sample_of_store, without_predictor
from karat.studio.store.order import mixed
from karat.studio.store.projects import project_in
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS

FEWEST = 10
"""Labelled items before usefulness is estimated."""


def is_random(round: int, share: float) -> bool:
    """Return whether a round is random: the first, and then a share of all."""
    return round == 1 or floor(round * share) > floor((round - 1) * share)


def prepare_rounds(store: Store) -> None:
    """Read what rounds are drawn from, before the first assessor asks: big sets take a second."""
    with store.read() as connection:
        settings = project_in(connection).settings
        if settings.predictor is None:
            without_predictor(connection)
        else:
            sample_of_store(connection, settings)


def draw_round(connection: sqlite3.Connection, settings: ProjectSettings, round: int) -> bool:
    """Draw items and make their units; return whether there were any left."""
    (left,) = connection.execute(
        "SELECT (SELECT count(*) FROM item WHERE NOT calibration AND outputs > 0) "
        "- (SELECT count(*) FROM draw)"
    ).fetchone()
    if not left:
        return False
    planned = plan(connection, settings, round, min(left, settings.round_items))
    connection.executemany(
        "INSERT INTO draw (item, round, probability, reason) VALUES (?, ?, ?, ?)",
        [(int(one.unit), round, one.probability, one.reason) for one in planned],
    )
    add_units(connection, settings, round, [int(one.unit) for one in planned])
    return True


def plan(
    connection: sqlite3.Connection, settings: ProjectSettings, round: int, count: int
) -> tuple[PlannedUnit, ...]:
    """Draw items for a round."""
    seed = mixed(settings.seed, round)
    if settings.predictor is None or is_random(round, settings.random_share):
        return plan_units(without_predictor(connection), None, count, seed)
    sample = sample_of_store(connection, settings)
    enough = (sample.known.sum(axis=1) >= FEWEST).all()
    return plan_units(sample, predict(sample) if enough else None, count, seed)


def add_units(
    connection: sqlite3.Connection, settings: ProjectSettings, round: int, items: Sequence[int]
) -> None:
    """Make the units of items that were drawn."""
    rows = []
    for item in items:
        found = connection.execute("SELECT id FROM output WHERE item = ? ORDER BY id", (item,))
        outputs = [id for (id,) in found]
        for task in settings.tasks:
            for target in TASKS[task].targets(outputs):
                rows.append((task, item, json.dumps(target), round))
    connection.executemany(
        "INSERT INTO unit (task, item, outputs, round) VALUES (?, ?, ?, ?)", rows
    )
