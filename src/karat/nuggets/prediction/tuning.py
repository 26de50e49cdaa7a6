"""Doc."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.nuggets.prediction.paper import Paper
from karat.nuggets.prediction.pool import (
    AssessorAgreement,
    FoldedCells,
    Pool,
    folds,
)
from karat.nuggets.prediction.thresholds import (
    NOISY,
    ThresholdModel,
    best_f_threshold,
    compare_models,
    likeliest_model,
)
from karat.nuggets.scores.words import IdfSource
from karat.progress import Progress, silent


@dataclass(frozen=True, eq=False)
class Trial:
    """One setting: how it agrees with assessors, and the threshold it would be used with."""

    classifier: Paper
    agreement: AssessorAgreement
    threshold: float
    carried: Flags
    """The decision about every cell, made while its fold was left out."""
    known: Flags
    """The cells that were known from identical responses in other folds."""


class ModelTrial(NamedTuple):
    """A threshold model: how probable the data are, and how it agrees with assessors."""

    model: ThresholdModel
    agreement: AssessorAgreement | None
    """None where there is nothing to try: the coin knows no responses."""
    carried: Flags | None = None
    """The decision about every cell, made while its fold was left out."""


@dataclass(frozen=True, eq=False)
class Tuning:
    """All settings and, for the best of them, all threshold models."""

    by: str
    """The unit that was left out: system, institution or question."""
    cells: FoldedCells
    idf: IdfSource
    trials: tuple[Trial, ...]
    """The paper's classifier at its 24 settings."""
    models: tuple[ModelTrial, ...]
    """Threshold models for the best setting: log10 P(Data|Model), and what they are worth."""
    left_out: tuple[tuple[str, ...], ...]
    """The runs of each institution, where those were left out."""

    @property
    def best(self) -> Trial:
        """The best of the paper's settings by F."""
        return best_trial(self.trials)

    @property
    def how(self) -> Paper:
        """The best setting."""
        return self.best.classifier


def settings(base: Paper | None = None) -> list[Paper]:
    """Return the 24 settings; what the paper did not vary is that of `base`.

    The stemmer and the stop list that are tried are those of `base`, or English ones.
    """
    base = base or Paper()
    stem = base.stem if base.stem != "none" else "english"
    stop = base.stop if base.stop != "none" else "en"
    choices = product(("none", stem), (1, 2, 3), ("idf", "count"), ("none", stop))
    return [replace(base, stem=s, n=n, weight=w, stop=t) for s, n, w, t in choices]


def tune_all(
    pool: Pool,
    labels: Floats,
    by: str = "system",
    paper: Paper | None = None,
    progress: Progress = silent,
    official: Floats | None = None,
) -> Tuning:
    """Cross-validate the 24 settings, and all threshold models of the best of them.

    `by` is what is left out: systems, institutions or questions. `labels` are the assessors' values
    of all cells, NaN where there is none; `official` as in `Folded`. What the settings share is
    that of `paper`.
    """
    paper = paper or Paper()
    if paper.responses and by == "question":
        raise InputError(
            "training on judged responses while questions are left out: of a question that is left "
            "out no response is known; leave out systems or institutions"
        )
    cells, source = FoldedCells(pool, labels, folds(pool, by), official), paper.source
    trials = tune(cells, settings(paper), source, progress)
    models = try_models(cells, by, best_trial(trials).classifier, source, progress)
    houses: dict[str, list[str]] = {}
    for run, house in zip(pool.runs, pool.houses, strict=True):
        houses.setdefault(house, []).append(run)
    left_out = tuple(map(tuple, houses.values())) if by == "institution" else ()
    return Tuning(by, cells, source, tuple(trials), tuple(models), left_out)


def tune(
    cells: FoldedCells,
    classifiers: Sequence[Paper],
    source: IdfSource | None = None,
    progress: Progress = silent,
) -> list[Trial]:
    """Cross-validate settings, in their order."""
    trials, source = [], source or IdfSource()
    for k, classifier in enumerate(classifiers):
        trials.append(trial(cells, classifier, source))
        progress(k + 1, len(classifiers), "tuning")
    return trials


def trial(cells: FoldedCells, classifier: Paper, source: IdfSource | None = None) -> Trial:
    """Cross-validate a setting, each fold at the threshold with the best F on the others."""
    arguments = cells.pool, cells.labels, cells.fold, source
    guesses = fold_guesses(cells, classifier.each_fold(*arguments))
    carried = np.where(cells.known, cells.elsewhere > 0, guesses)
    scores = classifier.scores(*arguments)
    threshold = best_f_threshold(scores[cells.judged], cells.labels[cells.judged] > 0)
    return Trial(classifier, cells.agreement(carried), threshold, carried, cells.known)


def fold_guesses(cells: FoldedCells, scored: Iterable[tuple[int, Floats]]) -> Flags:
    """Return which scores of each fold exceed the threshold with the best F on the others."""
    carried = np.zeros(len(cells.labels), dtype=np.bool_)
    for k, scores in scored:
        in_fold = cells.fold == k
        train = cells.judged & ~in_fold
        carried[in_fold] = scores[in_fold] > best_f_threshold(
            scores[train], cells.labels[train] > 0
        )
    return carried


def try_models(
    cells: FoldedCells,
    by: str,
    paper: Paper,
    source: IdfSource | None = None,
    progress: Progress = silent,
) -> list[ModelTrial]:
    """Return the paper's Table 4 for one setting, each model cross-validated.

    The scores of runs are expected ones. Of a question that is left out no nugget has a threshold
    of its own: only the global model is tried there.
    """
    scores = paper.scores(cells.pool, cells.labels, cells.fold, source)
    trials, known_yes = [], cells.elsewhere > 0
    for done, model in enumerate(compare_models(cells.pool, scores, cells.labels), 1):
        agreed = decisions = None
        if model.name in (NOISY if by != "question" else NOISY[:1]):
            rule = replace(paper, threshold_model=model.name)
            chances, carried = rule.leave_out(cells.pool, cells.labels, cells.fold, source)
            decisions = np.where(cells.known, known_yes, carried)
            agreed = cells.agreement(decisions, np.where(cells.known, known_yes, chances))
        trials.append(ModelTrial(model, agreed, decisions))
        progress(done, 1 + len(NOISY), "trying threshold models")
    return trials


def likeliest(tuned: Tuning) -> ModelTrial:
    """Return the threshold model that the data favour."""
    name = likeliest_model([trial.model for trial in tuned.models])
    return next(trial for trial in tuned.models if trial.model.name == name)


class PaperChoice(NamedTuple):
    """The paper's classifier as it is compared with others: its decisions and their agreement."""

    agreement: AssessorAgreement
    carried: Flags
    model: str | None
    """The threshold model; None for one threshold with the best F."""


def paper_choice(tuned: Tuning) -> PaperChoice:
    """Return the best setting, with the likeliest threshold model if that has a better F."""
    best, (model, agreement, carried) = tuned.best, likeliest(tuned)
    if agreement is None or carried is None or agreement.f <= best.agreement.f:
        return PaperChoice(best.agreement, best.carried, None)
    return PaperChoice(agreement, carried, model.name)


def best_trial(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the best F; of equals the first."""
    return max(trials, key=lambda trial: trial.agreement.f)
