"""Metrics ranked by their agreement with humans: intervals, tests, ranks in clusters."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, NamedTuple

from karat.arrays import np
from karat.meta.bootstrap import Percentiles, percentiles
from karat.meta.experiment import Experiment
from karat.meta.levels import Agreement
from karat.meta.perm_both import perm_both
from karat.meta.views import View
from karat.progress import Progress
from karat.stats.correlation import Statistic
from karat.stats.significance.multiple import CORRECTIONS, clusters


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


class Task(NamedTuple):
    """A dimension, a level and a statistic of an experiment."""

    dimension: str
    level: str
    by: Statistic

    @property
    def names(self) -> tuple[str, str, str]:
        """The task in rows."""
        return self.dimension, self.level, self.by.name


def rank(
    experiment: Experiment, seen: View, task: Task, progress: Progress
) -> tuple[list[MetaRow], list[MetricTest]]:
    """Rank all metrics by one statistic at one level, the best first.

    Metrics whose agreement is undefined come last, without a rank. Equal values keep their order.
    """
    found = {m: seen.agreement(m, task.by) for m in seen.metrics}
    known = [m for m in found if not math.isnan(found[m].value)]
    order = sorted(known, key=lambda m: -task.by.sign * found[m].value)
    ends = dict.fromkeys(found, Percentiles(math.nan, math.nan, 0))
    if experiment.resamples:
        how = experiment.over, experiment.resamples, experiment.seed, progress
        ends = dict(zip(found, map(percentiles, seen.draws(task.by, *how)), strict=True))
    tests = _tests(experiment, seen, task, order, progress)
    ranks = _ranks([str(m) for m in order], tests, experiment.level)
    last = [m for m in found if m not in known]
    rows = [_row(task, str(m), ranks.get(str(m)), found[m], ends[m]) for m in [*order, *last]]
    return rows, tests


def _row(task: Task, name: str, rank: int | None, found: Agreement, ends: Percentiles) -> MetaRow:
    note = f"undefined: {found.why}" if math.isnan(found.value) else ""
    if ends.undefined and not note:
        note = f"undefined in {ends.undefined:,} resample{'s' * (ends.undefined != 1)}"
    scores = found.value, ends.low, ends.high
    counts = found.points, found.groups, found.left_out, ends.undefined
    return MetaRow(*task.names, rank, name, *scores, *counts, note)


def _tests(
    experiment: Experiment, seen: View, task: Task, order: list[Any], progress: Progress
) -> list[MetricTest]:
    """PERM-BOTH between all pairs, better against worse; none for what depends on the scale."""
    if not experiment.trials or not task.by.tested:
        return []
    pairs = list(combinations(order, 2))
    found = []
    for number, (one, other) in enumerate(pairs):

        def within(done: int, total: int, what: str, number: int = number) -> None:
            progress(number * total + done, len(pairs) * total, "comparing metrics")

        how = task.by, seen.at, experiment.trials, experiment.seed, within
        found.append(perm_both(seen.human, seen.metrics[one], seen.metrics[other], *how))
    p = CORRECTIONS[experiment.correction]([test.p for test in found])
    return [
        MetricTest(*task.names, str(one), str(other), test.delta, float(corrected))
        for (one, other), test, corrected in zip(pairs, found, p, strict=True)
    ]


def _ranks(order: list[str], tests: list[MetricTest], level: float) -> dict[str, int]:
    """Ranks by clusters of metrics that cannot be told apart."""
    if not tests:
        return {order[0]: 1} if len(order) == 1 else {}
    p = np.full((len(order), len(order)), np.nan)
    for test in tests:
        p[order.index(test.better), order.index(test.worse)] = test.p
    return dict(zip(order, clusters(p, level), strict=True))
