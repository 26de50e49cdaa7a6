"""Assessors with their roles and invitations, and the audit trail.

The token of an invitation is shown once; the store has only its hash. Rows of the trail never
change. A project always has an active owner.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from datetime import datetime, timezone
from typing import Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.studio.store.draws import mix
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks.checks import is_integer


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(timezone.utc)


def stamp(time: datetime | None = None) -> str:
    """Return a time, or now, such as 2026-01-31T12:00:00.000+00:00."""
    return (time or now()).astimezone(timezone.utc).isoformat(timespec="milliseconds")


def record(
    connection: StoreConnection,
    event: str,
    assessor: int | None = None,
    time: datetime | None = None,
    **detail: object,
) -> None:
    """Add an event to the audit trail, within the transaction of the change."""
    text = json.dumps(detail, ensure_ascii=False)
    connection.insert("event", time=stamp(time), assessor=assessor, what=event, detail=text)


_TRAIL_ROWS = """
SELECT time, 0 AS kind, id, assessor, what, detail, '', '' FROM event
UNION ALL
SELECT d.time, 1, d.id, d.assessor, CASE WHEN d.value IS NULL THEN 'undo decision' ELSE 'decide'
END, coalesce(d.value, '{}'), coalesce(segment, ''), d.about
FROM adjudication d JOIN item ON item.id = d.item
UNION ALL
SELECT e.time, 2, e.id, e.assessor, CASE e.what WHEN 'importance' THEN 'change importance'
WHEN 'undo' THEN 'undo edit' ELSE e.what || ' nugget' END, json_object('question', segment,
'before', json(o.descriptions), 'was', old_importance, 'after', json(n.descriptions),
'is', new_importance, 'concerned', concerned), '', ''
FROM key_edit e JOIN item ON item.id = e.item LEFT JOIN nugget o ON o.id = old_nugget
LEFT JOIN nugget n ON n.id = new_nugget
"""


WORDS = {
    "import": "import the set",
    "invite": "invite",
    "renew": "make a new link",
    "recover": "recover an owner's link from the command line",
    "withdraw": "withdraw the invitation",
    "estimates": "ask for estimates",
    "names": "ask for names",
    "earlier": "take earlier judgements",
}
"""Event -> words for the audit trail; other events are shown by name."""


class TrailEntry(NamedTuple):
    """A row of the audit trail."""

    time: str
    assessor: int | None
    event: str
    detail: dict[str, Any]


def read_trail(store: Store, number: int, size: int) -> tuple[list[TrailEntry], int]:
    """Return the rows of a page (the first is 1), and the total number of rows."""
    with store.read() as connection:
        total = connection.value(f"SELECT count(*) FROM ({_TRAIL_ROWS})")
        rows = connection.rows(
            f"{_TRAIL_ROWS} ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT ? OFFSET ?",
            *(size, (number - 1) * size),
        )
    entries = []
    for time, kind, _, who, event, text, segment, about in rows:
        detail = json.loads(text)
        if kind == 1:  # a decision
            value = {"decision": detail} if detail != {} else {}
            detail = {"segment": segment, "about": about, **value}
        entries.append(TrailEntry(time, who, WORDS.get(event, event), detail))
    return entries, total


ROLES = ("assessor", "adjudicator", "owner")
OWNER = "owner"
"""The role of owners, and the name of the first one."""
MAX_NAME = 100
_COLUMNS = "id, name, role, quota, active, judged"


class Assessor(NamedTuple):
    """A person who was invited."""

    id: int
    name: str
    role: str
    quota: int | None
    active: int
    """1 unless the invitation was withdrawn."""
    judged: int
    """Assignments with a complete answer."""


def invite(
    store: Store,
    name: str,
    role: str = "assessor",
    quota: int | None = None,
    by: int | None = None,
) -> str:
    """Add an assessor and return the token of the invitation."""
    check_name(name)
    if role not in ROLES:
        raise InputError(f"found the role {short(role)}, expected one of {', '.join(ROLES)}")
    if quota is not None and (not is_integer(quota) or not 1 <= quota < 2**53):
        raise InputError(f"quota={quoted(quota)}: expected a whole number, 1 or more")
    token = secrets.token_urlsafe(32)
    with store.write() as connection:
        _check_active_owner(connection, by)
        if connection.row("SELECT 1 FROM assessor WHERE name = ?", name):
            raise InputError(f"there is an assessor {quoted(name)}: choose another name")
        id = _insert_assessor(connection, name, token, role, quota)
        record(connection, "invite", by, of=id, role=role, quota=quota)
    return token


def check_name(name: object) -> None:
    """Raise InputError if a name is not valid for an assessor."""
    expected = ""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        expected = f"1 to {MAX_NAME} characters"
    elif not name.isprintable() or name != name.strip():
        expected = "visible characters, and no blank at the ends"
    if expected:
        raise InputError(f"found the assessor's name {quoted(name)}, expected {expected}")


def _insert_assessor(
    connection: StoreConnection, name: str, token: str, role: str, quota: int | None
) -> int:
    project_seed = connection.optional_value("SELECT seed FROM project") or 0
    count = connection.value("SELECT count(*) FROM assessor")
    return connection.insert(
        "assessor",
        name=name,
        token_hash=hash_token(token),
        role=role,
        quota=quota,
        seed=mix(project_seed, count + 1),
        made=stamp(),
    )


def find_assessor(store: Store, token: str) -> Assessor | None:
    """Return the active assessor with a token, or None."""
    with store.read() as connection:
        row = connection.row(
            f"SELECT {_COLUMNS} FROM assessor WHERE token_hash = ? AND active", hash_token(token)
        )
    return None if row is None else Assessor(*row)


def active_link(store: Store, id: int) -> tuple[Assessor, str] | None:
    """Return the active assessor with an id and the hash of the current token, or None."""
    with store.read() as connection:
        row = connection.row(
            f"SELECT token_hash, {_COLUMNS} FROM assessor WHERE id = ? AND active", id
        )
    return None if row is None else (Assessor(*row[1:]), row[0])


def assessors(store: Store) -> list[Assessor]:
    """Return all assessors, including withdrawn ones."""
    with store.read() as connection:
        rows = connection.rows(f"SELECT {_COLUMNS} FROM assessor ORDER BY id")
    return [Assessor(*row) for row in rows]


def renew(
    store: Store, id: int, by: int | None = None, token: str | None = None
) -> tuple[str, str]:
    """Return the name of an assessor and a new token; the old token and its sessions end.

    By default the new token is random.
    """
    token = token or secrets.token_urlsafe(32)
    with store.write() as connection:
        _check_active_owner(connection, by)
        name, _ = _read_active(connection, id)
        _set_token(connection, id, token)
        record(connection, "renew", by, of=id)
    return name, token


def withdraw(store: Store, id: int, by: int | None = None) -> None:
    """End an invitation and its sessions; judgements stay. The last owner must remain."""
    with store.write() as connection:
        _check_active_owner(connection, by)
        _, role = _read_active(connection, id)
        if id == by:
            raise InputError("you cannot withdraw your own invitation: another owner can")
        query = "SELECT count(*) FROM assessor WHERE active AND role = ?"
        if role == OWNER and connection.value(query, OWNER) == 1:
            raise InputError("this is the only owner of the project: invite another owner first")
        connection.execute("UPDATE assessor SET active = 0 WHERE id = ?", (id,))
        record(connection, "withdraw", by, of=id)


def recover_owner(store: Store, name: str = OWNER) -> str:
    """Return a new token for an owner, who is invited or reactivated if necessary.

    If all links of owners are lost, anybody who can write to the store can make a new one.
    """
    check_name(name)
    token = secrets.token_urlsafe(32)
    with store.write() as connection:
        row = connection.row("SELECT id, role FROM assessor WHERE name = ?", name)
        if row is not None and row[1] != OWNER:
            advice = "name an owner or a new person with --name"
            raise InputError(f"{short(name)} has the role {row[1]}: {advice}")
        id = _insert_assessor(connection, name, token, OWNER, None) if row is None else int(row[0])
        _set_token(connection, id, token)
        connection.execute("UPDATE assessor SET active = 1 WHERE id = ?", (id,))
        record(connection, "recover", of=id)
    return token


def _set_token(connection: StoreConnection, id: int, token: str) -> None:
    query = "UPDATE assessor SET token_hash = ? WHERE id = ?"
    try:
        connection.execute(query, (hash_token(token), id))
    except sqlite3.IntegrityError:
        raise InputError("this token belongs to another person: choose another") from None


def _read_active(connection: StoreConnection, id: object) -> tuple[str, str]:
    """Return the name and role of an active assessor."""
    if not is_integer(id):
        raise InputError(f"found the assessor {quoted(id)}, expected an id, which is a number")
    row = connection.row("SELECT name, role FROM assessor WHERE id = ? AND active", id)
    if row is None:
        raise InputError(f"there is no active assessor with the id {quoted(id)}")
    return row[0], row[1]


def role_in(connection: StoreConnection, id: int) -> str | None:
    """Return the role of an active assessor, or None."""
    role: str | None = connection.optional_value(
        "SELECT role FROM assessor WHERE id = ? AND active", id
    )
    return role


def _check_active_owner(connection: StoreConnection, by: int | None) -> None:
    """Raise InputError if the owner was withdrawn in the meantime; None is the command line."""
    if by is not None and role_in(connection, by) != OWNER:
        raise InputError("your invitation was withdrawn: only active owners change invitations")


def hash_token(token: str) -> str:
    """Return the stored hash of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
