"""`evaluate_nuggets` and `tune_nuggets`: classifiers and baselines against assessors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.nuggets.formats.loading import as_nuggets
from karat.nuggets.prediction.evaluation import Evaluation, evaluate, judged_pool, official_labels
from karat.nuggets.prediction.official_scores import (
    JudgementAgreement,
    RunF,
    ScoreAgreement,
    Swap,
    TauPoint,
)
from karat.nuggets.prediction.paper import Paper
from karat.nuggets.prediction.pool import AssessorAgreement, with_institutions
from karat.nuggets.prediction.predictions import parse_classifier
from karat.nuggets.prediction.thresholds import MODELS, ThresholdModel, likeliest_model
from karat.nuggets.prediction.tuning import ModelTrial, Trial, Tuning, tune_all
from karat.nuggets.results.notes import about_idf
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.significance import UNDECIDED, interval_verdict


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


class ModelRow(NamedTuple):
    """A threshold model: log10 P(Data|Model), and its agreement if it was tried."""

    model: str
    name: str
    log10: float
    likeliest: bool
    precision: float | None = None
    recall: float | None = None
    f: float | None = None
    tau_b: float | None = None
    r_squared: float | None = None
    rmse: float | None = None


def setting_rows(trials: Sequence[Trial]) -> tuple[SettingRow, ...]:
    """Return the settings of the paper's classifier, the best F first."""
    return tuple(
        SettingRow(rule.stem, rule.n, rule.weight, rule.stop, *trial.agreement, trial.threshold)
        for trial in sorted(trials, key=lambda trial: -trial.agreement.f)
        for rule in [trial.classifier]
    )


def model_rows(
    models: Sequence[ThresholdModel], agreements: Sequence[AssessorAgreement | None] = ()
) -> tuple[ModelRow, ...]:
    """Return the paper's Table 4, with the agreement of each model that was tried."""
    if not models:
        return ()
    first, agreed = likeliest_model(models), agreements or [None] * len(models)
    return tuple(
        ModelRow(
            model.name, MODELS[model.name], model.log10, model.name == first, *(agreement or ())
        )
        for model, agreement in zip(models, agreed, strict=True)
    )


_BY = {
    "system": "one run was left out at a time. Judgements of other runs on the same nuggets are "
    "known, so errors are lower than on new questions, and runs that resemble others rank better",
    "institution": "all runs of one institution were left out together",
    "question": "one question was left out at a time, so nothing was known of its nuggets",
}
_ALONE = "guesses alone"
_ON_F = (
    "Agreement with assessors: Pourpre is compared with official F, all other methods with A, the "
    "mean share of nuggets.",
    "Official F: all methods are compared with official F. A swap is a pair of runs in another "
    "order than the official one; its size is the difference of their official scores. Thresholds "
    "in hindsight were chosen by tau_b on this very set, as in the paper: those rows are "
    "optimistic.",
)


class EvaluationRow(NamedTuple):
    """The agreement of a classifier or a baseline; baselines and `alone` have some numbers only."""

    what: str
    precision: float | None = None
    recall: float | None = None
    f: float | None = None
    tau_b: float | None = None
    r_squared: float | None = None
    rmse: float | None = None


class Contest(NamedTuple):
    """The calibrated classifier against the paper's, by F of decisions.

    The paper's has its best setting, and the likeliest threshold model if that has a better F.
    """

    calibrated: float
    paper: float
    difference: float
    """Calibrated minus paper."""
    low: float | None
    """Ends of the 95% interval of the difference over questions; None of one question."""
    high: float | None
    calibrated_tau: float = math.nan
    """Rank correlation of the scores of runs with those of assessors, tau_b."""
    paper_tau: float = math.nan
    """That of the same form of the paper's classifier as `paper`."""
    paper_model: str | None = None
    """The threshold model of that form; None for one threshold with the best F."""

    @property
    def decided(self) -> bool:
        """True if the interval excludes zero."""
        if self.low is None or self.high is None:
            return False
        return interval_verdict((self.low, self.high)) != UNDECIDED


class RunPoint(NamedTuple):
    """A run's official A, and what the calibrated classifier expects, with its interval."""

    run: str
    official: float
    guessed: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False, repr=False)
class _CrossValidated(Result):
    """Parts that evaluation and tuning share."""

    name: str
    """The name of the set."""
    settings: Mapping[str, Any]
    """Everything that was asked for."""
    found: Any

    signature = ""

    @cached_property
    def models(self) -> tuple[ModelRow, ...]:
        """The threshold models for the best setting."""
        tried: Sequence[ModelTrial] = self.found.models
        return model_rows([trial.model for trial in tried], [trial.agreement for trial in tried])

    @property
    def _judgements(self) -> list[str]:
        corrected = (
            "Official judgements are corrected: a response carries a nugget if an identical "
            "response of any run was judged to."
        )
        strict = "Partial support counts as no support (strict)."
        return [corrected] * self.settings["corrected"] + [strict] * self.settings["strict"]


@dataclass(frozen=True, eq=False, repr=False)
class NuggetTuning(_CrossValidated):
    """The 24 settings of the paper's classifier and, for the best, all threshold models."""

    found: Tuning

    @cached_property
    def rows(self) -> tuple[SettingRow, ...]:
        """The settings, the best F first."""
        return setting_rows(self.found.trials)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how numbers were made."""
        tuning, best_setting, no_own = self.found, self.found.how.shown_whole, ""
        if tuning.by == "question":
            no_own = "; nuggets of a question that is left out have only the global threshold"
        several = "; ".join(", ".join(house) for house in tuning.left_out if len(house) > 1)
        houses = f"{len(tuning.left_out)} institutions{'; together: ' * bool(several)}{several}."
        return (
            f"Cross-validated: {_BY[tuning.by]}.",
            *([houses] if tuning.left_out else []),
            "Each setting has one threshold, with the best F on the other folds; runs are scored "
            f"from decisions. Threshold models are those of {best_setting}; runs are scored from "
            f"probabilities{no_own}.",
            *self._judgements,
            about_idf(tuning.idf),
        )


@dataclass(frozen=True, eq=False, repr=False)
class NuggetEvaluation(_CrossValidated):
    """Agreement of classifiers and baselines with the assessors."""

    found: Evaluation

    @cached_property
    def rows(self) -> tuple[EvaluationRow, ...]:
        """Classifiers first, then baselines, which decide nothing about single nuggets."""
        evaluation, (model, likely, _) = self.found, self.found.likeliest
        names = "calibrated classifier", "paper's classifier"
        model_name = f"the same, threshold model {model.name} (likeliest)"
        return (
            EvaluationRow(names[0], *evaluation.calibrated.agreement),
            EvaluationRow(
                f"{names[1]}, {evaluation.best.classifier.shown}", *evaluation.best.agreement
            ),
            *([EvaluationRow(model_name, *likely)] if likely else []),
            *(
                EvaluationRow(f"{name}, {_ALONE}", *agreed[:3])
                for name, agreed in zip(names, evaluation.alone or (), strict=False)
            ),
            *(EvaluationRow(b.name, None, None, None, *b[1:]) for b in evaluation.baselines),
        )

    @property
    def contest(self) -> Contest:
        """The calibrated classifier against the paper's."""
        calibrated, choice = self.found.calibrated.agreement, self.found.paper_choice
        return Contest(
            calibrated=calibrated.f,
            paper=choice.agreement.f,
            difference=calibrated.f - choice.agreement.f,
            low=self.found.lead.low,
            high=self.found.lead.high,
            calibrated_tau=calibrated.tau_b,
            paper_tau=choice.agreement.tau_b,
            paper_model=choice.model,
        )

    @cached_property
    def trials(self) -> tuple[SettingRow, ...]:
        """The 24 settings of the paper's classifier, the best F first."""
        return setting_rows(self.found.trials)

    @property
    def runs(self) -> tuple[RunPoint, ...]:
        """Official and guessed scores of runs."""
        evaluation = self.found
        return tuple(
            RunPoint(
                tag,
                official,
                evaluation.guessed[tag],
                *(evaluation.intervals[tag] or (None,) * 3)[1:],
            )
            for tag, official in evaluation.official.items()
        )

    @property
    def scores(self) -> tuple[ScoreAgreement, ...]:
        """All ways on one score, official F: the paper's Tables 2 and 3, with rank swaps."""
        return tuple(sorted(self.found.on_official.scores, key=lambda row: row.average == "macro"))

    @property
    def swaps(self) -> tuple[Swap, ...]:
        """The pairs of runs behind the numbers of rank swaps."""
        return self.found.on_official.swaps

    @property
    def judgements(self) -> tuple[JudgementAgreement, ...]:
        """Decisions against assessors', with intervals over questions: the paper's Table 5."""
        return self.found.on_official.judgements

    @property
    def run_scores(self) -> tuple[RunF, ...]:
        """Official and guessed F of runs, with intervals: the paper's Figure 5."""
        return self.found.on_official.runs

    @property
    def curve(self) -> tuple[TauPoint, ...]:
        """tau_b against the threshold, stemmed and not, n = 1, 2, 3: the paper's Figure 6."""
        return self.found.on_official.curve

    @property
    def outside(self) -> tuple[int, int] | None:
        """Numbers of runs with official scores outside their intervals, and of runs with those."""
        return runs_outside(self.runs)

    @property
    def f_outside(self) -> tuple[int, int] | None:
        """The numbers of `outside` for official F, micro."""
        return runs_outside([row for row in self.run_scores if row.average == "micro"])

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how numbers were made."""
        evaluation = self.found
        known_note = [
            f"{100 * evaluation.known:.1f}% of the pairs are known: an identical response was "
            f"judged in another fold, and that judgement counts. Rows of {_ALONE} are about the "
            "other pairs."
        ]
        return (
            f"Cross-validated: {_BY[evaluation.by]}.",
            f"Chosen by F in this cross-validation: {winners(evaluation)}.",
            *(known_note if evaluation.alone is not None else []),
            *_ON_F,
            *self._judgements,
            about_idf(evaluation.idf),
        )


def runs_outside(rows: Sequence[RunPoint | RunF]) -> tuple[int, int] | None:
    """Return how many official scores lie outside their intervals, and how many have one."""
    ends = [(row.low, row.official, row.high) for row in rows]
    intervals = [
        (low, score, high) for low, score, high in ends if low is not None and high is not None
    ]
    missed = sum(not low <= score <= high for low, score, high in intervals)
    return (missed, len(intervals)) if intervals else None


def winners(evaluation: Evaluation) -> str:
    """Return which classifier has the best F, or which share it."""
    model, likely, _ = evaluation.likeliest
    methods = {"best of 24 settings": evaluation.best.agreement.f}
    if likely is not None:
        methods[f"threshold model {model.name}"] = likely.f
    calibrated, paper = evaluation.calibrated.agreement.f, max(methods.values())
    if calibrated > paper:
        return "the calibrated classifier"
    best = " or ".join(method for method, f in methods.items() if f == paper)
    paper_text = f"the paper's classifier, {best}"
    return (
        paper_text
        if paper > calibrated
        else f"none; the calibrated one and {paper_text}, have the same F"
    )


def evaluate_nuggets(
    nuggets: NuggetSet | GivenPath,
    by: str = "system",
    beta: float = 3.0,
    *,
    classifier: Paper | str = "paper",
    institution: str | None = None,
    corrected: bool = False,
    strict: bool = False,
    progress: Progress = silent,
) -> NuggetEvaluation:
    """Compare classifiers, Pourpre and ROUGE with the assessors of a judged set.

    Classifiers are cross-validated.

    Args:
        nuggets: a judged set, or its name or path.
        by: unit that is left out: `system`, `institution` or `question`.
        beta: weight of recall in F.
        classifier: settings that the 24 classifiers share, such as `paper:stem=porter`.
        institution: regular expression that finds the institution in the tag of a run.
        corrected: apply each judgement to identical responses of all runs.
        strict: count partial support as no support.
        progress: function that is called with the progress.
    """
    nuggets, paper = as_nuggets(nuggets, progress), _paper(classifier)
    housed = with_institutions(nuggets, institution)
    settings = {"leave_out": by, "beta": beta, "classifier": str(paper), "institution": institution}
    labels = {"corrected": corrected, "strict": strict}
    evaluation = evaluate(housed, by, beta, progress, paper=paper, **labels)
    return NuggetEvaluation(nuggets.name, {**settings, **labels}, evaluation)


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

    Args:
        nuggets, by, classifier, institution, corrected, strict: as for `evaluate_nuggets`.
        progress: function that is called with the progress.
    """
    nuggets = as_nuggets(nuggets, progress)
    pool, labels = judged_pool(with_institutions(nuggets, institution), strict=strict)
    official = official_labels(pool, labels, nuggets.judgements, corrected, strict)
    paper = _paper(classifier)
    tuning = tune_all(pool, labels, by, paper, progress, official)
    settings = {"leave_out": by, "classifier": str(paper), "institution": institution}
    return NuggetTuning(
        nuggets.name, {**settings, "corrected": corrected, "strict": strict}, tuning
    )


def _paper(classifier: Paper | str) -> Paper:
    parsed = parse_classifier(classifier)
    if isinstance(parsed, Paper):
        return parsed
    raise InputError(f"classifier={classifier}: expected paper, with settings that trials share")
