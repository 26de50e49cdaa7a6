"""Reading of records with their locations: lines, tables (CSV, TSV, parquet) and JSON lines.

`Reading` collects problems: a reader continues after a bad row, so that one run lists all problems
of a file. An error that makes further reading pointless is raised at once. `open_records` reads any
tabular file, and `USUAL_COLUMNS` has the usual names of columns by role. Large tables are read by
the kernel (`karat.arrow.formats`), with the same names and messages.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from karat.errors import InputError, quoted, short
from karat.errors import sentence as bounded
from karat.progress import Progress, silent
from karat.registry import load
from karat.settings import nearest
from karat.storage.unpacking import read_bytes
from karat.text.segments import check_line_ends
from karat.text.sniffing import refuse_binary

MAX_LISTED_COLUMNS = 20
MAX_PROBLEMS = 1000
"""The most problems that are kept; others are only counted."""

T = TypeVar("T")
_CELLS_PER_OUTPUT = 100
_FREE_CELLS = 1 << 20  # cells that may all be empty
_BATCH = 4096  # rows between two calls of the progress callback


class FileLocation(NamedTuple):
    """A line of a file, numbered from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


Location: TypeAlias = FileLocation | Path | str
TableRows: TypeAlias = Iterator[tuple[FileLocation, list[str]]]
Records: TypeAlias = Iterator[tuple[FileLocation, Mapping[str, Any]]]


class Reading:
    """The problems of reading a set, and the progress callback.

    `lister` is the command that lists all problems of the set.
    """

    def __init__(self, progress: Progress = silent, lister: str = "karat data check") -> None:
        self.progress, self.lister = progress, lister
        self.problems: list[str] = []
        self.more = 0

    def problem(self, location: Location, sentence: str) -> None:
        """Record a problem, which makes the set unusable."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(bounded(f"{location}: {sentence}"))
        else:
            self.more += 1

    def check_name(self, kind: str, name: object, location: Location, blank: bool = True) -> bool:
        """Return whether this is a valid name; otherwise record a problem."""
        is_valid = is_name(name) and (blank or not str(name).isspace())
        if not is_valid:
            expected = "expected a name of at least one character, without tabs and line ends"
            self.problem(location, f"{kind} {quoted(name)}: {expected}")
        return is_valid

    def check_once(self, ids: Iterable[tuple[FileLocation, str]]) -> None:
        """Record repeated ids as problems."""
        lines: dict[str, int] = {}
        for location, name in ids:
            if lines.setdefault(name, location.line) != location.line:
                self.problem(location, f"the id {quoted(name)} again (first in line {lines[name]})")

    def check(self) -> None:
        """Raise the first problem, if any, with the number of others."""
        if self.problems:
            raise InputError(self._first())

    def _first(self) -> str:
        n_others = self.count - 1
        advice = f": {self.lister} lists them" if self.lister else ""
        suffix = f" (and {n_others:,} more{advice})" if n_others else ""
        return self.problems[0] + suffix

    def attempt(self, read: Callable[[], T]) -> T | None:
        """Return the result of `read`; on an input error, record it and return None."""
        try:
            return read()
        except InputError as error:
            if not self.problems or str(error) != bounded(self._first()):
                self.problems.append(str(error))
            return None

    @property
    def count(self) -> int:
        """The number of problems, including those that are not kept."""
        return len(self.problems) + self.more

    def all(self) -> list[str]:
        """Return the kept problems, and a line with the number of others."""
        return self.problems + ([f"and {self.more:,} more like these"] if self.more else [])

    def numbered(self, rows: Sequence[Any], path: Path) -> Iterator[tuple[FileLocation, Any]]:
        """Yield rows with their locations, one row per line."""
        for number, row in enumerate(rows, 1):
            if number % _BATCH == 0:
                self.progress(number, len(rows), f"reading {path.name}")
            yield FileLocation(str(path), number), row


def read_text(path: Path) -> str:
    """Return all of a UTF-8 file (`.gz` too), without a byte-order mark."""
    try:
        data = read_bytes(path)
        refuse_binary(data, str(path), "UTF-8 text")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        convert = "convert the file to UTF-8 (for example with iconv)"
        raise InputError(f"{path}, line {line}: not valid UTF-8; {convert}") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def read_lines(path: Path, ends: bool = False) -> list[str]:
    """Return the lines of a file, with line `ends` if requested.

    LF or CRLF ends a line; the last line may lack it. Other line ends of Python are text.
    """
    text = read_text(path)
    check_line_ends(text, str(path))
    *lines, last = text.split("\n")
    if ends:
        lines = [f"{line}\n" for line in lines]
    if last:
        lines.append(last)
    return lines if ends else [line.removesuffix("\r") for line in lines]


# --------------------------------------------------------------------------- columns and roles

USUAL_COLUMNS = {
    "candidate": (
        "candidate", "candidates", "prediction", "predictions", "hypothesis", "hypotheses",
        "output", "outputs", "answer", "generated", "generation", "response", "completion",
    ),
    "reference": (
        "reference", "references", "target", "targets", "expected", "gold", "label", "labels",
    ),
    "system": ("system", "system_name", "sys", "system_id", "model"),
    "segment": ("segment", "segment_id", "seg", "seg_id", "id", "line"),
}  # fmt: skip
"""Usual names of the columns of a table, by role; the first name is preferred."""


def list_columns(columns: Sequence[str]) -> str:
    """Return the names of columns for a message; of many, the first."""
    n_more = len(columns) - MAX_LISTED_COLUMNS
    more = f" and {n_more:,} more" if n_more > 0 else ""
    return (", ".join(map(short, columns[:MAX_LISTED_COLUMNS])) or "none") + more


def missing_column(table: str, column: str, columns: Sequence[str]) -> InputError:
    """Return the error for a column that a table does not have."""
    has = f"(it has {list_columns(columns)})" if any(columns) else "(its columns have no names)"
    return InputError(f"{table} has no column {quoted(column)}{nearest(column, columns)} {has}")


def csv_problem(error: csv.Error) -> str:
    """Explain an error of Python's csv module, and how to correct the file."""
    reason = str(error)
    if "end of data" in reason:
        return "a quote that is opened in this row is not closed; close it, or double it"
    if "expected after" in reason:
        return (
            "text follows the closing quote of a field; double every quote within a field that "
            "begins with one"
        )
    if "new-line" in reason:
        return "a carriage return without a line feed; convert line ends to LF, or quote it"
    return reason


def is_json_lines(path: Path) -> bool:
    """Return whether the first line that is not empty begins a JSON object."""
    return next(filter(None, read_lines(path)), "").startswith("{")


def read_rows(path: Path, reading: Reading, commas: bool = False) -> TableRows:
    """Yield all rows of a table, each with the line on which it starts.

    Fields are separated by tabs, or by `commas` and quoted as in CSV.
    """
    if not commas:
        for location, line in reading.numbered(read_lines(path), path):
            yield location, line.split("\t")
        return
    lines = read_lines(path, ends=True)
    reader = csv.reader(lines, strict=True)
    start = 1
    try:
        for row in reader:
            if reader.line_num % _BATCH == 0:
                reading.progress(reader.line_num, len(lines), f"reading {path.name}")
            yield FileLocation(str(path), start), row
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}, line {start}: {csv_problem(error)}") from error


def read_header(path: Path, commas: bool = False) -> list[str]:
    """Return the names of a table's columns; none for an empty file."""
    return next((row for _, row in read_rows(path, Reading(), commas)), [])


def read_table(
    path: Path,
    columns: Sequence[str],
    reading: Reading,
    *,
    optional: Sequence[str] = (),
    only: bool = False,
    commas: bool = False,
) -> TableRows:
    """Yield the fields of each row of a table: first `columns`, then `optional`.

    Args:
        path: the file, with a header.
        columns: columns that the header must have.
        reading: records rows of another length as problems.
        optional: columns that may be missing, and are then empty.
        only: True if the header must not have other columns.
        commas: True for CSV, False for fields between tabs.
    """
    rows = read_rows(path, reading, commas)
    location, header = next(rows, (FileLocation(str(path), 1), []))
    times = Counter(header)
    present = [*columns, *(name for name in optional if times[name])]
    if any(times[name] != 1 for name in present) or (only and len(header) > len(present)):
        found_names = short(", ".join(header) or "nothing")
        expected = ", ".join(map(short, columns))
        more = f" (and perhaps {' and '.join(optional)})" if optional else ""
        is_unsplit = len(header) == 1 and ("\t" if commas else ",") in header[0]
        separator = f", with {'commas' if commas else 'tabs'} between them" if is_unsplit else ""
        raise InputError(
            f"{location}: found the columns {found_names}, expected {expected}{more}{separator}"
        )
    index_of = {name: i for i, name in enumerate(header)}
    indices = [index_of.get(name, len(header)) for name in (*columns, *optional)]
    for location, row in rows:
        if not any(row):
            continue  # a blank line
        if len(row) == len(header):
            row.append("")  # the value of missing optional columns
            yield location, [row[i] for i in indices]
        else:
            reading.problem(location, f"found {len(row)} fields, expected {len(header)}")


def read_json_lines(path: Path, reading: Reading) -> Iterator[tuple[FileLocation, dict[str, Any]]]:
    """Yield the objects of a file with one per line; skip blank lines."""
    for location, line in reading.numbered(read_lines(path), path):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=unique_members)
        except (ValueError, RecursionError) as error:
            reading.problem(location, f"not a JSON object ({error})")
            continue
        if isinstance(record, dict):
            yield location, record
        else:
            reading.problem(location, f"found {quoted(line)}, expected a JSON object")


_PARQUET_ROWS = "karat.arrow.formats.score_cells:parquet_rows"
_JSON_ENDINGS = (".jsonl", ".ndjson")


def open_records(
    path: Path,
    reading: Reading,
    without_header: Callable[[list[str]], list[str]] = lambda row: [],
) -> tuple[list[str], Records]:
    """Return the columns of a table and its rows by column, each with its location.

    The format depends on the ending: JSON lines (`.jsonl`, `.ndjson`), whose first object has the
    columns; parquet (`.parquet`, `.pq`); CSV (`.csv`); otherwise tab-separated fields. Blank lines
    are skipped; rows of another length are recorded as problems. `without_header` returns the
    columns of a table without a header from its first row, and nothing for a header.
    """
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".parquet", ".pq")):
        columns, records = load(_PARQUET_ROWS)(str(path))
        return columns, records
    if name.endswith(_JSON_ENDINGS):
        objects = read_json_lines(path, reading)
        first = next(objects, None)
        return ([], objects) if first is None else (list(first[1]), chain([first], objects))
    rows: TableRows = (
        (at, row) for at, row in read_rows(path, reading, name.endswith(".csv")) if any(row)
    )
    location, first_row = next(rows, (FileLocation(str(path), 1), []))
    header = without_header(first_row) or first_row
    rows = rows if header is first_row else chain([(location, first_row)], rows)
    if len(set(header)) < len(header):
        names = quoted(", ".join(header))
        raise InputError(f"{location}: two columns have the same name in {names}")

    def records_of_rows() -> Records:
        for location, row in rows:
            if len(row) == len(header):
                yield location, dict(zip(header, row, strict=True))
            else:
                reading.problem(location, f"found {len(row)} fields, expected {len(header)}")

    return header, records_of_rows()


def read_records(
    path: Path,
    kinds: Mapping[str, type],
    reading: Reading,
    optional: Mapping[str, type] = MappingProxyType({}),
) -> Iterator[tuple[FileLocation, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines that have members of these kinds.

    Objects with missing members, or with members of another kind, are recorded as problems.
    """
    for location, record in read_json_lines(path, reading):
        members = {**kinds, **{key: kind for key, kind in optional.items() if key in record}}
        values = [check_member(record, key, members[key], location, reading) for key in members]
        if None not in values:
            yield location, record


def format_json_line(record: Mapping[str, Any]) -> str:
    """Format an object as a line of JSON."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object from its members; raise ValueError if two have the same name."""
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the name {quoted(twice)} occurs twice in one object")
    return record


def check_filled(path: Path, outputs: int, systems: int, segments: int) -> None:
    """Raise if a large set has hardly any outputs.

    A set has a cell for each system and segment; without this check, a small file of names that
    occur once would need any amount of memory.
    """
    if systems * segments > max(_FREE_CELLS, _CELLS_PER_OUTPUT * outputs):
        raise InputError(
            f"{path}: {outputs:,} outputs of {systems:,} systems for {segments:,} segments, "
            f"expected at least one in {_CELLS_PER_OUTPUT}; are the names of systems and segments "
            "right?"
        )


def output_columns(
    path: Path, outputs: Mapping[tuple[str, str], T], segments: Collection[str]
) -> dict[str, list[T | None]]:
    """Return the outputs of each system for all segments, from those by system and segment."""
    systems = dict.fromkeys(system for system, _ in outputs)
    check_filled(path, len(outputs), len(systems), len(segments))
    return {system: [outputs.get((system, s)) for s in segments] for system in systems}


def is_name(value: object) -> bool:
    """Return whether this is text of at least one character, without tabs and line ends."""
    return isinstance(value, str) and bool(value) and not any(c in value for c in "\t\n\r")


def parse_number(value: object) -> float | None:
    """Return a finite number from a number or a text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        return None  # spellings that only Python accepts
    try:
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None


def check_member(
    record: Mapping[str, Any], key: str, kind: type, location: FileLocation, reading: Reading
) -> Any:
    """Return a member of a JSON object; record a problem if it has another type."""
    value = record.get(key)
    if isinstance(value, kind):
        return value
    names: dict[type, str] = {str: "a string", list: "an array", dict: "an object"}
    problem = "nothing" if key not in record else quoted(value)
    reading.problem(location, f"found {problem} for {quoted(key)}, expected {names[kind]}")
    return None


def check_members(
    record: Mapping[str, Any], names: Sequence[str], location: FileLocation, reading: Reading
) -> bool:
    """Return whether a JSON object has only these members; record the first other one."""
    unknown = next((key for key in record if key not in names), None)
    if unknown is not None:
        problem = f"found the name {quoted(unknown)}, expected {', '.join(names)}"
        reading.problem(location, problem)
    return unknown is None


def split_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return names from a sequence or a comma-separated string."""
    return tuple(part for part in names.split(",") if part) if isinstance(names, str) else (*names,)
