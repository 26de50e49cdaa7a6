"""Batches of a table, from any library that implements Arrow's PyCapsule protocol.

pyarrow, Polars, pandas, DuckDB and others provide tables as streams of record batches. Nothing
is copied: the kernel reads texts in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from karat import _kernel
from karat.arrays import Floats, Ints, NDArray, np
from karat.arrow.columns import (
    KEYS,
    NUMBERS,
    SKIP_MISSING,
    TEXT,
    TEXTS,
    ColumnReferences,
    Columns,
    ColumnTexts,
    check_kind,
)
from karat.arrow.formats.score_cells import cells
from karat.errors import InputError, quoted
from karat.evalset.given_scores import parse_score
from karat.metrics.pairs import SEGMENTS_PER_BATCH, Outputs
from karat.text.references import NoReferences, References, starts_of
from karat.text.segments import Segments

ONE_SYSTEM = "candidate"
"""The name of the only system, if no column has systems."""


class Ids(NamedTuple):
    """The ids of rows, integers or texts, and their hashes."""

    hashes: Ints
    values: Ints | _kernel.Views
    references: Ints | None = None
    """Hashes of the references of each row, if rows are paired only by their numbers."""

    def listed(self) -> Ints | list[str]:
        """Return the ids, independent of the table."""
        return self.values.strings() if isinstance(self.values, _kernel.Views) else self.values


class TableBatch(NamedTuple):
    """Some rows of a table: texts, and the system and id of each row."""

    name: str
    first: int  # rows of the table before these
    candidates: tuple[Segments, ...]
    """The texts of each column of candidates; a wide table has several."""
    references: References
    systems: list[str]  # in a wide table, one per column of candidates
    codes: NDArray[np.int32]
    """For each row the index of its system in `systems`; in a wide table, of its first system."""
    ids: Ids | None
    numbers: Mapping[str, Floats]  # columns of scores, NaN if missing
    has_ids: bool  # True if a column has the ids; otherwise rows are numbered
    present: NDArray[np.bool_] | None = None
    """For each row that was read, whether it is in the batch; None if all are."""
    skipped: Mapping[str, int] = MappingProxyType({})
    """Number of rows without a text that were left out, by system."""
    units: Ints | None = None
    """A hash of the label of each row's unit, if a column has units."""
    slices: tuple[list[str], NDArray[np.int32]] | None = None
    """The labels of slices and each row's index in them, if a column has slices."""

    def row_numbers(self) -> Ints:
        """Return the number of each row in the table, from 0."""
        rows = np.arange(len(self)) if self.present is None else np.flatnonzero(self.present)
        return np.asarray(rows + self.first)

    def outputs(self, column: int) -> Outputs:
        """Return the system and the segment of each row, for a column of candidates."""
        ids: Any = self.ids.listed if self.ids is not None and self.has_ids else None
        if ids is None and self.present is not None:
            numbers = self.row_numbers() + 1
            return Outputs(self.systems, self.codes + column, lambda: numbers, self.numbers)
        return Outputs(self.systems, self.codes + column, ids, self.numbers, self.first)

    def __len__(self) -> int:
        return len(self.codes)


class RowBatch(Protocol):
    """Rows of columns, as in a record batch of Arrow."""

    def __len__(self) -> int: ...

    def texts(
        self, column: int, start: int, stop: int
    ) -> tuple[_kernel.Views, Ints | None, int, str]:
        """Return texts, offsets of lists of texts, the first bad row (or -1) and its problem."""

    def integers(self, column: int, start: int, stop: int) -> tuple[Ints, int]:
        """Return integers, and the first row without one, or -1."""

    def floats(self, column: int, start: int, stop: int) -> tuple[Floats, int]:
        """Return numbers, and the first row without one, or -1."""


class RowRange(NamedTuple):
    """Rows of a record batch that have not been read yet."""

    reader: BatchReader
    batch: RowBatch
    first: int  # rows of the table before this batch
    start: int
    stop: int
    present: NDArray[np.bool_] | None = None  # the rows to read; None: all

    @property
    def size(self) -> int:
        """The number of rows to read."""
        return self.stop - self.start if self.present is None else int(self.present.sum())

    def runs(self) -> list[RowRange]:
        """Return the rows to read as contiguous ranges."""
        if self.present is None:
            return [self]
        edges = np.flatnonzero(np.diff(self.present, prepend=False, append=False)) + self.start
        pairs = edges.reshape(-1, 2).tolist()
        return [self._replace(start=a, stop=b, present=None) for a, b in pairs]

    def read(self) -> TableBatch:
        """Return these rows, checked."""
        return self.reader.read(self)


ROWS_PER_RANGE = SEGMENTS_PER_BATCH


def file_row(row: int) -> str:
    """Return the location of a row, counted from 0, for messages."""
    return f"row {row + 1:,}"


def table_batches(
    data: Any, columns: Columns, name: str = "table", place: Callable[[int], str] = file_row
) -> Iterator[RowRange]:
    """Yield the rows of a table in ranges; `place` returns the location of a row for messages."""
    names, formats, batches = data if isinstance(data, tuple) else record_batches(data, name)
    yield from BatchReader(name, columns, names, formats, place).ranges(batches)


def speaks_arrow(data: object) -> bool:
    """Return whether an object implements the Arrow PyCapsule protocol."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def record_batches(
    data: Any, name: str
) -> tuple[list[str], list[str], Iterator[_kernel.ArrowBatch]]:
    """Return the columns of a table, their formats, and its record batches."""
    try:
        if hasattr(data, "__arrow_c_stream__"):
            stream = _kernel.ArrowStream(data.__arrow_c_stream__())
            return stream.names(), stream.formats(), _stream_batches(stream, name)
        if hasattr(data, "__arrow_c_array__"):
            schema, array = data.__arrow_c_array__()
            names, formats = _kernel.arrow_columns(schema)
            return names, formats, iter([_kernel.ArrowBatch.from_capsules(schema, array)])
    except (ValueError, TypeError, NotImplementedError, RuntimeError) as error:  # of the library
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{name}: {reason}; expected a table of texts") from error
    raise InputError(
        f"{name} is {type(data).__name__}, expected a table that speaks Arrow, such as one of "
        "pyarrow, Polars, pandas or DuckDB"
    )


def _stream_batches(stream: _kernel.ArrowStream, name: str) -> Iterator[_kernel.ArrowBatch]:
    while True:
        try:
            batch = stream.next()
        except RuntimeError as error:  # of the library
            reason = str(error).partition(". Detail: ")[0].splitlines()[0]
            raise InputError(f"{name} cannot be read: {reason}") from error
        if batch is None:
            return
        yield batch


class BatchReader:
    """Reads the needed columns from the record batches of one table, in order."""

    def __init__(
        self,
        name: str,
        columns: Columns,
        names: Sequence[str],
        formats: Sequence[str],
        place: Callable[[int], str] = file_row,
    ) -> None:
        self._name, self._columns, self._place = name, columns, place
        self._indices = columns.column_indices(name, names)
        self.kinds = {
            column: check_kind(
                name, column, formats[self._indices[column]], self._allowed_kinds(column)
            )
            for column in self._indices
        }
        """Kinds of the columns that are read."""
        for column in columns.scores:  # which may have another role, too
            check_kind(name, column, formats[self._indices[column]], NUMBERS)
        self._formats = {column: formats[at] for column, at in self._indices.items()}

    def _allowed_kinds(self, column: str) -> Sequence[str]:
        if column in self._columns.candidate:
            return TEXT
        if column in self._columns.reference:
            return TEXTS if len(self._columns.reference) == 1 else TEXT
        return NUMBERS if column in self._columns.scores else KEYS

    def ranges(self, batches: Iterable[RowBatch], first: int = 0) -> Iterator[RowRange]:
        """Yield the rows of record batches in ranges; `first` rows come before them."""
        for batch in batches:
            for start in range(0, len(batch), ROWS_PER_RANGE):
                stop = min(start + ROWS_PER_RANGE, len(batch))
                yield RowRange(self, batch, first, start, stop)
            first += len(batch)

    def read(self, rows: RowRange) -> TableBatch:
        """Return the rows of a range, checked."""
        columns = self._columns
        skipped: Mapping[str, int] = {}
        if columns.skip_missing:
            rows, skipped = self._without_missing(rows)
        texts = {name: self._texts(rows, name, _CANDIDATE)[0] for name in columns.candidate}
        if not texts:
            blank = [""] * rows.size
            texts = {NO_CANDIDATE: _kernel.Views.from_strings(blank, 0, len(blank))}
        systems, codes = self._systems(rows)
        references = self._references(rows)
        ids = self._ids(rows, columns.id)
        if ids is not None and columns.rows_are_segments and columns.system is not None:
            ids = ids._replace(references=reference_hashes(references))
        return TableBatch(
            self._name,
            rows.first + rows.start,
            tuple(ColumnTexts(views, name) for name, views in texts.items()),
            references,
            systems,
            codes,
            ids,
            {column: self._scores(rows, column) for column in columns.scores},
            columns.id is not None,
            rows.present,
            skipped,
            self._units(rows),
            None if columns.slice is None else self._labels(rows, columns.slice, _SLICE),
        )

    def _without_missing(self, rows: RowRange) -> tuple[RowRange, Mapping[str, int]]:
        """Return the rows with all texts, and the number of other rows by system."""
        present = np.ones(rows.stop - rows.start, bool)
        for column in (*self._columns.candidate, *self._columns.reference):
            present[self._rows_without_text(rows, column)] = False
        if present.all():
            return rows, {}
        systems, codes = self._systems(rows._replace(present=~present))
        counts = np.bincount(codes, minlength=len(systems)).tolist()
        if self._columns.wide:  # rows are left out for all systems
            counts = [counts[0]] * len(systems)
        return rows._replace(present=present), dict(zip(systems, counts, strict=True))

    def _rows_without_text(self, rows: RowRange, column: str) -> list[int]:
        """Return the indices in the range of rows without a text in a column."""
        place, missing = self._indices[column], []
        at, window = rows.start, rows.stop - rows.start
        while at < rows.stop:
            end = min(at + window, rows.stop)
            _, _, row, problem = rows.batch.texts(place, at, end)
            if row < 0:
                at = end
            elif problem in _NO_TEXT:
                missing.append(at + row - rows.start)
                at, window = at + row + 1, _WINDOW
            else:
                raise self._refusal(rows, at + row - rows.start, column, problem, _CANDIDATE)
        if self._columns.empty_is_missing:
            missing += _blank_rows(rows.batch.texts(place, rows.start, rows.stop)[0])
        return missing

    def _references(self, rows: RowRange) -> References:
        if not self._columns.reference:
            return NoReferences(rows.size)
        columns = {name: self._texts(rows, name, _REFERENCE) for name in self._columns.reference}
        name, (views, starts) = next(iter(columns.items()))
        if starts is not None:
            return ColumnReferences(views, starts, name)
        return References([ColumnTexts(views, name) for name, (views, _) in columns.items()])

    def _systems(self, rows: RowRange) -> tuple[list[str], NDArray[np.int32]]:
        column = self._columns.by
        if column is None:
            only = self._columns.system or ONE_SYSTEM
            names = list(self._columns.candidate) if self._columns.wide else [only]
            return names, np.zeros(rows.size, np.int32)
        return self._labels(rows, column, _SYSTEM_NAME)

    def _labels(
        self, rows: RowRange, column: str, expected: str
    ) -> tuple[list[str], NDArray[np.int32]]:
        """Return the distinct labels in a column, and each row's index in them."""
        if self.kinds[column] == "text":
            names, codes = _kernel.view_groups(self._texts(rows, column, expected)[0])
            if "" in names:
                row = int((codes == names.index("")).argmax())
                raise self._refusal(rows, row, column, "empty", expected)
            return names, codes
        values = self._integers(rows, column, expected)
        numbers, places = np.unique(values, return_inverse=True)
        labels = list(map(str, numbers.tolist()))
        if self.kinds[column] == "truth values":
            labels = ["true" if value else "false" for value in numbers.tolist()]
        return labels, places.astype(np.int32)

    def _ids(self, rows: RowRange, column: str | None) -> Ids | None:
        if column is None:
            if not self._columns.rows_are_segments:
                return None
            numbers = np.arange(rows.first + rows.start, rows.first + rows.stop)
            numbers = numbers if rows.present is None else numbers[rows.present]
        elif self.kinds[column] == "text":
            views, _ = self._texts(rows, column, "an id")
            return Ids(_kernel.hash_views(views), views)
        else:
            numbers = self._integers(rows, column)
        return Ids(_kernel.hash_ids(numbers), numbers)

    def _units(self, rows: RowRange) -> Ints | None:
        """Return hashes of the labels of units; different integers have different hashes."""
        column = self._columns.unit
        if column is None:
            return None
        if self.kinds[column] != "text":
            return _kernel.hash_ids(self._integers(rows, column, _UNIT))
        hashes = _kernel.hash_views(self._texts(rows, column, _UNIT)[0])
        empty = np.flatnonzero(hashes == _kernel.hash_views(_kernel.Views.from_strings([""], 0, 1)))
        if len(empty):
            row = int(empty[0])
            if rows.present is not None:
                row = int(np.flatnonzero(rows.present)[row])
            raise self._refusal(rows, row, column, "empty", _UNIT)
        return hashes

    def _texts(
        self, rows: RowRange, column: str, expected: str
    ) -> tuple[_kernel.Views, Ints | None]:
        if rows.present is not None:
            return _joined_texts([self._texts(run, column, expected) for run in rows.runs()])
        try:
            texts = rows.batch.texts(self._indices[column], rows.start, rows.stop)
        except IndexError as error:
            damage = f"column {quoted(column)} is damaged: {error}"
            raise InputError(f"{self._name}: {damage}") from error
        views, starts, row, problem = texts
        if row >= 0:
            raise self._refusal(rows, row, column, problem, expected)
        if self._columns.empty_is_missing and expected in (_CANDIDATE, _REFERENCE):
            for blank_row in _blank_rows(views):
                raise self._refusal(rows, blank_row, column, _EMPTY, expected)
        return views, starts

    def _integers(self, rows: RowRange, column: str, expected: str = "a value") -> Ints:
        if rows.present is not None:
            parts = [self._integers(run, column, expected) for run in rows.runs()]
            return np.asarray(np.concatenate([np.zeros(0, np.int64), *parts]))
        numbers, row = rows.batch.integers(self._indices[column], rows.start, rows.stop)
        if row >= 0:
            raise self._refusal(rows, row, column, "null", expected)
        if "L" in self._formats[column] and (numbers < 0).any():
            row = int((numbers < 0).argmax())
            raise self._refusal(rows, row, column, "above 2^63", "a smaller number, or a text")
        return numbers

    def _scores(self, rows: RowRange, column: str) -> Floats:
        """Return scores, NaN if missing."""
        subject = f"{self._name}: column {quoted(column)}"
        place, span = self._indices[column], (rows.start, rows.stop)
        scores = np.full(rows.stop - rows.start, np.nan)
        for row, cell in enumerate(cells(rows.batch, place, self.kinds[column], span, subject)):
            value = parse_score(cell)
            if value is None:
                raise self._refusal(rows, row, column, quoted(cell), "a finite number or none")
            scores[row] = value
        return scores if rows.present is None else scores[rows.present]

    def _refusal(
        self, rows: RowRange, row: int, column: str, problem: str, expected: str
    ) -> InputError:
        place = f"{self._name}, {self._place(rows.first + rows.start + row)}"
        return refusal(place, column, problem, expected)


NO_CANDIDATE = "no candidates"
"""Name of the empty texts of a table without a column of candidates."""
_CANDIDATE, _REFERENCE = "a text", "at least one reference"
"""Texts that every row needs, for messages."""
_SYSTEM_NAME = "the name of a system"
_UNIT, _SLICE = "the label of its unit", "the label of its slice"
_EMPTY = "empty"
_NO_TEXT = ("null", "an empty list", "a list that holds null", _EMPTY)
"""Problems that count as a missing text."""
_WINDOW = 64
"""Number of rows to check at once after a missing text; the first check covers all rows."""


def _joined_texts(
    parts: Sequence[tuple[_kernel.Views, Ints | None]],
) -> tuple[_kernel.Views, Ints | None]:
    """Concatenate the texts of several ranges of rows."""
    texts = [text for views, _ in parts for text in views.strings()]
    joined = _kernel.Views.from_strings(texts, 0, len(texts))
    if all(starts is None for _, starts in parts):
        return joined, None
    counts = [
        np.ones(len(views), np.int64) if starts is None else np.diff(starts)
        for views, starts in parts
    ]
    return joined, starts_of(np.concatenate(counts))


_LONGEST_BLANK = 64
"""Bytes of a text up to which it is checked for being blank."""


def _blank_rows(views: _kernel.Views) -> list[int]:
    """Return the rows whose text is empty or white space."""
    if not (_kernel.view_sizes(views, 1) <= _LONGEST_BLANK).any():
        return []
    return [row for row, text in enumerate(views.strings()) if not text.strip()]


def reference_hashes(references: References) -> Ints:
    """Return a hash of the references of each row."""
    views, starts = references.views(0, len(references))
    if not starts[-1]:
        return np.zeros(len(references), np.int64)
    hashes = _kernel.hash_views(views)
    return np.asarray(np.add.reduceat(hashes, starts[:-1])) if len(hashes) else hashes


def refusal(place: str, column: str, problem: str, expected: str) -> InputError:
    """Return the error for an unusable value."""
    advice = "drop the row or fill it in"
    if problem in _NO_TEXT and expected in (_CANDIDATE, _REFERENCE):
        advice = f"drop the row, fill it in, or {SKIP_MISSING}"
    return InputError(
        f"{place}: column {quoted(column)} is {problem}; every row needs {expected}: {advice}"
    )
