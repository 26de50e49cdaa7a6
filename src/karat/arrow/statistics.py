"""Statistics of tables: exact sums by system and bucket, and rows where they are kept.

Parts of a table are measured anywhere, in any order, and added up: the sum is the same, bit by bit.
From it come the scores, intervals and tests of `karat.score` and `karat.compare`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
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


class SegmentRows(NamedTuple):
    """Statistics of single segments: for each metric a table with a row for each segment."""

    codes: NDArray[np.int32]
    ids: Ints | list[str] | None
    references: Ints
    """The number of references of each segment."""
    tables: list[NDArray[Any]]


class Part(NamedTuple):
    """The statistics of some rows of a table, as they come from one worker."""

    rows: int
    references: tuple[int, int]
    """The smallest and the largest number of references of a row."""
    systems: list[str]
    cells: Ints
    """Cells that have rows: system x buckets + bucket."""
    counted: Ints
    """For each cell its number of segments, and a sum of their ids' hashes (the upper 32 bits)."""
    sums: list[Ints]
    """For each metric the exact sums of its rows, by cell."""
    segment_rows: SegmentRows | None = None
    values: Sequence[Floats] = ()
    """For each metric the score of every row, if they are wanted; in a wide table for each system
    and metric."""
    present: NDArray[np.bool_] | None = None
    """For each row that was read, whether it was measured; None: all were."""
    skipped: Mapping[str, int] = MappingProxyType({})
    """Systems, and how many of their rows were left out because a text is missing."""


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
    keep: bool = False
    """True to keep rows."""
    values: bool = False
    """True to score every row, too."""

    def parts(
        self, ranges: Iterable[RowRange], threads: int | None = 1, stop: Stop | None = None
    ) -> Iterator[Part]:
        """Yield the statistics of ranges of rows, in their order."""
        count = Counting(self.metrics, lambda _, rows, __: rows, stop)

        def work(rows: RowRange) -> Part:
            batch = rows.read()
            if not len(batch):
                return self._empty_part(batch)
            try:
                cuts = cuts_of(batch.candidates, batch.references)
                texts = [(batch.outputs(i), column) for i, column in enumerate(batch.candidates)]
                runs = [count(texts, batch.references, cut) for cut in cuts]
            except InputError as error:
                place = f"{batch.name}: " if str(error).startswith("segment ") else ""
                raise type(error)(f"{place}{error}") from error
            systems = [zip(*column_runs, strict=True) for column_runs in zip(*runs, strict=True)]
            return self._part(
                batch, [[np.concatenate(run) for run in column] for column in systems]
            )

        workers = n_threads(threads)
        done = map(work, ranges)
        yield from done if workers == 1 else map_in_order(work, ranges, workers, count.stop)

    def _part(self, batch: TableBatch, tables: list[list[NDArray[Any]]]) -> Part:
        """Return what was counted for each column of candidates and each metric."""
        many = len(tables)
        ids = batch.ids.listed() if batch.ids is not None and self.keep else None
        segment_rows = SegmentRows(
            np.concatenate([batch.codes + i for i in range(many)]),
            ids * many if isinstance(ids, list) else None if ids is None else np.tile(ids, many),
            np.tile(batch.references.counts(), many),
            [np.concatenate(blocks) for blocks in zip(*tables, strict=True)],
        )
        values = [
            m.of_segments().measure(blocks)["value"]
            for column_tables in tables
            for m, blocks in zip(self.metrics, column_tables, strict=True)
            if self.values
        ]
        hashes = None if batch.ids is None else np.tile(batch.ids.hashes, many)
        paired_by = None if batch.ids is None else batch.ids.references
        column_tables = part_of_rows(batch.systems, segment_rows, hashes, self.buckets, paired_by)
        column_tables = column_tables._replace(present=batch.present, skipped=batch.skipped)
        return column_tables._replace(
            segment_rows=segment_rows if self.keep else None, values=values
        )

    def _empty_part(self, batch: TableBatch) -> Part:
        """Return the part of rows that were all left out."""
        none = np.zeros(0, np.int64)
        values = [np.zeros(0)] * (len(self.metrics) * len(batch.candidates) * self.values)
        empty = Part(0, (0, 0), [], none, none, [none] * len(self.metrics), None, values)
        return empty._replace(present=batch.present, skipped=batch.skipped)


@dataclass
class SystemSums:
    """The sums of one system: of each bucket, or of all its rows."""

    counted: Ints
    """For each bucket its number of segments, and the sum of hashes by which ids are compared."""
    sums: list[Ints]
    row_blocks: list[SegmentRows] = field(default_factory=list)


def _select_system(rows: SegmentRows, code: int) -> SegmentRows:
    """Return the rows of one system, small whole numbers in few bytes."""
    indices = np.flatnonzero(rows.codes == code)
    ids: Ints | list[str] | None = rows.ids
    if ids is not None:
        ids = [ids[i] for i in indices.tolist()] if isinstance(ids, list) else ids[indices]
    tables = [shrink_integers(table[indices]) for table in rows.tables]
    return SegmentRows(rows.codes[indices], ids, rows.references[indices], tables)


class Statistics:
    """The sums of many parts, by system; `+=` adds a part or other statistics."""

    def __init__(self, metrics: Sequence[Metric], buckets: int | None = None) -> None:
        self.metrics, self.buckets = tuple(metrics), buckets
        self.systems: dict[str, SystemSums] = {}
        self.rows = 0
        self.reference_range: tuple[int, int] = (0, 0)
        """The smallest and the largest number of references of a row."""
        self.kinds: dict[str, str] = {}
        """The kind of each column of the table, where it is known."""
        self.source = "table"
        """The name of the table, or of the last file that was added."""
        self.order: tuple[str, ...] = ()
        """The systems that columns or files name, in the order in which they were named."""
        self.skipped: dict[str, int] | None = None
        """Rows without a text that were left out, by system; None if such rows are refused."""

    def names(self) -> list[str]:
        """Return the names of the systems, in their order."""
        return [*self.order] or sorted(self.systems, key=_by_number)

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
        if isinstance(other, Part):
            self._add_part(other)
        else:
            self._add_statistics(other)
        return self

    def _skip(self, skipped: Mapping[str, int] | None) -> None:
        if skipped is not None:
            before = self.skipped or {}
            names = dict.fromkeys([*before, *skipped])
            self.skipped = {name: before.get(name, 0) + skipped.get(name, 0) for name in names}

    def _add_part(self, part: Part) -> None:
        if part.present is not None:
            self._skip(part.skipped)
        if not part.rows:
            return
        self._count(part.rows, part.references)
        cells, size = part.cells, self.buckets or 1
        for code in np.unique(cells // size).tolist():
            indices = np.flatnonzero(cells // size == code)
            cell_sums = (
                CellSums(cells[indices] % size, sums[indices])
                for sums in (part.counted, *part.sums)
            )
            self._add(part.systems[code], *cell_sums)
            if part.segment_rows is not None:
                self.systems[part.systems[code]].row_blocks.append(
                    _select_system(part.segment_rows, code)
                )

    def in_buckets(self, buckets: int) -> Statistics:
        """Return the same in buckets, for which rows and their ids must have been kept."""
        bucketed = Statistics(self.metrics, buckets)
        bucketed.kinds, bucketed.source, bucketed.order = self.kinds, self.source, self.order
        bucketed.skipped = self.skipped
        for system, system_sums in self.systems.items():
            for segment_rows in system_sums.row_blocks:
                rows = segment_rows._replace(codes=np.zeros(len(segment_rows.codes), np.int32))
                bucketed += part_of_rows([system], rows, _hashes(segment_rows.ids), buckets)
        return bucketed

    def _add_statistics(self, other: Statistics) -> None:
        self._skip(other.skipped)
        if not other.rows:
            return
        self._check_kinds(other)
        if self.buckets and not other.buckets:
            other = other.in_buckets(self.buckets)
        self._count(other.rows, other.reference_range)
        all_cells = np.arange(self.buckets or 1)
        for system, system_sums in other.systems.items():
            self._add(
                system,
                *(CellSums(all_cells, sums) for sums in (system_sums.counted, *system_sums.sums)),
            )
            self.systems[system].row_blocks += system_sums.row_blocks

    def _check_kinds(self, other: Statistics) -> None:
        """Require the same kind of values in each column as in the files before."""
        for column, kind in other.kinds.items():
            before = self.kinds.setdefault(column, kind)
            if before != kind:
                problem = f"column {quoted(column)} holds {kind}, and {before} in {self.source}"
                raise InputError(f"{other.source}: {problem}: all files must have the same columns")
        self.source = other.source

    def _count(self, rows: int, references: tuple[int, int]) -> None:
        least, most = self.reference_range if self.rows else references
        self.reference_range = min(least, references[0]), max(most, references[1])
        self.rows += rows

    def _add(self, system: str, counted: CellSums, *sums: CellSums) -> None:
        size, before = self.buckets or 1, self.systems.get(system)
        if before is None:
            if len(self.systems) >= MAX_SYSTEMS:
                problem = f"more than {MAX_SYSTEMS:,} systems, {quoted(system)} among them"
                raise InputError(f"the column of systems names {problem}: is it the right column?")
            first = [add_cells(None, part, size) for part in sums]
            self.systems[system] = SystemSums(add_cells(None, counted, size), first)
            return
        before.counted = add_cells(before.counted, counted, size)
        held = zip(before.sums, sums, strict=True)
        before.sums = [add_cells(total, part, size) for total, part in held]

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
        names = self.names()
        if not resampled:
            tables: dict[str, list[NDArray[Any]] | None] = dict.fromkeys(names)
        elif self.buckets:
            tables = {name: self._bucket_rows(name) for name in names}
        else:
            tables = {name: self._sorted_rows(name) for name in names}
        return {
            (name, m): self._metric_stats(name, at, tables[name], values)
            for name in names
            for at, m in enumerate(self.metrics)
        }

    def _metric_stats(
        self, name: str, at: int, rows: list[NDArray[Any]] | None, values: bool
    ) -> SystemStats:
        total = joined_sums(list(self.systems[name].sums[at]))  # of all buckets
        if rows is None:
            return SystemStats(total, (), None)
        scores = None
        if values and not self.buckets:
            scores = self.metrics[at].of_segments().measure(rows[at])["value"]
        return SystemStats(total, (rows[at],), scores)

    def _bucket_rows(self, name: str) -> list[NDArray[Any]]:
        system_sums = self.systems[name]
        check_filled(int(system_sums.counted[:, 0].sum()), self.buckets or 1, name)
        return list(system_sums.sums)

    def _sorted_rows(self, name: str) -> list[NDArray[Any]]:
        if not self.has_ids:
            raise InputError(NO_IDS)
        return self.sorted_rows(name).tables

    @property
    def has_ids(self) -> bool:
        """True if all rows that are kept have ids."""
        return all(
            segment_rows.ids is not None
            for system_sums in self.systems.values()
            for segment_rows in system_sums.row_blocks
        )

    def sorted_rows(self, name: str) -> SegmentRows:
        """Return the rows of a system as one table a metric, in the order of ids if they have any.

        Ids must be unique.
        """
        row_blocks = self.systems[name].row_blocks
        tables = [
            np.concatenate(blocks)
            for blocks in zip(*(block.tables for block in row_blocks), strict=True)
        ]
        codes, references = (np.concatenate([block[at] for block in row_blocks]) for at in (0, 2))
        if not self.has_ids:
            return SegmentRows(codes, None, references, tables)
        ids = self.ids(name)
        order = _order(ids, name)
        listed = [ids[i] for i in order.tolist()] if isinstance(ids, list) else ids[order]
        return SegmentRows(codes[order], listed, references[order], [t[order] for t in tables])

    def ids(self, name: str) -> Ints | list[str]:
        """Return the ids of a system's rows, in the order in which they were measured."""
        id_blocks = [segment_rows.ids for segment_rows in self.systems[name].row_blocks]
        if any(ids is None for ids in id_blocks):
            raise InputError(NO_IDS)
        numbers = [ids for ids in id_blocks if isinstance(ids, np.ndarray)]
        texts = [ids for ids in id_blocks if isinstance(ids, list)]
        if numbers and texts:
            raise InputError(f"system {name} has ids that are numbers and ids that are texts")
        return np.concatenate(numbers) if numbers else [id for ids in texts for id in ids]

    def sorted_ids(self, name: str) -> list[Any]:
        """Return the ids of a system's rows, in their order."""
        ids = self.ids(name)
        return sorted(ids if isinstance(ids, list) else ids.tolist())

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
        ids = [_as_list(self.ids(name)) for name in self.names()]
        common = set.intersection(*map(set, ids))
        if all(len(system_ids) == len(common) for system_ids in ids):
            return self
        if not common:
            raise InputError("no segment has a text from every system: there is nothing to compare")
        paired = Statistics(self.metrics)
        paired.kinds, paired.source, paired.order = self.kinds, self.source, self.order
        paired.skipped = self.skipped
        for name in self.names():
            rows = self.sorted_rows(name)
            sorted_ids = _as_list(rows.ids)
            places = np.array([at for at, id in enumerate(sorted_ids) if id in common])
            common_ids = [sorted_ids[at] for at in places]
            shared = SegmentRows(
                np.zeros(len(places), np.int32),
                common_ids if isinstance(rows.ids, list) else np.array(common_ids),
                rows.references[places],
                [table[places] for table in rows.tables],
            )
            part = part_of_rows([name], shared, _hashes(shared.ids), None)
            paired += part._replace(segment_rows=shared)
        return paired

    def check_paired(self) -> None:
        """Require the same ids from all systems."""
        first, *other_names = self.names()
        for other in other_names:
            if self.buckets:
                has_same_ids = (self.systems[first].counted == self.systems[other].counted).all()
                problem = "" if has_same_ids else f"{first} and {other} do not have the same ids"
            else:
                problem = _missing(first, self.ids(first), other, self.ids(other))
            if problem:
                advice = "a comparison needs every segment from every system"
                if self.buckets and any((self.skipped or {}).values()):
                    advice += "; to leave out segments with skipped rows, add --buckets 0"
                raise InputError(f"systems {problem}: {advice}")


def _as_list(ids: Ints | list[str] | None) -> list[Any]:
    """Return ids as a list."""
    return ids if isinstance(ids, list) else np.asarray(ids).tolist()


def _hashes(ids: Ints | list[str] | None) -> Ints:
    if ids is None:
        raise InputError(NO_IDS)
    if isinstance(ids, list):
        return _kernel.hash_views(_kernel.Views.from_strings(ids, 0, len(ids)))
    return _kernel.hash_ids(ids)


NO_IDS = (
    "intervals and tests on tables need ids, and so do single segments: results must not depend on "
    "the order of rows; name the column of ids, the same for all systems (--id COLUMN, in Python "
    "id=)"
)


def _by_number(name: str) -> tuple[int, int, str]:
    """Order names that are whole numbers by their value, before all others."""
    is_number = name.isascii() and name.isdigit() and len(name) < 19
    return (0, int(name), name) if is_number else (1, 0, name)


def _missing(
    first: str, first_ids: Ints | list[str], second: str, second_ids: Ints | list[str]
) -> str:
    """Return which id one of two systems lacks; nothing if both have the same."""
    first_set, second_set = (
        set(ids if isinstance(ids, list) else ids.tolist()) for ids in (first_ids, second_ids)
    )
    for has, lacks, more in (
        (first, second, first_set - second_set),
        (second, first, second_set - first_set),
    ):
        if more:
            return f"{has} and {lacks} differ: {lacks} has no segment with id {quoted(min(more))}"
    return ""


def _order(ids: Ints | list[str], name: str) -> Ints:
    """Return the order of ids; each must be there once."""
    if isinstance(ids, list):
        order = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
        twice = next((i for i, j in pairwise(order.tolist()) if ids[i] == ids[j]), None)
    else:
        order = np.argsort(ids, kind="stable")
        repeats = np.flatnonzero(np.diff(ids[order]) == 0)
        twice = int(order[repeats[0]]) if len(repeats) else None
    if twice is not None:
        problem = f"system {name} has two segments with id {quoted(str(ids[twice]))}"
        raise InputError(
            f"{problem}: ids must be different (name systems with --by COLUMN, in Python by=)"
        )
    return order
