"""Agreement of nugget scores without assessors with assessors: Nuggeteer, Pourpre and ROUGE.

The classifiers are cross-validated: every decision comes from a model that has not seen its fold.
Pourpre and ROUGE learn nothing. Official scores of runs are F(beta) for Pourpre, which imitates it,
and the mean share of nuggets, A, for all others; from judgements as they are, or corrected, as in
the paper: a response carries a nugget if an identical one, of any system, was judged to carry it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from karat.arrays import Floats, np
from karat.errors import InputError
from karat.nuggets.prediction.calibrated import CrossValidation, cross_validate
from karat.nuggets.prediction.evidence import evidence
from karat.nuggets.prediction.intervals import ScoreInterval, intervals_of_runs
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.official_scores import (
    EvaluationInputs,
    OfficialComparison,
    ShareInterval,
    compare_on_official_f,
    f_difference,
)
from karat.nuggets.prediction.paper import Paper
from karat.nuggets.prediction.pool import (
    AssessorAgreement,
    Pool,
    assessor_agreement,
    assign_runs,
    corrected_labels,
    make_pool,
    run_labels,
    strict_labels,
    with_institutions,
)
from karat.nuggets.prediction.tuning import (
    ModelTrial,
    PaperChoice,
    Tuning,
    likeliest,
    paper_choice,
    tune_all,
)
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import Official, RunScore
from karat.nuggets.scores.pourpre import DEFAULT, WITHOUT_STOP_WORDS, Pourpre, score_rouge
from karat.nuggets.scores.words import ENGLISH, Weigh
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.stats.correlation import r_squared, rmse, tau_b


class BaselineMeasure(NamedTuple):
    """A score that decides nothing about single nuggets: over runs only."""

    name: str
    tau_b: float
    r_squared: float
    rmse: float | None
    """None where it is on another scale than the official score."""


class ThresholdCurve(NamedTuple):
    """tau-b of runs when one threshold is used for all cells."""

    name: str
    points: tuple[tuple[float, float], ...]
    """Thresholds from low to high, and tau-b."""


@dataclass(frozen=True, eq=False)
class Evaluation(Tuning):
    """Classifiers and baselines against assessors."""

    calibrated: CrossValidation
    baselines: tuple[BaselineMeasure, ...]
    curves: tuple[ThresholdCurve, ...]
    """Kendall's tau-b of runs against the threshold (Figure 6)."""
    official: dict[str, float]
    """The official score of each run, A."""
    guessed: dict[str, float]
    """The score of each run that the calibrated classifier expects."""
    intervals: dict[str, ScoreInterval | None]
    """Of what it expects, from its errors on the other runs: the bars of the paper's Figure 5."""
    known: float
    """The share of judged pairs that are known from identical responses in other folds."""
    alone: tuple[AssessorAgreement, ...] | None
    """Of the calibrated classifier and the best of the paper's on the other pairs; it says nothing
    about runs. None where nothing is known."""
    on_official: OfficialComparison
    """All ways on one score, the official F."""
    lead: ShareInterval
    """F of the calibrated classifier minus that of the paper's; its interval is over questions."""

    @property
    def likeliest(self) -> ModelTrial:
        """The threshold model that the data favour."""
        return likeliest(self)

    @property
    def paper_choice(self) -> PaperChoice:
        """The paper's classifier at its best by F: its agreement with assessors."""
        return paper_choice(self)

    @property
    def winner(self) -> str:
        """By F: `calibrated`; `paper`, with its best setting or likeliest thresholds; or `tie`."""
        calibrated, paper = self.calibrated.agreement.f, self.paper_choice.agreement.f
        if calibrated == paper:
            return "tie"
        return "calibrated" if calibrated > paper else "paper"


def judged_pool(nuggets: NuggetSet, *, strict: bool = False) -> tuple[Pool, Floats]:
    """Return the responses of judged runs, and what assessors said of each pair; NaN: nothing.

    If `strict`, support in part is none. A run whose file does not say its institution has the one
    that its tag tells.
    """
    nuggets = with_institutions(nuggets)
    if not nuggets.runs or not nuggets.judgements.deciding:
        raise InputError(f"{nuggets.name}: expected runs and judgements of them by people")
    judgements = assign_runs(nuggets.judgements, nuggets.runs)
    judged = {row.run for row in judgements.deciding}
    runs = [run for tag, run in nuggets.runs.items() if tag in judged]
    pool = make_pool(nuggets.key, runs)  # of the others nobody knows what they are worth
    labels = run_labels(pool, judgements)
    labels = strict_labels(labels) if strict else labels
    is_judged = ~np.isnan(labels)
    if not (labels[is_judged] > 0).any() or not (labels[is_judged] == 0).any():
        raise InputError(f"{nuggets.name}: expected judgements of both kinds, carried and not")
    if len(np.unique(pool.cell_run[is_judged])) < 2:
        raise InputError(f"{nuggets.name}: expected at least two judged runs")
    return pool, labels


def evaluate(
    nuggets: NuggetSet,
    by: str = "system",
    beta: float = 3.0,
    progress: Progress = silent,
    *,
    paper: Paper | None = None,
    corrected: bool = False,
    strict: bool = False,
) -> Evaluation:
    """Cross-validate the classifiers, and set the baselines beside them.

    `paper` says what the 24 settings have in common; its idf is for both classifiers and Pourpre.
    Classifiers learn from judgements as they are: `corrected` ones are only compared with, as they
    tell what the run that is left out was judged. If `strict`, support in part is none.
    """
    paper = paper or Paper()
    source = paper.source
    pool, labels = judged_pool(nuggets, strict=strict)
    judged = official_labels(pool, labels, nuggets.judgements, corrected, strict)
    tuned = tune_all(pool, labels, by, paper, progress, judged)
    near = None if by == "question" else Likeness(pool)
    X = evidence(pool, source.of_classifier(pool, ENGLISH), progress)
    calibrated = cross_validate(tuned.cells, X, near, progress=progress)
    cells = np.where(judged > 0, 1.0, 0.0), calibrated.probabilities
    official, guessed = (pool.run_scores(x) for x in cells)
    by_question = (pool.question_scores(x) for x in reversed(cells))
    known_share = float(calibrated.known[~np.isnan(judged)].mean())
    alone = (
        assessor_agreement(pool, result.carried, np.where(result.known, np.nan, judged))
        for result in (calibrated, tuned.best)
    )
    classic = Official(beta, strict=strict)
    scores = _official_scores(nuggets, pool, classic, corrected)
    weigh = source.of_words(nuggets.runs.values(), Pourpre().stem)
    inputs = EvaluationInputs(nuggets, tuned, calibrated, judged, classic, scores)
    return Evaluation(
        **vars(tuned),
        calibrated=calibrated,
        baselines=tuple(_baselines(inputs, official, weigh)),
        curves=tuple(_curve(tuned, n, official) for n in (1, 2, 3)),
        official=dict(zip(pool.runs, official.tolist(), strict=True)),
        guessed=dict(zip(pool.runs, guessed.tolist(), strict=True)),
        intervals=dict(zip(pool.runs, intervals_of_runs(*by_question), strict=True)),
        known=known_share,
        alone=tuple(alone) if known_share else None,
        on_official=compare_on_official_f(inputs, weigh),
        lead=f_difference(pool, calibrated.carried, paper_choice(tuned).carried, judged),
    )


def official_labels(
    pool: Pool, labels: Floats, judgements: Judgements, corrected: bool, strict: bool
) -> Floats:
    """Return the labels to compare with: those that are learned from, or corrected ones."""
    official = corrected_labels(pool, judgements) if corrected else labels
    return strict_labels(official) if strict else official


def _curve(tuned: Tuning, n: int, official: Floats) -> ThresholdCurve:
    """Return tau-b at 40 quantiles of the scores of n-grams."""
    points, rule, cells = [], replace(tuned.how, n=n), tuned.cells
    scores = rule.scores(cells.pool, cells.labels, cells.fold, tuned.idf)
    for threshold in np.unique(np.quantile(scores, np.linspace(0, 0.995, 40))).tolist():
        runs = cells.pool.run_scores((scores > threshold).astype(np.float64))
        points.append((float(threshold), tau_b(official, runs)))
    return ThresholdCurve(rule.shown, tuple(points))


def _official_scores(
    nuggets: NuggetSet, pool: Pool, official: Official, corrected: bool
) -> list[RunScore]:
    """Return F(beta) of every run from its judgements, or from corrected ones."""
    scores, key = [], nuggets.key
    for run in (nuggets.runs[tag] for tag in pool.runs):
        run_tag = None if corrected else run.tag
        scores.append(
            official.score(run, key, decide_run(run, key, nuggets.judgements, run_tag=run_tag))
        )
    return scores


def _baselines(inputs: EvaluationInputs, official: Floats, idf: Weigh) -> Iterator[BaselineMeasure]:
    """Compare Pourpre with F(beta) of every run from its judgements, and ROUGE with A."""
    runs, key = [inputs.nuggets.runs[tag] for tag in inputs.pool.runs], inputs.nuggets.key
    for name, weigh in (("count", Pourpre().weigh), ("idf", idf)):
        pourpre = Pourpre(beta=inputs.how.beta, weigh=weigh)
        rows = [pourpre.score(run, key) for run in runs]
        for kind in ("macro", "micro"):
            both = inputs.scores, rows
            official_f, scores = (np.array([getattr(row, kind).f for row in x]) for x in both)
            numbers = (
                tau_b(official_f, scores),
                r_squared(official_f, scores),
                rmse(official_f, scores),
            )
            yield BaselineMeasure(f"Pourpre {name}, {kind}", *numbers)
    for name, rouge in (("ROUGE-1", DEFAULT), ("ROUGE-1, stop words out", WITHOUT_STOP_WORDS)):
        scores = np.array([score_rouge(run, key, rouge).value for run in runs])
        yield BaselineMeasure(name, tau_b(official, scores), r_squared(official, scores), None)
