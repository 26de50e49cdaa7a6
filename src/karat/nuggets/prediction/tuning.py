"""Cross-validation of the paper's classifier: its 24 settings and its threshold models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.nuggets.prediction.paper import Paper
from karat.nuggets.prediction.pool import (
    AssessorAgreement,
    FoldedCells,
    Pool,
    assign_runs,
    corrected_labels,
    folds,
    make_pool,
    run_labels,
    strict_labels,
    with_institutions,
)
from karat.nuggets.prediction.thresholds import (
    NOISY,
    ThresholdModel,
    best_f_threshold,
    compare_models,
    likeliest_model,
)
from karat.nuggets.scores.official import NuggetStats, Official, pool_stats
from karat.nuggets.scores.words import IdfSource
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent


@dataclass(frozen=True, eq=False)
class Trial:
    """A setting, its agreement with assessors, and its threshold on all judged cells."""

    classifier: Paper
    agreement: AssessorAgreement
    threshold: float
    carried: Flags  # decision on every cell, learned without its fold


class ModelTrial(NamedTuple):
    """A threshold model, its marginal likelihood, and its agreement with assessors."""

    model: ThresholdModel
    agreement: AssessorAgreement | None  # None for models that were not cross-validated
    carried: Flags | None = None  # decision on every cell, learned without its fold


@dataclass(frozen=True, eq=False)
class Tuning:
    """All settings and, for the best of them, all threshold models."""

    by: str  # unit that was left out: system, institution or question
    cells: FoldedCells
    idf: IdfSource
    trials: tuple[Trial, ...]  # the paper's classifier at its 24 settings
    models: tuple[ModelTrial, ...]
    """Threshold models of the best setting: log10 P(Data|Model), and their agreement."""
    left_out: tuple[tuple[str, ...], ...]  # runs of each institution, if those were left out

    @property
    def best(self) -> Trial:
        """The best of the paper's settings by F."""
        return best_trial(self.trials)

    @cached_property
    def default(self) -> Trial:
        """The paper's own setting: no stemming, bigrams, idf, all words."""
        rules = [trial.classifier for trial in self.trials]
        kinds = [(rule.stem, rule.n, rule.weight, rule.stop) for rule in rules]
        return self.trials[kinds.index(("none", 2, "idf", "none"))]

    @property
    def likeliest(self) -> ModelTrial:
        """The threshold model with the highest marginal likelihood."""
        name = likeliest_model([trial.model for trial in self.models])
        return next(trial for trial in self.models if trial.model.name == name)

    @property
    def paper_choice(self) -> tuple[AssessorAgreement, Flags, str | None]:
        """Agreement, decisions and threshold model of the paper's classifier in comparisons.

        The best setting, with the likeliest threshold model if that has a better F; otherwise with
        one threshold, and None as the model.
        """
        best, (model, agreement, carried) = self.best, self.likeliest
        if agreement is None or carried is None or agreement.f <= best.agreement.f:
            return best.agreement, best.carried, None
        return agreement, carried, model.name

    def scores(self, classifier: Paper) -> Floats:
        """Return the scores of all cells by a classifier, each without its fold's judgements."""
        cells = self.cells
        return classifier.scores(cells.pool, cells.labels, cells.fold, self.idf)

    def stats(self, values: Floats, official: Official) -> NuggetStats:
        """Return runs x questions from values of judged cells; the others count as not carried."""
        judged = np.where(np.isnan(self.cells.official_labels), 0.0, values)
        return pool_stats(self.cells.pool, judged, official)


def judged_pool(nuggets: NuggetSet, *, strict: bool = False) -> tuple[Pool, Floats]:
    """Return the responses of judged runs, and the judgement of each pair; NaN without one.

    With `strict`, partial support counts as no support.
    """
    nuggets = with_institutions(nuggets)
    if not nuggets.runs or not nuggets.judgements.deciding:
        raise InputError(f"{nuggets.name}: expected runs and judgements of them by people")
    judgements = assign_runs(nuggets.judgements, nuggets.runs)
    judged = {row.run for row in judgements.deciding}
    pool = make_pool(nuggets.key, [run for tag, run in nuggets.runs.items() if tag in judged])
    labels = run_labels(pool, judgements)
    labels = strict_labels(labels) if strict else labels
    is_judged = ~np.isnan(labels)
    if not (labels[is_judged] > 0).any() or not (labels[is_judged] == 0).any():
        raise InputError(f"{nuggets.name}: expected judgements of both kinds, carried and not")
    if len(np.unique(pool.cell_run[is_judged])) < 2:
        raise InputError(f"{nuggets.name}: expected at least two judged runs")
    return pool, labels


def settings(base: Paper | None = None) -> list[Paper]:
    """Return the 24 settings; other settings are taken from `base`.

    The stemmer and the stop list come from `base`, too; by default they are English.
    """
    base = base or Paper()
    stem = base.stem if base.stem != "none" else "english"
    stop = base.stop if base.stop != "none" else "en"
    choices = product(("none", stem), (1, 2, 3), ("idf", "count"), ("none", stop))
    return [replace(base, stem=s, n=n, weight=w, stop=t) for s, n, w, t in choices]


def tune_all(
    nuggets: NuggetSet,
    by: str = "system",
    paper: Paper | None = None,
    progress: Progress = silent,
    *,
    corrected: bool = False,
    strict: bool = False,
) -> Tuning:
    """Cross-validate the 24 settings, and all threshold models of the best of them.

    `by` is the unit that is left out: system, institution or question. `paper` has the settings
    that all 24 share. Classifiers learn from uncorrected judgements; with `corrected`, they are
    compared with corrected ones, which reveal judgements of the run that is left out. With
    `strict`, partial support counts as no support.
    """
    pool, labels = judged_pool(nuggets, strict=strict)
    official = corrected_labels(pool, nuggets.judgements) if corrected else labels
    paper = paper or Paper()
    if paper.responses and by == "question":
        raise InputError(
            "training on judged responses while questions are left out: of a question that is left "
            "out no response is known; leave out systems or institutions"
        )
    official = strict_labels(official) if strict else official
    cells, source = FoldedCells(pool, labels, folds(pool, by), official), paper.source
    trials = tune(cells, settings(paper), source, progress)
    models = try_models(cells, by, best_trial(trials).classifier, source, progress)
    institutions: dict[str, list[str]] = {}
    for run, institution in zip(pool.runs, pool.institutions, strict=True):
        institutions.setdefault(institution, []).append(run)
    left_out = tuple(map(tuple, institutions.values())) if by == "institution" else ()
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
    carried = cells.or_known(fold_guesses(cells, classifier.each_fold(*arguments)))
    scores = classifier.scores(*arguments)
    threshold = best_f_threshold(scores[cells.is_judged], cells.labels[cells.is_judged] > 0)
    return Trial(classifier, cells.agreement(carried), threshold, carried)


def fold_guesses(cells: FoldedCells, scored: Iterable[tuple[int, Floats]]) -> Flags:
    """Return which scores of each fold exceed the threshold with the best F on the others."""
    carried = np.zeros(len(cells.labels), dtype=np.bool_)
    for k, scores in scored:
        in_fold = cells.fold == k
        train = cells.is_judged & ~in_fold
        threshold = best_f_threshold(scores[train], cells.labels[train] > 0)
        carried[in_fold] = scores[in_fold] > threshold
    return carried


def try_models(
    cells: FoldedCells,
    by: str,
    paper: Paper,
    source: IdfSource | None = None,
    progress: Progress = silent,
) -> list[ModelTrial]:
    """Return the paper's Table 4 for one setting, each model cross-validated.

    The scores of runs are expected values. If questions are left out, their nuggets cannot have
    their own thresholds, so only the global model is tried.
    """
    scores = paper.scores(cells.pool, cells.labels, cells.fold, source)
    trials = []
    for done, model in enumerate(compare_models(cells.pool, scores, cells.labels), 1):
        agreement = carried = None
        if model.name in (NOISY if by != "question" else NOISY[:1]):
            rule = replace(paper, threshold_model=model.name)
            chances, decisions = rule.leave_out(cells.pool, cells.labels, cells.fold, source)
            carried = cells.or_known(decisions)
            agreement = cells.agreement(carried, cells.or_known(chances))
        trials.append(ModelTrial(model, agreement, carried))
        progress(done, 1 + len(NOISY), "trying threshold models")
    return trials


def best_trial(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the best F; the first of equals."""
    return max(trials, key=lambda trial: trial.agreement.f)
