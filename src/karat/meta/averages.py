"""Metrics averaged over tasks: several sets or language pairs, dimensions, levels, statistics.

A task is one dimension, level and statistic of one result. A metric's average is the weighted mean
of its values over all tasks; its place is the mean of where it stands in each. All tasks of a set
see the same resamples and exchanges, since one judgement can move all of them; those of different
sets are independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import Floats, np
from karat.errors import InputError, quoted
from karat.meta.agreement import percentiles
from karat.meta.evaluation import Ranking, exchanges_add_up, meta_evaluate
from karat.meta.experiment import Experiment, MetaStudy, check_weights
from karat.meta.ranking import MetaRow, rank_clusters
from karat.progress import Progress, silent
from karat.results import SignedResult
from karat.stats.correlation import STATISTICS
from karat.stats.exchanges import Permutation
from karat.stats.multiple_tests import CORRECTIONS

LAST = 1e9  # minus this is below all values
SHARED = ("resamples", "trials", "over", "level", "correction")
"""Settings that all results of an average must share."""


class AverageRow(NamedTuple):
    """One metric's average over all tasks."""

    rank: int | None
    """Metrics of one rank do not differ significantly; None where that was not tested."""
    metric: str
    value: float  # the weighted mean of its values; NaN where one of them is undefined
    low: float
    high: float
    delta: float | None
    """The value minus that of the best metric; None for that one and where it is undefined."""
    delta_low: float | None
    delta_high: float | None
    place: float  # the weighted mean of its places, from 1; metrics with equal values share theirs
    place_low: float
    place_high: float
    mean_rank: float | None
    """The weighted mean of its ranks in the tasks; None where a task has no ranks."""
    undefined: int  # resamples in which the average is undefined
    note: str


class AverageTest(NamedTuple):
    """A test that one metric has the higher average."""

    better: str
    worse: str
    delta: float
    p: float  # by the exchanges of all tasks, or by resamples; corrected, if asked for
    low: float
    high: float


class TaskRow(NamedTuple):
    """One metric in one task."""

    set: str
    dimension: str
    level: str
    statistic: str
    weight: float  # of the task; all weights sum to 1
    rank: int | None
    metric: str
    value: float
    low: float
    high: float
    place: float


class AveragedTask(NamedTuple):
    """One task: the rows of all metrics by their names, values and resamples, metrics x 1 or n."""

    set: str
    names: tuple[str, str, str]
    weight: float
    rows: Mapping[str, MetaRow]
    values: Floats
    draws: Floats
    exchanges: Mapping[tuple[str, str], Permutation]
    """Between any two metrics that were tested, with the weight of the task."""


@dataclass(frozen=True, eq=False, repr=False)
class RankAverage(SignedResult):
    """Metrics ranked by their averages over the tasks of several results."""

    results: tuple[Ranking, ...]
    weights: tuple[float, ...]  # of each result; they sum to 1
    rows: tuple[AverageRow, ...]
    tests: tuple[AverageTest, ...]
    tasks: tuple[TaskRow, ...]
    left_out: tuple[str, ...]  # metrics that some results do not have

    @property
    def settings(self) -> dict[str, object]:
        """Every setting of every experiment, and the weights."""
        experiments = [asdict(result.experiment) for result in self.results]
        return {"experiments": experiments, "weights": self.weights}

    @property
    def signatures(self) -> dict[str, str]:
        """The full signature of each metric; by set where sets differ, as in references."""
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
        """Sentences on how averages, intervals and ranks were made, and on the sets."""
        return (*_method_notes(self), *_result_remarks(self.results))


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
    _check_shared(results)
    names = [result.metric_names for result in results]
    common = [m for m in names[0] if all(m in metric_names for metric_names in names)]
    left_out = tuple(
        dict.fromkeys(m for metric_names in names for m in metric_names if m not in common)
    )
    if not common:
        raise InputError("the results have no metric in common: there is nothing to average")
    tasks = list(_tasks(results, shares, common))
    task_rows = [row for task in tasks for row in _task_rows(task, common)]
    rows, tests = _average_rows(tasks, common, results[0].experiment, exchanges_add_up(results))
    return RankAverage(
        tuple(results), shares, tuple(rows), tuple(tests), tuple(task_rows), left_out
    )


def _check_shared(results: Sequence[Ranking]) -> None:
    for name in SHARED:
        values = list(dict.fromkeys(getattr(result.experiment, name) for result in results))
        if len(values) > 1:
            listed = " and ".join(quoted(value) for value in values)
            raise InputError(f"{name} is {listed}: expected the same in all experiments")
    for statistic in {row.statistic for result in results for row in result.rows}:
        if STATISTICS[statistic].sign < 0:
            raise InputError(f"{statistic} has the scale of the scores: it cannot be averaged")


# ----------------------------------------------------------------------------------------- tasks


def _tasks(
    results: Sequence[Ranking], shares: Sequence[float], common: Sequence[str]
) -> Iterator[AveragedTask]:
    """Yield all tasks; values of different ranges are put on the scale from 0 to 1."""
    mixed, experiment = _mixed(results), results[0].experiment
    sets: dict[object, int] = {}
    for result, share in zip(results, shares, strict=True):
        shuffle = Shuffle(experiment.seed, sets.setdefault(result.source, len(sets)))
        for names, resampled in result.resampled.items():
            rows = {row.metric: row for row in result.rows if row[:3] == names}
            metric_rows = {
                m: next(rows[x] for x in result.metric_names[m] if x in rows) for m in common
            }
            values = np.array([[metric_rows[m].value] for m in common])
            draws = np.empty((len(metric_rows), 0))
            if resampled.draws:
                draws = np.stack([shuffle(resampled.draws[metric_rows[m].metric]) for m in common])
            low = STATISTICS[names[2]].lowest if mixed else 0.0
            weight = share / len(result.resampled)
            scores, resamples = ((x - low) / (1 - low) for x in (values, draws))
            per, trials = weight / (1 - low), result.experiment.trials
            moved = {
                pair: test._replace(
                    delta=per * test.delta, differences=per * shuffle(test.differences, trials)
                )
                for pair, test in resampled.exchanges.items()
            }
            yield AveragedTask(result.name, names, weight, metric_rows, scores, resamples, moved)


class Shuffle(NamedTuple):
    """Puts the resamples of a set in an order of its own, the same for all its tasks."""

    seed: int
    number: int  # of the set, from 0

    def __call__(self, values: Floats, count: int | None = None) -> Floats:
        """Return the values in that order; or as many as wanted, where all exchanges were tried."""
        rng = np.random.default_rng([self.seed, self.number])
        if count is not None and len(values) != count:
            chosen: Floats = values[rng.integers(0, len(values), count)]
            return chosen
        return values[rng.permutation(len(values))] if self.number else values


def _mixed(results: Sequence[Ranking]) -> bool:
    """Return whether there are statistics of different ranges."""
    return len({STATISTICS[row.statistic].lowest for result in results for row in result.rows}) > 1


def _task_rows(task: AveragedTask, common: Sequence[str]) -> Iterator[TaskRow]:
    """Yield the metrics of a task, the best first; values are those of the statistic."""
    places = dict(zip(common, _places(task.values)[:, 0].tolist(), strict=True))
    for m in sorted(common, key=lambda m: places[m]):
        row = task.rows[m]
        scores = row.value, row.low, row.high
        yield TaskRow(task.set, *task.names, task.weight, row.rank, m, *scores, places[m])


def _places(values: Floats) -> Floats:
    """Return the place of each metric in each column, from 1; equal values share the mean place.

    An undefined value is behind all others.
    """
    defined_values = np.where(np.isnan(values), -LAST, values)
    above, level = np.zeros(values.shape), np.zeros(values.shape)
    for other in defined_values:
        above += other - defined_values > SLACK  # rounding is no difference
        level += np.abs(other - defined_values) <= SLACK
    return 1 + above + (level - 1) / 2


# --------------------------------------------------------------------------------------- averages


class Averages(NamedTuple):
    """Averages of all metrics, and those of each resample: metrics, metrics x resamples."""

    values: Floats
    resampled: Floats
    places: Floats
    resampled_places: Floats

    def difference(self, first: int, second: int) -> tuple[float, float, float]:
        """Return the difference of two metrics with its interval."""
        delta = float(self.values[first] - self.values[second])
        low, high, _ = percentiles(self.resampled[first] - self.resampled[second], delta)
        return delta, low, high


def _average(tasks: Sequence[AveragedTask]) -> Averages:
    """Average values and places over all tasks, with their weights."""

    def mean(arrays: Sequence[Floats]) -> Floats:
        total = np.zeros(arrays[0].shape)
        for task, array in zip(tasks, arrays, strict=True):
            total += task.weight * array
        return total

    values, draws = [task.values for task in tasks], [task.draws for task in tasks]
    places = mean(list(map(_places, values)))[:, 0], mean(list(map(_places, draws)))
    return Averages(mean(values)[:, 0], mean(draws), *places)


def _average_rows(
    tasks: Sequence[AveragedTask], common: Sequence[str], experiment: Experiment, exchanged: bool
) -> tuple[list[AverageRow], list[AverageTest]]:
    """Return the metrics with their averages, the best first, and the tests between them."""
    averages = _average(tasks)
    values, resampled = averages.values.tolist(), averages.resampled
    order = sorted(range(len(common)), key=lambda k: (math.isnan(values[k]), -values[k]))
    defined = [k for k in order if not math.isnan(values[k])]
    pairs = list(combinations(defined, 2)) if experiment.resamples or exchanged else []
    uncorrected = [
        _exchange_p(tasks, common[i], common[j])
        if exchanged
        else _bootstrap_p(resampled[i] - resampled[j])
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
        low, high, undefined = percentiles(resampled[k], values[k])
        place = float(averages.places[k])
        place_low, place_high, _ = percentiles(averages.resampled_places[k], place)
        difference: tuple[float | None, float | None, float | None] = None, None, None
        if k in defined[1:]:
            difference = averages.difference(k, order[0])
        rows.append(
            AverageRow(
                ranks.get(k),
                common[k],
                values[k],
                low,
                high,
                *difference,
                place,
                place_low,
                place_high,
                _mean_rank(tasks, common[k]),
                undefined,
                _note(tasks, common[k]),
            )
        )
    return rows, tests


def _bootstrap_p(differences: Floats) -> float:
    """(1 + resamples in which the difference is not above 0) / (1 + resamples)."""
    defined = differences[~np.isnan(differences)]
    return (
        float(1 + np.count_nonzero(defined <= SLACK)) / (1 + len(defined))
        if len(defined)
        else math.nan
    )


def _exchange_p(tasks: Sequence[AveragedTask], better: str, worse: str) -> float:
    """(1 + exchanges whose average difference is at least the real one) / (1 + exchanges)."""
    delta, moved = 0.0, np.zeros(1)
    for task in tasks:
        first, second = task.rows[better].metric, task.rows[worse].metric
        if first == second:  # two metrics that score segments alike
            continue
        sign = 1 if (first, second) in task.exchanges else -1
        exchange = task.exchanges[(first, second) if sign > 0 else (second, first)]
        delta, moved = delta + sign * exchange.delta, moved + sign * exchange.differences
    defined = moved[~np.isnan(moved)]
    if math.isnan(delta):
        return math.nan
    return float(1 + np.count_nonzero(defined >= delta - SLACK)) / (1 + len(defined))


def _mean_rank(tasks: Sequence[AveragedTask], metric: str) -> float | None:
    total = 0.0
    for task in tasks:
        if (rank := task.rows[metric].rank) is None:
            return None
        total += task.weight * rank
    return total


def _note(tasks: Sequence[AveragedTask], metric: str) -> str:
    """The first task in which a metric is undefined, in words."""
    for task in tasks:
        if math.isnan(task.rows[metric].value):
            return f"undefined on {task.set}: {', '.join(task.names)}"
    return ""


# ----------------------------------------------------------------------------------- in sentences


def _method_notes(result: RankAverage) -> Iterator[str]:
    experiment = result.results[0].experiment
    tasks = sum(len(ranking.resampled) for ranking in result.results)
    shares = " and ".join(f"{weight:.3g}" for weight in result.weights)
    weights = "equal weights" if len({*result.weights}) == 1 else f"the weights {shares}"
    yield (
        f"Value: the mean over {tasks:,} task{'s' * (tasks != 1)}. Experiments have {weights}, "
        "which their tasks share evenly."
    )
    if _mixed(result.results):
        yield "Statistics differ in range: those from -1 to 1 count as (value + 1) / 2."
    if experiment.resamples:
        yield (
            f"Intervals: 95%, from {experiment.resamples:,} bootstrap resamples; all "
            "tasks of a set see "
            "the same ones, and different sets are resampled independently."
        )
    if result.tests:
        exchanged = exchanges_add_up(result.results)
        test = f"PERM-BOTH, {experiment.trials:,} trials" if exchanged else "bootstrap, one-sided"
        corrected = (
            "" if experiment.correction == "none" else f", {experiment.correction} correction"
        )
        yield (
            "Ranks: a metric starts a new rank where one of the present rank has the higher "
            f"average at p of at most {experiment.level:g} ({test}{corrected})."
        )
    yield (
        "Place: the mean of a metric's places in the tasks, 1 being best. Mean rank: that of its "
        "ranks in the tasks."
    )
    if result.left_out:
        yield f"Left out, since some results lack them: {', '.join(result.left_out)}."


def _result_remarks(results: Sequence[Ranking]) -> Iterator[str]:
    """Yield the remarks of all results, with the set's name where others lack them."""
    remarks_by_result = [result.remarks for result in results]
    for remark in dict.fromkeys(remark for remarks in remarks_by_result for remark in remarks):
        names = [
            r.name
            for r, remarks in zip(results, remarks_by_result, strict=True)
            if remark in remarks
        ]
        yield remark if len(names) == len(results) else f"{', '.join(names)}: {remark}"
