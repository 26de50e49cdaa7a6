"""`SingleStep`: corrected p-values and the level of single intervals agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.stats.simultaneous import SingleStep


def influences(seed: int, tests: int, units: int) -> np.ndarray:
    """Rows that share a part, so that tests are correlated."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(tests, units)) + rng.uniform(0, 3) * rng.normal(size=units)


@given(
    st.integers(0, 50),
    st.integers(1, 6),
    st.integers(2, 30),
    st.booleans(),
    st.lists(st.floats(0, 1) | st.floats(0, 0.06), min_size=1, max_size=8),
)
def test_a_single_p_is_below_the_level_where_the_corrected_one_is_below_05(
    seed: int, tests: int, units: int, known: bool, p_values: list[float]
) -> None:
    rows = influences(seed, tests, units) if known else None
    single_step = SingleStep(tests, rows, units - 1)
    assert 0.05 / tests <= single_step.level <= 0.05
    for p in [*p_values, single_step.level * (1 - 1e-9), single_step.level * (1 + 1e-9)]:
        corrected = single_step.corrected(p)
        assert (corrected < 0.05) == (p < single_step.level)
        assert p <= corrected <= min(1.0, tests * p)
    ordered = [single_step.corrected(p) for p in sorted(p_values)]
    assert ordered == sorted(ordered)


def test_the_level_is_that_of_drawn_t_statistics() -> None:
    """A slow oracle: the smallest of two-sided p in samples of units with these correlations."""
    from scipy import stats

    rows = influences(3, 4, 12)
    covariance = np.cov(rows)
    rng, trials = np.random.default_rng(1), 20_000
    samples = rng.multivariate_normal(np.zeros(4), covariance, (trials, 12))
    p_values = stats.ttest_1samp(samples, 0.0, axis=1).pvalue.min(axis=1)
    single_step = SingleStep(4, rows, 11)
    share = float((p_values < single_step.level).mean())
    assert share == pytest.approx(0.05, abs=0.007)
    for p in (0.004, 0.05, 0.3):
        expected = float((p_values < p).mean())
        assert single_step.corrected(p) == pytest.approx(expected, abs=0.02)


def test_tests_that_move_together_are_not_corrected() -> None:
    row = np.random.default_rng(0).normal(size=20)
    single_step = SingleStep(3, np.stack([row, -row, 2 * row]), 19)
    assert single_step.level == pytest.approx(0.05, abs=0.005)


def test_rows_of_zeros_are_independent() -> None:
    single_step = SingleStep(3, np.zeros((3, 9)), 400)
    assert single_step.level == pytest.approx(1 - 0.95 ** (1 / 3), abs=0.0015)


def test_unknown_or_many_influences_have_bonferronis_correction() -> None:
    for single_step in (SingleStep(4), SingleStep(300, np.ones((300, 5)), 4)):
        assert not single_step.is_joint
        assert single_step.level == 0.05 / single_step.n_tests
        assert single_step.corrected(0.001) == 0.001 * single_step.n_tests
    assert SingleStep(1, np.ones((1, 5)), 4).corrected(0.2) == 0.2
    for tests in (1, 3):
        assert math.isnan(SingleStep(tests, influences(0, tests, 5), 4).corrected(math.nan))
