"""The document of `StoreCheck`: rows of each table, and every problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.model import Column, Document, Row, Table, format_count

if TYPE_CHECKING:
    from karat.studio.checking import StoreCheck


_ROWS = (Column("table", "Table"), Column("rows", "Rows", align="right"))
_PROBLEMS = (Column("problem", "Problem", wrap=True),)


def store_check_document(store_check: StoreCheck, command: str) -> Document:
    """Return the row counts and problems of a store as a document."""
    counts: list[Row] = [row._asdict() for row in store_check.rows]
    problems: list[Row] = [{"problem": problem} for problem in store_check.problems]
    tables = [Table("rows", "Contents", _ROWS, counts, open=True)]
    if problems:
        tables.append(Table("problems", "Problems", _PROBLEMS, problems, open=True))
    title = f"Store {store_check.name}"
    return Document(
        title, tuple(tables), command, {}, store_check.notes, answer=_answer(store_check)
    )


def _answer(store_check: StoreCheck) -> tuple[str, ...]:
    rows = dict(store_check.rows)
    counts = ", ".join(format_count(rows[name], name) for name in ("item", "assessor", "judgement"))
    if store_check.ok:
        return (f"{store_check.name} is intact: {counts}.",)
    count = format_count(len(store_check.problems), "problem")
    return (f"{store_check.name} is damaged ({count}): restore a copy.",)
