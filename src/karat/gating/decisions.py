"""Decisions: is the loss of a run larger than what is tolerated, as far as its items can tell?

With d = score - baseline, signed so that more is better, its paired interval [l, u] and the
tolerated loss t:

    fail if u < -t        pass if l >= -t        undecided otherwise

The interval is that of the bootstrap's percentiles, both ends moved away from d by the factor
t(.975, n - 1) / z(.975) sqrt(n / (n - 1)): percentiles of few items are too narrow, as if the
variance were known and divided by n. Fewer than MIN_DECIDING_UNITS items that all differ by the
same amount, and not by 0, are undecided: their interval has no width, which says nothing about
other items.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from karat.arithmetic import SLACK, ExactRows, exact_sums
from karat.arrays import Floats, np
from karat.errors import InputError
from karat.gating.items import Measure
from karat.gating.matching import Paired
from karat.progress import Progress
from karat.stats.distributions import student_quantile
from karat.stats.multiple_tests import simultaneous_intervals
from karat.stats.resampling import bootstrap_tables, interval
from karat.stats.significance import MIN_DECIDING_UNITS

FAIL, UNDECIDED, PASS = "fail", "undecided", "pass"
VERDICTS = (FAIL, UNDECIDED, PASS)
"""Verdicts, the worst first."""
SIMULTANEOUS: str = "simultaneous"
CORRECTIONS = {
    SIMULTANEOUS: "simultaneous for all metrics",
    "none": "not corrected for the number of metrics",
}
_TAIL, _Z = 0.025, 1.959963984540054


class GateRow(NamedTuple):
    """A run against its baseline by one metric."""

    metric: Measure
    verdict: str
    score: float
    baseline: float
    delta: float
    """Score minus baseline, signed so that a loss is negative."""
    low: float
    high: float
    max_drop: float
    decided_by: int | None
    """Estimated number of items that would decide, if this number does not; None if none would."""


def decide(
    pairs: Sequence[Paired],
    max_drop: Mapping[str, float],
    correction: str,
    resamples: int,
    seed: int,
    progress: Progress,
) -> tuple[GateRow, ...]:
    """Return the decision by every metric."""
    scores = [_scores(pair) for pair in pairs]
    draws = _differences(pairs, resamples, seed, progress)
    known = ~np.isnan(draws).any(axis=0)  # a resample may miss all items that have a score
    if not known.any():
        raise InputError("no resample has a score by every metric: too few items have one")
    draws = draws[:, known]
    corrected = correction == SIMULTANEOUS
    ends = simultaneous_intervals(draws) if corrected else [interval(own) for own in draws]
    return tuple(
        _row(pair, both, end, max_drop.get(pair.run.name, 0.0))
        for pair, both, end in zip(pairs, scores, ends, strict=True)
    )


def widening(items: int) -> float:
    """Return the factor by which percentile intervals of so many items are widened."""
    if items < 2:
        have = "1 item has" if items == 1 else f"{items} items have"
        raise InputError(f"{have} a score: a gate needs at least two")
    return student_quantile(_TAIL, items - 1) / _Z * math.sqrt(items / (items - 1))


def _differences(pairs: Sequence[Paired], resamples: int, seed: int, progress: Progress) -> Floats:
    """Return differences on every resample, metrics x resamples, all from the same draws."""
    tables = [ExactRows([rows]) for pair in pairs for rows in (pair.run.rows, pair.baseline)]
    sums = bootstrap_tables(tables, resamples, seed, progress)
    found = []
    for pair, after, before in zip(pairs, sums[::2], sums[1::2], strict=True):
        m = pair.run.measure
        found.append(m.sign * (m.measure(after)["value"] - m.measure(before)["value"]))
    return np.array(found)


def _scores(pair: Paired) -> tuple[float, float]:
    """Return the scores of the run and of the baseline."""
    m = pair.run.measure
    score, before = (
        float(m.measure(exact_sums(rows)[None, :])["value"][0])
        for rows in (pair.run.rows, pair.baseline)
    )
    for name, value in (("the run", score), ("the baseline", before)):
        if not math.isfinite(value):
            raise InputError(f"{name} has no score by {m}: no item has one")
    return score, before


def _row(
    pair: Paired, scores: tuple[float, float], ends: tuple[float, float], tolerated: float
) -> GateRow:
    m, (score, before) = pair.run.measure, scores
    delta, slack = m.sign * (score - before), SLACK * max(abs(score), abs(before))
    items = int(np.isfinite(pair.run.item_values()).sum())
    low, high = (delta + widening(items) * (end - delta) for end in ends)
    fewest = MIN_DECIDING_UNITS
    if items < fewest and abs(delta) > slack and ends[1] - ends[0] <= slack:
        return GateRow(m, UNDECIDED, score, before, delta, delta, delta, tolerated, fewest)
    verdict = UNDECIDED
    if high < -tolerated - slack:
        verdict = FAIL
    elif low >= -tolerated - slack:
        verdict = PASS
    needed = None
    if verdict == UNDECIDED:
        needed = items_to_decide(items, delta, low, high, tolerated)
    return GateRow(m, verdict, score, before, delta, low, high, tolerated, needed)


def items_to_decide(
    items: int, delta: float, low: float, high: float, tolerated: float
) -> int | None:
    """Return how many items would decide if they were like these; None if no number would.

    The width of an interval falls with 1/sqrt(n): with a distance g = |d + t| from the limit and
    the half width h on that side, n' = n (h / g)^2.
    """
    distance = delta + tolerated
    half = delta - low if distance >= 0 else high - delta
    if abs(distance) <= SLACK * max(abs(delta), 1.0):
        return None
    return max(items + 1, math.ceil(items * (half / distance) * (half / distance)))
