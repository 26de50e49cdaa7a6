"""N-grams of a text as the kernel sorts them: those of plain tuples, in every pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.lm_formulas import BOS, EOS, Gram, KneserNey, count

from karat import _kernel
from karat.lm.training import Scratch

WORDS = ["<unk>", BOS, EOS, "a", "b", "c"]
SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "<unk>"]), max_size=8)
TEXT = st.lists(SENTENCE, min_size=1, max_size=12)
ROOM = st.tuples(st.sampled_from([1, 500, 1 << 20]), st.sampled_from([0, 1 << 20]))


def merged(
    text: list[list[str]], order: int, cut: int, room: tuple[int, int]
) -> _kernel.NgramTraining:
    """All n-grams of a text that was given in two parts."""
    ngrams = _kernel.NgramTraining(Scratch.open, order, *room, piece=64)
    for part in (text[:cut], text[cut:]):
        ids = np.array([WORDS.index(w) for sentence in part for w in sentence], np.int32)
        ngrams.add(ids, np.cumsum([0, *map(len, part)]))
    ngrams.merge(len(WORDS))
    return ngrams


def listed(ngrams: _kernel.NgramTraining, n: int, least: int) -> list[tuple[Gram, float, float]]:
    """The rows of one length: words, log10 p, back-off."""
    rows = ngrams.rows(n, least)
    ngram_rows = []
    while len((batch := rows.next(3))[1]):
        ids, p, backoff = batch
        grams = [tuple(WORDS[i] for i in row) for row in ids.tolist()]
        ngram_rows += list(zip(grams, p.tolist(), backoff.tolist(), strict=True))
    assert len(rows) == len(ngram_rows) == ngrams.kept(n, least)
    return ngram_rows


@given(text=TEXT, order=st.integers(1, 8), cut=st.integers(0, 12), room=ROOM)
def test_counts_are_those_of_tuples(
    text: list[list[str]], order: int, cut: int, room: tuple[int, int]
) -> None:
    expected = count(text, order)
    a = KneserNey(expected, ["a", "b", "c"], [1] * order).a
    ngrams = merged(text, order, cut, room)
    words = ngrams.words().tolist()
    assert [words[i] for i in range(6) if i != 1] == [
        expected[(word,)] for word in WORDS if word != BOS
    ]
    for n in range(2, order + 1):
        grams = [gram for gram in expected if len(gram) == n]
        assert times(expected[gram] for gram in grams) == times_of(ngrams.counts(n), 9)
        assert times(min(a[gram], 5) for gram in grams) == times_of(ngrams.adjusted(n), 5)
    if order > 1:
        preceding = Counter(gram[1:] for gram in expected if len(gram) == 2)
        assert ngrams.preceding().tolist() == [preceding[(word,)] for word in WORDS]


def times(numbers: Iterator[int]) -> Counter[int]:
    return Counter(min(number, 9) for number in numbers)


def times_of(histogram: np.ndarray, last: int) -> Counter[int]:
    assert len(histogram) == last + 1
    return +Counter(dict(enumerate(histogram.tolist())))


@given(text=TEXT, order=st.integers(2, 6), room=ROOM, least=st.integers(1, 3), enough=st.just(4))
def test_numbers_find_their_way_to_contexts_and_back(
    text: list[list[str]], order: int, room: tuple[int, int], least: int, enough: int
) -> None:
    """Each n-gram gets a number of its own, and brings it to its rows and longer n-grams."""
    expected, at = count(text, order), first_places(text, order)
    number_by_gram: dict[Gram, float] = {(word,): i / 10 for i, word in enumerate(WORDS)}
    ngrams = merged(text, order, len(text), room)
    for n in range(2, order + 1):
        waiting = by_contexts([gram for gram in expected if len(gram) == n], at)
        ngrams.gather(n, np.array([number_by_gram[(word,)] for word in WORDS]))
        while (batch := ngrams.batch(enough))[0]:
            contexts = [waiting.pop(0) for _ in range(batch[0])]
            grams = [gram for context in contexts for gram in context]
            assert batch[1].tolist() == [i for i, c in enumerate(contexts) for _ in c]
            assert batch[2].tolist() == [expected[gram] for gram in grams]
            assert batch[4].tolist() == [number_by_gram[gram[1:]] for gram in grams]
            for gram in grams:
                number_by_gram[gram] = float(len(number_by_gram))
            p = np.array([number_by_gram[gram] for gram in grams])
            weights = np.array([len(context) for context in contexts], np.float32)
            ngrams.put(p, p.astype(np.float32), weights)
        assert not waiting
        ngrams.scatter()
    follow = Counter(gram[:-1] for gram in expected)
    assert ngrams.word_backoffs().tolist() == [follow[(word,)] for word in WORDS]
    for n in range(2, order + 1):
        selected_grams = sorted(
            (g for g in expected if len(g) == n and expected[g] >= least), key=ids
        )
        rows = [
            (gram, number_by_gram[gram], follow[gram] if n < order else 0)
            for gram in selected_grams
        ]
        assert listed(ngrams, n, least) == rows


def ids(gram: Gram) -> list[int]:
    return [WORDS.index(word) for word in gram]


def first_places(text: list[list[str]], order: int) -> dict[Gram, tuple[int, int]]:
    """The sentence and the word where each n-gram ends for the first time."""
    places: dict[Gram, tuple[int, int]] = {}
    for s, sentence in enumerate(text):
        words = (BOS, *sentence, EOS)
        for end in range(len(words)):
            for n in range(1, min(order, end + 1) + 1):
                places.setdefault(words[end - n + 1 : end + 1], (s, end))
    return places


def by_contexts(grams: list[Gram], at: dict[Gram, tuple[int, int]]) -> list[list[Gram]]:
    """The n-grams of each context in the order of the text, contexts by their last words first."""
    contexts = sorted({gram[:-1] for gram in grams}, key=lambda c: ids(c)[::-1])
    return [
        sorted((g for g in grams if g[:-1] == context), key=at.__getitem__) for context in contexts
    ]


def test_what_there_is_not() -> None:
    ngrams = _kernel.NgramTraining(int, 2, 1000, 0, 10)
    for n in (0, 1, 3):
        with pytest.raises(IndexError):
            ngrams.counts(n)
        with pytest.raises(IndexError):
            ngrams.rows(n, 1)
    for order in (0, 9):
        with pytest.raises(ValueError, match="no such order"):
            _kernel.NgramTraining(int, order, 1000, 0, 10)
    with pytest.raises(ValueError, match="a word has no number"):
        ngrams.add(np.array([-1], np.int32), np.array([0, 1]))
    for offsets in ([0, 1], [0, 2, 1, 2], []):
        with pytest.raises(ValueError, match="offsets"):
            ngrams.add(np.array([3, 3], np.int32), np.array(offsets, np.int64))
    with pytest.raises(ValueError, match="a probability for each word"):
        ngrams.gather(2, np.ones(1))


def test_sorting_one_long_segment_can_be_stopped() -> None:
    class Stopped(Exception):
        """What the check raises."""

    def stop() -> None:
        raise Stopped

    ids = np.random.default_rng(1).integers(3, 300, 3_000_000).astype(np.int32)
    ngrams = _kernel.NgramTraining(int, 3, 1 << 30, 1 << 30, 1 << 16)
    ngrams.add(ids, np.array([0, len(ids)], np.int64))
    with pytest.raises(Stopped):
        ngrams.merge(300, stop)
