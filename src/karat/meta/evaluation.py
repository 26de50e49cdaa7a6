"""Run an experiment: the agreement of every metric with human scores, and notes on it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from karat.arrays import ArrayLike, as_floats, np
from karat.errors import InputError, quoted
from karat.evalset.loading import SetSource, as_evalset, load_evalset, parse_options, source_error
from karat.evalset.sets import EvalSet, check_known
from karat.meta.agreement import check_matrix_level
from karat.meta.experiment import ONLY_IF_GIVEN, Experiment
from karat.meta.ranking import MetaRow, MetricTest, RankingTask, Resampled, rank
from karat.meta.scores import ScoredSet, score_evalset, with_references
from karat.meta.views import LEVEL_MEANINGS, OF_SYSTEMS, check_level, matrix_view, mean_view, view
from karat.metrics.base import Metric
from karat.metrics.length import Length
from karat.metrics.names import scores_metric
from karat.progress import Progress, n_threads, silent
from karat.results import SignedResult
from karat.score_settings import DEFAULT_METRICS
from karat.scoring import Metrics
from karat.stats.correlation import STATISTICS
from karat.stats.exchanges import MAX_EXACT_CELLS

MIN_RANKING_SYSTEMS = 10


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(SignedResult):
    """Metrics ranked by their agreement with human scores, and the tests between them."""

    experiment: Experiment
    rows: tuple[MetaRow, ...]
    tests: tuple[MetricTest, ...]
    resampled: Mapping[RankingTask, Resampled]  # behind the intervals and tests

    @property
    def name(self) -> str:
        """The name of the evaluated set."""
        return self.experiment.evalset

    @property
    def settings(self) -> dict[str, object]:
        """Every setting of the experiment."""
        settings = {f.name: getattr(self.experiment, f.name) for f in fields(self.experiment)}
        settings = {
            key: value
            for key, value in settings.items()
            if key not in ONLY_IF_GIVEN or value != ONLY_IF_GIVEN[key]
        }
        return {**settings, "metrics": tuple(map(str, self.experiment.metrics))}

    @property
    def source(self) -> object:
        """Source of the scores; results of one source share their resamples."""
        return id(self)

    @property
    def metric_names(self) -> dict[str, tuple[str, ...]]:
        """Each metric, with its names in rows."""
        return {row.metric: (row.metric,) for row in self.rows}

    @property
    def terms(self) -> dict[str, str]:
        """The meaning of each level and statistic of the rows."""
        levels = {row.level: LEVEL_MEANINGS.get(row.level, row.level) for row in self.rows}
        return levels | {row.statistic: STATISTICS[row.statistic].help for row in self.rows}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the methods and the data."""
        return (*_method_notes(self), *self.remarks)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes on the data."""
        return tuple(_warn_of_few_systems(self))

    @property
    def signatures(self) -> dict[str, str]:
        """The full signature of each metric whose outputs were scored here."""
        return {}


def exchanges_add_up(results: Iterable[Ranking]) -> bool:
    """Return whether the differences of exchanges can be averaged over all tasks.

    All tasks must have been tested, and tasks of one set by the same exchanges: treated as
    independent, they would give too small a p.
    """
    of_cells: dict[object, list[bool]] = {}
    for result in results:
        for (*_, statistic), resampled in result.resampled.items():
            if not resampled.exchanges:
                return False
            of_cells.setdefault(result.source, []).append(STATISTICS[statistic].exchanges_cells)
    return all(len(flags) == 1 or all(flags) for flags in of_cells.values())


class SetSize(NamedTuple):
    """The size of the judged part of a set."""

    systems: int
    segments: int
    outputs: int  # outputs with at least one judgement
    judges: tuple[str, ...]  # names of the judges; identical ones are counted once


@dataclass(frozen=True, eq=False, repr=False)
class MetaEvaluation(Ranking):
    """The results of an experiment, and the scores behind them."""

    scored: ScoredSet  # statistics of the outputs, without excluded systems

    @property
    def evalset(self) -> EvalSet:
        """The set without excluded systems."""
        return self.scored.evalset

    @property
    def name(self) -> str:
        """The name of the set."""
        return self.evalset.name

    @property
    def size(self) -> SetSize:
        """Systems, segments, judged outputs and judges of the chosen dimensions."""
        evalset, judged = self.evalset, self.evalset.judgements.without_models()
        dimensions = self.experiment.dimensions
        names = {
            part
            for dimension in dimensions
            for part in evalset.difference(dimension) or (dimension,)
        }
        judgements = judged.select_rows(
            np.isin(judged.dimension, [judged.dimensions.index(n) for n in names])
        )
        outputs = set(zip(judgements.system.tolist(), judgements.segment.tolist(), strict=True))
        counted = {j for name in names for j in evalset.representatives(name).values()}
        judges = tuple(judge for judge in judgements.judges if judge in counted)
        return SetSize(len(evalset.systems), len(evalset), len(outputs), judges)

    @property
    def signatures(self) -> dict[str, str]:
        """The full signature of each metric in the rows, and of the set.

        Some metrics have another name for segments.
        """
        used = {row.metric for row in self.rows}
        both = (m for of in self.scored.metrics for m in (of, of.of_segments()))
        signed = {str(m): self.scored.signature(m) for m in both if str(m) in used}
        return {**signed, "set": self.evalset.signature}

    @property
    def source(self) -> object:
        """The set; experiments on one set share their resamples."""
        experiment = self.experiment
        added = experiment.judgements, experiment.model_judges
        return experiment.evalset, experiment.read_as, experiment.reader_options, added

    @property
    def metric_names(self) -> dict[str, tuple[str, ...]]:
        """Each metric, with its names in rows; some have another name for segments."""
        return {str(m): (str(m), str(m.of_segments())) for m in self.scored.metrics}

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes on the scores and the data."""
        bare = f"{self.evalset.name} has no references: metrics that need none are ranked"
        has_references = any(self.evalset.references)
        sentences = (
            *([] if has_references else [bare]),
            *_score_notes(self),
            *self.scored.notes(),
            *_warn_of_few_systems(self),
        )
        return (*sentences, *self.evalset.notes)


def meta_evaluate(
    experiment: Experiment | SetSource,
    evalset: SetSource | None = None,
    *,
    metrics: Metrics | None = None,
    threads: int | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> MetaEvaluation:
    """Rank metrics by their agreement with human scores.

    Args:
        experiment: an experiment; or a set, its name or path, the path of a table, or a frame.
        evalset: the set of an experiment, if it is loaded already.
        metrics: metrics to rank, if no experiment is given; by default those of `karat meta`.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
        settings: settings of `Experiment`, such as `dimensions`, `levels` and `statistics`, if no
            experiment is given.
    """
    experiment, evalset = _load_experiment(experiment, evalset, metrics, settings, progress)
    evalset = evalset.without(*experiment.exclude) if experiment.exclude else evalset
    evalset = with_references(evalset, experiment.references)
    dimensions = evalset.chosen_dimensions(experiment.dimensions, differences=True)
    experiment = replace(experiment, metrics=_fitting_metrics(experiment.metrics, evalset))
    for level in experiment.levels:
        check_level(level, evalset)
    scored = score_evalset(
        evalset, experiment.metrics, against=dimensions, threads=threads, progress=progress
    )
    scored = replace(scored, system_scores=experiment.system_scores)
    resolved = replace(experiment, dimensions=dimensions)
    rows: list[MetaRow] = []
    tests: list[MetricTest] = []
    resampled: dict[RankingTask, Resampled] = {}
    for dimension in resolved.dimensions:
        human = evalset.human(dimension, resolved.normalise)
        for level in resolved.levels:
            scores = view(level, scored, human)
            for statistic in resolved.statistics:
                task = dimension, level, statistic
                ranked = rank(resolved, scores, task, progress, n_threads(threads))
                rows += ranked[0]
                tests += ranked[1]
                resampled[task] = ranked[2]
    return MetaEvaluation(resolved, tuple(rows), tuple(tests), resampled, scored)


def _fitting_metrics(metrics: Sequence[str | Metric], evalset: EvalSet) -> tuple[str | Metric, ...]:
    """Return the metrics, or for the default ones and a set without references what fits it.

    These are the length of the outputs, as a baseline, and the scores that come with the set.
    """
    if tuple(metrics) != DEFAULT_METRICS or any(evalset.references):
        return tuple(metrics)
    chosen: list[str | Metric] = [Length()] if evalset.has_texts else []
    fitting = (*chosen, *(scores_metric(column=name) for name in evalset.offered))
    if not fitting:
        raise InputError(
            f"{evalset.name} has no texts and no scores, so there is no metric to rank: add texts, "
            f"or name scores with -m, such as given:file=scores.tsv; karat data judges shows how "
            "far judges agree, karat compare which system is rated higher"
        )
    return fitting


def _load_experiment(
    experiment: Experiment | SetSource,
    source: SetSource | None,
    metrics: Metrics | None,
    settings: Mapping[str, Any],
    progress: Progress,
) -> tuple[Experiment, EvalSet]:
    """Return an experiment, or one with these settings on a set, and its loaded set."""
    if isinstance(experiment, Experiment):
        if metrics is not None or settings:
            extra = ", ".join([*(["metrics"] if metrics is not None else []), *settings])
            raise InputError(f"the experiment has its settings: leave out {extra}")
        if source is not None:
            return experiment, as_evalset(source, progress)
        source = experiment.evalset
    elif source is not None:
        expected = "expected an Experiment as the first argument, or one set"
        raise InputError(f"found {quoted(experiment)} and a set: {expected}")
    else:
        if experiment is None:
            raise source_error(experiment)
        source = experiment
        names = [f.name for f in fields(Experiment) if f.name not in ("evalset", "metrics")]
        check_known("setting", settings, names, "a meta-evaluation")
        listed = [metrics] if isinstance(metrics, str | Metric) else metrics or DEFAULT_METRICS
        name = os.fspath(source) if isinstance(source, str | os.PathLike) else "table"
        name = source.name if isinstance(source, EvalSet) else name
        experiment = Experiment(name, tuple(listed), **settings)
    return experiment, experiment_set(experiment, progress, source)


def experiment_set(
    experiment: Experiment, progress: Progress = silent, source: SetSource | None = None
) -> EvalSet:
    """Load the set of an experiment (by default the one that it names) with all systems."""
    options = parse_options(experiment.reader_options)
    options |= {"judgements": experiment.judgements, "model_judges": experiment.model_judges}
    read_as = experiment.read_as or None
    source = experiment.evalset if source is None else source
    return load_evalset(source, read_as, progress=progress, **options)


def rank_metrics(
    human: ArrayLike,
    metrics: Mapping[str, ArrayLike],
    statistic: str = "pearson",
    level: str = "segment",
    *,
    over: str = Experiment.over,
    resamples: int = Experiment.resamples,
    trials: int = Experiment.trials,
    correction: str = Experiment.correction,
    seed: int = Experiment.seed,
    system_scores: str = Experiment.system_scores,
    threads: int | None = None,
    progress: Progress = silent,
) -> Ranking:
    """Rank metrics by their agreement with human scores, from matrices of scores.

    Args:
        human: human scores, systems x segments; NaN is missing and higher is better.
        metrics: scores of each metric, by name, of the same form.
        statistic, over, resamples, trials, correction, seed, system_scores: as in `Experiment`.
        level: `system` (means of segments), `segment`, `item` or `by-system`.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    check_matrix_level(level)
    experiment = Experiment(
        "matrices",
        tuple(metrics),
        ("human",),
        (level,),
        (statistic,),
        over=over,
        resamples=resamples,
        trials=trials,
        correction=correction,
        seed=seed,
        system_scores=system_scores,
    )
    matrices = {name: as_floats(values) for name, values in metrics.items()}
    if level == "system":
        score_view = mean_view(as_floats(human), matrices, system_scores)
    else:
        score_view = matrix_view(as_floats(human), matrices, level)
    task = "human", level, statistic
    rows, tests, resampled = rank(experiment, score_view, task, progress, n_threads(threads))
    return Ranking(experiment, tuple(rows), tuple(tests), {task: resampled})


# ------------------------------------------------------------------------------------- notes


def correction_clause(experiment: Experiment) -> str:
    """Return the correction of p-values as an addition to a sentence."""
    return "" if experiment.correction == "none" else f", {experiment.correction} correction"


def _method_notes(result: Ranking) -> Iterator[str]:
    experiment = result.experiment
    if experiment.resamples:
        over = "systems and segments" if experiment.over == "both" else experiment.over
        alone = [name for name in experiment.statistics if STATISTICS[name].of_segments is not None]
        if alone and experiment.over != "segments":
            over += f" (for {' and '.join(alone)}, of segments alone)"
        resampling = f"{experiment.resamples:,} bootstrap resamples of {over}"
        yield f"Intervals: 95%, from {resampling}, seed {experiment.seed}."
        if len(experiment.metrics) > 1:
            yield "Delta: the value minus that of the best metric, on the same resamples."
    if result.tests:
        yield (
            f"Ranks: a metric starts a new rank where one of the present rank is better than it at "
            f"p of at most {experiment.level:g} (PERM-BOTH, {experiment.trials:,} trials"
            f"{correction_clause(experiment)}; where {MAX_EXACT_CELLS} points or fewer are "
            "compared, all exchanges)."
        )
    if experiment.p_values:
        yield (
            "p: of no correlation, two-sided, by Student's t (Kendall's tau: by the normal "
            "distribution, ties taken out); points are taken as independent, which outputs of one "
            "system or one segment are not; not corrected. Means over groups have none."
        )
    untested = [name for name in experiment.statistics if not STATISTICS[name].tested]
    if experiment.trials and len(experiment.metrics) > 1:
        if untested:
            yield f"No ranks by {' and '.join(untested)}: PERM-BOTH does not take it."
        if any(test.statistic == "acc-eq" for test in result.tests):
            yield (
                "Ranks by acc-eq: the test exchanges the metrics' right and wrong decisions on "
                "pairs, each metric with its own tie threshold."
            )
        of_corpora = "system", "spa"
        if any(row[1:3] == of_corpora for row in result.rows) and not any(
            test[1:3] == of_corpora for test in result.tests
        ):
            yield "No ranks by spa of corpus scores: choose the level system-mean."
    pooled = [name for name in experiment.statistics if STATISTICS[name].pooled]
    if any(row.left_out for row in result.rows if row.statistic not in pooled):
        yield (
            "Groups: the mean is over those in which the statistic is defined; where all scores of "
            "humans or metric are equal, it is not."
        )
    if pooled and {*experiment.levels} & {"item", "by-system"}:
        yield f"Groups: {' and '.join(pooled)} take the pairs of all groups in one pool."


def _score_notes(result: MetaEvaluation) -> Iterator[str]:
    """State which outputs the scores of systems use, and which metrics were negated."""
    experiment, scored = result.experiment, result.scored
    if not {*experiment.levels} & {*OF_SYSTEMS}:
        pass
    elif experiment.system_scores == "all":
        yield (
            "System scores: as in mt-metrics-eval and WMT's tables, metrics score all outputs of a "
            "system, judged or not; its human score is the mean of those judged."
        )
    elif any(
        (scored.present & np.isnan(result.evalset.human(name))).any()
        for name in experiment.dimensions
    ):
        yield (
            "System scores: of judged outputs alone. mt-metrics-eval and WMT's tables score all "
            "outputs of a system; to compare with them, add --system-scores all."
        )
    rates = [str(m) for m in scored.metrics if m.sign < 0]
    if rates:
        yield (
            f"Signs: {' and '.join(rates)} {'is' if len(rates) == 1 else 'are'} lower for better "
            "outputs and negated here, so that a positive correlation is agreement for every "
            "metric."
        )


def _warn_of_few_systems(result: Ranking) -> Iterator[str]:
    """Warn if few systems were compared."""
    points = [row.points for row in result.rows if row.level.startswith("system")]
    fewest = min(points, default=MIN_RANKING_SYSTEMS)
    if fewest < MIN_RANKING_SYSTEMS:
        warning = f"{fewest:,} system{'s are' if fewest != 1 else ' is'} few"
        yield f"{warning}: at the level of systems almost any order of metrics may be chance."
