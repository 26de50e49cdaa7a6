"""The sample of an evaluation set, from ratings of outputs or from comparisons of two systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from karat.meta.unit_ratings import UnitRatings, unit_ratings
from karat.stats.estimates import unit_values
from karat.stats.population import Design

MIN_COMPARED_UNITS = 5  # units on which every two systems must have been compared


class PairLabels(NamedTuple):
    """Human comparisons of two systems: segments, and the first system's share of wins on each."""

    segments: Ints
    shares: Floats


Labels: TypeAlias = dict[tuple[int, int], PairLabels]  # for every two systems, in both orders


def has_human_comparisons(evalset: EvalSet, dimension: str) -> bool:
    """Return whether people compared outputs in a dimension; raise if they also rated some."""
    parts = evalset.difference(dimension) or (dimension,)
    pairs = [pair for pair in _human_comparisons(evalset) if pair.dimension in parts]
    if not pairs:
        return False
    if len(parts) > 1:
        raise InputError(f"{quoted(dimension)}: people compared outputs: name one dimension")
    compared_outputs = {
        (name, pair.segment) for pair in pairs for name in (pair.system, pair.other)
    }
    scored_outputs = zip(*np.nonzero(~np.isnan(evalset.human(dimension))), strict=True)
    names = [*evalset.systems]
    if any((names[k], evalset.segments[i]) not in compared_outputs for k, i in scored_outputs):
        problem = f"{quoted(dimension)} has ratings and comparisons of people"
        raise InputError(f"{evalset.name}: {problem}: give each a dimension of its own")
    return True


def _human_comparisons(evalset: EvalSet) -> Iterator[JudgedPair]:
    models = {*evalset.model_judges}
    return (pair for pair in evalset.pairs if pair.judge not in models)


def pair_labels(evalset: EvalSet, dimension: str, segments: Flags) -> Labels:
    """Return the human labels of all pairs on some segments: means, or adjudicated values."""
    kinds = evalset.judgements.judge_kinds
    system = {name: k for k, name in enumerate(evalset.systems)}
    index_of = {name: i for i, name in enumerate(evalset.segments) if segments[i]}
    values_by_pair: dict[tuple[int, int], dict[int, tuple[list[float], list[float]]]] = {
        pair: {} for pair in permutations(range(len(system)), 2)
    }
    representative_of = evalset.representatives(dimension)
    judge_of: dict[tuple[str, str, frozenset[str]], str] = {}
    for pair in _human_comparisons(evalset):
        if pair.dimension != dimension:
            continue
        representative = representative_of.get(pair.judge, pair.judge)
        key = representative, pair.segment, frozenset((pair.system, pair.other))
        counts = judge_of.setdefault(key, pair.judge) == pair.judge  # identical judges count once
        if counts and pair.segment in index_of:
            final = kinds.get(pair.judge) == ADJUDICATED
            for ordered in (pair, pair.turned):
                by_segment = values_by_pair[system[ordered.system], system[ordered.other]]
                by_segment.setdefault(index_of[pair.segment], ([], []))[final].append(ordered.value)
    labels = {}
    for pair_indices, by_segment in values_by_pair.items():
        labelled = sorted(by_segment)
        shares = [fmean(by_segment[i][1] or by_segment[i][0]) for i in labelled]
        labels[pair_indices] = PairLabels(np.array(labelled, np.int64), np.array(shares, float))
    return labels


def make_pair_sample(
    evalset: EvalSet,
    dimension: str,
    judges: Sequence[JudgeValues],
    unit: str,
    draws: Sequence[Draw] | None,
    covariates: Sequence[JudgeValues] = (),
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
    columns = [*judges, *covariates]
    shape = len(columns), len(evalset.systems), len(evalset)
    values, design = np.zeros(shape), replace(design, sizes=sizes)
    for k, column in enumerate(columns):
        values[k] = column.values
    inputs = PairInputs(labels, values, grouping, design, complete)
    system_values = (_unit_values(inputs, k) for k in range(len(evalset.systems)))
    y, x, x_all, partly, at_ends, counts = (
        np.stack(part) for part in zip(*system_values, strict=True)
    )
    rounds = np.unique(design.round[~np.isnan(y).all(axis=0)])
    if len(rounds) > 1 and partly.any():
        raise InputError(
            f"{evalset.name}: segments were drawn in {len(rounds)} rounds, and some pairs of them "
            "were not compared: compare all pairs of drawn segments"
        )
    notes = [
        "Scores are shares of comparisons won, ties as half, against each of the other systems "
        f"alike. All pairs of a {grouping.word} count as one observation."
    ]
    if not complete.all():
        left_out = int((~complete).sum())
        notes.append(f"{left_out:,} segments are left out: not every system has an output there.")
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
            *notes,
        ),
        draws=tuple(draws or ()),
        partly=partly,
        at_ends=at_ends,
        ratings=UnitRatings((), "people compared outputs, and only ratings can be crossed"),
        covariates=tuple(column.name for column in covariates),
    )


def _check_compared(evalset: EvalSet, labels: Labels, grouping: UnitGrouping) -> None:
    """Raise if two systems were compared on too few units."""
    names = [*evalset.systems]
    for (a, b), comparisons in labels.items():
        units = len(np.unique(grouping.of_segment[comparisons.segments]))
        if units < MIN_COMPARED_UNITS:
            raise InputError(
                f"{evalset.name}: people compared {quoted(names[a])} and {quoted(names[b])} on "
                f"{units} {grouping.word}s: compare them on at least {MIN_COMPARED_UNITS}, or "
                "leave one out with --exclude"
            )


class PairInputs(NamedTuple):
    """Labels of pairs, judges' values of outputs, units, and how they were drawn."""

    labels: Labels
    judges: Floats  # judges x systems x segments
    grouping: UnitGrouping
    design: Design
    complete: Flags  # the segments for which every system has an output


class _UnitValues(NamedTuple):
    """The values of a system's units, named as the fields of `Sample`."""

    y: Floats
    x: Floats
    all_values: Floats
    partly: Flags
    at_ends: Floats  # shares of units in which it lost, or won, all comparisons
    labels: int


def _unit_values(inputs: PairInputs, system: int) -> _UnitValues:
    """Return a system's values; a judge's value of a pair is the difference of its two values."""
    grouping, sizes = inputs.grouping, inputs.design.sizes
    rivals = [other for other in range(inputs.judges.shape[1]) if other != system]
    labels = [inputs.labels[system, other] for other in rivals]
    differences = [inputs.judges[:, system] - inputs.judges[:, other] for other in rivals]
    judged = np.stack([_sum_by_unit(grouping, pair.segments) for pair in labels])
    sums = []  # opponents x units x columns: sums of people's shares, and of judges' differences
    for pair, apart in zip(labels, differences, strict=True):
        columns = pair.shares, *(column[pair.segments] for column in apart)
        sums.append(np.stack([_sum_by_unit(grouping, pair.segments, c) for c in columns], axis=1))
    pair_sums = np.stack(sums)
    units = np.flatnonzero(judged.any(axis=0))
    probability = inputs.design.probabilities(units, int((sizes > 0).sum()))
    values = np.zeros((len(sizes), pair_sums.shape[2]))
    values[units] = unit_values(judged[:, units], pair_sums[:, units], sizes[units], probability)
    y = np.full(len(sizes), np.nan)
    y[units] = values[units, 0]
    all_values = np.zeros((len(sizes), len(inputs.judges)))
    complete = np.flatnonzero(inputs.complete)
    for k, column in enumerate(np.stack(differences).mean(axis=0)):
        all_values[:, k] = _sum_by_unit(grouping, complete, column[complete]) / np.maximum(sizes, 1)
    n_judged = judged.sum(axis=0)
    won = pair_sums[:, units, 0].sum(axis=0) / n_judged[units]
    return _UnitValues(
        y,
        values[:, 1:],
        all_values,
        (n_judged > 0) & (n_judged < sizes * len(rivals)),
        np.array([float((won == end).mean()) for end in (0, 1)]),
        sum(len(pair.segments) for pair in labels),
    )


def _sum_by_unit(grouping: UnitGrouping, segments: Ints, values: Floats | None = None) -> Floats:
    """Return sums of segments' values, or numbers of segments, by unit."""
    sums = np.bincount(grouping.of_segment[segments], values, len(grouping.names))
    return sums.astype(np.float64)


LARGEST = 1e9  # larger labels are rejected: sums of squares and products would not be exact


def make_sample(
    evalset: EvalSet,
    dimension: str,
    judges: Sequence[JudgeValues],
    unit: str = "auto",
    draws: Sequence[Draw] | None = None,
    normalise: str = "none",
    covariates: Sequence[JudgeValues] = (),
) -> Sample:
    """Return the sample of an evaluation set in one dimension."""
    set_draws = check_draws(evalset, draws)
    if has_human_comparisons(evalset, dimension):
        if normalise != "none":
            problem = f"people compared outputs under {quoted(dimension)}"
            raise InputError(f"normalise={normalise}: {problem}, and only ratings are scaled")
        return make_pair_sample(evalset, dimension, judges, unit, set_draws, covariates)
    human = evalset.human(dimension, normalise)
    grouping, unit_notes = group_units(evalset, ~np.isnan(human), unit, set_draws)
    human, design, draw_notes = apply_draws(evalset.name, human, grouping, set_draws)
    columns = [*judges, *covariates]
    values = np.zeros((*human.shape, len(columns)))
    for k, column in enumerate(columns):
        values[:, :, k] = column.values
    present = outputs_present(evalset)
    has_label = ~np.isnan(human) & present
    y = _means(np.where(has_label, human, 0.0)[:, :, None], has_label, grouping)[:, :, 0]
    labelled, outputs = count_by_unit(has_label, grouping), count_by_unit(present, grouping)
    partly = (labelled > 0) & (labelled < outputs)
    scale, rated = LabelScale(), evalset.dimensions.get(dimension)
    if rated and normalise == "none":
        scale = LabelScale(rated.low, rated.high, rated.sign)
    low, high = scale.turned  # the ends of the scale bound the estimate
    low, high = -LARGEST if low is None else low, LARGEST if high is None else high
    off = human[has_label & ((human < low) | (human > high))]
    if len(off):
        ends = sorted((scale.sign * low, scale.sign * high))
        raise InputError(
            f"{evalset.name}: a label of {quoted(dimension)} is {scale.sign * float(off[0]):g}, "
            f"expected {ends[0]:g} to {ends[1]:g}: correct the label, or the scale of the dimension"
        )
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
        ratings=unit_ratings(evalset, dimension, normalise, has_label, grouping.of_segment),
        covariates=tuple(column.name for column in covariates),
    )


def _means(values: Floats, is_counted: Flags, grouping: UnitGrouping) -> Floats:
    """Return systems x units x columns: means over the counted outputs; 0 without any."""
    count = np.maximum(count_by_unit(is_counted, grouping), 1)[:, :, None]
    systems, _, columns = values.shape
    sums = np.zeros((systems, len(grouping.names), columns))
    for k in range(systems):
        for j in range(columns):
            column_values = np.where(is_counted[k], values[k, :, j], 0.0)
            sums[k, :, j] = np.bincount(grouping.of_segment, column_values, len(grouping.names))
    means: Floats = sums / count
    return means
