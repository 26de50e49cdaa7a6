"""The report of `reproduce`: conclusions, the paper's numbers beside ours, what differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.report.charts.models import Curve, Curves, Knot, Line, Point, Scatter
from karat.report.model import Cell, Column, Decimals, Document, Figure, Table, columns
from karat.reproduction.results import ReproducedNumber, Reproduction

LARGE = 10.0
"""From this on, numbers of a measure have one decimal."""
ENOUGH = 4
"""Pairs of numbers that make a picture."""
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
    Column("at", "At", 0, align="right", help="Place on the x axis of the paper's figure."),
    Column("paper", "Paper", 3, "right", "The published number."),
    Column("ours", "Here", 3, "right", "The same number on the data here."),
    Column("low", "Low", 3, "right", "Lower end of our interval."),
    Column("high", "High", 3, "right", "Upper end of our interval."),
    *columns("programs", data="Data"),
    Column("detail", "Detail", wrap=True),
)
_DIFFERS = (
    *columns(what="What"),
    Column("paper", "In the paper", wrap=True),
    Column("here", "Here", wrap=True),
)


def reproduction_document(found: Reproduction, command: str) -> Document:
    """Return the conclusions first, then numbers, pictures and differences."""
    conclusions = [one._asdict() for one in found.conclusions]
    differs = [one._asdict() for one in found.differs]
    numbers = Table("rows", "The paper's numbers and ours", *_shown(found.rows), group="heading")
    blocks: list[Table | Figure] = [
        *(Figure(chart.title, chart, chart.caption) for chart in _charts(found.rows)),
        Table("conclusions", "Conclusions of the paper", _CONCLUSIONS, conclusions, open=True),
        numbers,
        Table("differs", "What differs", _DIFFERS, differs, open=True),
    ]
    title, told = f"Reproduced: {found.paper}", (found.summary,)
    return Document(title, tuple(blocks), command, found.signatures, found.notes, answer=told)


def _shown(rows: Sequence[ReproducedNumber]) -> tuple[tuple[Column, ...], list[dict[str, Cell]]]:
    """Return the columns that have anything to show, and the rows."""
    empty = {
        name
        for name in ("at", "low", "high", "detail")
        if all(getattr(row, name) in (None, "") for row in rows)
    }
    large = {row.measure for row in rows if max(abs(row.ours), abs(row.paper or 0.0)) > LARGE}
    cells = [_cells(row, 1 if row.measure in large else 3) for row in rows]
    return tuple(c for c in _NUMBERS if c.key not in empty), cells


def _cells(row: ReproducedNumber, digits: int) -> dict[str, Cell]:
    numbers = {name: getattr(row, name) for name in ("paper", "ours", "low", "high")}
    shown = {name: Decimals(v, digits) for name, v in numbers.items() if v is not None}
    return {"heading": f"{row.where} ({row.data})", **row._asdict(), **shown}


def _charts(rows: Sequence[ReproducedNumber]) -> Iterator[Scatter | Curves]:
    """Yield the paper's numbers against ours by measure, and the curves of figures."""
    for measure in dict.fromkeys(row.measure for row in rows):
        own = [row for row in rows if row.measure == measure]
        points = [
            Point(row.paper, row.ours, row.item, f"{row.where} ({row.data})", row.low, row.high)
            for row in own
            if row.paper is not None
        ]
        if len(points) >= ENOUGH:
            caption = "On the line, our number is the same as the paper's."
            title = f"In the paper and here: {measure}"
            yield Scatter(title, "paper", "here", points, Line(1.0, 0.0), caption=caption)
        for data in dict.fromkeys(row.data for row in own if row.at is not None):
            yield _curves(measure, data, [row for row in own if row.data == data])


def _curves(measure: str, data: str, rows: Sequence[ReproducedNumber]) -> Curves:
    knots: dict[str, list[Knot]] = {}
    for row in rows:
        if row.at is not None:
            knots.setdefault(row.item, []).append(Knot(row.at, row.ours, row.low, row.high))
    curves = [Curve(name, own) for name, own in knots.items()]
    title = f"{rows[0].where}: {data}, {measure}"
    return Curves(title, "length", measure, curves, whole_x=True)
