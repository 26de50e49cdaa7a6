"""Text fits the terminal, aligns, and never lets a string command the terminal."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import visible
from karat.report.model import Document, Table
from karat.report.render.text import (
    COLUMN_GAP,
    TextLayout,
    display_width,
    render_text,
    share_width,
    split_panels,
    truncate,
    wrap,
)
from karat.results import Cell, Column

ANY_TEXT = st.text(st.characters(), max_size=60)  # surrogates and controls included
CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.floats(-1e9, 1e9), ANY_TEXT
)


def one_table(table: Table) -> Document:
    return Document(table.title, (table,), "karat", {})


@st.composite
def tables(draw: st.DrawFn) -> Table:
    count = draw(st.integers(2, 7))
    aligns: st.SearchStrategy[Literal["left", "right"]] = st.sampled_from(["left", "right"])
    columns = tuple(Column(f"c{i}", draw(ANY_TEXT), 3, draw(aligns)) for i in range(count))
    row = st.fixed_dictionaries({}, optional={c.key: CELLS for c in columns})
    group = draw(st.sampled_from([None, "c0"]))
    return Table("rows", "T", columns, tuple(draw(st.lists(row, max_size=5))), group)


@given(tables(), st.integers(45, 120))
def test_lines_fit_the_width_and_hold_no_control_characters(table: Table, width: int) -> None:
    output = render_text(one_table(table), width=width)
    for line in output[:-1].split("\n"):
        assert display_width(line) <= width
        assert not [c for c in line if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}]


@given(tables(), st.integers(45, 120))
def test_colour_adds_escape_codes_and_nothing_else(table: Table, width: int) -> None:
    plain = render_text(one_table(table), width=width)
    coloured = render_text(one_table(table), width=width, color=True)
    assert "\x1b" in coloured
    assert re.sub(r"\x1b\[[0-9]*m", "", coloured) == plain


@pytest.mark.parametrize(
    "names", [("ielab-b70bf-ad_hoc", "ielab-b70bf-all"), ("燈塔燈塔燈火", "燈塔燈塔燈塔")]
)
def test_names_that_lead_rows_are_told_apart(names: tuple[str, str]) -> None:
    numbers = [Column(f"n{k}", f"Number {k}", 3, "right") for k in range(8)]
    rows = tuple({"run": name + 30 * "x", **{c.key: 0.5 for c in numbers}} for name in names)
    table = Table("rows", "T", (Column("run", "Run"), *numbers), rows)
    lines = render_text(one_table(table), width=60).split("\n")
    row_labels = [line.split()[0] for line in lines if "…" in line]
    assert len(set(row_labels)) == 2
    assert len(row_labels) > 2  # several panels
    narrow = render_text(one_table(table), width=45)
    assert max(map(display_width, narrow.split("\n"))) <= 45


def test_long_strings_give_way_and_names_and_numbers_stay_whole() -> None:
    columns = (Column("system", "System"), Column("text", "Text"), Column("v", "Value", 3, "right"))
    rows: tuple[dict[str, Cell], ...] = (
        {"system": "transformer-big", "text": "word " * 40, "v": 123456.789},
    )
    row = render_text(one_table(Table("rows", "T", columns, rows)), width=60).split("\n")[-2]
    assert row.startswith("transformer-big  word")
    assert row.endswith("…  123456.789")
    assert display_width(row) == 60


def test_columns_that_cannot_fit_go_to_a_second_panel_with_the_first_column() -> None:
    columns = (Column("s", "S"), *(Column(f"n{i}", f"number {i}") for i in range(6)))
    rows: tuple[dict[str, Cell], ...] = (
        {"s": "name", **{f"n{i}": 1234567890 + i for i in range(6)}},
    )
    output = render_text(one_table(Table("rows", "T", columns, rows)), width=45)
    assert [line.split() for line in output.split("\n") if line.startswith("name")] == [
        ["name", "1234567890", "1234567891", "1234567892"],
        ["name", "1234567893", "1234567894", "1234567895"],
    ]


def test_wide_characters_keep_columns_aligned() -> None:
    columns = (Column("s", "S"), Column("n", "N", align="right"))
    rows: tuple[dict[str, Cell], ...] = ({"s": "日本", "n": 1}, {"s": "e\u0301abc", "n": 22})
    output = render_text(one_table(Table("rows", "T", columns, rows)))
    assert output.split("\n")[4:6] == ["日本   1", "e\u0301abc  22"]


def test_empty_table_says_so() -> None:
    output = render_text(one_table(Table("rows", "T", (Column("a", "A"),), ())))
    assert output == "T\n\nA\n─\nno rows\n"


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("abc", 3),
        ("日本", 4),
        ("e\u0301", 1),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),
        ("क\u094dष", 2),
    ],
)
def test_display_width(text: str, width: int) -> None:
    assert display_width(text) == width


@given(ANY_TEXT, st.integers(1, 30))
def test_truncate_keeps_what_fits_and_marks_what_does_not(text: str, width: int) -> None:
    short = truncate(text, width)
    assert display_width(short) <= width
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_truncate_does_not_split_a_wide_character() -> None:
    assert truncate("日本語", 4) == "日…"


@given(st.lists(st.text("ab日", min_size=1, max_size=9)), st.integers(20, 40))
def test_wrap_loses_no_word_and_fills_lines(words: list[str], width: int) -> None:
    lines = wrap(" ".join(words), width)
    assert " ".join(lines).split() == words
    assert all(display_width(line) <= width for line in lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain ~ \\ é 日", "plain ~ \\ é 日"),
        ("\x1b[2J\r\n\t\x9b", r"\x1b[2J\r\n\t\x9b"),
        ("a\u202eb\u2028\ufeff", r"a\u202eb\u2028\ufeff"),
        ("\udc80\uffff\U000e0001", r"\udc80\uffff\U000e0001"),
        ("क\u094d\u200dष", "क\u094d\u200dष"),
    ],
)
def test_visible(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_visible_keeps_what_it_is_asked_to_keep() -> None:
    assert visible("a\nb\x07", keep="\n") == "a\nb\\x07"


@given(st.lists(st.tuples(st.integers(1, 99), st.integers(1, 8)), min_size=1, max_size=8))
def test_share_never_goes_below_the_floor_or_above_the_need(pairs: list[tuple[int, int]]) -> None:
    natural = [full for full, _ in pairs]
    floors = [min(pair) for pair in pairs]
    widths = share_width(natural, floors, 80)
    assert all(f <= w <= n for f, w, n in zip(floors, widths, natural, strict=True))
    assert sum(widths) + COLUMN_GAP * (len(widths) - 1) <= 80


def test_panels_hold_every_column_once_behind_the_first() -> None:
    def panels(*floors: int) -> list[str]:
        columns = tuple(
            Column(key, "", align="right") for key, _ in zip("abcd", floors, strict=False)
        )
        row = {key: "x" * floor for key, floor in zip("abcd", floors, strict=False)}
        split = split_panels(Table("rows", "T", columns, (row,)), TextLayout(30, color=False))
        return ["".join(column.key for column in panel) for panel, _ in split]

    assert panels(4, 10, 10, 10) == ["abc", "ad"]
    assert panels(40, 40, 40) == ["ab", "ac"]
    assert panels(5) == ["a"]


def test_titles_above_numbers_are_not_cut_to_fit_another_column() -> None:
    columns = (Column("run", "Run"), Column("p", "Precision", 3), Column("a", "A strict", 3))
    table = Table("rows", "T", columns, ({"run": "wren", "p": 0.5, "a": 0.25},))
    output = render_text(one_table(table), width=24)
    assert "Precision" in output
    assert "A strict" in output
    assert "…" not in output
