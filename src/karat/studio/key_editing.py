"""Editing the key of a nugget project: questions as editors see them, edits, and their effects.

A label refers to the exact wording of a nugget. If a nugget leaves the key, its labels stay in the
log but no longer count. If a nugget enters the key, judgements without a label for it become
incomplete, and their assessors are asked again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.store import judgements
from karat.studio.store.judgements import StoredRow
from karat.studio.store.people import now as time_of_now
from karat.studio.store.people import record, role_in, stamp
from karat.studio.store.projects import OPEN, check_open, project_in
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, checks
from karat.studio.tasks.task import AssignmentView, NuggetView

IMPORTANCE = ("vital", "okay")
MAX_WORDING = 2000
"""Characters per wording."""
MAX_WORDINGS = 20
MAX_NUGGETS = 500
"""Nuggets per question."""
MAX_LISTED = 200
ALLOWS = "key editing"
"""Event: an owner allows adjudicators to edit the key, or revokes that."""
_VERSION = re.compile(r"(.*)\.v(\d{1,6})", re.DOTALL)


# Who may edit


def adjudicators_may_edit(connection: StoreConnection) -> bool:
    """Return whether adjudicators may edit the key, by the newest event."""
    (detail,) = connection.newest("event", "detail", what=ALLOWS)
    return detail is not None and bool(json.loads(detail)["adjudicators"])


def may_edit(store: Store, role: str) -> bool:
    """Return whether a role may see and edit the key of a project that has one."""
    with store.read() as connection:
        has_key = project_in(connection).settings.has(NUGGETS)
        return has_key and _role_may_edit(connection, role)


def _role_may_edit(connection: StoreConnection, role: str | None) -> bool:
    return role == "owner" or (role == "adjudicator" and adjudicators_may_edit(connection))


def allow_adjudicators(store: Store, owner: int, allowed: bool) -> None:
    """Allow adjudicators to edit the key, or revoke that."""
    with store.write() as connection:
        if role_in(connection, owner) != "owner":
            raise InputError("only an owner decides who edits the key")
        if adjudicators_may_edit(connection) != allowed:
            record(connection, ALLOWS, owner, adjudicators=allowed)


# Judgements affected by an edit

_NEWEST = f"""
FROM unit u JOIN assignment a ON a.unit = u.id
JOIN judgement j ON j.id = (SELECT max(id) FROM judgement WHERE assignment = a.id)
WHERE u.task = '{NUGGETS.name}' AND u.item = ?
"""
_DECIDED = f"""
SELECT count(*) FROM adjudication WHERE task = '{NUGGETS.name}' AND item = ? AND about = ?
AND value IS NOT NULL
AND id NOT IN (SELECT supersedes FROM adjudication WHERE supersedes IS NOT NULL)
"""


def _read_labels(connection: StoreConnection, item: int) -> list[tuple[Collection[str], bool]]:
    """Return the labelled nuggets of each newest judgement, and whether it is complete."""
    rows = connection.rows(f"SELECT j.value, a.judged {_NEWEST}", item)
    return [
        ((), False)
        if text is None
        else (json.loads(text).get(NUGGETS.name, {}), judged is not None)
        for text, judged in rows
    ]


def view_as_judged(connection: StoreConnection, view: AssignmentView, value: Any) -> AssignmentView:
    """Return an assignment with the key at the time of an answer.

    If the key was edited, that is every nugget that the answer labels.
    """
    labels = value.get(NUGGETS.name) if isinstance(value, dict) else None
    if not view.edited or not isinstance(labels, dict):
        return view
    rows = connection.rows(
        "SELECT nugget, importance, descriptions FROM nugget WHERE item = "
        "(SELECT item FROM assignment WHERE id = ?)",
        view.assignment,
    )
    nuggets = [NuggetView(id, weight, tuple(json.loads(text))) for id, weight, text in rows]
    labelled = tuple(nugget for nugget in nuggets if nugget.id in labels)
    return replace(view, nuggets=labelled, dropped=())


# Edits


class KeyEdit(NamedTuple):
    """An edit as a client sends it."""

    uuid: str
    item: int
    what: str
    """add, reword, drop, importance or undo."""
    concerns: int
    """Number of affected judgements and decisions, as the page showed it."""
    nugget: str | None = None
    """The id of the nugget to reword, drop or reweight."""
    descriptions: Any = None
    """The wordings of an added or reworded nugget."""
    importance: str | None = None
    """The importance of an added or reweighted nugget."""
    supersedes: str | None = None
    """The uuid of the newest edit of the question; None if this is the first."""


_PARTS = {
    "add": ("descriptions", "importance"),
    "reword": ("nugget", "descriptions"),
    "drop": ("nugget",),
    "importance": ("nugget", "importance"),
    "undo": (),
}
"""Kind of edit -> the fields that a request must have; it may have no others."""


class KeyNuggetRow(NamedTuple):
    """A nugget as a row of the store."""

    id: int
    nugget: str
    importance: str
    place: int


class KeyChange(NamedTuple):
    """The nuggets that leave and enter the key; the same nugget if only its importance changes."""

    old: KeyNuggetRow | None
    new: KeyNuggetRow | None
    undoes: int | None = None

    def count_concerned(self, connection: StoreConnection, item: int) -> int:
        """Return the number of affected judgements and decisions."""
        old, new = self.old and self.old.nugget, self.new and self.new.nugget
        if old == new:
            return 0
        labels = _read_labels(connection, item)
        count = sum(
            old in labelled or (complete and new is not None and new not in labelled)
            for labelled, complete in labels
        )
        return count + (0 if old is None else int(connection.value(_DECIDED, item, old)))


def edit_key(store: Store, assessor: int, edit: KeyEdit, now: datetime | None = None) -> StoredRow:
    """Store an edit durably; raise InputError if it is not valid."""
    edit = _check_edit(edit)
    item, time = edit.item, now or time_of_now()
    content = {"assessor": assessor, "item": item, "what": edit.what, "concerned": edit.concerns}
    with store.write() as connection:
        if repeated := judgements.find_repeated(
            connection, "key_edit", edit.uuid, content, edit.supersedes, "edit"
        ):
            _check_same_parts(connection, edit)
            return repeated
        check_open(connection, "its key is no longer edited")
        if not project_in(connection).settings.has(NUGGETS):
            raise InputError("the project has no nuggets: there is no key to edit")
        if not _role_may_edit(connection, role_in(connection, assessor)):
            raise InputError("only owners, and adjudicators whom they allow it, edit the key")
        if connection.row("SELECT 1 FROM item WHERE id = ? AND NOT calibration", item) is None:
            raise InputError(f"there is no question {quoted(item)}")
        before, newest = connection.newest("key_edit", "id", "uuid", item=item)
        if newest != edit.supersedes:
            raise InputError("somebody has edited this question meanwhile: look at it again first")
        change = _make_change(connection, edit)
        if (count := change.count_concerned(connection, item)) != edit.concerns:
            raise InputError(
                f"this concerns {count:,} judgements and decisions now, not {edit.concerns:,}: "
                "look at the question again first"
            )
        old, new = change.old, change.new
        id = connection.insert(
            "key_edit",
            uuid=edit.uuid,
            **content,
            old_nugget=old and old.id,
            old_importance=old and old.importance,
            new_nugget=new and new.id,
            new_importance=new and new.importance,
            undoes=change.undoes,
            supersedes=before,
            time=stamp(time),
        )
        if old is not None:
            connection.execute("UPDATE nugget SET dropped = 1 WHERE id = ?", (old.id,))
        if new is not None:
            query = "UPDATE nugget SET dropped = 0, importance = ? WHERE id = ?"
            connection.execute(query, (new.importance, new.id))
        # A reopened assignment gets a new lease.
        rows = connection.rows(f"SELECT a.id, a.judged, {judgements.COUNTED} {_NEWEST}", item)
        for assignment, judged, counted in rows:
            if judged != counted:
                judgements.set_counted_judgement(connection, assignment, counted, time)
        return StoredRow(id, False)


def _check_edit(edit: KeyEdit) -> KeyEdit:
    """Return an edit with normalized wordings; raise InputError if a field is invalid."""
    judgements.check_uuids(edit.uuid, edit.supersedes)
    for name in ("item", "concerns"):
        number = getattr(edit, name)
        if not checks.is_integer(number) or not 0 <= number < 2**53:
            raise InputError(f"found {name}={quoted(number)}, expected a number")
    if problem := checks.choice_error("what", edit.what, _PARTS):
        raise InputError(problem)
    for name in ("nugget", "descriptions", "importance"):
        required, value = name in _PARTS[edit.what], getattr(edit, name)
        if required != (value is not None):
            problem = "is missing" if required else f"is {quoted(value)}, expected none"
            raise InputError(f"{edit.what}: {name} {problem}")
    if edit.nugget is not None and not isinstance(edit.nugget, str):
        raise InputError(f"found nugget={quoted(edit.nugget)}, expected its id")
    if edit.descriptions is None:
        return edit
    return edit._replace(descriptions=_check_words(edit.descriptions))


def _check_words(descriptions: object) -> list[str]:
    """Return wordings with normalized white space; raise InputError if they are invalid."""
    if not isinstance(descriptions, list | tuple) or not 0 < len(descriptions) <= MAX_WORDINGS:
        raise InputError(f"expected a list of 1 to {MAX_WORDINGS} wordings of the nugget")
    if error := checks.first_error(
        [checks.text_error("wording", text, MAX_WORDING) for text in descriptions]
    ):
        raise InputError(error)
    wordings = [" ".join(text.split()) for text in descriptions]
    if not all(wordings):
        raise InputError("a wording is empty: expected words that say the fact")
    if len({*wordings}) < len(wordings):
        raise InputError("a wording occurs twice: expected each once")
    return wordings


def _check_same_parts(connection: StoreConnection, edit: KeyEdit) -> None:
    """Raise InputError if the stored edit with this uuid has another nugget or wording."""
    nugget, words, importance = connection.row(
        "SELECT o.nugget, n.descriptions, e.new_importance FROM key_edit e "
        "LEFT JOIN nugget o ON o.id = e.old_nugget LEFT JOIN nugget n ON n.id = e.new_nugget "
        "WHERE e.uuid = ?",
        edit.uuid,
    )
    descriptions = None if words is None else json.loads(words)
    stored = {"nugget": nugget, "descriptions": descriptions, "importance": importance}
    if any(stored[name] != getattr(edit, name) for name in _PARTS[edit.what]):
        raise InputError(f"uuid {edit.uuid} belongs to another edit: make a new one")


def _make_change(connection: StoreConnection, edit: KeyEdit) -> KeyChange:
    """Return the change of an edit; a new nugget is stored as dropped."""
    if edit.what == "undo":
        newest = _newest_in_force(connection, edit.item)
        if newest is None:
            raise InputError("the question has no edit to undo")
        return _change_of_undo(connection, newest)
    old = None
    if edit.what != "add":
        query = "SELECT id FROM nugget WHERE item = ? AND nugget = ? AND NOT dropped"
        id = connection.optional_value(query, edit.item, edit.nugget)
        if id is None:
            raise InputError(f"the question has no nugget {quoted(edit.nugget)}: load it again")
        old = _read_nugget(connection, id)
    importance = old.importance if old and edit.importance is None else edit.importance
    if not isinstance(importance, str) or importance not in IMPORTANCE:
        message = f"found importance={quoted(importance)}, expected {' or '.join(IMPORTANCE)}"
        raise InputError(message)
    rows = connection.rows(
        "SELECT nugget, descriptions FROM nugget WHERE item = ? AND NOT dropped", edit.item
    )
    if edit.what == "drop":
        if len(rows) == 1:
            raise InputError("a question needs a nugget: add another one before you drop the last")
        return KeyChange(old, None)
    if old and edit.what == "importance":
        if old.importance == importance:
            raise InputError(f"nugget {quoted(old.nugget)} is {importance} already")
        return KeyChange(old, old._replace(importance=importance))
    for nugget, text in rows:
        if json.loads(text) == edit.descriptions:
            raise InputError(f"nugget {quoted(nugget)} has these words: expected other ones")
    if edit.what == "add" and len(rows) >= MAX_NUGGETS:
        raise InputError(f"the question has {len(rows):,} nuggets: expected at most {MAX_NUGGETS}")
    id = connection.insert(
        "nugget",
        item=edit.item,
        nugget=_next_id(connection, edit.item, old and old.nugget),
        importance=importance,
        descriptions=json.dumps(edit.descriptions, ensure_ascii=False),
        dropped=1,
        ord=old and old.place,
    )
    return KeyChange(old, _read_nugget(connection, id))


def _next_id(connection: StoreConnection, item: int, old_id: str | None) -> str:
    """Return an id that no nugget of the question has or had.

    A reworded nugget `3` becomes `3.v2`, then `3.v3`; an added one gets the next number.
    """
    used_ids = {*connection.column("SELECT nugget FROM nugget WHERE item = ?", item)}
    if old_id is None:
        numbers = [int(id) for id in used_ids if id.isascii() and id.isdigit() and len(id) < 10]
        prefix, number = "", max(numbers, default=len(used_ids)) + 1
    else:
        match = _VERSION.fullmatch(old_id)
        stem, number = (match[1], int(match[2]) + 1) if match else (old_id, 2)
        prefix = f"{stem}.v"
    while f"{prefix}{number}" in used_ids:
        number += 1
    return f"{prefix}{number}"


def _newest_in_force(connection: StoreConnection, item: int) -> int | None:
    """Return the newest edit of a question that was not undone, or None."""
    edit: int | None = connection.value(
        "SELECT max(id) FROM key_edit WHERE item = ? AND what != 'undo' AND id NOT IN "
        "(SELECT undoes FROM key_edit WHERE undoes IS NOT NULL)",
        item,
    )
    return edit


def _change_of_undo(connection: StoreConnection, edit: int) -> KeyChange:
    """Return the change that undoes an edit."""
    old, importance, new = connection.row(
        "SELECT old_nugget, old_importance, new_nugget FROM key_edit WHERE id = ?", edit
    )
    back = None if old is None else _read_nugget(connection, old)._replace(importance=importance)
    return KeyChange(None if new is None else _read_nugget(connection, new), back, edit)


def _read_nugget(connection: StoreConnection, id: int) -> KeyNuggetRow:
    query = "SELECT id, nugget, importance, coalesce(ord, id) FROM nugget WHERE id = ?"
    return KeyNuggetRow(*connection.row(query, id))


# Questions as editors see them


_MATCHING = """
FROM item WHERE NOT calibration AND (instr(lower(segment || ' ' || coalesce(source, '')), ?1)
OR EXISTS (SELECT 1 FROM nugget n, json_each(n.descriptions) AS words
    WHERE n.item = item.id AND NOT n.dropped AND instr(lower(words.value), ?1)))
"""


def list_questions(store: Store, text: str = "") -> tuple[list[dict[str, Any]], int]:
    """Return the first questions that contain a text, and the number of all of them."""
    sought = text.strip().lower()
    with store.read() as connection:
        total = connection.value(f"SELECT count(*) {_MATCHING}", sought)
        rows = connection.rows(
            "SELECT id, segment, coalesce(source, ''), (SELECT count(*) FROM nugget n "
            "WHERE n.item = item.id AND NOT n.dropped), (SELECT count(*) FROM key_edit e "
            f"WHERE e.item = item.id) {_MATCHING} ORDER BY ord, id LIMIT {MAX_LISTED}",
            sought,
        )
    names = ("item", "segment", "text", "nuggets", "edits")
    return [dict(zip(names, row, strict=True)) for row in rows], total


def view_question(store: Store, item: int) -> dict[str, Any]:
    """Return a question with its position, its key and its edits."""
    with store.read() as connection:
        row = connection.row(
            "SELECT segment, coalesce(source, '') FROM item WHERE id = ? AND NOT calibration", item
        )
        if row is None:
            raise InputError(f"there is no question {quoted(item)}")
        number, total, previous, following = connection.row(
            "SELECT sum(id <= ?1), count(*), max(CASE WHEN id < ?1 THEN id END), "
            "min(CASE WHEN id > ?1 THEN id END) FROM item WHERE NOT calibration",
            item,
        )
        labelled_nuggets = _read_labels(connection, item)
        n_labels = Counter(id for labelled, _ in labelled_nuggets for id in labelled)
        newest = _newest_in_force(connection, item)
        undo = None if newest is None else _change_of_undo(connection, newest)
        edits = _read_edits(connection, item)
        return {
            **{"item": item, "segment": row[0], "text": row[1], "number": number, "total": total},
            **{"previous": previous, "following": following},
            "nuggets": [
                {
                    "nugget": nugget.id,
                    "importance": nugget.importance,
                    "descriptions": nugget.descriptions,
                    # Judgements and decisions that would no longer count without the nugget.
                    "concerns": n_labels[nugget.id] + connection.value(_DECIDED, item, nugget.id),
                }
                for nugget in judgements.view_key(connection, item)[0]
            ],
            # Complete judgements that a further nugget would make incomplete.
            "adding": sum(complete for _, complete in labelled_nuggets),
            # Judgements and decisions affected by an undo; None if there is nothing to undo.
            "undoing": undo and undo.count_concerned(connection, item),
            "edits": edits,
            "newest": edits[0]["uuid"] if edits else None,  # a further edit must name it
            "open": connection.value("SELECT state FROM project") == OPEN,
        }


def _read_edits(connection: StoreConnection, item: int) -> list[dict[str, Any]]:
    """Return the edits of a question with the wordings before and after, newest first."""
    rows = connection.rows(
        "SELECT e.uuid, what, name, time, o.descriptions, old_importance, n.descriptions, "
        "new_importance, concerned, e.id IN (SELECT undoes FROM key_edit WHERE undoes NOTNULL) "
        "FROM key_edit e JOIN assessor ON assessor.id = assessor "
        "LEFT JOIN nugget o ON o.id = old_nugget LEFT JOIN nugget n ON n.id = new_nugget "
        "WHERE e.item = ? ORDER BY e.id DESC",
        item,
    )
    names = (
        *("uuid", "what", "who", "time", "before", "was", "after", "becomes", "concerned"),
        "undone",
    )
    edits = [dict(zip(names, row, strict=True)) for row in rows]
    for edit in edits:
        for side in ("before", "after"):
            edit[side] = edit[side] and json.loads(edit[side])
        edit["undone"] = bool(edit["undone"])
    return edits
