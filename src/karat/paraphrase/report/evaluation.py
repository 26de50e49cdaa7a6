"""The report of `paraphrase evaluate`: the paper's tables and scatter plots for a judged set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING

from karat.paraphrase.report.answers import evaluation_answer
from karat.report.charts.figures import chart_figure
from karat.report.charts.models import Point, Scatter
from karat.report.model.table import Column, Document, Table

if TYPE_CHECKING:
    from karat.paraphrase.pem.evaluation import Correlation, JudgedPoint, ParaphraseEvaluation

MOST_COLORS = 8  # systems with a colour each
_MOST_POINTS = 1500  # more dots than that are one blot

_NUMBERS = (
    Column("rows", "n", align="right", help="Paraphrases that have both."),
    Column("pearson", "Pearson", 3, align="right", help="Over paraphrases."),
    Column("spearman", "Spearman", 3, align="right", help="Over paraphrases."),
    Column("systems", "Systems", align="right"),
    Column("pearson_systems", "r systems", 3, align="right", help="Pearson's r of systems' means."),
)
_PAIRS = Column("pairs", "Pairs", help="All pairs, or those that are no controls.")
_GAINS = (
    Column("first", "First"),
    Column("second", "Second"),
    Column("r_first", "r first", 3, align="right"),
    Column("r_second", "r second", 3, align="right"),
    Column("difference", "Difference", 3, align="right", signed=True),
    Column("low", "Low", 3, align="right", signed=True, help="95%, bootstrap over originals."),
    Column("high", "High", 3, align="right", signed=True, help="95%, bootstrap over originals."),
    Column("p", "p", 3, align="right", help="Two-sided p of the difference."),
)


def evaluation_document(result: ParaphraseEvaluation, command: str) -> Document:
    """Return tables where the set has what they need, and the scatter plots."""
    gains = [one._asdict() for one in result.gains]
    several = len({one.pairs for one in result.gains}) > 1
    pairs = _PAIRS if several else replace(_PAIRS, readers="programs")
    tables = (
        _table("rows", "Against human judgement", "Metric", "Human", result.rows),
        Table("better", "PEM against its rivals", (*_GAINS, pairs), gains),
        _table("parts", "Each part of PEM by itself", "Part", "Human", result.parts),
        _table("alone", "Metrics without the regression", "Metric", "Human", result.alone),
        _table("inter_judge", "Between judges", "Judge", "Judge 2", result.inter_judge),
        _table("criteria", "Criteria and overall quality", "Criterion", "With", result.criteria),
    )
    return Document(
        f"Paraphrase quality: {result.name}",
        (*map(chart_figure, evaluation_charts(result)), *(table for table in tables if table.rows)),
        command,
        {"pem": result.signature},
        notes=result.notes,
        answer=evaluation_answer(result),
    )


def _table(key: str, title: str, first: str, second: str, found: Sequence[Correlation]) -> Table:
    columns = (Column("first", first), Column("second", second), *_NUMBERS)
    return Table(key, title, columns, [one._asdict() for one in found])


def _points(shown: Sequence[JudgedPoint]) -> tuple[Point, ...]:
    """Points in the colours of their systems, where these are few enough to tell apart."""
    few = 1 < len({point.system for point in shown}) <= MOST_COLORS
    return tuple(Point(*point, group=point.system if few else "") for point in shown)


def evaluation_charts(result: ParaphraseEvaluation) -> list[Scatter]:
    """Return the paper's Figures 4, 5 and 3, where there are points for them."""
    every = result.predictions
    shown = every[:: max(1, -(-len(every) // _MOST_POINTS))]
    caption = f"{len(shown):,} of {len(every):,} paraphrases." if len(shown) < len(every) else ""
    title = "PEM and human scores of paraphrases"
    charts = [Scatter(title, "human", "PEM", _points(shown), caption=caption)]
    if len(result.system_means) > 1:
        means = tuple(starmap(Point, result.system_means))
        charts.append(Scatter("PEM and human scores of systems", "human", "PEM", means))
    if result.dissimilarities:
        title = "Dissimilarity and overall quality of adequate, fluent paraphrases"
        points = tuple(starmap(Point, result.dissimilarities))
        charts.append(Scatter(title, "dissimilarity", "overall", points))
    return charts
