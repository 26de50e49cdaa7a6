"""The model of values with two intervals each, such as by people alone and with a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from karat.report.charts.axis import Ticks, drawable, nice_ticks
from karat.report.model.cells import enumeration


class Estimated(NamedTuple):
    """A value with its interval; `text` and `reach` are the two as people read them."""

    value: float
    low: float
    high: float
    text: str
    reach: str = ""

    @property
    def bar(self) -> tuple[float, float] | None:
        """The interval, if both ends have a place."""
        return (self.low, self.high) if drawable([self.low, self.high]) else None


class Pair(NamedTuple):
    """An item with its value, and the value that it is compared with, if there is one."""

    label: str
    main: Estimated
    other: Estimated | None = None

    @property
    def placed(self) -> list[Estimated]:
        """The values that have a place, the main one first."""
        return [one for one in (self.main, self.other) if one and drawable([one.value])]


@dataclass(frozen=True)
class PairedIntervals:
    """Two lines for each item, one below the other: its value and the one to compare it with.

    `names` says what the two are; `better` is higher, lower or empty.
    """

    title: str
    axis: str
    names: tuple[str, str]
    pairs: Sequence[Pair]
    better: str = ""
    caption: str = ""
    narrow: ClassVar[bool] = True

    @cached_property
    def shown(self) -> list[Pair]:
        """The items whose main value has a place."""
        return [pair for pair in self.pairs if drawable([pair.main.value])]

    @property
    def compared(self) -> bool:
        """Return whether any item has two values."""
        return any(len(pair.placed) > 1 for pair in self.shown)

    @property
    def named_axis(self) -> str:
        """The name of the axis, with the direction of goodness."""
        arrows = {"higher": " (higher is better →)", "lower": " (← lower is better)"}
        return f"{self.axis}{arrows.get(self.better, '')}"

    def ticks(self, about: int = 4) -> Ticks:
        """Round values along the axis, of items that there must be."""
        every = [one for pair in self.shown for one in pair.placed]
        found = [x for one in every for x in (one.value, *(one.bar or ()))]
        return nice_ticks(min(found), max(found), about)

    def told(self, pair: Pair) -> str:
        """An item in words."""
        kinds = zip(self.names, pair.placed, strict=False)
        told = [f"{name} {one.text} {one.reach}".rstrip() for name, one in kinds]
        return f"{pair.label}: {', '.join(told)}"

    @property
    def story(self) -> str:
        """The chart in words."""
        return f"{self.named_axis}. {enumeration([self.told(pair) for pair in self.shown])}"
