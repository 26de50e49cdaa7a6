"""Parquet files: the rows of a result with their types, and how they were made as metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import IO, Any

from karat.installation import import_package
from karat.report.model import Document, Table
from karat.report.render.records import (
    encodable,
    plain_setting,
    record_cell,
    record_columns,
    record_table,
)
from karat.results import Cell, Column
from karat.storage.output import temporary_pieces

METADATA_KEY = "karat"
"""Key of a file's metadata: a JSON object with the document's texts and settings."""
ROWS_PER_GROUP = 1 << 17
_MAX_INT64 = (1 << 63) - 1


def pyarrow_package() -> Any:
    """Import pyarrow with its module of parquet files."""
    import_package("pyarrow.parquet", "arrow", "parquet files")
    return import_module("pyarrow")


def render_parquet(document: Document) -> Iterator[bytes]:
    """Return the bytes of a parquet file with the rows that JSON has, in pieces.

    Other tables of the document are left out. Missing values are null.
    """
    arrow, table = pyarrow_package(), record_table(document)
    columns = record_columns(table)
    types = {column.key: _type_name(table, column) for column in columns}
    fields = [arrow.field(key, getattr(arrow, name)()) for key, name in types.items()]
    metadata = {METADATA_KEY: _metadata(document, table)}
    schema = arrow.schema(fields, metadata=metadata)

    def write(stream: IO[bytes]) -> None:
        with arrow.parquet.ParquetWriter(stream, schema) as writer:
            for start in range(0, len(table.rows), ROWS_PER_GROUP):
                rows = table.rows[start : start + ROWS_PER_GROUP]
                arrays = [_array(arrow, rows, column, types[column.key]) for column in columns]
                writer.write_batch(arrow.RecordBatch.from_arrays(arrays, schema=schema))

    return temporary_pieces("a parquet file is written there first", write)


def _type_name(table: Table, column: Column) -> str:
    """Return the name of the Arrow type that holds all cells; `null` if all are missing."""
    kinds = {_kind(record_cell(column, row)) for row in table.rows} - {"null"}
    if kinds == {"int64", "float64"}:
        return "float64"
    return "null" if not kinds else kinds.pop() if len(kinds) == 1 else "string"


def _kind(cell: Cell) -> str:
    if cell is None:
        return "null"
    if isinstance(cell, bool):
        return "bool_"
    if isinstance(cell, int):
        return "int64" if abs(cell) <= _MAX_INT64 else "string"
    return "float64" if isinstance(cell, float) else "string"


def _array(arrow: Any, rows: Sequence[Any], column: Column, type_name: str) -> Any:
    cells: Iterable[Cell] = (record_cell(column, row) for row in rows)
    if type_name == "string":
        cells = (cell if cell is None else _text(cell) for cell in cells)
    elif type_name == "float64":
        cells = (cell if cell is None else float(cell) for cell in cells)
    return arrow.array(cells, getattr(arrow, type_name)())


def _text(cell: Cell) -> str:
    return encodable(cell) if isinstance(cell, str) else json.dumps(cell)


def _metadata(document: Document, table: Table) -> str:
    """Return the texts and settings of a document as JSON, with the names of JSON reports."""
    members = {
        "title": document.title,
        "command": document.command,
        "signature": dict(document.signatures or {}),
        "summary": " ".join(document.answer),
        "notes": [*(document.notes or ()), *(n for t in document.tables for n in t.notes)],
        "settings": plain_setting(document.settings),
        "table": table.key,
    }
    return encodable(json.dumps(members, ensure_ascii=False, allow_nan=False))
