"""Tables in memory, of whatever library: their columns, batches of rows, scores joined to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from karat.arrays import Floats
from karat.arrow.batches import RowBatch, record_batches, speaks_arrow
from karat.errors import InputError, quoted
from karat.registry import Registry

TABLE = "table"
"""Name of a table in memory, in messages."""

Opened = tuple[list[str], list[str], Iterator[RowBatch]]
"""Names of columns, their Arrow formats, and record batches."""


class Frame(ABC):
    """A table in memory, as it was when it was given."""

    kind: ClassVar[str] = TABLE
    """Name of such a table in messages."""

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The names of the columns."""

    @property
    def rows(self) -> int | None:
        """Number of rows, where it is known before they are read."""
        return len(self.data) if hasattr(self.data, "__len__") else None

    @abstractmethod
    def open(self, columns: Sequence[str]) -> Opened:
        """Return these columns, each of which the table has once."""

    def place(self, row: int) -> str:
        """Return where a row is, for messages; the first is 0."""
        return f"row {row + 1:,} (index {row})"

    def join(self, scores: Mapping[str, Floats]) -> Any:
        """Return the table with more columns, as one of the same kind in the same order."""
        for name in scores:
            if name in self.names:
                told = f"has a column {quoted(name)} already, where the scores would go"
                raise InputError(f"{TABLE} {told}: rename it")
        return self.joined(scores)

    def joined(self, scores: Mapping[str, Floats]) -> Any:
        """Return the table with more columns, whose names are new."""
        raise InputError(
            f"{self.kind} cannot be joined with its scores: make a table of it first, such as one "
            "of pandas, Polars or pyarrow"
        )


class ArrowFrame(Frame):
    """Anything that speaks Arrow."""

    @property
    def names(self) -> list[str]:
        for name in ("column_names", "columns"):
            found = getattr(self.data, name, None)
            if isinstance(found, list | tuple) and all(isinstance(one, str) for one in found):
                return list(found)
        return self.open(())[0]

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The name of its type."""
        return f"a {type(self.data).__name__}"

    @property
    def rows(self) -> int | None:
        found = getattr(self.data, "num_rows", None)  # len() of a DuckDB relation runs its query
        return found if isinstance(found, int) else None

    def open(self, columns: Sequence[str]) -> Opened:
        names, formats, batches = record_batches(self.data, TABLE)
        return names, formats, iter(batches)


FRAMES: Registry[type[Frame]] = Registry(
    "frames",
    "frame",
    {
        "pandas": "karat.arrow.frames.pandas_frame:PandasFrame",
        "polars": "karat.arrow.frames.polars_frame:PolarsFrame",
        "pyarrow": "karat.arrow.frames.pyarrow_frame:PyArrowFrame",
        "datasets": "karat.arrow.frames.dataset_frame:DatasetFrame",
    },
)
"""Package -> how its tables are read; others are read if they speak Arrow."""


def as_frame(data: Any) -> Frame | None:
    """Return a table in memory; None for anything else: paths, lists of texts, single columns."""
    if isinstance(data, Frame):
        return data
    if isinstance(data, list | tuple):
        from karat.arrow.frames.records import Records

        return Records(data) if data and isinstance(data[0], Mapping) else None
    if isinstance(data, str | bytes | Mapping):
        return None
    for package in (one.__module__.partition(".")[0] for one in type(data).__mro__):
        if package in FRAMES.known() and hasattr(type(data), _HAS_COLUMNS.get(package, "columns")):
            return FRAMES[package](data)
    tabular = any(hasattr(data, name) for name in ("columns", "column_names", "schema"))
    return ArrowFrame(data) if speaks_arrow(data) and tabular else None


_HAS_COLUMNS = {
    "pandas": "columns",
    "polars": "columns",
    "pyarrow": "schema",
    "datasets": "column_names",
}
"""Package -> the attribute of tables that single columns have not; for others, `columns`."""
