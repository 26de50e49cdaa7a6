"""Estimates made by hand, with round numbers."""

from __future__ import annotations

from math import nan

from karat.estimation.estimate_results import Estimate, EstimateDifference, EstimateRow, JudgeWorth
from karat.estimation.planning import PlannedUnit

SETTINGS = {"population": "set", "correction": "simultaneous"}


def row(system: str, value: float, ratio: float = 0.8, bias: float = 0.0) -> EstimateRow:
    """A row whose interval reaches 1 to both sides; labels 50 of 460."""
    people = value - 0.5, value - 0.5 - 1 / ratio, value - 0.5 + 1 / ratio
    interval = value, value - 1, value + 1
    return EstimateRow(
        *(system, *people, *interval, ratio, 50, 460, "student", 101),
        *(bias, bias - 0.5, bias + 0.5),
    )


def difference(
    system: str, delta: float, verdict: str = "worse", base: str = "A"
) -> EstimateDifference:
    """A difference whose interval reaches 1 to both sides."""
    p = 0.4 if verdict == "undecided" else 0.00001
    ends = delta - 1, delta + 1
    return EstimateDifference(system, base, delta, *ends, p, 50, verdict, "student", 0.975)


JUDGE = JudgeWorth("chrf", 0.6, 0.8, 3, "chrf|karat")


def make_estimate(
    rows: tuple[EstimateRow, ...],
    differences: tuple[EstimateDifference, ...] = (),
    judges: tuple[JudgeWorth, ...] = (JUDGE,),
    better: str = "higher",
    notes: tuple[str, ...] = (),
    planned: tuple[PlannedUnit, ...] = (),
) -> Estimate:
    """The estimates of these rows."""
    about = planned, "segment", better, (0, 100), SETTINGS, notes
    return Estimate("set", "quality", rows, differences, judges, *about)


THREE = make_estimate(
    (row("C", 70.0, nan, -2.0), row("A", 84.0), row("B <b>", 83.0, 0.9, 2.0)),
    (difference("C", -14.0), difference("B <b>", -0.5, "undecided")),
    notes=("Labels are taken as drawn at random.", "Warning: they are the first 50 of the set."),
    planned=(PlannedUnit("17", 0.125, "useful"), PlannedUnit("20", 0.03, "random")),
)
"""Three systems, not in the order of their scores; C has no width by people alone."""
