"""Values of the owner's page, as its templates take them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.errors import InputError
from karat.studio.browsing import output_letters
from karat.studio.live.progress import Coverage, list_progress
from karat.studio.live.results import LiveResults, get_latest_results
from karat.studio.live.statistics import LiveAgreement, LiveEstimate, check_may_see_estimates
from karat.studio.store.projects import OPEN, REVEALED, project
from karat.studio.store.schema import DamagedStore
from karat.studio.store.store import Store

if TYPE_CHECKING:
    from karat.meta.judge_agreement import DimensionAgreement, JudgeAgreement


MAX_NAMED = 3
"""Dimensions that are named one by one."""


def glance(counts: Coverage, agreement: LiveAgreement, state: str) -> list[str]:
    """Return the summary of the owner's page, in sentences."""
    return [
        _judged_sentence(counts),
        _agreement_sentence(agreement),
        _needed_sentence(counts, state),
    ]


def _judged_sentence(counts: Coverage) -> str:
    units = f"unit{'s' * (counts.units != 1)} {'is' if counts.judged == 1 else 'are'} judged"
    sentence = f"{counts.judged:,} of {counts.units:,} {units} ({_judged_percentage(counts)})"
    if counts.overlap == 1:
        return f"{sentence}."
    return f"{sentence}, {counts.complete:,} of them by {counts.overlap} assessors as planned."


def _judged_percentage(counts: Coverage) -> str:
    """Return the judged share, rounded down: 100% are all units, and 0% are none."""
    percent = 100 * counts.judged // counts.units if counts.units else 0
    return "under 1%" if counts.judged and not percent else f"{percent}%"


def _agreement_sentence(agreement: LiveAgreement) -> str:
    from karat.meta.judge_agreement import FEWEST_SHARED

    rows = [row for result in agreement.results for row in result.rows]
    enough = [row for row in rows if row.shared >= FEWEST_SHARED and not isnan(row.ordinal)]
    too_few = [row for row in rows if row.shared < FEWEST_SHARED]
    if not enough:
        return _no_agreement_sentence(rows, too_few)
    alphas = ", ".join(f"{row.ordinal:.2f} in {row.dimension}" for row in enough)
    if len(enough) > MAX_NAMED:
        low, high = (pick(enough, key=lambda row: row.ordinal) for pick in (min, max))
        ends = (f"{row.ordinal:.2f} ({row.dimension})" for row in (low, high))
        alphas = f"from {' to '.join(ends)}"
    names = ", ".join(f"{row.dimension} ({row.shared:,} so far)" for row in too_few)
    note = f" Too few shared units in {names}." if too_few else ""
    return f"Krippendorff's ordinal alpha is {alphas}; 1 is perfect, 0 is chance.{note}"


def _no_agreement_sentence(
    rows: Sequence[DimensionAgreement], too_few: Sequence[DimensionAgreement]
) -> str:
    """Say why there is no agreement to report: too few shared units, or nothing but one answer."""
    from karat.meta.judge_agreement import FEWEST_SHARED

    if too_few or not rows:
        most = max((row.shared for row in rows), default=0)
        return f"Too few shared units to judge agreement: {most:,} so far, {FEWEST_SHARED} needed."
    return "Agreement cannot be computed: all answers on shared units are equal."


def _needed_sentence(counts: Coverage, state: str) -> str:
    parts = []
    if counts.needed and state == OPEN:
        parts.append(f"{counts.needed:,} judgement{'s' * (counts.needed != 1)}")
    if counts.disputes and state != REVEALED:
        parts.append(f"decisions on {counts.disputes:,} dispute{'s' * (counts.disputes != 1)}")
    state_sentence = "" if state == OPEN else f"The project is {state}. "
    if not parts:
        return state_sentence.strip() or "Nothing is needed any more."
    return f"{state_sentence}Still needed: {' and '.join(parts)}."


def warnings(agreement: JudgeAgreement) -> list[str]:
    """Return sentences on assessors who stand apart or answered exactly alike."""
    sentences = []
    for row in agreement.judges:
        if row.identical:
            sentences.append(
                f"{row.judge} and {row.identical} gave the same answers ({row.dimension})."
            )
        elif row.flagged:
            sentences.append(f"{row.judge} disagrees with the others in {row.dimension}.")
    return list(dict.fromkeys(sentences))


def left_out(estimates: Sequence[LiveEstimate]) -> list[str]:
    """Return what a table of estimates would hide: systems with few labels."""
    return [
        f"{result.dimension}: {note}"
        for result in estimates
        if result.estimate
        for note in result.estimate.notes
        if note.startswith("Left out")
    ]


def nothing_is_estimated(estimates: Sequence[LiveEstimate]) -> bool:
    """Return whether every segment of every system is labelled, so that no interval has a width."""
    if not estimates or left_out(estimates):
        return False
    rows = [result.estimate.rows if result.estimate else () for result in estimates]
    return all(
        system_rows and all(row.labels == row.units and row.low == row.high for row in system_rows)
        for system_rows in rows
    )


def labels_needed(estimates: Sequence[LiveEstimate]) -> list[str]:
    """Return how many further labels halve the intervals of each dimension."""
    sentences = []
    for result in estimates:
        more = [row.more for row in result.estimate.rows if row.more] if result.estimate else []
        if more:
            sentences.append(
                f"{result.dimension}: to halve the widest interval, label {max(more):,} more "
                f"unit{'s' * (max(more) != 1)} of each system."
            )
    return sentences


class IntervalView(NamedTuple):
    """An interval, and its places on a line from 0 to 100."""

    system: str
    estimate: float
    low: float
    high: float
    labels: int
    units: int
    at: float
    start: float
    end: float


def live_view(store: Store, owner: int) -> dict[str, Any]:
    """Return what changes while people judge."""
    results = get_latest_results(store)
    people = list_progress(store, results.work if results else {})
    values = {"project": project(store), "people": people, "results": results}
    return {**values, **_computed_values(store, owner, results)} if results else values


def _computed_values(store: Store, owner: int, results: LiveResults) -> dict[str, Any]:
    """Return what was computed from all judgements."""
    agreement, counts = results.agreement, results.coverage
    estimates, hidden_reason = _visible_estimates(store, owner, results)
    return {
        "answer": glance(counts, agreement, results.version.state),
        "coverage": counts,
        "agreement": agreement.results,
        "kappa": agreement.nuggets,
        "warnings": [warning for result in agreement.results for warning in warnings(result)],
        "disputes": results.disputes,
        "letters": output_letters(store, [result.item for result in results.disputes]),
        "estimates": [(result, intervals(result)) for result in estimates],
        "complete": nothing_is_estimated(estimates),
        "left_out": left_out(estimates),
        "needed": labels_needed(estimates),
        "hidden": hidden_reason,
    }


def _visible_estimates(
    store: Store, owner: int, results: LiveResults
) -> tuple[list[LiveEstimate], str]:
    """Return the estimates, or why they are not shown."""
    try:
        check_may_see_estimates(store, owner)
    except DamagedStore:
        raise
    except InputError as error:
        return [], str(error)
    return results.estimates, ""


def intervals(result: LiveEstimate) -> list[IntervalView]:
    """Return the intervals of a dimension on one scale, in the order of systems."""
    if result.estimate is None:
        return []
    rows = [row for row in result.estimate.rows if not isnan(row.estimate)]
    ends = [x for row in rows for x in (row.low, row.high, row.estimate) if not isnan(x)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)

    def place(value: float) -> float:
        return 50.0 if high == low or isnan(value) else 3 + 94 * (value - low) / (high - low)

    return [
        IntervalView(
            *(row.system, row.estimate, row.low, row.high, row.labels, row.units),
            *(round(place(x), 2) for x in (row.estimate, row.low, row.high)),
        )
        for row in rows
    ]
