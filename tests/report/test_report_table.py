"""The data model refuses what no renderer could show."""

from __future__ import annotations

import pytest

from karat.report.model import Document, Table
from karat.results import Column

A, B = Column("a", "A"), Column("b", "B")


@pytest.mark.parametrize(
    ("columns", "group", "complaint"),
    [
        ((A, A), None, "two columns of the same key"),
        ((A, B), "c", "no column 'c' to group by"),
        ((A,), "a", "no column to show"),
        ((), None, "no column to show"),
    ],
)
def test_table_is_validated(columns: tuple[Column, ...], group: str | None, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Table("rows", "Rows", columns, (), group=group)


def test_document_tables_must_have_names_of_their_own() -> None:
    table = Table("rows", "Rows", (A,), ())
    with pytest.raises(ValueError, match="two tables of the same key"):
        Document("T", (table, table), "", {})


@pytest.mark.parametrize("key", ["command", "signature", "notes"])
def test_table_cannot_take_a_member_of_the_json_object(key: str) -> None:
    with pytest.raises(ValueError, match=key):
        Document("T", (Table(key, "Rows", (A,), ()),), "", {})
