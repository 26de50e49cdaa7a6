"""The source `texts`: candidates scored against references, or a table of both."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.arrays import np
from karat.errors import InputError, quoted, short
from karat.evalset.given_scores import GivenScores
from karat.evalset.loading import as_evalset
from karat.evalset.sets import EvalSet
from karat.gating.items import ItemScores, ItemText, MeasuredItems, digest
from karat.metrics.pairs import SegmentNames
from karat.progress import Progress, silent
from karat.score_settings import SEGMENT
from karat.scoring import (
    Keep,
    UnitLabels,
    compute_statistics,
    load_metrics,
    make_inputs,
    plan_inference,
)
from karat.text.references import VaryingReferences
from karat.text.segments import STRIDE, Segments

if TYPE_CHECKING:
    from karat.arrow.table_scores import ColumnNames
    from karat.metrics.base import Metric

TABLE_SYSTEM = "candidate"
"""The name of the system in a table."""
GATE_METRICS = ("chrf",)
"""Metrics if neither the call nor the baseline names any."""


def read_texts(
    output: Any,
    references: Any = None,
    metrics: Sequence[Any] | str | None = None,
    *,
    ids: Sequence[str] | None = None,
    candidate: str | None = None,
    id: str | None = None,
    units: UnitLabels = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> ItemScores:
    """Return the scores of one system's texts, or of a table with columns of texts.

    Segments are numbered from 1 unless `ids` is given; `units` are as for `score`. In a table,
    `references`, `candidate` and `id` name the columns; without any of them, they are detected.
    """
    if id is not None:
        if isinstance(units, str) and units != SEGMENT:
            problem = f"unit {quoted(units)}: a gate does not read units from a table"
            raise InputError(f"{problem}: give the label of each row, in Python units=[...]")
        table_columns = candidate, references, None, id
        chosen = load_metrics(metrics or GATE_METRICS)
        output, references, ids, metrics = _table_texts(output, table_columns, chosen)
    elif candidate is not None or (references is not None and _is_frame(output)):
        raise InputError("a gate knows the rows of a table by their ids: name their column with id")
    elif references is None and (isinstance(output, str | os.PathLike) or _is_frame(output)):
        output = as_evalset(output, progress)
    inputs = make_inputs(output, references, metrics or None, threads, progress, GATE_METRICS)
    for m in inputs.metrics:
        m.check_direction()
    if len(inputs.systems) != 1:
        names = short(", ".join(map(str, inputs.systems)))
        raise InputError(
            f"{len(inputs.systems)} systems were given ({names}): a gate takes one; choose it, as "
            "in karat gate NAME --set FILE, in Python evalset.select(systems=[NAME])"
        )
    ((system, texts),) = inputs.systems.items()
    refs, numbered = inputs.references, _segment_ids(ids, output, len(texts))
    left_out, grouping = inputs.segments.left_out, inputs.segments.grouping
    inputs = inputs._replace(
        segments=SegmentNames(len(texts), numbered, left_out, grouping),
    )
    stats = compute_statistics(inputs, Keep(rows=True), threads, progress)
    measures = [
        MeasuredItems(m, m.method(refs.number), np.concatenate(stats[system, m].row_blocks))
        for m in inputs.metrics
    ]

    def item_texts(places: Sequence[int]) -> list[ItemText]:
        both = zip(texts.strings(places), inputs.references.strings(places), strict=True)
        return [
            ItemText(candidate_text, refs[0] if refs else "", tuple(refs))
            for candidate_text, refs in both
        ]

    against = digest(zip(numbered, _reference_lists(refs), strict=True))
    inference = plan_inference(inputs, units, buckets=0)
    return ItemScores(
        system,
        numbered,
        tuple(measures),
        against,
        item_texts,
        notes=(
            *inputs.remarks,
            *inference.remarks,
            *(note for m in inputs.metrics for note in m.remarks()),
        ),
        units=inference.units,
    )


def _is_frame(output: Any) -> bool:
    from karat.arrow.frames import as_frame

    texts = isinstance(output, list | tuple) and all(isinstance(text, str) for text in output[:1])
    return not texts and as_frame(output) is not None


def _segment_ids(ids: Sequence[str] | None, output: Any, size: int) -> tuple[str, ...]:
    if ids is None and isinstance(output, EvalSet):
        ids = output.segments
    segment_ids = tuple(map(str, range(1, size + 1) if ids is None else ids))
    if len(segment_ids) != size:
        id_count = "1 id was" if len(segment_ids) == 1 else f"{len(segment_ids):,} ids were"
        problem = f"{id_count} given for {size:,} segment{'s' * (size != 1)}"
        raise InputError(f"{problem}: give one for each")
    return segment_ids


def _reference_lists(references: Any) -> list[Any]:
    """Return the references of every segment, with their trees if any."""
    if references.sources:
        return list(zip(*map(_source_strings, references.sources), strict=True))
    indices = range(len(references))
    texts: list[Any] = references.strings(indices)
    if references.trees(0, 1) is None:
        return texts
    trees = ([(tree.words, tree.heads) for tree in references[at]] for at in indices)
    return list(zip(texts, trees, strict=True))


def _source_strings(source: Segments) -> list[str]:
    strings: list[str] = []
    for start in range(0, len(source), STRIDE):
        strings += source.views(start, min(start + STRIDE, len(source))).strings()
    return strings


def _table_texts(
    table: Any, table_columns: ColumnNames, metrics: Sequence[Metric]
) -> tuple[Any, VaryingReferences | None, list[str], list[Metric]]:
    """Return the candidates, the references and the ids of all rows of a table, and the metrics.

    References are None if the table has none.

    Metrics that are columns of the table have their scores.
    """
    from karat.arrow.table_scores import open_table
    from karat.metrics.given import ExternalScores

    columns: dict[str, list[float]] = {}
    outputs: list[str] = []
    references: list[list[str]] = []
    ids: list[str] = []
    for rows in open_table(table, table_columns, metrics).ranges():
        batch = rows.read()
        indices = range(len(batch))
        outputs += batch.candidates[0].strings(indices)
        references += batch.references.strings(indices)
        if batch.ids is not None:
            ids += map(str, batch.ids.listed())
        for name, values in batch.numbers.items():
            columns.setdefault(name, []).extend(values.tolist())

    def with_column(m: Metric) -> Metric:
        if not (isinstance(m, ExternalScores) and m.of_table and m.column):
            return m
        scores = {TABLE_SYSTEM: dict(zip(ids, columns[m.column], strict=True))}
        return m.with_scores(GivenScores(f"column {quoted(m.column)}", scores))

    listed = VaryingReferences(references) if any(references) else None
    return outputs, listed, ids, [*map(with_column, metrics)]
