"""Jobs: what is to be made of every piece of a table; a function of an installed package does it.

A job and its pieces are plain values that engines can send anywhere. Metrics go by name, with the
version that makes their numbers: a worker with another version refuses them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrow.batches import BatchReader, RowRange
from karat.arrow.columns import Columns
from karat.arrow.engines import Report, Work
from karat.arrow.pieces import TABLE_FORMATS, Piece
from karat.arrow.row_files import RowFile, part_name
from karat.arrow.statistics import Measure, Part, Statistics
from karat.errors import InputError, KaratError
from karat.metrics.base import Metric
from karat.metrics.names import metric
from karat.progress import Stop
from karat.stats.buckets import BUCKETS, MAX_ROWS


@dataclass(frozen=True)
class Job:
    """The columns, metrics and numbers that are wanted of every piece."""

    columns: Columns
    metrics: tuple[str, ...]
    """Names with versions, as `tables.signed` writes them."""
    buckets: int | None = None
    keep: bool = False
    """True to keep rows."""
    most_rows: int | None = MAX_ROWS
    """The most rows to keep; where there are more, they are put into buckets. None: no limit."""
    rows: str | None = None
    """A folder for files with the scores of all rows."""
    single_rows: bool = False
    """True to refuse more rows than are kept."""

    def writing(self, folder: str | None) -> Job:
        """Return the same job, writing the scores of rows to a folder."""
        return replace(self, rows=folder)

    def row_file(self, piece: Piece) -> str | None:
        """Return the file with the scores of a piece's rows, if they are wanted."""
        return self.rows and os.path.join(self.rows, part_name(piece))

    @property
    def measure(self) -> Measure:
        """The metrics, as values, and what is made of batches."""
        chosen = tuple(map(metric, self.metrics))
        return Measure(chosen, self.buckets, self.keep, self.rows is not None)


TOO_MANY = (
    f"above {MAX_ROWS:,} rows the scores of single segments are not kept: --rows OUT writes them, "
    "--buckets 0 keeps them"
)


class Failure(NamedTuple):
    """Error in a piece, which other workers need not try again."""

    sentence: str


def work_of(job: Job) -> Work[Statistics | Failure]:
    """Return the work of a job as a function that engines can send."""
    return partial(run_piece, job)


def run_piece(
    job: Job,
    piece: Piece,
    threads: int = 1,
    stop: Stop | None = None,
    report: Report | None = None,
) -> Statistics | Failure:
    """Measure a piece; bad input is a result, too, so that no engine tries it again."""
    return guarded(partial(measure_piece, job, piece, threads, stop, report), stop)


def guarded(measure: Callable[[], Statistics], stop: Stop | None) -> Statistics | Failure:
    """Measure a piece; on a worker of an engine, errors of input become results."""
    try:
        return measure()
    except KaratError as error:
        if stop is not None:  # in this process: let it through as it is
            raise
        return Failure(str(error))


def measure_piece(
    job: Job,
    piece: Piece,
    threads: int = 1,
    stop: Stop | None = None,
    report: Report | None = None,
    digest: str = "",
) -> Statistics:
    """Return the statistics of one piece, and write the scores of its rows if they are wanted.

    A file of rows is marked with the `digest` of the piece's content.
    """
    measure = job.measure
    found = Statistics(measure.metrics, job.buckets)
    found.source = piece.name
    found.skipped = {} if job.columns.skip_missing else None
    path = job.row_file(piece)
    scores = score_columns(job.columns, measure.metrics)
    with RowFile(path, piece, scores, digest) if path else nullcontext() as file:
        batches = _read(piece, job.columns, all_columns=bool(file))
        batches = file.reading(batches) if file else batches
        ranges = _kinds_into(found, _ranges(piece, job.columns, batches), job.columns.scores)
        for part in measure.parts(ranges, threads, stop):
            if file:
                file.write(part.values, part.present)
            found = added(found, part, job.most_rows)
            if job.single_rows and found.buckets:
                raise InputError(TOO_MANY)
            if report:
                report(part.rows)
    return found


def score_columns(columns: Columns, metrics: Sequence[Metric]) -> list[str]:
    """Return the names of the columns of scores: METRIC, in a wide table CANDIDATE/METRIC."""
    systems = [f"{name}/" for name in columns.candidate] if columns.wide else [""]
    return [f"{system}{m.of_segments()}" for system in systems for m in metrics]


def _kinds_into(
    found: Statistics, ranges: Iterator[RowRange], scores: Sequence[str]
) -> Iterator[RowRange]:
    """Yield ranges of rows; the kinds of their columns are noted.

    Columns of scores are left out: whole numbers in one file and fractions in another are fine.
    """
    for rows in ranges:
        found.kinds |= {
            name: kind for name, kind in rows.reader.kinds.items() if name not in scores
        }
        yield rows


def added(
    total: Statistics, part: Part | Statistics, most_rows: int | None = MAX_ROWS
) -> Statistics:
    """Add a part; where more rows are kept than should be, buckets take their place."""
    if isinstance(part, Statistics) and part.buckets and not total.buckets:
        total = total.in_buckets(part.buckets)
    if isinstance(part, Part) and total.buckets and part.kept is not None:
        kept = Statistics(total.metrics)
        kept += part
        part = kept
    total += part
    if most_rows is None or total.buckets or total.rows <= most_rows or not total.keeps:
        return total
    return total.in_buckets(BUCKETS)


def _wanted(piece: Piece, columns: Columns) -> list[str] | None:
    """Return the columns to read; None for all.

    Scores may be numbers of any kind; named columns of JSON lines may not.
    """
    return None if columns.scores and piece.format == "jsonl" else columns.names


def piece_ranges(piece: Piece, columns: Columns) -> Iterator[RowRange]:
    """Yield the rows of a piece in ranges, with the columns that are needed."""
    yield from _ranges(piece, columns, _read(piece, columns))


def _read(piece: Piece, columns: Columns, all_columns: bool = False) -> Iterator[Any]:
    """Yield the record batches of a piece, with the columns that are needed or with all."""
    names = None if all_columns else _wanted(piece, columns)
    format = TABLE_FORMATS[piece.format]
    nullable = format.read_nullable if columns.skip_missing else None
    return (nullable or format.read)(piece, names)


def _ranges(piece: Piece, columns: Columns, batches: Iterator[Any]) -> Iterator[RowRange]:
    reader, first = None, piece.first
    columns = replace(columns, system=piece.system)
    for batch in batches:
        schema, array = batch.__arrow_c_array__()
        if reader is None:
            reader = BatchReader(piece.name, columns, *_kernel.arrow_columns(schema))
        one = _kernel.ArrowBatch.from_capsules(schema, array)
        yield from reader.ranges([one], first)
        first += len(one)
