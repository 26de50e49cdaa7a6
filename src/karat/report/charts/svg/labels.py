"""Places for labels so that none hides another: beside dots, and at the ends of curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

DISTANCES = (8.0, 15.0, 24.0, 36.0)  # from a dot's middle to its label, the nearest that is free
DOT = 5.0  # half the side of what a dot covers
_AROUND = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))


class Box(NamedTuple):
    """A rectangle, y growing downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Return whether the two share more than an edge."""
        beside = self.right <= other.left or other.right <= self.left
        above = self.bottom <= other.top or other.bottom <= self.top
        return not (beside or above)

    def inside(self, other: Box) -> bool:
        """Return whether it lies within another."""
        wide = other.left <= self.left and self.right <= other.right
        return wide and other.top <= self.top and self.bottom <= other.bottom


class Placed(NamedTuple):
    """The place of a label; so far away, perhaps, that a line should lead to it."""

    box: Box
    far: bool


def place_labels(
    dots: Sequence[tuple[float, float]], sizes: Sequence[tuple[float, float]], within: Box
) -> list[Placed | None]:
    """A free place for the label of each dot, None where there is none.

    A label covers no dot and no other label. Those with the least choice are placed first.
    """
    taken = [Box(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in dots]
    choices = [
        [place for place in _places(dot, size) if _free(place.box, taken, within)]
        for dot, size in zip(dots, sizes, strict=True)
    ]
    found: list[Placed | None] = [None] * len(dots)
    for k in sorted(range(len(dots)), key=lambda k: len(choices[k])):
        found[k] = next((place for place in choices[k] if _free(place.box, taken, within)), None)
        taken += [place.box] if (place := found[k]) else []
    return found


def _free(box: Box, taken: Sequence[Box], within: Box) -> bool:
    return box.inside(within) and not any(box.meets(other) for other in taken)


def _places(dot: tuple[float, float], size: tuple[float, float]) -> Iterator[Placed]:
    """The places for a label, the nearest first."""
    (x, y), (wide, high) = dot, size
    for step, distance in enumerate(DISTANCES):
        for across, down in _AROUND:
            near = distance * (0.7 if across and down else 1.0)
            left = x + across * near - wide * (1 - across) / 2
            top = y + down * near - high * (1 - down) / 2
            yield Placed(Box(left, top, left + wide, top + high), step > 0)


def spaced(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float] | None:
    """Places in low..high near the wanted ones, at least `gap` apart; None if there is no room."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    if gap * (len(order) - 1) > high - low:
        return None
    placed = list(wanted)
    edge = low - gap
    for k in order:
        edge = placed[k] = max(placed[k], edge + gap)
    edge = high + gap
    for k in reversed(order):
        edge = placed[k] = min(placed[k], edge - gap)
    return placed
