"""The document of `StoreCheck`: rows of each table, and every problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.documents.evalsets import problems_table
from karat.report.model import Document, Table, format_count
from karat.results import Column, number

if TYPE_CHECKING:
    from karat.studio.checking import StoreCheck


_ROWS = (Column("table", "Table"), number("rows", "Rows"))


def store_check_document(store_check: StoreCheck) -> Document:
    """Return the row counts and problems of a store as a document."""
    tables = [Table("rows", "Contents", _ROWS, store_check.rows, open=True)]
    if store_check.problems:
        tables.append(problems_table(store_check.problems, open=True))
        count = format_count(len(store_check.problems), "problem")
        answer = f"{store_check.name} is damaged ({count}): restore a copy."
    else:
        rows, names = dict(store_check.rows), ("item", "assessor", "judgement")
        counts = ", ".join(format_count(rows[name], name) for name in names)
        answer = f"{store_check.name} is intact: {counts}."
    return Document(f"Store {store_check.name}", tables, answer=(answer,))
