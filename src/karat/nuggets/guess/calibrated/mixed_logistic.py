"""Logistic regression in which every nugget has a difficulty of its own (a mixed model).

    P(1 | x, g) = 1 / (1 + exp(-(b + w z + u_g))),    u_g ~ N(0, 1)
    maximise  sum of log P(y | x, g) - (ridge / 2) |w - v|^2 - (1 / 2) sum of u_g^2

with z and v as in `logistic.py`. Some nuggets are said in other words than the key's, by all who
say them; others share their words with all answers. Without u_g a few such nuggets pull at the
weights as hard as many responses do; with it the weights tell what makes one response carry a
nugget that another does not, which is what ranks runs.

Of a nugget that nobody was judged on, u_g is unknown. Its probabilities are those of the logit
a + c (b + w z), with the a and c that are best on what was learned from when u_g is not used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karat.arithmetic import product, sigmoid, solve_symmetric
from karat.errors import InputError
from karat.nuggets.guess.calibrated.logistic import RIDGE, Logistic, fit_logistic, start
from karat.nuggets.guess.pool import Floats, Ints

_STEPS = 40
_NEAR = 1e-8


def fit_mixed(
    X: Floats,
    yes: NDArray[np.bool_],
    nugget: Ints,
    ridge: float | Floats = RIDGE,
    prior: Logistic | None = None,
) -> Logistic:
    """The best weights beside the difficulties of the nuggets, scaled to be used without these."""
    if not len(X):
        raise InputError("no cell was judged: nothing can be learned; give judgements")
    centre, scale, aim = start(X, prior)
    Z = np.concatenate([np.ones((len(X), 1)), (X - centre) / scale], axis=1)
    hold = np.append(1e-6, np.broadcast_to(ridge, X.shape[1]))
    w = _climb(Z, yes, np.unique(nugget, return_inverse=True)[1].ravel(), hold, aim)
    return _without(product(Z, w), yes, Logistic(centre, scale, w[1:], float(w[0])))


def _climb(Z: Floats, yes: NDArray[np.bool_], nugget: Ints, hold: Floats, aim: Floats) -> Floats:
    """Newton's method over w and u together; the curvature in u is diagonal, and eliminated."""
    order = np.argsort(nugget, kind="stable")
    Z, yes, nugget = Z[order], yes[order], nugget[order]
    first = np.flatnonzero(np.diff(nugget, prepend=-1))
    w, u = aim, np.zeros(len(first))
    V = np.empty_like(Z)
    for _ in range(_STEPS):
        p = sigmoid(product(Z, w) + u[nugget])
        np.multiply(Z, (p * (1 - p))[:, None], out=V)
        both = np.add.reduceat(V, first, axis=0)  # nuggets x columns
        own = both[:, 0] + 1  # the first column is 1
        slope = product(Z.T, yes - p) - hold * (w - aim)
        slope_u = np.add.reduceat(yes - p, first) - u
        shared = product((both / own[:, None]).T, both)
        curvature = product(V.T, Z) + np.diag(hold) - shared
        step = solve_symmetric(curvature, slope - product(both.T, slope_u / own))
        step_u = (slope_u - product(both, step)) / own
        largest = max(float(np.abs(step).max()), float(np.abs(step_u).max()))
        w, u = (x + d * min(1.0, 5.0 / max(largest, 1e-300)) for x, d in ((w, step), (u, step_u)))
        if largest < _NEAR:
            break
    return w


def _without(logits: Floats, yes: NDArray[np.bool_], model: Logistic) -> Logistic:
    """The model with a + c logit for its logit."""
    line = fit_logistic(logits[:, None], yes, 1e-3)
    c = float(line.weights[0] / line.scale[0])
    a = line.intercept - c * float(line.centre[0])
    return Logistic(model.centre, model.scale, model.weights * c, a + c * model.intercept)
