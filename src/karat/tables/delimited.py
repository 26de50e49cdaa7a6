"""Delimited text: CSV, TSV and their dialects.

The separator is the one that gives most rows the same number of fields. Quotes follow RFC 4180; in
tab-separated text they are text unless the file uses them as quotes.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.reading import USUAL_COLUMNS, csv_problem
from karat.progress import Progress
from karat.tables.decimals import decimal_separator
from karat.tables.decoding import decode
from karat.tables.files import FileContent, InputTable
from karat.tables.grids import (
    COMPARED_ROWS,
    ROWS_ABOVE,
    Grid,
    GridRow,
    counted,
    extent,
    header_evidence,
    is_number,
    make_grid,
    without_notes,
)
from karat.tables.options import ReadingOptions

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
"""Separator -> its name in messages."""

_SAMPLE = 1 << 16  # characters from which the separator is inferred
_QUOTED_SAMPLE = 1 << 14  # characters in which fields of tab-separated text have quotes
_FIRST_SIZE = 1 << 18  # bytes read for a few records
_MAX_FIELD = 1 << 27  # characters of a field
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[ \t]*\r?\n?', re.IGNORECASE)


class TextDialect(NamedTuple):
    """The syntax of a delimited text."""

    separator: str
    quotes: bool = True
    spaces: bool = False
    """Whether spaces after a separator are skipped."""
    backslash: bool = False
    """Whether a backslash comes before a quote in a field, instead of a second quote."""

    def rows(self, text: str, start: int = 1, begun: list[int] | None = None) -> Iterator[GridRow]:
        """Yield all rows with their lines, from `start`; raise `csv.Error` for a malformed row.

        `begun` receives the line on which each row begins, before the row is read.
        """
        csv.field_size_limit(_MAX_FIELD)
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.separator,
            quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE,
            skipinitialspace=self.spaces,
            doublequote=not self.backslash,
            escapechar="\\" if self.backslash else None,
            strict=True,
        )
        line = start
        if begun is not None:
            begun.append(line)
        for cells in reader:
            yield GridRow(line, cells)
            line = reader.line_num + start
            if begun is not None:
                begun.append(line)


def read_delimited(
    content: FileContent, options: ReadingOptions, limit: int | None, progress: Progress
) -> InputTable:
    """Read a delimited text; with a limit, only as much of it as needed."""
    size = _FIRST_SIZE if limit is not None else 1 << 62
    while True:
        data, complete = content.first(size)
        text, remarks = decode(data, content.name, options.encoding, complete)
        progress(0, len(data), f"reading {content.stem}")
        table = _read_text(text, content, options, limit, complete, remarks)
        if table is not None:
            return table
        size *= 4


class _ScannedRows(NamedTuple):
    """Rows of a text that have cells."""

    rows: list[GridRow]
    after_blank: set[int]
    """Lines of rows that follow an empty row."""
    at_end: bool
    """Whether these are all rows of the text."""


def _scan_rows(
    text: str, dialect: TextDialect, most: int | None, complete: bool, location: str, start: int
) -> _ScannedRows:
    """Return at most so many rows of a text; refuse malformed rows.

    Lines are counted from `start`. The last row of an incomplete text is left out.
    """
    rows: list[GridRow] = []
    after_blank: set[int] = set()
    is_after_blank, at_end = False, True
    reader = dialect.rows(text, start)
    try:
        for row in reader:
            if not extent(row.cells):
                is_after_blank = True
                continue
            if most is not None and len(rows) >= most:
                at_end = False
                break
            if is_after_blank:
                after_blank.add(row.line)
            is_after_blank = False
            rows.append(row)
    except csv.Error as error:
        if complete:
            line = _malformed_line(dialect, text, start)
            raise InputError(f"{location}, line {line}: {csv_problem(error)}") from error
        return _ScannedRows(rows, after_blank, True)
    if at_end and not complete:
        rows = rows[:-1]
    return _ScannedRows(rows, after_blank, at_end)


def _read_text(
    text: str,
    content: FileContent,
    options: ReadingOptions,
    limit: int | None,
    complete: bool,
    remarks: tuple[str, ...],
) -> InputTable | None:
    """Return the table; None if a part of a file has fewer records than the limit."""
    name, start = content.name, 1
    requested = _requested_separator(options)
    if match := _SEPARATOR_LINE.match(text):
        requested = requested or match[1]
        text, start = text[match.end() :], 2
    dialect, notes = find_dialect(text, name, requested, content.ending, complete)
    most = None if limit is None else limit + ROWS_ABOVE
    rows, after_blank, at_end = _scan_rows(text, dialect, most, complete, name, start)
    if limit is not None and not complete and at_end and len(rows) < limit + ROWS_ABOVE:
        return None
    if not rows:
        raise InputError(f"{name} is empty: expected a table")
    columns = [column for names in options.columns.values() for column in names.split(",")]
    grid = make_grid(rows, name, options.header, user_columns=columns)
    body = rows[grid.first :]
    if at_end and complete:
        body, left_out = without_notes(body, after_blank, grid, "line")
        notes += left_out
    header = [cell.strip() for cell in rows[grid.first - 1].cells] if grid.first else None
    body, repeated = _checked_rows(body, grid, header, name, dialect)
    if repeated:
        notes += (f"the header occurs again in line {repeated[0]}: left out",)
    body = body[:limit]
    pairs = list(zip(grid.names, grid.indices, strict=True))
    records = [
        {label: row.cells[at] if row.cells[at].strip() else None for label, at in pairs}
        for row in body
    ]
    return InputTable(
        name,
        "tsv" if dialect.separator == "\t" else "csv",
        grid.names,
        records,
        [row.line for row in body],
        system=content.stem,
        remarks=(*remarks, *grid.remarks, *notes),
        texts_only=True,
        decimal=decimal_separator(records, grid.names, name, dialect.separator, options),
        levels=grid.levels,
    )


def _malformed_line(dialect: TextDialect, text: str, start: int) -> int:
    """Return the line on which the malformed row of a text begins."""
    lines: list[int] = []
    with suppress(csv.Error):
        for _ in dialect.rows(text, start, lines):
            pass
    return lines[-1]


def _requested_separator(options: ReadingOptions) -> str | None:
    separator = options.separator
    if separator is None:
        return None
    names = {label: char for char, label in SEPARATORS.items()} | {r"\t": "\t"}
    separator = names.get(separator.lower(), separator)
    if len(separator) != 1 or separator in '"\r\n':
        raise InputError(f"separator {quoted(separator)}: expected one character, or tab")
    return separator


def _checked_rows(
    rows: Sequence[GridRow],
    grid: Grid,
    header: list[str] | None,
    name: str,
    dialect: TextDialect,
) -> tuple[list[GridRow], list[int]]:
    """Return rows of the right length, and the lines of repeated headers; refuse other rows."""
    checked, repeated, wrong = [], [], []
    for row in rows:
        cells = row.cells
        if len(cells) != grid.width:
            size = extent(cells)
            if size > grid.width or (len(cells) < grid.width and len(cells) < _last(grid)):
                wrong.append(row)
                continue
            cells = [*cells[: grid.width], *[""] * (grid.width - len(cells))]
        if header is not None and [cell.strip() for cell in cells] == header:
            repeated.append(row.line)
            continue
        checked.append(GridRow(row.line, cells))
    if wrong:
        row, fields = wrong[0], counted(len(wrong[0].cells), "field")
        more = f" (and {counted(len(wrong) - 1, 'more row')})" if len(wrong) > 1 else ""
        label = SEPARATORS.get(dialect.separator, quoted(dialect.separator))
        raise InputError(
            f"{name}, line {row.line}: found {fields}, expected {grid.width}, by the separator "
            f"{label}{more}: quote fields that hold a separator or a line end, or use --separator "
            "or --header"
        )
    return checked, repeated


def _last(grid: Grid) -> int:
    return max(grid.indices, default=-1) + 1


# ---------------------------------------------------------------------------------- dialects


class _Reading(NamedTuple):
    """A sample of rows as a dialect reads them."""

    dialect: TextDialect
    rows: list[GridRow]
    share: float
    """The share of rows with the usual number of fields."""
    width: int


def find_dialect(
    text: str, name: str, requested: str | None, ending: str = "", complete: bool = True
) -> tuple[TextDialect, tuple[str, ...]]:
    """Return the dialect of a text and remarks on it; refuse what is undecided."""
    sample, is_cut = text[:_SAMPLE], len(text) > _SAMPLE or not complete
    separators = [requested] if requested else list(SEPARATORS)
    readings = [r for s in separators if (r := _separator_reading(sample, s, is_cut))]
    wide = [reading for reading in readings if reading.width > 1]
    if not wide or requested:
        separator = requested or ("\t" if ending in ("tsv", "tab") else ",")
        best = next((r for r in readings if r.dialect.separator == separator), None)
        return (best.dialect if best else TextDialect(separator)), ()
    wide.sort(key=lambda reading: (reading.share, reading.width), reverse=True)
    best, usual = wide[0], {"csv": ",", "tsv": "\t", "tab": "\t"}.get(ending)
    rivals = [r for r in wide[1:] if r.share == best.share]
    if rivals and best.share == 1:
        with_usual = [r for r in (best, *rivals) if r.dialect.separator == usual]
        clean = [r for r in (best, *rivals) if _has_clean_header(r)]
        if len(clean) == 1:
            best = clean[0]
        elif len(with_usual) == 1 and len(clean) != 1 and usual == "\t":
            best = with_usual[0]
        else:
            names = [SEPARATORS[r.dialect.separator] for r in (best, *rivals)]
            raise InputError(
                f"{name}: the separator may be {' or '.join(names)}: say which with --separator"
            )
    return best.dialect, _dialect_remarks(best.dialect, ending)


def _dialect_remarks(dialect: TextDialect, ending: str) -> tuple[str, ...]:
    remarks = []
    expected = {"csv": ",", "tsv": "\t", "tab": "\t"}.get(ending)
    if expected and dialect.separator != expected:
        remarks.append(f"fields are separated by {SEPARATORS[dialect.separator]}s")
    if dialect.backslash:
        remarks.append("quotes in fields have a backslash")
    return tuple(remarks)


def _has_clean_header(reading: _Reading) -> bool:
    """Return whether the cells of the widest first row hold no separator."""
    header = next((r.cells for r in reading.rows if len(r.cells) == reading.width), [])
    unused = set(SEPARATORS) - {reading.dialect.separator}
    return not any(separator in cell for cell in header for separator in unused)


def _separator_reading(sample: str, separator: str, is_cut: bool) -> _Reading | None:
    """Return the sample as the most fitting dialect with this separator reads it."""
    if separator not in sample:
        return _try_dialect(sample, TextDialect(separator), is_cut)
    dialects = [TextDialect(separator)]
    if separator == "\t":
        if not _uses_quotes(sample, separator):
            dialects.insert(0, TextDialect(separator, quotes=False))
    elif f'{separator} "' in sample:
        dialects.append(TextDialect(separator, spaces=True))
    if '\\"' in sample:
        dialects.append(TextDialect(separator, backslash=True))
    readings = [r for d in dialects if (r := _try_dialect(sample, d, is_cut))]
    return max(readings, key=lambda reading: reading.share, default=None)


def _uses_quotes(sample: str, separator: str) -> bool:
    """Return whether quotes around fields of tab-separated text are those of CSV.

    They are if they are needed (a field holds a separator, a line end or doubled quotes), or if
    all names of the header have them.
    """
    first = sample.split("\n", 1)[0].rstrip("\r").split(separator)
    if all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in first if cell):
        return True
    mark = re.escape(separator)
    field = rf'(?:^|(?<=[{mark}\r\n]))"(?:[^"]|"")*"(?=[{mark}\r\n]|$)'
    fields = (match[0][1:-1] for match in re.finditer(field, sample[:_QUOTED_SAMPLE]))
    return any('""' in cell or separator in cell or "\n" in cell for cell in fields)


def _try_dialect(sample: str, dialect: TextDialect, is_cut: bool) -> _Reading | None:
    """Return the rows of a sample; None if the dialect does not fit."""
    rows = []
    try:
        for row in dialect.rows(sample):
            if extent(row.cells):
                rows.append(row)
    except csv.Error as error:
        if not (is_cut and "end of data" in str(error)):
            return None
    if is_cut and len(rows) > 1:
        rows.pop()
    if not rows:
        return None
    counts = Counter(len(row.cells) for row in rows)
    width = max(counts, key=lambda size: (counts[size] * (size > 1), size))
    start = next(at for at, row in enumerate(rows) if len(row.cells) == width)
    table_rows = rows[start:] if start < min(len(rows), 20) else rows
    return _Reading(dialect, rows, sum(len(r.cells) == width for r in table_rows)
                    / len(table_rows), width)  # fmt: skip


# ------------------------------------------------------------------------ text or a table


def is_tabular_text(head: bytes, complete: bool) -> bool:
    """Return whether a text of unknown kind is certainly a tab-separated table with a header."""
    try:
        text, _ = decode(head, "text", None, complete)
    except InputError:
        return False
    lines = text.splitlines()[: None if complete else -1]
    lines = [line for line in lines if line.strip()]
    if len(lines) < 3 or any("\t" not in line for line in lines[:3]):
        return False
    dialect = TextDialect("\t", quotes=_uses_quotes(text, "\t"))
    reading = _try_dialect(text, dialect, not complete)
    if reading is None or reading.share < 1 or len(reading.rows) < 3:
        return False
    header, *body = reading.rows
    if len(header.cells) != reading.width or not all(map(_is_plain_name, header.cells)):
        return False
    evidence = header_evidence(header.cells, body[:COMPARED_ROWS])
    return evidence.names > 0 and evidence.is_header and not evidence.sentences


def has_known_header(head: bytes, complete: bool) -> bool:
    """Return whether the first line of a text has usual names of columns between separators."""
    try:
        text, _ = decode(head, "text", None, complete)
    except InputError:
        return False
    line = next((line for line in text.splitlines() if line.strip()), "")
    for separator in SEPARATORS:
        cells = [cell.strip().strip('"') for cell in line.split(separator)]
        usual = {cell.lower() for cell in cells} & {*chain(*USUAL_COLUMNS.values())}
        if len(usual) > 1 and all(map(_is_plain_name, cells)):
            return True
    return False


def _is_plain_name(cell: str) -> bool:
    text = cell.strip()
    return 0 < len(text) <= 40 and len(text.split()) <= 4 and not is_number(text)
