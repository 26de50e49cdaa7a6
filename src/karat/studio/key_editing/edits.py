"""Edits of a key: each is a row that says which nugget took the place of which.

A client makes the uuid of an edit, so that it may send it again: it is stored once. It names the
newest edit of the question, and says how many judgements it believes to concern: where either is
out of date, the edit is refused, so that nobody changes what they have not seen.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.key_editing.concerned import concerned, count_again
from karat.studio.key_editing.editors import check_editor
from karat.studio.key_editing.wording import (
    MOST_NUGGETS,
    check_importance,
    check_new,
    check_words,
    next_id,
)
from karat.studio.store.clock import now as time_of_now
from karat.studio.store.clock import stamp
from karat.studio.store.judgements import Stored, check_uuid
from karat.studio.store.projects import check_open
from karat.studio.store.store import Store
from karat.studio.tasks.task import is_whole, wrong_choice


class KeyEdit(NamedTuple):
    """An edit as a client sends it."""

    uuid: str
    item: int
    what: str
    """add, reword, drop, importance or undo."""
    concerns: int
    """Judgements and decisions that it changes, as the page said."""
    nugget: str | None = None
    """The id of the nugget to be reworded, dropped or weighed."""
    descriptions: Any = None
    """The words of what is added or reworded."""
    importance: str | None = None
    """That of what is added or weighed."""
    supersedes: str | None = None
    """The uuid of the newest edit of the question; None if this is the first."""


class NuggetRow(NamedTuple):
    """A nugget as a row of the store."""

    id: int
    nugget: str
    importance: str
    place: int


class Change(NamedTuple):
    """A nugget that leaves the key and one that enters it; the same one if only weighed."""

    old: NuggetRow | None
    new: NuggetRow | None
    undoes: int | None = None


def edit_key(store: Store, assessor: int, given: KeyEdit, now: datetime | None = None) -> Stored:
    """Store an edit, which is on the disk when this returns; what is wrong is refused."""
    given = _checked(given)
    time = now or time_of_now()
    with store.write() as connection:
        if found := _repeated(connection, assessor, given):
            return found
        check_open(connection, "its key is no longer edited")
        check_editor(connection, assessor)
        before = _superseded(connection, given)
        change = _CHANGES[given.what](connection, given)
        _check_concerns(connection, given, change)
        id = _add(connection, assessor, given, change, before, stamp(time))
        _apply(connection, change)
        count_again(connection, given.item, time)
        return Stored(id, False)


def newest_in_force(connection: sqlite3.Connection, item: int) -> int | None:
    """Return the newest edit of a question that was not undone: what an undo takes back."""
    row = connection.execute(
        "SELECT max(id) FROM key_edit WHERE item = ? AND what != 'undo' AND id NOT IN "
        "(SELECT undoes FROM key_edit WHERE undoes IS NOT NULL)",
        (item,),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def change_of_undo(connection: sqlite3.Connection, edit: int) -> Change:
    """Return the change that takes an edit back."""
    rows = connection.execute(
        "SELECT old_nugget, old_importance, new_nugget FROM key_edit WHERE id = ?", (edit,)
    )
    old, importance, new = rows.fetchone()
    back = None if old is None else _nugget(connection, old)._replace(importance=importance)
    return Change(None if new is None else _nugget(connection, new), back, edit)


def concerned_by(connection: sqlite3.Connection, item: int, change: Change) -> int:
    """Return how many judgements and decisions a change of the key concerns."""
    old, new = change.old and change.old.nugget, change.new and change.new.nugget
    return 0 if old == new else concerned(connection, item, old, new)


# --------------------------------------------------------------------------- kinds of edits


def _added(connection: sqlite3.Connection, given: KeyEdit) -> Change:
    importance = check_importance(given.importance)
    check_new(connection, given.item, given.descriptions)
    count = _count(connection, given.item)
    if count >= MOST_NUGGETS:
        raise InputError(f"the question has {count:,} nuggets: expected at most {MOST_NUGGETS}")
    return Change(None, _made(connection, given, None, importance))


def _reworded(connection: sqlite3.Connection, given: KeyEdit) -> Change:
    old = _present(connection, given)
    check_new(connection, given.item, given.descriptions)
    return Change(old, _made(connection, given, old, old.importance))


def _dropped(connection: sqlite3.Connection, given: KeyEdit) -> Change:
    old = _present(connection, given)
    if _count(connection, given.item) == 1:
        raise InputError("a question needs a nugget: add another one before you drop the last")
    return Change(old, None)


def _weighed(connection: sqlite3.Connection, given: KeyEdit) -> Change:
    old, importance = _present(connection, given), check_importance(given.importance)
    if old.importance == importance:
        raise InputError(f"nugget {quoted(old.nugget)} is {importance} already")
    return Change(old, old._replace(importance=importance))


def _undone(connection: sqlite3.Connection, given: KeyEdit) -> Change:
    edit = newest_in_force(connection, given.item)
    if edit is None:
        raise InputError("the question has no edit to undo")
    return change_of_undo(connection, edit)


_CHANGES: dict[str, Callable[[sqlite3.Connection, KeyEdit], Change]] = {
    "add": _added,
    "reword": _reworded,
    "drop": _dropped,
    "importance": _weighed,
    "undo": _undone,
}
_PARTS = {
    "add": ("descriptions", "importance"),
    "reword": ("nugget", "descriptions"),
    "drop": ("nugget",),
    "importance": ("nugget", "importance"),
    "undo": (),
}
"""Parts that a request must have, by the kind of edit; it has no others."""


# ------------------------------------------------------------------------------------- rows


def _nugget(connection: sqlite3.Connection, id: int) -> NuggetRow:
    row = connection.execute(
        "SELECT id, nugget, importance, coalesce(ord, id) FROM nugget WHERE id = ?", (id,)
    ).fetchone()
    return NuggetRow(*row)


def _present(connection: sqlite3.Connection, given: KeyEdit) -> NuggetRow:
    row = connection.execute(
        "SELECT id FROM nugget WHERE item = ? AND nugget = ? AND NOT dropped",
        (given.item, given.nugget),
    ).fetchone()
    if row is None:
        raise InputError(f"the question has no nugget {quoted(given.nugget)}: load it again")
    return _nugget(connection, row[0])


def _count(connection: sqlite3.Connection, item: int) -> int:
    query = "SELECT count(*) FROM nugget WHERE item = ? AND NOT dropped"
    return int(connection.execute(query, (item,)).fetchone()[0])


def _made(
    connection: sqlite3.Connection, given: KeyEdit, old: NuggetRow | None, importance: str
) -> NuggetRow:
    """Add a nugget that is not in the key yet, in the place of an old one or last."""
    id = next_id(connection, given.item, old and old.nugget)
    words = json.dumps(given.descriptions, ensure_ascii=False)
    made = connection.execute(
        "INSERT INTO nugget (item, nugget, importance, descriptions, dropped, ord) "
        "VALUES (?, ?, ?, ?, 1, ?)",
        (given.item, id, importance, words, old and old.place),
    )
    return _nugget(connection, int(made.lastrowid or 0))


def _add(
    connection: sqlite3.Connection,
    assessor: int,
    given: KeyEdit,
    change: Change,
    before: int | None,
    time: str,
) -> int:
    old, new = change.old, change.new
    added = connection.execute(
        "INSERT INTO key_edit (uuid, item, assessor, what, old_nugget, old_importance, new_nugget, "
        "new_importance, concerned, undoes, supersedes, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?)",
        (
            *(given.uuid, given.item, assessor, given.what),
            *(old and old.id, old and old.importance, new and new.id, new and new.importance),
            *(given.concerns, change.undoes, before, time),
        ),
    )
    return int(added.lastrowid or 0)


def _apply(connection: sqlite3.Connection, change: Change) -> None:
    if change.old is not None:
        connection.execute("UPDATE nugget SET dropped = 1 WHERE id = ?", (change.old.id,))
    if change.new is not None:
        connection.execute(
            "UPDATE nugget SET dropped = 0, importance = ? WHERE id = ?",
            (change.new.importance, change.new.id),
        )


# ----------------------------------------------------------------------------------- checks


def _checked(given: KeyEdit) -> KeyEdit:
    """Return an edit whose parts have the right form."""
    check_uuid("uuid", given.uuid)
    if given.supersedes is not None:
        check_uuid("supersedes", given.supersedes)
    for name in ("item", "concerns"):
        number = getattr(given, name)
        if not is_whole(number) or not 0 <= number < 2**53:
            raise InputError(f"found {name}={quoted(number)}, expected a number")
    if told := wrong_choice("what", given.what, _CHANGES):
        raise InputError(told)
    for name in ("nugget", "descriptions", "importance"):
        needed, found = name in _PARTS[given.what], getattr(given, name)
        if needed != (found is not None):
            told = "is missing" if needed else f"is {quoted(found)}, expected none"
            raise InputError(f"{given.what}: {name} {told}")
    if given.nugget is not None and not isinstance(given.nugget, str):
        raise InputError(f"found nugget={quoted(given.nugget)}, expected its id")
    words = given.descriptions
    return given if words is None else given._replace(descriptions=list(check_words(words)))


def _repeated(connection: sqlite3.Connection, assessor: int, given: KeyEdit) -> Stored | None:
    """Return the row with the same uuid, which must have the same content."""
    row = connection.execute(
        "SELECT e.id, e.assessor, e.item, e.what, e.concerned, b.uuid, o.nugget, n.descriptions, "
        "e.new_importance FROM key_edit e LEFT JOIN key_edit b ON b.id = e.supersedes "
        "LEFT JOIN nugget o ON o.id = e.old_nugget LEFT JOIN nugget n ON n.id = e.new_nugget "
        "WHERE e.uuid = ?",
        (given.uuid,),
    ).fetchone()
    if row is None:
        return None
    words = None if row[7] is None else json.loads(row[7])
    stored = {"nugget": row[6], "descriptions": words, "importance": row[8]}
    parts = _PARTS[given.what]
    same = row[1:6] == (assessor, *given[1:4], given.supersedes)
    if not same or any(stored[name] != getattr(given, name) for name in parts):
        raise InputError(f"uuid {given.uuid} stands for another edit: make a new one")
    return Stored(row[0], True)


def _superseded(connection: sqlite3.Connection, given: KeyEdit) -> int | None:
    """Return the newest edit of the question, which must be the one that the client knows."""
    known = connection.execute(
        "SELECT 1 FROM item WHERE id = ? AND NOT calibration", (given.item,)
    ).fetchone()
    if known is None:
        raise InputError(f"there is no question {quoted(given.item)}")
    row = connection.execute(
        "SELECT id, uuid FROM key_edit WHERE item = ? ORDER BY id DESC LIMIT 1", (given.item,)
    ).fetchone()
    newest = None if row is None else row[1]
    if newest != given.supersedes:
        raise InputError("somebody has edited this question meanwhile: look at it again first")
    return None if row is None else int(row[0])


def _check_concerns(connection: sqlite3.Connection, given: KeyEdit, change: Change) -> None:
    count = concerned_by(connection, given.item, change)
    if count != given.concerns:
        raise InputError(
            f"this concerns {count:,} judgements and decisions now, not {given.concerns:,}: look "
            "at the question again first"
        )
