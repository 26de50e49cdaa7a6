"""Tables of statistics in Arrow's form: written, read, and merged.

A table of sums has one row per system, metric and bucket, always with the same columns, so that
engines need only this schema. A table of rows has one row per segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from karat import _kernel
from karat.arithmetic import carried
from karat.arrays import Ints, NDArray, np
from karat.arrow.batches import ONE_SYSTEM, record_batches, speaks_arrow, table_batches
from karat.arrow.columns import Columns, kind_of
from karat.arrow.parts import Part, SegmentRows, TableMeasure
from karat.arrow.statistics import TableStatistics, join_metrics
from karat.errors import InputError, quoted
from karat.metrics.base import Metric
from karat.metrics.names import metric
from karat.score_settings import MAX_BUCKETS
from karat.scoring import USUAL_METRICS, Metrics, load_metrics
from karat.stats.buckets import resolve_buckets, sum_cells

SUMS_SCHEMA = (
    "system string, metric string, unit string, buckets bigint, bucket bigint, segments bigint, "
    "ids bigint, least_references bigint, most_references bigint, sums array<bigint>"
)
"""Schema of a table of sums for Spark's `mapInArrow`."""
SUMS = tuple(column.split()[0] for column in SUMS_SCHEMA.split(", "))
"""The columns of a table of sums. `unit` is the column with the units that buckets hold, if any."""
_COUNTS = SUMS[3:-1]


class DataTable:
    """A small Arrow table, for `pyarrow.table(t)`, `polars.DataFrame(t)` and others."""

    def __init__(self, kernel: _kernel.ArrowTable, columns: Sequence[str]) -> None:
        self._kernel, self.columns = kernel, tuple(columns)

    def __len__(self) -> int:
        return len(self._kernel)

    def __repr__(self) -> str:
        return f"<Table: {len(self):,} rows of {', '.join(self.columns)}>"

    def __arrow_c_schema__(self) -> object:
        return self._kernel.schema()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._kernel.array()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._kernel.stream()


def sign_metric(m: Metric) -> str:
    """Return a metric's name with the version of Karat; it parses back."""
    return "|".join([m.digested(), *m.signature("unknown").split("|nrefs=unknown|")[1:]])


def sums_table(statistics: TableStatistics) -> DataTable:
    """Return statistics as a table of sums: one row per system, metric and nonempty bucket.

    Sums of integers are one number per column of the metric; sums of floats are three limbs.
    """
    names: list[tuple[str, str]] = []
    cells: list[NDArray[Any]] = [np.zeros((0, 3), np.int64)]
    lists: list[NDArray[Any]] = []
    for system, system_sums in statistics.sums_by_system.items():
        used = np.flatnonzero(system_sums.counts[:, 0])
        for m, sums in zip(statistics.metrics, system_sums.sums, strict=True):
            names += [(system, sign_metric(m))] * len(used)
            cells.append(np.column_stack([used, system_sums.counts[used]]))
            lists += [row.ravel() for row in sums[used]]
    kernel = _kernel.ArrowTable()
    kernel.strings("system", [system for system, _ in names])
    kernel.strings("metric", [signature for _, signature in names])
    kernel.strings("unit", [statistics.unit or ""] * len(names))
    bucket_counts = np.full((len(names), 1), statistics.buckets or 0)
    ends = np.full((len(names), 2), statistics.reference_range)
    numbers = np.hstack([bucket_counts, np.concatenate(cells), ends]).astype(np.int64)
    for name, column in zip(_COUNTS, numbers.T, strict=True):
        kernel.integers(name, np.ascontiguousarray(column))
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    kernel.lists("sums", offsets, np.concatenate([np.zeros(0, np.int64), *lists]))
    return DataTable(kernel, SUMS)


_UNIT = "unit="
"""Prefix of the column with hashes of units in a table of rows; their column's name follows."""


def rows_table(
    metrics: Sequence[Metric], parts: Sequence[Part], unit: str | None = None
) -> DataTable:
    """Return the kept rows of parts, one per segment; statistics are in METRIC/COLUMN."""
    kernel, names = _kernel.ArrowTable(), ["system", "references"]
    rows: list[SegmentRows] = []
    systems: list[str] = []
    for part in parts:
        if part.segment_rows is not None:
            rows.append(part.segment_rows)
            systems += [part.systems[code] for code in part.segment_rows.codes.tolist()]
    kernel.strings("system", systems)
    numbers = [np.zeros(0, np.int64), *(segment_rows.references for segment_rows in rows)]
    kernel.integers("references", np.concatenate(numbers))
    if rows and rows[0].ids is not None:
        names.append("id")
        ids = np.concatenate([part_rows.ids for part_rows in rows if part_rows.ids is not None])
        if ids.dtype == object:
            kernel.strings("id", ids.tolist())
        else:
            kernel.integers("id", ids)
    if unit is not None:
        names.append(f"{_UNIT}{unit}")
        hashes = [part_rows.units for part_rows in rows if part_rows.units is not None]
        kernel.integers(names[-1], np.concatenate([np.zeros(0, np.int64), *hashes]))
    for at, m in enumerate(metrics):
        tables = [part_rows.tables[at] for part_rows in rows] or [np.zeros((0, len(m.columns())))]
        table = np.concatenate(tables)
        for place, column in enumerate(m.columns()):
            names.append(f"{m}/{column}")
            if table.dtype.kind in "iub":
                kernel.integers(names[-1], np.ascontiguousarray(table[:, place], np.int64))
            else:
                kernel.floats(names[-1], np.ascontiguousarray(table[:, place], np.float64))
    return DataTable(kernel, names)


# ------------------------------------------------------------------------------------- reading


MetricPart = tuple[str, int | None, str | None, Part]
"""A metric's signature, the number of buckets, the column of units, and a part of that metric's
statistics."""


def read_table(data: Any, name: str) -> Iterator[MetricPart]:
    """Yield the statistics in a table of sums or of rows, metric by metric."""
    names, formats, batches = record_batches(data, name)
    read: Callable[[TableColumns], Iterator[MetricPart]]
    if {*SUMS} - {"unit"} <= {*names}:  # an older version wrote no units
        read = _read_sums
    elif "references" in names and any("/" in column for column in names):
        read = _read_rows
    else:
        has = f"it has the columns {', '.join(names)}" if names else "it has no columns"
        raise InputError(f"{name} is not a table of karat.arrow.sums or karat.arrow.stats: {has}")
    for batch in batches:
        if len(batch):
            yield from read(TableColumns(name, dict(zip(names, formats, strict=True)), batch))


class TableColumns(NamedTuple):
    """The columns of a record batch of a table of statistics."""

    name: str
    formats: dict[str, str]
    batch: _kernel.ArrowBatch

    def _read(self, column: str, reader: Callable[[int, int, int], Any]) -> Any:
        place = list(self.formats).index(column)
        try:
            *values, row = reader(place, 0, len(self.batch))
        except TypeError:
            kind = kind_of(self.formats[column])
            raise InputError(f"{self.name}: column {quoted(column)} holds {kind}") from None
        except IndexError as error:
            problem = f"column {quoted(column)} is damaged: {error}"
            raise InputError(f"{self.name}: {problem}") from error
        reason = "null" if isinstance(row, int) else row
        row = row if isinstance(row, int) else values.pop()
        if row >= 0:
            raise InputError(f"{self.name}, row {row + 1:,}: column {quoted(column)} is {reason}")
        return values

    def texts(self, column: str) -> _kernel.Views:
        """Return a column of texts."""
        views: _kernel.Views = self._read(column, self.batch.texts)[0]
        return views

    def numbers(self, column: str) -> NDArray[Any]:
        """Return a column of integers or floats."""
        is_integer = kind_of(self.formats[column]) == "whole numbers"
        reader = self.batch.integers if is_integer else self.batch.floats
        numbers: NDArray[Any] = self._read(column, reader)[0]
        return numbers

    def lists(self, column: str) -> tuple[Ints, Ints]:
        """Return the numbers of a column of lists, and the offsets of rows."""
        numbers, starts = self._read(column, self.batch.integer_lists)
        return numbers, starts


def _read_sums(columns: TableColumns) -> Iterator[MetricPart]:
    systems, codes = _kernel.view_groups(columns.texts("system"))
    signatures, metrics = _kernel.view_groups(columns.texts("metric"))
    buckets, bucket, segments, ids, least, most = (columns.numbers(c) for c in _COUNTS)
    units = [""]
    if "unit" in columns.formats:
        units, _ = _kernel.view_groups(columns.texts("unit"))
    if len(units) > 1:
        both = " and ".join(quoted(unit) for unit in units[:2])
        raise InputError(f"{columns.name} has units {both}: merge tables with the same units")
    sums, starts = columns.lists("sums")
    widths = np.diff(starts)
    for code, signature in enumerate(signatures):
        m = metric(signature)
        for width in np.unique(widths[metrics == code]).tolist():
            indices = np.flatnonzero((metrics == code) & (widths == width))
            count, size = len(m.columns()), int(buckets[indices].max())
            outside = (bucket[indices] < 0) | (bucket[indices] >= max(size, 1))
            is_good = (size == 0 or 2 <= size <= MAX_BUCKETS) and not outside.any()
            is_good = is_good and bool((buckets[indices] == size).all())
            if width not in (count, 3 * count) or not is_good:
                place = f"{columns.name}, row {indices[0] + 1:,}"
                raise InputError(f"{place}: not a row that karat.arrow.sums wrote")
            numbers = sums[starts[indices][:, None] + np.arange(width)]
            table = np.column_stack([segments[indices], ids[indices], numbers])
            cells = codes[indices].astype(np.int64) * max(size, 1) + bucket[indices]
            used, added = sum_cells(table, cells)
            total = added[:, 2:]
            total = total if width == count else carried(total.reshape(-1, 3, count))
            rows = int(segments[indices].sum())
            ends = int(least[indices].min()), int(most[indices].max())
            part = Part(rows, ends, systems, used, added[:, :2], [total])
            yield signature, size or None, units[0] or None, part


def _read_rows(columns: TableColumns) -> Iterator[MetricPart]:
    unit_columns = [column for column in columns.formats if column.startswith(_UNIT)]
    stat_columns = [c for c in columns.formats if "/" in c and c not in unit_columns]
    unit = unit_columns[0].removeprefix(_UNIT) if unit_columns else None
    unit_hashes = columns.numbers(unit_columns[0]) if unit_columns else None
    systems, codes = [ONE_SYSTEM], np.zeros(len(columns.batch), np.int32)
    if "system" in columns.formats:
        systems, codes = _kernel.view_groups(columns.texts("system"))
    ids: NDArray[Any] | None = None
    if "id" in columns.formats:
        text = kind_of(columns.formats["id"]) == "text"
        texts = columns.texts("id").strings() if text else []
        ids = np.array(texts, object) if text else columns.numbers("id")
    references = columns.numbers("references")
    for m in dict.fromkeys(metric(column.rpartition("/")[0]) for column in stat_columns):
        metric_columns = [f"{m}/{column}" for column in m.columns()]
        missing = [column for column in metric_columns if column not in columns.formats]
        if missing:
            raise InputError(f"{columns.name} has no column {quoted(missing[0])}: {m} needs it")
        table = np.stack([columns.numbers(column) for column in metric_columns], axis=1)
        segment_rows = SegmentRows(codes, ids, references, [table], unit_hashes)
        part = Part.from_rows(systems, segment_rows, None, None)
        yield sign_metric(m), None, unit, part._replace(segment_rows=segment_rows)


# -------------------------------------------------------- functions that engines call on batches


def stats(
    batch: Any,
    metrics: Metrics = USUAL_METRICS,
    *,
    candidate: str | Sequence[str] = "candidate",
    reference: str | Sequence[str] = "reference",
    by: str | None = None,
    id: str | None = None,
    units: str | None = None,
    threads: int | None = 1,
) -> DataTable:
    """Return the statistics of every row of a table, in its order.

    Args:
        batch: a table that implements Arrow's PyCapsule protocol.
        metrics: metrics, or their names.
        candidate, reference: columns of texts. A reference may be a list of texts; several columns
            of candidates are several systems.
        by, id: columns with the system and with the id of the segment.
        units: column with the units of intervals and tests; by default, each id is a unit.
        threads: number of threads; None for all processors.
    """
    chosen = load_metrics(metrics)
    columns = Columns.from_names(candidate, reference, by, id).with_scores(chosen).with_units(units)
    measure = TableMeasure(tuple(chosen), keep_rows=True)
    parts = list(measure.parts(table_batches(batch, columns), threads))
    return rows_table(chosen, parts, columns.unit)


def sums(
    batch: Any,
    metrics: Metrics = USUAL_METRICS,
    *,
    candidate: str | Sequence[str] = "candidate",
    reference: str | Sequence[str] = "reference",
    by: str | None = None,
    id: str | None = None,
    units: str | None = None,
    buckets: int | None = None,
    threads: int | None = 1,
) -> DataTable:
    """Return exact sums of the statistics of a table, by system, in a small table.

    With `buckets`, sums are also by bucket of units (by default ids), which intervals and paired
    tests need. The other arguments are as for `stats`.
    """
    chosen = load_metrics(metrics)
    columns = Columns.from_names(candidate, reference, by, id).with_scores(chosen).with_units(units)
    if buckets is not None and id is None:
        raise InputError("buckets are made of ids: name the column that has them (id=)")
    if columns.unit is not None and not buckets:
        raise InputError("sums keep units in buckets only: add buckets=, or use karat.arrow.stats")
    measure = TableMeasure(tuple(chosen), resolve_buckets(0, buckets))
    statistics = TableStatistics(chosen, measure.buckets, unit=columns.unit)
    for part in measure.parts(table_batches(batch, columns), threads):
        statistics += part
    return sums_table(statistics)


def merge(tables: Any) -> TableStatistics:
    """Add up tables of `sums`, or of `stats`, of all parts of a data set.

    `tables` is one table or several, in any order, each part once, made by one version of Karat.
    The result scores and compares as `karat.score` and `karat.compare` do. It is also a table of
    sums, which can be merged again.
    """
    tables_given: Iterable[Any] = [tables] if speaks_arrow(tables) else tables
    if isinstance(tables_given, str | bytes) or not isinstance(tables_given, Iterable):
        raise InputError(f"tables is {type(tables).__name__}, expected tables of karat.arrow.sums")
    by_signature: dict[str, TableStatistics] = {}
    for number, table in enumerate(tables_given, 1):
        for signature, buckets, unit, part in read_table(table, f"table {number}"):
            statistics = by_signature.setdefault(
                signature, TableStatistics([metric(signature)], buckets, unit=unit)
            )
            if statistics.unit != unit:
                both = " and ".join(quoted(u or "no units") for u in (statistics.unit, unit))
                raise InputError(f"table {number}: units {both} cannot be merged")
            if statistics.buckets != buckets:
                both = " and ".join(str(n or "no") for n in (statistics.buckets, buckets))
                raise InputError(f"table {number}: {both} buckets cannot be merged")
            if statistics.n_rows and bool(statistics.row_blocks) != (part.segment_rows is not None):
                problem = "tables of sums and of single rows (karat.arrow.stats)"
                raise InputError(f"table {number}: {problem} cannot be merged: make all in one way")
            by_signature[signature] += part
    if not by_signature:
        raise InputError("no table was given: there is nothing to merge")
    return join_metrics(list(by_signature.values()))
