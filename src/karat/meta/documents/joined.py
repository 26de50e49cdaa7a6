"""Documents as GTM's paper makes them (section 3): their segments joined into one text.

The candidate is one text, and so is each reference: the k-th of a document joins the k-th of its
segments. Then words match across segments, and runs and n-grams go over their ends. The other way,
sums of the segments' statistics, never looks beyond a segment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric
from karat.metrics.outputs import SegmentNames
from karat.progress import silent
from karat.scoring import Inputs, Wanted, collect
from karat.text.references import VaryingReferences
from karat.text.segments import Strings

JOINT = " "
"""The text between two segments: no tokeniser takes it for a part of a word."""


def score_joined(
    evalset: EvalSet,
    metrics: Sequence[Metric],
    documents: Sequence[Ints],
    known: Flags,
    threads: int | None = None,
) -> dict[Metric, Floats]:
    """Systems x documents by each metric: the scores of joined texts, more being better.

    A document is the places of its segments. Of each system only the cells that are `known` are
    part of it; a document without any has NaN, and so has one by a metric that reads no texts.
    """
    reading = [m for m in metrics if m.reads_texts]
    found = {m: np.full((len(known), len(documents)), np.nan) for m in metrics}
    for systems in _alike(known):
        parts = [inside[known[systems[0], inside]] for inside in documents]
        filled = [d for d, part in enumerate(parts) if len(part)]
        if not filled or not reading:
            continue
        texts = {str(k): Strings(_texts(evalset, k, parts), f"system {k}") for k in systems}
        references = VaryingReferences([joined_references(evalset, parts[d]) for d in filled])
        given = Inputs(texts, references, reading, SegmentNames(len(filled)))
        rows = collect(given, Wanted(rows=True), threads, silent)
        for (k, m), part in rows.items():
            found[m][int(k), filled] = m.sign * m.measure(part.stats)["value"]
    return found


def joined_references(evalset: EvalSet, places: Sequence[int] | Ints) -> list[str]:
    """The references of a document; every segment must have as many."""
    groups = [evalset.references[s] for s in places]
    sizes = [len(group) for group in groups]
    for s, size in zip(places, sizes, strict=True):
        if size != sizes[0] or not size:
            raise InputError(
                f"{evalset.name}: segment {quoted(evalset.segments[s])} has {size:,} references "
                f"and {quoted(evalset.segments[places[0]])} has {sizes[0]:,}: joined documents "
                "need as many for every segment, and at least one; choose some by their numbers"
            )
    return [JOINT.join(texts) for texts in zip(*groups, strict=True)]


def _alike(known: Flags) -> Iterator[list[int]]:
    """Systems with the same known cells: they share their references."""
    groups: dict[bytes, list[int]] = {}
    for k, row in enumerate(known):
        groups.setdefault(row.tobytes(), []).append(k)
    yield from groups.values()


def _texts(evalset: EvalSet, system: int, parts: Sequence[Ints]) -> list[str]:
    outputs = list(evalset.systems.values())[system]
    return [JOINT.join(outputs[s] or "" for s in part) for part in parts if len(part)]
