"""Guesses of judged runs by models that have not seen them, at the price of one fit.

Every fold is left out of a model of all judged cells by one step of Newton's method. Where g is the
gradient of all cells, which is 0 at the best weights w, and H the curvature, those of the cells of
a fold are simply taken off:

    w without the fold  =  w - (H - H_fold)^-1 g_fold,    g_fold = sum over its cells of (y - p) z

The likeness of a cell leaves its own fold out, as in cross-validation; that of the other cells has
seen the fold, so that a little of it remains in the weights, though in no row that they are asked
about. Below `EXACT` judged cells, where this would matter and costs nothing, models are fitted anew
(`cross_validate`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.arithmetic import product, sigmoid, solve_symmetric
from karat.nuggets.guess.calibrated.likeness import Likeness
from karat.nuggets.guess.calibrated.logistic import Logistic
from karat.nuggets.guess.calibrated.model import (
    LIKENESS_RIDGE,
    Calibrated,
    cross_validate,
    fit_with_likeness,
)
from karat.nuggets.guess.folds import known_elsewhere
from karat.nuggets.guess.paper.thresholds import best_f_threshold
from karat.nuggets.guess.pool import Floats, Ints, Pool
from karat.progress import Progress, silent

EXACT = 4_000
"""Judged cells below which every fold has a model fitted without it."""


class HeldOut(NamedTuple):
    """What is said of every cell without its fold."""

    model: Calibrated
    """Of all judged cells."""
    probabilities: Floats
    """Judgements of identical responses in other folds are 0 or 1."""
    carried: NDArray[np.bool_]


def hold_out(
    pool: Pool,
    X: Floats,
    labels: Floats,
    fold: Ints,
    near: Likeness,
    progress: Progress = silent,
) -> HeldOut:
    """Ask about every cell a model without its fold."""
    model, columns = fit_with_likeness(X, labels, fold, near)
    if (~np.isnan(labels)).sum() < EXACT:
        exact = cross_validate(pool, X, labels, fold, near, progress=progress)
        return HeldOut(model, exact.probabilities, exact.carried)
    found = without_folds(model, columns, labels, fold, LIKENESS_RIDGE, progress)
    known = known_elsewhere(pool, labels, fold)
    told = ~np.isnan(known)
    return HeldOut(
        model,
        np.where(told, known > 0, found.probabilities),
        np.where(told, known > 0, found.carried),
    )


def without_folds(
    model: Calibrated,
    X: Floats,
    labels: Floats,
    fold: Ints,
    ridge: float,
    progress: Progress = silent,
) -> HeldOut:
    """The probabilities of all rows, each by the model without its fold; the ridge is its own."""
    judged = np.flatnonzero(~np.isnan(labels))
    yes, logistic = labels[judged] > 0, model.logistic
    Z = _standardised(logistic, X)
    shares = _by_fold(Z[judged], yes, fold[judged], logistic)
    whole = np.diag([1e-6, *[ridge] * X.shape[1]]) + sum(
        share.curvature for share in shares.values()
    )
    start = np.array([logistic.intercept, *logistic.weights])
    found = HeldOut(model, np.zeros(len(X)), np.zeros(len(X), dtype=np.bool_))
    kinds = np.unique(fold).tolist()
    for done, k in enumerate(kinds, 1):
        w, limit, mine = start, model.threshold, np.flatnonzero(fold == k)
        if k in shares:
            w = start - solve_symmetric(whole - shares[k].curvature, shares[k].gradient)
            others = fold[judged] != k
            limit = best_f_threshold(_probabilities(Z[judged[others]], w), yes[others])
        found.probabilities[mine] = _probabilities(Z[mine], w)
        found.carried[mine] = found.probabilities[mine] > limit
        progress(done, len(kinds), "leaving out")
    return found


class _Share(NamedTuple):
    """What the cells of a fold add to gradient and curvature at the best weights."""

    gradient: Floats
    curvature: Floats


def _by_fold(
    Z: Floats, yes: NDArray[np.bool_], fold: Ints, logistic: Logistic
) -> dict[int, _Share]:
    p = _probabilities(Z, np.array([logistic.intercept, *logistic.weights]))
    found = {}
    for k in np.unique(fold).tolist():
        mine = fold == k
        rows, chance = Z[mine], p[mine]
        found[k] = _Share(
            product(rows.T, yes[mine] - chance),
            product((rows * (chance * (1 - chance))[:, None]).T, rows),
        )
    return found


def _standardised(logistic: Logistic, X: Floats) -> Floats:
    """An intercept, and the columns as the model weighs them."""
    return np.concatenate([np.ones((len(X), 1)), (X - logistic.centre) / logistic.scale], axis=1)


def _probabilities(Z: Floats, w: Floats) -> Floats:
    return sigmoid(product(Z, w))
