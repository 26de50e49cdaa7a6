"""Projects: import of a set with calibration items, and the states open, frozen and revealed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
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
    CALIBRATION_LISTS,
    CalibrationItem,
    ProjectSettings,
    compared_dimensions,
    parse_settings,
)
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, TASKS, checks
from karat.studio.tasks.task import AssignmentView, NuggetView, OutputView

OPEN, FROZEN, REVEALED = "open", "frozen", "revealed"
BATCH = 5000
CONTEXT = 3
"""Preceding segments of the same group shown as context."""
MAX_TEXT = 100_000


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
    """Return whether a set was imported; an interrupted import leaves nothing."""
    with store.read() as connection:
        return connection.row("SELECT 1 FROM project") is not None


# The items of a set


class ImportedOutput(NamedTuple):
    """An output, its system, and the value of the predictor."""

    system: str
    text: str
    predicted: float | None = None


class ImportedItem(NamedTuple):
    """A segment or question with the outputs of systems."""

    segment: str
    outputs: tuple[ImportedOutput, ...]
    group: str | None = None
    source: str | None = None
    context: str | None = None
    references: tuple[str, ...] = ()
    nuggets: tuple[Nugget, ...] = ()


def make_items(
    source: EvalSet | NuggetSet, settings: ProjectSettings, progress: Progress
) -> list[ImportedItem]:
    """Return the items of a set; raise InputError if it lacks outputs or what a task needs."""
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
    return items


def _check_compared(name: str, items: Sequence[ImportedItem], settings: ProjectSettings) -> None:
    """Raise InputError if a question compares outputs with a text that is not shown."""
    dimensions, show = compared_dimensions(settings.tasks), settings.show
    for item in items if dimensions else ():
        texts = {"source": bool(item.source), "reference": any(item.references)}
        if item.outputs and not any(texts[part] and getattr(show, part) for part in texts):
            options = [f"--show {part}" for part, has_text in texts.items() if has_text]
            advice = f"shows none: add {' or '.join(options)}"
            if not options:
                advice = "has neither source nor reference: rate something else, such as fluency"
            problem = f"{short(dimensions[0])} compares an output with another text, and segment "
            raise InputError(f"{problem}{short(item.segment)} of {short(name)} {advice}")


def _nugget_items(nuggets: NuggetSet) -> list[ImportedItem]:
    return [
        ImportedItem(
            question.id,
            tuple(
                ImportedOutput(tag, response.text)
                for tag, run in nuggets.runs.items()
                for response in run.responses(question.id)
            ),
            source=question.text or question.id,
            nuggets=question.nuggets,
        )
        for question in nuggets.key.questions.values()
    ]


def _evalset_items(
    evalset: EvalSet, settings: ProjectSettings, progress: Progress
) -> list[ImportedItem]:
    predicted: Any = None  # systems x segments
    if settings.predictor is not None:
        from karat.estimation.samples import judge_values

        scales = settings.rating_scales
        dimension = scales[0]["dimension"] if scales else ""
        (predictor,) = judge_values(evalset, [settings.predictor], dimension, None, progress)
        predicted = predictor.values.tolist()
    columns = list(evalset.systems.items())
    return [
        ImportedItem(
            segment,
            tuple(
                ImportedOutput(system, text, predicted[k][at] if predicted else None)
                for k, (system, texts) in enumerate(columns)
                if (text := texts[at]) is not None
            ),
            evalset.groups[at] if evalset.groups else None,
            evalset.sources[at] if evalset.sources else None,
            _context_before(evalset, at),
            evalset.references[at] if evalset.references else (),
        )
        for at, segment in enumerate(evalset.segments)
    ]


def _context_before(evalset: EvalSet, at: int) -> str | None:
    """Return the sources of the preceding segments of the same group."""
    groups, sources = evalset.groups, evalset.sources
    if groups is None or sources is None:
        return None
    before = [k for k in range(max(at - CONTEXT, 0), at) if groups[k] == groups[at]]
    return "\n".join(sources[k] for k in before) or None


def digest_texts(items: Sequence[ImportedItem]) -> str:
    """Return the digest of all segments, systems and outputs."""
    digest = sha256()
    for item in items:
        for output in item.outputs:
            digest.update(_to_json([item.segment, output.system, output.text]).encode())
    return digest.hexdigest()


def digest_text(text: str) -> str:
    """Return the digest of an output, which reveals changes."""
    return sha256(text.encode("utf-8")).hexdigest()


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# The import


def import_set(
    store: Store,
    source: EvalSet | NuggetSet,
    settings: ProjectSettings,
    progress: Progress = silent,
) -> None:
    """Import a set into an empty store, in one transaction."""
    name, items = source.name, make_items(source, settings, progress)
    try:
        with store.write() as connection:
            if connection.row("SELECT 1 FROM project"):
                raise InputError("the store has a project: make another store for another set")
            digest = digest_texts(items)
            n_outputs = sum(len(item.outputs) for item in items)
            n_outputs += sum(len(item.outputs) for item in settings.calibration)
            # Calibration outputs get ids from the same shuffled range.
            ids = iter(shuffled_ids(n_outputs, settings.seed, digest))
            _add_items(connection, items, ids, progress)
            units = count_units(connection, settings)
            if not units:
                problem = "no item has two outputs: pairs need outputs of two systems or more"
                raise InputError(problem)
            for task, task_settings in settings.tasks.items():
                connection.executemany(
                    "INSERT OR IGNORE INTO dimension (name, settings) VALUES (?, ?)",
                    [(s["dimension"], _to_json(s)) for s in TASKS[task].scales(task_settings)],
                )
            _add_calibration(connection, settings, ids)
            connection.execute(
                "INSERT INTO project VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
                (name, stamp(), settings.to_json(), OPEN, digest, settings.seed, units),
            )
            record(connection, "import", set=name, items=len(items), units=units)
    except UnicodeEncodeError:
        problem = "a text holds half a character (a lone surrogate): expected valid Unicode"
        raise InputError(f"{name}: {problem}") from None


def _add_items(
    connection: StoreConnection,
    items: Sequence[ImportedItem],
    ids: Iterator[int],
    progress: Progress,
) -> None:
    """Add items with their outputs and nuggets."""
    outputs = []
    for start in range(0, len(items), BATCH):
        progress(start, len(items), "importing")
        batch = list(enumerate(items[start : start + BATCH], start + 1))
        connection.executemany(
            "INSERT INTO item (id, segment, grp, source, context, refs, ord, outputs) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?1, ?7)",
            [
                (
                    *(at, item.segment, item.group, item.source, item.context),
                    *(_to_json(item.references), len(item.outputs)),
                )
                for at, item in batch
            ],
        )
        outputs += [(next(ids), at, *output) for at, item in batch for output in item.outputs]
        connection.executemany(
            "INSERT INTO nugget (item, nugget, importance, descriptions) VALUES (?, ?, ?, ?)",
            [
                (at, nugget.id, nugget.importance, _to_json(nugget.descriptions))
                for at, item in batch
                for nugget in item.nuggets
            ],
        )
    connection.executemany(
        "INSERT INTO output (id, item, system, text, hash, predicted) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (id, item, system, text, digest_text(text), predicted)
            for id, item, system, text, predicted in sorted(outputs)
        ],
    )
    progress(len(items), len(items), "importing")


def count_units(connection: StoreConnection, settings: ProjectSettings) -> int:
    """Return the number of units of a project, without calibration."""
    sizes = connection.rows(
        "SELECT outputs, count(*) FROM item WHERE NOT calibration GROUP BY outputs"
    )
    return sum(
        len(TASKS[task].targets(range(size))) * n for task in settings.tasks for size, n in sizes
    )


# Calibration: units with known answers


def _add_calibration(
    connection: StoreConnection, settings: ProjectSettings, ids: Iterator[int]
) -> None:
    """Add the calibration items of a project."""
    last_item = connection.value("SELECT max(id) FROM item")
    for number, entry in enumerate(settings.calibration, 1):
        nuggets = [NuggetView(str(k), "vital", (text,)) for k, text in enumerate(entry.nuggets, 1)]
        if error := _find_calibration_error(entry, nuggets, settings):
            raise InputError(f"calibration item {number}: {error}")
        item = connection.insert(
            "item",
            id=last_item + number,
            source=entry.source,
            refs=json.dumps(entry.references),
            ord=last_item,
            outputs=len(entry.outputs),
            calibration=1,
        )
        output_ids = sorted(next(ids) for _ in entry.outputs)  # in the order of the known answer
        for id, text in zip(output_ids, entry.outputs, strict=True):
            connection.insert(
                "output", id=id, item=item, system="", text=text, hash=digest_text(text)
            )
        for nugget in nuggets:
            connection.insert(
                "nugget",
                item=item,
                nugget=nugget.id,
                importance=nugget.importance,
                descriptions=json.dumps(nugget.descriptions),
            )
        outputs, answer = json.dumps(output_ids), _to_json(entry.value)
        connection.insert(
            "unit", task=entry.task, item=item, outputs=outputs, round=0, answer=answer
        )


def _find_calibration_error(
    entry: CalibrationItem, nuggets: Sequence[NuggetView], settings: ProjectSettings
) -> str:
    """Return the first error of a known answer or its texts; "" if there is none."""
    task, task_settings = TASKS[entry.task], settings.tasks[entry.task]
    texts = (entry.source or "", *entry.outputs, *entry.references, *entry.nuggets)
    if error := checks.first_error([checks.text_error("text", text, MAX_TEXT) for text in texts]):
        return error
    if len(task.targets(range(len(entry.outputs)))) != 1:
        return f"expected {task.outputs_per_unit}"
    if task.needs_nuggets and not nuggets:
        return "expected nuggets, a list of their descriptions"
    outputs = tuple(OutputView(k, text) for k, text in enumerate(entry.outputs, 1))
    view = AssignmentView(0, entry.task, task_settings, outputs, nuggets=tuple(nuggets))
    if error := task.find_error(entry.value, view):
        return error
    dimensions = compared_dimensions(settings.tasks)
    if dimensions and not (entry.source or any(entry.references)):
        problem = f"{short(dimensions[0])} compares an output with another text"
        return f"{problem}: add source or references"
    return "" if checks.is_done(entry.value) else "the answer is a draft"


_REQUIRED = ("outputs", "value")
_FIELDS = (*_REQUIRED, "source", "references", "nuggets")


def read_calibration(path: str | os.PathLike[str], task: str) -> tuple[CalibrationItem, ...]:
    """Return the calibration items in a file of JSON lines."""
    reading = Reading()
    entries = []
    for place, row in read_json_lines(Path(path), reading):
        if error := next(_find_problems(row), ""):
            raise InputError(f"{place}: {error}")
        texts = {name: tuple(row.get(name, ())) for name in CALIBRATION_LISTS}
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
        is_list = isinstance(value, list) and all(isinstance(text, str) for text in value)
        if name in CALIBRATION_LISTS and not is_list:
            yield f"found {name}={quoted(value)}, expected a list of texts"
    if not isinstance(row.get("value", {}), dict):
        yield f"found value={quoted(row['value'])}, expected an object, as answers are"
    if not isinstance(row.get("source", ""), str):
        yield f"found source={quoted(row['source'])}, expected a text"


# States


def check_open(
    connection: StoreConnection, consequence: str = "judgements are no longer taken"
) -> None:
    """Raise InputError with the `consequence` if the project is frozen."""
    if project_in(connection).state != OPEN:
        raise InputError(f"the project is frozen: {consequence}")


def freeze(store: Store, by: int | None = None) -> None:
    """End judging for good; disputes can be decided until the reveal."""
    with store.write() as connection:
        check_open(connection)
        connection.execute("UPDATE project SET state = ?", (FROZEN,))
        record(connection, "freeze", by)


def reveal(store: Store, by: int | None = None, anyway: bool = False) -> None:
    """Reveal the names of systems; an open project only with `anyway`, which ends judging."""
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
    """Return the system of each output; raise InputError before the reveal."""
    with store.read() as connection:
        state = project_in(connection).state
        if state != REVEALED:
            raise InputError(f"the systems are hidden while the project is {quoted(state)}")
        query = "SELECT o.id, system FROM output o JOIN item ON item.id = item"
        return dict(connection.rows(f"{query} WHERE NOT calibration"))
