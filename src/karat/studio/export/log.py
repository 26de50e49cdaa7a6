"""The log of a store: every row of every table as JSON lines, from which a store is made again.

    {"studio": 2, "anonymous": false, "rows": 412}
    {"project": {…}}
    {"item": {"id": 1, "segment": …}}
    …
    {"judgement": {"id": 7, "uuid": …, "value": {…}, "ms": 4100, "supersedes": 3, "time": …}}

The hashes of invitations are left out. With `anonymous`, pseudonyms stand for the names of
assessors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from karat.evalset.reading import json_line
from karat.studio.checking.columns import columns_of
from karat.studio.export.contents import pseudonym
from karat.studio.store.schema import STEPS
from karat.studio.store.store import Store

TABLES = {
    "project": ("settings",),
    "item": ("refs",),
    "output": (),
    "dimension": ("settings",),
    "nugget": ("descriptions",),
    "draw": (),
    "unit": ("outputs", "answer"),
    "assessor": (),
    "assignment": ("outputs",),
    "judgement": ("value",),
    "adjudication": ("value", "seen"),
    "key_edit": (),
    "event": ("detail",),
}
"""Tables in an order in which rows refer to earlier ones only, and their columns of JSON."""
KEYS = {"draw": "item"}
"""Primary keys that are not called id."""


def log_lines(store: Store, anonymous: bool = False) -> Iterator[str]:
    """Yield the lines of the log, of one state of the store."""
    with store.read() as connection:
        counts = [connection.execute(f"SELECT count(*) FROM {table}") for table in TABLES]
        rows = sum(one.fetchone()[0] for one in counts)
        yield json_line({"studio": len(STEPS), "anonymous": anonymous, "rows": rows})
        names = dict(connection.execute("SELECT name, id FROM assessor").fetchall())
        hidden = {name: pseudonym(id) for name, id in names.items()} if anonymous else {}
        for table, parsed in TABLES.items():
            columns = [column.name for column in columns_of(connection, table)]
            key = KEYS.get(table, "id")
            rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {key}")
            for row in rows:
                found = {
                    name: json.loads(value) if name in parsed and value is not None else value
                    for name, value in zip(columns, row, strict=True)
                }
                yield json_line({table: _without_names(table, found, hidden)})


def _without_names(table: str, row: dict[str, Any], hidden: dict[str, str]) -> dict[str, Any]:
    """Return a row in which pseudonyms stand for names, also in the details of events."""
    if hidden and table == "assessor":
        return {**row, "name": hidden[row["name"]]}
    if hidden and table == "event":
        detail = {key: _hidden(value, hidden) for key, value in row["detail"].items()}
        return {**row, "detail": detail}
    return row


def _hidden(value: Any, hidden: dict[str, str]) -> Any:
    return hidden.get(value, value) if isinstance(value, str) else value
