"""`read_outputs`: an evaluation set from any table, or from several with a system each."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from karat.errors import InputError, quoted
from karat.evalset.loading import KNOWN, has_set_format, load_evalset
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.progress import Progress, silent
from karat.tables.alignment import find_ids, with_reference_files
from karat.tables.files import InputTable, TableSource, read_table
from karat.tables.options import ColumnNames, ReadingOptions, ScaleTexts
from karat.tables.roles import infer_roles
from karat.tables.rows import TableRows, make_rows
from karat.tables.set_rows import build_set

NamedSource: TypeAlias = tuple[str, TableSource]
"""The name of a system and its table; "" if the table or its file names the system."""


def read_outputs(
    source: TableSource | Sequence[TableSource] | Mapping[str, TableSource],
    *,
    columns: ColumnNames | None = None,
    sheet: str | None = None,
    header: str | int | None = None,
    skip_missing: bool = False,
    repeats: str | None = None,
    scale: ScaleTexts | None = None,
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
    options = ReadingOptions.parse(
        columns=columns,
        sheet=sheet,
        header=header,
        skip_missing=skip_missing,
        repeats=repeats,
        scale=scale,
        schema=schema,
        encoding=encoding,
        separator=separator,
        decimal=decimal,
    )
    if name is not None and not isinstance(name, str):
        raise InputError(f"name={quoted(name)}: expected a text")
    if not callable(progress):
        raise InputError(f"progress={quoted(progress)}: expected a function")
    if isinstance(source, type):
        raise InputError(f"{source.__name__} is a class, expected a table")
    sources = _sources(source)
    paths = [path for _, path in sources if isinstance(path, str | os.PathLike)]
    if len(sources) == 1 and paths and not options.columns and _is_other_set(paths[0]):
        return load_evalset(paths[0], progress=progress)
    return read_sources(sources, options, name, progress)


def _sources(source: Any) -> list[NamedSource]:
    """Return the tables in a source, with the names of their systems."""
    if isinstance(source, Mapping) and source:
        values = list(source.values())
        if all(isinstance(v, str | os.PathLike) or _is_frame(v) for v in values):
            return [(str(name), value) for name, value in source.items()]
    is_list = isinstance(source, list | tuple) and source and not isinstance(source[0], Mapping)
    if is_list and all(isinstance(item, str | os.PathLike) or _is_frame(item) for item in source):
        return [("", item) for item in source]
    return [("", source)]


def _is_frame(value: Any) -> bool:
    """Return whether a value is a table, not a column of one."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, Mapping) for item in value)
    return hasattr(value, "columns") or hasattr(value, "column_names") or isinstance(value, Mapping)


def _is_other_set(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a set of another format, or the name of a known set."""
    place = Path(path)
    if not place.exists():
        return str(path) in KNOWN
    return place.is_dir() or (place.is_file() and has_set_format(place))


def read_sources(
    sources: Sequence[NamedSource],
    options: ReadingOptions,
    name: str | None = None,
    progress: Progress = silent,
) -> EvalSet:
    """Return the set of one table, or of several with a system each."""
    with _collection_paused():
        rows, remark = read_rows(sources, options, progress)
        first = rows[0].table
        title = name or (first.system if len(rows) == 1 else "") or "outputs"
        return build_set(rows, options, title, remark)


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Pause garbage collection: it takes a third of the time for many small records."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read_rows(
    sources: Sequence[NamedSource], options: ReadingOptions, progress: Progress = silent
) -> tuple[list[TableRows], str]:
    """Return the rows of each table by role, with ids of items that tables share."""
    from karat.tables.schemas import apply_schema

    prepared = []
    for system, source in sources:
        table = read_table(source, options, progress=progress)
        if system:
            table = replace(table, system=system)
        prepared.append(apply_schema(table, options))
    tables = [table for table, _ in prepared]
    schemas = [schema for _, schema in prepared]
    is_named = any(system for system, _ in sources)
    if len(tables) > 1 and not is_named and not any(schemas):
        tables = with_reference_files(tables)
        schemas = [None] * len(tables)
    roles = [
        infer_roles(table, options, schema) for table, schema in zip(tables, schemas, strict=True)
    ]
    if options.scale and not any(table_roles.has_ratings for table_roles in roles):
        problem = f"{tables[0].name} has no ratings, and --rating-scale is the scale of ratings"
        raise InputError(f"{problem}: leave it out, or name their column with --column score=NAME")
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
    path: Path, reading: Reading, *, name: str | None = None, **options: Any
) -> EvalSet:
    """Return the set of any table: CSV, TSV, JSON, JSONL, parquet, Arrow, XLSX.

    Options are the settings of `ReadingOptions`. The first remark of the set says how the table was
    read.
    """
    return read_sources([("", path)], ReadingOptions.parse(**options), name, reading.progress)
