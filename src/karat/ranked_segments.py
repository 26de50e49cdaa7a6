"""Ranked segments: those with the worst and the best scores of each system, with their texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.errors import InputError, quoted
from karat.metrics.base import Metric
from karat.results import Result
from karat.stats.significance import ahead
from karat.text.references import References
from karat.text.segments import Segments


class SegmentText(NamedTuple):
    """The texts of a segment of a system, and its id where it has one."""

    candidate: str
    references: tuple[str, ...]
    id: str | None = None


Places = Mapping[str, Sequence[int]]
"""Systems, and the places of some segments of each, from 0."""
TextLookup = Callable[[Places], Mapping[tuple[str, int], SegmentText]]
"""Finds the texts of segments by system and place, all at once."""


class RankedSegment(NamedTuple):
    """A segment of a system, ranked by one metric."""

    which: str  # worst or best
    system: str
    rank: int  # from 1
    segment: int  # 0-based
    score: float
    scores: Mapping[Metric, float]  # by all metrics
    text: SegmentText


@dataclass(frozen=True, eq=False, repr=False)
class RankedSegments(Result):
    """The segments of each system with the worst or the best scores by a metric."""

    rows: tuple[RankedSegment, ...]
    metric: Metric
    """The metric that ranks, in the form that scores segments."""
    signatures: Mapping[str, str]
    notes: tuple[str, ...]
    settings: Mapping[str, object]

    @property
    def signature(self) -> str:
        """The signatures of all metrics, a line each."""
        return "\n".join(self.signatures.values())


def texts_of(systems: Mapping[str, Segments], references: References) -> TextLookup:
    """Return what finds the texts of aligned segments."""

    def look_up(places: Places) -> dict[tuple[str, int], SegmentText]:
        found = {}
        for system, own in places.items():
            ids = systems[system].ids
            both = zip(own, systems[system].strings(own), references.strings(own), strict=True)
            for place, candidate, refs in both:
                id = None if ids is None else ids[place]
                found[system, place] = SegmentText(candidate, tuple(refs), id)
        return found

    return look_up


def rank_segments(
    values: Mapping[tuple[str, Metric], Floats],
    texts: TextLookup,
    asked: Metric,
    worst: int,
    best: int,
    references: int | None,
) -> RankedSegments:
    """Return the worst and the best segments of each system by the segment form of a metric."""
    by = asked.of_segments()
    for name, count in (("worst", worst), ("best", best)):
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise InputError(f"{name}={quoted(count)}: expected a number of segments")
    metrics = tuple(dict.fromkeys(m for _, m in values))
    systems = [system for system, m in values if m == by]
    chosen: dict[tuple[str, str], Ints] = {}
    for system in systems:
        scores = by.sign * values[system, by]
        chosen["worst", system] = _lowest_first(scores)[:worst]
        chosen["best", system] = _lowest_first(-scores)[:best]
    places = {
        s: sorted({*chosen["worst", s].tolist(), *chosen["best", s].tolist()}) for s in systems
    }
    found = texts(places)
    rows = [
        RankedSegment(
            *(which, system, rank, place, float(values[system, by][place])),
            {m: float(values[system, m][place]) for m in metrics},
            found[system, place],
        )
        for which in ("worst", "best")
        for system in systems
        for rank, place in enumerate(chosen[which, system].tolist(), 1)
        if (system, place) in found  # not in a table that can be read only once
    ]
    return RankedSegments(
        tuple(rows),
        by,
        {str(m): m.signature(references) for m in metrics},
        _notes(asked, by),
        {"by": str(by), "worst": worst, "best": best, "metrics": tuple(map(str, metrics))},
    )


def _lowest_first(values: Floats) -> Ints:
    """Return the places of the lowest values first; of equal ones the first place.

    What differs by rounding alone is equal.
    """
    order = np.argsort(values, kind="stable")
    steps = ahead(values[order][1:], values[order][:-1])
    levels = np.zeros(len(values), np.int64)
    levels[order[1:]] = np.cumsum(steps)
    found: Ints = np.argsort(levels, kind="stable")
    return found


def _notes(asked: Metric, by: Metric) -> tuple[str, ...]:
    better = "higher" if by.sign > 0 else "lower"
    worst = "lowest" if by.sign > 0 else "highest"
    told = f"Ranked by {by}, where {better} is better: the worst segments have the {worst} scores"
    own = f"{asked} scores single segments as {by}." if asked != by else ""
    return (f"{told}; of equal scores the first in the text comes first.", *filter(None, [own]))
