"""A store made again from its log: all of it, or nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from karat.errors import InputError, quoted, short
from karat.evalset.catalogue import GivenPath
from karat.evalset.reading import Place, Reading, json_rows
from karat.storage.output import as_path
from karat.studio.checking.checks import check_store
from karat.studio.checking.columns import Column, check_row, columns_of
from karat.studio.export.formats import FORMATS
from karat.studio.export.log import TABLES
from karat.studio.store.assessors import hashed
from karat.studio.store.events import record
from karat.studio.store.schema import STEPS, migrate
from karat.studio.store.store import Store, remove_store
from karat.studio.tasks.task import is_whole

LOG = FORMATS["log"].name
HEADER = "studio"
"""The member of the first line of a log, which is its version."""
ROWS = "rows"
"""The member of the first line that says how many lines follow."""


def restore(source: GivenPath, path: GivenPath) -> None:
    """Make a store from a log, or from a folder that `export_store` wrote.

    A log has no tokens, so that nobody is let in until links are renewed. An event says from what
    log it was made.
    """
    log = _log(as_path("log", source))
    store = Store.create(path)
    try:
        with store:
            _fill(store, log)
    except BaseException:
        remove_store(store.path)
        raise


def _log(source: Path) -> Path:
    found = source / LOG if source.is_dir() else source
    if not found.is_file():
        told = f"expected {LOG} of karat studio export, or a folder with it"
        raise InputError(f"{short(source)}: no log of a store: {told}")
    return found


def _fill(store: Store, log: Path) -> None:
    reading = Reading()
    with store.write() as connection:
        columns: dict[str, list[Column]] = {}
        for place, table, row in _rows(log, reading):
            if table == HEADER:
                columns = _columns(row[HEADER])
                continue
            extra = {}
            if table == "assessor":
                extra = {"token_hash": hashed(token_urlsafe(32))}
            check_row(place, table, row, columns[table])
            _insert(connection, place, table, row, extra)
        reading.check()
        _check(connection, log)
        record(connection, "restore", log=_digest(log))


def _digest(log: Path) -> str:
    found = sha256()
    with log.open("rb") as file:
        while part := file.read(1 << 20):
            found.update(part)
    return found.hexdigest()


def _rows(log: Path, reading: Reading) -> Iterator[tuple[Place, str, Mapping[str, Any]]]:
    """Yield the header of a log, then its tables and rows."""
    header: Mapping[str, Any] | None = None
    count = 0
    for place, found in json_rows(log, reading):
        if header is None:
            _check_header(place, header := found)
            yield place, HEADER, found
            continue
        count += 1
        table, row = next(iter(found.items()), ("", None))
        if len(found) != 1 or table not in TABLES or not isinstance(row, dict):
            told = "expected the name of a table and a row of it"
            raise InputError(f"{place}: found {quoted(found)}, {told}")
        yield place, table, row
    reading.check()
    if header is None:
        raise InputError(f"{short(log)} is empty: expected the log of a store")
    if header.get(ROWS, count) != count:
        told = f"found {count:,} rows, expected {quoted(header[ROWS])}, as the first line says"
        raise InputError(f"{short(log)} is not whole: {told}")


def _check_header(place: Place, found: Mapping[str, Any]) -> None:
    version = found.get(HEADER)
    if not is_whole(version) or not 0 < version <= len(STEPS):  # type: ignore[operator]
        told = f'expected {{"studio": {len(STEPS)}, …}}, the first line of a log'
        raise InputError(f"{place}: found {quoted(found)}, {told}")


def _columns(version: int) -> dict[str, list[Column]]:
    """Return the tables of a version; those that came later are filled as a migration does."""
    with closing(sqlite3.connect(":memory:")) as connection:
        migrate(connection, STEPS[:version])
        return {table: columns_of(connection, table) for table in TABLES}


def _insert(
    connection: sqlite3.Connection,
    place: Place,
    table: str,
    row: Mapping[str, Any],
    extra: Mapping[str, str],
) -> None:
    values = {**row, **extra}
    for name in TABLES[table]:
        values[name] = _stored(table, row[name])
    marks = ", ".join("?" * len(values))
    try:
        connection.execute(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", (*values.values(),)
        )
    except (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError) as error:
        raise InputError(f"{place}: no row of {table} ({error}); expected a whole log") from None
    except OverflowError:
        raise InputError(f"{place}: a number is too large for a row of {table}") from None


def _stored(table: str, value: Any) -> str | None:
    """Return JSON as the store has it, in the one spelling of judgements."""
    if value is None:
        return None
    return json.dumps(value, ensure_ascii=False, sort_keys=table in ("judgement", "adjudication"))


def _check(connection: sqlite3.Connection, log: Path) -> None:
    """Refuse a log whose parts do not fit each other."""
    if connection.execute("SELECT 1 FROM project").fetchone() is None:
        raise InputError(f"{short(log)} has no project: expected a whole log")
    if problems := check_store(connection, short(log)).problems:
        raise InputError(f"{short(log)}: {problems[0]} Expected a log as it was exported")
