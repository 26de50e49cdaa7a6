"""Judgements that an edit of a key concerns: how many, and which are open again afterwards.

A label belongs to a nugget with certain words. Labels of a nugget that leaves the key stay in the
log and no longer count. A judgement without a label for a nugget that enters the key is incomplete:
its assessor is asked again.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.store.events import now as time_of_now
from karat.studio.store.events import record, stamp
from karat.studio.store.judgements import COUNTED, StoredRow, check_uuid, mark
from karat.studio.store.projects import check_open, project_in
from karat.studio.store.store import Store
from karat.studio.tasks.task import (
    AssignmentView,
    NuggetView,
    first_wrong,
    is_whole,
    wrong_choice,
    wrong_text,
)

_NEWEST = """
FROM unit u JOIN assignment a ON a.unit = u.id
JOIN judgement j ON j.id = (SELECT max(id) FROM judgement WHERE assignment = a.id)
WHERE u.task = 'nuggets' AND u.item = ?
"""
_DECIDED = """
SELECT count(*) FROM adjudication WHERE task = 'nuggets' AND item = ? AND about = ?
AND value IS NOT NULL
AND id NOT IN (SELECT supersedes FROM adjudication WHERE supersedes IS NOT NULL)
"""


def concerned(connection: sqlite3.Connection, item: int, old: str | None, new: str | None) -> int:
    """Return how many judgements and decisions change if a nugget replaces another.

    `old` leaves the key and `new` enters it; one of them may be None.
    """
    labels = labels_on(connection, item)
    count = sum(
        old in own or (complete and new is not None and new not in own) for own, complete in labels
    )
    return count + (0 if old is None else decisions_on(connection, item, old))


def labels_on(connection: sqlite3.Connection, item: int) -> list[tuple[Collection[str], bool]]:
    """Return the nuggets that each newest judgement labels, and whether it is complete."""
    rows = connection.execute(f"SELECT j.value, a.judged {_NEWEST}", (item,)).fetchall()
    return [
        ((), False) if text is None else (json.loads(text).get("nuggets", {}), judged is not None)
        for text, judged in rows
    ]


def decisions_on(connection: sqlite3.Connection, item: int, nugget: str) -> int:
    """Return how many decisions of adjudicators on a nugget count."""
    return int(connection.execute(_DECIDED, (item, nugget)).fetchone()[0])


def count_again(connection: sqlite3.Connection, item: int, now: datetime) -> None:
    """Mark which judgements of a question are complete under its key of now.

    An assignment that is open again keeps its place for the time of a lease.
    """
    rows = connection.execute(
        f"SELECT a.id, a.unit, a.assessor, a.judged, a.lease, {COUNTED} {_NEWEST}", (item,)
    ).fetchall()
    for assignment, unit, assessor, judged, lease, counts in rows:
        if judged == counts:
            continue
        mark(connection, assessor, assignment, counts, judged, now)
        if judged is None and lease is None:  # the place was given back, and is taken again
            connection.execute("UPDATE unit SET taken = taken + 1 WHERE id = ?", (unit,))


def as_judged(connection: sqlite3.Connection, shown: AssignmentView, value: Any) -> AssignmentView:
    """Return an assignment under the key of the time when an answer was given.

    Where a key was edited, that is every nugget that the answer labels.
    """
    labels = value.get("nuggets") if isinstance(value, dict) else None
    if not shown.edited or not isinstance(labels, dict):
        return shown
    rows = connection.execute(
        "SELECT nugget, importance, descriptions FROM nugget WHERE item = "
        "(SELECT item FROM assignment WHERE id = ?)",
        (shown.assignment,),
    )
    then = [NuggetView(id, weight, tuple(json.loads(text))) for id, weight, text in rows]
    return replace(shown, nuggets=tuple(one for one in then if one.id in labels), dropped=())


ALLOWS = "key editing"
"""The event of an owner who allows adjudicators to edit the key, or no longer does."""


def adjudicators_may(connection: sqlite3.Connection) -> bool:
    """Return whether adjudicators may edit the key, as the newest event says."""
    row = connection.execute(
        "SELECT detail FROM event WHERE what = ? ORDER BY id DESC LIMIT 1", (ALLOWS,)
    ).fetchone()
    return row is not None and bool(json.loads(row[0])["adjudicators"])


def may_edit(store: Store, role: str) -> bool:
    """Return whether a role may see and edit the key of a project that has one."""
    with store.read() as connection:
        if "nuggets" not in project_in(connection).settings.tasks:
            return False
        return role == "owner" or (role == "adjudicator" and adjudicators_may(connection))


def allow_adjudicators(store: Store, owner: int, allowed: bool) -> None:
    """Record whether adjudicators may edit the key from now on."""
    with store.write() as connection:
        if role_of(connection, owner) != "owner":
            raise InputError("only an owner decides who edits the key")
        if adjudicators_may(connection) != allowed:
            record(connection, ALLOWS, owner, adjudicators=allowed)


def check_editor(connection: sqlite3.Connection, assessor: int) -> None:
    """Refuse an edit by somebody who may not."""
    if "nuggets" not in project_in(connection).settings.tasks:
        raise InputError("the project has no nuggets: there is no key to edit")
    role = role_of(connection, assessor)
    if role != "owner" and not (role == "adjudicator" and adjudicators_may(connection)):
        raise InputError("only owners, and adjudicators whom they allow it, edit the key")


def role_of(connection: sqlite3.Connection, assessor: int) -> str | None:
    """Return the role of an active assessor."""
    row = connection.execute(
        "SELECT role FROM assessor WHERE id = ? AND active", (assessor,)
    ).fetchone()
    return row and str(row[0])


IMPORTANCE = ("vital", "okay")
LONGEST = 2000
"""Characters of one wording."""
MOST_WORDINGS = 20
MOST_NUGGETS = 500
"""Nuggets of a question."""
_VERSION = re.compile(r"(.*)\.v(\d{1,6})", re.DOTALL)


def check_words(descriptions: object) -> tuple[str, ...]:
    """Return the wordings of a nugget, without blanks at the ends; wrong ones are refused."""
    if not isinstance(descriptions, list | tuple) or not 0 < len(descriptions) <= MOST_WORDINGS:
        raise InputError(f"expected a list of 1 to {MOST_WORDINGS} wordings of the nugget")
    if told := first_wrong([wrong_text("wording", text, LONGEST) for text in descriptions]):
        raise InputError(told)
    found = tuple(" ".join(text.split()) for text in descriptions)
    if not all(found):
        raise InputError("a wording is empty: expected words that say the fact")
    if len({*found}) < len(found):
        raise InputError("a wording stands twice: expected each once")
    return found


def check_importance(importance: object) -> str:
    """Return an importance, which must be vital or okay."""
    if not isinstance(importance, str) or importance not in IMPORTANCE:
        told = f"found importance={quoted(importance)}, expected {' or '.join(IMPORTANCE)}"
        raise InputError(told)
    return importance


def check_new(connection: sqlite3.Connection, item: int, words: Sequence[str]) -> None:
    """Refuse words that a nugget of the question has already."""
    rows = connection.execute(
        "SELECT nugget, descriptions FROM nugget WHERE item = ? AND NOT dropped", (item,)
    )
    for nugget, text in rows:
        if tuple(json.loads(text)) == tuple(words):
            raise InputError(f"nugget {quoted(nugget)} has these words: expected other ones")


def next_id(connection: sqlite3.Connection, item: int, of: str | None) -> str:
    """Return an id that no nugget of the question ever had.

    A reworded nugget `3` becomes `3.v2`, then `3.v3`; an added one gets the next number.
    """
    rows = connection.execute("SELECT nugget FROM nugget WHERE item = ?", (item,)).fetchall()
    taken = {id for (id,) in rows}
    if of is None:
        numbers = [int(id) for id in taken if id.isascii() and id.isdigit() and len(id) < 10]
        number, form = max(numbers, default=len(taken)) + 1, "{}"
    else:
        known = _VERSION.fullmatch(of)
        stem, number = (known[1], int(known[2]) + 1) if known else (of, 2)
        form = stem.replace("{", "{{").replace("}", "}}") + ".v{}"
    while form.format(number) in taken:
        number += 1
    return form.format(number)


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


class KeyNuggetRow(NamedTuple):
    """A nugget as a row of the store."""

    id: int
    nugget: str
    importance: str
    place: int


class KeyChange(NamedTuple):
    """A nugget that leaves the key and one that enters it; the same one if only weighed."""

    old: KeyNuggetRow | None
    new: KeyNuggetRow | None
    undoes: int | None = None


def edit_key(store: Store, assessor: int, given: KeyEdit, now: datetime | None = None) -> StoredRow:
    """Store an edit, which is on the disk when this returns; what is wrong is refused."""
    given = _check_edit(given)
    time = now or time_of_now()
    with store.write() as connection:
        if found := _find_repeated(connection, assessor, given):
            return found
        check_open(connection, "its key is no longer edited")
        check_editor(connection, assessor)
        before = _find_superseded(connection, given)
        change = _CHANGES[given.what](connection, given)
        _check_concerns(connection, given, change)
        id = _insert_edit(connection, assessor, given, change, before, stamp(time))
        _apply_change(connection, change)
        count_again(connection, given.item, time)
        return StoredRow(id, False)


def newest_in_force(connection: sqlite3.Connection, item: int) -> int | None:
    """Return the newest edit of a question that was not undone: what an undo takes back."""
    row = connection.execute(
        "SELECT max(id) FROM key_edit WHERE item = ? AND what != 'undo' AND id NOT IN "
        "(SELECT undoes FROM key_edit WHERE undoes IS NOT NULL)",
        (item,),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def change_of_undo(connection: sqlite3.Connection, edit: int) -> KeyChange:
    """Return the change that takes an edit back."""
    rows = connection.execute(
        "SELECT old_nugget, old_importance, new_nugget FROM key_edit WHERE id = ?", (edit,)
    )
    old, importance, new = rows.fetchone()
    back = None if old is None else _read_nugget(connection, old)._replace(importance=importance)
    return KeyChange(None if new is None else _read_nugget(connection, new), back, edit)


def concerned_by(connection: sqlite3.Connection, item: int, change: KeyChange) -> int:
    """Return how many judgements and decisions a change of the key concerns."""
    old, new = change.old and change.old.nugget, change.new and change.new.nugget
    return 0 if old == new else concerned(connection, item, old, new)


# --------------------------------------------------------------------------- kinds of edits


def _add_nugget(connection: sqlite3.Connection, given: KeyEdit) -> KeyChange:
    importance = check_importance(given.importance)
    check_new(connection, given.item, given.descriptions)
    count = _count_nuggets(connection, given.item)
    if count >= MOST_NUGGETS:
        raise InputError(f"the question has {count:,} nuggets: expected at most {MOST_NUGGETS}")
    return KeyChange(None, _insert_nugget(connection, given, None, importance))


def _reword(connection: sqlite3.Connection, given: KeyEdit) -> KeyChange:
    old = _find_nugget(connection, given)
    check_new(connection, given.item, given.descriptions)
    return KeyChange(old, _insert_nugget(connection, given, old, old.importance))


def _drop(connection: sqlite3.Connection, given: KeyEdit) -> KeyChange:
    old = _find_nugget(connection, given)
    if _count_nuggets(connection, given.item) == 1:
        raise InputError("a question needs a nugget: add another one before you drop the last")
    return KeyChange(old, None)


def _reweigh(connection: sqlite3.Connection, given: KeyEdit) -> KeyChange:
    old, importance = _find_nugget(connection, given), check_importance(given.importance)
    if old.importance == importance:
        raise InputError(f"nugget {quoted(old.nugget)} is {importance} already")
    return KeyChange(old, old._replace(importance=importance))


def _undo_newest(connection: sqlite3.Connection, given: KeyEdit) -> KeyChange:
    edit = newest_in_force(connection, given.item)
    if edit is None:
        raise InputError("the question has no edit to undo")
    return change_of_undo(connection, edit)


_CHANGES: dict[str, Callable[[sqlite3.Connection, KeyEdit], KeyChange]] = {
    "add": _add_nugget,
    "reword": _reword,
    "drop": _drop,
    "importance": _reweigh,
    "undo": _undo_newest,
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


def _read_nugget(connection: sqlite3.Connection, id: int) -> KeyNuggetRow:
    row = connection.execute(
        "SELECT id, nugget, importance, coalesce(ord, id) FROM nugget WHERE id = ?", (id,)
    ).fetchone()
    return KeyNuggetRow(*row)


def _find_nugget(connection: sqlite3.Connection, given: KeyEdit) -> KeyNuggetRow:
    row = connection.execute(
        "SELECT id FROM nugget WHERE item = ? AND nugget = ? AND NOT dropped",
        (given.item, given.nugget),
    ).fetchone()
    if row is None:
        raise InputError(f"the question has no nugget {quoted(given.nugget)}: load it again")
    return _read_nugget(connection, row[0])


def _count_nuggets(connection: sqlite3.Connection, item: int) -> int:
    query = "SELECT count(*) FROM nugget WHERE item = ? AND NOT dropped"
    return int(connection.execute(query, (item,)).fetchone()[0])


def _insert_nugget(
    connection: sqlite3.Connection, given: KeyEdit, old: KeyNuggetRow | None, importance: str
) -> KeyNuggetRow:
    """Add a nugget that is not in the key yet, in the place of an old one or last."""
    id = next_id(connection, given.item, old and old.nugget)
    words = json.dumps(given.descriptions, ensure_ascii=False)
    made = connection.execute(
        "INSERT INTO nugget (item, nugget, importance, descriptions, dropped, ord) "
        "VALUES (?, ?, ?, ?, 1, ?)",
        (given.item, id, importance, words, old and old.place),
    )
    return _read_nugget(connection, int(made.lastrowid or 0))


def _insert_edit(
    connection: sqlite3.Connection,
    assessor: int,
    given: KeyEdit,
    change: KeyChange,
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


def _apply_change(connection: sqlite3.Connection, change: KeyChange) -> None:
    if change.old is not None:
        connection.execute("UPDATE nugget SET dropped = 1 WHERE id = ?", (change.old.id,))
    if change.new is not None:
        connection.execute(
            "UPDATE nugget SET dropped = 0, importance = ? WHERE id = ?",
            (change.new.importance, change.new.id),
        )


# ----------------------------------------------------------------------------------- checks


def _check_edit(given: KeyEdit) -> KeyEdit:
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


def _find_repeated(
    connection: sqlite3.Connection, assessor: int, given: KeyEdit
) -> StoredRow | None:
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
    return StoredRow(row[0], True)


def _find_superseded(connection: sqlite3.Connection, given: KeyEdit) -> int | None:
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


def _check_concerns(connection: sqlite3.Connection, given: KeyEdit, change: KeyChange) -> None:
    count = concerned_by(connection, given.item, change)
    if count != given.concerns:
        raise InputError(
            f"this concerns {count:,} judgements and decisions now, not {given.concerns:,}: look "
            "at the question again first"
        )
