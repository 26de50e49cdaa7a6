"""Tables in memory of any library: columns, batches of rows, and joining scores to them."""

from __future__ import annotations

import datetime
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any, ClassVar

from karat import _kernel
from karat.arrays import Floats, Ints, np
from karat.arrow.batches import RowBatch, record_batches, refusal, speaks_arrow
from karat.arrow.columns import kind_of
from karat.errors import InputError, quoted
from karat.registry import Registry
from karat.text.references import starts_of

TABLE = "table"
"""Name of a table in memory, for messages."""

Opened = tuple[list[str], list[str], Iterator[RowBatch]]
"""Names of columns, their Arrow formats, and record batches."""


class Frame(ABC):
    """A table in memory; later changes of the original do not affect it."""

    kind: ClassVar[str] = TABLE  # name of such a table in messages

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of the columns."""

    @property
    def rows(self) -> int | None:
        """Number of rows, if it is known before they are read."""
        return len(self.data) if hasattr(self.data, "__len__") else None

    @abstractmethod
    def open(self, columns: Sequence[str]) -> Opened:
        """Return the batches of these columns, each of which the table has once."""

    def place(self, row: int) -> str:
        """Return the location of a row, counted from 0, for messages."""
        return f"row {row + 1:,} (index {row})"

    def join(self, scores: Mapping[str, Floats]) -> Any:
        """Return the table with columns of scores, as the same type with the same order of rows."""
        for name in scores:
            if name in self.names:
                problem = f"has a column {quoted(name)} already, where the scores would go"
                raise InputError(f"{TABLE} {problem}: rename it")
        return self.joined(scores)

    def joined(self, scores: Mapping[str, Floats]) -> Any:
        """Return the table with columns of scores whose names are new."""
        raise InputError(
            f"{self.kind} cannot be joined with its scores: make a table of it first, such as one "
            "of pandas, Polars or pyarrow"
        )


class ArrowFrame(Frame):
    """Any object that implements Arrow's PyCapsule protocol."""

    @property
    def names(self) -> list[str]:
        for attribute in ("column_names", "columns"):
            names = getattr(self.data, attribute, None)
            if isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):
                return list(names)
        return self.open(())[0]

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The name of its type."""
        return f"a {type(self.data).__name__}"

    @property
    def rows(self) -> int | None:
        count = getattr(self.data, "num_rows", None)  # len() of a DuckDB relation runs its query
        return count if isinstance(count, int) else None

    def open(self, columns: Sequence[str]) -> Opened:
        return record_batches(self.data, TABLE)


FRAMES: Registry[type[Frame]] = Registry(
    "frames",
    "frame",
    {
        "pandas": "karat.arrow.frames:PandasFrame",
        "polars": "karat.arrow.frames:PolarsFrame",
        "pyarrow": "karat.arrow.frames:PyArrowFrame",
        "datasets": "karat.arrow.frames:DatasetFrame",
    },
)
"""Package -> class that reads its tables; tables of others must implement Arrow's protocol."""


def as_frame(data: Any) -> Frame | None:
    """Return a table in memory; None for other objects: paths, lists of texts, single columns."""
    if isinstance(data, Frame):
        return data
    if isinstance(data, list | tuple):
        return Records(data) if data and isinstance(data[0], Mapping) else None
    if isinstance(data, str | bytes | Mapping):
        return None
    for package in (base.__module__.partition(".")[0] for base in type(data).__mro__):
        if package in FRAMES.entries() and hasattr(
            type(data), _HAS_COLUMNS.get(package, "columns")
        ):
            return FRAMES[package](data)
    tabular = any(hasattr(data, name) for name in ("columns", "column_names", "schema"))
    return ArrowFrame(data) if speaks_arrow(data) and tabular else None


_HAS_COLUMNS = {"pyarrow": "schema", "datasets": "column_names"}
"""Package -> an attribute that tables have and single columns lack; the default is `columns`."""


_MISSING = ("NAType", "NaTType")  # types of pandas, which may not be installed
_FORMATS: tuple[tuple[Any, str], ...] = (
    (str, "u"),
    (bool, "b"),
    (int, "l"),
    (float, "g"),
    (bytes, "z"),
    (dict, "+s"),
    ((datetime.date, datetime.time, datetime.timedelta), "tdD"),
)
"""Type of values -> Arrow format of the column."""

Place = Callable[[int], str]


def open_values(columns: dict[str, list[Any]], place: Place) -> Opened:
    """Return columns of values of the same length as a record batch."""
    formats = [_column_format(values) for values in columns.values()]
    return list(columns), formats, iter([ValueBatch(columns, place)])


class ValueBatch:
    """Python values with the interface of an Arrow record batch; texts are not copied."""

    def __init__(self, columns: dict[str, list[Any]], place: Place) -> None:
        self._names, self._values, self._place = list(columns), list(columns.values()), place

    def __len__(self) -> int:
        return len(self._values[0])

    def texts(
        self, column: int, start: int, stop: int
    ) -> tuple[_kernel.Views, Ints | None, int, str]:
        """Return texts, offsets of lists of texts, the first bad row (or -1) and its problem."""
        values = self._values[column][start:stop]
        if _kernel.first_not_str(values) < 0:
            return _kernel.Views.from_strings(values, 0, len(values)), None, -1, ""
        groups = [value.tolist() if _is_array(value) else value for value in values]
        groups = [[value] if isinstance(value, str) else value for value in groups]
        texts = [text for group in groups if _is_list(group) for text in group]
        counts = [len(group) if _is_list(group) else 0 for group in groups]
        if 0 in counts or _kernel.first_not_str(texts) >= 0:
            row = next(i for i, group in enumerate(groups) if not _are_texts(group))
            return _kernel.Views.from_strings([], 0, 0), None, row, _describe(values[row])
        return _kernel.Views.from_strings(texts, 0, len(texts)), starts_of(counts), -1, ""

    def integers(self, column: int, start: int, stop: int) -> tuple[Ints, int]:
        """Return integers, and the first row without one, or -1; reject other values."""
        values, missing = self._before_missing(column, start, stop)
        for row, value in enumerate(values):
            if not isinstance(value, int | np.integer | np.bool_):
                raise self._refusal(column, start + row, value, "a whole number")
            if not -(1 << 63) <= int(value) < 1 << 63:
                expected = "a number of at most 64 bits, or a text"
                raise self._refusal(column, start + row, value, expected)
        return np.array([int(value) for value in values], np.int64), missing

    def floats(self, column: int, start: int, stop: int) -> tuple[Floats, int]:
        """Return numbers, and the first row without one, or -1; reject other values."""
        values, missing = self._before_missing(column, start, stop)
        for row, value in enumerate(values):
            if not isinstance(value, int | float | np.number):
                raise self._refusal(column, start + row, value, "a number")
        return np.array([float(value) for value in values], np.float64), missing

    def _before_missing(self, column: int, start: int, stop: int) -> tuple[list[Any], int]:
        values = self._values[column][start:stop]
        missing = next((row for row, value in enumerate(values) if is_missing(value)), -1)
        return (values if missing < 0 else values[:missing]), missing

    def _refusal(self, column: int, row: int, value: object, expected: str) -> InputError:
        place, problem = self._place(row), _describe(value)
        return refusal(f"{TABLE}, {place}", self._names[column], problem, expected)


def is_missing(value: object) -> bool:
    """Return whether a value is missing."""
    nan = isinstance(value, float) and math.isnan(value)
    return value is None or nan or type(value).__name__ in _MISSING


def _column_format(values: Sequence[Any]) -> str:
    """Return the Arrow format of the first value; texts among lists count as lists."""
    format = next((_value_format(value) for value in values if not is_missing(value)), "n")
    if format == "u" and _kernel.first_not_str(values) >= 0 and any(map(_is_list, values)):
        return "+l u"
    return format


def _value_format(value: Any) -> str:
    if _is_list(value):
        inner = next((_value_format(item) for item in value if not is_missing(item)), "u")
        return f"+l {inner}"
    if isinstance(value, np.generic) or _is_array(value):
        value = value.item()
    return next((format for kind, format in _FORMATS if isinstance(value, kind)), "other")


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple) or (_is_array(value) and np.ndim(value) > 0)  # type: ignore[arg-type]


def _are_texts(value: Any) -> bool:
    return _is_list(value) and len(value) > 0 and _kernel.first_not_str(value) < 0


def _describe(value: Any) -> str:
    """Describe a value, for messages."""
    if is_missing(value):
        return "null"
    if _is_list(value) and not len(value):
        return "an empty list"
    if _is_list(value):
        not_texts = (_describe(item) for item in value if not isinstance(item, str))
        return f"a list that holds {next(not_texts, 'texts')}"
    words = kind_of(_value_format(value)).removesuffix("s")
    return f"{quoted(value)} ({words})"


class Records(Frame):
    """A list of dictionaries; the keys of the first are the columns."""

    kind = "a list of dictionaries"

    def __init__(self, data: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(tuple(data))

    @property
    def names(self) -> list[str]:
        return [name for name in self.data[0] if isinstance(name, str)]

    def open(self, columns: Sequence[str]) -> Opened:
        return open_values({name: self._column(name) for name in columns}, self.place)

    def _column(self, name: str) -> list[Any]:
        try:
            return [row[name] for row in self.data]
        except (KeyError, TypeError):
            rows = enumerate(self.data)
            at, row = next(r for r in rows if not isinstance(r[1], Mapping) or name not in r[1])
        problem = "it is missing" if isinstance(row, Mapping) else f"it is {type(row).__name__}"
        place = f"{TABLE}, {self.place(at)}"
        raise InputError(f"{place}: expected a dictionary with {quoted(name)}, and {problem}")

    def joined(self, scores: Mapping[str, Floats]) -> list[dict[str, Any]]:
        columns = zip(*(values.tolist() for values in scores.values()), strict=True)
        rows = zip(self.data, columns, strict=True)
        return [{**row, **dict(zip(scores, values, strict=True))} for row, values in rows]


class PandasFrame(Frame):
    """A pandas data frame; a shallow copy is kept."""

    def __init__(self, data: Any) -> None:
        super().__init__(data.copy(deep=False))

    @property
    def names(self) -> list[str]:
        names = [name for name in self.data.columns if isinstance(name, str)]
        if not names and len(self.data.columns):
            first = self.data.columns[0]
            problem = f"columns are named by {type(first).__name__}, as in {quoted(first)}"
            raise InputError(
                f"{TABLE}: its {problem}, expected str: rename them (df.columns = [...])"
            )
        return names

    def open(self, columns: Sequence[str]) -> Opened:
        if all(_is_arrow_backed(self.data[name].dtype) for name in columns):
            return record_batches(self.data[list(columns)], TABLE)
        values = {name: self.data[name].to_numpy(object).tolist() for name in columns}
        return open_values(values, self.place)

    def place(self, row: int) -> str:
        return f"row {row + 1:,} (index {quoted(self.data.index[row : row + 1].tolist()[0])})"

    def joined(self, scores: Mapping[str, Floats]) -> Any:
        return self.data.assign(**scores)


def _is_arrow_backed(dtype: Any) -> bool:
    """Return whether pandas stores a column as Arrow, or can export it as Arrow."""
    arrow = type(dtype).__name__ == "ArrowDtype" or getattr(dtype, "storage", "") == "pyarrow"
    return arrow or (find_spec("pyarrow") is not None and dtype.kind in "iub")


class PolarsFrame(Frame):
    """A Polars data frame; a clone, which shares its columns, is kept."""

    def __init__(self, data: Any) -> None:
        if hasattr(data, "collect"):
            raise InputError(f"{TABLE} is a LazyFrame: collect() it first")
        super().__init__(data.clone())

    @property
    def names(self) -> list[str]:
        return list(self.data.columns)

    def open(self, columns: Sequence[str]) -> Opened:
        return record_batches(self.data.select(columns), TABLE)

    def joined(self, scores: Mapping[str, Floats]) -> Any:
        return self.data.with_columns(**scores)


class PyArrowFrame(ArrowFrame):
    """A pyarrow table, a record batch, or a stream of batches, which can be read once."""

    @property
    def names(self) -> list[str]:
        return list(self.data.schema.names)

    def joined(self, scores: Mapping[str, Floats]) -> Any:
        pyarrow, table = import_module("pyarrow"), self.data
        if not hasattr(table, "append_column"):
            return super().joined(scores)
        for name, values in scores.items():
            table = table.append_column(name, pyarrow.array(values))
        return table


_ROWS = 1 << 14


class DatasetFrame(Frame):
    """One split of a Hugging Face data set; selected or shuffled rows keep their order."""

    kind = "a streamed data set"

    @property
    def names(self) -> list[str]:
        if self.data.column_names is None:
            problem = "is a stream that does not know its columns before it is read"
            raise InputError(f"{TABLE} {problem}: give it features, or make a Dataset of it")
        return list(self.data.column_names)

    def open(self, columns: Sequence[str]) -> Opened:
        batches = self.data.select_columns(list(columns)).with_format("arrow").iter(_ROWS)
        opened = (record_batches(batch, TABLE) for batch in batches)
        first = next(opened, None)
        if first is None:
            return list(columns), ["u"] * len(columns), iter(())
        names, formats, batches = first
        rest = (batch for _, _, more in opened for batch in more)
        return names, formats, chain(batches, rest)

    def joined(self, scores: Mapping[str, Floats]) -> Any:
        dataset = self.data
        if self.rows is None:  # a stream may have another order next time
            return super().joined(scores)
        for name, values in scores.items():
            dataset = dataset.add_column(name, values)
        return dataset
