"""The report of `nuggets agree`: judgements against judgements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.nuggets.report.agreement_answers import agreement_answer
from karat.nuggets.report.evaluation import SWAPPED, SWAPS
from karat.nuggets.report.scores import AGREEMENT, number, records
from karat.report.charts.models import Line, Point, Scatter, chart_figure
from karat.report.model import Column, Document, Figure, Table

if TYPE_CHECKING:
    from karat.nuggets.results.judgement_agreement import NuggetAgreement

_PARTS = (("precision", "P", "Precision"), ("recall", "R", "Recall"), ("f", "F", "F"))
_LOW = "Lower end of the 95% interval of {}."
_HIGH = "Upper end of the 95% interval of {}."
_ROWS = (
    Column("run", "Run"),
    number("pairs", "Pairs", help="Pairs of response and nugget judged in both sets."),
    *(
        column
        for key, title, told in _PARTS
        for column in (
            number(key, title, 3, help=f"{told} of the other judgements.", detail=key != "f"),
            number(f"{key}_low", f"{title} low", 3, help=_LOW.format(title), detail=key != "f"),
            number(f"{key}_high", f"{title} high", 3, help=_HIGH.format(title), detail=key != "f"),
        )
    ),
    number("equal", "Equal", 3, help="Share of pairs with the same judgement in both."),
    number("kappa", "Kappa", 3, help="Cohen's kappa: agreement beyond chance."),
)
_RUNS = (
    Column("average", "Average"),
    Column("run", "Run"),
    number("official", "Official F", 3, help="F of the run by the official judgements."),
    number("other", "Other F", 3, help="F of the run by the other judgements."),
    number("difference", "Difference", 3, signed=True, help="Other F minus official F."),
    number("low", "From", 3, signed=True, help="Lower end of the difference's 95% interval."),
    number("high", "To", 3, signed=True, help="Upper end of the difference's 95% interval."),
)
_SCORES = (Column("average", "Average"), *AGREEMENT[3:], *SWAPS)


def agreement_document(found: NuggetAgreement, command: str = "") -> Document:
    """Return the report of agreement on pairs, and of what it does to scores of runs."""
    scores = Table("scores", "Agreement of scores", _SCORES, records(found.scores))
    blocks: tuple[Table | Figure, ...] = (
        chart_figure(_scatter(found)),
        Table("rows", "Judgements", _ROWS, records(found.rows), open=True),
        Table("runs", "Scores of runs", _RUNS, records(found.runs), group="average"),
        *([scores] if found.scores else []),
        Table("swaps", "Rank swaps", SWAPPED, records(found.swaps), readers="programs"),
    )
    title = f"Judgements against judgements: {found.name}"
    precision, pairs, *others = found.notes
    told = agreement_answer(found), pairs
    return Document(title, blocks, command, {}, (precision, *others), {}, *told)


def _scatter(found: NuggetAgreement) -> Scatter:
    rows = [row for row in found.runs if row.average == "micro"]
    return Scatter(
        "F from both judgements",
        "official F, micro",
        "other F, micro",
        [Point(row.official, row.other, row.run) for row in rows],
        line=Line(1.0, 0.0),
        caption="One point for each run; on the line both are equal.",
    )
