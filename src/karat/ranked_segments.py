"""Ranked segments: the worst and the best segments of each system, with their texts."""

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
    """The texts of one segment of a system, and its id if it has one."""

    candidate: str
    references: tuple[str, ...]
    id: str | None = None


Places = Mapping[str, Sequence[int]]
"""Segment indices by system."""
TextLookup = Callable[[Places], Mapping[tuple[str, int], SegmentText]]
"""Look up the texts of segments by system and index, all at once."""


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


def text_lookup(systems: Mapping[str, Segments], references: References) -> TextLookup:
    """Return a function that looks up the texts of aligned segments."""

    def look_up(places: Places) -> dict[tuple[str, int], SegmentText]:
        texts = {}
        for system, indices in places.items():
            ids = systems[system].ids
            both = zip(
                indices, systems[system].strings(indices), references.strings(indices), strict=True
            )
            for place, candidate, refs in both:
                id = None if ids is None else ids[place]
                texts[system, place] = SegmentText(candidate, tuple(refs), id)
        return texts

    return look_up


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
    return RankedSegments(
        tuple(rows),
        by,
        {str(m): m.signature(references) for m in metrics},
        _ranking_notes(metric, by),
        {"by": str(by), "worst": worst, "best": best, "metrics": tuple(map(str, metrics))},
    )


def _order_lowest_first(values: Floats) -> Ints:
    """Return indices by increasing value; ties, up to rounding errors, keep their order."""
    order = np.argsort(values, kind="stable")
    steps = ahead(values[order][1:], values[order][:-1])
    levels = np.zeros(len(values), np.int64)
    levels[order[1:]] = np.cumsum(steps)
    order_by_level: Ints = np.argsort(levels, kind="stable")
    return order_by_level


def _ranking_notes(metric: Metric, by: Metric) -> tuple[str, ...]:
    better = "higher" if by.sign > 0 else "lower"
    worst = "lowest" if by.sign > 0 else "highest"
    ranking = (
        f"Ranked by {by}, where {better} is better: the worst segments have the {worst} scores"
    )
    segment_form_note = f"{metric} scores single segments as {by}." if metric != by else ""
    return (
        f"{ranking}; of equal scores the first in the text comes first.",
        *filter(None, [segment_form_note]),
    )
