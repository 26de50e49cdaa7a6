"""Views of an evaluation set at each level: matrices of human and metric scores.

The metric score of a system or document is computed from its segments together (sums of
statistics), as a corpus score is, or from its joined text (document-joined); its human score is the
mean of its segments' scores. Metric scores of systems use their human-rated outputs, or all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Floats, np
from karat.errors import InputError
from karat.evalset.sets import EvalSet
from karat.meta.agreement import (
    Agreement,
    agreement,
    bootstrap,
    document_means,
    group_points,
    keep_shared,
    segments_by_document,
    weighted_means,
)
from karat.meta.documents import score_joined
from karat.meta.scores import ScoredSet
from karat.progress import Progress, silent
from karat.registry import Registry, call, expect_type, make_check
from karat.stats.correlation import OfSegments, Statistic, defined, why_undefined
from karat.stats.resampling import bootstrap_indices
from karat.stats.soft_pairwise import ScoreSums

OF_SYSTEMS = ("system", "system-mean")  # the levels whose points are systems


Rescore = Callable[[Sequence[Any], Floats], Iterable[Floats]]
"""From metrics and counts of segments (draws x segments) to draws x systems for each metric."""


class SegmentScores(NamedTuple):
    """The segment scores from which the scores of systems are computed."""

    human: Floats
    metrics: Mapping[Any, Floats]  # systems x segments; for corpus scores, x statistics
    corpus: bool = False  # the score of a system is a corpus score, not a mean of segment scores

    def score(self, metric: Any) -> ScoreSums | None:
        """Return the function that scores sums of statistics; None unless for corpus scores."""
        if not self.corpus:
            return None
        of = metric.of_documents()
        return lambda sums: of.sign * of.measure(sums)["value"]


@dataclass(frozen=True, eq=False)
class View:
    """Human and metric scores at one level, as matrices.

    Systems can be scored again on other segments by `rescore`, from the human scores in `judged`.
    """

    human: Floats
    metrics: Mapping[Any, Floats]
    at: str  # a level of matrices: how they are correlated
    segment_scores: SegmentScores | None = None  # of the points, if points are systems
    judged: Floats | None = None  # human scores, systems x segments, if there is `rescore`
    rescore: Rescore | None = None
    weighted_pearson: Callable[[Floats, Floats, Floats], Floats] | None = None
    """From human scores (draws x systems), scores of all metrics (metrics x draws x systems) and
    counts of systems to Pearson's r, metrics x draws: fast for a grid of metrics."""

    def agreement(self, metric: Any, by: Statistic) -> Agreement:
        """Return the statistic of one metric."""
        if by.of_segments is None:
            return agreement(self.human, self.metrics[metric], by, self.at)
        segments = self._require_segment_scores(by)
        value = by.of_segments(segments.human, segments.metrics[metric], segments.score(metric))
        systems = int((~np.isnan(segments.human)).any(axis=1).sum())
        too_few = "fewer than 2 systems have human scores"
        reason = "no segment has the scores of all systems" if systems > 1 else too_few
        return Agreement(value, systems, reason=reason if math.isnan(value) else "")

    def p_value(self, metric: Any, by: Statistic) -> float | None:
        """Return p of no correlation; None for levels with groups and statistics without p."""
        if by.p_value is None or self.at not in {"system", "segment"}:
            return None
        pair = keep_shared(self.human, self.metrics[metric])
        h, m = defined(*(group_points(x[None], self.at)[0] for x in pair))
        return None if why_undefined(h, m) else by.p_value(h, m)

    def exchangeable(self, by: Statistic) -> tuple[Floats, Mapping[Any, Floats], str] | None:
        """Return the human and metric scores whose cells a test exchanges, and their level.

        It is None if metrics cannot be compared in this way. Statistics of segments exchange scores
        of segments, which corpus scores do not have.
        """
        if not by.tested:
            return None
        if by.of_segments is None:
            return self.human, self.metrics, self.at
        segments = self._require_segment_scores(by)
        return None if segments.corpus else (segments.human, segments.metrics, "system")

    def resample(
        self,
        by: Statistic,
        over: str,
        n: int,
        seed: int,
        progress: Progress = silent,
        metrics: Sequence[Any] = (),
    ) -> Floats:
        """Return metrics x resamples: the statistic of some metrics, by default all of them."""
        names = metrics or [*self.metrics]
        if by.of_segments is not None:
            return self._resample_segments(by, by.of_segments, names, n, seed, progress)
        if self.judged is None or self.rescore is None:
            scores = [self.metrics[m] for m in names]
            return bootstrap(self.human, scores, by, self.at, over, n, seed, progress)
        batches = [np.empty((len(names), 0))]
        for systems, segments in bootstrap_indices(self.judged.shape, over, n, seed, progress):
            counts = _kernel.tally(segments, self.judged.shape[1])
            human = weighted_means(self.judged, counts)
            if self.weighted_pearson is not None and by.name == "pearson":
                weights = _kernel.tally(systems, len(self.judged))
                rescored = np.nan_to_num(np.stack([*self.rescore(names, counts)]))
                batches.append(self.weighted_pearson(human, rescored, weights))
                continue
            h = np.take_along_axis(human, systems, axis=1)
            scores = [np.take_along_axis(m, systems, axis=1) for m in self.rescore(names, counts)]
            batches.append(np.stack([by.of_resamples(h, m, systems) for m in scores]))
        return np.concatenate(batches, axis=1)

    def _resample_segments(
        self,
        by: Statistic,
        value: OfSegments,
        metrics: Sequence[Any],
        n: int,
        seed: int,
        progress: Progress,
    ) -> Floats:
        """Resample segments only: a system drawn twice would always be as good as itself."""
        segment_scores = self._require_segment_scores(by)
        score_functions = [(segment_scores.metrics[m], segment_scores.score(m)) for m in metrics]
        values = np.empty((len(metrics), n))
        draws = bootstrap_indices(segment_scores.human.shape, "segments", n, seed)
        for i, columns in enumerate(columns for _, segments in draws for columns in segments):
            human = segment_scores.human[:, columns]
            for k, (scores, score) in enumerate(score_functions):
                values[k, i] = value(human, scores[:, columns], score)
            progress(i + 1, n, "resampling")
        return values

    def _require_segment_scores(self, by: Statistic) -> SegmentScores:
        if self.segment_scores is None:
            raise InputError(_only_systems(by))
        return self.segment_scores


def systems_view(
    human: Floats,
    metrics: Sequence[Any],
    rescore: Rescore,
    segments: SegmentScores | None = None,
) -> View:
    """Return one point per system: its mean human score and its score by `rescore`."""
    once = np.ones((1, human.shape[1]))
    scores = {m: s.T for m, s in zip(metrics, rescore(metrics, once), strict=True)}
    return View(weighted_means(human, once).T, scores, "segment", segments, human, rescore)


def _only_systems(by: Statistic) -> str:
    return f"{by.name} compares systems: choose the level {' or '.join(OF_SYSTEMS)}"


def view(name: str, scored: ScoredSet, human: Floats) -> View:
    """Return the scores of an evaluation set at a level; missing outputs have neither score."""
    check_level(name, scored.evalset)
    make = LEVELS[name]
    judged, problem = scored.judged(human), expect_type(View, "a karat.View")
    score_view: View = call(f"level {name}", make, lambda: make(scored, judged), problem)
    return score_view


def check_behind(by: Statistic, levels: Iterable[str]) -> None:
    """Raise if a statistic of segments is requested at a level whose points are not systems."""
    if by.of_segments is not None and not {*levels} <= {*OF_SYSTEMS}:
        raise InputError(_only_systems(by))


def check_level(name: str, evalset: EvalSet) -> None:
    """Raise if the level is unknown, or needs documents that the set does not have."""
    if LEVELS[name] in (_documents, _joined_documents) and evalset.groups is None:
        raise InputError(f"{evalset.name} has no documents: its segments have no groups")


def matrix_view(human: Floats, metrics: Mapping[Any, Floats], at: str) -> View:
    """Return scores at a level, from matrices of systems x segments or documents.

    Args:
        human, metrics: the matrices; NaN is a missing score.
        at: name of the level.
    """
    return View(human, metrics, at, SegmentScores(human, metrics) if at == "system" else None)


def mean_view(human: Floats, metrics: Mapping[Any, Floats], system_scores: str) -> View:
    """Return one point per system: means of its scores.

    Metric scores are those of human-rated cells (`judged`) or of all cells."""
    for scores in metrics.values():
        keep_shared(human, scores)  # raises if shapes differ
    if system_scores == "judged":
        return matrix_view(human, metrics, "system")

    def rescore(names: Sequence[Any], counts: Floats) -> list[Floats]:
        return [weighted_means(metrics[m], counts) for m in names]

    return systems_view(human, [*metrics], rescore, SegmentScores(human, metrics))


# ---------------------------------------------------------------------------------- levels


def _systems(scored: ScoredSet, human: Floats) -> View:
    """One point per system: its corpus score and its mean human score."""
    is_counted = scored.present if scored.system_scores == "all" else ~np.isnan(human)
    rows = {m: scored.known_rows(m) for m in scored.metrics}

    def rescore(metrics: Sequence[Any], counts: Floats) -> list[Floats]:
        return [scored.corpus(metric, counts, is_counted) for metric in metrics]

    return systems_view(human, scored.metrics, rescore, SegmentScores(human, rows, corpus=True))


def _system_means(scored: ScoredSet, human: Floats) -> View:
    """One point per system: the means of its segment scores."""
    return mean_view(human, scored.segment_scores(), scored.system_scores)


def _documents(scored: ScoredSet, human: Floats) -> View:
    """One point per system and document: its corpus score there."""
    groups = scored.evalset.groups or ()
    segments, is_judged = segments_by_document(groups), ~np.isnan(human)
    metrics = {m: scored.documents(m, segments, is_judged) for m in scored.metrics}
    return matrix_view(document_means(human, groups), metrics, "segment")


def _joined_documents(scored: ScoredSet, human: Floats) -> View:
    """One point per system and document: the score of its segments joined into one text."""
    groups = scored.evalset.groups or ()
    segments, is_judged = segments_by_document(groups), ~np.isnan(human)
    metrics = score_joined(scored.evalset, scored.metrics, segments, is_judged, scored.threads)
    return matrix_view(document_means(human, groups), metrics, "segment")


def _segments(at: str, scored: ScoredSet, human: Floats) -> View:
    """One point per output, grouped as the level of matrices does."""
    return matrix_view(human, scored.segment_scores(), at)


LEVELS: Registry[Callable[[ScoredSet, Floats], View]] = Registry(
    "levels",
    "level",
    {
        "system": _systems,
        "system-mean": _system_means,
        "segment": partial(_segments, "segment"),
        "item": partial(_segments, "item"),
        "by-system": partial(_segments, "by-system"),
        "document": _documents,
        "document-joined": _joined_documents,
    },
    check=make_check(callable, "level", "a function from scores and human scores to a view"),
)
"""Level -> the function that makes its view of an evaluation set's scores and human scores."""

LEVEL_MEANINGS = {
    "system": "one point per system: its corpus score and its mean human score",
    "system-mean": "one point per system: the means of its segment scores",
    "segment": "one point per output, all in one pool",
    "item": "agreement over the systems of one segment, mean over segments",
    "by-system": "agreement over the segments of one system, mean over systems",
    "document": "one point per system and document",
    "document-joined": "one point per system and document, its segments joined into one text",
}
"""The built-in levels in words."""
