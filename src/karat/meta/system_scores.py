"""Scores of whole systems: human means and corpus scores with intervals, one against the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat import _kernel
from karat.arrays import Floats, np
from karat.meta.evaluation import MetaEvaluation
from karat.meta.levels import drawn_means
from karat.meta.ranking import MetaRow
from karat.meta.views import view
from karat.metrics.base import Metric
from karat.stats.resampling import central

MOST_SCATTERS = 24


class SystemScore(NamedTuple):
    """A system's score by a dimension or a metric, with its 95% bootstrap interval."""

    system: str
    source: str
    """human or metric."""
    name: str
    """The dimension or the metric."""
    value: float
    low: float
    high: float


def system_scores(result: MetaEvaluation) -> Iterator[SystemScore]:
    """Yield every system's mean human scores, more being better, and its corpus scores as they are.

    Segments are drawn anew, the same for all systems.
    """
    asked, scored, n = result.experiment, result.scored, len(result.evalset)
    rng = np.random.default_rng(asked.seed)
    drawn = _kernel.tally(rng.integers(0, n, size=(asked.resamples, n)), n)
    counts = np.vstack([np.ones((1, n)), drawn])
    for dimension in asked.dimensions:
        human = drawn_means(result.evalset.human(dimension, asked.normalise), counts)
        yield from _with_ends(result, "human", dimension, human)
    for metric in scored.metrics:
        values = metric.sign * scored.corpus(metric, counts, scored.present)
        yield from _with_ends(result, "metric", str(metric), values)


def _with_ends(
    result: MetaEvaluation, source: str, name: str, values: Floats
) -> Iterator[SystemScore]:
    for system, own in zip(result.evalset.systems, values.T, strict=True):
        yield SystemScore(system, source, name, float(own[0]), *central(own[1:]))


class SystemPoint(NamedTuple):
    """A system's metric score and its human score, more being better."""

    score: float
    human: float
    system: str


class SystemScatter(NamedTuple):
    """Human against metric scores of systems."""

    dimension: str
    metric: Metric
    points: tuple[SystemPoint, ...]
    line: tuple[float, float] | None
    """Slope and intercept of the least-squares line of human scores, where there is one."""
    agreement: MetaRow | None
    """The agreement over systems by the first statistic, if it was asked for."""
    scored_on: str
    """In words: the outputs that scores are of."""


def scatters(result: MetaEvaluation) -> Iterator[SystemScatter]:
    """Yield the points of the level of systems, for each dimension and metric up to the limit."""
    pairs = [(d, m) for d in result.experiment.dimensions for m in result.scored.metrics]
    for dimension, metric in pairs[:MOST_SCATTERS]:
        human = result.evalset.human(dimension, result.experiment.normalise)
        seen = view("system", result.scored, human)
        scores = seen.metrics[metric][:, 0].tolist(), seen.human[:, 0].tolist()
        points = tuple(map(SystemPoint, *scores, result.evalset.systems))
        place = dimension, "system", str(metric)
        rows = (row for row in result.rows if (row.dimension, row.level, row.metric) == place)
        every = "metric scores on all outputs, human scores on those judged"
        on = every if result.experiment.system_scores == "all" else "on its judged outputs"
        yield SystemScatter(dimension, metric, points, _line(points), next(rows, None), on)


def _line(points: Sequence[SystemPoint]) -> tuple[float, float] | None:
    known = [p for p in points if math.isfinite(p.score) and math.isfinite(p.human)]
    n = len(known)
    if n < 3:
        return None
    x, y = sum(p.score for p in known) / n, sum(p.human for p in known) / n
    spread = sum((p.score - x) * (p.score - x) for p in known)
    if spread <= 0:
        return None
    slope = sum((p.score - x) * (p.human - y) for p in known) / spread
    return slope, y - slope * x
