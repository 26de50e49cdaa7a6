"""Words back to text."""

from __future__ import annotations

import pytest

from karat.text.joining import join_words, spaces_of
from karat.text.tokens import tokenize


@pytest.mark.parametrize(
    "text",
    [
        "A man, 30, sits (at home) and waits.",
        'He said "hello" to us; why?',
        "It costs $5 and/or 10%!",
        "Don't: it's well-known.",
        '"Yes," she said.',
        'The ("big") one.',
        "",
    ],
)
def test_the_rules_undo_the_tokeniser(text: str) -> None:
    assert join_words(tokenize([text])[0]) == text


def test_spaces_that_are_known_come_first() -> None:
    words = ["a", ",", "b", "."]
    assert join_words(words, [None, True, None, None]) == "a , b."
    assert join_words(words, [True, False, False, True]) == "a,b ."


def test_the_spaces_of_a_text() -> None:
    assert spaces_of(" a,  b .", ["a", ",", "b", "."]) == [True, False, True, True]
    assert spaces_of("", []) == []
    assert spaces_of("a &amp; b", ["a", "&", "b"]) is None
    assert spaces_of("a", ["a", "b"]) is None


def test_as_many_spaces_as_words() -> None:
    with pytest.raises(ValueError, match="zip"):
        join_words(["a", "b"], [None])
