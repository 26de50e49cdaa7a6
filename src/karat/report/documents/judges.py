"""The document of `data judges`: agreement in each dimension, and each judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from karat.report.answers.evalsets import judges_answer, judges_basis
from karat.report.model.table import Column, Document, Table, columns

if TYPE_CHECKING:
    from karat.meta.judge_agreement import JudgeAgreement

_DIMENSIONS = (
    Column("dimension", "Dimension"),
    Column("judges", "Judges", align="right"),
    Column("outputs", "Outputs", align="right", help="Outputs with at least one judgement."),
    Column("shared", "Shared", align="right", help="Outputs with at least two judges."),
    Column("r", "r", 3, align="right", help="Mean Pearson's r of pairs of judges."),
    Column(
        "r_systems",
        "r systems",
        3,
        align="right",
        help="Mean r of pairs, over system means.",
    ),
    Column("nominal", "Nominal", 3, align="right", help="Krippendorff's alpha of categories."),
    Column("ordinal", "Ordinal", 3, align="right", help="Krippendorff's alpha of ranks."),
    Column("interval", "Interval", 3, align="right", help="Krippendorff's alpha of distances."),
    Column("icc", "ICC", 3, align="right", help="ICC(2,1), where every judge saw every output."),
)
_JUDGES = (
    Column("dimension", "Dimension"),
    Column("judge", "Judge"),
    Column("judgements", "Judgements", align="right"),
    Column("mean", "Mean", 2, align="right"),
    Column("sd", "SD", 2, align="right", help="Standard deviation of the judge's scores."),
    Column("r", "r others", 3, align="right", help="Pearson's r with the mean of the others."),
    *columns("programs", shared="Shared", flagged="Flagged"),
    *columns("programs", comparable="Comparable", identical="Identical to"),
    Column("note", "", wrap=True),
)


def judges_document(found: JudgeAgreement, command: str) -> Document:
    """Return agreement in each dimension, and each judge compared with the others."""
    rows, judges = ([row._asdict() for row in some] for some in (found.rows, found.judges))
    agreement = Table("rows", "Agreement between judges", _DIMENSIONS, rows)
    each = Table("judges", "Each judge", _JUDGES, judges, group="dimension")
    told = judges_answer(found)
    title, basis = f"The judges of {found.name}", judges_basis() if told else ""
    blocks = (replace(agreement, open=True), each)
    return Document(title, blocks, command, {}, found.notes, answer=told, basis=basis)
