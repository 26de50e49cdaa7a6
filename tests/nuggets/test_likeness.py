"""Likeness of whole responses: the kernel against loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.nugget_likeness_loops import cosine, naive_bayes

from karat import _kernel

response = st.lists(st.integers(0, 5), max_size=8)
answers = st.lists(response, min_size=1, max_size=6)


def likeness_of(responses: list[list[int]], before: int = 0) -> _kernel.NuggetLikeness:
    ids = np.array([i for row in responses for i in row], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, responses)]).astype(np.int64)
    return _kernel.nugget_likeness(ids, offsets, before, len(responses))


@given(answers, answers, st.data())
def test_cosines(
    earlier_responses: list[list[int]], responses: list[list[int]], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(responses)))
    cosines = likeness_of([*earlier_responses, *responses], len(earlier_responses)).cosines(first)
    expected = [[cosine(i, j, responses) for j in range(first)] for i in range(len(responses))]
    assert cosines == pytest.approx(np.array(expected).reshape(len(responses), first))


@given(answers, st.integers(0, 3), st.data())
def test_naive_bayes(responses: list[list[int]], nuggets: int, data: st.DataObject) -> None:
    many = {"min_size": len(responses), "max_size": len(responses)}
    row = st.tuples(*[st.sampled_from([0.0, 1.0, np.nan]) for _ in range(nuggets)])
    labels = np.array(data.draw(st.lists(row, **many)), dtype=np.float64)
    labels = labels.reshape(len(responses), nuggets)
    fold = data.draw(st.lists(st.integers(0, 3), **many))
    rows = np.flatnonzero(~np.isnan(labels).all(axis=1)) if nuggets else np.zeros(0, np.int64)
    judged = (~np.isnan(labels[rows])).astype(np.float64)
    yes = (labels[rows] > 0).astype(np.float64)
    log_odds = likeness_of(responses).bayes(rows, yes, judged, np.array(fold))
    training = fold, labels.tolist()
    expected = [
        [naive_bayes(responses, *training, i, g) for g in range(nuggets)] for i in range(len(fold))
    ]
    assert log_odds == pytest.approx(np.array(expected).reshape(len(fold), nuggets), abs=1e-12)


def test_shapes_are_checked() -> None:
    likeness = likeness_of([[1], [1]])
    with pytest.raises(ValueError, match="no such responses"):
        likeness_of([[1]], before=2)
    with pytest.raises(ValueError, match="at most all responses"):
        likeness.cosines(3)
    values, fold = np.ones((1, 1)), np.zeros(2, dtype=np.int64)
    with pytest.raises(ValueError, match="no such response"):
        likeness.bayes(np.array([2]), values, values, fold)
    with pytest.raises(ValueError, match="a verdict for every judged response"):
        likeness.bayes(np.array([0]), values, values, fold[:1])
