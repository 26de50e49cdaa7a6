"""Windows in the kernel against loops over all windows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.nugget_windows_loops import (
    best_sentences,
    characters,
    heaviest_miss,
    longest_run,
    share,
)

from karat import _kernel

rows = st.lists(st.integers(0, 5), max_size=12)
KINDS, SIZES = 2, 2


def ragged(id_rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    ids = np.array([i for row in id_rows for i in row], dtype=np.int32)
    return ids, np.cumsum([0, *map(len, id_rows)]).astype(np.int64)


def starts(groups: list[list[list[int]]]) -> np.ndarray:
    return np.cumsum([0, *map(len, groups)]).astype(np.int64)


@st.composite
def questions(draw: st.DrawFn) -> list[tuple[list[list[int]], list[list[int]]]]:
    return draw(
        st.lists(
            st.tuples(st.lists(rows, max_size=3), st.lists(rows, min_size=1, max_size=3)),
            min_size=1,
            max_size=3,
        )
    )


@given(questions(), st.data())
def test_windows(
    drawn_questions: list[tuple[list[list[int]], list[list[int]]]], data: st.DataObject
) -> None:
    responses, texts = [r for r, _ in drawn_questions], [t for _, t in drawn_questions]
    flat = [text for group in texts for text in group]
    tokens = sum(map(len, flat))
    weight = st.sampled_from([0.0, 0.5, 1.0, 3.0])
    weights = data.draw(st.lists(st.tuples(weight, weight), min_size=tokens, max_size=tokens))
    size = st.integers(0, 6)
    windows = data.draw(st.lists(st.tuples(size, size), min_size=len(flat), max_size=len(flat)))
    columns = _kernel.nugget_windows(
        *ragged([r for group in responses for r in group]),
        starts(responses),
        *ragged(flat),
        starts(texts),
        np.array(weights, dtype=np.float64).reshape(-1, KINDS),
        np.array(windows, dtype=np.int64).reshape(-1, SIZES),
        None,
    )
    bounds = np.cumsum([0, *map(len, flat)])
    expected = []
    first = 0
    for response_tokens, group in zip(responses, texts, strict=True):
        for response in response_tokens:
            for t, text in enumerate(group, first):
                text_weights = weights[bounds[t] : bounds[t + 1]]
                shares = [
                    share(response, text, text_weights, k, w)
                    for w in windows[t]
                    for k in range(KINDS)
                ]
                run, miss = longest_run(response, text), heaviest_miss(response, text, text_weights)
                expected.append([*shares, run, miss])
        first += len(group)
    assert columns.shape == (len(expected), KINDS * SIZES + 2)
    assert columns.ravel().tolist() == pytest.approx(np.ravel(expected).tolist())


def test_shapes_are_checked() -> None:
    none = np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match="expected weights for every token"):
        _kernel.nugget_windows(
            *ragged([]), none, *ragged([]), none, np.ones((1, 1)), np.ones((0, 1), np.int64), None
        )


sentence_lists = st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=4)


@given(
    st.lists(
        st.tuples(st.lists(sentence_lists, max_size=3), st.lists(rows, max_size=3)), min_size=1
    ),
    st.integers(1, 3),
    st.data(),
)
def test_sentences(
    drawn_questions: list[tuple[list[list[list[int]]], list[list[int]]]],
    together: int,
    data: st.DataObject,
) -> None:
    flat = [text for _, texts in drawn_questions for text in texts]
    responses = [
        response for response_sentences, _ in drawn_questions for response in response_sentences
    ]
    tokens = sum(map(len, flat))
    weight = st.sampled_from([0.0, 0.5, 1.0, 3.0])
    weights = data.draw(st.lists(st.tuples(weight, weight), min_size=tokens, max_size=tokens))
    columns = _kernel.nugget_sentences(
        *ragged([sentence for response in responses for sentence in response]),
        starts(responses),
        starts([response_sentences for response_sentences, _ in drawn_questions]),
        *ragged(flat),
        starts([texts for _, texts in drawn_questions]),
        np.array(weights, dtype=np.float64).reshape(-1, KINDS),
        together,
        None,
    )
    bounds = np.cumsum([0, *map(len, flat)])
    expected, first = [], 0
    for response_sentences, texts in drawn_questions:
        for response in response_sentences:
            for t, text in enumerate(texts, first):
                text_weights = weights[bounds[t] : bounds[t + 1]]
                expected.append(best_sentences(response, text, text_weights, KINDS, together))
        first += len(texts)
    assert columns.shape == (len(expected), KINDS + 2)
    assert columns.ravel().tolist() == pytest.approx(np.ravel(expected).tolist())


def test_sentences_are_checked() -> None:
    none = np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match="at least 1 sentence"):
        _kernel.nugget_sentences(
            *ragged([]), none, none, *ragged([]), none, np.ones((0, 1)), 0, None
        )


@given(questions())
def test_characters(drawn_questions: list[tuple[list[list[int]], list[list[int]]]]) -> None:
    responses, texts = [r for r, _ in drawn_questions], [t for _, t in drawn_questions]
    columns = _kernel.nugget_characters(
        *ragged([r for group in responses for r in group]),
        starts(responses),
        *ragged([text for group in texts for text in group]),
        starts(texts),
        None,
    )
    expected = [
        characters(r, text)
        for response, group in drawn_questions
        for r in response
        for text in group
    ]
    assert columns.tolist() == [list(pair) for pair in expected]


def test_characters_far_apart_are_in_no_window() -> None:
    """Two halves of a text at both ends of a long response."""
    text, far = list(range(12)), [*range(6), *[99] * 40, *range(6, 12)]
    assert characters(far, text)[0] < characters(far, text)[1]
    columns = _kernel.nugget_characters(
        *ragged([far]), np.array([0, 1]), *ragged([text]), np.array([0, 1]), None
    )
    assert columns.tolist() == [list(characters(far, text))]
