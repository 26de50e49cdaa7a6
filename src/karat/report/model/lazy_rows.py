"""Rows that are made when they are looked at: there may be millions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import overload

from karat.report.model.table import Row


class MadeRows(Sequence[Row]):
    """The rows of several parts, one part after the other.

    A part is how many rows it has and what makes the one with a number, from 0.
    """

    def __init__(self, parts: Sequence[tuple[int, Callable[[int], Row]]]) -> None:
        self._makers = [make for _, make in parts]
        self._starts = list(accumulate((size for size, _ in parts), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        part = bisect_right(self._starts, index) - 1
        return self._makers[part](index - self._starts[part])
