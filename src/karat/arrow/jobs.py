"""Jobs on tables, and engines that run them on the pieces of a table.

A job and its pieces are plain values that engines can send anywhere. Metrics are sent by name, with
the version of Karat: a worker with another version rejects them.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from karat import _kernel
from karat.arrow.batches import BatchReader, RowRange
from karat.arrow.columns import Columns
from karat.arrow.parts import Part, TableMeasure
from karat.arrow.pieces import TABLE_FORMATS, TablePiece
from karat.arrow.row_files import RowFile, part_name
from karat.arrow.statistics import TableStatistics
from karat.errors import InputError, KaratError
from karat.metrics.base import Metric
from karat.metrics.names import metric
from karat.progress import Stop, map_in_order, n_threads
from karat.registry import Registry
from karat.settings import NamedSettings, parse_setting, parse_settings, setting
from karat.stats.buckets import MAX_ROWS

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


Report = Callable[[int], None]
"""Callback with the number of rows finished since the last call."""


class EngineWork(Protocol[T_co]):
    """The work on one piece.

    In this process it may use `threads`, checks `stop`, and calls `report` with finished rows.
    """

    def __call__(
        self,
        piece: TablePiece,
        threads: int = 1,
        stop: Stop | None = None,
        report: Report | None = None,
    ) -> T_co: ...


class Engine(NamedSettings):
    """An engine that runs work on pieces: a value with settings, such as `dask:workers=4`."""

    kind: ClassVar[str] = "engines"

    @classmethod
    def parse(cls, text: str) -> Engine:
        """Return the engine of `name:setting=value,…`."""
        return parse_settings(cls, text)

    def with_options(self, options: Mapping[str, str]) -> Engine:
        """Return the engine with other settings, given as texts, which may contain commas."""
        texts = {key: str(value) for key, value in options.items()}
        values = {key: parse_setting(type(self), self.name, key, texts[key]) for key in texts}
        return replace(self, **values)

    @abstractmethod
    def running(self, pieces: int) -> AbstractContextManager[Runner]:
        """Start the workers for a number of pieces, or connect to them; stop them at the end.

        Raise InputError after a few seconds if an address does not answer, and MissingExtra if a
        package is not installed.
        """


class Runner(Protocol):
    """A started engine."""

    def run(
        self, work: EngineWork[T], pieces: Sequence[TablePiece], report: Report | None = None
    ) -> Iterator[tuple[int, T]]:
        """Yield the index of each piece and its result, as they finish, each once.

        Runners that see rows within a piece call `report`. An exception in the loop over the
        results (Ctrl-C) stops the work.
        """


@dataclass(frozen=True)
class Local(Engine):
    """The threads of this process."""

    name: ClassVar[str] = "local"
    threads: int | None = setting(
        None, "Threads; by default one for each processor.", kind=int, low=1
    )

    def running(self, pieces: int) -> AbstractContextManager[Runner]:
        """Run in this process."""
        return nullcontext(self)

    def run(
        self, work: EngineWork[T], pieces: Sequence[TablePiece], report: Report | None = None
    ) -> Iterator[tuple[int, T]]:
        """Yield results in order; with few pieces, all threads work on the same piece."""
        stop, threads = Stop(), n_threads(self.threads)
        if len(pieces) < 2 * threads or threads == 1:
            for at, piece in enumerate(pieces):
                yield at, work(piece, threads, stop, report)
            return
        yield from enumerate(map_in_order(partial(work, stop=stop), pieces, threads, stop))


ENGINES: Registry[type[Engine]] = Registry("engines", "engine", {"local": "karat.arrow.jobs:Local"})
"""Name -> engine; apps add clusters."""


def as_engine(
    engine: str | Engine, options: Mapping[str, str] | None = None, threads: int | None = None
) -> Engine:
    """Return an engine with its settings, checked.

    Args:
        engine: the engine, or its name with settings.
        options: more settings, as texts; Spark takes any `spark.*` among them.
        threads: threads of the local engine.
    """
    if not isinstance(engine, str | Engine):
        raise InputError(f"engine {engine!r}: expected a name, such as {', '.join(ENGINES)}")
    try:
        if isinstance(engine, Engine):
            chosen = engine
        else:
            chosen = ENGINES[engine.partition(":")[0].strip()].parse(engine)
        chosen = chosen.with_options(options or {})
    except InputError as error:
        message = str(error)
        raise type(error)(
            message if message.startswith("engine ") else f"engine {message}"
        ) from error
    if threads is None:
        return chosen
    if isinstance(chosen, Local):
        return Local(threads)
    problem = f"engine {chosen.name} has workers, and no threads of this process"
    raise InputError(f"{problem}: leave threads out, or set the engine's option workers")


@dataclass(frozen=True)
class TableJob:
    """The columns, the metrics and what to keep of every piece of a table."""

    columns: Columns
    metrics: tuple[str, ...]  # names with versions, as `sign_metric` writes them
    buckets: int | None = None
    keep: bool = False  # True to keep rows
    most_rows: int | None = MAX_ROWS
    """The most rows to keep; where there are more, they are put into buckets. None: no limit."""
    rows: str | None = None  # a folder for files with the scores of all rows
    single_rows: bool = False  # True to reject more rows than are kept

    def row_file(self, piece: TablePiece) -> str | None:
        """Return the file with the scores of a piece's rows, if requested."""
        return self.rows and os.path.join(self.rows, part_name(piece))

    def start(self, metrics: Sequence[Metric], source: str) -> TableStatistics:
        """Return statistics without any rows, to which those of a table are added."""
        return TableStatistics(
            metrics,
            self.buckets,
            self.most_rows,
            needs_rows=self.single_rows,
            source=source,
            skipped={} if self.columns.skip_missing else None,
            unit=self.columns.unit,
            id_column=self.columns.id or "id",
        )

    def measure(
        self,
        ranges: Iterable[RowRange],
        statistics: TableStatistics,
        threads: int | None,
        stop: Stop | None = None,
        report: Report | None = None,
        sink: Callable[[Part], None] | None = None,
    ) -> TableStatistics:
        """Return statistics with those of ranges of rows added.

        With `sink`, every row is scored, and parts are also given to it, in order.
        """
        metrics = tuple(statistics.metrics)
        measure = TableMeasure(metrics, self.buckets, self.keep, sink is not None)
        for part in measure.parts(ranges, threads, stop):
            if sink is not None:
                sink(part)
            statistics += part
            if report is not None:
                report(part.n_rows)
        return statistics

    def measure_piece(
        self,
        piece: TablePiece,
        threads: int = 1,
        stop: Stop | None = None,
        report: Report | None = None,
        digest: str = "",
    ) -> TableStatistics:
        """Return the statistics of one piece, and write the scores of its rows if requested.

        A file of rows is marked with the `digest` of the piece's content.
        """
        columns = self.columns
        statistics = self.start([metric(name) for name in self.metrics], piece.path)
        path = self.row_file(piece)
        if path is None:
            ranges = _row_ranges(piece, columns, _read_batches(piece, columns), statistics.kinds)
            return self.measure(ranges, statistics, threads, stop, report)
        # Columns of scores are METRIC, in a wide table CANDIDATE/METRIC.
        systems = [f"{name}/" for name in columns.candidate] if columns.wide else [""]
        scores = [f"{name}{m.of_segments()}" for name in systems for m in statistics.metrics]
        with RowFile(path, piece, scores, digest) as file:
            batches = file.reading(_read_batches(piece, columns, all_columns=True))
            ranges = _row_ranges(piece, columns, batches, statistics.kinds)
            return self.measure(ranges, statistics, threads, stop, report, file.write)


class JobFailure(NamedTuple):
    """Error in a piece; the piece is not retried."""

    sentence: str


def run_piece(
    measure: Callable[[TablePiece, int, Stop | None, Report | None], TableStatistics],
    piece: TablePiece,
    threads: int = 1,
    stop: Stop | None = None,
    report: Report | None = None,
) -> TableStatistics | JobFailure:
    """Measure a piece; return errors of input as a result, so that no engine retries it.

    Engines send `partial(run_piece, job.measure_piece)` to their workers.
    """
    try:
        return measure(piece, threads, stop, report)
    except KaratError as error:
        if stop is not None:  # in this process
            raise
        return JobFailure(str(error))


def piece_ranges(piece: TablePiece, columns: Columns) -> Iterator[RowRange]:
    """Yield the rows of a piece in ranges, with the needed columns."""
    yield from _row_ranges(piece, columns, _read_batches(piece, columns), {})


def _read_batches(piece: TablePiece, columns: Columns, all_columns: bool = False) -> Iterator[Any]:
    """Yield the record batches of a piece, with the needed columns or with all."""
    # Scores may be numbers of any kind; named columns of JSON lines may not.
    all_columns = all_columns or bool(columns.scores and piece.format == "jsonl")
    format = TABLE_FORMATS[piece.format]
    nullable = format.read_nullable if columns.skip_missing else None
    return (nullable or format.read)(piece, None if all_columns else columns.names)


def _row_ranges(
    piece: TablePiece, columns: Columns, batches: Iterator[Any], kinds: dict[str, str]
) -> Iterator[RowRange]:
    """Yield the rows of record batches in ranges; store the kinds of columns in `kinds`.

    Columns of scores are not stored: one file may have integers and another fractions.
    """
    reader, first = None, piece.first
    is_delimited = piece.format in ("csv", "tsv")
    columns = replace(columns, system=piece.system, empty_is_missing=is_delimited)
    for batch in batches:
        schema, array = batch.__arrow_c_array__()
        if reader is None:
            reader = BatchReader(piece.path, columns, *_kernel.arrow_columns(schema))
            kinds |= {c: kind for c, kind in reader.kinds.items() if c not in columns.scores}
        arrow_batch = _kernel.ArrowBatch.from_capsules(schema, array)
        yield from reader.ranges([arrow_batch], first)
        first += len(arrow_batch)
