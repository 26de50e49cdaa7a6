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
    JudgeValues,
    LabelScale,
    Sample,
    UnitGrouping,
    apply_draws,
    check_draws,
    count_by_unit,
    group_units,
)
from karat.evalset.draws import Draw
from karat.evalset.judgements import ADJUDICATED, JudgedPair
from karat.evalset.sets import EvalSet
from karat.meta.scores import outputs_present
from karat.stats.estimates import unit_values
from karat.stats.population import Design

MIN_COMPARED_UNITS = 5  # units on which two systems must have been compared


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
        problem = f"{quoted(dimension)} has ratings and comparisons of people"
        raise InputError(f"{evalset.name}: {problem}: give each a dimension of its own")
    return True


def _by_people(evalset: EvalSet) -> Iterator[JudgedPair]:
    models = {*evalset.model_judges}
    return (pair for pair in evalset.pairs if pair.judge not in models)


def _distinct_comparisons(evalset: EvalSet, dimension: str) -> Iterator[JudgedPair]:
    """Yield the comparisons of people in a dimension; those of identical judges count once."""
    representative_of = evalset.representatives(dimension)
    judge_of: dict[tuple[str, str, frozenset[str]], str] = {}
    for pair in _by_people(evalset):
        if pair.dimension == dimension:
            compared = frozenset((pair.system, pair.other))
            key = representative_of.get(pair.judge, pair.judge), pair.segment, compared
            if judge_of.setdefault(key, pair.judge) == pair.judge:
                yield pair


def pair_labels(evalset: EvalSet, dimension: str, segments: Flags) -> Labels:
    """Return what people said of the pairs of some segments: means, or what was adjudicated."""
    kinds = evalset.judgements.judge_kinds
    system = {name: k for k, name in enumerate(evalset.systems)}
    index_of = {name: i for i, name in enumerate(evalset.segments) if segments[i]}
    values_by_pair: dict[tuple[int, int], dict[int, tuple[list[float], list[float]]]] = {
        pair: {} for pair in permutations(range(len(system)), 2)
    }
    for pair in _distinct_comparisons(evalset, dimension):
        if pair.segment in index_of:
            final = kinds.get(pair.judge) == ADJUDICATED
            for ordered in (pair, pair.turned):
                by_segment = values_by_pair[system[ordered.system], system[ordered.other]]
                by_segment.setdefault(index_of[pair.segment], ([], []))[final].append(ordered.value)
    return {pair: _labels(by_segment) for pair, by_segment in values_by_pair.items()}


def _labels(values_by_segment: Mapping[int, tuple[list[float], list[float]]]) -> PairLabels:
    segments = sorted(values_by_segment)
    shares = [fmean(values_by_segment[i][1] or values_by_segment[i][0]) for i in segments]
    return PairLabels(np.array(segments, np.int64), np.array(shares, np.float64))


def make_pair_sample(
    evalset: EvalSet,
    dimension: str,
    judges: Sequence[JudgeValues],
    unit: str,
    draws: Sequence[Draw] | None,
) -> Sample:
    """Return the sample of a dimension in which people compared outputs."""
    complete = np.asarray(outputs_present(evalset).all(axis=0))
    touched = np.full((1, len(evalset)), np.nan)
    for entry in pair_labels(evalset, dimension, complete).values():
        touched[0, entry.segments] = 0.0
    grouping, unit_notes = group_units(evalset, ~np.isnan(touched), unit, draws)
    touched, design, draw_notes = apply_draws(evalset.name, touched, grouping, draws)
    labels = pair_labels(evalset, dimension, ~np.isnan(touched[0]))
    sizes = count_by_unit(complete[None, :], grouping)[0]
    _check_compared(evalset, labels, grouping)
    values, design = [entry.values for entry in judges], replace(design, sizes=sizes)
    inputs = PairInputs(labels, values, grouping, design, complete)
    system_values = [
        _unit_values(inputs, k, len(evalset.systems)) for k in range(len(evalset.systems))
    ]
    y, x, x_all, partly, at_ends, counts = (
        np.stack(part) for part in zip(*system_values, strict=True)
    )
    _check_rounds(evalset, design, y, partly)
    return Sample(
        *(evalset.name, dimension, tuple(evalset.systems), grouping.names, grouping.word),
        *(y, x, x_all, np.broadcast_to(sizes > 0, y.shape)),
        judges=tuple(entry.name for entry in judges),
        design=design,
        scale=LabelScale(0.0, 1.0),
        labels=counts,
        notes=(
            *evalset.remarks,
            *evalset.identical_notes([dimension]),
            *unit_notes,
            *draw_notes,
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


def _check_compared(evalset: EvalSet, labels: Labels, grouping: UnitGrouping) -> None:
    """Refuse systems that were hardly compared: nothing tells which would win."""
    names = [*evalset.systems]
    for (a, b), comparisons in labels.items():
        units = len(np.unique(grouping.of_segment[comparisons.segments]))
        if units < MIN_COMPARED_UNITS:
            raise InputError(
                f"{evalset.name}: people compared {quoted(names[a])} and {quoted(names[b])} on "
                f"{units} {grouping.word}s: compare them on at least {MIN_COMPARED_UNITS}, or "
                "leave one out with --exclude"
            )


def _check_rounds(evalset: EvalSet, design: Design, y: Floats, partly: Flags) -> None:
    rounds = np.unique(design.round[~np.isnan(y).all(axis=0)])
    if len(rounds) > 1 and partly.any():
        raise InputError(
            f"{evalset.name}: segments were drawn in {len(rounds)} rounds, and some pairs of them "
            "were not compared: compare all pairs of drawn segments"
        )


class PairInputs(NamedTuple):
    """Labels of pairs, judges' values of outputs, units, and how these were drawn."""

    labels: Labels
    judges: Sequence[Floats]
    grouping: UnitGrouping
    design: Design
    complete: Flags  # the segments for which every system has an output


class _UnitValues(NamedTuple):
    """The values of a system's units, in the order of `Sample`'s fields."""

    y: Floats
    x: Floats
    all_values: Floats
    partly: Flags
    at_ends: Floats
    """The share of units in which it lost all of its comparisons, and that in which it won all."""
    labels: int


def _unit_values(inputs: PairInputs, system: int, systems: int) -> _UnitValues:
    """Return a system's values; a judge's value of a pair is the difference of its two outputs'."""
    rivals = [other for other in range(systems) if other != system]
    labels = [inputs.labels[system, other] for other in rivals]
    apart = [_judge_differences(inputs.judges, system, other) for other in rivals]
    judged = np.stack([_sum_by_unit(inputs.grouping, pair_label.segments) for pair_label in labels])
    pairs = zip(labels, apart, strict=True)
    sums = np.stack(
        [_sums(inputs.grouping, pair_label, difference) for pair_label, difference in pairs]
    )
    units = np.flatnonzero(judged.any(axis=0))
    sizes = inputs.design.sizes
    probability = inputs.design.probabilities(units, int((sizes > 0).sum()))
    values = np.zeros((len(sizes), sums.shape[2]))
    values[units] = unit_values(judged[:, units], sums[:, units], sizes[units], probability)
    y = np.full(len(sizes), np.nan)
    y[units] = values[units, 0]
    won = sums[:, units, 0].sum(axis=0) / judged[:, units].sum(axis=0)
    return _UnitValues(
        y,
        values[:, 1:],
        _all_segments_means(inputs, apart),
        (judged.sum(axis=0) > 0) & (judged.sum(axis=0) < sizes * len(rivals)),
        np.array([float((won == end).mean()) for end in (0, 1)]),
        sum(len(pair_label.segments) for pair_label in labels),
    )


def _judge_differences(judges: Sequence[Floats], system: int, other: int) -> Floats:
    """Return judges x segments: differences of two systems."""
    differences = [values[system] - values[other] for values in judges]
    return np.stack(differences) if differences else np.zeros((0, 0))


def _sums(grouping: UnitGrouping, labels: PairLabels, apart: Floats) -> Floats:
    """Return units x columns: sums of people's shares, and of judges' differences."""
    columns = (labels.shares, *(column[labels.segments] for column in apart))
    return np.stack([_sum_by_unit(grouping, labels.segments, column) for column in columns], axis=1)


def _all_segments_means(inputs: PairInputs, apart: Sequence[Floats]) -> Floats:
    """Return units x judges: the mean difference from other systems, over all segments."""
    mean = np.stack(apart).mean(axis=0)
    complete_segments = np.flatnonzero(inputs.complete)
    sums = [
        _sum_by_unit(inputs.grouping, complete_segments, column[complete_segments])
        for column in mean
    ]
    sizes = np.maximum(inputs.design.sizes, 1)
    return (
        np.stack([column / sizes for column in sums], axis=1) if sums else np.zeros((len(sizes), 0))
    )


def _sum_by_unit(grouping: UnitGrouping, segments: Ints, values: Floats | None = None) -> Floats:
    """Return sums of segments' values, or their numbers, by unit."""
    sums = np.bincount(grouping.of_segment[segments], values, len(grouping.names))
    return sums.astype(np.float64)


LARGEST = 1e9  # labels must be smaller: sums of their squares and products are exact


def make_sample(
    evalset: EvalSet,
    dimension: str,
    judges: Sequence[JudgeValues],
    unit: str = "auto",
    draws: Sequence[Draw] | None = None,
    normalise: str = "none",
) -> Sample:
    """Return the sample of an evaluation set in one dimension."""
    set_draws = check_draws(evalset, draws)
    if are_compared(evalset, dimension):
        if normalise != "none":
            problem = f"people compared outputs under {quoted(dimension)}"
            raise InputError(f"normalise={normalise}: {problem}, and only ratings are scaled")
        return make_pair_sample(evalset, dimension, judges, unit, set_draws)
    human = evalset.human(dimension, normalise)
    grouping, unit_notes = group_units(evalset, ~np.isnan(human), unit, set_draws)
    human, design, draw_notes = apply_draws(evalset.name, human, grouping, set_draws)
    values = np.stack([judge.values for judge in judges], axis=2) if judges else _none(human)
    present = outputs_present(evalset)
    has_label = ~np.isnan(human) & present
    y = _means(np.where(has_label, human, 0.0)[:, :, None], has_label, grouping)[:, :, 0]
    labelled, outputs = count_by_unit(has_label, grouping), count_by_unit(present, grouping)
    partly = (labelled > 0) & (labelled < outputs)
    rated_dimension = evalset.dimensions.get(dimension) if normalise == "none" else None
    scale = (
        LabelScale(rated_dimension.low, rated_dimension.high, rated_dimension.sign)
        if rated_dimension
        else LabelScale()
    )
    _check_labels(evalset.name, dimension, human[has_label], scale)
    return Sample(
        evalset.name,
        dimension,
        tuple(evalset.systems),
        grouping.names,
        grouping.word,
        np.where(labelled > 0, y, np.nan),
        _means(values, has_label, grouping),
        _means(values, present, grouping),
        outputs > 0,
        tuple(judge.name for judge in judges),
        design,
        scale,
        has_label.sum(axis=1),
        (*evalset.remarks, *evalset.identical_notes([dimension]), *unit_notes, *draw_notes),
        tuple(set_draws or ()),
        partly,
        None if present.all() else outputs,
    )


def _check_labels(whose: str, dimension: str, labels: Floats, scale: LabelScale) -> None:
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


def _means(values: Floats, is_counted: Flags, grouping: UnitGrouping) -> Floats:
    """Return systems x units x columns: means over the outputs that are marked, 0 without any."""
    count = np.maximum(count_by_unit(is_counted, grouping), 1)[:, :, None]
    systems, _, columns = values.shape
    sums = np.zeros((systems, len(grouping.names), columns))
    for k in range(systems):
        for j in range(columns):
            column_values = np.where(is_counted[k], values[k, :, j], 0.0)
            sums[k, :, j] = np.bincount(grouping.of_segment, column_values, len(grouping.names))
    means: Floats = sums / count
    return means
