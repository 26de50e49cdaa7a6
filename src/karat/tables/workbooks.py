"""Workbooks (XLSX): the sheet with the table, merged cells, formulas, percentages and errors.

openpyxl streams the rows of a sheet. Merged cells and formulas, which it does not give while it
streams values, are read from the sheet's XML and by a second stream.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.installation import import_package
from karat.progress import Progress
from karat.settings import nearest
from karat.storage.unpacking import check_unpacked
from karat.tables.decimals import decimal_separator
from karat.tables.files import AS_WORKBOOK, FileContent, InputTable
from karat.tables.grids import (
    ROWS_ABOVE,
    Grid,
    GridRow,
    Merges,
    counted,
    extent,
    is_blank,
    is_number,
    make_grid,
    without_notes,
)
from karat.tables.options import ReadingOptions

ALL_SHEETS = "*"
SHEET = "sheet"
"""Column with the name of the sheet, if all sheets are read."""

_MAX_ROWS = 1 << 20
_MAX_CELLS = 1 << 26  # cells of a sheet, with empty cells before the last one of a row
_FREE_CELLS = 1 << 22  # cells of records that may all be empty
_CELLS_PER_VALUE = 100
_MAX_MERGES = 1 << 20
_TRIED_ROWS = 300  # rows of each sheet that are read to find the table
_BATCH = 4096
_PIECE = 1 << 20
_LONGEST_TAG = 1 << 10
_MERGE = re.compile(
    rb'<(?:\w{1,20}:)?mergeCell\s[^<>]{0,200}?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"'
)
_FORMULA = re.compile(rb"<(?:\w{1,20}:)?f[\s>/]")
_ESCAPE = re.compile(r"_x((?![Dd][89A-Fa-f])[0-9A-Fa-f]{4})_")
_PERCENT = re.compile(r"\s*([+-]?\d+(?:[.,]\d+)?)\s*%\s*", re.ASCII)
_REFERENCE = re.compile(r"(?<![A-Za-z_!.])\$?([A-Z]{1,3})\$?(\d{1,7})(?![\d(A-Za-z_])")


def read_workbook(
    content: FileContent, options: ReadingOptions, limit: int | None, progress: Progress
) -> InputTable:
    """Read the sheet of a workbook that is a table, or the sheets that the options name."""
    with _open_workbook(content) as workbook:
        sheets, notes = _choose_sheets(workbook, options)
        reads_all = options.sheet == ALL_SHEETS
        tables = [workbook.table(title, options, limit, progress, content.stem) for title in sheets]
    if not reads_all:
        return replace(tables[0], remarks=(*tables[0].remarks, *notes))
    return _joined_sheets(tables, content)


def _joined_sheets(tables: list[InputTable], content: FileContent) -> InputTable:
    """Return one table of sheets with the same columns, and a column of their names."""
    first = tables[0]
    label = SHEET if SHEET not in first.columns else f"{SHEET} name"
    records: list[Any] = []
    lines: list[int] = []
    remarks: list[str] = []
    for table in tables:
        if table.columns != first.columns:
            raise InputError(
                f"{content.name}: the sheets {quoted(first.sheet)} and {quoted(table.sheet)} have "
                f"different columns ({short(', '.join(first.columns))}; "
                f"{short(', '.join(table.columns))}): name one with --sheet"
            )
        records += [{label: table.sheet, **record} for record in table.records]
        lines += table.lines
        sheet_remarks = (remark for remark in table.remarks if remark != _sheet_remark(table.sheet))
        remarks += [f"sheet {short(table.sheet)}: {remark}" for remark in sheet_remarks]
    return InputTable(
        content.name,
        "xlsx",
        (label, *first.columns),
        records,
        lines,
        remarks=(f"sheets {short(', '.join(t.sheet for t in tables))}", *remarks),
        computed=frozenset.intersection(*(table.computed for table in tables)),
        levels=first.levels,
        system_column=label,
    )


def _sheet_remark(title: str) -> str:
    return f"sheet {short(title)}"


def _choose_sheets(
    workbook: _Workbook, options: ReadingOptions
) -> tuple[list[str], tuple[str, ...]]:
    """Return the sheets to read, and remarks on others; refuse a workbook with several tables."""
    name, titles = workbook.name, workbook.titles
    if options.sheet is not None and options.sheet != ALL_SHEETS:
        by_name = {title.strip().lower(): title for title in titles}
        title = options.sheet if options.sheet in titles else by_name.get(
            options.sheet.strip().lower(), "")  # fmt: skip
        if title not in titles:
            has = short(", ".join(titles))
            near = nearest(options.sheet, titles)
            raise InputError(f"{name} has no sheet {quoted(options.sheet)}{near} (it has {has})")
        return [title], ()
    visible = workbook.visible or titles
    if len(visible) == 1:
        return visible, ()
    tried = {title: workbook.try_grid(title, options.header) for title in visible}
    grids = {title: grid for title, grid in tried.items() if isinstance(grid, Grid)}
    problems = {title: grid for title, grid in tried.items() if isinstance(grid, InputError)}
    if not grids:
        raise next(iter(problems.values()), InputError(f"{name}: no sheet is a table"))
    if len(grids) == 1 or options.sheet == ALL_SHEETS:
        skipped = [title for title, grid in tried.items() if title not in grids and grid != ""]
        names = short(", ".join(skipped))
        return list(grids), ((f"sheets that are not tables: {names}",) if skipped else ())
    names = short(", ".join(map(quoted, grids)))
    all_alike = len({grid.names for grid in grids.values()}) == 1
    advice = ", or each sheet as a system with --sheet '*'" if all_alike else ""
    raise InputError(
        f"{name} has several sheets with a table ({names}): name one with --sheet NAME{advice}"
    )


@contextmanager
def _open_workbook(content: FileContent) -> Iterator[_Workbook]:
    """Open a workbook; turn errors of openpyxl into one sentence."""
    openpyxl = import_package("openpyxl", "xlsx", f"{content.name}: workbooks")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _check_archive(content)
            with redirect_stdout(io.StringIO()):  # openpyxl prints warnings on damaged styles
                values, formulas = (
                    openpyxl.load_workbook(_file(content), read_only=True, data_only=only)
                    for only in (True, False)
                )
            try:
                yield _Workbook(content.name, values, formulas)
            finally:
                values.close()
                formulas.close()
    except InputError:
        raise
    except Exception as error:  # openpyxl raises anything for damaged files
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{content.name}: not a workbook that can be read ({short(reason)}): save it again, or "
            "as CSV"
        ) from error


def _file(content: FileContent) -> Any:
    return str(content.path) if _is_xlsx(content) else io.BytesIO(content.all())


def _is_xlsx(content: FileContent) -> bool:
    """Return whether openpyxl takes the path; it refuses other endings."""
    return content.path is not None and content.ending in ("xlsx", "xlsm")


def _check_archive(content: FileContent) -> None:
    """Refuse other kinds of zip files, and workbooks that unpack to too much."""
    with zipfile.ZipFile(_file(content)) as archive:
        infos = archive.infolist()
        packed, unpacked = (
            sum(getattr(info, size) for info in infos) for size in ("compress_size", "file_size")
        )
        check_unpacked(content.name, packed, unpacked)
        names = {info.filename for info in infos}
    if "xl/workbook.bin" in names:
        raise InputError(f"{content.name} is a binary workbook (.xlsb): {AS_WORKBOOK}")
    if "mimetype" in names or any(name.endswith(".iwa") for name in names):
        kind = "an OpenDocument file (.ods)" if "mimetype" in names else "a Numbers file"
        raise InputError(f"{content.name} is {kind}: {AS_WORKBOOK}")
    if "[Content_Types].xml" not in names:
        raise InputError(
            f"{content.name} is a zip archive: unpack it first, for example with unzip"
        )
    if not any(name.startswith("xl/") for name in names):
        raise InputError(f"{content.name} is an Office document without sheets: expected a table")


class _SheetMarkup(NamedTuple):
    """Merged cells of a sheet, and whether it has formulas, from its XML."""

    merges: Merges
    has_formulas: bool


@dataclass
class _SheetCells:
    """The rows of a sheet that have cells, and what is known of its columns."""

    rows: list[GridRow] = field(default_factory=list)
    after_blank: set[int] = field(default_factory=set)
    """Rows before which a row is empty."""
    at_end: bool = True
    errors: int = 0
    merged: int = 0
    """Number of cells that have the value of a merged cell above."""
    computed: Counter[int] = field(default_factory=Counter)
    """Column -> number of formulas of other cells in the row."""
    totals: set[int] = field(default_factory=set)
    """Rows with formulas of several cells above."""
    percent: set[int] = field(default_factory=set)
    """Columns with numbers that are shown as percentages."""


class _Workbook:
    """An open workbook: streams of values, and of formulas."""

    def __init__(self, name: str, values: Any, formulas: Any) -> None:
        self.name, self._values, self._formulas = name, values, formulas
        self._markups: dict[str, _SheetMarkup] = {}
        self.titles: list[str] = [sheet.title for sheet in values.worksheets]
        self.visible: list[str] = [
            sheet.title for sheet in values.worksheets if sheet.sheet_state == "visible"
        ]
        if not self.titles:
            raise InputError(f"{name} has no sheet with cells")

    def try_grid(self, title: str, header: str | None) -> Grid | InputError | str:
        """Return the header of a sheet, the problem of one without, or what else it is.

        The last is `notes`, or nothing for an empty sheet.
        """
        cells = self._read(title, _TRIED_ROWS)
        if len(cells.rows) < 2 or max(_filled_count(row) for row in cells.rows) < 2:
            return "notes" if cells.rows else ""
        try:
            grid = self._grid(title, cells, header)
        except InputError as error:
            return error
        return grid if len(cells.rows) > grid.first and len(grid.names) > 1 else "notes"

    def _grid(self, title: str, cells: _SheetCells, header: str | None) -> Grid:
        merges = self._markup(title).merges
        return make_grid(cells.rows, f"{self.name}, sheet {quoted(title)}", header, merges, "row")

    def _markup(self, title: str) -> _SheetMarkup:
        if title not in self._markups:
            sheet = self._values[title]
            with sheet.parent._archive.open(sheet._worksheet_path) as file:
                self._markups[title] = _read_markup(file, f"{self.name}, sheet {quoted(title)}")
        return self._markups[title]

    def table(
        self,
        title: str,
        options: ReadingOptions,
        limit: int | None,
        progress: Progress,
        stem: str,
    ) -> InputTable:
        """Return the table of a sheet."""
        most = None if limit is None else limit + ROWS_ABOVE
        cells = self._read(title, most, progress)
        if not cells.rows:
            raise InputError(f"{self.name}, sheet {quoted(title)} is empty: expected a table")
        grid = self._grid(title, cells, options.header)
        body, remarks = cells.rows[grid.first :], list(grid.remarks)
        if cells.at_end:
            body, left_out = without_notes(body, cells.after_blank, grid, "row", cells.totals)
            remarks += left_out
        body = body[:limit]
        n_cells = sum(map(_filled_count, body))
        if len(body) * len(grid.names) > max(_FREE_CELLS, _CELLS_PER_VALUE * n_cells):
            raise InputError(
                f"{self.name}, sheet {quoted(title)}: {n_cells:,} values in {len(body):,} rows of "
                f"{len(grid.names):,} columns: delete columns without values"
            )
        records = [
            {
                name: row.cells[at] if at < len(row.cells) else None
                for name, at in zip(grid.names, grid.indices, strict=True)
            }
            for row in body
        ]
        shared = zip(grid.names, grid.indices, strict=True)
        computed = frozenset(n for n, at in shared if 2 * cells.computed[at] > len(body))
        for name, at in zip(grid.names, grid.indices, strict=True):
            if at in cells.percent:
                _convert_percentages(records, name)
        if len(self.titles) > 1:
            remarks.insert(0, _sheet_remark(title))
        if cells.merged:
            remarks.append(
                f"merged cells hold for all of their rows ({counted(cells.merged, 'cell')} filled)"
            )
        if cells.errors:
            remarks.append(f"{counted(cells.errors, 'cell')} with an error such as #N/A: empty")
        return InputTable(
            self.name,
            "xlsx",
            grid.names,
            records,
            [row.line for row in body],
            system=stem,
            remarks=tuple(remarks),
            computed=computed,
            decimal=decimal_separator(records, grid.names, self.name, "\t", options),
            sheet=title,
            levels=grid.levels,
        )

    def _read(
        self, title: str, most: int | None, progress: Progress = lambda done, total, stage: None
    ) -> _SheetCells:
        """Return the first rows of a sheet that have cells."""
        markup = self._markup(title)
        location = f"{self.name}, sheet {quoted(title)}"
        values, formulas = self._values[title], self._formulas[title]
        values.reset_dimensions()
        formulas.reset_dimensions()
        formula_rows: Iterator[Any] = formulas.iter_rows() if markup.has_formulas else repeat(())
        cells, dense, is_blank_row = _SheetCells(), 0, False
        merged: dict[int, tuple[int, Any]] = {}  # column -> last row and value of a merged cell
        for number, (row, formula_row) in enumerate(
            zip(values.iter_rows(), formula_rows, strict=False), 1
        ):
            dense += len(row) + len(merged)
            if number > _MAX_ROWS or dense > _MAX_CELLS:
                raise InputError(
                    f"{location}: more than {_MAX_ROWS:,} rows or {_MAX_CELLS:,} cells: delete "
                    "formatted rows and columns without values, or save it as CSV"
                )
            line = [_value(cell, at, cells) for at, cell in enumerate(row)]
            _note_formulas(formula_row, line, row, number, cells, location)
            _fill_merged(line, number, merged, markup.merges, cells)
            if number % _BATCH == 0:
                progress(number, 0, f"reading {title}")
            if not extent(line):
                is_blank_row = True
                continue
            if most is not None and len(cells.rows) >= most:
                cells.at_end = False
                break
            if is_blank_row:
                cells.after_blank.add(number)
            is_blank_row = False
            cells.rows.append(GridRow(number, line[: extent(line)]))
        return cells


def _filled_count(row: GridRow) -> int:
    return sum(not is_blank(cell) for cell in row.cells)


def _value(cell: Any, at: int, cells: _SheetCells) -> Any:
    """Return the value of a cell: errors and white space are None, whole floats integers."""
    value = cell.value
    if value is None:
        return None
    if isinstance(value, str):
        if cell.data_type == "e":
            cells.errors += 1
            return None
        if "_x" in value:
            value = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), value)
        return value if value.strip() else None
    if isinstance(value, float | int) and not isinstance(value, bool):
        if "%" in (cell.number_format or ""):
            cells.percent.add(at)
        elif isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
            return int(value)
    return value


def _note_formulas(
    formula_row: Any, line: list[Any], row: Any, number: int, cells: _SheetCells, location: str
) -> None:
    """Count formulas of other cells in the row; refuse formulas without a stored value."""
    for at, cell in enumerate(formula_row):
        if cell.data_type != "f":
            continue
        text = str(getattr(cell.value, "text", None) or cell.value)
        stored = row[at] if at < len(row) else None
        if stored is None or (stored.value is None and stored.data_type == "n"):
            raise InputError(
                f"{location}, row {number}: a formula ({short(text)}) has no stored value: open "
                "the workbook in a spreadsheet program and save it"
            )
        rows = {int(match[2]) for match in _REFERENCE.finditer(text)}
        if number in rows and is_number(line[at]):
            cells.computed[at] += 1
        elif len(rows) > 1 and max(rows) < number:
            cells.totals.add(number)


def _fill_merged(
    line: list[Any],
    number: int,
    merged: dict[int, tuple[int, Any]],
    merges: Merges,
    cells: _SheetCells,
) -> None:
    """Fill cells below a merged cell's first row with its value."""
    for at in list(merged):
        last, value = merged[at]
        if number > last:
            del merged[at]
            continue
        line.extend([None] * (at + 1 - len(line)))
        if line[at] is None:
            line[at] = value
            cells.merged += 1
    for at in merges.starts.get(number, ()):
        if at < len(line) and line[at] is not None:
            merged[at] = (number + merges.heights[number, at] - 1, line[at])


def _read_markup(file: Any, location: str) -> _SheetMarkup:
    """Return the merged cells in the XML of a sheet, and whether it has formulas."""
    widths: dict[tuple[int, int], int] = {}
    heights: dict[tuple[int, int], int] = {}
    starts: dict[int, list[int]] = {}
    has_formulas, rest = False, b""
    while piece := file.read(_PIECE):
        data = rest + piece
        has_formulas = has_formulas or _FORMULA.search(data) is not None
        end = 0
        for match in _MERGE.finditer(data):
            end = match.end()
            left, top, right, bottom = (
                _column(match[1]),
                int(match[2]),
                _column(match[3]),
                int(match[4]),
            )
            if right > left:
                widths[top, left] = right - left + 1
            if bottom > top:
                heights[top, left] = bottom - top + 1
                starts.setdefault(top, []).append(left)
            if len(widths) + len(heights) > _MAX_MERGES:
                raise InputError(f"{location}: more than {_MAX_MERGES:,} merged cells")
        rest = data[max(end, len(data) - _LONGEST_TAG) :]
    return _SheetMarkup(Merges(heights, widths, starts), has_formulas)


def _column(letters: bytes) -> int:
    """Return the index of a column, from 0, by its letters."""
    index = 0
    for letter in letters:
        index = 26 * index + letter - 64
    return index - 1


def _convert_percentages(records: list[dict[str, Any]], name: str) -> None:
    """Convert texts such as `70%` to fractions, like the numbers of their column."""
    for record in records:
        value = record[name]
        match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
        if match:
            record[name] = float(match[1].replace(",", ".")) / 100
