"""Statistics of tables in memory, and the scores of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from karat.arrays import Floats, Ints, np
from karat.arrow.batches import RowRange, table_batches
from karat.arrow.columns import Columns
from karat.arrow.frames import TABLE, Frame
from karat.arrow.jobs import add_statistics
from karat.arrow.merged import Merged
from karat.arrow.statistics import NO_IDS, Part, Statistics, TableMeasure
from karat.errors import InputError, quoted
from karat.metrics.base import Metric
from karat.progress import Progress
from karat.ranked_segments import Places, SegmentText, TextLookup
from karat.scoring import Scoring
from karat.stats.buckets import MAX_ROWS, resolve_buckets

ColumnNames = tuple[str | Sequence[str] | None, str | Sequence[str] | None, str | None, str | None]
"""The columns that were named: candidate, reference, by, id."""


def frame_columns(frame: Frame, names: ColumnNames) -> Columns:
    """Return the columns that were named, or have usual names, checked to be there."""
    columns = Columns.detect(TABLE, frame.names, *names)
    columns.places(TABLE, frame.names)
    return columns


def frame_ranges(frame: Frame, columns: Columns) -> Iterator[RowRange]:
    """Yield the rows of a table in ranges that are worked on at once."""
    return table_batches(frame.open(columns.names), columns, TABLE, frame.place)


def with_row_numbers(columns: Columns) -> Columns:
    """Return columns where row numbers are the ids of segments, if no column has ids or systems."""
    return replace(columns, rows_are_segments=columns.id is None and columns.by is None)


def check_ids(columns: Columns) -> None:
    """Require ids for resampling."""
    if columns.id is None and not columns.rows_are_segments:
        raise InputError(NO_IDS)


def all_skipped(system: str) -> str:
    """Describe a system whose rows were all skipped."""
    return (
        f"every row of system {quoted(system)} was skipped, because its candidate or its "
        "reference is missing: there is nothing to score"
    )


class RowScores:
    """The scores of all rows of a table, which come in parts, in their order."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._codes: list[Ints] = []
        self._rows: list[Ints] = []
        self._count = 0
        """Rows so far, with those that were skipped."""
        self._values: list[Sequence[Floats]] = []

    def add(self, part: Part) -> None:
        """Take the scores of the next rows."""
        codes = [self._names.setdefault(name, len(self._names)) for name in part.systems]
        if part.segment_rows is not None:
            row_codes = part.segment_rows.codes[: len(part.values[0])]
            self._codes.append(np.array(codes, np.int64)[row_codes])
        scored = len(part.values[0])
        places = np.arange(scored) if part.present is None else np.flatnonzero(part.present)
        self._rows.append(places + self._count)
        self._count += scored if part.present is None else len(part.present)
        self._values.append(part.values)

    def add_to(self, scoring: Scoring, frame: Frame, columns: Columns) -> Scoring:
        """Return the result with the scores of rows, their texts, and the table they belong to."""
        metrics = list(dict.fromkeys(row.metric.of_segments() for row in scoring.rows))
        scores = [np.concatenate(parts) for parts in zip(*self._values, strict=True)]
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
        ordered = {key: values[key] for key in order}
        texts = frame_texts(frame, columns, places)
        table = FrameRows(frame, places, wide, self._count)
        return replace(scoring, values=ordered, texts=texts, table=table)


def frame_texts(frame: Frame, columns: Columns, rows: Mapping[str, Ints]) -> TextLookup:
    """Return what finds the texts of segments by their places among the rows of their systems."""

    def look_up(places: Places) -> dict[tuple[str, int], SegmentText]:
        keys = {
            (s, int(rows[s][place])): place
            for s, system_places in places.items()
            for place in system_places
        }
        row_numbers = np.array(sorted({row for _, row in keys}), np.int64)
        texts_of = {}
        for part in frame_ranges(frame, columns):
            batch = part.read()
            numbers = batch.row_numbers()
            local = np.flatnonzero(np.isin(numbers, row_numbers)).tolist()
            references = batch.references.strings(local)
            ids = batch.ids.listed() if batch.ids is not None and batch.has_ids else None
            for number, texts in enumerate(batch.candidates):
                for at, text, refs in zip(local, texts.strings(local), references, strict=True):
                    key = batch.systems[batch.codes[at] + number], int(numbers[at])
                    if key in keys:
                        label = frame.place(key[1]) if ids is None else str(ids[at])
                        texts_of[key[0], keys[key]] = SegmentText(text, tuple(refs), label)
        return texts_of

    return look_up


@dataclass(frozen=True, eq=False)
class FrameRows:
    """A table in memory, and the rows of each system; all rows are of all systems if it is wide."""

    frame: Frame
    places: Mapping[str, Ints]
    wide: bool
    count: int
    """Rows of the table."""

    def join(self, values: Mapping[tuple[str, Metric], Floats]) -> object:
        """Return the table with a column for the scores of each metric."""
        columns: dict[str, Floats] = {}
        for (system, m), scores in values.items():
            name = f"{system}/{m}" if self.wide else str(m)
            none = np.full(self.count, np.nan)  # of rows that were skipped
            columns.setdefault(name, none)[self.places[system]] = scores
        return self.frame.join(columns)


def measure_frame(
    frame: Frame,
    names: ColumnNames,
    metrics: tuple[Metric, ...],
    buckets: int | None,
    resampled: bool,
    threads: int | None,
    scores: RowScores | None,
    skip_missing: bool,
    progress: Progress,
) -> Merged:
    """Return the statistics of a table; with `resampled` also what intervals and tests need.

    Rows with missing texts are skipped, or refused before anything is scored.
    """
    used = resolve_buckets(0, buckets) if resampled else None
    columns = frame_columns(frame, names).with_scores(metrics)
    columns.places(TABLE, frame.names)
    columns = replace(columns, skip_missing=skip_missing)
    if resampled:
        columns = with_row_numbers(columns)
        check_ids(columns)
    if frame.rows is not None and not skip_missing:  # rows of a stream can be read only once
        for rows in frame_ranges(frame, columns):
            rows.read()
    keeps_rows = resampled and not used
    measure = TableMeasure(metrics, used, keeps_rows or scores is not None, scores is not None)
    total = Statistics(metrics, used)
    total.order = columns.candidate if columns.wide else ()
    total.skipped = {} if skip_missing else None
    expected = (frame.rows or 0) * len(columns.candidate)  # 0: unknown
    for part in measure.parts(frame_ranges(frame, columns), threads):
        if scores is not None:
            scores.add(part)
        counted_part = part if keeps_rows else part._replace(segment_rows=None)
        total = add_statistics(total, counted_part, None if buckets == 0 else MAX_ROWS)
        progress(total.rows, expected, "scoring rows")
    for name, count in (total.skipped or {}).items():
        if count and name not in total.systems:
            raise InputError(all_skipped(name))
    if not total.rows:
        raise InputError(f"{TABLE} has no rows: there is nothing to score")
    total.check_used()
    return Merged(total)
