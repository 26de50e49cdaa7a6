"""Sets from plain outputs: a folder of text files, or a table.

A wide table has a column for each system. A long table has a row for each output, with columns for
the item, the system and the text. Columns are recognised by their names (`ROLES`). Other columns of
a wide table are systems; those of a long table are not used. Columns that look like ratings are
never systems.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.reading import (
    FileLocation,
    Reading,
    output_columns,
    parse_number,
    read_lines,
    read_rows,
)
from karat.evalset.sets import EvalSet

SUFFIXES = (".csv", ".tsv")
ITEM, SYSTEM, TEXT, GROUP, SOURCE = "id", "system", "text", "group", "source"
ROLES = {
    ITEM: ("id", "item", "item_id", "segment", "segment_id", "seg_id"),
    SYSTEM: ("system", "system_id", "model"),
    TEXT: ("text", "output", "candidate", "hypothesis"),
    GROUP: ("group",),
    SOURCE: ("source",),
}
"""Role of a column -> its names."""
_REFERENCE = re.compile(r"reference\d*")
_RATING = re.compile(r"(.*[ _-])?(ratings?|scores?|raters?|judges?|annotators?|assessors?|labels?)")
LONG = "a table with a row for each output needs columns called id, system and text"
WIDE = "a table with a row for each segment needs a column for each system"


class _Table(NamedTuple):
    """The columns of a table by name, and the location of each row."""

    path: Path
    columns: Mapping[str, Sequence[str]]
    lines: Sequence[FileLocation]


def is_output_files(path: Path) -> bool:
    """Return whether a path is a folder with text files only, or a table."""
    if not path.is_dir():
        return path.suffix in SUFFIXES and path.is_file()
    files = [file for file in path.iterdir() if not file.name.startswith(".")]
    return bool(files) and all(file.suffix == ".txt" and file.is_file() for file in files)


def read_outputs(path: Path, print_line: Callable[[str], None] = lambda line: None) -> EvalSet:
    """Return the set of a folder or table; `print_line` reports unused columns."""
    if path.is_dir():
        return _wide_set(path, _read_folder(path), Reading())
    reading = Reading()
    table = _read_table(path, reading)
    roles = _find_roles(table)
    if SYSTEM in roles or TEXT in roles:
        return _long_set(table, roles, print_line)
    _check_systems(table, roles)
    names = {name: role for role, name in roles.items()}
    names |= {name: name.strip().lower() for name in table.columns if _is_reference(name)}
    columns = {names.get(name, name): texts for name, texts in table.columns.items()}
    return _wide_set(path, columns, reading)


def _wide_set(path: Path, columns: Mapping[str, Sequence[str]], reading: Reading) -> EvalSet:
    """Return the set of a wide table; columns other than references and roles are systems."""
    systems = {
        name: texts
        for name, texts in columns.items()
        if name not in (ITEM, GROUP, SOURCE) and not _is_reference(name)
    }
    if not systems:
        expected = "files of systems beside source and references" if path.is_dir() else "columns"
        raise InputError(f"{short(path)} has no outputs: expected {expected}, one for each system")
    count = len(next(iter(systems.values())))
    items = columns.get(ITEM) or [str(k + 1) for k in range(count)]
    return _make_set(path, items, systems, columns, reading)


def _make_set(
    path: Path,
    items: Sequence[str],
    systems: Mapping[str, Sequence[str | None]],
    columns: Mapping[str, Sequence[str]],
    reading: Reading,
) -> EvalSet:
    """Return the set of systems; `columns` has references, groups and sources, if any."""
    references = [texts for name, texts in columns.items() if _is_reference(name)]
    draft = EvalSetDraft(
        path.name.split(".")[0] or "set",
        items,
        systems,
        reading=reading,
        location=path,
        references=list(zip(*references, strict=True)) if references else None,
        groups=columns.get(GROUP),
        sources=columns.get(SOURCE),
    )
    return draft.finish()


def _long_set(
    table: _Table, roles: Mapping[str, str], print_line: Callable[[str], None]
) -> EvalSet:
    """Return the set of a table with a row for each output."""
    if lacking := [role for role in (ITEM, SYSTEM, TEXT) if role not in roles]:
        columns = ", ".join(map(short, table.columns))
        advice = f"rename the column of the {lacking[0]} to {lacking[0]} ({LONG}; {WIDE})"
        raise InputError(f"{short(table.path)}, line 1: found the columns {columns}: {advice}")
    items, systems, texts = (table.columns[roles[role]] for role in (ITEM, SYSTEM, TEXT))
    outputs: dict[tuple[str, str], str] = {}
    for line, item, system, text in zip(table.lines, items, systems, texts, strict=True):
        if outputs.setdefault((system, item), text) != text:
            problem = f"found another text of {short(system)} for item {short(item)}"
            raise InputError(f"{line}: {problem}, expected one text for each item and system")
    segments = list(dict.fromkeys(items))
    shared = {role: roles[role] for role in (GROUP, SOURCE) if role in roles}
    shared |= {name: name for name in table.columns if _is_reference(name)}
    values = {role: _values_by_item(table, name, items) for role, name in shared.items()}
    used = {*roles.values(), *shared.values()}
    if unused := [name for name in table.columns if name not in used]:
        names = ", ".join(map(short, unused))
        print_line(f"{short(table.path.name)}: columns that are not used: {names}")
    columns_of_systems = output_columns(table.path, outputs, segments)
    return _make_set(table.path, segments, columns_of_systems, values, Reading())


def _values_by_item(table: _Table, name: str, items: Sequence[str]) -> list[str]:
    """Return the value of each item, which must be the same in all rows of the item."""
    values: dict[str, str] = {}
    for line, item, value in zip(table.lines, items, table.columns[name], strict=True):
        if values.setdefault(item, value) != value:
            problem = f"found another {short(name)} of item {short(item)}"
            raise InputError(f"{line}: {problem}, expected the same in all rows of an item")
    return list(values.values())


def _is_reference(name: str) -> bool:
    return _REFERENCE.fullmatch(name.strip().lower()) is not None


def _find_roles(table: _Table) -> dict[str, str]:
    """Return the columns with a role, by role."""
    roles: dict[str, str] = {}
    for name in table.columns:
        role = next((role for role, names in ROLES.items() if name.strip().lower() in names), None)
        if role is None:
            continue
        if role in roles:
            both = f"{quoted(roles[role])} and {quoted(name)}"
            advice = f"which both have the name of the {role}: rename one of them"
            raise InputError(f"{short(table.path)}, line 1: found the columns {both}, {advice}")
        roles[role] = name
    return roles


def _check_systems(table: _Table, roles: Mapping[str, str]) -> None:
    """Raise InputError for columns that look like ratings."""
    for name, texts in table.columns.items():
        if name in roles.values() or _is_reference(name):
            continue
        values = [value for value in texts if value.strip()]
        if values and all(parse_number(value) is not None for value in values):
            problem = f"the column {quoted(name)} holds only numbers, as ratings do"
            advice = "outputs that are numbers go into a folder of text files, one for each system"
        elif _RATING.fullmatch(name.strip().lower()):
            problem = f"the column {quoted(name)} is called as ratings are"
            advice = "if it is a system, rename it"
        else:
            continue
        raise InputError(f"{short(table.path)}: {problem}: remove it ({WIDE}; {LONG}; {advice})")


def _read_folder(path: Path) -> Mapping[str, Sequence[str]]:
    """Return the lines of each file; all files must have the same number."""
    files = sorted(file for file in path.iterdir() if file.suffix == ".txt")
    lines_by_name = {file.stem: read_lines(file) for file in files}
    for file in files[1:]:
        lines, first = len(lines_by_name[file.stem]), len(lines_by_name[files[0].stem])
        if lines != first:
            expected = f"expected {first:,} as in {files[0].name}, one segment a line"
            raise InputError(f"{short(file)} has {lines:,} lines, {expected}")
    return lines_by_name


def _read_table(path: Path, reading: Reading) -> _Table:
    """Return a table with a header."""
    rows = list(read_rows(path, reading, commas=path.suffix == ".csv"))
    if len(rows) < 2:
        raise InputError(f"{short(path)}: expected a header and a row for each segment")
    header = rows[0][1]
    if wrong_names := [name for name in header if header.count(name) > 1 or not name.strip()]:
        expected = "expected a name of its own for each column"
        raise InputError(f"{short(path)}, line 1: found {quoted(wrong_names[0])}, {expected}")
    for place, row in rows[1:]:
        if len(row) != len(header):
            reading.problem(place, f"found {len(row)} columns, expected {len(header)}")
    reading.check()
    columns = {name: [row[at] for _, row in rows[1:]] for at, name in enumerate(header)}
    return _Table(path, columns, [line for line, _ in rows[1:]])
