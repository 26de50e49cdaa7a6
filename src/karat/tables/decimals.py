"""Decimal separators of numbers in texts: points or commas, by the cells of each column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from karat.errors import InputError, quoted
from karat.tables.grids import is_number
from karat.tables.names import role_rank
from karat.tables.options import ReadingOptions

_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*%?\s*", re.ASCII)
_DOT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*%?\s*", re.ASCII)
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*\s*", re.ASCII)
_BOTH = re.compile(r"\s*[+-]?\d{1,3}(?:([.,])\d{3})+([.,])\d+\s*", re.ASCII)
_FIRST_CELLS = 10_000  # a column without a number among them has texts
_MAX_NUMBER = 30  # characters


class _NumberForms:
    """Decimal separators that a column shows."""

    def __init__(self) -> None:
        self.cells = self.numbers = 0
        self.marks: dict[str, str] = {}  # separator -> a cell that has it
        self.unclear = ""

    def add(self, cell: str) -> None:
        self.cells += 1
        if len(cell) > _MAX_NUMBER or not is_number(cell):
            return
        self.numbers += 1
        if match := _BOTH.fullmatch(cell):
            if match[1] != match[2]:
                self.marks.setdefault(match[2], cell)
        elif _THOUSANDS.fullmatch(cell):
            self.unclear = self.unclear or cell
        elif _COMMA.fullmatch(cell):
            self.marks.setdefault(",", cell)
        elif _DOT.fullmatch(cell):
            self.marks.setdefault(".", cell)


def decimal_separator(
    records: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    name: str,
    separator: str,
    options: ReadingOptions,
) -> str:
    """Return the decimal separator of the numbers in a table; refuse a table that has both."""
    if options.decimal is not None:
        if options.decimal not in (".", ","):
            raise InputError(f"decimal {quoted(options.decimal)}: expected . or ,")
        return options.decimal
    forms = _forms_of_columns(records, _columns_of_numbers(columns, options))
    marks: dict[str, tuple[str, str]] = {}  # separator -> column, cell
    for column, form in forms.items():
        if len(form.marks) == 2:
            both = " and ".join(quoted(cell) for cell in form.marks.values())
            raise InputError(
                f"{name}: the column {quoted(column)} has numbers with decimal points and with "
                f"decimal commas ({both}): write all of them alike, or use --decimal"
            )
        for mark, cell in form.marks.items():
            marks.setdefault(mark, (column, cell))
    if len(marks) == 2:
        (first, cell), (second, other) = marks["."], marks[","]
        raise InputError(
            f"{name}: the column {quoted(first)} has numbers with decimal points ({quoted(cell)}), "
            f"{quoted(second)} with decimal commas ({quoted(other)}): write all of them alike, or "
            f"leave out a column with --column ignore={second}"
        )
    if marks:
        return next(iter(marks))
    for column, form in forms.items():
        if "," in form.unclear and separator != ";":
            raise InputError(
                f"{name}: {quoted(form.unclear)} in the column {quoted(column)} may be a decimal "
                "number or thousands: say which with --decimal , or --decimal ."
            )
    return "," if any("," in form.unclear for form in forms.values()) else "."


def _columns_of_numbers(columns: Sequence[str], options: ReadingOptions) -> list[str]:
    """Return the columns that may have numbers: no ids, and no columns that are left out."""
    texts = (
        text for role, text in options.columns.items() if role not in ("score", "metric", "judge")
    )
    declared = {part.strip() for text in texts for part in (text, *text.split(","))}
    return [name for name in columns if name not in declared and role_rank("id", name) is None]


def _forms_of_columns(
    records: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> dict[str, _NumberForms]:
    """Return the forms of numbers in each column that has mostly numbers."""
    by_column = {column: _NumberForms() for column in columns}
    for record in records:
        for column, cell in record.items():
            forms = by_column.get(column) if isinstance(cell, str) else None
            if forms is not None and (forms.numbers or forms.cells < _FIRST_CELLS):
                forms.add(cell)
    return {
        column: forms
        for column, forms in by_column.items()
        if forms.cells and 2 * forms.numbers >= forms.cells
    }
