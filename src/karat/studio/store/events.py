"""Events: what happened to a project, and by whom; rows are never changed."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, NamedTuple

from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store


def now() -> datetime:
    """Return the time of now, in UTC."""
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
    """Store an event, in the transaction of what happened."""
    connection.execute(
        "INSERT INTO event (time, assessor, what, detail) VALUES (?, ?, ?, ?)",
        (stamp(time), assessor, event, json.dumps(detail, ensure_ascii=False)),
    )


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
"""Events in words; others are called as they are stored."""


class TrailEntry(NamedTuple):
    """A row of the trail."""

    time: str
    assessor: int | None
    event: str
    detail: dict[str, Any]


def trail(store: Store, number: int, size: int) -> tuple[list[TrailEntry], int]:
    """Return the rows of a page, from 1, and how many rows there are."""
    with store.read() as connection:
        total = connection.value(f"SELECT count(*) FROM ({_TRAIL_ROWS})")
        rows = connection.rows(
            f"{_TRAIL_ROWS} ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT ? OFFSET ?",
            size,
            (number - 1) * size,
        )
    return [_make_entry(*row) for row in rows], total


def _make_entry(
    time: str, kind: int, id: int, who: int | None, event: str, text: str, segment: str, about: str
) -> TrailEntry:
    detail = json.loads(text)
    if kind != 1:
        return TrailEntry(time, who, WORDS.get(event, event), detail)
    decision = {"decision": detail} if detail != {} else {}
    return TrailEntry(time, who, event, {"segment": segment, "about": about, **decision})
