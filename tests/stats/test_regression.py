"""Least squares beside certified values, exact fractions and fits made anew."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles import regression_loops
from scipy import stats

from karat.errors import InputError
from karat.stats.regression import least_squares, left_out_predictions, unseen_error

LONGLEY = [
    (60323, 83.0, 234289, 2356, 1590, 107608, 1947),
    (61122, 88.5, 259426, 2325, 1456, 108632, 1948),
    (60171, 88.2, 258054, 3682, 1616, 109773, 1949),
    (61187, 89.5, 284599, 3351, 1650, 110929, 1950),
    (63221, 96.2, 328975, 2099, 3099, 112075, 1951),
    (63639, 98.1, 346999, 1932, 3594, 113270, 1952),
    (64989, 99.0, 365385, 1870, 3547, 115094, 1953),
    (63761, 100.0, 363112, 3578, 3350, 116219, 1954),
    (66019, 101.2, 397469, 2904, 3048, 117388, 1955),
    (67857, 104.6, 419180, 2822, 2857, 118734, 1956),
    (68169, 108.4, 442769, 2936, 2798, 120445, 1957),
    (66513, 110.8, 444546, 4681, 2637, 121950, 1958),
    (68655, 112.6, 482704, 3813, 2552, 123366, 1959),
    (69564, 114.2, 502601, 3931, 2514, 125368, 1960),
    (69331, 115.7, 518173, 4806, 2572, 127852, 1961),
    (70551, 116.9, 554894, 4007, 2827, 130081, 1962),
]
"""NIST's hard example: y, then six columns that nearly depend on each other."""
CERTIFIED = [
    (-3482258.63459582, 890420.383607373),
    (15.0618722713733, 84.9149257747669),
    (-0.358191792925910e-01, 0.334910077722432e-01),
    (-2.02022980381683, 0.488399681651699),
    (-1.03322686717359, 0.214274163161675),
    (-0.511041056535807e-01, 0.226073200069370),
    (1829.15146461355, 455.478499142212),
]
RNG = np.random.default_rng(5)
X = np.column_stack([RNG.normal(size=30), 1e6 + RNG.integers(0, 9, 30), 1e-7 * RNG.random(30)])
Y = 3 + X @ [1.0, 0.2, 1e7] + RNG.normal(size=30)
NAMES = ("a", "b", "c")


def test_the_certified_values_of_longley() -> None:
    data = np.array(LONGLEY, dtype=float)
    fit = least_squares(data[:, 1:], data[:, 0], list("abcdef"))
    for coefficient, (value, error) in zip(fit.coefficients, CERTIFIED, strict=True):
        assert coefficient.value == pytest.approx(value, rel=1e-8)
        assert coefficient.error == pytest.approx(error, rel=1e-8)
    assert fit.r2 == pytest.approx(0.995479004577296, rel=1e-12)
    assert fit.sigma == pytest.approx(304.854073561965, rel=1e-10)


def test_coefficients_are_those_of_fractions() -> None:
    fit = least_squares(X, Y, NAMES)
    exact = regression_loops.coefficients(X.tolist(), Y.tolist())
    for coefficient, value in zip(fit.coefficients, exact, strict=True):
        assert coefficient.value == pytest.approx(float(value), rel=1e-9)
        assert coefficient.p == pytest.approx(2 * stats.t.sf(abs(coefficient.t), 26), rel=1e-9)
    message = [regression_loops.predict(exact, row) for row in X.tolist()]
    assert fit.predicted == pytest.approx(message, rel=1e-12)
    rest, unsplit = ((Y - guess) ** 2 for guess in (message, Y.mean()))
    assert fit.r2 == pytest.approx(1 - rest.sum() / unsplit.sum(), rel=1e-10)
    assert fit.adjusted == pytest.approx(1 - (rest.sum() / 26) / (unsplit.sum() / 29), rel=1e-10)


def test_what_is_left_out_is_predicted_by_the_others() -> None:
    alone = regression_loops.left_out(X.tolist(), Y.tolist(), range(30))
    assert least_squares(X, Y, NAMES).left_out == pytest.approx(alone, rel=1e-10)
    groups = np.arange(30) // 4
    together = regression_loops.left_out(X.tolist(), Y.tolist(), groups.tolist())
    assert left_out_predictions(X, Y, groups) == pytest.approx(together, rel=1e-10)


def test_the_order_of_points_does_not_matter() -> None:
    order = RNG.permutation(30)
    result, turned = least_squares(X, Y, NAMES), least_squares(X[order], Y[order], NAMES)
    assert result.coefficients == turned.coefficients
    assert result.r2 == turned.r2


def test_points_that_alone_tell_a_coefficient_have_no_prediction() -> None:
    x = np.column_stack([np.arange(6.0), [0, 0, 0, 0, 0, 1.0]])
    fit = least_squares(x, np.array([1.0, 2, 2, 4, 5, 0]), NAMES[:2])
    assert math.isnan(fit.left_out[5])
    assert not np.isnan(fit.left_out[:5]).any()
    apart = left_out_predictions(x, np.array([1.0, 2, 2, 4, 5, 0]), np.array([0, 0, 1, 1, 2, 3]))
    assert np.isnan(apart).tolist() == [False] * 5 + [True]


def test_errors_beside_the_mean_of_the_others() -> None:
    y, groups = np.array([0.0, 0, 3, 6]), np.array([0, 0, 1, 2])
    errors = unseen_error(y, np.array([0.0, 0, 3, math.nan]), groups)
    assert (errors.rmse, errors.r2, errors.undefined) == (0, 1, 1)
    assert errors.rmse_of_mean == pytest.approx(math.sqrt((4.5**2 + 4.5**2 + 1) / 3))
    assert unseen_error(y, np.full(4, math.nan), groups).undefined == 4


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([[1.0], [2.0]], [1.0, 2.0], "2 points for 2 coefficients: at least 3"),
        ([[1.0], [2.0], [4.0]], [1.0, 1.0, 1.0], "the human scores are constant"),
        ([[2.0], [2.0], [2.0]], [1.0, 2.0, 1.0], "a is constant"),
        ([[2.0], [math.inf], [2.0]], [1.0, 2.0, 1.0], "a is not finite"),
        ([[1.0, 3], [2, 5], [3, 7], [5, 11]], [1.0, 2, 1, 2], "a is a combination of the others"),
    ],
)
def test_what_cannot_be_fitted(x: list[list[float]], y: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        least_squares(np.array(x), np.array(y), NAMES[: len(x[0])])


@pytest.mark.parametrize("size", [1e-310, 1e308])
def test_numbers_without_squares_are_refused(size: float) -> None:
    x, y = np.array([[1.0], [2.0], [4.0], [3.0]]), np.array([0.1, 0.5, 0.2, 0.9])
    with pytest.raises(InputError, match=r"the human scores go up to .*; rescale them"):
        least_squares(x, y * size, ["a"])
    with pytest.raises(InputError, match=r"the scores of a go up to .*; rescale them"):
        least_squares(x / 5 * size, y, ["a"])


def test_what_rounding_alone_tells_apart_is_constant() -> None:
    x, y = np.array([[1.0], [2.0], [4.0], [3.0]]), np.array([0.1, 0.5, 0.2, 0.9])
    noise = np.array([1.1 - 1, 2.1 - 2, 3.1 - 3, 4.1 - 4])
    with pytest.raises(InputError, match="the human scores are constant"):
        least_squares(x, noise, ["a"])
    with pytest.raises(InputError, match="a is constant"):
        least_squares(noise[:, None], y, ["a"])
