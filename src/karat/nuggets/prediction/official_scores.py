"""Classifiers, Pourpre and ROUGE on one score, the official F(beta).

These are the paper's Tables 2, 3 and 5 and its Figures 5 and 6.

Decisions of classifiers are those of cross-validation, and Pourpre has no threshold, as published.
The paper chose one threshold for each data set, for Nuggeteer and Pourpre alike, by its result
there (section 2.4): these ways say "in hindsight", and are not to be compared with the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, sqrt
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, np
from karat.nuggets.prediction.calibrated import CrossValidation
from karat.nuggets.prediction.intervals import (
    ScoreInterval,
    intervals_of_runs,
    score_interval,
    whole_errors,
)
from karat.nuggets.prediction.paper import INFORMED, Paper
from karat.nuggets.prediction.pool import Pool
from karat.nuggets.prediction.thresholds import compare_models, likeliest_model
from karat.nuggets.prediction.tuning import Trial, Tuning, likeliest, trial
from karat.nuggets.scores.official import (
    ALLOWANCE,
    NuggetStats,
    Official,
    RunScore,
    nugget_weights,
    pool_stats,
    sum_groups,
)
from karat.nuggets.scores.pourpre import DEFAULT, WITHOUT_STOP_WORDS, Pourpre, score_rouge
from karat.nuggets.scores.words import Weigh
from karat.nuggets.sets.keys_and_runs import NuggetKey, Run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.stats.correlation import r_squared, rmse, tau_b
from karat.stats.distributions import student_quantile
from karat.stats.significance import UNDECIDED, interval_verdict

AVERAGES = ("micro", "macro")
FAR = 0.1
"""Difference that official scores of two assessors may have (Voorhees 2003)."""


class Swap(NamedTuple):
    """Two runs in another order than the official one, and by how much they differ in both."""

    what: str
    average: str
    better: str
    """The run with the higher official score."""
    worse: str
    official: float
    guessed: float
    """Their difference in guessed scores: below 0."""


class ScoreAgreement(NamedTuple):
    """A way to score runs against official F."""

    what: str
    average: str
    """The average of F over questions: `micro` or `macro`."""
    threshold: float | None
    """The threshold that was chosen in hindsight."""
    tau_b: float
    r_squared: float
    rmse: float | None
    """None where it is on another scale."""
    swaps: int
    pairs: int
    """Pairs of runs with different official scores."""
    swap_median: float | None
    swap_largest: float | None
    swaps_far: int
    """Swaps of runs that differ by 0.1 or more."""


class JudgementAgreement(NamedTuple):
    """Decisions against assessors' (Table 5); the interval of F is over questions."""

    what: str
    precision: float
    recall: float
    f: float
    low: float | None
    high: float | None
    difference: float | None = None
    """F minus that of the calibrated classifier, with its interval over questions."""
    difference_low: float | None = None
    difference_high: float | None = None

    @property
    def verdict(self) -> str:
        """Whether it agrees `better` or `worse` than the calibrated classifier, or `undecided`."""
        low, high = self.difference_low, self.difference_high
        return UNDECIDED if low is None or high is None else interval_verdict((low, high))


class AverageScores(NamedTuple):
    """Scores of runs: F of sums over questions, and means of F."""

    micro: Floats
    macro: Floats


def average_f(stats: NuggetStats, beta: float) -> AverageScores:
    """Return both averages of runs x questions; questions without weight do not count."""
    f = stats.f(beta)
    has_f = ~np.isnan(f)
    counts = has_f.sum(axis=1)
    macro = np.where(has_f, f, 0.0).sum(axis=1) / np.where(counts > 0, counts, np.nan)
    return AverageScores(stats.sums().f(beta), np.asarray(macro))


def official_stats(scores: Sequence[RunScore]) -> NuggetStats:
    """Return the statistics of scored runs: runs x questions."""
    return NuggetStats(*map(np.array, zip(*(score.stats for score in scores), strict=True)))


def swapped(
    method: str, average: str, runs: Sequence[str], official: Floats, guessed: Floats
) -> Iterator[Swap]:
    """Yield the pairs of runs that guesses order otherwise, largest first; ties are no swaps."""
    official_gap, guessed_gap = (np.subtract.outer(x, x) for x in (official, guessed))
    i, j = np.nonzero((official_gap > SLACK) & (guessed_gap < -SLACK))
    for k in np.lexsort((j, i, -official_gap[i, j])).tolist():
        a, b = int(i[k]), int(j[k])
        yield Swap(
            method, average, runs[a], runs[b], float(official_gap[a, b]), float(guessed_gap[a, b])
        )


class ScoringMethod(NamedTuple):
    """A way to score runs: both averages, the thresholds of both, whether it is on F's scale."""

    what: str
    scores: AverageScores
    thresholds: tuple[float | None, float | None] = (None, None)
    scaled: bool = True


def agreement_of_scores(
    method: ScoringMethod, official: AverageScores, runs: Sequence[str]
) -> Iterator[tuple[ScoreAgreement, list[Swap]]]:
    """Yield how a way agrees with both averages of official F."""
    for average, official_scores, scores, threshold in zip(
        AVERAGES, official, method.scores, method.thresholds, strict=True
    ):
        swaps = list(swapped(method.what, average, runs, official_scores, scores))
        sizes = [swap.official for swap in swaps]
        pairs = int((np.subtract.outer(official_scores, official_scores) > SLACK).sum())
        yield (
            ScoreAgreement(
                method.what,
                average,
                threshold,
                tau_b(official_scores, scores),
                r_squared(official_scores, scores),
                rmse(official_scores, scores) if method.scaled else None,
                len(sizes),
                pairs,
                float(np.median(sizes)) if sizes else None,
                max(sizes, default=None),
                sum(size >= FAR - SLACK for size in sizes),
            ),
            swaps,
        )


def agreement_of_judgements(
    method: str, pool: Pool, carried: Flags, labels: Floats, base: Flags | None = None
) -> JudgementAgreement:
    """Return precision, recall and F of decisions; the interval of F is over questions.

    `base` are the decisions of the calibrated classifier, which F is compared with.
    """
    hits, predicted, actual = counts_by_question(pool, carried, labels)
    precision, recall = (share_interval(hits, part).score or 0.0 for part in (predicted, actual))
    f, low, high = share_interval(2 * hits, predicted + actual)
    than = ShareInterval() if base is None else f_difference(pool, carried, base, labels)
    return JudgementAgreement(method, precision, recall, f or 0.0, low, high, *than)


def counts_by_question(pool: Pool, carried: Flags, labels: Floats) -> Floats:
    """Return the pairs of each question that are rightly called carried, called so, and are so."""
    judged = ~np.isnan(labels)
    yes, predicted = judged & (labels > 0), judged & carried
    size = len(pool.questions)
    kinds = (pool.cell_question[mask] for mask in (yes & predicted, predicted, yes))
    return np.array([np.bincount(kind, minlength=size) for kind in kinds], dtype=np.float64)


class ShareInterval(NamedTuple):
    """A share, None of nothing, and its interval; there is none from one question."""

    score: float | None = None
    low: float | None = None
    high: float | None = None


def share_interval(top: Floats, bottom: Floats) -> ShareInterval:
    """Return the share of sums over questions, with the jackknife's interval.

    Questions that have nothing below do not count.
    """
    above, below, nonempty = float(top.sum()), float(bottom.sum()), bottom > 0
    if nonempty.sum() < 2:
        return ShareInterval(above / below if below else None)
    without = (above - top[nonempty]) / (below - bottom[nonempty])
    return ShareInterval(*jackknife_interval(above / below, without))


def f_difference(pool: Pool, first: Flags, second: Flags, labels: Floats) -> ShareInterval:
    """Return F of some decisions minus that of others, with the jackknife's interval."""
    scores = []
    for carried in (first, second):
        hits, predicted, actual = counts_by_question(pool, carried, labels)
        top, bottom = 2 * hits, predicted + actual
        above, below = np.append(top.sum() - top, top.sum()), bottom.sum()
        under = np.append(below - bottom, below)
        scores.append(np.divide(above, under, out=np.zeros_like(above), where=under > 0))
    *without, difference = (scores[0] - scores[1]).tolist()
    if len(without) < 2:
        return ShareInterval(difference)
    return ShareInterval(*jackknife_interval(difference, np.array(without), least=-1.0))


def jackknife_interval(
    value: float, without: Floats, least: float = 0.0, most: float = 1.0
) -> ScoreInterval:
    """Return the 95% interval of a score, given what it is without each of its n questions.

    With s_k the score without question k,

        variance = (n - 1) / n * sum over k of (s_k - mean of all s_k)^2,

    and the interval is Student's with n - 1 degrees of freedom.
    """
    n = len(without)
    variance = (n - 1) / n * float(np.square(without - without.mean()).sum())
    reach = student_quantile(0.025, n - 1) * sqrt(variance)
    return ScoreInterval(value, max(least, value - reach), min(most, value + reach))


IN_HINDSIGHT = "threshold in hindsight"
_MATCHES = tuple(k / 20 for k in range(20))  # thresholds of Pourpre's matches
_THRESHOLDS = 40  # quantiles of scores that are tried


class RunF(NamedTuple):
    """A run's official F, and what was guessed of it, with its interval (Figure 5)."""

    run: str
    average: str
    official: float
    guessed: float
    low: float | None
    high: float | None


class TauPoint(NamedTuple):
    """tau-b of runs' micro F at one threshold for all nuggets (Figure 6)."""

    stem: str
    n: int
    threshold: float
    tau_b: float


@dataclass(frozen=True, eq=False)
class OfficialComparison:
    """All ways on one score."""

    scores: tuple[ScoreAgreement, ...]
    swaps: tuple[Swap, ...]
    judgements: tuple[JudgementAgreement, ...]
    runs: tuple[RunF, ...]
    curve: tuple[TauPoint, ...]


class ClassifierDecisions(NamedTuple):
    """The decisions of a classifier on all cells, made without their folds."""

    what: str
    carried: Flags


@dataclass(frozen=True, eq=False)
class EvaluationInputs:
    """A judged set, what was learned on it, and the official scores of its runs."""

    nuggets: NuggetSet
    tuned: Tuning
    calibrated: CrossValidation
    labels: Floats
    """Official judgements of cells."""
    how: Official
    scores: Sequence[RunScore]
    """Official scores, in the order of the pool's runs."""

    @property
    def pool(self) -> Pool:
        """The responses of judged runs."""
        return self.tuned.cells.pool

    @cached_property
    def returned(self) -> NuggetStats:
        """Runs x questions, as assessors have it."""
        return official_stats(self.scores)

    @cached_property
    def official(self) -> AverageScores:
        """Official scores of runs."""
        return average_f(self.returned, self.how.beta)

    def scored(self, cells: Floats) -> NuggetStats:
        """Runs x questions from values of judged cells; the others carry nothing."""
        return pool_stats(self.pool, np.where(np.isnan(self.labels), 0.0, cells), self.how)

    def decisions(self) -> Iterator[ClassifierDecisions]:
        """Yield the decisions of classifiers, as they were cross-validated."""
        plain = default_trial(self.tuned)
        other = "descriptions" if plain.classifier.informativeness == INFORMED else INFORMED
        rule = replace(plain.classifier, informativeness=other)
        tried = trial(self.tuned.cells, rule, self.tuned.idf)
        yield ClassifierDecisions("calibrated", self.calibrated.carried)
        yield ClassifierDecisions("paper, best of 24", self.tuned.best.carried)
        yield ClassifierDecisions("paper, default", plain.carried)
        yield ClassifierDecisions(f"paper, default, informed by {other}", tried.carried)
        model, _, carried = likeliest(self.tuned)
        if carried is not None:
            yield ClassifierDecisions(f"paper, best of 24, thresholds by {model.name}", carried)


def default_trial(tuned: Tuning) -> Trial:
    """The paper's own setting: no stemming, bigrams, idf, all words."""
    rules = [trial.classifier for trial in tuned.trials]
    kinds = [(rule.stem, rule.n, rule.weight, rule.stop) for rule in rules]
    return tuned.trials[kinds.index(("none", 2, "idf", "none"))]


def compare_on_official_f(inputs: EvaluationInputs, weigh: Weigh) -> OfficialComparison:
    """Set all ways on one score; `weigh` has the idf that Pourpre asks for."""
    runs, decisions = inputs.pool.runs, tuple(inputs.decisions())
    agreements = [
        pair
        for method in _ways(inputs, decisions, weigh)
        for pair in agreement_of_scores(method, inputs.official, runs)
    ]
    guessed = inputs.scored(inputs.calibrated.probabilities)
    return OfficialComparison(
        tuple(row for row, _ in agreements),
        tuple(swap for _, swaps in agreements for swap in swaps),
        tuple(
            agreement_of_judgements(name, inputs.pool, carried, inputs.labels, base)
            for name, carried in decisions
            for base in [None if name == decisions[0].what else decisions[0].carried]
        ),
        tuple(runs_with_intervals(guessed, inputs.returned, inputs.how.beta, runs)),
        tuple(tau_curve(inputs)),
    )


def _ways(
    inputs: EvaluationInputs, decisions: Sequence[ClassifierDecisions], weigh: Weigh
) -> Iterator[ScoringMethod]:
    beta, plain = inputs.how.beta, default_trial(inputs.tuned).classifier
    for name, carried in decisions:
        yield ScoringMethod(name, average_f(inputs.scored(carried.astype(np.float64)), beta))
    yield paper_in_hindsight(inputs, "paper, default", plain)
    runs = [inputs.nuggets.runs[tag] for tag in inputs.pool.runs]
    yield from pourpre_ways(inputs.pool, runs, weigh, beta, inputs.official)
    yield from rouge_ways(runs, inputs.nuggets.key)


def in_hindsight(
    name: str,
    official: AverageScores,
    thresholds: Sequence[float],
    at: Callable[[float], AverageScores],
) -> ScoringMethod:
    """Return a way at the thresholds with the best tau-b, one for each average; first of equals."""
    tried = [at(threshold) for threshold in thresholds]
    best_scores, chosen = [], []
    for k, official_scores in enumerate(official):
        taus = [tau_b(official_scores, scores[k]) for scores in tried]
        best = max(range(len(taus)), key=lambda t: -2.0 if isnan(taus[t]) else taus[t])
        best_scores.append(tried[best][k])
        chosen.append(float(thresholds[best]))
    return ScoringMethod(
        f"{name}, {IN_HINDSIGHT}", AverageScores(*best_scores), (chosen[0], chosen[1])
    )


# ------------------------------------------------------------------------------------------ ways


def paper_in_hindsight(inputs: EvaluationInputs, name: str, classifier: Paper) -> ScoringMethod:
    """Return the paper's classifier at one threshold for all nuggets, chosen by its result."""
    cells = inputs.tuned.cells
    scores = classifier.scores(cells.pool, cells.labels, cells.fold, inputs.tuned.idf)

    def at(threshold: float) -> AverageScores:
        carried = np.where(cells.known, cells.elsewhere > 0, scores > threshold)
        return average_f(inputs.scored(carried.astype(np.float64)), inputs.how.beta)

    return in_hindsight(name, inputs.official, thresholds_of(scores), at)


def thresholds_of(scores: Floats) -> list[float]:
    """Return 40 quantiles of scores, as far as they differ."""
    thresholds: list[float] = np.unique(
        np.quantile(scores, np.linspace(0, 0.995, _THRESHOLDS))
    ).tolist()
    return thresholds


def pourpre_ways(
    pool: Pool, runs: Sequence[Run], weigh: Weigh, beta: float, official: AverageScores
) -> Iterator[ScoringMethod]:
    """Yield Pourpre by counts and by idf, as published and at its best threshold."""
    for name, pourpre in (("count", Pourpre(beta=beta)), ("idf", Pourpre(beta=beta, weigh=weigh))):
        at = _pourpre_at(pourpre, pool, runs)
        yield ScoringMethod(f"Pourpre {name}", at(0.0))
        yield in_hindsight(f"Pourpre {name}", official, _MATCHES, at)


def _pourpre_at(
    pourpre: Pourpre, pool: Pool, runs: Sequence[Run]
) -> Callable[[float], AverageScores]:
    """Match all nuggets once; a match below the threshold counts 0."""
    questions = pool.questions
    tables = [[pourpre.match(q, run.responses(q.id)) for q in questions] for run in runs]
    match = np.array([np.concatenate(table) for table in tables])
    weight = np.concatenate([nugget_weights(q, pourpre.weights) for q in questions])
    starts, cost = pool.nugget_starts, pool.lengths
    total = np.broadcast_to(sum_groups(weight[None], starts), cost.shape)

    def at(threshold: float) -> AverageScores:
        selected = np.where(match < threshold, 0.0, match)
        parts = selected * weight, (selected > 0).astype(np.float64)
        matched_weight, paid = (sum_groups(part, starts) for part in parts)
        return average_f(NuggetStats(matched_weight, total, ALLOWANCE * paid, cost), pourpre.beta)

    return at


def rouge_ways(runs: Sequence[Run], key: NuggetKey) -> Iterator[ScoringMethod]:
    """Yield ROUGE with and without stop words; it has one average."""
    for name, rouge in (("ROUGE-1", DEFAULT), ("ROUGE-1, stop words out", WITHOUT_STOP_WORDS)):
        scores = np.array([score_rouge(run, key, rouge).value for run in runs])
        yield ScoringMethod(name, AverageScores(scores, scores), scaled=False)


# -------------------------------------------------------------------------------------- pictures


def runs_with_intervals(
    guessed_stats: NuggetStats, official: NuggetStats, beta: float, runs: Sequence[str]
) -> Iterator[RunF]:
    """Yield official and guessed scores; intervals are from the errors on the other runs."""
    official_averages, guessed = average_f(official, beta), average_f(guessed_stats, beta)
    ends = (
        _micro_intervals(guessed.micro, official_averages.micro),
        intervals_of_runs(guessed_stats.f(beta), official.f(beta)),
    )
    for average, x, y, bars in zip(AVERAGES, official_averages, guessed, ends, strict=True):
        for run, a, b, bar in zip(runs, x.tolist(), y.tolist(), bars, strict=True):
            yield RunF(run, average, a, b, *(bar[1:] if bar else (None, None)))


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


class PaperRuns(NamedTuple):
    """Micro F of runs by the paper's classifier at its default settings, with intervals."""

    model: str
    """The threshold model, the likeliest one."""
    runs: tuple[RunF, ...]


def paper_runs(tuned: Tuning, official: Sequence[RunF], scoring: Official) -> PaperRuns:
    """Return the paper's Figure 5 by the paper's own classifier; `official` has official micro F.

    Thresholds are those of the likeliest model, learned without the run.
    """
    cells, classifier = tuned.cells, default_trial(tuned).classifier
    scores = classifier.scores(cells.pool, cells.labels, cells.fold, tuned.idf)
    models = compare_models(cells.pool, scores, cells.labels)
    model = "global" if tuned.by == "question" else likeliest_model(models)
    classifier = replace(classifier, threshold_model=model)
    chances, _ = classifier.leave_out(cells.pool, cells.labels, cells.fold, tuned.idf)
    guessed = micro_f(tuned, np.where(cells.known, cells.elsewhere > 0, chances), scoring)
    bars = _micro_intervals(guessed, np.array([row.official for row in official]))
    rows = []
    for row, score, bar in zip(official, guessed.tolist(), bars, strict=True):
        low, high = (bar.low, bar.high) if bar else (None, None)
        rows.append(row._replace(guessed=score, low=low, high=high))
    return PaperRuns(model, tuple(rows))


def micro_f(tuned: Tuning, cells: Floats, scoring: Official) -> Floats:
    """Return micro F of runs from values of judged cells; the others carry nothing."""
    labels = tuned.cells.labels if tuned.cells.official is None else tuned.cells.official
    judged = np.where(np.isnan(labels), 0.0, cells)
    return average_f(pool_stats(tuned.cells.pool, judged, scoring), scoring.beta).micro


def tau_curve(inputs: EvaluationInputs) -> Iterator[TauPoint]:
    """Yield the paper's Figure 6: tau-b of micro F at fixed thresholds, stemmed and not, n = 1 … 3.

    idf and all words, whatever the best setting is. What identical responses were judged is not
    used, so that the threshold alone decides.
    """
    tuned, cells = inputs.tuned, inputs.tuned.cells
    rules = [trial.classifier for trial in tuned.trials]
    for rule in (rule for rule in rules if (rule.weight, rule.stop) == ("idf", "none")):
        scores = rule.scores(cells.pool, cells.labels, cells.fold, tuned.idf)
        for threshold in thresholds_of(scores):
            averages = average_f(
                inputs.scored((scores > threshold).astype(np.float64)), inputs.how.beta
            )
            tau = tau_b(inputs.official.micro, averages.micro)
            yield TauPoint(rule.stem, rule.n, threshold, tau)
