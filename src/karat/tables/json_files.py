"""JSON and JSON lines: lists of objects, objects of columns, and what pandas writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.reading import unique_members
from karat.progress import Progress
from karat.tables.decoding import decode
from karat.tables.files import FileContent, InputTable, numbered_names
from karat.tables.grids import counted, is_usual_name
from karat.tables.names import role_rank
from karat.tables.options import ReadingOptions

_SPACE = re.compile(r"[ \t\r\n]*")
_AFTER_START = re.compile(
    r'\s*(?:\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:)|\[\s*(?:\]|\{|\[|"|-?\d|true|false|null))'
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_FIRST_SIZE = 1 << 18
_BATCH = 4096
_CLEAR = 2  # a list of objects is clearly the table if it is this many times as long
_JSON_LINES = ("jsonl", "ndjson")


def begins_as_json(head: bytes, complete: bool) -> bool:
    """Return whether a text begins with the first tokens of a JSON object or array."""
    try:
        text, _ = decode(head, "text", None, complete)
    except InputError:
        return False
    if not _AFTER_START.match(text):
        return False
    line = text.split("\n", 1)[0].strip()
    if line.startswith("[") and "\n" in text:  # a line of text may begin with a bracket
        return line == "[" or _is_json(line.rstrip(",")) or line.count("[") > line.count("]")
    return True


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class _Parser:
    """JSON values of a text, with the number of NaNs that were read as missing."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.nans = 0
        self._decoder = json.JSONDecoder(
            object_pairs_hook=unique_members, parse_constant=self._constant
        )
        self._line, self._counted = 1, 0

    def _constant(self, constant: str) -> None:
        if constant != "NaN":
            raise ValueError(f"{constant} is not a finite number")
        self.nans += 1

    def line(self, at: int) -> int:
        """Return the line of a position, which must not decrease between calls."""
        self._line += self.text.count("\n", self._counted, at)
        self._counted = max(at, self._counted)
        return self._line

    def skip_space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def value(self, at: int) -> tuple[Any, int]:
        """Return the value at a position and the position after it."""
        try:
            value, end = self._decoder.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            raise InputError(f"{self.name}, line {error.lineno}: not JSON ({error.msg})") from error
        except RecursionError as error:
            problem = "not usable JSON (values are nested too deep)"
            raise InputError(f"{self.name}, line {self.line(at)}: {problem}") from error
        except ValueError as error:
            problem = " ".join(str(error).split())
            raise InputError(
                f"{self.name}, line {self.line(at)}: not usable JSON ({problem})"
            ) from error
        if _SURROGATE.search(self.text, at, end):
            self._check_surrogates(value, at)
        return value, end

    def _check_surrogates(self, value: Any, at: int) -> None:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError) as error:
            problem = r"half of a character (a lone \ud800 to \udfff)"
            raise InputError(f"{self.name}, line {self.line(at)}: {problem}") from error

    def remarks(self) -> tuple[str, ...]:
        return (f"{counted(self.nans, 'NaN')} read as missing",) if self.nans else ()


class _Numbered(NamedTuple):
    """A value with the line on which it begins."""

    line: int
    value: Any


def read_json_table(
    content: FileContent, options: ReadingOptions, limit: int | None, progress: Progress
) -> InputTable:
    """Read JSON lines, or a JSON document with a table in it."""
    size = _FIRST_SIZE if limit is not None else 1 << 62
    while True:
        data, complete = content.first(size)
        text, remarks = decode(data, content.name, options.encoding, complete)
        parser = _Parser(text, content.name)
        wanted_path = options.columns.get("records")
        if limit is not None and wanted_path is None:
            values = _first_values(parser, limit, complete)
            if values is None and not complete:
                size *= 4
                continue
            if values is not None:
                return _records_table(values, content, "jsonl", (*remarks, *parser.remarks()))
        elif not complete:
            size = 1 << 62
            continue
        return _read_document(parser, content, wanted_path, limit, remarks, progress)


def _first_values(parser: _Parser, limit: int, complete: bool) -> list[_Numbered] | None:
    """Return the first objects of JSON lines or an array; None if there are not as many."""
    text, at = parser.text, parser.skip_space(0)
    is_array = text.startswith("[", at)
    at = parser.skip_space(at + 1) if is_array else at
    values: list[_Numbered] = []
    while len(values) < limit:
        if not text.startswith("{", at):
            return None
        try:
            line = parser.line(at)
            value, at = parser.value(at)
        except InputError:
            return None
        values.append(_Numbered(line, value))
        at = parser.skip_space(at)
        if is_array and text.startswith(",", at):
            at = parser.skip_space(at + 1)
    is_lines = len(values) > 1 or text.startswith("{", at)
    return values if is_array or is_lines else None


def _read_document(
    parser: _Parser,
    content: FileContent,
    path: str | None,
    limit: int | None,
    remarks: tuple[str, ...],
    progress: Progress,
) -> InputTable:
    values = list(_all_values(parser, progress, content.stem))
    remarks = (*remarks, *parser.remarks())
    first = values[0].value
    if len(values) > 1 or (content.ending in _JSON_LINES and isinstance(first, dict)):
        if path is not None:
            raise InputError(
                f"{content.name} has one object per record: --column records is for one document"
            )
        return _records_table(values[:limit], content, "jsonl", remarks)
    return _document_table(first, content, path, limit, remarks)


def _all_values(parser: _Parser, progress: Progress, stem: str) -> Iterator[_Numbered]:
    """Yield the values of a text one after another; commas between them are refused."""
    at, count = parser.skip_space(0), 0
    while at < len(parser.text):
        line = parser.line(at)
        value, at = parser.value(at)
        yield _Numbered(line, value)
        at, count = parser.skip_space(at), count + 1
        if count % _BATCH == 0:
            progress(at, len(parser.text), f"reading {stem}")


def _records_table(
    values: Sequence[_Numbered], content: FileContent, form: str, remarks: tuple[str, ...]
) -> InputTable:
    """Return the table of objects with their lines; refuse other values."""
    for line, value in values:
        if not isinstance(value, dict):
            raise InputError(
                f"{content.name}, line {line}: found {quoted(value)}, expected a JSON object"
            )
    records = [value for _, value in values]
    lines = [line for line, _ in values] if form == "jsonl" else []
    columns = tuple(dict.fromkeys(key for record in records for key in record))
    return InputTable(
        content.name, form, columns, records, lines, system=content.stem, remarks=remarks
    )


# ---------------------------------------------------------------------------------- documents


def _document_table(
    document: Any,
    content: FileContent,
    path: str | None,
    limit: int | None,
    remarks: tuple[str, ...],
) -> InputTable:
    """Return the table in a JSON document."""
    name, unsettled = content.name, ""
    try:
        columns, records, notes = _choose_records(document, name, path)
    except _Unsettled as error:
        columns, records, notes, unsettled = [], [], (), str(error)
    return InputTable(
        name,
        "json",
        tuple(columns),
        records[:limit],
        document=document,
        system=content.stem,
        remarks=(*remarks, *notes),
        unsettled=unsettled,
    )


class _Unsettled(Exception):
    """No list of records can be chosen; a known schema may know better."""


_Chosen = tuple[Sequence[str], Sequence[Mapping[str, Any]], tuple[str, ...]]


def _choose_records(document: Any, name: str, path: str | None) -> _Chosen:
    """Return columns, records and remarks of a document."""
    if path is not None:
        value = _value_at(document, path, name)
        chosen = _as_records(value)
        if chosen is None:
            raise InputError(f"{name}: {quoted(path)} is not a list of objects or of columns")
        return chosen
    if isinstance(document, list):
        chosen = _object_list(document)
        if chosen is None:
            position = next((i for i, v in enumerate(document) if not isinstance(v, dict)), 0)
            value = quoted(document[position]) if document else "nothing"
            raise _Unsettled(
                f"{name}: item {position + 1} of the array is {value}, expected objects"
            )
        return chosen
    if not isinstance(document, dict):
        raise InputError(f"{name}: found {quoted(document)}, expected an array of objects")
    chosen = _pandas_records(document)
    if chosen is not None:
        return chosen
    lists = dict(_object_lists(document))
    if lists:
        return _lists_of_systems(document) or _longest_list(lists, name)
    chosen = _column_records(document, name)
    if chosen is not None:
        return chosen
    lengths = {key: len(v) for key, v in document.items() if isinstance(v, list)}
    if 1 < len(lengths) == len(document) and len({*lengths.values()}) > 1:
        listed = ", ".join(f"{short(key)} {length:,}" for key, length in lengths.items())
        raise _Unsettled(f"{name}: columns have different lengths ({listed}), expected equal ones")
    nested = [isinstance(value, dict) for value in document.values()]
    if any(nested) and (all(nested) or not _has_usual(document)):
        raise _Unsettled(
            f"{name}: no list of objects, expected an array of objects, or one object a line; "
            "name the path of the records with --column records=PATH (PATH.* for the members of "
            "an object)"
        )
    return list(document), [document], ("the file is one record",)


def _as_records(value: Any) -> _Chosen | None:
    """Return the records of a value that is a table as a whole; None for other values."""
    if isinstance(value, list):
        return _object_list(value)
    if isinstance(value, dict):
        return _pandas_records(value) or _columns_of_lists(value)
    return None


def _value_at(document: Any, path: str, name: str) -> Any:
    """Return the value at a dotted path; `*` at its end makes a list of an object's members."""
    value = document
    parts = path.strip("/").split(".")
    while parts:
        step = parts.pop(0)
        if step == "*" and isinstance(value, dict) and not parts:
            return [{"": key, **member} if isinstance(member, dict) else member
                    for key, member in value.items()]  # fmt: skip
        if isinstance(value, dict):
            joined_key = ".".join([step, *parts])
            if joined_key in value:
                return value[joined_key]
            if step in value:
                value = value[step]
                continue
        is_position = isinstance(value, list) and re.fullmatch(r"-?[0-9]{1,9}", step)
        if is_position and -len(value) <= int(step) < len(value):
            value = value[int(step)]
            continue
        if step == "" and value is document:
            continue
        raise InputError(f"{name}: no value at {quoted(path)} (no {quoted(step)})")
    return value


def _object_list(values: list[Any]) -> _Chosen | None:
    if not values or not all(isinstance(value, dict) for value in values):
        return None
    return list(dict.fromkeys(key for record in values for key in record)), values, ()


def _object_lists(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of objects within objects, with their paths."""
    stack: list[tuple[str, Any]] = [(prefix, document)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            members = [(f"{path}.{key}" if path else str(key), v) for key, v in value.items()]
            stack.extend(reversed(members))
        elif isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
            yield path, value


def _lists_of_systems(document: Mapping[str, Any]) -> _Chosen | None:
    """Return the records of an object that has nothing but a list of outputs for each system.

    The lists are of one length and agree in the input or the reference of each record; None for
    other objects.
    """
    lists = [*document.values()]
    if len(lists) < 2 or not all(isinstance(v, list) and _object_list(v) for v in lists):
        return None
    if len({len(value) for value in lists}) > 1 or len({*map(tuple, lists[0])}) > 1:
        return None
    members = [*lists[0][0]]
    if any([*record] != members for value in lists for record in value) or "system" in members:
        return None
    inputs = [
        key
        for key in members
        if any(role_rank(role, key) is not None for role in ("source", "question", "reference"))
    ]
    has_outputs = any(role_rank("candidate", key) is not None for key in members)
    aligned = all(
        record.get(key) == first.get(key)
        for value in lists[1:]
        for first, record in zip(lists[0], value, strict=True)
        for key in inputs
    )
    if not (inputs and has_outputs and aligned):
        return None
    records = [{"system": key, **record} for key, value in document.items() for record in value]
    return ["system", *members], records, ("the keys of the document are the systems",)


def _longest_list(lists: Mapping[str, list[Any]], name: str) -> _Chosen:
    paths = sorted(lists, key=lambda path: -len(lists[path]))
    if len(paths) > 1 and len(lists[paths[0]]) < _CLEAR * len(lists[paths[1]]):
        sizes = ", ".join(f"{short(path)} ({len(lists[path]):,})" for path in paths[:5])
        raise _Unsettled(
            f"{name} has several lists of objects: {sizes}; name the records with --column "
            f"records=PATH, such as --column records={short(paths[0])}"
        )
    columns, records, _ = _object_list(lists[paths[0]]) or ([], [], ())
    return columns, records, (f"records from {short(paths[0])}",)


def _pandas_records(document: Mapping[str, Any]) -> _Chosen | None:
    """Return the records of pandas' forms split, table and columns; None for other objects."""
    columns, data, index = (document.get(key) for key in ("columns", "data", "index"))
    if isinstance(columns, list) and isinstance(data, list):
        size = len(columns)
        if all(isinstance(row, list) and len(row) == size for row in data):
            names = numbered_names([_label(column) for column in columns])
            records = [dict(zip(names, row, strict=True)) for row in data]
            return _with_index(names, records, index)
    schema = document.get("schema")
    has_fields = isinstance(schema, dict) and isinstance(schema.get("fields"), list)
    if has_fields and isinstance(data, list) and all(isinstance(row, dict) for row in data):
        return _table_records(schema, data)
    return _columns_of_rows(document)


def _label(column: Any) -> str:
    parts = column if isinstance(column, list) else [column]
    return "/".join(str(part) for part in parts if part not in (None, ""))


def _with_index(names: list[str], records: list[dict[str, Any]], index: Any) -> _Chosen:
    if not isinstance(index, list) or len(index) != len(records) or is_counted(index):
        return names, records, ()
    column = "" if "" not in names else "index"
    rows = [{column: label, **row} for label, row in zip(index, records, strict=True)]
    return [column, *names], rows, ()


def is_counted(labels: Sequence[Any]) -> bool:
    """Return whether labels of rows are 0, 1, 2, ..."""
    return all(str(label) == str(number) for number, label in enumerate(labels))


def _table_records(schema: Any, data: list[dict[str, Any]]) -> _Chosen:
    fields = [field.get("name") for field in schema["fields"] if isinstance(field, dict)]
    columns = [str(name) for name in fields]
    if "index" in columns and is_counted([row.get("index") for row in data]):
        columns.remove("index")
        data = [{key: value for key, value in row.items() if key != "index"} for row in data]
    return columns, data, ()


def _columns_of_rows(document: Mapping[str, Any]) -> _Chosen | None:
    """Return the records of {column: {row: value}}, or of {row: {column: value}}.

    Rows are numbered, or columns have usual names and rows have not. None for other objects.
    """
    if not document or not all(isinstance(v, dict) and v for v in document.values()):
        return None
    outer, inner = list(document), list(dict.fromkeys(k for v in document.values() for k in v))
    is_outer_rows, is_inner_rows = _are_numbers(outer), _are_numbers(inner)
    if is_outer_rows == is_inner_rows:
        is_outer_rows, is_inner_rows = _has_usual(inner), _has_usual(outer)
    if is_outer_rows == is_inner_rows:
        return None
    if is_outer_rows:
        return _with_index(inner, list(document.values()), outer)
    if any(len(value) != len(inner) for value in document.values()):
        return None
    records = [{column: document[column][row] for column in outer} for row in inner]
    return _with_index(outer, records, inner)


def _are_numbers(keys: Sequence[str]) -> bool:
    return all(key.isascii() and key.isdigit() for key in keys)


def _columns_of_lists(document: Mapping[str, Any]) -> _Chosen | None:
    """Return the records of an object whose lists have one length; other members are left out."""
    lists = {key: value for key, value in document.items() if isinstance(value, list)}
    if not lists or len({len(value) for value in lists.values()}) > 1:
        return None
    if all(_object_list(value) for value in lists.values()):
        return None
    rows = zip(*lists.values(), strict=True)
    records = [dict(zip(lists, row, strict=True)) for row in rows]
    constants = [key for key in document if key not in lists]
    remark = f"members that are not columns: {short(', '.join(constants))} (/NAME in --column)"
    return list(lists), records, (remark,) if constants else ()


_FEWEST_ROWS = 8  # of columns beside other members, which could be one record with short lists


def _column_records(document: Mapping[str, Any], name: str) -> _Chosen | None:
    chosen = _columns_of_lists(document)
    if chosen is None:
        return None
    columns, records, remarks = chosen
    if len(columns) == len(document):
        return chosen
    if len(columns) < 2 or len(records) < 2:
        return None
    if len(records) < _FEWEST_ROWS:
        raise _Unsettled(
            f"{name} may be one record or {len(records)} rows of the columns "
            f"{short(', '.join(columns))}: name the file .jsonl for one record, or use "
            "--column records=/ for columns"
        )
    return columns, records, remarks


def _has_usual(keys: Iterable[str]) -> bool:
    return any(map(is_usual_name, keys))
