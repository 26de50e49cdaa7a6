"""The worst and the best segments of each system, with their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.errors import InputError, quoted
from karat.metrics.base import Metric
from karat.results import SignedResult
from karat.scoring import SegmentText, TextLookup
from karat.stats.significance import ahead


class RankedSegment(NamedTuple):
    """A segment of a system, ranked by one metric."""

    extreme: str  # worst or best
    system: str
    rank: int  # from 1
    segment: int  # 0-based
    score: float
    scores: Mapping[Metric, float]  # by all metrics
    text: SegmentText


@dataclass(frozen=True, eq=False, repr=False)
class RankedSegments(SignedResult):
    """The segments of each system with the worst or the best scores by a metric."""

    rows: tuple[RankedSegment, ...]
    metric: Metric
    """The metric that ranks the segments."""
    signatures: Mapping[str, str]
    notes: tuple[str, ...]
    settings: Mapping[str, object]


def rank_segments(
    values: Mapping[tuple[str, Metric], Floats],
    texts: TextLookup,
    metric: Metric,
    worst: int,
    best: int,
    references: int | None,
) -> RankedSegments:
    """Return the worst and the best segments of each system by the segment form of a metric."""
    by = metric.of_segments()
    for name, count in (("worst", worst), ("best", best)):
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise InputError(f"{name}={quoted(count)}: expected a number of segments")
    metrics = tuple(dict.fromkeys(m for _, m in values))
    systems = [system for system, m in values if m == by]
    chosen: dict[tuple[str, str], Ints] = {}
    for system in systems:
        scores = by.sign * values[system, by]
        chosen["worst", system] = _order_lowest_first(scores)[:worst]
        chosen["best", system] = _order_lowest_first(-scores)[:best]
    places = {
        s: sorted({*chosen["worst", s].tolist(), *chosen["best", s].tolist()}) for s in systems
    }
    texts_by_segment = texts(places)
    rows = [
        RankedSegment(
            *(extreme, system, rank, place, float(values[system, by][place])),
            {m: float(values[system, m][place]) for m in metrics},
            texts_by_segment[system, place],
        )
        for extreme in ("worst", "best")
        for system in systems
        for rank, place in enumerate(chosen[extreme, system].tolist(), 1)
        if (system, place) in texts_by_segment  # not in a table that can be read only once
    ]
    better, lowest = ("higher", "lowest") if by.sign > 0 else ("lower", "highest")
    notes = [
        f"Ranked by {by}, where {better} is better: the worst segments have the {lowest} scores; "
        "of equal scores the first in the text comes first."
    ]
    if metric != by:
        notes.append(f"{metric} scores single segments as {by}.")
    settings = {"by": str(by), "worst": worst, "best": best, "metrics": tuple(map(str, metrics))}
    signatures = {str(m): m.signature(references) for m in metrics}
    return RankedSegments(tuple(rows), by, signatures, tuple(notes), settings)


def _order_lowest_first(values: Floats) -> Ints:
    """Return indices by increasing value; ties, up to rounding errors, keep their order."""
    order = np.argsort(values, kind="stable")
    steps = ahead(values[order][1:], values[order][:-1])
    levels = np.zeros(len(values), np.int64)
    levels[order[1:]] = np.cumsum(steps)
    order_by_level: Ints = np.argsort(levels, kind="stable")
    return order_by_level
