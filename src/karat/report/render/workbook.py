"""XLSX workbooks: a sheet for each table that programs read, and a sheet about the report.

Sheets have the keys and the values of JSON; formats of numbers show the decimals of the reports.
The same document always becomes the same bytes.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from importlib import import_module
from itertools import islice
from os.path import getsize
from typing import IO, Any, NoReturn
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from karat.errors import FORMULA_STARTS, OutputError, visible
from karat.installation import import_package
from karat.report.model import MAX_PLAIN, Document, Table
from karat.report.render.records import plain_setting, record_cell, record_columns, record_tables
from karat.report.render.text import display_width
from karat.results import Cell, Column
from karat.storage.output import temporary_pieces

MAX_ROWS = 1 << 20
"""Most rows of a sheet, including its header."""
MAX_COLUMNS = 1 << 14
MAX_TEXT = 32_767
"""Most characters of a cell, in units of UTF-16."""
MAX_NAME = 31
"""Most characters of a sheet's name."""
MAX_EXACT = 1 << 53
"""Larger integers lose digits in a spreadsheet, and are written as text."""
_ABOUT, _HISTORY = "About", "History"  # spreadsheets reserve the second name
_WIDTHS = (8, 60)
_ROWS_MEASURED = 200
_EPOCH = (1980, 1, 1, 0, 0, 0)
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML cannot hold."""


def openpyxl_package() -> Any:
    """Import openpyxl with its module of writers."""
    import_package("openpyxl.writer.excel", "xlsx", "XLSX files")
    return import_module("openpyxl")


def render_xlsx(document: Document) -> Iterator[bytes]:
    """Return the bytes of a workbook in pieces; raise if a table is too large for a sheet."""
    openpyxl_package()
    tables = record_tables(document)
    for table in tables:
        n_rows, n_columns = len(table.rows), len(record_columns(table))
        if n_rows >= MAX_ROWS:
            _refuse(table, f"{n_rows:,} rows, and a sheet holds {MAX_ROWS - 1:,} below its header")
        if n_columns > MAX_COLUMNS:
            _refuse(table, f"{n_columns:,} columns, and a sheet holds {MAX_COLUMNS:,}")
    return temporary_pieces(
        "a workbook is written there first", lambda stream: _write(document, tables, stream)
    )


def _refuse(table: Table, problem: str) -> NoReturn:
    raise OutputError(f"the table {table.key} has {problem}: write CSV or parquet")


def _write(document: Document, tables: Sequence[Table], stream: IO[bytes]) -> None:
    workbook = openpyxl_package().Workbook(write_only=True)
    names = sheet_names([table.title or table.key for table in tables])
    n_cut = 0
    for name, table in zip(names, tables, strict=True):
        n_cut += _write_table(workbook, name, table)
    about = [*_about_document(document), *_about_tables(names, tables)]
    if n_cut:
        subject = "1 text is" if n_cut == 1 else f"{n_cut:,} texts are"
        problem = f"{subject} longer than the {MAX_TEXT:,} characters of a cell, and cut to fit"
        about.append(("Note", "", f"{problem}. CSV, JSON and parquet have the whole texts."))
    sheet = _Sheet(workbook, _ABOUT, ["Subject", "Name", "Content"], about)
    for row in about:
        sheet.append(sheet.cell(value, is_wrapped=at == 2) for at, value in enumerate(row))
    properties = workbook.properties
    properties.creator, properties.title = "Karat", _legal(document.title)
    properties.created = properties.modified = datetime(*_EPOCH)
    with _DatelessArchive(stream, "w", ZIP_DEFLATED) as archive:
        import_module("openpyxl.writer.excel").ExcelWriter(workbook, archive).write_data()


def _write_table(workbook: Any, name: str, table: Table) -> int:
    """Write a table to a new sheet; return the number of texts that were cut."""
    columns = record_columns(table)
    first_rows = islice(table.rows, _ROWS_MEASURED)
    samples = [[record_cell(column, row) for column in columns] for row in first_rows]
    sheet = _Sheet(workbook, name, [column.key for column in columns], samples)
    for index, row in enumerate(table.rows):
        sheet.append(
            sheet.cell(
                cell := record_cell(column, row),
                number_format(column, row, cell),
                is_bold=(index, column.key) in table.emphasis,
                is_wrapped=column.wrap,
            )
            for column in columns
        )
    return sheet.n_cut


def sheet_names(titles: Sequence[str]) -> list[str]:
    """Return unique names of sheets that spreadsheets accept, for titles of tables."""
    names: list[str] = []
    used_names = {_ABOUT.casefold(), _HISTORY.casefold()}
    for title in titles:
        words = re.sub(r"[\[\]:*?/\\]", " ", visible(title)).split()
        plain = name = _cut(" ".join(words), MAX_NAME).strip("' ") or "Table"
        number = 1
        while name.casefold() in used_names:
            number += 1
            suffix = f" ({number})"
            name = _cut(plain, MAX_NAME - len(suffix)) + suffix
        used_names.add(name.casefold())
        names.append(name)
    return names


def number_format(column: Column, row: Any, cell: Cell) -> str:
    """Return the format of a number: the decimals and signs of its column, none for integers."""
    if isinstance(cell, int):
        return "+0;-0;0" if column.signed else "General"
    digits = column.digits(row) if callable(column.digits) else column.digits
    if digits is None:
        return "General"
    number = f"0.{'0' * digits}" if digits else "0"
    if column.positive and digits:
        last = f"0.{'0' * (digits - 1)}1"
        return f'[<{0.5 * 10**-digits:.{digits + 1}f}]"<{last}";{number}'
    return f"+{number};-{number};{number}" if column.signed else number


class _Sheet:
    """A sheet with a header of bold names, which stays visible."""

    def __init__(
        self, workbook: Any, name: str, header: Sequence[str], first_rows: Iterable[Sequence[Cell]]
    ) -> None:
        """`first_rows` decide the widths of the columns."""
        styles = import_module("openpyxl.styles")
        self._new_cell = import_module("openpyxl.cell").WriteOnlyCell
        self._bold = styles.Font(bold=True)
        self._wrapped = styles.Alignment(wrap_text=True, vertical="top")
        self._sheet = workbook.create_sheet(name)
        self._sheet.freeze_panes = "A2"
        letter = import_module("openpyxl.utils").get_column_letter
        samples = [header, *first_rows]
        for at in range(len(header)):
            width = max(_width(cells[at]) for cells in samples)
            self._sheet.column_dimensions[letter(at + 1)].width = width
        self.n_cut = 0
        self.append(self.cell(name, is_bold=True) for name in header)

    def append(self, cells: Iterable[Any]) -> None:
        """Append a row of cells."""
        self._sheet.append(list(cells))

    def cell(
        self,
        value: Cell,
        number_format: str = "General",
        *,
        is_bold: bool = False,
        is_wrapped: bool = False,
    ) -> Any:
        """Return a cell; None for a missing value. Text is never a formula."""
        if value is None:
            return None
        if isinstance(value, int) and abs(value) > MAX_EXACT:
            value = str(value)
        if isinstance(value, bool):
            cell = self._new_cell(self._sheet, value)
        elif isinstance(value, str):
            full_text = _legal(value)
            text = _cut(full_text, MAX_TEXT)
            self.n_cut += len(text) < len(full_text)
            cell = self._new_cell(self._sheet, text)
            cell.data_type = "s"
            if text.startswith(FORMULA_STARTS):
                cell.quotePrefix = True  # stays text if a person edits it
        else:
            # Digits with the type of a number: openpyxl would round them to 16.
            cell = self._new_cell(self._sheet, repr(value))
            cell.data_type = "n"
            if number_format != "General" and abs(value) < MAX_PLAIN:
                cell.number_format = number_format
        if is_bold:
            cell.font = self._bold
        if is_wrapped:
            cell.alignment = self._wrapped
        return cell


def _width(cell: Cell) -> int:
    """Return the width of a column for a cell, in characters."""
    least, most = _WIDTHS
    if not isinstance(cell, str):
        return max(least, len(str(cell)) + 1) if isinstance(cell, int) else least + 2
    lines = cell[: 8 * most].split("\n")
    return min(max(least, *(display_width(line) + 2 for line in lines)), most)


def _legal(text: str) -> str:
    """Return text that XML can hold: other characters become escapes, CR becomes LF."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _ILLEGAL.sub(lambda match: visible(match[0]), lines)


def _cut(text: str, limit: int) -> str:
    """Return the beginning of a text: at most `limit` units of UTF-16."""
    if 2 * len(text) <= limit:
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    return text if len(units) <= 2 * limit else units[: 2 * limit].decode("utf-16-le", "ignore")


AboutRow = tuple[str, str, Cell]
"""Subject, name and content of a row of the sheet about the report."""


def _about_document(document: Document) -> Iterator[AboutRow]:
    yield "Report", "title", document.title
    if document.command:
        yield "Report", "command", document.command
    if document.answer:
        yield "Report", "summary", " ".join(document.answer)
    if document.basis:
        yield "Report", "basis", document.basis
    for name, signature in (document.signatures or {}).items():
        yield "Signature", name, signature
    for note in document.notes or ():
        yield "Note", "", note
    for name, value in plain_setting(document.settings).items():
        is_plain = value is None or isinstance(value, str | int | float)
        yield "Setting", name, value if is_plain else json.dumps(value, ensure_ascii=False)


def _about_tables(names: Sequence[str], tables: Sequence[Table]) -> Iterator[AboutRow]:
    for name, table in zip(names, tables, strict=True):
        yield "Sheet", name, table.title or table.key
        for note in table.notes:
            yield "Note", name, note
        for column in record_columns(table):
            about = ". ".join(filter(None, [column.title.rstrip("."), column.help]))
            if about != column.key:
                yield "Column", f"{name}: {column.key}", about


class _DatelessArchive(ZipFile):
    """A zip file whose entries all have the same date."""

    def writestr(self, name: Any, data: Any, *_: Any) -> None:
        """Write a member from memory."""
        super().writestr(_entry(name), data)

    def write(self, filename: Any, arcname: Any = None, *_: Any) -> None:
        """Write a member from a file."""
        entry = _entry(arcname)
        entry.file_size = getsize(filename)  # decides whether the member needs ZIP64
        with open(filename, "rb") as source, self.open(entry, "w") as target:
            shutil.copyfileobj(source, target)


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, _EPOCH)
    entry.compress_type, entry.create_system = ZIP_DEFLATED, 0
    return entry
