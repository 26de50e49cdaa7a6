"""Merged statistics of a whole data set: its scores, intervals and comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from karat.arrow.batches import speaks_arrow, table_batches
from karat.arrow.columns import Columns
from karat.arrow.statistics import NO_IDS, Statistics, SystemSums, TableMeasure
from karat.arrow.tables import DataTable, read_table, rows_table, sums_table
from karat.comparison import BaselineTest, Comparison, compare_statistics
from karat.errors import InputError, short
from karat.metrics.base import check_form
from karat.metrics.names import metric
from karat.progress import Progress, silent
from karat.scoring import (
    Metrics,
    Resampling,
    Scoring,
    interval_fields,
    load_metrics,
    score_statistics,
)
from karat.settings import SEED, check_trials
from karat.stats.buckets import BUCKETS, MAX_ROWS, resolve_buckets


def skipping_notes(scored: Statistics, all_statistics: Statistics | None = None) -> tuple[str, ...]:
    """Return notes on rows that were left out because a text is missing.

    Args:
        scored: the statistics that were scored.
        measured: all statistics, where segments that a system lacks were left out for all.
    """
    if scored.skipped is None:
        return ()
    total = sum(scored.skipped.values())
    if not total:
        return ("No row was skipped: every row has its texts.",)
    counts = [f"{name} {count:,}" for name, count in scored.skipped.items() if count]
    listed = short(", ".join(counts))
    rows = "1 row was" if total == 1 else f"{total:,} rows were"
    notes = [f"{rows} skipped because a candidate or a reference is missing ({listed})."]
    if all_statistics is not None and scored is not all_statistics:
        segments = scored.rows // len(scored.systems)
        number = "1 segment" if segments == 1 else f"{segments:,} segments"
        notes.append(f"Systems are compared on {number}: those with a text from every system.")
    return tuple(notes)


class Merged:
    """The statistics of all systems of a data set by all metrics."""

    def __init__(self, statistics: Statistics, remarks: tuple[str, ...] = ()) -> None:
        self.statistics, self.remarks = statistics, remarks

    @classmethod
    def join_metrics(cls, parts: Sequence[Statistics]) -> Merged:
        """Return the statistics of several metrics over the same rows as one."""
        if not parts:
            raise InputError("no table was given: there is nothing to merge")
        first = parts[0]
        joined = Statistics([m for part in parts for m in part.metrics], first.buckets)
        joined.rows, joined.reference_range = first.rows, first.reference_range
        for part in parts[1:]:
            _check_same(first, part)
        for system, system_sums in first.systems.items():
            sums = [sums for part in parts for sums in part.systems[system].sums]
            blocks = []
            if system_sums.row_blocks:  # each metric's in the order of ids: side by side
                rows = [part.sorted_rows(system) for part in parts]
                tables = [table for part_rows in rows for table in part_rows.tables]
                blocks = [rows[0]._replace(tables=tables)]
            joined.systems[system] = SystemSums(system_sums.counted, sums, blocks)
        if joined.rows > MAX_ROWS and joined.keeps and first.has_ids:
            joined = joined.in_buckets(BUCKETS)
        return cls(joined)

    @property
    def systems(self) -> dict[str, int]:
        """The systems, and the number of segments of each."""
        systems = self.statistics.systems
        return {name: int(system_sums.counted[:, 0].sum()) for name, system_sums in systems.items()}

    def __repr__(self) -> str:
        metrics = ", ".join(map(str, self.statistics.metrics))
        return f"<Merged: {self.statistics.rows:,} rows by {metrics}; .score(), .compare()>"

    def score(
        self,
        resamples: int = 0,
        *,
        seed: int = SEED,
        progress: Progress = silent,
        signature: str = "karat",
        segments: bool = False,
    ) -> Scoring:
        """Return the scores of all systems; with `resamples` above 0 also bootstrap intervals.

        With `segments` the score of each segment is kept, in the order of ids.
        """
        check_trials("resamples", resamples, 0)
        check_form(signature)
        statistics = self.statistics
        resampling = Resampling(resamples, seed, statistics.buckets if resamples else None)
        self._check(resampling, interval_fields(*resampling))
        stats = statistics.system_stats(resampled=resamples > 0 or segments, values=segments)
        scoring = score_statistics(stats, statistics.references, resampling, signature, progress)
        remarks = (*self.remarks, *skipping_notes(statistics))
        return replace(scoring, remarks=remarks, skipped=statistics.skipped)

    def compare(
        self,
        baseline: str | None = None,
        *,
        test: str = "bootstrap",
        trials: int | None = None,
        resamples: int | None = None,
        seed: int = SEED,
        progress: Progress = silent,
        signature: str = "karat",
    ) -> Comparison:
        """Return the comparison of all systems with a baseline (by default the first by name)."""
        check_form(signature)
        statistics = self.statistics.without_unpaired()
        planned = BaselineTest.plan(baseline, statistics.names(), test, trials, resamples)
        resampling = Resampling(planned.resamples, seed, statistics.buckets)
        self._check(resampling, planned.fields(resampling))
        statistics.check_paired()
        stats = statistics.system_stats(resampled=True, values=True)
        comparison = compare_statistics(
            stats, statistics.references, planned, resampling, signature, progress
        )
        remarks = (*self.remarks, *skipping_notes(statistics, self.statistics))
        segments = int(statistics.systems[planned.baseline].counted[:, 0].sum())
        return replace(comparison, remarks=remarks, skipped=statistics.skipped, segments=segments)

    def _check(self, resampling: Resampling, fields: dict[str, object]) -> None:
        """Require resampling data and valid signature claims."""
        for m in self.statistics.metrics:
            m.check_claims(self.statistics.references, fields)
        has_rows = all(system_sums.row_blocks for system_sums in self.statistics.systems.values())
        if resampling.resamples and not (resampling.buckets or has_rows):
            raise InputError(NO_IDS)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return sums_table(self.statistics).__arrow_c_stream__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return sums_table(self.statistics).__arrow_c_array__()


def _check_same(first: Statistics, other: Statistics) -> None:
    """Refuse metrics that were not measured on the same rows."""
    is_same = first.systems.keys() == other.systems.keys() and first.buckets == other.buckets
    is_same = is_same and first.keeps == other.keeps
    for system in first.systems if is_same else ():
        first_sums, other_sums = first.systems[system], other.systems[system]
        is_same = is_same and bool((first_sums.counted == other_sums.counted).all())
        if is_same and first_sums.row_blocks and first.has_ids:
            is_same = first.sorted_ids(system) == other.sorted_ids(system)
    if not is_same:
        both = f"{first.metrics[0]} and {other.metrics[0]}"
        raise InputError(
            f"{both} were not measured on the same rows: merge all parts of a data set, each once, "
            "by the same metrics"
        )


def stats(
    batch: Any,
    metrics: Metrics = ("bleu",),
    *,
    candidate: str | Sequence[str] = "candidate",
    reference: str | Sequence[str] = "reference",
    by: str | None = None,
    id: str | None = None,
    threads: int | None = 1,
) -> DataTable:
    """Return the statistics of every row of a table, in its order.

    `batch` is anything that speaks Arrow's PyCapsule protocol. `candidate` and `reference` name
    the columns of texts (a reference may be a list of texts, or several columns may be named;
    several candidates are several systems), `by` the column of systems and `id` that of the
    segments' ids.
    """
    chosen = load_metrics(metrics)
    columns = Columns.from_names(candidate, reference, by, id).with_scores(chosen)
    measure = TableMeasure(tuple(chosen), keep=True)
    return rows_table(chosen, list(measure.parts(table_batches(batch, columns), threads)))


def sums(
    batch: Any,
    metrics: Metrics = ("bleu",),
    *,
    candidate: str | Sequence[str] = "candidate",
    reference: str | Sequence[str] = "reference",
    by: str | None = None,
    id: str | None = None,
    buckets: int | None = None,
    threads: int | None = 1,
) -> DataTable:
    """Return exact sums of the statistics of a table, by system, in a small table.

    With `buckets` sums are also by bucket of ids, so that intervals and paired tests can be made of
    them; scores need none. The other arguments are as for `stats`.
    """
    chosen = load_metrics(metrics)
    columns = Columns.from_names(candidate, reference, by, id).with_scores(chosen)
    if buckets is not None and id is None:
        raise InputError("buckets are made of ids: name the column that has them (id=)")
    measure = TableMeasure(tuple(chosen), resolve_buckets(0, buckets))
    statistics = Statistics(chosen, measure.buckets)
    for part in measure.parts(table_batches(batch, columns), threads):
        statistics += part
    return sums_table(statistics)


def merge(tables: Any) -> Merged:
    """Add up tables of `sums`, or of `stats`, of all parts of a data set.

    `tables` is one table, or several in any order, each part once, made by one version of Karat.
    The result scores and compares as `karat.score` and `karat.compare` do; it is a table of sums
    itself, to be merged again.
    """
    tables_given: Iterable[Any] = [tables] if speaks_arrow(tables) else tables
    if isinstance(tables_given, str | bytes) or not isinstance(tables_given, Iterable):
        raise InputError(f"tables is {type(tables).__name__}, expected tables of karat.arrow.sums")
    by_signature: dict[str, Statistics] = {}
    for number, table in enumerate(tables_given, 1):
        for signature, buckets, part in read_table(table, f"table {number}"):
            statistics = by_signature.setdefault(
                signature, Statistics([metric(signature)], buckets)
            )
            if statistics.buckets != buckets:
                both = " and ".join(str(n or "no") for n in (statistics.buckets, buckets))
                raise InputError(f"table {number}: {both} buckets cannot be merged")
            if statistics.rows and statistics.keeps != (part.segment_rows is not None):
                problem = "tables of sums and of single rows (karat.arrow.stats)"
                raise InputError(f"table {number}: {problem} cannot be merged: make all in one way")
            statistics += part
    return Merged.join_metrics(list(by_signature.values()))
