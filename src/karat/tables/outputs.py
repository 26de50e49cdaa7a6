"""`read_outputs`: an evaluation set from any table, or from several with a system each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.catalogue import first_line
from karat.evalset.loading import EVALSETS, is_native_jsonl, load_evalset
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.progress import Progress, silent
from karat.settings import NamedTexts
from karat.tables.alignment import find_ids
from karat.tables.files import InputTable, TableSource, read_table
from karat.tables.options import ReadingOptions
from karat.tables.roles import infer_roles
from karat.tables.rows import TableRows, make_rows
from karat.tables.set_rows import build_set


def read_outputs(
    source: TableSource | Sequence[TableSource] | Mapping[str, TableSource],
    *,
    columns: Mapping[str, str | Sequence[str]] | Sequence[str] | None = None,
    sheet: str | None = None,
    header: str | int | None = None,
    skip_missing: bool = False,
    repeats: str | None = None,
    scale: Mapping[str, str] | Sequence[str] | str | None = None,
    schema: str | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    name: str | None = None,
    progress: Progress = silent,
) -> EvalSet:
    """Return the outputs, references and ratings of any table as an evaluation set.

    Roles of columns come from `columns`, the known export of a tool, usual names, and contents. A
    table with several readings is refused with the setting for each. The first of the set's
    `remarks` says how the table was read.

    Args:
        source: a file (CSV, TSV, JSON, JSONL, parquet, Arrow, XLSX, or `-`), a data frame, records;
            a list of files with a system each; or sources by the names of their systems.
        columns: columns by role, such as `{"candidate": "text"}` or `["candidate=text"]`.
        sheet: sheet of a workbook.
        header: line or row of the header.
        skip_missing: leave out segments without an output of every system or without a reference.
        repeats: rows of a system with the same id: `answers`, `first` or `last`.
        scale: scales by dimension, such as `{"fluency": "1..5", "tone": "bad,ok,good"}`.
        schema: name of a known export; `none` for none.
        encoding: encoding of a text file, if its bytes do not show it.
        separator: separator of fields in a text file.
        decimal: decimal separator of numbers.
        name: name of the set; by default that of the file.
        progress: function that is called with the progress.
    """
    options = ReadingOptions(
        columns=NamedTexts(_by_name(columns, "columns")),
        sheet=sheet,
        header=None if header is None else str(header),
        encoding=encoding,
        separator=separator,
        decimal=decimal,
        skip_missing=skip_missing,
        repeats=repeats,
        scale=NamedTexts(_scales(scale)),
        schema=schema,
    )
    sources = _sources(source)
    paths = [path for path in sources.values() if isinstance(path, str | os.PathLike)]
    if len(sources) == 1 and paths and not options.columns and _is_other_set(paths[0]):
        return load_evalset(paths[0], progress=progress)
    return read_sources(sources, options, name, progress)


def _by_name(
    columns: Mapping[str, str | Sequence[str]] | Sequence[str] | None, title: str
) -> dict[str, str]:
    """Return columns by role from a mapping, or from texts such as `candidate=text`."""
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, Mapping):
        return {
            str(role): names if isinstance(names, str) else ",".join(map(str, names))
            for role, names in columns.items()
        }
    parsed: dict[str, str] = {}
    for text in columns or ():
        role, equals, column = str(text).partition("=")
        if not role or not equals or not column:
            raise InputError(f"{title}: found {quoted(text)}, expected ROLE=NAME")
        parsed[role] = f"{parsed[role]},{column}" if role in parsed else column
    return parsed


def _scales(scale: Mapping[str, str] | Sequence[str] | str | None) -> dict[str, str]:
    """Return scales by dimension; a scale without a dimension is that of all."""
    if isinstance(scale, Mapping):
        return dict(scale)
    texts = [scale] if isinstance(scale, str) else list(scale or ())
    pairs = [text.partition("=") for text in texts]
    return {name if equals else "*": text if equals else name for name, equals, text in pairs}


def _sources(source: Any) -> dict[str, Any]:
    """Return sources by the names of their systems; "" if the source has its own."""
    if isinstance(source, Mapping) and source:
        values = list(source.values())
        if all(isinstance(v, str | os.PathLike) or _is_frame(v) for v in values):
            return {str(name): value for name, value in source.items()}
    is_list = isinstance(source, list | tuple) and source and not isinstance(source[0], Mapping)
    if is_list and all(isinstance(item, str | os.PathLike) or _is_frame(item) for item in source):
        return {f"\0{i}": item for i, item in enumerate(source)}
    return {"": source}


def _is_frame(value: Any) -> bool:
    """Return whether a value is a table, not a column of one."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, Mapping) for item in value)
    return hasattr(value, "columns") or hasattr(value, "column_names") or isinstance(value, Mapping)


def _is_other_set(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a set of another format, or the name of a known set."""
    if str(path) in EVALSETS.known_sets and not Path(path).exists():
        return True
    place = Path(path)
    if place.is_dir():
        return True
    if not place.is_file():
        return False
    line = first_line(place)
    return EVALSETS.find_format(place, line) is not None or is_native_jsonl(place, line)


def read_sources(
    sources: Mapping[str, TableSource],
    options: ReadingOptions,
    name: str | None = None,
    progress: Progress = silent,
) -> EvalSet:
    """Return the set of one table, or of several with a system each."""
    rows, remark = read_rows(sources, options, progress)
    first = rows[0].table
    title = name or (first.system if len(rows) == 1 else "") or "outputs"
    return build_set(rows, options, title, remark)


def read_rows(
    sources: Mapping[str, TableSource], options: ReadingOptions, progress: Progress = silent
) -> tuple[list[TableRows], str]:
    """Return the rows of each table by role, with ids of items that tables share."""
    from karat.tables.schemas import apply_schema

    tables: list[InputTable] = []
    roles = []
    for system, source in sources.items():
        table = read_table(source, options, progress=progress)
        if system and not system.startswith("\0"):
            table = replace(table, system=system)
        table, schema = apply_schema(table, options)
        tables.append(table)
        roles.append(infer_roles(table, options, schema))
    tables = _distinct_systems(tables)
    ids, remark = find_ids(tables, roles)
    rows = [
        make_rows(table, table_roles, options, table_ids)
        for table, table_roles, table_ids in zip(tables, roles, ids, strict=True)
    ]
    return rows, remark


def _distinct_systems(tables: Sequence[InputTable]) -> list[InputTable]:
    """Return tables whose systems differ: files of one name are named with their folders."""
    names = [table.system for table in tables]
    if len({*names}) == len(names):
        return list(tables)
    paths = [Path(table.name) for table in tables]
    distinct = []
    for table, path in zip(tables, paths, strict=True):
        is_shared = names.count(table.system) > 1
        distinct.append(
            replace(table, system=f"{path.parent.name}/{table.system}") if is_shared else table
        )
    labels = [table.system for table in distinct]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise InputError(
            f"two files have the system {quoted(twice)}: give systems names, as in NAME=FILE"
        )
    return distinct


def read_table_set(
    path: Path,
    reading: Reading,
    *,
    columns: str | Sequence[str] = (),
    sheet: str | None = None,
    header: str | None = None,
    skip_missing: bool | str = False,
    repeats: str | None = None,
    scale: str | Sequence[str] = (),
    schema: str | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    name: str | None = None,
) -> EvalSet:
    """Return the set of any table: CSV, TSV, JSON, JSONL, parquet, Arrow, XLSX.

    Roles of columns are inferred; `columns=candidate=text;id=item` names them. The first remark of
    the set says how the table was read.
    """
    parts = columns.split(";") if isinstance(columns, str) else columns
    scales = scale.split(";") if isinstance(scale, str) else scale
    if str(skip_missing) not in ("True", "False", "yes", "no", "true", "false"):
        raise InputError(f"skip_missing={skip_missing}: expected yes or no")
    options = ReadingOptions(
        columns=NamedTexts(_by_name([part for part in parts if part], "columns")),
        sheet=sheet,
        header=header,
        encoding=encoding,
        separator=separator,
        decimal=decimal,
        skip_missing=str(skip_missing) in ("True", "yes", "true"),
        repeats=repeats,
        scale=NamedTexts(_scales([part for part in scales if part])),
        schema=schema,
    )
    return read_sources({"": path}, options, name, reading.progress)
