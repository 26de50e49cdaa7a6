"""The report of `nuggets draft`: the drafted key, what was refused, and usage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.llm.report import usage_sentence, usage_tables
from karat.report.model.cells import several
from karat.report.model.table import Column, Document, Table

if TYPE_CHECKING:
    from karat.nuggets.drafting.drafts import DraftedNuggets

_ROWS = (
    Column("question", "Question"),
    Column("nugget", "Nugget"),
    Column("importance", "Importance", filter=True),
    Column("description", "Description", wrap=True),
    Column("document", "Document", align="right", detail=True),
    Column("quote", "Quote", wrap=True, help="Words of the document that state the fact."),
)
_REFUSED = (
    Column("question", "Question"),
    Column("fact", "Fact", wrap=True),
    Column("why", "Reason"),
)
_MISSING = (Column("question", "Question"), Column("why", "Reason", wrap=True))


def drafts_document(found: DraftedNuggets, command: str = "") -> Document:
    """Return the report on a drafted key."""
    parts: list[tuple[str, str, tuple[Column, ...], Sequence[Any]]] = [
        ("refused", "Refused facts", _REFUSED, found.refused),
        ("missing", "Questions without a draft", _MISSING, found.missing),
    ]
    tables = [
        Table(key, title, columns, [row._asdict() for row in rows])
        for key, title, columns, rows in parts
        if rows
    ]
    rows = Table("rows", "Nuggets", _ROWS, [row._asdict() for row in found.rows], open=True)
    blocks = (rows, *tables, *usage_tables(found.usage))
    title, signatures = f"Draft of a key for {found.name}", {found.model: found.signature}
    told = drafts_answer(found), usage_sentence(found.usage)
    return Document(title, blocks, command, signatures, found.notes, {}, *told)


def drafts_answer(found: DraftedNuggets) -> tuple[str, ...]:
    """Return the size of the draft, and what it lacks."""
    vital = sum(row.importance == "vital" for row in found.rows)
    size = f"{several(len(found.rows), 'nugget')} ({vital:,} vital)"
    told = f"{found.model} drafted {size} for {several(len(found.questions), 'question')} of"
    refused = f" {several(len(found.refused), 'fact')} refused." if found.refused else ""
    lacks = f"{several(len(found.missing), 'question')} without a draft." if found.missing else ""
    return (f"{told} {found.name}.{refused}", *([lacks] if lacks else []))
