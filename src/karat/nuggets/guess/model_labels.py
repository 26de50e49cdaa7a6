"""Labels of models as evidence: what a model says moves a guess as far as people bear it out.

A model's label is never known. On pairs of response and nugget that a person judged too, a logistic
regression learns what its labels are worth beside the classifier's probability p:

    logit P(carried) = a + b logit p + sum over models of c (2 label - 1)

with b held to 1 and c to 0 by a ridge, so that few such pairs change little. A model counts if at
least 20 of its labels stand beside a person's, 5 of them carried and 5 not; else how wrong it is is
unknown, and it is not listened to. A pair that no model labelled stays as it was guessed.

How wrong scores are with such help is measured as it is without (`measured_errors.py`), each group
of runs left out in turn. If a share h of what is guessed of a run has help, and a share H of the
pairs that errors were measured on, its errors are w times those with help and 1 - w times those
without, with w = h / H, at most 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.nuggets.guess.calibrated.batches import Asked
from karat.nuggets.guess.calibrated.classifier import fit_calibrated
from karat.nuggets.guess.calibrated.logistic import Logistic, logit
from karat.nuggets.guess.folds import Folded
from karat.nuggets.guess.pool import Pool
from karat.nuggets.intervals.intervals import AllErrors, Errors
from karat.nuggets.intervals.measured_errors import Measured
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.runs import normal
from karat.stats.judges import Kappa, cohen_kappa

FEWEST = 20
"""Labels of a model beside people's judgements, from which its error can be told."""
FEWEST_OF_A_KIND = 5
"""Carried ones among them, and ones that are not."""
_HOLD_P, _HOLD_LABELS = 10.0, 1.0  # ridges: of the weight of logit p to 1, of labels to 0
_AS_GUESSED = Logistic(np.zeros(1), np.ones(1), np.ones(1), 0.0)


class ModelJudge(NamedTuple):
    """A model beside people: both say yes or no to a pair."""

    name: str
    labels: int
    agreement: Kappa
    used: bool
    """True if guesses listen to it."""


class Heard(NamedTuple):
    """Guesses with the help of models."""

    probabilities: Floats
    carried: Flags
    helped: Flags
    """The cells whose guess a model helped."""
    models: tuple[ModelJudge, ...]
    measured: Measured | None = None
    """Judged runs, guessed without themselves and with help; None if errors are not measured."""
    share: float = 0.0
    """H: the share of judged cells there that had help."""

    def errors(self, plain: AllErrors, with_help: AllErrors, share: float) -> AllErrors:
        """Return those of a run of whose guesses a share has help."""
        w = min(1.0, share / self.share) if self.share else 0.0
        return AllErrors(*(_between(a, b, w) for a, b in zip(plain, with_help, strict=True)))


def _between(plain: Errors | None, with_help: Errors | None, w: float) -> Errors | None:
    if plain is None or with_help is None:
        return plain
    both = zip(plain[:3], with_help[:3], strict=True)
    bias, between, within = ((1 - w) * a + w * b for a, b in both)
    return Errors(bias, between, within, plain.runs)


def model_values(pool: Pool, judgements: Judgements) -> Floats:
    """Return cells x models: labels, known by the words of responses; NaN where there is none."""
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
    return values


def listen(
    asked: Asked, judgements: Judgements, guesses: tuple[Floats, Flags], measured: Measured | None
) -> Heard:
    """Let models help the guesses about all cells: probabilities and decisions."""
    seen, cells, values = asked.seen, asked.cells, model_values(asked.pool, judgements)
    labels = zip(judgements.of_models, values.T, strict=True)
    judges = tuple(_judge(*one, seen, cells) for one in labels)
    values = values[:, [judge.used for judge in judges]]
    chances, carried = (some.copy() for some in guesses)
    # Judged cells as they were guessed: without themselves, if errors are measured.
    told = measured.probabilities if measured else chances[cells]
    fitted = _fit(seen.labels, told, values[cells])
    if fitted is None:
        return Heard(chances, carried, np.zeros(len(chances), np.bool_), judges)
    helped = _helpable(chances, values)
    chances[helped] = fitted.probabilities(_columns(chances[helped], values[helped]))
    carried[helped] = chances[helped] > fitted.threshold
    heard = Heard(chances, carried, helped, judges)
    if measured is None:
        return heard
    left_out, some = told.copy(), np.zeros(len(told), dtype=np.bool_)
    labelled, candidates = values[cells], _helpable(told, values[cells])
    for k in np.unique(seen.fold[candidates]).tolist():  # each fold helped by what the others tell
        mine = candidates & (seen.fold == k)
        fitted = _fit(np.where(seen.fold == k, np.nan, seen.labels), told, labelled)
        if fitted is not None:
            some |= mine
            left_out[mine] = fitted.probabilities(_columns(told[mine], labelled[mine]))
    again, share = replace(measured, probabilities=left_out), float(some[seen.judged].mean())
    return heard._replace(measured=again, share=share)


def _judge(name: str, values: Floats, seen: Folded, cells: Ints) -> ModelJudge:
    mine, people = (np.where(np.isnan(x), np.nan, x > 0) for x in (values[cells], seen.labels))
    beside = people[~np.isnan(mine) & seen.judged]
    labels = int((~np.isnan(values)).sum())
    return ModelJudge(name, labels, cohen_kappa(people, mine), _enough(beside))


def _enough(labels: Floats) -> bool:
    """Return whether people's labels tell how wrong a model is."""
    kinds = int((labels > 0).sum()), int((labels == 0).sum())
    return len(labels) >= FEWEST and min(kinds) >= FEWEST_OF_A_KIND


def _helpable(chances: Floats, values: Floats) -> Flags:
    """Return which cells are guessed, not known from an identical response, and were labelled."""
    return np.asarray((~np.isnan(values)).any(axis=1) & (chances > 0) & (chances < 1))


def _columns(chances: Floats, values: Floats) -> Floats:
    return np.column_stack([logit(chances), np.nan_to_num(2 * values - 1)])


def _fit(labels: Floats, chances: Floats, values: Floats) -> Logistic | None:
    """Fit the worth of models' labels on cells that people judged; None if these are too few."""
    rows = _helpable(chances, values) & ~np.isnan(labels)
    if not _enough(labels[rows]):
        return None
    ridge = np.append(_HOLD_P, np.full(values.shape[1], _HOLD_LABELS))
    return fit_calibrated(_columns(chances[rows], values[rows]), labels[rows], ridge, _AS_GUESSED)
