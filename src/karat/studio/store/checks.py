"""The check of a store: SQLite's own, and the rules that tables cannot enforce."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat.results import Result
from karat.studio.store.judgements import COUNTED

TABLES = (
    *("item", "output", "dimension", "nugget", "draw", "unit", "assessor", "assignment"),
    *("judgement", "adjudication", "key_edit", "event"),
)
_JSON = {
    "project": {"settings": "object"},
    "item": {"refs": "array"},
    "unit": {"outputs": "array", "answer": "object"},
    "assignment": {"outputs": "array"},
    "judgement": {"value": "object"},
    "adjudication": {"seen": "array"},
    "event": {"detail": "object"},
}
"""Table -> its columns of JSON, and what they hold where they are not null."""
_RULES = {
    f"rows of {table} whose {column} is no JSON {kind}": f"""
        SELECT count(*) FROM {table} WHERE {column} IS NOT NULL
        AND iif(json_valid({column}), json_type({column}), '') != '{kind}'"""
    for table, columns in _JSON.items()
    for column, kind in columns.items()
} | {
    "judgements whose predecessor is of another assignment": """
        SELECT count(*) FROM judgement j JOIN judgement b ON b.id = j.supersedes
        WHERE b.assignment != j.assignment OR b.id >= j.id""",
    "assignments with two first judgements": """
        SELECT count(*) FROM (SELECT 1 FROM judgement WHERE supersedes IS NULL
        GROUP BY assignment HAVING count(*) > 1)""",
    "judgements by somebody else than the assignment's assessor": """
        SELECT count(*) FROM judgement j JOIN assignment a ON a.id = j.assignment
        WHERE a.assessor != j.assessor""",
    "assignments whose newest judgement is not the one that counts": f"""
        SELECT count(*) FROM assignment a LEFT JOIN judgement j ON j.id =
        (SELECT max(id) FROM judgement WHERE assignment = a.id) WHERE a.judged IS NOT {COUNTED}""",
    "nuggets that are not as the newest edit left them": """
        SELECT count(*) FROM nugget n LEFT JOIN key_edit e ON e.id = (SELECT max(id)
            FROM key_edit WHERE old_nugget = n.id OR new_nugget = n.id)
        WHERE n.dropped != (e.id IS NOT NULL AND e.new_nugget IS NOT n.id)
        OR (e.new_nugget = n.id AND e.new_importance IS NOT n.importance)""",
    "edits of a key that do not name the edit before": """
        SELECT count(*) FROM key_edit e WHERE e.supersedes IS NOT
        (SELECT max(id) FROM key_edit WHERE item = e.item AND id < e.id)""",
    "edits of a key with a nugget of another question": """
        SELECT count(*) FROM key_edit e JOIN nugget n ON n.id IN (e.old_nugget, e.new_nugget)
        WHERE n.item != e.item""",
    "units whose count of places taken is wrong": """
        SELECT count(*) FROM unit WHERE taken != (SELECT count(*) FROM assignment a
        WHERE a.unit = unit.id AND (a.judged IS NOT NULL OR a.lease IS NOT NULL))""",
    "assessors whose count of assignments or judgements is wrong": """
        SELECT count(*) FROM assessor WHERE
        judged != (SELECT count(*) FROM assignment a WHERE a.assessor = assessor.id
            AND a.judged IS NOT NULL)
        OR assigned != (SELECT count(*) FROM assignment a WHERE a.assessor = assessor.id)""",
    "items drawn with a probability that is none": """
        SELECT count(*) FROM draw WHERE NOT (probability > 0 AND probability <= 1)""",
}
"""A problem -> a query that counts it."""


class TableCount(NamedTuple):
    """A table of a store, and how many rows it has."""

    table: str
    rows: int


@dataclass(frozen=True, repr=False)
class StoreCheck(Result):
    """The rows of each table, and what is wrong with the store."""

    name: str
    rows: tuple[TableCount, ...]
    problems: tuple[str, ...]
    settings: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    signature: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def check_store(connection: sqlite3.Connection, name: str) -> StoreCheck:
    """Check a store; every problem is a sentence."""
    problems = tuple(_problems(connection))
    counts = [
        TableCount(table, connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        for table in TABLES
    ]
    return StoreCheck(name, tuple(counts), problems, {"store": name})


def _problems(connection: sqlite3.Connection) -> Iterator[str]:
    found: list[tuple[Any, ...]] = connection.execute("PRAGMA integrity_check(10)").fetchall()
    yield from (f"The file is damaged: {row[0]}." for row in found if row[0] != "ok")
    lost = connection.execute("PRAGMA foreign_key_check").fetchall()
    if lost:
        yield f"{len(lost):,} rows name others that are not there, the first of {lost[0][0]}."
    for what, query in _RULES.items():
        (count,) = connection.execute(query).fetchone()
        if count:
            yield f"Found {count:,} {what}."
            if what.endswith(("object", "array")):  # other rules would read it
                return
