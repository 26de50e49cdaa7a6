"""Stores as sets: every command that reads a set can read a store.

karat meta my-set.studio.sqlite
karat nuggets score RUN --key my-set.studio.sqlite
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from karat.evalset.catalogue import SetFormat
from karat.studio.store.schema import APPLICATION

_MAGIC = b"SQLite format 3\0"
_READER = "karat.studio.export.sets"


def _tasks(path: Path) -> tuple[str, ...]:
    """Return the names of the tasks of a store; () if the file is not a readable store."""
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return ()
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as store:
            if store.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
                return ()
            (settings,) = store.execute("SELECT settings FROM project").fetchone()
        return tuple(json.loads(settings)["tasks"])
    except (OSError, sqlite3.Error, TypeError, ValueError, KeyError):
        return ()


def has_ratings(path: Path) -> bool:
    """Return whether a file is a store in which outputs are rated, compared or marked."""
    return any(task != "nuggets" for task in _tasks(path))


def has_nuggets(path: Path) -> bool:
    """Return whether a file is a store in which nuggets are decided."""
    return "nuggets" in _tasks(path)


def is_store(path: Path) -> bool:
    """Return whether a file is a store with a project."""
    return bool(_tasks(path))


RATED = SetFormat(
    f"{_READER}:read_rated_store", detects=has_ratings, about="store of a karat studio project"
)
NUGGETS = SetFormat(f"{_READER}:read_nugget_store", detects=has_nuggets)
