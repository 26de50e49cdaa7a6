"""The calibrated classifier: the probability that a response carries a nugget.

Logistic regression over the evidence of `evidence.py`, each nugget with a difficulty of its own
(`logistic.py`); where other runs were judged on the same questions, over that of `likeness.py` too,
and where nobody was, over that of `unjudged_questions.py`. It learns from whatever judgements there
are; where there are none, `PRIOR` serves. `cross_validate` gives every cell a probability from a
model that has not seen its fold.

`hold_out` does so at the price of one fit. Every fold is left out of a model of all judged cells by
one step of Newton's method. Where g is the gradient of all cells, which is 0 at the best weights w,
and H the curvature, those of the cells of a fold are simply taken off:

    w without the fold  =  w - (H - H_fold)^-1 g_fold,    g_fold = sum over its cells of (y - p) z

The likeness of a cell leaves its own fold out, as in cross-validation; that of the other cells has
seen the fold, so that a little of it remains in the weights, though in no row that they are asked
about. Below `EXACT` judged cells, where this would matter and costs nothing, models are fitted
anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from karat.arithmetic import product, sigmoid, solve_symmetric
from karat.arrays import Flags, Floats, Ints, np
from karat.nuggets.guess.calibrated.evidence import NAMES
from karat.nuggets.guess.calibrated.likeness import Likeness
from karat.nuggets.guess.calibrated.logistic import RIDGE, Logistic, fit_logistic
from karat.nuggets.guess.calibrated.unjudged_questions import Unjudged
from karat.nuggets.guess.folds import AssessorAgreement, Folded
from karat.nuggets.guess.paper.thresholds import best_f_threshold
from karat.progress import Progress, silent

_PRIOR = {"informative-near": 1.6, "informative-whole": 1.6, "paper-2": 0.35, "characters": 2.0}

_WEIGHTS = np.array([_PRIOR.get(name, 0.0) for name in NAMES])

PRIOR = Logistic(np.zeros(len(NAMES)), np.ones(len(NAMES)), _WEIGHTS, -2.9, 0.39)
"""The model without judgements: four columns, rounded weights of a fit to REALSumm and
TREC RAG 2024 together. On these two sets it has seen the answers; what it is worth elsewhere is
measured by learning on one of them and testing on the other."""

PRIOR_STRICT = replace(PRIOR, intercept=-3.0)
"""The model of full support: the intercept of both sets together falls by 0.07, rounded up. Only
TREC RAG 2024 has partial support, a twelfth of what is carried there; alone it falls by 0.2."""

LIKENESS_RIDGE = 10.0
"""Of the model with likeness, whose columns hold on any question: it needs less holding back."""

PLACE_RIDGE = 1.0
"""Of the place in the key: what it is worth differs from key to key, and is free to."""

EXACT = 4_000
"""Judged cells below which every fold has a model fitted without it."""


def fit_calibrated(
    X: Floats,
    labels: Floats,
    ridge: float | Floats = RIDGE,
    prior: Logistic | None = None,
    nugget: Ints | None = None,
) -> Logistic:
    """Learn from the judged rows, more than 0 is yes; the threshold has the best F on them.

    With `nugget`, the nugget of each row, every nugget has a difficulty while it learns.
    """
    judged = ~np.isnan(labels)
    yes, whose = labels[judged] > 0, None if nugget is None else nugget[judged]
    logistic = fit_logistic(X[judged], yes, ridge, prior, whose)
    threshold = best_f_threshold(logistic.probabilities(X[judged]), yes)
    return replace(logistic, threshold=threshold)


def fit_unjudged(
    X: Floats, seen: Floats, unjudged: Unjudged, prior: Logistic | None = None
) -> tuple[Logistic, Floats]:
    """Fit a model for questions that nobody was judged on; also return its rows of all cells.

    A first model, of the descriptions and the place, tells which responses are listened to for the
    echoes; the second one has these too. What was not seen is NaN.
    """
    nugget = unjudged.pool.cell_nugget
    ridges = np.append(np.full(X.shape[1], RIDGE), PLACE_RIDGE)
    placed = np.column_stack([X, unjudged.place])
    first = fit_calibrated(placed, seen, ridges, prior, nugget)
    both = np.column_stack([placed, unjudged.echoes(first.probabilities(placed))])
    return fit_calibrated(both, seen, np.append(ridges, RIDGE), prior, nugget), both


def fit_with_likeness(
    X: Floats, seen: Floats, fold: Ints, likeness: Likeness, prior: Logistic | None = None
) -> tuple[Logistic, Floats]:
    """Fit a model where judgements of other folds on the same questions are evidence, too.

    The prior is for the model of the description's evidence. The other one has no difficulties: the
    rate of a nugget tells them.
    """
    plain = fit_calibrated(X, seen, RIDGE, prior, likeness.pool.cell_nugget)
    columns = likeness.columns(seen, plain.probabilities(X), fold)
    both = np.concatenate([X, columns], axis=1)
    return fit_calibrated(both, seen, LIKENESS_RIDGE), both


@dataclass(frozen=True, eq=False)
class Validated:
    """Guesses about cells whose folds the classifier has not seen."""

    probabilities: Floats
    """Known judgements are 0 or 1."""
    carried: Flags
    known: Flags
    agreement: AssessorAgreement
    """The scores of runs are expected values: means of probabilities."""


def cross_validate(
    cells: Folded,
    X: Floats,
    further: Likeness | Unjudged | None = None,
    prior: Logistic | None = None,
    progress: Progress = silent,
) -> Validated:
    """Leave each fold out, learn from the others, and ask about it.

    With likeness as further evidence the judgements of other folds on the same questions count;
    identical responses in other folds then decide. Without it, folds are whole questions.
    """
    further = further or Unjudged(cells.pool)
    chances, limits = np.zeros(len(cells.labels)), np.zeros(len(cells.labels))
    total = len(np.unique(cells.fold))
    for done, (k, train) in enumerate(cells.training()):
        seen = np.where(train, cells.labels, np.nan)
        if isinstance(further, Likeness):
            model, columns = fit_with_likeness(X, seen, cells.fold, further, prior)
        else:
            model, columns = fit_unjudged(X, seen, further, prior)
        test = cells.fold == k
        chances[test], limits[test] = model.probabilities(columns[test]), model.threshold
        progress(done + 1, total, "cross-validating")
    carried, known = chances > limits, np.zeros(len(limits), dtype=np.bool_)
    if isinstance(further, Likeness):
        known = cells.known
        chances, carried = (np.where(known, cells.elsewhere > 0, x) for x in (chances, carried))
    return Validated(chances, carried, known, cells.agreement(carried, chances))


class HeldOut(NamedTuple):
    """Guesses about every cell without its fold."""

    model: Logistic
    """Of all judged cells."""
    probabilities: Floats
    """Judgements of identical responses in other folds are 0 or 1."""
    carried: Flags


def hold_out(cells: Folded, X: Floats, near: Likeness, progress: Progress = silent) -> HeldOut:
    """Ask about every cell a model without its fold."""
    model, columns = fit_with_likeness(X, cells.labels, cells.fold, near)
    if cells.judged.sum() < EXACT:
        exact = cross_validate(cells, X, near, progress=progress)
        return HeldOut(model, exact.probabilities, exact.carried)
    found = without_folds(model, columns, cells, LIKENESS_RIDGE, progress)
    return HeldOut(model, *(np.where(cells.known, cells.elsewhere > 0, x) for x in found[1:]))


def without_folds(
    model: Logistic, X: Floats, cells: Folded, ridge: float, progress: Progress = silent
) -> HeldOut:
    """Return the guesses about all rows, each by the model without its fold, with its ridge."""
    fold, start = cells.fold, np.append(model.intercept, model.weights)
    judged = np.flatnonzero(cells.judged)
    Z, yes, whose = model.columns(X), cells.labels[judged] > 0, fold[judged]
    p, shares = sigmoid(product(Z[judged], start)), {}
    for k in np.unique(whose).tolist():  # what its cells add to gradient and curvature
        mine = whose == k
        rows, chance = Z[judged[mine]], p[mine]
        curvature = product((rows * (chance * (1 - chance))[:, None]).T, rows)
        shares[k] = product(rows.T, yes[mine] - chance), curvature
    hold = np.diag([1e-6, *[ridge] * X.shape[1]])
    whole = hold + sum(curvature for _, curvature in shares.values())
    found = HeldOut(model, np.zeros(len(X)), np.zeros(len(X), dtype=np.bool_))
    kinds = np.unique(fold).tolist()
    for done, k in enumerate(kinds, 1):
        w, limit, mine = start, model.threshold, np.flatnonzero(fold == k)
        if k in shares:
            gradient, curvature = shares[k]
            w = start - solve_symmetric(whole - curvature, gradient)
            others = whose != k
            limit = best_f_threshold(sigmoid(product(Z[judged[others]], w)), yes[others])
        found.probabilities[mine] = sigmoid(product(Z[mine], w))
        found.carried[mine] = found.probabilities[mine] > limit
        progress(done, len(kinds), "leaving out")
    return found
