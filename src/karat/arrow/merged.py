"""Merged statistics of a whole data set: its scores, intervals and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from karat.arrays import np
from karat.arrow.batches import RowRange, speaks_arrow, table_batches
from karat.arrow.columns import Columns
from karat.arrow.statistics import NO_IDS, SegmentRows, Statistics, SystemSums, TableMeasure
from karat.arrow.tables import DataTable, read_table, rows_table, sums_table
from karat.comparison import BaselineTest, Comparison, Example, compare_statistics, make_examples
from karat.errors import InputError, short
from karat.metrics.base import Metric, check_form
from karat.metrics.names import metric
from karat.progress import Progress, silent
from karat.ranked_segments import Places, SegmentText, TextLookup
from karat.scoring import Resampling, Scoring, load_metrics, score_statistics
from karat.settings import check_trials
from karat.stats.buckets import BUCKETS, MAX_ROWS, resolve_buckets
from karat.stats.resampling import SEED


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
            rows = [part.sorted_rows(system) for part in parts] if system_sums.row_blocks else []
            joined.systems[system] = SystemSums(system_sums.counted, sums, _side_by_side(rows))
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
        self._check(resampling)
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
        planned = BaselineTest.of(baseline, statistics.names(), test, trials, resamples)
        resampling = Resampling(planned.resamples, seed, statistics.buckets)
        self._check(resampling, **planned.fields)
        statistics.check_paired()
        stats = statistics.system_stats(resampled=True, values=True)
        comparison = compare_statistics(
            stats, statistics.references, planned, resampling, signature, progress
        )
        remarks = (*self.remarks, *skipping_notes(statistics, self.statistics))
        segments = int(statistics.systems[planned.baseline].counted[:, 0].sum())
        return replace(comparison, remarks=remarks, skipped=statistics.skipped, segments=segments)

    def _check(self, resampling: Resampling, **fields: object) -> None:
        """Require resampling data and valid signature claims."""
        for m in self.statistics.metrics:
            m.check_claims(self.statistics.references, {**fields, **resampling.fields})
        has_rows = all(system_sums.row_blocks for system_sums in self.statistics.systems.values())
        if resampling.resamples and not (resampling.buckets or has_rows):
            raise InputError(NO_IDS)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table().__arrow_c_stream__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._table().__arrow_c_array__()

    def _table(self) -> DataTable:
        return sums_table(self.statistics)


def _side_by_side(parts: Sequence[SegmentRows]) -> list[SegmentRows]:
    """Return rows of several metrics, each in the order of ids, as rows of all of them."""
    if not parts:
        return []
    tables = [table for part in parts for table in part.tables]
    return [parts[0]._replace(tables=tables)]


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
    them; scores need none. The other arguments are those of `stats`.
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


Key = tuple[str, int | str]
"""A system and the id of a segment."""


class ExampleTexts(NamedTuple):
    """A candidate and its references."""

    candidate: str
    references: list[str]


def with_examples(
    comparison: Comparison,
    statistics: Statistics,
    ranges: Iterable[RowRange],
    top: int,
    *,
    has_ids: bool,
) -> Comparison:
    """Return the comparison with the segments on which each system differs most.

    `ranges` are the rows of the table, read once more; they are `has_ids` by a column of ids. Where
    segments were put into buckets, there are no examples.
    """
    if not comparison.values or not top:
        return comparison
    ids = statistics.sorted_ids(comparison.baseline)
    gaps = {
        (row.system, row.metric): comparison.differences(
            comparison.baseline, row.system, row.metric, top
        )
        for row in comparison.rows
        if row.system != comparison.baseline
    }
    segment_ids = {ids[gap.segment] for system_gaps in gaps.values() for gap in system_gaps}
    texts = _texts_of(ranges, segment_ids)

    examples: list[Example] = []
    for (system, scored_by), system_gaps in gaps.items():
        # A stream cannot be read again: it has no texts.
        gaps_with_texts = [gap for gap in system_gaps if (system, ids[gap.segment]) in texts]
        segments = [ids[gap.segment] for gap in gaps_with_texts]
        baseline = [texts[comparison.baseline, segment] for segment in segments]
        for example in make_examples(
            system,
            scored_by,
            gaps_with_texts,
            [segment.references for segment in baseline],
            [segment.candidate for segment in baseline],
            [texts[system, segment].candidate for segment in segments],
        ):
            examples.append(example._replace(id=str(ids[example.segment]) if has_ids else None))
    return replace(comparison, examples=tuple(examples))


def segment_labels(ids: Sequence[int | str], *, has_ids: bool) -> list[str]:
    """Return how segments are called: by ids that a column names, or by row numbers, from 1."""
    return [str(id) if has_ids else str(int(id) + 1) for id in ids]


def table_texts(
    statistics: Statistics, ranges: Callable[[], Iterable[RowRange]], *, has_ids: bool
) -> TextLookup:
    """Return what finds the texts of segments by their places in the order of ids.

    `ranges` gives the rows of the table once more. Without a column of ids, rows
    go by their numbers, from 1.
    """

    def look_up(places: Places) -> dict[tuple[str, int], SegmentText]:
        sorted_ids = {system: statistics.sorted_ids(system) for system in places}
        ids = {
            (s, place): sorted_ids[s][place]
            for s, system_places in places.items()
            for place in system_places
        }
        texts = _texts_of(ranges(), set(ids.values()))
        text_of = {}
        for (system, place), id in ids.items():
            if (system, id) in texts:  # none in a stream
                candidate, references = texts[system, id]
                (label,) = segment_labels([id], has_ids=has_ids)
                text_of[system, place] = SegmentText(candidate, tuple(references), label)
        return text_of

    return look_up


def _texts_of(ranges: Iterable[RowRange], segment_ids: set[int | str]) -> dict[Key, ExampleTexts]:
    texts_by_key: dict[Key, ExampleTexts] = {}
    numbers = np.array([id for id in segment_ids if isinstance(id, int)], np.int64)
    for rows in ranges:
        batch = rows.read()
        ids = [] if batch.ids is None else batch.ids.listed()
        if isinstance(ids, list):
            places = [at for at, id in enumerate(ids) if id in segment_ids]
        else:
            places, ids = np.flatnonzero(np.isin(ids, numbers)).tolist(), ids.tolist()
        references = batch.references.strings(places)
        for number, texts in enumerate(batch.candidates):
            for at, candidate, refs in zip(places, texts.strings(places), references, strict=True):
                texts_by_key[batch.systems[batch.codes[at] + number], ids[at]] = ExampleTexts(
                    candidate, refs
                )
    return texts_by_key
