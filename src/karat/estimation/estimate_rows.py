"""Rows of statistics whose sums give the estimate of human scores.

Y are people's values of labelled segments, m the judges' predictions, w the weights of labels
(their mean is 1), and r the mean of Y - m of a system. The row of a segment is

    prediction  m + r
    outputs     1
    residual    w (Y - m - r) if it is labelled, else 0
    labels      w if it is labelled, else 0

and the estimate of any sum of rows is

    prediction / outputs + residual / labels

For all segments of a system that is PPI++ (`karat.stats.population`). r cancels out;
with it the estimate of one segment is Y if it is labelled, else m + r, and a resample without
labels has an estimate, too. Resamples of segments draw predictions and
labels together, so that intervals are for new segments like these. Judges are not fitted again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import NamedTuple

from karat.arrays import Floats, np
from karat.errors import InputError, quoted
from karat.estimation.estimates import FEWEST, check_judges
from karat.estimation.evalset_samples import sample_of_set
from karat.estimation.judge_values import JudgeValues, judge_values
from karat.estimation.sample_notes import notes_of
from karat.estimation.samples import Sample
from karat.estimation.system_estimates import predict
from karat.evalset.draws import SEGMENT
from karat.evalset.sets import EvalSet
from karat.progress import Progress
from karat.stats.population import Prediction, shares

COLUMNS = ("prediction", "outputs", "residual", "labels")


class Asked(NamedTuple):
    """The dimension to estimate, judges by name, and the unit that was drawn."""

    dimension: str
    judges: Sequence[str]
    unit: str = "auto"


@dataclass(frozen=True, eq=False)
class EstimateRows:
    """The rows of all outputs of a set, on the scale that people were given."""

    sample: Sample
    table: Floats
    """Systems x segments x columns."""
    notes: tuple[str, ...]

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is."""
        return self.sample.scale.sign

    @property
    def digest(self) -> str:
        """Eight characters that change with labels, judges' values and draws."""
        return self.sample.digest

    @cached_property
    def _systems(self) -> Mapping[str, int]:
        return {name: k for k, name in enumerate(self.sample.systems)}

    @cached_property
    def _segments(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.sample.units)}

    def of(self, system: str, segments: Sequence[object]) -> Floats:
        """Return the rows of some segments of a system."""
        if system not in self._systems:
            raise InputError(f"{self.sample.name} has no system {quoted(system)}: score the set")
        places = [self._segments.get(str(one), -1) for one in segments]
        if -1 in places:
            which = quoted(segments[places.index(-1)])
            raise InputError(f"{self.sample.name} has no segment {which}: score the set")
        found: Floats = self.table[self._systems[system], places]
        return found


def estimate_rows(
    evalset: EvalSet, asked: Asked, threads: int | None, progress: Progress
) -> EstimateRows:
    """Return the rows of all outputs of a set; refuse labels that nothing can be estimated from."""
    values = judge_values(evalset, asked.judges, asked.dimension, threads, progress)
    sample = sample_of_set(evalset, asked.dimension, values, asked.unit)
    _check_unit(sample)
    _check_labels(sample)
    check_judges(sample)
    prediction = predict(sample)
    table = np.stack(list(_rows(sample, prediction)))
    return EstimateRows(sample, table, tuple(_notes(sample, prediction, values)))


def _check_unit(sample: Sample) -> None:
    if sample.unit != SEGMENT:
        raise InputError(
            f"{sample.name}: {sample.unit}s of segments were drawn for labelling, and resamples of "
            "segments would promise too much: use karat estimate, or unit=segment if segments were "
            "drawn one by one"
        )
    if sample.compared and sample.partly is not None and sample.partly.any():
        raise InputError(
            f"{sample.name}: people compared only some pairs of systems on "
            f"{int(sample.partly.any(axis=0).sum()):,} segments, and resamples of segments would "
            "promise too much: use karat estimate, or compare all pairs of these segments"
        )


def _check_labels(sample: Sample) -> None:
    for system, n in zip(sample.systems, sample.known.sum(axis=1).tolist(), strict=True):
        if n < FEWEST:
            labels = "no labels" if not n else "1 label" if n == 1 else f"{n} labels"
            raise InputError(
                f"{sample.name}: system {quoted(system)} has {labels} for "
                f"{quoted(sample.dimension)}: label at least {FEWEST} segments, or leave it out"
            )


def _rows(sample: Sample, prediction: Prediction | None) -> Iterator[Floats]:
    """Yield the rows of each system."""
    for system in range(len(sample.systems)):
        units = sample.labelled(system)
        share = shares(units, sample.design_of(system), sample.population(system))
        guess = np.zeros(len(sample.units)) if prediction is None else prediction.every[system]
        residual = sample.y[system, units] - guess[units]
        mean = fsum((share * residual).tolist())
        rows = np.zeros((len(guess), len(COLUMNS)))
        rows[:, 0] = guess + mean
        rows[:, 1] = 1
        rows[units, 3] = share * len(units)
        rows[units, 2] = rows[units, 3] * (residual - mean)
        rows[:, [0, 2]] *= sample.scale.sign
        yield rows + 0.0  # no negative zeros


def _notes(
    sample: Sample, prediction: Prediction | None, judges: Sequence[JudgeValues]
) -> Iterator[str]:
    """Yield what a reader of the scores should know."""
    yield from notes_of(sample, (), [(one.missing, "") for one in judges], prediction, False)
    yield "Intervals from resampled segments are for new segments like those of the set."
