"""CSV and TSV files: a head line that names the columns, then rows whose fields are texts.

The kernel reads rows that are written by the rules (see `delimited_rows.py`). At the first that is
not, Python's csv module takes over, and refuses the file or goes on with it: what is read and what
is refused is what it would read and refuse alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from karat import _kernel
from karat.arrow.formats.delimited_rows import COMMAS, TABS, DelimitedRows, Dialect
from karat.arrow.formats.regular_rows import regular_rows
from karat.arrow.formats.text_lines import (
    BYTES_PER_BATCH,
    LONGEST_ROW,
    ROWS_PER_BATCH,
    TextLines,
    check_wanted,
    text_lines,
    whole_file,
)
from karat.arrow.pieces import Piece, TableFormat
from karat.arrow.tables import Table


def read_delimited(
    dialect: Dialect, piece: Piece, columns: Sequence[str] | None
) -> Iterator[Table]:
    """Yield the record batches of a file."""
    with text_lines(piece.path, dialect.kind) as lines:
        head = DelimitedRows(lines, piece.path, dialect).head
        names = head if columns is None else list(columns)
        check_wanted(piece.path, names, head)
        places = [names.index(name) if name in names else -1 for name in head]
        rows = _kernel.DelimitedFile(dialect.delimiter, places, names, LONGEST_ROW)
        strange = yield from regular_rows(rows, lines, names)
    if strange is not None:
        yield from read_carefully(dialect, piece, names, strange)


def read_carefully(
    dialect: Dialect, piece: Piece, columns: Sequence[str] | None, skip: int = 0
) -> Iterator[Table]:
    """Yield the record batches of a file by the csv module, without its first `skip` rows."""
    with text_lines(piece.path, dialect.kind) as lines:
        rows = DelimitedRows(lines, piece.path, dialect)
        names = rows.head if columns is None else list(columns)
        check_wanted(piece.path, names, rows.head)
        places = [rows.head.index(name) for name in names]
        rest = islice(rows, skip, None)
        while batch := _batch(rest, lines):
            yield _table(names, places, batch)


def _batch(rows: Iterator[list[str]], lines: TextLines) -> list[list[str]]:
    found, last = [], lines.read + BYTES_PER_BATCH
    for row in rows:
        found.append(row)
        if len(found) == ROWS_PER_BATCH or lines.read > last:
            break
    return found


def _table(names: Sequence[str], places: Sequence[int], rows: list[list[str]]) -> Table:
    kernel = _kernel.ArrowTable()
    for name, place in zip(names, places, strict=True):
        kernel.strings(name, [row[place] for row in rows])
    return Table(kernel, names)


def delimited_columns(dialect: Dialect, path: str) -> list[str]:
    """Return the names in the head line."""
    with text_lines(path, dialect.kind) as lines:
        return DelimitedRows(lines, path, dialect).head


def _format(dialect: Dialect) -> TableFormat:
    return TableFormat(
        partial(whole_file, format=dialect.format, kind=dialect.kind),
        partial(read_delimited, dialect),
        partial(delimited_columns, dialect),
    )


CSV, TSV = _format(COMMAS), _format(TABS)
