"""The report of `paraphrase generate`: the best paraphrases of each original, with their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.paraphrase.report.scores import PARTS
from karat.report.model.table import Column, Document, Table

if TYPE_CHECKING:
    from karat.paraphrase.generate.paraphraser import GeneratedParaphrases

_COLUMNS = (
    Column("segment", "Line", align="right"),
    Column("rank", "Rank", align="right"),
    Column("pem", "PEM", 2, align="right", help="1 to 5."),
    *PARTS,
    Column("confidence", "Conf.", 2, align="right", help="0 to 1: how sure the generator is."),
    Column("original", "Original", wrap=True),
    Column("paraphrase", "Paraphrase", readers="programs"),
    Column("reason", "Reason", readers="programs", help="Why there is no paraphrase."),
    Column("shown", "Paraphrase", wrap=True, readers="people"),
)


def generated_document(result: GeneratedParaphrases, command: str) -> Document:
    """Return a row for each paraphrase, and one with the reason for each original without any."""
    rows = [
        {**row._asdict(), "shown": f"(none: {row.reason})" if row.reason else row.paraphrase}
        for row in result.rows
    ]
    table = Table("rows", "Paraphrases", _COLUMNS, rows)
    signatures = {"pem": result.signature}
    return Document("Generated paraphrases", (table,), command, signatures, result.notes)
