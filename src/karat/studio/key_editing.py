"""Judgements that an edit of a key concerns: how many, and which are open again afterwards.

A label belongs to a nugget with certain words. Labels of a nugget that leaves the key stay in the
log and no longer count. A judgement without a label for a nugget that enters the key is incomplete:
its assessor is asked again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.store.judgements import COUNTED, StoredRow, check_uuid, mark
from karat.studio.store.people import now as time_of_now
from karat.studio.store.people import record, stamp
from karat.studio.store.projects import OPEN, check_open, project_in
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS
from karat.studio.tasks.task import (
    AssignmentView,
    NuggetView,
    choice_error,
    first_error,
    is_integer,
    text_error,
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


def concerned(connection: StoreConnection, item: int, old: str | None, new: str | None) -> int:
    """Return how many judgements and decisions change if a nugget replaces another.

    `old` leaves the key and `new` enters it; one of them may be None.
    """
    labels = read_labels(connection, item)
    count = sum(
        old in labelled or (complete and new is not None and new not in labelled)
        for labelled, complete in labels
    )
    return count + (0 if old is None else count_decisions(connection, item, old))


def read_labels(connection: StoreConnection, item: int) -> list[tuple[Collection[str], bool]]:
    """Return the nuggets that each newest judgement labels, and whether it is complete."""
    rows = connection.rows(f"SELECT j.value, a.judged {_NEWEST}", item)
    return [
        ((), False)
        if text is None
        else (json.loads(text).get(NUGGETS.name, {}), judged is not None)
        for text, judged in rows
    ]


def count_decisions(connection: StoreConnection, item: int, nugget: str) -> int:
    """Return how many decisions of adjudicators on a nugget count."""
    return int(connection.row(_DECIDED, item, nugget)[0])


def recount_judgements(connection: StoreConnection, item: int, now: datetime) -> None:
    """Mark which judgements of a question are complete under its key of now.

    An assignment that is open again keeps its place for the time of a lease.
    """
    rows = connection.rows(
        f"SELECT a.id, a.unit, a.assessor, a.judged, a.lease, {COUNTED} {_NEWEST}", item
    )
    for assignment, unit, assessor, judged, lease, counts in rows:
        if judged == counts:
            continue
        mark(connection, assessor, assignment, counts, judged, now)
        if judged is None and lease is None:  # the place was given back, and is taken again
            connection.execute("UPDATE unit SET taken = taken + 1 WHERE id = ?", (unit,))


def view_as_judged(connection: StoreConnection, view: AssignmentView, value: Any) -> AssignmentView:
    """Return an assignment under the key of the time when an answer was given.

    Where a key was edited, that is every nugget that the answer labels.
    """
    labels = value.get(NUGGETS.name) if isinstance(value, dict) else None
    if not view.edited or not isinstance(labels, dict):
        return view
    rows = connection.execute(
        "SELECT nugget, importance, descriptions FROM nugget WHERE item = "
        "(SELECT item FROM assignment WHERE id = ?)",
        (view.assignment,),
    )
    all_nuggets = [NuggetView(id, weight, tuple(json.loads(text))) for id, weight, text in rows]
    return replace(
        view, nuggets=tuple(nugget for nugget in all_nuggets if nugget.id in labels), dropped=()
    )


ALLOWS = "key editing"
"""The event of an owner who allows adjudicators to edit the key, or no longer does."""


def adjudicators_may_edit(connection: StoreConnection) -> bool:
    """Return whether adjudicators may edit the key, as the newest event says."""
    row = connection.row("SELECT detail FROM event WHERE what = ? ORDER BY id DESC LIMIT 1", ALLOWS)
    return row is not None and bool(json.loads(row[0])["adjudicators"])


def may_edit(store: Store, role: str) -> bool:
    """Return whether a role may see and edit the key of a project that has one."""
    with store.read() as connection:
        if not project_in(connection).settings.has(NUGGETS):
            return False
        return role == "owner" or (role == "adjudicator" and adjudicators_may_edit(connection))


def allow_adjudicators(store: Store, owner: int, allowed: bool) -> None:
    """Record whether adjudicators may edit the key from now on."""
    with store.write() as connection:
        if read_role(connection, owner) != "owner":
            raise InputError("only an owner decides who edits the key")
        if adjudicators_may_edit(connection) != allowed:
            record(connection, ALLOWS, owner, adjudicators=allowed)


def check_editor(connection: StoreConnection, assessor: int) -> None:
    """Raise InputError if an assessor may not edit the key."""
    if not project_in(connection).settings.has(NUGGETS):
        raise InputError("the project has no nuggets: there is no key to edit")
    role = read_role(connection, assessor)
    if role != "owner" and not (role == "adjudicator" and adjudicators_may_edit(connection)):
        raise InputError("only owners, and adjudicators whom they allow it, edit the key")


def read_role(connection: StoreConnection, assessor: int) -> str | None:
    """Return the role of an active assessor."""
    row = connection.row("SELECT role FROM assessor WHERE id = ? AND active", assessor)
    return row and str(row[0])


IMPORTANCE = ("vital", "okay")
MAX_WORDING = 2000
"""Characters of one wording."""
MAX_WORDINGS = 20
MAX_NUGGETS = 500
"""Nuggets of a question."""
_VERSION = re.compile(r"(.*)\.v(\d{1,6})", re.DOTALL)


def check_words(descriptions: object) -> tuple[str, ...]:
    """Return the wordings of a nugget, without blanks at the ends; wrong ones are refused."""
    if not isinstance(descriptions, list | tuple) or not 0 < len(descriptions) <= MAX_WORDINGS:
        raise InputError(f"expected a list of 1 to {MAX_WORDINGS} wordings of the nugget")
    if error := first_error([text_error("wording", text, MAX_WORDING) for text in descriptions]):
        raise InputError(error)
    wordings = tuple(" ".join(text.split()) for text in descriptions)
    if not all(wordings):
        raise InputError("a wording is empty: expected words that say the fact")
    if len({*wordings}) < len(wordings):
        raise InputError("a wording stands twice: expected each once")
    return wordings


def check_importance(importance: object) -> str:
    """Return an importance, which must be vital or okay."""
    if not isinstance(importance, str) or importance not in IMPORTANCE:
        message = f"found importance={quoted(importance)}, expected {' or '.join(IMPORTANCE)}"
        raise InputError(message)
    return importance


def check_new(connection: StoreConnection, item: int, words: Sequence[str]) -> None:
    """Raise InputError if a nugget of the question already has these words."""
    rows = connection.execute(
        "SELECT nugget, descriptions FROM nugget WHERE item = ? AND NOT dropped", (item,)
    )
    for nugget, text in rows:
        if tuple(json.loads(text)) == tuple(words):
            raise InputError(f"nugget {quoted(nugget)} has these words: expected other ones")


def next_id(connection: StoreConnection, item: int, old_id: str | None) -> str:
    """Return an id that no nugget of the question ever had.

    A reworded nugget `3` becomes `3.v2`, then `3.v3`; an added one gets the next number.
    """
    rows = connection.rows("SELECT nugget FROM nugget WHERE item = ?", item)
    used_ids = {id for (id,) in rows}
    if old_id is None:
        numbers = [int(id) for id in used_ids if id.isascii() and id.isdigit() and len(id) < 10]
        number, form = max(numbers, default=len(used_ids)) + 1, "{}"
    else:
        match = _VERSION.fullmatch(old_id)
        stem, number = (match[1], int(match[2]) + 1) if match else (old_id, 2)
        form = stem.replace("{", "{{").replace("}", "}}") + ".v{}"
    while form.format(number) in used_ids:
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
    """The wordings of an added or reworded nugget."""
    importance: str | None = None
    """The importance of an added or reweighted nugget."""
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


def edit_key(store: Store, assessor: int, edit: KeyEdit, now: datetime | None = None) -> StoredRow:
    """Store an edit durably; raise InputError if it is not valid."""
    edit = _check_edit(edit)
    time = now or time_of_now()
    with store.write() as connection:
        if repeated := _find_repeated(connection, assessor, edit):
            return repeated
        check_open(connection, "its key is no longer edited")
        check_editor(connection, assessor)
        before = _find_superseded(connection, edit)
        change = _CHANGES[edit.what](connection, edit)
        _check_concerns(connection, edit, change)
        id = _insert_edit(connection, assessor, edit, change, before, stamp(time))
        _apply_change(connection, change)
        recount_judgements(connection, edit.item, time)
        return StoredRow(id, False)


def newest_in_force(connection: StoreConnection, item: int) -> int | None:
    """Return the newest edit of a question that was not undone: what an undo takes back."""
    row = connection.row(
        "SELECT max(id) FROM key_edit WHERE item = ? AND what != 'undo' AND id NOT IN "
        "(SELECT undoes FROM key_edit WHERE undoes IS NOT NULL)",
        item,
    )
    return None if row[0] is None else int(row[0])


def change_of_undo(connection: StoreConnection, edit: int) -> KeyChange:
    """Return the change that takes an edit back."""
    rows = connection.execute(
        "SELECT old_nugget, old_importance, new_nugget FROM key_edit WHERE id = ?", (edit,)
    )
    old, importance, new = rows.fetchone()
    back = None if old is None else _read_nugget(connection, old)._replace(importance=importance)
    return KeyChange(None if new is None else _read_nugget(connection, new), back, edit)


def count_concerned(connection: StoreConnection, item: int, change: KeyChange) -> int:
    """Return how many judgements and decisions a change of the key concerns."""
    old, new = change.old and change.old.nugget, change.new and change.new.nugget
    return 0 if old == new else concerned(connection, item, old, new)


# --------------------------------------------------------------------------- kinds of edits


def _add_nugget(connection: StoreConnection, edit: KeyEdit) -> KeyChange:
    importance = check_importance(edit.importance)
    check_new(connection, edit.item, edit.descriptions)
    count = _count_nuggets(connection, edit.item)
    if count >= MAX_NUGGETS:
        raise InputError(f"the question has {count:,} nuggets: expected at most {MAX_NUGGETS}")
    return KeyChange(None, _insert_nugget(connection, edit, None, importance))


def _reword(connection: StoreConnection, edit: KeyEdit) -> KeyChange:
    old = _find_nugget(connection, edit)
    check_new(connection, edit.item, edit.descriptions)
    return KeyChange(old, _insert_nugget(connection, edit, old, old.importance))


def _drop(connection: StoreConnection, edit: KeyEdit) -> KeyChange:
    old = _find_nugget(connection, edit)
    if _count_nuggets(connection, edit.item) == 1:
        raise InputError("a question needs a nugget: add another one before you drop the last")
    return KeyChange(old, None)


def _reweigh(connection: StoreConnection, edit: KeyEdit) -> KeyChange:
    old, importance = _find_nugget(connection, edit), check_importance(edit.importance)
    if old.importance == importance:
        raise InputError(f"nugget {quoted(old.nugget)} is {importance} already")
    return KeyChange(old, old._replace(importance=importance))


def _undo_newest(connection: StoreConnection, edit: KeyEdit) -> KeyChange:
    newest = newest_in_force(connection, edit.item)
    if newest is None:
        raise InputError("the question has no edit to undo")
    return change_of_undo(connection, newest)


_CHANGES: dict[str, Callable[[StoreConnection, KeyEdit], KeyChange]] = {
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


def _read_nugget(connection: StoreConnection, id: int) -> KeyNuggetRow:
    row = connection.row(
        "SELECT id, nugget, importance, coalesce(ord, id) FROM nugget WHERE id = ?", id
    )
    return KeyNuggetRow(*row)


def _find_nugget(connection: StoreConnection, edit: KeyEdit) -> KeyNuggetRow:
    row = connection.row(
        "SELECT id FROM nugget WHERE item = ? AND nugget = ? AND NOT dropped",
        edit.item,
        edit.nugget,
    )
    if row is None:
        raise InputError(f"the question has no nugget {quoted(edit.nugget)}: load it again")
    return _read_nugget(connection, row[0])


def _count_nuggets(connection: StoreConnection, item: int) -> int:
    query = "SELECT count(*) FROM nugget WHERE item = ? AND NOT dropped"
    return int(connection.row(query, item)[0])


def _insert_nugget(
    connection: StoreConnection, edit: KeyEdit, old: KeyNuggetRow | None, importance: str
) -> KeyNuggetRow:
    """Add a nugget that is not in the key yet, in the place of an old one or last."""
    id = next_id(connection, edit.item, old and old.nugget)
    descriptions = json.dumps(edit.descriptions, ensure_ascii=False)
    cursor = connection.execute(
        "INSERT INTO nugget (item, nugget, importance, descriptions, dropped, ord) "
        "VALUES (?, ?, ?, ?, 1, ?)",
        (edit.item, id, importance, descriptions, old and old.place),
    )
    return _read_nugget(connection, int(cursor.lastrowid or 0))


def _insert_edit(
    connection: StoreConnection,
    assessor: int,
    edit: KeyEdit,
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
            *(edit.uuid, edit.item, assessor, edit.what),
            *(old and old.id, old and old.importance, new and new.id, new and new.importance),
            *(edit.concerns, change.undoes, before, time),
        ),
    )
    return int(added.lastrowid or 0)


def _apply_change(connection: StoreConnection, change: KeyChange) -> None:
    if change.old is not None:
        connection.execute("UPDATE nugget SET dropped = 1 WHERE id = ?", (change.old.id,))
    if change.new is not None:
        connection.execute(
            "UPDATE nugget SET dropped = 0, importance = ? WHERE id = ?",
            (change.new.importance, change.new.id),
        )


# ----------------------------------------------------------------------------------- checks


def _check_edit(edit: KeyEdit) -> KeyEdit:
    """Return an edit whose parts have the right form."""
    check_uuid("uuid", edit.uuid)
    if edit.supersedes is not None:
        check_uuid("supersedes", edit.supersedes)
    for name in ("item", "concerns"):
        number = getattr(edit, name)
        if not is_integer(number) or not 0 <= number < 2**53:
            raise InputError(f"found {name}={quoted(number)}, expected a number")
    if problem := choice_error("what", edit.what, _CHANGES):
        raise InputError(problem)
    for name in ("nugget", "descriptions", "importance"):
        required, value = name in _PARTS[edit.what], getattr(edit, name)
        if required != (value is not None):
            problem = "is missing" if required else f"is {quoted(value)}, expected none"
            raise InputError(f"{edit.what}: {name} {problem}")
    if edit.nugget is not None and not isinstance(edit.nugget, str):
        raise InputError(f"found nugget={quoted(edit.nugget)}, expected its id")
    descriptions = edit.descriptions
    return (
        edit
        if descriptions is None
        else edit._replace(descriptions=list(check_words(descriptions)))
    )


def _find_repeated(connection: StoreConnection, assessor: int, edit: KeyEdit) -> StoredRow | None:
    """Return the row with the same uuid, which must have the same content."""
    row = connection.row(
        "SELECT e.id, e.assessor, e.item, e.what, e.concerned, b.uuid, o.nugget, n.descriptions, "
        "e.new_importance FROM key_edit e LEFT JOIN key_edit b ON b.id = e.supersedes "
        "LEFT JOIN nugget o ON o.id = e.old_nugget LEFT JOIN nugget n ON n.id = e.new_nugget "
        "WHERE e.uuid = ?",
        edit.uuid,
    )
    if row is None:
        return None
    words = None if row[7] is None else json.loads(row[7])
    stored = {"nugget": row[6], "descriptions": words, "importance": row[8]}
    names = _PARTS[edit.what]
    is_same_edit = row[1:6] == (assessor, *edit[1:4], edit.supersedes)
    if not is_same_edit or any(stored[name] != getattr(edit, name) for name in names):
        raise InputError(f"uuid {edit.uuid} stands for another edit: make a new one")
    return StoredRow(row[0], True)


def _find_superseded(connection: StoreConnection, edit: KeyEdit) -> int | None:
    """Return the newest edit of the question, which must be the one that the client knows."""
    question = connection.row("SELECT 1 FROM item WHERE id = ? AND NOT calibration", edit.item)
    if question is None:
        raise InputError(f"there is no question {quoted(edit.item)}")
    row = connection.row(
        "SELECT id, uuid FROM key_edit WHERE item = ? ORDER BY id DESC LIMIT 1", edit.item
    )
    newest = None if row is None else row[1]
    if newest != edit.supersedes:
        raise InputError("somebody has edited this question meanwhile: look at it again first")
    return None if row is None else int(row[0])


def _check_concerns(connection: StoreConnection, edit: KeyEdit, change: KeyChange) -> None:
    count = count_concerned(connection, edit.item, change)
    if count != edit.concerns:
        raise InputError(
            f"this concerns {count:,} judgements and decisions now, not {edit.concerns:,}: look "
            "at the question again first"
        )


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
