"""Samples: people's labels of some units, judges' values of all, and how the units were drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import NamedTuple

from karat.arithmetic import power
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, MetricError, quoted
from karat.evalset.draws import GROUP, SEGMENT, Draw, checked_draws
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.meta.scores import outputs_present, score_evalset
from karat.metrics.base import Metric
from karat.metrics.given import Given
from karat.metrics.names import metric
from karat.progress import Progress
from karat.stats.population import Design, Labelled
from karat.storage.digests import data_digest


class Scale(NamedTuple):
    """The scale of the labels: its ends, where they are known, and which is better."""

    low: float | None = None
    high: float | None = None
    sign: int = 1

    @property
    def turned(self) -> tuple[float | None, float | None]:
        """The ends where more is better."""
        if self.sign > 0:
            return self.low, self.high
        low, high = self.high, self.low
        return None if low is None else -low, None if high is None else -high

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends where more is better, if both are known."""
        low, high = self.turned
        return None if low is None or high is None else (low, high)


@dataclass(frozen=True, eq=False)
class Sample:
    """Systems x units: labels and judges' values; `unit` is the word for a unit."""

    name: str
    dimension: str
    systems: tuple[str, ...]
    units: tuple[str, ...]
    unit: str
    y: Floats
    """People's value of each labelled unit, the mean of its labelled outputs; NaN without."""
    x: Floats
    """Judges' values of the same outputs, systems x units x judges; 0 where nothing is labelled."""
    every: Floats
    """Judges' values of all outputs of each unit, systems x units x judges."""
    present: Flags
    """Systems x units: whether the system has an output."""
    judges: tuple[str, ...]
    design: Design
    scale: Scale = field(default_factory=Scale)
    labels: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Labels of each system, which may be more than its labelled units."""
    notes: tuple[str, ...] = ()
    draws: tuple[Draw, ...] = ()
    """Draws up to now, where there is a record of them."""
    partly: Flags | None = None
    """Systems x units: whether only some outputs of the unit are labelled; None if none is so."""

    outputs: Floats | None = None
    """Systems x units: the number of outputs, where systems lack some; None if none does."""

    at_ends: Floats | None = None
    """Where labels are comparisons: systems x 2, the share of units in which a system lost all of
    its comparisons, and that in which it won all; None for ratings."""

    @cached_property
    def digest(self) -> str:
        """Eight characters that change with labels, judges' values, draws or the scale."""
        outputs = np.zeros(0) if self.outputs is None else self.outputs
        return data_digest(
            [self.systems, self.units, self.unit, self.judges, self.scale],
            *(self.y, self.x, self.every, self.present, outputs),
            *(self.design.probability, self.design.round),
        )

    @property
    def known(self) -> Flags:
        """Systems x units: whether there is a label."""
        return ~np.isnan(self.y)

    def population(self, system: int) -> Ints:
        """Return the numbers of the units that a system has outputs for."""
        return np.flatnonzero(self.present[system])

    def labelled(self, system: int) -> Ints:
        """Return the numbers of the units that people labelled."""
        return np.flatnonzero(self.known[system])

    def wholly(self, system: int, units: Ints) -> bool:
        """Return whether all outputs of some units are labelled, so that nothing is left to know.

        Otherwise a factor 1 - n / N would take units for known that are not.
        """
        return self.partly is None or not self.partly[system, units].any()

    @property
    def compared(self) -> bool:
        """Whether labels are comparisons of outputs, not ratings."""
        return self.at_ends is not None

    def design_of(self, *systems: int) -> Design:
        """Return how units were drawn, with the sizes that all of some systems have."""
        if self.outputs is None:
            return self.design
        sizes: Floats = np.min(self.outputs[list(systems)], axis=0)
        return replace(self.design, sizes=sizes)

    def values(self, judges: Ints | None = None) -> Labelled:
        """Return what predictions are made from, with all judges or some."""
        chosen = np.arange(len(self.judges)) if judges is None else judges
        every = np.where(self.present[:, :, None], self.every[:, :, chosen], 0.0)
        own = self.design.sizes if self.outputs is None else self.outputs
        sizes = np.where(self.present, own, 0.0)
        weights = np.zeros(self.y.shape)
        for k in range(len(self.systems)):
            units = self.labelled(k)
            weights[k, units] = self.design_of(k).weights(units, len(self.population(k)))
        return Labelled(self.y, self.x[:, :, chosen], every, sizes, weights)

    def select(self, systems: Ints) -> Sample:
        """Return some systems."""
        names = tuple(self.systems[k] for k in systems.tolist())
        parts = {k: getattr(self, k)[systems] for k in ("y", "x", "every", "present", "labels")}
        optional = {k: getattr(self, k) for k in ("partly", "outputs", "at_ends")}
        parts |= {k: own if own is None else own[systems] for k, own in optional.items()}
        return replace(self, systems=names, **parts)

    def only(self, judge: int) -> Sample:
        """Return the sample with one of its judges."""
        one = slice(judge, judge + 1)
        parts = {k: getattr(self, k)[:, :, one] for k in ("x", "every")}
        return replace(self, judges=self.judges[one], **parts)

    def with_means(self) -> Sample:
        """Return each judge's values as two: the mean of a unit over systems, and what is left.

        A unit that a judge finds hard for all systems tells something else than an output that it
        finds worse than others. With one system there is nothing to part, nor with comparisons.
        """
        if len(self.systems) < 2 or not self.judges or self.compared:
            return self
        there = self.present[:, :, None]
        count = np.maximum(there.sum(axis=0), 1)
        mean = np.where(there, self.every, 0.0).sum(axis=0) / count
        whole = np.broadcast_to(mean, self.every.shape)
        x = np.concatenate([np.where(self.known[:, :, None], self.x - mean, 0.0), whole], axis=2)
        every = np.concatenate([self.every - mean, whole], axis=2)
        names = (*self.judges, *(f"{name}, mean of the {self.unit}" for name in self.judges))
        return replace(self, x=x, every=every, judges=names)


UNITS = ("auto", SEGMENT, GROUP)
FAR = 3.0
"""Standard deviations by which fewer groups have labels than chance would give them."""


class Grouping(NamedTuple):
    """The units of a set: their names and the unit of each segment."""

    names: tuple[str, ...]
    of_segment: Ints
    word: str


def draws_of_set(evalset: EvalSet, draws: Sequence[Draw] | None) -> Sequence[Draw] | None:
    """Return the draws that a caller gave, checked; without any, those of the set."""
    if draws is None:
        return evalset.draws
    reading = Reading(lister="")
    placed = [(f"draws[{i}]", draw) for i, draw in enumerate(draws)]
    found = checked_draws(placed, evalset.segments, evalset.groups, reading)
    reading.check()
    return found


def grouping_of(
    evalset: EvalSet, known: Flags, unit: str, draws: Sequence[Draw] | None
) -> tuple[Grouping, list[str]]:
    """Return the units, and why they are these."""
    if unit not in UNITS:
        raise InputError(f"unit {quoted(unit)}: expected one of {', '.join(UNITS)}")
    if unit == GROUP and evalset.groups is None:
        raise InputError(f"{evalset.name} has no groups of segments: leave --unit out")
    if draws and unit not in ("auto", draws[0].of):
        raise InputError(f"--unit {unit}: the draws are of {draws[0].of}s: leave --unit out")
    if unit == "auto" and draws:
        unit = draws[0].of
    if unit == "auto":
        unit, why = _guessed_unit(evalset, np.asarray(known.any(axis=0)))
    else:
        why = []
    if unit == SEGMENT or evalset.groups is None:
        return Grouping(evalset.segments, np.arange(len(evalset)), "segment"), why
    names = tuple(dict.fromkeys(evalset.groups))
    place = {name: i for i, name in enumerate(names)}
    return Grouping(names, np.array([place[g] for g in evalset.groups]), "group"), why


def _guessed_unit(evalset: EvalSet, labelled: Flags) -> tuple[str, list[str]]:
    """Return the unit that the labels look like, and why."""
    groups, n = evalset.groups, int(labelled.sum())
    if groups is None or n == len(labelled):
        return SEGMENT, []
    _, number, sizes = np.unique(np.array(groups), return_inverse=True, return_counts=True)
    mine = np.bincount(number.reshape(-1), weights=labelled)
    touched = mine > 0
    if (mine[touched] == sizes[touched]).all() and (sizes > 1).any() and not touched.all():
        return GROUP, [
            "Unit: groups of segments (documents or questions), since all segments of a group were "
            "labelled, or none."
        ]
    share = n / len(labelled)
    absent = power(1 - share, sizes)
    expected, spread = float((1 - absent).sum()), sqrt(float((absent * (1 - absent)).sum()))
    if int(touched.sum()) < expected - FAR * spread:
        return GROUP, [
            f"Unit: groups of segments. Labels are of {int(touched.sum())} groups; the same number "
            f"of segments drawn one by one would touch about {expected:.0f}."
        ]
    return SEGMENT, []


def designed(
    whose: str, human: Floats, grouping: Grouping, draws: Sequence[Draw] | None
) -> tuple[Floats, Design, list[str]]:
    """Return the labels that count, how units were drawn, and what a reader should know.

    `whose` is the name of the set; its draws have been checked.
    """
    sizes = np.bincount(grouping.of_segment, minlength=len(grouping.names)).astype(np.float64)
    labelled = np.flatnonzero(counts_of(~np.isnan(human), grouping).any(axis=0))
    if not draws:
        return human, Design.simple(sizes), []
    place = {name: i for i, name in enumerate(grouping.names)}
    probability = np.full(len(sizes), np.nan)
    rounds = np.zeros(len(sizes), np.int64)
    chosen = np.zeros(len(sizes), bool)
    for draw in draws:
        at = place[draw.unit]
        if draw.probability is None:
            chosen[at] |= not rounds[at]
        elif not rounds[at]:
            probability[at], rounds[at], chosen[at] = draw.probability, draw.round, False
    unknown = [at for at in labelled.tolist() if not rounds[at] and not chosen[at]]
    if unknown:
        first = quoted(grouping.names[unknown[0]])
        raise InputError(
            f"{whose}: {len(unknown):,} labelled {grouping.word}s are not among the draws "
            f"(the first is {first}): add how they were drawn, or leave the draws out"
        )
    left = [at for at in labelled.tolist() if chosen[at]]
    told = []
    if left:
        human = np.where(np.isin(grouping.of_segment, left), np.nan, human)
        told = [
            f"{len(left):,} labelled {grouping.word}{'s were' if len(left) > 1 else ' was'} not "
            "drawn at random and left out: their labels say nothing of the others."
        ]
    told += _unlabelled(grouping, rounds, labelled)
    return human, Design(sizes, probability, rounds), told


def _unlabelled(grouping: Grouping, rounds: Ints, labelled: Ints) -> list[str]:
    """Return a warning where units were drawn that nobody labelled."""
    without = np.setdiff1d(np.flatnonzero(rounds), labelled)
    if not len(without):
        return []
    first, have = quoted(grouping.names[without[0]]), "s have" if len(without) > 1 else " has"
    return [
        f"Warning: {len(without):,} drawn {grouping.word}{have} no label (the first is {first}). "
        "If people skipped them because of their content, estimates and intervals can be wrong."
    ]


def counts_of(known: Flags, grouping: Grouping) -> Floats:
    """Return systems x units: how many outputs are marked."""
    count = len(grouping.names)
    return np.stack([np.bincount(grouping.of_segment, own, count) for own in known.astype(float)])


LEAST_KNOWN = 0.5
"""The share of outputs that a judge must have a value for."""


class JudgeValues(NamedTuple):
    """A judge's value of every output, systems x segments, and how many it lacked."""

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
    """Return the values of judges, more being better, in the order in which they are named."""
    names = [str(one) for one in judges]
    check_names(names)
    found = [_model(evalset, one, dimension) for one in judges]
    wanted = [_as_metric(evalset, one) for one, own in zip(judges, found, strict=True) if not own]
    scored = iter(_scored(evalset, wanted, threads, progress)) if wanted else iter(())
    present = outputs_present(evalset)
    filled = []
    for name, own in zip(names, found, strict=True):
        given = (own or next(scored))._replace(name=name)
        filled.append(fill_missing(evalset.name, given, present))
    return filled


def check_names(names: Sequence[str]) -> None:
    """Refuse a judge that is named twice."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"judge {quoted(name)} is named twice: name it once")


def _model(evalset: EvalSet, judge: str | Metric, dimension: str) -> JudgeValues | None:
    """Return the ratings of a model that judged the set, if it did."""
    if not isinstance(judge, str) or judge not in evalset.model_judges:
        return None
    values = evalset.rated_by(judge, dimension)
    if np.isnan(values).all():
        told = f"{evalset.name}: the model {quoted(judge)} has judged nothing for {dimension}"
        raise InputError(f"{told}: run karat judge ratings, or name another judge")
    return JudgeValues(judge, values, 0, f"judge:{judge}")


def _as_metric(evalset: EvalSet, judge: str | Metric) -> Metric:
    if isinstance(judge, str) and judge in evalset.offered:
        return Given(metric=judge)
    try:
        return metric(judge)
    except MetricError as error:
        told = f"{evalset.name} has no model and no scores of that name"
        raise InputError(f"judge {quoted(judge)}: {told}; as a metric: {error}") from error


def _scored(
    evalset: EvalSet, metrics: Sequence[Metric], threads: int | None, progress: Progress
) -> Iterator[JudgeValues]:
    scored = score_evalset(evalset, metrics, threads=threads, progress=progress)
    if len(scored.metrics) != len(metrics):
        raise InputError("a pattern names several judges: name each of them")
    for one in scored.metrics:
        yield JudgeValues(str(one), scored.segments(one), 0, scored.signature(one))


def fill_missing(whose: str, given: JudgeValues, present: Flags) -> JudgeValues:
    """Return the values with the judge's mean for a system in place of those that are missing.

    Any value that does not depend on the labels keeps estimates right; the mean adds no spread.
    `whose` is the name of the set.
    """
    name, values = given.name, given.values.copy()
    lacking = np.isnan(values) & present
    if lacking.sum() > (1 - LEAST_KNOWN) * present.sum():
        raise InputError(
            f"judge {quoted(name)} has no value for {int(lacking.sum()):,} of "
            f"{int(present.sum()):,} outputs of {whose}: expected one for at least half"
        )
    if np.isinf(values).any() or (np.abs(values[present & ~lacking]) > 1e100).any():
        raise InputError(f"judge {quoted(name)}: values must be finite and below 1e100")
    for own, absent in zip(values, lacking, strict=True):
        own[absent] = np.nanmean(own) if not np.isnan(own).all() else np.nanmean(given.values)
    known = np.where(np.isnan(values), 0.0, values)
    return given._replace(values=known, missing=int(lacking.sum()))
