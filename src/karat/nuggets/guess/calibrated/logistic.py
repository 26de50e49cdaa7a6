"""Logistic regression with a ridge, by Newton's method (iteratively reweighted least squares).

    maximise  sum of log P(y | x) - (ridge / 2) |w - v|^2,    P(1 | x) = 1 / (1 + exp(-(b + w z)))

where z is x less its mean, over its standard deviation; the intercept b is not held back. v is 0,
or the weights of a model that was learned elsewhere and serves as a prior; z is then that model's,
and of columns that it does not have their own. Each column may have a ridge of its own.

In a mixed model every nugget g has a difficulty u_g of its own:

    P(1 | x, g) = 1 / (1 + exp(-(b + w z + u_g))),    u_g ~ N(0, 1)
    maximise  sum of log P(y | x, g) - (ridge / 2) |w - v|^2 - (1 / 2) sum of u_g^2

Some nuggets are said in other words than the key's, by all who say them; others share their words
with all answers. Without u_g a few such nuggets pull at the weights as hard as many responses do;
with it the weights tell what makes one response carry a nugget that another does not, which is what
ranks runs. Of a nugget that nobody was judged on, u_g is unknown. Its probabilities are those of
the logit a + c (b + w z), with the a and c that are best on what was learned from when u_g is not
used.
"""

from __future__ import annotations

from dataclasses import dataclass

from karat import arithmetic
from karat.arithmetic import product, sigmoid, solve_symmetric
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError

RIDGE = 100.0
_STEPS, _MIXED_STEPS = 30, 40
_NEAR = 1e-8


@dataclass(frozen=True, eq=False)
class Logistic:
    """Weights of standardised columns, and an intercept."""

    centre: Floats
    scale: Floats
    weights: Floats
    intercept: float
    threshold: float = 0.5
    """The bound that the probability of a yes exceeds."""

    def logits(self, X: Floats) -> Floats:
        """Return log P / (1 - P) of every row."""
        z = X - self.centre
        z *= self.weights / self.scale
        return np.asarray(z.sum(axis=1) + self.intercept)

    def probabilities(self, X: Floats) -> Floats:
        """Return P(1 | x) of every row."""
        return sigmoid(self.logits(X))

    def columns(self, X: Floats) -> Floats:
        """Return an intercept, and the columns as the model weighs them."""
        return np.concatenate([np.ones((len(X), 1)), (X - self.centre) / self.scale], axis=1)


def logit(p: Floats) -> Floats:
    """Return log p / (1 - p); what is sure is made a little less so."""
    q = np.clip(p, 1e-6, 1 - 1e-6)
    return arithmetic.log(q / (1 - q))


def fit_logistic(
    X: Floats,
    yes: Flags,
    ridge: float | Floats = RIDGE,
    prior: Logistic | None = None,
    nugget: Ints | None = None,
) -> Logistic:
    """Fit the weights; columns that never vary have none, or the prior's.

    With `nugget`, the nugget of each row, beside the difficulties of the nuggets; the weights are
    scaled to be used without these.
    """
    if not len(X):
        raise InputError("no cell was judged: nothing can be learned; give judgements")
    aim = _start(X, prior)
    Z, v = aim.columns(X), np.append(aim.intercept, aim.weights)
    hold = np.append(1e-6, np.broadcast_to(ridge, X.shape[1]))
    if nugget is None:
        w = _climb(Z, yes, hold, v)
        return Logistic(aim.centre, aim.scale, w[1:], float(w[0]))
    w = _climb_mixed(Z, yes, np.unique(nugget, return_inverse=True)[1].ravel(), hold, v)
    line = fit_logistic(product(Z, w)[:, None], yes, 1e-3)
    c = float(line.weights[0] / line.scale[0])
    a = line.intercept - c * float(line.centre[0])
    return Logistic(aim.centre, aim.scale, w[1:] * c, a + c * float(w[0]))


def _start(X: Floats, prior: Logistic | None) -> Logistic:
    """Return means and standard deviations (infinite where nothing varies), and the weights v."""
    scale = X.std(axis=0)
    scale, weights = np.where(scale > 1e-12, scale, np.inf), np.zeros(X.shape[1])
    centre, known = X.mean(axis=0), slice(len(prior.weights) if prior else 0)
    if prior:
        centre[known], scale[known], weights[known] = prior.centre, prior.scale, prior.weights
    return Logistic(centre, scale, weights, prior.intercept if prior else 0.0)


def _climb(Z: Floats, yes: Flags, hold: Floats, aim: Floats) -> Floats:
    """Find the best w by Newton's method."""
    w, V = aim, np.empty_like(Z)
    for _ in range(_STEPS):
        p = sigmoid(product(Z, w))
        gradient = product(Z.T, yes - p) - hold * (w - aim)
        np.multiply(Z, (p * (1 - p))[:, None], out=V)
        step = solve_symmetric(product(V.T, Z) + np.diag(hold), gradient)
        w = w + step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < _NEAR:
            break
    return w


def _climb_mixed(Z: Floats, yes: Flags, nugget: Ints, hold: Floats, aim: Floats) -> Floats:
    """Find the best w and u together; the curvature in u is diagonal, and eliminated."""
    order = np.argsort(nugget, kind="stable")
    Z, yes, nugget = Z[order], yes[order], nugget[order]
    first = np.flatnonzero(np.diff(nugget, prepend=-1))
    w, u = aim, np.zeros(len(first))
    V = np.empty_like(Z)
    for _ in range(_MIXED_STEPS):
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
