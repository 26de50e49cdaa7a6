"""Reports of files that were written, and of word alignments: one row each."""

from __future__ import annotations

from karat.report.model.table import Column, Document, Table
from karat.results import Result

_COLUMNS = (
    Column("path", "File"),
    Column("content", "Content", wrap=True),
    Column("sentences", "Sentence pairs", align="right"),
    Column("links", "Links", align="right"),
    Column("empty", "Empty", align="right", help="Sentence pairs with an empty side."),
    Column("too_long", "Too long", align="right", help="Sentence pairs with too many words."),
)


def file_document(result: Result, command: str) -> Document:
    """Return the row of a file or of an alignment."""
    rows = [row._asdict() for row in result.rows]
    columns = tuple(column for column in _COLUMNS if column.key in rows[0])
    signatures = {"karat": result.signature} if result.signature else {}
    table = Table("rows", type(result).__name__, columns, rows)
    return Document(table.title, (table,), command, signatures, result.notes)
