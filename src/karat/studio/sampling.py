"""Rounds: items drawn with known probabilities from those that no round has drawn yet.

A round is random - all items are equally likely - or prefers useful items, whose labels tell most
by the estimates of now. The first is random. All outputs of a drawn item become units.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import floor
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.estimation.planning import PlannedUnit, plan_units
from karat.estimation.samples import LabelScale, Sample
from karat.estimation.system_estimates import predict
from karat.evalset.draws import SEGMENT
from karat.stats.population import Design
from karat.studio.store.draws import draw_probability, mix
from karat.studio.store.projects import project_in
from karat.studio.store.schema import StoreConnection
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


_project_cache: dict[str, tuple[_Items, _Outputs | None]] = {}
"""The last project, of which items and outputs are read once: 200,000 take a second."""


def make_sample(connection: StoreConnection, settings: ProjectSettings) -> Sample:
    """Return the first dimension of a project as a sample: systems x items.

    An item that waits for its labels has no output here, so that no round draws it again. Nor has
    one that was not drawn at random: its labels say nothing of others.
    """
    items, outputs = _read_items(connection), _read_outputs(connection)
    shape = len(outputs.systems), len(items.ids)
    design = _read_design(connection, items)
    y, scale = _mean_labels(connection, settings, outputs, shape)
    y[:, (design.round > 0) & np.isnan(design.probability)] = np.nan
    present = np.zeros(shape, bool)
    present[outputs.system, outputs.item] = True
    waiting: Flags = (design.round > 0) & np.asarray(np.isnan(y).all(axis=0))
    present[:, waiting] = False
    predicted = np.zeros((*shape, 1))
    predicted[outputs.system, outputs.item, 0] = outputs.predicted
    x = np.where(np.isnan(y)[:, :, None], 0.0, predicted)
    return Sample(
        *("", "", outputs.systems, items.names, SEGMENT, y, x, predicted, present),
        *(("predictor",), design, scale, (~np.isnan(y)).sum(axis=1)),
    )


def make_uniform_sample(connection: StoreConnection) -> Sample:
    """Return one system's sample in which drawn items count as labelled, for random rounds."""
    items = _read_items(connection)
    design = _read_design(connection, items)
    n = len(items.ids)
    y = np.where(design.round > 0, 0.0, np.nan)[None, :]
    none, present = np.zeros((1, n, 0)), np.ones((1, n), bool)
    return Sample("", "", ("",), items.names, SEGMENT, y, none, none, present, (), design)


def _read_design(connection: StoreConnection, items: _Items) -> Design:
    """Return the round and the probability of each item; NaN if it was not drawn at random."""
    n = len(items.ids)
    round, probability = np.zeros(n, np.int64), np.full(n, np.nan)
    rows = connection.rows("SELECT item, round, probability, reason FROM draw")
    if rows:
        positions = np.searchsorted(items.ids, np.array([row[0] for row in rows], dtype=np.int64))
        round[positions] = [row[1] for row in rows]
        probabilities = [
            draw_probability(round_probability, reason) for _, _, round_probability, reason in rows
        ]
        probability[positions] = np.array(probabilities, np.float64)  # None becomes NaN
    return Design(np.ones(n), probability, round)


def _read_items(connection: StoreConnection) -> _Items:
    key = _project_key(connection)
    if (cached := _project_cache.get(key)) is not None:
        return cached[0]
    rows = connection.rows("SELECT id FROM item WHERE NOT calibration AND outputs > 0 ORDER BY id")
    ids = [id for (id,) in rows]
    items = _Items(np.array(ids, dtype=np.int64), tuple(map(str, ids)))
    _project_cache.clear()
    _project_cache[key] = items, None
    return items


def _read_outputs(connection: StoreConnection) -> _Outputs:
    items, key = _read_items(connection), _project_key(connection)
    cached = _project_cache.get(key)  # another thread may have another project by now
    if cached is not None and cached[1] is not None:
        return cached[1]
    rows = connection.rows(
        "SELECT id, item, system, predicted FROM output "
        "WHERE item NOT IN (SELECT id FROM item WHERE calibration) ORDER BY id"
    )
    names = tuple(sorted({row[2] for row in rows}))
    numbers = {name: k for k, name in enumerate(names)}
    outputs = _Outputs(
        names,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([numbers[row[2]] for row in rows], dtype=np.int64),
        np.searchsorted(items.ids, np.array([row[1] for row in rows], dtype=np.int64)),
        np.array([row[3] or 0.0 for row in rows]),
    )
    _project_cache[key] = items, outputs
    return outputs


def _project_key(connection: StoreConnection) -> str:
    """Return what tells projects apart: the set, and the settings with seed and predictor."""
    digest, settings, created = connection.row("SELECT set_digest, settings, made FROM project")
    return f"{digest} {created} {settings}"


def _mean_labels(
    connection: StoreConnection,
    settings: ProjectSettings,
    outputs: _Outputs,
    shape: tuple[int, int],
) -> tuple[Floats, LabelScale]:
    """Return the mean value of each output over assessors, more being better; NaN without one."""
    about, scale = _first_dimension(settings)
    rows = connection.execute(
        "SELECT a.task, a.outputs, j.value FROM assignment a JOIN judgement j ON j.id = a.judged "
        "WHERE a.round > 0"
    )
    labels = [
        (output, value * scale.sign)
        for task, shown_outputs, text in rows
        for output, dimension, value in TASKS[task].to_judgements(
            json.loads(text), json.loads(shown_outputs)
        )
        if about in (dimension, None) and not isinstance(value, dict)
    ]
    total, count = np.zeros(shape), np.zeros(shape)
    if labels:
        positions = np.searchsorted(
            outputs.ids, np.array([output_id for output_id, _ in labels], dtype=np.int64)
        )
        cell = outputs.system[positions], outputs.item[positions]
        np.add.at(total, cell, [value for _, value in labels])
        np.add.at(count, cell, 1.0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan), scale


def _first_dimension(settings: ProjectSettings) -> tuple[str | None, LabelScale]:
    """Return the dimension by which useful items are found: the first scale; else all values."""
    scales = settings.rating_scales
    if not scales:
        return None, LabelScale(0.0, 1.0)
    first = scales[0]
    sign = 1 if first["better"] == "higher" else -1
    return str(first["dimension"]), LabelScale(float(first["low"]), float(first["high"]), sign)


MIN_LABELLED = 10
"""Labelled items before usefulness is estimated."""


def is_random(round: int, share: float) -> bool:
    """Return whether a round is random: the first, and then a share of all."""
    return round == 1 or floor(round * share) > floor((round - 1) * share)


def prepare_rounds(store: Store) -> None:
    """Read what rounds are drawn from, before the first assessor asks: big sets take a second."""
    with store.read() as connection:
        settings = project_in(connection).settings
        if settings.predictor is None:
            make_uniform_sample(connection)
        else:
            make_sample(connection, settings)


def draw_round(connection: StoreConnection, settings: ProjectSettings, round: int) -> bool:
    """Draw items and make their units; return whether there were any left."""
    n_left = connection.value(
        "SELECT (SELECT count(*) FROM item WHERE NOT calibration AND outputs > 0) "
        "- (SELECT count(*) FROM draw)"
    )
    if not n_left:
        return False
    planned = plan(connection, settings, round, min(n_left, settings.round_items))
    connection.executemany(
        "INSERT INTO draw (item, round, probability, reason) VALUES (?, ?, ?, ?)",
        [(int(unit.unit), round, unit.probability, unit.reason) for unit in planned],
    )
    add_units(connection, settings, round, [int(unit.unit) for unit in planned])
    return True


def plan(
    connection: StoreConnection, settings: ProjectSettings, round: int, count: int
) -> tuple[PlannedUnit, ...]:
    """Draw items for a round."""
    seed = mix(settings.seed, round)
    if settings.predictor is None or is_random(round, settings.random_share):
        return plan_units(make_uniform_sample(connection), None, count, seed)
    sample = make_sample(connection, settings)
    enough = (sample.is_labelled.sum(axis=1) >= MIN_LABELLED).all()
    return plan_units(sample, predict(sample) if enough else None, count, seed)


def add_units(
    connection: StoreConnection, settings: ProjectSettings, round: int, items: Sequence[int]
) -> None:
    """Make the units of items that were drawn."""
    rows = []
    for item in items:
        rows_of_item = connection.execute(
            "SELECT id FROM output WHERE item = ? ORDER BY id", (item,)
        )
        outputs = [id for (id,) in rows_of_item]
        for task in settings.tasks:
            for target in TASKS[task].targets(outputs):
                rows.append((task, item, json.dumps(target), round))
    connection.executemany(
        "INSERT INTO unit (task, item, outputs, round) VALUES (?, ?, ?, ?)", rows
    )
