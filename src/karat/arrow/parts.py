"""Parts of a table: exact sums of the statistics of some rows, by system and bucket.

Parts are measured anywhere, in any order; `TableStatistics` adds them up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat import _kernel
from karat.arithmetic import grouped_sums
from karat.arrays import Floats, Ints, NDArray, np
from karat.arrow.batches import RowRange, TableBatch
from karat.errors import InputError
from karat.metrics.base import Metric
from karat.metrics.pairs import Counting, cuts_of
from karat.progress import Stop, map_in_order, n_threads
from karat.scoring import shrink_integers
from karat.stats.buckets import bucket_of

NO_IDS = (
    "intervals and tests on tables need ids, and so do single segments: results must not depend on "
    "the order of rows; name the column of ids, the same for all systems (--id COLUMN, in Python "
    "id=)"
)


class SegmentRows(NamedTuple):
    """Statistics of single segments: for each metric a table with a row for each segment."""

    codes: NDArray[np.int32]
    ids: NDArray[Any] | None  # whole numbers, or texts (objects)
    references: Ints  # the number of references of each segment
    tables: list[NDArray[Any]]
    units: Ints | None = None  # a hash of the label of each row's unit, if units are not ids

    def take(self, indices: NDArray[np.intp]) -> SegmentRows:
        """Return the rows at these indices."""
        ids = None if self.ids is None else self.ids[indices]
        tables = [table[indices] for table in self.tables]
        units = None if self.units is None else self.units[indices]
        return SegmentRows(self.codes[indices], ids, self.references[indices], tables, units)

    def hashes(self) -> Ints:
        """Return the hashes of the ids."""
        if self.ids is None:
            raise InputError(NO_IDS)
        if self.ids.dtype != object:
            return _kernel.hash_ids(self.ids)
        return _kernel.hash_views(_kernel.Views.from_strings(self.ids.tolist(), 0, len(self.ids)))


SystemPart = tuple[str, Ints, "list[Ints]", "list[SegmentRows]"]
"""A system, its buckets, the counts and the sums of these buckets, and rows."""


class Part(NamedTuple):
    """Statistics of some rows of a table, from one worker."""

    n_rows: int
    reference_range: tuple[int, int]  # the smallest and the largest number of references of a row
    systems: list[str]
    cells: Ints  # cells that have rows: system x buckets + bucket
    counts: Ints
    """For each cell its number of segments, and a sum of hashes of their ids and units (upper 32
    bits)."""
    sums: list[Ints]  # for each metric the exact sums of its rows, by cell
    segment_rows: SegmentRows | None = None
    row_codes: NDArray[np.int32] | None = None
    """For each row the index of its system; in a wide table, of its first system."""
    scores: Sequence[Floats] = ()
    """For each metric the score of every row, if requested; in a wide table for each system and
    metric."""
    present: NDArray[np.bool_] | None = None
    """For each row that was read, whether it was measured; None if all were."""
    skipped: Mapping[str, int] | None = None
    """Number of rows without a text that were left out, by system."""

    @classmethod
    def from_rows(
        cls,
        systems: list[str],
        segment_rows: SegmentRows,
        hashes: Ints | None,
        buckets: int | None,
        reference_hashes: Ints | None = None,
    ) -> Part:
        """Sum rows; `hashes` are the hashes of their ids, if they have any.

        Buckets hold whole units. Systems whose units differ have different sums of hashes, and with
        hashes of references systems whose references differ, too.
        """
        codes, count = segment_rows.codes, len(segment_rows.codes)
        id_hashes = np.zeros(count, np.int64) if hashes is None else hashes
        unit_hashes = id_hashes if segment_rows.units is None else segment_rows.units
        cells = codes if buckets is None else codes * buckets + bucket_of(unit_hashes, buckets)
        used, groups = np.unique(cells, return_inverse=True)
        cell_of_row = groups.astype(np.int32)
        pair_hashes = id_hashes if reference_hashes is None else id_hashes ^ reference_hashes
        if segment_rows.units is not None:
            pair_hashes = _kernel.hash_ids(pair_hashes ^ _kernel.hash_ids(unit_hashes))
        checks = (pair_hashes.view(np.uint64) >> np.uint64(32)).astype(np.int64)
        ones_and_checks = np.stack([np.ones_like(checks), checks], axis=1)
        counts = grouped_sums(ones_and_checks, cell_of_row, len(used))
        sums = [grouped_sums(table, cell_of_row, len(used)) for table in segment_rows.tables]
        ends = int(segment_rows.references.min()), int(segment_rows.references.max())
        return cls(count, ends, systems, used.astype(np.int64), counts, sums)

    def in_buckets(self, buckets: int) -> Part:
        """Return the sums of kept rows by bucket; parts without rows already are in buckets."""
        if self.segment_rows is None:
            return self
        rows = self.segment_rows
        part = Part.from_rows(self.systems, rows, rows.hashes(), buckets)
        return part._replace(skipped=self.skipped)

    def by_system(self, size: int) -> Iterator[SystemPart]:
        """Yield the parts of systems, each with `size` buckets; rows in small integer types."""
        codes = self.cells // size
        for code in np.unique(codes).tolist():
            chosen = np.flatnonzero(codes == code)
            blocks = []
            if self.segment_rows is not None:
                rows = self.segment_rows.take(np.flatnonzero(self.segment_rows.codes == code))
                blocks = [rows._replace(tables=[shrink_integers(t) for t in rows.tables])]
            sums = [table[chosen] for table in (self.counts, *self.sums)]
            yield self.systems[code], self.cells[chosen] % size, sums, blocks


@dataclass(frozen=True)
class TableMeasure:
    """The numbers to compute from every batch of a table."""

    metrics: tuple[Metric, ...]
    buckets: int | None = None
    keep_rows: bool = False
    keep_scores: bool = False  # True to score every row, too

    def parts(
        self, ranges: Iterable[RowRange], threads: int | None = 1, stop: Stop | None = None
    ) -> Iterator[Part]:
        """Yield the statistics of ranges of rows, in their order."""
        counting = Counting(self.metrics, lambda _, rows, __: rows, stop)

        def measure(rows: RowRange) -> Part:
            batch = rows.read()
            part = self._measure_batch(batch, counting) if len(batch) else self._empty_part(batch)
            skipped = None if batch.present is None else batch.skipped
            return part._replace(row_codes=batch.codes, present=batch.present, skipped=skipped)

        workers = n_threads(threads)
        if workers == 1:
            yield from map(measure, ranges)
        else:
            yield from map_in_order(measure, ranges, workers, counting.stop)

    def _empty_part(self, batch: TableBatch) -> Part:
        """Return the part of a batch whose rows were all skipped."""
        none = np.zeros(0, np.int64)
        n_scores = len(self.metrics) * len(batch.candidates) * self.keep_scores
        part = Part(0, (0, 0), [], none, none, [none] * len(self.metrics))
        return part._replace(scores=[np.zeros(0)] * n_scores)

    def _measure_batch(self, batch: TableBatch, counting: Counting[Metric, NDArray[Any]]) -> Part:
        """Return the statistics of a batch, one column of candidates after the other."""
        n_columns = len(batch.candidates)
        tables = _count_batch(batch, counting)
        hashes = ids = paired_by = units = None
        if batch.ids is not None:
            hashes, paired_by = np.tile(batch.ids.hashes, n_columns), batch.ids.references
            if self.keep_rows:
                values = batch.ids.listed()
                kind = object if isinstance(values, list) else np.int64
                ids = np.tile(np.array(values, kind), n_columns)
        if batch.units is not None:
            units = np.tile(batch.units, n_columns)
        segment_rows = SegmentRows(
            np.concatenate([batch.codes + column for column in range(n_columns)]),
            ids,
            np.tile(batch.references.counts(), n_columns),
            [np.concatenate(blocks) for blocks in zip(*tables, strict=True)],
            units,
        )
        scores = [
            m.of_segments().measure(table)["value"]
            for column_tables in tables
            for m, table in zip(self.metrics, column_tables, strict=True)
            if self.keep_scores
        ]
        part = Part.from_rows(batch.systems, segment_rows, hashes, self.buckets, paired_by)
        return part._replace(segment_rows=segment_rows if self.keep_rows else None, scores=scores)


def _count_batch(
    batch: TableBatch, counting: Counting[Metric, NDArray[Any]]
) -> list[list[NDArray[Any]]]:
    """Return the rows of statistics as tables[column of candidates][metric]."""
    texts = [(batch.outputs(i), column) for i, column in enumerate(batch.candidates)]
    try:
        cuts = cuts_of(batch.candidates, batch.references)
        runs = [counting(texts, batch.references, cut) for cut in cuts]
    except InputError as error:
        place = f"{batch.name}: " if str(error).startswith("segment ") else ""
        raise type(error)(f"{place}{error}") from error
    return [
        [np.concatenate(blocks) for blocks in zip(*column_runs, strict=True)]
        for column_runs in zip(*runs, strict=True)
    ]
