"""Statistics of many draws of the same points, against the drawn points written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import pair_loops

from karat import _kernel

SEEDS = st.integers(0, 2**32)


def points(seed: int, n: int, values: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Human scores of a few values, metric scores with ties, and six draws, the last one empty."""
    rng = np.random.default_rng(seed)
    human = rng.permutation(rng.integers(0, values, n)).astype(float) / 3
    metric = rng.integers(0, 2 * n + 1, n) / 7
    times = rng.integers(0, 4, (6, n)).astype(np.int32)
    times[1] = times[1] > 1
    times[5] = 0
    return human, metric, times


@given(seed=SEEDS, n=st.integers(1, 90), values=st.sampled_from([1, 2, 5, 63, 64, 1000]))
def test_pairs_are_those_of_the_drawn_points(seed: int, n: int, values: int) -> None:
    human, metric, times = points(seed, n, values)
    pair_counts = _kernel.drawn_pair_counts(human, metric, times)
    for row, draw in zip(pair_counts.tolist(), times.tolist(), strict=True):
        assert row == pair_loops.drawn_pair_counts(human.tolist(), metric.tolist(), draw)


def test_many_human_scores_take_the_other_way() -> None:
    rng = np.random.default_rng(1)
    human, metric = rng.permutation(200).astype(float), np.round(rng.normal(size=200), 1)
    times = rng.integers(0, 3, (3, 200)).astype(np.int32)
    pair_counts = _kernel.drawn_pair_counts(human, metric, times)
    for row, draw in zip(pair_counts.tolist(), times.tolist(), strict=True):
        assert row == pair_loops.drawn_pair_counts(human.tolist(), metric.tolist(), draw)


@given(seed=SEEDS, n=st.integers(1, 30), values=st.sampled_from([1, 2, 9]))
def test_r_is_that_of_the_drawn_points(seed: int, n: int, values: int) -> None:
    human, metric, times = points(seed, n, values)
    correlations = _kernel.drawn_pearson(1000 + human, metric, times)
    for r, draw in zip(correlations.tolist(), times.tolist(), strict=True):
        resampled = [pair_loops.repeated(x.tolist(), draw) for x in (human, metric)]
        assert r == pytest.approx(pair_loops.pearson(*resampled), abs=1e-9, nan_ok=True)


def test_equal_scores_are_constant_whatever_their_mean_rounds_to() -> None:
    scores, other = np.array([0.1, 0.1, 0.1, 0.4]), np.arange(4.0)
    times = np.array([[1, 1, 1, 0], [2, 1, 4, 1]], dtype=np.int32)
    assert np.isnan(_kernel.drawn_pearson(scores, other, times)).tolist() == [True, False]
    assert np.isnan(_kernel.drawn_pearson(other, scores, times)).tolist() == [True, False]


def test_bad_draws_are_refused() -> None:
    x = np.arange(3.0)
    once = np.ones((1, 3), dtype=np.int32)
    for routine in (_kernel.drawn_pair_counts, _kernel.drawn_pearson):
        with pytest.raises(ValueError, match="differ in shape"):
            routine(x, x[:2].copy(), once)
        with pytest.raises(ValueError, match="there is a NaN"):
            routine(x, np.array([1, np.nan, 2]), once)
        with pytest.raises(ValueError, match="a negative number of times"):
            routine(x, x, -once)
