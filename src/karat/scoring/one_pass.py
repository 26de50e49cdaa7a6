"""Statistics of all systems by all metrics, in one pass over the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from karat.arithmetic import joined_sums, partial_sums
from karat.arrays import Floats, NDArray, np
from karat.metrics.base import Metric
from karat.metrics.pairs import run_batches
from karat.progress import Progress
from karat.scoring.inputs import Inputs
from karat.stats.buckets import CellSums, bucket_of_rows, check_filled, joined_cells, sum_cells


class Wanted(NamedTuple):
    """The parts to keep besides the totals."""

    rows: bool = False
    values: bool = False
    buckets: int | None = None
    """Sums of so many buckets in place of rows; the id of a segment is its number, from 0."""


class Collected(NamedTuple):
    """The statistics of one system by one metric."""

    total: NDArray[Any]
    rows: tuple[NDArray[Any], ...]  # in runs, whole numbers as small as they can be; () if not kept
    values: Floats | None
    cells: tuple[CellSums, ...] = ()  # of batches, to be joined into rows

    @property
    def stats(self) -> Floats:
        """All rows as one table."""
        return np.concatenate(self.rows).astype(np.float64)


def collect(
    given: Inputs,
    want: Wanted,
    threads: int | None,
    progress: Progress,
    how: Mapping[str, object] = MappingProxyType({}),
) -> dict[tuple[str, Metric], Collected]:
    """The statistics of all systems by all metrics, by system and then by metric.

    `how` says which intervals and tests will be made: signatures must not say anything else.
    """
    systems, references, metrics, segments = given
    for m in metrics:
        m.check_claims(references.number, how)
        m.check_outputs([*systems], segments)
    if want.buckets:
        check_filled(len(references), want.buckets, next(iter(systems)))

    def reduce(m: Metric, rows: NDArray[Any], first: int) -> Collected:
        values = m.of_segments().measure(rows)["value"] if want.values else None
        if want.buckets:
            cells = sum_cells(rows, bucket_of_rows(first, len(rows), want.buckets))
            return Collected(partial_sums(rows), (), values, (cells,))
        return Collected(partial_sums(rows), (compact(rows),) if want.rows else (), values)

    ids = None if segments.ids is None else segments.listed
    parts = run_batches(
        metrics, systems, references, reduce, ids=ids, threads=threads, progress=progress
    )
    return {
        (name, m): _join([part[i][j] for part in parts], want.buckets)
        for i, name in enumerate(systems)
        for j, m in enumerate(metrics)
    }


def compact(rows: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the smallest type that holds them all; others as they are."""
    if rows.dtype.kind not in "iu":
        return rows
    ends = np.result_type(*(np.min_scalar_type(int(x)) for x in (rows.min(), rows.max())))
    return rows.astype(ends)


def _join(parts: Sequence[Collected], buckets: int | None) -> Collected:
    values = [part.values for part in parts if part.values is not None]
    cells = [cell for part in parts for cell in part.cells]
    rows = tuple(block for part in parts for block in part.rows)
    return Collected(
        joined_sums([part.total for part in parts]),
        (joined_cells(cells, buckets),) if buckets and cells else rows,
        np.concatenate(values) if values else None,
    )
