"""Merged statistics of a whole data set: its scores, intervals and comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from karat.arrow.batches import speaks_arrow, table_batches
from karat.arrow.columns import Columns
from karat.arrow.statistics import NO_IDS, Measure, SegmentRows, Statistics, SystemSums
from karat.arrow.tables import Table, read_table, rows_table, sums_table
from karat.comparison import BaselineTest, Comparison, compare_statistics
from karat.errors import InputError, short
from karat.metrics.base import Metric, check_form
from karat.metrics.names import metric
from karat.progress import Progress, silent
from karat.scoring import Resampling, Scoring, load_metrics, score_statistics
from karat.settings import check_trials
from karat.stats.buckets import BUCKETS, MAX_ROWS, resolve_buckets
from karat.stats.resampling import SEED


def skipping_notes(scored: Statistics, measured: Statistics | None = None) -> tuple[str, ...]:
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
    if measured is not None and scored is not measured:
        segments = scored.rows // len(scored.systems)
        number = "1 segment" if segments == 1 else f"{segments:,} segments"
        notes.append(f"Systems are compared on {number}: those with a text from every system.")
    return tuple(notes)


class Merged:
    """The statistics of all systems of a data set by all metrics."""

    def __init__(self, statistics: Statistics, remarks: tuple[str, ...] = ()) -> None:
        self.statistics, self.remarks = statistics, remarks

    @classmethod
    def of(cls, parts: Sequence[Statistics]) -> Merged:
        """Return the statistics of several metrics over the same rows as one."""
        if not parts:
            raise InputError("no table was given: there is nothing to merge")
        first = parts[0]
        joined = Statistics([m for part in parts for m in part.metrics], first.buckets)
        joined.rows, joined.reference_range = first.rows, first.reference_range
        for part in parts[1:]:
            _check_same(first, part)
        for system, own in first.systems.items():
            sums = [sums for part in parts for sums in part.systems[system].sums]
            rows = [part.sorted_rows(system) for part in parts] if own.kept else []
            joined.systems[system] = SystemSums(own.counted, sums, _side_by_side(rows))
        if joined.rows > MAX_ROWS and joined.keeps and first.has_ids:
            joined = joined.in_buckets(BUCKETS)
        return cls(joined)

    @property
    def systems(self) -> dict[str, int]:
        """The systems, and the number of segments of each."""
        found = self.statistics.systems
        return {name: int(own.counted[:, 0].sum()) for name, own in found.items()}

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
        found = self.statistics
        drawn = Resampling(resamples, seed, found.buckets if resamples else None)
        self._check(drawn)
        collected = found.collected(drawn=resamples > 0 or segments, values=segments)
        made = score_statistics(collected, found.references, drawn, signature, progress)
        remarks = (*self.remarks, *skipping_notes(found))
        return replace(made, remarks=remarks, skipped=found.skipped)

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
        found = self.statistics.without_unpaired()
        planned = BaselineTest.of(baseline, found.names(), test, trials, resamples)
        drawn = Resampling(planned.resamples, seed, found.buckets)
        self._check(drawn, **planned.fields)
        found.check_paired()
        collected = found.collected(drawn=True, values=True)
        made = compare_statistics(collected, found.references, planned, drawn, signature, progress)
        remarks = (*self.remarks, *skipping_notes(found, self.statistics))
        segments = int(found.systems[planned.baseline].counted[:, 0].sum())
        return replace(made, remarks=remarks, skipped=found.skipped, segments=segments)

    def _check(self, drawn: Resampling, **more: object) -> None:
        """Refuse what cannot be resampled, and claims of signatures that do not hold."""
        for m in self.statistics.metrics:
            m.check_claims(self.statistics.references, {**more, **drawn.fields})
        kept = all(own.kept for own in self.statistics.systems.values())
        if drawn.resamples and not (drawn.buckets or kept):
            raise InputError(NO_IDS)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table().__arrow_c_stream__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._table().__arrow_c_array__()

    def _table(self) -> Table:
        return sums_table(self.statistics)


def _side_by_side(parts: Sequence[SegmentRows]) -> list[SegmentRows]:
    """Return rows of several metrics, each in the order of ids, as rows of all of them."""
    if not parts:
        return []
    tables = [table for part in parts for table in part.tables]
    return [parts[0]._replace(tables=tables)]


def _check_same(first: Statistics, other: Statistics) -> None:
    """Refuse metrics that were not measured on the same rows."""
    same = first.systems.keys() == other.systems.keys() and first.buckets == other.buckets
    same = same and first.keeps == other.keeps
    for system in first.systems if same else ():
        mine, theirs = first.systems[system], other.systems[system]
        same = same and bool((mine.counted == theirs.counted).all())
        if same and mine.kept and first.has_ids:
            same = first.sorted_ids(system) == other.sorted_ids(system)
    if not same:
        both = f"{first.metrics[0]} and {other.metrics[0]}"
        raise InputError(
            f"{both} were not measured on the same rows: merge all parts of a data set, each once, "
            "by the same metrics"
        )


Metrics = Sequence[str | Metric] | str | Metric


def stats(
    batch: Any,
    metrics: Metrics = ("bleu",),
    *,
    candidate: str | Sequence[str] = "candidate",
    reference: str | Sequence[str] = "reference",
    by: str | None = None,
    id: str | None = None,
    threads: int | None = 1,
) -> Table:
    """Return the statistics of every row of a table, in its order.

    `batch` is anything that speaks Arrow's PyCapsule protocol. `candidate` and `reference` name
    the columns of texts (a reference may be a list of texts, or several columns may be named;
    several candidates are several systems), `by` the column of systems and `id` that of the
    segments' ids.
    """
    chosen = load_metrics(metrics)
    columns = Columns.of(candidate, reference, by, id).with_scores(chosen)
    measure = Measure(tuple(chosen), keep=True)
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
) -> Table:
    """Return exact sums of the statistics of a table, by system, in a small table.

    With `buckets` sums are also by bucket of ids, so that intervals and paired tests can be made of
    them; scores need none. The other arguments are those of `stats`.
    """
    chosen = load_metrics(metrics)
    columns = Columns.of(candidate, reference, by, id).with_scores(chosen)
    if buckets is not None and id is None:
        raise InputError("buckets are made of ids: name the column that has them (id=)")
    measure = Measure(tuple(chosen), resolve_buckets(0, buckets))
    found = Statistics(chosen, measure.buckets)
    for part in measure.parts(table_batches(batch, columns), threads):
        found += part
    return sums_table(found)


def merge(tables: Any) -> Merged:
    """Add up tables of `sums`, or of `stats`, of all parts of a data set.

    `tables` is one table, or several in any order, each part once, made by one version of Karat.
    The result scores and compares as `karat.score` and `karat.compare` do; it is a table of sums
    itself, to be merged again.
    """
    given: Iterable[Any] = [tables] if speaks_arrow(tables) else tables
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"tables is {type(tables).__name__}, expected tables of karat.arrow.sums")
    found: dict[str, Statistics] = {}
    for number, table in enumerate(given, 1):
        for signature, buckets, part in read_table(table, f"table {number}"):
            own = found.setdefault(signature, Statistics([metric(signature)], buckets))
            if own.buckets != buckets:
                both = " and ".join(str(n or "no") for n in (own.buckets, buckets))
                raise InputError(f"table {number}: {both} buckets cannot be merged")
            if own.rows and own.keeps != (part.kept is not None):
                told = "tables of sums and of single rows (karat.arrow.stats)"
                raise InputError(f"table {number}: {told} cannot be merged: make all in one way")
            own += part
    return Merged.of(list(found.values()))
