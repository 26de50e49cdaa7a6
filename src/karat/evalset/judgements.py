"""Judgements: flat rows of system, segment, judge, dimension and value, kept in columns.

A value is what the judge gave and is never changed. Which direction is better is a property of the
dimension; `EvalSet.human` alone turns values so that more is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

from karat.errors import InputError, quoted, short

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Judgement(NamedTuple):
    """What one judge said about one output under one dimension."""

    system: str
    segment: str
    judge: str
    dimension: str
    value: float


@dataclass(frozen=True)
class Dimension:
    """What was judged: its name, which direction is better, and the scale and question if known."""

    name: str
    better: Literal["higher", "lower"] = "higher"
    low: float | None = None
    """The lower end of the scale that judges were given, whichever end is better."""
    high: float | None = None
    guideline: str = ""
    """What judges were asked."""

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower"):
            raise InputError(
                f"dimension {short(self.name)}: better={quoted(self.better)}: expected 'higher' "
                "or 'lower'"
            )
        for end in (self.low, self.high):
            if end is not None and not _is_finite(end):
                raise InputError(
                    f"dimension {short(self.name)}: its scale ends at {quoted(end)}: expected "
                    "a number"
                )
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise InputError(
                f"dimension {short(self.name)}: its scale goes from {self.low} to {self.high}: "
                "expected a lower and a higher end"
            )

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return 1 if self.better == "higher" else -1

    def off_scale(self, value: float) -> bool:
        """Whether a value is not on the scale, as far as that is known."""
        low = self.low is not None and value < self.low
        return low or (self.high is not None and value > self.high)


def _is_finite(end: object) -> bool:
    return isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end)


@dataclass(frozen=True, eq=False)
class Judgements(Sequence[Judgement]):
    """Rows of judgements in the order they were read: numbers of names, and values.

    `systems[system[i]]` is the system of row i, and so on.
    """

    systems: tuple[str, ...]
    segments: tuple[str, ...]
    judges: tuple[str, ...]
    dimensions: tuple[str, ...]
    system: NDArray[np.int32]
    segment: NDArray[np.int32]
    judge: NDArray[np.int32]
    dimension: NDArray[np.int32]
    value: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.value)

    @overload
    def __getitem__(self, index: int) -> Judgement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Judgement]: ...
    def __getitem__(self, index: int | slice) -> Judgement | Sequence[Judgement]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return Judgement(
            self.systems[self.system[index]],
            self.segments[self.segment[index]],
            self.judges[self.judge[index]],
            self.dimensions[self.dimension[index]],
            float(self.value[index]),
        )

    def __iter__(self) -> Iterator[Judgement]:
        columns = (c.tolist() for c in (self.system, self.segment, self.judge, self.dimension))
        for a, b, c, d, value in zip(*columns, self.value.tolist(), strict=True):
            names = self.systems[a], self.segments[b], self.judges[c], self.dimensions[d]
            yield Judgement(*names, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Judgements) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} judgements by {len(self.judges):,} judges>"

    def where(self, rows: NDArray[np.bool_]) -> Judgements:
        """The rows that are marked, with the same tables of names but for judges without a row."""
        import numpy as np

        used, judge = np.unique(self.judge[rows], return_inverse=True)
        return Judgements(
            self.systems,
            self.segments,
            tuple(self.judges[i] for i in used),
            self.dimensions,
            self.system[rows],
            self.segment[rows],
            judge.reshape(-1).astype(np.int32),
            self.dimension[rows],
            self.value[rows],
        )

    def of_dimension(self, name: str) -> Judgements:
        """Return the rows of one dimension."""
        number = self.dimensions.index(name) if name in self.dimensions else -1
        return self.where(self.dimension == number)

    def among(self, systems: Sequence[str], segments: Sequence[str]) -> Judgements:
        """The rows of some systems and segments, numbered by these."""
        import numpy as np

        to_system = _renumbering(self.systems, systems)
        to_segment = _renumbering(self.segments, segments)
        system, segment = to_system[self.system], to_segment[self.segment]
        kept = (system >= 0) & (segment >= 0)
        rest = self.where(kept)
        return Judgements(
            tuple(systems),
            tuple(segments),
            rest.judges,
            rest.dimensions,
            system[kept].astype(np.int32),
            segment[kept].astype(np.int32),
            rest.judge,
            rest.dimension,
            rest.value,
        )


def _renumbering(old: Sequence[str], new: Sequence[str]) -> NDArray[np.int64]:
    """Old number -> new number, or -1."""
    import numpy as np

    place = {name: i for i, name in enumerate(new)}
    return np.array([place.get(name, -1) for name in old], dtype=np.int64)
