"""`evaluate_nuggets` and `tune_nuggets`: classifiers and baselines against assessors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from karat.arrays import Floats, np
from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.nuggets.formats.loading import as_nuggets
from karat.nuggets.prediction.agreement import (
    JudgementAgreement,
    ScoreAgreement,
    ScoringMethod,
    Swap,
    agreement_of_scores,
    f_difference,
)
from karat.nuggets.prediction.calibrated import CrossValidation, cross_validate
from karat.nuggets.prediction.evaluation import (
    GuessedRun,
    OfficialComparison,
    TauPoint,
    guessed_runs,
    official_scores,
    pourpre_methods,
    rouge_methods,
    share_curves,
)
from karat.nuggets.prediction.evidence import evidence
from karat.nuggets.prediction.intervals import intervals_of_runs
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.paper import Paper
from karat.nuggets.prediction.pool import AssessorAgreement, assessor_agreement, with_institutions
from karat.nuggets.prediction.predictions import parse_classifier
from karat.nuggets.prediction.thresholds import MODELS, ThresholdModel, likeliest_model
from karat.nuggets.prediction.tuning import Trial, Tuning, tune_all
from karat.nuggets.results.notes import CORRECTED_NOTE, STRICT_NOTE, about_idf
from karat.nuggets.scores.official import Official, RunScore
from karat.nuggets.scores.pourpre import Pourpre
from karat.nuggets.scores.words import ENGLISH
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.correlation import r_squared, rmse, tau_b
from karat.stats.significance import UNDECIDED, interval_verdict

_LEFT_OUT = {
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


class EvaluationRow(NamedTuple):
    """Agreement of a classifier or a baseline; some methods have only some of the numbers."""

    method: str
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
    difference: float  # calibrated minus paper
    low: float | None
    """Ends of the 95% interval of the difference over questions; None for a single question."""
    high: float | None
    calibrated_tau: float = math.nan
    """Rank correlation of run scores with assessors, tau_b."""
    paper_tau: float = math.nan
    paper_model: str | None = None
    """Threshold model of the paper's classifier; None for one threshold with the best F."""

    @property
    def winner(self) -> str:
        """By F: `calibrated`, `paper` or `tie`."""
        if self.calibrated == self.paper:
            return "tie"
        return "calibrated" if self.calibrated > self.paper else "paper"

    @property
    def is_decided(self) -> bool:
        """True if the interval excludes zero."""
        if self.low is None or self.high is None:
            return False
        return interval_verdict((self.low, self.high)) != UNDECIDED


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


@dataclass(frozen=True, eq=False, repr=False)
class _CrossValidated(Result):
    """The 24 settings of the paper's classifier and, for the best, all threshold models."""

    name: str  # the name of the set
    settings: Mapping[str, Any]
    tuning: Tuning

    signature = ""

    @cached_property
    def trials(self) -> tuple[SettingRow, ...]:
        """The 24 settings of the paper's classifier, the best F first."""
        return setting_rows(self.tuning.trials)

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
class NuggetTuning(_CrossValidated):
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


@dataclass(frozen=True, eq=False, repr=False)
class NuggetEvaluation(_CrossValidated):
    """Agreement of classifiers and baselines with the assessors."""

    calibrated: CrossValidation
    rows: tuple[EvaluationRow, ...]
    """Classifiers first, then baselines, which do not decide on single nuggets."""
    contest: Contest  # the calibrated classifier against the paper's
    runs: tuple[GuessedRun, ...]  # official A of runs, and A as the calibrated one expects it
    scores: tuple[ScoreAgreement, ...]
    """All methods on one score, official F: the paper's Tables 2 and 3, with rank swaps."""
    swaps: tuple[Swap, ...]  # the pairs of runs that are swapped
    judgements: tuple[JudgementAgreement, ...]
    """Agreement of decisions with assessors, with intervals over questions: Table 5."""
    run_scores: tuple[GuessedRun, ...]
    """Official and guessed F of runs, with intervals: the paper's Figure 5."""
    curve: tuple[TauPoint, ...]
    """tau_b against the threshold, stemmed and not, n = 1, 2, 3: the paper's Figure 6."""
    share_curves: tuple[TauPoint, ...]
    """tau_b of A against the threshold, with the best setting and n = 1, 2, 3."""
    known_share: float
    """Share of judged pairs that are known from identical responses in other folds."""

    @property
    def outside(self) -> tuple[int, int] | None:
        """Number of runs with the official score outside the interval, and with an interval."""
        return runs_outside(self.runs)

    @property
    def f_outside(self) -> tuple[int, int] | None:
        """Numbers of runs outside and with an interval, as `outside`, for official micro F."""
        return runs_outside([row for row in self.run_scores if row.average == "micro"])

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how the numbers were computed."""
        known_note = (
            f"{100 * self.known_share:.1f}% of the pairs are known: an identical response was "
            f"judged in another fold, and that judgement counts. Rows of {_ALONE} are about the "
            "other pairs."
        )
        return self._notes(
            f"Chosen by F in this cross-validation: {self._winners()}.",
            *([known_note] if self.known_share else []),
            *_ON_F,
        )

    def _winners(self) -> str:
        """Return which classifier has the best F, or which share it."""
        model, likely, _ = self.tuning.likeliest
        methods = {"best of 24 settings": self.tuning.best.agreement.f}
        if likely is not None:
            methods[f"threshold model {model.name}"] = likely.f
        calibrated, paper = self.calibrated.agreement.f, max(methods.values())
        if calibrated > paper:
            return "the calibrated classifier"
        best = " or ".join(method for method, f in methods.items() if f == paper)
        paper_text = f"the paper's classifier, {best}"
        if paper > calibrated:
            return paper_text
        return f"none; the calibrated one and {paper_text}, have the same F"


def runs_outside(rows: Sequence[GuessedRun]) -> tuple[int, int] | None:
    """Return the numbers of official scores outside their interval, and of intervals."""
    intervals = [
        (row.low, row.official, row.high)
        for row in rows
        if row.low is not None and row.high is not None
    ]
    missed = sum(not low <= score <= high for low, score, high in intervals)
    return (missed, len(intervals)) if intervals else None


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
    nuggets = as_nuggets(nuggets, progress)
    official = Official(beta, strict=strict)
    tuning, settings = _tune(nuggets, by, classifier, institution, corrected, strict, progress)
    cells, pool, source = tuning.cells, tuning.cells.pool, tuning.idf
    X = evidence(pool, source.of_classifier(pool, ENGLISH), progress)
    likeness = None if by == "question" else Likeness(pool)
    calibrated = cross_validate(cells, X, likeness, progress=progress)
    carried = np.where(cells.official_labels > 0, 1.0, 0.0)
    run_scores = official_scores(nuggets, pool.runs, official, corrected)
    comparison = OfficialComparison(tuning, calibrated, official, run_scores)
    runs = [nuggets.runs[tag] for tag in pool.runs]
    weigh = source.of_words(nuggets.runs.values(), Pourpre().stem)
    variants = {"count": Pourpre(beta=beta), "idf": Pourpre(beta=beta, weigh=weigh)}
    classifiers = list(comparison.classifiers())
    pourpre = [
        method
        for name, variant in variants.items()
        for method in pourpre_methods(name, variant, nuggets.key, runs, comparison.averages)
    ]
    rouge = list(rouge_methods(runs, nuggets.key))
    agreements = [
        pair
        for method in (*classifiers, *pourpre, *rouge)
        for pair in agreement_of_scores(method, comparison.averages, pool.runs)
    ]
    scores = sorted((row for row, _ in agreements), key=lambda row: row.average == "macro")
    shares = pool.run_scores(carried)
    known_share = float(cells.is_known[~np.isnan(cells.official_labels)].mean())
    paper_agreement, paper_carried, paper_model = tuning.paper_choice
    lead = f_difference(pool, calibrated.carried, paper_carried, cells.official_labels)
    return NuggetEvaluation(
        name=nuggets.name,
        settings={"leave_out": by, "beta": beta, **settings},
        tuning=tuning,
        calibrated=calibrated,
        rows=(
            *_classifier_rows(tuning, calibrated, known_share > 0),
            *_baseline_rows(pourpre, rouge, run_scores, shares),
        ),
        contest=Contest(
            calibrated=calibrated.agreement.f,
            paper=paper_agreement.f,
            difference=calibrated.agreement.f - paper_agreement.f,
            low=lead.low,
            high=lead.high,
            calibrated_tau=calibrated.agreement.tau_b,
            paper_tau=paper_agreement.tau_b,
            paper_model=paper_model,
        ),
        runs=tuple(
            guessed_runs(
                "A",
                pool.runs,
                shares,
                pool.run_scores(calibrated.probabilities),
                intervals_of_runs(
                    pool.question_scores(calibrated.probabilities), pool.question_scores(carried)
                ),
            )
        ),
        scores=tuple(scores),
        swaps=tuple(swap for _, swaps in agreements for swap in swaps),
        judgements=tuple(comparison.judgements()),
        run_scores=tuple(comparison.runs()),
        curve=tuple(comparison.curve()),
        share_curves=tuple(share_curves(tuning, shares)),
        known_share=known_share,
    )


def _classifier_rows(
    tuning: Tuning, calibrated: CrossValidation, some_known: bool
) -> Iterator[EvaluationRow]:
    names = "calibrated classifier", "paper's classifier"
    yield EvaluationRow(names[0], *calibrated.agreement)
    yield EvaluationRow(f"{names[1]}, {tuning.best.classifier.summary}", *tuning.best.agreement)
    model, agreement, _ = tuning.likeliest
    if agreement:
        name = f"the same, threshold model {model.name} (likeliest)"
        yield EvaluationRow(name, *agreement)
    if some_known:
        labels = np.where(tuning.cells.is_known, np.nan, tuning.cells.official_labels)
        for name, carried in zip(names, (calibrated.carried, tuning.best.carried), strict=True):
            agreement = assessor_agreement(tuning.cells.pool, carried, labels)
            yield EvaluationRow(f"{name}, {_ALONE}", *agreement[:3])


def _baseline_rows(
    pourpre: Sequence[ScoringMethod],
    rouge: Sequence[ScoringMethod],
    run_scores: Sequence[RunScore],
    shares: Floats,
) -> Iterator[EvaluationRow]:
    """Yield the agreement of Pourpre, as published, with official F, and of ROUGE with A."""
    for method in pourpre[::2]:
        for average in ("macro", "micro"):
            official, scores = (
                np.array([getattr(score, average).f for score in scored_runs])
                for scored_runs in (run_scores, method.run_scores)
            )
            numbers = tau_b(official, scores), r_squared(official, scores), rmse(official, scores)
            yield EvaluationRow(f"{method.name}, {average}", None, None, None, *numbers)
    for method in rouge:
        scores = method.scores.micro
        tau, square = tau_b(shares, scores), r_squared(shares, scores)
        yield EvaluationRow(method.name, tau_b=tau, r_squared=square)


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
    tuning, settings = _tune(nuggets, by, classifier, institution, corrected, strict, progress)
    return NuggetTuning(nuggets.name, {"leave_out": by, **settings}, tuning)


def _tune(
    nuggets: NuggetSet,
    by: str,
    classifier: Paper | str,
    institution: str | None,
    corrected: bool,
    strict: bool,
    progress: Progress,
) -> tuple[Tuning, dict[str, Any]]:
    """Tune the classifier of the paper; return also the settings to report.

    `by` is the grouping of cross-validation folds. With `corrected`, classifiers are compared with
    corrected judgements; with `strict`, partial support counts as none.
    """
    paper = parse_classifier(classifier)
    if not isinstance(paper, Paper):
        expected = "paper, with settings that trials share"
        raise InputError(f"classifier={classifier}: expected {expected}")
    nuggets = with_institutions(nuggets, institution)
    tuning = tune_all(nuggets, by, paper, progress, corrected=corrected, strict=strict)
    settings = {"classifier": str(paper), "institution": institution}
    return tuning, {**settings, "corrected": corrected, "strict": strict}
