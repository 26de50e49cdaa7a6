"""CSV and TSV files: a header with the names of columns, then rows of text fields.

The kernel reads regular rows. From the first irregular row, Python's csv module reads the file, or
rejects it: the result is the same as if it had read the whole file.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from karat import _kernel
from karat.arrow.formats.text_lines import (
    MAX_ROW_BYTES,
    TextLines,
    check_columns,
    regular_rows,
    row_batches,
    text_lines,
    whole_file,
)
from karat.arrow.pieces import TableFormat, TablePiece
from karat.arrow.tables import DataTable
from karat.errors import InputError, quoted
from karat.evalset.reading import csv_problem
from karat.text.sniffing import parsed_json


class Dialect(NamedTuple):
    """Delimiter and quoting of a table."""

    format: str
    kind: str  # name in messages
    delimiter: str
    other: tuple[str, str]  # the other delimiter, and the ending of such files


COMMAS = Dialect("csv", "a CSV table", ",", ("\t", "tsv"))
TABS = Dialect("tsv", "a TSV table", "\t", (",", "csv"))


class DelimitedRows:
    """The header and the rows of a table, read by Python's csv module."""

    def __init__(self, lines: TextLines, path: str, dialect: Dialect) -> None:
        self._lines, self._path, self._dialect = lines, path, dialect
        # The limit is global, so it is never lowered.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))
        self._rows = csv.reader(_without_nul(lines), strict=True, delimiter=dialect.delimiter)
        self._started = 1
        try:
            head = next(self._rows, None)
        except csv.Error as error:
            raise lines.refusal(csv_problem(error), self._started) from error
        if head is None:
            raise InputError(f"{path} is empty: expected {dialect.kind}")
        lines.end_row()
        self._check_head(head)
        self.head = head

    def __iter__(self) -> Iterator[list[str]]:
        width, lines, rows = len(self.head), self._lines, self._rows
        try:
            self._started = lines.number + 1
            for row in rows:
                if len(row) == width:
                    yield row
                elif row or width == 1:
                    raise self._width_error(row)
                lines.end_row()
                self._started = lines.number + 1
        except csv.Error as error:
            raise lines.refusal(csv_problem(error), self._started) from error

    def _check_head(self, head: list[str]) -> None:
        dialect = self._dialect
        if not head:
            raise self._lines.refusal("blank; expected the names of the columns")
        if isinstance(parsed_json(dialect.delimiter.join(head)), dict | list):
            problem = f"is JSON: expected {dialect.kind}; name it .jsonl if every line is an object"
            raise InputError(f"{self._path} {problem}")
        delimiter, ending = dialect.other
        if len(head) == 1 and delimiter in head[0]:
            problem = f"found one column, whose name holds {quoted(delimiter)}"
            raise self._lines.refusal(f"{problem}: expected {dialect.kind}; name it .{ending}", 1)
        for at, name in enumerate(head, 1):
            if not name.strip():
                problem = f"column {at} of {len(head)} has no name"
                raise self._lines.refusal(
                    f"{problem}: expected a head line that names every column"
                )
        twice = next((name for name, count in Counter(head).items() if count > 1), None)
        if twice is not None:
            raise self._lines.refusal(f"two columns are named {quoted(twice)}: rename one of them")

    def _width_error(self, row: list[str]) -> InputError:
        if not row:
            problem = (
                'blank, in a table of one column; write "" for an empty text, or drop the line'
            )
            return self._lines.refusal(problem, self._started)
        fields = "1 field" if len(row) == 1 else f"{len(row):,} fields"
        advice = "quote a field that holds the delimiter, a line end or a quote at its start"
        expected = f"expected {len(self.head):,} as in the head line"
        return self._lines.refusal(f"found {fields}, {expected}; {advice}", self._started)


def _without_nul(lines: TextLines) -> Iterator[str]:
    for line in lines:
        if "\0" in line:
            raise lines.refusal("a NUL byte; expected text: is the file damaged, or UTF-16?")
        yield line


def read_delimited(
    dialect: Dialect, piece: TablePiece, columns: Sequence[str] | None
) -> Iterator[DataTable]:
    """Yield the record batches of a file."""
    with text_lines(piece.path, dialect.kind) as lines:
        head = DelimitedRows(lines, piece.path, dialect).head
        names = head if columns is None else list(columns)
        check_columns(piece.path, names, head)
        places = [names.index(name) if name in names else -1 for name in head]
        rows = _kernel.DelimitedFile(dialect.delimiter, places, names, MAX_ROW_BYTES)
        n_regular = yield from regular_rows(rows, lines, names)
    if n_regular is not None:
        yield from read_carefully(dialect, piece, names, n_regular)


def read_carefully(
    dialect: Dialect, piece: TablePiece, columns: Sequence[str] | None, skip: int = 0
) -> Iterator[DataTable]:
    """Yield the record batches of a file, read by the csv module, after `skip` rows."""
    with text_lines(piece.path, dialect.kind) as lines:
        rows = DelimitedRows(lines, piece.path, dialect)
        names = rows.head if columns is None else list(columns)
        check_columns(piece.path, names, rows.head)
        places = [rows.head.index(name) for name in names]
        for batch in row_batches(islice(rows, skip, None), lines):
            kernel = _kernel.ArrowTable()
            for name, place in zip(names, places, strict=True):
                kernel.strings(name, [row[place] for row in batch])
            yield DataTable(kernel, names)


def delimited_columns(dialect: Dialect, path: str) -> list[str]:
    """Return the names in the header."""
    with text_lines(path, dialect.kind) as lines:
        return DelimitedRows(lines, path, dialect).head


def _delimited_format(dialect: Dialect) -> TableFormat:
    return TableFormat(
        partial(whole_file, format=dialect.format, kind=dialect.kind),
        partial(read_delimited, dialect),
        partial(delimited_columns, dialect),
    )


CSV, TSV = _delimited_format(COMMAS), _delimited_format(TABS)
