"""Jobs: what is to be made of every piece of a table; a function of an installed package does it.

A job and its pieces are plain values that engines can send anywhere. Metrics go by name, with the
version that makes their numbers: a worker with another version refuses them.
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
"""Callback for the number of rows that were done since the last call."""


class EngineWork(Protocol[T_co]):
    """The work on one piece.

    In this process it may use `threads`, checks `stop`, and calls `report` with the rows it did.
    """

    def __call__(
        self,
        piece: TablePiece,
        threads: int = 1,
        stop: Stop | None = None,
        report: Report | None = None,
    ) -> T_co: ...


class Engine(NamedSettings):
    """A way to run work on pieces: a value with settings, such as `dask:workers=4`."""

    kind: ClassVar[str] = "engines"

    @classmethod
    def parse(cls, text: str) -> Engine:
        """Return the engine that `name:setting=value,…` describes."""
        return parse_settings(cls, text)

    def with_options(self, options: Mapping[str, str]) -> Engine:
        """Return the engine with other settings, given as texts, which may hold commas."""
        texts = {key: str(value) for key, value in options.items()}
        values = {key: parse_setting(type(self), self.name, key, texts[key]) for key in texts}
        return replace(self, **values)

    @abstractmethod
    def running(self, pieces: int) -> AbstractContextManager[Runner]:
        """Start, or connect to, whatever does the work on so many pieces; stop it at the end.

        Raises InputError in a few seconds if an address does not answer, and MissingExtra if a
        package is not installed.
        """


class Runner(Protocol):
    """An engine that has been started."""

    def run(
        self, work: EngineWork[T], pieces: Sequence[TablePiece], report: Report | None = None
    ) -> Iterator[tuple[int, T]]:
        """Yield the place of each piece and the result of its work, as they are done, each once.

        Runners that can see rows in mid-piece call `report`. An exception in the loop over the
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
        """Yield results in order: each thread takes a piece, or all take one if there are few."""
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
    """Return an engine by its name with settings.

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
    """Error in a piece, which other workers need not try again."""

    sentence: str


def run_piece(
    measure: Callable[[TablePiece, int, Stop | None, Report | None], TableStatistics],
    piece: TablePiece,
    threads: int = 1,
    stop: Stop | None = None,
    report: Report | None = None,
) -> TableStatistics | JobFailure:
    """Measure a piece; bad input is a result, too, so that no engine tries it again.

    `partial(run_piece, job.measure_piece)` is work that engines can send.
    """
    try:
        return measure(piece, threads, stop, report)
    except KaratError as error:
        if stop is not None:  # in this process: let it through as it is
            raise
        return JobFailure(str(error))


def piece_ranges(piece: TablePiece, columns: Columns) -> Iterator[RowRange]:
    """Yield the rows of a piece in ranges, with the columns that are needed."""
    yield from _row_ranges(piece, columns, _read_batches(piece, columns), {})


def _read_batches(piece: TablePiece, columns: Columns, all_columns: bool = False) -> Iterator[Any]:
    """Yield the record batches of a piece, with the columns that are needed or with all."""
    # Scores may be numbers of any kind; named columns of JSON lines may not.
    all_columns = all_columns or bool(columns.scores and piece.format == "jsonl")
    format = TABLE_FORMATS[piece.format]
    nullable = format.read_nullable if columns.skip_missing else None
    return (nullable or format.read)(piece, None if all_columns else columns.names)


def _row_ranges(
    piece: TablePiece, columns: Columns, batches: Iterator[Any], kinds: dict[str, str]
) -> Iterator[RowRange]:
    """Yield the rows of record batches in ranges; note the kinds of columns in `kinds`.

    Columns of scores are left out: whole numbers in one file and fractions in another are fine.
    """
    reader, first = None, piece.first
    columns = replace(columns, system=piece.system)
    for batch in batches:
        schema, array = batch.__arrow_c_array__()
        if reader is None:
            reader = BatchReader(piece.path, columns, *_kernel.arrow_columns(schema))
            kinds |= {c: kind for c, kind in reader.kinds.items() if c not in columns.scores}
        arrow_batch = _kernel.ArrowBatch.from_capsules(schema, array)
        yield from reader.ranges([arrow_batch], first)
        first += len(arrow_batch)
