"""Projects: import of what is judged, and the states open, frozen and revealed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.studio.store.assignments import settings_of
from karat.studio.store.calibration import add_calibration
from karat.studio.store.draws import shuffled_ids
from karat.studio.store.events import record, stamp
from karat.studio.store.imports import Imported, items_of
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS

OPEN, FROZEN, REVEALED = "open", "frozen", "revealed"
BATCH = 5000


class Project(NamedTuple):
    """The project of a store."""

    name: str
    made: str
    settings: ProjectSettings
    state: str
    set_digest: str
    seed: int
    units: int
    """The number of units to judge, without calibration."""


def import_set(
    store: Store,
    given: EvalSet | NuggetSet,
    settings: ProjectSettings,
    progress: Progress = silent,
) -> None:
    """Fill an empty store with a set, in one transaction: all of it or nothing."""
    found = items_of(given, settings, progress)
    try:
        _fill(store, found, settings, progress)
    except UnicodeEncodeError:
        told = "a text holds half a character (a lone surrogate): expected valid Unicode"
        raise InputError(f"{found.name}: {told}") from None


def _fill(store: Store, found: Imported, settings: ProjectSettings, progress: Progress) -> None:
    with store.write() as connection:
        if connection.execute("SELECT 1 FROM project").fetchone():
            raise InputError("the store has a project: make another store for another set")
        digest = digest_of(found)
        ids = _shuffled_ids(found, settings, digest)
        _add_items(connection, found, ids, progress)
        units = count_units(connection, settings)
        if not units:
            raise InputError("no item has two outputs: pairs need outputs of two systems or more")
        _add_dimensions(connection, settings)
        add_calibration(connection, settings, ids)
        connection.execute(
            "INSERT INTO project VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
            (found.name, stamp(), settings.to_json(), OPEN, digest, settings.seed, units),
        )
        record(connection, "import", set=found.name, items=len(found.items), units=units)


def _shuffled_ids(found: Imported, settings: ProjectSettings, digest: str) -> Iterator[int]:
    """Return ids of outputs in an order that tells neither systems nor calibration."""
    known = sum(len(one.outputs) for one in settings.calibration)
    count = sum(len(item.outputs) for item in found.items) + known
    return iter(shuffled_ids(count, settings.seed, digest))


def _add_items(
    connection: sqlite3.Connection, found: Imported, ids: Iterator[int], progress: Progress
) -> None:
    """Add items and outputs."""
    outputs = []
    for start in range(0, len(found.items), BATCH):
        progress(start, len(found.items), "importing")
        part = found.items[start : start + BATCH]
        connection.executemany(
            "INSERT INTO item (id, segment, grp, source, context, refs, ord, outputs) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    at,
                    i.segment,
                    i.group,
                    i.source,
                    i.context,
                    _json(i.references),
                    at,
                    len(i.outputs),
                )
                for at, i in enumerate(part, start + 1)
            ),
        )
        for at, item in enumerate(part, start + 1):
            for one in item.outputs:
                outputs.append((next(ids), at, one.system, one.text, one.predicted))
        connection.executemany(
            "INSERT INTO nugget (item, nugget, importance, descriptions) VALUES (?, ?, ?, ?)",
            (
                (at, n.id, n.importance, _json(n.descriptions))
                for at, item in enumerate(part, start + 1)
                for n in item.nuggets
            ),
        )
    outputs.sort()
    connection.executemany(
        "INSERT INTO output (id, item, system, text, hash, predicted) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (id, item, system, text, sha256(text.encode("utf-8")).hexdigest(), predicted)
            for id, item, system, text, predicted in outputs
        ),
    )
    progress(len(found.items), len(found.items), "importing")


def digest_of(found: Imported) -> str:
    """Return the digest of all texts that are judged."""
    digest = sha256()
    for item in found.items:
        for one in item.outputs:
            digest.update(_json([item.segment, one.system, one.text]).encode())
    return digest.hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def count_units(connection: sqlite3.Connection, settings: ProjectSettings) -> int:
    """Return how many units a project has, without calibration."""
    sizes = connection.execute(
        "SELECT outputs, count(*) FROM item WHERE NOT calibration GROUP BY outputs"
    ).fetchall()
    each = [
        len(TASKS[task].targets(range(size))) * n for task in settings.tasks for size, n in sizes
    ]
    return sum(each)


def _add_dimensions(connection: sqlite3.Connection, settings: ProjectSettings) -> None:
    scales = list(_scales(settings.tasks.values()))
    connection.executemany(
        "INSERT OR IGNORE INTO dimension (name, settings) VALUES (?, ?)",
        [(one["dimension"], _json(one)) for one in scales],
    )


def _scales(tasks: Iterable[object]) -> Iterator[dict[str, object]]:
    for settings in tasks:
        if isinstance(settings, dict):
            yield from settings.get("scales", ())
            if settings.get("scale"):
                yield settings["scale"]


def project_in(connection: sqlite3.Connection) -> Project:
    """Return the project, within a transaction."""
    row = connection.execute(
        "SELECT name, made, settings, state, set_digest, seed, units FROM project"
    ).fetchone()
    if row is None:
        raise InputError("the store has no project yet: import a set first")
    return Project(row[0], row[1], settings_of(row[2]), *row[3:])


def project(store: Store) -> Project:
    """Return the project of a store."""
    with store.read() as connection:
        return project_in(connection)


def has_project(store: Store) -> bool:
    """Return whether a set was imported; an import that was cut off leaves nothing."""
    with store.read() as connection:
        return connection.execute("SELECT 1 FROM project").fetchone() is not None


def check_open(
    connection: sqlite3.Connection, told: str = "judgements are no longer taken"
) -> None:
    """Refuse what writes judgements, or whatever is `told`, once a project is frozen."""
    row = connection.execute("SELECT state FROM project").fetchone()
    if row is None:
        raise InputError("the store has no project yet: import a set first")
    if row[0] != OPEN:
        raise InputError(f"the project is frozen: {told}")


def check_blind(connection: sqlite3.Connection) -> None:
    """Refuse decisions once the systems are revealed."""
    if project_in(connection).state == REVEALED:
        raise InputError("the systems are revealed: a decision would not be blind, none is taken")


def freeze(store: Store, by: int | None = None) -> None:
    """End judging; disputes are decided until the reveal. A frozen project stays so."""
    with store.write() as connection:
        check_open(connection)
        connection.execute("UPDATE project SET state = ?", (FROZEN,))
        record(connection, "freeze", by)


def reveal(store: Store, by: int | None = None, anyway: bool = False) -> None:
    """Show the names of systems: after the freeze, or `anyway`, which freezes the project, too."""
    with store.write() as connection:
        state = project_in(connection).state
        if state == REVEALED:
            raise InputError("the systems are revealed already")
        if state == OPEN and not anyway:
            told = "freeze the project first, or decide to reveal anyway, which ends judging"
            raise InputError(f"assessors still judge blind: {told}")
        connection.execute("UPDATE project SET state = ?", (REVEALED,))
        record(connection, "reveal", by, from_state=state)


def systems(store: Store) -> dict[int, str]:
    """Return the system of each output, once the project is revealed."""
    with store.read() as connection:
        state = project_in(connection).state
        if state != REVEALED:
            raise InputError(f"the systems are hidden while the project is {quoted(state)}")
        rows: Sequence[tuple[int, str]] = connection.execute(
            "SELECT output.id, system FROM output JOIN item ON item.id = item WHERE NOT calibration"
        ).fetchall()
    return dict(rows)
