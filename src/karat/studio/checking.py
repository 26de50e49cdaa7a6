"""The check of a store: the database, the kinds of all values, and the rules between rows.

Every command can read a store that passes the check. The check has steps that depend on earlier
ones: the file, the tables, the values, the references between rows, the settings, and finally
answers, decisions and texts.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from karat.errors import InputError, KaratError, quoted
from karat.evalset.draws import MAX_ROUNDS
from karat.evalset.reading import FileLocation, Reading
from karat.nuggets.sets.nugget_set import NuggetDraft
from karat.results import Result
from karat.studio.contents import contents_in, items_in, outputs_in
from karat.studio.export.sets import make_evalset, put_nuggets
from karat.studio.key_editing import view_as_judged
from karat.studio.store import projects
from karat.studio.store.judgements import COUNTED, view_in, view_key, view_output
from karat.studio.store.schema import StoreConnection, migrate
from karat.studio.store.settings import ProjectSettings
from karat.studio.tasks import NUGGETS, TASKS
from karat.studio.tasks.checks import is_integer, is_number
from karat.studio.tasks.task import AssignmentView, CurrentDecision

# Columns of the tables and the kinds of their values, in a store and in its log


class Kind(NamedTuple):
    """A kind of values: its name in a sentence, and its test."""

    name: str
    fits: Callable[[Any], bool]


class StoreColumn(NamedTuple):
    """A column of a table: its name, the kind of its values, and whether it may be null."""

    name: str
    kind: Kind
    optional: bool


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_time(value: Any) -> bool:
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return time.tzinfo is not None and 1970 <= time.year < 9999


def _listed(fits: Callable[[Any], bool], min_length: int = 0) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, list) and len(value) >= min_length and all(map(fits, value))
    )


_OBJECT = Kind("an object", lambda value: isinstance(value, dict))
_TEXTS = Kind("a list of texts", _listed(_is_text))
_IDS = Kind("a list of whole numbers", _listed(is_integer))
_SOME_IDS = Kind("a list of one or more whole numbers", _listed(is_integer, 1))
_TASK = Kind(f"one of {', '.join(TASKS)}", lambda value: _is_text(value) and value in TASKS)
_TIME = Kind("a time such as 2026-01-31T12:00:00+00:00", _is_time)
STORED = {
    "INTEGER": Kind("a whole number", is_integer),
    "REAL": Kind("a number", is_number),
    "TEXT": Kind("a text", _is_text),
}
"""Kinds by SQL type."""
NAMED = {"task": _TASK, "made": _TIME, "time": _TIME, "lease": _TIME}
"""Kinds by column name, the same in all tables."""
PARSED = {
    "project.settings": _OBJECT,
    "item.refs": _TEXTS,
    "dimension.settings": _OBJECT,
    "nugget.descriptions": _TEXTS,
    "unit.outputs": _SOME_IDS,
    "unit.answer": _OBJECT,
    "assignment.outputs": _SOME_IDS,
    "judgement.value": _OBJECT,
    "adjudication.value": Kind("a value", lambda value: True),
    "adjudication.seen": _IDS,
    "event.detail": _OBJECT,
}
"""Kinds of the columns with JSON."""
HIDDEN = ("assessor.token_hash",)
"""Columns left out of the log."""


def is_json(table: str, column: str) -> bool:
    """Return whether a column contains JSON."""
    return f"{table}.{column}" in PARSED


def read_columns(connection: StoreConnection, table: str) -> list[StoreColumn]:
    """Return the columns of a table in the log."""
    rows = connection.rows(f"PRAGMA table_info({table})")
    return [
        StoreColumn(
            name,
            PARSED.get(f"{table}.{name}") or NAMED.get(name) or STORED[kind],
            optional=not (needed or key),
        )
        for _, name, kind, needed, _, key in rows
        if f"{table}.{name}" not in HIDDEN
    ]


def _parse_json(text: Any) -> Any:
    """Parse JSON; raise ValueError if it is invalid."""

    def reject_constant(name: str) -> Any:
        raise ValueError(name)

    if not isinstance(text, str):
        raise ValueError
    try:
        return json.loads(text, parse_constant=reject_constant)
    except RecursionError:
        raise ValueError from None


def check_row(
    place: FileLocation, table: str, row: Mapping[str, Any], columns: Sequence[StoreColumn]
) -> None:
    """Raise InputError if a row has unexpected columns or a value of the wrong kind."""
    names = [column.name for column in columns]
    if odd := sorted({*row} ^ {*names}):
        expected = f"expected {', '.join(names)}"
        raise InputError(f"{place}: {quoted(odd[0])} in a row of {table}, {expected}")
    for name, kind, optional in columns:
        if row[name] is None and optional:
            continue
        if not kind.fits(row[name]):
            expected = f"expected {kind.name}{' or null' * optional}"
            raise InputError(f"{place}: {name} of {table}: found {quoted(row[name])}, {expected}")


# The check

TABLES = (
    *("project", "item", "output", "dimension", "nugget", "draw", "unit", "assessor", "assignment"),
    *("judgement", "adjudication", "key_edit", "event"),
)
"""In an order in which rows refer only to earlier tables or rows."""
MAX_LISTED = 10
"""Maximum number of listed problems of one kind."""
_RULES = {
    "judgements whose predecessor is of another assignment": """
        judgement j JOIN judgement b ON b.id = j.supersedes
        WHERE b.assignment != j.assignment OR b.id >= j.id""",
    "assignments with two first judgements": """
        (SELECT 1 FROM judgement WHERE supersedes IS NULL GROUP BY assignment
        HAVING count(*) > 1)""",
    "judgements by somebody else than the assignment's assessor": """
        judgement j JOIN assignment a ON a.id = j.assignment WHERE a.assessor != j.assessor""",
    "assignments whose newest judgement is not the one that counts": f"""
        assignment a LEFT JOIN judgement j ON j.id =
        (SELECT max(id) FROM judgement WHERE assignment = a.id) WHERE a.judged IS NOT {COUNTED}""",
    "decisions whose predecessor is about something else": """
        adjudication j JOIN adjudication b ON b.id = j.supersedes
        WHERE b.id >= j.id OR b.task != j.task OR b.item != j.item OR b.output IS NOT j.output
        OR b.about != j.about""",
    "decisions on an output of another item": """
        adjudication d JOIN output o ON o.id = d.output WHERE o.item != d.item""",
    "projects with a wrong id or state": """
        project WHERE id != 1 OR state NOT IN ('open', 'frozen', 'revealed')""",
    "items with a segment among calibration, or without one in the set": """
        item WHERE (segment IS NULL) != calibration""",
    "edits of a key of an unknown kind": """
        key_edit WHERE (what = 'undo') != (undoes IS NOT NULL)
        OR what NOT IN ('add', 'reword', 'drop', 'importance', 'undo')""",
    "nuggets whose importance is neither vital nor okay": """
        nugget WHERE importance NOT IN ('vital', 'okay')""",
    "nuggets without an id or a description": """
        nugget WHERE nugget = '' OR json_array_length(descriptions) = 0""",
    "nuggets that are not as the newest edit left them": """
        nugget n LEFT JOIN key_edit e ON e.id = (SELECT max(id)
            FROM key_edit WHERE old_nugget = n.id OR new_nugget = n.id)
        WHERE n.dropped != (e.id IS NOT NULL AND e.new_nugget IS NOT n.id)
        OR (e.new_nugget = n.id AND e.new_importance IS NOT n.importance)""",
    "edits of a key that do not name the edit before": """
        key_edit e WHERE e.supersedes IS NOT
        (SELECT max(id) FROM key_edit WHERE item = e.item AND id < e.id)""",
    "edits of a key with a nugget of another question": """
        key_edit e JOIN nugget n ON n.id IN (e.old_nugget, e.new_nugget)
        WHERE n.item != e.item""",
    "units whose count of places taken is wrong": """
        unit WHERE taken != (SELECT count(*) FROM assignment a
        WHERE a.unit = unit.id AND (a.judged IS NOT NULL OR a.lease IS NOT NULL))""",
    "units with an output that their item does not have": """
        unit u WHERE EXISTS (SELECT 1 FROM json_each(u.outputs) e
        WHERE NOT EXISTS (SELECT 1 FROM output o WHERE o.id = e.value AND o.item = u.item))""",
    "units whose round is not that of their item": """
        unit u JOIN item i ON i.id = u.item LEFT JOIN draw d ON d.item = i.id
        WHERE u.round IS NOT iif(i.calibration, 0, d.round)""",
    "drawn items without a unit": """
        draw d JOIN item i ON i.id = d.item WHERE i.calibration OR
        (i.outputs > 1 AND NOT EXISTS (SELECT 1 FROM unit u WHERE u.item = d.item))""",
    "calibration units without a known answer, or others with one": """
        unit u JOIN item i ON i.id = u.item WHERE (u.answer IS NULL) = i.calibration""",
    "assignments that differ from their unit": """
        assignment a JOIN unit u ON u.id = a.unit WHERE a.task != u.task
        OR a.item != u.item OR a.round != u.round OR u.outputs !=
        (SELECT '[' || group_concat(value, ', ') || ']' FROM
            (SELECT value FROM json_each(a.outputs) ORDER BY value))""",
    "items whose count of outputs is wrong": """
        item i WHERE outputs != (SELECT count(*) FROM output o WHERE o.item = i.id)""",
    "items marked neither as calibration nor as part of the set": """
        item WHERE calibration NOT IN (0, 1)""",
    "outputs whose system has no name": """
        output o JOIN item i ON i.id = o.item WHERE NOT i.calibration AND o.system = ''""",
    "outputs whose ids do not run from 1": """
        output WHERE id < 1 OR id > (SELECT count(*) FROM output)""",
    "assessors whose count of assignments or judgements is wrong": """
        assessor WHERE judged != (SELECT count(*) FROM assignment a
            WHERE a.assessor = assessor.id AND a.judged IS NOT NULL)
        OR assigned != (SELECT count(*) FROM assignment a WHERE a.assessor = assessor.id)""",
    "assessors with a wrong name, role, quota, round or state": """
        assessor WHERE trim(name) = '' OR quota < 1 OR frontier < 1
        OR active NOT IN (0, 1) OR role NOT IN ('assessor', 'adjudicator', 'owner')""",
    "items drawn with an invalid probability": """
        draw WHERE NOT (probability > 0 AND probability <= 1)""",
    "draws in an invalid round": f"draw WHERE round NOT BETWEEN 1 AND {MAX_ROUNDS}",
    "judgements with a negative time": "judgement WHERE ms < 0",
    "events about an unknown assessor": """
        event e WHERE json_type(detail, '$.of') IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM assessor a WHERE a.id = json_extract(e.detail, '$.of')
            AND json_type(e.detail, '$.of') = 'integer')""",
}
"""Problem -> the rows that have it.

SQLite ignores CHECK constraints in a file that is opened read-only, so they are repeated here.
"""


class TableCount(NamedTuple):
    """A table of a store, and its number of rows."""

    table: str
    rows: int


@dataclass(frozen=True, repr=False)
class StoreCheck(Result):
    """Row counts of all tables, and the problems of the store."""

    name: str
    rows: tuple[TableCount, ...]
    problems: tuple[str, ...]
    settings: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    signature: str = ""

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def check_store(connection: StoreConnection, name: str) -> StoreCheck:
    """Check a store; the result has the problems of the first step that finds any."""
    steps: tuple[Callable[[StoreConnection], Iterator[str]], ...] = (
        *(_check_file, _check_tables, _check_values, _check_references, _check_project),
        *(_check_rules, _check_contents, _check_readable),
    )
    problems = next(filter(None, (tuple(step(connection)) for step in steps)), ())
    tables = connection.column("SELECT name FROM sqlite_master")
    counts = tuple(
        TableCount(table, connection.value(f"SELECT count(*) FROM {table}"))
        for table in TABLES[1:]  # the project is one row
        if table in tables
    )
    return StoreCheck(name, counts, problems, {"store": name})


def _check_file(connection: StoreConnection) -> Iterator[str]:
    messages = connection.column("PRAGMA integrity_check(10)")
    yield from (f"The file is damaged: {message}." for message in messages if message != "ok")


def _check_tables(connection: StoreConnection) -> Iterator[str]:
    """Compare the tables and triggers with those of a new store."""
    with closing(sqlite3.connect(":memory:", factory=StoreConnection)) as new:
        migrate(new)
        expected, present = _read_schema(new), _read_schema(connection)
    for name, columns in expected.items():
        if name not in present:
            yield f"The table or trigger {name} is missing."
        elif lacking := [column for column in columns if column not in present[name]]:
            yield f"The table {name} has no column {lacking[0]}."


def _read_schema(connection: StoreConnection) -> dict[str, list[str]]:
    """Return the columns of each table; a trigger has none."""
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'trigger')"
    return {
        name: [row[1] for row in connection.rows(f'PRAGMA table_info("{name}")')]
        for name in connection.column(query)
    }


def _check_values(connection: StoreConnection) -> Iterator[str]:
    """Yield a sentence for each column with values of the wrong kind."""
    for table in TABLES:
        columns = read_columns(connection, table)
        names = ", ".join(column.name for column in columns)
        misfits = Counter(
            column
            for row in connection.execute(f"SELECT {names} FROM {table}")
            for column, value in zip(columns, row, strict=True)
            if not _fits(table, column, value)
        )
        for column, count in misfits.items():
            rows = f"{count:,} row{'s' * (count != 1)}"
            yield f"Found {rows} of {table} whose {column.name} is not {column.kind.name}."


def _fits(table: str, column: StoreColumn, value: Any) -> bool:
    if value is None:
        return column.optional
    if is_json(table, column.name):
        try:
            value = _parse_json(value)
        except ValueError:
            return False
    return bool(column.kind.fits(value))


def _check_references(connection: StoreConnection) -> Iterator[str]:
    if lost := connection.rows("PRAGMA foreign_key_check"):
        yield f"{len(lost):,} rows refer to missing rows, the first of them in {lost[0][0]}."


def _check_project(connection: StoreConnection) -> Iterator[str]:
    text = connection.optional_value("SELECT settings FROM project")
    if text is None:
        if connection.row("SELECT 1 FROM item"):
            yield "The row of the project is missing."
        return
    try:
        settings = ProjectSettings.from_json(text)
    except InputError:
        yield "The settings of the project are invalid."
        return
    for table in ("unit", "assignment", "adjudication"):
        for task in connection.column(f"SELECT DISTINCT task FROM {table}"):
            if task not in settings.tasks:
                yield f"Found rows of {table} of the task {task}, which the project does not have."


def _check_rules(connection: StoreConnection) -> Iterator[str]:
    for problem, rows in _RULES.items():
        if count := connection.value(f"SELECT count(*) FROM {rows}"):
            yield f"Found {count:,} {problem}."


def _check_contents(connection: StoreConnection) -> Iterator[str]:
    """Check texts, answers and decisions."""
    if connection.row("SELECT 1 FROM project") is not None:
        settings = projects.project_in(connection).settings
        outputs = connection.execute("SELECT id, text, hash FROM output")
        changed = (id for id, text, digest in outputs if projects.digest_text(text) != digest)
        for id in islice(changed, MAX_LISTED):
            yield f"The text of output {id} was changed."
        yield from _find_changed_set(connection)
        yield from islice(_find_wrong_judgements(connection), MAX_LISTED)
        yield from islice(_find_wrong_known_answers(connection, settings), MAX_LISTED)
        yield from islice(_find_wrong_decisions(connection, settings), MAX_LISTED)


def _find_changed_set(connection: StoreConnection) -> Iterator[str]:
    """Compare the segments, systems and texts with the digest of the import."""
    project = projects.project_in(connection)
    outputs: dict[int, list[projects.ImportedOutput]] = {}
    for row in outputs_in(connection).values():
        outputs.setdefault(row.item, []).append(projects.ImportedOutput(row.system, row.text))
    items = [
        projects.ImportedItem(item.segment, tuple(outputs.get(item.id, ())))
        for item in items_in(connection).values()
    ]
    if projects.digest_texts(items) != project.set_digest:
        yield "The segments, systems or texts differ from the imported ones."
    if project.seed != project.settings.seed:
        yield f"The seed of the project is {project.seed}, in its settings {project.settings.seed}."
    if (units := projects.count_units(connection, project.settings)) != project.units:
        yield f"The project counts {project.units:,} units, and has {units:,}."


def _find_wrong_judgements(connection: StoreConnection) -> Iterator[str]:
    rows = connection.rows("SELECT id, assignment, value FROM judgement WHERE value IS NOT NULL")
    for id, assignment, text in rows:
        value = _parse_json(text)
        view = view_as_judged(connection, view_in(connection, assignment), value)
        if error := TASKS[view.task].find_error(value, view):
            yield f"Judgement {id}: {error}."


def _find_wrong_known_answers(
    connection: StoreConnection, settings: ProjectSettings
) -> Iterator[str]:
    """Check the known answers of calibration units."""
    rows = connection.rows(
        "SELECT id, task, item, outputs, answer FROM unit WHERE answer IS NOT NULL"
    )
    for id, task, item, outputs, answer in rows:
        view = _make_view(connection, settings, task, item, _parse_json(outputs))
        if error := TASKS[task].find_error({**_parse_json(answer), "done": True}, view):
            yield f"Calibration unit {id}: {error}."


def _find_wrong_decisions(connection: StoreConnection, settings: ProjectSettings) -> Iterator[str]:
    rows = connection.rows(
        "SELECT id, uuid, task, item, output, about, value, assessor, time FROM adjudication "
        "WHERE value IS NOT NULL"
    )
    for row in rows:
        decision = CurrentDecision._make((*row[:6], _parse_json(row[6]), *row[7:]))
        task, item = TASKS[decision.task], decision.item
        try:
            if task.decides_outputs and decision.output is None:
                raise InputError(f"adjudication {decision.id}: no output, expected one")
            ids = [] if decision.output is None else [decision.output]
            view = _make_view(connection, settings, decision.task, item, ids)
            outputs = connection.column("SELECT id FROM output WHERE item = ?", item)
            task.check_decision(decision, view, outputs)
        except (InputError, OverflowError) as error:
            yield f"{str(error)[:1].upper()}{str(error)[1:]}."


def _check_readable(connection: StoreConnection) -> Iterator[str]:
    """Read the store as a set, as other commands do."""
    if connection.row("SELECT 1 FROM project") is None:
        return
    try:
        contents = contents_in(connection, anonymous=False)
        if contents.project.settings.dimensions:
            make_evalset(contents)
        if contents.project.settings.has(NUGGETS):
            name, reading = contents.project.name, Reading()
            draft = NuggetDraft(name, reading)
            put_nuggets(contents, name, draft)
            draft.finish()
            reading.check()
    except KaratError as error:
        yield f"The judgements cannot be read: {error}."


def _make_view(
    connection: StoreConnection,
    settings: ProjectSettings,
    task: str,
    item: int,
    outputs: list[int],
) -> AssignmentView:
    """Return the parts of an assignment that the check of an answer needs."""
    nuggets, dropped = view_key(connection, item)
    texts = tuple(view_output(connection, id) for id in outputs)
    return AssignmentView(0, task, settings.tasks[task], texts, nuggets=nuggets, dropped=dropped)
