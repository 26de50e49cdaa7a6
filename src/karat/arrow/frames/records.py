"""Lists of dictionaries: a row each, as JSON has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat.arrays import Floats
from karat.arrow.frames.frame import TABLE, Frame, Opened
from karat.arrow.frames.values import open_values
from karat.errors import InputError, quoted


class Records(Frame):
    """A list of dictionaries; its columns are the names in the first."""

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
            row = next(i for i, row in enumerate(self.data) if not _has(row, name))
        found = type(self.data[row]).__name__
        told = "it lacks it" if isinstance(self.data[row], Mapping) else f"it is {found}"
        place = f"{TABLE}, {self.place(row)}"
        raise InputError(f"{place}: expected a dictionary with {quoted(name)}, and {told}")

    def joined(self, scores: Mapping[str, Floats]) -> list[dict[str, Any]]:
        columns = zip(*(values.tolist() for values in scores.values()), strict=True)
        rows = zip(self.data, columns, strict=True)
        return [{**row, **dict(zip(scores, values, strict=True))} for row, values in rows]


def _has(row: Any, name: str) -> bool:
    return isinstance(row, Mapping) and name in row
