"""Two methods beside each other: estimates from judged questions, and Nuggeteer's intervals.

Where other runs were judged on the questions that a run was not judged on, Nuggeteer's classifier
has seen what answers to them look like, and its errors were measured on such questions: its
intervals are narrower than estimates. Where nobody was judged on them, its guesses are worse than
those that errors were measured on, and its intervals are too narrow: on TREC RAG 2024, with all
runs judged on the same 10 of 21 questions, they hold the score in 75% of cases
(`experiments/estimates_nuggets.py`).

So Nuggeteer's intervals are taken for a run if

- on every question that it was not judged on, 5 other runs were judged or more, and
- these are, in the mean, at least 3/4 of the other runs that were judged on the same question where
  errors are measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import nan, sqrt
from typing import NamedTuple

from karat.arrays import Flags, Ints, np
from karat.estimation.estimates import FEWEST, EstimateRow
from karat.estimation.samples import Sample
from karat.estimation.system_estimates import EstimatedDifference, estimate_system
from karat.nuggets.estimation.question_samples import QuestionScores
from karat.nuggets.intervals.intervals import FEWEST_RUNS, ScoreInterval
from karat.nuggets.results.scoring import score_nuggets
from karat.progress import Progress, silent
from karat.stats.distributions import student_quantile
from karat.stats.estimates.intervals import LEVEL, MeanInterval

NUGGETEER = "nuggeteer"
LIKE_MEASURED = 0.75
"""The least ratio of other judged runs on open questions to those where errors are measured."""
_INTERVALS = {"f": "macro", "A": "share"}
"""Scores that Nuggeteer has intervals of."""
_FREEDOM = 1_000
"""Degrees of freedom of a difference by two intervals, which have Student's quantiles already."""


def nuggeteer_runs(found: QuestionScores) -> list[str]:
    """Return the runs that Nuggeteer's intervals are better for."""
    if found.dimension not in _INTERVALS:
        return []
    better = other_runs_tell(found.answered, found.judged, _judged_elsewhere(found))
    return [tag for tag, yes in zip(found.nuggets.runs, better.tolist(), strict=True) if yes]


def other_runs_tell(answered: Flags, judged: Flags, elsewhere: Ints) -> Flags:
    """Return for each run whether other runs were judged on what it was not judged on.

    `answered` and `judged` are runs x questions; `elsewhere` counts judged runs that are not among
    these, for each question.
    """
    total = judged.sum(axis=0) + elsewhere
    measured = float((total * (total - 1)).sum()) / max(int(total.sum()), 1)
    found = np.zeros(len(judged), np.bool_)
    for k, open_ in enumerate(answered & ~judged):
        others = total[open_]
        if len(others) and int(others.min()) >= FEWEST_RUNS:
            found[k] = float(others.mean()) >= LIKE_MEASURED * measured
    return found


def _judged_elsewhere(found: QuestionScores) -> Ints:
    """Return for each question how many runs were judged that judgements alone quote."""
    said: dict[tuple[str, str], set[str]] = {}
    for row in found.nuggets.judgements.deciding:
        if row.run and row.run not in found.nuggets.runs:
            said.setdefault((row.question, row.run), set()).add(row.nugget)
    counts = dict.fromkeys(found.nuggets.key.questions, 0)
    for (question, _), judged in said.items():
        if question in counts:
            nuggets = found.nuggets.key.questions[question].nuggets
            counts[question] += all(nugget.id in judged for nugget in nuggets)
    return np.array([*counts.values()], np.int64)


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
    if labels >= FEWEST:
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
    error = (below if delta > 0 else above) / student_quantile((1 - LEVEL) / 2, _FREEDOM)
    made = MeanInterval(delta, delta - below, delta + above, error)
    return EstimatedDifference(made, NUGGETEER, min(a.labels, b.labels), _FREEDOM)


def _root(x: float, y: float) -> float:
    return sqrt(x * x + y * y)
