"""`evaluate_nuggets` and `tune_nuggets`: classifiers and baselines against assessors.

An evaluation has the paper's Tables 2, 3 and 5 and its Figures 5 and 6. Classifiers are
cross-validated, and Pourpre has no threshold, as published. Methods "in hindsight" have the
threshold with the best tau-b on this set, as in the paper: do not compare them with the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, np
from karat.evalset.catalogue import GivenPath
from karat.nuggets.formats.loading import as_nuggets
from karat.nuggets.prediction.calibrated import CrossValidation, cross_validate
from karat.nuggets.prediction.evidence import evidence
from karat.nuggets.prediction.intervals import (
    ScoreInterval,
    intervals_of_runs,
    intervals_of_whole_runs,
)
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.paper import INFORMED, Paper
from karat.nuggets.prediction.pool import assessor_agreement
from karat.nuggets.prediction.thresholds import (
    compare_models,
    likeliest_model,
)
from karat.nuggets.results.agreement import (
    AVERAGES,
    AverageScores,
    JudgementAgreement,
    ScoreAgreement,
    ScoringMethod,
    Swap,
    agreement_of_judgements,
    agreement_of_scores,
    average_f,
    f_difference,
    in_hindsight,
)
from karat.nuggets.results.tuning import CrossValidated, Tuning, trial, tune_nuggets
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import (
    NuggetStats,
    OfficialSettings,
    RunScore,
    nugget_stats,
    run_lengths,
)
from karat.nuggets.scores.pourpre import DEFAULT, WITHOUT_STOP_WORDS, Pourpre, score_rouge
from karat.nuggets.scores.words import ENGLISH
from karat.nuggets.sets.keys_and_runs import Run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.stats.correlation import r_squared, rmse, tau_b
from karat.stats.significance import UNDECIDED, interval_verdict

_MATCHES = tuple(k / 20 for k in range(20))  # thresholds of Pourpre's matches
_THRESHOLDS = 40  # number of quantiles of scores that are tried
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


class GuessedRun(NamedTuple):
    """Official and guessed score of a run, with the interval of the guessed one (Figure 5)."""

    run: str
    average: str  # `micro` or `macro` F, or `A`
    official: float
    guessed: float
    low: float | None
    high: float | None


class TauPoint(NamedTuple):
    """tau-b of the scores of runs at one threshold for all nuggets (Figure 6)."""

    stem: str
    n: int
    threshold: float
    tau_b: float


@dataclass(frozen=True, eq=False, repr=False)
class NuggetEvaluation(CrossValidated):
    """Agreement of classifiers and baselines with the assessors."""

    nuggets: NuggetSet
    official_settings: OfficialSettings
    calibrated: CrossValidation

    @cached_property
    def rows(self) -> tuple[EvaluationRow, ...]:
        """Classifiers first, then baselines, which do not decide on single nuggets."""
        return (*self._classifier_rows(), *self._baseline_rows())

    def _classifier_rows(self) -> Iterator[EvaluationRow]:
        names = "calibrated classifier", "paper's classifier"
        tuning, cells, best = self.tuning, self.tuning.cells, self.tuning.best
        yield EvaluationRow(names[0], *self.calibrated.agreement)
        yield EvaluationRow(f"{names[1]}, {best.classifier.summary}", *best.agreement)
        model, agreement, _ = tuning.likeliest
        if agreement:
            name = f"the same, threshold model {model.name} (likeliest)"
            yield EvaluationRow(name, *agreement)
        if self.known_share > 0:
            labels = np.where(cells.is_known, np.nan, cells.official_labels)
            for name, carried in zip(names, (self.calibrated.carried, best.carried), strict=True):
                agreement = assessor_agreement(cells.pool, carried, labels)
                yield EvaluationRow(f"{name}, {_ALONE}", *agreement[:3])

    def _baseline_rows(self) -> Iterator[EvaluationRow]:
        """Yield the agreement of Pourpre, as published, with official F, and of ROUGE with A."""
        for method in self._methods:
            for average in ("macro", "micro") if method.run_scores else ():
                official_f, scores = (
                    np.array([getattr(score, average).f for score in run_scores])
                    for run_scores in (self._official_runs, method.run_scores)
                )
                numbers = tau_b(official_f, scores), r_squared(official_f, scores)
                rmse_of_runs = rmse(official_f, scores)
                name = f"{method.name}, {average}"
                yield EvaluationRow(name, None, None, None, *numbers, rmse_of_runs)
        for method in self._methods:
            if not method.scaled:
                shares, scores = self._official_shares, method.scores.micro
                tau, square = tau_b(shares, scores), r_squared(shares, scores)
                yield EvaluationRow(method.name, tau_b=tau, r_squared=square)

    @cached_property
    def known_share(self) -> float:
        """Share of judged pairs that are known from identical responses in other folds."""
        cells = self.tuning.cells
        return float(cells.is_known[~np.isnan(cells.official_labels)].mean())

    @cached_property
    def contest(self) -> Contest:
        """The calibrated classifier against the paper's."""
        cells, calibrated = self.tuning.cells, self.calibrated
        agreement, carried, model = self.tuning.paper_choice
        lead = f_difference(cells.pool, calibrated.carried, carried, cells.official_labels)
        return Contest(
            calibrated=calibrated.agreement.f,
            paper=agreement.f,
            difference=calibrated.agreement.f - agreement.f,
            low=lead.low,
            high=lead.high,
            calibrated_tau=calibrated.agreement.tau_b,
            paper_tau=agreement.tau_b,
            paper_model=model,
        )

    @cached_property
    def _official_cells(self) -> Floats:
        return np.where(self.tuning.cells.official_labels > 0, 1.0, 0.0)

    @cached_property
    def _official_shares(self) -> Floats:
        """Official A of runs."""
        return self.tuning.cells.pool.run_scores(self._official_cells)

    @cached_property
    def runs(self) -> tuple[GuessedRun, ...]:
        """Official A of runs, and A as the calibrated classifier expects it."""
        pool, probabilities = self.tuning.cells.pool, self.calibrated.probabilities
        official = pool.question_scores(self._official_cells)
        intervals = intervals_of_runs(pool.question_scores(probabilities), official)
        guessed = pool.run_scores(probabilities)
        return tuple(_guessed_runs("A", pool.runs, self._official_shares, guessed, intervals))

    @cached_property
    def _official_runs(self) -> list[RunScore]:
        """Official F of the judged runs, from judgements of each run or from corrected ones."""
        scores, key, judgements = [], self.nuggets.key, self.nuggets.judgements
        for run in self._judged_runs:
            run_tag = None if self.settings["corrected"] else run.tag
            decisions = decide_run(run, key, judgements, run_tag=run_tag)
            scores.append(self.official_settings.score(run, key, decisions))
        return scores

    @property
    def _judged_runs(self) -> list[Run]:
        return [self.nuggets.runs[tag] for tag in self.tuning.cells.pool.runs]

    @cached_property
    def _official_stats(self) -> NuggetStats:
        """Official statistics, runs x questions."""
        stats = (score.stats for score in self._official_runs)
        return NuggetStats(*map(np.array, zip(*stats, strict=True)))

    @cached_property
    def _official_f(self) -> AverageScores:
        return average_f(self._official_stats, self.official_settings.beta)

    def _averages(self, values: Floats) -> AverageScores:
        """Return F of runs from values of cells."""
        return average_f(
            self.tuning.stats(values, self.official_settings), self.official_settings.beta
        )

    @cached_property
    def _decisions(self) -> dict[str, Flags]:
        """Cross-validated decisions of each classifier."""
        tuning = self.tuning
        default = tuning.default.classifier
        informativeness = "descriptions" if default.informativeness == INFORMED else INFORMED
        variant = trial(tuning.cells, replace(default, informativeness=informativeness), tuning.idf)
        decisions = {
            "calibrated": self.calibrated.carried,
            "paper, best of 24": tuning.best.carried,
            "paper, default": tuning.default.carried,
            f"paper, default, informed by {informativeness}": variant.carried,
        }
        model, _, carried = tuning.likeliest
        if carried is not None:
            decisions[f"paper, best of 24, thresholds by {model.name}"] = carried
        return decisions

    @cached_property
    def judgements(self) -> tuple[JudgementAgreement, ...]:
        """Agreement of decisions with assessors, with intervals over questions: Table 5."""
        cells, calibrated = self.tuning.cells, self.calibrated.carried
        return tuple(
            agreement_of_judgements(
                *(name, cells.pool, carried, cells.official_labels),
                None if name == "calibrated" else calibrated,
            )
            for name, carried in self._decisions.items()
        )

    @cached_property
    def _methods(self) -> tuple[ScoringMethod, ...]:
        """Classifiers, Pourpre and ROUGE."""
        return (*self._classifiers(), *self._pourpre(), *self._rouge())

    def _classifiers(self) -> Iterator[ScoringMethod]:
        for name, carried in self._decisions.items():
            yield ScoringMethod(name, self._averages(carried.astype(np.float64)))
        cells, scores = self.tuning.cells, self.tuning.scores(self.tuning.default.classifier)

        def scores_at(threshold: float) -> AverageScores:
            return self._averages(cells.or_known(scores > threshold).astype(np.float64))

        yield in_hindsight("paper, default", self._official_f, _quantiles(scores), scores_at)

    def _pourpre(self) -> Iterator[ScoringMethod]:
        """Yield Pourpre as published, and at its best threshold, below which a match counts 0."""
        key, runs, beta = self.nuggets.key, self._judged_runs, self.official_settings.beta
        questions = list(key.questions.values())
        lengths = np.array([run_lengths(run, questions) for run in runs])
        idf = self.tuning.idf.of_words(self.nuggets.runs.values(), Pourpre().stem)
        variants = {"count": Pourpre(beta=beta), "idf": Pourpre(beta=beta, weigh=idf)}
        for name, pourpre in variants.items():
            tables = [[pourpre.match(q, run.responses(q.id)) for q in questions] for run in runs]
            matches = np.array([np.concatenate(table) for table in tables])

            def scores_at(threshold: float, matches: Floats = matches) -> AverageScores:
                values = np.where(matches < threshold, 0.0, matches)
                allowed = (values > 0).astype(np.float64)
                return average_f(nugget_stats(questions, "vital", values, allowed, lengths), beta)

            rows = [pourpre.score_matches(run, key, m) for run, m in zip(runs, tables, strict=True)]
            yield ScoringMethod(f"Pourpre {name}", scores_at(0.0), run_scores=rows)
            yield in_hindsight(f"Pourpre {name}", self._official_f, _MATCHES, scores_at)

    def _rouge(self) -> Iterator[ScoringMethod]:
        """Yield ROUGE with and without stop words; it has one average."""
        for name, rouge in (("ROUGE-1", DEFAULT), ("ROUGE-1, stop words out", WITHOUT_STOP_WORDS)):
            key, runs = self.nuggets.key, self._judged_runs
            scores = np.array([score_rouge(run, key, rouge).value for run in runs])
            yield ScoringMethod(name, AverageScores(scores, scores), scaled=False)

    @cached_property
    def _agreements(self) -> list[tuple[ScoreAgreement, list[Swap]]]:
        tags = self.tuning.cells.pool.runs
        return [
            agreement
            for method in self._methods
            for agreement in agreement_of_scores(method, self._official_f, tags)
        ]

    @cached_property
    def scores(self) -> tuple[ScoreAgreement, ...]:
        """All methods on one score, official F: the paper's Tables 2 and 3, with rank swaps."""
        rows = (row for row, _ in self._agreements)
        return tuple(sorted(rows, key=lambda row: row.average == "macro"))

    @property
    def swaps(self) -> tuple[Swap, ...]:
        """The pairs of runs that are swapped."""
        return tuple(swap for _, swaps in self._agreements for swap in swaps)

    @cached_property
    def run_scores(self) -> tuple[GuessedRun, ...]:
        """Official and guessed F of runs, with intervals: the paper's Figure 5."""
        beta, runs = self.official_settings.beta, self.tuning.cells.pool.runs
        stats = self.tuning.stats(self.calibrated.probabilities, self.official_settings)
        official_averages = self._official_f
        guessed = average_f(stats, beta)
        intervals = (
            intervals_of_whole_runs(guessed.micro, official_averages.micro),
            intervals_of_runs(stats.f(beta), self._official_stats.f(beta)),
        )
        return tuple(
            row
            for k, average in enumerate(AVERAGES)
            for row in _guessed_runs(average, runs, official_averages[k], guessed[k], intervals[k])
        )

    @cached_property
    def curve(self) -> tuple[TauPoint, ...]:
        """tau_b of micro F at fixed thresholds, n = 1, 2, 3: the paper's Figure 6.

        Stemmed and not, with idf and all words, whatever the best setting is. Judgements of
        identical responses are not used, so that the threshold alone decides.
        """
        rules = [trial.classifier for trial in self.tuning.trials]
        official_f = self._official_f.micro
        return tuple(
            TauPoint(rule.stem, rule.n, threshold, tau_b(official_f, self._averages(carried).micro))
            for rule in rules
            if (rule.weight, rule.stop) == ("idf", "none")
            for threshold, carried in self._at_thresholds(rule)
        )

    @cached_property
    def share_curves(self) -> tuple[TauPoint, ...]:
        """tau_b of A against the threshold, with the best setting and n = 1, 2, 3."""
        pool, shares = self.tuning.cells.pool, self._official_shares
        rules = [replace(self.tuning.best.classifier, n=n) for n in (1, 2, 3)]
        return tuple(
            TauPoint(rule.stem, rule.n, threshold, tau_b(shares, pool.run_scores(carried)))
            for rule in rules
            for threshold, carried in self._at_thresholds(rule)
        )

    def _at_thresholds(self, classifier: Paper) -> Iterator[tuple[float, Floats]]:
        """Yield quantiles of the scores of a classifier, and 1 for the cells that exceed each."""
        scores = self.tuning.scores(classifier)
        for threshold in _quantiles(scores):
            yield threshold, (scores > threshold).astype(np.float64)

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


def _quantiles(scores: Floats) -> list[float]:
    """Return the distinct values among 40 quantiles of scores."""
    quantiles = np.quantile(scores, np.linspace(0, 0.995, _THRESHOLDS))
    thresholds: list[float] = np.unique(quantiles).tolist()
    return thresholds


def _guessed_runs(
    average: str,
    runs: Sequence[str],
    official_scores: Floats,
    guessed: Floats,
    intervals: Sequence[ScoreInterval | None],
) -> Iterator[GuessedRun]:
    """Yield official and guessed scores of runs, with intervals where there are any."""
    scores = zip(runs, official_scores.tolist(), guessed.tolist(), intervals, strict=True)
    for run, official_score, score, interval in scores:
        low, high = (interval.low, interval.high) if interval else (None, None)
        yield GuessedRun(run, average, official_score, score, low, high)


def paper_runs(
    tuning: Tuning, official_runs: Sequence[GuessedRun], official_settings: OfficialSettings
) -> tuple[str, tuple[GuessedRun, ...]]:
    """Return the threshold model and the runs of Figure 5 by the paper's own classifier.

    `official_runs` have official micro F. Guessed F comes from the default settings, with
    thresholds of the likeliest model, learned without the run.
    """
    cells, classifier = tuning.cells, tuning.default.classifier
    models = compare_models(cells.pool, tuning.scores(classifier), cells.labels)
    model = "global" if tuning.by == "question" else likeliest_model(models)
    classifier = replace(classifier, threshold_model=model)
    chances, _ = classifier.leave_out(cells, tuning.idf)
    guessed = average_f(
        tuning.stats(cells.or_known(chances), official_settings), official_settings.beta
    ).micro
    official_f = np.array([row.official for row in official_runs])
    intervals = intervals_of_whole_runs(guessed, official_f)
    runs = [row.run for row in official_runs]
    return model, tuple(_guessed_runs("micro", runs, official_f, guessed, intervals))


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

    Classifiers are cross-validated. The calibrated classifier has the evidence of words, without
    facts and encoders.

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
    official_settings = OfficialSettings(beta, strict=strict)
    shared: dict[str, Any] = {"institution": institution, "corrected": corrected, "strict": strict}
    tuned = tune_nuggets(nuggets, by, classifier=classifier, progress=progress, **shared)
    tuning, settings = tuned.tuning, {"leave_out": by, "beta": beta, **tuned.settings}
    cells, pool = tuning.cells, tuning.cells.pool
    X = evidence(pool, tuning.idf.of_classifier(pool, ENGLISH), progress)
    likeness = None if by == "question" else Likeness(pool)
    calibrated = cross_validate(cells, X, likeness, progress=progress)
    return NuggetEvaluation(nuggets.name, settings, tuning, nuggets, official_settings, calibrated)
