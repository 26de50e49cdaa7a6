"""Decimal separators of numbers in texts: points or commas, by the cells of each column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from karat.errors import InputError, quoted
from karat.tables.grids import is_number

_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*%?\s*", re.ASCII)
_DOT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*%?\s*", re.ASCII)
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*\s*", re.ASCII)
_BOTH = re.compile(r"\s*[+-]?\d{1,3}(?:([.,])\d{3})+([.,])\d+\s*", re.ASCII)
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
    requested: str | None,
) -> str:
    """Return the decimal separator of the numbers in a table; refuse a column that has both."""
    if requested is not None:
        if requested not in (".", ","):
            raise InputError(f"decimal {quoted(requested)}: expected . or ,")
        return requested
    has_comma = has_unclear = False
    for column in columns:
        forms = _NumberForms()
        for record in records:
            cell = record.get(column)
            if isinstance(cell, str):
                forms.add(cell)
        if 2 * forms.numbers < forms.cells or not forms.cells:
            continue
        if len(forms.marks) == 2:
            both = " and ".join(quoted(cell) for cell in forms.marks.values())
            raise InputError(
                f"{name}: the column {quoted(column)} has numbers with decimal points and with "
                f"decimal commas ({both}): write all of them alike, or use --decimal"
            )
        has_comma |= "," in forms.marks
        has_unclear |= "," in forms.unclear and "." not in forms.marks
        if "," in forms.unclear and not forms.marks and separator != ";" and not has_comma:
            raise InputError(
                f"{name}: {quoted(forms.unclear)} in the column {quoted(column)} may be a decimal "
                "number or thousands: say which with --decimal , or --decimal ."
            )
    return "," if has_comma or (has_unclear and separator == ";") else "."
