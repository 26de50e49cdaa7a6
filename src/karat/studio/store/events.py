"""Events: what happened to a project, and by whom; rows are never changed."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime
from typing import Any, NamedTuple

from karat.studio.store.clock import stamp
from karat.studio.store.store import Store


class Event(NamedTuple):
    """One thing that happened."""

    time: str
    assessor: int | None
    what: str
    detail: dict[str, Any]


def record(
    connection: sqlite3.Connection,
    what: str,
    assessor: int | None = None,
    time: datetime | None = None,
    **detail: object,
) -> None:
    """Store an event, in the transaction of what happened."""
    connection.execute(
        "INSERT INTO event (time, assessor, what, detail) VALUES (?, ?, ?, ?)",
        (stamp(time), assessor, what, json.dumps(detail, ensure_ascii=False)),
    )


def events(store: Store) -> list[Event]:
    """Return all events, the first one first."""
    with store.read() as connection:
        rows = connection.execute("SELECT time, assessor, what, detail FROM event ORDER BY id")
        return [Event(time, who, what, json.loads(detail)) for time, who, what, detail in rows]
