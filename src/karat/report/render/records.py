"""Reports for programs: JSON, TSV and CSV, with every digit of every number."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from karat.errors import InputError, no_formula, quoted
from karat.report.model import Document, Table
from karat.results import Cell, Column

_TSV_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def render_json(document: Document) -> Iterator[str]:
    """Yield one strict JSON object with a line per row, which is easy to read and compare.

    Missing values, NaN and infinities are null. `notes` are the document's, then the tables'.
    Rows are yielded one by one, since tables may be larger than memory.
    """
    notes = list(document.notes or ())
    notes += [note for table in document.tables for note in table.notes]
    yield encodable(f'{{\n  "command": {_json(document.command)},\n')
    yield encodable(f'  "signature": {_json(dict(document.signatures or {}))},\n')
    if document.answer:
        yield encodable(f'  "summary": {_json(" ".join(document.answer))},\n')
    for table in record_tables(document):
        columns = record_columns(table)
        rows = ({column.key: record_cell(column, row) for column in columns} for row in table.rows)
        yield from _json_member(table.key, rows)
        yield ",\n"
    yield from _json_member("notes", notes)
    yield "\n}\n"


def render_tsv(document: Document, *, spreadsheet_safe: bool = False) -> Iterator[str]:
    """Yield a header and a line per row; tables are separated by a blank line.

    Within strings a tab, a line end and a backslash are written as \\t, \\n or \\r, and \\\\.
    With `spreadsheet_safe`, text that a spreadsheet would take for a formula gets an apostrophe.
    """
    for number, table in enumerate(record_tables(document)):
        yield "\n" if number else ""
        for cells in _plain_rows(table, spreadsheet_safe):
            yield encodable("\t".join(cell.translate(_TSV_ESCAPES) for cell in cells) + "\n")


def render_csv(document: Document, *, spreadsheet_safe: bool = False) -> Iterator[str]:
    """Yield a header and a record per row (RFC 4180); tables are separated by an empty line.

    Text is quoted if necessary and never changed. With `spreadsheet_safe`, text that a
    spreadsheet would take for a formula gets an apostrophe.
    """
    # `writerow` returns what the `write` of its file returns: the text of the row.
    write = csv.writer(SimpleNamespace(write=str), lineterminator="\r\n").writerow
    for number, table in enumerate(record_tables(document)):
        yield "\r\n" if number else ""
        for cells in _plain_rows(table, spreadsheet_safe):
            yield encodable(str(write(cells)))


def record_tables(document: Document) -> list[Table]:
    """Return the tables of a document that programs read."""
    return [table for table in document.tables if table.readers != "people"]


def record_columns(table: Table) -> list[Column]:
    """Return the columns of a table that programs read."""
    return [column for column in table.columns if column.readers != "people"]


def data_columns(document: Document, key: str | None = None) -> dict[str, list[Cell]]:
    """Return the columns of a table (of `rows`, else the first) with the values that JSON has."""
    table = record_table(document, key)
    columns = record_columns(table)
    return {column.key: [record_cell(column, row) for row in table.rows] for column in columns}


def record_table(document: Document, key: str | None = None) -> Table:
    """Return the table of a key; by default `rows`, or the first table."""
    tables = {table.key: table for table in record_tables(document)}
    if key is not None and key not in tables:
        raise InputError(f"table {quoted(key)}: expected one of {', '.join(tables)}")
    return tables[key or ("rows" if "rows" in tables else next(iter(tables)))]


def record_cell(column: Column, row: Any) -> Cell:
    """Return a cell as JSON has it: infinities are null, numbers of NumPy plain."""
    cell = column.cell(row)
    if isinstance(cell, float):
        return float(cell) if math.isfinite(cell) else None
    return cell


def plain_setting(value: object) -> Any:
    """Return settings as JSON can hold them: mappings, lists, text, finite numbers."""
    if isinstance(value, Mapping):
        return {str(name): plain_setting(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_setting(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, str | int) else str(value)


def _json(value: Cell | Mapping[str, Cell] | Mapping[str, str]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _json_member(key: str, values: Iterable[str | Mapping[str, Cell]]) -> Iterator[str]:
    empty = True
    yield f"  {_json(key)}: ["
    for value in values:
        yield encodable(f"{'' if empty else ','}\n    {_json(value)}")
        empty = False
    yield "]" if empty else "\n  ]"


def _plain_rows(table: Table, spreadsheet_safe: bool) -> Iterator[list[str]]:
    quote = no_formula if spreadsheet_safe else str
    columns = record_columns(table)
    yield [quote(column.key) for column in columns]
    for row in table.rows:
        cells = [column.cell(row) for column in columns]
        yield [quote(cell) if isinstance(cell, str) else _number_text(cell) for cell in cells]


def _number_text(cell: float | None) -> str:
    if cell is None:
        return ""
    # true and false, as in JSON
    return repr(float(cell)) if isinstance(cell, float) else str(cell).lower()


def encodable(text: str) -> str:
    """Return text that UTF-8 can hold."""
    # A lone surrogate (an undecodable byte of a file name in the command) has no UTF-8 form;
    # its backslash escape is also the one that JSON prescribes.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
