"""The result of `check_judge`: verdicts, tests against annotators, agreement, errors and biases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isnan, nan
from typing import Any, NamedTuple

from karat.results import Column, SignedResult, number, people_column, program_columns
from karat.stats.alternative_annotator import MAX_SHUFFLED_PASSES, PASSES, PASSING_RATE
from karat.stats.jackknife import UnitEstimate
from karat.stats.significance import MIN_DECIDING_UNITS

FAVOURED, DISADVANTAGED = "favoured", "disadvantaged"


class JudgeCheckRow(NamedTuple):
    """The alternative annotator test of a judge in one dimension."""

    judge: str
    dimension: str
    annotators: int
    items: int
    """Items that the judge and at least two people rated."""
    units: int
    epsilon: float
    winning_rate: float
    advantage: float
    constant: float
    """The value of the constant judge."""
    constant_rate: float
    """Winning rate of the constant judge."""
    shuffled_rate: float
    """Mean winning rate of shuffled judges."""
    shuffled_passes: float
    """Share of shuffled judges that pass."""
    verdict: str

    @property
    def is_passed(self) -> bool:
        """Whether the judge passes, and no control judge does."""
        return self.verdict == PASSES

    @property
    def passing_controls(self) -> Iterator[str]:
        """Each control judge that passes, in words."""
        if self.constant_rate >= PASSING_RATE:
            yield f"a judge that gives {self.constant:.4g} to everything passes"
        if self.shuffled_passes > MAX_SHUFFLED_PASSES:
            yield f"{self.shuffled_passes:.0%} of shuffled judges pass"


class AnnotatorRow(NamedTuple):
    """The test of a judge against one annotator."""

    judge: str
    dimension: str
    annotator: str
    items: int
    units: int
    judge_share: float
    annotator_share: float
    p: float
    p_corrected: float
    won: bool


class JudgeMeasureRow(NamedTuple):
    """Agreement of the judge, and of people, with people: values and 95% intervals."""

    judge: str
    dimension: str
    measure: str
    value: float
    low: float
    high: float
    people: float
    people_low: float
    people_high: float
    difference: float
    difference_low: float
    difference_high: float


class SystemErrorRow(NamedTuple):
    """The mean error of a judge for a system: its values minus the means of people."""

    judge: str
    dimension: str
    system: str
    items: int
    judge_mean: float
    people_mean: float
    error: float
    low: float
    high: float
    relative: float
    """The error minus the mean of the errors of all systems."""
    p: float
    """p of the relative error, corrected by Holm."""
    finding: str


class JudgeBiasRow(NamedTuple):
    """A bias of a judge: its size with a 95% interval."""

    judge: str
    dimension: str
    bias: str
    meaning: str
    items: int
    units: int
    value: float
    low: float
    high: float
    p: float
    flagged: bool


_NAMES = (
    people_column("heading", "Judge and dimension", lambda row: f"{row.judge}, {row.dimension}"),
    *program_columns("judge", "dimension"),
)
_P = partial(number, digits=4, positive=True)


def unit_interval(
    estimate: UnitEstimate, limits: tuple[float, float] = (-inf, inf)
) -> tuple[float, float]:
    """Return the 95% interval within limits; NaN with too few units or an undefined value."""
    if estimate.units < MIN_DECIDING_UNITS or isnan(estimate.value):
        return nan, nan
    low, high = estimate.interval()
    return max(low, limits[0]), min(high, limits[1])


def interval_columns(
    key: str, title: str, help: str, *, prefix: str = "", signed: bool = False
) -> tuple[Column, ...]:
    """Return a number, its interval as text, and the ends of the interval for programs."""
    ends = f"{prefix}low", f"{prefix}high"

    def text(row: Any) -> str | None:
        low, high = (getattr(row, end) for end in ends)
        return None if isnan(low) else f"[{low:.3f}, {high:.3f}]"

    heading = people_column(f"{key}_interval", "95%", text, help="95% interval, by unit.")
    return number(key, title, 3, help, signed=signed), heading, *program_columns(*ends)


CHECK_COLUMNS = (
    *_NAMES,
    number("annotators", "People", help="People with enough units for a test."),
    number("items", "Items", help="Items that the judge and at least two people rated."),
    number("units", "Units", help="Units, such as documents; their items are not independent."),
    number("epsilon", "ε", 2, "How much worse than a person a judge may be."),
    number("winning_rate", "ω", 2, "Share of the people that the judge is shown to be as good as."),
    number(
        "advantage",
        "Advantage",
        3,
        "Average advantage probability: how often the judge is at least as close to the others as "
        "a person is.",
    ),
    *program_columns("constant"),
    number("constant_rate", "ω constant", 2, "Winning rate of the constant judge."),
    *program_columns("shuffled_rate"),
    number("shuffled_passes", "Shuffled pass", 3, "Share of shuffled judges that pass."),
    Column("verdict", "Verdict"),
)
ANNOTATOR_COLUMNS = (
    *_NAMES,
    Column("annotator", "Annotator"),
    number("items", "Items", help="Items of the annotator that others rated too."),
    number("units", "Units"),
    number(
        "judge_share", "Judge", 3, "Share of items where the judge is at least as close to others."
    ),
    number("annotator_share", "Person", 3, "The same of the annotator; a tie counts for both."),
    _P("p", "p", help="One-sided p-value."),
    _P("p_corrected", "p corrected", help="Corrected by Benjamini and Yekutieli."),
    Column("won", "Judge wins", help="Whether the judge is as good as this annotator."),
)
MEASURE_COLUMNS = (
    *_NAMES,
    Column("measure", "Measure"),
    *interval_columns("value", "Judge", "The judge compared with people."),
    *interval_columns(
        "people",
        "Person",
        "A person compared with the other people, on the same items.",
        prefix="people_",
    ),
    *interval_columns(
        "difference", "Difference", "Judge minus person.", prefix="difference_", signed=True
    ),
)
SYSTEM_ERROR_COLUMNS = (
    *_NAMES,
    Column("system", "System"),
    number("items", "Items"),
    number("judge_mean", "Judge", 3, "Mean of the judge."),
    number("people_mean", "People", 3, "Mean of people, for the same items."),
    *interval_columns("error", "Error", "Judge minus people.", signed=True),
    number("relative", "Relative", 3, "Error minus the mean error of all systems.", signed=True),
    _P("p", "p", help="p of the relative error, corrected by Holm."),
    Column("finding", "Finding"),
)
BIAS_COLUMNS = (
    *_NAMES,
    Column("bias", "Bias"),
    number("items", "Items"),
    number("units", "Units"),
    *interval_columns("value", "Size", "Size of the bias.", signed=True),
    _P("p", "p", help="Two-sided p-value, not corrected."),
    Column("flagged", "Flagged"),
    Column("meaning", "Meaning", wrap=True),
)


@dataclass(frozen=True, eq=False, repr=False)
class JudgeCheck(SignedResult):
    """Whether judges can replace people (`rows`), and how they err."""

    name: str
    rows: tuple[JudgeCheckRow, ...]
    """A row for each judge and dimension, with the verdict."""
    annotators: tuple[AnnotatorRow, ...]
    agreement: tuple[JudgeMeasureRow, ...]
    systems: tuple[SystemErrorRow, ...]
    biases: tuple[JudgeBiasRow, ...]
    warnings: tuple[str, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signatures: Mapping[str, str]


def calibration_warnings(rows: Sequence[SystemErrorRow], sign: int = 1) -> Iterator[str]:
    """Yield a warning if one calibration of the judge would not do for all systems."""
    biased = [row for row in rows if row.finding]
    if not biased:
        return
    judge, dimension = rows[0].judge, rows[0].dimension
    best = max(biased, key=lambda row: sign * row.relative)
    worst = min(biased, key=lambda row: sign * row.relative)
    extremes = dict.fromkeys([(best.system, best.relative), (worst.system, worst.relative)])
    examples = ", ".join(f"{system} {relative:+.3g}" for system, relative in extremes)
    n_pairs, n_reversed = 0, 0
    for k, row in enumerate(rows):
        for row_below in rows[k + 1 :]:
            orders = row.people_mean - row_below.people_mean, row.judge_mean - row_below.judge_mean
            n_pairs += 1
            n_reversed += round(orders[0], 9) * round(orders[1], 9) < 0
    reversal = f"The judge reverses the order of {n_reversed:,} of {n_pairs:,} pairs of systems"
    yield (
        f"{judge}'s errors in {dimension} differ between systems (relative to the mean error: "
        f"{examples}), so one calibration for all systems can reverse a comparison: calibrate each "
        f"system with labels of its own (karat estimate). {reversal}."
    )
