"""Scores and comparisons of tables: files of any size, on any engine, or tables in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from karat.arrow.batches import RowRange, reference_hashes
from karat.arrow.columns import Columns
from karat.arrow.engines import Engine, Local, as_engine
from karat.arrow.examples import segment_labels, table_texts, with_examples
from karat.arrow.frame_scores import (
    Asked,
    RowScores,
    all_skipped,
    check_ids,
    frame_columns,
    frame_ranges,
    measure_frame,
    with_row_numbers,
)
from karat.arrow.frames import TABLE, Frame, as_frame
from karat.arrow.jobs import TOO_MANY, Failure, Job, added, piece_ranges, work_of
from karat.arrow.merged import Merged
from karat.arrow.pieces import (
    TABLE_FORMATS,
    Piece,
    TableFiles,
    find_tables,
    plan_tables,
    table_format,
)
from karat.arrow.row_files import check_apart, row_folder
from karat.arrow.shards import ShardJob, job_digest, shard_folder, shard_work
from karat.arrow.statistics import Statistics
from karat.arrow.tables import signed
from karat.comparison import Comparison
from karat.errors import InputError
from karat.metrics.base import Metric
from karat.progress import Progress, silent
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
    given, drawn = table if frame is None else frame, resamples > 0 or by_ids
    found = measure_table(
        given, metrics, drawn=drawn, single_rows=by_ids, scores=rows, progress=progress, **how
    )
    told: dict[str, Any] = {"seed": seed, "progress": progress, "signature": signature}
    made = found.score(resamples, segments=by_ids, **told)
    if rows is not None and frame is not None:
        columns = frame_columns(frame, _asked(how))
        columns = replace(columns, skip_missing=bool(how.get("skip_missing")))
        return rows.added_to(made, frame, columns)
    if not by_ids:
        return made
    named = how.get("id") is not None
    rows_again = partial(read_rows, table, _asked(how), bool(how.get("skip_missing")))
    texts = table_texts(found.statistics, rows_again, named=named)
    sorted_ids = {name: found.statistics.sorted_ids(name) for name in found.statistics.names()}
    labels = {name: segment_labels(ids, named=named) for name, ids in sorted_ids.items()}
    return replace(made, texts=texts, ids=labels)


def _asked(how: Mapping[str, Any]) -> Asked:
    return how.get("candidate"), how.get("reference"), how.get("by"), how.get("id")


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
    found = measure_table(table, metrics, drawn=True, progress=progress, **how)
    skip_missing = bool(how.get("skip_missing"))
    if not isinstance(table, Frame):
        check_row_pairs(table, _asked(how), found.statistics, skip_missing)
    tested: dict[str, Any] = {"test": test, "trials": trials, "resamples": resamples, "seed": seed}
    made = found.compare(baseline, **tested, progress=progress, signature=signature)
    rows, named = read_rows(table, _asked(how), skip_missing), how.get("id") is not None
    paired = found.statistics.without_unpaired()
    return with_examples(made, paired, rows, examples, named=named)


def check_row_pairs(table: Any, asked: Asked, statistics: Statistics, skip_missing: bool) -> None:
    """Refuse files whose rows cannot be paired by their numbers.

    Files of systems without a column of ids must have the same number of rows, with the same
    references.
    """
    columns, tables = find_columns(table, asked)
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
    """Return the first row whose references are not those of the first file, and its file."""
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


def find_columns(table: Any, asked: Asked) -> tuple[Columns, list[TableFiles]]:
    """Return the columns of a table in files, and the files of each system."""
    candidate, _, by, _ = asked
    wide = isinstance(candidate, list | tuple) and len(candidate) > 1
    tables = find_tables(table, columns_name_systems=by is not None or wide)
    first = tables[0].files[0]
    columns = Columns.found(first, table_format(first).columns(first), *asked)
    one_file_each = all(len(system.files) == 1 for system in tables)
    return with_row_numbers(columns) if one_file_each else columns, tables


def read_rows(
    table: Any, asked: Asked, skip_missing: bool = False, metrics: Sequence[Metric] = ()
) -> Iterator[RowRange]:
    """Yield the rows of a table, in ranges, with the columns of scores that metrics read."""
    frame = table if isinstance(table, Frame) else as_frame(table)
    if frame is not None:
        columns = with_row_numbers(frame_columns(frame, asked)).with_scores(metrics)
        columns.places(TABLE, frame.names)
        yield from frame_ranges(frame, replace(columns, skip_missing=skip_missing))
        return
    columns, tables = find_columns(table, asked)
    columns = columns.with_scores(metrics)
    for piece in plan_tables(tables):
        yield from piece_ranges(piece, replace(columns, skip_missing=skip_missing))


def _check_in_memory(runner: Engine, **folders: FilePath | None) -> Local:
    """Refuse what is for tables in files alone."""
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
    drawn: bool = False,
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
        drawn: keep what intervals and tests need.
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
    asked = candidate, reference, by, id
    resolve_buckets(0, buckets)  # refused, where it is no number of buckets
    runner = choose_engine(engine, engine_options, threads)
    frame = table if isinstance(table, Frame) else as_frame(table)
    if frame is not None:
        here = _check_in_memory(runner, rows=rows, shards=shards)
        chosen = tuple(load_metrics(metrics))
        more = here.threads, scores, skip_missing, progress
        return measure_frame(frame, asked, chosen, buckets, drawn, *more)
    drawn = drawn or (shards is not None and id is not None)
    job, pieces = plan_job(table, load_metrics(metrics), asked, buckets, drawn, skip_missing)
    job = replace(job, single_rows=single_rows)
    total = Statistics(load_metrics(metrics), job.buckets)
    total.skipped = {} if skip_missing else None
    total = _measure_pieces(job, pieces, total, runner, (rows, shards), progress)
    return Merged(total, _remarks(runner, total.rows))


def _measure_pieces(
    job: Job,
    pieces: Sequence[Piece],
    total: Statistics,
    runner: Engine,
    folders: tuple[FilePath | None, FilePath | None],
    progress: Progress,
) -> Statistics:
    """Return the statistics of all pieces; `folders` are those of rows and of shards."""
    if job.single_rows and job.buckets:
        raise InputError(TOO_MANY)
    files = dict.fromkeys(piece.system for piece in pieces if piece.system is not None)
    total.order = job.columns.candidate if job.columns.wide else tuple(files)
    rows, shards = folders
    check_apart(rows, shards)
    digest = job_digest(job, pieces)
    row_files = row_folder(rows, pieces, digest, kept=shards is not None, part=False)
    with row_files as folder, shard_folder(shards) as place:
        writing = job.writing(folder)
        whole = writing if place is None else ShardJob.of(writing, place, pieces)
        for found in run_pieces(runner, whole, pieces, progress):
            total = added(total, found, job.most_rows)
            if job.single_rows and total.buckets:
                raise InputError(TOO_MANY)
    check_scored(total, pieces)
    total.check_used()
    return total


def check_scored(total: Statistics, pieces: Sequence[Piece]) -> None:
    """Refuse a table without rows, or a system that has none left."""
    skipped = [name for name, rows in (total.skipped or {}).items() if rows]
    for name in skipped:
        if name not in total.systems:
            raise InputError(all_skipped(name))
    for piece in pieces:
        if not total.systems or (piece.system or next(iter(total.systems))) not in total.systems:
            raise InputError(f"{piece.path} has no rows: there is nothing to score")


ENOUGH_ROWS = 1_000_000
"""Rows from which on a cluster is worth its start, more or less."""


def _remarks(engine: Engine, rows: int) -> tuple[str, ...]:
    if isinstance(engine, Local) or rows >= ENOUGH_ROWS:
        return ()
    told = f"{rows:,} rows: below about a million, starting {engine.name} costs more than the job"
    return (f"{told}; --engine local scores them sooner.",)


def plan_job(
    table: Any,
    metrics: Sequence[Metric],
    asked: Asked,
    buckets: int | None,
    drawn: bool,
    skip_missing: bool = False,
) -> tuple[Job, list[Piece]]:
    """Return the job of measuring a table in files, and its pieces.

    Unless rows with missing texts are skipped, files that are known to have some are refused.
    """
    resolve_buckets(0, buckets)
    columns, tables = find_columns(table, asked)
    columns = replace(columns.with_scores(metrics), skip_missing=skip_missing)
    if drawn:
        check_ids(columns)
    else:
        columns = replace(columns, rows_are_segments=False)
    for path in (path for system in tables for path in system.files):
        columns.places(path, table_format(path).columns(path))
    pieces = plan_tables(tables)
    if not skip_missing:
        check_nulls(pieces, columns)
    used = resolve_buckets(sum(piece.rows or 0 for piece in pieces), buckets) if drawn else None
    most = None if buckets == 0 else MAX_ROWS
    return Job(columns, tuple(map(signed, metrics)), used, drawn and not used, most), pieces


def check_nulls(pieces: Sequence[Piece], columns: Columns) -> None:
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
    """Return an engine by its name; `threads` are those of this process."""
    found = as_engine(engine, options)
    if threads is None:
        return found
    if isinstance(found, Local):
        return Local(threads)
    told = f"engine {found.name} has workers, and no threads of this process"
    raise InputError(f"{told}: leave threads out, or set the engine's option workers")


def run_pieces(
    engine: Engine, job: Job | ShardJob, pieces: Sequence[Piece], progress: Progress
) -> Iterator[Statistics]:
    """Yield the statistics of all pieces, those first that were done before."""
    left = []
    for number, piece in enumerate(pieces, 1):
        found = job.finished(piece) if isinstance(job, ShardJob) else None
        if found is None:
            left.append(piece)
            continue
        progress(number, len(pieces), "reading finished pieces")
        yield found
    if not left:
        return
    work = shard_work(job) if isinstance(job, ShardJob) else work_of(job)
    counted = RowProgress([piece.rows for piece in left], progress)
    with engine.running(len(left)) as runner:
        for _, result in runner.run(work, left, counted.more):
            if isinstance(result, Failure):
                raise InputError(result.sentence)
            counted.finished(result.rows)
            yield result


class RowProgress:
    """Rows that are done, of which some are reported in mid-piece and all when a piece is."""

    def __init__(self, rows: Sequence[int | None], progress: Progress) -> None:
        known = [number for number in rows if number is not None]
        self._total = sum(known) if len(known) == len(rows) else 0  # 0: nobody knows
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
