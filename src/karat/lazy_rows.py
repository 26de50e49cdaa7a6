"""Rows that are made when they are looked at: there may be millions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeVar, overload

T = TypeVar("T")


class MadeRows(Sequence[T]):
    """The rows of several parts, one part after the other.

    A part is how many rows it has and what makes the one with a number, from 0.
    """

    def __init__(self, parts: Sequence[tuple[int, Callable[[int], T]]]) -> None:
        self._makers = [make for _, make in parts]
        self._starts = list(accumulate((size for size, _ in parts), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        part = bisect_right(self._starts, index) - 1
        return self._makers[part](index - self._starts[part])
