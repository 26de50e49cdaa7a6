"""Ordinary least squares: y = b0 + b1 x1 + … + bk xk with the smallest sum of squared residuals.

Columns are standardised first, and sums are exact, so that nothing depends on the processor. With
Z the standardised columns of n points, R = Z'Z / n their correlations and e the residuals:

    slopes (of Z)  = R^-1 Z'y / n                  s^2 = sum e^2 / (n - k - 1)
    error of a slope = s sqrt(R^-1_jj / n)         leverage h_i = (1 + z_i R^-1 z_i) / n
    residual of a point that was left out = e_i / (1 - h_i)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, fsum, inf, ldexp, nan, sqrt
from typing import NamedTuple

from karat.arithmetic import SLACK, exact_sum, product
from karat.arrays import Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.stats.distributions import student_tail

NEARLY = 1e-9  # a column with less variance of its own is a combination of the others
LARGEST = 1e100  # largest number that can be fitted: fourth powers of ratios do not overflow


class Coefficient(NamedTuple):
    """One coefficient: its standard error, t = value / error, and the two-sided p of 0."""

    value: float
    error: float
    t: float
    p: float


class LeastSquares(NamedTuple):
    """A fit: its coefficients, the intercept first, and its predictions of its own points."""

    coefficients: tuple[Coefficient, ...]
    predicted: Floats
    left_out: Floats  # prediction of each point by the fit of all others; NaN if undetermined
    r2: float
    adjusted: float  # 1 - (1 - R^2)(n - 1) / (n - k - 1)
    sigma: float  # s, the standard error of a residual


def least_squares(x: Floats, y: Floats, names: Sequence[str]) -> LeastSquares:
    """Fit y by the columns of x (points x columns); `names` of the columns are for messages."""
    n, k = x.shape
    _check_data(x, y, names)
    z, centre, scale, inverse, slopes, mean = _solve_normal_equations(x, y)
    for name, diagonal in zip(names, np.diag(inverse), strict=True):
        if not (diagonal > 0 and 1 / diagonal > NEARLY):  # its unexplained variance
            raise InputError(
                f"{name} is a combination of the others here: their effects cannot be separated; "
                "leave one out"
            )
    predicted: Floats = mean + product(z, slopes)
    errors = y - predicted
    gaps, spread = _mean_square(errors), _mean_square(y - _means(y[:, None])[0])
    variance, free = gaps * n / (n - k - 1), n - k - 1
    apart = 1 - (1 + _row_sums(product(z, inverse) * z)) / n  # 1 - leverage
    alone = np.divide(errors, apart, out=np.full(n, nan), where=apart > NEARLY)
    values, origin = slopes / scale, centre / scale  # on the scales of the columns
    away = fsum((product(inverse, origin) * origin).tolist())
    intercept = mean - fsum((values * centre).tolist())
    standard_errors = np.sqrt(variance * np.diag(inverse) / n) / scale
    coefficients = (
        _test_coefficient(intercept, sqrt(variance * (1 + away) / n), free),
        *(
            _test_coefficient(*pair, free)
            for pair in zip(values.tolist(), standard_errors.tolist(), strict=True)
        ),
    )
    share = gaps / spread
    adjusted = 1 - share * (n - 1) / free
    return LeastSquares(coefficients, predicted, y - alone, 1 - share, adjusted, sqrt(variance))


def _test_coefficient(value: float, error: float, free: int) -> Coefficient:
    t = value / error if error > 0 else inf * value if value else nan
    return Coefficient(value, error, t, 2 * student_tail(abs(t), free))


def left_out_predictions(x: Floats, y: Floats, groups: Ints) -> Floats:
    """Predict the points of each group by the fit of all other points; NaN if undetermined.

    The normal equations of the other points are those of all points minus the group's part.
    """
    full_fit = _solve_normal_equations(x, y)
    w = np.column_stack([np.ones(len(y)), full_fit.z])
    both = np.column_stack([w, y - full_fit.mean])
    numbers = np.unique(groups, return_inverse=True)[1].reshape(-1)
    parts = (both[:, :, None] * both[:, None, :]).reshape(len(y), -1)
    group_parts = np.stack([np.bincount(numbers, weights=column) for column in parts.T], axis=1)
    size = both.shape[1]
    others_equations = (_means(parts) * len(y) - group_parts).reshape(-1, size, size)
    square, right = others_equations[:, :-1, :-1], others_equations[:, :-1, -1:]
    inverse = _inverses(square)
    spread = np.diagonal(inverse, axis1=1, axis2=2) * np.diagonal(square, axis1=1, axis2=2)
    enough = np.bincount(numbers) < len(y) - size + 1
    is_determined = enough & ((spread > 0) & (spread < 1 / NEARLY)).all(axis=1)
    slopes = np.where(is_determined[:, None], product(inverse, right)[:, :, 0], nan)
    return np.where(is_determined[numbers], full_fit.mean + _row_sums(w * slopes[numbers]), nan)


class Unseen(NamedTuple):
    """Errors of predictions by fits without the point: root mean squares, and R^2.

    `r2` is 1 - squared errors / squared errors of the mean of the other groups' points.
    """

    rmse: float
    rmse_of_mean: float
    r2: float
    undefined: int


def unseen_error(y: Floats, predicted: Floats, groups: Ints) -> Unseen:
    """Compare cross-validated predictions, left out by groups, with the mean of the others."""
    numbers = np.unique(groups, return_inverse=True)[1].reshape(-1)
    sums, counts = (np.bincount(numbers, weights=w) for w in (y, np.ones(len(y))))
    others_mean = ((fsum(y.tolist()) - sums) / (len(y) - counts))[numbers]
    is_defined = ~np.isnan(predicted)
    if not is_defined.any():
        return Unseen(nan, nan, nan, len(y))
    errors, chance = (_mean_square((y - guess)[is_defined]) for guess in (predicted, others_mean))
    r2 = 1 - errors / chance if chance > 0 else nan
    return Unseen(sqrt(errors), sqrt(chance), r2, int((~is_defined).sum()))


def _check_data(x: Floats, y: Floats, names: Sequence[str]) -> None:
    """Raise if there are too few points, or values that cannot be fitted."""
    n, k = x.shape
    if n < k + 2:
        raise InputError(f"{n:,} points for {k + 1} coefficients: at least {k + 2} are needed")
    if _is_constant(y):
        raise InputError("the human scores are constant: there is nothing to fit")
    _check_magnitude("the human scores", y)
    for name, column in zip(names, x.T, strict=True):
        if not np.isfinite(column).all():
            raise InputError(f"{name} is not finite everywhere: it cannot be fitted; leave it out")
        if _is_constant(column):
            raise InputError(f"{name} is constant: it cannot explain anything; leave it out")
        _check_magnitude(f"the scores of {name}", column)


def _is_constant(values: Floats) -> bool:
    """Return whether values differ by no more than rounding."""
    return float(np.ptp(values / 2)) <= SLACK * float(np.abs(values).max()) / 2


def _check_magnitude(name: str, values: Floats) -> None:
    """Raise if squares of the numbers, or of their differences, would be 0 or infinite."""
    largest, apart = float(np.abs(values).max()), float(np.ptp(values / 2))
    if largest > LARGEST or apart < 1 / LARGEST:
        problem = f"go up to {largest:.3g} and differ by at most {2 * apart:.3g}"
        expected = f"expected at most {LARGEST:g}, and differences of at least {1 / LARGEST:g}"
        raise InputError(f"{name} {problem}: {expected}; rescale them")


class _Solution(NamedTuple):
    """Solution of the normal equations: slopes of standardised columns, and the mean of y."""

    z: Floats
    centre: Floats
    scale: Floats
    inverse: Floats
    slopes: Floats
    mean: float


def _solve_normal_equations(x: Floats, y: Floats) -> _Solution:
    centre = _means(x)
    scale = np.sqrt(_means((x - centre) ** 2))
    z, mean = (x - centre) / scale, float(_means(y[:, None])[0])
    together = _means((z[:, :, None] * z[:, None, :]).reshape(len(x), -1))
    inverse = _inverses(together.reshape(1, x.shape[1], -1))[0]
    slopes = product(inverse, _means(z * (y - mean)[:, None]))
    return _Solution(z, centre, scale, inverse, slopes, mean)


def _inverses(stack: Floats) -> Floats:
    """Return the inverse of each positive definite matrix by Gauss-Jordan; NaN if singular."""
    size = stack.shape[-1]
    work = np.concatenate([stack, np.broadcast_to(np.eye(size), stack.shape)], axis=2)
    for i in range(size):
        pivots = work[:, i, i]
        row = work[:, i] / np.where(pivots > 0, pivots, nan)[:, None]
        work = work - work[:, :, i, None] * row[:, None, :]
        work[:, i] = row
    return work[:, :, size:]


def _row_sums(rows: Floats) -> Floats:
    """Return the sum of each row, added from left to right."""
    total = rows[:, 0]
    for column in rows.T[1:]:
        total = total + column
    return total


def _mean_square(values: Floats) -> float:
    return float(_means((values * values)[:, None])[0])


def _means(columns: NDArray[np.float64]) -> Floats:
    """Return the mean of every column from exact sums, scaled by powers of two to at most 1."""
    largest = np.abs(columns).max(axis=0).tolist()
    units = np.array([ldexp(1.0, min(frexp(number)[1], 1023)) for number in largest])
    means: Floats = exact_sum(columns / units, axis=0) * units / len(columns)
    return means
