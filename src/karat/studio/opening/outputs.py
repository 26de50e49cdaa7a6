"""Outputs that are no set yet: a folder of text files, or a table with a column for each system.

Files and columns named `source`, `reference` (also `reference1`, `reference2` and so on), and
columns named `id` and `group`, are what these names say; all others are systems.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.reading import Reading, csv_records, read_lines
from karat.evalset.sets import EvalSet

SUFFIXES = (".csv", ".tsv")
_REFERENCE = re.compile(r"reference\d*")
_OTHERS = ("id", "group", "source")


def is_outputs(path: Path) -> bool:
    """Return whether a path is a folder of text files and nothing else, or a table."""
    if not path.is_dir():
        return path.suffix in SUFFIXES and path.is_file()
    files = [one for one in path.iterdir() if not one.name.startswith(".")]
    return bool(files) and all(one.suffix == ".txt" and one.is_file() for one in files)


def read_outputs(path: Path) -> EvalSet:
    """Return a set of the outputs of a folder or table."""
    reading = Reading()
    columns = _folder(path) if path.is_dir() else _table(path, reading)
    reading.check()
    systems = {
        name: texts
        for name, texts in columns.items()
        if name not in _OTHERS and not _REFERENCE.fullmatch(name)
    }
    if not systems:
        what = "files of systems beside source and references" if path.is_dir() else "columns"
        raise InputError(f"{short(path)} has no outputs: expected {what}, one for each system")
    count = len(next(iter(systems.values())))
    references = [texts for name, texts in columns.items() if _REFERENCE.fullmatch(name)]
    draft = EvalSetDraft(
        path.name.split(".")[0] or "set",
        columns.get("id") or [str(k + 1) for k in range(count)],
        systems,
        reading=reading,
        where=path,
        references=list(zip(*references, strict=True)) if references else None,
        groups=columns.get("group"),
        sources=columns.get("source"),
    )
    return draft.finish()


def _folder(path: Path) -> Mapping[str, Sequence[str]]:
    """Return the lines of each file, which must be equally many."""
    files = sorted(one for one in path.iterdir() if one.suffix == ".txt")
    found = {one.stem: read_lines(one) for one in files}
    for one in files[1:]:
        lines, first = len(found[one.stem]), len(found[files[0].stem])
        if lines != first:
            told = f"expected {first:,} as in {files[0].name}, one segment a line"
            raise InputError(f"{short(one)} has {lines:,} lines, {told}")
    return found


def _table(path: Path, reading: Reading) -> Mapping[str, Sequence[str]]:
    """Return the columns of a table with a header."""
    rows = list(
        csv_records(path, reading)
        if path.suffix == ".csv"
        else ((place, line.split("\t")) for place, line in reading.numbered(read_lines(path), path))
    )
    if len(rows) < 2:
        raise InputError(f"{short(path)}: expected a header and a row for each segment")
    header = rows[0][1]
    if twice := [name for name in header if header.count(name) > 1 or not name.strip()]:
        told = "expected a name of its own for each column"
        raise InputError(f"{short(path)}, line 1: found {quoted(twice[0])}, {told}")
    for place, row in rows[1:]:
        if len(row) != len(header):
            reading.problem(place, f"found {len(row)} columns, expected {len(header)}")
    reading.check()
    return {name: [row[k] for _, row in rows[1:]] for k, name in enumerate(header)}
