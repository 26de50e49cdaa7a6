"""Documents of `karat judge`: judgements, their distribution, what is missing, and usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.judge.report.answers import pairs_answer, ratings_answer, supports_answer
from karat.judge.report.examples import rating_examples
from karat.report.charts.models import HeatMap, Tallies, Tally, chart_figure
from karat.report.llm_usage import missing_tables, usage_sentence, usage_tables
from karat.report.model import Block, Column, Document, Figure, Table

if TYPE_CHECKING:
    from karat.judge.results import (
        Judging,
        ModelPairs,
        ModelRatings,
        ModelSupports,
        SystemShares,
    )

_LABELS = {"0": "not", "0.5": "partial", "1": "support"}
MOST_VALUES = 11
"""Different values of a scale that a distribution shows."""
_ANSWERS = Column("answers", "Answers", align="right", detail=True, help="Answers it rests on.")
_EVIDENCE = Column("evidence", "Evidence", wrap=True, help="Words that the model quoted.")
_RATINGS = (
    Column("system", "System"),
    Column("segment", "Segment"),
    Column("value", "Rating", 2, align="right"),
    _EVIDENCE,
    Column("output", "Output", wrap=True),
    _ANSWERS,
)
_PAIRS = (
    *(Column("segment", "Segment"), Column("system", "System"), Column("other", "Other")),
    Column("value", "Value", 2, align="right", help="1: the system is better; 0: the other."),
    _EVIDENCE,
    Column("flipped", "Flipped", help="Whether the winner changed with the order."),
    _ANSWERS,
)
_SUPPORTS = (
    *(Column("question", "Question"), Column("nugget", "Nugget"), Column("label", "Label")),
    Column("value", "Value", 1, align="right"),
    _EVIDENCE,
    *(Column("response", "Response", wrap=True), Column("runs", "Runs"), _ANSWERS),
)
_BIAS = (
    Column("pairs", "Pairs", align="right", help="Pairs that were asked about in both orders."),
    Column("flipped", "Flipped", align="right", help="Pairs whose winner changed with the order."),
    Column("flipped_share", "Share flipped", 3, align="right"),
    Column("decided", "Decided", align="right", help="Answers that prefer one output."),
    Column("first_share", "First won", 3, align="right", help="Share of them for the first."),
)


def ratings_document(found: ModelRatings, command: str = "") -> Document:
    """Return the report on ratings."""
    dimension = found.dimension.name
    rows = Table("rows", "Ratings", _RATINGS, _records(found.rows), readers="programs")
    title, values = f"Distribution of {dimension}", found.values
    figures = _distribution(found.systems, title, dimension, dict(zip(values, values, strict=True)))
    systems = _systems(found.systems, "System", "Mean", 2)
    blocks: list[Block] = [rows, *figures, *rating_examples(found), systems]
    title = f"Ratings of {found.name} by a model"
    return _document(found, title, blocks, command, ratings_answer(found))


def pairs_document(found: ModelPairs, command: str = "") -> Document:
    """Return the report on preferences."""
    rows = Table("rows", "Preferences", _PAIRS, _records(found.rows), readers="programs")
    tallies = [_tally(one) for one in found.systems]
    caption = "A preference that changes with the order is a tie."
    chart = Tallies("Comparisons won, tied and lost", "the other systems", tallies, caption)
    bias = Table("bias", "Position bias", _BIAS, [found.bias._asdict()], open=True)
    systems = _systems(found.systems, "System", "Share won", 3)
    blocks = (rows, Figure(chart.title, chart, chart.caption), bias, systems)
    title = f"Preferences between outputs of {found.name} by a model"
    return _document(found, title, blocks, command, pairs_answer(found))


def supports_document(found: ModelSupports, command: str = "") -> Document:
    """Return the report on labels of nuggets."""
    rows = [{**row._asdict(), "runs": ", ".join(row.runs)} for row in found.rows]
    table = Table("rows", "Labels", _SUPPORTS, rows, readers="programs")
    figures = _distribution(found.systems, "Distribution of labels", "label", _LABELS, "run")
    blocks: list[Block] = [table, *figures, _systems(found.systems, "Run", "Mean support", 3)]
    title = f"Nuggets of {found.name} labelled by a model"
    return _document(found, title, blocks, command, supports_answer(found))


def _document(
    found: Judging, title: str, blocks: Iterable[Block], command: str, answer: tuple[str, ...]
) -> Document:
    blocks = (*blocks, *missing_tables(found.missing), *usage_tables(found.usage))
    told = answer, usage_sentence(found.usage)
    return Document(title, blocks, command, {found.judge: found.signature}, found.notes, {}, *told)


def _records(rows: Sequence[Any]) -> list[dict[str, Any]]:
    return [row._asdict() for row in rows]


def _systems(systems: Sequence[SystemShares], what: str, mean: str, digits: int) -> Table:
    """The mean of each system or run."""
    columns = (
        Column("system", what),
        Column("judged", "Judged", align="right"),
        Column("mean", mean, digits, align="right"),
    )
    keys = ("system", "judged", "mean")
    rows = [{key: getattr(one, key) for key in keys} for one in systems]
    return Table("systems", f"{what}s", columns, rows, open=True)


def _distribution(
    systems: Sequence[SystemShares],
    title: str,
    axis: str,
    values: Mapping[str, str],
    what: str = "system",
) -> list[Figure]:
    """A heat map of the shares of values; nothing where there are too many different ones."""
    if not 1 < len(values) <= MOST_VALUES:
        return []
    shares = [[one.shares.get(value, 0.0) for value in values] for one in systems]
    names = [one.system for one in systems]
    caption = f"Share of each {what}'s judgements that have a value."
    labels = list(values.values())
    chart = HeatMap(title, what, axis, names, labels, shares, low=0, high=1, caption=caption)
    return [chart_figure(chart)]


def _tally(one: SystemShares) -> Tally:
    """Wins, ties and losses; a mean of replicates between them counts as a tie."""
    wins, losses = (round(one.shares.get(value, 0.0) * one.judged) for value in ("1", "0"))
    return Tally(one.system, wins, one.judged - wins - losses, losses)
