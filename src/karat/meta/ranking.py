"""Metrics ranked by their agreement with humans: intervals, tests, ranks in clusters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from karat.arrays import Floats, np
from karat.meta.agreement import Agreement, Percentiles, percentiles, perm_both
from karat.meta.experiment import Experiment
from karat.meta.views import OF_SYSTEMS, View
from karat.progress import Progress, map_jobs
from karat.stats.correlation import STATISTICS, Statistic
from karat.stats.exchanges import Permutation
from karat.stats.multiple_tests import CORRECTIONS, clusters
from karat.stats.significance import separates_ranks


class MetaRow(NamedTuple):
    """One metric's agreement with one dimension, by one statistic at one level."""

    dimension: str
    level: str
    statistic: str
    rank: int | None
    """Metrics of one rank do not differ significantly; None where that was not tested."""
    metric: str
    value: float
    """NaN where the statistic is undefined."""
    low: float
    high: float
    points: int
    """Systems, cells or documents that were compared."""
    groups: int
    left_out: int
    """Groups in which the statistic is undefined."""
    undefined: int
    """Resamples in which the statistic is undefined."""
    note: str
    p: float | None = None
    """Of no correlation, two-sided; None where it was not asked for or there is none."""
    delta: float | None = None
    """The value minus that of the best metric; None for that one and where it is undefined."""
    delta_low: float | None = None
    delta_high: float | None = None
    """The 95% interval of the delta, from the same draws of both metrics."""


class MetricTest(NamedTuple):
    """A test that one metric agrees better with the humans than another."""

    dimension: str
    level: str
    statistic: str
    better: str
    worse: str
    delta: float
    p: float
    """Corrected, if that was asked for."""
    low: float = math.nan
    high: float = math.nan
    """The 95% interval of the difference of their values, from the same draws of both."""

    def separates(self, level: float) -> bool:
        """Return whether p puts the two metrics into different ranks."""
        return bool(separates_ranks(self.p, level))


Draws = Mapping[str, Floats]
"""Metric -> its statistic in each resample; all metrics see the same resamples."""


class Exchanged(NamedTuple):
    """The difference of two metrics, and those of all exchanges of PERM-BOTH."""

    delta: float
    differences: Floats


class Resampled(NamedTuple):
    """Data behind the intervals and tests of one task; averages over tasks need them."""

    draws: Draws
    exchanges: Mapping[tuple[str, str], Exchanged]
    """By the better and the worse metric; empty where nothing was tested."""


class Task(NamedTuple):
    """A dimension, a level and a statistic of an experiment."""

    dimension: str
    level: str
    by: Statistic

    @property
    def names(self) -> tuple[str, str, str]:
        """The task in rows."""
        return self.dimension, self.level, self.by.name


class Ranked(NamedTuple):
    """The metrics of one task in their order, the tests between them, and their resamples."""

    rows: list[MetaRow]
    tests: list[MetricTest]
    resampled: Resampled


def rank(
    experiment: Experiment, seen: View, task: Task, progress: Progress, threads: int = 1
) -> Ranked:
    """Rank all metrics by one statistic at one level, the best first.

    Metrics whose agreement is undefined come last, without a rank. Equal values keep their order.
    """
    found = {m: seen.agreement(m, task.by) for m in seen.metrics}
    known = [m for m in found if not math.isnan(found[m].value)]
    order = sorted(known, key=lambda m: -task.by.sign * found[m].value)
    draws: Draws = {}
    if experiment.resamples:
        drawn = _draws(experiment, seen, task.by, progress, threads)
        draws = dict(zip(map(str, found), drawn, strict=True))
    tests, exchanges = _tests(experiment, seen, task, order, progress, threads)
    ranks = _ranks([str(m) for m in order], tests, experiment.level)
    last = [m for m in found if m not in known]
    rows = [_row(task, str(m), ranks.get(str(m)), found[m], draws) for m in [*order, *last]]
    if experiment.p_values:
        p = [seen.p_value(m, task.by) for m in [*order, *last]]
        rows = [row._replace(p=own) for row, own in zip(rows, p, strict=True)]
    compared = [_with_ends(test, draws) for test in tests]
    return Ranked(_beside_best(rows, draws), compared, Resampled(draws, exchanges))


def _beside_best(rows: list[MetaRow], draws: Draws) -> list[MetaRow]:
    """Add the difference of each metric to the first, with its interval."""
    best, *others = rows

    def beside(row: MetaRow) -> MetaRow:
        if math.isnan(row.value):
            return row
        delta = row.value - best.value
        low, high = _ends(draws, row.metric, best.metric, delta)
        return row._replace(delta=delta, delta_low=low, delta_high=high)

    return [best, *map(beside, others)]


def _with_ends(test: MetricTest, draws: Draws) -> MetricTest:
    low, high = _ends(draws, test.better, test.worse, test.delta)
    return test._replace(low=low, high=high)


def _ends(draws: Draws, metric: str, rival: str, delta: float) -> tuple[float, float]:
    """The interval of the difference between two metrics; NaN without resamples."""
    if not draws:
        return math.nan, math.nan
    with np.errstate(invalid="ignore"):  # the difference of two infinite values is undefined
        low, high, _ = percentiles(draws[metric] - draws[rival], delta)
    return low, high


def _row(task: Task, name: str, rank: int | None, found: Agreement, draws: Draws) -> MetaRow:
    ends = percentiles(draws[name], found.value) if draws else Percentiles(math.nan, math.nan, 0)
    note = f"undefined: {found.why}" if math.isnan(found.value) else ""
    if ends.undefined and not note:
        note = f"undefined in {ends.undefined:,} resample{'s' * (ends.undefined != 1)}"
    scores = found.value, ends.low, ends.high
    counts = found.points, found.groups, found.left_out, ends.undefined
    return MetaRow(*task.names, rank, name, *scores, *counts, note)


def _draws(
    experiment: Experiment, seen: View, by: Statistic, progress: Progress, threads: int
) -> Floats:
    """The statistic of each metric in each resample; the metrics are shared out among threads."""
    how = experiment.over, experiment.resamples, experiment.seed
    if threads == 1:
        return seen.draws(by, *how, progress)

    def work(metric: Any, progress: Progress) -> Floats:
        return seen.only(metric).draws(by, *how, progress)

    return np.concatenate(map_jobs(work, [*seen.metrics], threads, progress, "resampling"))


def _tests(
    experiment: Experiment,
    seen: View,
    task: Task,
    order: list[Any],
    progress: Progress,
    threads: int,
) -> tuple[list[MetricTest], dict[tuple[str, str], Exchanged]]:
    """PERM-BOTH between all pairs, better against worse; none for what depends on the scale."""
    if not experiment.trials or not seen.tests(task.by):
        return [], {}
    pairs = list(combinations(order, 2))
    human, metrics, at = seen.exchanged(task.by)

    def work(pair: tuple[Any, Any], progress: Progress) -> tuple[Permutation, Floats]:
        kept: list[Floats] = []
        how = task.by, at, experiment.trials, experiment.seed, progress, kept.append
        one, other = (metrics[m] for m in pair)
        return perm_both(human, one, other, *how), kept[0]

    found = map_jobs(work, pairs, threads, progress, "comparing metrics")
    p = CORRECTIONS[experiment.correction]([test.p for test, _ in found])
    names = [(str(one), str(other)) for one, other in pairs]
    tests = [
        MetricTest(*task.names, *pair, test.delta, float(corrected))
        for pair, (test, _), corrected in zip(names, found, p, strict=True)
    ]
    exchanges = (Exchanged(test.delta, differences) for test, differences in found)
    return tests, dict(zip(names, exchanges, strict=True))


def _ranks(order: list[str], tests: list[MetricTest], level: float) -> dict[str, int]:
    """Ranks by clusters of metrics that cannot be told apart."""
    if not tests:
        return {order[0]: 1} if len(order) == 1 else {}
    p = np.full((len(order), len(order)), np.nan)
    for test in tests:
        p[order.index(test.better), order.index(test.worse)] = test.p
    return dict(zip(order, clusters(p, level), strict=True))


FEWEST_RANKED = 6
"""Points, such as systems, from which on metrics are ranked by their agreement over them."""


class Leader(NamedTuple):
    """The metrics of one dimension, level and statistic, from the best to the worst."""

    dimension: str
    level: str
    statistic: str
    rows: tuple[MetaRow, ...]
    """Those whose agreement is defined; at least one."""

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
        """Return whether the metrics were compared with each other."""
        return self.best.rank is not None

    @property
    def sign(self) -> int:
        """1 where a higher value of the statistic is better, else -1."""
        return STATISTICS[self.statistic].sign

    @property
    def unit(self) -> str:
        """A point of the correlation."""
        return "system" if self.level in OF_SYSTEMS else "point"

    @property
    def few(self) -> bool:
        """Return whether the points are too few to rank metrics by."""
        return self.best.points < FEWEST_RANKED

    @property
    def uncertain(self) -> bool:
        """Return whether the best metric's correlation may be zero, by its interval."""
        correlates = STATISTICS[self.statistic].lowest < 0 < self.sign
        return correlates and self.best.low <= 0 <= self.best.high


def leaders(rows: Iterable[MetaRow]) -> list[Leader]:
    """Return the leaders of all settings in which any agreement is defined, in their order."""
    places: dict[tuple[str, str, str], list[MetaRow]] = {}
    for row in rows:
        if row.value == row.value:  # NaN is not
            places.setdefault(row[:3], []).append(row)
    return [Leader(*place, tuple(own)) for place, own in places.items()]


def by_mean_rank(settings: Iterable[Sequence[MetaRow]], metrics: Sequence[str]) -> list[str]:
    """Return the metrics from the lowest to the highest mean rank, untested ones by their places.

    `settings` are rows from the best to the worst; a metric that lacks one counts as last there.
    """
    every = list(settings)

    def mean(metric: str) -> tuple[float, float]:
        ranks, places = 0, 0
        for rows in every:
            found = [(row.rank, at) for at, row in enumerate(rows) if row.metric == metric]
            rank, place = found[0] if found else (None, len(rows))
            ranks += len(rows) if rank is None else rank
            places += place
        return ranks, places

    return sorted(metrics, key=mean)
