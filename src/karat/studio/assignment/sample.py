"""The numbers of a store as a sample: people's values of some items, a predictor's of all."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from karat.arrays import Flags, Floats, Ints, np
from karat.estimation.samples import Sample, Scale
from karat.evalset.draws import SEGMENT
from karat.stats.estimates.sampling import Design
from karat.studio.store.settings import ProjectSettings
from karat.studio.tasks import TASKS

_ITEMS = """
SELECT item.id, round, probability FROM item LEFT JOIN draw ON draw.item = item.id
WHERE NOT calibration AND EXISTS (SELECT 1 FROM output WHERE output.item = item.id) ORDER BY item.id
"""


def sample_of_store(connection: sqlite3.Connection, settings: ProjectSettings) -> Sample:
    """Return the first dimension of a project as a sample: systems x items.

    An item that was drawn counts as labelled for the plan, so that no round draws it again.
    """
    rows = connection.execute(_ITEMS).fetchall()
    items = np.array([row[0] for row in rows], dtype=np.int64)
    systems, system, item, predicted, output = _outputs(connection, items)
    shape = len(systems), len(items)
    present = np.zeros(shape, bool)
    present[system, item] = True
    every = np.zeros((*shape, 1))
    every[system, item, 0] = predicted
    y, scale = _labels(connection, settings, output, (system, item), shape)
    drawn = np.array([row[1] or 0 for row in rows], dtype=np.int64)
    # what was drawn and is not labelled yet is not drawn again
    waiting: Flags = (drawn > 0) & np.asarray(np.isnan(y).all(axis=0))
    open_ = present & ~waiting[None, :]
    x = np.where(np.isnan(y)[:, :, None], 0.0, every)
    probability = np.array([np.nan if row[2] is None else row[2] for row in rows])
    design = Design(np.ones(len(items)), probability, drawn)
    return Sample(
        *("", "", systems, tuple(map(str, items.tolist())), SEGMENT, y, x, every, open_),
        *(("predictor",), design, scale, (~np.isnan(y)).sum(axis=1)),
    )


def without_predictor(connection: sqlite3.Connection) -> Sample:
    """Return one system's sample in which drawn items count as labelled, for random rounds."""
    rows = connection.execute(_ITEMS).fetchall()
    drawn = np.array([row[1] or 0 for row in rows], dtype=np.int64)
    n = len(rows)
    y = np.where(drawn > 0, 0.0, np.nan)[None, :]
    none = np.zeros((1, n, 0))
    design = Design(np.ones(n), np.full(n, np.nan), drawn)
    units = tuple(str(row[0]) for row in rows)
    return Sample("", "", ("",), units, SEGMENT, y, none, none, np.ones((1, n), bool), (), design)


def _outputs(
    connection: sqlite3.Connection, items: Ints
) -> tuple[tuple[str, ...], Ints, Ints, Floats, dict[int, int]]:
    """Return the systems, and for each output its system, item, prediction; id -> its place."""
    rows = connection.execute(
        "SELECT id, item, system, predicted FROM output "
        "WHERE item NOT IN (SELECT id FROM item WHERE calibration)"
    ).fetchall()
    names = tuple(sorted({row[2] for row in rows}))
    number = {name: k for k, name in enumerate(names)}
    system = np.array([number[row[2]] for row in rows], dtype=np.int64)
    item = np.searchsorted(items, np.array([row[1] for row in rows], dtype=np.int64))
    predicted = np.array([row[3] or 0.0 for row in rows])
    return names, system, item, predicted, {row[0]: at for at, row in enumerate(rows)}


def _labels(
    connection: sqlite3.Connection,
    settings: ProjectSettings,
    place: dict[int, int],
    at: tuple[Ints, Ints],
    shape: tuple[int, int],
) -> tuple[Floats, Scale]:
    """Return the mean value of each output over assessors, more being better; NaN without one."""
    about, scale = _dimension(settings)
    total, count = np.zeros(shape), np.zeros(shape)
    rows = connection.execute(
        "SELECT a.task, a.outputs, j.value FROM assignment a JOIN judgement j ON j.id = a.judged "
        "WHERE a.round > 0"
    )
    for task, outputs, value in rows:
        for output, dimension, found in TASKS[task].to_judgements(
            json.loads(value), json.loads(outputs)
        ):
            if about in (dimension, None) and not isinstance(found, dict):
                cell = at[0][place[output]], at[1][place[output]]
                total[cell] += found * scale.sign
                count[cell] += 1
    seen: Flags = count > 0
    return np.where(seen, total / np.maximum(count, 1), np.nan), scale


def _dimension(settings: ProjectSettings) -> tuple[str | None, Scale]:
    """Return the dimension by which useful items are found: the first scale; else all values."""
    scales: Sequence[dict[str, float | str]] = settings.tasks.get("ratings", {}).get("scales", ())
    if not scales:
        return None, Scale(0.0, 1.0)
    first = scales[0]
    sign = 1 if first["better"] == "higher" else -1
    return str(first["dimension"]), Scale(float(first["low"]), float(first["high"]), sign)
