"""Groups of segments that have planes of their own, as the paper's summaries of 200 and 400 words.

A grouping has one name, as metrics have: `groups`, or `lengths:parts=4`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.registry import Registry
from karat.settings import Named, parse_settings, setting

MOST_GROUPS = 50
"""Planes for more groups than a reader looks at."""


@runtime_checkable
class Grouping(Protocol):
    """A way to put the segments of a set into groups."""

    def places(self, evalset: EvalSet) -> Mapping[str, list[int]]:
        """Return the places of the segments of each group, by its name."""


@dataclass(frozen=True)
class Groups(Named):
    """The set's own groups: documents, questions, or the lengths that summaries were asked for."""

    name: ClassVar[str] = "groups"

    def places(self, evalset: EvalSet) -> Mapping[str, list[int]]:
        """Return the places of the segments of each group, by its name."""
        if evalset.groups is None:
            raise InputError(
                f"{evalset.name} has no groups of segments: add them to its segments (see karat "
                "data), or group by lengths"
            )
        found: dict[str, list[int]] = {}
        for place, group in enumerate(evalset.groups):
            found.setdefault(group, []).append(place)
        return found


@dataclass(frozen=True)
class Lengths(Named):
    """Parts of about as many segments each, by the mean length of their references in words.

    Segments of equal length stay together, so there may be fewer parts.
    """

    name: ClassVar[str] = "lengths"

    parts: int = setting(2, "the number of parts", low=2, high=MOST_GROUPS)

    def places(self, evalset: EvalSet) -> Mapping[str, list[int]]:
        """Return the places of the segments of each part, the shortest first."""
        lengths = [_mean_length(group) for group in evalset.references]
        bounds = self._bounds(sorted(lengths))
        parts: dict[int, list[int]] = {}
        for place, length in enumerate(lengths):
            parts.setdefault(bisect_right(bounds, length), []).append(place)
        found = (parts[part] for part in sorted(parts))
        return {_span([lengths[place] for place in places]): places for places in found}

    def _bounds(self, ordered: list[float]) -> list[float]:
        """The shortest length of each part but the first, as near to equal sizes as ties allow."""
        steps = [i for i in range(1, len(ordered)) if ordered[i - 1] < ordered[i]]
        ideal = [len(ordered) * k / self.parts for k in range(1, self.parts)]
        cuts = {min(steps, key=lambda i: abs(i - at)) for at in ideal} if steps else set()
        return sorted(ordered[cut] for cut in cuts)


def _mean_length(references: tuple[str, ...]) -> float:
    return sum(len(text.split()) for text in references) / max(len(references), 1)


def _span(lengths: list[float]) -> str:
    low, high = (f"{end:.2f}".rstrip("0").rstrip(".") for end in (min(lengths), max(lengths)))
    return f"{low} to {high} words"


GROUPINGS: Registry[type[Named]] = Registry(
    "groupings", "grouping", {"groups": Groups, "lengths": Lengths}
)


def parse_grouping(given: str | Grouping) -> Grouping:
    """Return the grouping that `name:setting=value` describes; its string parses back."""
    if not isinstance(given, str):
        return given
    found = parse_settings(GROUPINGS[given.partition(":")[0].strip()], given)
    if not isinstance(found, Grouping):
        raise InputError(f"grouping {quoted(given)} has no method places")
    return found


def grouped(evalset: EvalSet, by: str | Grouping) -> Mapping[str, list[int]]:
    """Return the places of the segments of each group; there must be two groups or more."""
    grouping = parse_grouping(by)
    found = grouping.places(evalset)
    if not 2 <= len(found) <= MOST_GROUPS:
        raise InputError(
            f"{evalset.name}: {len(found):,} group{'s' * (len(found) != 1)} of segments by "
            f"{grouping}: expected 2 to {MOST_GROUPS}"
        )
    return found
