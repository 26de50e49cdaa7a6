"""The decisions of a gate in words: what annotations, JUnit files and failing tests say."""

from __future__ import annotations

from karat.errors import quoted, short
from karat.gating.decisions import FAIL, PASS, UNDECIDED, GateRow
from karat.gating.guards import MAX_ITEM_DROP, MIN_SCORE, GuardRow
from karat.gating.items import Measure


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
