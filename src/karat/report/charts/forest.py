"""Models of what a comparison shows: differences with intervals, and wins against losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from karat.report.charts.axis import drawable
from karat.report.model.cells import enumeration


class Change(NamedTuple):
    """A difference with its interval, placed so that better is to the right.

    `text` is the difference as people read it, `verdict` is undecided or what it shows, such as
    better or worse.
    """

    label: str
    value: float
    low: float
    high: float
    text: str
    verdict: str

    @property
    def story(self) -> str:
        """The difference in words."""
        return f"{self.label}: {self.text}, {self.verdict}"


@dataclass(frozen=True)
class Forest:
    """A row per difference: a dot, a whisker from low to high, and a line at the baseline.

    `span` is the range of the axis, so that several of these can share one; `sides` says what is
    to the left and to the right of the line.
    """

    title: str
    base: str
    changes: Sequence[Change]
    span: tuple[float, float] | None = None
    caption: str = ""
    sides: tuple[str, str] = ("worse", "better")
    narrow: ClassVar[bool] = True

    @cached_property
    def shown(self) -> list[Change]:
        """The differences that have a place."""
        return [change for change in self.changes if drawable(change[1:4])]

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the axis; the baseline is always in it."""
        return self.span or reach(self.shown)

    @property
    def story(self) -> str:
        """The chart in words."""
        told = enumeration([change.story for change in self.shown])
        return f"Differences from {self.base} with 95% intervals. {told}"


def reach(changes: Sequence[Change]) -> tuple[float, float]:
    """Return the range that all intervals and the baseline fit into."""
    found = [x for change in changes for x in change[1:4] if drawable([x])]
    return min([0.0, *found]), max([0.0, *found])


class Tally(NamedTuple):
    """The number of segments that a system won, tied and lost."""

    label: str
    wins: int
    ties: int
    losses: int

    @property
    def story(self) -> str:
        """The counts in words."""
        return f"{self.label}: {self.wins:,} won, {self.ties:,} tied, {self.losses:,} lost"


@dataclass(frozen=True)
class Tallies:
    """A bar per system, divided into segments won, tied and lost."""

    title: str
    base: str
    shown: Sequence[Tally]
    caption: str = ""
    narrow: ClassVar[bool] = True

    @property
    def story(self) -> str:
        """The chart in words."""
        return f"Segments against {self.base}. {enumeration([tally.story for tally in self.shown])}"
