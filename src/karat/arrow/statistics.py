"""Statistics of whole tables: exact sums of parts, and the scores and comparisons made from them.

The order of parts does not matter: the sum is the same, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from karat.arithmetic import joined_sums
from karat.arrays import Ints, NDArray, np
from karat.arrow.parts import NO_IDS, Part, SegmentRows, SystemPart
from karat.comparison import BaselineTest, Comparison, compare_statistics
from karat.errors import InputError, quoted, short
from karat.metrics.base import Metric, check_form
from karat.metrics.limits import Limit
from karat.progress import Progress, silent
from karat.score_settings import JACKKNIFE, SEGMENT, ComparisonSettings
from karat.scoring import Inference, Scoring, SystemStats, score_statistics
from karat.slices import Slices, check_single_rows
from karat.stats.buckets import BUCKETS, MAX_ROWS, CellSums, add_cells, check_filled
from karat.stats.units import Units, group_rows

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
    """For each bucket its number of segments, and the sum of hashes by which ids and units are
    compared."""
    sums: list[Ints]
    row_blocks: list[SegmentRows] = field(default_factory=list)

    @property
    def n_segments(self) -> int:
        """The number of segments in all buckets."""
        return int(self.counts[:, 0].sum())


class IdRows(NamedTuple):
    """Statistics of a system by id: the rows of each id are added."""

    ids: NDArray[Any]  # distinct, in ascending order
    n_rows: Ints  # the number of rows of each id
    tables: list[NDArray[Any]]
    units: Ints | None  # a hash of the label of each id's unit, if units are not ids

    @property
    def are_segments(self) -> bool:
        """Whether each id has one row."""
        return int(self.n_rows.max()) == 1

    def named_units(self, name: str) -> Units | None:
        """Return the unit of each id; None if each segment is a unit."""
        if self.units is not None:
            return Units.from_hashes(name, self.units)
        if self.are_segments:
            return None
        labels = list(map(str, self.ids.tolist()))
        return Units(name, labels, np.arange(len(labels), dtype=np.int32))

    def unit_sums(self) -> list[NDArray[Any]]:
        """Return the sums of the rows of each unit."""
        if self.units is None:
            return self.tables
        units = Units.from_hashes("unit", self.units)
        return [units.sums(table) for table in self.tables]


RowsByName = Mapping[str, IdRows]
"""The rows of each system by id; none if they were put into buckets."""


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
    unit: str | None = None
    """The column with the units of intervals and tests; None: each id is a unit."""
    id_column: str = "id"

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

        Rows of one id are in the order in which they were measured.
        """
        blocks = self.sums_by_system[name].row_blocks
        codes, references = (np.concatenate([block[at] for block in blocks]) for at in (0, 2))
        tables = zip(*(block.tables for block in blocks), strict=True)
        units = [block.units for block in blocks if block.units is not None]
        rows = SegmentRows(
            codes,
            None,
            references,
            [np.concatenate(parts) for parts in tables],
            np.concatenate(units) if self.unit is not None and units else None,
        )
        if not self.has_ids:
            return rows
        ids = self.ids(name)
        return rows._replace(ids=ids).take(np.argsort(ids, kind="stable"))

    def rows_by_id(self, name: str) -> IdRows:
        """Return the rows of a system, added by id."""
        if not self.sums_by_system[name].row_blocks:
            raise InputError(NO_IDS)
        _, ids, _, tables, units = self.sorted_rows(name)
        if ids is None:
            raise InputError(NO_IDS)
        is_first = np.append(True, ids[1:] != ids[:-1])
        starts = np.flatnonzero(is_first)
        if len(starts) == len(ids):
            return IdRows(ids, np.broadcast_to(np.int64(1), len(ids)), tables, units)
        codes = (np.cumsum(is_first) - 1).astype(np.int32)
        if units is not None:
            self._check_unit_of_ids(name, ids, codes, units != units[starts][codes])
            units = units[starts]
        n_rows = np.diff(np.append(starts, len(ids)))
        sums = [group_rows(table, codes, len(starts)) for table in tables]
        return IdRows(ids[starts], n_rows, sums, units)

    def _check_unit_of_ids(
        self, name: str, ids: NDArray[Any], codes: NDArray[np.int32], differs: NDArray[np.bool_]
    ) -> None:
        """Reject rows of one id in several units."""
        if differs.any():
            n_bad, total = len(np.unique(codes[differs])), int(codes[-1]) + 1
            example = quoted(str(ids[differs.argmax()]))
            problem = f"{n_bad:,} of {total:,} ids are in several units, such as id {example}"
            advice = "the rows of an id must be of one unit; make ids that are different, or leave"
            raise InputError(
                f"system {name}, column {quoted(self.unit)}: {problem}: {advice} out the units"
            )

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
        ids = [set(self.ids(name).tolist()) for name in self.names()]
        common = set.intersection(*ids)
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

    def check_paired(self, rows: RowsByName) -> None:
        """Require the same ids, in the same units, from all systems."""
        first, *other_names = self.names()
        for other in other_names:
            problem = self._pair_problem(first, other, rows)
            if problem:
                advice = "a comparison needs every segment from every system"
                if self.buckets and any((self.skipped or {}).values()):
                    advice += "; to leave out segments with skipped rows, add --buckets 0"
                elif self.buckets and self.systems[first] != self.systems[other]:
                    advice += "; for unequal numbers of answers to the same ids, add --buckets 0"
                raise InputError(f"systems {problem}: {advice}")
            self._check_same_units(first, other, rows)

    def _pair_problem(self, first: str, second: str, rows: RowsByName) -> str:
        """Describe how the ids of two systems differ; "" if they do not."""
        if self.buckets:
            counts = [self.sums_by_system[name].counts for name in (first, second)]
            expected = "the same ids"
            if self.unit is not None:
                expected += f" in the same units (column {quoted(self.unit)})"
            is_same = bool((counts[0] == counts[1]).all())
            return "" if is_same else f"{first} and {second} do not have {expected}"
        if np.array_equal(rows[first].ids, rows[second].ids):
            return ""
        ids = {name: set(rows[name].ids.tolist()) for name in (first, second)}
        for has, lacks in ((first, second), (second, first)):
            if missing := ids[has] - ids[lacks]:
                no_segment = f"{lacks} has no segment with id {quoted(min(missing))}"
                return f"{has} and {lacks} differ: {no_segment}"
        return ""

    def _check_same_units(self, first: str, second: str, rows: RowsByName) -> None:
        """Require the same unit of each id from two systems with the same ids."""
        if self.buckets or self.unit is None:
            return
        differs = rows[first].units != rows[second].units
        if np.any(differs):
            example = quoted(str(rows[first].ids[np.argmax(differs)]))
            count = f"{np.count_nonzero(differs):,} of {len(rows[first].ids):,} ids"
            raise InputError(
                f"systems {first} and {second} differ in the units (column {quoted(self.unit)}) of "
                f"{count}, such as id {example}: an id must have the same unit in every system"
            )

    def _check_questions(self, rows: RowsByName) -> None:
        """Require known questions for metrics that are means over questions."""
        ids_repeat = not all(system_rows.are_segments for system_rows in rows.values())
        for m in self.metrics:
            Inference(buckets=self.buckets).check(m)
            if m.by_unit and ids_repeat and self.unit is not None:
                raise InputError(
                    f"{m} is a mean over questions, which are the ids that repeat: leave out the "
                    f"unit {quoted(self.unit)}, or the metric"
                )

    def _check_claims(self, fields: dict[str, object]) -> None:
        """Require signatures that claim nothing else."""
        for m in self.metrics:
            m.check_claims(self.n_references, fields)

    # ---------------------------------------------------------------------------------- results

    def _rows_by_name(self) -> RowsByName:
        """Return the rows of each system by id; none if they were put into buckets."""
        if not self.sums_by_system:
            raise InputError("no segments: there is nothing to score")
        return {} if self.buckets else {name: self.rows_by_id(name) for name in self.names()}

    def _inference(self, rows: RowsByName) -> Inference:
        """Return the units of intervals and tests: a column, ids that repeat, or segments."""
        ids_repeat = not all(system_rows.are_segments for system_rows in rows.values())
        name = self.unit or (self.id_column if ids_repeat else SEGMENT)
        return Inference(buckets=self.buckets, unit_of_rows=name)

    def _system_stats(
        self, name: str, tables: Sequence[NDArray[Any]], segments: IdRows | None = None
    ) -> dict[tuple[str, Metric], SystemStats]:
        """Return the statistics of a system under every metric, as those of texts.

        `tables` have a row for each unit or segment, `segments` those for segment scores.
        """
        stats = {}
        for at, m in enumerate(self.metrics):
            total = joined_sums(list(self.sums_by_system[name].sums[at]))  # of all buckets
            scores = None
            if segments is not None and segments.are_segments:
                scores = m.of_segments().measure(segments.tables[at])["value"]
            stats[name, m] = SystemStats(total, tuple(tables[at : at + 1]), scores)
        return stats

    def _bucket_sums(self, name: str) -> list[NDArray[Any]]:
        """Return the sums of a system's buckets, without empty ones."""
        system_sums, buckets = self.sums_by_system[name], self.buckets or 1
        if self.unit is None:
            check_filled(system_sums.n_segments, buckets, name)
        filled = np.flatnonzero(system_sums.counts[:, 0])
        return [sums[filled] for sums in system_sums.sums]

    def score(
        self,
        *,
        intervals: bool = False,
        signature: str = "karat",
        segments: bool = False,
    ) -> Scoring:
        """Return the scores of all systems, with 95% intervals if `intervals` is true.

        With `segments` the score of each segment is kept, in the order of ids, if each segment has
        its own id.
        """
        check_form(signature)
        by_unit = intervals or any(m.by_unit for m in self.metrics)
        rows = self._rows_by_name() if by_unit or segments else {}
        inference = self._inference(rows) if intervals else None
        self._check_questions(rows)
        self._check_claims({} if inference is None else inference.fields())
        stats: dict[tuple[str, Metric], SystemStats] = {}
        for name in self.names():
            tables: list[NDArray[Any]] = []
            if by_unit:
                tables = self._bucket_sums(name) if self.buckets else rows[name].unit_sums()
            stats |= self._system_stats(name, tables, rows.get(name) if segments else None)
        if not stats:
            raise InputError("no segments: there is nothing to score")
        scoring = score_statistics(stats, self.n_references, inference, signature)
        left_out = "The scores of single answers are" if segments else ""
        remarks = (*self.remarks, *self._repeats_notes(rows, left_out), *self._skipping_notes())
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
        slices: Callable[[Sequence[Any]], Slices] | None = None,
    ) -> Comparison:
        """Return the comparison of all systems with a baseline (by default the first by name).

        `slices` is a function from ids to their slices.
        """
        check_form(signature)
        paired = self.without_unpaired()
        planned = BaselineTest.plan(
            baseline, paired.names(), test, trials, seed, correction, margin
        )
        rows = paired._rows_by_name()
        inference = paired._inference(rows)
        self._check_claims(planned.fields(inference))
        paired.check_paired(rows)
        repeats_notes = self._repeats_notes(rows, "Wins, losses and examples are")
        if repeats_notes and test != JACKKNIFE:
            problem = f"it draws single segments, and ids repeat ({repeats_notes[0]})"
            raise InputError(f"test {test}: {problem}: use the test {JACKKNIFE}")
        if rows:
            inference = inference._replace(units=rows[planned.baseline].named_units(inference.unit))
        id_slices = None
        if slices is not None:
            check_single_rows(paired.buckets)
            base_rows = rows[planned.baseline]
            id_slices = replace(slices(base_rows.ids.tolist()), counts=base_rows.n_rows)
        stats: dict[tuple[str, Metric], SystemStats] = {}
        for name in paired.names():
            tables = rows[name].tables if rows else paired._bucket_sums(name)
            are_single = bool(rows) and not repeats_notes
            stats |= paired._system_stats(name, tables, rows[name] if are_single else None)
        comparison = compare_statistics(
            stats, paired.n_references, planned, inference, signature, progress, id_slices
        )
        n_segments = paired.systems[planned.baseline]
        remarks = (*self.remarks, *repeats_notes, *self._skipping_notes())
        if paired is not self:
            n_ids = len(rows[planned.baseline].ids)
            kind = "id" if repeats_notes else "segment"
            number = f"1 {kind}" if n_ids == 1 else f"{n_ids:,} {kind}s"
            note = f"Systems are compared on {number}: those with a text from every system."
            remarks = (*remarks, note)
        return replace(comparison, remarks=remarks, skipped=self.skipped, segments=n_segments)

    def _repeats_notes(self, rows: RowsByName, left_out: str) -> tuple[str, ...]:
        """Return notes on ids with several rows; `left_out` begins the one on missing results."""
        if all(system_rows.are_segments for system_rows in rows.values()):
            return ()
        answers = _range_text([int(r.n_rows.sum()) for r in rows.values()], "answer")
        ids = _range_text([len(r.ids) for r in rows.values()], "id")
        numbers = [int(end) for r in rows.values() for end in (r.n_rows.min(), r.n_rows.max())]
        ends = "" if min(numbers) == max(numbers) else f" ({min(numbers)} to {max(numbers)} each)"
        by = self._inference(rows).unit
        notes = (f"{answers} to {ids}{ends}: intervals by {by}.",)
        return (*notes, f"{left_out} left out: they need one answer per id.") if left_out else notes

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


def _range_text(numbers: Sequence[int], noun: str) -> str:
    """Return the smallest and the largest number in words."""
    low, high = min(numbers), max(numbers)
    count = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{count} {noun}" if high == 1 else f"{count} {noun}s"


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
    is_same = is_same and (first.buckets, first.unit) == (other.buckets, other.unit)
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
