"""`describe_nuggets`: counts of a set, contradictions in its judgements, and its problems."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat.evalset.reading import Reading
from karat.nuggets.formats.loading import LISTER, read_nuggets, set_name
from karat.nuggets.sets.census import Bin, Census, census, difficulty
from karat.nuggets.sets.draft import NuggetDraft
from karat.nuggets.sets.judgements import UNNAMED
from karat.nuggets.sets.nugget_set import NuggetSet, remarks
from karat.nuggets.sets.voting import HALF
from karat.progress import Progress, silent
from karat.results import Result


class ContradictionRow(NamedTuple):
    """Two judgements of the same words that differ."""

    question: str
    nugget: str
    value: float
    place: str
    other_value: float
    other_place: str


class DisputeRow(NamedTuple):
    """A response and a nugget about which judges contradict each other."""

    question: str
    nugget: str
    votes: str
    value: float
    tie: str
    places: str


@dataclass(frozen=True, eq=False, repr=False)
class NuggetContents(Result):
    """Contents of a set or, if it cannot be used, its problems."""

    name: str
    nuggets: NuggetSet | None
    problems: tuple[str, ...] = ()
    problem_count: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    signature: str = ""

    @property
    def rows(self) -> tuple[Census, ...]:
        """Counts of questions, nuggets, runs, responses and judgements: one row."""
        return (census(self.nuggets),) if self.nuggets else ()

    @property
    def difficulty(self) -> tuple[Bin, ...]:
        """The paper's Figure 4: nuggets by the number of runs that were judged to carry them."""
        found = self.nuggets
        known = found and found.runs and found.judgements.deciding
        return tuple(difficulty(found)) if found and known else ()

    @property
    def contradictions(self) -> tuple[ContradictionRow, ...]:
        """Judgements of one judge about the same words that differ."""
        return tuple(
            ContradictionRow(*one[:2], one.value, one.place, other.value, other.place)
            for one, other in (self.nuggets.judgements.contradictions if self.nuggets else ())
        )

    @property
    def disputes(self) -> tuple[DisputeRow, ...]:
        """Pairs of response and nugget on which judges contradict each other."""
        return tuple(
            DisputeRow(
                *one.rows[0][:2],
                ", ".join(f"{row.judge or UNNAMED} {row.value:g}" for row in one.rows),
                one.value,
                "tie" if one.tie else "",
                "; ".join(row.place for row in one.rows if row.place),
            )
            for one in (self.nuggets.judgements.disputes if self.nuggets else ())
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the set."""
        return tuple(remarks(self.nuggets)) if self.nuggets else ()


def describe_nuggets(
    nuggets: NuggetSet | str | os.PathLike[str],
    runs: Sequence[str | os.PathLike[str]] = (),
    judgements: Sequence[str | os.PathLike[str]] = (),
    *,
    skip_unknown: bool = False,
    model_judges: Sequence[str] = (),
    ties: str = HALF,
    progress: Progress = silent,
) -> NuggetContents:
    """Describe a nugget set and list its problems.

    Args:
        nuggets: a set, or its name or path.
        runs, judgements, skip_unknown, model_judges, ties: as for `load_nuggets`.
        progress: function that is called with the progress.
    """
    if isinstance(nuggets, NuggetSet):
        return NuggetContents(nuggets.name, nuggets, settings={"ties": nuggets.judgements.ties})
    reading = Reading(progress, LISTER)
    draft = NuggetDraft(set_name(nuggets), reading, skip_unknown, model_judges, ties)
    found = reading.attempt(lambda: read_nuggets(nuggets, runs, judgements, draft))
    count = len(reading.problems) + reading.more
    asked = {"skip_unknown": skip_unknown, "model_judges": tuple(model_judges), "ties": ties}
    return NuggetContents(os.fspath(nuggets), found, tuple(reading.all()), count, asked)
