"""Statistics of tables: exact sums by system and bucket, and rows where they are kept.

Parts of a table are measured anywhere, in any order, and added up: the sum is the same, bit by bit.
From it come the scores, intervals and tests of `karat.score` and `karat.compare`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat import _kernel
from karat.arithmetic import grouped_sums, joined_sums
from karat.arrays import Floats, Ints, NDArray, np
from karat.arrow.batches import RowRange, TableBatch
from karat.errors import InputError, quoted
from karat.metrics.base import Metric
from karat.metrics.pairs import Counting, cuts_of
from karat.progress import Stop, map_in_order, n_threads
from karat.scoring import SystemStats, shrink_integers
from karat.stats.buckets import CellSums, add_cells, bucket_of, check_filled

MAX_SYSTEMS = 10_000
"""Systems of one table; more are most likely ids."""
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

    def take(self, indices: NDArray[np.intp]) -> SegmentRows:
        """Return some rows."""
        ids = None if self.ids is None else self.ids[indices]
        tables = [table[indices] for table in self.tables]
        return SegmentRows(self.codes[indices], ids, self.references[indices], tables)

    def hashes(self) -> Ints:
        """Return the hashes of the ids."""
        if self.ids is None:
            raise InputError(NO_IDS)
        if self.ids.dtype != object:
            return _kernel.hash_ids(self.ids)
        return _kernel.hash_views(_kernel.Views.from_strings(self.ids.tolist(), 0, len(self.ids)))


SystemPart = tuple[str, Ints, "list[Ints]", "list[SegmentRows]"]
"""A system, its cells (buckets), counts and sums of these cells, and rows."""


class Part(NamedTuple):
    """The statistics of some rows of a table, as they come from one worker."""

    rows: int
    reference_range: tuple[int, int]  # the smallest and the largest number of references of a row
    systems: list[str]
    cells: Ints  # cells that have rows: system x buckets + bucket
    counted: Ints
    """For each cell its number of segments, and a sum of their ids' hashes (the upper 32 bits)."""
    sums: list[Ints]  # for each metric the exact sums of its rows, by cell
    segment_rows: SegmentRows | None = None
    values: Sequence[Floats] = ()
    """For each metric the score of every row, if they are wanted; in a wide table for each system
    and metric."""
    present: NDArray[np.bool_] | None = None
    """For each row that was read, whether it was measured; None: all were."""
    skipped: Mapping[str, int] | None = None
    """Systems, and how many of their rows were left out because a text is missing."""

    def by_system(self, size: int) -> Iterator[SystemPart]:
        """Yield the systems, in so many buckets; small whole numbers in few bytes."""
        codes = self.cells // size
        for code in np.unique(codes).tolist():
            chosen = np.flatnonzero(codes == code)
            blocks = []
            if self.segment_rows is not None:
                rows = self.segment_rows.take(np.flatnonzero(self.segment_rows.codes == code))
                blocks = [rows._replace(tables=[shrink_integers(t) for t in rows.tables])]
            sums = [table[chosen] for table in (self.counted, *self.sums)]
            yield self.systems[code], self.cells[chosen] % size, sums, blocks


def part_of_rows(
    systems: list[str],
    segment_rows: SegmentRows,
    hashes: Ints | None,
    buckets: int | None,
    references: Ints | None = None,
) -> Part:
    """Sum rows into a part; `hashes` are the hashes of their ids, if any.

    With hashes of references, systems whose references differ have different sums of hashes.
    """
    codes, count = segment_rows.codes, len(segment_rows.codes)
    id_hashes = np.zeros(count, np.int64) if hashes is None else hashes
    cells = codes if buckets is None else codes * buckets + bucket_of(id_hashes, buckets)
    used, groups = np.unique(cells, return_inverse=True)
    places = groups.astype(np.int32)
    checked = id_hashes if references is None else id_hashes ^ references
    checks = (checked.view(np.uint64) >> np.uint64(32)).astype(np.int64)
    counted = grouped_sums(np.stack([np.ones_like(checks), checks], axis=1), places, len(used))
    sums = [grouped_sums(table, places, len(used)) for table in segment_rows.tables]
    ends = int(segment_rows.references.min()), int(segment_rows.references.max())
    return Part(count, ends, systems, used.astype(np.int64), counted, sums)


@dataclass(frozen=True)
class TableMeasure:
    """The numbers to be made of every batch: by which metrics, in how many buckets."""

    metrics: tuple[Metric, ...]
    buckets: int | None = None
    keep: bool = False  # True to keep rows
    values: bool = False  # True to score every row, too

    def parts(
        self, ranges: Iterable[RowRange], threads: int | None = 1, stop: Stop | None = None
    ) -> Iterator[Part]:
        """Yield the statistics of ranges of rows, in their order."""
        count = Counting(self.metrics, lambda _, rows, __: rows, stop)

        def work(rows: RowRange) -> Part:
            batch = rows.read()
            if not len(batch):  # all rows were left out
                none = np.zeros(0, np.int64)
                part = Part(0, (0, 0), [], none, none, [none] * len(self.metrics))
                n_values = len(self.metrics) * len(batch.candidates) * self.values
                part = part._replace(values=[np.zeros(0)] * n_values)
            else:
                try:
                    cuts = cuts_of(batch.candidates, batch.references)
                    texts = [(batch.outputs(i), c) for i, c in enumerate(batch.candidates)]
                    runs = [count(texts, batch.references, cut) for cut in cuts]
                except InputError as error:
                    place = f"{batch.name}: " if str(error).startswith("segment ") else ""
                    raise type(error)(f"{place}{error}") from error
                columns = [
                    zip(*column_runs, strict=True) for column_runs in zip(*runs, strict=True)
                ]
                part = self._make_part(
                    batch, [[np.concatenate(r) for r in runs] for runs in columns]
                )
            skipped = None if batch.present is None else batch.skipped
            return part._replace(present=batch.present, skipped=skipped)

        workers = n_threads(threads)
        done = map(work, ranges)
        yield from done if workers == 1 else map_in_order(work, ranges, workers, count.stop)

    def _make_part(self, batch: TableBatch, tables: list[list[NDArray[Any]]]) -> Part:
        """Return what was counted for each column of candidates and each metric."""
        many = len(tables)
        hashes = ids = paired_by = None
        if batch.ids is not None:
            hashes, paired_by = np.tile(batch.ids.hashes, many), batch.ids.references
            if self.keep:
                values = batch.ids.listed()
                texts = isinstance(values, list)
                ids = np.tile(np.array(values, object if texts else np.int64), many)
        segment_rows = SegmentRows(
            np.concatenate([batch.codes + i for i in range(many)]),
            ids,
            np.tile(batch.references.counts(), many),
            [np.concatenate(blocks) for blocks in zip(*tables, strict=True)],
        )
        scores = [
            m.of_segments().measure(table)["value"]
            for column_tables in tables
            for m, table in zip(self.metrics, column_tables, strict=True)
            if self.values
        ]
        part = part_of_rows(batch.systems, segment_rows, hashes, self.buckets, paired_by)
        return part._replace(segment_rows=segment_rows if self.keep else None, values=scores)


@dataclass
class SystemSums:
    """The sums of one system: of each bucket, or of all its rows."""

    counted: Ints
    """For each bucket its number of segments, and the sum of hashes by which ids are compared."""
    sums: list[Ints]
    row_blocks: list[SegmentRows] = field(default_factory=list)


class Statistics:
    """The sums of many parts, by system; `+=` adds a part or other statistics."""

    def __init__(self, metrics: Sequence[Metric], buckets: int | None = None) -> None:
        self.metrics, self.buckets = tuple(metrics), buckets
        self.systems: dict[str, SystemSums] = {}
        self.rows = 0
        self.reference_range: tuple[int, int] = (0, 0)
        """The smallest and the largest number of references of a row."""
        self.kinds: dict[str, str] = {}  # the kind of each column of the table, where it is known
        self.source = "table"  # the name of the table, or of the last file that was added
        self.order: tuple[str, ...] = ()
        """The systems that columns or files name, in the order in which they were named."""
        self.skipped: dict[str, int] | None = None
        """Rows without a text that were left out, by system; None if such rows are refused."""

    def names(self) -> list[str]:
        """Return the names of the systems, in their order; whole numbers by value, and first."""

        def sort_key(name: str) -> tuple[int, int, str]:
            is_number = name.isascii() and name.isdigit() and len(name) < 19
            return (0, int(name), name) if is_number else (1, 0, name)

        return [*self.order] or sorted(self.systems, key=sort_key)

    @property
    def keeps(self) -> bool:
        """True if rows are kept."""
        return any(system_sums.row_blocks for system_sums in self.systems.values())

    @property
    def references(self) -> int | None:
        """Number of references of every row; None if that varies."""
        least, most = self.reference_range
        return least if least == most else None

    def __iadd__(self, other: Part | Statistics) -> Statistics:
        if other.skipped is not None:
            before = self.skipped or {}
            names = dict.fromkeys([*before, *other.skipped])
            self.skipped = {n: before.get(n, 0) + other.skipped.get(n, 0) for n in names}
        if not other.rows:
            return self
        if isinstance(other, Statistics):
            for column, kind in other.kinds.items():
                before_kind = self.kinds.setdefault(column, kind)
                if before_kind != kind:
                    kinds = f"holds {kind}, and {before_kind} in {self.source}"
                    problem = f"{other.source}: column {quoted(column)} {kinds}"
                    raise InputError(f"{problem}: all files must have the same columns")
            self.source = other.source
            if self.buckets and not other.buckets:
                other = other.in_buckets(self.buckets)
        least, most = self.reference_range if self.rows else other.reference_range
        fewest, largest = other.reference_range
        self.reference_range = min(least, fewest), max(most, largest)
        self.rows += other.rows
        for system_part in other.by_system(self.buckets or 1):
            self._add_system(*system_part)
        return self

    def by_system(self, size: int) -> Iterator[SystemPart]:
        """Yield the systems, in so many buckets."""
        for system, system_sums in self.systems.items():
            sums = [system_sums.counted, *system_sums.sums]
            yield system, np.arange(size), sums, system_sums.row_blocks

    def _add_system(
        self, system: str, cells: Ints, sums: list[Ints], row_blocks: list[SegmentRows]
    ) -> None:
        before = self.systems.get(system)
        if before is None and len(self.systems) >= MAX_SYSTEMS:
            problem = f"more than {MAX_SYSTEMS:,} systems, {quoted(system)} among them"
            raise InputError(f"the column of systems names {problem}: is it the right column?")
        size = self.buckets or 1
        held = [None] * len(sums) if before is None else [before.counted, *before.sums]
        counted, *totals = (
            add_cells(total, CellSums(cells, part), size)
            for total, part in zip(held, sums, strict=True)
        )
        blocks = [] if before is None else before.row_blocks
        blocks += row_blocks
        self.systems[system] = SystemSums(counted, totals, blocks)

    def _without_rows(self, buckets: int | None) -> Statistics:
        """Return statistics of the same table without any rows."""
        emptied = Statistics(self.metrics, buckets)
        emptied.kinds, emptied.source, emptied.order = self.kinds, self.source, self.order
        emptied.skipped = self.skipped
        return emptied

    def in_buckets(self, buckets: int) -> Statistics:
        """Return the same in buckets, for which rows and their ids must have been kept."""
        bucketed = self._without_rows(buckets)
        for system, system_sums in self.systems.items():
            for block in system_sums.row_blocks:
                rows = block._replace(codes=np.zeros(len(block.codes), np.int32))
                bucketed += part_of_rows([system], rows, rows.hashes(), buckets)
        return bucketed

    # ------------------------------------------------------------------------ as collected text

    def system_stats(
        self, *, resampled: bool, values: bool = False
    ) -> dict[tuple[str, Metric], SystemStats]:
        """Return the statistics of every system by every metric, systems in order of their names.

        With `resampled`, include rows in the order of their ids, or sums of buckets, to resample;
        with `values`, the scores of segments whose rows are kept.
        """
        if not self.systems:
            raise InputError("no segments: there is nothing to score")
        stats = {}
        for name in self.names():
            system_sums = self.systems[name]
            rows: list[NDArray[Any]] = []
            if resampled and self.buckets:
                check_filled(int(system_sums.counted[:, 0].sum()), self.buckets, name)
                rows = [*system_sums.sums]
            elif resampled:
                if not self.has_ids:
                    raise InputError(NO_IDS)
                rows = self.sorted_rows(name).tables
            for at, m in enumerate(self.metrics):
                total = joined_sums(list(system_sums.sums[at]))  # of all buckets
                scores = None
                if rows and values and not self.buckets:
                    scores = m.of_segments().measure(rows[at])["value"]
                stats[name, m] = SystemStats(total, (rows[at],) if rows else (), scores)
        return stats

    @property
    def has_ids(self) -> bool:
        """True if all rows that are kept have ids."""
        blocks = [block for sums in self.systems.values() for block in sums.row_blocks]
        return all(block.ids is not None for block in blocks)

    def sorted_rows(self, name: str) -> SegmentRows:
        """Return the rows of a system as one table a metric, in the order of ids if they have any.

        Ids must be unique.
        """
        blocks = self.systems[name].row_blocks
        codes, references = (np.concatenate([block[at] for block in blocks]) for at in (0, 2))
        tables = zip(*(block.tables for block in blocks), strict=True)
        rows = SegmentRows(codes, None, references, [np.concatenate(parts) for parts in tables])
        if not self.has_ids:
            return rows
        ids = self.ids(name)
        order = np.argsort(ids, kind="stable")
        repeats = np.flatnonzero(ids[order][1:] == ids[order][:-1])
        if len(repeats):
            problem = f"two segments with id {quoted(str(ids[order[repeats[0]]]))}"
            advice = "ids must be different (name systems with --by COLUMN, in Python by=)"
            raise InputError(f"system {name} has {problem}: {advice}")
        return rows._replace(ids=ids).take(order)

    def ids(self, name: str) -> NDArray[Any]:
        """Return the ids of a system's rows, in the order in which they were measured."""
        blocks = [block.ids for block in self.systems[name].row_blocks if block.ids is not None]
        if len(blocks) < len(self.systems[name].row_blocks):
            raise InputError(NO_IDS)
        if len({ids.dtype for ids in blocks}) > 1:
            raise InputError(f"system {name} has ids that are numbers and ids that are texts")
        return np.concatenate(blocks) if blocks else np.zeros(0, np.int64)

    def sorted_ids(self, name: str) -> list[Any]:
        """Return the ids of a system's rows, in their order."""
        return sorted(self.ids(name).tolist())

    def check_used(self) -> None:
        """Reject metrics whose scores belong to other rows."""
        for name, system_sums in self.systems.items():
            for m, sums in zip(self.metrics, system_sums.sums, strict=True):
                m.check_used(name, joined_sums(list(sums)))

    def without_unpaired(self) -> Statistics:
        """Return the statistics of the segments that every system has, if rows were left out.

        Buckets cannot be taken apart, so their segments stay.
        """
        if not self.skipped or self.buckets or not self.has_ids:
            return self
        ids = [self.ids(name).tolist() for name in self.names()]
        common = set.intersection(*map(set, ids))
        if all(len(system_ids) == len(common) for system_ids in ids):
            return self
        if not common:
            raise InputError("no segment has a text from every system: there is nothing to compare")
        paired = self._without_rows(None)
        for name in self.names():
            rows = self.sorted_rows(name)
            is_common = [id in common for id in np.asarray(rows.ids).tolist()]
            shared = rows.take(np.flatnonzero(is_common))
            shared = shared._replace(codes=np.zeros(len(shared.codes), np.int32))
            part = part_of_rows([name], shared, shared.hashes(), None)
            paired += part._replace(segment_rows=shared)
        return paired

    def check_paired(self) -> None:
        """Require the same ids from all systems."""
        first, *other_names = self.names()
        for other in other_names:
            problem = ""
            if self.buckets:
                if (self.systems[first].counted != self.systems[other].counted).any():
                    problem = f"{first} and {other} do not have the same ids"
            else:
                first_ids, other_ids = (set(self.ids(name).tolist()) for name in (first, other))
                has, lacks, missing = first, other, first_ids - other_ids
                if not missing:
                    has, lacks, missing = other, first, other_ids - first_ids
                if missing:
                    no_segment = f"{lacks} has no segment with id {quoted(min(missing))}"
                    problem = f"{has} and {lacks} differ: {no_segment}"
            if problem:
                advice = "a comparison needs every segment from every system"
                if self.buckets and any((self.skipped or {}).values()):
                    advice += "; to leave out segments with skipped rows, add --buckets 0"
                raise InputError(f"systems {problem}: {advice}")
