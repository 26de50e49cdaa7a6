"""Tuning: the paper's 24 settings, each cross-validated with a threshold from the training folds.

Stemming or not, n-grams up to 1, 2 or 3, idf or counts, stop words in or out. Scores do not depend
on folds, so every setting is scored once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.agreement import Agreement, agreement
from karat.nuggets.classifier import Classifier, Idf, pooled_idf, score
from karat.nuggets.folds import folds, known_elsewhere
from karat.nuggets.pool import Floats, Ints, Pool
from karat.nuggets.thresholds import best_f_threshold
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


def settings(
    base: Classifier | None = None, stem: str = "english", stop: str = "en"
) -> list[Classifier]:
    """The 24 settings; what the paper did not vary is that of `base`."""
    base = base or Classifier()
    choices = product(("none", stem), (1, 2, 3), ("idf", "count"), ("none", stop))
    return [replace(base, stem=s, n=n, weight=w, stop=t) for s, n, w, t in choices]


def tune(
    pool: Pool,
    labels: Floats,
    by: str = "system",
    classifiers: Sequence[Classifier] | None = None,
    idf: Idf | None = None,
    progress: Progress = silent,
    *,
    corpus: Sequence[str] | None = None,
) -> list[Trial]:
    """Cross-validate settings, leaving out systems, institutions or questions; in their order.

    `labels` are the assessors' values of all cells, NaN where there is none; more than 0 is yes.
    The idf of words is given, or counted in a corpus as each setting cuts and stems it; else it is
    that of the responses.
    """
    asked = settings() if classifiers is None else list(classifiers)
    fold = folds(pool, by)
    known = known_elsewhere(pool, labels, fold)
    found = []
    for k, classifier in enumerate(asked):
        weigh = idf if corpus is None else pooled_idf(corpus, classifier)
        scores = score(pool, classifier, weigh)
        found.append(trial(pool, classifier, scores, labels, fold, known))
        progress(k + 1, len(asked), "tuning")
    return found


def trial(
    pool: Pool, classifier: Classifier, scores: Floats, labels: Floats, fold: Ints, known: Floats
) -> Trial:
    """A setting whose scores are known; `known` are the values that other folds tell."""
    guesses = scores > fold_thresholds(scores, labels, fold)
    told = ~np.isnan(known)
    carried = np.where(told, known > 0, guesses)
    judged = ~np.isnan(labels)
    threshold = best_f_threshold(scores[judged], labels[judged] > 0)
    return Trial(classifier, agreement(pool, carried, labels), threshold, carried, told)


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
