"""Questions of a key as their editors see them: nuggets, what an edit would change, past edits."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.key_editing import (
    change_of_undo,
    concerned_by,
    decisions_on,
    labels_on,
    newest_in_force,
)
from karat.studio.store.projects import OPEN
from karat.studio.store.store import Store

MOST_LISTED = 200


class ListedQuestion(NamedTuple):
    """A question in a list."""

    item: int
    segment: str
    text: str
    nuggets: int
    edits: int


class KeyNugget(NamedTuple):
    """A nugget of the key of now."""

    nugget: str
    importance: str
    descriptions: tuple[str, ...]
    concerns: int
    """Judgements and decisions on it, which rewording or dropping it would end."""


class PastEdit(NamedTuple):
    """An edit of a question, with the words before and after."""

    uuid: str
    what: str
    who: str
    time: str
    before: tuple[str, ...] | None
    was: str | None
    after: tuple[str, ...] | None
    becomes: str | None
    concerned: int
    undone: bool


class KeyQuestion(NamedTuple):
    """A question with its key."""

    item: int
    segment: str
    text: str
    number: int
    """Its place among all questions, from 1."""
    total: int
    previous: int | None
    following: int | None
    nuggets: tuple[KeyNugget, ...]
    adding: int
    """Complete judgements, which a further nugget would make incomplete."""
    undoing: int | None
    """Judgements and decisions that an undo concerns; None if there is nothing to undo."""
    edits: tuple[PastEdit, ...]
    """The newest first."""
    newest: str | None
    """The uuid of the newest edit, which a further one must name."""
    open: bool
    """Whether the project takes edits."""

    def to_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        rows = {
            name: [one._asdict() for one in getattr(self, name)] for name in ("nuggets", "edits")
        }
        return {**self._asdict(), **rows}


_FOUND = """
FROM item WHERE NOT calibration AND (instr(lower(segment || ' ' || coalesce(source, '')), ?1)
OR EXISTS (SELECT 1 FROM nugget n, json_each(n.descriptions) AS words
    WHERE n.item = item.id AND NOT n.dropped AND instr(lower(words.value), ?1)))
"""


def questions(store: Store, text: str = "") -> tuple[list[ListedQuestion], int]:
    """Return the first questions whose words or nuggets hold a text, and how many there are."""
    sought = text.strip().lower()
    with store.read() as connection:
        (total,) = connection.execute(f"SELECT count(*) {_FOUND}", (sought,)).fetchone()
        rows = connection.execute(
            "SELECT id, segment, coalesce(source, ''), (SELECT count(*) FROM nugget n "
            "WHERE n.item = item.id AND NOT n.dropped), (SELECT count(*) FROM key_edit e "
            f"WHERE e.item = item.id) {_FOUND} ORDER BY ord, id LIMIT {MOST_LISTED}",
            (sought,),
        ).fetchall()
    return [ListedQuestion(*row) for row in rows], total


def question(store: Store, item: int) -> KeyQuestion:
    """Return one question."""
    with store.read() as connection:
        row = connection.execute(
            "SELECT segment, source FROM item WHERE id = ? AND NOT calibration", (item,)
        ).fetchone()
        if row is None:
            raise InputError(f"there is no question {quoted(item)}")
        edits = _edits(connection, item)
        (state,) = connection.execute("SELECT state FROM project").fetchone()
        return KeyQuestion(
            item,
            row[0],
            row[1] or "",
            *_beside(connection, item),
            nuggets=_nuggets(connection, item),
            adding=_complete(connection, item),
            undoing=_undoing(connection, item),
            edits=edits,
            newest=edits[0].uuid if edits else None,
            open=state == OPEN,
        )


def _beside(connection: sqlite3.Connection, item: int) -> tuple[int, int, int | None, int | None]:
    """Return the place of a question, how many there are, and the ones before and after."""
    found: tuple[int, int, int | None, int | None] = connection.execute(
        "SELECT sum(id <= ?1), count(*), max(CASE WHEN id < ?1 THEN id END), "
        "min(CASE WHEN id > ?1 THEN id END) FROM item WHERE NOT calibration",
        (item,),
    ).fetchone()
    return found


def _nuggets(connection: sqlite3.Connection, item: int) -> tuple[KeyNugget, ...]:
    rows = connection.execute(
        "SELECT nugget, importance, descriptions FROM nugget WHERE item = ? AND NOT dropped "
        "ORDER BY coalesce(ord, id), id",
        (item,),
    ).fetchall()
    labels = Counter(id for own, _ in labels_on(connection, item) for id in own)
    return tuple(
        KeyNugget(
            id, weight, tuple(json.loads(text)), labels[id] + decisions_on(connection, item, id)
        )
        for id, weight, text in rows
    )


def _complete(connection: sqlite3.Connection, item: int) -> int:
    return sum(complete for _, complete in labels_on(connection, item))


def _undoing(connection: sqlite3.Connection, item: int) -> int | None:
    edit = newest_in_force(connection, item)
    if edit is None:
        return None
    return concerned_by(connection, item, change_of_undo(connection, edit))


def _edits(connection: sqlite3.Connection, item: int) -> tuple[PastEdit, ...]:
    rows = connection.execute(
        "SELECT e.uuid, what, name, time, o.descriptions, old_importance, n.descriptions, "
        "new_importance, concerned, e.id IN (SELECT undoes FROM key_edit WHERE undoes NOTNULL) "
        "FROM key_edit e JOIN assessor ON assessor.id = assessor "
        "LEFT JOIN nugget o ON o.id = old_nugget LEFT JOIN nugget n ON n.id = new_nugget "
        "WHERE e.item = ? ORDER BY e.id DESC",
        (item,),
    )
    return tuple(_past(row) for row in rows)


def _past(row: tuple[Any, ...]) -> PastEdit:
    before, after = (None if text is None else tuple(json.loads(text)) for text in (row[4], row[6]))
    return PastEdit._make((*row[:4], before, row[5], after, row[7], row[8], bool(row[9])))
