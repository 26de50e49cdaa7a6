"""Scores and comparisons of tables: files of any size, on any engine, or tables in memory."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from karat.arrays import Floats, Ints, np
from karat.arrow.batches import RowRange, reference_hashes, table_batches
from karat.arrow.columns import Columns, has_usual_column, texts_column, usual_column
from karat.arrow.frames import TABLE, Frame, as_frame
from karat.arrow.jobs import (
    Engine,
    JobFailure,
    Local,
    TableJob,
    as_engine,
    piece_ranges,
    run_piece,
)
from karat.arrow.parts import NO_IDS, Part
from karat.arrow.pieces import (
    TABLE_FORMATS,
    TableFiles,
    TablePiece,
    find_tables,
    plan_tables,
    table_format,
)
from karat.arrow.row_files import check_apart, row_folder
from karat.arrow.shards import ShardJob, as_shard, job_digest, shard_folder
from karat.arrow.statistics import TOO_MANY_ROWS, TableStatistics
from karat.arrow.table_slices import SlicesOfIds, read_slices
from karat.arrow.tables import sign_metric
from karat.comparison import Comparison, find_examples
from karat.errors import InputError, quoted
from karat.evalset.reading import USUAL_COLUMNS
from karat.metrics.base import Metric
from karat.metrics.limits import Limit
from karat.progress import Progress, silent
from karat.results import Result
from karat.score_settings import LENGTH, ComparisonSettings
from karat.scoring import (
    USUAL_METRICS,
    Metrics,
    Places,
    Scoring,
    SegmentText,
    TextLookup,
    load_metrics,
)
from karat.slices import check_single_rows
from karat.stats.buckets import MAX_ROWS, resolve_buckets
from karat.storage.output import FilePath
from karat.tables.streams import has_texts_only, sample_columns

ColumnNames = tuple[str | Sequence[str] | None, str | Sequence[str] | None, str | None, str | None]
"""Names of columns: candidate, reference, by, id; None to detect them."""


class OpenTable(NamedTuple):
    """A table in memory or in files, and the columns to read."""

    frame: Frame | None  # the table in memory; None if it is in files
    tables: list[TableFiles]  # the files of each system
    columns: Columns

    def ranges(self) -> Iterator[RowRange]:
        """Yield all rows in ranges."""
        if self.frame is not None:
            opened = self.frame.open(self.columns.names)
            yield from table_batches(opened, self.columns, TABLE, self.frame.place)
        for piece in plan_tables(self.tables) if self.tables else ():
            yield from piece_ranges(piece, self.columns)

    def text_lookup(self, keys: Mapping[str, Sequence[int | str]], *, by_row: bool) -> TextLookup:
        """Return a function that looks up the texts of segments by reading the table again.

        Args:
            keys: for each system the row number, or the id, of each of its segments.
            by_row: True if keys are row numbers.
        """

        row_name = (lambda row: str(row + 1)) if self.frame is None else self.frame.place

        def look_up(places: Places) -> dict[tuple[str, int], SegmentText]:
            place_of = {(s, keys[s][place]): place for s in places for place in places[s]}
            all_keys = {key for _, key in place_of}
            numbers = np.array([key for key in all_keys if not isinstance(key, str)], np.int64)
            texts_of = {}
            for rows in self.ranges():
                batch = rows.read()
                ids = batch.ids.listed() if batch.ids is not None and batch.has_ids else None
                row_numbers = batch.row_numbers()
                batch_keys = row_numbers if by_row or ids is None else ids
                if isinstance(batch_keys, list):
                    local = [at for at, key in enumerate(batch_keys) if key in all_keys]
                else:
                    local = np.flatnonzero(np.isin(batch_keys, numbers)).tolist()
                references = batch.references.strings(local)
                for number, texts in enumerate(batch.candidates):
                    for at, text, refs in zip(local, texts.strings(local), references, strict=True):
                        system = batch.systems[batch.codes[at] + number]
                        place = place_of.get((system, batch_keys[at]))
                        if place is not None:
                            label = row_name(int(row_numbers[at])) if ids is None else str(ids[at])
                            texts_of[system, place] = SegmentText(text, tuple(refs), label)
            return texts_of

        return look_up


def open_table(
    table: Any,
    names: ColumnNames,
    metrics: Sequence[Metric] = (),
    skip_missing: bool = False,
    units: str | None = None,
    slices: str | None = None,
) -> OpenTable:
    """Open a table; columns that are not named are detected by usual names.

    Row numbers are the ids of segments if no column has ids or systems, and no system has several
    files.
    """
    frame, tables = as_frame(table), []
    candidate, reference, by, id = names
    if frame is None:
        wide = isinstance(candidate, list | tuple) and len(candidate) > 1
        tables = find_tables(table, columns_name_systems=by is not None or wide)
        title = tables[0].files[0]
        existing = table_format(title).columns(title)
    else:
        title, existing = TABLE, frame.names
    if names == (None, None, None, None) and not has_texts_only(existing):
        candidate, reference, by, id = _infer_columns(frame, title)
    if candidate is None:
        candidate = texts_column(title, existing, metrics)
    needed = not metrics or any(metric.needs_references for metric in metrics)
    without_references = reference is None and not needed and not has_usual_column(existing)
    if candidate is None:
        columns = replace(Columns.from_names(by=by, id=id), candidate=(), reference=())
    elif without_references:
        columns = replace(Columns.from_names(candidate, by=by, id=id), reference=())
    else:
        if reference is None:
            reference = usual_column(title, existing, "reference")
        columns = Columns.from_names(candidate, reference, by, id)
    numbered = columns.id is None and columns.by is None
    numbered = numbered and all(len(system.files) == 1 for system in tables)
    columns = replace(columns, rows_are_segments=numbered, skip_missing=skip_missing)
    columns = columns.with_scores(metrics).with_units(units, existing)
    if slices != LENGTH or LENGTH in existing:
        columns = replace(columns, slice=slices)
    if frame is not None:
        columns.column_indices(TABLE, existing)
    return OpenTable(frame, tables, columns)


def _infer_columns(frame: Frame | None, path: str) -> ColumnNames:
    """Return the columns of a table by its first rows; None for a column that is not clear."""
    no_columns: ColumnNames = (None, None, None, None)
    if (frame is not None and frame.rows is None) or (frame is None and not os.path.isfile(path)):
        return no_columns  # it can be read once, or is elsewhere
    try:
        columns = sample_columns(path if frame is None else frame.data)
    except InputError:
        columns = None
    if columns is None:
        return no_columns
    return columns.candidate, columns.reference or None, columns.by, columns.id


_COLUMN_ARGUMENTS = ("candidate", "reference", "by", "id")


def _columns_remark(opened: OpenTable, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a remark on the columns of files if the user named none."""
    columns = opened.columns
    is_named = any(arguments.get(name) is not None for name in _COLUMN_ARGUMENTS)
    if opened.frame is not None or is_named:
        return ()
    files = [file for system in opened.tables for file in system.files]
    title = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"
    roles = {"candidate": ",".join(columns.candidate), "reference": ",".join(columns.reference)}
    roles |= {"system": columns.by or "", "id": columns.id or ""}
    listed = ", ".join(f"{role}={column}" for role, column in roles.items() if column)
    return (f"{title}: {listed}",) if listed else ()


def _check_ids_of_files(opened: OpenTable, units: str | None, arguments: Mapping[str, Any]) -> None:
    """Reject the files of one table if their first rows have the same ids.

    Files with the same ids are usually the outputs of several systems. If the user named no
    columns, ids are also in a column with a usual name.
    """
    is_named = any(arguments.get(name) is not None for name in _COLUMN_ARGUMENTS)
    columns = opened.columns
    if columns.by is not None or columns.wide or all(len(t.files) < 2 for t in opened.tables):
        return
    if columns.id is None and not is_named:
        path = opened.tables[0].files[0]
        existing = table_format(path).columns(path)
        usual = [name for name in existing if name.lower() in USUAL_COLUMNS["segment"]]
        columns = replace(columns, id=usual[0] if usual else None)
    if columns.id is None or units == columns.id:
        return
    opened = opened._replace(columns=columns)
    for table in opened.tables:
        first_files: dict[int | str, str] = {}
        for file in table.files if len(table.files) > 1 else ():
            rows = next(opened._replace(tables=[TableFiles(table.system, [file])]).ranges(), None)
            ids = None if rows is None else rows.read().ids
            for id in dict.fromkeys([] if ids is None else list(ids.listed())):
                first = first_files.setdefault(id, file)
                if first != file:
                    raise InputError(
                        f"{first} and {file} are parts of one table and both have the id "
                        f"{quoted(str(id))}: if each file is a system, name the files one by one; "
                        "if a column names the system, add --by COLUMN (in Python by=); if rows "
                        f"with the same id are repeated answers, add --unit {columns.id} (in "
                        "Python units=)"
                    )


def score_table(
    table: Any,
    metrics: Metrics = USUAL_METRICS,
    *,
    intervals: bool = False,
    units: str | None = None,
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
        intervals: add 95% intervals.
        units: column with the units of intervals; by default, each id is a unit.
        segments: keep the scores of all rows, for `worst`, `best` and `join()`. Files need `id`,
            with different ids.
        progress: function that is called with the progress.
        signature: `karat` or `sacrebleu`.
        how: columns and other arguments of `measure_table`.
    """
    table = as_frame(table) or table
    in_memory = isinstance(table, Frame)
    scores = RowScores() if segments and in_memory else None
    by_ids = segments and not in_memory
    by_unit = any(m.by_unit for m in load_metrics(metrics))
    opened = _open_again(table, metrics, how)
    _check_ids_of_files(opened, units, how)
    keep: dict[str, Any] = {"resampled": intervals or by_ids or by_unit, "single_rows": by_ids}
    how["units"] = units if intervals or how.get("shards") else None
    statistics = measure_table(table, metrics, **keep, scores=scores, progress=progress, **how)
    scoring = statistics.score(intervals=intervals, segments=by_ids, signature=signature)
    remarks = _columns_remark(opened, how)
    if intervals and units is None:
        remarks += _pooling_remarks(table, metrics, how, statistics)
    scoring = replace(scoring, remarks=(*scoring.remarks, *remarks))
    if not segments:
        return scoring
    if scores is not None:
        return scores.add_to(scoring, opened)
    if not scoring.values:  # ids repeat
        return scoring
    has_ids = opened.columns.id is not None
    ids = {name: statistics.sorted_ids(name) for name in statistics.names()}
    labels = {name: [str(id if has_ids else id + 1) for id in ids[name]] for name in ids}
    return replace(scoring, texts=opened.text_lookup(ids, by_row=not has_ids), ids=labels)


_SYSTEM_COLUMNS = (*USUAL_COLUMNS["system"], "run", "run_id")


def _pooling_remarks(
    table: Any, metrics: Metrics, arguments: Mapping[str, Any], statistics: TableStatistics
) -> tuple[str, ...]:
    """Return a remark on a column of systems that is not used; reject it if ids repeat."""
    opened = _open_again(table, metrics, arguments)
    column = _unused_system_column(table, opened, metrics, arguments)
    if column is None:
        return ()
    id = opened.columns.id
    if id is not None and statistics.ids_repeat():
        raise InputError(
            f"ids in column {quoted(id)} repeat, and column {quoted(column)} has several values: "
            f"if it names systems, add --by {column} (in Python by=); if rows with the same id are "
            f"repeated answers of one system, add --unit {id} (in Python units=)"
        )
    return (
        f"All rows are one system, and column {quoted(column)} has several values: if it names "
        f"systems, add --by {column} and the column of ids, --id (in Python by=, id=).",
    )


def _unused_system_column(
    table: Any, opened: OpenTable, metrics: Metrics, arguments: Mapping[str, Any]
) -> str | None:
    """Return a column of a single table that usually names systems and has several values."""
    columns, frame = opened.columns, opened.frame
    if columns.by is not None or columns.wide or len(opened.tables) > 1:
        return None
    if frame is None:
        title = opened.tables[0].files[0]
        existing = table_format(title).columns(title)
    elif frame.rows is None:  # perhaps a stream that can be read once
        return None
    else:
        existing = frame.names
    for name in existing:
        if name.lower() not in _SYSTEM_COLUMNS or name in columns.names:
            continue
        systems: set[str] = set()
        try:
            for rows in _open_again(table, metrics, {**arguments, "by": name}).ranges():
                systems |= {*rows.read().systems}
                if len(systems) > 1:
                    return name
        except InputError:  # not every row has a value
            continue
    return None


def _open_again(
    table: Any, metrics: Metrics, arguments: Mapping[str, Any], slices: str | None = None
) -> OpenTable:
    """Open a table again, with the arguments of `measure_table`, and perhaps slices."""
    candidate, reference, by, id = map(arguments.get, ("candidate", "reference", "by", "id"))
    names = candidate, reference, by, id
    skip_missing = bool(arguments.get("skip_missing"))
    return open_table(table, names, load_metrics(metrics), skip_missing, slices=slices)


def _read_slices(
    table: Any, metrics: Metrics, slices: str, arguments: Mapping[str, Any]
) -> SlicesOfIds:
    """Read the slices of a table: a column, or `length`."""
    check_single_rows(resolve_buckets(0, arguments.get("buckets")))
    if isinstance(table, Frame) and table.rows is None:
        raise InputError(
            "slices are read before the table is scored, and this table may be a stream that can "
            "be read once: make a data frame of it first, or leave the slices out"
        )
    opened = _open_again(table, metrics, arguments, slices)
    if opened.columns.id is None and not opened.columns.rows_are_segments:
        raise InputError(NO_IDS)
    return read_slices(opened.ranges(), opened.columns.slice)


def compare_table(
    table: Any,
    metrics: Metrics = USUAL_METRICS,
    *,
    baseline: str | None = None,
    units: str | None = None,
    slices: str | None = None,
    correction: str = ComparisonSettings.correction,
    margin: Limit = None,
    test: str = ComparisonSettings.test,
    trials: int | None = ComparisonSettings.trials,
    seed: int = ComparisonSettings.seed,
    progress: Progress = silent,
    signature: str = "karat",
    examples: int = 0,
    **how: Any,
) -> Comparison:
    """Compare the systems of a table with a baseline.

    The column `by` names the systems, and then `id` is needed; or several columns of candidates.

    Args:
        table, metrics, how: as for `score_table`.
        baseline: name of the system to compare with; by default the first by name, or the first
            column of candidates.
        slices: column of slices to compare within, or `length`, for short, medium and long
            references. The table must be one that can be read twice.
        units, correction, margin, test, trials, seed, progress, signature: as for `compare`.
        examples: number of segments to keep where each system differs most from the baseline. The
            table must be one that can be read twice.
    """
    table = as_frame(table) or table
    opened = _open_again(table, metrics, how)
    _check_ids_of_files(opened, units, how)
    slices_of_ids = None if slices is None else _read_slices(table, metrics, slices, how)
    statistics = measure_table(
        table, metrics, resampled=True, units=units, progress=progress, **how
    )
    _check_row_pairs(opened, statistics)
    comparison = statistics.compare(
        baseline,
        correction=correction,
        margin=margin,
        test=test,
        trials=trials,
        seed=seed,
        progress=progress,
        signature=signature,
        slices=slices_of_ids,
    )
    remarks = (*comparison.remarks, *_columns_remark(opened, how))
    comparison = replace(comparison, remarks=remarks)
    if not (examples and comparison.values):
        return comparison
    has_ids = opened.columns.id is not None
    paired = statistics.without_unpaired()
    ids = dict.fromkeys(paired.names(), paired.sorted_ids(comparison.baseline))
    texts = opened.text_lookup(ids, by_row=not has_ids)
    example_rows = find_examples(comparison, texts, examples, with_ids=has_ids)
    return replace(comparison, examples=example_rows)


_PAIRED_BY_ROW = (
    "without ids, row 1 of a file is compared with row 1 of another, so files need the same "
    "references in the same order; or name the column of ids (--id COLUMN, in Python id=)"
)


def _check_row_pairs(opened: OpenTable, statistics: TableStatistics) -> None:
    """Reject files whose rows cannot be paired by their numbers.

    Files of systems without a column of ids must have the same number of rows, with the same
    references.
    """
    tables, columns = opened.tables, opened.columns
    if not columns.rows_are_segments or len(tables) < 2:
        return
    names = [str(system.system) for system in tables]
    counts = [statistics.sums_by_system[name].counts for name in names]
    skipped = statistics.skipped or {}
    rows = [statistics.systems[name] + skipped.get(name, 0) for name in names]
    first = tables[0].files[0]
    for system, number in zip(tables, rows, strict=True):
        if number != rows[0]:
            files = f"{first} has {rows[0]:,} rows and {system.files[0]} {number:,}"
            raise InputError(f"{files}: {_PAIRED_BY_ROW}")
    if not columns.skip_missing and all((cells == counts[0]).all() for cells in counts):
        return
    baseline, *other_references = (
        _references_by_row(opened._replace(tables=[system])) for system in tables
    )
    for system, references in zip(tables[1:], other_references, strict=True):
        for row in sorted(baseline.keys() & references.keys()):
            if baseline[row] != references[row]:
                both = f"{first} and {system.files[0]}"
                problem = f"{both} have different references in row {row + 1:,}"
                raise InputError(f"{problem}: {_PAIRED_BY_ROW}")


def _references_by_row(opened: OpenTable) -> dict[int, int]:
    """Return a hash of the references of each row with all texts."""
    hashes: dict[int, int] = {}
    for rows in opened.ranges():
        batch = rows.read()
        numbers = batch.row_numbers().tolist()
        hashes |= zip(numbers, reference_hashes(batch.references).tolist(), strict=True)
    return hashes


class RowScores:
    """Collects the scores of all rows of a table in memory, part by part, in order."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._codes: list[Ints] = []
        self._rows: list[Ints] = []
        self._count = 0  # rows so far, including skipped ones
        self._scores: list[Sequence[Floats]] = []

    def add(self, part: Part) -> None:
        """Add the scores of the next rows."""
        codes = [self._names.setdefault(name, len(self._names)) for name in part.systems]
        n_scored = len(part.scores[0])
        self._codes.append(np.array(codes, np.int64)[part.row_codes])
        rows = np.arange(n_scored) if part.present is None else np.flatnonzero(part.present)
        self._rows.append(rows + self._count)
        self._count += n_scored if part.present is None else len(part.present)
        self._scores.append(part.scores)

    def add_to(self, scoring: Scoring, opened: OpenTable) -> Scoring:
        """Return the result with the scores of rows, their texts, and their table."""
        metrics = list(dict.fromkeys(row.metric.of_segments() for row in scoring.rows))
        scores = [np.concatenate(parts) for parts in zip(*self._scores, strict=True)]
        wide = len(scores) > len(metrics)
        codes, rows = np.concatenate(self._codes), np.concatenate(self._rows)
        values, places = {}, {}
        for name, number in self._names.items():
            block = number if wide else 0
            chosen = np.arange(len(codes)) if wide else np.flatnonzero(codes == number)
            places[name] = rows[chosen]
            for at, m in enumerate(metrics):
                values[name, m] = scores[block * len(metrics) + at][chosen]
        order = dict.fromkeys((row.system, row.metric.of_segments()) for row in scoring.rows)
        row_numbers = {name: numbers.tolist() for name, numbers in places.items()}
        return replace(
            scoring,
            values={key: values[key] for key in order},
            texts=opened.text_lookup(row_numbers, by_row=True),
            table=FrameRows(opened.frame, places, wide, self._count),
        )


@dataclass(frozen=True, eq=False)
class FrameRows:
    """A table in memory, and the rows of each system; in a wide table, all rows."""

    frame: Any
    places: Mapping[str, Ints]
    wide: bool
    count: int  # rows of the table

    def join(self, values: Mapping[tuple[str, Metric], Floats]) -> object:
        """Return the table with a column for the scores of each metric."""
        columns: dict[str, Floats] = {}
        for (system, m), scores in values.items():
            name = f"{system}/{m}" if self.wide else str(m)
            none = np.full(self.count, np.nan)  # skipped rows have no score
            columns.setdefault(name, none)[self.places[system]] = scores
        return self.frame.join(columns)


def measure_table(
    table: Any,
    metrics: Metrics = USUAL_METRICS,
    *,
    resampled: bool = False,
    single_rows: bool = False,
    scores: RowScores | None = None,
    candidate: str | Sequence[str] | None = None,
    reference: str | Sequence[str] | None = None,
    by: str | None = None,
    id: str | None = None,
    units: str | None = None,
    buckets: int | None = None,
    engine: str | Engine = "local",
    engine_options: Mapping[str, str] | None = None,
    rows: FilePath | None = None,
    shards: FilePath | None = None,
    skip_missing: bool = False,
    threads: int | None = None,
    progress: Progress = silent,
) -> TableStatistics:
    """Return the statistics of a table.

    Args:
        table, metrics: as for `score_table`.
        resampled: True to keep the data that intervals and tests need.
        single_rows: True to require the scores of single rows, which buckets do not have.
        scores: receives the scores of the rows of a table in memory.
        candidate, reference: columns of texts; by default detected. Several columns of candidates
            are several systems.
        by, id: columns with the system and with the id of the segment.
        units: column with the units of intervals and tests; by default, each id is a unit.
        buckets: number of buckets of units to use for intervals and tests, 0 for never; by default
            4,096 above two million rows.
        engine: `local`, `dask`, `spark` or `ray`; `engine_options` are its settings.
        rows: folder for the table with a column of scores for each metric.
        shards: folder for finished parts, to resume a run that was stopped.
        skip_missing: leave out and count rows without a candidate or a reference; by default they
            are rejected before anything is scored.
        threads, progress: as for `score`.
    """
    resolve_buckets(0, buckets)  # raises if the number is invalid
    runner, chosen = as_engine(engine, engine_options, threads), tuple(load_metrics(metrics))
    opened = open_table(table, (candidate, reference, by, id), chosen, skip_missing, units)
    if opened.frame is not None:
        for name, folder in (("rows", rows), ("shards", shards)):
            if folder is not None:
                raise InputError(f"{name} is for tables in files: this one is in memory")
        if not isinstance(runner, Local):
            raise InputError(f"engine {runner} works on tables in files: this one is in memory")
    resampled = resampled or (shards is not None and id is not None)
    job, pieces = plan_job(opened, chosen, buckets, resampled)
    if single_rows and job.buckets:
        raise InputError(TOO_MANY_ROWS)
    job = replace(job, single_rows=single_rows)
    total = job.start(chosen, TABLE)
    systems = [files.system for files in opened.tables if files.system is not None]
    total.order = job.columns.candidate if job.columns.wide else tuple(systems)
    if isinstance(runner, Local) and opened.frame is not None:
        opened = opened._replace(columns=job.columns)
        total = _measure_frame(opened, job, total, scores, runner.threads, progress)
    else:
        with closing(run_pieces(runner, job, pieces, rows, shards, progress)) as results:
            for statistics in results:
                total += statistics
    _check_scored(total, pieces)
    total.check_used()
    total.remarks = engine_remarks(runner, total.n_rows)
    return total


def _check_scored(total: TableStatistics, pieces: Sequence[TablePiece]) -> None:
    """Require rows of every system."""
    for name, count in (total.skipped or {}).items():
        if count and name not in total.systems:
            raise InputError(
                f"every row of system {quoted(name)} was skipped, because its candidate or its "
                "reference is missing: there is nothing to score"
            )
    for system, name in [(piece.system, piece.path) for piece in pieces] or [(None, TABLE)]:
        if (
            not total.sums_by_system
            or (system or next(iter(total.sums_by_system))) not in total.sums_by_system
        ):
            raise InputError(f"{name} has no rows: there is nothing to score")


def _measure_frame(
    opened: OpenTable,
    job: TableJob,
    total: TableStatistics,
    scores: RowScores | None,
    threads: int | None,
    progress: Progress,
) -> TableStatistics:
    """Return the statistics of a table in memory.

    Rows with missing texts are skipped, or rejected before anything is scored.
    """
    n_rows = opened.frame.rows if opened.frame else None
    if n_rows is not None and not job.columns.skip_missing:  # a stream can be read only once
        for rows in opened.ranges():
            rows.read()
    n_outputs = (n_rows or 0) * max(len(job.columns.candidate), 1)  # 0: unknown
    n_done = 0

    def report(n_rows: int) -> None:
        nonlocal n_done
        n_done += n_rows
        progress(n_done, n_outputs, "scoring rows")

    sink = None if scores is None else scores.add
    return job.measure(opened.ranges(), total, threads, report=report, sink=sink)


ENOUGH_ROWS = 1_000_000
"""Rows from which starting a cluster pays off."""


def engine_remarks(engine: Engine, rows: int) -> tuple[str, ...]:
    """Return a remark if a cluster is slower than this process would be."""
    if isinstance(engine, Local) or rows >= ENOUGH_ROWS:
        return ()
    problem = (
        f"{rows:,} rows: below about a million, starting {engine.name} costs more than the job"
    )
    return (f"{problem}; --engine local scores them sooner.",)


def plan_job(
    opened: OpenTable, metrics: Sequence[Metric], buckets: int | None, resampled: bool
) -> tuple[TableJob, list[TablePiece]]:
    """Return the job of measuring a table, and its pieces; a table in memory has none.

    Unless rows with missing texts are skipped, missing values are rejected before any work if the
    format has a quick check; otherwise they are rejected when they are read.
    """
    columns = opened.columns
    if resampled and columns.id is None and not columns.rows_are_segments:
        raise InputError(NO_IDS)
    for path in (path for system in opened.tables for path in system.files):
        columns.column_indices(path, table_format(path).columns(path))
    if not resampled:
        columns = replace(columns, rows_are_segments=False, unit=None)
    pieces = plan_tables(opened.tables) if opened.tables else []
    needed = [name for name in columns.names if name not in columns.scores]
    for piece in [] if columns.skip_missing else pieces:
        shows_nulls = TABLE_FORMATS[piece.format].shows_nulls
        if shows_nulls is not None and shows_nulls(piece, needed):
            for rows in piece_ranges(piece, columns):
                rows.read()
    used = resolve_buckets(sum(piece.rows or 0 for piece in pieces), buckets) if resampled else None
    most = None if buckets == 0 else MAX_ROWS
    names = tuple(map(sign_metric, metrics))
    return TableJob(columns, names, used, resampled and not used, most), pieces


def run_pieces(
    engine: Engine,
    job: TableJob,
    pieces: Sequence[TablePiece],
    rows: FilePath | None,
    shards: FilePath | None,
    progress: Progress,
    shard: tuple[int, int] | None = None,
) -> Generator[TableStatistics, None, None]:
    """Yield the statistics of the pieces of a table in files, finished ones first.

    Args:
        rows, shards: folders for the scores of rows and for the statistics of finished pieces.
        shard: K and N, to measure every N-th piece from the K-th; by default all.
    """
    check_apart(rows, shards)
    digest = job_digest(job, pieces)
    resumable, is_part = shards is not None, shard is not None
    row_files = row_folder(rows, pieces, digest, resumable=resumable, part=is_part)
    with row_files as row_place, shard_folder(shards) as shard_place:
        job = replace(job, rows=row_place)
        shard_job = None
        if shard_place is not None:
            shard_job = ShardJob(job, shard_place, digest, len(pieces))
        selected = pieces if shard is None else pieces[shard[0] - 1 :: shard[1]]
        left = []
        for number, piece in enumerate(selected, 1):
            statistics = shard_job.finished(piece) if shard_job else None
            if statistics is None:
                left.append(piece)
                continue
            progress(number, len(selected), "reading finished pieces")
            yield statistics
        if left:
            yield from _run_unfinished(engine, shard_job or job, left, progress)


def _run_unfinished(
    engine: Engine, job: TableJob | ShardJob, pieces: Sequence[TablePiece], progress: Progress
) -> Iterator[TableStatistics]:
    counts = [piece.rows for piece in pieces if piece.rows is not None]
    total = sum(counts) if len(counts) == len(pieces) else 0  # 0: unknown
    reported = finished = 0

    def report(rows: int) -> None:
        nonlocal reported
        reported += rows
        progress(reported, total, "scoring rows")

    with engine.running(len(pieces)) as runner:
        for _, result in runner.run(partial(run_piece, job.measure_piece), pieces, report):
            if isinstance(result, JobFailure):
                raise InputError(result.sentence)
            finished += result.n_rows
            if finished > reported:  # some engines do not report rows within a piece
                report(finished - reported)
            yield result


class ShardRow(NamedTuple):
    """A folder of shards: the pieces of this run, and of the whole job."""

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
    metrics: Metrics = USUAL_METRICS,
    *,
    shards: FilePath,
    shard: str | tuple[int, int],
    candidate: str | None = None,
    reference: str | Sequence[str] | None = None,
    by: str | None = None,
    id: str | None = None,
    units: str | None = None,
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
        units: column with the units of intervals and tests, which need ids.
    """
    number, count = as_shard(shard)
    chosen = load_metrics(metrics)
    resolve_buckets(0, buckets)
    opened = open_table(table, (candidate, reference, by, id), chosen, skip_missing, units)
    if opened.columns.unit is not None and id is None:
        raise InputError(NO_IDS)
    if opened.frame is not None:
        raise InputError("shards is for tables in files: this one is in memory")
    job, pieces = plan_job(opened, chosen, buckets, resampled=id is not None)
    runner = as_engine(engine, engine_options, threads)
    results = run_pieces(runner, job, pieces, rows, shards, progress, (number, count))
    scored = sum(statistics.n_rows for statistics in results)
    name, n_own = os.fspath(shards), len(pieces[number - 1 :: count])
    row = ShardRow(name, f"{number}/{count}", n_own, len(pieces), scored)
    settings = {"metrics": tuple(map(str, chosen)), "shard": row.shard, "folder": name}
    note = f"When all shards are done: karat merge {name}"
    return WrittenShards((row,), settings, (note,), "\n".join(job.metrics))
