"""Samples: human labels of some units, judges' values of all, and how the units were drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import NamedTuple

from karat.arithmetic import exact_sum, power
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, MetricError, quoted
from karat.estimation.settings import UNITS
from karat.evalset.draws import GROUP, SEGMENT, Draw, check_set_draws
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.meta.scores import outputs_present, score_evalset
from karat.meta.unit_ratings import UnitRatings
from karat.metrics.base import Metric
from karat.metrics.given import ExternalScores
from karat.metrics.names import metric
from karat.progress import Progress
from karat.stats.population import Design, Labelled
from karat.storage.digests import data_digest


class LabelScale(NamedTuple):
    """The scale of the labels: its ends, if known, and its better direction."""

    low: float | None = None
    high: float | None = None
    sign: int = 1

    @property
    def turned(self) -> tuple[float | None, float | None]:
        """The ends on the scale on which higher is better."""
        if self.sign > 0:
            return self.low, self.high
        low, high = self.high, self.low
        return None if low is None else -low, None if high is None else -high

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends on the scale on which higher is better, if both are known."""
        low, high = self.turned
        return None if low is None or high is None else (low, high)


@dataclass(frozen=True, eq=False)
class Sample:
    """Labels and judges' values of systems x units."""

    name: str
    dimension: str
    systems: tuple[str, ...]
    units: tuple[str, ...]
    unit: str  # the word for a unit
    y: Floats  # label of each unit, the mean over its labelled outputs; NaN without a label
    x: Floats  # judges' values of the labelled outputs, systems x units x judges; else 0
    all_values: Floats  # judges' values of all outputs of each unit, systems x units x judges
    present: Flags  # systems x units: True if the system has an output
    judges: tuple[str, ...]
    design: Design
    scale: LabelScale = field(default_factory=LabelScale)
    labels: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Number of labels of each system; a unit may have several."""
    notes: tuple[str, ...] = ()
    draws: tuple[Draw, ...] = ()  # draws so far, if they were recorded
    partly: Flags | None = None  # systems x units: True if only some outputs of it are labelled
    outputs: Floats | None = None  # systems x units: number of outputs, if systems lack some
    at_ends: Floats | None = None
    """For comparisons: systems x 2, the shares of units in which a system lost all of its
    comparisons, and won all; None for ratings."""
    ratings: UnitRatings = field(default_factory=lambda: UnitRatings((), "raters are not known"))
    covariates: tuple[str, ...] = ()  # names of the columns of `x` and `all_values` after judges

    @cached_property
    def digest(self) -> str:
        """Eight characters that depend on labels, judges' values, draws and the scale."""
        outputs = np.zeros(0) if self.outputs is None else self.outputs
        return data_digest(
            [self.systems, self.units, self.unit, self.judges, self.scale, *self.covariates],
            *(self.y, self.x, self.all_values, self.present, outputs),
            *(self.design.probability, self.design.round),
        )

    @property
    def is_labelled(self) -> Flags:
        """True where there is a label, systems x units."""
        return ~np.isnan(self.y)

    def population(self, system: int) -> Ints:
        """Return the indices of the units for which a system has outputs."""
        return np.flatnonzero(self.present[system])

    def labelled(self, system: int) -> Ints:
        """Return the indices of the labelled units of a system."""
        return np.flatnonzero(self.is_labelled[system])

    def wholly(self, system: int, units: Ints) -> bool:
        """Return whether all outputs of some units are labelled.

        Otherwise the factor 1 - n / N would treat partly labelled units as known.
        """
        return self.partly is None or not self.partly[system, units].any()

    @property
    def compared(self) -> bool:
        """True if labels are comparisons of outputs, not ratings."""
        return self.at_ends is not None

    def design_of(self, *systems: int) -> Design:
        """Return the design, with unit sizes that count the outputs of all of some systems."""
        if self.outputs is None:
            return self.design
        sizes: Floats = np.min(self.outputs[list(systems)], axis=0)
        return replace(self.design, sizes=sizes)

    def values(self, judges: Ints | None = None) -> Labelled:
        """Return the labels and the values of all judges or some, for predictions."""
        judge_indices = np.arange(len(self.judges)) if judges is None else judges
        x_all = np.where(self.present[:, :, None], self.all_values[:, :, judge_indices], 0.0)
        unit_sizes = self.design.sizes if self.outputs is None else self.outputs
        sizes = np.where(self.present, unit_sizes, 0.0)
        weights = np.zeros(self.y.shape)
        for k in range(len(self.systems)):
            units = self.labelled(k)
            weights[k, units] = self.design_of(k).weights(units, len(self.population(k)))
        return Labelled(self.y, self.x[:, :, judge_indices], x_all, sizes, weights)

    def select(self, systems: Ints) -> Sample:
        """Return the sample of some systems."""
        names = tuple(self.systems[k] for k in systems.tolist())
        selected = {
            k: getattr(self, k)[systems] for k in ("y", "x", "all_values", "present", "labels")
        }
        optional = {k: getattr(self, k) for k in ("partly", "outputs", "at_ends")}
        selected |= {k: array if array is None else array[systems] for k, array in optional.items()}
        return replace(self, systems=names, ratings=self.ratings.select(systems), **selected)

    def only(self, judge: int) -> Sample:
        """Return the sample with only one of its judges, and no covariates."""
        return self._with_columns(self.judges, slice(judge, judge + 1))

    @property
    def by_judges(self) -> Sample:
        """The sample without covariates."""
        return self._with_columns(self.judges, slice(0, len(self.judges)))

    @property
    def by_covariates(self) -> Sample:
        """The sample with covariates in place of judges."""
        names = *self.judges, *self.covariates
        return self._with_columns(names, slice(len(self.judges), len(names)))

    def without_covariate(self, covariate: int) -> Sample:
        """Return the sample without one of its covariates."""
        column = len(self.judges) + covariate
        columns = {k: np.delete(getattr(self, k), column, axis=2) for k in ("x", "all_values")}
        names = tuple(np.delete(self.covariates, covariate).tolist())
        return replace(self, covariates=names, **columns)

    def _with_columns(self, names: Sequence[str], chosen: slice) -> Sample:
        """Return the sample whose judges are some of its columns."""
        selected = {k: getattr(self, k)[:, :, chosen] for k in ("x", "all_values")}
        return replace(self, judges=tuple(names[chosen]), covariates=(), **selected)

    def with_means(self) -> Sample:
        """Return the sample with each judge split in two: unit means over systems, and deviations.

        That a judge finds a unit hard for all systems is other information than that it finds one
        output worse than others. One system, or comparisons, cannot be split.
        """
        if len(self.systems) < 2 or not self.judges or self.compared:
            return self
        is_present = self.present[:, :, None]
        count = np.maximum(is_present.sum(axis=0), 1)
        mean = exact_sum(np.where(is_present, self.all_values, 0.0), axis=0) / count
        unit_means = np.broadcast_to(mean, self.all_values.shape)
        x = np.concatenate(
            [np.where(self.is_labelled[:, :, None], self.x - mean, 0.0), unit_means], axis=2
        )
        x_all = np.concatenate([self.all_values - mean, unit_means], axis=2)
        names = (*self.judges, *(f"{name}, mean of the {self.unit}" for name in self.judges))
        return replace(self, x=x, all_values=x_all, judges=names)


FAR = 3.0  # standard deviations below the expected number of groups with labels


class UnitGrouping(NamedTuple):
    """The units of a set: their names and the unit of each segment."""

    names: tuple[str, ...]
    of_segment: Ints
    word: str


def check_draws(evalset: EvalSet, draws: Sequence[Draw] | None) -> Sequence[Draw] | None:
    """Return the draws that were passed, checked; by default those of the set."""
    if draws is None:
        return evalset.draws
    reading = Reading(lister="")
    located = [(f"draws[{i}]", draw) for i, draw in enumerate(draws)]
    checked = check_set_draws(located, evalset.segments, evalset.groups, reading)
    reading.check()
    return checked


def group_units(
    evalset: EvalSet, has_label: Flags, unit: str, draws: Sequence[Draw] | None
) -> tuple[UnitGrouping, list[str]]:
    """Return the units, and notes on why they were chosen."""
    if unit not in UNITS:
        raise InputError(f"unit {quoted(unit)}: expected one of {', '.join(UNITS)}")
    if unit == GROUP and evalset.groups is None:
        raise InputError(f"{evalset.name} has no groups of segments: leave --unit out")
    if draws and unit not in ("auto", draws[0].of):
        raise InputError(f"--unit {unit}: the draws are of {draws[0].of}s: leave --unit out")
    note = ""
    if unit == "auto":
        note = "" if draws else _grouping_reason(evalset, np.asarray(has_label.any(axis=0)))
        unit = draws[0].of if draws else GROUP if note else SEGMENT
    notes = [note] if note else []
    if unit == SEGMENT or evalset.groups is None:
        return UnitGrouping(evalset.segments, np.arange(len(evalset)), "segment"), notes
    names = tuple(dict.fromkeys(evalset.groups))
    place = {name: i for i, name in enumerate(names)}
    return UnitGrouping(names, np.array([place[g] for g in evalset.groups]), "group"), notes


def _grouping_reason(evalset: EvalSet, labelled: Flags) -> str:
    """Return why whole groups seem to have been drawn for labelling; empty if they do not."""
    groups, n = evalset.groups, int(labelled.sum())
    if groups is None or n == len(labelled):
        return ""
    _, number, sizes = np.unique(np.array(groups), return_inverse=True, return_counts=True)
    n_labelled = np.bincount(number.reshape(-1), weights=labelled)
    touched = n_labelled > 0
    if (n_labelled[touched] == sizes[touched]).all() and (sizes > 1).any() and not touched.all():
        return (
            "Unit: groups of segments (documents or questions), since all segments of a group were "
            "labelled, or none."
        )
    absent = power(1 - n / len(labelled), sizes)
    expected, spread = float((1 - absent).sum()), sqrt(float((absent * (1 - absent)).sum()))
    if int(touched.sum()) >= expected - FAR * spread:
        return ""
    return (
        f"Unit: groups of segments. Labels are of {int(touched.sum())} groups; the same number "
        f"of segments drawn one by one would touch about {expected:.0f}."
    )


def apply_draws(
    whose: str, human: Floats, grouping: UnitGrouping, draws: Sequence[Draw] | None
) -> tuple[Floats, Design, list[str]]:
    """Return the labels that count, how units were drawn, and notes.

    `whose` is the name of the set; its draws must have been checked.
    """
    sizes = np.bincount(grouping.of_segment, minlength=len(grouping.names)).astype(np.float64)
    labelled = np.flatnonzero(count_by_unit(~np.isnan(human), grouping).any(axis=0))
    if not draws:
        return human, Design.simple(sizes), []
    index_of = {name: i for i, name in enumerate(grouping.names)}
    probability = np.full(len(sizes), np.nan)
    rounds = np.zeros(len(sizes), np.int64)
    is_chosen = np.zeros(len(sizes), bool)
    for draw in draws:
        at = index_of[draw.unit]
        if draw.probability is None:
            is_chosen[at] |= not rounds[at]
        elif not rounds[at]:
            probability[at], rounds[at], is_chosen[at] = draw.probability, draw.round, False
    unknown = [at for at in labelled.tolist() if not rounds[at] and not is_chosen[at]]
    if unknown:
        first = quoted(grouping.names[unknown[0]])
        raise InputError(
            f"{whose}: {len(unknown):,} labelled {grouping.word}s are not among the draws "
            f"(the first is {first}): add how they were drawn, or leave the draws out"
        )
    notes, left_out = [], [at for at in labelled.tolist() if is_chosen[at]]
    if left_out:
        human = np.where(np.isin(grouping.of_segment, left_out), np.nan, human)
        verb = "s were" if len(left_out) > 1 else " was"
        notes.append(
            f"{len(left_out):,} labelled {grouping.word}{verb} not "
            "drawn at random and left out: their labels do not represent the others."
        )
    unlabelled = np.setdiff1d(np.flatnonzero(rounds), labelled)
    if len(unlabelled):
        first, have = quoted(grouping.names[unlabelled[0]]), "s have" * (len(unlabelled) > 1)
        notes.append(
            f"Warning: {len(unlabelled):,} drawn {grouping.word}{have or ' has'} no label (the "
            f"first is {first}). If people skipped them because of their content, estimates and "
            "intervals can be wrong."
        )
    return human, Design(sizes, probability, rounds), notes


def count_by_unit(is_counted: Flags, grouping: UnitGrouping) -> Floats:
    """Return systems x units: the number of outputs that are `is_counted`."""
    count = len(grouping.names)
    return np.stack(
        [np.bincount(grouping.of_segment, row, count) for row in is_counted.astype(float)]
    )


MIN_JUDGED_SHARE = 0.5  # share of outputs for which a judge must have a value


class JudgeValues(NamedTuple):
    """A judge's value of every output, systems x segments, and how many were missing."""

    name: str
    values: Floats
    missing: int
    signature: str


def judge_values(
    evalset: EvalSet,
    judges: Sequence[str | Metric],
    dimension: str,
    threads: int | None,
    progress: Progress,
) -> list[JudgeValues]:
    """Return the values of judges, oriented so that higher is better, in the order of `judges`.

    A judge is a model that judged the set, scores that come with the set, or a metric.
    """
    check_names([str(judge) for judge in judges])
    by_name: dict[str, JudgeValues] = {}
    metrics: dict[str, Metric] = {}
    for judge in judges:
        name = str(judge)
        if not isinstance(judge, str) or judge not in evalset.model_judges:
            try:
                offered = name in evalset.offered and isinstance(judge, str)
                metrics[name] = ExternalScores(metric=name) if offered else metric(judge)
            except MetricError as error:
                problem = f"{evalset.name} has no model and no scores of that name"
                message = f"judge {quoted(judge)}: {problem}; as a metric: {error}"
                raise InputError(message) from error
            continue
        ratings = evalset.rated_by(judge, dimension)
        if np.isnan(ratings).all():
            problem = f"the model {quoted(judge)} has judged nothing for {dimension}"
            advice = "run karat judge ratings, or name another judge"
            raise InputError(f"{evalset.name}: {problem}: {advice}")
        by_name[name] = JudgeValues(name, ratings, 0, f"judge:{judge}")
    if metrics:
        scored = score_evalset(
            evalset, [*metrics.values()], against=[dimension], threads=threads, progress=progress
        )
        if len(scored.metrics) != len(metrics):
            raise InputError("a pattern names several judges: name each of them")
        for name, m in zip(metrics, scored.metrics, strict=True):
            by_name[name] = JudgeValues(name, scored.segments(m), 0, scored.signature(m))
    present = outputs_present(evalset)
    return [fill_missing(evalset.name, by_name[str(judge)], present) for judge in judges]


def check_names(names: Sequence[str]) -> None:
    """Raise if a judge is named twice."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"judge {quoted(name)} is named twice: name it once")


def fill_missing(whose: str, judge: JudgeValues, present: Flags) -> JudgeValues:
    """Replace missing values by the judge's mean for the system.

    Any value that does not depend on the labels keeps estimates unbiased; the mean adds no spread.
    `whose` is the name of the set.
    """
    name, values = judge.name, judge.values.copy()
    lacking = np.isnan(values) & present
    if lacking.sum() > (1 - MIN_JUDGED_SHARE) * present.sum():
        raise InputError(
            f"judge {quoted(name)} has no value for {int(lacking.sum()):,} of "
            f"{int(present.sum()):,} outputs of {whose}: expected one for at least half"
        )
    if np.isinf(values).any() or (np.abs(values[present & ~lacking]) > 1e100).any():
        raise InputError(f"judge {quoted(name)}: values must be finite and below 1e100")
    for row, absent in zip(values, lacking, strict=True):
        row[absent] = np.nanmean(row) if not np.isnan(row).all() else np.nanmean(judge.values)
    filled = np.where(np.isnan(values), 0.0, values)
    return judge._replace(values=filled, missing=int(lacking.sum()))
