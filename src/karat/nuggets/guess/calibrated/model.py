"""A calibrated classifier: the probability that a response carries a nugget.

Logistic regression over the evidence of `evidence.py`, each nugget with a difficulty of its own
(`mixed.py`); where other runs were judged on the same questions, over that of `likeness.py` too,
and where nobody was, over that of `unjudged.py`. It learns from whatever judgements there are;
where there are none, `PRIOR` serves. `cross_validate` gives every cell a probability from a model
that has not seen its fold, and `choose` takes this classifier or the paper's, whichever agreed
better there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.guess.agreement import Agreement, agreement
from karat.nuggets.guess.calibrated.evidence import NAMES
from karat.nuggets.guess.calibrated.likeness import Likeness
from karat.nuggets.guess.calibrated.logistic import RIDGE, Logistic, fit_logistic
from karat.nuggets.guess.calibrated.mixed_logistic import fit_mixed
from karat.nuggets.guess.calibrated.unjudged_questions import Unjudged
from karat.nuggets.guess.folds import known_elsewhere
from karat.nuggets.guess.paper.thresholds import best_f_threshold
from karat.nuggets.guess.paper.tuning import Trial, best, training
from karat.nuggets.guess.pool import Floats, Ints, Pool
from karat.progress import Progress, silent


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Probabilities, and the threshold with the best F on what it learned from."""

    logistic: Logistic
    threshold: float

    def probabilities(self, X: Floats) -> Floats:
        """P(carries) of every row of evidence."""
        return self.logistic.probabilities(X)


_PRIOR = {"informative-near": 1.6, "informative-whole": 1.6, "paper-2": 0.35, "characters": 2.0}

PRIOR = Calibrated(
    Logistic(
        np.zeros(len(NAMES)),
        np.ones(len(NAMES)),
        np.array([_PRIOR.get(name, 0.0) for name in NAMES]),
        -2.9,
    ),
    0.39,
)
"""What to start from without judgements: four columns, rounded weights of a fit to REALSumm and
TREC RAG 2024 together. On these two sets it has seen the answers; what it is worth elsewhere is
measured by learning on one of them and testing on the other."""

PRIOR_STRICT = replace(PRIOR, logistic=replace(PRIOR.logistic, intercept=-3.0))
"""The model of full support: the intercept of both sets together falls by 0.07, rounded up. Only
TREC RAG 2024 has partial support, a twelfth of what is carried there; alone it falls by 0.2."""

LIKENESS_RIDGE = 10.0
"""Of the model with likeness, whose columns hold on any question: it needs less holding back."""

PLACE_RIDGE = 1.0
"""Of the place in the key: what it is worth differs from key to key, and is free to."""


def fit_calibrated(
    X: Floats,
    labels: Floats,
    ridge: float | Floats = RIDGE,
    prior: Logistic | None = None,
    nugget: Ints | None = None,
) -> Calibrated:
    """Learn from the judged rows; more than 0 is yes.

    With `nugget`, the nugget of each row, every nugget has a difficulty while it learns.
    """
    judged = ~np.isnan(labels)
    yes = labels[judged] > 0
    if nugget is None:
        logistic = fit_logistic(X[judged], yes, ridge, prior)
    else:
        logistic = fit_mixed(X[judged], yes, nugget[judged], ridge, prior)
    return Calibrated(logistic, best_f_threshold(logistic.probabilities(X[judged]), yes))


@dataclass(frozen=True, eq=False)
class Validated:
    """What a classifier says of cells whose folds it has not seen."""

    probabilities: Floats
    """Known judgements are 0 or 1."""
    carried: NDArray[np.bool_]
    known: NDArray[np.bool_]
    agreement: Agreement
    """The scores of runs are expected values: means of probabilities."""


def cross_validate(
    pool: Pool,
    X: Floats,
    labels: Floats,
    fold: Ints,
    likeness: Likeness | None = None,
    ridge: float = RIDGE,
    prior: Logistic | None = None,
    progress: Progress = silent,
    unjudged: Unjudged | None = None,
    official: Floats | None = None,
) -> Validated:
    """Leave each fold out, learn from the others, and ask about it.

    With `likeness` the judgements of other folds on the same questions are evidence too; identical
    responses in other folds then decide. Without it, folds are whole questions. The agreement is
    with `official` judgements, if those are others than the labels.
    """
    further = likeness or unjudged or Unjudged(pool)
    chances, limits = np.zeros(len(labels)), np.zeros(len(labels))
    total = len(np.unique(fold))
    for done, (k, train) in enumerate(training(labels, fold)):
        seen = np.where(train, labels, np.nan)
        model, columns = _fit(X, seen, fold, further, ridge, prior)
        test = fold == k
        chances[test], limits[test] = model.probabilities(columns[test]), model.threshold
        progress(done + 1, total, "cross-validating")
    known = known_elsewhere(pool, labels, fold) if likeness else np.full(len(labels), np.nan)
    told = ~np.isnan(known)
    chances = np.where(told, known > 0, chances)
    carried = np.where(told, known > 0, chances > limits)
    judged = labels if official is None else official
    return Validated(chances, carried, told, agreement(pool, carried, judged, chances))


def _fit(
    X: Floats,
    seen: Floats,
    fold: Ints,
    further: Likeness | Unjudged,
    ridge: float,
    prior: Logistic | None,
) -> tuple[Calibrated, Floats]:
    """A model of what was seen (the rest is NaN), and the rows to ask it with, of all cells."""
    if isinstance(further, Likeness):
        return fit_with_likeness(X, seen, fold, further, ridge, prior)
    return fit_unjudged(X, seen, further, ridge, prior)


def fit_unjudged(
    X: Floats,
    seen: Floats,
    unjudged: Unjudged,
    ridge: float = RIDGE,
    prior: Logistic | None = None,
) -> tuple[Calibrated, Floats]:
    """A model for questions that nobody was judged on, from judgements on others.

    A first model, of the descriptions and the place, tells which responses are listened to for the
    echoes; the second one has these too.
    """
    nugget = unjudged.pool.cell_nugget
    ridges = np.append(np.full(X.shape[1], ridge), PLACE_RIDGE)
    placed = np.column_stack([X, unjudged.place])
    first = fit_calibrated(placed, seen, ridges, prior, nugget)
    both = np.column_stack([placed, unjudged.echoes(first.probabilities(placed))])
    return fit_calibrated(both, seen, np.append(ridges, ridge), prior, nugget), both


def fit_with_likeness(
    X: Floats,
    seen: Floats,
    fold: Ints,
    likeness: Likeness,
    ridge: float = RIDGE,
    prior: Logistic | None = None,
) -> tuple[Calibrated, Floats]:
    """The same where judgements of other folds on the same questions are evidence, too.

    The ridge and the prior are for the model of the description's evidence. The other one has no
    difficulties: the rate of a nugget tells them.
    """
    plain = fit_calibrated(X, seen, ridge, prior, likeness.pool.cell_nugget)
    columns = likeness.columns(seen, plain.probabilities(X), fold)
    both = np.concatenate([X, columns], axis=1)
    return fit_calibrated(both, seen, LIKENESS_RIDGE), both


def choose(paper: Sequence[Trial], calibrated: Validated) -> Trial | Validated:
    """The calibrated classifier if its F is better than that of the paper's best setting."""
    first = best(paper)
    return calibrated if calibrated.agreement.f > first.agreement.f else first
