"""How single cells read, and how rows fall into sections."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest

from karat.report.model import (
    DASH,
    Cell,
    Column,
    Table,
    cell_text,
    format_brief,
    format_count,
    format_difference,
    sections,
)


@pytest.mark.parametrize(
    ("value", "digits", "signed", "expected"),
    [
        (1.005, 2, False, "1.00"),
        (2.5, 0, False, "2"),
        (-0.001, 2, False, "0.00"),
        (0.001, 2, True, "0.00"),
        (0.0, 2, True, "0.00"),
        (0.006, 2, True, "+0.01"),
        (-0.006, 2, True, "-0.01"),
        (12, 2, False, "12"),
        (12, None, True, "+12"),
        (0, None, True, "0"),
        (0.1, None, False, "0.1"),
        (1e300, 1, False, "1.0e+300"),
        (math.inf, 1, True, "+∞"),
        (-math.inf, None, False, "-∞"),
        (True, 2, True, "yes"),
        (False, None, False, "no"),
    ],
)
def test_number(value: float, digits: int | None, signed: bool, expected: str) -> None:
    assert cell_text(value, Column("k", "K", digits, signed=signed), str) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.00004, "<0.0001"), (0.0, "<0.0001"), (0.00006, "0.0001"), (1.0, "1.0000")],
)
def test_a_positive_number_is_never_zero(value: float, expected: str) -> None:
    assert cell_text(value, Column("p", "p", 4, positive=True), str) == expected


def test_numbers_in_running_text() -> None:
    assert [format_brief(x) for x in (0.0, 2.0, 20.5, 5.4772, 1234.5)] == [
        "0",
        "2",
        "20.5",
        "5.477",
        "1,234.5",
    ]
    assert [format_count(n, "word") for n in (0, 1, 2000)] == ["0 words", "1 word", "2,000 words"]


@pytest.mark.parametrize("cell", [None, math.nan, -math.nan])
def test_missing_is_missing(cell: Cell) -> None:
    column = Column("k", "K", 2)
    assert cell_text(column.cell({"k": cell}), column, str.upper, missing="gone") == "gone"


class Weather(NamedTuple):
    day: str
    degrees: float
    decimals: int


@pytest.mark.parametrize(
    ("column", "cell", "text"),
    [
        (Column("day", "Day"), "Monday", "MONDAY"),
        (Column("rain", "Rain"), None, DASH),
        (Column("frost", "Frost", value=lambda row: row.degrees < 0), False, "no"),
        (Column("degrees", "Degrees", lambda row: row.decimals), 21.456, "21.46"),
    ],
)
def test_a_column_reads_its_cell_from_the_row(column: Column, cell: Cell, text: str) -> None:
    row = Weather("Monday", 21.456, 2)
    assert column.cell(row) == cell
    assert cell_text(cell, column, str.upper, row=row) == text


def test_strings_are_quoted_and_numbers_are_not() -> None:
    assert cell_text("x", Column("k", "K"), str.upper) == "X"
    assert cell_text(1.5, Column("k", "K"), lambda text: "quoted") == "1.5"


def test_sections_are_runs_and_missing_groups_are_one_run() -> None:
    groups = ["a", "a", None, math.nan, "a"]
    columns = (Column("g", "G"), Column("n", "N"))
    rows = tuple({"g": group, "n": n} for n, group in enumerate(groups))
    table = Table("rows", "", columns, rows, group="g")
    runs = [
        (heading, [cell.cell for (cell,) in rows])
        for heading, rows in sections(table, table.shown_columns, str.upper)
    ]
    assert runs == [("A", [0, 1]), (DASH, [2, 3]), ("A", [4])]


def test_table_without_group_is_one_section_without_heading() -> None:
    table = Table("rows", "", (Column("n", "N"),), ({"n": 1}, {"n": 2}))
    ((heading, rows),) = sections(table, table.shown_columns, str.upper)
    assert heading is None
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("delta", "ends", "digits", "text"),
    [
        (0.6, (0.04, 1.2), 1, "+0.60 [0.04, 1.20]"),
        (-0.6, (-1.2, -0.0004), 2, "-0.6000 [-1.2000, -0.0004]"),
        (0.6, (0.05, 1.2), 1, "+0.6 [0.1, 1.2]"),
        (0.6, (-0.04, 1.2), 1, "+0.6 [0.0, 1.2]"),
        (0.0, (0.0, 0.0), 1, "0.0 [0.0, 0.0]"),
        (0.6, (1e-12, 1.2), 1, "+0.600000 [0.000000, 1.200000]"),
    ],
)
def test_an_interval_that_excludes_0_does_not_end_at_0(
    delta: float, ends: tuple[float, float], digits: int, text: str
) -> None:
    assert format_difference(delta, ends, digits) == text
