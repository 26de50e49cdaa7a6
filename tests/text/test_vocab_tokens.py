"""Vocab: each word its own id; Tokens: ragged ids over a vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.strategies import hard_text

import karat as kt
from karat.text.tokens import Ragged, Tokens, Vocab, select, tokenize

WORDS = st.one_of(
    hard_text,
    st.text("ab", max_size=3),
    st.tuples(
        st.sampled_from(["x" * 7, "x" * 8, "x" * 15, "x" * 16, "x" * 24]), st.text("ab\0")
    ).map("".join),
)


@given(words=st.lists(WORDS, max_size=40))
@settings(max_examples=200)
def test_ids_are_given_in_order_of_first_sight(words: list[str]) -> None:
    vocab = Vocab()
    distinct = list(dict.fromkeys(words))
    expected = [distinct.index(word) for word in words]
    assert vocab.add(words).tolist() == expected
    assert vocab.find(words).tolist() == expected
    assert vocab.add(words).tolist() == expected
    assert len(vocab) == len(distinct)
    assert vocab.words(0, len(vocab)) == distinct


@given(added=st.lists(WORDS, max_size=10), missing=st.lists(WORDS, max_size=10))
def test_words_that_were_not_added_are_not_found(added: list[str], missing: list[str]) -> None:
    vocab = Vocab()
    vocab.add(added)
    assert [i >= 0 for i in vocab.find(missing).tolist()] == [word in added for word in missing]
    assert len(vocab) == len(set(added))


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 25, 1000])
def test_words_that_differ_in_one_byte(length: int) -> None:
    words = ["z" * at + "y" + "z" * (length - at - 1) for at in range(length)]
    words += ["z" * length, "z" * length + "\0", "z" * length + "z"]
    vocab = Vocab()
    assert vocab.add(words).tolist() == list(range(len(words)))
    assert vocab.words(0, len(words)) == words


def test_the_empty_word_is_a_word() -> None:
    vocab = Vocab()
    assert vocab.find([""]).tolist() == [-1]
    assert vocab.add(["", "\0", ""]).tolist() == [0, 1, 0]
    assert vocab.words(0, 2) == ["", "\0"]


def test_a_hundred_thousand_words() -> None:
    words = [f"word{i * 7919 % 100_003}" + "ü" * (i % 20) for i in range(100_000)]
    vocab = Vocab()
    assert np.array_equal(vocab.add(words), np.arange(100_000))
    assert np.array_equal(vocab.find(words[::-1]), np.arange(100_000)[::-1])
    assert vocab.find(["word", "word0ü"]).tolist()[0] == -1
    assert vocab.words(99_990, 100_000) == words[99_990:]


def test_ids_that_are_not_there_are_refused() -> None:
    vocab = Vocab()
    vocab.add(["a"])
    for start, stop in ((0, 2), (-1, 1), (1, 0)):
        with pytest.raises(IndexError):
            vocab.words(start, stop)
    with pytest.raises(TypeError):
        vocab.add([b"a"])  # type: ignore[list-item]


def test_texts_can_share_a_vocabulary() -> None:
    first = tokenize(["the cat sat", "the mat"])
    second = tokenize(["a cat", ""], vocab=first.vocab)
    assert second.vocab is first.vocab
    assert first.vocab.words(0, 5) == ["the", "cat", "sat", "mat", "a"]
    assert (first.ids.tolist(), first.offsets.tolist()) == ([0, 1, 2, 0, 3], [0, 3, 5])
    assert (second.ids.tolist(), second.offsets.tolist()) == ([4, 1], [0, 2, 2])
    assert [len(first), first[1], second[1]] == [2, ["the", "mat"], []]
    assert kt.tokenize is tokenize


@pytest.mark.parametrize("segment", [2, -1])
def test_segments_that_are_not_there_are_refused(segment: int) -> None:
    with pytest.raises(IndexError, match=f"segment {segment} of 2"):
        tokenize(["a", "b"])[segment]


def test_map_calls_once_for_each_distinct_word() -> None:
    visited: list[str] = []

    def upper(word: str) -> str:
        visited.append(word)
        return word.upper()

    tokens = tokenize(["a b a A", "b A c"], "none")
    mapped = tokens.map(upper)
    assert visited == ["a", "b", "A", "c"]
    assert [mapped[0], mapped[1]] == [["A", "B", "A", "A"], ["B", "A", "C"]]
    assert len(mapped.vocab) == 3
    assert tokens[0] == ["a", "b", "a", "A"]


def test_ids_and_offsets_have_their_kinds() -> None:
    tokens = tokenize(["a"])
    assert isinstance(tokens, Tokens)
    assert (tokens.ids.dtype, tokens.offsets.dtype) == (np.int32, np.int64)
    assert tokenize([]).offsets.tolist() == [0]


@given(rows=st.lists(st.lists(st.booleans(), max_size=6), max_size=6))
def test_select_keeps_row_by_row(rows: list[list[bool]]) -> None:
    keep = np.array([flag for row in rows for flag in row], dtype=np.bool_)
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    tokens = Ragged(np.arange(len(keep), dtype=np.int32), offsets)
    selected = select(tokens, keep)
    assert selected.lengths.tolist() == [sum(row) for row in rows]
    assert selected.ids.tolist() == [i for i, flag in enumerate(keep) if flag]
