"""Values of the owner's page, as its templates take them."""

from __future__ import annotations

from math import isnan
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.studio.browsing.one_segment import output_letters
from karat.studio.live.estimates import LiveEstimate, check_told
from karat.studio.live.latest import latest_results
from karat.studio.live.progress import assessor_progress
from karat.studio.live.results import LiveResults
from karat.studio.store.projects import project
from karat.studio.store.schema import DamagedStore
from karat.studio.store.store import Store
from karat.studio.web.glance import (
    glance,
    labels_needed,
    left_out,
    nothing_is_estimated,
    warnings,
)


class Interval(NamedTuple):
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
    results = latest_results(store)
    people = assessor_progress(store, results.work if results else {})
    found = {"project": project(store), "people": people, "results": results}
    return {**found, **_computed(store, owner, results)} if results else found


def _computed(store: Store, owner: int, results: LiveResults) -> dict[str, Any]:
    """Return what was computed from all judgements."""
    agreement, counts = results.agreement, results.coverage
    estimates, why = _estimates(store, owner, results)
    return {
        "answer": glance(counts, agreement, results.version.state),
        "coverage": counts,
        "agreement": agreement.each,
        "kappa": agreement.nuggets,
        "warnings": [told for one in agreement.each for told in warnings(one)],
        "disputes": results.disputes,
        "letters": output_letters(store, [one.item for one in results.disputes]),
        "estimates": [(one, intervals(one)) for one in estimates],
        "complete": nothing_is_estimated(estimates),
        "left_out": left_out(estimates),
        "needed": labels_needed(estimates),
        "hidden": why,
    }


def _estimates(store: Store, owner: int, results: LiveResults) -> tuple[list[LiveEstimate], str]:
    """Return the estimates, or why they are not shown."""
    try:
        check_told(store, owner)
    except DamagedStore:
        raise
    except InputError as error:
        return [], str(error)
    return results.estimates, ""


def intervals(one: LiveEstimate) -> list[Interval]:
    """Return the intervals of a dimension on one scale, in the order of systems."""
    if one.estimate is None:
        return []
    rows = [row for row in one.estimate.rows if not isnan(row.estimate)]
    ends = [x for row in rows for x in (row.low, row.high, row.estimate) if not isnan(x)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)

    def place(value: float) -> float:
        return 50.0 if high == low or isnan(value) else 3 + 94 * (value - low) / (high - low)

    return [
        Interval(
            *(row.system, row.estimate, row.low, row.high, row.labels, row.units),
            *(round(place(x), 2) for x in (row.estimate, row.low, row.high)),
        )
        for row in rows
    ]
