"""The document of `StoreCheck`: rows of each table, and every problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.model import Column, Document, Row, Table, several

if TYPE_CHECKING:
    from karat.studio.checking import StoreCheck


_ROWS = (Column("table", "Table"), Column("rows", "Rows", align="right"))
_PROBLEMS = (Column("problem", "Problem", wrap=True),)


def store_check_document(found: StoreCheck, command: str) -> Document:
    """Return the contents of a store and what is wrong with it."""
    counts: list[Row] = [row._asdict() for row in found.rows]
    problems: list[Row] = [{"problem": problem} for problem in found.problems]
    tables = [Table("rows", "Contents", _ROWS, counts, open=True)]
    if problems:
        tables.append(Table("problems", "Problems", _PROBLEMS, problems, open=True))
    title = f"Store {found.name}"
    return Document(title, tuple(tables), command, {}, found.notes, answer=_answer(found))


def _answer(found: StoreCheck) -> tuple[str, ...]:
    rows = dict(found.rows)
    told = ", ".join(several(rows[name], name) for name in ("item", "assessor", "judgement"))
    if found.ok:
        return (f"{found.name} is intact: {told}.",)
    count = several(len(found.problems), "problem")
    return (f"{found.name} is damaged ({count}): restore a copy.",)
