"""Two methods beside each other: estimates from judged questions, and Nuggeteer's intervals.

Nuggeteer's are taken where other runs tell (`karat.nuggets.intervals.other_runs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import nan, sqrt
from typing import NamedTuple

from karat.estimation.estimate_results import EstimateRow
from karat.estimation.estimates import MIN_LABELS
from karat.estimation.samples import Sample
from karat.estimation.system_estimates import EstimatedDifference, estimate_system
from karat.nuggets.estimation.question_samples import QuestionScores
from karat.nuggets.intervals.intervals import ScoreInterval
from karat.nuggets.intervals.other_runs import judged_elsewhere, other_runs_tell
from karat.nuggets.results.scoring import score_nuggets
from karat.progress import Progress, silent
from karat.stats.distributions import student_quantile
from karat.stats.estimates import ALPHA, MeanInterval, PointEstimate, ScaledIntervals

NUGGETEER = "nuggeteer"
_INTERVALS = {"f": "macro", "A": "share"}
"""Scores that Nuggeteer has intervals of."""
_FREEDOM = 1_000
"""Degrees of freedom of a difference by two intervals, which have Student's quantiles already."""


def nuggeteer_runs(found: QuestionScores) -> list[str]:
    """Return the runs that Nuggeteer's intervals are better for."""
    if found.dimension not in _INTERVALS:
        return []
    better = other_runs_tell(found.answered, found.judged, judged_elsewhere(found.nuggets))
    return [tag for tag, yes in zip(found.nuggets.runs, better.tolist(), strict=True) if yes]


class NuggeteerIntervals(NamedTuple):
    """Nuggeteer's intervals of the runs that they are taken for."""

    ends: dict[str, ScoreInterval]
    signature: str
    notes: tuple[str, ...]
    """Sentences on what the guesses rest on."""


def nuggeteer_intervals(
    found: QuestionScores, general: bool, progress: Progress = silent
) -> NuggeteerIntervals | None:
    """Return the intervals of `score_nuggets`; if `general`, for new questions.

    None if they are taken for no run.
    """
    tags = nuggeteer_runs(found)
    if not tags:
        return None
    done = score_nuggets(found.nuggets, found.how, general=general, progress=progress)
    which = _INTERVALS[found.dimension]
    every = {one.run.tag: getattr(one.intervals, which, None) for one in done.scored}
    ends = {tag: one for tag in tags if (one := every[tag]) is not None}
    return NuggeteerIntervals(ends, done.signature, tuple(done.about_guesses)) if ends else None


def nuggeteer_row(sample: Sample, tag: str, ends: ScoreInterval, finite: bool) -> EstimateRow:
    """Return the row of a run by Nuggeteer's interval; people alone need ten judged questions."""
    system = sample.systems.index(tag)
    labels = len(sample.labelled(system))
    alone = MeanInterval(nan, nan, nan, nan)
    if labels >= MIN_LABELS:
        alone = estimate_system(sample, system, None, finite).interval
    score = min(max(ends.score, ends.low), ends.high)
    ratio = ends.width / alone.width if alone.width > 0 else nan
    return EstimateRow(
        *(tag, *alone[:3], score, ends.low, ends.high, ratio),
        *(labels, len(sample.units), NUGGETEER, None, nan, nan, nan),
    )


def difference_of_rows(
    rows: Mapping[str, EstimateRow], system: str, other: str
) -> EstimatedDifference:
    """Return the difference of two scores by their intervals (Zou and Donner 2008).

    Errors are taken as independent, which makes the interval rather too wide.
    """
    a, b = rows[system], rows[other]
    delta = a.estimate - b.estimate
    below = _root(a.estimate - a.low, b.high - b.estimate)
    above = _root(a.high - a.estimate, b.estimate - b.low)
    labels, units = min(a.labels, b.labels), min(a.units, b.units)
    if below == above == 0:
        return EstimatedDifference(PointEstimate(delta, 0.0), NUGGETEER, labels, units)
    error = (below if delta > 0 else above) / student_quantile(ALPHA / 2, _FREEDOM)
    intervals = ScaledIntervals(delta, error, below, above, _FREEDOM)
    return EstimatedDifference(intervals, NUGGETEER, labels, units)


def _root(x: float, y: float) -> float:
    return sqrt(x * x + y * y)
