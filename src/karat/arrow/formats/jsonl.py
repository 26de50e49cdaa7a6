"""JSON lines: one object per line, whose members are the columns.

The first object determines the kind of a column: texts, lists of texts, or integers; every line
must have the same kind. If all columns are read, they are those of the first object, values may be
missing, and values of other kinds are written as JSON. Blank lines are skipped.

The kernel reads named columns. From the first irregular line, Python's json module reads the file,
or rejects it; it also reads all columns.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrow.columns import SKIP_MISSING
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
from karat.errors import InputError, quoted, short
from karat.evalset.reading import unique_members

TEXT, TEXTS, WHOLE, JSON = "a text", "a list of texts", "a whole number", "any JSON value"
"""Kinds of columns, as in messages."""

FORMATS = {TEXT: "u", TEXTS: "+l", WHOLE: "l"}
"""Kind of a column -> Arrow format."""

NEEDED = f"{TEXT}, {TEXTS} or {WHOLE}"
_WIDEST = 63  # bits of a whole number


def kind_of_value(value: object) -> str | None:
    """Return the kind of a value; None if it is not a text, a list of texts or an integer."""
    if type(value) is str:
        return TEXT
    if type(value) is list:
        return TEXTS if value and all(type(item) is str for item in value) else None
    if type(value) is int:
        return WHOLE if value.bit_length() <= _WIDEST else None
    return None


def describe_value(value: object) -> str:
    """Describe a value, for messages."""
    if kind := kind_of_value(value):
        return f"{kind} ({quoted(value)})" if kind != TEXTS else kind
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        not_texts = (item for item in value if not isinstance(item, str))
        return f"a list that holds {describe_value(next(not_texts))}" if value else "an empty list"
    beyond = " beyond 64 bits" if isinstance(value, int) else ""
    return f"a number{beyond} ({quoted(value)})"


class JsonColumn(NamedTuple):
    """A column: its name, its kind, and whether values may be missing."""

    name: str
    kind: str
    nullable: bool

    def takes(self, value: object) -> bool:
        """Return whether the column accepts a value."""
        if kind_of_value(value) == self.kind or self.kind == JSON:
            return True
        return value is None and self.nullable

    def add_to(self, table: _kernel.ArrowTable, values: Sequence[Any]) -> None:
        """Add this column with its values to a table."""
        if self.kind == TEXT:
            table.strings(self.name, list(values), self.nullable)
        elif self.kind == TEXTS:
            table.text_lists(self.name, list(values), self.nullable)
        elif self.kind == WHOLE:
            table.nullable_integers(self.name, list(values))
        else:
            written = [None if v is None else json.dumps(v, ensure_ascii=False) for v in values]
            table.strings(self.name, written, True, "arrow.json")


KIND = "JSON lines"
_BLANK = " \t\r\n"
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


JsonRow = dict[str, Any]


def json_rows(lines: TextLines, path: str) -> Iterator[JsonRow]:
    """Yield the objects of a file, one per line; reject other lines."""
    decode = json.JSONDecoder(
        object_pairs_hook=unique_members,
        parse_constant=_reject_constant,
        parse_float=_finite_number,
    ).decode
    for line in lines:
        lines.end_row()
        text = line.strip(_BLANK)
        if not text:
            continue
        try:
            value = decode(text)
            if "\\u" in text and _ESCAPED_SURROGATE.search(text):
                json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            problem = "half of a surrogate pair (\\ud800 to \\udfff) is no character; remove it"
            raise lines.refusal(problem) from error
        except RecursionError as error:
            raise lines.refusal("nested too deeply; expected a JSON object") from error
        except ValueError as error:
            if text[0] == "[" and lines.number == 1:
                raise _array_error(path) from error
            problem = f"{error}; expected a JSON object"
            if isinstance(error, json.JSONDecodeError):
                place = f"{error.msg}, at character {error.pos + 1:,} of {quoted(text)}"
                problem = f"not valid JSON ({place}); expected a whole object on each line"
            raise lines.refusal(problem) from error
        if isinstance(value, list) and lines.number == 1:
            raise _array_error(path)
        if not isinstance(value, dict):
            raise lines.refusal(f"found {describe_value(value)}, expected a JSON object")
        yield value


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _finite_number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{short(text)} is beyond the range of numbers")
    return number


def _array_error(path: str) -> InputError:
    problem = f"is a JSON array: expected {KIND}; write an object a line, for example with"
    return InputError(f"{path} {problem} jq -c '.[]'")


class JsonTable:
    """The columns of a file, whose rows are checked and made into record batches."""

    def __init__(
        self, lines: TextLines, path: str, columns: Sequence[str] | None, nullable: bool = False
    ) -> None:
        """Read the first row, which determines the kinds of columns.

        With `nullable`, values may be missing: the first row with a value determines the kind.
        """
        self._lines, self._nullable = lines, nullable
        self._rows = json_rows(lines, path)
        first = next(self._rows, None)
        if first is None:
            raise InputError(f"{path} is empty: expected {KIND}")
        self._first, self._first_line = first, lines.number
        if nullable:
            self.columns = self._nullable_columns(path, columns)
            return
        if columns is not None:
            check_columns(path, columns, list(first))
        self.columns = []
        for name in first if columns is None else columns:
            kind = kind_of_value(first[name])
            if kind is None and columns is not None:
                problem = f"column {quoted(name)} is {describe_value(first[name])}"
                message = f"{problem}; expected {NEEDED}: drop the line or fill it in"
                raise lines.refusal(message, self._first_line)
            self.columns.append(JsonColumn(name, kind or JSON, columns is None))

    def _nullable_columns(self, path: str, columns: Sequence[str] | None) -> list[JsonColumn]:
        """Return columns with the kinds of their first values; the rows are yielded again."""
        names = list(self._first) if columns is None else columns
        kinds: dict[str, str] = {}
        all_names: dict[str, None] = {}
        rows = []
        for row in chain([self._first], self._rows):
            rows.append(row)
            all_names.update(dict.fromkeys(row))
            for name in names:
                value = _value_or_none(row.get(name))
                if value is not None and name not in kinds:
                    kinds[name] = kind_of_value(value) or JSON
            if len(kinds) == len(names) or len(rows) == _ROWS_FOR_KINDS:
                break
        check_columns(path, names, list(all_names))
        self._rows = chain(rows[1:], self._rows)
        default = JSON if columns is None else TEXT
        return [JsonColumn(name, kinds.get(name, default), True) for name in names]

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield the values of each row."""
        columns = self.columns
        names = [column.name for column in columns]
        texts_alone = [str] * len(columns) if all(c.kind == TEXT for c in columns) else None
        for row in chain([self._first], self._rows):
            values = list(map(row.get, names))
            if self._nullable:
                pairs = zip(values, columns, strict=True)
                values = [_value_or_none(v) if c.kind in (TEXT, TEXTS) else v for v, c in pairs]
            if list(map(type, values)) != texts_alone:  # the quick check of the usual case
                for column, value in zip(columns, values, strict=True):
                    if not column.takes(value):
                        raise self._kind_error(row, column)
            yield values

    def refuse_nulls(self, data: bytes, before: int) -> None:
        """Raise if a line lacks a value; `before` is the number of lines before `data`."""
        for number, row in _lines_with_nulls(data):
            for column in self.columns:
                if column.name in row and _value_or_none(row[column.name]) is None:
                    raise self._kind_error(row, column, before + number + 1)

    def _kind_error(self, row: JsonRow, column: JsonColumn, line: int | None = None) -> InputError:
        name = quoted(column.name)
        value = row.get(column.name)
        problem = (
            f"column {name} is {describe_value(value)}" if column.name in row else f"no {name}"
        )
        if _value_or_none(value) is not None:
            advice = "write the same kind in every line"
        elif column.kind in (TEXT, TEXTS):
            advice = f"drop the line, fill it in, or {SKIP_MISSING}"
        else:
            advice = "drop the line or fill it in"
        expected = f"expected {column.kind}, as in line {self._first_line:,}"
        return self._lines.refusal(f"{problem}; {expected}: {advice}", line)

    def table(self, rows: Sequence[list[Any]]) -> DataTable:
        """Return some rows as a record batch."""
        kernel = _kernel.ArrowTable()
        for place, column in enumerate(self.columns):
            column.add_to(kernel, [row[place] for row in rows])
        return DataTable(kernel, [column.name for column in self.columns])


_ROWS_FOR_KINDS = 1000
"""Rows that are read to determine kinds; a column without a value in them has texts."""


def _value_or_none(value: Any) -> Any:
    """Return a value; None for an empty list or a list with a null."""
    return None if type(value) is list and (not value or None in value) else value


_NULLS = (b"null", b"[]")
"""Null and the empty list, as usually written."""
_BYTES_SCANNED = 1 << 22


def refuse_jsonl_nulls(piece: TablePiece, columns: Sequence[str]) -> bool:
    """Raise for the first line with a null or an empty list in these columns; else return False.

    The bytes of the file are searched, and only lines with a match are parsed.
    """
    with text_lines(piece.path, KIND) as lines:
        table = JsonTable(lines, piece.path, columns)
    with text_lines(piece.path, KIND) as lines:
        before, rest = 0, b""
        while data := lines.read_bytes(_BYTES_SCANNED):
            data, end, rest = (rest + data).rpartition(b"\n")
            table.refuse_nulls(data, before)
            before += data.count(b"\n") + len(end)
            if len(rest) > MAX_ROW_BYTES:
                return False  # it is rejected when the row is read
        table.refuse_nulls(rest, before)
    return False


def _lines_with_nulls(data: bytes) -> Iterator[tuple[int, JsonRow]]:
    """Yield the numbers, from 0, and objects of lines that may have a null or an empty list."""
    number = counted = 0
    nearest = {token: data.find(token) for token in _NULLS}
    while places := [place for place in nearest.values() if place >= 0]:
        begin = data.rfind(b"\n", 0, min(places)) + 1
        end = data.find(b"\n", begin)
        end = len(data) if end < 0 else end
        number += data.count(b"\n", counted, begin)
        counted = begin
        for token, place in nearest.items():
            if 0 <= place < end:
                nearest[token] = data.find(token, end)
        try:
            row = json.loads(data[begin:end])
        except (ValueError, RecursionError):
            continue  # it is rejected when the row is read
        if isinstance(row, dict):
            yield number, row


def read_jsonl(piece: TablePiece, columns: Sequence[str] | None) -> Iterator[DataTable]:
    """Yield the record batches of a file."""
    if columns is None:
        yield from read_carefully(piece, None)
        return
    with text_lines(piece.path, KIND) as lines:
        first = JsonTable(lines, piece.path, columns)
    names, formats = list(columns), [FORMATS[column.kind] for column in first.columns]
    with text_lines(piece.path, KIND) as lines:
        rows = _kernel.JsonLinesFile(names, formats, MAX_ROW_BYTES)
        n_regular = yield from regular_rows(rows, lines, names)
    if n_regular is not None:
        yield from read_carefully(piece, columns, n_regular)


def read_carefully(
    piece: TablePiece, columns: Sequence[str] | None, skip: int = 0, nullable: bool = False
) -> Iterator[DataTable]:
    """Yield the record batches of a file, read by the json module, after `skip` rows."""
    with text_lines(piece.path, KIND) as lines:
        table = JsonTable(lines, piece.path, columns, nullable)
        yield from map(table.table, row_batches(islice(table, skip, None), lines))


def jsonl_columns(path: str) -> list[str]:
    """Return the names in the first object."""
    with text_lines(path, KIND) as lines:
        return [column.name for column in JsonTable(lines, path, None).columns]


JSONL = TableFormat(
    partial(whole_file, format="jsonl", kind=KIND),
    read_jsonl,
    jsonl_columns,
    partial(read_carefully, nullable=True),
    refuse_jsonl_nulls,
)
