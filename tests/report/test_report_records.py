"""JSON is strict and TSV comes back as it went."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from karat.report.model import Document, Table
from karat.report.render.renderers import render
from karat.results import Cell, Column

COLUMNS = (Column("a", "A", digits=1), Column("b", "B"))
CELLS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters()))
ROWS = st.lists(st.fixed_dictionaries({}, optional={"a": CELLS, "b": CELLS}), max_size=4)


def one_table(rows: list[dict[str, Cell]]) -> Document:
    return Document("T", (Table("rows", "", COLUMNS, tuple(rows), group="a"),), "karat", {})


def strictly(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def finite(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


@given(ROWS)
def test_json_is_strict_and_exact(rows: list[dict[str, Cell]]) -> None:
    output = render(one_table(rows), "json")
    output.encode("utf-8")
    expected = [{key: finite(row.get(key)) for key in ("a", "b")} for row in rows]
    assert strictly(output)["rows"] == expected


def test_json_members(document: Document) -> None:
    record = strictly(render(document, "json"))
    assert list(record) == ["command", "signature", "rows", "words", "notes"]
    assert record["command"] == document.command
    assert record["signature"] == document.signatures
    assert record["notes"] == [*document.notes, *document.tables[0].notes]
    assert record["words"] == [{"word": "_snake_case_"}]


def test_json_keeps_the_group_column_and_every_digit(document: Document) -> None:
    row = strictly(render(document, "json"))["rows"][2]
    assert row["metric"] == "ter"
    assert row["score"] == 0.1 + 0.2


def test_json_keeps_non_latin_text_readable(document: Document) -> None:
    assert "日本語システム" in render(document, "json")


def unescape(cell: str) -> str:
    plain = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}
    result, rest = "", cell
    while rest:
        escaped = rest[:2] if rest[:2] in plain else rest[:1]
        result += plain.get(escaped, escaped)
        rest = rest[len(escaped) :]
    return result


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=4))
def test_tsv_strings_come_back(texts: list[str]) -> None:
    output = render(one_table([{"a": text, "b": "end"} for text in texts]), "tsv")
    header, *lines, last = output.split("\n")
    assert (header, last) == ("a\tb", "")
    assert [list(map(unescape, line.split("\t"))) for line in lines] == [[t, "end"] for t in texts]


@given(st.floats(allow_nan=False))
def test_tsv_floats_come_back_exactly(value: float) -> None:
    cell = render(one_table([{"a": value}]), "tsv").split("\n")[1].split("\t")[0]
    assert float(cell) == value


def test_tsv_missing_is_empty_and_tables_are_a_blank_line_apart(document: Document) -> None:
    output = render(document, "tsv")
    assert output.count("\n\n") == 1
    assert output.endswith("\n\nword\n_snake_case_\n")
    assert "bleu\tA\t30.123456789012344\t\t7\t\n" in output
