"""Data frames of pandas, with or without pyarrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from karat.arrays import Floats
from karat.arrow.batches import record_batches
from karat.arrow.frames.frame import TABLE, Frame, Opened
from karat.arrow.frames.values import open_values
from karat.errors import InputError, quoted


class PandasFrame(Frame):
    """A data frame; a shallow copy, so that later changes do not reach it."""

    def __init__(self, data: Any) -> None:
        super().__init__(data.copy(deep=False))

    @property
    def names(self) -> list[str]:
        found = [name for name in self.data.columns if isinstance(name, str)]
        if not found and len(self.data.columns):
            first = self.data.columns[0]
            told = f"columns are named by {type(first).__name__}, as in {quoted(first)}"
            raise InputError(f"{TABLE}: its {told}, expected str: rename them (df.columns = [...])")
        return found

    def open(self, columns: Sequence[str]) -> Opened:
        if all(_in_arrow(self.data[name].dtype) for name in columns):
            return record_batches(self.data[list(columns)], TABLE)
        values = {name: self.data[name].to_numpy(object).tolist() for name in columns}
        return open_values(values, self.place)

    def place(self, row: int) -> str:
        return f"row {row + 1:,} (index {quoted(self.data.index[row : row + 1].tolist()[0])})"

    def joined(self, scores: Mapping[str, Floats]) -> Any:
        return self.data.assign(**scores)


def _in_arrow(dtype: Any) -> bool:
    """Return whether pandas keeps a column in Arrow's form, or can hand it over in that."""
    arrow = type(dtype).__name__ == "ArrowDtype" or getattr(dtype, "storage", "") == "pyarrow"
    return arrow or (find_spec("pyarrow") is not None and dtype.kind in "iub")
