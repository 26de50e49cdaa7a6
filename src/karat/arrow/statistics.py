"""Statistics of whole tables: exact sums of parts, and the scores and comparisons made from them.

The order of parts does not matter: the sum is the same, bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from karat.arithmetic import joined_sums
from karat.arrays import Ints, NDArray, np
from karat.arrow.parts import NO_IDS, Part, SegmentRows, SystemPart
from karat.comparison import BaselineTest, Comparison, compare_statistics
from karat.errors import InputError, quoted, short
from karat.metrics.base import Metric, check_form
from karat.metrics.limits import Limit
from karat.progress import Progress, silent
from karat.score_settings import ComparisonSettings
from karat.scoring import Inference, Scoring, SystemStats, score_statistics
from karat.stats.buckets import BUCKETS, MAX_ROWS, CellSums, add_cells, check_filled

MAX_SYSTEMS = 10_000
"""Systems of one table; more are most likely ids."""
TOO_MANY_ROWS = (
    f"above {MAX_ROWS:,} rows the scores of single segments are not kept: --rows OUT writes them, "
    "--buckets 0 keeps them"
)


@dataclass
class SystemSums:
    """Sums of one system: of each bucket, or of all its rows."""

    counts: Ints
    """For each bucket its number of segments, and the sum of hashes by which ids are compared."""
    sums: list[Ints]
    row_blocks: list[SegmentRows] = field(default_factory=list)

    @property
    def n_segments(self) -> int:
        """The number of segments in all buckets."""
        return int(self.counts[:, 0].sum())


@dataclass(eq=False, repr=False)
class TableStatistics:
    """Sums of the parts of a table, by system; `+=` adds a part or other statistics.

    It scores and compares as `karat.score` and `karat.compare` do. It is an Arrow table of sums.
    """

    metrics: Sequence[Metric]
    buckets: int | None = None
    max_rows: int | None = None
    """The most rows to keep; more are put into buckets. None: no limit."""
    needs_rows: bool = False
    """True to reject more rows instead of putting them into buckets."""
    n_rows: int = 0
    reference_range: tuple[int, int] = (0, 0)
    """The smallest and the largest number of references of a row."""
    sums_by_system: dict[str, SystemSums] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    """The kind of each column of the table, where it is known."""
    source: str = "table"  # the name of the table, or of the last file that was added
    order: tuple[str, ...] = ()
    """The systems in the order of the columns or files that name them."""
    skipped: dict[str, int] | None = None
    """Rows without a text that were left out, by system; None if such rows are rejected."""
    remarks: tuple[str, ...] = ()
    """Notes on how the statistics were made."""

    def __repr__(self) -> str:
        metrics = ", ".join(map(str, self.metrics))
        return f"<TableStatistics: {self.n_rows:,} rows by {metrics}; .score(), .compare()>"

    @property
    def systems(self) -> dict[str, int]:
        """The systems, and the number of segments of each."""
        return {name: sums.n_segments for name, sums in self.sums_by_system.items()}

    def names(self) -> list[str]:
        """Return the names of the systems in order; numbers come first, sorted by value."""

        def sort_key(name: str) -> tuple[int, int, str]:
            is_number = name.isascii() and name.isdigit() and len(name) < 19
            return (0, int(name), name) if is_number else (1, 0, name)

        return [*self.order] or sorted(self.sums_by_system, key=sort_key)

    @property
    def row_blocks(self) -> list[SegmentRows]:
        """All rows that are kept."""
        return [block for sums in self.sums_by_system.values() for block in sums.row_blocks]

    @property
    def has_ids(self) -> bool:
        """True if all rows that are kept have ids."""
        return all(block.ids is not None for block in self.row_blocks)

    @property
    def n_references(self) -> int | None:
        """Number of references of every row; None if that varies."""
        least, most = self.reference_range
        return least if least == most else None

    # ---------------------------------------------------------------------------------- adding

    def __iadd__(self, other: Part | TableStatistics) -> TableStatistics:
        if isinstance(other, TableStatistics):
            if other.buckets and not self.buckets:
                bucketed = self.in_buckets(other.buckets)
                bucketed += other
                return bucketed
            self._check_kinds(other)
        if self.buckets:
            other = other.in_buckets(self.buckets)
        if other.skipped is not None:
            before = self.skipped or {}
            names = dict.fromkeys([*before, *other.skipped])
            self.skipped = {n: before.get(n, 0) + other.skipped.get(n, 0) for n in names}
        if other.n_rows:
            low, high = self.reference_range if self.n_rows else other.reference_range
            least, most = other.reference_range
            self.reference_range = min(low, least), max(high, most)
            self.n_rows += other.n_rows
            for system_part in other.by_system(self.buckets or 1):
                self._add_system(*system_part)
        too_many = self.max_rows is not None and self.n_rows > self.max_rows
        return self.in_buckets(BUCKETS) if too_many and self.row_blocks else self

    def _check_kinds(self, other: TableStatistics) -> None:
        """Require columns of the same kinds in all files."""
        for column, kind in other.kinds.items() if other.n_rows else ():
            before = self.kinds.setdefault(column, kind)
            if before != kind:
                kinds = f"holds {kind}, and {before} in {self.source}"
                problem = f"{other.source}: column {quoted(column)} {kinds}"
                raise InputError(f"{problem}: all files must have the same columns")
        self.source = other.source if other.n_rows else self.source

    def by_system(self, size: int) -> Iterator[SystemPart]:
        """Yield the parts of systems, each with `size` buckets."""
        for system, system_sums in self.sums_by_system.items():
            sums = [system_sums.counts, *system_sums.sums]
            yield system, np.arange(size), sums, system_sums.row_blocks

    def _add_system(
        self, system: str, cells: Ints, sums: list[Ints], row_blocks: list[SegmentRows]
    ) -> None:
        before = self.sums_by_system.get(system)
        if before is None and len(self.sums_by_system) >= MAX_SYSTEMS:
            problem = f"more than {MAX_SYSTEMS:,} systems, {quoted(system)} among them"
            raise InputError(f"the column of systems names {problem}: is it the right column?")
        totals = [None] * len(sums) if before is None else [before.counts, *before.sums]
        counts, *totals = (
            add_cells(total, CellSums(cells, part), self.buckets or 1)
            for total, part in zip(totals, sums, strict=True)
        )
        blocks = [] if before is None else before.row_blocks
        blocks += row_blocks
        self.sums_by_system[system] = SystemSums(counts, totals, blocks)

    def _without_rows(self, buckets: int | None) -> TableStatistics:
        """Return statistics of the same table before any part was added."""
        return replace(self, buckets=buckets, n_rows=0, reference_range=(0, 0), sums_by_system={})

    def in_buckets(self, buckets: int) -> TableStatistics:
        """Return the same in buckets, which are made from kept rows and their ids."""
        if self.buckets:
            return self
        if self.needs_rows:
            raise InputError(TOO_MANY_ROWS)
        bucketed = self._without_rows(buckets)
        for system, system_sums in self.sums_by_system.items():
            for block in system_sums.row_blocks:
                rows = block._replace(codes=np.zeros(len(block.codes), np.int32))
                bucketed += Part.from_rows([system], rows, rows.hashes(), buckets)
        return bucketed

    # ------------------------------------------------------------------------ single segments

    def sorted_rows(self, name: str) -> SegmentRows:
        """Return the rows of a system as one table per metric, in the order of their ids, if any.

        Ids must be unique.
        """
        blocks = self.sums_by_system[name].row_blocks
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
        row_blocks = self.sums_by_system[name].row_blocks
        blocks = [block.ids for block in row_blocks if block.ids is not None]
        if len(blocks) < len(row_blocks):
            raise InputError(NO_IDS)
        if len({ids.dtype for ids in blocks}) > 1:
            raise InputError(f"system {name} has ids that are numbers and ids that are texts")
        return np.concatenate(blocks) if blocks else np.zeros(0, np.int64)

    def sorted_ids(self, name: str) -> list[Any]:
        """Return the sorted ids of a system's rows."""
        return sorted(self.ids(name).tolist())

    def without_unpaired(self) -> TableStatistics:
        """Return the statistics of the segments that every system has, if rows were skipped.

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
        paired = replace(self._without_rows(None), max_rows=None)
        for name in self.names():
            rows = self.sorted_rows(name)
            is_common = [id in common for id in np.asarray(rows.ids).tolist()]
            shared = rows.take(np.flatnonzero(is_common))
            shared = shared._replace(codes=np.zeros(len(shared.codes), np.int32))
            part = Part.from_rows([name], shared, shared.hashes(), None)
            paired += part._replace(segment_rows=shared)
        return paired

    # ---------------------------------------------------------------------------------- checks

    def check_used(self) -> None:
        """Reject metrics whose scores belong to other rows."""
        for name, system_sums in self.sums_by_system.items():
            for m, sums in zip(self.metrics, system_sums.sums, strict=True):
                m.check_used(name, joined_sums(list(sums)))

    def check_paired(self) -> None:
        """Require the same ids from all systems."""
        first, *other_names = self.names()
        for other in other_names:
            problem = self._pair_problem(first, other)
            if problem:
                advice = "a comparison needs every segment from every system"
                if self.buckets and any((self.skipped or {}).values()):
                    advice += "; to leave out segments with skipped rows, add --buckets 0"
                raise InputError(f"systems {problem}: {advice}")

    def _pair_problem(self, first: str, second: str) -> str:
        """Describe how the ids of two systems differ; "" if they do not."""
        if self.buckets:
            counts = [self.sums_by_system[name].counts for name in (first, second)]
            is_same = bool((counts[0] == counts[1]).all())
            return "" if is_same else f"{first} and {second} do not have the same ids"
        ids = {name: set(self.ids(name).tolist()) for name in (first, second)}
        for has, lacks in ((first, second), (second, first)):
            if missing := ids[has] - ids[lacks]:
                no_segment = f"{lacks} has no segment with id {quoted(min(missing))}"
                return f"{has} and {lacks} differ: {no_segment}"
        return ""

    def _check_claims(self, inference: Inference | None, fields: dict[str, object]) -> None:
        """Require the data of units, and signatures that claim nothing else."""
        for m in self.metrics:
            m.check_claims(self.n_references, fields)
        has_rows = all(sums.row_blocks for sums in self.sums_by_system.values())
        if inference is not None and not (inference.buckets or has_rows):
            raise InputError(NO_IDS)

    # ---------------------------------------------------------------------------------- results

    def system_stats(
        self, *, resampled: bool, segment_scores: bool = False
    ) -> dict[tuple[str, Metric], SystemStats]:
        """Return the statistics of every system under every metric, as those of texts.

        With `resampled`, include rows in the order of their ids, or sums of buckets; with
        `segment_scores`, the scores of segments whose rows are kept.
        """
        if not self.sums_by_system:
            raise InputError("no segments: there is nothing to score")
        stats = {}
        for name in self.names():
            system_sums = self.sums_by_system[name]
            rows: list[NDArray[Any]] = []
            if resampled and self.buckets:
                check_filled(system_sums.n_segments, self.buckets, name)
                rows = [*system_sums.sums]
            elif resampled:
                if not self.has_ids:
                    raise InputError(NO_IDS)
                rows = self.sorted_rows(name).tables
            for at, m in enumerate(self.metrics):
                total = joined_sums(list(system_sums.sums[at]))  # of all buckets
                scores = None
                if rows and segment_scores and not self.buckets:
                    scores = m.of_segments().measure(rows[at])["value"]
                stats[name, m] = SystemStats(total, (rows[at],) if rows else (), scores)
        return stats

    def score(
        self,
        *,
        intervals: bool = False,
        signature: str = "karat",
        segments: bool = False,
    ) -> Scoring:
        """Return the scores of all systems, with 95% intervals if `intervals` is true.

        With `segments` the score of each segment is kept, in the order of ids.
        """
        check_form(signature)
        inference = Inference(buckets=self.buckets) if intervals else None
        self._check_claims(inference, {} if inference is None else inference.fields())
        stats = self.system_stats(resampled=intervals or segments, segment_scores=segments)
        scoring = score_statistics(stats, self.n_references, inference, signature)
        remarks = (*self.remarks, *self._skipping_notes())
        return replace(scoring, remarks=remarks, skipped=self.skipped)

    def compare(
        self,
        baseline: str | None = None,
        *,
        correction: str = ComparisonSettings.correction,
        margin: Limit = None,
        test: str = ComparisonSettings.test,
        trials: int | None = ComparisonSettings.trials,
        seed: int = ComparisonSettings.seed,
        progress: Progress = silent,
        signature: str = "karat",
    ) -> Comparison:
        """Return the comparison of all systems with a baseline (by default the first by name)."""
        check_form(signature)
        paired = self.without_unpaired()
        planned = BaselineTest.plan(
            baseline, paired.names(), test, trials, seed, correction, margin
        )
        inference = Inference(buckets=paired.buckets)
        self._check_claims(inference, planned.fields(inference))
        paired.check_paired()
        stats = paired.system_stats(resampled=True, segment_scores=True)
        comparison = compare_statistics(
            stats, paired.n_references, planned, inference, signature, progress
        )
        n_segments = paired.systems[planned.baseline]
        remarks = (*self.remarks, *self._skipping_notes())
        if paired is not self:
            number = "1 segment" if n_segments == 1 else f"{n_segments:,} segments"
            note = f"Systems are compared on {number}: those with a text from every system."
            remarks = (*remarks, note)
        return replace(comparison, remarks=remarks, skipped=self.skipped, segments=n_segments)

    def _skipping_notes(self) -> tuple[str, ...]:
        """Return notes on rows that were left out because a text is missing."""
        if self.skipped is None:
            return ()
        total = sum(self.skipped.values())
        if not total:
            return ("No row was skipped: every row has its texts.",)
        counts = [f"{name} {count:,}" for name, count in self.skipped.items() if count]
        rows = "1 row was" if total == 1 else f"{total:,} rows were"
        reason = "because a candidate or a reference is missing"
        return (f"{rows} skipped {reason} ({short(', '.join(counts))}).",)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        from karat.arrow.tables import sums_table

        return sums_table(self).__arrow_c_stream__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        from karat.arrow.tables import sums_table

        return sums_table(self).__arrow_c_array__()


def join_metrics(parts: Sequence[TableStatistics]) -> TableStatistics:
    """Return the statistics of several metrics over the same rows as one."""
    first = parts[0]
    for part in parts[1:]:
        _check_same_rows(first, part)
    sums_by_system = {}
    for system, system_sums in first.sums_by_system.items():
        sums = [sums for part in parts for sums in part.sums_by_system[system].sums]
        blocks = []
        if system_sums.row_blocks:  # each metric's in the order of ids: side by side
            rows = [part.sorted_rows(system) for part in parts]
            tables = [table for part_rows in rows for table in part_rows.tables]
            blocks = [rows[0]._replace(tables=tables)]
        sums_by_system[system] = SystemSums(system_sums.counts, sums, blocks)
    metrics = [m for part in parts for m in part.metrics]
    joined = replace(first, metrics=metrics, sums_by_system=sums_by_system)
    if joined.n_rows > MAX_ROWS and joined.row_blocks and first.has_ids:
        return joined.in_buckets(BUCKETS)
    return joined


def _check_same_rows(first: TableStatistics, other: TableStatistics) -> None:
    """Reject metrics that were not measured on the same rows."""
    is_same = first.sums_by_system.keys() == other.sums_by_system.keys()
    is_same = is_same and first.buckets == other.buckets
    is_same = is_same and bool(first.row_blocks) == bool(other.row_blocks)
    for system in first.sums_by_system if is_same else ():
        first_sums, other_sums = first.sums_by_system[system], other.sums_by_system[system]
        is_same = is_same and bool((first_sums.counts == other_sums.counts).all())
        if is_same and first_sums.row_blocks and first.has_ids:
            is_same = first.sorted_ids(system) == other.sorted_ids(system)
    if not is_same:
        both = f"{first.metrics[0]} and {other.metrics[0]}"
        raise InputError(
            f"{both} were not measured on the same rows: merge all parts of a data set, each once, "
            "by the same metrics"
        )
