"""Simultaneous intervals: one of them is the percentile interval, several hold all at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.stats.resampling import interval, simultaneous_intervals


def tried(draws: np.ndarray, level: float) -> list[tuple[float, float]]:
    """The largest cut that holds enough resamples, found by trying all from the largest down."""
    ordered, total = np.sort(draws, axis=1), draws.shape[1]
    for k in range(int(total * (1 - level) / 2 + 1e-9), -1, -1):
        low, high = ordered[:, [k]], ordered[:, [total - 1 - k]]
        held = int(((draws >= low) & (draws <= high)).all(axis=0).sum())
        if total - held <= int(total * (1 - level) + 1e-9):
            return [(float(a), float(b)) for a, b in zip(low[:, 0], high[:, 0], strict=True)]
    raise AssertionError("the whole range holds everything")


@given(
    st.integers(1, 4),
    st.integers(1, 120),
    st.integers(1, 9),
    st.sampled_from([0.5, 0.8, 0.95]),
    st.integers(0, 99),
)
def test_the_cut_is_the_largest_that_holds_enough(
    measures: int, resamples: int, values: int, level: float, seed: int
) -> None:
    """Few distinct values make many ties."""
    draws = np.random.default_rng(seed).integers(0, values, (measures, resamples)).astype(float)
    assert simultaneous_intervals(draws, level) == tried(draws, level)


@pytest.mark.parametrize("resamples", [1, 7, 40, 999, 1000])
def test_one_measure_has_the_percentile_interval(resamples: int) -> None:
    draws = np.random.default_rng(resamples).normal(size=(1, resamples))
    assert simultaneous_intervals(draws) == [interval(draws[0])]


def test_measures_that_move_together_are_not_corrected() -> None:
    draws = np.random.default_rng(3).normal(size=1000)
    twice = simultaneous_intervals(np.stack([draws, 2 * draws]))
    assert twice == [interval(draws), interval(2 * draws)]


def test_independent_measures_are_corrected_as_by_bonferroni() -> None:
    draws = np.random.default_rng(4).normal(size=(5, 20_000))
    for low, high in simultaneous_intervals(draws):
        assert (-low, high) == (pytest.approx(2.57, abs=0.12), pytest.approx(2.57, abs=0.12))
