"""Examples of a comparison of tables: the texts of some segments, looked up by their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from karat.arrays import np
from karat.arrow.batches import RowRange
from karat.arrow.statistics import Statistics
from karat.comparison import Comparison, Difference, Example, make_examples
from karat.metrics.base import Metric
from karat.ranked_segments import Places, SegmentText, TextLookup

Key = tuple[str, int | str]
"""A system and the id of a segment."""


class Texts(NamedTuple):
    """A candidate and its references."""

    candidate: str
    references: list[str]


def with_examples(
    comparison: Comparison, found: Statistics, ranges: Iterable[RowRange], top: int, *, named: bool
) -> Comparison:
    """Return the comparison with the segments on which each system differs most.

    `ranges` are the rows of the table, read once more; they are `named` by a column of ids. Where
    segments were put into buckets, there are no examples.
    """
    if not comparison.values or not top:
        return comparison
    ids = found.sorted_ids(comparison.baseline)
    gaps = {
        (row.system, row.metric): comparison.differences(
            comparison.baseline, row.system, row.metric, top
        )
        for row in comparison.rows
        if row.system != comparison.baseline
    }
    wanted = {ids[gap.segment] for own in gaps.values() for gap in own}
    texts = _texts_of(ranges, wanted)

    def shown(system: str, metric: Metric, gaps: Sequence[Difference]) -> list[Example]:
        own = [gap for gap in gaps if (system, ids[gap.segment]) in texts]  # none in a stream
        base = [texts[comparison.baseline, ids[gap.segment]] for gap in own]
        mine = [texts[system, ids[gap.segment]].candidate for gap in own]
        sides = ([one.references for one in base], [one.candidate for one in base], mine)
        made = make_examples(system, metric, own, *sides)
        return [one._replace(id=str(ids[one.segment]) if named else None) for one in made]

    examples = (one for key, own in gaps.items() for one in shown(*key, own))
    return replace(comparison, examples=tuple(examples))


def segment_labels(ids: Sequence[int | str], *, named: bool) -> list[str]:
    """Return how segments are called: by ids that a column names, or by row numbers, from 1."""
    return [str(id) if named else str(int(id) + 1) for id in ids]


def table_texts(
    found: Statistics, ranges: Callable[[], Iterable[RowRange]], *, named: bool
) -> TextLookup:
    """Return what finds the texts of segments by their places in the order of ids.

    `ranges` gives the rows of the table once more. Rows that are not `named` by a column of ids go
    by their numbers, from 1.
    """

    def look_up(places: Places) -> dict[tuple[str, int], SegmentText]:
        sorted_ids = {system: found.sorted_ids(system) for system in places}
        ids = {(s, place): sorted_ids[s][place] for s, own in places.items() for place in own}
        texts = _texts_of(ranges(), set(ids.values()))
        made = {}
        for (system, place), id in ids.items():
            if (system, id) in texts:  # none in a stream
                candidate, references = texts[system, id]
                (label,) = segment_labels([id], named=named)
                made[system, place] = SegmentText(candidate, tuple(references), label)
        return made

    return look_up


def _texts_of(ranges: Iterable[RowRange], wanted: set[int | str]) -> dict[Key, Texts]:
    found: dict[Key, Texts] = {}
    numbers = np.array([id for id in wanted if isinstance(id, int)], np.int64)
    for rows in ranges:
        batch = rows.read()
        ids = [] if batch.ids is None else batch.ids.listed()
        if isinstance(ids, list):
            places = [at for at, id in enumerate(ids) if id in wanted]
        else:
            places, ids = np.flatnonzero(np.isin(ids, numbers)).tolist(), ids.tolist()
        references = batch.references.strings(places)
        for number, texts in enumerate(batch.candidates):
            for at, candidate, refs in zip(places, texts.strings(places), references, strict=True):
                found[batch.systems[batch.codes[at] + number], ids[at]] = Texts(candidate, refs)
    return found
