"""The sample of an evaluation set, from ratings of outputs or from comparisons of two systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from statistics import fmean
from typing import NamedTuple, TypeAlias

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, quoted
from karat.estimation.samples import (
    Grouping,
    JudgeValues,
    Sample,
    Scale,
    counts_of,
    designed,
    draws_of_set,
    grouping_of,
)
from karat.evalset.draws import Draw
from karat.evalset.judgements import ADJUDICATED, JudgedPair
from karat.evalset.sets import EvalSet
from karat.meta.scores import outputs_present
from karat.stats.estimates import unit_values
from karat.stats.population import Design

FEWEST_COMPARED = 5
"""Units on which two systems must have been compared."""


class PairLabels(NamedTuple):
    """People's comparisons of two systems: segments, and the first system's share on each."""

    segments: Ints
    shares: Floats


Labels: TypeAlias = dict[tuple[int, int], PairLabels]
"""The comparisons of every two systems, in both orders."""


def are_compared(evalset: EvalSet, dimension: str) -> bool:
    """Return whether people compared outputs in a dimension; refuse ratings beside comparisons."""
    parts = evalset.difference(dimension) or (dimension,)
    pairs = [pair for pair in _by_people(evalset) if pair.dimension in parts]
    if not pairs:
        return False
    if len(parts) > 1:
        raise InputError(f"{quoted(dimension)}: people compared outputs: name one dimension")
    won = {(name, pair.segment) for pair in pairs for name in (pair.system, pair.other)}
    rated = zip(*np.nonzero(~np.isnan(evalset.human(dimension))), strict=True)
    names = [*evalset.systems]
    if any((names[k], evalset.segments[i]) not in won for k, i in rated):
        told = f"{quoted(dimension)} has ratings and comparisons of people"
        raise InputError(f"{evalset.name}: {told}: give each a dimension of its own")
    return True


def _by_people(evalset: EvalSet) -> Iterator[JudgedPair]:
    models = {*evalset.model_judges}
    return (pair for pair in evalset.pairs if pair.judge not in models)


def _counted_once(evalset: EvalSet, dimension: str) -> Iterator[JudgedPair]:
    """Yield the comparisons of people in a dimension; those of identical judges count once."""
    named = evalset.representatives(dimension)
    judge_of: dict[tuple[str, str, frozenset[str]], str] = {}
    for pair in _by_people(evalset):
        if pair.dimension == dimension:
            compared = frozenset((pair.system, pair.other))
            key = named.get(pair.judge, pair.judge), pair.segment, compared
            if judge_of.setdefault(key, pair.judge) == pair.judge:
                yield pair


def pair_labels(evalset: EvalSet, dimension: str, segments: Flags) -> Labels:
    """Return what people said of the pairs of some segments: means, or what was adjudicated."""
    kinds = evalset.judgements.judge_kinds
    system = {name: k for k, name in enumerate(evalset.systems)}
    place = {name: i for i, name in enumerate(evalset.segments) if segments[i]}
    found: dict[tuple[int, int], dict[int, tuple[list[float], list[float]]]] = {
        pair: {} for pair in permutations(range(len(system)), 2)
    }
    for pair in _counted_once(evalset, dimension):
        if pair.segment in place:
            final = kinds.get(pair.judge) == ADJUDICATED
            for one in (pair, pair.turned):
                own = found[system[one.system], system[one.other]]
                own.setdefault(place[pair.segment], ([], []))[final].append(one.value)
    return {pair: _labels(own) for pair, own in found.items()}


def _labels(own: Mapping[int, tuple[list[float], list[float]]]) -> PairLabels:
    segments = sorted(own)
    shares = [fmean(own[i][1] or own[i][0]) for i in segments]
    return PairLabels(np.array(segments, np.int64), np.array(shares, np.float64))


def sample_of_pairs(
    evalset: EvalSet,
    dimension: str,
    judges: Sequence[JudgeValues],
    unit: str,
    draws: Sequence[Draw] | None,
) -> Sample:
    """Return the sample of a dimension in which people compared outputs."""
    complete = np.asarray(outputs_present(evalset).all(axis=0))
    touched = np.full((1, len(evalset)), np.nan)
    for one in pair_labels(evalset, dimension, complete).values():
        touched[0, one.segments] = 0.0
    grouping, why = grouping_of(evalset, ~np.isnan(touched), unit, draws)
    touched, design, told = designed(evalset.name, touched, grouping, draws)
    labels = pair_labels(evalset, dimension, ~np.isnan(touched[0]))
    sizes = counts_of(complete[None, :], grouping)[0]
    _check_compared(evalset, labels, grouping)
    values, design = [one.values for one in judges], replace(design, sizes=sizes)
    given = _Given(labels, values, grouping, design, complete)
    made = [_unit_values(given, k, len(evalset.systems)) for k in range(len(evalset.systems))]
    y, x, every, partly, at_ends, counts = (np.stack(part) for part in zip(*made, strict=True))
    _check_rounds(evalset, design, y, partly)
    return Sample(
        *(evalset.name, dimension, tuple(evalset.systems), grouping.names, grouping.word),
        *(y, x, every, np.broadcast_to(sizes > 0, y.shape)),
        judges=tuple(one.name for one in judges),
        design=design,
        scale=Scale(0.0, 1.0),
        labels=counts,
        notes=(
            *evalset.remarks,
            *evalset.identical_notes([dimension]),
            *why,
            *told,
            *_notes(grouping.word, complete),
        ),
        draws=tuple(draws or ()),
        partly=partly,
        at_ends=at_ends,
    )


def _notes(unit: str, complete: Flags) -> Iterator[str]:
    yield (
        "Scores are shares of comparisons won, ties as half, against each of the other systems "
        f"alike. All pairs of a {unit} count as one observation."
    )
    if not complete.all():
        yield (
            f"{int((~complete).sum()):,} segments are left out: not every system has an output "
            "there."
        )


def _check_compared(evalset: EvalSet, labels: Labels, grouping: Grouping) -> None:
    """Refuse systems that were hardly compared: nothing tells which would win."""
    names = [*evalset.systems]
    for (a, b), found in labels.items():
        units = len(np.unique(grouping.of_segment[found.segments]))
        if units < FEWEST_COMPARED:
            raise InputError(
                f"{evalset.name}: people compared {quoted(names[a])} and {quoted(names[b])} on "
                f"{units} {grouping.word}s: compare them on at least {FEWEST_COMPARED}, or leave "
                "one out with --exclude"
            )


def _check_rounds(evalset: EvalSet, design: Design, y: Floats, partly: Flags) -> None:
    rounds = np.unique(design.round[~np.isnan(y).all(axis=0)])
    if len(rounds) > 1 and partly.any():
        raise InputError(
            f"{evalset.name}: segments were drawn in {len(rounds)} rounds, and some pairs of them "
            "were not compared: compare all pairs of drawn segments"
        )


class _Given(NamedTuple):
    """Labels of pairs, judges' values of outputs, units, and how these were drawn."""

    labels: Labels
    judges: Sequence[Floats]
    grouping: Grouping
    design: Design
    complete: Flags
    """The segments for which every system has an output."""


class _UnitValues(NamedTuple):
    """The values of a system's units, in the order of `Sample`'s fields."""

    y: Floats
    x: Floats
    every: Floats
    partly: Flags
    at_ends: Floats
    """The share of units in which it lost all of its comparisons, and that in which it won all."""
    labels: int


def _unit_values(given: _Given, system: int, systems: int) -> _UnitValues:
    """Return a system's values; a judge's value of a pair is the difference of its two outputs'."""
    others = [other for other in range(systems) if other != system]
    labels = [given.labels[system, other] for other in others]
    apart = [_apart(given.judges, system, other) for other in others]
    judged = np.stack([_added(given.grouping, one.segments) for one in labels])
    pairs = zip(labels, apart, strict=True)
    sums = np.stack([_sums(given.grouping, one, own) for one, own in pairs])
    units = np.flatnonzero(judged.any(axis=0))
    sizes = given.design.sizes
    probability = given.design.probabilities(units, int((sizes > 0).sum()))
    made = np.zeros((len(sizes), sums.shape[2]))
    made[units] = unit_values(judged[:, units], sums[:, units], sizes[units], probability)
    y = np.full(len(sizes), np.nan)
    y[units] = made[units, 0]
    won = sums[:, units, 0].sum(axis=0) / judged[:, units].sum(axis=0)
    return _UnitValues(
        y,
        made[:, 1:],
        _every(given, apart),
        (judged.sum(axis=0) > 0) & (judged.sum(axis=0) < sizes * len(others)),
        np.array([float((won == end).mean()) for end in (0, 1)]),
        sum(len(one.segments) for one in labels),
    )


def _apart(judges: Sequence[Floats], system: int, other: int) -> Floats:
    """Return judges x segments: differences of two systems."""
    found = [own[system] - own[other] for own in judges]
    return np.stack(found) if found else np.zeros((0, 0))


def _sums(grouping: Grouping, labels: PairLabels, apart: Floats) -> Floats:
    """Return units x columns: sums of people's shares, and of judges' differences."""
    columns = (labels.shares, *(own[labels.segments] for own in apart))
    return np.stack([_added(grouping, labels.segments, own) for own in columns], axis=1)


def _every(given: _Given, apart: Sequence[Floats]) -> Floats:
    """Return units x judges: the mean difference from other systems, over all segments."""
    mean = np.stack(apart).mean(axis=0)
    kept = np.flatnonzero(given.complete)
    sums = [_added(given.grouping, kept, own[kept]) for own in mean]
    sizes = np.maximum(given.design.sizes, 1)
    return np.stack([own / sizes for own in sums], axis=1) if sums else np.zeros((len(sizes), 0))


def _added(grouping: Grouping, segments: Ints, values: Floats | None = None) -> Floats:
    """Return sums of segments' values, or their numbers, by unit."""
    found = np.bincount(grouping.of_segment[segments], values, len(grouping.names))
    return found.astype(np.float64)


LARGEST = 1e9
"""Labels must be smaller: sums of their squares and products are exact."""


def sample_of_set(
    evalset: EvalSet,
    dimension: str,
    judges: Sequence[JudgeValues],
    unit: str = "auto",
    draws: Sequence[Draw] | None = None,
    normalise: str = "none",
) -> Sample:
    """Return the sample of an evaluation set in one dimension."""
    drawn = draws_of_set(evalset, draws)
    if are_compared(evalset, dimension):
        if normalise != "none":
            what = f"people compared outputs under {quoted(dimension)}"
            raise InputError(f"normalise={normalise}: {what}, and only ratings are scaled")
        return sample_of_pairs(evalset, dimension, judges, unit, drawn)
    human = evalset.human(dimension, normalise)
    grouping, why = grouping_of(evalset, ~np.isnan(human), unit, drawn)
    human, design, told = designed(evalset.name, human, grouping, drawn)
    values = np.stack([one.values for one in judges], axis=2) if judges else _none(human)
    present = outputs_present(evalset)
    known = ~np.isnan(human) & present
    y = _means(np.where(known, human, 0.0)[:, :, None], known, grouping)[:, :, 0]
    labelled, outputs = counts_of(known, grouping), counts_of(present, grouping)
    partly = (labelled > 0) & (labelled < outputs)
    given = evalset.dimensions.get(dimension) if normalise == "none" else None
    scale = Scale(given.low, given.high, given.sign) if given else Scale()
    _check_labels(evalset.name, dimension, human[known], scale)
    return Sample(
        evalset.name,
        dimension,
        tuple(evalset.systems),
        grouping.names,
        grouping.word,
        np.where(labelled > 0, y, np.nan),
        _means(values, known, grouping),
        _means(values, present, grouping),
        outputs > 0,
        tuple(one.name for one in judges),
        design,
        scale,
        known.sum(axis=1),
        (*evalset.remarks, *evalset.identical_notes([dimension]), *why, *told),
        tuple(drawn or ()),
        partly,
        None if present.all() else outputs,
    )


def _check_labels(whose: str, dimension: str, labels: Floats, scale: Scale) -> None:
    """Refuse labels that are off their scale, whose ends bound the estimate, or are too large."""
    low, high = (
        bound if end is None else end
        for end, bound in zip(scale.turned, (-LARGEST, LARGEST), strict=True)
    )
    off = labels[(labels < low) | (labels > high)]
    if len(off):
        ends = sorted((scale.sign * low, scale.sign * high))
        raise InputError(
            f"{whose}: a label of {quoted(dimension)} is {scale.sign * float(off[0]):g}, expected "
            f"{ends[0]:g} to {ends[1]:g}: correct the label, or the scale of the dimension"
        )


def _none(human: Floats) -> Floats:
    return np.zeros((*human.shape, 0))


def _means(values: Floats, known: Flags, grouping: Grouping) -> Floats:
    """Return systems x units x columns: means over the outputs that are marked, 0 without any."""
    count = np.maximum(counts_of(known, grouping), 1)[:, :, None]
    systems, _, columns = values.shape
    sums = np.zeros((systems, len(grouping.names), columns))
    for k in range(systems):
        for j in range(columns):
            own = np.where(known[k], values[k, :, j], 0.0)
            sums[k, :, j] = np.bincount(grouping.of_segment, own, len(grouping.names))
    found: Floats = sums / count
    return found
