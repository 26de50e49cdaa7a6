"""The report of `reproduce`: conclusions, published and reproduced numbers, differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.report.charts.models import ChartLine, Curve, Curves, Knot, Point, Scatter
from karat.report.model import Cell, Column, Decimals, Document, Figure, Table, columns, number
from karat.reproduction.results import ReproducedNumber, Reproduction

MIN_LARGE_NUMBER = 10.0
"""Numbers of a measure above this have one decimal."""
MIN_POINTS = 4
"""Minimum number of points of a chart."""
_ITEM = "The row of the paper's table, or the curve of its figure."
_CONCLUSIONS = (
    *columns(where="Paper"),
    Column("data", "Data", wrap=True),
    Column("claim", "Conclusion of the paper", wrap=True),
    Column("verdict", "Here", help="holds, fails, or undecided: the data cannot decide it."),
    Column("evidence", "Evidence", wrap=True),
)
_NUMBERS = (
    Column("heading", "Heading", readers="people"),
    Column("where", "Paper", readers="programs"),
    Column("item", "Item", help=_ITEM, wrap=True),
    *columns(measure="Measure"),
    number("at", "At", 0, "Place on the x axis of the paper's figure."),
    number("paper", "Paper", 3, "The published number."),
    number("ours", "Here", 3, "The same number on the data here."),
    number("low", "Low", 3, "Lower end of our interval."),
    number("high", "High", 3, "Upper end of our interval."),
    *columns("programs", data="Data"),
    Column("detail", "Detail", wrap=True),
)
_DIFFERS = (
    *columns(what="What"),
    Column("paper", "In the paper", wrap=True),
    Column("here", "Here", wrap=True),
)


def reproduction_document(reproduction: Reproduction, command: str) -> Document:
    """Return the conclusions first, then numbers, pictures and differences."""
    conclusions = [row._asdict() for row in reproduction.conclusions]
    differs = [row._asdict() for row in reproduction.differs]
    numbers = Table(
        "rows",
        "The paper's numbers and ours",
        *_columns_and_cells(reproduction.rows),
        group="heading",
    )
    blocks: list[Table | Figure] = [
        *(Figure(chart.title, chart, chart.caption) for chart in _number_charts(reproduction.rows)),
        Table("conclusions", "Conclusions of the paper", _CONCLUSIONS, conclusions, open=True),
        numbers,
        Table("differs", "What differs", _DIFFERS, differs, open=True),
    ]
    title, answer = f"Reproduced: {reproduction.paper}", (reproduction.summary,)
    return Document(
        title, tuple(blocks), command, reproduction.signatures, reproduction.notes, answer=answer
    )


def _columns_and_cells(
    rows: Sequence[ReproducedNumber],
) -> tuple[tuple[Column, ...], list[dict[str, Cell]]]:
    empty = {
        name
        for name in ("at", "low", "high", "detail")
        if all(getattr(row, name) in (None, "") for row in rows)
    }
    large = {
        row.measure for row in rows if max(abs(row.ours), abs(row.paper or 0.0)) > MIN_LARGE_NUMBER
    }
    cells = [_number_cells(row, 1 if row.measure in large else 3) for row in rows]
    return tuple(c for c in _NUMBERS if c.key not in empty), cells


def _number_cells(row: ReproducedNumber, digits: int) -> dict[str, Cell]:
    numbers = {name: getattr(row, name) for name in ("paper", "ours", "low", "high")}
    formatted = {name: Decimals(v, digits) for name, v in numbers.items() if v is not None}
    return {"heading": f"{row.where} ({row.data})", **row._asdict(), **formatted}


def _number_charts(rows: Sequence[ReproducedNumber]) -> Iterator[Scatter | Curves]:
    for measure in dict.fromkeys(row.measure for row in rows):
        measure_rows = [row for row in rows if row.measure == measure]
        points = [
            Point(row.paper, row.ours, row.item, f"{row.where} ({row.data})", row.low, row.high)
            for row in measure_rows
            if row.paper is not None
        ]
        if len(points) >= MIN_POINTS:
            caption = "On the line, our number is the same as the paper's."
            title = f"In the paper and here: {measure}"
            yield Scatter(title, "paper", "here", points, ChartLine(1.0, 0.0), caption=caption)
        for data in dict.fromkeys(row.data for row in measure_rows if row.at is not None):
            yield _curves(measure, data, [row for row in measure_rows if row.data == data])


def _curves(measure: str, data: str, rows: Sequence[ReproducedNumber]) -> Curves:
    knots: dict[str, list[Knot]] = {}
    for row in rows:
        if row.at is not None:
            knots.setdefault(row.item, []).append(Knot(row.at, row.ours, row.low, row.high))
    curves = [Curve(name, item_knots) for name, item_knots in knots.items()]
    title = f"{rows[0].where}: {data}, {measure}"
    return Curves(title, "length", measure, curves, whole_x=True)
