"""The tables of a store, version after version.

`STEPS[n]` migrates a store from version n to n + 1; version 0 is an empty file. Released steps do
not change: a change of the tables is a further step.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from karat.errors import InputError

APPLICATION = 0x4B535444  # KSTD


class StoreConnection(sqlite3.Connection):
    """A connection to a store, with shortcuts for queries."""

    def row(self, query: str, *values: object) -> Any:
        """Return the first row, or None."""
        return self.execute(query, values).fetchone()

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return all rows."""
        return self.execute(query, values).fetchall()

    def value(self, query: str, *values: object) -> Any:
        """Return the first column of the first row, which must exist."""
        return self.row(query, *values)[0]

    def optional_value(self, query: str, *values: object) -> Any:
        """Return the first column of the first row, or None."""
        row = self.row(query, *values)
        return None if row is None else row[0]

    def newest(self, table: str, *columns: str, **target: object) -> Any:
        """Return columns of the newest row with some values; None for each if there is none."""
        conditions = " AND ".join(f"{name} IS ?" for name in target)
        query = f"SELECT {', '.join(columns)} FROM {table} WHERE {conditions} ORDER BY id DESC"
        return self.row(f"{query} LIMIT 1", *target.values()) or (None,) * len(columns)

    def column(self, query: str, *values: object) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in self.execute(query, values)]

    def insert(self, table: str, **values: object) -> int:
        """Add a row and return its id."""
        marks = ", ".join("?" * len(values))
        query = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"
        return int(self.execute(query, (*values.values(),)).lastrowid or 0)


class DamagedStore(InputError):
    """A store that SQLite cannot read, or with rows that the studio did not write."""


_FIRST = """
CREATE TABLE project (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,
    made TEXT NOT NULL,
    settings TEXT NOT NULL,           -- JSON
    state TEXT NOT NULL CHECK (state IN ('open', 'frozen', 'revealed')),
    set_digest TEXT NOT NULL,
    seed INTEGER NOT NULL,
    units INTEGER NOT NULL            -- how many there are to judge
);
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    segment TEXT UNIQUE,              -- null for calibration, which is not of the set
    grp TEXT,
    source TEXT,
    context TEXT,
    refs TEXT NOT NULL,               -- JSON list
    ord INTEGER NOT NULL,
    outputs INTEGER NOT NULL,         -- how many there are
    calibration INTEGER NOT NULL DEFAULT 0,
    CHECK ((segment IS NULL) = calibration)
);
CREATE TABLE output (
    id INTEGER PRIMARY KEY,           -- in an order that says nothing of systems
    item INTEGER NOT NULL REFERENCES item,
    system TEXT NOT NULL,             -- not sent to browsers before the reveal
    text TEXT NOT NULL,
    hash TEXT NOT NULL,
    predicted REAL                    -- the value of a metric or model, more is better
);
CREATE INDEX output_item ON output (item);
CREATE TABLE dimension (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL            -- JSON
);
CREATE TABLE nugget (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES item,
    nugget TEXT NOT NULL,
    importance TEXT NOT NULL,
    descriptions TEXT NOT NULL,       -- JSON list
    UNIQUE (item, nugget)
);
CREATE TABLE draw (
    item INTEGER PRIMARY KEY REFERENCES item,
    round INTEGER NOT NULL,
    probability REAL NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX draw_round ON draw (round);
CREATE TABLE unit (
    id INTEGER PRIMARY KEY,
    task TEXT NOT NULL,
    item INTEGER NOT NULL REFERENCES item,
    outputs TEXT NOT NULL,            -- JSON list of ids, sorted
    round INTEGER NOT NULL,           -- 0 for calibration
    taken INTEGER NOT NULL DEFAULT 0, -- assessors who judged it or have a lease
    answer TEXT,                      -- JSON, the known answer of a calibration unit
    UNIQUE (task, item, outputs)
);
CREATE INDEX unit_round ON unit (round, taken);
CREATE TABLE assessor (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    token_hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('assessor', 'adjudicator', 'owner')),
    quota INTEGER,
    seed INTEGER NOT NULL,
    active INTEGER NOT NULL DEFAULT 1,
    made TEXT NOT NULL,
    frontier INTEGER NOT NULL DEFAULT 1,  -- earlier rounds have nothing for this assessor
    assigned INTEGER NOT NULL DEFAULT 0,
    judged INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE assignment (
    id INTEGER PRIMARY KEY,
    unit INTEGER NOT NULL REFERENCES unit,
    assessor INTEGER NOT NULL REFERENCES assessor,
    task TEXT NOT NULL,
    item INTEGER NOT NULL REFERENCES item,
    outputs TEXT NOT NULL,            -- JSON list of ids in the order shown
    reason TEXT NOT NULL,
    probability REAL,
    round INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    ord INTEGER NOT NULL,
    lease TEXT,                       -- when it ends; null if it has ended
    made TEXT NOT NULL,
    judged INTEGER,                   -- the newest judgement, if that is complete
    UNIQUE (assessor, unit)
);
CREATE INDEX assignment_unit ON assignment (unit);
CREATE INDEX assignment_open ON assignment (assessor, ord) WHERE judged IS NULL;
CREATE INDEX assignment_lease ON assignment (lease) WHERE judged IS NULL AND lease IS NOT NULL;
CREATE TABLE judgement (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    assignment INTEGER NOT NULL REFERENCES assignment,
    assessor INTEGER NOT NULL REFERENCES assessor,
    value TEXT,                       -- JSON; null if undone
    ms INTEGER NOT NULL,
    supersedes INTEGER UNIQUE REFERENCES judgement,
    time TEXT NOT NULL
);
CREATE INDEX judgement_assignment ON judgement (assignment);
CREATE TABLE adjudication (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL,
    item INTEGER NOT NULL REFERENCES item,
    output INTEGER REFERENCES output,
    about TEXT NOT NULL,              -- a dimension or a nugget
    value TEXT,                       -- JSON; null if withdrawn
    assessor INTEGER NOT NULL REFERENCES assessor,
    seen TEXT NOT NULL,               -- JSON, the judgements that were shown
    supersedes INTEGER UNIQUE REFERENCES adjudication,
    time TEXT NOT NULL
);
CREATE INDEX adjudication_target ON adjudication (task, item, output, about);
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    assessor INTEGER REFERENCES assessor,
    what TEXT NOT NULL,
    detail TEXT NOT NULL              -- JSON
);
""" + "".join(
    f"""
CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table}
BEGIN SELECT RAISE(ABORT, 'rows of {table} are never changed'); END;
"""
    for table in ("judgement", "adjudication", "event", "draw")
    for verb in ("UPDATE", "DELETE")
)

_KEY_EDITS = """
ALTER TABLE nugget ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;  -- no longer in the key
ALTER TABLE nugget ADD COLUMN ord INTEGER;  -- place in the key, null if the id tells
CREATE TABLE key_edit (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES item,
    assessor INTEGER NOT NULL REFERENCES assessor,
    what TEXT NOT NULL CHECK (what IN ('add', 'reword', 'drop', 'importance', 'undo')),
    old_nugget INTEGER REFERENCES nugget,  -- the nugget that was there, null if none was
    old_importance TEXT,
    new_nugget INTEGER REFERENCES nugget,  -- the nugget that is there now, null if none is
    new_importance TEXT,
    concerned INTEGER NOT NULL,            -- judgements and decisions that this changed
    undoes INTEGER UNIQUE REFERENCES key_edit,
    supersedes INTEGER UNIQUE REFERENCES key_edit,  -- the edit before, of the same question
    time TEXT NOT NULL,
    CHECK ((what = 'undo') = (undoes IS NOT NULL))
);
CREATE INDEX key_edit_item ON key_edit (item);
CREATE INDEX key_edit_old ON key_edit (old_nugget);
CREATE INDEX key_edit_new ON key_edit (new_nugget);
CREATE INDEX nugget_dropped ON nugget (item) WHERE dropped;
CREATE TRIGGER nugget_words BEFORE UPDATE OF id, item, nugget, descriptions ON nugget
BEGIN SELECT RAISE(ABORT, 'the words of nuggets are never changed'); END;
CREATE TRIGGER nugget_DELETE BEFORE DELETE ON nugget
BEGIN SELECT RAISE(ABORT, 'nuggets stay, also when they leave the key'); END;
""" + "".join(
    f"""
CREATE TRIGGER key_edit_{verb} BEFORE {verb} ON key_edit
BEGIN SELECT RAISE(ABORT, 'rows of key_edit are never changed'); END;
"""
    for verb in ("UPDATE", "DELETE")
)

STEPS: tuple[str, ...] = (_FIRST, _KEY_EDITS)
"""The SQL from each version to the next."""


def statements(script: str) -> list[str]:
    """Split a script into statements; triggers contain semicolons, too."""
    complete, statement = [], ""
    for piece in script.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            complete.append(statement)
            statement = ""
    return complete


def migrate(connection: StoreConnection, steps: Sequence[str] = STEPS) -> None:
    """Migrate a store to the newest version, within the caller's transaction."""
    version = connection.value("PRAGMA user_version")
    for step in steps[version:]:
        for statement in statements(step):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {len(steps)}")
