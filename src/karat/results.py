"""Results of public functions, as plain data.

A result is a frozen dataclass with flat `rows` (NamedTuples), `settings`, `notes`, a `signature`.
The columns of rows are declared below their class, the documents select from them.
The registry `DOCUMENTS` names the function that turns each class of results into a document of
tables and figures. Data frames hold a table of the document, with the columns of the JSON.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import accumulate
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

from karat.errors import MissingExtra, visible
from karat.registry import Registry, load

T = TypeVar("T")

Cell: TypeAlias = str | int | float | bool | None
Readers: TypeAlias = Literal["all", "people", "programs"]
Align: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True)
class Column:
    """A column of a table: how to read its cells from rows, and how to show them to people.

    `key` is its name in JSON and TSV. The cell is the row's `field`, by default the one with the
    name of the key, unless `value` computes it. `title` is its heading. `digits` are the decimals
    of floats for people, or a function from the row to these (None shows every digit); JSON and TSV
    have the full value. If `positive`, a number that rounds to zero is shown as below the last
    digit: <0.0001. Text that does not fit a terminal is cut, or wrapped with `wrap`. `readers` can
    limit a column to people or to programs (JSON and TSV). A page shows a column of `detail` only
    on demand, and lets readers filter rows by the values of a `filter` column.
    """

    key: str
    title: str
    digits: int | Callable[[Any], int | None] | None = None
    align: Align = "left"
    help: str = ""
    signed: bool = False
    positive: bool = False
    wrap: bool = False
    readers: Readers = "all"
    detail: bool = False
    filter: bool = False
    field: str = ""
    value: Callable[[Any], Cell] | None = None

    def cell(self, row: Any) -> Cell:
        """Return the cell of a row, a NamedTuple or a dictionary; None if it is missing or NaN."""
        if self.value is not None:
            cell = self.value(row)
        else:
            name = self.field or self.key
            cell = row.get(name) if isinstance(row, dict) else getattr(row, name, None)
        return None if isinstance(cell, float) and math.isnan(cell) else cell


def number(key: str, title: str, digits: Any = None, help: str = "", **look: Any) -> Column:
    """Return a right-aligned column of numbers."""
    return Column(key, title, digits, "right", help, **look)


def program_columns(*keys: str) -> tuple[Column, ...]:
    """Return columns that only programs read, such as all fields of a row."""
    return tuple(Column(key, key, readers="programs") for key in keys)


def people_column(key: str, title: str, value: Callable[[Any], Cell], **look: Any) -> Column:
    """Return a column of computed text that only people read."""
    return Column(key, title, value=value, readers="people", **look)


DOCUMENTS: Registry[Callable[[Any], Any]] = Registry(
    "documents",
    "result",
    {
        "Scoring": "karat.report.documents.scores:scoring_document",
        "WideScores": "karat.report.documents.comparisons:wide_document",
        "RankedSegments": "karat.report.documents.ranked:ranked_document",
        "WrittenShards": "karat.report.documents.scores:shards_document",
        "Comparison": "karat.report.documents.comparisons:comparison_document",
        "RaterPlan": "karat.report.documents.power:rater_plan_document",
        "PowerAnalysis": "karat.report.documents.power:power_document",
        "Estimate": "karat.report.documents.estimates:estimate_document",
        "GateResult": "karat.report.gates:gate_document",
        "MetaEvaluation": "karat.report.documents.meta:meta_document",
        "ChallengeResult": "karat.report.documents.challenges:challenge_document",
        "GainStudy": "karat.report.documents.gain_studies:study_document",
        "ScoreFit": "karat.report.documents.fits:score_fit_document",
        "MetaReport": "karat.report.documents.meta_page:report_document",
        "PlaneFit": "karat.report.documents.planes:plane_fit_document",
        "PlaneStudy": "karat.report.documents.planes:study_document",
        "Ranking": "karat.report.documents.meta:meta_document",
        "RankAverage": "karat.report.documents.meta:average_document",
        "ReliabilityCurves": "karat.report.documents.reliability:reliability_document",
        "Recommendation": "karat.report.documents.planes:recommendation_document",
        "EvalSetCheck": "karat.report.documents.evalsets:check_document",
        "DrawnUnits": "karat.report.documents.evalsets:drawn_document",
        "FloodedSet": "karat.report.documents.evalsets:flooded_document",
        "KnownEvalSets": "karat.report.documents.evalsets:known_document",
        "JudgeAgreement": "karat.report.documents.evalsets:judges_document",
        "JudgeCheck": "karat.report.documents.judge_checks:judge_check_document",
        "SpanComparison": "karat.report.documents.judge_checks:span_document",
        "MetricCatalogue": "karat.report.documents.evalsets:catalogue_document",
        "Reproduction": "karat.report.reproduction:reproduction_document",
        "SegmentExplanations": "karat.report.segment.document:explanations_document",
    },
)
"""Class of a result -> the function from the result to its `Document`."""


class Result:
    """Base class of results: conversion to documents, data frames, notebook cells and text."""

    if TYPE_CHECKING:  # fields or properties of each result

        @property
        def rows(self) -> Sequence[Any]:
            """Flat rows, NamedTuples."""

        @property
        def settings(self) -> Mapping[str, object]:
            """All settings of the call."""

        @property
        def notes(self) -> tuple[str, ...]:
            """Sentences that qualify the numbers."""

        @property
        def signature(self) -> str:
            """The settings that reproduce the numbers, a line for each metric."""

    def document(self, command: str = "") -> Any:
        """Return the tables and figures; `command` is the command line that made them, if any.

        The document gets the signatures and notes of the result, unless it has its own.
        """
        document = DOCUMENTS[type(self).__name__](self)
        signatures, notes = document.signatures, document.notes
        if signatures is None:
            signatures = getattr(self, "signatures", {})
        notes = self.notes if notes is None else notes
        settings = self.settings
        return replace(
            document, command=command, signatures=signatures, notes=notes, settings=settings
        )

    @property
    def summary(self) -> str:
        """The answer in a sentence or two; empty if the numbers are inconclusive.

        Hidden characters in names are escaped, as in reports.
        """
        return visible(" ".join(self.document().answer))

    def records(self, table: str | None = None) -> list[dict[str, Any]]:
        """Return the rows of a table as flat dictionaries, as in JSON.

        `table` is the table's key in JSON; by default the rows of the result.
        """
        columns = self._columns(table)
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_pandas(self, table: str | None = None) -> Any:
        """Return the rows of the result, or of another table, as a pandas data frame."""
        return _import_package("pandas").DataFrame(self._columns(table))

    def to_polars(self, table: str | None = None) -> Any:
        """Return the rows of the result, or of another table, as a Polars data frame."""
        return _import_package("polars").DataFrame(self._columns(table), strict=False)

    def to_arrow(self, table: str | None = None) -> Any:
        """Return the rows of the result, or of another table, as an Arrow table."""
        return _import_package("pyarrow").table(self._columns(table))

    def _columns(self, table: str | None) -> dict[str, list[Any]]:
        data_columns = load("karat.report.render.records:data_columns")
        return dict(data_columns(self.document(), table))

    def render(self, format: str = "text", *, spreadsheet_safe: bool = False) -> str:
        """Return the report as the command prints it with `-f`, such as `json`, `md` or `html`.

        XLSX and parquet are not text: use `save`.
        `spreadsheet_safe` keeps spreadsheets from taking text in CSV and TSV for formulas.
        """
        make = load("karat.report.render.renderers:render")
        return str(make(self.document(), format, spreadsheet_safe=spreadsheet_safe))

    def save(self, path: str | PathLike[str], *, spreadsheet_safe: bool = False) -> None:
        """Write the report to a file, in the format of its extension, such as `.html`.

        XLSX has a sheet for each table (needs openpyxl), parquet the rows of the result (pyarrow).
        `spreadsheet_safe` keeps spreadsheets from taking text in CSV and TSV for formulas.
        """
        write = load("karat.report.render.renderers:save")
        write(self.document(), path, spreadsheet_safe=spreadsheet_safe)

    def _repr_html_(self) -> str:
        return str(load("karat.report.render.html:render_notebook")(self.document()))

    def __repr__(self) -> str:
        rows = f"{len(self.rows):,} row{'s' * (len(self.rows) != 1)}"
        return f"<{type(self).__name__}: {rows}; .rows, .to_pandas(), .document()>"


class SignedResult(Result):
    """A result with the signatures of its metrics, models and data by name."""

    if TYPE_CHECKING:

        @property
        def signatures(self) -> Mapping[str, str]:
            """The full signature of each metric or model, and of the data."""

    @property
    def signature(self) -> str:
        """The signatures of all metrics and of the data, a line each."""
        return "\n".join(self.signatures.values())


class LazyRows(Sequence[T]):
    """Rows that are created on access, from several parts in sequence.

    A part is its number of rows and a function from an index to a row.
    """

    def __init__(self, parts: Sequence[tuple[int, Callable[[int], T]]]) -> None:
        self._makers = [make for _, make in parts]
        self._starts = list(accumulate((size for size, _ in parts), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        part = bisect_right(self._starts, index) - 1
        return self._makers[part](index - self._starts[part])


def _import_package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"{name} is not installed: pip install {name}") from error


MAX_INTERVAL_DIGITS = 6


def interval_digits(low: float, high: float, digits: int) -> int:
    """Return the decimals of an interval, at least `digits`: if it excludes 0, no end reads 0."""
    nearest = min(abs(low), abs(high))
    while low * high > 0 and digits < MAX_INTERVAL_DIGITS and not round(nearest, digits):
        digits += 1
    return digits
