"""Intervals: their formula, what they cover in a world with known errors, and bad input."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.nuggets.prediction.intervals import (
    ScoreErrors,
    score_errors,
    score_interval,
)
from karat.stats.distributions import student_quantile


@given(st.floats(0.001, 0.4), st.floats(1, 300))
def test_quantiles_of_student(tail: float, freedom: float) -> None:
    assert student_quantile(tail, freedom) == pytest.approx(
        scipy.stats.t.isf(tail, freedom), rel=1e-6
    )


def test_errors_are_taken_apart() -> None:
    rng = np.random.default_rng(7)
    official = rng.random((4000, 30))
    guessed = official + 0.1 + rng.normal(0, 0.05, (4000, 1)) + rng.normal(0, 0.2, (4000, 30))
    guessed[0, 3] = np.nan
    errors = score_errors(guessed, official)
    assert errors.bias == pytest.approx(0.1, abs=0.01)
    assert errors.between == pytest.approx(0.05**2, rel=0.12)
    assert errors.within == pytest.approx(0.2**2, rel=0.05)
    assert errors.runs == 4000


def test_the_formula() -> None:
    errors = ScoreErrors(0.02, 0.0004, 0.01, 21)
    a = np.array([0.2, 0.5, 0.3, 0.6])
    interval = score_interval(a, errors, 8)
    guessing = (0.0004 + 0.01 / 8) * 22 / 21
    sampling = 0.5 * a.var(ddof=1) / 4
    freedom = (guessing + sampling) ** 2 / (guessing**2 / 20 + sampling**2 / 3)
    reach = scipy.stats.t.isf(0.025, freedom) * (guessing + sampling) ** 0.5
    assert interval.score == pytest.approx(0.38)
    assert (interval.low, interval.high) == pytest.approx((0.38 - reach, 0.38 + reach))
    assert interval.width == pytest.approx(2 * reach)


def test_more_questions_to_come_make_it_wider() -> None:
    errors = ScoreErrors(0.0, 0.0001, 0.001, 30)
    a = np.linspace(0.2, 0.7, 10)
    widths = [score_interval(a, errors, population).width for population in (10, 20, 100, inf)]
    assert widths == sorted(widths)
    assert widths[0] < widths[1] / 1.5


def test_bounds_are_scores() -> None:
    interval = score_interval(np.array([0.0, 0.1]), ScoreErrors(0.0, 0.1, 0.1, 9))
    assert interval.low == 0
    assert interval.high <= 1


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_coverage_where_the_errors_are_normal(level: float) -> None:
    rng = np.random.default_rng(11)
    covered = []
    for _ in range(200):
        official = np.clip(0.5 + rng.normal(0, 0.1, (25, 20)), 0, 1)
        guessed = official + rng.normal(0.03, 0.04, (25, 1)) + rng.normal(0, 0.1, (25, 20))
        errors = score_errors(guessed[1:], official[1:])
        half = rng.permutation(20)[:10]
        interval = score_interval(guessed[0][half], errors, 20, level)
        covered.append(interval.low <= official[0].mean() <= interval.high)
    assert np.mean(covered) == pytest.approx(level, abs=0.05)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="1 runs were judged on two questions or more"):
        score_errors(np.ones((1, 3)), np.ones((1, 3)))
    with pytest.raises(InputError, match="0 questions: expected at least 2"):
        score_interval(np.zeros(0), ScoreErrors(0, 0, 0, 5))
    with pytest.raises(InputError, match="population=1: expected at least the 2 questions"):
        score_interval(np.ones(2), ScoreErrors(0, 0, 0, 5), 1)
