"""The report of `reproduce`: conclusions, published and reproduced numbers, differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from karat.report.charts.models import ChartLine, Point, XYChart
from karat.report.model import Document, Figure, Table
from karat.reproduction.results import ReproducedNumber, Reproduction
from karat.results import Column, number, people_column, program_columns

MIN_LARGE_NUMBER = 10.0
"""Numbers of a measure above this have one decimal."""
MIN_POINTS = 4
"""Minimum number of points of a chart."""
_ITEM = "The row of the paper's table, or the curve of its figure."
_CONCLUSIONS = (
    Column("where", "Paper", field="source"),
    Column("data", "Data", wrap=True),
    Column("claim", "Conclusion of the paper", wrap=True),
    Column("verdict", "Here", help="holds, fails, or undecided: the data cannot decide it."),
    Column("evidence", "Evidence", wrap=True),
)
_NUMBERS = (
    people_column("heading", "Heading", lambda row: f"{row.source} ({row.data})"),
    Column("where", "Paper", field="source", readers="programs"),
    Column("item", "Item", help=_ITEM, wrap=True),
    Column("measure", "Measure"),
    number("at", "At", 0, "Place on the x axis of the paper's figure."),
    number("paper", "Paper", 3, "The published number."),
    number("ours", "Here", 3, "The same number on the data here.", field="value"),
    number("low", "Low", 3, "Lower end of our interval."),
    number("high", "High", 3, "Upper end of our interval."),
    *program_columns("data"),
    Column("detail", "Detail", wrap=True),
)
_OPTIONAL = {"at", "low", "high", "detail"}
"""Columns that are left out if they are empty."""
_DIFFERS = (
    Column("what", "What", field="subject"),
    Column("paper", "In the paper", wrap=True),
    Column("here", "Here", field="reproduction", wrap=True),
)


def reproduction_document(reproduction: Reproduction) -> Document:
    """Return the conclusions first, then numbers, pictures and differences."""
    rows, conclusions = reproduction.rows, reproduction.conclusions
    large = {
        row.measure for row in rows if max(abs(row.value), abs(row.paper or 0.0)) > MIN_LARGE_NUMBER
    }

    def digits(row: ReproducedNumber) -> int:
        return 1 if row.measure in large else 3

    used = []
    for column in _NUMBERS:
        if column.key not in _OPTIONAL or any(column.cell(row) not in (None, "") for row in rows):
            used.append(replace(column, digits=digits) if column.digits else column)
    blocks: list[Table | Figure] = [
        *(Figure(chart.title, chart, chart.caption) for chart in _number_charts(rows)),
        Table("conclusions", "Conclusions of the paper", _CONCLUSIONS, conclusions, open=True),
        Table("rows", "The paper's numbers and ours", used, rows, group="heading"),
        Table("differs", "What differs", _DIFFERS, reproduction.differs, open=True),
    ]
    answer = (reproduction.summary,)
    return Document(f"Reproduced: {reproduction.paper}", blocks, answer=answer)


def _number_charts(rows: Sequence[ReproducedNumber]) -> Iterator[XYChart]:
    for measure in dict.fromkeys(row.measure for row in rows):
        measure_rows = [row for row in rows if row.measure == measure]
        points = [
            Point(row.paper, row.value, row.item, f"{row.source} ({row.data})", row.low, row.high)
            for row in measure_rows
            if row.paper is not None
        ]
        if len(points) >= MIN_POINTS:
            caption = "On the line, our number is the same as the paper's."
            title = f"In the paper and here: {measure}"
            yield XYChart(title, "paper", "here", points, ChartLine(1.0, 0.0), caption=caption)
        for data in dict.fromkeys(row.data for row in measure_rows if row.at is not None):
            rows_of_data = [row for row in measure_rows if row.data == data]
            points = [
                Point(row.at, row.value, "", row.item, row.low, row.high)
                for row in rows_of_data
                if row.at is not None
            ]
            title = f"{rows_of_data[0].source}: {data}, {measure}"
            yield XYChart(title, "length", measure, points, kind="curves", whole_x=True)
