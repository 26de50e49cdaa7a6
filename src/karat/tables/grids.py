"""Headers of rows of cells: title lines, one to three header rows, columns without a name.

A header is the first row that is as wide as the table and whose cells are names rather than data.
`HeaderEvidence` counts what speaks for names (text above numbers, usual names, short names above
long texts) and for data (numbers above numbers, values that occur again below).
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.tables.files import numbered_names
from karat.tables.names import (
    compact,
    is_model,
    is_rater,
    role_names,
    scale_in_name,
    split_words,
    word_lists,
)

COMPARED_ROWS = 200
"""Number of rows below a header that it is compared with."""
_TOP_ROWS = 20  # rows among which the header is
_MAX_HEADER_ROWS = 3
_LONG_TEXT = 60  # characters of texts that are not names
_SHORT_NAME = 40
_LONGEST_NAME = 200
_FEW_WORDS = 3

_OTHER_NAMES = frozenset(["comment", "date", "example", "lang", "language", "time", "timestamp"])
"""Words that name columns without a role."""

_OTHER_TOTALS = frozenset(["overall", "totals"])
"""Labels of rows with totals, beside the words of columns computed from others."""

ROWS_ABOVE = 100
"""Rows that are read beside the requested number of records: titles, headers, repeated headers."""

NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:[.,]\d+)*|[.,]\d+)(?:[eE][+-]?\d+)?\s*%?\s*", re.ASCII)
_DATE = re.compile(r"\s*(\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4})([ T]\d\d?:\d\d\S*)?\s*", re.A)
_SENTENCE_END = (".", "!", "…", "。", "！", '."', ".”", ";", ",")
_IDENTIFIER = re.compile(
    r"(?![A-ZÀ-ÞΑ-ΩА-Я])[^\W\d_][\w.-]*|\S*[_\d]\S*|\w+ \d+|[A-Z]{2,}\w*|[A-Z][a-z]+[A-Z]\w*"
)
_DIGITS = re.compile(r"\d+", re.ASCII)


class GridRow(NamedTuple):
    """A row of cells; an empty row has none."""

    line: int
    """Line of a text or row of a sheet, from 1."""
    cells: Sequence[Any]
    """An empty cell is None."""


class Merges(NamedTuple):
    """Merged cells of a sheet: (row, column) -> extent, rows from 1, columns from 0."""

    heights: Mapping[tuple[int, int], int]
    widths: Mapping[tuple[int, int], int]
    starts: Mapping[int, Sequence[int]]
    """Row -> columns of merged cells of several rows that begin in it."""


NO_MERGES = Merges({}, {}, {})


class Grid(NamedTuple):
    """A table without roles: names of columns and the rows below the header."""

    names: tuple[str, ...]
    indices: tuple[int, ...]
    """For each name the index of its cells in a row."""
    first: int
    """Index of the first row below the header."""
    width: int
    """Number of cells of a complete row."""
    remarks: tuple[str, ...]
    levels: tuple[str, ...] = ()
    """Names of the levels of a header of several rows; "" if unknown."""


class HeaderEvidence(NamedTuple):
    """Number of cells of a row that look like names, and like data."""

    names: int
    """Usual names of columns, and texts above numbers."""
    data: int
    """Numbers above numbers, dates, and values or forms of values that occur again below."""
    hints: int
    """Short identifiers above long texts: probably names."""
    sentences: int
    """Long texts above long texts: probably data."""

    @property
    def is_header(self) -> bool:
        """Whether the row is clearly a header."""
        return not self.data and (self.names > 0 or (self.hints > 0 and not self.sentences))

    @property
    def is_data(self) -> bool:
        """Whether the row is clearly data."""
        return self.data + self.sentences > 0 and not self.names + self.hints


def counted(count: int, noun: str) -> str:
    """Return a number with a noun in singular or plural."""
    return f"{count:,} {noun}" + "s" * (count != 1)


def is_number(cell: object) -> bool:
    """Return whether a cell is a number or a text that is one."""
    if isinstance(cell, str):
        return len(cell) < 40 and NUMBER.fullmatch(cell) is not None
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def is_blank(cell: object) -> bool:
    """Return whether a cell has no value: nothing or only white space."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def extent(cells: Sequence[Any]) -> int:
    """Return the number of cells up to the last one with a value."""
    size = len(cells)
    while size and is_blank(cells[size - 1]):
        size -= 1
    return size


def _filled(cells: Sequence[Any]) -> list[int]:
    return [i for i, cell in enumerate(cells) if not is_blank(cell)]


def header_evidence(cells: Sequence[Any], below: Sequence[GridRow]) -> HeaderEvidence:
    """Return what speaks for and against a row as the header of the rows below."""
    is_counted = _are_counted(cells)
    columns: dict[int, list[Any]] = {at: [] for at in _filled(cells)}
    for row in below:
        for at, cell in enumerate(row.cells):
            if at in columns and not is_blank(cell):
                columns[at].append(cell)
    kinds = Counter(_cell_kind(cells[at], column, is_counted) for at, column in columns.items())
    return HeaderEvidence(*(kinds[kind] for kind in HeaderEvidence._fields))


def _are_counted(cells: Sequence[Any]) -> bool:
    """Return whether the numbers of a row are 0, 1, 2, ... or 1, 2, 3, ..."""
    numbers = [str(cell).strip() for cell in cells if is_number(cell)]
    ranges = ([str(n) for n in range(start, start + len(numbers))] for start in (0, 1))
    return len(numbers) > 1 and any(numbers == counted for counted in ranges)


def _cell_kind(cell: Any, column: Sequence[Any], counted: bool) -> str:
    """Return the kind of evidence that a cell above a column is; nothing if it is none."""
    numbers = sum(map(is_number, column))
    if is_number(cell):
        return "data" if not counted and 2 * numbers >= len(column) else ""
    if not isinstance(cell, str) or _DATE.fullmatch(cell):
        return "data"
    text = cell.strip()
    texts = [value.strip() for value in column if isinstance(value, str)]
    is_repeated = text in texts and (text in texts[1:] or not is_usual_name(text))
    if is_repeated or _has_form_of(text, texts):
        return "data"
    if is_usual_name(text) or (column and 5 * numbers >= 4 * len(column)):
        return "names"
    lengths = sorted(map(len, texts))
    median = lengths[len(lengths) // 2] if lengths else 0
    if len(text) > _LONG_TEXT or text.endswith(_SENTENCE_END):
        return "sentences" if 2 * median > len(text) else ""
    is_above_texts = len(text) <= _SHORT_NAME and median > max(3 * len(text), 30)
    return "hints" if is_above_texts and _IDENTIFIER.fullmatch(text) else ""


def _has_form_of(text: str, texts: Sequence[str]) -> bool:
    """Return whether most texts differ from this one only in digits: `q1` and `q2`."""
    pattern = _DIGITS.sub("0", text)
    if "0" not in pattern or len(texts) < 2:
        return False
    alike = sum(_DIGITS.sub("0", value) == pattern for value in texts)
    return 5 * alike >= 4 * len(texts)


def is_usual_name(text: str) -> bool:
    """Return whether a text is a usual name of a column, or has at most three words with one."""
    if len(text) > _LONGEST_NAME:
        return False
    words = split_words(text)
    if is_model(text) or is_rater(text):
        return True
    keys = {compact(scale_in_name(text).name)}
    if len(words) <= _FEW_WORDS:
        keys.update(map(compact, words))
    keys.discard("")
    usual = (_OTHER_NAMES, word_lists()["dimensions"], *role_names().values())
    return any(key in names for key in keys for names in usual)


def find_header(
    rows: Sequence[GridRow],
    name: str,
    option: str | None,
    merges: Merges = NO_MERGES,
    unit: str = "line",
    user_columns: Sequence[str] = (),
) -> tuple[int, int]:
    """Return the index of the first header row and that of the row after the header.

    `option` is the user's choice: `none`, a line, or a range of lines. Both indices are 0 for a
    table without a header.
    """
    if option is not None:
        return _requested_header(rows, name, option)
    if user_columns and {*user_columns} <= {str(cell).strip() for cell in rows[0].cells}:
        return 0, 1
    if _label_rows(rows, 1):
        return 0, 1
    fixed = unit == "line"
    top = _first_wide_row(rows, merges, fixed)
    depth = _header_depth(rows, top, merges, fixed)
    if depth > 1:
        return top, top + depth
    below = _below(rows, top + 1, rows[top].cells)
    evidence = header_evidence(rows[top].cells, below)
    if evidence.is_header or not below:
        return top, top + 1
    line, cells = rows[top].line, _cells_in_words(rows[top].cells)
    if evidence.is_data:
        raise InputError(
            f"{name}, {unit} {line}: expected names of columns, found data ({cells}): add a "
            "header, or use --header none, which names the columns 1, 2, 3, ..."
        )
    raise InputError(
        f"{name}, {unit} {line}: this may be a header or the first row ({cells}): say which with "
        f"--header {line} or --header none"
    )


def _cells_in_words(cells: Sequence[Any]) -> str:
    return short(", ".join(str(cells[at]) for at in _filled(cells)))


def _requested_header(rows: Sequence[GridRow], name: str, option: str) -> tuple[int, int]:
    if option.strip().lower() == "none":
        return 0, 0
    match = re.fullmatch(r"\s*([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?\s*", option)
    if not match:
        raise InputError(f"header {quoted(option)}: expected a line such as 3, lines 1-2, or none")
    first, last = int(match[1]), int(match[2] or match[1])
    lines = [row.line for row in islice(rows, 1000)]
    if first not in lines or last not in lines or last < first:
        raise InputError(f"{name}: the header {quoted(option)} is not a row with cells")
    top = lines.index(first)
    has_import_ids = any(map(_has_import_ids, rows[top + 1 : lines.index(last) + 1]))
    return top, top + 1 if has_import_ids else lines.index(last) + 1


def _below(rows: Sequence[GridRow], start: int, header: Sequence[Any]) -> list[GridRow]:
    """Return rows below a header, without repetitions of it."""
    following = islice(rows, start, start + COMPARED_ROWS)
    return [row for row in following if list(row.cells) != list(header)]


def _first_wide_row(rows: Sequence[GridRow], merges: Merges, fixed: bool) -> int:
    """Return the first row that is not a title; 0 if that row is no header, either."""
    following = rows[:COMPARED_ROWS]
    width = Counter(len(row.cells) for row in following).most_common(1)[0][0]
    width = min(width, max(extent(row.cells) for row in following))
    for at, row in enumerate(following[:_TOP_ROWS]):
        if _is_title(row, width) and _header_depth(rows, at, merges, fixed) == 1:
            continue
        if at:
            evidence = header_evidence(row.cells, _below(rows, at + 1, row.cells))
            return at if evidence.is_header else 0
        return at
    return 0


def _is_title(row: GridRow, width: int) -> bool:
    """Return whether a row above a table has a title or a setting rather than names."""
    filled = _filled(row.cells)
    is_setting = len(filled) == 2 and str(row.cells[filled[0]]).strip().endswith(":")
    is_narrow = len(row.cells) < width or len(filled) <= max(1, width // 2)
    return width > 1 and (is_setting or is_narrow)


def _header_depth(rows: Sequence[GridRow], top: int, merges: Merges, fixed: bool) -> int:
    """Return the number of header rows from this one.

    Rows of `fixed` length, as in CSV, are not header rows together if their lengths differ.
    """
    depth = 1
    while depth < _MAX_HEADER_ROWS and top + depth < len(rows):
        lower = rows[top + depth]
        below = _below(rows, top + depth + 1, lower.cells)
        if fixed and len(lower.cells) != len(rows[top].cells):
            break
        if not below or not _is_group_row(rows[top + depth - 1], lower, below, merges):
            break
        depth += 1
    has_names_below = depth > 1 and top + depth + 1 < len(rows)
    if has_names_below and index_names(rows[top : top + depth], rows[top + depth]):
        depth += 1
    return depth


def index_names(header: Sequence[GridRow], row: GridRow) -> int:
    """Return how many columns a row below a header names as the index, as pandas writes them.

    Such a row has names in its first cells and nothing below the names of the other columns.
    """
    filled, width = _filled(row.cells), max(len(upper.cells) for upper in header)
    if not filled or filled != list(range(len(filled))) or len(filled) >= width:
        return 0
    if any(is_number(row.cells[at]) or not isinstance(row.cells[at], str) for at in filled):
        return 0
    above = {at for upper in header for at in _filled(upper.cells)}
    return len(filled) if not above & {*filled} - {0} and len(above - {*filled}) > 1 else 0


def _is_group_row(upper: GridRow, lower: GridRow, below: Sequence[GridRow], merges: Merges) -> bool:
    """Return whether a row names groups of the columns that the next row names."""
    groups, names = _filled(upper.cells), _filled(lower.cells)
    if not groups or any(_is_setting(upper.cells[at]) for at in groups):
        return False
    if any(is_number(lower.cells[at]) or not isinstance(lower.cells[at], str) for at in names):
        return False
    under = [at for at in names if at not in set(groups)]
    evidence = header_evidence(lower.cells, below)
    if evidence.data or evidence.sentences:
        return False
    if any((upper.line, at) in merges.widths for at in groups):
        return bool(under) and len(groups) > 1
    labels = [str(lower.cells[at]).strip() for at in names]
    texts = [str(upper.cells[at]).strip() for at in groups]
    if under and len(groups) > 1 and min(groups) < max(under):
        repeats = len(set(labels)) < len(labels)
        return repeats or evidence.is_header
    pairs = set(zip((upper.cells[at] for at in groups), (lower.cells[at] for at in groups if
                    at < len(lower.cells)), strict=False))  # fmt: skip
    is_repeated = len(set(texts)) < len(texts)
    return is_repeated and evidence.is_header and len(pairs) == len(groups)


def _is_setting(cell: Any) -> bool:
    """Return whether a cell above a table is a number or the label of a setting: `Date:`."""
    return is_number(cell) or str(cell).strip().endswith(":")


def _joined_names(header: Sequence[GridRow], width: int, merges: Merges) -> list[str]:
    """Return one name for each column of one or several header rows.

    Groups are filled to the right, where the row below has names and no merged cell ends before.
    """
    parts: list[list[str]] = [[] for _ in range(width)]
    for depth, row in enumerate(header):
        lower = header[depth + 1].cells if depth + 1 < len(header) else ()
        label, until = "", 0
        for at in range(width):
            cell = row.cells[at] if at < len(row.cells) else None
            has_lower = at < len(lower) and not is_blank(lower[at])
            if not is_blank(cell):
                label = _name_of(cell)
                parts[at].append(label)
                span = merges.widths.get((row.line, at))
                until = at + span if span else width
                label = label if has_lower else ""
            elif has_lower and label and at < until:
                parts[at].append(label)
    return ["/".join(dict.fromkeys(part)) for part in parts]


def _name_of(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        cell = cell.date()
    return " ".join(str(cell).split())


def make_grid(
    rows: Sequence[GridRow],
    name: str,
    option: str | None,
    merges: Merges = NO_MERGES,
    unit: str = "line",
    user_columns: Sequence[str] = (),
) -> Grid:
    """Return the header of rows that have cells, and which cells have columns.

    `unit` is what numbers of rows count in messages: lines or rows. A first row that
    has the columns that the user names, `user_columns`, is the header.
    """
    top, first = find_header(rows, name, option, merges, unit, user_columns)
    header = rows[top:first]
    labels_below = _label_rows(rows, first)
    texts = rows[first].cells if labels_below == 2 else ()
    first += labels_below
    body = rows[first:]
    width = max((len(row.cells) for row in header), default=0)
    if not header or unit == "row":  # rows of sheets have no fixed length
        width = max(width, max((extent(row.cells) for row in body), default=0))
    names, levels = _names_and_levels(header, width, merges)
    names = _matrix_names(names, texts)
    if not header:
        names = [str(at + 1) for at in range(width)]
    used = _used_columns(body, width)
    indices, labels, remarks = [], [], []
    for at, label in enumerate(names):
        if label:
            labels.append(label)
        elif at not in used or (at == 0 and _is_row_number(body)):
            continue
        elif at == 0:
            labels.append("")
        else:
            labels.append(f"column {at + 1}")
            remarks.append(f"column {at + 1} has no name")
        indices.append(at)
    if labels_below:
        remarks.insert(0, "rows of question texts below the header: left out")
    if top:
        remarks.insert(0, f"the header is in {unit} {header[0].line}")
    if len(header) > 1:
        lines = f"{header[0].line} to {header[-1].line}"
        remarks.insert(0, f"the header is in {unit}s {lines}, joined with /")
    if not header:
        remarks.insert(0, "no header: columns are numbered")
    unique = tuple(numbered_names(labels))
    return Grid(unique, tuple(indices), first, width, tuple(remarks), levels)


_STATEMENT = re.compile(r"(?P<question>.+)_(?P<number>\d{1,3})")


def _matrix_names(names: list[str], texts: Sequence[Any]) -> list[str]:
    """Return names such as `Q1 [Fluency]` for `Q1_1` of a survey; others unchanged.

    The texts of questions, below the names, say the statement of each number: `Text 1? - Fluency`.
    Statements must be dimensions, the same for all questions.
    """
    matches = {at: _STATEMENT.fullmatch(name) for at, name in enumerate(names)}
    parts = {at: (m["question"], m["number"]) for at, m in matches.items() if m and at < len(texts)}
    statements: dict[str, str] = {}
    for at, (_, number) in parts.items():
        statement = str(texts[at]).rpartition(" - ")[2].strip()
        if compact(statement) not in word_lists()["dimensions"]:
            return names
        if statements.setdefault(number, statement) != statement:
            return names
    if len({*statements.values()}) < len(statements) or len({q for q, _ in parts.values()}) < 2:
        return names
    return [
        f"{parts[at][0]} [{statements[parts[at][1]]}]" if at in parts else name
        for at, name in enumerate(names)
    ]


def _names_and_levels(
    header: Sequence[GridRow], width: int, merges: Merges
) -> tuple[list[str], tuple[str, ...]]:
    """Return the name of each column, and the names of the levels of a header of several rows."""
    n_index = index_names(header[:-1], header[-1]) if len(header) > 1 else 0
    if not n_index:
        return _joined_names(header, width, merges), ("",) * (len(header) > 1 and len(header))
    names = _joined_names(header[:-1], width, merges)
    names[:n_index] = [_name_of(cell) for cell in header[-1].cells[:n_index]]
    first_cells = (row.cells[0] if row.cells else None for row in header[:-1])
    return names, tuple("" if is_blank(cell) else _name_of(cell) for cell in first_cells)


def _label_rows(rows: Sequence[GridRow], first: int) -> int:
    """Return the number of rows with question texts and ids, which Qualtrics has below names."""
    for count, row in enumerate(rows[first : first + 2], 1):
        if _has_import_ids(row):
            return count
    return 0


def _has_import_ids(row: GridRow) -> bool:
    """Return whether a row has the ids that Qualtrics writes below names and question texts."""
    return any(isinstance(c, str) and c.lstrip().startswith('{"ImportId"') for c in row.cells)


def _used_columns(rows: Iterable[GridRow], width: int) -> set[int]:
    """Return the columns that have a value in some row."""
    used: set[int] = set()
    for row in rows:
        used.update(at for at, cell in enumerate(row.cells) if not is_blank(cell))
        if len(used) >= width:
            break
    return used


def _is_row_number(rows: Sequence[GridRow]) -> bool:
    """Return whether the first cells are 0, 1, 2, ... or 1, 2, 3, ..."""
    cells = [str(row.cells[0]).strip() if row.cells else "" for row in rows]
    return any(
        all(cell == str(number) for number, cell in enumerate(cells, start)) for start in (0, 1)
    )


def without_notes(
    rows: Sequence[GridRow],
    after_blank: Collection[int],
    grid: Grid,
    unit: str,
    totals: Collection[int] = (),
) -> tuple[list[GridRow], tuple[str, ...]]:
    """Return rows without notes and totals below the table, and a remark on them.

    Notes have one cell each and follow an empty row (`after_blank` has the lines of rows that do).
    Totals are rows of `totals`, which have formulas over rows, or have a word such as `mean` in
    their first cell and nothing in a column that all other rows fill.
    """
    count = _count_notes(rows, after_blank) if len(grid.names) > 2 else 0
    body = list(rows[: len(rows) - count])
    remarks: tuple[str, ...] = ()
    if count:
        remarks += (f"{counted(count, unit)} of notes below the table: left out",)
    last = body[-1] if len(body) > 2 else None
    if last is not None and (last.line in totals or _is_total(last, body[:-1], grid)):
        body.pop()
        remarks += (f"{unit} {last.line} has totals: left out",)
    return body, remarks


def _count_notes(rows: Sequence[GridRow], after_blank: Collection[int]) -> int:
    count = 0
    for size, row in enumerate(reversed(rows), 1):
        filled = _filled(row.cells)
        if len(filled) != 1 or not isinstance(row.cells[filled[0]], str) or size == len(rows):
            break
        if row.line in after_blank:
            count = size
    return count


def _is_total(row: GridRow, rows: Sequence[GridRow], grid: Grid) -> bool:
    filled = _filled(row.cells)
    label = str(row.cells[filled[0]]).strip().strip(":").lower()
    if label not in word_lists()["aggregates"] | _OTHER_TOTALS or len(filled) < 2:
        return False
    empty = [at for at in grid.indices if at not in set(filled)]
    return any(
        all(at < len(other.cells) and not is_blank(other.cells[at]) for other in rows)
        for at in empty
    )
