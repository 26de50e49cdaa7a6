"""The full report of a meta-evaluation on one set, as data: `karat meta SET -o page.html`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat.arrays import Floats, np
from karat.errors import InputError
from karat.evalset.loading import SetSource
from karat.meta.agreement import weighted_means
from karat.meta.evaluation import MetaEvaluation, meta_evaluate
from karat.meta.experiment import Experiment
from karat.meta.plane import MIN_SYSTEMS, PlaneFit, fit_plane, plane_data
from karat.meta.ranking import MetaRow
from karat.meta.reliability import ReliabilityRow, fitting_lengths, reliability
from karat.meta.scores import score_evalset
from karat.meta.unit_ratings import unit_ratings
from karat.meta.views import view
from karat.metrics.base import Metric
from karat.metrics.gtm import GTM, Explanation
from karat.metrics.ngram import AEv
from karat.progress import Progress, silent
from karat.results import Result
from karat.scoring import Metrics
from karat.stats.correlation import statistic
from karat.stats.raters import ANY, MIN_RATERS, CrossedMean, ratings_mean
from karat.stats.resampling import bootstrap_counts, central

MAX_SCATTERS = 24


class SystemScore(NamedTuple):
    """A system's score by a dimension or a metric, with its 95% bootstrap interval."""

    system: str
    source: str  # human or metric
    name: str  # the dimension or the metric
    value: float
    low: float
    high: float


def system_scores(result: MetaEvaluation) -> Iterator[SystemScore]:
    """Yield the mean human scores of every system, oriented, and its corpus scores as they are.

    Intervals resample segments, with the same draws for all systems. For raters in general, those
    of human scores are Student's, with the variance of segments and of raters.
    """
    experiment, scored, n = result.experiment, result.scored, len(result.evalset)
    resamples = bootstrap_counts(n, experiment.resamples, experiment.seed)
    counts = np.vstack([np.ones((1, n)), *resamples])
    scores = [
        ("human", name, weighted_means(result.evalset.human(name, experiment.normalise), counts))
        for name in experiment.dimensions
    ]
    for metric in scored.metrics:
        values = metric.sign * scored.corpus(metric, counts, scored.present)
        scores.append(("metric", str(metric), values))
    for source, name, values in scores:
        rated = human_means(result, name) if source == "human" else None
        for k, (system, draws) in enumerate(zip(result.evalset.systems, values.T, strict=True)):
            ends = central(draws[1:])
            if experiment.raters == ANY and rated is not None:
                mean = rated[k]
                ends = (math.nan, math.nan) if mean is None else mean.interval(ANY)[1:3]
            yield SystemScore(system, source, name, float(draws[0]), *ends)


def human_means(result: MetaEvaluation, dimension: str) -> list[CrossedMean | None]:
    """Return the mean human score of each system by segments and raters; None if unknown."""
    evalset, normalise = result.evalset, result.experiment.normalise
    has_label = ~np.isnan(evalset.human(dimension, normalise))
    ratings = unit_ratings(evalset, dimension, normalise, has_label, np.arange(len(evalset)))
    if ratings.unknown:
        return [None] * len(evalset.systems)
    means: list[CrossedMean | None] = []
    for k, labels in enumerate(has_label):
        units = np.flatnonzero(labels)
        weights = np.full(len(units), 1 / max(len(units), 1))
        rows = ratings.weighted(k, units, weights, np.zeros(len(units)))
        means.append(ratings_mean(rows) if rows is not None and len(units) else None)
    return means


class RaterShares(NamedTuple):
    """The part of raters in the variance of systems' human scores in one dimension."""

    dimension: str
    fewest: int  # raters of a system
    most: int
    share: float  # mean over systems; NaN if it cannot be told from noise


def rater_shares(result: MetaEvaluation) -> Iterator[RaterShares]:
    """Yield the part of raters in each dimension where several raters are known."""
    for dimension in result.experiment.dimensions:
        means = [mean for mean in human_means(result, dimension) if mean is not None]
        several = [mean for mean in means if mean.raters >= MIN_RATERS]
        if several:
            numbers = [mean.raters for mean in several]
            shares = [mean.parts.shares.raters for mean in several]
            defined = [share for share in shares if not math.isnan(share)]
            share = sum(defined) / len(defined) if defined else math.nan
            yield RaterShares(dimension, min(numbers), max(numbers), share)


class SystemPoint(NamedTuple):
    """A system's metric score and its human score, both higher for better."""

    score: float
    human: float
    system: str


class SystemScatter(NamedTuple):
    """Human against metric scores of systems."""

    dimension: str
    metric: Metric
    points: tuple[SystemPoint, ...]
    line: tuple[float, float] | None  # least-squares line: slope and intercept
    agreement: MetaRow | None  # over systems, by the first statistic
    scored_on: str  # the outputs behind the scores, in words


def scatters(result: MetaEvaluation) -> Iterator[SystemScatter]:
    """Yield human and metric scores of systems, for each dimension and metric up to the limit."""
    pairs = [(d, m) for d in result.experiment.dimensions for m in result.scored.metrics]
    for dimension, metric in pairs[:MAX_SCATTERS]:
        human = result.evalset.human(dimension, result.experiment.normalise)
        system_view = view("system", result.scored, human)
        scores = system_view.metrics[metric][:, 0].tolist(), system_view.human[:, 0].tolist()
        points = tuple(map(SystemPoint, *scores, result.evalset.systems))
        place = dimension, "system", str(metric)
        rows = (row for row in result.rows if (row.dimension, row.level, row.metric) == place)
        all_outputs = "metric scores on all outputs, human scores on those judged"
        on = all_outputs if result.experiment.system_scores == "all" else "on its judged outputs"
        yield SystemScatter(dimension, metric, points, _fit_line(points), next(rows, None), on)


def _fit_line(points: Sequence[SystemPoint]) -> tuple[float, float] | None:
    defined = [p for p in points if math.isfinite(p.score) and math.isfinite(p.human)]
    n = len(defined)
    if n < 3:
        return None
    x, y = sum(p.score for p in defined) / n, sum(p.human for p in defined) / n
    spread = sum((p.score - x) * (p.score - x) for p in defined)
    if spread <= 0:
        return None
    slope = sum((p.score - x) * (p.human - y) for p in defined) / spread
    return slope, y - slope * x


REFERENCES = 3  # number of references in the grid of an output


class Disagreement(NamedTuple):
    """An output on which the first metric and humans disagree; both scores higher for better."""

    dimension: str
    system: str
    segment: str
    human: float
    score: float
    gap: float  # the metric's percentile minus the humans'
    output: str
    references: tuple[str, ...]

    @property
    def matching(self) -> Explanation:
        """The words that match the first references, for the bitext grid."""
        return GTM(e=2, tok="13a").explain(self.output, self.references[:REFERENCES])


def disagreements(
    result: MetaEvaluation, dimensions: Sequence[str], count: int
) -> Iterator[Disagreement]:
    """Yield the outputs with the largest difference of percentiles, in both directions.

    A text is shown once, for the first dimension; each direction has one output per segment.
    """
    shown_texts: set[tuple[str, str]] = set()
    for dimension in dimensions:
        for sign in (1, -1):
            by_segment: dict[str, Disagreement] = {}
            for disagreement in _disagreements_by_gap(result, dimension, sign):
                if len(by_segment) == count:
                    break
                if (disagreement.segment, disagreement.output) not in shown_texts:
                    by_segment.setdefault(disagreement.segment, disagreement)
            for disagreement in by_segment.values():
                shown_texts.add((disagreement.segment, disagreement.output))
                yield disagreement


def _disagreements_by_gap(
    result: MetaEvaluation, dimension: str, sign: int
) -> Iterator[Disagreement]:
    """Yield outputs that the metric ranks higher (1) or lower (-1), by decreasing difference."""
    evalset = result.evalset
    human = evalset.human(dimension, result.experiment.normalise)
    score = result.scored.segments(result.scored.metrics[0])
    by_metric, by_people = _percentiles(score, human), _percentiles(human, score)
    for percentiles in (by_metric, by_people):
        defined = percentiles[~np.isnan(percentiles)]
        if (defined == defined[:1]).all():
            return  # equal scores give no ranks
    gaps = by_metric - by_people
    systems = list(evalset.systems.items())
    indices = np.argwhere(sign * gaps > 0).tolist()  # NaN is not
    for i, j in sorted(indices, key=lambda at: -abs(gaps[at[0], at[1]])):
        name, texts = systems[i]
        scores = float(human[i, j]), float(score[i, j]), float(gaps[i, j])
        place = dimension, name, evalset.segments[j]
        text, references = texts[j], evalset.references[j]
        if text is not None and references:  # otherwise there is nothing to show
            yield Disagreement(*place, *scores, text, references)


def _percentiles(scores: Floats, other_scores: Floats) -> Floats:
    """Return the share of outputs below each, ties counted half, among those with both scores."""
    is_paired = ~np.isnan(scores) & ~np.isnan(other_scores)
    values = np.sort(scores[is_paired])
    percentiles = np.full(scores.shape, np.nan)
    left, right = (np.searchsorted(values, scores[is_paired], side=s) for s in ("left", "right"))
    percentiles[is_paired] = (left + right) / 2 / max(len(values), 1)
    return percentiles


SHUFFLES = 50  # shuffles of the reliability curves


@dataclass(frozen=True, eq=False, repr=False)
class MetaReport(Result):
    """A meta-evaluation with its systems, planes, reliability and examples."""

    evaluation: MetaEvaluation
    systems: tuple[SystemScore, ...]
    scatters: tuple[SystemScatter, ...]
    planes: tuple[PlaneFit, ...]
    reliability: tuple[ReliabilityRow, ...]
    disagreements: tuple[Disagreement, ...]
    rater_shares: tuple[RaterShares, ...] = ()
    remarks: tuple[str, ...] = ()  # notes on parts that are not shown

    @property
    def any_raters(self) -> bool:
        """True if intervals of human scores are for raters in general."""
        return self.evaluation.experiment.raters == ANY

    @property
    def rows(self) -> tuple[MetaRow, ...]:
        """The agreement of all metrics."""
        return self.evaluation.rows

    @property
    def settings(self) -> dict[str, object]:
        """Every setting of the experiment, and the shuffles of the reliability curves."""
        return {**self.evaluation.settings, "shuffles": SHUFFLES}

    @property
    def signature(self) -> str:
        """The signatures of all metrics and of the data, one per line."""
        return self.evaluation.signature

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the agreement, on parts that are not shown, and on the planes."""
        planes = (note for fit in self.planes for note in fit.notes)
        return (*self.evaluation.notes, *self.remarks, *planes)


def meta_report(
    experiment: Experiment | SetSource,
    evalset: SetSource | None = None,
    *,
    metrics: Metrics | None = None,
    examples: int = 3,
    threads: int | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> MetaReport:
    """Rank metrics and collect everything that the report shows.

    Args:
        experiment, evalset, metrics, settings: as for `meta_evaluate`.
        examples: number of disagreements for each dimension and direction.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    result = meta_evaluate(
        experiment, evalset, metrics=metrics, threads=threads, progress=progress, **settings
    )
    remarks: list[str] = []
    complete_experiment = result.experiment
    n_pairs = len(complete_experiment.dimensions) * len(result.scored.metrics)
    if n_pairs > MAX_SCATTERS:
        remarks.append(
            f"Scatter plots: the first {MAX_SCATTERS} of {n_pairs} pairs of dimension and metric; "
            "choose fewer with --dimension and --metric to see the others."
        )
    planes = tuple(_fit_planes(result, remarks, progress))
    return MetaReport(
        result,
        tuple(system_scores(result)),
        tuple(scatters(result)),
        planes,
        _reliability_rows(result, progress),
        tuple(disagreements(result, complete_experiment.dimensions, examples)),
        tuple(rater_shares(result)),
        tuple(remarks),
    )


def _fit_planes(
    result: MetaEvaluation, remarks: list[str], progress: Progress
) -> Iterator[PlaneFit]:
    """Yield the planes of all dimensions with enough systems; remark on those without a plane."""
    experiment, family = result.experiment, AEv()
    if not (result.evalset.has_texts and all(result.evalset.references)):
        remarks.append("No plane: not all segments have references, or there are no texts.")
        return
    scored = score_evalset(result.evalset, family, progress=progress)
    settings: dict[str, Any] = {
        name: getattr(experiment, name) for name in ("resamples", "over", "seed")
    }
    for dimension in experiment.dimensions:
        data = plane_data(scored, family, dimension, experiment.normalise)
        if (~np.isnan(data.judged)).any(axis=1).sum() < MIN_SYSTEMS:
            continue
        try:
            yield fit_plane(data, dimension, **settings, progress=progress)
        except InputError as error:  # constant human scores: other parts are still shown
            remarks.append(f"No plane for {error}.")


def _reliability_rows(result: MetaEvaluation, progress: Progress) -> tuple[ReliabilityRow, ...]:
    """Return the reliability in all dimensions by the first suitable statistic, if possible."""
    experiment = result.experiment
    lengths = fitting_lengths(len(result.evalset))
    by = next((s for s in experiment.statistics if statistic(s).of_segments is None), "pearson")
    if len(lengths) < 2:
        return ()
    return reliability(
        result.scored,
        experiment.dimensions,
        lengths=lengths,
        statistics=[by],
        normalise=experiment.normalise,
        repeats=SHUFFLES,
        seed=experiment.seed,
        progress=progress,
    ).rows
