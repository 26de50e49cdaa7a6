"""Rows of CSV and TSV files by Python's csv module, which says of every row what is wrong with it.

Quoting is that of RFC 4180 in both: a field that begins with a quote ends with one, and two quotes
in it stand for one. A quote within a field that does not begin with one is text. LF or CRLF ends a
row; within quotes, line ends are text. Blank lines are skipped, except in a table of one column,
where one might stand for an empty text.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from karat.arrow.formats.text_lines import LONGEST_ROW, TextLines
from karat.errors import InputError, quoted
from karat.text.sniffing import parsed_json


class Dialect(NamedTuple):
    """Delimiter and quoting of a table."""

    format: str
    kind: str
    """Name in messages."""
    delimiter: str
    other: tuple[str, str]
    """The delimiter that might be meant, and the ending of such files."""


COMMAS = Dialect("csv", "a CSV table", ",", ("\t", "tsv"))
TABS = Dialect("tsv", "a TSV table", "\t", (",", "csv"))


class DelimitedRows:
    """The rows of a table: first the head, then fields of text."""

    def __init__(self, lines: TextLines, path: str, dialect: Dialect) -> None:
        self._lines, self._path, self._dialect = lines, path, dialect
        # The limit is one for the whole process, so it is never lowered.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_ROW))
        self._rows = csv.reader(_without_nul(lines), strict=True, delimiter=dialect.delimiter)
        self._started = 1
        self.head = self._read_head()

    def __iter__(self) -> Iterator[list[str]]:
        width, lines, rows = len(self.head), self._lines, self._rows
        try:
            self._started = lines.number + 1
            for row in rows:
                if len(row) == width:
                    yield row
                elif row or width == 1:
                    raise self._unequal(row)
                lines.end_row()
                self._started = lines.number + 1
        except csv.Error as error:
            raise self._refused(error) from error

    def _read_head(self) -> list[str]:
        try:
            head = next(self._rows, None)
        except csv.Error as error:
            raise self._refused(error) from error
        if head is None:
            raise InputError(f"{self._path} is empty: expected {self._dialect.kind}")
        self._lines.end_row()
        self._check_head(head)
        return head

    def _check_head(self, head: list[str]) -> None:
        dialect = self._dialect
        if not head:
            raise self._lines.refusal("blank; expected the names of the columns")
        if isinstance(parsed_json(dialect.delimiter.join(head)), dict | list):
            told = f"is JSON: expected {dialect.kind}; name it .jsonl if every line is an object"
            raise InputError(f"{self._path} {told}")
        delimiter, ending = dialect.other
        if len(head) == 1 and delimiter in head[0]:
            told = f"found one column, whose name holds {quoted(delimiter)}"
            raise self._lines.refusal(f"{told}: expected {dialect.kind}; name it .{ending}", 1)
        for at, name in enumerate(head, 1):
            if not name.strip():
                told = f"column {at} of {len(head)} has no name"
                raise self._lines.refusal(f"{told}: expected a head line that names every column")
        twice = next((name for name, count in Counter(head).items() if count > 1), None)
        if twice is not None:
            raise self._lines.refusal(f"two columns are named {quoted(twice)}: rename one of them")

    def _unequal(self, row: list[str]) -> InputError:
        if not row:
            told = 'blank, in a table of one column; write "" for an empty text, or drop the line'
            return self._lines.refusal(told, self._started)
        fields = "1 field" if len(row) == 1 else f"{len(row):,} fields"
        advice = "quote a field that holds the delimiter, a line end or a quote at its start"
        expected = f"expected {len(self.head):,} as in the head line"
        return self._lines.refusal(f"found {fields}, {expected}; {advice}", self._started)

    def _refused(self, error: csv.Error) -> InputError:
        told = str(error)
        if "end of data" in told:
            told = "a quote that is opened in this row is not closed; close it, or double it"
        elif "expected after" in told:
            told = (
                "text follows the closing quote of a field; double every quote within a field "
                "that begins with one"
            )
        elif "new-line" in told:
            told = "a carriage return without a line feed; convert line ends to LF, or quote it"
        return self._lines.refusal(told, self._started)


def _without_nul(lines: TextLines) -> Iterator[str]:
    for line in lines:
        if "\0" in line:
            raise lines.refusal("a NUL byte; expected text: is the file damaged, or UTF-16?")
        yield line
