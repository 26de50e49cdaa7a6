"""Estimates: worked values, slow oracles, and what intervals hold on sets that are made up."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from karat.stats.distributions import incomplete_beta, student_quantile
from karat.stats.estimates import (
    MeanInterval,
    bounded_intervals,
    skewed_intervals,
)
from karat.stats.population import Design, Labelled, cross_fit, estimate_mean, tune_prediction

Floats = NDArray[np.float64]


def simple(values: Floats, units: Any, population: int) -> Any:
    design = Design.simple(np.ones(population))
    return estimate_mean(
        np.asarray(values, float), np.asarray(units), design, np.arange(population)
    )


# --------------------------------------------------------------------------------- sampling


def test_a_simple_random_sample_has_the_textbook_error() -> None:
    expansion = simple(np.array([1.0, 2.0, 4.0, 9.0]), [0, 3, 5, 7], 10)
    assert expansion.mean == 4.0
    assert expansion.error() == pytest.approx(math.sqrt((38 / 3) / 4 * (1 - 4 / 10)))
    assert expansion.error(finite=False) == pytest.approx(math.sqrt((38 / 3) / 4))
    assert expansion.fraction == pytest.approx(0.4)
    assert expansion.freedom == 3


def test_a_whole_population_has_no_error() -> None:
    expansion = simple(np.array([1.0, 2.0, 4.0]), [0, 1, 2], 3)
    assert (expansion.mean, expansion.error()) == (pytest.approx(7 / 3), 0.0)


def test_units_of_unequal_size_count_by_their_size() -> None:
    design = Design.simple(np.array([1.0, 3.0, 2.0, 4.0]))
    expansion = estimate_mean(np.array([10.0, 2.0]), np.array([0, 1]), design, np.arange(4))
    assert expansion.mean == pytest.approx((10 + 3 * 2) / 4)
    equal = estimate_mean(np.array([5.0, 5.0]), np.array([0, 1]), design, np.arange(4))
    assert equal.error() == 0.0  # sizes alone are no spread


@given(st.lists(st.integers(0, 9), min_size=5, max_size=8), st.integers(2, 4))
def test_the_variance_is_right_on_average_over_all_samples(values: list[int], n: int) -> None:
    """Over all samples of n: the mean is that of the population, SE^2 the variance of the means."""
    population = np.array(values, float)
    samples = [list(combination) for combination in combinations(range(len(values)), n)]
    expansions = [
        simple(population[combination], combination, len(values)) for combination in samples
    ]
    means = [item.mean for item in expansions]
    assert np.mean(means) == pytest.approx(population.mean())
    errors = [item.error() ** 2 for item in expansions]
    assert np.mean(errors) == pytest.approx(np.var(means), abs=1e-12)


def test_rounds_know_what_was_labelled_before() -> None:
    """Two units first, then one of the four that are left: the second round by hand."""
    design = Design(
        np.ones(6), np.array([1 / 3, 1 / 3, 0.25, 0, 0, 0]), np.array([1, 1, 2, 0, 0, 0])
    )
    expansion = estimate_mean(np.array([1.0, 3.0, 10.0]), np.array([0, 1, 2]), design, np.arange(6))
    first, second = 2.0, (1 + 3 + 4 * 10) / 6
    assert expansion.mean == pytest.approx((2 * first + 1 * second) / 3)
    assert expansion.freedom == 1


def test_known_probabilities_undo_an_uneven_draw() -> None:
    """Of two classes one is drawn four times as often; the plain mean would be far off."""
    rng = np.random.default_rng(0)
    values = np.where(np.arange(200) < 100, 0.0, 10.0) + rng.normal(size=200)
    chance = np.where(np.arange(200) < 100, 0.4, 0.1)
    result = []
    for _ in range(300):
        resampled = np.flatnonzero(rng.random(200) < chance)
        design = Design(np.ones(200), chance, np.ones(200, np.int64))
        result.append(estimate_mean(values[resampled], resampled, design, np.arange(200)).mean)
    assert np.mean(result) == pytest.approx(values.mean(), abs=0.15)


# -------------------------------------------------------------------------------- intervals


def test_without_skewness_the_interval_is_students() -> None:
    expansion = simple(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), range(5), 50)
    metric_scores = skewed_intervals(expansion).interval()
    reach = student_quantile(0.025, 4) * math.sqrt(2.5 / 5 * 0.9)
    assert (metric_scores.low, metric_scores.high) == (
        pytest.approx(3 - reach),
        pytest.approx(3 + reach),
    )


def test_skewness_moves_one_end_out_and_none_in() -> None:
    values = np.array([0.0, 0.0, 0.0, 0.1, 0.2, 5.0])
    expansion = simple(values, range(6), 60)
    metric_scores, reach = (
        skewed_intervals(expansion).interval(),
        student_quantile(0.025, 5) * expansion.error(),
    )
    assert metric_scores.high > expansion.mean + reach
    assert metric_scores.low == pytest.approx(expansion.mean - reach)
    mirrored = skewed_intervals(simple(-values, range(6), 60)).interval()
    assert (mirrored.low, mirrored.high) == (
        pytest.approx(-metric_scores.high),
        pytest.approx(-metric_scores.low),
    )


def hall_end(result: Any, fraction: float, t: float) -> float:
    """Where the corrected T is t, by bisection of the cubic itself."""
    n = len(result.plain)
    b = result.skewness / math.sqrt(n * (1 - fraction))
    c, d = b * (2 - fraction) / 2, b * (1 - 2 * fraction) / 6
    low, high = -1e4, 1e4
    for _ in range(200):
        x = (low + high) / 2
        value = x + c / 3 * x * x + c * c / 27 * x**3 + d
        low, high = (x, high) if value < t else (low, x)
    return (low + high) / 2


@given(st.lists(st.floats(0, 8), min_size=6, max_size=12).filter(lambda v: np.ptp(v) > 0.1))
def test_the_ends_solve_the_cubic(values: list[float]) -> None:
    expansion = simple(np.exp(np.array(values)), range(len(values)), 3 * len(values))
    t = student_quantile(0.025, len(values) - 1)
    metric_scores = skewed_intervals(expansion).interval()
    below, above = hall_end(expansion, 1 / 3, t), -hall_end(expansion, 1 / 3, -t)
    assert metric_scores.low == pytest.approx(
        expansion.mean - max(t, below) * expansion.error(), rel=1e-6
    )
    assert metric_scores.high == pytest.approx(
        expansion.mean + max(t, above) * expansion.error(), rel=1e-6
    )


def test_the_bounded_form_of_yes_and_no_is_a_beta_interval() -> None:
    """With k of n at 1 the lower bound is the quantile of Beta(k, n - k + 1/2)."""
    values = np.array([1.0] * 16 + [0.0] * 4)
    expansion = simple(values, range(20), 10**6)
    family = bounded_intervals(values, np.ones(20), (0.0, 1.0), expansion, finite=False)
    for alpha in (0.05, 0.001):
        metric_scores = family.interval(alpha)
        assert incomplete_beta(16, 4.5, metric_scores.low) == pytest.approx(alpha / 2, rel=0.005)
        assert 1 - incomplete_beta(16.5, 4, metric_scores.high) == pytest.approx(
            alpha / 2, rel=0.005
        )


def test_the_bounded_form_has_a_width_where_all_labels_are_the_best() -> None:
    values = np.full(20, 5.0)
    expansion = simple(values, range(20), 100)
    metric_scores, unsplit = (
        bounded_intervals(values, np.ones(20), (1.0, 5.0), expansion, finite).interval()
        for finite in (True, False)
    )
    assert metric_scores.high == pytest.approx(5.0)
    assert 4.2 < unsplit.low < metric_scores.low < 4.9
    assert 5 - metric_scores.low == pytest.approx((5 - unsplit.low) * math.sqrt(0.8))


def test_the_bounded_form_adds_a_further_variance() -> None:
    values = np.array([1.0] * 16 + [0.0] * 4)
    expansion = simple(values, range(20), 100)
    first, two = (
        bounded_intervals(values, np.ones(20), (0.0, 1.0), expansion, False, more).interval()
        for more in (0.0, 0.01)
    )
    added = 2.093 * 0.1  # Student's quantile with 19 degrees of freedom
    assert 0.8 - two.low == pytest.approx(math.hypot(0.8 - first.low, added), abs=1e-4)
    assert two.error == pytest.approx(math.hypot(first.error, 0.1))


def test_the_bounded_form_takes_weights() -> None:
    values, weights = np.array([0.0, 1.0] * 10), np.array([3.0, 1.0] * 10)
    design = Design(np.ones(80), np.tile([1 / 6, 1 / 2], 40), np.ones(80, np.int64))
    expansion = estimate_mean(values, np.arange(20), design, np.arange(80))
    metric_scores = bounded_intervals(values, weights, (0.0, 1.0), expansion, True).interval()
    assert metric_scores.mean == pytest.approx(0.25)
    assert metric_scores.low < 0.25 < metric_scores.high < 0.6


def test_intervals_stay_on_the_scale() -> None:
    metric_scores = MeanInterval(4.9, 4.5, 5.3, 0.2).within(1.0, 5.0)
    assert metric_scores == (4.9, 4.5, 5.0, 0.2)
    assert MeanInterval(1.0, 0.5, 1.5, 0.2).within(None, None).low == 0.5


def test_p_is_students_without_skewness() -> None:
    family = skewed_intervals(simple(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), range(5), 50))
    t = student_quantile(0.025, 4)
    assert family.shifted(t * family.error - 3).p_value() == pytest.approx(0.05)
    assert family.shifted(-3).p_value() == 1.0


# ------------------------------------------------------------------------------ predictions


def labelled(y: Floats, x: Floats) -> Labelled:
    weights = np.where(np.isnan(y), 0.0, 1.0)
    return Labelled(y, x, x, np.ones(y.shape), weights)


def test_lambda_is_pooled_over_systems() -> None:
    """Cov(Y, f) / Var(f) around each system's own means, by hand in fractions."""
    y = np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 2.0]])
    f = np.array([[2.0, 1.0, 3.0], [5.0, 9.0, 4.0]])
    covariance = Fraction(-2 * 0 + -1 * -1 + 3 * 1) + sum(
        Fraction(a) * (Fraction(b) - 6) for a, b in zip((-2, 2, 0), (5, 9, 4), strict=True)
    )
    variance = Fraction(0 + 1 + 1) + Fraction(1 + 9 + 4)
    prediction = tune_prediction(labelled(y, f[:, :, None]))
    assert prediction.factor == pytest.approx(float(covariance / variance))
    assert prediction.units == pytest.approx(prediction.factor * f)


def test_unlabelled_units_tell_nothing_of_lambda() -> None:
    y = np.array([[1.0, 2.0, np.nan, 6.0]])
    f = np.array([[2.0, 1.0, 100.0, 3.0]])
    assert (
        tune_prediction(labelled(y, f[:, :, None])).factor
        == tune_prediction(labelled(y[:, [0, 1, 3]], f[:, [0, 1, 3], None])).factor
    )


def test_a_constant_judge_predicts_nothing() -> None:
    y = np.array([[1.0, 2.0, 6.0]])
    prediction = tune_prediction(labelled(y, np.full((1, 3, 1), 7.0)))
    assert (prediction.factor, prediction.correlation) == (0.0, 0.0)


def slow_cross_fit(y: Floats, x: Floats, penalty: float, folds: int) -> Floats:
    """Predictions of every unit by numpy's own solver, fitted without its fold."""
    systems, units, judges = x.shape
    z = (x - x.mean(axis=(0, 1))) / x.std(axis=(0, 1))
    like = np.zeros_like(y)
    for k in range(folds):
        selected = np.arange(units) % folds != k
        a, b = np.zeros((judges, judges)), np.zeros(judges)
        for s in range(systems):
            xs = z[s, selected] - z[s, selected].mean(axis=0)
            ys = y[s, selected] - y[s, selected].mean()
            a, b = a + xs.T @ xs, b + xs.T @ ys
        a = a + penalty * systems * selected.sum() * np.eye(judges)
        like[:, ~selected] = z[:, ~selected] @ np.linalg.solve(a, b)
    return like


def test_cross_fitting_agrees_with_a_slow_oracle() -> None:
    from karat.stats.population import PENALTIES

    rng = np.random.default_rng(3)
    x = rng.normal(size=(3, 24, 2))
    y = x[:, :, 0] - 0.5 * x[:, :, 1] + 0.7 * rng.normal(size=(3, 24))
    prediction = cross_fit(labelled(y, x))
    options = [slow_cross_fit(y, x, penalty, 10) for penalty in PENALTIES]
    errors = [((r := y - o) - r.mean(axis=1, keepdims=True)) for o in options]
    best = options[int(np.argmin([(e**2).sum() for e in errors]))]
    ratio = prediction.units / best
    assert ratio.std() < 0.05  # lambda differs from fold to fold by little
    assert 0.7 < ratio.mean() <= 1.0


def test_judges_of_noise_are_not_believed() -> None:
    rng = np.random.default_rng(5)
    y, x = rng.normal(size=(4, 30)), rng.normal(size=(4, 30, 6))
    prediction = cross_fit(labelled(y, x))
    assert np.abs(prediction.units).max() < 0.25


# --------------------------------------------------------------------------------- coverage


@pytest.mark.parametrize(("shape", "least"), [("normal", 0.92), ("skewed", 0.90)])
def test_intervals_hold_the_truth(shape: str, least: float) -> None:
    rng = np.random.default_rng(1)
    population = rng.normal(size=300) if shape == "normal" else rng.exponential(size=300) ** 1.3
    held = 0
    for _ in range(300):
        units = rng.permutation(300)[:20]
        metric_scores = skewed_intervals(simple(population[units], units, 300)).interval()
        held += metric_scores.low <= population.mean() <= metric_scores.high
    assert least <= held / 300 <= 0.99


def test_point_and_error_are_those_of_ppi_python() -> None:
    """With lambda fixed and all units as its unlabelled ones, ppi-python 0.2.3 gives these."""
    y = np.array([3.0, 5.0, 2.0, 4.0, 4.0, 1.0, 5.0, 3.0, 4.0, 2.0, 5.0, 4.0])
    f = np.array([0.55, 0.8, 0.4, 0.5, 0.7, 0.3, 0.75, 0.45, 0.8, 0.35, 0.6, 0.65])
    rivals = [0.6, 0.7, 0.2, 0.5, 0.45, 0.9, 0.35, 0.55, 0.65, 0.75, 0.5, 0.4, 0.3, 0.85, 0.6]
    all_values = np.array([*f, *rivals, 0.7, 0.52, 0.48])
    prediction = tune_prediction(
        labelled(np.array([[*y, *[np.nan] * 18]]), all_values[None, :, None])
    )
    assert prediction.factor == pytest.approx(6.545454545454543)
    residuals = simple(y - prediction.units[0, :12], range(12), 30)
    assert residuals.mean + float(prediction.means[0]) == pytest.approx(3.44)
    peer_result = (3.982455375078286 - 2.897544624921714) / 2 / 1.959963984540054
    spread = prediction.factor**2 * all_values.var() / len(all_values)  # its variances divide by n
    karat_result = residuals.error(finite=False) ** 2 * 11 / 12 + spread
    assert math.sqrt(karat_result) == pytest.approx(peer_result)
