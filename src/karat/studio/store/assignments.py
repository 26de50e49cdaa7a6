"""Assignments as assessors see them, read from a store without systems."""

from __future__ import annotations

import json
import sqlite3
from functools import lru_cache
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks.task import AssignmentView, NuggetView, OutputView


def shown(store: Store, assessor: int, assignment: int) -> AssignmentView:
    """Return an assignment of an assessor, for example an earlier one."""
    with store.read() as connection:
        row = connection.execute(
            "SELECT 1 FROM assignment WHERE id = ? AND assessor = ?", (assignment, assessor)
        ).fetchone()
        if row is None:
            raise InputError(f"you have no assignment {quoted(assignment)}")
        return shown_in(connection, assignment)


def earlier(store: Store, assessor: int) -> list[int]:
    """Return the assignments of an assessor in the order in which they were given out."""
    with store.read() as connection:
        rows = connection.execute(
            "SELECT id FROM assignment WHERE assessor = ? ORDER BY ord", (assessor,)
        ).fetchall()
    return [id for (id,) in rows]


def shown_in(connection: sqlite3.Connection, assignment: int) -> AssignmentView:
    """Return what may be shown of an assignment, within a transaction."""
    task, item, outputs = connection.execute(
        "SELECT task, item, outputs FROM assignment WHERE id = ?", (assignment,)
    ).fetchone()
    (text,) = connection.execute("SELECT settings FROM project").fetchone()
    settings = settings_of(text)
    source, context, refs = connection.execute(
        "SELECT source, context, refs FROM item WHERE id = ?", (item,)
    ).fetchone()
    value, newest = _newest_answer(connection, assignment)
    show = settings.show
    dropped, edited = _edit_state(connection, item) if task == "nuggets" else ((), False)
    return AssignmentView(
        assignment,
        task,
        settings.tasks[task],
        tuple(shown_output(connection, id) for id in json.loads(outputs)),
        source if show.source else None,
        context if show.context else None,
        tuple(json.loads(refs)) if show.reference else (),
        _nuggets_in_key(connection, item) if task == "nuggets" else (),
        value,
        newest,
        dropped,
        edited,
    )


@lru_cache(maxsize=4)
def settings_of(text: str) -> ProjectSettings:
    """Return settings from their text; every request asks."""
    return ProjectSettings.from_json(text)


def shown_output(connection: sqlite3.Connection, id: int) -> OutputView:
    """Return an output without its system."""
    (text,) = connection.execute("SELECT text FROM output WHERE id = ?", (id,)).fetchone()
    return OutputView(id, text)


def key_of_item(
    connection: sqlite3.Connection, item: int
) -> tuple[tuple[NuggetView, ...], tuple[str, ...]]:
    """Return the nuggets of an item, and the ids of those that were dropped."""
    return _nuggets_in_key(connection, item), _edit_state(connection, item)[0]


def _nuggets_in_key(connection: sqlite3.Connection, item: int) -> tuple[NuggetView, ...]:
    rows = connection.execute(
        "SELECT nugget, importance, descriptions FROM nugget WHERE item = ? AND NOT dropped "
        "ORDER BY coalesce(ord, id), id",
        (item,),
    )
    return tuple(NuggetView(id, weight, tuple(json.loads(text))) for id, weight, text in rows)


def _edit_state(connection: sqlite3.Connection, item: int) -> tuple[tuple[str, ...], bool]:
    """Return the nuggets that were dropped, and whether the key of a question was edited."""
    rows = connection.execute("SELECT nugget FROM nugget WHERE item = ? AND dropped", (item,))
    dropped = tuple(id for (id,) in rows)
    edit = connection.execute("SELECT 1 FROM key_edit WHERE item = ? LIMIT 1", (item,)).fetchone()
    return dropped, edit is not None


def _newest_answer(connection: sqlite3.Connection, assignment: int) -> tuple[Any, str | None]:
    row = connection.execute(
        "SELECT value, uuid FROM judgement WHERE assignment = ? ORDER BY id DESC LIMIT 1",
        (assignment,),
    ).fetchone()
    if row is None:
        return None, None
    return None if row[0] is None else json.loads(row[0]), row[1]


class Visit(NamedTuple):
    """The place of an assignment, for the page that shows it."""

    previous: int | None
    following: int | None
    ms: int
    """Milliseconds spent on it until its newest answer."""


def visit(store: Store, assessor: int, assignment: int) -> Visit:
    """Return the neighbours of an assignment in the order in which they were given out."""
    with store.read() as connection:
        (place,) = connection.execute(
            "SELECT ord FROM assignment WHERE id = ? AND assessor = ?", (assignment, assessor)
        ).fetchone()
        before, after = (
            connection.execute(
                f"SELECT id FROM assignment WHERE assessor = ? AND ord {sign} ? "
                f"ORDER BY ord {way} LIMIT 1",
                (assessor, place),
            ).fetchone()
            for sign, way in (("<", "DESC"), (">", "ASC"))
        )
        (ms,) = connection.execute(
            "SELECT coalesce(max(ms), 0) FROM judgement WHERE assignment = ?", (assignment,)
        ).fetchone()
    return Visit(before and before[0], after and after[0], ms)
