"""Who may edit a key: owners, and adjudicators if an owner allows it, which is recorded.

Assessors may not: they judge responses by the key.
"""

from __future__ import annotations

import json
import sqlite3

from karat.errors import InputError
from karat.studio.store.events import record
from karat.studio.store.projects import project_in
from karat.studio.store.store import Store

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
