"""Assignments as assessors see them, read from a store without systems."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.store.schema import StoreConnection
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.task import AssignmentView, NuggetView, OutputView


def view_assignment(store: Store, assessor: int, assignment: int) -> AssignmentView:
    """Return an assignment of an assessor, for example an earlier one."""
    with store.read() as connection:
        row = connection.row(
            "SELECT 1 FROM assignment WHERE id = ? AND assessor = ?", assignment, assessor
        )
        if row is None:
            raise InputError(f"you have no assignment {quoted(assignment)}")
        return view_in(connection, assignment)


def list_assignments(store: Store, assessor: int) -> list[int]:
    """Return the assignments of an assessor in the order in which they were given out."""
    with store.read() as connection:
        rows = connection.rows(
            "SELECT id FROM assignment WHERE assessor = ? ORDER BY ord", assessor
        )
    return [id for (id,) in rows]


def view_in(connection: StoreConnection, assignment: int) -> AssignmentView:
    """Return what may be shown of an assignment, within a transaction."""
    task, item, outputs = connection.row(
        "SELECT task, item, outputs FROM assignment WHERE id = ?", assignment
    )
    text = connection.value("SELECT settings FROM project")
    settings = parse_settings(text)
    source, context, refs = connection.row(
        "SELECT source, context, refs FROM item WHERE id = ?", item
    )
    value, newest = _newest_answer(connection, assignment)
    show, has_nuggets = settings.show, TASKS[task].needs_nuggets
    dropped, edited = _edit_state(connection, item) if has_nuggets else ((), False)
    return AssignmentView(
        assignment,
        task,
        settings.tasks[task],
        tuple(view_output(connection, id) for id in json.loads(outputs)),
        source if show.source else None,
        context if show.context else None,
        tuple(json.loads(refs)) if show.reference else (),
        _nuggets_in_key(connection, item) if has_nuggets else (),
        value,
        newest,
        dropped,
        edited,
    )


@lru_cache(maxsize=4)
def parse_settings(text: str) -> ProjectSettings:
    """Return settings from their text; every request asks."""
    return ProjectSettings.from_json(text)


def view_output(connection: StoreConnection, id: int) -> OutputView:
    """Return an output without its system."""
    text = connection.value("SELECT text FROM output WHERE id = ?", id)
    return OutputView(id, text)


def view_key(
    connection: StoreConnection, item: int
) -> tuple[tuple[NuggetView, ...], tuple[str, ...]]:
    """Return the nuggets of an item, and the ids of those that were dropped."""
    return _nuggets_in_key(connection, item), _edit_state(connection, item)[0]


def _nuggets_in_key(connection: StoreConnection, item: int) -> tuple[NuggetView, ...]:
    rows = connection.execute(
        "SELECT nugget, importance, descriptions FROM nugget WHERE item = ? AND NOT dropped "
        "ORDER BY coalesce(ord, id), id",
        (item,),
    )
    return tuple(NuggetView(id, weight, tuple(json.loads(text))) for id, weight, text in rows)


def _edit_state(connection: StoreConnection, item: int) -> tuple[tuple[str, ...], bool]:
    """Return the nuggets that were dropped, and whether the key of a question was edited."""
    rows = connection.execute("SELECT nugget FROM nugget WHERE item = ? AND dropped", (item,))
    dropped = tuple(id for (id,) in rows)
    edit = connection.row("SELECT 1 FROM key_edit WHERE item = ? LIMIT 1", item)
    return dropped, edit is not None


def _newest_answer(connection: StoreConnection, assignment: int) -> tuple[Any, str | None]:
    row = connection.row(
        "SELECT value, uuid FROM judgement WHERE assignment = ? ORDER BY id DESC LIMIT 1",
        assignment,
    )
    if row is None:
        return None, None
    return None if row[0] is None else json.loads(row[0]), row[1]


class Neighbours(NamedTuple):
    """The place of an assignment, for the page that shows it."""

    previous: int | None
    following: int | None
    ms: int
    """Milliseconds spent on it until its newest answer."""


def find_neighbours(store: Store, assessor: int, assignment: int) -> Neighbours:
    """Return the neighbours of an assignment in the order in which they were given out."""
    with store.read() as connection:
        order = connection.value(
            "SELECT ord FROM assignment WHERE id = ? AND assessor = ?", assignment, assessor
        )
        before, after = (
            connection.row(
                f"SELECT id FROM assignment WHERE assessor = ? AND ord {sign} ? "
                f"ORDER BY ord {direction} LIMIT 1",
                assessor,
                order,
            )
            for sign, direction in (("<", "DESC"), (">", "ASC"))
        )
        ms = connection.value(
            "SELECT coalesce(max(ms), 0) FROM judgement WHERE assignment = ?", assignment
        )
    return Neighbours(before and before[0], after and after[0], ms)
