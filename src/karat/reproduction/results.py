"""The result of a reproduction: published numbers and ours, conclusions and differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.results import SignedResult
from karat.stats import significance

HOLDS, FAILS, UNDECIDED = "holds", "fails", significance.UNDECIDED


class ReproducedNumber(NamedTuple):
    """A number of the paper, and the same number here."""

    source: str  # the paper's table, figure or section
    item: str  # the row of the table, or the curve of the figure
    measure: str
    paper: float | None  # None if the paper prints no number
    value: float
    data: str
    low: float | None = None
    high: float | None = None  # ends of our interval, if any
    at: float | None = None  # the place on the x axis of the paper's figure
    detail: str = ""


class Conclusion(NamedTuple):
    """A conclusion of the paper, and whether it holds here."""

    source: str
    claim: str
    verdict: str  # `holds`, `fails` or `undecided`
    evidence: str
    data: str


class PaperDifference(NamedTuple):
    """A way in which the experiment here differs from the paper's."""

    subject: str
    paper: str
    reproduction: str


def to_verdict(holds: bool) -> str:
    """Return the verdict of a claim that holds or fails."""
    return HOLDS if holds else FAILS


def difference_verdict(difference: float) -> str:
    """Return the verdict of a claim that a difference is positive.

    Zero and undefined differences are undecided.
    """
    if isnan(difference) or abs(difference) <= SLACK:
        return UNDECIDED
    return to_verdict(difference > 0)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Reproduction(SignedResult):
    """The main table or figure of a paper, reproduced on the available data."""

    name: str
    paper: str  # the authors, the year and the title
    data: tuple[str, ...]  # the data sets that were used
    rows: tuple[ReproducedNumber, ...]
    conclusions: tuple[Conclusion, ...]
    differs: tuple[PaperDifference, ...]
    settings: Mapping[str, object]
    signatures: Mapping[str, str]
    invented: str = ""  # a sentence on invented parts of bundled data; empty for real data
    remarks: tuple[str, ...] = ()

    @property
    def holding(self) -> int:
        """The number of conclusions that hold."""
        return sum(conclusion.verdict == HOLDS for conclusion in self.conclusions)

    @property
    def summary(self) -> str:
        """The outcome in a sentence or two."""
        total = len(self.conclusions)
        undecided = sum(conclusion.verdict == UNDECIDED for conclusion in self.conclusions)
        rest_text = (
            f"; {undecided} {'is' if undecided == 1 else 'are'} undecided" if undecided else ""
        )
        verb = "holds" if self.holding == 1 else "hold"
        counted = f"{self.holding} of {total} conclusions of the paper {verb}"
        names = " and ".join(filter(None, (", ".join(self.data[:-1]), self.data[-1])))
        return f"{counted} on {names}{rest_text}. {self.invented}".strip()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the numbers."""
        return self.remarks
