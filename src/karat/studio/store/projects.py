"""Projects: import of a set with calibration items, and the states open, frozen and revealed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.reading import Reading, read_json_lines
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.keys_and_runs import Nugget
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.studio.store.draws import shuffled_ids
from karat.studio.store.people import record, stamp
from karat.studio.store.schema import StoreConnection
from karat.studio.store.settings import (
    CalibrationItem,
    ProjectSettings,
    compared_dimensions,
    parse_settings,
)
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, TASKS
from karat.studio.tasks.task import (
    AssignmentView,
    NuggetView,
    OutputView,
    first_error,
    is_done,
    text_error,
)

CONTEXT = 3
"""Segments of the same group that are shown before a segment."""


class ImportedOutput(NamedTuple):
    """An output, its system, and the value that a predictor gives it."""

    system: str
    text: str
    predicted: float | None = None


class ImportedItem(NamedTuple):
    """A segment or question with the outputs of systems."""

    segment: str
    group: str | None
    source: str | None
    context: str | None
    references: tuple[str, ...]
    outputs: tuple[ImportedOutput, ...]
    nuggets: tuple[Nugget, ...] = ()


class ImportedSet(NamedTuple):
    """A set as a store takes it."""

    name: str
    items: Sequence[ImportedItem]


def make_import(
    source: EvalSet | NuggetSet, settings: ProjectSettings, progress: Progress
) -> ImportedSet:
    """Return what a set has to judge; one without outputs or what a task needs is refused."""
    is_nuggets = isinstance(source, NuggetSet)
    if settings.has(NUGGETS) and not is_nuggets:
        raise InputError(f"{short(source.name)} has no nuggets: expected a nugget set")
    if isinstance(source, NuggetSet):
        if settings.predictor is not None:
            raise InputError("a nugget set takes no predictor: leave it out")
        items = _nugget_items(source)
    else:
        items = _evalset_items(source, settings, progress)
    if not any(item.outputs for item in items):
        lacks = "no responses: add runs" if is_nuggets else "no outputs of systems: add some"
        raise InputError(f"{short(source.name)} has {lacks}, then there is something to judge")
    _check_compared(source.name, items, settings)
    return ImportedSet(source.name, items)


def _check_compared(name: str, items: Sequence[ImportedItem], settings: ProjectSettings) -> None:
    """Raise InputError if a question compares with a text that is not shown."""
    dimensions = compared_dimensions(settings.tasks)
    if not dimensions:
        return
    show = settings.show
    for item in items:
        texts = show.source and item.source, show.reference and any(item.references)
        if item.outputs and not any(texts):
            problem = f"{short(dimensions[0])} compares an output with another text, and segment "
            raise InputError(
                f"{problem}{short(item.segment)} of {short(name)} {_missing_text_advice(item)}"
            )


def _missing_text_advice(item: ImportedItem) -> str:
    """Return what an item has to compare with, and the option that shows it."""
    parts = [("source", item.source), ("reference", any(item.references))]
    options = [f"--show {part}" for part, has_text in parts if has_text]
    if options:
        return f"shows none: add {' or '.join(options)}"
    return "has neither source nor reference: rate something else, such as fluency"


def _nugget_items(nuggets: NuggetSet) -> list[ImportedItem]:
    return [
        ImportedItem(
            question.id,
            None,
            question.text or question.id,
            None,
            (),
            tuple(
                ImportedOutput(tag, response.text)
                for tag, run in nuggets.runs.items()
                for response in run.responses(question.id)
            ),
            question.nuggets,
        )
        for question in nuggets.key.questions.values()
    ]


def _evalset_items(
    evalset: EvalSet, settings: ProjectSettings, progress: Progress
) -> list[ImportedItem]:
    predicted = _predict(evalset, settings, progress)
    columns = list(evalset.systems.items())
    return [
        ImportedItem(
            segment,
            evalset.groups[at] if evalset.groups else None,
            evalset.sources[at] if evalset.sources else None,
            _context_before(evalset, at),
            evalset.references[at] if evalset.references else (),
            tuple(
                ImportedOutput(system, text, predicted[k][at] if predicted else None)
                for k, (system, texts) in enumerate(columns)
                if (text := texts[at]) is not None
            ),
        )
        for at, segment in enumerate(evalset.segments)
    ]


def _context_before(evalset: EvalSet, at: int) -> str | None:
    """Return the sources of the segments before one, of the same group."""
    groups, sources = evalset.groups, evalset.sources
    if groups is None or sources is None:
        return None
    before = [k for k in range(max(at - CONTEXT, 0), at) if groups[k] == groups[at]]
    return "\n".join(sources[k] for k in before) or None


def _predict(evalset: EvalSet, settings: ProjectSettings, progress: Progress) -> Any:
    """Return the values of the predictor, systems x segments; None without one."""
    if settings.predictor is None:
        return None
    from karat.estimation.samples import judge_values

    scales = settings.rating_scales
    dimension = scales[0]["dimension"] if scales else ""
    (predictor,) = judge_values(evalset, [settings.predictor], dimension, None, progress)
    return predictor.values.tolist()


MAX_TEXT = 100_000


def add_calibration(
    connection: StoreConnection, settings: ProjectSettings, ids: Iterator[int]
) -> None:
    """Add the calibration items of a project; their output ids mix with others."""
    item = connection.value("SELECT max(id) FROM item")
    for number, entry in enumerate(settings.calibration, 1):
        _check_known_answer(entry, number, settings)
        connection.execute(
            "INSERT INTO item (id, source, refs, ord, outputs, calibration) "
            "VALUES (?, ?, ?, ?, ?, 1)",
            (item + number, entry.source, json.dumps(entry.references), item, len(entry.outputs)),
        )
        output_ids = sorted(next(ids) for _ in entry.outputs)  # in the order of the known answer
        connection.executemany(
            "INSERT INTO output (id, item, system, text, hash) VALUES (?, ?, '', ?, ?)",
            [
                (id, item + number, text, sha256(text.encode("utf-8")).hexdigest())
                for id, text in zip(output_ids, entry.outputs, strict=True)
            ],
        )
        connection.executemany(
            "INSERT INTO nugget (item, nugget, importance, descriptions) VALUES (?, ?, ?, ?)",
            [
                (item + number, n.id, n.importance, json.dumps(n.descriptions))
                for n in _nugget_views(entry)
            ],
        )
        connection.execute(
            "INSERT INTO unit (task, item, outputs, round, answer) VALUES (?, ?, ?, 0, ?)",
            (
                entry.task,
                item + number,
                json.dumps(output_ids),
                json.dumps(entry.value, ensure_ascii=False),
            ),
        )


def _nugget_views(entry: CalibrationItem) -> list[NuggetView]:
    return [NuggetView(str(k), "vital", (text,)) for k, text in enumerate(entry.nuggets, 1)]


def _check_known_answer(entry: CalibrationItem, number: int, settings: ProjectSettings) -> None:
    """Raise InputError if a known answer is not a valid answer."""
    task = TASKS[entry.task]
    texts = (entry.source or "", *entry.outputs, *entry.references, *entry.nuggets)
    if error := first_error([text_error("text", text, MAX_TEXT) for text in texts]):
        raise InputError(f"calibration item {number}: {error}")
    if len(task.targets(range(len(entry.outputs)))) != 1:
        raise InputError(f"calibration item {number}: expected {task.outputs_per_unit}")
    if task.needs_nuggets and not entry.nuggets:
        error = "expected nuggets, a list of their descriptions"
        raise InputError(f"calibration item {number}: {error}")
    outputs = tuple(OutputView(k, text) for k, text in enumerate(entry.outputs, 1))
    view = AssignmentView(
        0, entry.task, settings.tasks[entry.task], outputs, nuggets=tuple(_nugget_views(entry))
    )
    error = task.find_error(entry.value, view) or (
        "" if is_done(entry.value) else "the answer is a draft"
    )
    if error:
        raise InputError(f"calibration item {number}: {error}")
    if (dimensions := compared_dimensions(settings.tasks)) and not (
        entry.source or any(entry.references)
    ):
        error = f"{short(dimensions[0])} compares an output with another text"
        raise InputError(f"calibration item {number}: {error}: add source or references")


_REQUIRED = ("outputs", "value")
_LISTS = ("outputs", "references", "nuggets")
_FIELDS = (*_REQUIRED, "source", "references", "nuggets")


def read_calibration(path: str | os.PathLike[str], task: str) -> tuple[CalibrationItem, ...]:
    """Return the calibration items of a file, for the task of a project."""
    reading = Reading()
    entries = []
    for place, row in read_json_lines(Path(path), reading):
        if error := next(_find_problems(row), ""):
            raise InputError(f"{place}: {error}")
        texts = {name: tuple(row.get(name, ())) for name in _LISTS}
        entries.append(CalibrationItem(task, value=row["value"], source=row.get("source"), **texts))
    reading.check()
    if not entries:
        raise InputError(f"{os.fspath(path)}: expected calibration items, one JSON object a line")
    return tuple(entries)


def _find_problems(row: dict[str, Any]) -> Iterator[str]:
    """Yield the errors of a calibration item."""
    for name in _REQUIRED:
        if name not in row:
            yield f"{name} is missing: expected {' and '.join(_REQUIRED)}"
    for name, value in row.items():
        if name not in _FIELDS:
            yield f"found the name {quoted(name)}, expected {', '.join(_FIELDS)}"
        if name in _LISTS and not _are_texts(value):
            yield f"found {name}={quoted(value)}, expected a list of texts"
    if not isinstance(row.get("value", {}), dict):
        yield f"found value={quoted(row['value'])}, expected an object, as answers are"
    if not isinstance(row.get("source", ""), str):
        yield f"found source={quoted(row['source'])}, expected a text"


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


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
