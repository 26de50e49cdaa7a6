"""The sample of an evaluation set: its units, their labels, and how they were drawn."""

from __future__ import annotations

from collections.abc import Sequence

from karat.arrays import Flags, Floats, np
from karat.errors import InputError, quoted
from karat.estimation.judge_values import JudgeValues
from karat.estimation.pair_samples import are_compared, sample_of_pairs
from karat.estimation.samples import Sample, Scale
from karat.estimation.units import Grouping, counts_of, designed, draws_of_set, grouping_of
from karat.evalset.draws import Draw
from karat.evalset.sets import EvalSet
from karat.meta.scores import outputs_present

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
