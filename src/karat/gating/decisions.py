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
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

from karat.arithmetic import SLACK, ExactRows, exact_sums
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, MetricError, quoted, short
from karat.gating.baseline_file import Baseline
from karat.gating.items import ItemScores, Measure, Measured
from karat.progress import Progress
from karat.settings import nearest
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


class Paired(NamedTuple):
    """The statistics of a run and of its baseline by one measure, item by item."""

    run: Measured
    baseline: NDArray[Any]

    @property
    def before(self) -> Measured:
        """The baseline by the same measure."""
        return self.run._replace(rows=self.baseline)


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


MIN_SCORE, MAX_ITEM_DROP, NO_LOSS = "min-score", "max-item-drop", "no-loss"


class GuardRow(NamedTuple):
    """One guard."""

    guard: str
    metric: Measure | None
    verdict: str
    limit: float
    found: float
    """The score, the largest loss of an item, or the number of things that were lost."""
    items: int
    """Number of items that break the guard."""
    item: str | None = None
    """The item that breaks it most."""
    lost: str = ""
    """Names of what was lost, by item."""


class Change(NamedTuple):
    """An item that scores less than it did."""

    item: str
    baseline: float
    score: float
    delta: float
    """Score minus baseline, signed so that a loss is negative."""
    reference: str
    output: str
    baseline_output: str | None
    """None where the baseline does not keep texts."""
    references: tuple[str, ...] = ()
    """All references that the item is scored against."""


def item_deltas(pair: Paired) -> Floats:
    """Return how much every item gained, signed so that a loss is negative; NaN without a score."""
    m = pair.run.measure
    before, after = pair.before.item_values(), pair.run.item_values()
    found: Floats = m.sign * (after - before)
    size = np.maximum(np.abs(before), np.abs(after))
    return np.where(np.abs(found) <= SLACK * size, 0.0, found)


def score_guards(rows: Sequence[GateRow], limits: Mapping[str, float]) -> list[GuardRow]:
    """Return the guards of scores: none may be worse than its limit."""
    found = []
    for row in rows:
        limit = limits.get(str(row.metric))
        if limit is not None:
            short = row.metric.sign * (limit - row.score)
            verdict = FAIL if short > SLACK * max(abs(limit), abs(row.score)) else PASS
            found.append(GuardRow(MIN_SCORE, row.metric, verdict, limit, row.score, 0))
    return found


def item_guards(
    pairs: Sequence[Paired], ids: Sequence[str], limits: Mapping[str, float]
) -> list[GuardRow]:
    """Return the guards of items: none may lose more than its limit."""
    found = []
    for pair in pairs:
        limit = limits.get(pair.run.name)
        if limit is None:
            continue
        losses = np.nan_to_num(-item_deltas(pair), nan=0.0)
        worst, beyond = int(losses.argmax()), int((losses > limit * (1 + SLACK)).sum())
        m, largest = pair.run.measure, max(float(losses[worst]), 0.0)
        item = ids[worst] if largest else None
        verdict = FAIL if beyond else PASS
        found.append(GuardRow(MAX_ITEM_DROP, m, verdict, limit, largest, beyond, item))
    return found


def loss_guard(items: ItemScores, baseline: Baseline) -> GuardRow:
    """Return the guard of what items carry: nothing that the baseline carried may be lost."""
    if items.carried is None or baseline.carried is None:
        told = "its items carry nothing that could be lost, as answers carry nuggets"
        raise InputError(f"no_loss: {items.system} comes from {items.source}: {told}")
    lost = {}
    both = zip(items.ids, baseline.carried, items.carried, strict=True)
    for id, before, after in both:
        if gone := [name for name in before if name not in after]:
            lost[id] = gone
    names = "; ".join(f"{id}: {', '.join(gone)}" for id, gone in lost.items())
    first, count = next(iter(lost), None), sum(map(len, lost.values()))
    return GuardRow(NO_LOSS, None, FAIL if lost else PASS, 0, count, len(lost), first, names)


def worst_changes(
    pair: Paired, items: ItemScores, baseline: Baseline, most: int
) -> tuple[Change, ...]:
    """Return the items that lost most by one metric, with their texts."""
    deltas, before, after = item_deltas(pair), pair.before.item_values(), pair.run.item_values()
    order = np.argsort(np.nan_to_num(deltas, nan=0.0), kind="stable")[:most]
    places = [int(at) for at in order if deltas[at] < 0]
    found = []
    for at, text in zip(places, items.texts(places), strict=True):
        scores = float(before[at]), float(after[at]), float(deltas[at])
        old = None if baseline.texts is None else baseline.texts[at]
        references = (text.reference,) if text.references is None else text.references
        texts = text.reference, text.output
        found.append(Change(items.ids[at], *scores, *texts, old, references))
    return tuple(found)


Limit: TypeAlias = "float | Mapping[str, float] | None"
"""A number for all metrics, or numbers by the names of metrics; "" stands for all others."""
LOSSES = ("max_drop", "max_item_drop")
"""Limits that are tolerated losses."""
LEAST_RESAMPLES = 100
"""The ends of an interval are the 2.5% at either side: fewer resamples have no such ends."""


class LimitError(InputError):
    """A limit that cannot be; `what` is its name in Python, `told` the sentence after it."""

    def __init__(self, what: str, told: str) -> None:
        super().__init__(f"{what}{told}")
        self.what, self.told = what, told


def limits_of(what: str, given: Limit, names: Sequence[str]) -> dict[str, float]:
    """Return the limit of each metric that has one.

    Names that no metric has, and losses below 0, are refused.
    """
    if given is None:
        return {}
    every = dict(given) if isinstance(given, Mapping) else {"": given}
    found = {}
    for key, value in every.items():
        good = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not good:
            raise LimitError(what, f": found {quoted(value)}, expected a number")
        if what in LOSSES and value < 0:
            raise LimitError(what, f": found {value:g}, expected 0 or more")
        if key:
            name = _name(what, key, names)
            if name in found:
                told = f" {key}: there are two limits for {name}; leave one out"
                raise LimitError(what, told)
            found[name] = float(value)
    return {name: float(every[""]) for name in names if "" in every} | found


def _name(what: str, key: str, names: Sequence[str]) -> str:
    """Return the metric that is meant; it may be written in another form of its name.

    A name without settings means the only metric of that name, whatever its settings are.
    """
    if key in names:
        return key
    from karat.metrics.names import metric

    try:
        other = str(metric(key))
    except MetricError:
        other = key
    if other in names:
        return other
    same = [name for name in names if name.partition(":")[0] == key]
    if len(same) == 1:
        return same[0]
    if same:
        told = f"{len(same)} metrics of the gate have this name; write {' or '.join(same)}"
        raise LimitError(what, f" {key}: {told}")
    known = f"there is {', '.join(names)}{nearest(key, names)}"
    raise LimitError(what, f" {key}: the gate has no such metric; {known}")


def shown(metric: Measure, value: float) -> str:
    """A score with two decimals on a scale of 100, four on a scale of 1; zero has no sign."""
    text = f"{value:.{2 if metric.full_scale > 10 else 4}f}"
    return text if text.strip("-0.") else text.lstrip("-")


def about_row(row: GateRow) -> str:
    """Return a sentence on the decision by one metric."""
    m = row.metric
    delta, low, high = (_signed(m, value) for value in (row.delta, row.low, row.high))
    moved = f"{m} went from {shown(m, row.baseline)} to {shown(m, row.score)}"
    gap = f"{moved} ({delta}, 95% interval {low} to {high})"
    limit = f"a loss of more than {shown(m, row.max_drop)}" if row.max_drop else "a loss"
    told = {
        FAIL: f"this is {limit}",
        PASS: f"{limit} is ruled out",
        UNDECIDED: f"these items cannot tell whether this is {limit}; {_more(row)}",
    }
    return f"{gap}: {told[row.verdict]}"


def _more(row: GateRow) -> str:
    if row.low == row.high:  # of few items only: see decisions
        needed = f"at least {row.decided_by} are needed to decide"
        return f"all items differ by the same amount; {needed}"
    if row.decided_by is None:
        return "no number of items would decide, as the difference is exactly at the limit"
    return f"about {row.decided_by:,} items like these would decide (an estimate)"


def about_guard(row: GuardRow, unit: str) -> str:
    """Return a sentence on a guard."""
    m = row.metric
    if m is None:
        count = f"{row.found:,.0f} {unit}{'s' * (row.found != 1)}"
        return f"{count} lost ({short(row.lost)})" if row.items else f"no {unit} was lost"
    limit, found = shown(m, row.limit), shown(m, row.found)
    if row.guard == MIN_SCORE:
        least = "at least" if m.sign > 0 else "at most"
        return f"{m} is {found}, expected {least} {limit}"
    if row.guard == MAX_ITEM_DROP and row.verdict == FAIL:
        many = f"{row.items:,} item{'s lose' if row.items != 1 else ' loses'} more than {limit}"
        return f"{many} by {m}: item {quoted(row.item)} lost most, {found}"
    return f"no item loses more than {limit} by {m}: the largest loss is {found}"


def _signed(metric: Measure, value: float) -> str:
    text = shown(metric, value)
    return f"+{text}" if value > 0 and text.strip("0.") else text
