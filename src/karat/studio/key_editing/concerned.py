"""Judgements that an edit of a key concerns: how many, and which are open again afterwards.

A label belongs to a nugget with certain words. Labels of a nugget that leaves the key stay in the
log and no longer count. A judgement without a label for a nugget that enters the key is incomplete:
its assessor is asked again.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from datetime import datetime
from typing import Any

from karat.studio.store.judgements import COUNTED, mark
from karat.studio.tasks.shown import Shown, ShownNugget

_NEWEST = """
FROM assignment a JOIN judgement j ON j.id = (SELECT max(id) FROM judgement WHERE assignment = a.id)
WHERE a.item = ? AND a.task = 'nuggets'
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
    rows = connection.execute(f"SELECT j.value, a.judged {_NEWEST}", (item,)).fetchall()
    count = 0
    for text, judged in rows:
        labels = {} if text is None else json.loads(text).get("nuggets", {})
        count += old in labels or (judged is not None and new is not None and new not in labels)
    if old is not None:
        count += connection.execute(_DECIDED, (item, old)).fetchone()[0]
    return count


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
