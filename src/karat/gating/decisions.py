"""Decisions: is the loss of a run larger than the tolerated loss?

With d = score - baseline, signed so that more is better, its paired interval [l, u] and the
tolerated loss t:

    fail if u < -t        pass if l >= -t        undecided otherwise

Fewer units than `min_deciding_units` are undecided, as in a comparison.
Difference and interval come from the jackknife by units (`stats/jackknife.py`): items, or the
documents or questions that items belong to. Intervals of several metrics are simultaneous.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from karat.arithmetic import SLACK, exact_sums
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, quoted, short
from karat.gating.baseline_file import BaselineFile
from karat.gating.items import ItemMeasure, ItemScores, MeasuredItems
from karat.metrics.base import Metric
from karat.results import Column, interval_digits, number
from karat.scoring import METRIC, difference_interval, metric_digits, row_digits
from karat.stats.jackknife import UnitEstimate, jackknife
from karat.stats.significance import min_deciding_units
from karat.stats.simultaneous import NONE, JointEstimates
from karat.stats.units import Units

FAIL, UNDECIDED, PASS = "fail", "undecided", "pass"
VERDICTS = (FAIL, UNDECIDED, PASS)
"""Verdicts, the worst first."""


class PairedItems(NamedTuple):
    """Statistics of a run and its baseline by one measure, item by item."""

    run: MeasuredItems
    baseline: NDArray[Any]

    @property
    def before(self) -> MeasuredItems:
        """The baseline by the same measure."""
        return self.run._replace(rows=self.baseline)


class GateRow(NamedTuple):
    """A run against its baseline by one metric."""

    metric: ItemMeasure
    verdict: str
    score: float
    baseline: float
    delta: float
    low: float
    high: float
    max_drop: float
    decided_by: int | None
    """Estimated number of items needed for a decision if undecided; None if no number suffices."""
    too_few: bool = False
    """Whether there are fewer units than any decision needs."""


def _difference_digits(row: GateRow) -> int:
    return interval_digits(row.low, row.high, row_digits(row))


SIGNED_DELTA = "Score minus baseline, signed so that a loss is negative."
GATE_COLUMNS = (
    METRIC,
    Column("verdict", "Verdict", help="pass, fail, or undecided: the items cannot tell."),
    number("delta", "Delta", _difference_digits, SIGNED_DELTA, signed=True),
    number("low", "Low", _difference_digits, "Lower end of its 95% interval.", signed=True),
    number("high", "High", _difference_digits, "Upper end of its 95% interval.", signed=True),
    number("max_drop", "Max drop", row_digits, "The tolerated loss."),
    number("baseline", "Baseline", row_digits, "The baseline's score."),
    number("score", "Score", row_digits, "The run's score."),
    number(
        "decided_by",
        "Items needed",
        help="If undecided: an estimate of how many items like these would decide.",
    ),
)


def decide(
    pairs: Sequence[PairedItems],
    max_drop: Mapping[str, float],
    correction: str,
    units: Units | None = None,
) -> tuple[GateRow, ...]:
    """Return the decision by every metric; `units` are those of the items, if not themselves."""
    scores = [_run_and_baseline_scores(pair, units) for pair in pairs]
    estimates = [estimate for pair in pairs for estimate in _unit_estimates(pair, units)]
    tested = [(2 * at, 2 * at + 1) for at in range(len(pairs))]
    family = JointEstimates(estimates).family(tested, correction)
    min_units = min_deciding_units(1 if correction == NONE else len(pairs))
    rows = []
    for at, (pair, run_and_baseline) in enumerate(zip(pairs, scores, strict=True)):
        difference, sign = family.differences[at], pair.run.measure.sign
        if difference.units < 2:
            noun = "item" if units is None else units.name
            have = f"1 {noun} has" if difference.units == 1 else f"no {noun} has"
            raise InputError(f"{have} a score: a gate needs at least two")
        low, high = difference_interval(pair.run.measure, family.interval(at))
        low, high = sorted((sign * low, sign * high))
        tolerated = max_drop.get(pair.run.name, 0.0)
        ends = low, high
        row = _decide_metric(pair, run_and_baseline, difference, ends, tolerated, min_units)
        if row.decided_by is not None and units is not None:
            items_per_unit = len(units.codes) / len(units)
            row = row._replace(decided_by=math.ceil(row.decided_by * items_per_unit))
        rows.append(row)
    return tuple(rows)


def _unit_estimates(pair: PairedItems, units: Units | None) -> list[UnitEstimate]:
    """Return the scores of run and baseline by units."""
    m, has_score = pair.run.measure, np.isfinite(pair.run.item_values())
    if units is not None:
        has_score = np.bincount(units.codes, has_score, len(units)) > 0
    return [
        jackknife(
            lambda sums: m.measure(sums)["value"],
            _unit_rows(m, rows, units),
            has_score,
        )
        for rows in (pair.run.rows, pair.baseline)
    ]


def _unit_rows(m: ItemMeasure, rows: NDArray[Any], units: Units | None) -> NDArray[Any]:
    """Return one row for each unit; None: an item each."""
    sums, labels = (rows, None) if units is None else (units.sums(rows), units.labels)
    return m.unit_rows(sums, labels) if isinstance(m, Metric) else sums


def _run_and_baseline_scores(pair: PairedItems, units: Units | None) -> tuple[float, float]:
    m = pair.run.measure
    score, before = (
        float(m.measure(exact_sums(_unit_rows(m, rows, units))[None, :])["value"][0])
        for rows in (pair.run.rows, pair.baseline)
    )
    for name, value in (("the run", score), ("the baseline", before)):
        if not math.isfinite(value):
            raise InputError(f"{name} has no score by {m}: no item has one")
    return score, before


def _decide_metric(
    pair: PairedItems,
    scores: tuple[float, float],
    difference: UnitEstimate,
    ends: tuple[float, float],
    tolerated: float,
    min_units: int,
) -> GateRow:
    m, (score, before), (low, high) = pair.run.measure, scores, ends
    delta, slack = m.sign * difference.value, SLACK * max(abs(score), abs(before))
    verdict, needed = UNDECIDED, None
    too_few = difference.units < min_units
    if too_few:
        needed = min_units
        low, high = (low, high) if difference.error else (delta, delta)
    elif high < -tolerated - slack:
        verdict = FAIL
    elif low >= -tolerated - slack:
        verdict = PASS
    else:
        needed = items_to_decide(difference.units, delta, low, high, tolerated)
    return GateRow(m, verdict, score, before, delta, low, high, tolerated, needed, too_few)


def items_to_decide(
    items: int, delta: float, low: float, high: float, tolerated: float
) -> int | None:
    """Estimate the number of similar items needed for a decision; None if no number suffices.

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
    metric: ItemMeasure | None
    verdict: str
    limit: float
    value: float
    items: int
    item: str | None = None
    lost: str = ""


def _guard_digits(row: GuardRow) -> int | None:
    return None if row.metric is None else metric_digits(row.metric)


_FOUND = "The score, the largest loss, or what was lost."
GUARD_COLUMNS = (
    Column("guard", "Guard", help="A limit that holds whatever the intervals say."),
    Column("verdict", "Verdict", help="pass or fail."),
    Column(
        "metric",
        "Metric",
        help="The metric of the limit.",
        value=lambda row: None if row.metric is None else str(row.metric),
    ),
    number("limit", "Limit", _guard_digits, "The limit."),
    number("found", "Found", _guard_digits, _FOUND, field="value"),
    number("items", "Items", help="Items that break the limit."),
    Column("item", "Worst item", help="The item that breaks it most."),
    Column(
        "lost",
        "Lost",
        help="What was lost, by item.",
        wrap=True,
        value=lambda row: row.lost or None,
    ),
)


class GuardChange(NamedTuple):
    """An item whose score dropped."""

    item: str
    baseline: float
    score: float
    delta: float
    """Score minus baseline, signed so that a loss is negative."""
    reference: str
    output: str
    baseline_output: str | None
    """None if the baseline does not store texts."""
    references: tuple[str, ...] = ()
    """All references that the item is scored against."""


def item_deltas(pair: PairedItems) -> Floats:
    """Return the change of every item, negative for a loss; NaN without a score."""
    m = pair.run.measure
    before, after = pair.before.item_values(), pair.run.item_values()
    deltas: Floats = m.sign * (after - before)
    size = np.maximum(np.abs(before), np.abs(after))
    return np.where(np.abs(deltas) <= SLACK * size, 0.0, deltas)


def score_guards(rows: Sequence[GateRow], limits: Mapping[str, float]) -> list[GuardRow]:
    """Check that no score is worse than its limit."""
    guards = []
    for row in rows:
        limit = limits.get(str(row.metric))
        if limit is not None:
            short = row.metric.sign * (limit - row.score)
            verdict = FAIL if short > SLACK * max(abs(limit), abs(row.score)) else PASS
            guards.append(GuardRow(MIN_SCORE, row.metric, verdict, limit, row.score, 0))
    return guards


def item_guards(
    pairs: Sequence[PairedItems], ids: Sequence[str], limits: Mapping[str, float]
) -> list[GuardRow]:
    """Check that no item loses more than its limit."""
    guards = []
    for pair in pairs:
        limit = limits.get(pair.run.name)
        if limit is None:
            continue
        losses = np.nan_to_num(-item_deltas(pair), nan=0.0)
        worst, beyond = int(losses.argmax()), int((losses > limit * (1 + SLACK)).sum())
        m, largest = pair.run.measure, max(float(losses[worst]), 0.0)
        item = ids[worst] if largest else None
        verdict = FAIL if beyond else PASS
        guards.append(GuardRow(MAX_ITEM_DROP, m, verdict, limit, largest, beyond, item))
    return guards


def loss_guard(items: ItemScores, baseline: BaselineFile) -> GuardRow:
    """Check that items carry everything that they carried in the baseline."""
    if items.carried is None or baseline.carried is None:
        explanation = "its items carry nothing that could be lost, as answers carry nuggets"
        raise InputError(f"no_loss: {items.system} comes from {items.source}: {explanation}")
    lost = {}
    for id, before, after in zip(items.ids, baseline.carried, items.carried, strict=True):
        if gone := [name for name in before if name not in after]:
            lost[id] = gone
    names = "; ".join(f"{id}: {', '.join(gone)}" for id, gone in lost.items())
    first, count = next(iter(lost), None), sum(map(len, lost.values()))
    return GuardRow(NO_LOSS, None, FAIL if lost else PASS, 0, count, len(lost), first, names)


def worst_changes(
    pair: PairedItems, items: ItemScores, baseline: BaselineFile, most: int
) -> tuple[GuardChange, ...]:
    """Return the items that lost most by one metric, with their texts."""
    deltas, before, after = item_deltas(pair), pair.before.item_values(), pair.run.item_values()
    order = np.argsort(np.nan_to_num(deltas, nan=0.0), kind="stable")[:most]
    places = [int(at) for at in order if deltas[at] < 0]
    changes = []
    for at, text in zip(places, items.texts(places), strict=True):
        scores = float(before[at]), float(after[at]), float(deltas[at])
        old_output = None if baseline.texts is None else baseline.texts[at]
        references = (text.reference,) if text.references is None else text.references
        texts = text.reference, text.output, old_output
        changes.append(GuardChange(items.ids[at], *scores, *texts, references))
    return tuple(changes)


def format_score(metric: ItemMeasure, value: float) -> str:
    """Format a score: two decimals on a scale of 100, four on a scale of 1; no sign for zero."""
    return _format_decimals(value, metric_digits(metric))


def _format_decimals(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text if text.strip("-0.") else text.lstrip("-")


def describe_row(row: GateRow) -> str:
    """Return a sentence on the decision by one metric."""
    m = row.metric
    digits = _difference_digits(row)
    delta, low, high = (_format_signed(value, digits) for value in (row.delta, row.low, row.high))
    moved = f"{m} went from {format_score(m, row.baseline)} to {format_score(m, row.score)}"
    gap = f"{moved} ({delta}, 95% interval {low} to {high})"
    limit = f"a loss of more than {format_score(m, row.max_drop)}" if row.max_drop else "a loss"
    if row.verdict == FAIL:
        return f"{gap}: this is {limit}"
    if row.verdict == PASS:
        return f"{gap}: {limit} is ruled out"
    if row.too_few:
        needed = f"at least {row.decided_by:,} are needed to decide"
    elif row.decided_by is None:
        needed = "no number of items would decide, as the difference is exactly at the limit"
    else:
        needed = f"about {row.decided_by:,} items like these would decide (an estimate)"
    return f"{gap}: these items cannot tell whether this is {limit}; {needed}"


def describe_guard(row: GuardRow, unit: str) -> str:
    """Return a sentence on a guard."""
    m = row.metric
    if m is None:
        count = f"{row.value:,.0f} {unit}{'s' * (row.value != 1)}"
        return f"{count} lost ({short(row.lost)})" if row.items else f"no {unit} was lost"
    limit, value_text = format_score(m, row.limit), format_score(m, row.value)
    if row.guard == MIN_SCORE:
        least = "at least" if m.sign > 0 else "at most"
        return f"{m} is {value_text}, expected {least} {limit}"
    if row.guard == MAX_ITEM_DROP and row.verdict == FAIL:
        many = f"{row.items:,} item{'s lose' if row.items != 1 else ' loses'} more than {limit}"
        return f"{many} by {m}: item {quoted(row.item)} lost most, {value_text}"
    return f"no item loses more than {limit} by {m}: the largest loss is {value_text}"


def _format_signed(value: float, digits: int) -> str:
    text = _format_decimals(value, digits)
    return f"+{text}" if value > 0 and text.strip("0.") else text
