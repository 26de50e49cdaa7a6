"""CSV as RFC 4180 has it: every text comes back as it went, formulas too."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.report.model import Document, Table
from karat.report.render.renderers import render
from karat.results import Column

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
COLUMNS = (Column("a", "A"), Column("b", "B"))


def document(rows: list[dict[str, str]]) -> Document:
    return Document("T", (Table("rows", "", COLUMNS, tuple(rows)),), "karat", {})


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@given(st.lists(st.fixed_dictionaries({"a": TEXTS, "b": TEXTS})))
def test_texts_come_back_as_they_went(rows: list[dict[str, str]]) -> None:
    text = render(document(rows), "csv")
    assert read(text) == [["a", "b"], *([row["a"], row["b"]] for row in rows)]
    assert text.endswith("\r\n")


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "=HYPERLINK(1)"])
def test_what_looks_like_a_formula_is_not_changed(cell: str) -> None:
    assert render(document([{"a": cell, "b": ""}]), "csv") == f"a,b\r\n{cell},\r\n"


def test_quotes_commas_and_line_ends_are_quoted() -> None:
    text = render(document([{"a": 'say "x", now', "b": "two\nlines"}]), "csv")
    assert text == 'a,b\r\n"say ""x"", now","two\nlines"\r\n'
