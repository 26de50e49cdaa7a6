"""The document of `data judges` for nugget sets: that of ratings, and kappa beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from karat.report.documents.judges import judges_document
from karat.report.model.table import Column, Document, Table

if TYPE_CHECKING:
    from karat.nuggets.sets.judge_agreement import NuggetJudgeAgreement

_KAPPA = "Cohen's kappa, carried (if in part) or not."
_JUDGES = (
    Column("judge", "Judge"),
    Column("kind", "Kind"),
    Column("labels", "Labels", align="right"),
    Column("carried", "Carried", 3, align="right", help="Share of labels, partial support too."),
    Column("others_units", "Others", align="right", help="Pairs on which the others agree."),
    Column("others_equal", "Equal", 3, align="right", help="To the majority of the others."),
    Column("others_kappa", "Kappa", 3, align="right", help=_KAPPA),
    Column("adjudicated_units", "Adjudicated", align="right", help="Pairs that were adjudicated."),
    Column("adjudicated_equal", "Equal", 3, align="right", help="To what was adjudicated."),
    Column("adjudicated_kappa", "Kappa", 3, align="right", help=_KAPPA),
)
_PAIRS = (
    Column("first", "Judge"),
    Column("second", "Judge"),
    Column("units", "Pairs", align="right", help="Of response and nugget, judged by both."),
    Column("equal", "Equal", 3, align="right"),
    Column("kappa", "Kappa", 3, align="right", help=_KAPPA),
    Column("note", "", wrap=True),
)


def nugget_judges_document(found: NuggetJudgeAgreement, command: str) -> Document:
    """Return the document of ratings, Cohen's kappa of each judge, and that of every two."""
    document = judges_document(found, command)
    kappa, pairs = ([row._asdict() for row in each] for each in (found.kappa, found.pairs))
    tables = [Table("kappa", "Each judge: Cohen's kappa", _JUDGES, kappa)]
    if pairs:
        tables.append(Table("pairs", "Two judges", _PAIRS, pairs))
    return replace(document, blocks=(*document.blocks, *tables))
