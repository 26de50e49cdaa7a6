"""The log of a store: every row of every table as JSON lines, from which a store can be restored.

    {"studio": 2, "anonymous": false, "rows": 412}
    {"project": {…}}
    {"item": {"id": 1, "segment": …}}
    …
    {"judgement": {"id": 7, "uuid": …, "value": {…}, "ms": 4100, "supersedes": 3, "time": …}}

The hashes of tokens are left out, so links must be renewed. With `anonymous`, assessors have
pseudonyms instead of names.
"""

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
from karat.evalset.reading import FileLocation, Reading, format_json_line, read_json_lines
from karat.storage.output import as_path
from karat.studio.checking import TABLES, StoreColumn, check_row, check_store, is_json, read_columns
from karat.studio.contents import pseudonym
from karat.studio.store.people import hash_token, record
from karat.studio.store.schema import STEPS, StoreConnection, migrate
from karat.studio.store.store import Store, remove_store
from karat.studio.tasks.checks import is_integer

KEYS = {"draw": "item"}
"""Primary keys other than `id`."""
LOG = "log.jsonl"
HEADER = "studio"
"""Key of the version in the first line of a log."""
ROWS = "rows"
"""Key of the number of further lines in the first line."""


def log_lines(store: Store, anonymous: bool = False) -> Iterator[str]:
    """Yield the lines of the log of one consistent state of the store."""
    with store.read() as connection:
        n_rows = sum(connection.value(f"SELECT count(*) FROM {table}") for table in TABLES)
        yield format_json_line({HEADER: len(STEPS), "anonymous": anonymous, ROWS: n_rows})
        names = connection.rows("SELECT name, id FROM assessor")
        hidden = {name: pseudonym(id) for name, id in names} if anonymous else {}
        for table in TABLES:
            columns = [column.name for column in read_columns(connection, table)]
            key = KEYS.get(table, "id")
            query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {key}"
            for row in connection.execute(query):
                record = {
                    name: json.loads(value) if is_json(table, name) and value is not None else value
                    for name, value in zip(columns, row, strict=True)
                }
                if table == "assessor":
                    record["name"] = hidden.get(record["name"], record["name"])
                elif table == "event":
                    record["detail"] = {
                        name: hidden.get(value, value) if isinstance(value, str) else value
                        for name, value in record["detail"].items()
                    }
                yield format_json_line({table: record})


def import_studio(log: GivenPath, store: GivenPath) -> None:
    """Make a file of judgements from its log; `open_studio` gives each assessor a new link.

    Args:
        log: log of `export_studio`, or the folder with it.
        store: file to make.
    """
    path = as_path("log", log)
    log_file = path / LOG if path.is_dir() else path
    if not log_file.is_file():
        advice = f"expected {LOG} of karat studio export, or a folder with it"
        raise InputError(f"{short(path)}: no log of a store: {advice}")
    new_store = Store.create(store)
    try:
        with new_store:
            _fill_store(new_store, log_file)
    except BaseException:
        remove_store(new_store.path)
        raise


def _fill_store(store: Store, log: Path) -> None:
    reading = Reading()
    with store.write() as connection:
        columns: dict[str, list[StoreColumn]] = {}
        for place, table, row in _log_rows(log, reading):
            if table == HEADER:
                # Later tables and columns get the values of a migration.
                with closing(sqlite3.connect(":memory:", factory=StoreConnection)) as empty_store:
                    migrate(empty_store, STEPS[: row[HEADER]])
                    columns = {table: read_columns(empty_store, table) for table in TABLES}
            else:
                check_row(place, table, row, columns[table])
                _insert(connection, place, table, row)
        reading.check()
        if connection.row("SELECT 1 FROM project") is None:
            raise InputError(f"{short(log)} has no project: expected a whole log")
        if problems := check_store(connection, short(log)).problems:
            raise InputError(f"{short(log)}: {problems[0]} Expected a log as it was exported")
        digest = sha256()
        with log.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        record(connection, "restore", log=digest.hexdigest())


def _log_rows(log: Path, reading: Reading) -> Iterator[tuple[FileLocation, str, Mapping[str, Any]]]:
    """Yield the header of a log, then the table and values of each row."""
    header: Mapping[str, Any] | None = None
    count = 0
    for place, line in read_json_lines(log, reading):
        if header is None:
            header, version = line, line.get(HEADER)
            if not is_integer(version) or not 0 < version <= len(STEPS):  # type: ignore[operator]
                expected = f'expected {{"studio": {len(STEPS)}, …}}, the first line of a log'
                raise InputError(f"{place}: found {quoted(header)}, {expected}")
            yield place, HEADER, line
            continue
        count += 1
        table, row = next(iter(line.items()), ("", None))
        if len(line) != 1 or table not in TABLES or not isinstance(row, dict):
            expected = "expected the name of a table and a row of it"
            raise InputError(f"{place}: found {quoted(line)}, {expected}")
        yield place, table, row
    reading.check()
    if header is None:
        raise InputError(f"{short(log)} is empty: expected the log of a store")
    if header.get(ROWS, count) != count:
        expected = f"found {count:,} rows, expected {quoted(header[ROWS])}, as the first line says"
        raise InputError(f"{short(log)} is not whole: {expected}")


def _insert(
    connection: StoreConnection, place: FileLocation, table: str, row: Mapping[str, Any]
) -> None:
    """Insert a row, with JSON as text; that of judgements and decisions is canonical."""
    values, sorts_keys = dict(row), table in ("judgement", "adjudication")
    if table == "assessor":
        values["token_hash"] = hash_token(token_urlsafe(32))
    for name, value in row.items():
        if is_json(table, name) and value is not None:
            values[name] = json.dumps(value, ensure_ascii=False, sort_keys=sorts_keys)
    try:
        connection.insert(table, **values)
    except (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError) as error:
        raise InputError(
            f"{place}: not a row of {table} ({error}); expected a complete log"
        ) from None
    except OverflowError:
        raise InputError(f"{place}: a number is too large for a row of {table}") from None
