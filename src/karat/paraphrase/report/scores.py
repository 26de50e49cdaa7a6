"""The report of `paraphrase score`: PEM and its three parts, by system and by paraphrase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.model.table import Column, Document, Table

if TYPE_CHECKING:
    from karat.paraphrase.pem.scoring import ParaphraseScores

PARTS = (
    Column("pivot_f1", "Pivot F1", 3, align="right", help="Adequacy: 1 is the same meaning."),
    Column("fluency", "Fluency", 3, align="right", help="log10 Pr / words: nearer to 0 is better."),
    Column("target_f1", "Target F1", 3, align="right", help="1 is the same words: lower is freer."),
)
"""The columns of the three parts."""
_SYSTEMS = (
    Column("system", "System"),
    Column("pem", "PEM", 3, align="right", help="1 to 5; the mean over paraphrases."),
    Column("low", "Low", 3, align="right", help="95%, bootstrap over paraphrases."),
    Column("high", "High", 3, align="right", help="95%, bootstrap over paraphrases."),
    *PARTS,
    Column("paraphrases", "n", align="right"),
)
_SEGMENTS = (
    Column("system", "System"),
    Column("segment", "Line", align="right"),
    Column("pem", "PEM", 2, align="right"),
    *PARTS,
    Column("original", "Original", wrap=True),
    Column("paraphrase", "Paraphrase", wrap=True),
)


def scores_document(result: ParaphraseScores, command: str) -> Document:
    """Return systems with intervals and, if asked for, every paraphrase."""
    tables = [Table("rows", "Paraphrases", _SYSTEMS, [row._asdict() for row in result.rows])]
    if result.segments:
        every = [row._asdict() for row in result.segments]
        tables.append(Table("segments", "Each paraphrase", _SEGMENTS, every, group="system"))
    signatures = {"pem": result.signature}
    return Document("Paraphrases", tuple(tables), command, signatures, result.notes)
