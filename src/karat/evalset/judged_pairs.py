"""Judged pairs: what judges said of two outputs, and the shares of comparisons that outputs won.

The value of a pair is 1 if `system` is better, 0 if `other` is, and 0.5 for a tie. A set keeps its
pairs. Among its judgements each output has the share of comparisons that it won, ties as half: the
mean over the systems that a judge compared it with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeAlias

from karat.arrays import np
from karat.errors import quoted, short
from karat.evalset.judgements import Dimension, Judgement, JudgementTable
from karat.evalset.reading import Reading, Where, number

Key: TypeAlias = tuple[str, str, str, str]
"""System, segment, judge and dimension of a judgement."""


class Judged(Protocol):
    """The names that a judgement and a judged pair have."""

    @property
    def system(self) -> str: ...
    @property
    def segment(self) -> str: ...
    @property
    def judge(self) -> str: ...
    @property
    def dimension(self) -> str: ...


class JudgedPair(NamedTuple):
    """Value that one judge gave to the output of a system beside that of another."""

    system: str
    segment: str
    judge: str
    dimension: str
    value: float
    other: str

    @property
    def turned(self) -> JudgedPair:
        """This comparison, seen from the other system."""
        return self._replace(system=self.other, other=self.system, value=1 - self.value)


Placed: TypeAlias = tuple[Where, JudgedPair]


def checked_pairs(
    given: Iterable[tuple[Where, tuple[str, str, str, str, object, str]]],
    dimensions: Mapping[str, Dimension],
    reading: Reading,
) -> Iterator[Placed]:
    """Yield each pair once, at its first place; what is wrong with one is noted."""
    seen: dict[tuple[str, ...], tuple[float, Where]] = {}
    for where, (*names, value, other) in given:
        found = number(value)
        told = _wrong(names[0], other, value, found, dimensions[names[3]])
        if told or found is None:
            reading.problem(where, told)
            continue
        pair = JudgedPair(names[0], names[1], names[2], names[3], found, other)
        key = (*names, other)
        if key not in seen:
            seen[key] = found, where
            yield where, pair
        elif seen[key][0] != found:
            reading.problem(where, other_value(pair, value, *seen[key]))


def _wrong(
    system: str, other: str, value: object, found: float | None, dimension: Dimension
) -> str:
    """Return why a row is no comparison of two outputs; "" if it is one."""
    if system == other:
        return f"a comparison of system {quoted(system)} with itself"
    if found is None or not 0 <= found <= 1:
        return f"found the value {quoted(value)} of a comparison, expected 0 to 1"
    if dimension.sign < 0 or dimension.off_scale(0) or dimension.off_scale(1):
        told = f"a comparison under dimension {short(dimension.name)}, which is one of ratings"
        return f"{told}: expected a scale from 0 to 1, higher is better; use another dimension"
    return ""


def other_value(row: Judged, value: object, before: object, first: Where) -> str:
    """Return the sentence on a judgement that was given before with another value."""
    what = f"{short(row.dimension)} of system {quoted(row.system)} on segment {quoted(row.segment)}"
    return f"judge {quoted(row.judge)} gave {what} {value} here and {before} before ({first})"


def win_shares(pairs: Iterable[Placed]) -> Iterator[tuple[Where, Judgement]]:
    """Yield the share of comparisons that each output won, at the place of the first."""
    won: dict[Key, dict[str, list[float]]] = {}
    places: dict[Key, Where] = {}
    for where, pair in pairs:
        for one in (pair, pair.turned):
            places.setdefault(one[:4], where)
            won.setdefault(one[:4], {}).setdefault(one.other, []).append(one.value)
    for key, others in won.items():
        means = [sum(values) / len(values) for values in others.values()]
        yield places[key], Judgement(*key, sum(means) / len(means))


def _outputs(pairs: Iterable[JudgedPair]) -> set[Key]:
    return {one[:4] for pair in pairs for one in (pair, pair.turned)}


def without_shares(rows: JudgementTable, pairs: Iterable[JudgedPair]) -> JudgementTable:
    """Return the judgements but for the shares of comparisons won."""
    keys = _outputs(pairs)
    return rows.where(np.array([row[:4] not in keys for row in rows], bool)) if keys else rows


def select_pairs(
    rows: JudgementTable, pairs: tuple[JudgedPair, ...]
) -> tuple[JudgementTable, tuple[JudgedPair, ...]]:
    """Return judgements and the pairs of their systems and segments; shares are of these pairs."""
    if not pairs:
        return rows, pairs
    systems, segments = {*rows.systems}, {*rows.segments}
    kept = tuple(p for p in pairs if {p.system, p.other} <= systems and p.segment in segments)
    share = {row[:4]: row.value for _, row in win_shares(("", pair) for pair in kept)}
    gone = _outputs(pairs) - {*share}
    left = rows.where(np.array([row[:4] not in gone for row in rows], bool))
    value = np.array([share.get(row[:4], row.value) for row in left], np.float64)
    return replace(left, value=value), kept
