"""Judgements that an edit of a key concerns: how many, and which are open again afterwards.

A label belongs to a nugget with certain words. Labels of a nugget that leaves the key stay in the
log and no longer count. A judgement without a label for a nugget that enters the key is incomplete:
its assessor is asked again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any

from karat.studio.store.judgements import COUNTED, mark
from karat.studio.tasks.shown import Shown, ShownNugget

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


def as_judged(connection: sqlite3.Connection, shown: Shown, value: Any) -> Shown:
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
    then = [ShownNugget(id, weight, tuple(json.loads(text))) for id, weight, text in rows]
    return replace(shown, nuggets=tuple(one for one in then if one.id in labels), dropped=())
