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
from karat.meta.ranking import Exchanged, MetaRow
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.correlation import STATISTICS
from karat.stats.multiple_tests import CORRECTIONS, clusters

LAST = 1e9
"""Minus this is below all values."""
SHARED = ("resamples", "trials", "over", "level", "correction")
"""Settings that all results of an average must share."""


class AverageRow(NamedTuple):
    """One metric's average over all tasks."""

    rank: int | None
    """Metrics of one rank do not differ significantly; None where that was not tested."""
    metric: str
    value: float
    """The weighted mean of its values; NaN where one of them is undefined."""
    low: float
    high: float
    delta: float | None
    """The value minus that of the best metric; None for that one and where it is undefined."""
    delta_low: float | None
    delta_high: float | None
    place: float
    """The weighted mean of its places, from 1; metrics with equal values share theirs."""
    place_low: float
    place_high: float
    mean_rank: float | None
    """The weighted mean of its ranks in the tasks; None where a task has no ranks."""
    undefined: int
    """Resamples in which the average is undefined."""
    note: str


class AverageTest(NamedTuple):
    """A test that one metric has the higher average."""

    better: str
    worse: str
    delta: float
    p: float
    """By the exchanges of all tasks, or by resamples; corrected, if asked for."""
    low: float
    high: float


class TaskRow(NamedTuple):
    """One metric in one task."""

    set: str
    dimension: str
    level: str
    statistic: str
    weight: float
    """Of the task; all weights sum to 1."""
    rank: int | None
    metric: str
    value: float
    low: float
    high: float
    place: float


class Interval(NamedTuple):
    """A number with its 95% interval."""

    value: float
    low: float
    high: float


class Task(NamedTuple):
    """One task: the rows of all metrics by their names, values and resamples, metrics x 1 or n."""

    set: str
    names: tuple[str, str, str]
    weight: float
    rows: Mapping[str, MetaRow]
    values: Floats
    draws: Floats
    exchanges: Mapping[tuple[str, str], Exchanged]
    """Between any two metrics that were tested, with the weight of the task."""


@dataclass(frozen=True, eq=False, repr=False)
class RankAverage(Result):
    """Metrics ranked by their averages over the tasks of several results."""

    results: tuple[Ranking, ...]
    weights: tuple[float, ...]
    """Of each result; they sum to 1."""
    rows: tuple[AverageRow, ...]
    tests: tuple[AverageTest, ...]
    tasks: tuple[TaskRow, ...]
    left_out: tuple[str, ...]
    """Metrics that some results do not have."""

    @property
    def settings(self) -> dict[str, object]:
        """Every setting of every experiment, and the weights."""
        experiments = [asdict(result.experiment) for result in self.results]
        return {"experiments": experiments, "weights": self.weights}

    @property
    def signatures(self) -> dict[str, str]:
        """The full signature of each metric; by set where sets differ, as in references."""
        found: dict[str, dict[str, str]] = {}
        for result in self.results:
            for metric, signature in result.signatures.items():
                found.setdefault(metric, {}).setdefault(signature, result.name)
        return {
            metric if len(several) == 1 else f"{metric} ({name})": signature
            for metric, several in found.items()
            for signature, name in several.items()
        }

    @property
    def signature(self) -> str:
        """The signatures of all metrics and of the data, a line each."""
        return "\n".join(self.signatures.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how averages, intervals and ranks were made, and on the sets."""
        return (*_made(self), *_remarks(self.results))


def meta_average(
    study: MetaStudy, *, threads: int | None = None, progress: Progress = silent
) -> RankAverage:
    """Run the experiments of a study and average the metrics over all their tasks.

    Args:
        study: the experiments and their weights.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    results = [meta_evaluate(one, threads=threads, progress=progress) for one in study.experiments]
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
    common = [m for m in names[0] if all(m in own for own in names)]
    left_out = tuple(dict.fromkeys(m for own in names for m in own if m not in common))
    if not common:
        raise InputError("the results have no metric in common: there is nothing to average")
    tasks = list(_tasks(results, shares, common))
    every = [one for task in tasks for one in _task_rows(task, common)]
    rows, tests = _averaged(tasks, common, results[0].experiment, exchanges_add_up(results))
    return RankAverage(tuple(results), shares, tuple(rows), tuple(tests), tuple(every), left_out)


def _check_shared(results: Sequence[Ranking]) -> None:
    for name in SHARED:
        values = list(dict.fromkeys(getattr(result.experiment, name) for result in results))
        if len(values) > 1:
            found = " and ".join(quoted(value) for value in values)
            raise InputError(f"{name} is {found}: expected the same in all experiments")
    for statistic in {row.statistic for result in results for row in result.rows}:
        if STATISTICS[statistic].sign < 0:
            raise InputError(f"{statistic} has the scale of the scores: it cannot be averaged")


# ----------------------------------------------------------------------------------------- tasks


def _tasks(
    results: Sequence[Ranking], shares: Sequence[float], common: Sequence[str]
) -> Iterator[Task]:
    """Yield all tasks; values of different ranges are put on the scale from 0 to 1."""
    mixed, asked = _mixed(results), results[0].experiment
    sets: dict[object, int] = {}
    for result, share in zip(results, shares, strict=True):
        shuffle = Shuffle(asked.seed, sets.setdefault(result.source, len(sets)))
        for names, resampled in result.resampled.items():
            rows = {row.metric: row for row in result.rows if row[:3] == names}
            own = {m: next(rows[x] for x in result.metric_names[m] if x in rows) for m in common}
            values = np.array([[own[m].value] for m in common])
            drawn = np.empty((len(own), 0))
            if resampled.draws:
                drawn = np.stack([shuffle(resampled.draws[own[m].metric]) for m in common])
            low = STATISTICS[names[2]].lowest if mixed else 0.0
            weight = share / len(result.resampled)
            scores, resamples = ((x - low) / (1 - low) for x in (values, drawn))
            per, trials = weight / (1 - low), result.experiment.trials
            moved = {
                pair: Exchanged(per * one.delta, per * shuffle(one.differences, trials))
                for pair, one in resampled.exchanges.items()
            }
            yield Task(result.name, names, weight, own, scores, resamples, moved)


class Shuffle(NamedTuple):
    """Puts the resamples of a set in an order of its own, the same for all its tasks."""

    seed: int
    number: int
    """Of the set, from 0."""

    def __call__(self, values: Floats, wanted: int | None = None) -> Floats:
        """Return the values in that order; or as many as wanted, where all exchanges were tried."""
        rng = np.random.default_rng([self.seed, self.number])
        if wanted is not None and len(values) != wanted:
            found: Floats = values[rng.integers(0, len(values), wanted)]
            return found
        return values[rng.permutation(len(values))] if self.number else values


def _mixed(results: Sequence[Ranking]) -> bool:
    """Return whether there are statistics of different ranges."""
    return len({STATISTICS[row.statistic].lowest for one in results for row in one.rows}) > 1


def _task_rows(task: Task, common: Sequence[str]) -> Iterator[TaskRow]:
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
    known = np.where(np.isnan(values), -LAST, values)
    above, level = np.zeros(values.shape), np.zeros(values.shape)
    for other in known:
        above += other - known > SLACK  # rounding is no difference
        level += np.abs(other - known) <= SLACK
    return 1 + above + (level - 1) / 2


# --------------------------------------------------------------------------------------- averages


class Means(NamedTuple):
    """The averages of all metrics, and those of each resample: metrics, metrics x resamples."""

    value: Floats
    drawn: Floats
    place: Floats
    drawn_place: Floats

    def delta(self, one: int, other: int) -> Interval:
        """Return the difference of two metrics."""
        delta = float(self.value[one] - self.value[other])
        return Interval(delta, *_ends(self.drawn[one] - self.drawn[other], delta))


def _means(tasks: Sequence[Task]) -> Means:
    """Average values and places over all tasks, with their weights."""

    def mean(values: Sequence[Floats]) -> Floats:
        total = np.zeros(values[0].shape)
        for task, own in zip(tasks, values, strict=True):
            total += task.weight * own
        return total

    values, draws = [task.values for task in tasks], [task.draws for task in tasks]
    places = mean(list(map(_places, values)))[:, 0], mean(list(map(_places, draws)))
    return Means(mean(values)[:, 0], mean(draws), *places)


def _averaged(
    tasks: Sequence[Task], common: Sequence[str], asked: Experiment, exchanged: bool
) -> tuple[list[AverageRow], list[AverageTest]]:
    """Return the metrics with their averages, the best first, and the tests between them."""
    means = _means(tasks)
    value = means.value.tolist()
    order = sorted(range(len(common)), key=lambda k: (math.isnan(value[k]), -value[k]))
    known = [k for k in order if not math.isnan(value[k])]
    pairs = list(combinations(known, 2)) if asked.resamples or exchanged else []
    found = [
        _exchange_p(tasks, common[i], common[j])
        if exchanged
        else _draw_p(means.drawn[i] - means.drawn[j])
        for i, j in pairs
    ]
    p = CORRECTIONS[asked.correction](found).tolist()
    tests = []
    for (i, j), own in zip(pairs, p, strict=True):
        delta = means.delta(i, j)
        tests.append(AverageTest(common[i], common[j], delta.value, own, delta.low, delta.high))
    ranks = _ranks(known, dict(zip(pairs, p, strict=True)), asked.level)
    rows = []
    for k in order:
        row = _row(means, tasks, k, common[k])._replace(rank=ranks.get(k))
        if k in known[1:]:
            delta = means.delta(k, order[0])
            row = row._replace(delta=delta.value, delta_low=delta.low, delta_high=delta.high)
        rows.append(row)
    return rows, tests


def _row(means: Means, tasks: Sequence[Task], k: int, name: str) -> AverageRow:
    """Return a metric's row without its rank and the difference to the best metric."""
    low, high, undefined = percentiles(means.drawn[k], float(means.value[k]))
    place = float(means.place[k])
    place_low, place_high = _ends(means.drawn_place[k], place)
    return AverageRow(
        rank=None,
        metric=name,
        value=float(means.value[k]),
        low=low,
        high=high,
        delta=None,
        delta_low=None,
        delta_high=None,
        place=place,
        place_low=place_low,
        place_high=place_high,
        mean_rank=_mean_rank(tasks, name),
        undefined=undefined,
        note=_note(tasks, name),
    )


def _ends(values: Floats, estimate: float) -> tuple[float, float]:
    low, high, _ = percentiles(values, estimate)
    return low, high


def _draw_p(differences: Floats) -> float:
    """(1 + resamples in which the difference is not above 0) / (1 + resamples)."""
    known = differences[~np.isnan(differences)]
    return (
        float(1 + np.count_nonzero(known <= SLACK)) / (1 + len(known)) if len(known) else math.nan
    )


def _exchange_p(tasks: Sequence[Task], one: str, other: str) -> float:
    """(1 + exchanges whose average difference is at least the real one) / (1 + exchanges)."""
    delta, moved = 0.0, np.zeros(1)
    for task in tasks:
        first, second = task.rows[one].metric, task.rows[other].metric
        if first == second:  # two metrics that score segments alike
            continue
        sign = 1 if (first, second) in task.exchanges else -1
        found = task.exchanges[(first, second) if sign > 0 else (second, first)]
        delta, moved = delta + sign * found.delta, moved + sign * found.differences
    known = moved[~np.isnan(moved)]
    if math.isnan(delta):
        return math.nan
    return float(1 + np.count_nonzero(known >= delta - SLACK)) / (1 + len(known))


def _ranks(
    known: Sequence[int], p: Mapping[tuple[int, int], float], level: float
) -> dict[int, int]:
    """Ranks by clusters of metrics that are not told apart; none without resamples."""
    if not p:
        return {known[0]: 1} if len(known) == 1 else {}
    square = np.full((len(known), len(known)), np.nan)
    for (i, j), own in p.items():
        square[known.index(i), known.index(j)] = own
    return dict(zip(known, clusters(square, level), strict=True))


def _mean_rank(tasks: Sequence[Task], metric: str) -> float | None:
    total = 0.0
    for task in tasks:
        if (rank := task.rows[metric].rank) is None:
            return None
        total += task.weight * rank
    return total


def _note(tasks: Sequence[Task], metric: str) -> str:
    """The first task in which a metric is undefined, in words."""
    for task in tasks:
        if math.isnan(task.rows[metric].value):
            return f"undefined on {task.set}: {', '.join(task.names)}"
    return ""


# ----------------------------------------------------------------------------------- in sentences


def _made(result: RankAverage) -> Iterator[str]:
    asked = result.results[0].experiment
    tasks = sum(len(one.resampled) for one in result.results)
    shares = " and ".join(f"{weight:.3g}" for weight in result.weights)
    weights = "equal weights" if len({*result.weights}) == 1 else f"the weights {shares}"
    yield (
        f"Value: the mean over {tasks:,} task{'s' * (tasks != 1)}. Experiments have {weights}, "
        "which their tasks share evenly."
    )
    if _mixed(result.results):
        yield "Statistics differ in range: those from -1 to 1 count as (value + 1) / 2."
    if asked.resamples:
        yield (
            f"Intervals: 95%, from {asked.resamples:,} bootstrap resamples; all tasks of a set see "
            "the same ones, and different sets are resampled independently."
        )
    if result.tests:
        exchanged = exchanges_add_up(result.results)
        test = f"PERM-BOTH, {asked.trials:,} trials" if exchanged else "bootstrap, one-sided"
        corrected = "" if asked.correction == "none" else f", {asked.correction} correction"
        yield (
            "Ranks: a metric starts a new rank where one of the present rank has the higher "
            f"average at p of at most {asked.level:g} ({test}{corrected})."
        )
    yield (
        "Place: the mean of a metric's places in the tasks, 1 being best. Mean rank: that of its "
        "ranks in the tasks."
    )
    if result.left_out:
        yield f"Left out, since some results lack them: {', '.join(result.left_out)}."


def _remarks(results: Sequence[Ranking]) -> Iterator[str]:
    """Yield the remarks of all results, with the set's name where others lack them."""
    every = [result.remarks for result in results]
    for remark in dict.fromkeys(remark for own in every for remark in own):
        names = [r.name for r, own in zip(results, every, strict=True) if remark in own]
        yield remark if len(names) == len(results) else f"{', '.join(names)}: {remark}"
