"""Voting: how several judgements of one response and nugget become one value.

A judge is of a kind. Adjudicated judgements decide; where there are none, people do; the label of a
model never does (`model_labels.py` makes evidence of it). Each judge has one vote. A judge who
judged the same words several times, in several runs, votes for the most favourable value (the
paper's corrected judgements); judgements without a name are one judge's.

The majority decides whether the response carries the nugget, and of those who say so the majority
whether in full or in part. A tie counts as half, unless `ties` says otherwise.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from karat.errors import InputError, quoted
from karat.evalset.judgements import ADJUDICATED, MODEL, PERSON

RANK = {MODEL: 0, "": 1, PERSON: 1, ADJUDICATED: 2}
"""Judgements of the highest rank decide; those of rank 0 never do."""

HALF, YES, NO = "half", "yes", "no"
TIES = (HALF, YES, NO)
"""The value of a tie: 0.5, or the higher or the lower of the two values."""

Sides: TypeAlias = tuple[float, float]
"""The lower and the higher value that have the most votes."""


class Votes(NamedTuple):
    """The judgements that decide about one response and nugget."""

    rank: int
    by_judge: dict[str, float]

    @property
    def differ(self) -> bool:
        """True if judges contradict each other."""
        return len(set(self.by_judge.values())) > 1

    @property
    def sides(self) -> Sides:
        """The value with the most votes, twice; the two values of a tie."""
        yes = [value for value in self.by_judge.values() if value > 0]
        full, judges = 2 * sum(value == 1 for value in yes), len(self.by_judge)
        carried = (0.5 if full <= len(yes) else 1.0, 1.0 if full >= len(yes) else 0.5)
        if not yes or 2 * len(yes) < judges:
            return 0.0, 0.0
        return carried if 2 * len(yes) > judges else (0.0, carried[1])

    def value(self, ties: str = HALF) -> float:
        """Return the value that counts."""
        low, high = self.sides
        return low if low == high else {HALF: 0.5, YES: high, NO: low}[ties]


def check_ties(ties: str) -> None:
    """Refuse what is no rule for ties."""
    if ties not in TIES:
        raise InputError(f"ties {quoted(ties)}: expected one of {', '.join(TIES)}")
