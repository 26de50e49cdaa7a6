"""The document of `meta reliability`: agreement with humans by the length of texts, as curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from karat.meta.reliability import (
    CurveTest,
    ReliabilityCurves,
    ReliabilityRow,
    best_curve,
    references_in_words,
)
from karat.report.charts.models import Point, XYChart, chart_figure
from karat.report.documents.meta import statistic_label
from karat.report.model import (
    MAX_SENTENCES,
    Document,
    Gallery,
    Table,
    clear_labels,
    data_table,
    format_count,
    format_interval,
)
from karat.results import Column, number, people_column, program_columns


def reliability_answer(curves: ReliabilityCurves) -> tuple[str, ...]:
    """Return the metric ahead on the longest texts of each dimension, by the first statistic."""
    statistic, sentences = curves.asked_settings.statistics[0], []
    rows_by_statistic = [row for row in curves.rows if row.statistic == statistic]
    for _, dimension_rows in groupby(rows_by_statistic, lambda row: row.dimension):
        rows = list(dimension_rows)
        best_of_dimension = best_curve(rows)
        if best_of_dimension is None:
            continue
        first, best, n_curves = best_of_dimension
        many = len({row.references for row in rows}) > 1
        refs = f" with {references_in_words(best.references)}" if many else ""
        name = f"{clear_labels(row.metric for row in rows)[best.metric]}{refs}"
        label = statistic_label(best.statistic)
        value = f"{best.value:.3f} {format_interval(best.low, best.high, 3)}"
        texts = f"texts of {format_count(best.length, 'segment')}"
        if n_curves > 1:
            most = "highest" if best_of_dimension.sign > 0 else "lowest"
            sentence = f"On {texts}, {name} has the {most} {label} with {best.dimension}, {value}"
        else:
            sentence = f"{name} and {best.dimension} on {texts}: {label} {value}"
        if first.length < best.length:
            length = format_count(first.length, "segment")
            sentence += f"; on texts of {length} it has {first.value:.3f}"
        untested = "; differences between metrics were not tested" * (n_curves > 1)
        sentences.append(f"{sentence}{untested}.")
    return tuple(sentences[:MAX_SENTENCES])


MAX_CURVES = 8
"""Curves in one chart, each with its own color."""
SHUFFLED = "Segments are shuffled and cut into documents; bands hold 95% of the shuffles."

_ROWS = (
    people_column("heading", "Heading", lambda row: f"{row.dimension}, {row.statistic}"),
    *program_columns("dimension", "statistic"),
    number("references", "References", help="References of each segment."),
    Column("metric", "Metric"),
    number("length", "Segments", help="Segments in a pseudo-document."),
    number("documents", "Documents", help="Pseudo-documents of each system."),
    number("value", "Value", 3, "Mean of the statistic over shuffles."),
    number("low", "Low", 3, "Lower end of the middle 95% of shuffles."),
    number("high", "High", 3, "Upper end of the middle 95% of shuffles."),
    *program_columns("undefined"),
)


def reliability_document(result: ReliabilityCurves) -> Document:
    """Return the curves as charts and as a table."""
    varying = any(row.references is None for row in result.rows)
    used_columns = [c for c in _ROWS if c.key != "references" or not varying]
    figures = []
    for chart in reliability_charts(result.rows, caption=""):
        figures.append(replace(chart_figure(chart), drawing=replace(chart, narrow=True)))
    blocks = (
        Gallery("Agreement by text length, as curves", tuple(figures), SHUFFLED),
        Table("rows", "Agreement by text length", used_columns, result.rows, group="heading"),
        data_table("tests", CurveTest._fields, result.tests),
    )
    title = f"Reliability of metrics on {result.name}"
    basis = (
        f"Means of {format_count(result.asked_settings.repeats, 'shuffle')} of segments into "
        "pseudo-documents. In brackets: the middle 95% of the shuffles, which is no interval for "
        "other segments."
    )
    return Document(title, blocks, answer=reliability_answer(result), basis=basis)


def reliability_charts(rows: Sequence[ReliabilityRow], caption: str) -> list[XYChart]:
    """Return a chart for each dimension and statistic, curves by metric and references.

    Where these are many, each number of references has a chart of its own.
    """
    charts = []
    for (dimension, by), place in groupby(rows, lambda row: (row.dimension, row.statistic)):
        setting_rows, title = list(place), f"Reliability: {dimension}, {by}"
        numbers = list(dict.fromkeys(row.references for row in setting_rows))
        n_curves = len({(row.references, row.metric) for row in setting_rows})
        rows_by_title = {title: setting_rows}
        if len(numbers) > 1 and n_curves > MAX_CURVES:
            rows_by_title = {
                f"{title}, {references_in_words(count)}": [
                    row for row in setting_rows if row.references == count
                ]
                for count in numbers
            }
        across, up = "segments in a pseudo-document", f"{statistic_label(by)} with {dimension}"
        for name, chart_rows in rows_by_title.items():
            labels = clear_labels(row.metric for row in chart_rows)
            several, points = len({row.references for row in chart_rows}) > 1, []
            for row in chart_rows:
                curve = labels[row.metric]
                if several:  # the count first: long names at the ends of curves are cut
                    count = row.references
                    refs = "all refs" if count is None else format_count(count, "ref")
                    curve = f"{refs}: {curve}"
                points.append(Point(row.length, row.value, "", curve, row.low, row.high))
            chart = XYChart(name, across, up, points, caption=caption, kind="curves", whole_x=True)
            charts.append(chart)
    return charts
