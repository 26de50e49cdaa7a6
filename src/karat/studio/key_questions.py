"""Questions of a key as their editors see them: nuggets, what an edit would change, past edits."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.key_editing import (
    change_of_undo,
    count_concerned,
    count_decisions,
    newest_in_force,
    read_labels,
)
from karat.studio.store.projects import OPEN
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store

MAX_LISTED = 200


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
            name: [row._asdict() for row in getattr(self, name)] for name in ("nuggets", "edits")
        }
        return {**self._asdict(), **rows}


_MATCHING = """
FROM item WHERE NOT calibration AND (instr(lower(segment || ' ' || coalesce(source, '')), ?1)
OR EXISTS (SELECT 1 FROM nugget n, json_each(n.descriptions) AS words
    WHERE n.item = item.id AND NOT n.dropped AND instr(lower(words.value), ?1)))
"""


def questions(store: Store, text: str = "") -> tuple[list[ListedQuestion], int]:
    """Return the first questions whose words or nuggets hold a text, and how many there are."""
    sought = text.strip().lower()
    with store.read() as connection:
        total = connection.value(f"SELECT count(*) {_MATCHING}", sought)
        rows = connection.rows(
            "SELECT id, segment, coalesce(source, ''), (SELECT count(*) FROM nugget n "
            "WHERE n.item = item.id AND NOT n.dropped), (SELECT count(*) FROM key_edit e "
            f"WHERE e.item = item.id) {_MATCHING} ORDER BY ord, id LIMIT {MAX_LISTED}",
            sought,
        )
    return [ListedQuestion(*row) for row in rows], total


def question(store: Store, item: int) -> KeyQuestion:
    """Return one question."""
    with store.read() as connection:
        row = connection.row(
            "SELECT segment, source FROM item WHERE id = ? AND NOT calibration", item
        )
        if row is None:
            raise InputError(f"there is no question {quoted(item)}")
        edits = _read_edits(connection, item)
        state = connection.value("SELECT state FROM project")
        return KeyQuestion(
            item,
            row[0],
            row[1] or "",
            *_locate_question(connection, item),
            nuggets=_read_nuggets(connection, item),
            adding=_count_complete(connection, item),
            undoing=_count_undone(connection, item),
            edits=edits,
            newest=edits[0].uuid if edits else None,
            open=state == OPEN,
        )


def _locate_question(
    connection: StoreConnection, item: int
) -> tuple[int, int, int | None, int | None]:
    """Return the place of a question, how many there are, and the ones before and after."""
    location: tuple[int, int, int | None, int | None] = connection.row(
        "SELECT sum(id <= ?1), count(*), max(CASE WHEN id < ?1 THEN id END), "
        "min(CASE WHEN id > ?1 THEN id END) FROM item WHERE NOT calibration",
        item,
    )
    return location


def _read_nuggets(connection: StoreConnection, item: int) -> tuple[KeyNugget, ...]:
    rows = connection.rows(
        "SELECT nugget, importance, descriptions FROM nugget WHERE item = ? AND NOT dropped "
        "ORDER BY coalesce(ord, id), id",
        item,
    )
    labels = Counter(id for labelled, _ in read_labels(connection, item) for id in labelled)
    return tuple(
        KeyNugget(
            id, weight, tuple(json.loads(text)), labels[id] + count_decisions(connection, item, id)
        )
        for id, weight, text in rows
    )


def _count_complete(connection: StoreConnection, item: int) -> int:
    return sum(complete for _, complete in read_labels(connection, item))


def _count_undone(connection: StoreConnection, item: int) -> int | None:
    edit = newest_in_force(connection, item)
    if edit is None:
        return None
    return count_concerned(connection, item, change_of_undo(connection, edit))


def _read_edits(connection: StoreConnection, item: int) -> tuple[PastEdit, ...]:
    rows = connection.execute(
        "SELECT e.uuid, what, name, time, o.descriptions, old_importance, n.descriptions, "
        "new_importance, concerned, e.id IN (SELECT undoes FROM key_edit WHERE undoes NOTNULL) "
        "FROM key_edit e JOIN assessor ON assessor.id = assessor "
        "LEFT JOIN nugget o ON o.id = old_nugget LEFT JOIN nugget n ON n.id = new_nugget "
        "WHERE e.item = ? ORDER BY e.id DESC",
        (item,),
    )
    return tuple(_parse_edit(row) for row in rows)


def _parse_edit(row: tuple[Any, ...]) -> PastEdit:
    before, after = (None if text is None else tuple(json.loads(text)) for text in (row[4], row[6]))
    return PastEdit._make((*row[:4], before, row[5], after, row[7], row[8], bool(row[9])))
