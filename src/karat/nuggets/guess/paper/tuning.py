"""Tuning: the paper's 24 settings, each cross-validated with a threshold from the training folds.

Stemming or not, n-grams up to 1, 2 or 3, idf or counts, stop words in or out. Scores do not depend
on folds, so every setting is scored once - but for training on judged responses, where a response
is scored without those of its own fold. For one setting, all threshold models are cross-validated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.nuggets.guess.agreement import Agreement, agreement
from karat.nuggets.guess.folds import folds, known_elsewhere
from karat.nuggets.guess.paper.classifier import Classifier
from karat.nuggets.guess.paper.paper import Paper
from karat.nuggets.guess.paper.thresholds import NOISY, Model, best_f_threshold, compare_models
from karat.nuggets.guess.pool import Floats, Ints, Pool
from karat.nuggets.scores.idf_sources import IdfSource
from karat.progress import Progress, silent


@dataclass(frozen=True, eq=False)
class Trial:
    """One setting: how it agrees with assessors, and the threshold it would now be used with."""

    classifier: Classifier
    agreement: Agreement
    threshold: float
    carried: NDArray[np.bool_]
    """The decision about every cell, made while its fold was left out."""
    known: NDArray[np.bool_]
    """The cells that were known from identical responses in other folds."""


def settings(base: Classifier | None = None) -> list[Classifier]:
    """The 24 settings; what the paper did not vary is that of `base`.

    The stemmer and the stop list that are tried are those of `base`, or English ones.
    """
    base = base or Classifier()
    stem, stop = (
        given if given != "none" else usual
        for given, usual in ((base.stem, "english"), (base.stop, "en"))
    )
    choices = product(("none", stem), (1, 2, 3), ("idf", "count"), ("none", stop))
    return [replace(base, stem=s, n=n, weight=w, stop=t) for s, n, w, t in choices]


def tune(
    pool: Pool,
    labels: Floats,
    by: str = "system",
    classifiers: Sequence[Classifier] | None = None,
    idf: IdfSource | None = None,
    progress: Progress = silent,
    *,
    on_responses: bool = False,
    official: Floats | None = None,
) -> list[Trial]:
    """Cross-validate settings, leaving out systems, institutions or questions; in their order.

    `labels` are the assessors' values of all cells, NaN where there is none; more than 0 is yes.
    The agreement is with `official` judgements, if those are others: labels that were corrected by
    those of a fold that is left out may be compared with, but not learned from.
    """
    asked = settings() if classifiers is None else list(classifiers)
    fold, source = tuning_folds(pool, by, on_responses), idf or IdfSource()
    known = known_elsewhere(pool, labels, fold)
    found = []
    for k, classifier in enumerate(asked):
        scores = Paper(classifier, on_responses=on_responses).scores(pool, labels, fold, source)
        found.append(trial(pool, classifier, scores, labels, fold, known, official))
        progress(k + 1, len(asked), "tuning")
    return found


@dataclass(frozen=True, eq=False)
class Tuning:
    """All settings and, for the best of them, all threshold models."""

    by: str
    how: Paper
    """The best setting."""
    idf: IdfSource
    trials: tuple[Trial, ...]
    models: tuple[ModelTrial, ...]
    left_out: tuple[tuple[str, ...], ...]
    """The runs of each institution, where those were left out."""


def tune_all(
    pool: Pool,
    labels: Floats,
    by: str = "system",
    paper: Paper | None = None,
    idf: IdfSource | None = None,
    progress: Progress = silent,
    official: Floats | None = None,
) -> Tuning:
    """`tune`, then `try_models` of the best setting; what the settings share is that of `paper`."""
    paper, source = paper or Paper(), idf or IdfSource()
    asked, on_responses = settings(paper.classifier), paper.on_responses
    trials = tune(
        pool, labels, by, asked, source, progress, on_responses=on_responses, official=official
    )
    how = replace(paper, classifier=best(trials).classifier)
    models = try_models(pool, labels, by, how, source, progress, official)
    houses = houses_of(pool) if by == "institution" else ()
    return Tuning(by, how, source, tuple(trials), tuple(models), houses)


def houses_of(pool: Pool) -> tuple[tuple[str, ...], ...]:
    """The runs of each institution."""
    found: dict[str, list[str]] = {}
    for run, house in zip(pool.runs, pool.houses, strict=True):
        found.setdefault(house, []).append(run)
    return tuple(map(tuple, found.values()))


def tuning_folds(pool: Pool, by: str, on_responses: bool) -> Ints:
    """The fold of every cell; training on responses needs some that are not left out."""
    if on_responses and by == "question":
        raise InputError(
            "training on judged responses while questions are left out: of a question that is left "
            "out no response is known; leave out systems or institutions"
        )
    return folds(pool, by)


class ModelTrial(NamedTuple):
    """A threshold model: how probable the data are, and how it agrees with assessors."""

    model: Model
    agreement: Agreement | None
    """None where there is nothing to try: the coin knows no responses."""


def try_models(
    pool: Pool,
    labels: Floats,
    by: str,
    how: Paper,
    idf: IdfSource | None = None,
    progress: Progress = silent,
    official: Floats | None = None,
) -> list[ModelTrial]:
    """The paper's Table 4 for one setting, each model cross-validated; scores are expected ones.

    Of a question that is left out no nugget has a threshold of its own: only the global model is
    tried there.
    """
    fold = tuning_folds(pool, by, how.on_responses)
    known = known_elsewhere(pool, labels, fold)
    scores = how.scores(pool, labels, fold, idf)
    found = []
    for done, model in enumerate(compare_models(pool, scores, labels), 1):
        tried = NOISY if by != "question" else NOISY[:1]
        rule = replace(how, thresholds=model.name) if model.name in tried else None
        judged = labels if official is None else official
        agreed = _left_out(pool, labels, fold, known, scores, rule, judged) if rule else None
        found.append(ModelTrial(model, agreed))
        progress(done, 1 + len(NOISY), "trying threshold models")
    return found


def _left_out(
    pool: Pool,
    labels: Floats,
    fold: Ints,
    known: Floats,
    scores: Floats,
    how: Paper,
    official: Floats,
) -> Agreement:
    told = ~np.isnan(known)
    chances, carried = how.leave_out(pool, scores, labels, fold)
    carried = np.where(told, known > 0, carried)
    return agreement(pool, carried, official, np.where(told, known > 0, chances))


def trial(
    pool: Pool,
    classifier: Classifier,
    scores: Floats,
    labels: Floats,
    fold: Ints,
    known: Floats,
    official: Floats | None = None,
) -> Trial:
    """A setting whose scores are known; `known` are the values that other folds tell."""
    guesses = scores > fold_thresholds(scores, labels, fold)
    told = ~np.isnan(known)
    carried = np.where(told, known > 0, guesses)
    judged = ~np.isnan(labels)
    threshold = best_f_threshold(scores[judged], labels[judged] > 0)
    agreed = agreement(pool, carried, labels if official is None else official)
    return Trial(classifier, agreed, threshold, carried, told)


def fold_thresholds(scores: Floats, labels: Floats, fold: Ints) -> Floats:
    """For every cell the threshold with the best F on the judged cells of the other folds."""
    found = np.empty(len(scores))
    for k, train in training(labels, fold):
        found[fold == k] = best_f_threshold(scores[train], labels[train] > 0)
    return found


def training(labels: Floats, fold: Ints) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Every fold, and the judged cells of the others."""
    judged = ~np.isnan(labels)
    for k in np.unique(fold).tolist():
        yield k, judged & (fold != k)


def best(trials: Sequence[Trial]) -> Trial:
    """The trial with the best F; of equals the first."""
    return max(trials, key=lambda trial: trial.agreement.f)
