"""Logistic regression with a ridge, by Newton's method (iteratively reweighted least squares).

    maximise  sum of log P(y | x) - (ridge / 2) |w - v|^2,    P(1 | x) = 1 / (1 + exp(-(b + w z)))

where z is x less its mean, over its standard deviation; the intercept b is not held back. v is 0,
or the weights of a model that was learned elsewhere and serves as a prior; z is then that model's,
and of columns that it does not have their own. Each column may have a ridge of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat import arithmetic
from karat.arithmetic import product, solve_symmetric
from karat.errors import InputError
from karat.nuggets.guess.pool import Floats

RIDGE = 100.0
_STEPS = 30


@dataclass(frozen=True, eq=False)
class Logistic:
    """Weights of standardised columns, and an intercept."""

    centre: Floats
    scale: Floats
    weights: Floats
    intercept: float

    def logits(self, X: Floats) -> Floats:
        """log P / (1 - P) of every row."""
        z = X - self.centre
        z *= self.weights / self.scale
        found: Floats = z.sum(axis=1) + self.intercept
        return found

    def probabilities(self, X: Floats) -> Floats:
        """P(1 | x) of every row."""
        return arithmetic.sigmoid(self.logits(X))


def logit(p: Floats) -> Floats:
    """log p / (1 - p); what is sure is made a little less so."""
    q = np.clip(p, 1e-6, 1 - 1e-6)
    return arithmetic.log(q / (1 - q))


def fit_logistic(
    X: Floats,
    yes: NDArray[np.bool_],
    ridge: float | Floats = RIDGE,
    prior: Logistic | None = None,
) -> Logistic:
    """The best weights; columns that never vary have none, or the prior's."""
    if not len(X):
        raise InputError("no cell was judged: nothing can be learned; give judgements")
    centre, scale, aim = start(X, prior)
    Z = np.concatenate([np.ones((len(X), 1)), (X - centre) / scale], axis=1)
    hold = np.append(1e-6, np.broadcast_to(ridge, X.shape[1]))
    w, V = aim, np.empty_like(Z)
    for _ in range(_STEPS):
        p = arithmetic.sigmoid(product(Z, w))
        gradient = product(Z.T, yes - p) - hold * (w - aim)
        np.multiply(Z, (p * (1 - p))[:, None], out=V)
        curvature = product(V.T, Z) + np.diag(hold)
        step = solve_symmetric(curvature, gradient)
        w = w + step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-8:
            break
    return Logistic(centre, scale, w[1:], float(w[0]))


def start(X: Floats, prior: Logistic | None) -> tuple[Floats, Floats, Floats]:
    """Centre and scale of each column; and v, after the intercept's."""
    centre, scale = standard(X)
    aim = np.zeros(X.shape[1] + 1)
    if prior:
        known = len(prior.weights)
        centre[:known], scale[:known] = prior.centre, prior.scale
        aim[: known + 1] = prior.intercept, *prior.weights
    return centre, scale, aim


def standard(X: Floats) -> tuple[Floats, Floats]:
    """Means and standard deviations; a column that never varies has an infinite one."""
    scale = X.std(axis=0)
    return X.mean(axis=0), np.where(scale > 1e-12, scale, np.inf)
