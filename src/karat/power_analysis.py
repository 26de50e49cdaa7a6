"""Power analysis: how many units a comparison needs, from a pilot run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import NamedTuple

from karat.comparison import BaselineTest, keep_paired_segments
from karat.errors import InputError
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric
from karat.metrics.limits import Limit, resolve_limits
from karat.progress import Progress, progress_callback, silent
from karat.results import Result, number
from karat.score_settings import JACKKNIFE, PowerSettings
from karat.scoring import (
    METRIC,
    SYSTEM,
    Inference,
    Keep,
    Metrics,
    UnitLabels,
    compute_statistics,
    make_inputs,
    plan_inference,
    row_digits,
)
from karat.stats.power import detectable_difference, power_of, units_needed
from karat.text.references import GivenReferences
from karat.text.segments import Texts


class PowerRow(NamedTuple):
    """The power of the comparison of one system with the baseline, by one metric."""

    system: str
    metric: Metric
    units: int
    delta: float
    deviation: float
    """Standard deviation of the differences of units."""
    detectable: float
    """The smallest difference that the pilot's units find with the power."""
    difference: float | None
    """The difference that matters."""
    power: float | None
    """Probability that the pilot's units find it."""
    units_needed: int | None
    """Units that find it with the requested power; None if no number does."""


POWER_COLUMNS = (
    METRIC,
    SYSTEM,
    number("units", "Units", help="Units of the pilot."),
    number("delta", "Delta", row_digits, "Score of the pilot minus the baseline's.", signed=True),
    number("deviation", "SD", row_digits, "Standard deviation of the differences of units."),
    number(
        "detectable",
        "Detectable",
        row_digits,
        "The smallest difference that as many units find with the requested power.",
    ),
    number("difference", "Difference", row_digits, "The difference that matters."),
    number("power", "Power", 2, "Probability that as many units find this difference."),
    number("units_needed", "Units needed", help="Units that find it with the requested power."),
)


@dataclass(frozen=True, eq=False, repr=False)
class PowerAnalysis(Result):
    """Units that a comparison needs: one row per system and metric."""

    rows: tuple[PowerRow, ...]
    baseline: str
    power: float
    n_tests: int
    inference: Inference
    remarks: tuple[str, ...] = ()
    """Notes on the choice of metrics."""

    @property
    def settings(self) -> Mapping[str, object]:
        """Metrics, baseline, power, number of tests and unit."""
        return {
            "metrics": tuple(dict.fromkeys(str(row.metric) for row in self.rows)),
            "baseline": self.baseline,
            "power": self.power,
            "tests": self.n_tests,
            "unit": self.inference.unit,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the method."""
        level = "" if self.n_tests == 1 else f" / {self.n_tests}"
        return (
            f"Two-sided test at .05{level} by {self.inference.unit}: noncentral Student's t with "
            "the pilot's variance, for units like the pilot's.",
            *self.remarks,
            *self.inference.remarks,
            *dict.fromkeys(note for row in self.rows for note in row.metric.remarks()),
        )

    @property
    def signature(self) -> str:
        """The method of each metric, a line each."""
        return "\n".join(dict.fromkeys(row.metric.signature(None) for row in self.rows))

    def curve(self, row: PowerRow) -> list[tuple[int, float]]:
        """Return numbers of units, with the power to find the difference of a row."""
        difference = row.detectable if row.difference is None else row.difference
        most = max(2 * row.units, 2 * (row.units_needed or 0))
        sizes = sorted({max(6, round(most * share / 24)) for share in range(1, 25)})
        return [(n, power_of(row.deviation, n, difference, self.n_tests)) for n in sizes]


def power(
    systems: Mapping[str, Texts] | EvalSet | str,
    references: GivenReferences | None = None,
    metrics: Metrics | None = None,
    *,
    difference: Limit = None,
    baseline: str | None = PowerSettings.baseline,
    power: float = PowerSettings.power,
    tests: int | None = PowerSettings.tests,
    units: UnitLabels = PowerSettings.units,
    threads: int | None = None,
    progress: Progress | bool = silent,
) -> PowerAnalysis:
    """Return how many units a comparison needs, from the variance of a pilot run.

    Args:
        systems, references, metrics, units: the pilot, as for `compare`.
        difference: the difference that matters: a number, or numbers by metric. Without it, only
            the differences are shown that the pilot's units can find.
        baseline: name of the system to compare with; by default the first.
        power: probability of finding the difference.
        tests: number of tests to correct for; by default those of the pilot.
        threads, progress: as for `compare`.
    """
    PowerSettings(baseline, power, tests, units if isinstance(units, str) else None)
    with progress_callback(progress) as report:
        inputs = make_inputs(systems, references, metrics, threads, report)
        names = list(inputs.systems)
        test = BaselineTest.plan(baseline, names, JACKKNIFE, None, 0, "none")
        inference = plan_inference(inputs, units, buckets=None)
        keep = Keep(True, False, inference.buckets, inference.units)
        stats = compute_statistics(inputs, keep, threads, report)
    stats = stats if inference.buckets else keep_paired_segments(stats)
    estimates = {key: part.estimate(key[1], inference.units) for key, part in stats.items()}
    tested = [key for key in estimates if key[0] != test.baseline]
    n_tests = len(tested) if tests is None else tests
    difference_of = resolve_limits("difference", difference, [str(m) for m in inputs.metrics])
    rows = []
    for key in tested:
        estimate = estimates[key] - estimates[test.baseline, key[1]]
        if estimate.units < 2:
            raise InputError(f"the pilot has {estimate.units} unit: at least two are needed")
        deviation = estimate.error * sqrt(estimate.units)
        matters, pilot_power, needed = difference_of.get(str(key[1])), None, None
        if matters is not None:
            pilot_power = power_of(deviation, estimate.units, matters, n_tests)
            needed = units_needed(deviation, matters, power, n_tests)
        detectable = detectable_difference(deviation, estimate.units, power, n_tests)
        detectable = detectable if isfinite(detectable) else float("nan")
        rows.append(
            PowerRow(
                *key,
                units=estimate.units,
                delta=estimate.value,
                deviation=deviation,
                detectable=detectable,
                difference=matters,
                power=pilot_power,
                units_needed=needed,
            )
        )
    return PowerAnalysis(tuple(rows), test.baseline, power, n_tests, inference, inputs.remarks)
