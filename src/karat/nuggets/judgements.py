"""Judgements: which response carries which nugget, as assessors said.

A judgement is looked up by question, nugget and normalised response, so that the same words are
never judged twice, whoever submitted them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

SUPPORT, PARTIAL, NOT = 1.0, 0.5, 0.0


class Judged(NamedTuple):
    """One row: what was said of a response and a nugget, and where that stands."""

    question: str
    nugget: str
    response: str
    """The text of the response as it was submitted."""
    value: float
    """1 carries it, 0.5 in part, 0 does not."""
    run: str = ""
    judge: str = ""
    place: str = ""
    """File and line, for messages."""


class Contradiction(NamedTuple):
    """Two judgements of the same words that differ."""

    first: Judged
    second: Judged


@dataclass(frozen=True)
class Judgements:
    """Rows in the order they were read.

    Where rows contradict each other the most favourable counts: a response carries a nugget if any
    identical response was judged to carry it (the paper's corrected judgements).
    """

    rows: tuple[Judged, ...]

    @cached_property
    def known(self) -> dict[tuple[str, str, str], float]:
        """(question, nugget, normalised response) -> value."""
        from karat.nuggets.runs import normal

        found: dict[tuple[str, str, str], float] = {}
        for row in self.rows:
            key = row.question, row.nugget, normal(row.response)
            found[key] = max(row.value, found.get(key, 0.0))
        return found

    @cached_property
    def of_response(self) -> dict[tuple[str, str], dict[str, float]]:
        """(question, normalised response) -> nugget -> value: `known` by response."""
        found: dict[tuple[str, str], dict[str, float]] = {}
        for (question, nugget, text), value in self.known.items():
            found.setdefault((question, text), {})[nugget] = value
        return found

    @cached_property
    def of_run(self) -> dict[tuple[str, str, str], dict[str, float]]:
        """(run, question, normalised response) -> nugget -> value, from the run's rows alone."""
        from karat.nuggets.runs import normal

        found: dict[tuple[str, str, str], dict[str, float]] = {}
        for row in self.rows:
            mine = found.setdefault((row.run, row.question, normal(row.response)), {})
            mine[row.nugget] = max(row.value, mine.get(row.nugget, 0.0))
        return found

    def about(self, question: str, text: str, own: str | None = None) -> Mapping[str, float]:
        """nugget -> value of a normalised response.

        With `own`, the tag of a run, what was judged of it there stands as it is, whatever was said
        of the same words elsewhere.
        """
        found: Mapping[str, float] = self.of_response.get((question, text), {})
        mine = {} if own is None else self.of_run.get((own, question, text), {})
        return {**found, **mine} if mine else found

    def without(self, runs: Iterable[str]) -> Judgements:
        """The judgements that do not come from some runs: for leaving systems out."""
        out = set(runs)
        return Judgements(tuple(row for row in self.rows if row.run not in out))

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Pairs of rows about the same words that differ, each row with the first that does."""
        from karat.nuggets.runs import normal

        first: dict[tuple[str, str, str], Judged] = {}
        found = []
        for row in self.rows:
            other = first.setdefault((row.question, row.nugget, normal(row.response)), row)
            if other.value != row.value:
                found.append(Contradiction(other, row))
        return tuple(found)
