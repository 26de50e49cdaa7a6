"""The document of `meta reliability`: agreement with humans by the length of texts, as curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from karat.meta.reliability import (
    ReliabilityCurves,
    ReliabilityRow,
    best_curve,
    references_in_words,
)
from karat.report.charts.models import Curve, Curves, Knot, chart_figure
from karat.report.documents.meta import statistic_label
from karat.report.model import (
    Cell,
    Column,
    Document,
    Figure,
    Gallery,
    Table,
    clear_labels,
    columns,
    several,
    span,
)

if TYPE_CHECKING:
    from karat.meta.reliability import ReliabilityCurves, ReliabilityRow


MOST_TOLD = 4
"""Dimensions that have a sentence each."""


def reliability_answer(found: ReliabilityCurves) -> tuple[str, ...]:
    """Return the metric ahead on the longest texts of each dimension, by the first statistic."""
    by = found.asked_settings.statistics[0]
    rows = [row for row in found.rows if row.statistic == by]
    told = [
        sentence
        for _, own in groupby(rows, lambda row: row.dimension)
        for sentence in _dimension(list(own))
    ]
    return tuple(told[:MOST_TOLD])


def reliability_basis(found: ReliabilityCurves) -> str:
    """Return how the values were made."""
    return (
        f"Means of {several(found.asked_settings.repeats, 'shuffle')} of segments into "
        "pseudo-documents. In "
        "brackets: the middle 95% of the shuffles, which is no interval for other segments."
    )


def _dimension(rows: Sequence[ReliabilityRow]) -> Iterator[str]:
    found = best_curve(rows)
    if found is None:
        return
    first, best, curves = found
    many = len({row.references for row in rows}) > 1
    refs = f" with {references_in_words(best.references)}" if many else ""
    name = f"{clear_labels(row.metric for row in rows)[best.metric]}{refs}"
    label = statistic_label(best.statistic)
    value = f"{best.value:.3f} {span(best.low, best.high, 3)}"
    texts = f"texts of {several(best.length, 'segment')}"
    if curves > 1:
        most = "highest" if found.sign > 0 else "lowest"
        sentence = f"On {texts}, {name} has the {most} {label} with {best.dimension}, {value}"
    else:
        sentence = f"{name} and {best.dimension} on {texts}: {label} {value}"
    if first.length < best.length:
        sentence += f"; on texts of {several(first.length, 'segment')} it has {first.value:.3f}"
    untested = "; differences between metrics were not tested" * (curves > 1)
    yield f"{sentence}{untested}."


MOST_CURVES = 8
"""Curves in one chart, each with a colour of its own."""
SHUFFLED = "Segments are shuffled and cut into documents; bands hold 95% of the shuffles."

_ROWS = (
    Column("heading", "Heading", readers="people"),
    *columns("programs", dimension="Dimension", statistic="Statistic"),
    Column("references", "References", align="right", help="References of each segment."),
    *columns(metric="Metric"),
    Column("length", "Segments", align="right", help="Segments in a pseudo-document."),
    Column(
        "documents",
        "Documents",
        align="right",
        help="Pseudo-documents of each system.",
    ),
    Column("value", "Value", 3, "right", "Mean of the statistic over shuffles."),
    Column("low", "Low", 3, align="right", help="Lower end of the middle 95% of shuffles."),
    Column("high", "High", 3, align="right", help="Upper end of the middle 95% of shuffles."),
    *columns("programs", undefined="Undefined"),
)
_TESTS = (
    *columns(dimension="Dimension", statistic="Statistic"),
    *columns(first="First", first_references="First references"),
    *columns(second="Second", second_references="Second references"),
    *columns(lengths="Lengths", better="Better", delta="Delta", p="p"),
)


def reliability_document(found: ReliabilityCurves, command: str) -> Document:
    """Return the curves as charts and as a table."""
    rows: list[dict[str, Cell]] = [
        {"heading": f"{row.dimension}, {row.statistic}", **row._asdict()} for row in found.rows
    ]
    varying = any(row.references is None for row in found.rows)
    shown = tuple(c for c in _ROWS if c.key != "references" or not varying)
    table = Table("rows", "Agreement by text length", shown, rows, group="heading")
    tests = Table("tests", "Tests", _TESTS, [t._asdict() for t in found.tests], readers="programs")
    curves = [replace(chart, caption="") for chart in reliability_charts(found.rows, SHUFFLED)]
    charts = tuple(_both_sizes(chart) for chart in curves)
    pictures = Gallery("Agreement by text length, as curves", charts, SHUFFLED)
    title = f"Reliability of metrics on {found.name}"
    told = reliability_answer(found), reliability_basis(found)
    blocks = (pictures, table, tests)
    return Document(title, blocks, command, found.signatures, found.notes, {}, *told)


def _both_sizes(chart: Curves) -> Figure:
    """Return a chart that is narrow on pages and as wide as the terminal there."""
    return replace(chart_figure(chart), drawing=replace(chart, narrow=True))


def reliability_charts(rows: Sequence[ReliabilityRow], caption: str) -> list[Curves]:
    """Return a chart for each dimension and statistic, curves by metric and references.

    Where these are many, each number of references has a chart of its own.
    """
    return [
        chart
        for (dimension, by), place in groupby(rows, lambda row: (row.dimension, row.statistic))
        for chart in _charts(dimension, by, list(place), caption)
    ]


def _charts(
    dimension: str, by: str, rows: Sequence[ReliabilityRow], caption: str
) -> Iterator[Curves]:
    curves = {(row.references, row.metric) for row in rows}
    numbers = list(dict.fromkeys(row.references for row in rows))
    title = f"Reliability: {dimension}, {by}"
    if len(numbers) == 1 or len(curves) <= MOST_CURVES:
        yield _chart(title, rows, caption, named=len(numbers) > 1)
        return
    for number in numbers:
        own = [row for row in rows if row.references == number]
        yield _chart(f"{title}, {references_in_words(number)}", own, caption, named=False)


def _chart(title: str, rows: Sequence[ReliabilityRow], caption: str, named: bool) -> Curves:
    """Agreement over pseudo-documents by their length."""
    knots: dict[str, list[Knot]] = {}
    labels = clear_labels(row.metric for row in rows)
    for row in rows:
        # The number first: names at the ends of curves are cut where they are long.
        number = "all refs" if row.references is None else several(row.references, "ref")
        label = labels[row.metric]
        name = f"{number}: {label}" if named else label
        knots.setdefault(name, []).append(Knot(row.length, row.value, row.low, row.high))
    up = f"{statistic_label(rows[0].statistic)} with {rows[0].dimension}"
    curves = [Curve(name, own) for name, own in knots.items()]
    across = "segments in a pseudo-document"
    return Curves(title, across, up, curves, caption=caption, whole_x=True)
