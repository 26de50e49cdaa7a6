"""Given scores: scores of outputs by another program, by system and segment.

Scores of segments have segment ids, or are in the order of the segments. A system may
also have a score of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from karat.arithmetic import exact_sum
from karat.arrays import Floats, Ints, np
from karat.errors import InputError, quoted, short
from karat.evalset.reading import Location, parse_number
from karat.settings import nearest
from karat.storage.digests import text_digest

NEAR = 1e-6
"""Relative tolerance for a system score to equal the mean of the segment scores."""
MISSING = ("", "none", "null", "nan", "na", "<na>")
"""Spellings of a missing score, in lower case."""


def parse_score(value: object) -> float | None:
    """Return a score as a finite number, NaN if it is missing, None if it is invalid.

    The rule is the same for files, columns and Python: an empty text, None, null, NaN and NA are
    missing scores.
    """
    is_nan = isinstance(value, float) and math.isnan(value)
    is_blank = isinstance(value, str) and value.strip().lower() in MISSING
    if value is None or is_nan or is_blank or type(value).__name__ == "NAType":  # of pandas
        return math.nan
    return parse_number(value)


@dataclass(frozen=True, eq=False)
class GivenScores:
    """Scores of one metric: finite numbers, NaN if missing."""

    source: str
    """Name in messages: a file, or a description of the scores."""
    by_id: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """System -> id of a segment -> score."""
    in_order: Mapping[str, Floats] = field(default_factory=dict)
    """System -> a score for each segment, without ids."""
    by_system: Mapping[str, float] = field(default_factory=dict)
    """System -> the score of the whole system."""
    places: Mapping[str, Location] = field(default_factory=dict)
    """Id of a segment -> the location of its first score."""
    oriented: bool = False
    """True if the scores are stored so that higher is better."""
    lower_is_better: bool = False
    """True if the file, or the dimension of judgements, declares that lower is better."""
    low: float | None = None
    """The lowest possible score; None if it is unknown."""
    high: float | None = None
    """The highest possible score; None if it is unknown."""
    dimension: str | None = None
    """The dimension of the set whose judgements are the scores; None for other scores."""
    judges: frozenset[str] = frozenset()
    """The judges whose values are behind the scores."""

    @cached_property
    def digest(self) -> str:
        """Digest of the scores, for signatures."""
        rows: list[tuple[str, ...]] = []
        for system, scores in self.by_id.items():
            rows += (("id", system, s, repr(x)) for s, x in scores.items() if not math.isnan(x))
        for system, values in self.in_order.items():
            numbered = enumerate(values.tolist())
            rows += (("order", system, str(i), repr(x)) for i, x in numbered)
        rows += (("system", system, repr(score)) for system, score in self.by_system.items())
        return text_digest("\n".join(sorted("\t".join(row) for row in rows)))

    @property
    def systems(self) -> list[str]:
        """Systems with scores."""
        return list(dict.fromkeys([*self.by_id, *self.in_order, *self.by_system]))

    @property
    def has_segments(self) -> bool:
        """True if segments have scores, not only systems."""
        return bool(self.by_id or self.in_order)

    @cached_property
    def has_system_scores(self) -> bool:
        """True if a system has a score that differs from the mean of its segments' scores."""
        return any(not math.isnan(self.system_score(system)) for system in self.by_system)

    @cached_property
    def negated(self) -> bool:
        """True if all scores are at most 0 and some are below: a negated error rate."""
        present = np.concatenate([np.empty(0), *map(self.present_scores, self.systems)])
        values = [*present.tolist(), *self.by_system.values()]
        return bool(values) and min(values) < 0 >= max(values)

    def present_scores(self, system: str) -> Floats:
        """Return the scores of a system's segments, without missing ones."""
        values = self.in_order.get(system)
        if values is None:
            values = np.array([*self.by_id.get(system, {}).values()], np.float64)
        return values[~np.isnan(values)]

    def segment_scores(
        self, system: str, ids: Sequence[str] | Sequence[int] | Ints, first: int
    ) -> Floats:
        """Return the scores of segments with these ids; `first` is the index of the first."""
        if system in self.in_order:
            return self.in_order[system][first : first + len(ids)]
        system_scores = self.by_id.get(system, {})
        return np.array([system_scores.get(str(name), math.nan) for name in ids], np.float64)

    def system_score(self, system: str) -> float:
        """Return the system score; NaN if missing, or equal to the segments' mean."""
        score, present = self.by_system.get(system, math.nan), self.present_scores(system)
        if math.isnan(score) or not len(present):
            return score
        mean = float(exact_sum(present)) / len(present)
        return math.nan if math.isclose(score, mean, rel_tol=NEAR) else score

    def check_system(self, system: str) -> None:
        """Require scores of a system."""
        if system not in self.systems:
            system_names = short(", ".join(self.systems) or "none")
            has = f"it has scores of {system_names}{nearest(system, self.systems)}"
            raise InputError(f"{self.source}: no scores of system {quoted(system)}; {has}")
        if not len(self.present_scores(system)) and system not in self.by_system:
            raise InputError(f"{self.source}: all scores of system {quoted(system)} are missing")

    def check_order(self, system: str, segments: int) -> None:
        """Require one score per segment if scores have no ids."""
        count = len(self.in_order.get(system, ())) if system in self.in_order else segments
        if count != segments:
            problem = f"found {count:,} scores, expected {segments:,}, one a segment"
            raise InputError(f"{self.source}: system {quoted(system)}: {problem}")

    def check_ids(self, is_segment: Callable[[str], bool], example: str) -> None:
        """Reject scores of unknown segments; `example` is a valid id."""
        for name, location in self.places.items():
            if not is_segment(name):
                problem = f"a score of segment {quoted(name)}, which does not exist"
                advice = f"segments have ids such as {quoted(example)}"
                raise InputError(
                    f"{location}: {problem}; {advice} (lines of a file are numbered from 1)"
                )


Offered: TypeAlias = Mapping[str, Callable[[], GivenScores]]
"""Scores that come with a set, by the name of the metric, read on demand."""


def make_given_scores(
    source: str,
    scores: Mapping[str, object] | Sequence[float | None],
    systems: Mapping[str, float] | None = None,
) -> GivenScores:
    """Return scores from Python, checked.

    `scores[system]` has a score for each segment, or scores by id; a sequence belongs to the
    system `candidate`. None and NaN are missing.
    """
    scores_by_system = scores if isinstance(scores, Mapping) else {"candidate": scores}
    by_id, in_order = {}, {}
    for system, system_scores in scores_by_system.items():
        location = f"{source}, system {short(str(system))}"
        if isinstance(system_scores, Mapping):
            score_of_id = {
                str(name): _check_score(f"{location}, {quoted(name)}", x)
                for name, x in system_scores.items()
            }
            if len(score_of_id) < len(system_scores):
                raise InputError(f"{location}: two segments have the same id")
            by_id[str(system)] = score_of_id
        elif isinstance(system_scores, str | bytes) or not hasattr(system_scores, "__iter__"):
            expected = "expected a score for each segment, or scores by id"
            raise InputError(f"{location}: found {quoted(system_scores)}, {expected}")
        else:
            numbered = enumerate(system_scores, 1)
            values = [_check_score(f"{location}, segment {i}", x) for i, x in numbered]
            in_order[str(system)] = np.array(values, np.float64)
    totals = {
        str(system): _check_score(f"{source}, system {short(str(system))}", score)
        for system, score in (systems or {}).items()
    }
    location_of_segment = {
        name: f"{source}, system {system}" for system in by_id for name in by_id[system]
    }
    present_totals = {system: score for system, score in totals.items() if not math.isnan(score)}
    if not (by_id or in_order or present_totals):
        raise InputError(f"{source}: no scores: expected scores of at least one system")
    return GivenScores(source, by_id, in_order, present_totals, location_of_segment)


def _check_score(location: str, score: object) -> float:
    number = score
    with suppress(TypeError, ValueError, OverflowError):  # numpy numbers, decimals, fractions
        number = float(score)  # type: ignore[arg-type]
    value = None if isinstance(score, str | bool) else parse_score(number)
    if value is None:
        raise InputError(f"{location}: found {quoted(score)}, expected a finite number or None")
    return value
