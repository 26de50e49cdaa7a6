"""Projects: import of a set, and the states open, frozen and revealed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.studio.store.assignments import parse_settings
from karat.studio.store.calibration import add_calibration
from karat.studio.store.draws import shuffled_ids
from karat.studio.store.events import record, stamp
from karat.studio.store.imports import ImportedSet, make_import
from karat.studio.store.schema import StoreConnection
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS

OPEN, FROZEN, REVEALED = "open", "frozen", "revealed"
BATCH = 5000


class Project(NamedTuple):
    """The project of a store."""

    name: str
    created: str
    settings: ProjectSettings
    state: str
    set_digest: str
    seed: int
    units: int
    """The number of units to judge, without calibration."""


def import_set(
    store: Store,
    source: EvalSet | NuggetSet,
    settings: ProjectSettings,
    progress: Progress = silent,
) -> None:
    """Fill an empty store with a set, in one transaction: all of it or nothing."""
    imported = make_import(source, settings, progress)
    try:
        _fill_store(store, imported, settings, progress)
    except UnicodeEncodeError:
        problem = "a text holds half a character (a lone surrogate): expected valid Unicode"
        raise InputError(f"{imported.name}: {problem}") from None


def _fill_store(
    store: Store, imported: ImportedSet, settings: ProjectSettings, progress: Progress
) -> None:
    with store.write() as connection:
        if connection.row("SELECT 1 FROM project"):
            raise InputError("the store has a project: make another store for another set")
        digest = digest_texts(imported)
        ids = _shuffled_ids(imported, settings, digest)
        _add_items(connection, imported, ids, progress)
        units = count_units(connection, settings)
        if not units:
            raise InputError("no item has two outputs: pairs need outputs of two systems or more")
        _add_dimensions(connection, settings)
        add_calibration(connection, settings, ids)
        connection.execute(
            "INSERT INTO project VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
            (imported.name, stamp(), settings.to_json(), OPEN, digest, settings.seed, units),
        )
        record(connection, "import", set=imported.name, items=len(imported.items), units=units)


def _shuffled_ids(imported: ImportedSet, settings: ProjectSettings, digest: str) -> Iterator[int]:
    """Return ids of outputs in an order that tells neither systems nor calibration."""
    n_calibration = sum(len(entry.outputs) for entry in settings.calibration)
    count = sum(len(item.outputs) for item in imported.items) + n_calibration
    return iter(shuffled_ids(count, settings.seed, digest))


def _add_items(
    connection: StoreConnection, imported: ImportedSet, ids: Iterator[int], progress: Progress
) -> None:
    """Add items and outputs."""
    outputs = []
    for start in range(0, len(imported.items), BATCH):
        progress(start, len(imported.items), "importing")
        batch = imported.items[start : start + BATCH]
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
                    _to_json(i.references),
                    at,
                    len(i.outputs),
                )
                for at, i in enumerate(batch, start + 1)
            ),
        )
        for at, item in enumerate(batch, start + 1):
            for output in item.outputs:
                outputs.append((next(ids), at, output.system, output.text, output.predicted))
        connection.executemany(
            "INSERT INTO nugget (item, nugget, importance, descriptions) VALUES (?, ?, ?, ?)",
            (
                (at, n.id, n.importance, _to_json(n.descriptions))
                for at, item in enumerate(batch, start + 1)
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
    progress(len(imported.items), len(imported.items), "importing")


def digest_texts(imported: ImportedSet) -> str:
    """Return the digest of all texts that are judged."""
    digest = sha256()
    for item in imported.items:
        for output in item.outputs:
            digest.update(_to_json([item.segment, output.system, output.text]).encode())
    return digest.hexdigest()


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def count_units(connection: StoreConnection, settings: ProjectSettings) -> int:
    """Return how many units a project has, without calibration."""
    sizes = connection.rows(
        "SELECT outputs, count(*) FROM item WHERE NOT calibration GROUP BY outputs"
    )
    counts = [
        len(TASKS[task].targets(range(size))) * n for task in settings.tasks for size, n in sizes
    ]
    return sum(counts)


def _add_dimensions(connection: StoreConnection, settings: ProjectSettings) -> None:
    scales = list(_list_scales(settings.tasks.values()))
    connection.executemany(
        "INSERT OR IGNORE INTO dimension (name, settings) VALUES (?, ?)",
        [(scale["dimension"], _to_json(scale)) for scale in scales],
    )


def _list_scales(tasks: Iterable[object]) -> Iterator[dict[str, object]]:
    for settings in tasks:
        if isinstance(settings, dict):
            yield from settings.get("scales", ())
            if settings.get("scale"):
                yield settings["scale"]


def project_in(connection: StoreConnection) -> Project:
    """Return the project, within a transaction."""
    row = connection.row("SELECT name, made, settings, state, set_digest, seed, units FROM project")
    if row is None:
        raise InputError("the store has no project yet: import a set first")
    return Project(row[0], row[1], parse_settings(row[2]), *row[3:])


def project(store: Store) -> Project:
    """Return the project of a store."""
    with store.read() as connection:
        return project_in(connection)


def has_project(store: Store) -> bool:
    """Return whether a set was imported; an import that was cut off leaves nothing."""
    with store.read() as connection:
        return connection.row("SELECT 1 FROM project") is not None


def check_open(
    connection: StoreConnection, consequence: str = "judgements are no longer taken"
) -> None:
    """Raise InputError with the `consequence` if the project is frozen."""
    row = connection.row("SELECT state FROM project")
    if row is None:
        raise InputError("the store has no project yet: import a set first")
    if row[0] != OPEN:
        raise InputError(f"the project is frozen: {consequence}")


def check_blind(connection: StoreConnection) -> None:
    """Raise InputError if the systems are revealed."""
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
            advice = "freeze the project first, or decide to reveal anyway, which ends judging"
            raise InputError(f"assessors still judge blind: {advice}")
        connection.execute("UPDATE project SET state = ?", (REVEALED,))
        record(connection, "reveal", by, from_state=state)


def systems(store: Store) -> dict[int, str]:
    """Return the system of each output, once the project is revealed."""
    with store.read() as connection:
        state = project_in(connection).state
        if state != REVEALED:
            raise InputError(f"the systems are hidden while the project is {quoted(state)}")
        rows: Sequence[tuple[int, str]] = connection.rows(
            "SELECT output.id, system FROM output JOIN item ON item.id = item WHERE NOT calibration"
        )
    return dict(rows)
