"""Guesses of the paper's classifier: its scores, and thresholds learned from judgements.

Which threshold model is used - one threshold, one for each question or nugget, error rates of each
nugget - is chosen by marginal likelihood unless it is named. Cells of a fold are decided by
thresholds that were learned, and a model that was chosen, without the fold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, quoted
from karat.nuggets.guess.paper.classifier import Classifier, score, trained_score
from karat.nuggets.guess.paper.thresholds import (
    BEST_F,
    NOISY,
    Model,
    Thresholds,
    compare_models,
    fit_thresholds,
    given_threshold,
    likeliest_model,
)
from karat.nuggets.guess.pool import Floats, Ints, Pool
from karat.nuggets.scores.idf_sources import IdfSource
from karat.progress import Progress, silent

AUTO = "auto"
THRESHOLD_MODELS = (AUTO, *NOISY, BEST_F)
"""What may be asked for."""


@dataclass(frozen=True)
class Paper:
    """How the paper's classifier scores and decides."""

    classifier: Classifier = field(default_factory=Classifier)
    thresholds: str = AUTO
    """One of `THRESHOLD_MODELS`."""
    threshold: float | None = None
    """A threshold for all cells, in place of learned ones."""
    on_responses: bool = False
    """Responses that were judged to carry a nugget describe it, too."""

    def __post_init__(self) -> None:
        if self.thresholds not in THRESHOLD_MODELS:
            names = ", ".join(THRESHOLD_MODELS)
            raise InputError(f"threshold model {quoted(self.thresholds)}: expected one of {names}")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise InputError(f"threshold={self.threshold}: expected a finite number")

    def __str__(self) -> str:
        return f"{self.classifier}{' on-responses' * self.on_responses}"

    def scores(
        self,
        pool: Pool,
        labels: Floats,
        fold: Ints,
        idf: IdfSource | None = None,
        progress: Progress = silent,
    ) -> Floats:
        """The scores of all cells; trained on responses, each by those of other folds."""
        rule, source = self.classifier, idf or IdfSource()
        weigh = source.of_classifier(pool, rule) if rule.weight == "idf" else None
        if self.on_responses:
            return trained_score(pool, rule, labels, fold, weigh, progress)
        return score(pool, rule, weigh, progress=progress)

    def fit(
        self, pool: Pool, scores: Floats, labels: Floats, models: Sequence[Model] = ()
    ) -> Thresholds:
        """Thresholds from the judged cells (the others are NaN).

        `models` is what `compare_models` says of them, if it was asked already.
        """
        if self.threshold is not None:
            return given_threshold(scores, labels, self.threshold)
        model = self.thresholds
        if model == AUTO:
            model = likeliest_model(models or compare_models(pool, scores, labels))
        return fit_thresholds(pool, scores, labels, model)

    def leave_out(
        self, pool: Pool, scores: Floats, labels: Floats, fold: Ints, progress: Progress = silent
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """P(yes | score) and the decision of every cell, by thresholds learned without its fold."""
        chances, carried = np.zeros(len(labels)), np.zeros(len(labels), dtype=np.bool_)
        kinds = np.unique(fold).tolist()
        for done, k in enumerate(kinds, 1):
            mine = fold == k
            fitted = self.fit(pool, scores, np.where(mine, np.nan, labels))
            chances[mine] = fitted.chances(pool, scores)[mine]
            carried[mine] = fitted.carried(pool, scores)[mine]
            progress(done, len(kinds), "learning thresholds")
        return chances, carried


class PaperGuesses(NamedTuple):
    """What the paper's classifier says of all cells, of judged ones without their fold."""

    probabilities: Floats
    carried: NDArray[np.bool_]
    thresholds: Thresholds
    """Of all judged cells."""
    models: tuple[Model, ...]
    """log10 P(Data|Model), where thresholds were learned."""


def guess(
    pool: Pool,
    labels: Floats,
    fold: Ints,
    how: Paper | None = None,
    idf: IdfSource | None = None,
    progress: Progress = silent,
) -> PaperGuesses:
    """Decide on all cells; what no fold with judgements has is decided by all of them."""
    how = how or Paper()
    judged = ~np.isnan(labels)
    if not judged.any() and how.threshold is None:
        raise InputError(
            "the paper's classifier learns its thresholds from judgements, and there are none: "
            "give some (--judgements), or a threshold (--threshold), or use the calibrated "
            "classifier"
        )
    scores = how.scores(pool, labels, fold, idf, progress)
    models = compare_models(pool, scores, labels) if how.threshold is None else []
    whole = how.fit(pool, scores, labels, models)
    if len(np.unique(fold[judged])) > 1:
        chances, carried = how.leave_out(pool, scores, labels, fold, progress)
    else:
        chances, carried = whole.chances(pool, scores), whole.carried(pool, scores)
    return PaperGuesses(chances, carried, whole, tuple(models))
