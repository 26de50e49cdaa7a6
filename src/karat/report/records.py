"""Reports for programs: JSON and TSV, with every digit of every number."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence

from karat.report.cells import is_missing
from karat.report.table import Cell, Document, Row, Table

_TSV_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def render_json(document: Document) -> str:
    """One strict JSON object with each row on a line of its own, so that it reads and diffs well.

    Missing values, NaN and infinities are null.  `notes` are the document's and then the tables'.
    """
    notes = [*document.notes, *(note for table in document.tables for note in table.notes)]
    members = {
        "command": _json(document.command),
        "signature": _json(dict(document.signatures)),
        **{
            table.key: _json_lines(_record(table, row) for row in table.rows)
            for table in document.tables
        },
        "notes": _json_lines(notes),
    }
    body = ",\n".join(f"  {_json(key)}: {value}" for key, value in members.items())
    return _encodable(f"{{\n{body}\n}}\n")


def render_tsv(document: Document) -> str:
    """One header and one line per row; tables are separated by a blank line.

    Within strings a tab, a line end and a backslash are written as \\t, \\n or \\r, and \\\\.
    """
    return _encodable("\n".join(_tsv_table(table) for table in document.tables))


def _record(table: Table, row: Row) -> dict[str, Cell]:
    return {column.key: _strict(row.get(column.key)) for column in table.columns}


def _strict(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _json(value: Cell | Mapping[str, Cell] | Mapping[str, str]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _json_lines(values: Iterable[str | Mapping[str, Cell]]) -> str:
    lines = [f"    {_json(value)}" for value in values]
    return "[\n{}\n  ]".format(",\n".join(lines)) if lines else "[]"


def _tsv_table(table: Table) -> str:
    lines = [[column.key for column in table.columns]]
    lines += [[_tsv_cell(row.get(column.key)) for column in table.columns] for row in table.rows]
    return "".join(map(_tsv_line, lines))


def _tsv_line(cells: Sequence[str]) -> str:
    return "\t".join(cells) + "\n"


def _tsv_cell(cell: Cell) -> str:
    if cell is None or is_missing(cell):
        return ""
    if isinstance(cell, str):
        return cell.translate(_TSV_ESCAPES)
    if isinstance(cell, float):
        return repr(float(cell))
    return str(cell).lower()  # true and false, as in JSON


def _encodable(text: str) -> str:
    # A lone surrogate (an undecodable byte of a file name in the command) has no UTF-8 form;
    # its backslash escape is also the one that JSON prescribes.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
