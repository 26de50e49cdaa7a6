"""`agree_nuggets`, and the agreement of decisions and scores with the official ones.

The authors of the paper corrected guesses about one run themselves. They report precision, recall
and F of their judgements against the official ones, and both scores of the run (section 4.7).

Intervals over questions are the jackknife's. With s_k the score without question k of n,

    variance = (n - 1) / n * sum over k of (s_k - mean of all s_k)^2,

and the 95% interval is Student's with n - 1 degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, sqrt
from typing import Any, NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.evalset.judgements import PERSON
from karat.nuggets.formats.loading import as_nuggets, load_nuggets
from karat.nuggets.prediction.pool import (
    Pool,
    assign_runs,
    corrected_labels,
    make_pool,
    run_labels,
)
from karat.nuggets.results.notes import CORRECTED_NOTE, STRICT_NOTE
from karat.nuggets.scores.official import NuggetStats, OfficialSettings, RunScore, pool_stats
from karat.nuggets.sets.judgements import UNNAMED, Judgements
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.correlation import r_squared, rmse, tau_b
from karat.stats.distributions import student_quantile
from karat.stats.judges import cohen_kappa
from karat.stats.significance import UNDECIDED, interval_verdict

AVERAGES = ("micro", "macro")
FAR = 0.1  # difference that official scores of two assessors may have (Voorhees 2003)
IN_HINDSIGHT = "threshold in hindsight"
"""The paper chose one threshold for each set by its result there (section 2.4)."""


class Swap(NamedTuple):
    """Two runs that guesses and official scores order differently, and both differences."""

    method: str
    average: str
    better: str  # the run with the higher official score
    worse: str
    official: float
    guessed: float  # difference of their guessed scores: below 0


class ScoreAgreement(NamedTuple):
    """Agreement of a method of scoring runs with official F."""

    method: str
    average: str
    threshold: float | None  # threshold chosen in hindsight
    tau_b: float
    r_squared: float
    rmse: float | None  # None for scores on another scale
    swaps: int
    pairs: int  # pairs of runs with different official scores
    swap_median: float | None
    swap_largest: float | None
    swaps_far: int  # swaps of runs that differ by 0.1 or more


class JudgementAgreement(NamedTuple):
    """Agreement of decisions with assessors (Table 5); the interval of F is over questions."""

    method: str
    precision: float
    recall: float
    f: float
    low: float | None
    high: float | None
    difference: float | None = None
    """F minus the F of the calibrated classifier, with its interval over questions."""
    difference_low: float | None = None
    difference_high: float | None = None

    @property
    def verdict(self) -> str:
        """`better` or `worse` than the calibrated classifier, or `undecided`."""
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


# ------------------------------------------------------------------------------ scores of runs


class ScoringMethod(NamedTuple):
    """Both averages of a method, its thresholds for both, and whether it has the scale of F."""

    name: str
    scores: AverageScores
    thresholds: tuple[float | None, float | None] = (None, None)
    scaled: bool = True
    run_scores: Sequence[RunScore] = ()  # scores of Pourpre, as published


def in_hindsight(
    name: str,
    official_averages: AverageScores,
    thresholds: Sequence[float],
    scores_at: Callable[[float], AverageScores],
) -> ScoringMethod:
    """Return a method at the thresholds with the best tau-b, one for each average."""
    scores = [scores_at(threshold) for threshold in thresholds]
    best = []
    for k, official_scores in enumerate(official_averages):
        taus = [tau_b(official_scores, averages[k]) for averages in scores]
        best.append(max(range(len(taus)), key=lambda t: -2.0 if isnan(taus[t]) else taus[t]))
    micro, macro = best
    averages = AverageScores(scores[micro].micro, scores[macro].macro)
    return ScoringMethod(
        f"{name}, {IN_HINDSIGHT}", averages, (float(thresholds[micro]), float(thresholds[macro]))
    )


def swapped(
    method: str, average: str, runs: Sequence[str], official_scores: Floats, guessed_scores: Floats
) -> Iterator[Swap]:
    """Yield the pairs of runs that guesses swap, largest difference first; ties are not swaps."""
    official_gap, guessed_gap = (
        np.subtract.outer(scores, scores) for scores in (official_scores, guessed_scores)
    )
    i, j = np.nonzero((official_gap > SLACK) & (guessed_gap < -SLACK))
    for k in np.lexsort((j, i, -official_gap[i, j])).tolist():
        pair = int(i[k]), int(j[k])
        gaps = float(official_gap[pair]), float(guessed_gap[pair])
        yield Swap(method, average, runs[pair[0]], runs[pair[1]], *gaps)


def agreement_of_scores(
    method: ScoringMethod, official_averages: AverageScores, runs: Sequence[str]
) -> Iterator[tuple[ScoreAgreement, list[Swap]]]:
    """Yield the agreement of a method with both averages of official F, and the swaps."""
    for average, official_scores, scores, threshold in zip(
        AVERAGES, official_averages, method.scores, method.thresholds, strict=True
    ):
        swaps = list(swapped(method.name, average, runs, official_scores, scores))
        sizes = [swap.official for swap in swaps]
        row = ScoreAgreement(
            method=method.name,
            average=average,
            threshold=threshold,
            tau_b=tau_b(official_scores, scores),
            r_squared=r_squared(official_scores, scores),
            rmse=rmse(official_scores, scores) if method.scaled else None,
            swaps=len(sizes),
            pairs=int((np.subtract.outer(official_scores, official_scores) > SLACK).sum()),
            swap_median=float(np.median(sizes)) if sizes else None,
            swap_largest=max(sizes, default=None),
            swaps_far=sum(size >= FAR - SLACK for size in sizes),
        )
        yield row, swaps


# --------------------------------------------------------------------------------- decisions


class JackknifeInterval(NamedTuple):
    """A score (None without questions) and its interval (None for a single question)."""

    score: float | None = None
    low: float | None = None
    high: float | None = None


def jackknife_interval(
    value: float, without: Sequence[float] | Floats, least: float = 0.0
) -> JackknifeInterval:
    """Return the 95% interval of a score, given the scores without each of its questions."""
    n = len(without)
    if n < 2:
        return JackknifeInterval(value)
    scores = np.asarray(without)
    variance = (n - 1) / n * float(np.square(scores - scores.mean()).sum())
    reach = student_quantile(0.025, n - 1) * sqrt(variance)
    return JackknifeInterval(value, max(least, value - reach), min(1.0, value + reach))


def counts_by_question(pool: Pool, carried: Flags, labels: Floats) -> Floats:
    """Return numbers of pairs by question: true positives, predicted and actual positives."""
    judged = ~np.isnan(labels)
    yes, predicted = judged & (labels > 0), judged & carried
    size = len(pool.questions)
    kinds = (pool.cell_question[mask] for mask in (yes & predicted, predicted, yes))
    return np.array([np.bincount(kind, minlength=size) for kind in kinds], dtype=np.float64)


def _leave_one_out(top: Floats, bottom: Floats) -> Floats:
    """Return the ratio of sums without each question and, last, over all questions."""
    above = np.append(top.sum() - top, top.sum())
    below = np.append(bottom.sum() - bottom, bottom.sum())
    shares: Floats = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return shares


def share_interval(top: Floats, bottom: Floats) -> JackknifeInterval:
    """Return the ratio of sums over the questions with a positive denominator."""
    nonempty = bottom > 0
    if not nonempty.any():
        return JackknifeInterval()
    *without, share = _leave_one_out(top[nonempty], bottom[nonempty]).tolist()
    return jackknife_interval(share, without)


def f_difference(pool: Pool, first: Flags, second: Flags, labels: Floats) -> JackknifeInterval:
    """Return the difference of F between two sets of decisions."""
    scores = []
    for carried in (first, second):
        hits, predicted, actual = counts_by_question(pool, carried, labels)
        scores.append(_leave_one_out(2 * hits, predicted + actual))
    *without, difference = (scores[0] - scores[1]).tolist()
    return jackknife_interval(difference, without, least=-1.0)


def agreement_of_judgements(
    method: str, pool: Pool, carried: Flags, labels: Floats, base: Flags | None = None
) -> JudgementAgreement:
    """Return precision, recall and F of decisions; the interval of F is over questions.

    `base` has the decisions of the calibrated classifier, for the difference of F.
    """
    hits, predicted, actual = counts_by_question(pool, carried, labels)
    precision, recall = (share_interval(hits, part).score or 0.0 for part in (predicted, actual))
    f, low, high = share_interval(2 * hits, predicted + actual)
    difference = JackknifeInterval() if base is None else f_difference(pool, carried, base, labels)
    return JudgementAgreement(method, precision, recall, f or 0.0, low, high, *difference)


# ------------------------------------------------------------------------ two sets of judgements

ALL = "all runs"


class AgreementRow(NamedTuple):
    """Agreement of other judgements with the official ones; intervals are over questions."""

    run: str
    pairs: int  # number of pairs of response and nugget that both judged
    precision: float | None  # None without predicted positives; recall: without actual ones
    precision_low: float | None
    precision_high: float | None
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    f: float | None
    f_low: float | None
    f_high: float | None
    equal: float
    kappa: float | None  # Cohen's; None if all labels are the same


class ShiftRow(NamedTuple):
    """F of a run by official and by other judgements, with the interval of the difference."""

    run: str
    average: str
    official: float
    other: float
    difference: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False, repr=False)
class NuggetAgreement(Result):
    """Agreement of two sets of judgements on the pairs that both judged."""

    name: str
    settings: Mapping[str, Any]
    pool: Pool
    official_values: Floats  # values of cells that both judged; NaN elsewhere
    other_values: Floats
    left_out: tuple[int, int]  # pairs that only the official, and that only the others have
    models: tuple[str, ...] = ()
    """Models that made the other judgements, if no person did."""

    signature = ""

    @cached_property
    def rows(self) -> tuple[AgreementRow, ...]:
        """Agreement on all runs, then on each."""
        in_run = [(tag, self.pool.cell_run == k) for k, tag in enumerate(self.pool.runs)]
        in_all = ALL, np.ones(len(self.official_values), dtype=np.bool_)
        return tuple(self._row(tag, mask) for tag, mask in [in_all, *in_run])

    def _row(self, run: str, mask: Flags) -> AgreementRow:
        official_values = np.where(mask, self.official_values, np.nan)
        hits, predicted, actual = counts_by_question(
            self.pool, self.other_values > 0, official_values
        )
        shares = (hits, predicted), (hits, actual), (2 * hits, predicted + actual)
        precision, recall, f = (share_interval(*counts) for counts in shares)
        is_judged = mask & ~np.isnan(self.official_values)
        both = self.official_values, self.other_values
        labels = ((values[is_judged] > 0).astype(np.float64) for values in both)
        kappa = cohen_kappa(*labels)
        kappa_value = None if np.isnan(kappa.value) else kappa.value
        return AgreementRow(run, kappa.units, *precision, *recall, *f, kappa.equal, kappa_value)

    @cached_property
    def _stats(self) -> tuple[NuggetStats, NuggetStats]:
        """Statistics by both, runs x questions; answers without a common pair have no weight."""
        shape = len(self.pool.runs), len(self.pool.questions)
        answers = self.pool.cell_run * shape[1] + self.pool.cell_question
        judged_pairs = np.bincount(
            answers[~np.isnan(self.official_values)], minlength=shape[0] * shape[1]
        )
        has_judged_pair = judged_pairs.reshape(shape) > 0
        both = self.official_values, self.other_values
        carried = ((np.nan_to_num(values) > 0).astype(np.float64) for values in both)
        settings = OfficialSettings(self.settings["beta"])
        official_stats, other_stats = (
            pool_stats(self.pool, values, settings).select(has_judged_pair) for values in carried
        )
        return official_stats, other_stats

    @cached_property
    def _averages(self) -> tuple[AverageScores, AverageScores]:
        beta = self.settings["beta"]
        official_averages, other_averages = (average_f(stats, beta) for stats in self._stats)
        return official_averages, other_averages

    @cached_property
    def runs(self) -> tuple[ShiftRow, ...]:
        """Both scores of every run that has questions with weight."""
        rows, n_questions = [], len(self.pool.questions)
        for average in AVERAGES:
            both = zip(*(getattr(x, average).tolist() for x in self._averages), strict=True)
            for k, (official_score, other_score) in enumerate(both):
                if np.isnan(official_score):
                    continue
                without = [
                    self._score_shift(average, k, np.arange(n_questions) != question)
                    for question in np.flatnonzero(self._stats[0].total[k] > 0)
                ]
                shift = other_score - official_score
                _, low, high = jackknife_interval(shift, without, -1.0)
                scores = official_score, other_score, shift
                rows.append(ShiftRow(self.pool.runs[k], average, *scores, low, high))
        return tuple(rows)

    def _score_shift(self, average: str, run: int, questions: Flags) -> float:
        """Return a run's other score minus its official score, on some questions."""
        official_averages, other_averages = (
            average_f(stats.run(slice(run, run + 1)).select(questions), self.settings["beta"])
            for stats in self._stats
        )
        other_score, official_score = (
            getattr(other_averages, average),
            getattr(official_averages, average),
        )
        return float(other_score[0]) - float(official_score[0])

    @cached_property
    def _scored(self) -> list[tuple[ScoreAgreement, list[Swap]]]:
        has_score = np.flatnonzero(~np.isnan(self._averages[0].micro))
        if len(has_score) < 2:
            return []
        runs = [self.pool.runs[k] for k in has_score]
        official_averages, other_averages = (
            AverageScores(*(part[has_score] for part in averages)) for averages in self._averages
        )
        method = ScoringMethod("other judgements", other_averages)
        return list(agreement_of_scores(method, official_averages, runs))

    @property
    def scores(self) -> tuple[ScoreAgreement, ...]:
        """Agreement of the scores of runs, with rank swaps; empty for a single run."""
        return tuple(row for row, _ in self._scored)

    @property
    def swaps(self) -> tuple[Swap, ...]:
        """The pairs of runs that both judgements order differently."""
        return tuple(swap for _, swaps in self._scored for swap in swaps)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the comparison."""
        only_official, only_other = self.left_out
        models = ", ".join(name or UNNAMED for name in self.models)
        return (
            "Precision: share of the pairs that the other judgements call carried which the "
            "official ones call carried too; recall is the reverse. Intervals: 95%, over "
            "questions.",
            f"Only pairs judged in both sets count, also in scores; {only_official:,} pairs that "
            f"only the official and {only_other:,} that only the other judgements have are left "
            "out.",
            *([f"The other judgements are labels of models: {models}."] if models else []),
            *[STRICT_NOTE] * self.settings["strict"],
            *[CORRECTED_NOTE.format("Judgements")] * self.settings["corrected"],
        )


def agree_nuggets(
    nuggets: NuggetSet | GivenPath,
    other: NuggetSet | Judgements | GivenPath,
    beta: float = 3.0,
    *,
    corrected: bool = False,
    strict: bool = False,
    progress: Progress = silent,
) -> NuggetAgreement:
    """Compare other judgements with the official judgements of a set.

    Args:
        nuggets: set with the official judgements, or its name or path.
        other: set with other judgements, or the path of a file of judgements. Labels of models are
            compared if it has no judgements of people.
        beta: weight of recall in F.
        corrected: apply each judgement to identical responses of all runs.
        strict: count partial support as no support.
        progress: function that is called with the progress.
    """
    OfficialSettings(beta)
    if not isinstance(other, NuggetSet | Judgements):
        if isinstance(nuggets, NuggetSet):
            other = as_nuggets(other, progress)
        else:
            other = load_nuggets(nuggets, judgements=[other], progress=progress)
    nuggets = as_nuggets(nuggets, progress)
    other_judgements = other.judgements if isinstance(other, NuggetSet) else other
    models = () if other_judgements.deciding else tuple(other_judgements.labels_by_model)
    if models:  # without judgements of people, labels of models are compared
        by_people = (row._replace(kind=PERSON) for row in other_judgements.rows)
        other_judgements = other_judgements.with_rows(by_people)
    both = nuggets.judgements, other_judgements
    for adjective, judgements in zip(("", " other"), both, strict=True):
        if not nuggets.runs or not judgements.deciding:
            raise InputError(
                f"{nuggets.name}: expected runs and{adjective} judgements of them by people"
            )
    pool = make_pool(nuggets.key, nuggets.runs.values())
    labels_of = corrected_labels if corrected else run_labels
    values = [labels_of(pool, assign_runs(x, nuggets.runs), strict=strict) for x in both]
    is_judged = [~np.isnan(x) for x in values]
    shared = is_judged[0] & is_judged[1]
    if not shared.any():
        raise InputError(
            f"{nuggets.name}: no pair of response and nugget has judgements of both; expected the "
            "same questions, nuggets and responses in both"
        )
    rows = np.unique(pool.run[pool.cell_response[shared]])
    judged = make_pool(nuggets.key, [nuggets.runs[pool.runs[k]] for k in rows.tolist()])
    is_selected = np.isin(pool.cell_run, rows)
    official_values, other_values = (np.where(shared, x, np.nan)[is_selected] for x in values)
    settings = {"beta": beta, "corrected": corrected, "strict": strict}
    left_out = int((is_judged[0] & ~shared).sum()), int((is_judged[1] & ~shared).sum())
    values_of_both = official_values, other_values
    return NuggetAgreement(nuggets.name, settings, judged, *values_of_both, left_out, models)
