"""What is in a set: counts for people who want to know before they use it."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from karat.errors import short
from karat.evalset.judgements import Dimension, Judgements
from karat.evalset.sets import EvalSet


class SystemCount(NamedTuple):
    """One system: outputs that are there, missing and empty ones, and how much it was judged."""

    system: str
    outputs: int
    missing: int
    empty: int
    judged: int  # segments with at least one judgement
    judgements: int


class DimensionCount(NamedTuple):
    """One dimension: by how many it was judged, how often, and between which values."""

    dimension: Dimension
    judgements: int
    judges: int
    items: int  # outputs with at least one judgement
    lowest: float | None
    highest: float | None
    off_scale: int


class ReferenceCount(NamedTuple):
    """How many references segments have."""

    least: int
    median: float
    most: int


def count_systems(evalset: EvalSet) -> list[SystemCount]:
    """A row for each system."""
    rows = evalset.judgements
    found = []
    for i, (name, outputs) in enumerate(evalset.systems.items()):
        mine = rows.segment[rows.system == i].tolist()
        missing, empty = outputs.count(None), sum(1 for text in outputs if text == "")
        there = len(outputs) - missing
        found.append(SystemCount(name, there, missing, empty, len(set(mine)), len(mine)))
    return found


def count_dimensions(evalset: EvalSet) -> list[DimensionCount]:
    """A row for each dimension."""
    rows = evalset.judgements
    found = []
    for name, dimension in evalset.dimensions.items():
        mine = rows.where(rows.dimension == rows.dimensions.index(name))
        values = mine.value.tolist()
        items = set(zip(mine.system.tolist(), mine.segment.tolist(), strict=True))
        off = sum(1 for value in values if dimension.off_scale(value))
        lowest, highest = min(values, default=None), max(values, default=None)
        counts = len(values), len(mine.judges), len(items)
        found.append(DimensionCount(dimension, *counts, lowest, highest, off))
    return found


def count_references(evalset: EvalSet) -> ReferenceCount:
    """Least, median and most references of a segment."""
    counts = [len(group) for group in evalset.references]
    return ReferenceCount(min(counts), float(median(counts)), max(counts))


def remarks(evalset: EvalSet) -> list[str]:
    """What is no error, and still good to know before numbers are believed."""
    found = list(evalset.remarks)
    for count in count_dimensions(evalset):
        name = count.dimension.name
        if count.off_scale:
            found.append(f"{short(name)}: {count.off_scale:,} judgements are off the stated scale")
        if not count.judgements:
            found.append(f"{short(name)}: no judgements")
        found += [f"{short(name)}: {text}" for text in _flat_judges(evalset.judgements, name)]
    if without := sum(1 for group in evalset.references if not group):
        found.append(f"{without:,} segments have no reference: they cannot be scored")
    for system in count_systems(evalset):
        if system.missing:
            found.append(f"{system.system}: outputs missing: {system.missing:,}")
        if not system.judged and evalset.judgements:
            found.append(f"{system.system}: not judged")
    if len(evalset.systems) == 1:
        found.append("one system: there is nothing to compare at the level of systems")
    return found


def _flat_judges(rows: Judgements, dimension: str) -> list[str]:
    """Judges whose values do not differ: they cannot be normalised."""
    mine = rows.where(rows.dimension == rows.dimensions.index(dimension))
    flat = []
    for i, judge in enumerate(mine.judges):
        values = mine.value[mine.judge == i]
        if values.min() == values.max():
            flat.append(judge)
    if not flat:
        return []
    names = ", ".join(flat[:5]) + (", …" if len(flat) > 5 else "")
    return [f"{len(flat):,} judges always gave one value and have no z-scores: {short(names)}"]
