"""Pseudo-documents: how reliable a metric is on texts of 1 to 25 segments (GTM's experiment).

Segments are shuffled and cut into documents of k segments; a document's human score is the mean of
its segments', its metric score that of its segments together. All documents of all systems are the
points of one correlation. Shuffling is repeated, the same way for all metrics, so that metrics are
compared on the same documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.evalset.loading import as_evalset
from karat.evalset.sets import EvalSet
from karat.meta.scores import ScoredSet, score_evalset
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.stats.correlation import Statistic, quotient, statistic
from karat.stats.resampling import SEED, central

LENGTHS = tuple(range(1, 26))


class Reliability(NamedTuple):
    """Agreement with humans over documents of one length: the values of all repetitions."""

    dimension: str
    length: int
    metric: Metric
    statistic: str
    documents: int
    """Documents of each system in one repetition."""
    values: Floats

    @property
    def mean(self) -> float:
        """The mean over the repetitions in which it is defined."""
        return float(np.nanmean(self.values)) if not np.isnan(self.values).all() else float("nan")

    @property
    def ends(self) -> tuple[float, float]:
        """The central 95% of the repetitions: how much it depends on the shuffling."""
        return central(self.values)


def reliability(
    given: EvalSet | GivenPath | ScoredSet,
    dimension: str,
    *,
    metrics: Sequence[str | Metric] | str | Metric = "bleu",
    lengths: Sequence[int] = LENGTHS,
    statistics: Sequence[str] = ("pearson", "spearman"),
    normalise: str = "none",
    repeats: int = 100,
    seed: int = SEED,
    progress: Progress = silent,
) -> list[Reliability]:
    """Return the agreement of metrics over pseudo-documents of all lengths.

    An evaluation set is scored by `metrics`; what was scored before is taken as it is.
    """
    scored = given if isinstance(given, ScoredSet) else score_evalset(as_evalset(given), metrics)
    judged = scored.judged(scored.evalset.human(dimension, normalise))
    most = len(scored.evalset)
    if repeats < 1:
        raise InputError(f"repeats={repeats}: expected at least 1")
    for length in lengths:
        if not 1 <= length <= most:
            raise InputError(f"pseudo-documents of {length} segments: expected 1 to {most:,}")
    chosen = [statistic(name) for name in statistics]
    for one in chosen:
        if one.behind is not None:
            raise InputError(f"{one.name} compares systems, not pseudo-documents: choose another")
    found: list[Reliability] = []
    for number, length in enumerate(lengths, 1):
        rng = np.random.default_rng([seed, length])
        shuffles = [rng.permutation(most) for _ in range(repeats)]
        found += _of_length(scored, dimension, judged, length, shuffles, chosen)
        progress(number, len(lengths), "pseudo-documents")
    return found


def _of_length(
    scored: ScoredSet,
    dimension: str,
    human: Floats,
    length: int,
    shuffles: Sequence[Ints],
    statistics: Sequence[Statistic],
) -> Iterator[Reliability]:
    documents = human.shape[1] // length
    # The mean human score of each document, one vector for all systems; NaN if nobody judged.
    cells = (_cut(human[:, :, None], s, length) for s in shuffles)
    sizes = ((np.nansum(x, axis=(2, 3)), (~np.isnan(x)).sum(axis=(2, 3))) for x in cells)
    people = [quotient(*both).ravel()[None] for both in sizes]
    for metric in scored.metrics:
        rows = scored.rows[metric] * ~np.isnan(human)[:, :, None]
        sums = [_cut(rows, s, length).sum(axis=2).reshape(-1, rows.shape[2]) for s in shuffles]
        scores = [metric.sign * metric.measure(of)["value"][None] for of in sums]
        for by in statistics:
            values = [by(h, m) for h, m in zip(people, scores, strict=True)]
            yield Reliability(dimension, length, metric, by.name, documents, np.array(values))


def _cut(cells: Floats, shuffle: Ints, length: int) -> Floats:
    """Systems x documents x segments x columns; segments that do not fill a document are left."""
    documents = len(shuffle) // length
    kept = cells[:, shuffle[: documents * length]]
    return kept.reshape(len(cells), documents, length, cells.shape[2])
