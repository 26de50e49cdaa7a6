"""Tables in memory: data frames of any library, lists of dicts, dicts of lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import islice
from typing import Any
from uuid import UUID

from karat.errors import InputError, quoted
from karat.installation import import_package
from karat.registry import load
from karat.tables.arrow_files import make_records, plain_value
from karat.tables.files import InputTable, numbered_names

NAME = "table"
"""Name of a table in memory, for messages."""

_Columns = tuple[list[str], Iterator[Sequence[Any]]]


def is_frame(data: Any) -> bool:
    """Return whether this is a data frame, a list of dicts or a dict of lists."""
    if isinstance(data, Mapping):
        return bool(data) and all(_is_column(values) for values in data.values())
    return load("karat.arrow.frames:as_frame")(data) is not None


def _is_column(values: Any) -> bool:
    return isinstance(values, list | tuple) or hasattr(values, "tolist")


def read_frame(data: Any, limit: int | None = None) -> InputTable:
    """Return the records of a table in memory."""
    if isinstance(data, type):
        raise InputError(f"{data.__name__} is a class, expected a data frame or a list of dicts")
    try:
        table = _read_table(data, limit)
    except RecursionError as error:
        raise InputError(f"{NAME}: a cell is nested too deep, or contains itself") from error
    _check_values(table)
    return table


_VALUES = (str, int, float, Decimal, Fraction, Mapping, list, date, time, timedelta, UUID, Enum)
_HUGE = 10_000  # bits


def _check_values(table: InputTable) -> None:
    """Refuse cells that are neither texts nor numbers, dates, lists or objects."""
    cells = ((row, *cell) for row, record in enumerate(table.records) for cell in record.items())
    for row, column, value in cells:
        if value is None or type(value) in (str, float):
            continue
        is_huge = isinstance(value, int) and value.bit_length() > _HUGE
        is_known = isinstance(value, _VALUES) or hasattr(value, "dtype") or _is_missing(value)
        if is_huge or not (is_known or isinstance(value, complex)):
            kind = "a number with too many digits" if is_huge else type(value).__name__
            raise InputError(
                f"{table.location(row)}: found {kind} in column {quoted(column)}, expected text or "
                "a number"
            )


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in ("NAType", "NaTType")


def _read_table(data: Any, limit: int | None) -> InputTable:
    if isinstance(data, list | tuple) and data:
        return _read_records(data, limit)
    if isinstance(data, Mapping):
        names, rows = _columns_of_mapping(data)
    else:
        names, rows = _columns_of_frame(data)
    names = numbered_names(names)
    records = make_records(names, islice(rows, limit))
    if not records:
        raise InputError(f"{NAME} has no rows")
    levels = _column_levels(data)
    return InputTable(
        NAME, "frame", tuple(names), records, range(1, len(records) + 1), levels=levels
    )


def _column_levels(data: Any) -> tuple[str, ...]:
    """Return the names of the levels of a pandas frame's columns, if it has several."""
    levels = getattr(getattr(data, "columns", None), "names", ())
    return tuple("" if level is None else str(level) for level in levels) if len(levels) > 1 else ()


def _read_records(data: Sequence[Any], limit: int | None) -> InputTable:
    records = []
    for at, record in enumerate(islice(data, limit)):
        if not isinstance(record, Mapping):
            kind = type(record).__name__
            raise InputError(f"{NAME}, row {at + 1:,}: expected a dict, found {kind}")
        records.append({str(key): plain_value(value) for key, value in record.items()})
    columns = tuple(dict.fromkeys(key for record in records for key in record))
    return InputTable(NAME, "frame", columns, records, range(1, len(records) + 1))


def _columns_of_mapping(data: Mapping[Any, Any]) -> _Columns:
    columns = {str(key): values for key, values in data.items()}
    for key, values in columns.items():
        if not _is_column(values):
            kind = type(values).__name__
            raise InputError(f"{NAME}: the column {quoted(key)} is {kind}, expected a list")
    sizes = {key: len(values) for key, values in columns.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(f"{NAME}: columns have different lengths: {quoted(sizes)}")
    return list(columns), zip(*columns.values(), strict=True)


def _columns_of_frame(data: Any) -> _Columns:
    packages = {base.__module__.partition(".")[0] for base in type(data).__mro__}
    if "pandas" in packages and hasattr(data, "columns"):
        return _columns_of_pandas(data)
    frame = load("karat.arrow.frames:as_frame")(data)
    if frame is None:
        if "datasets" in packages and isinstance(data, dict):
            raise InputError(f"{NAME} has several splits: choose one")
        kind = type(data).__name__
        raise InputError(
            f"{kind} is not a table: expected a path, a data frame, a list of dicts or a dict of "
            "lists"
        )
    if "polars" in packages:
        return list(data.columns), data.iter_rows()
    if "datasets" in packages:
        names = frame.names
        return names, ([row[name] for name in names] for row in data)
    return _columns_of_arrow(data)


def _columns_of_pandas(data: Any) -> _Columns:
    names = [_column_label(label) for label in data.columns]
    columns = [data.iloc[:, at].tolist() for at in range(len(names))]
    index = data.index
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    if type(index).__name__ != "RangeIndex" or index.name is not None:
        for level, label in zip(reversed(levels), reversed(index.names), strict=True):
            labels = level.tolist()
            if label is None and not all(isinstance(value, str) for value in labels):
                continue  # numbers of rows before they were filtered, sorted or joined
            names = ["index" if label is None else str(label), *names]
            columns = [labels, *columns]
    if not names:
        raise InputError(f"{NAME} has no columns")
    return names, zip(*columns, strict=True)


def _column_label(label: Any) -> str:
    parts = label if isinstance(label, tuple) else (label,)
    return "/".join(str(part) for part in parts if part not in (None, ""))


def _columns_of_arrow(data: Any) -> _Columns:
    arrow = import_package("pyarrow", "arrow", "Arrow tables")
    if isinstance(data, arrow.Table | arrow.RecordBatch | arrow.RecordBatchReader):
        table = data
    elif hasattr(data, "__arrow_c_stream__"):
        table = arrow.RecordBatchReader.from_stream(data)
    else:
        table = arrow.record_batch(data)
    batches: Any = [table] if isinstance(table, arrow.RecordBatch) else table
    if isinstance(table, arrow.Table):
        batches = table.to_batches()

    def rows() -> Iterator[Sequence[Any]]:
        for batch in batches:
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    return list(table.schema.names), rows()
