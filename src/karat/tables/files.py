"""Records of tabular files and frames: CSV, TSV, JSON, JSONL, parquet, XLSX, data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from karat.evalset.reading import Location


@dataclass(frozen=True)
class Table:
    """Records of a file or frame, before their columns have roles.

    A cell is text in formats that hold only text, else what JSON, parquet or a workbook has; an
    empty cell is None.
    """

    name: str
    """The path or `table`, for messages."""
    form: str
    """csv, tsv, json, jsonl, parquet, xlsx or frame."""
    columns: tuple[str, ...]
    """Unique names; a repeated header cell gets a number: `score`, `score (2)`, `score (3)`."""
    records: Sequence[Mapping[str, Any]]
    lines: Sequence[int] = ()
    """The line (text) or row (workbook, frame) of each record, from 1."""
    document: Any = None
    """The whole value of a JSON file, for paths that begin with `/`; else None."""
    system: str = ""
    """Name of the system if the file holds one: the file's stem, or the sheet."""
    remarks: tuple[str, ...] = ()
    """How the file was read where that is not plain: encoding, separator, header row, sheet."""
    texts_only: bool = False
    """Whether all cells are text, so that numbers have to be parsed."""

    def location(self, row: int) -> Location:
        """Return the location of a record for messages."""
        raise NotImplementedError


@dataclass(frozen=True)
class ReadingOptions:
    """What a user says about a table where it cannot be known."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Role -> column, a comma-separated list of columns for roles that may have several."""
    sheet: str | None = None
    """Sheet of a workbook; `*` takes every sheet as a system."""
    header: int | None = None
    """Row of the header, from 1."""
    skip_missing: bool = False
    """Whether rows without a candidate or a reference are left out."""
    repeats: str | None = None
    """Rows of one system with the same id: `answers`, `first` or `last`."""
    scale: Mapping[str, str] = field(default_factory=dict)
    """Dimension -> `LOW..HIGH`, or `HIGH..LOW` if lower is better."""
    schema: str | None = None
    """Name of a known schema; `none` for no schema."""
