"""Assessors: invitations by a token that is shown once, and roles."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from typing import NamedTuple

from karat.errors import InputError, quoted, short
from karat.studio.store.clock import stamp
from karat.studio.store.events import record
from karat.studio.store.order import mixed
from karat.studio.store.store import Store
from karat.studio.tasks.task import is_whole

ROLES = ("assessor", "adjudicator", "owner")
LONGEST_NAME = 100
_COLUMNS = "id, name, role, quota, active, judged"


class Assessor(NamedTuple):
    """Somebody who was invited."""

    id: int
    name: str
    role: str
    quota: int | None
    active: bool
    judged: int
    """Assignments with a complete answer."""


def invite(
    store: Store,
    name: str,
    role: str = "assessor",
    quota: int | None = None,
    by: int | None = None,
) -> str:
    """Add an assessor and return the token, of which the store has only the hash."""
    check_name(name)
    _check(role, quota)
    token = secrets.token_urlsafe(32)
    with store.write() as connection:
        if connection.execute("SELECT 1 FROM assessor WHERE name = ?", (name,)).fetchone():
            raise InputError(f"there is an assessor {quoted(name)}: choose another name")
        found = connection.execute("SELECT seed FROM project").fetchone()
        (count,) = connection.execute("SELECT count(*) FROM assessor").fetchone()
        seed = mixed(found[0] if found else 0, count + 1)
        added = connection.execute(
            "INSERT INTO assessor (name, token_hash, role, quota, seed, made) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (name, hashed(token), role, quota, seed, stamp()),
        )
        record(connection, "invite", by, of=added.lastrowid, role=role, quota=quota)
    return token


def assessor_of(store: Store, token: str) -> Assessor | None:
    """Return the assessor with a token; None for a token that is unknown or was withdrawn."""
    with store.read() as connection:
        row = connection.execute(
            f"SELECT {_COLUMNS} FROM assessor WHERE token_hash = ? AND active", (hashed(token),)
        ).fetchone()
    return None if row is None else _assessor(row)


def assessor(store: Store, id: int) -> Assessor | None:
    """Return the active assessor with an id."""
    with store.read() as connection:
        row = connection.execute(
            f"SELECT {_COLUMNS} FROM assessor WHERE id = ? AND active", (id,)
        ).fetchone()
    return None if row is None else _assessor(row)


def assessors(store: Store) -> list[Assessor]:
    """Return all assessors, those without an active invitation, too."""
    with store.read() as connection:
        rows = connection.execute(f"SELECT {_COLUMNS} FROM assessor ORDER BY id").fetchall()
    return [_assessor(row) for row in rows]


def renew(store: Store, id: int, by: int | None = None) -> str:
    """Return a new token for an assessor; the old one is no longer valid."""
    token = secrets.token_urlsafe(32)
    with store.write() as connection:
        changed = connection.execute(
            "UPDATE assessor SET token_hash = ? WHERE id = ?", (hashed(token), id)
        )
        if not changed.rowcount:
            raise InputError(f"there is no assessor with the id {quoted(id)}")
        record(connection, "renew", by, of=id)
    return token


def withdraw(store: Store, id: int, by: int | None = None) -> None:
    """End an invitation; what the assessor said stays."""
    with store.write() as connection:
        changed = connection.execute("UPDATE assessor SET active = 0 WHERE id = ?", (id,))
        if not changed.rowcount:
            raise InputError(f"there is no assessor with the id {quoted(id)}")
        record(connection, "withdraw", by, of=id)


def hashed(token: str) -> str:
    """Return the hash under which a token is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _assessor(row: tuple[int, str, str, int | None, int, int]) -> Assessor:
    return Assessor(*row[:4], bool(row[4]), row[5])


def check_name(name: object) -> None:
    """Refuse what cannot be the name of an assessor."""
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
        told = f"expected 1 to {LONGEST_NAME} characters"
        raise InputError(f"found the assessor's name {quoted(name)}, {told}")
    if not name.isprintable() or name != name.strip():
        told = "expected visible characters, and no blank at the ends"
        raise InputError(f"found the assessor's name {quoted(name)}, {told}")


def _check(role: str, quota: object) -> None:
    _check_role(role, ROLES)
    if quota is not None and (not is_whole(quota) or not 1 <= quota < 2**53):  # type: ignore[operator]
        raise InputError(f"quota={quoted(quota)}: expected a whole number, 1 or more")


def _check_role(role: str, known: Collection[str]) -> None:
    if role not in known:
        raise InputError(f"found the role {short(role)}, expected one of {', '.join(known)}")
