"""Cells as people read them, and the sections of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from karat.report.model.table import Cell, Column, Decimals, Row, Table

DASH = "\u2013"  # the en dash
MAX_ENUMERATED = 12  # items that a sentence enumerates before it says "and more"
LONGEST_PLAIN = 1e15  # beyond it a float has no true decimals, only a long row of digits


def is_missing(cell: Cell) -> bool:
    """Return whether there is no value: None or NaN; an infinity is a value."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def cell_text(cell: Cell, column: Column, quote: Callable[[str], str], missing: str = DASH) -> str:
    """The cell as its column wants it, with strings passed through the format's own `quote`."""
    if cell is None or is_missing(cell):
        return missing
    return quote(cell) if isinstance(cell, str) else number_text(cell, column)


class Shown(NamedTuple):
    """A cell, its column, how it reads, and whether it is stressed."""

    cell: Cell
    column: Column
    text: str
    stressed: bool


def sections(
    table: Table, columns: Sequence[Column], quote: Callable[[str], str], missing: str = DASH
) -> Iterator[tuple[str | None, list[list[Shown]]]]:
    """Runs of rows that agree on the group column, each after its sub-heading.

    A table without groups is one section, whose sub-heading is None.
    """
    group = next((column for column in table.columns if column.key == table.group), None)

    def key(numbered: tuple[int, Row]) -> Cell:
        value = numbered[1].get(group.key) if group else None
        return None if is_missing(value) else value  # NaN differs from itself, missing does not

    def shown(index: int, row: Row, column: Column) -> Shown:
        cell, stressed = row.get(column.key), (index, column.key) in table.emphasis
        return Shown(cell, column, cell_text(cell, column, quote, missing), stressed)

    for value, run in groupby(enumerate(table.rows), key):
        rows = [[shown(index, row, column) for column in columns] for index, row in run]
        yield cell_text(value, group, quote, missing) if group else None, rows


def number_text(value: float, column: Column) -> str:
    """A number with the column's decimals and sign, a truth value as yes or no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    decimals = value.digits if isinstance(value, Decimals) else column.digits
    digits = _digits_of(value, decimals)
    if column.positive and decimals and not digits.strip("0."):
        return f"<{digits[:-1]}1"
    if not digits.strip("-0."):
        return digits.lstrip("-")  # what rounds to zero has no sign: neither -0.00 nor +0.00
    return f"+{digits}" if column.signed and value > 0 else digits


def brief(value: float) -> str:
    """A number in running text: at most three decimals, and none that are zero."""
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def several(count: int, noun: str) -> str:
    """A count with its noun: 1 word, 2 words."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def enumeration(items: Sequence[str]) -> str:
    """The items in one sentence, the first dozen by name."""
    rest = len(items) - MAX_ENUMERATED
    named = "; ".join(items[:MAX_ENUMERATED])
    return f"{named}; and {rest} more" if rest > 0 else named


def _digits_of(value: float, decimals: int | None) -> str:
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if decimals is None:
        return repr(float(value))  # float(): a NumPy scalar's repr would name its type
    kind = "f" if abs(value) < LONGEST_PLAIN else "e"
    return f"{value:.{decimals}{kind}}"
