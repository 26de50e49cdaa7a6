"""Judgements of outputs: ratings, comparisons of two outputs, and the kinds of judges."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, overload

from karat.arithmetic import power
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError, quoted, short
from karat.evalset.reading import Location, Reading, parse_number, read_table

PERSON, MODEL, ADJUDICATED = "person", "model", "adjudicated"
KINDS = (PERSON, MODEL, ADJUDICATED)
"""Kinds of judges; an unknown kind ("") counts as a person."""

UNNAMED_RATERS = ("all", "merged", "raters", "annotators", "experts")
"""Names for unnamed raters of files with one score per output."""


def raters_unnamed(judges: Collection[str]) -> bool:
    """Return whether the raters are unnamed, so that their number is unknown."""
    return bool(judges) and all(judge in UNNAMED_RATERS for judge in judges)


def kind_problem(kind: object) -> str:
    """Describe an invalid kind of judge; "" if it is valid."""
    if kind == "" or kind in KINDS:
        return ""
    return f"found the kind {quoted(kind)}, expected one of {', '.join(KINDS)}"


def check_kinds(kinds: Collection[str]) -> None:
    """Reject unknown kinds of judges."""
    if unknown := sorted(kind for kind in kinds if kind_problem(kind)):
        raise InputError(f"kind {quoted(unknown[0])}: expected one of {', '.join(KINDS)}")


class Judgement(NamedTuple):
    """Value that one judge gave to one output under one dimension."""

    system: str
    segment: str
    judge: str
    dimension: str
    value: float


class GivenJudgement(NamedTuple):
    """A judgement in a file, not yet checked against a set."""

    system: str
    segment: str
    judge: str
    dimension: str
    value: object
    location: Location
    kind: str = ""
    other: str = ""
    """The other system of a comparison; "" for a rating."""


_OPTIONAL_MEMBERS = ("kind", "evidence", "other")


def read_judgement_table(path: Path, reading: Reading) -> Iterator[GivenJudgement]:
    """Yield the judgements of a table such as `human.tsv`."""
    optional = ("kind", "other")
    for location, row in read_table(path, Judgement._fields, reading, optional=optional, only=True):
        system, segment, judge, dimension, value, *more = row
        yield GivenJudgement(system, segment, judge, dimension, value, location, *more)


def parse_judgement(
    record: Mapping[str, Any], location: Location, reading: Reading
) -> GivenJudgement | None:
    """Return the judgement in a JSON object; record an invalid one as a problem."""
    fields = Judgement._fields
    bad = next((k for k in _OPTIONAL_MEMBERS if not isinstance(record.get(k, ""), str)), None)
    if {*record} - {*_OPTIONAL_MEMBERS} != {*fields}:
        problem = f"found an object with {short(', '.join(record) or 'nothing')}"
        problem = f"{problem}, expected {', '.join(fields)}"
    elif not all(isinstance(record[key], str) for key in fields[:-1]):
        problem = "system, segment, judge and dimension must be strings"
    elif isinstance(record["value"], str):
        problem = f"found the value {quoted(record['value'])}, expected a number"
    elif bad:
        problem = f"found {quoted(record[bad])} for {quoted(bad)}, expected a string"
    else:
        judgement = Judgement(*(record[key] for key in fields))
        kind, other = record.get("kind", ""), record.get("other", "")
        return GivenJudgement(*judgement, location, kind, other)
    reading.problem(location, problem)
    return None


@dataclass(frozen=True)
class Dimension:
    """A judged quality: its name and direction, and its scale and question if known."""

    name: str
    better: Literal["higher", "lower"] = "higher"
    low: float | None = None
    """The lower end of the scale, whichever end is better."""
    high: float | None = None
    guideline: str = ""
    """The question that judges were asked."""

    def __post_init__(self) -> None:
        subject = f"dimension {short(self.name)}"
        if self.better not in ("higher", "lower"):
            problem = f"better={quoted(self.better)}"
            raise InputError(f"{subject}: {problem}: expected 'higher' or 'lower'")
        for end in (self.low, self.high):
            number = isinstance(end, int | float) and not isinstance(end, bool)
            if end is not None and not (number and math.isfinite(end)):
                raise InputError(f"{subject}: its scale ends at {quoted(end)}: expected a number")
        if self.low is not None and self.high is not None and not self.low < self.high:
            scale = f"its scale goes from {self.low} to {self.high}"
            raise InputError(f"{subject}: {scale}: expected a lower and a higher end")

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is better."""
        return 1 if self.better == "higher" else -1

    def off_scale(self, value: float) -> bool:
        """Return whether a value is outside the known scale."""
        low = self.low is not None and value < self.low
        return low or (self.high is not None and value > self.high)


@dataclass(frozen=True, eq=False)
class JudgementTable(Sequence[Judgement]):
    """Judgements in the order of reading: indices of names, and values.

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
    value: Floats
    kinds: tuple[str, ...]
    """The kind of each judge, one of `KINDS`; "" if unknown, which counts as a person."""

    def __len__(self) -> int:
        return len(self.value)

    @overload
    def __getitem__(self, index: int) -> Judgement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Judgement]: ...
    def __getitem__(self, index: int | slice) -> Judgement | Sequence[Judgement]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        system, segment = self.systems[self.system[index]], self.segments[self.segment[index]]
        judge, dimension = self.judges[self.judge[index]], self.dimensions[self.dimension[index]]
        return Judgement(system, segment, judge, dimension, float(self.value[index]))

    def __iter__(self) -> Iterator[Judgement]:
        columns = (c.tolist() for c in (self.system, self.segment, self.judge, self.dimension))
        for a, b, c, d, value in zip(*columns, self.value.tolist(), strict=True):
            names = self.systems[a], self.segments[b], self.judges[c], self.dimensions[d]
            yield Judgement(*names, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JudgementTable):
            return NotImplemented
        return self.judge_kinds == other.judge_kinds and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} judgements by {len(self.judges):,} judges>"

    def select_rows(self, rows: Flags) -> JudgementTable:
        """Return the marked rows, without judges who have no rows."""
        used, judge = np.unique(self.judge[rows], return_inverse=True)
        columns = {k: getattr(self, k)[rows] for k in ("system", "segment", "dimension", "value")}
        return replace(
            self,
            judges=tuple(self.judges[i] for i in used),
            kinds=tuple(self.kinds[i] for i in used),
            judge=judge.reshape(-1).astype(np.int32),
            **columns,
        )

    @property
    def judge_kinds(self) -> dict[str, str]:
        """The known kinds of judges, by name."""
        pairs = zip(self.judges, self.kinds, strict=True)
        return {judge: kind for judge, kind in pairs if kind}

    def select_judges(self, names: Collection[str]) -> JudgementTable:
        """Return the rows of these judges."""
        codes = [i for i, name in enumerate(self.judges) if name in names]
        return self.select_rows(np.isin(self.judge, codes))

    def without_models(self) -> JudgementTable:
        """Return the rows that are not by models."""
        if MODEL not in self.kinds:
            return self
        people = [j for j, kind in zip(self.judges, self.kinds, strict=True) if kind != MODEL]
        return self.select_judges(people)

    def select_dimension(self, name: str) -> JudgementTable:
        """Return the rows of one dimension."""
        number = self.dimensions.index(name) if name in self.dimensions else -1
        return self.select_rows(self.dimension == number)

    def concatenate(self, other: JudgementTable) -> JudgementTable:
        """Return the rows of both.

        Both have the same systems and segments; `other` may have more dimensions at the end.
        """
        judges = tuple(dict.fromkeys((*self.judges, *other.judges)))
        kinds = {**self.judge_kinds, **other.judge_kinds}
        judge = _renumber(other.judges, judges)[other.judge]
        names = ("system", "segment", "dimension", "value")
        both: dict[str, Any] = {
            k: np.concatenate([getattr(self, k), getattr(other, k)]) for k in names
        }
        return replace(
            other,
            judges=judges,
            kinds=tuple(kinds.get(name, "") for name in judges),
            judge=np.concatenate([self.judge, judge]).astype(np.int32),
            **both,
        )

    def select_items(self, systems: Sequence[str], segments: Sequence[str]) -> JudgementTable:
        """Return the rows of these systems and segments, with indices into them."""
        system = _renumber(self.systems, systems)[self.system]
        segment = _renumber(self.segments, segments)[self.segment]
        is_selected = (system >= 0) & (segment >= 0)
        return replace(
            self.select_rows(is_selected),
            systems=tuple(systems),
            segments=tuple(segments),
            system=system[is_selected].astype(np.int32),
            segment=segment[is_selected].astype(np.int32),
        )


def _renumber(old: Sequence[str], new: Sequence[str]) -> Ints:
    """Return the new index of each old name, or -1."""
    location = {name: i for i, name in enumerate(new)}
    return np.array([location.get(name, -1) for name in old], dtype=np.int64)


# ------------------------------------------------------------------------------- identical judges
#
# Judges who gave the same values to all units they share are most likely one judge, stored twice.
# They count as one wherever human scores are averaged and agreement is measured; otherwise their
# agreement with each other would pass for agreement between judges.

HONEST_KAPPA = 0.8
CHANCE_LEVEL = 0.001
"""Below this probability, agreement is not explained by chance."""


def identical_judges(values: Floats) -> list[int]:
    """Return the index of the first identical judge for each judge (row).

    Equal values on all shared units are not enough: two judges who call everything good agree on
    everything. So the probability of agreement is computed. Honest judges who agree with a kappa of
    0.8 give equal values to a unit with probability a = e + 0.8 (1 - e), where e is the probability
    that two of their values, drawn at random, are equal. They agree on n units with probability
    a^n, and judges are identical if that is below 0.001 over the number of pairs. For constant
    judges a is 1, and no n is enough.

    A judge with a different value for a unit of a group does not join the group: A can equal B, and
    B can equal C, while A and C differ.
    """
    groups = list(range(len(values)))
    group_values = values.copy()
    pairs = len(values) * (len(values) - 1) // 2
    for i, row in enumerate(values):
        units = np.flatnonzero(~np.isnan(row))
        later = values[i + 1 :, units]
        shared = ~np.isnan(later)
        equal = shared.any(axis=1) & ~(shared & (later != row[units])).any(axis=1)
        for j in np.flatnonzero(equal).tolist():
            counts = np.unique(row[units][shared[j]], return_counts=True)[1].tolist()
            n = sum(counts)
            by_chance = sum(count**2 for count in counts) / n**2
            if float(power(by_chance + HONEST_KAPPA * (1 - by_chance), n)) * pairs < CHANCE_LEVEL:
                low, high = sorted((groups[i], groups[i + 1 + j]))
                left, right = group_values[low], group_values[high]
                if not ((left != right) & ~np.isnan(left + right)).any():
                    np.copyto(left, right, where=np.isnan(left))
                    groups = [low if number == high else number for number in groups]
    return groups


def merge_judges(values: Floats, groups: Sequence[int]) -> Floats:
    """Return judges x units with one row for each group of identical judges."""
    numbers = list(dict.fromkeys(groups))
    merged = np.full((len(numbers), values.shape[1]), np.nan)
    for row, group in zip(values, groups, strict=True):
        np.copyto(merged[numbers.index(group)], row, where=~np.isnan(row))
    return merged


def representatives(rows: JudgementTable) -> dict[str, str]:
    """Map each judge of a dimension to the first of the people identical to them.

    Models and adjudicated values map to themselves.
    """
    kinds = rows.judge_kinds
    people = [k for k, name in enumerate(rows.judges) if kinds.get(name, PERSON) == PERSON]
    if len(people) < 2:
        return {name: name for name in rows.judges}
    cells = rows.system.astype(np.int64) * len(rows.segments) + rows.segment
    units, columns = np.unique(cells, return_inverse=True)
    values = np.full((len(rows.judges), len(units)), np.nan)
    values[rows.judge, columns.reshape(-1)] = rows.value
    groups = identical_judges(values[people])
    firsts = {rows.judges[k]: rows.judges[people[g]] for k, g in zip(people, groups, strict=True)}
    return {name: firsts.get(name, name) for name in rows.judges}


def count_once(rows: JudgementTable, counted_as: dict[str, str]) -> JudgementTable:
    """Return the judgements with identical judges merged into one.

    `counted_as` maps each judge to their representative.
    """
    if all(judge == first for judge, first in counted_as.items()):
        return rows
    number: dict[str, int] = {}  # of the first of identical judges among these rows
    for k, name in enumerate(rows.judges):
        number.setdefault(counted_as[name], k)
    renumbered = np.array([number[counted_as[name]] for name in rows.judges], np.int32)
    judge = renumbered[rows.judge]
    cells = rows.system.astype(np.int64) * len(rows.segments) + rows.segment
    keys = cells * len(rows.judges) + judge
    is_first = np.zeros(len(rows), np.bool_)
    is_first[np.unique(keys, return_index=True)[1]] = True
    return replace(rows, judge=judge).select_rows(is_first)


Key: TypeAlias = tuple[str, str, str, str]
"""System, segment, judge and dimension of a judgement."""


class JudgedPair(NamedTuple):
    """Value that one judge gave to the output of a system compared with another's."""

    system: str
    segment: str
    judge: str
    dimension: str
    value: float
    other: str

    @property
    def turned(self) -> JudgedPair:
        """This comparison from the other system's point of view."""
        return self._replace(system=self.other, other=self.system, value=1 - self.value)


PlacedPair: TypeAlias = tuple[Location, JudgedPair]


def check_pairs(
    rows: Iterable[GivenJudgement], dimensions: Mapping[str, Dimension], reading: Reading
) -> Iterator[PlacedPair]:
    """Yield each pair once, with its first location; record invalid pairs as problems."""
    first_values: dict[tuple[str, ...], tuple[float, Location]] = {}
    for row in rows:
        share, dimension, problem = parse_number(row.value), dimensions[row.dimension], ""
        key = (*row[:4], row.other)
        if row.system == row.other:
            problem = f"a comparison of system {quoted(row.other)} with itself"
        elif share is None or not 0 <= share <= 1:
            problem = f"found the value {quoted(row.value)} of a comparison, expected 0 to 1"
        elif dimension.sign < 0 or dimension.off_scale(0) or dimension.off_scale(1):
            problem = (
                f"a comparison under dimension {short(dimension.name)}, which has ratings: "
                "expected a scale from 0 to 1, higher is better; use another dimension"
            )
        elif key not in first_values:
            first_values[key] = share, row.location
            yield row.location, JudgedPair(*row[:4], share, row.other)
        elif first_values[key][0] != share:
            problem = conflict_problem(row, *first_values[key])
        if problem:
            reading.problem(row.location, problem)


def conflict_problem(row: GivenJudgement, before: object, first: Location) -> str:
    """Describe a repeated judgement with a different value."""
    output = f"system {quoted(row.system)} on segment {quoted(row.segment)}"
    judged = f"judge {quoted(row.judge)} gave {short(row.dimension)} of {output}"
    return f"{judged} {row.value} here and {before} before ({first})"


def win_shares(pairs: Iterable[PlacedPair]) -> Iterator[GivenJudgement]:
    """Yield the share of comparisons that each output won, with the location of the first."""
    won: dict[Key, dict[str, list[float]]] = {}
    places: dict[Key, Location] = {}
    for location, pair in pairs:
        for side in (pair, pair.turned):
            places.setdefault(side[:4], location)
            won.setdefault(side[:4], {}).setdefault(side.other, []).append(side.value)
    for key, values_by_opponent in won.items():
        means = [sum(values) / len(values) for values in values_by_opponent.values()]
        yield GivenJudgement(*key, sum(means) / len(means), places[key])


def _compared_outputs(pairs: Iterable[JudgedPair]) -> set[Key]:
    return {side[:4] for pair in pairs for side in (pair, pair.turned)}


def drop_shares(rows: JudgementTable, pairs: Iterable[JudgedPair]) -> JudgementTable:
    """Return the judgements without the shares of won comparisons."""
    keys = _compared_outputs(pairs)
    return rows.select_rows(np.array([row[:4] not in keys for row in rows], bool)) if keys else rows


def select_pairs(
    rows: JudgementTable, pairs: tuple[JudgedPair, ...]
) -> tuple[JudgementTable, tuple[JudgedPair, ...]]:
    """Return judgements and the pairs among them, with shares recomputed from these pairs."""
    if not pairs:
        return rows, pairs
    systems, segments = {*rows.systems}, {*rows.segments}
    selected = tuple(p for p in pairs if {p.system, p.other} <= systems and p.segment in segments)
    share = {row[:4]: row.value for row in win_shares(("", pair) for pair in selected)}
    dropped = _compared_outputs(pairs) - {*share}
    remaining = rows.select_rows(np.array([row[:4] not in dropped for row in rows], bool))
    value = np.array([share.get(row[:4], row.value) for row in remaining], np.float64)
    return replace(remaining, value=value), selected
