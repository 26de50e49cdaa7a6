"""Known exports of other tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from karat.tables.files import ReadingOptions, Table


@dataclass(frozen=True)
class Schema:
    """The export of a tool: where its records are, and the roles of their columns."""

    name: str
    roles: Mapping[str, tuple[str, ...]]
    is_closed: bool = False
    """Whether other columns have no role."""


def apply_schema(table: Table, options: ReadingOptions) -> tuple[Table, Schema | None]:
    """Return the table with one record per output or rating, and its schema."""
    return table, None
