"""Sentences that are judged one by one: their rules, by example."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.text.sentences import sentences, statements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One came. Two left! Why?", ["One came.", "Two left!", "Why?"]),
        ("1. Paris is big.\n2. Rome is old.", ["1. Paris is big.", "2. Rome is old."]),
        ("Dr. Smith met J. R. Brown. He left.", ["Dr. Smith met J. R. Brown.", "He left."]),
        ("It rose by 5 p.m. and fell later.", ["It rose by 5 p.m. and fell later."]),
        ("He came in 1990. She left.", ["He came in 1990.", "She left."]),
        ("- one\n- two", ["- one", "- two"]),
        ("Yes. 17.", ["Yes. 17."]),
        ("17.", ["17."]),
        ("北京是首都。上海很大！是吗？", ["北京是首都。", "上海很大！", "是吗？"]),
        (" . \n--\n", []),
        ("", []),
    ],
)
def test_statements(text: str, expected: list[str]) -> None:
    assert statements(text) == expected


@given(st.text("aB1. !?。\n", max_size=30))
def test_statements_have_all_letters_in_order(text: str) -> None:
    joined = "".join("".join(statements(text)).split())
    assert [c for c in joined if c.isalpha()] == [c for c in text if c.isalpha()]
    assert all(part.strip() == part and part for part in statements(text))


def test_a_text_has_at_least_one_sentence() -> None:
    assert sentences("") == [""]
    assert sentences("a. b\nc") == ["a.", "b", "c"]
