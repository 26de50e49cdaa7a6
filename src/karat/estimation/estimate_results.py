"""Results of `estimate`: human scores of systems, their differences, and what each judge adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import NamedTuple

from karat import __version__
from karat.estimation.planning import PlannedUnit
from karat.estimation.system_estimates import EXACT, labels_worth
from karat.evalset.draws import Draw
from karat.results import Result

NOT_TESTED = "not tested"
"""The verdict on a difference that is known: every unit is labelled."""
ESTIMATE = "estimate"
"""The method of this room: labels, and judges beside them."""


class EstimateRow(NamedTuple):
    """The human score of a system: by people alone, and by people with judges."""

    system: str
    people: float
    people_low: float
    people_high: float
    estimate: float
    low: float
    high: float
    ratio: float
    """The width of the interval, over that by people alone."""
    labels: int
    """Units that people labelled."""
    units: int
    """All units."""
    form: str
    """The form of the interval: student, bounded, exact or none; `nuggeteer` for nuggets."""
    more: int | None
    """Further labelled units that would halve the width."""
    bias: float
    """The amount by which judges rate it higher than people do, beside other systems."""
    bias_low: float
    bias_high: float


class EstimateDifference(NamedTuple):
    """A system against the baseline; the interval excludes 0 exactly where p decides."""

    system: str
    baseline: str
    delta: float
    low: float
    high: float
    p: float
    """Two-sided, after the correction; NaN if nothing was tested."""
    labels: int
    verdict: str
    """`better`, `worse`, `undecided`, or `not tested` where every unit is labelled."""
    form: str
    """The form of the interval: student, bounded, exact or none; `nuggeteer` for nuggets."""
    confidence: float
    """The confidence level of the interval, by the correction: 0.95 without one."""


class JudgeWorth(NamedTuple):
    """A judge: how it agrees with people, and the intervals that it would give by itself."""

    judge: str
    r: float
    """Pearson's r with people's labels, within systems."""
    ratio: float
    """The mean width of intervals with this judge alone, over those by people alone."""
    missing: int
    signature: str


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Result):
    """Human scores of systems (`rows`), their differences, and what each judge adds."""

    name: str
    dimension: str
    rows: tuple[EstimateRow, ...]
    differences: tuple[EstimateDifference, ...]
    judges: tuple[JudgeWorth, ...]
    planned: tuple[PlannedUnit, ...]
    """Units to label next, if they were asked for."""
    unit: str
    better: str
    """The better direction of scores: higher or lower."""
    ends: tuple[float | None, float | None]
    """The ends of the scale, where they are known."""
    settings: Mapping[str, object]
    notes: tuple[str, ...] = ()
    draws: tuple[Draw, ...] = ()
    """All draws up to now with those of the plan, as `draws.tsv` has them."""
    methods: Mapping[str, str] = field(default_factory=dict)
    """System -> method, where systems differ in it."""
    data: str = ""
    """Digest of labels, judges' values and draws."""

    @property
    def finite(self) -> bool:
        """Return whether scores are those of the set, and not of new units."""
        return self.settings["population"] == "set"

    @property
    def exact(self) -> bool:
        """Return whether scores are means of the set, with every unit labelled: not estimates."""
        return bool(self.rows) and all(row.form == EXACT for row in self.rows)

    @property
    def ranked(self) -> list[EstimateRow]:
        """The rows, best first."""
        sign = -1 if self.better == "higher" else 1
        return sorted(self.rows, key=lambda row: sign * row.estimate)

    @property
    def with_judges(self) -> list[EstimateRow]:
        """The rows that rest on labels and judges, not on another method."""
        return [row for row in self.rows if self.methods.get(row.system, ESTIMATE) == ESTIMATE]

    @property
    def ratio(self) -> float:
        """The mean width of intervals with judges, over those by people alone; NaN without any."""
        return mean_known([row.ratio for row in self.with_judges])

    @property
    def worth(self) -> float:
        """Further labelled units that would give people alone such widths; NaN without widths."""
        rows, finite = self.with_judges, self.finite
        return mean_known([labels_worth(row.ratio, row.labels, row.units, finite) for row in rows])

    @property
    def signature(self) -> str:
        """All settings that change the numbers, and a digest of the data."""
        asked = ",".join(f"{name}={_text(value)}" for name, value in self.settings.items())
        judges = "\n".join(one.signature for one in self.judges)
        own = f"estimate:{asked}|data={self.data}|karat={__version__}"
        return own + (f"\n{judges}" if judges else "")


def mean_known(values: Sequence[float]) -> float:
    """Return the mean of the numbers that there are."""
    found = [value for value in values if not isnan(value)]
    return sum(found) / len(found) if found else nan


def _text(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
