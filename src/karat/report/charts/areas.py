"""The model of a plane with named areas and spots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.report.model.cells import enumeration


class Stretch(NamedTuple):
    """A named stretch of an axis."""

    low: float
    high: float
    name: str


class Area(NamedTuple):
    """A named rectangle of a plane; `asked` is the one that the chart is about."""

    across: tuple[float, float]
    up: tuple[float, float]
    name: str
    asked: bool = False


class Spot(NamedTuple):
    """A named point of a plane; `asked` points are what the chart is about."""

    x: float
    y: float
    name: str
    asked: bool = False


@dataclass(frozen=True)
class Regions:
    """Areas and spots of a plane whose axes have named stretches; the plane ends with these.

    `keys` says what an area, the one that was asked for, and a spot stand for.
    """

    title: str
    x_axis: str
    y_axis: str
    x_spans: Sequence[Stretch]
    y_spans: Sequence[Stretch]
    x_values: Sequence[float]
    y_values: Sequence[float]
    areas: Sequence[Area]
    spots: Sequence[Spot] = ()
    keys: tuple[str, str, str] = ("area", "asked", "spot")
    caption: str = ""

    @property
    def shown(self) -> Sequence[Area]:
        """The areas, the one that was asked for last, so that it lies above the others."""
        return sorted(self.areas, key=lambda area: area.asked)

    @property
    def story(self) -> str:
        """The chart in words: every area and spot with its place."""
        told = [
            f"{self.keys[1 if area.asked else 0]} {area.name}: {_ends(area.across)} across, "
            f"{_ends(area.up)} up"
            for area in self.shown
        ]
        told += [f"{spot.name}: {spot.x:g} across, {spot.y:g} up" for spot in self.spots]
        return f"{self.x_axis} across, {self.y_axis} up. {enumeration(told)}"


def _ends(span: tuple[float, float]) -> str:
    return f"{span[0]:g} to {span[1]:g}"
