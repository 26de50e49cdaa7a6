"""Views of an evaluation set at each level: matrices of human and metric scores.

A system's or document's metric score is that of its segments taken together (sums of statistics),
as a corpus score is, or that of its text (document-joined); its human score is the mean of its
segments' scores. Metric scores of systems are of their judged outputs, or of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Floats, np
from karat.errors import InputError
from karat.evalset.sets import EvalSet
from karat.meta.agreement import (
    Agreement,
    agreement,
    arranged,
    bootstrap,
    document_means,
    drawn_means,
    drawn_places,
    members,
    shared,
)
from karat.meta.documents import score_joined
from karat.meta.scores import ScoredSet
from karat.progress import Progress, silent
from karat.registry import Registry, call, expect_type, make_check
from karat.stats.correlation import OfSegments, Statistic, defined, why_undefined
from karat.stats.soft_pairwise import ScoreSums

OF_SYSTEMS = ("system", "system-mean")  # the levels whose points are systems


Rescore = Callable[[Sequence[Any], Floats], Iterable[Floats]]
"""Metrics, and how often each segment was drawn (draws x segments) -> draws x systems of each."""


class SegmentScores(NamedTuple):
    """The segments behind systems' scores."""

    human: Floats
    metrics: Mapping[Any, Floats]  # systems x segments; of corpus scores, x statistics
    corpus: bool = False  # a system's score is that of its segments together, not their mean

    def score(self, metric: Any) -> ScoreSums | None:
        """Return the function that scores sums of statistics, for corpus scores."""
        if not self.corpus:
            return None
        of = metric.of_documents()
        return lambda sums: of.sign * of.measure(sums)["value"]


@dataclass(frozen=True, eq=False)
class View:
    """Human and metric scores at one level: matrices, and the way in which they are pooled."""

    human: Floats
    metrics: Mapping[Any, Floats]
    at: str  # a level of matrices: how they are correlated
    segment_scores: SegmentScores | None = None  # behind the points, if points are systems
    judged: Floats | None = None  # systems x segments, if resamples are scored again by `rescore`
    rescore: Rescore | None = None
    weighted: Callable[[Floats, Floats, Floats], Floats] | None = None
    """Human scores, metrics x draws x systems, and how often systems were drawn -> Pearson's r."""

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
        """Return the p of no correlation; None where a level has groups or a statistic has no p."""
        if by.p_value is None or self.at not in {"system", "segment"}:
            return None
        pair = shared(self.human, self.metrics[metric])
        h, m = defined(*(arranged(x[None], self.at)[0] for x in pair))
        return None if why_undefined(h, m) else by.p_value(h, m)

    def tests(self, by: Statistic) -> bool:
        """Return True if metrics can be compared by exchanging their scores.

        A statistic of the segments behind points exchanges scores of segments: corpus scores have
        none.
        """
        return by.tested and (by.of_segments is None or not self._require_segment_scores(by).corpus)

    def exchanged(self, by: Statistic) -> tuple[Floats, Mapping[Any, Floats], str]:
        """Return the human and metric scores whose cells such a test exchanges, and their level."""
        if by.of_segments is None:
            return self.human, self.metrics, self.at
        segments = self._require_segment_scores(by)
        return segments.human, segments.metrics, "system"

    def resample(
        self,
        by: Statistic,
        over: str,
        n: int,
        seed: int,
        progress: Progress = silent,
        metrics: Sequence[Any] = (),
    ) -> Floats:
        """Return metrics x resamples: the statistic of metrics, by default all of them."""
        names = metrics or [*self.metrics]
        if by.of_segments is not None:
            return self._resample_segments(by, by.of_segments, names, n, seed, progress)
        if self.judged is None or self.rescore is None:
            scores = [self.metrics[m] for m in names]
            return bootstrap(self.human, scores, by, self.at, over, n, seed, progress)
        batches = [np.empty((len(names), 0))]
        for systems, segments in drawn_places(self.judged.shape, over, n, seed, progress):
            counts = _kernel.tally(segments, self.judged.shape[1])
            human = drawn_means(self.judged, counts)
            if self.weighted is not None and by.name == "pearson":
                weights = _kernel.tally(systems, len(self.judged))
                rescored = np.stack([*self.rescore(names, counts)])
                batches.append(self.weighted(human, np.nan_to_num(rescored), weights))
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
        """Segments alone are drawn: a system drawn twice would always be as good as itself."""
        segment_scores = self._require_segment_scores(by)
        functions = [(segment_scores.metrics[m], segment_scores.score(m)) for m in metrics]
        values = np.empty((len(metrics), n))
        draws = drawn_places(segment_scores.human.shape, "segments", n, seed)
        for i, places in enumerate(places for _, segments in draws for places in segments):
            human = segment_scores.human[:, places]
            for k, (scores, score) in enumerate(functions):
                values[k, i] = value(human, scores[:, places], score)
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
    """Return one point a system: its mean human score, and what `rescore` gives it."""
    everything = np.ones((1, human.shape[1]))
    scores = {m: s.T for m, s in zip(metrics, rescore(metrics, everything), strict=True)}
    return View(drawn_means(human, everything).T, scores, "segment", segments, human, rescore)


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
    """Refuse a level at which a statistic has no segments behind its points."""
    if by.of_segments is not None and not {*levels} <= {*OF_SYSTEMS}:
        raise InputError(_only_systems(by))


def check_level(name: str, evalset: EvalSet) -> None:
    """Refuse a level that there is not, or not in this set."""
    if LEVELS[name] in (_of_documents, _of_joined_documents) and evalset.groups is None:
        raise InputError(f"{evalset.name} has no documents: its segments have no groups")


def matrix_view(human: Floats, metrics: Mapping[Any, Floats], at: str) -> View:
    """Return scores at a level, from matrices of systems x segments or documents.

    Args:
        human, metrics: the matrices; NaN is a missing score.
        at: name of the level.
    """
    return View(human, metrics, at, SegmentScores(human, metrics) if at == "system" else None)


def mean_view(human: Floats, metrics: Mapping[Any, Floats], system_scores: str) -> View:
    """Return one point a system: means of matrices; those of metrics of judged or of all cells."""
    for scores in metrics.values():
        shared(human, scores)  # refuses other shapes
    if system_scores == "judged":
        return matrix_view(human, metrics, "system")

    def rescore(names: Sequence[Any], counts: Floats) -> list[Floats]:
        return [drawn_means(metrics[m], counts) for m in names]

    return systems_view(human, [*metrics], rescore, SegmentScores(human, metrics))


def _of_systems(scored: ScoredSet, human: Floats) -> View:
    """One point a system: its corpus score, its mean human score."""
    counted = scored.counted(human)
    rows = {m: scored.known_rows(m) for m in scored.metrics}

    def rescore(metrics: Sequence[Any], counts: Floats) -> list[Floats]:
        return [scored.corpus(metric, counts, counted) for metric in metrics]

    return systems_view(human, scored.metrics, rescore, SegmentScores(human, rows, corpus=True))


def _of_system_means(scored: ScoredSet, human: Floats) -> View:
    """One point a system: the means of its segments' scores."""
    return mean_view(human, _segment_scores(scored), scored.system_scores)


def _of_documents(scored: ScoredSet, human: Floats) -> View:
    """One point a system and document: its corpus score there."""
    groups = scored.evalset.groups or ()
    is_judged = ~np.isnan(human)
    metrics = {m: scored.documents(m, members(groups), is_judged) for m in scored.metrics}
    return matrix_view(document_means(human, groups), metrics, "segment")


def _of_joined_documents(scored: ScoredSet, human: Floats) -> View:
    """One point a system and document: the score of its segments joined into one text."""
    groups = scored.evalset.groups or ()
    places, is_judged = members(groups), ~np.isnan(human)
    metrics = score_joined(scored.evalset, scored.metrics, places, is_judged, scored.threads)
    return matrix_view(document_means(human, groups), metrics, "segment")


def _segment_scores(scored: ScoredSet) -> dict[Any, Floats]:
    return {m.of_segments(): scored.segments(m) for m in scored.metrics}


def _of_segments(at: str, meaning: str) -> Callable[[ScoredSet, Floats], View]:
    """Return the view of segment scores at a level of matrices, documented by its meaning."""

    def view(scored: ScoredSet, human: Floats) -> View:
        return matrix_view(human, _segment_scores(scored), at)

    view.__doc__ = meaning
    return view


LEVELS: Registry[Callable[[ScoredSet, Floats], View]] = Registry(
    "levels",
    "level",
    {
        "system": _of_systems,
        "system-mean": _of_system_means,
        "segment": _of_segments("segment", "One point an output, all in one pool."),
        "item": _of_segments("item", "One point a system; the mean over segments."),
        "by-system": _of_segments("by-system", "One point a segment; the mean over systems."),
        "document": _of_documents,
        "document-joined": _of_joined_documents,
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
"""The levels of Karat in words."""
