"""Labels of models as evidence: what a model says moves a guess as far as people bear it out.

A model's label is never known. On pairs of response and nugget that a person judged too, a logistic
regression learns what its labels are worth beside the classifier's probability p:

    logit P(carried) = a + b logit p + sum over models of c (2 label - 1)

with b held to 1 and c to 0 by a ridge, so that few such pairs change little. A model counts if at
least 20 of its labels stand beside a person's, 5 of them carried and 5 not; else how wrong it is is
unknown, and it is not listened to. A pair that no model labelled stays as it was guessed.

How wrong scores are with such help is measured as it is without (`measured.py`), each group of runs
left out in turn. If a share h of what is guessed of a run has help, and a share H of the pairs that
errors were measured on, its errors are w times those with help and 1 - w times those without, with
w = h / H, at most 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.guess.calibrated.logistic import Logistic, logit
from karat.nuggets.guess.calibrated.model import Calibrated, fit_calibrated
from karat.nuggets.guess.pool import Floats, Ints, Pool
from karat.nuggets.intervals.intervals import Errors
from karat.nuggets.intervals.measured_errors import AllErrors, Measured
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.runs import normal
from karat.stats.judges.kappa import Kappa, cohen_kappa

FEWEST = 20
"""Labels of a model beside people's judgements, from which its error can be told."""
FEWEST_OF_A_KIND = 5
"""Carried ones among them, and ones that are not."""
_HOLD_P, _HOLD_LABELS = 10.0, 1.0  # ridges: of the weight of logit p to 1, of labels to 0
_AS_GUESSED = Logistic(np.zeros(1), np.ones(1), np.ones(1), 0.0)

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ModelLabels:
    """The labels of models for the cells of a pool."""

    names: tuple[str, ...]
    values: Floats
    """Cells x models; NaN where a model said nothing."""


def model_labels(pool: Pool, judgements: Judgements) -> ModelLabels | None:
    """The labels of models, known by the words of responses; None if there are none."""
    if not judgements.of_models:
        return None
    said: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for m, found in enumerate(judgements.of_models.values()):
        for (question, nugget, text), value in found.items():
            said.setdefault((question, text), {}).setdefault(nugget, {})[m] = value
    values = np.full((int(pool.cell_starts[-1]), len(judgements.of_models)), np.nan)
    first = 0
    for q, text in zip(pool.question.tolist(), pool.texts, strict=True):
        question = pool.questions[q]
        mine = said.get((question.id, normal(text)), {})
        for j, nugget in enumerate(question.nuggets) if mine else ():
            for m, value in mine.get(nugget.id, {}).items():
                values[first + j, m] = value
        first += len(question.nuggets)
    return ModelLabels(tuple(judgements.of_models), values)


class ModelJudge(NamedTuple):
    """A model beside people: both say yes or no to a pair."""

    name: str
    labels: int
    agreement: Kappa
    used: bool
    """Whether guesses listen to it."""


class Heard(NamedTuple):
    """Guesses with the help of models."""

    probabilities: Floats
    carried: Bools
    helped: Bools
    """The cells whose guess a model helped."""
    models: tuple[ModelJudge, ...]
    measured: Measured | None
    """Judged runs, guessed without themselves and with help; None if errors are not measured."""
    share: float
    """H: the share of judged cells there that had help."""

    def errors(self, plain: AllErrors, with_help: AllErrors, share: float) -> AllErrors:
        """Those of a run of whose guesses a share has help."""
        w = min(1.0, share / self.share) if self.share else 0.0
        return AllErrors(*(_between(a, b, w) for a, b in zip(plain, with_help, strict=True)))


def _between(plain: Errors | None, with_help: Errors | None, w: float) -> Errors | None:
    if plain is None or with_help is None:
        return plain
    bias, between, within = (
        (1 - w) * a + w * b for a, b in zip(plain[:3], with_help[:3], strict=True)
    )
    return Errors(bias, between, within, plain.runs)


class Guessed(NamedTuple):
    """Cells as a classifier guessed them: judged ones, if errors are measured, without themselves.

    A probability of 0 or 1 is known from an identical response.
    """

    probabilities: Floats
    carried: Bools
    labels: Floats
    fold: Ints


def listen(
    models: ModelLabels, seen: Guessed, cells: Ints, whole: Guessed, measured: Measured | None
) -> Heard:
    """Let models help the guesses about all cells; `seen` are those learned from, at `cells`."""
    judges = tuple(_judge(models, m, seen, cells) for m in range(len(models.names)))
    used = [m for m, judge in enumerate(judges) if judge.used]
    values = models.values[:, used]
    fitted = _fit(seen, values[cells])
    chances, carried = whole.probabilities.copy(), whole.carried.copy()
    helped = np.zeros(len(chances), dtype=np.bool_)
    if fitted is None:
        return Heard(chances, carried, helped, judges, None, 0.0)
    helped = _helpable(whole.probabilities, values)
    chances[helped] = fitted.probabilities(_columns(chances[helped], values[helped]))
    carried[helped] = chances[helped] > fitted.threshold
    if measured is None:
        return Heard(chances, carried, helped, judges, None, 0.0)
    left_out, some = _without_folds(seen, values[cells])
    told, share = replace(measured, probabilities=left_out), float(some[_judged(seen)].mean())
    return Heard(chances, carried, helped, judges, told, share)


def _judge(models: ModelLabels, m: int, seen: Guessed, cells: Ints) -> ModelJudge:
    values = models.values[:, m]
    mine = np.where(np.isnan(values[cells]), np.nan, values[cells] > 0)
    people = np.where(np.isnan(seen.labels), np.nan, seen.labels > 0)
    beside = people[~np.isnan(mine) & ~np.isnan(people)]
    enough = len(beside) >= FEWEST and FEWEST_OF_A_KIND <= beside.sum() <= (
        len(beside) - FEWEST_OF_A_KIND
    )
    labels = int((~np.isnan(values)).sum())
    return ModelJudge(models.names[m], labels, cohen_kappa(people, mine), bool(enough))


def _judged(seen: Guessed) -> Bools:
    return ~np.isnan(seen.labels)


def _helpable(chances: Floats, values: Floats) -> Bools:
    """Guessed, and labelled by a model."""
    found: Bools = (~np.isnan(values)).any(axis=1) & (chances > 0) & (chances < 1)
    return found


def _columns(chances: Floats, values: Floats) -> Floats:
    return np.column_stack([logit(chances), np.nan_to_num(2 * values - 1)])


def _fit(seen: Guessed, values: Floats, out: Bools | None = None) -> Calibrated | None:
    """Fit the worth of labels on cells that people judged; None if these are too few."""
    rows = _helpable(seen.probabilities, values) & _judged(seen)
    if out is not None:
        rows &= ~out
    labels = seen.labels[rows]
    if len(labels) < FEWEST or min((labels > 0).sum(), (labels == 0).sum()) < FEWEST_OF_A_KIND:
        return None
    ridge = np.append(_HOLD_P, np.full(values.shape[1], _HOLD_LABELS))
    return fit_calibrated(
        _columns(seen.probabilities[rows], values[rows]), labels, ridge, _AS_GUESSED
    )


def _without_folds(seen: Guessed, values: Floats) -> tuple[Floats, Bools]:
    """Probabilities, those of each fold helped by what the others tell; and which had help."""
    chances, helped = seen.probabilities.copy(), np.zeros(len(seen.labels), dtype=np.bool_)
    candidates = _helpable(chances, values)
    for k in np.unique(seen.fold[candidates]).tolist():
        fitted = _fit(seen, values, seen.fold == k)
        mine = candidates & (seen.fold == k)
        if fitted is not None:
            helped |= mine
            chances[mine] = fitted.probabilities(_columns(chances[mine], values[mine]))
    return chances, helped
