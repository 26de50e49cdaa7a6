"""An experiment that was run: every metric's agreement with the humans, and what to make of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from karat.arrays import ArrayLike, as_floats
from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.evalset.loading import as_evalset, as_options, load_evalset
from karat.evalset.sets import EvalSet
from karat.meta.experiment import Experiment
from karat.meta.levels import check_matrix_level
from karat.meta.ranking import MetaRow, MetricTest, Task, rank
from karat.meta.scores import ScoredSet, score_evalset
from karat.meta.views import check_level, matrix_view, view
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.correlation import STATISTICS
from karat.stats.resampling import SEED
from karat.stats.significance.exchanges import MOST_EXACT

ENOUGH_SYSTEMS = 10


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Result):
    """Metrics ranked by their agreement with human scores, and the tests between them."""

    experiment: Experiment
    rows: tuple[MetaRow, ...]
    tests: tuple[MetricTest, ...]

    @property
    def name(self) -> str:
        """The name of what was evaluated."""
        return self.experiment.evalset

    @property
    def settings(self) -> dict[str, object]:
        """Every setting of the experiment."""
        return asdict(self.experiment)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how intervals and ranks were made."""
        return (*_made(self), *_few(self))

    @property
    def signatures(self) -> dict[str, str]:
        """The full signature of each metric, where its outputs were scored here."""
        return {}

    @property
    def signature(self) -> str:
        """The signatures of all metrics, a line each."""
        return "\n".join(self.signatures.values())


@dataclass(frozen=True, eq=False, repr=False)
class MetaEvaluation(Ranking):
    """The results of an experiment, and what they were made from."""

    scored: ScoredSet
    """The outputs' statistics; of the set without the systems that were left out."""

    @property
    def evalset(self) -> EvalSet:
        """The set, without the systems that were left out."""
        return self.scored.evalset

    @property
    def name(self) -> str:
        """The name of the set."""
        return self.evalset.name

    @property
    def signatures(self) -> dict[str, str]:
        """The full signature of each metric of the rows; some score segments under another name."""
        used = {row.metric for row in self.rows}
        both = (m for of in self.scored.metrics for m in (of, of.of_segments()))
        return {str(m): self.scored.signature(m) for m in both if str(m) in used}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how intervals and ranks were made, and on what the data allow."""
        return (*_made(self), *_turned(self), *_few(self), *self.evalset.remarks)


def meta_evaluate(
    experiment: Experiment,
    evalset: EvalSet | GivenPath | None = None,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> MetaEvaluation:
    """Run an experiment; the set is loaded by its name if it is not given."""
    if evalset is None:
        how = as_options(experiment.reader_options)
        read_as = experiment.read_as or None
        evalset = load_evalset(experiment.evalset, read_as, progress=progress, **how)
    evalset = _narrowed(as_evalset(evalset, progress), experiment)
    scored = score_evalset(evalset, experiment.metrics, threads=threads, progress=progress)
    named = replace(experiment, dimensions=evalset.chosen_dimensions(experiment.dimensions))
    rows: list[MetaRow] = []
    tests: list[MetricTest] = []
    for dimension in named.dimensions:
        human = evalset.human(dimension, named.normalise)
        for level in named.levels:
            seen = view(level, scored, human)
            for name in named.statistics:
                place = Task(dimension, level, STATISTICS[name])
                found, compared = rank(named, seen, place, progress)
                rows += found
                tests += compared
    return MetaEvaluation(named, tuple(rows), tuple(tests), scored)


def _narrowed(evalset: EvalSet, experiment: Experiment) -> EvalSet:
    """The systems and references that an experiment uses; what it asks for must be there."""
    chosen = evalset.without(*experiment.exclude) if experiment.exclude else evalset
    if experiment.references:
        chosen = chosen.select(references=[number - 1 for number in experiment.references])
        for segment, group in zip(chosen.segments, chosen.references, strict=True):
            if not group:
                raise InputError(f"segment {segment} has none of the references that were chosen")
    chosen.chosen_dimensions(experiment.dimensions)
    for level in experiment.levels:
        check_level(level, chosen)
    return chosen


def rank_metrics(
    human: ArrayLike,
    metrics: Mapping[str, ArrayLike],
    statistic: str = "pearson",
    level: str = "segment",
    *,
    over: str = "both",
    resamples: int = 1000,
    trials: int = 1000,
    correction: str = "none",
    seed: int = SEED,
    progress: Progress = silent,
) -> Ranking:
    """Rank metrics by matrices of their scores, systems x segments, in which NaN is missing.

    In all of them more is better. The settings are those of an `Experiment`; the levels of matrices
    are system (means of segments), segment, item and by-system.
    """
    check_matrix_level(level)
    names = "matrices", tuple(metrics), ("human",), (level,), (statistic,)
    asked = Experiment(
        *names, over=over, resamples=resamples, trials=trials, correction=correction, seed=seed
    )
    matrices = {name: as_floats(values) for name, values in metrics.items()}
    seen = matrix_view(as_floats(human), matrices, level)
    rows, tests = rank(asked, seen, Task("human", level, STATISTICS[statistic]), progress)
    return Ranking(asked, tuple(rows), tuple(tests))


# -------------------------------------------------------------------------------- in sentences


def _made(result: Ranking) -> Iterator[str]:
    asked = result.experiment
    if asked.resamples:
        over = "systems and segments" if asked.over == "both" else asked.over
        alone = [name for name in asked.statistics if STATISTICS[name].behind is not None]
        if alone and asked.over != "segments":
            over += f" (for {' and '.join(alone)}, of segments alone)"
        drawn = f"{asked.resamples:,} bootstrap resamples of {over}, seed {asked.seed}"
        yield f"Intervals: 95%, from {drawn}."
    if result.tests:
        corrected = "" if asked.correction == "none" else f", {asked.correction} correction"
        yield (
            f"Ranks: a metric starts a new rank where one of the present rank is better than it at "
            f"p of at most {asked.level:g} (PERM-BOTH, {asked.trials:,} trials{corrected}; where "
            f"{MOST_EXACT} points or fewer are compared, all exchanges)."
        )
    untested = [name for name in asked.statistics if not STATISTICS[name].tested]
    if asked.trials and len(asked.metrics) > 1 and untested:
        yield f"No ranks by {' and '.join(untested)}: PERM-BOTH does not take it."
    if any(row.left_out for row in result.rows):
        yield (
            "Groups: the mean is over those in which the statistic is defined; where all scores of "
            "humans or metric are equal, it is not."
        )


def _turned(result: MetaEvaluation) -> Iterator[str]:
    """State the one convention of signs, where a metric has the other."""
    rates = [str(m) for m in result.scored.metrics if m.sign < 0]
    if rates:
        yield (
            f"Signs: {' and '.join(rates)} {'is' if len(rates) == 1 else 'are'} lower for better "
            "outputs and negated here, so that a positive correlation is agreement for every "
            "metric."
        )


def _few(result: Ranking) -> Iterator[str]:
    """Warn where few systems were compared as systems."""
    points = [row.points for row in result.rows if row.level.startswith("system")]
    fewest = min(points, default=ENOUGH_SYSTEMS)
    if fewest < ENOUGH_SYSTEMS:
        few = f"{fewest:,} system{'s are' if fewest != 1 else ' is'} few"
        yield f"{few}: at the level of systems almost any order of metrics may be chance."
