"""The audit trail: events, decisions and edits of the key, the newest first."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from karat.studio.store.store import Store

_ROWS = """
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


class Entry(NamedTuple):
    """A row of the trail."""

    time: str
    assessor: int | None
    what: str
    detail: dict[str, Any]


def trail(store: Store, number: int, size: int) -> tuple[list[Entry], int]:
    """Return the rows of a page, from 1, and how many rows there are."""
    with store.read() as connection:
        (total,) = connection.execute(f"SELECT count(*) FROM ({_ROWS})").fetchone()
        rows = connection.execute(
            f"{_ROWS} ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT ? OFFSET ?",
            (size, (number - 1) * size),
        ).fetchall()
    return [_entry(*row) for row in rows], total


def _entry(
    time: str, kind: int, id: int, who: int | None, what: str, text: str, segment: str, about: str
) -> Entry:
    found = json.loads(text)
    if kind != 1:
        return Entry(time, who, WORDS.get(what, what), found)
    decided = {"decision": found} if found != {} else {}
    return Entry(time, who, what, {"segment": segment, "about": about, **decided})
