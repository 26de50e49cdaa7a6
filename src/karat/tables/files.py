"""Records of tabular files and frames: CSV, TSV, JSON, JSONL, parquet, Arrow, XLSX, data frames.

The format of a file is known by its content; the ending decides only between plain text and a
table. `read_table` finds the format and calls its reader.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from karat.errors import InputError, quoted, short
from karat.evalset.reading import FileLocation, Location
from karat.progress import Progress, silent
from karat.registry import load
from karat.storage.unpacking import unpacked
from karat.tables.options import ReadingOptions
from karat.text.sniffing import refuse_binary

TableSource: TypeAlias = Any
"""A path, `-` for standard input, a data frame, a list of dicts or a dict of lists."""


@dataclass(frozen=True)
class InputTable:
    """Records of a file or frame, before their columns have roles.

    A cell is text in formats that hold only text, else what JSON, parquet or a workbook has; an
    empty cell is None. An empty text in JSON, parquet or a frame stays an empty text.
    """

    name: str
    """The path or `table`, for messages."""
    form: str
    """csv, tsv, json, jsonl, parquet, arrow, xlsx or frame."""
    columns: tuple[str, ...]
    """Unique names; a repeated header cell gets a number: `score`, `score (2)`, `score (3)`.

    A column of numbered rows without a name is left out; an index of other values is named "".
    """
    records: Sequence[Mapping[str, Any]]
    """Records may lack columns: use `record.get(column)`."""
    lines: Sequence[int] = ()
    """The line (text) or row (workbook, frame) of each record, from 1; empty if unknown."""
    document: Any = None
    """The whole value of a JSON file, for paths that begin with `/`; else None."""
    system: str = ""
    """Name of the system if the file holds one: the file's stem, or the sheet."""
    remarks: tuple[str, ...] = ()
    """Notes on the reading of the file: encoding, separator, header row, sheet, rows left out."""
    texts_only: bool = False
    """Whether all cells are text, so that numbers have to be parsed."""
    decimal: str = ""
    """The decimal separator of numbers in texts: `.` or `,`; "" if it is unknown."""
    computed: frozenset[str] = frozenset()
    """Columns of a workbook that are formulas of other columns, such as a mean of raters."""
    levels: tuple[str, ...] = ()
    """Names of the levels of columns such as `bart/alice`, whose header has several rows; "" for a
    level without a name."""
    system_column: str = ""
    """Column that has the system of each record, such as the sheet if all sheets are read."""
    index: str = ""
    """Column with labels of rows that has no name in the file."""
    compared: tuple[str, ...] = ()
    """Columns with the two systems of a row that became two records; empty for other tables."""
    winner: str = ""
    """Column of the file with the winner of two systems, if `compared`."""
    shares: tuple[float | None, ...] = ()
    """For each two records the share of the first: 1 if it was better, 0.5 for a tie."""
    sheet: str = ""
    """The sheet of a workbook; empty if the first column has the sheets of the records."""
    unsettled: str = ""
    """Why no records could be chosen from `document`; raise it if no known schema fits."""

    def location(self, row: int) -> Location:
        """Return the location of a record, counted from 0, for messages."""
        if row >= len(self.lines):
            number = row // 2 if self.compared else row
            return f"{self.name}, record {number + 1:,}"
        line = self.lines[row]
        if self.form in ("frame", "parquet", "arrow"):
            return f"{self.name}, row {line:,}"
        if self.form == "xlsx":
            sheet = self.sheet or self.records[row].get(self.columns[0])
            return f"{self.name}, sheet {quoted(sheet)}, row {line}"
        return FileLocation(self.name, line)


@dataclass(frozen=True)
class FileContent:
    """An open source of bytes, read as far as needed."""

    name: str
    """For messages."""
    stem: str
    """The file's name without its endings."""
    ending: str
    """The last ending in lower case, without `.gz`."""
    path: Path | None
    """The file on disk that holds these bytes; None if they were piped or packed."""
    pieces: Iterator[bytes]
    read_pieces: list[bytes] = field(default_factory=list)

    def first(self, size: int) -> tuple[bytes, bool]:
        """Return at least the first `size` bytes if there are as many, and whether that is all."""
        total = sum(map(len, self.read_pieces))
        while total < size:
            piece = next(self.pieces, None)
            if piece is None:
                return b"".join(self.read_pieces), True
            self.read_pieces.append(piece)
            total += len(piece)
        data = b"".join(self.read_pieces)
        self.read_pieces[:] = [data]
        return data, False

    def all(self) -> bytes:
        """Return all bytes."""
        return self.first(sys.maxsize)[0]


FormatReader: TypeAlias = Callable[
    [FileContent, ReadingOptions, "int | None", Progress], InputTable
]

READERS = {
    "parquet": "karat.tables.arrow_files:read_parquet_table",
    "arrow": "karat.tables.arrow_files:read_arrow_table",
    "xlsx": "karat.tables.workbooks:read_workbook",
    "json": "karat.tables.json_files:read_json_table",
    "text": "karat.tables.delimited:read_delimited",
}
"""Format -> its reader."""

ENDINGS = frozenset(
    [
        *("csv", "tsv", "tab", "json", "jsonl", "ndjson", "parquet", "pq", "arrow", "feather"),
        *("ipc", "xlsx", "xlsm", "xls", "xlsb", "ods"),
    ]
)
"""Endings of tables; a file with another ending is a table only by its content."""

HEAD_SIZE = 1 << 16
_PIECE = 1 << 20
_GZIP = b"\x1f\x8b"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
AS_WORKBOOK = "open it in a spreadsheet program and save it as .xlsx or CSV"


def read_table(
    source: TableSource,
    options: ReadingOptions | None = None,
    *,
    limit: int | None = None,
    progress: Progress = silent,
) -> InputTable:
    """Read the records of a tabular file or frame.

    Args:
        source: path, `-` for standard input, data frame, list of dicts or dict of lists.
        options: settings where the content does not decide.
        limit: number of records to read at most; no more of a file is read than they need.
        progress: called with done, total and the stage.
    """
    options = options or ReadingOptions()
    if not isinstance(source, str | os.PathLike):
        table: InputTable = load("karat.tables.frames:read_frame")(source, limit)
        return _with_decimal(table, options)
    with _open_content(source) as content:
        form = content_format(content)
        _check_used(content.name, form, options)
        reader: FormatReader = load(READERS[form])
        table = reader(content, options, limit, progress)
    if not table.records and not table.unsettled:
        columns = f" (columns: {short(', '.join(table.columns))})" if table.columns else ""
        raise InputError(f"{table.name}: the table has no rows{columns}")
    return _with_decimal(table, options)


def _with_decimal(table: InputTable, options: ReadingOptions) -> InputTable:
    """Return a table with the decimal separator of its numbers in texts."""
    if table.decimal:
        return table
    find: Callable[..., str] = load("karat.tables.decimals:decimal_separator")
    return replace(table, decimal=find(table.records, table.columns, table.name, "", options))


_USED = {
    "sheet": ("xlsx",),
    "header": ("text", "xlsx"),
    "separator": ("text",),
    "encoding": ("text", "json"),
}
"""Settings for reading -> the formats that they are for."""
_FORMATS_IN_WORDS = {"xlsx": "workbooks", "text": "delimited text", "json": "JSON"}


def _check_used(name: str, form: str, options: ReadingOptions) -> None:
    """Reject settings without an effect on the format of a file."""
    for f in fields(options):
        if f.name in _USED and getattr(options, f.name) is not None and form not in _USED[f.name]:
            raise _no_effect(name, form, f.metadata["option"].split()[0], _USED[f.name])
    if "records" in options.columns and form != "json":
        raise _no_effect(name, form, f"--column records={options.columns['records']}", ("json",))


def _no_effect(name: str, form: str, option: str, used: Sequence[str]) -> InputError:
    expected = " and ".join(_FORMATS_IN_WORDS[format] for format in used)
    kind = _FORMATS_IN_WORDS.get(form, form).replace("workbooks", "a workbook")
    return InputError(f"{name} is {kind}, and {option} is only for {expected}: leave it out")


@contextmanager
def _open_content(source: str | os.PathLike[str]) -> Iterator[FileContent]:
    """Open a file or standard input."""
    path = os.fspath(source)
    if path == "-":
        yield _content(sys.stdin.buffer, "standard input", None)
        return
    try:
        with open(path, "rb") as file:
            yield _content(file, path, Path(path))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _content(file: BinaryIO, name: str, path: Path | None) -> FileContent:
    """Return the content of an open file, unpacked if it is a gzip file."""
    stem = "stdin" if path is None else path.name
    if stem.lower().endswith(".gz"):
        stem = stem[:-3]
    stem, _, ending = stem.rpartition(".") if "." in stem.lstrip(".") else (stem, "", "")
    head = file.peek(2)[:2] if isinstance(file, BufferedReader) else b""
    if head == _GZIP:
        return FileContent(name, stem, ending.lower(), None, unpacked(file, name))
    return FileContent(name, stem, ending.lower(), path, _pieces(file, name))


def _pieces(file: BinaryIO, name: str) -> Iterator[bytes]:
    try:
        while piece := file.read(_PIECE):
            yield piece
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error


def content_format(content: FileContent) -> str:
    """Return the format of a file by its first bytes; refuse formats that are not read."""
    head, complete = content.first(HEAD_SIZE)
    name = content.name
    if not head.strip():
        raise InputError(f"{name} is empty: expected a table")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1\x00\x00") or head.startswith(b"\xff\xff\xff\xff"):
        return "arrow"
    if head.startswith(b"FEA1"):
        raise InputError(f"{name} is a Feather file of version 1: write it as parquet")
    if head.startswith(_OLE):
        if "EncryptedPackage".encode("utf-16-le") in content.all():
            raise InputError(f"{name} is protected by a password: save it without one")
        raise InputError(f"{name} is an old Office file: {AS_WORKBOOK}")
    if head.startswith(b"PK\x03\x04"):
        return "xlsx"
    refuse_binary(head, name, "a table")
    start = head.lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")[:1]
    if start in (b"{", b"[") and is_json_start(head, complete):
        return "json"
    return "text"


def is_json_start(head: bytes, complete: bool) -> bool:
    """Return whether a text that begins with a bracket is JSON, by its first tokens."""
    is_json: bool = load("karat.tables.json_files:begins_as_json")(head, complete)
    return is_json


def is_table(source: TableSource) -> bool:
    """Return whether a source is a table, by its first 64 KB.

    A file with the ending of a table is one. Other files are text with a segment per line, unless
    they are JSON, a binary table, or tab-separated rows below names of columns.
    """
    if not isinstance(source, str | os.PathLike):
        is_frame: bool = load("karat.tables.frames:is_frame")(source)
        return is_frame
    if os.fspath(source) == "-":
        head = _standard_input_head()
        complete = head.endswith(b"\n")
        has_header: bool = load("karat.tables.delimited:has_known_header")(head, complete)
        return has_header or _is_table_head(head, complete)
    try:
        if not os.path.isfile(source):
            # A pipe can be read only once: its name decides.
            return not os.path.isdir(source) and os.path.exists(source) and has_table_ending(source)
        with _open_content(source) as content:
            if content.ending in ENDINGS:
                return True
            return _is_table_head(*content.first(HEAD_SIZE))
    except InputError:
        return False


def has_table_ending(path: str | os.PathLike[str]) -> bool:
    """Return whether the ending of a file is that of a table."""
    return os.fspath(path).lower().removesuffix(".gz").rpartition(".")[2] in ENDINGS


def _standard_input_head() -> bytes:
    buffer = sys.stdin.buffer
    return buffer.peek(HEAD_SIZE) if isinstance(buffer, BufferedReader) else b""


def _is_table_head(head: bytes, complete: bool) -> bool:
    content = FileContent("text", "text", "", None, iter([head]))
    try:
        form = content_format(content)
    except InputError:
        return False
    if form == "xlsx":
        return b"xl/" in head
    if form != "text":
        return True
    is_tabular: bool = load("karat.tables.delimited:is_tabular_text")(head, complete)
    return is_tabular


def numbered_names(names: Sequence[str]) -> list[str]:
    """Return unique names: the second `score` is `score (2)`."""
    labels, unique = set(names), []
    counts: dict[str, int] = {}
    for name in names:
        count = counts.get(name, 0) + 1
        numbered = name
        while count > 1 and (numbered := f"{name} ({count})") in labels:
            count += 1
        counts[name] = count
        labels.add(numbered)
        unique.append(numbered)
    return unique
