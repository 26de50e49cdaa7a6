"""Outputs: which system and which segment each row of a batch is of, and what came beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from karat.arrays import Floats, Ints, NDArray, np


@dataclass(frozen=True)
class SegmentNames:
    """The ids of all segments that are scored; of lines without ids, their numbers from 1."""

    count: int
    ids: Sequence[str] | None = None
    left_out: frozenset[str] = frozenset()
    """Ids of the set that are not scored now."""

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(self.listed()) | self.left_out

    def listed(self) -> Sequence[str]:
        """Return the id of each segment."""
        return [str(i) for i in range(1, self.count + 1)] if self.ids is None else self.ids

    def known(self, name: str) -> bool:
        """Return whether the set has a segment of that id."""
        return name in self._all


@dataclass(frozen=True)
class Outputs:
    """The systems and segments of candidates, in their order."""

    systems: Sequence[str]
    """Names of systems; all rows are of the first, unless `codes` says otherwise."""
    codes: NDArray[np.int32] | None = None
    """For rows of a table the place of each row's system in `systems`."""
    ids: Callable[[], Sequence[str] | Ints] | None = None
    """The ids of all segments; without it, the number of each, from 1."""
    columns: Mapping[str, Floats] = field(default_factory=dict)
    """Columns of numbers of a table, NaN where there is none."""
    first: int = 0
    """The number of the first segment, from 0."""
    count: int = 0
    """Rows of a batch."""

    @property
    def of_table(self) -> bool:
        """True for rows of a table, which may be in any order."""
        return self.codes is not None

    def cut(self, start: int, stop: int) -> Outputs:
        """Return some rows."""
        made: dict[str, Any] = {"first": self.first + start, "count": stop - start}
        if self.codes is not None:
            made["codes"] = self.codes[start:stop]
        if self.ids is not None:
            found = self.ids
            made["ids"] = lambda: found()[start:stop]
        made["columns"] = {name: own[start:stop] for name, own in self.columns.items()}
        return replace(self, **made)

    def repeated(self, times: Ints) -> Outputs:
        """Return each row as often as given; rows are then found by their ids alone."""
        ids = [str(name) for name in self.segments()]
        listed = [name for name, n in zip(ids, times.tolist(), strict=True) for _ in range(n)]
        codes = np.zeros(self.count, np.int32) if self.codes is None else self.codes
        columns = {name: np.repeat(own, times) for name, own in self.columns.items()}
        rows = np.repeat(codes, times)
        return Outputs(self.systems, rows, lambda: listed, columns, self.first, len(listed))

    def segments(self) -> Sequence[str] | Sequence[int] | Ints:
        """Return the id of the segment of each row."""
        if self.ids is not None:
            return self.ids()
        return range(self.first + 1, self.first + self.count + 1)

    def by_system(self) -> Iterator[tuple[str, Ints]]:
        """Yield each system with its rows."""
        if self.codes is None:
            yield self.systems[0], np.arange(self.count)
            return
        for code in np.unique(self.codes).tolist():
            yield self.systems[code], np.flatnonzero(self.codes == code)
