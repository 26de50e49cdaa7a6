"""Columns of the tables, and the kinds of values that they take, in a store and in its log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.reading import FileLocation
from karat.studio.store.schema import StoreConnection
from karat.studio.tasks import TASKS
from karat.studio.tasks.task import is_integer

HIDDEN = {"assessor": ("token_hash",)}


class Kind(NamedTuple):
    """A kind of values: its name in a sentence, and how it is known."""

    name: str
    fits: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return is_integer(value) or (isinstance(value, float) and isfinite(value))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _listed(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _is_time(value: Any) -> bool:
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return time.tzinfo is not None and 1970 <= time.year < 9999


_OBJECT = Kind("an object", _is_object)
_TEXTS = Kind("a list of texts", _listed(_is_text))
_IDS = Kind("a list of whole numbers", _listed(is_integer))
_SOME_IDS = Kind("a list of one or more whole numbers", lambda given: given and _IDS.fits(given))
_TASK = Kind(f"one of {', '.join(TASKS)}", lambda given: _is_text(given) and given in TASKS)
_TIME = Kind("a time such as 2026-01-31T12:00:00+00:00", _is_time)
STORED = {
    "INTEGER": Kind("a whole number", is_integer),
    "REAL": Kind("a number", _is_number),
    "TEXT": Kind("a text", _is_text),
}
"""Kinds by the types of SQL."""
NAMED = {"task": _TASK, "made": _TIME, "time": _TIME, "lease": _TIME}
"""Kinds of columns that have the same name in all tables."""
PARSED = {
    "project.settings": _OBJECT,
    "item.refs": _TEXTS,
    "dimension.settings": _OBJECT,
    "nugget.descriptions": _TEXTS,
    "unit.outputs": _SOME_IDS,
    "unit.answer": _OBJECT,
    "assignment.outputs": _SOME_IDS,
    "judgement.value": _OBJECT,
    "adjudication.value": Kind("a value", lambda value: True),
    "adjudication.seen": _IDS,
    "event.detail": _OBJECT,
}
"""Kinds of the columns that hold JSON."""


class StoreColumn(NamedTuple):
    """A column of a table: its name, the kind of its values, and whether it may be empty."""

    name: str
    kind: Kind
    optional: bool


def read_columns(connection: StoreConnection, table: str) -> list[StoreColumn]:
    """Return the columns of a table that a log has."""
    rows = connection.rows(f"PRAGMA table_info({table})")
    return [
        StoreColumn(name, _kind(table, name, kind), not (needed or key))
        for _, name, kind, needed, _, key in rows
        if name not in HIDDEN.get(table, ())
    ]


def _kind(table: str, name: str, stored: str) -> Kind:
    return PARSED.get(f"{table}.{name}") or NAMED.get(name) or STORED[stored]


def parsed(text: Any) -> Any:
    """Return a value of a column of JSON; ValueError if it is not valid JSON."""
    if not isinstance(text, str):
        raise ValueError
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError from None


def _no_number(name: str) -> Any:
    raise ValueError(name)


def find_wrong_rows(connection: StoreConnection, table: str) -> Iterator[str]:
    """Yield a sentence for each column of a table that has values of a wrong kind."""
    columns = read_columns(connection, table)
    names = ", ".join(column.name for column in columns)
    counts: dict[StoreColumn, int] = {}
    for row in connection.execute(f"SELECT {names} FROM {table}"):
        for column, value in zip(columns, row, strict=True):
            if not _fits(table, column, value):
                counts[column] = counts.get(column, 0) + 1
    for column, count in counts.items():
        rows = f"{count:,} row{'s' * (count != 1)}"
        yield f"Found {rows} of {table} whose {column.name} is not {column.kind.name}."


def _fits(table: str, column: StoreColumn, value: Any) -> bool:
    if value is None:
        return column.optional
    if f"{table}.{column.name}" in PARSED:
        try:
            value = parsed(value)
        except ValueError:
            return False
    return bool(column.kind.fits(value))


def check_row(
    place: FileLocation, table: str, row: Mapping[str, Any], columns: Sequence[StoreColumn]
) -> None:
    """Raise InputError if a row has other columns than its table, or a value of a wrong kind."""
    names = [column.name for column in columns]
    if odd := sorted({*row} ^ {*names}):
        expected = f"expected {', '.join(names)}"
        raise InputError(f"{place}: {quoted(odd[0])} in a row of {table}, {expected}")
    for name, kind, optional in columns:
        if row[name] is None and optional:
            continue
        if not kind.fits(row[name]):
            expected = f"expected {kind.name}{' or null' * optional}"
            raise InputError(f"{place}: {name} of {table}: found {quoted(row[name])}, {expected}")
