"""The report of `nuggets agree`: judgements against judgements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.nuggets.report.evaluation import SWAPPED, SWAPS
from karat.nuggets.report.scores import AGREEMENT, number, records
from karat.report.charts.figures import chart_figure
from karat.report.charts.models import Line, Point, Scatter
from karat.report.model.table import Column, Document, Figure, Table

if TYPE_CHECKING:
    from karat.nuggets.results.judgement_agreement import NuggetAgreement

_PARTS = (("precision", "P"), ("recall", "R"), ("f", "F"))
_ROWS = (
    Column("run", "Run"),
    number("pairs", "Pairs", help="Pairs of response and nugget that both judged."),
    *(
        column
        for key, title in _PARTS
        for column in (
            number(key, title, 3),
            number(f"{key}_low", "Low", 3, help=f"Lower end of the 95% interval of {title}."),
            number(f"{key}_high", "High", 3, help=f"Upper end of the 95% interval of {title}."),
        )
    ),
    number("equal", "Equal", 3, help="Share of pairs that both judge alike."),
    number("kappa", "Kappa", 3, help="Cohen's."),
)
_RUNS = (
    Column("average", "Average"),
    Column("run", "Run"),
    number("official", "Official F", 3),
    number("other", "Other F", 3),
    number("difference", "Difference", 3, signed=True),
    number("low", "Low", 3, signed=True, help="Lower end of its 95% interval."),
    number("high", "High", 3, signed=True, help="Upper end of its 95% interval."),
)
_SCORES = (Column("average", "Average"), *AGREEMENT[3:], *SWAPS)


def agreement_document(found: NuggetAgreement, command: str = "") -> Document:
    """Return the report of agreement on pairs, and of what it does to scores of runs."""
    scores = Table("scores", "Agreement of scores", _SCORES, records(found.scores))
    blocks: tuple[Table | Figure, ...] = (
        Table("rows", "Judgements", _ROWS, records(found.rows)),
        Table("runs", "Scores of runs", _RUNS, records(found.runs), group="average"),
        *([scores] if found.scores else []),
        chart_figure(_scatter(found)),
        Table("swaps", "Rank swaps", SWAPPED, records(found.swaps), readers="programs"),
    )
    title = f"Judgements against judgements: {found.name}"
    return Document(title, blocks, command, {}, notes=found.notes)


def _scatter(found: NuggetAgreement) -> Scatter:
    rows = [row for row in found.runs if row.average == "micro"]
    return Scatter(
        "F from both judgements",
        "official F, micro",
        "other F, micro",
        [Point(row.official, row.other, row.run) for row in rows],
        line=Line(1.0, 0.0),
        caption="One point a run; the line is where both are equal.",
    )
