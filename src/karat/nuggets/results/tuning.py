"""`tune_nuggets`: cross-validation of the paper's classifier, its settings and threshold models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.nuggets.formats.loading import as_nuggets
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
    with_institutions,
)
from karat.nuggets.prediction.predictions import parse_classifier
from karat.nuggets.prediction.thresholds import (
    NOISY,
    ModelRow,
    ThresholdModel,
    best_f_threshold,
    compare_models,
    likeliest_model,
    model_rows,
)
from karat.nuggets.results.notes import CORRECTED_NOTE, STRICT_NOTE, about_idf
from karat.nuggets.scores.official import NuggetStats, OfficialSettings, pool_stats
from karat.nuggets.scores.words import IdfSource
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.results import Result

_LEFT_OUT = {
    "system": "one run was left out at a time. Judgements of other runs on the same nuggets are "
    "known, so errors are lower than on new questions, and runs that resemble others rank better",
    "institution": "all runs of one institution were left out together",
    "question": "one question was left out at a time, so nothing was known of its nuggets",
}


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
        return classifier.scores(self.cells, self.idf)

    def stats(self, values: Floats, official_settings: OfficialSettings) -> NuggetStats:
        """Return runs x questions from values of judged cells; the others count as not carried."""
        judged = np.where(np.isnan(self.cells.official_labels), 0.0, values)
        return pool_stats(self.cells.pool, judged, official_settings)


def judged_pool(nuggets: NuggetSet, *, strict: bool = False) -> tuple[Pool, Floats]:
    """Return the responses of judged runs, and the judgement of each pair; NaN without one.

    With `strict`, partial support counts as no support.
    """
    if not nuggets.runs or not nuggets.judgements.deciding:
        raise InputError(f"{nuggets.name}: expected runs and judgements of them by people")
    judgements = assign_runs(nuggets.judgements, nuggets.runs)
    judged = {row.run for row in judgements.deciding}
    pool = make_pool(nuggets.key, [run for tag, run in nuggets.runs.items() if tag in judged])
    labels = run_labels(pool, judgements, strict=strict)
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


def trial(cells: FoldedCells, classifier: Paper, source: IdfSource | None = None) -> Trial:
    """Cross-validate a setting, each fold at the threshold with the best F on the others."""
    carried = cells.or_known(fold_guesses(cells, classifier.each_fold(cells, source)))
    scores = classifier.scores(cells, source)
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
    scores = paper.scores(cells, source)
    trials = []
    for done, model in enumerate(compare_models(cells.pool, scores, cells.labels), 1):
        agreement = carried = None
        if model.name in (NOISY if by != "question" else NOISY[:1]):
            rule = replace(paper, threshold_model=model.name)
            chances, decisions = rule.leave_out(cells, source)
            carried = cells.or_known(decisions)
            agreement = cells.agreement(carried, cells.or_known(chances))
        trials.append(ModelTrial(model, agreement, carried))
        progress(done, 1 + len(NOISY), "trying threshold models")
    return trials


def best_trial(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the best F; the first of equals."""
    return max(trials, key=lambda trial: trial.agreement.f)


# ----------------------------------------------------------------------------------- results


class SettingRow(NamedTuple):
    """A setting of the paper's classifier, cross-validated."""

    stem: str
    n: int
    weight: str
    stop: str
    precision: float
    recall: float
    f: float
    tau_b: float
    r_squared: float
    rmse: float
    threshold: float


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidated(Result):
    """The 24 settings of the paper's classifier and, for the best, all threshold models."""

    name: str  # the name of the set
    settings: Mapping[str, Any]
    tuning: Tuning

    signature = ""

    @cached_property
    def trials(self) -> tuple[SettingRow, ...]:
        """The 24 settings of the paper's classifier, the best F first."""
        return tuple(
            SettingRow(rule.stem, rule.n, rule.weight, rule.stop, *trial.agreement, trial.threshold)
            for trial in sorted(self.tuning.trials, key=lambda trial: -trial.agreement.f)
            for rule in [trial.classifier]
        )

    @cached_property
    def models(self) -> tuple[ModelRow, ...]:
        """The threshold models for the best setting."""
        tried = self.tuning.models
        return model_rows([trial.model for trial in tried], [trial.agreement for trial in tried])

    def _notes(self, *sentences: str) -> tuple[str, ...]:
        return (
            f"Cross-validated: {_LEFT_OUT[self.tuning.by]}.",
            *sentences,
            *[CORRECTED_NOTE.format("Official judgements")] * self.settings["corrected"],
            *[STRICT_NOTE] * self.settings["strict"],
            about_idf(self.tuning.idf),
        )


@dataclass(frozen=True, eq=False, repr=False)
class NuggetTuning(CrossValidated):
    """The 24 settings of the paper's classifier and, for the best, all threshold models."""

    @property
    def rows(self) -> tuple[SettingRow, ...]:
        """The settings, the best F first."""
        return self.trials

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how the numbers were computed."""
        tuning, no_own = self.tuning, ""
        if tuning.by == "question":
            no_own = "; nuggets of a question that is left out have only the global threshold"
        several = "; ".join(", ".join(runs) for runs in tuning.left_out if len(runs) > 1)
        count = f"{len(tuning.left_out)} institutions{'; together: ' * bool(several)}{several}."
        return self._notes(
            *([count] if tuning.left_out else []),
            "Each setting has one threshold, with the best F on the other folds; runs are scored "
            f"from decisions. Threshold models are those of {tuning.best.classifier.full_summary}; "
            f"runs are scored from probabilities{no_own}.",
        )


def tune_nuggets(
    nuggets: NuggetSet | GivenPath,
    by: str = "system",
    *,
    classifier: Paper | str = "paper",
    institution: str | None = None,
    corrected: bool = False,
    strict: bool = False,
    progress: Progress = silent,
) -> NuggetTuning:
    """Cross-validate the 24 settings of the paper's classifier, and the threshold models.

    Classifiers learn from uncorrected judgements; with `corrected`, they are compared with
    corrected ones, which reveal judgements of the run that is left out.

    Args:
        nuggets, by, classifier, institution, corrected, strict: as for `evaluate_nuggets`.
        progress: function that is called with the progress.
    """
    paper = parse_classifier(classifier)
    if not isinstance(paper, Paper):
        expected = "paper, with settings that trials share"
        raise InputError(f"classifier={classifier}: expected {expected}")
    nuggets = with_institutions(as_nuggets(nuggets, progress), institution)
    pool, labels = judged_pool(nuggets, strict=strict)
    official_labels = labels
    if corrected:
        official_labels = corrected_labels(pool, nuggets.judgements, strict=strict)
    if paper.responses and by == "question":
        raise InputError(
            "training on judged responses while questions are left out: of a question that is left "
            "out no response is known; leave out systems or institutions"
        )
    cells, source = FoldedCells(pool, labels, folds(pool, by), official_labels), paper.source
    trials = []
    for done, rule in enumerate(rules := settings(paper), 1):
        trials.append(trial(cells, rule, source))
        progress(done, len(rules), "tuning")
    models = try_models(cells, by, best_trial(trials).classifier, source, progress)
    institutions: dict[str, list[str]] = {}
    for run, name in zip(pool.runs, pool.institutions, strict=True):
        institutions.setdefault(name, []).append(run)
    left_out = tuple(map(tuple, institutions.values())) if by == "institution" else ()
    options = {"leave_out": by, "classifier": str(paper), "institution": institution}
    return NuggetTuning(
        name=nuggets.name,
        settings={**options, "corrected": corrected, "strict": strict},
        tuning=Tuning(by, cells, source, tuple(trials), tuple(models), left_out),
    )
