"""The kernel's counts against the oracles, on ids of every kind."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.ngrams import clipped, matches
from oracles.strategies import id_rows
from oracles.subsequences import lcs_length, summary_hits

from karat import _kernel

Rows = list[list[int]]
ANY = 2**62
"""A table of any size."""


def ragged(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Rows as the kernel takes them."""
    ids = np.array([i for row in rows for i in row], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return ids, offsets


def starts_of(groups: Sequence[Sequence[object]]) -> np.ndarray:
    """Where each segment's references begin."""
    return np.cumsum([0, *map(len, groups)]).astype(np.int64)


def near(row: list[int], draw: st.DrawFn) -> list[int]:
    """A copy of a row with a part cut out and its halves exchanged."""
    at, to = sorted(draw(st.tuples(*[st.integers(0, len(row))] * 2)))
    return row[to:] + row[:at]


@st.composite
def segments(draw: st.DrawFn, alphabet: int, longest: int) -> tuple[Rows, list[Rows]]:
    """Candidates and groups of references over one alphabet, some of them alike."""
    row = id_rows(alphabet, longest)
    candidates = draw(st.lists(row, min_size=1, max_size=4))
    groups = []
    for candidate in candidates:
        other_texts = draw(st.lists(row, min_size=0, max_size=2))
        groups.append([*other_texts, near(candidate, draw)])
    return candidates, groups


ALPHABETS = [(1, 20), (2, 40), (5, 60), (1000, 60), (2**31, 40)]


def check_overlap(candidates: Rows, groups: list[Rows], order: int) -> None:
    """All matches and clipped matches of all orders."""
    flat = [row for group in groups for row in group]
    entry, most = _kernel.overlap(*ragged(candidates), *ragged(flat), starts_of(groups), order)
    orders = range(1, order + 1)
    expected = [
        [matches(c, r, n) for n in orders]
        for c, group in zip(candidates, groups, strict=True)
        for r in group
    ]
    assert entry.tolist() == expected
    pairs = zip(candidates, groups, strict=True)
    assert most.tolist() == [[clipped(c, group, n) for n in orders] for c, group in pairs]


@pytest.mark.parametrize(("alphabet", "longest"), ALPHABETS)
@given(data=st.data())
def test_overlap(alphabet: int, longest: int, data: st.DataObject) -> None:
    candidates, groups = data.draw(segments(alphabet, longest))
    check_overlap(candidates, groups, data.draw(st.integers(1, 7)))


@pytest.mark.parametrize("words", [3, 100, 130, 200, 300])
@pytest.mark.parametrize("length", [0, 1, 127, 128, 300])
def test_overlap_of_long_texts_of_few_and_many_words(words: int, length: int) -> None:
    # (n-grams + 1) x (words + 1) passes 2^14, where the kernel changes its table, in between.
    rng = np.random.default_rng(words * 1000 + length)
    candidates = rng.integers(0, words, size=(3, length)).tolist()
    groups = [[near_copy(c, rng), near_copy(c, rng), c[::-1]] for c in candidates]
    check_overlap(candidates, groups, 5)


def near_copy(row: list[int], rng: np.random.Generator) -> list[int]:
    """A row with some of its ids drawn anew."""
    return [int(rng.integers(0, 300)) if rng.random() < 0.1 else i for i in row]


def test_overlap_of_a_run_of_unequal_segments_forgets_nothing_and_keeps_nothing() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.choice([0, 1, 2, 7, 50, 300], size=60)
    candidates = [rng.integers(0, 40, size=n).tolist() for n in sizes]
    groups = [[rng.integers(0, 40, size=rng.integers(0, 90)).tolist()] for _ in sizes]
    check_overlap(candidates, groups, 4)


def test_overlap_ends_at_the_end_of_each_reference() -> None:
    # "1 2" stands across two references, but in neither.
    check_overlap([[1, 2]], [[[1], [2]]], 2)
    entry, most = _kernel.overlap(*ragged([[1, 2]]), *ragged([[1], [2]]), starts_of([[0, 0]]), 2)
    assert entry.tolist() == [[1, 0], [1, 0]]
    assert most.tolist() == [[2, 0]]


@pytest.mark.parametrize(("alphabet", "longest"), ALPHABETS)
@given(data=st.data())
def test_lcs(alphabet: int, longest: int, data: st.DataObject) -> None:
    candidates, groups = data.draw(segments(alphabet, longest))
    flat = [row for group in groups for row in group]
    lengths = _kernel.lcs(*ragged(candidates), *ragged(flat), starts_of(groups), ANY, None)
    pairs = zip(candidates, groups, strict=True)
    assert lengths.tolist() == [lcs_length(r, c) for c, group in pairs for r in group]


@pytest.mark.parametrize("length", [63, 64, 65, 127, 128, 129, 200, 300])
@pytest.mark.parametrize("alphabet", [2, 8, 200])
def test_lcs_at_the_borders_of_machine_words(length: int, alphabet: int) -> None:
    rng = np.random.default_rng(length)
    first = rng.integers(0, alphabet, size=length).tolist()
    second = rng.integers(0, alphabet, size=200).tolist()
    lengths = _kernel.lcs(
        *ragged([first, second]), *ragged([second, first]), starts_of([[0], [0]]), ANY, None
    )
    assert lengths.tolist() == [lcs_length(second, first)] * 2


def longest_rising(numbers: Sequence[int]) -> int:
    """The length of the longest rising subsequence, by patience sorting."""
    piles: list[int] = []
    for number in numbers:
        at = bisect_left(piles, number)
        piles[at : at + 1] = [number]
    return len(piles)


@pytest.mark.parametrize("words", [1000, 16_000, 20_000])
def test_lcs_of_very_many_words(words: int) -> None:
    # Against 0, 1, 2, …, the LCS is the longest rising subsequence; the kernel keeps the positions
    # of more than some 16,000 different words in another way.
    order = np.random.default_rng(words).permutation(words).astype(np.int32)
    reference = list(range(words))
    lengths = _kernel.lcs(
        *ragged([order.tolist()]), *ragged([reference]), starts_of([[0]]), ANY, None
    )
    assert lengths.tolist() == [longest_rising(order.tolist())]


def test_lcs_leaves_tables_that_are_too_large() -> None:
    # What both begin and end with is no part of the table.
    candidates, references = [[1, 2, 3, 9], [1, 2, 3, 9], [5, 6]], [[1, 9], [1, 4, 5, 9], [6, 5]]
    arguments = *ragged(candidates), *ragged(references), starts_of([[0]] * 3)
    assert _kernel.lcs(*arguments, 3, None).tolist() == [2, -1, -1]
    assert _kernel.lcs(*arguments, 4, None).tolist() == [2, 2, 1]


def test_overlap_of_very_many_words() -> None:
    rng = np.random.default_rng(1)
    row = rng.integers(0, 2**31, size=40_000).tolist()
    other = [*row[20_000:], *rng.integers(0, 2**31, size=5_000).tolist(), *row[:10_000]]
    check_overlap([row, other, [1, 2, 3]], [[other, row], [row], [[2, 3]]], 3)


def sentences(alphabet: int) -> st.SearchStrategy[Rows]:
    """A text as a list of sentences."""
    return st.lists(id_rows(alphabet, 12), max_size=4)


@pytest.mark.parametrize("alphabet", [1, 2, 4, 30])
@given(data=st.data())
def test_summary_lcs(alphabet: int, data: st.DataObject) -> None:
    candidates = data.draw(st.lists(sentences(alphabet), min_size=1, max_size=3))
    group = st.lists(sentences(alphabet), min_size=1, max_size=3)
    groups = [data.draw(group) for _ in candidates]
    check_summary(candidates, groups)


def check_summary(candidates: list[Rows], groups: list[list[Rows]]) -> None:
    """Union-LCS hits of all pairs."""
    texts = [text for group in groups for text in group]
    lengths = _kernel.summary_lcs(
        *ragged([s for text in candidates for s in text]),
        starts_of(candidates),
        *ragged([s for text in texts for s in text]),
        starts_of(texts),
        starts_of(groups),
        None,
    )
    pairs = zip(candidates, groups, strict=True)
    assert lengths.tolist() == [summary_hits(r, c) for c, group in pairs for r in group]


def test_summary_lcs_of_sentences_without_tokens() -> None:
    texts: list[Rows] = [[], [[]], [[], [1]], [[1], []]]
    for candidate in texts:
        check_summary([candidate], [texts])


@pytest.mark.parametrize("length", [64, 65, 130])
def test_summary_lcs_of_long_sentences(length: int) -> None:
    rng = np.random.default_rng(length)
    text = [rng.integers(0, 9, size=n).tolist() for n in (length, 3, 70)]
    other = [rng.integers(0, 9, size=n).tolist() for n in (length - 1, length + 1)]
    check_summary([text, other], [[other, text], [text]])


@given(
    draws=st.integers(1, 9).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, n - 1), min_size=n, max_size=n), min_size=1)
    )
)
@settings(max_examples=50)
def test_tally_counts_draws(draws: Rows) -> None:
    items = len(draws[0])
    counts = _kernel.tally(np.array(draws, dtype=np.int64), items)
    assert counts.tolist() == [[row.count(i) for i in range(items)] for row in draws]


def test_arrays_that_do_not_fit_are_refused() -> None:
    ids, offsets = ragged([[1, 2], [3]])
    item = np.array([0, 1], dtype=np.int64)
    with pytest.raises(ValueError, match="starts do not fit"):
        _kernel.overlap(ids, offsets, ids, offsets, item, 2)
    with pytest.raises(ValueError, match="offsets do not fit"):
        _kernel.overlap(ids, item, ids, offsets, starts_of([[0], [0]]), 2)
    with pytest.raises(ValueError, match="at least 1"):
        _kernel.overlap(ids, offsets, ids, offsets, starts_of([[0], [0]]), 0)


class Stopped(Exception):
    """What the check raises."""


def stop() -> None:
    """A request to stop."""
    raise Stopped


def test_a_long_lcs_can_be_stopped() -> None:
    row = np.arange(70_000, dtype=np.int32)
    offsets = np.array([0, len(row)], dtype=np.int64)
    item = np.array([0, 1], dtype=np.int64)
    with pytest.raises(Stopped):
        _kernel.lcs(row, offsets, row[::-1].copy(), offsets, item, ANY, stop)


@given(st.lists(st.lists(st.integers(-(10**9), 10**9), min_size=5, max_size=5), max_size=40))
def test_rows_of_whole_numbers_are_added(rows: list[list[int]]) -> None:
    expected = [sum(column) for column in zip(*rows, strict=True)] or [0] * 5
    table = np.array(rows, dtype=np.int64).reshape(-1, 5)
    assert _kernel.sum_rows(table).tolist() == expected
    assert _kernel.sum_rows(table[:, 1:3]).tolist() == expected[1:3]
    assert _kernel.sum_rows(table[:, ::-2]).tolist() == expected[::-2]
    assert _kernel.sum_rows(table).dtype == np.int64
