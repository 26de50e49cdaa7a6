"""Scores and comparisons of tables: files of any size, on any engine, or tables in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from karat.arrow.batches import RowRange, reference_hashes
from karat.arrow.columns import Columns
from karat.arrow.frame_scores import (
    ColumnNames,
    RowScores,
    all_skipped,
    check_ids,
    frame_columns,
    frame_ranges,
    measure_frame,
    with_row_numbers,
)
from karat.arrow.frames import TABLE, Frame, as_frame
from karat.arrow.jobs import (
    TOO_MANY,
    Engine,
    JobFailure,
    Local,
    TableJob,
    add_statistics,
    as_engine,
    piece_ranges,
    work_of,
)
from karat.arrow.merged import Merged, segment_labels, table_texts, with_examples
from karat.arrow.pieces import (
    TABLE_FORMATS,
    TableFiles,
    TablePiece,
    find_tables,
    plan_tables,
    table_format,
)
from karat.arrow.row_files import check_apart, row_folder
from karat.arrow.shards import ShardJob, as_shard, job_digest, shard_folder, shard_work
from karat.arrow.statistics import Statistics
from karat.arrow.tables import sign_metric
from karat.comparison import Comparison
from karat.errors import InputError
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.results import Result
from karat.scoring import Scoring, load_metrics
from karat.stats.buckets import MAX_ROWS, resolve_buckets
from karat.stats.resampling import SEED
from karat.storage.output import FilePath

Metrics = Sequence[str | Metric] | str | Metric


def score_table(
    table: Any,
    metrics: Metrics = ("bleu",),
    *,
    resamples: int = 0,
    seed: int = SEED,
    segments: bool = False,
    progress: Progress = silent,
    signature: str = "karat",
    **how: Any,
) -> Scoring:
    """Score the systems of a table.

    Args:
        table: a file, a folder or a pattern (parquet, CSV, TSV, JSON lines), or a table in memory:
            a data frame, any Arrow table, a list of dictionaries. A list of files, or a dictionary
            of files by name, is a system each; with `by` or several columns of candidates, a list
            is one table.
        metrics: metrics, or their names.
        resamples: number of bootstrap resamples for 95% intervals; 0 for no intervals.
        seed: seed of the random numbers.
        segments: keep the scores of all rows, for `worst`, `best` and `join()`. Files need `id`.
        progress: function that is called with the progress.
        signature: `karat` or `sacrebleu`.
        how: columns and other arguments of `measure_table`.
    """
    frame = as_frame(table)
    rows = RowScores() if segments and frame is not None else None
    by_ids = segments and frame is None
    data, resampled = table if frame is None else frame, resamples > 0 or by_ids
    merged = measure_table(
        data,
        metrics,
        resampled=resampled,
        single_rows=by_ids,
        scores=rows,
        progress=progress,
        **how,
    )
    options: dict[str, Any] = {"seed": seed, "progress": progress, "signature": signature}
    scoring = merged.score(resamples, segments=by_ids, **options)
    if rows is not None and frame is not None:
        columns = frame_columns(frame, _column_names(how))
        columns = replace(columns, skip_missing=bool(how.get("skip_missing")))
        return rows.add_to(scoring, frame, columns)
    if not by_ids:
        return scoring
    has_ids = how.get("id") is not None
    rows_again = partial(read_rows, table, _column_names(how), bool(how.get("skip_missing")))
    texts = table_texts(merged.statistics, rows_again, has_ids=has_ids)
    sorted_ids = {name: merged.statistics.sorted_ids(name) for name in merged.statistics.names()}
    labels = {name: segment_labels(ids, has_ids=has_ids) for name, ids in sorted_ids.items()}
    return replace(scoring, texts=texts, ids=labels)


def _column_names(arguments: Mapping[str, Any]) -> ColumnNames:
    return (
        arguments.get("candidate"),
        arguments.get("reference"),
        arguments.get("by"),
        arguments.get("id"),
    )


def compare_table(
    table: Any,
    metrics: Metrics = ("bleu",),
    *,
    baseline: str | None = None,
    test: str = "bootstrap",
    trials: int | None = None,
    resamples: int | None = None,
    seed: int = SEED,
    progress: Progress = silent,
    signature: str = "karat",
    examples: int = 0,
    **how: Any,
) -> Comparison:
    """Compare the systems of a table with a baseline.

    Systems are those of the column `by`, and then `id` is needed; or several columns of candidates.

    Args:
        table, metrics, how: as for `score_table`.
        baseline: name of the system to compare with; by default the first by name, or the first
            column of candidates.
        test, trials, resamples, seed, progress, signature: as for `compare`.
        examples: number of segments to keep where each system differs most from the baseline. The
            table must be one that can be read twice.
    """
    table = as_frame(table) or table
    merged = measure_table(table, metrics, resampled=True, progress=progress, **how)
    skip_missing = bool(how.get("skip_missing"))
    if not isinstance(table, Frame):
        check_row_pairs(table, _column_names(how), merged.statistics, skip_missing)
    tested: dict[str, Any] = {"test": test, "trials": trials, "resamples": resamples, "seed": seed}
    comparison = merged.compare(baseline, **tested, progress=progress, signature=signature)
    rows, has_ids = read_rows(table, _column_names(how), skip_missing), how.get("id") is not None
    paired = merged.statistics.without_unpaired()
    return with_examples(comparison, paired, rows, examples, has_ids=has_ids)


def check_row_pairs(
    table: Any, names: ColumnNames, statistics: Statistics, skip_missing: bool
) -> None:
    """Refuse files whose rows cannot be paired by their numbers.

    Files of systems without a column of ids must have the same number of rows, with the same
    references.
    """
    columns, tables = find_columns(table, names)
    if not columns.rows_are_segments or len(tables) < 2:
        return
    skipped = statistics.skipped or {}
    counted = [statistics.systems[str(system.system)].counted for system in tables]
    rows = [
        int(cells[:, 0].sum()) + skipped.get(str(system.system), 0)
        for system, cells in zip(tables, counted, strict=True)
    ]
    baseline = tables[0]
    for system, number in zip(tables, rows, strict=True):
        if number != rows[0]:
            files = f"{baseline.files[0]} has {rows[0]:,} rows and {system.files[0]} {number:,}"
            raise InputError(f"{files}: {_PAIRED_BY_ROW}")
    if not skip_missing and all((cells == counted[0]).all() for cells in counted):
        return
    row = _first_other_references(tables, replace(columns, skip_missing=skip_missing))
    if row is not None:
        file, number = row
        problem = f"{baseline.files[0]} and {file} have different references in row {number + 1:,}"
        raise InputError(f"{problem}: {_PAIRED_BY_ROW}")


_PAIRED_BY_ROW = (
    "without ids, row 1 of a file is compared with row 1 of another, so files need the same "
    "references in the same order; or name the column of ids (--id COLUMN, in Python id=)"
)


def _first_other_references(
    tables: Sequence[TableFiles], columns: Columns
) -> tuple[str, int] | None:
    """Return the first row whose references differ from the first file, and its file."""
    baseline = _references_by_row(tables[0], columns)
    for system in tables[1:]:
        references = _references_by_row(system, columns)
        for row in sorted(baseline.keys() & references.keys()):
            if baseline[row] != references[row]:
                return system.files[0], row
    return None


def _references_by_row(table: TableFiles, columns: Columns) -> dict[int, int]:
    """Return a hash of the references of each row of a file that has all texts."""
    hashes: dict[int, int] = {}
    for piece in plan_tables([table]):
        for rows in piece_ranges(piece, columns):
            batch = rows.read()
            numbers = batch.row_numbers().tolist()
            hashes |= zip(numbers, reference_hashes(batch.references).tolist(), strict=True)
    return hashes


def find_columns(table: Any, names: ColumnNames) -> tuple[Columns, list[TableFiles]]:
    """Return the columns of a table in files, and the files of each system."""
    candidate, _, by, _ = names
    wide = isinstance(candidate, list | tuple) and len(candidate) > 1
    tables = find_tables(table, columns_name_systems=by is not None or wide)
    first = tables[0].files[0]
    columns = Columns.detect(first, table_format(first).columns(first), *names)
    one_file_each = all(len(system.files) == 1 for system in tables)
    return with_row_numbers(columns) if one_file_each else columns, tables


def read_rows(
    table: Any, names: ColumnNames, skip_missing: bool = False, metrics: Sequence[Metric] = ()
) -> Iterator[RowRange]:
    """Yield the rows of a table, in ranges, with the columns of scores that metrics read."""
    frame = table if isinstance(table, Frame) else as_frame(table)
    if frame is not None:
        columns = with_row_numbers(frame_columns(frame, names)).with_scores(metrics)
        columns.places(TABLE, frame.names)
        yield from frame_ranges(frame, replace(columns, skip_missing=skip_missing))
        return
    columns, tables = find_columns(table, names)
    columns = columns.with_scores(metrics)
    for piece in plan_tables(tables):
        yield from piece_ranges(piece, replace(columns, skip_missing=skip_missing))


def _check_in_memory(runner: Engine, **folders: FilePath | None) -> Local:
    """Reject options that only tables in files support."""
    for name, value in folders.items():
        if value is not None:
            raise InputError(f"{name} is for tables in files: this one is in memory")
    if not isinstance(runner, Local):
        raise InputError(f"engine {runner} works on tables in files: this one is in memory")
    return runner


def measure_table(
    table: Any,
    metrics: Metrics = ("bleu",),
    *,
    resampled: bool = False,
    single_rows: bool = False,
    scores: RowScores | None = None,
    candidate: str | Sequence[str] | None = None,
    reference: str | Sequence[str] | None = None,
    by: str | None = None,
    id: str | None = None,
    buckets: int | None = None,
    engine: str | Engine = "local",
    engine_options: Mapping[str, str] | None = None,
    rows: FilePath | None = None,
    shards: FilePath | None = None,
    skip_missing: bool = False,
    threads: int | None = None,
    progress: Progress = silent,
) -> Merged:
    """Return the statistics of a table.

    Args:
        table, metrics: as for `score_table`.
        resampled: keep what intervals and tests need.
        single_rows: require the scores of single rows, which buckets do not have.
        scores: receives the scores of the rows of a table in memory.
        candidate, reference: columns of texts; by default detected. Several columns of candidates
            are several systems.
        by, id: columns with the system and with the id of the segment.
        buckets: number of buckets of segments to resample, 0 for never; by default 4,096 above two
            million rows.
        engine: `local`, `dask`, `spark` or `ray`; `engine_options` are its settings.
        rows: folder for the table with a column of scores for each metric.
        shards: folder for finished parts, to resume a run that was stopped.
        skip_missing: leave out and count rows without a candidate or a reference; by default they
            are refused before anything is scored.
        threads, progress: as for `score`.
    """
    names = candidate, reference, by, id
    resolve_buckets(0, buckets)  # refused, where it is no number of buckets
    runner = choose_engine(engine, engine_options, threads)
    frame = table if isinstance(table, Frame) else as_frame(table)
    if frame is not None:
        local_engine = _check_in_memory(runner, rows=rows, shards=shards)
        chosen = tuple(load_metrics(metrics))
        more = local_engine.threads, scores, skip_missing, progress
        return measure_frame(frame, names, chosen, buckets, resampled, *more)
    resampled = resampled or (shards is not None and id is not None)
    job, pieces = plan_job(table, load_metrics(metrics), names, buckets, resampled, skip_missing)
    job = replace(job, single_rows=single_rows)
    total = Statistics(load_metrics(metrics), job.buckets)
    total.skipped = {} if skip_missing else None
    total = _measure_pieces(job, pieces, total, runner, (rows, shards), progress)
    return Merged(total, _remarks(runner, total.rows))


def _measure_pieces(
    job: TableJob,
    pieces: Sequence[TablePiece],
    total: Statistics,
    runner: Engine,
    folders: tuple[FilePath | None, FilePath | None],
    progress: Progress,
) -> Statistics:
    """Return the statistics of all pieces; `folders` are the folders of rows and shards."""
    if job.single_rows and job.buckets:
        raise InputError(TOO_MANY)
    files = dict.fromkeys(piece.system for piece in pieces if piece.system is not None)
    total.order = job.columns.candidate if job.columns.wide else tuple(files)
    rows, shards = folders
    check_apart(rows, shards)
    digest = job_digest(job, pieces)
    row_files = row_folder(rows, pieces, digest, resumable=shards is not None, part=False)
    with row_files as folder, shard_folder(shards) as place:
        writing = job.writing(folder)
        full_job = writing if place is None else ShardJob.of(writing, place, pieces)
        for statistics in run_pieces(runner, full_job, pieces, progress):
            total = add_statistics(total, statistics, job.most_rows)
            if job.single_rows and total.buckets:
                raise InputError(TOO_MANY)
    check_scored(total, pieces)
    total.check_used()
    return total


def check_scored(total: Statistics, pieces: Sequence[TablePiece]) -> None:
    """Require rows, for every system."""
    skipped = [name for name, rows in (total.skipped or {}).items() if rows]
    for name in skipped:
        if name not in total.systems:
            raise InputError(all_skipped(name))
    for piece in pieces:
        if not total.systems or (piece.system or next(iter(total.systems))) not in total.systems:
            raise InputError(f"{piece.path} has no rows: there is nothing to score")


ENOUGH_ROWS = 1_000_000
"""Rows above which starting a cluster pays off."""


def _remarks(engine: Engine, rows: int) -> tuple[str, ...]:
    if isinstance(engine, Local) or rows >= ENOUGH_ROWS:
        return ()
    problem = (
        f"{rows:,} rows: below about a million, starting {engine.name} costs more than the job"
    )
    return (f"{problem}; --engine local scores them sooner.",)


def plan_job(
    table: Any,
    metrics: Sequence[Metric],
    names: ColumnNames,
    buckets: int | None,
    resampled: bool,
    skip_missing: bool = False,
) -> tuple[TableJob, list[TablePiece]]:
    """Return the job of measuring a table in files, and its pieces.

    Unless rows with missing texts are skipped, files that are known to have some are refused.
    """
    resolve_buckets(0, buckets)
    columns, tables = find_columns(table, names)
    columns = replace(columns.with_scores(metrics), skip_missing=skip_missing)
    if resampled:
        check_ids(columns)
    else:
        columns = replace(columns, rows_are_segments=False)
    for path in (path for system in tables for path in system.files):
        columns.places(path, table_format(path).columns(path))
    pieces = plan_tables(tables)
    if not skip_missing:
        check_nulls(pieces, columns)
    used = resolve_buckets(sum(piece.rows or 0 for piece in pieces), buckets) if resampled else None
    most = None if buckets == 0 else MAX_ROWS
    return TableJob(
        columns, tuple(map(sign_metric, metrics)), used, resampled and not used, most
    ), pieces


def check_nulls(pieces: Sequence[TablePiece], columns: Columns) -> None:
    """Refuse a row with a missing value before any work, where the format shows it quickly.

    Others are refused when their row is read.
    """
    needed = [name for name in columns.names if name not in columns.scores]
    for piece in pieces:
        shows_nulls = TABLE_FORMATS[piece.format].shows_nulls
        if shows_nulls is not None and shows_nulls(piece, needed):
            for rows in piece_ranges(piece, columns):
                rows.read()


def choose_engine(
    engine: str | Engine, options: Mapping[str, str] | None, threads: int | None
) -> Engine:
    """Return an engine by its name; `threads` applies to the local engine."""
    chosen = as_engine(engine, options)
    if threads is None:
        return chosen
    if isinstance(chosen, Local):
        return Local(threads)
    problem = f"engine {chosen.name} has workers, and no threads of this process"
    raise InputError(f"{problem}: leave threads out, or set the engine's option workers")


def run_pieces(
    engine: Engine, job: TableJob | ShardJob, pieces: Sequence[TablePiece], progress: Progress
) -> Iterator[Statistics]:
    """Yield the statistics of all pieces, those first that were done before."""
    left = []
    for number, piece in enumerate(pieces, 1):
        statistics = job.finished(piece) if isinstance(job, ShardJob) else None
        if statistics is None:
            left.append(piece)
            continue
        progress(number, len(pieces), "reading finished pieces")
        yield statistics
    if not left:
        return
    work = shard_work(job) if isinstance(job, ShardJob) else work_of(job)
    counted = RowProgress([piece.rows for piece in left], progress)
    with engine.running(len(left)) as runner:
        for _, result in runner.run(work, left, counted.more):
            if isinstance(result, JobFailure):
                raise InputError(result.sentence)
            counted.finished(result.rows)
            yield result


class RowProgress:
    """Rows that are done, of which some are reported in mid-piece and all when a piece is."""

    def __init__(self, rows: Sequence[int | None], progress: Progress) -> None:
        counts = [number for number in rows if number is not None]
        self._total = sum(counts) if len(counts) == len(rows) else 0  # 0: unknown
        self._progress, self._seen, self._finished = progress, 0, 0

    def more(self, rows: int) -> None:
        """Count rows that were done in mid-piece."""
        self._seen += rows
        self._progress(self._seen, self._total, "scoring rows")

    def finished(self, rows: int) -> None:
        """Count the rows of a piece that is done."""
        self._finished += rows
        if self._finished > self._seen:
            self.more(self._finished - self._seen)


class ShardRow(NamedTuple):
    """A folder of shards: how many pieces of a job there are, and how many this run did."""

    folder: str
    shard: str
    pieces: int
    of: int
    rows: int


@dataclass(frozen=True, eq=False, repr=False)
class WrittenShards(Result):
    """Shards that a run wrote; `merge_shards` merges them."""

    rows: tuple[ShardRow]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def write_shards(
    table: Any,
    metrics: Metrics = ("bleu",),
    *,
    shards: FilePath,
    shard: str | tuple[int, int],
    candidate: str | None = None,
    reference: str | Sequence[str] | None = None,
    by: str | None = None,
    id: str | None = None,
    buckets: int | None = None,
    engine: str | Engine = "local",
    engine_options: Mapping[str, str] | None = None,
    rows: FilePath | None = None,
    skip_missing: bool = False,
    threads: int | None = None,
    progress: Progress = silent,
) -> WrittenShards:
    """Measure a part of a table and keep the statistics in a folder.

    Finished pieces in the folder are not measured again.

    Args:
        table, metrics, candidate, reference, by, buckets, engine, engine_options, rows,
            skip_missing, threads, progress: as for `measure_table`.
        shards: folder for all parts.
        shard: part, such as `"3/16"`: every 16th piece, from the 3rd on.
        id: column of ids; with it, data for intervals and tests are kept, too.
    """
    number, count = as_shard(shard)
    chosen = load_metrics(metrics)
    names = candidate, reference, by, id
    resampled = id is not None
    job, pieces = plan_job(table, chosen, names, buckets, resampled, skip_missing)
    own_pieces, scored = pieces[number - 1 :: count], 0
    runner = choose_engine(engine, engine_options, threads)
    digest = job_digest(job, pieces)
    check_apart(rows, shards)
    folders = row_folder(rows, pieces, digest, resumable=True, part=True)
    with folders as folder, shard_folder(shards) as place:
        shard_job = ShardJob.of(job.writing(folder), str(place), pieces)
        for statistics in run_pieces(runner, shard_job, own_pieces, progress):
            scored += statistics.rows
    name = os.fspath(shards)
    row = ShardRow(name, f"{number}/{count}", len(own_pieces), len(pieces), scored)
    settings = {"metrics": tuple(map(str, chosen)), "shard": row.shard, "folder": name}
    note = f"When all shards are done: karat merge {name}"
    return WrittenShards((row,), settings, (note,), "\n".join(job.metrics))
