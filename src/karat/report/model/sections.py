"""The sub-headings of a table: runs of rows that agree on its group column."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import NamedTuple

from karat.report.model.cells import DASH, is_missing, show
from karat.report.model.table import Cell, Column, Document, Figure, Row, Table


class Section(NamedTuple):
    """Consecutive rows, each with its index in the table, and the group value they share."""

    group: Cell
    rows: tuple[tuple[int, Row], ...]


def for_people(document: Document) -> list[Table | Figure]:
    """What people read of a document, in order."""
    return [b for b in document.blocks if isinstance(b, Figure) or b.readers != "programs"]


def shown_columns(table: Table) -> tuple[Column, ...]:
    """All columns that people read, but the one that became sub-headings."""
    shown = (column for column in table.columns if column.readers != "programs")
    return tuple(column for column in shown if column.key != table.group)


def sections(table: Table) -> list[Section]:
    """The table's rows, cut where the group value changes; one section if it has no group."""
    runs = groupby(enumerate(table.rows), key=lambda numbered: _group_of(table, numbered[1]))
    return [Section(group, tuple(rows)) for group, rows in runs]


def heading(
    table: Table, section: Section, quote: Callable[[str], str], missing: str = DASH
) -> str | None:
    """The sub-heading above a section, or None in a table without groups."""
    if table.group is None:
        return None
    column = next(column for column in table.columns if column.key == table.group)
    return show(section.group, column, quote, missing)


def _group_of(table: Table, row: Row) -> Cell:
    value = None if table.group is None else row.get(table.group)
    return None if is_missing(value) else value  # NaN differs from itself, missing does not
