"""Families of intervals: an interval and the p-value that belongs to it never disagree."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sizes import examples

from karat.stats.distributions import incomplete_beta, normal_quantile, normal_tail
from karat.stats.estimates import (
    IntervalFamily,
    PointEstimate,
    ScaledIntervals,
    bounded_intervals,
    skewed_intervals,
)
from karat.stats.population import Design, estimate_mean


def random_design(rng: np.random.Generator, units: int) -> Design:
    """Units of one size or documents; equal or unequal probabilities; one round or two."""
    sizes = rng.integers(1, 6, units).astype(float) if rng.random() < 0.5 else np.ones(units)
    unequal = rng.random() < 0.5
    probability = rng.uniform(0.1, 0.9, units) if unequal else np.full(units, np.nan)
    rounds = rng.integers(1, 3, units) if rng.random() < 0.3 else np.ones(units, np.int64)
    return Design(sizes, probability, rounds)


def random_families(seed: int) -> Iterator[IntervalFamily]:
    """All forms for one random sample, with and without a finite population and a judge."""
    rng = np.random.default_rng(seed)
    labelled = int(rng.integers(4, 40))
    units = labelled + int(rng.integers(1, 60))
    label = np.clip(np.round(rng.normal(rng.choice([0, 1, 2]), 1.2, labelled)), -4, 4)
    guess = rng.choice([0.0, 0.4]) * rng.normal(size=labelled)
    design, resampled = random_design(rng, units), np.arange(labelled)
    values = label - guess
    expansion = estimate_mean(values, resampled, design, np.arange(units))
    finite, more = bool(rng.integers(2)), float(rng.choice([0.0, 0.01]))
    weights = design.weights(resampled, units)
    ends = -4 - float(guess.max()), 4 - float(guess.min())
    for family in (
        skewed_intervals(expansion, finite, more),
        bounded_intervals(values, weights, ends, expansion, finite, more),
        ScaledIntervals(0.0, 0.5, *rng.uniform(0.1, 2, 2).tolist(), 1_000),
    ):
        yield family.shifted(float(rng.normal()) - float(values.mean()))


@examples(40, 400)
@given(st.integers(0, 10**6), st.floats(0.3, 8))
def test_p_is_below_alpha_exactly_where_the_interval_excludes_0(seed: int, digits: float) -> None:
    for family in random_families(seed):
        p = family.p_value()
        for alpha in (0.05, 10**-digits, p * 1.001, p * 0.999):
            if 1e-12 < alpha < 0.6 and abs(p - alpha) > 1e-6 * alpha:
                interval = family.interval(alpha)
                excludes_zero = interval.low > 0 or interval.high < 0
                assert excludes_zero == (p < alpha), (family, p, alpha)


@examples(30, 200)
@given(st.integers(0, 10**6), st.floats(0.3, 6), st.floats(0.3, 6))
def test_intervals_of_higher_levels_contain_those_of_lower_ones(
    seed: int, digits: float, other_digits: float
) -> None:
    narrow, wide = sorted((10**-digits, 10**-other_digits), reverse=True)
    for family in random_families(seed):
        inner, outer = family.interval(narrow), family.interval(wide)
        assert outer.low <= inner.low + 1e-9
        assert inner.low <= inner.mean <= inner.high
        assert inner.high <= outer.high + 1e-9


def test_0_at_the_mean_is_never_excluded() -> None:
    for family in random_families(3):
        assert family.shifted(-family.mean).p_value() == 1.0


@pytest.mark.parametrize("error", [0.0, math.nan])
def test_a_mean_without_a_distribution_is_not_tested(error: float) -> None:
    has_score = PointEstimate(2.0, error)
    assert math.isnan(has_score.p_value())
    assert has_score.interval().width == pytest.approx(error, nan_ok=True)


def test_labels_of_as_many_rounds_as_units_have_no_interval() -> None:
    """No freedom is left, which is no certainty."""
    design = Design(np.ones(9), np.full(9, np.nan), np.arange(1, 10))
    expansion = estimate_mean(np.array([1.0, 1.5]), np.arange(2), design, np.arange(9))
    assert math.isnan(skewed_intervals(expansion).interval().low)
    assert math.isnan(skewed_intervals(expansion).p_value())


@pytest.mark.parametrize("labelled", [10, 20, 50])
@pytest.mark.parametrize("high", [0, 1, 4])
def test_the_bounded_form_is_near_the_beta_distribution(labelled: int, high: int) -> None:
    """Of labels 0 and 1 the lower bound is a quantile of Beta; errors are on the safe side."""
    values = np.array([0.0] * high + [1.0] * (labelled - high))
    expansion = estimate_mean(
        values, np.arange(labelled), Design.simple(np.ones(10**6)), np.arange(10**6)
    )
    family = bounded_intervals(values, np.ones(labelled), (0.0, 1.0), expansion, finite=False)
    for alpha in (0.2, 0.05, 1e-3, 1e-6):
        low = family.interval(alpha).low
        exact = incomplete_beta(labelled - high, high + 0.5, low) / (alpha / 2)
        assert 1 - 0.15 / (1 + high) < exact < 1.005


def test_the_normal_quantile_inverts_the_tail() -> None:
    for tail in (0.5, 0.3, 0.025, 1e-4, 1e-30):
        assert normal_tail(normal_quantile(tail)) == pytest.approx(tail)
