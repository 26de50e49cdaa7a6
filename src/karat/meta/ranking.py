"""Metrics ranked by their agreement with humans: intervals, tests, ranks in clusters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias, TypeVar

from karat.arrays import Floats, np
from karat.meta.agreement import Agreement, perm_both
from karat.meta.experiment import Experiment
from karat.meta.views import OF_SYSTEMS, View
from karat.progress import Progress, map_jobs
from karat.results import Column, number, people_column, program_columns
from karat.stats.correlation import STATISTICS, Statistic
from karat.stats.exchanges import Permutation
from karat.stats.resampling import percentiles
from karat.stats.significance import CORRECTIONS, clusters, separates_ranks

KeyT = TypeVar("KeyT")


class MetaRow(NamedTuple):
    """One metric's agreement with one dimension, by one statistic at one level."""

    dimension: str
    level: str
    statistic: str
    rank: int | None  # metrics of one rank do not differ significantly; None if untested
    metric: str
    value: float  # NaN if the statistic is undefined
    low: float
    high: float
    points: int  # number of systems, cells or documents that were compared
    groups: int
    left_out: int  # number of groups in which the statistic is undefined
    undefined: int  # number of resamples in which the statistic is undefined
    note: str
    p: float | None = None  # two-sided p of no correlation; None if not requested or undefined
    delta: float | None = None  # value minus that of the best metric; None for the best
    delta_low: float | None = None
    delta_high: float | None = None  # ends of its 95% interval, from the same resamples of both


RANK = number("rank", "Rank", help="Metrics with the same rank do not differ significantly.")
INTERVAL = (
    number("low", "Low", 3, "Lower end of the 95% bootstrap interval."),
    number("high", "High", 3, "Upper end of the 95% bootstrap interval."),
)


def format_delta(row: Any) -> str | None:
    """Return the difference from the best metric with its interval, None for the best."""
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return None
    if math.isnan(row.delta_low):
        return f"{row.delta:+.3f}"
    return f"{row.delta:+.3f} [{row.delta_low:+.3f}, {row.delta_high:+.3f}]"


DELTA = people_column(
    "delta_shown", "Delta", format_delta, align="right", help="Value minus the best metric's."
)
META_COLUMNS = (
    *program_columns("dimension", "level", "statistic"),
    RANK,
    Column("metric", "Metric", help="The metric's name; its full signature is below.", filter=True),
    number("value", "Value", 3, "The statistic; higher is better (for rmse, lower)."),
    *INTERVAL,
    number("p", "p", 4, "p of no correlation, two-sided; see below.", positive=True),
    DELTA,
    *program_columns("points", "groups", "left_out", "undefined"),
    Column("note", "", wrap=True),
    *program_columns("delta", "delta_low", "delta_high"),
)


class MetricTest(NamedTuple):
    """A test whether one metric agrees better with humans than another."""

    dimension: str
    level: str
    statistic: str
    better: str
    worse: str
    delta: float
    p: float  # corrected, if requested
    low: float = math.nan
    high: float = math.nan  # ends of the 95% interval of the difference, from the same resamples

    def separates(self, level: float) -> bool:
        """Return whether p puts the two metrics into different ranks."""
        return bool(separates_ranks(self.p, level))


Draws = Mapping[str, Floats]  # metric -> its statistic in each resample; draws are shared


class Resampled(NamedTuple):
    """Resamples and exchanges of one task, for averages over tasks."""

    draws: Draws
    exchanges: Mapping[tuple[str, str], Permutation]  # by better and worse metric


RankingTask: TypeAlias = tuple[str, str, str]  # dimension, level, statistic


def rank(
    experiment: Experiment, view: View, task: RankingTask, progress: Progress, threads: int = 1
) -> tuple[list[MetaRow], list[MetricTest], Resampled]:
    """Rank all metrics by one statistic at one level, the best first, and test their differences.

    Metrics whose agreement is undefined come last, without a rank. Equal values keep their order.
    """
    by = STATISTICS[task[2]]
    agreements = {m: view.agreement(m, by) for m in view.metrics}
    defined = [m for m in agreements if not math.isnan(agreements[m].value)]
    undefined = [m for m in agreements if math.isnan(agreements[m].value)]
    order = sorted(defined, key=lambda m: -by.sign * agreements[m].value)
    draws = _resample(experiment, view, by, progress, threads) if experiment.resamples else {}
    exchanges = _test_pairs(experiment, view, by, order, progress, threads)
    corrected = CORRECTIONS[experiment.correction]([test.p for test in exchanges.values()])
    p_values = dict(zip(exchanges, corrected.tolist(), strict=True))
    tests = []
    for pair, test in exchanges.items():
        ends = _difference_interval(draws, *pair, test.delta)
        tests.append(MetricTest(*task, *pair, test.delta, p_values[pair], *ends))
    ranks = rank_clusters([str(m) for m in order], p_values, experiment.level)
    rows: list[MetaRow] = []
    for m in (*order, *undefined):
        row = _agreement_row(task, str(m), agreements[m], draws)
        row = row._replace(rank=ranks.get(row.metric))
        if rows and m in defined:
            delta = row.value - rows[0].value
            low, high = _difference_interval(draws, row.metric, rows[0].metric, delta)
            row = row._replace(delta=delta, delta_low=low, delta_high=high)
        rows.append(row._replace(p=view.p_value(m, by) if experiment.p_values else None))
    return rows, tests, Resampled(draws, exchanges)


def _resample(
    experiment: Experiment, view: View, by: Statistic, progress: Progress, threads: int
) -> Draws:
    """Return the statistic of every metric in each resample."""

    def resample(metric: Any, progress: Progress) -> Floats:
        over, n, seed = experiment.over, experiment.resamples, experiment.seed
        return view.resample(by, over, n, seed, progress, [metric])

    resamples = map_jobs(resample, [*view.metrics], threads, progress, "resampling")
    return dict(zip(map(str, view.metrics), np.concatenate(resamples), strict=True))


def _agreement_row(task: RankingTask, metric: str, agreement: Agreement, draws: Draws) -> MetaRow:
    """Return the agreement of a metric with its interval, without a rank."""
    value, points, groups, left_out, reason = agreement
    low, high, undefined = math.nan, math.nan, 0
    if draws:
        low, high, undefined = percentiles(draws[metric], value)
    note = f"undefined in {undefined:,} resample{'s' * (undefined != 1)}" if undefined else ""
    if math.isnan(value):
        note = f"undefined: {reason}"
    counts = points, groups, left_out, undefined
    return MetaRow(*task, None, metric, value, low, high, *counts, note)


def _difference_interval(
    draws: Draws, first: str, second: str, delta: float
) -> tuple[float, float]:
    """Return the interval of the difference between two metrics; NaN without resamples."""
    if not draws:
        return math.nan, math.nan
    with np.errstate(invalid="ignore"):  # the difference of two infinite values is undefined
        low, high, _ = percentiles(draws[first] - draws[second], delta)
    return low, high


def _test_pairs(
    experiment: Experiment,
    view: View,
    by: Statistic,
    order: list[Any],
    progress: Progress,
    threads: int,
) -> dict[tuple[str, str], Permutation]:
    """Return PERM-BOTH of all pairs, better against worse; none if the statistic has no test."""
    scores = view.exchangeable(by) if experiment.trials else None
    if scores is None:
        return {}
    human, metrics, at = scores

    def test_pair(pair: tuple[Any, Any], progress: Progress) -> Permutation:
        better, worse = (metrics[m] for m in pair)
        return perm_both(human, better, worse, by, at, experiment.trials, experiment.seed, progress)

    pairs = list(combinations(order, 2))
    results = map_jobs(test_pair, pairs, threads, progress, "comparing metrics")
    return {(str(a), str(b)): test for (a, b), test in zip(pairs, results, strict=True)}


def rank_clusters(
    order: Sequence[KeyT], p_values: Mapping[tuple[KeyT, KeyT], float], level: float
) -> dict[KeyT, int]:
    """Return the ranks of metrics; `order` has the best first.

    `p_values` are by the better and the worse metric; without any, only a single metric has a rank.
    """
    if not p_values:
        return {order[0]: 1} if len(order) == 1 else {}
    square = np.full((len(order), len(order)), np.nan)
    for (better, worse), p in p_values.items():
        square[order.index(better), order.index(worse)] = p
    return dict(zip(order, clusters(square, level), strict=True))


MIN_RANKED = 6  # fewer points, such as systems, do not rank metrics


class Leader(NamedTuple):
    """The metrics of one dimension, level and statistic, from the best to the worst."""

    dimension: str
    level: str
    statistic: str
    rows: tuple[MetaRow, ...]  # metrics whose agreement is defined; at least one

    @property
    def best(self) -> MetaRow:
        """The metric that agrees best."""
        return self.rows[0]

    @property
    def tied(self) -> tuple[MetaRow, ...]:
        """The other metrics of rank 1, which do not differ significantly from the best."""
        return tuple(row for row in self.rows[1:] if row.rank == 1)

    @property
    def tested(self) -> bool:
        """True if the metrics were tested against each other."""
        return self.best.rank is not None

    @property
    def sign(self) -> int:
        """1 if a higher value of the statistic is better, else -1."""
        return STATISTICS[self.statistic].sign

    @property
    def unit(self) -> str:
        """The noun for a point of the correlation."""
        return "system" if self.level in OF_SYSTEMS else "point"

    @property
    def has_few_points(self) -> bool:
        """True if there are too few points to rank metrics."""
        return self.best.points < MIN_RANKED

    @property
    def uncertain(self) -> bool:
        """True if the interval of the best metric's correlation contains zero."""
        correlates = STATISTICS[self.statistic].lowest < 0 < self.sign
        return correlates and self.best.low <= 0 <= self.best.high


def leaders(rows: Iterable[MetaRow]) -> list[Leader]:
    """Return the leaders of all tasks in which any agreement is defined, in their order."""
    rows_by_task: dict[tuple[str, str, str], list[MetaRow]] = {}
    for row in rows:
        if not math.isnan(row.value):
            rows_by_task.setdefault(row[:3], []).append(row)
    return [Leader(*task, tuple(task_rows)) for task, task_rows in rows_by_task.items()]


def by_mean_rank(settings: Iterable[Sequence[MetaRow]], metrics: Sequence[str]) -> list[str]:
    """Return the metrics sorted by their mean rank, then by their mean position.

    `settings` are rows from the best to the worst; a metric that lacks one counts as last there.
    """
    rankings = list(settings)

    def sums(metric: str) -> tuple[int, int]:
        ranks, positions = 0, 0
        for rows in rankings:
            matches = [(row.rank, at) for at, row in enumerate(rows) if row.metric == metric]
            rank, position = matches[0] if matches else (None, len(rows))
            ranks += len(rows) if rank is None else rank
            positions += position
        return ranks, positions

    return sorted(metrics, key=sums)
