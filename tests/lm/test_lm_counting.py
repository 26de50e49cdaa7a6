"""Counts of n-grams: those of plain tuples, over a trie that holds together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.lm_formulas import BOS, EOS, count

import karat as kt
from karat import _kernel

WORDS = ["<unk>", BOS, EOS, "a", "b", "c"]
SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "<unk>"]), max_size=8)


def spelled(counter: _kernel.NgramCounter, n: int) -> list[tuple[str, ...]]:
    """The n-grams of one length, from their first words and suffixes."""
    if n == 1:
        return [(word,) for word in WORDS]
    suffixes, firsts, _ = counter.ngrams(n)
    below = spelled(counter, n - 1)
    pairs = zip(firsts.tolist(), suffixes.tolist(), strict=True)
    return [(WORDS[first], *below[suffix]) for first, suffix in pairs]


@given(text=st.lists(SENTENCE, max_size=12), order=st.integers(1, 8), cut=st.integers(0, 12))
def test_counts_are_those_of_tuples(text: list[list[str]], order: int, cut: int) -> None:
    counter = _kernel.NgramCounter(order)
    for part in (text[:cut], text[cut:]):
        ids = np.array([WORDS.index(w) for sentence in part for w in sentence], np.int32)
        counter.add(ids, np.cumsum([0, *map(len, part)]))
    expected = count(text, order)
    for n in range(1, order + 1):
        found = dict(zip(spelled(counter, n), counter.counts(n).tolist(), strict=False))
        found.pop((BOS,), None)
        found = {gram: times for gram, times in found.items() if times}
        assert found == {gram: times for gram, times in expected.items() if len(gram) == n}
        if n > 1:
            below, contexts = spelled(counter, n - 1), counter.ngrams(n)[2].tolist()
            assert [below[i] for i in contexts] == [gram[:-1] for gram in spelled(counter, n)]


def test_what_there_is_not() -> None:
    counter = _kernel.NgramCounter(2)
    for n in (0, 1, 3):
        with pytest.raises(IndexError):
            counter.ngrams(n)
    for order in (0, 9):
        with pytest.raises(ValueError, match="no such order"):
            _kernel.NgramCounter(order)


def test_counting_one_long_segment_can_be_stopped() -> None:
    class Stopped(Exception):
        """What the check raises."""

    def stop() -> None:
        raise Stopped

    ids = np.arange(3, 300_003, dtype=np.int32)
    with pytest.raises(Stopped):
        _kernel.NgramCounter(3).add(ids, np.array([0, len(ids)], np.int64), stop)


def test_memory_is_bounded_within_one_segment() -> None:
    text = " ".join(f"w{i}" for i in range(400_000))
    with pytest.raises(kt.InputError, match="the n-grams take more than"):
        kt.LanguageModel.train([text], 3, memory=1 << 20)
