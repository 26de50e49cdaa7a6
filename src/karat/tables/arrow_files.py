"""Parquet files and Arrow files, read by pyarrow, or parquet by DuckDB."""

from __future__ import annotations

import glob
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any

from karat.errors import InputError
from karat.progress import Progress
from karat.registry import load
from karat.tables.files import FileContent, Table, numbered_names
from karat.tables.options import ReadingOptions

_PARQUET = "karat.arrow.formats.parquet:"
_BATCH = 4096


def read_parquet_table(
    content: FileContent, options: ReadingOptions, limit: int | None, progress: Progress
) -> Table:
    """Read a parquet file; nested columns become lists and dicts."""
    if find_spec("pyarrow") is None and find_spec("duckdb") is not None:
        columns, rows = _duckdb_rows(content, limit)
    else:
        columns, rows = _parquet_rows(content, limit)
    return make_table(content, "parquet", columns, islice(rows, limit))


def make_table(
    content: FileContent, form: str, columns: Sequence[str], rows: Iterator[Sequence[Any]]
) -> Table:
    """Return the table of rows of Python values."""
    names = numbered_names(columns)
    records = make_records(names, rows)
    lines = range(1, len(records) + 1)
    return Table(content.name, form, tuple(names), records, lines, system=content.stem)


def make_records(names: Sequence[str], rows: Iterator[Sequence[Any]]) -> list[Mapping[str, Any]]:
    """Return records of rows; missing values are None."""
    return [{n: plain_value(v) for n, v in zip(names, row, strict=True)} for row in rows]


def plain_value(value: Any) -> Any:
    """Return a value as JSON would have it; NaN, NaT and NA are None."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float | Decimal) or type(value).__name__ in ("NAType", "NaTType"):
        number = math.nan if not isinstance(value, float | Decimal) else float(value)
        return None if math.isnan(number) else number
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # numpy
        return plain_value(value.tolist())
    return value


def _parquet_rows(
    content: FileContent, limit: int | None
) -> tuple[list[str], Iterator[Sequence[Any]]]:
    reading = load(f"{_PARQUET}reading_parquet")
    with reading(content.name):
        source = content.path or import_module("pyarrow").BufferReader(content.all())
        file = import_module("pyarrow.parquet").ParquetFile(source)
        columns = list(file.schema_arrow.names)

    def rows() -> Iterator[Sequence[Any]]:
        size = _BATCH if limit is None else max(1, min(_BATCH, limit))
        with reading(content.name):
            for batch in file.iter_batches(size, use_threads=False):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    return columns, rows()


def _duckdb_rows(
    content: FileContent, limit: int | None
) -> tuple[list[str], Iterator[Sequence[Any]]]:
    if content.path is None:
        raise InputError(f"{content.name}: DuckDB reads parquet from files that are not packed")
    path = str(content.path)
    connect, source = load(f"{_PARQUET}_connect"), load(f"{_PARQUET}_SOURCE")
    with connect(path) as connection:
        query = f"SELECT * FROM {source}" + (f" LIMIT {int(limit)}" if limit is not None else "")
        cursor = connection.execute(query, [glob.escape(path)])
        columns = [str(column[0]) for column in cursor.description]
        return columns, iter(cursor.fetchall())


def read_arrow_table(
    content: FileContent, options: ReadingOptions, limit: int | None, progress: Progress
) -> Table:
    """Read an Arrow file or stream (Feather)."""
    arrow = load(f"{_PARQUET}pyarrow_module")("pyarrow")
    try:
        ipc = import_module("pyarrow.ipc")
        data = content.all()
        opened = ipc.open_file if data.startswith(b"ARROW1") else ipc.open_stream
        reader = opened(io.BytesIO(data))
        if hasattr(reader, "num_record_batches"):
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
        else:
            batches = iter(reader)
        rows = (row for batch in batches for row in
                zip(*(column.to_pylist() for column in batch.columns), strict=True))  # fmt: skip
        return make_table(content, "arrow", list(reader.schema.names), islice(rows, limit))
    except (arrow.ArrowException, OSError, ValueError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{content.name}: not an Arrow file that can be read: {reason}") from error
