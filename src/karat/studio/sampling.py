"""Rounds: items drawn with known probabilities from those that no round has drawn yet.

A round is random - all items are equally likely - or prefers useful items, whose labels tell most
by the estimates of now. The first is random. All outputs of a drawn item become units.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from math import floor
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.estimation.planning import PlannedUnit, plan_units
from karat.estimation.samples import LabelScale, Sample
from karat.estimation.system_estimates import predict
from karat.evalset.draws import SEGMENT
from karat.stats.population import Design
from karat.studio.store.draws import drawn_with, mixed
from karat.studio.store.projects import project_in
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS


class _Items(NamedTuple):
    """The items that have outputs, which never change: ids in order, and as texts."""

    ids: Ints
    names: tuple[str, ...]


class _Outputs(NamedTuple):
    """The outputs, which never change, by id: systems and items are places."""

    systems: tuple[str, ...]
    ids: Ints
    system: Ints
    item: Ints
    predicted: Floats


_kept: dict[str, tuple[_Items, _Outputs | None]] = {}
"""The last project, of which items and outputs are read once: 200,000 take a second."""


def sample_of_store(connection: sqlite3.Connection, settings: ProjectSettings) -> Sample:
    """Return the first dimension of a project as a sample: systems x items.

    An item that waits for its labels has no output here, so that no round draws it again. Nor has
    one that was not drawn at random: its labels say nothing of others.
    """
    items, outputs = _read_items(connection), _read_outputs(connection)
    shape = len(outputs.systems), len(items.ids)
    design = _design(connection, items)
    y, scale = _mean_labels(connection, settings, outputs, shape)
    y[:, (design.round > 0) & np.isnan(design.probability)] = np.nan
    present = np.zeros(shape, bool)
    present[outputs.system, outputs.item] = True
    waiting: Flags = (design.round > 0) & np.asarray(np.isnan(y).all(axis=0))
    present[:, waiting] = False
    every = np.zeros((*shape, 1))
    every[outputs.system, outputs.item, 0] = outputs.predicted
    x = np.where(np.isnan(y)[:, :, None], 0.0, every)
    return Sample(
        *("", "", outputs.systems, items.names, SEGMENT, y, x, every, present),
        *(("predictor",), design, scale, (~np.isnan(y)).sum(axis=1)),
    )


def without_predictor(connection: sqlite3.Connection) -> Sample:
    """Return one system's sample in which drawn items count as labelled, for random rounds."""
    items = _read_items(connection)
    design = _design(connection, items)
    n = len(items.ids)
    y = np.where(design.round > 0, 0.0, np.nan)[None, :]
    none, present = np.zeros((1, n, 0)), np.ones((1, n), bool)
    return Sample("", "", ("",), items.names, SEGMENT, y, none, none, present, (), design)


def _design(connection: sqlite3.Connection, items: _Items) -> Design:
    """Return the round and the probability of each item; NaN if it was not drawn at random."""
    n = len(items.ids)
    round, probability = np.zeros(n, np.int64), np.full(n, np.nan)
    rows = connection.execute("SELECT item, round, probability, reason FROM draw").fetchall()
    if rows:
        at = np.searchsorted(items.ids, np.array([row[0] for row in rows], dtype=np.int64))
        round[at] = [row[1] for row in rows]
        known = [drawn_with(drawn, reason) for _, _, drawn, reason in rows]
        probability[at] = np.array(known, np.float64)  # None becomes NaN
    return Design(np.ones(n), probability, round)


def _read_items(connection: sqlite3.Connection) -> _Items:
    key = _key(connection)
    if (kept := _kept.get(key)) is not None:
        return kept[0]
    rows = connection.execute(
        "SELECT id FROM item WHERE NOT calibration AND outputs > 0 ORDER BY id"
    ).fetchall()
    ids = [id for (id,) in rows]
    found = _Items(np.array(ids, dtype=np.int64), tuple(map(str, ids)))
    _kept.clear()
    _kept[key] = found, None
    return found


def _read_outputs(connection: sqlite3.Connection) -> _Outputs:
    items, key = _read_items(connection), _key(connection)
    kept = _kept.get(key)  # another thread may have another project by now
    if kept is not None and kept[1] is not None:
        return kept[1]
    rows = connection.execute(
        "SELECT id, item, system, predicted FROM output "
        "WHERE item NOT IN (SELECT id FROM item WHERE calibration) ORDER BY id"
    ).fetchall()
    names = tuple(sorted({row[2] for row in rows}))
    number = {name: k for k, name in enumerate(names)}
    found = _Outputs(
        names,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([number[row[2]] for row in rows], dtype=np.int64),
        np.searchsorted(items.ids, np.array([row[1] for row in rows], dtype=np.int64)),
        np.array([row[3] or 0.0 for row in rows]),
    )
    _kept[key] = items, found
    return found


def _key(connection: sqlite3.Connection) -> str:
    """Return what tells projects apart: the set, and the settings with seed and predictor."""
    digest, settings, made = connection.execute(
        "SELECT set_digest, settings, made FROM project"
    ).fetchone()
    return f"{digest} {made} {settings}"


def _mean_labels(
    connection: sqlite3.Connection,
    settings: ProjectSettings,
    outputs: _Outputs,
    shape: tuple[int, int],
) -> tuple[Floats, LabelScale]:
    """Return the mean value of each output over assessors, more being better; NaN without one."""
    about, scale = _dimension(settings)
    rows = connection.execute(
        "SELECT a.task, a.outputs, j.value FROM assignment a JOIN judgement j ON j.id = a.judged "
        "WHERE a.round > 0"
    )
    found = [
        (output, value * scale.sign)
        for task, shown, text in rows
        for output, dimension, value in TASKS[task].to_judgements(
            json.loads(text), json.loads(shown)
        )
        if about in (dimension, None) and not isinstance(value, dict)
    ]
    total, count = np.zeros(shape), np.zeros(shape)
    if found:
        at = np.searchsorted(outputs.ids, np.array([one for one, _ in found], dtype=np.int64))
        cell = outputs.system[at], outputs.item[at]
        np.add.at(total, cell, [value for _, value in found])
        np.add.at(count, cell, 1.0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan), scale


def _dimension(settings: ProjectSettings) -> tuple[str | None, LabelScale]:
    """Return the dimension by which useful items are found: the first scale; else all values."""
    scales: Sequence[dict[str, float | str]] = settings.tasks.get("ratings", {}).get("scales", ())
    if not scales:
        return None, LabelScale(0.0, 1.0)
    first = scales[0]
    sign = 1 if first["better"] == "higher" else -1
    return str(first["dimension"]), LabelScale(float(first["low"]), float(first["high"]), sign)


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
