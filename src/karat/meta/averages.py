"""Metrics averaged over tasks: several sets or language pairs, dimensions, levels, statistics.

A task is one dimension, level and statistic of one result. A metric's average is the weighted mean
of its values over all tasks; its place is the mean of its places in the tasks. All tasks of a set
share their resamples and exchanges, since one judgement affects all of them; different sets are
independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import Floats, np
from karat.errors import InputError, quoted
from karat.meta.evaluation import Ranking, correction_clause, exchanges_add_up, meta_evaluate
from karat.meta.experiment import Experiment, MetaStudy, check_weights
from karat.meta.ranking import DELTA, INTERVAL, RANK, MetaRow, rank_clusters
from karat.progress import Progress, silent
from karat.results import Column, SignedResult, number, people_column, program_columns
from karat.stats.correlation import STATISTICS
from karat.stats.exchanges import Permutation
from karat.stats.resampling import percentiles
from karat.stats.significance import CORRECTIONS

LAST = 1e9  # its negative is below all values
SHARED = ("resamples", "trials", "over", "level", "correction")  # must be equal in all results


class AverageRow(NamedTuple):
    """One metric's average over all tasks."""

    rank: int | None  # metrics of one rank do not differ significantly; None if untested
    metric: str
    value: float  # weighted mean of its values; NaN if one of them is undefined
    low: float
    high: float
    delta: float | None  # value minus that of the best metric; None for the best, or if undefined
    delta_low: float | None
    delta_high: float | None
    place: float  # weighted mean of its places, from 1; equal values share their mean place
    place_low: float
    place_high: float
    mean_rank: float | None  # weighted mean of its ranks in the tasks; None without ranks
    undefined: int  # number of resamples in which the average is undefined
    note: str


AVERAGE_COLUMNS = (
    RANK,
    Column("metric", "Metric", help="The metric's name; its full signature is below."),
    number("value", "Value", 3, "Weighted mean of the metric's values in all tasks."),
    *INTERVAL,
    DELTA,
    *program_columns("delta", "delta_low", "delta_high"),
    number("place", "Place", 2, "Weighted mean of the metric's places in all tasks."),
    *program_columns("place_low", "place_high"),
    number("mean_rank", "Mean rank", 2, "Weighted mean of the metric's ranks in tasks."),
    *program_columns("undefined"),
    Column("note", "", wrap=True),
)


class AverageTest(NamedTuple):
    """A test whether one metric has the higher average."""

    better: str
    worse: str
    delta: float
    p: float  # from the exchanges of all tasks, or from resamples; corrected, if requested
    low: float
    high: float


class TaskRow(NamedTuple):
    """One metric in one task."""

    set: str
    dimension: str
    level: str
    statistic: str
    weight: float  # weight of the task; all weights sum to 1
    rank: int | None
    metric: str
    value: float
    low: float
    high: float
    place: float


TASK_COLUMNS = (
    people_column("heading", "Task", lambda row: f"{', '.join(row[:4])}: weight {row.weight:.3g}"),
    *program_columns("set", "dimension", "level", "statistic", "weight"),
    RANK,
    Column("metric", "Metric"),
    number("value", "Value", 3, "The statistic of the task; more is better."),
    *INTERVAL,
    number("place", "Place", 1, "The metric's place in the task, from 1."),
)


class AveragedTask(NamedTuple):
    """One task: rows by metric, values (metrics x 1) and resamples (metrics x n)."""

    set: str
    names: tuple[str, str, str]
    weight: float
    rows: Mapping[str, MetaRow]
    values: Floats
    draws: Floats
    weighted_exchanges: Mapping[tuple[str, str], Permutation]  # multiplied by `weight`


@dataclass(frozen=True, eq=False, repr=False)
class RankAverage(SignedResult):
    """Metrics ranked by their averages over the tasks of several results."""

    results: tuple[Ranking, ...]
    weights: tuple[float, ...]  # weights of the results, which sum to 1
    rows: tuple[AverageRow, ...]
    tests: tuple[AverageTest, ...]
    tasks: tuple[TaskRow, ...]
    left_out: tuple[str, ...]  # metrics that some results lack

    @property
    def settings(self) -> dict[str, object]:
        """Every setting of every experiment, and the weights."""
        experiments = [asdict(result.experiment) for result in self.results]
        return {"experiments": experiments, "weights": self.weights}

    @property
    def signatures(self) -> dict[str, str]:
        """The full signature of each metric; by set, if it differs between sets."""
        sets_by_signature: dict[str, dict[str, str]] = {}
        for result in self.results:
            for metric, signature in result.signatures.items():
                sets_by_signature.setdefault(metric, {}).setdefault(signature, result.name)
        return {
            metric if len(several) == 1 else f"{metric} ({name})": signature
            for metric, several in sets_by_signature.items()
            for signature, name in several.items()
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the methods and the sets."""
        notes = list(_method_notes(self))
        remarks_by_result = [result.remarks for result in self.results]
        for remark in dict.fromkeys(remark for remarks in remarks_by_result for remark in remarks):
            pairs = zip(self.results, remarks_by_result, strict=True)
            names = [result.name for result, remarks in pairs if remark in remarks]
            is_shared = len(names) == len(self.results)
            notes.append(remark if is_shared else f"{', '.join(names)}: {remark}")
        return tuple(notes)


def meta_average(
    study: MetaStudy, *, threads: int | None = None, progress: Progress = silent
) -> RankAverage:
    """Run the experiments of a study and average the metrics over all their tasks.

    Args:
        study: the experiments and their weights.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    results = [
        meta_evaluate(experiment, threads=threads, progress=progress)
        for experiment in study.experiments
    ]
    return average_rankings(results, study.weights)


def average_rankings(results: Sequence[Ranking], weights: Sequence[float] = ()) -> RankAverage:
    """Average the metrics of several results over all their tasks.

    Args:
        results: results of `meta_evaluate`. Metrics that some of them lack are left out.
        weights: one weight for each result, by default equal. The tasks of a result share its
            weight.
    """
    if not results:
        raise InputError("an average needs at least one result")
    shares = check_weights(weights, len(results))
    for name in SHARED:
        values = list(dict.fromkeys(getattr(result.experiment, name) for result in results))
        if len(values) > 1:
            listed = " and ".join(quoted(value) for value in values)
            raise InputError(f"{name} is {listed}: expected the same in all experiments")
    for statistic in {row.statistic for result in results for row in result.rows}:
        if STATISTICS[statistic].sign < 0:
            raise InputError(f"{statistic} has the scale of the scores: it cannot be averaged")
    names = [result.metric_names for result in results]
    common = [m for m in names[0] if all(m in metric_names for metric_names in names)]
    left_out = dict.fromkeys(m for metric_names in names for m in metric_names if m not in common)
    if not common:
        raise InputError("the results have no metric in common: there is nothing to average")
    tasks = list(_averaged_tasks(results, shares, common))
    task_rows = []  # the best metric of each task first; values are on the statistic's own scale
    for task in tasks:
        places = dict(zip(common, _places(task.values)[:, 0].tolist(), strict=True))
        for m in sorted(common, key=places.__getitem__):
            row = task.rows[m]
            names_and_rank = task.set, *task.names, task.weight, row.rank, m
            task_rows.append(TaskRow(*names_and_rank, row.value, row.low, row.high, places[m]))
    rows, tests = _average_rows(tasks, common, results[0].experiment, exchanges_add_up(results))
    lists = tuple(rows), tuple(tests), tuple(task_rows), tuple(left_out)
    return RankAverage(tuple(results), shares, *lists)


# ----------------------------------------------------------------------------------------- tasks


def _averaged_tasks(
    results: Sequence[Ranking], shares: Sequence[float], common: Sequence[str]
) -> Iterator[AveragedTask]:
    """Yield all tasks; if statistics differ in range, values are scaled to 0 to 1."""
    mixed, seed = _ranges_differ(results), results[0].experiment.seed
    sets: dict[object, int] = {}
    for result, share in zip(results, shares, strict=True):
        number = sets.setdefault(result.source, len(sets))
        weight, trials = share / len(result.resampled), result.experiment.trials
        for names, resampled in result.resampled.items():
            all_rows = {row.metric: row for row in result.rows if row[:3] == names}
            rows = {
                m: next(all_rows[x] for x in result.metric_names[m] if x in all_rows)
                for m in common
            }
            values = np.array([[rows[m].value] for m in common])
            draws = np.empty((len(rows), 0))
            if resampled.draws:
                draws = np.stack(
                    [_shuffle(resampled.draws[rows[m].metric], seed, number) for m in common]
                )
            low = STATISTICS[names[2]].lowest if mixed else 0.0
            scale = weight / (1 - low)
            exchanges = {
                pair: test._replace(
                    delta=scale * test.delta,
                    differences=scale * _shuffle(test.differences, seed, number, trials),
                )
                for pair, test in resampled.exchanges.items()
            }
            scores, resamples = ((x - low) / (1 - low) for x in (values, draws))
            yield AveragedTask(result.name, names, weight, rows, scores, resamples, exchanges)


def _shuffle(values: Floats, seed: int, number: int, count: int | None = None) -> Floats:
    """Shuffle the resamples of set `number`, in the same way for all its tasks.

    If all exchanges were tried, `count` of them are drawn.
    """
    rng = np.random.default_rng([seed, number])
    if count is not None and len(values) != count:
        chosen: Floats = values[rng.integers(0, len(values), count)]
        return chosen
    return values[rng.permutation(len(values))] if number else values


def _ranges_differ(results: Sequence[Ranking]) -> bool:
    """Return whether statistics differ in range."""
    return len({STATISTICS[row.statistic].lowest for result in results for row in result.rows}) > 1


def _places(values: Floats) -> Floats:
    """Return the place of each metric in each column, from 1; equal values share the mean place.

    Undefined values come last.
    """
    defined_values = np.where(np.isnan(values), -LAST, values)
    above, level = np.zeros(values.shape), np.zeros(values.shape)
    for other in defined_values:
        above += other - defined_values > SLACK
        level += np.abs(other - defined_values) <= SLACK
    return 1 + above + (level - 1) / 2


# --------------------------------------------------------------------------------------- averages


class _Averages(NamedTuple):
    """Weighted means over all tasks of the values and places of each metric."""

    values: list[float]
    draws: Floats  # values in resamples: metrics x resamples
    places: list[float]
    place_draws: Floats

    def difference(self, first: int, second: int) -> tuple[float, float, float]:
        """Return the difference of two metrics and the ends of its interval."""
        delta = self.values[first] - self.values[second]
        low, high, _ = percentiles(self.draws[first] - self.draws[second], delta)
        return delta, low, high


def _average(tasks: Sequence[AveragedTask]) -> _Averages:
    def mean(values: Callable[[AveragedTask], Floats]) -> Floats:
        total = np.zeros(values(tasks[0]).shape)
        for task in tasks:
            total += task.weight * values(task)
        return total

    return _Averages(
        mean(lambda task: task.values)[:, 0].tolist(),
        mean(lambda task: task.draws),
        mean(lambda task: _places(task.values))[:, 0].tolist(),
        mean(lambda task: _places(task.draws)),
    )


def _average_rows(
    tasks: Sequence[AveragedTask], common: Sequence[str], experiment: Experiment, exchanged: bool
) -> tuple[list[AverageRow], list[AverageTest]]:
    """Return the metrics with their averages, the best first, and the tests between them."""
    averages = _average(tasks)
    values = averages.values
    order = sorted(range(len(common)), key=lambda k: (math.isnan(values[k]), -values[k]))
    defined = [k for k in order if not math.isnan(values[k])]
    pairs = list(combinations(defined, 2)) if experiment.resamples or exchanged else []
    uncorrected = [
        _exchange_p(tasks, common[i], common[j])
        if exchanged
        else _bootstrap_p(averages.draws[i] - averages.draws[j])
        for i, j in pairs
    ]
    corrected = CORRECTIONS[experiment.correction](uncorrected).tolist()
    p_values = dict(zip(pairs, corrected, strict=True))
    ranks = rank_clusters(defined, p_values, experiment.level)
    tests = []
    for (i, j), p in p_values.items():
        delta, low, high = averages.difference(i, j)
        tests.append(AverageTest(common[i], common[j], delta, p, low, high))
    rows = []
    for k in order:
        low, high, undefined = percentiles(averages.draws[k], values[k])
        difference = averages.difference(k, order[0]) if k in defined[1:] else (None, None, None)
        place_ends = percentiles(averages.place_draws[k], averages.places[k])[:2]
        scores = values[k], low, high, *difference, averages.places[k], *place_ends
        mean_rank, note = _mean_rank(tasks, common[k]), _undefined_note(tasks, common[k])
        row = ranks.get(k), common[k], *scores, mean_rank, undefined, note
        rows.append(AverageRow._make(row))
    return rows, tests


def _mean_rank(tasks: Sequence[AveragedTask], metric: str) -> float | None:
    """Return the weighted mean of the ranks of a metric; None unless all tasks have ranks."""
    total = 0.0
    for task in tasks:
        rank = task.rows[metric].rank
        if rank is None:
            return None
        total += task.weight * rank
    return total


def _undefined_note(tasks: Sequence[AveragedTask], metric: str) -> str:
    """Return a note on the first task in which a metric is undefined; empty if there is none."""
    for task in tasks:
        if math.isnan(task.rows[metric].value):
            return f"undefined on {task.set}: {', '.join(task.names)}"
    return ""


def _bootstrap_p(differences: Floats) -> float:
    """Return (1 + resamples in which the difference is not above 0) / (1 + resamples)."""
    defined = differences[~np.isnan(differences)]
    beyond = np.count_nonzero(defined <= SLACK)
    return float(1 + beyond) / (1 + len(defined)) if len(defined) else math.nan


def _exchange_p(tasks: Sequence[AveragedTask], better: str, worse: str) -> float:
    """Return the p value of the permutation test that `better` has the higher average.

    It is (1 + exchanges with at least the observed difference) / (1 + exchanges), with the
    weighted differences of all tasks added up.
    """
    delta, exchanged_deltas = 0.0, np.zeros(1)
    for task in tasks:
        better_metric, worse_metric = task.rows[better].metric, task.rows[worse].metric
        if better_metric == worse_metric:  # two metrics with the same form for segments
            continue
        sign = 1 if (better_metric, worse_metric) in task.weighted_exchanges else -1
        test = task.weighted_exchanges[
            (better_metric, worse_metric) if sign > 0 else (worse_metric, better_metric)
        ]
        delta, exchanged_deltas = (
            delta + sign * test.delta,
            exchanged_deltas + sign * test.differences,
        )
    defined = exchanged_deltas[~np.isnan(exchanged_deltas)]
    if math.isnan(delta):
        return math.nan
    return float(1 + np.count_nonzero(defined >= delta - SLACK)) / (1 + len(defined))


# ---------------------------------------------------------------------------------------- notes


def _method_notes(result: RankAverage) -> Iterator[str]:
    experiment = result.results[0].experiment
    tasks = sum(len(ranking.resampled) for ranking in result.results)
    shares = " and ".join(f"{weight:.3g}" for weight in result.weights)
    weights = "equal weights" if len({*result.weights}) == 1 else f"the weights {shares}"
    yield (
        f"Value: the mean over {tasks:,} task{'s' * (tasks != 1)}. Experiments have {weights}, "
        "which their tasks share evenly."
    )
    if _ranges_differ(result.results):
        yield "Statistics differ in range: those from -1 to 1 count as (value + 1) / 2."
    if experiment.resamples:
        yield (
            f"Intervals: 95%, from {experiment.resamples:,} bootstrap resamples; all tasks of a "
            "set see the same ones, and different sets are resampled independently."
        )
    if result.tests:
        exchanged = exchanges_add_up(result.results)
        test = f"PERM-BOTH, {experiment.trials:,} trials" if exchanged else "bootstrap, one-sided"
        test += correction_clause(experiment)
        yield (
            "Ranks: a metric starts a new rank where one of the present rank has the higher "
            f"average at p of at most {experiment.level:g} ({test})."
        )
    yield (
        "Place: the mean of a metric's places in the tasks, 1 being best. Mean rank: that of its "
        "ranks in the tasks."
    )
    if result.left_out:
        yield f"Left out, since some results lack them: {', '.join(result.left_out)}."
