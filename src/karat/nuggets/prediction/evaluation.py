"""Classifiers, Pourpre and ROUGE on one score, the official F(beta).

These are the paper's Tables 2, 3 and 5 and its Figures 5 and 6. Classifiers are cross-validated,
and Pourpre has no threshold, as published. Methods "in hindsight" have the threshold with the best
tau-b on this set, as in the paper: do not compare them with the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from karat.arrays import Flags, Floats, np
from karat.nuggets.prediction.agreement import (
    AVERAGES,
    AverageScores,
    JudgementAgreement,
    ScoringMethod,
    agreement_of_judgements,
    average_f,
    in_hindsight,
)
from karat.nuggets.prediction.calibrated import CrossValidation
from karat.nuggets.prediction.intervals import (
    ScoreInterval,
    intervals_of_runs,
    score_interval,
    whole_errors,
)
from karat.nuggets.prediction.paper import INFORMED
from karat.nuggets.prediction.thresholds import compare_models, likeliest_model
from karat.nuggets.prediction.tuning import Tuning, trial
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import (
    NuggetStats,
    Official,
    RunScore,
    nugget_stats,
    run_lengths,
)
from karat.nuggets.scores.pourpre import DEFAULT, WITHOUT_STOP_WORDS, Pourpre, score_rouge
from karat.nuggets.sets.keys_and_runs import NuggetKey, Run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.stats.correlation import tau_b

_MATCHES = tuple(k / 20 for k in range(20))  # thresholds of Pourpre's matches
_THRESHOLDS = 40  # number of quantiles of scores that are tried


class GuessedRun(NamedTuple):
    """Official and guessed score of a run, with the interval of the guessed one (Figure 5)."""

    run: str
    average: str  # `micro` or `macro` F, or `A`
    official: float
    guessed: float
    low: float | None
    high: float | None


def guessed_runs(
    average: str,
    runs: Sequence[str],
    official: Floats,
    guessed: Floats,
    intervals: Sequence[ScoreInterval | None],
) -> Iterator[GuessedRun]:
    """Yield official and guessed scores of runs, with intervals where there are any."""
    scores = zip(runs, official.tolist(), guessed.tolist(), intervals, strict=True)
    for run, official_score, score, interval in scores:
        low, high = (interval.low, interval.high) if interval else (None, None)
        yield GuessedRun(run, average, official_score, score, low, high)


class TauPoint(NamedTuple):
    """tau-b of the scores of runs at one threshold for all nuggets (Figure 6)."""

    stem: str
    n: int
    threshold: float
    tau_b: float


def share_curves(tuning: Tuning, official: Floats) -> Iterator[TauPoint]:
    """Yield tau-b of A at quantiles of scores, with the best setting and n = 1, 2, 3."""
    pool = tuning.cells.pool
    for n in (1, 2, 3):
        classifier = replace(tuning.best.classifier, n=n)
        scores = tuning.scores(classifier)
        for threshold in thresholds_of(scores):
            shares = pool.run_scores((scores > threshold).astype(np.float64))
            yield TauPoint(classifier.stem, n, threshold, tau_b(official, shares))


def thresholds_of(scores: Floats) -> list[float]:
    """Return the distinct values among 40 quantiles of scores."""
    quantiles = np.quantile(scores, np.linspace(0, 0.995, _THRESHOLDS))
    thresholds: list[float] = np.unique(quantiles).tolist()
    return thresholds


def official_scores(
    nuggets: NuggetSet, runs: Sequence[str], official: Official, corrected: bool
) -> list[RunScore]:
    """Return the scores of runs from judgements of each run, or from corrected ones."""
    scores, key = [], nuggets.key
    for run in (nuggets.runs[tag] for tag in runs):
        run_tag = None if corrected else run.tag
        decisions = decide_run(run, key, nuggets.judgements, run_tag=run_tag)
        scores.append(official.score(run, key, decisions))
    return scores


@dataclass(frozen=True, eq=False)
class OfficialComparison:
    """Official F of runs, and F from other values of the same cells."""

    tuning: Tuning
    calibrated: CrossValidation
    official: Official
    scores: Sequence[RunScore]  # official ones, in the order of the pool's runs

    @cached_property
    def stats(self) -> NuggetStats:
        """Official statistics, runs x questions."""
        stats = (score.stats for score in self.scores)
        return NuggetStats(*map(np.array, zip(*stats, strict=True)))

    @cached_property
    def averages(self) -> AverageScores:
        """Official scores of runs."""
        return average_f(self.stats, self.official.beta)

    def averages_of(self, values: Floats) -> AverageScores:
        """Return scores of runs from values of cells."""
        return average_f(self.tuning.stats(values, self.official), self.official.beta)

    @cached_property
    def decisions(self) -> dict[str, Flags]:
        """Cross-validated decisions of each classifier."""
        tuning = self.tuning
        default = tuning.default.classifier
        informativeness = "descriptions" if default.informativeness == INFORMED else INFORMED
        variant = replace(default, informativeness=informativeness)
        decisions = {
            "calibrated": self.calibrated.carried,
            "paper, best of 24": tuning.best.carried,
            "paper, default": tuning.default.carried,
            f"paper, default, informed by {informativeness}": trial(
                tuning.cells, variant, tuning.idf
            ).carried,
        }
        model, _, carried = tuning.likeliest
        if carried is not None:
            decisions[f"paper, best of 24, thresholds by {model.name}"] = carried
        return decisions

    def judgements(self) -> Iterator[JudgementAgreement]:
        """Yield the agreement of decisions with assessors, compared with the calibrated ones."""
        cells = self.tuning.cells
        for name, carried in self.decisions.items():
            base = None if name == "calibrated" else self.calibrated.carried
            yield agreement_of_judgements(name, cells.pool, carried, cells.official_labels, base)

    def classifiers(self) -> Iterator[ScoringMethod]:
        """Yield the methods that decide about cells."""
        for name, carried in self.decisions.items():
            yield ScoringMethod(name, self.averages_of(carried.astype(np.float64)))
        cells, scores = self.tuning.cells, self.tuning.scores(self.tuning.default.classifier)

        def scores_at(threshold: float) -> AverageScores:
            return self.averages_of(cells.or_known(scores > threshold).astype(np.float64))

        yield in_hindsight("paper, default", self.averages, thresholds_of(scores), scores_at)

    def runs(self) -> Iterator[GuessedRun]:
        """Yield official and guessed F; intervals come from the errors on the other runs."""
        beta, runs = self.official.beta, self.tuning.cells.pool.runs
        guessed_stats = self.tuning.stats(self.calibrated.probabilities, self.official)
        guessed = average_f(guessed_stats, beta)
        intervals = (
            _micro_intervals(guessed.micro, self.averages.micro),
            intervals_of_runs(guessed_stats.f(beta), self.stats.f(beta)),
        )
        for k, average in enumerate(AVERAGES):
            yield from guessed_runs(average, runs, self.averages[k], guessed[k], intervals[k])

    def curve(self) -> Iterator[TauPoint]:
        """Yield the paper's Figure 6: tau-b of micro F at fixed thresholds, n = 1 … 3.

        Stemmed and not, with idf and all words, whatever the best setting is. Judgements of
        identical responses are not used, so that the threshold alone decides.
        """
        rules = [trial.classifier for trial in self.tuning.trials]
        for rule in (rule for rule in rules if (rule.weight, rule.stop) == ("idf", "none")):
            scores = self.tuning.scores(rule)
            for threshold in thresholds_of(scores):
                micro = self.averages_of((scores > threshold).astype(np.float64)).micro
                yield TauPoint(rule.stem, rule.n, threshold, tau_b(self.averages.micro, micro))


def pourpre_methods(
    name: str, pourpre: Pourpre, key: NuggetKey, runs: Sequence[Run], official: AverageScores
) -> Iterator[ScoringMethod]:
    """Yield Pourpre as published, and at its best threshold, below which a match counts 0."""
    questions = list(key.questions.values())
    tables = [[pourpre.match(q, run.responses(q.id)) for q in questions] for run in runs]
    matches = np.array([np.concatenate(table) for table in tables])
    lengths = np.array([run_lengths(run, questions) for run in runs])

    def scores_at(threshold: float) -> AverageScores:
        values = np.where(matches < threshold, 0.0, matches)
        allowed = (values > 0).astype(np.float64)
        stats = nugget_stats(questions, pourpre.weights, values, allowed, lengths)
        return average_f(stats, pourpre.beta)

    rows = [pourpre.score_matches(run, key, m) for run, m in zip(runs, tables, strict=True)]
    yield ScoringMethod(f"Pourpre {name}", scores_at(0.0), run_scores=rows)
    yield in_hindsight(f"Pourpre {name}", official, _MATCHES, scores_at)


def rouge_methods(runs: Sequence[Run], key: NuggetKey) -> Iterator[ScoringMethod]:
    """Yield ROUGE with and without stop words; it has one average."""
    for name, rouge in (("ROUGE-1", DEFAULT), ("ROUGE-1, stop words out", WITHOUT_STOP_WORDS)):
        scores = np.array([score_rouge(run, key, rouge).value for run in runs])
        yield ScoringMethod(name, AverageScores(scores, scores), scaled=False)


def _micro_intervals(guessed: Floats, official: Floats) -> list[ScoreInterval | None]:
    """Return the interval of each run's micro F, from the errors of the others as wholes."""
    intervals: list[ScoreInterval | None] = []
    for k, score in enumerate(guessed):
        is_other = (np.arange(len(guessed)) != k) & ~np.isnan(official)
        if is_other.sum() < 2 or np.isnan(score):
            intervals.append(None)
            continue
        errors = whole_errors(guessed[is_other], official[is_other])
        intervals.append(score_interval(np.array([score]), errors, 1).around(float(score)))
    return intervals


def paper_runs(
    tuning: Tuning, official: Sequence[GuessedRun], scoring: Official
) -> tuple[str, tuple[GuessedRun, ...]]:
    """Return the threshold model and the runs of Figure 5 by the paper's own classifier.

    `official` has official micro F. Guessed F comes from the default settings, with thresholds of
    the likeliest model, learned without the run.
    """
    cells, classifier = tuning.cells, tuning.default.classifier
    models = compare_models(cells.pool, tuning.scores(classifier), cells.labels)
    model = "global" if tuning.by == "question" else likeliest_model(models)
    classifier = replace(classifier, threshold_model=model)
    chances, _ = classifier.leave_out(cells.pool, cells.labels, cells.fold, tuning.idf)
    guessed = average_f(tuning.stats(cells.or_known(chances), scoring), scoring.beta).micro
    official_scores = np.array([row.official for row in official])
    intervals = _micro_intervals(guessed, official_scores)
    runs = [row.run for row in official]
    return model, tuple(guessed_runs("micro", runs, official_scores, guessed, intervals))
