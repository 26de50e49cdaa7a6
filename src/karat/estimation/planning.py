"""Plans: the units to label next, drawn with known probabilities.

Half of the probability is the same for all units, so that every unit can be drawn. The other half
is proportional to the expected error of a unit's prediction: the root mean square of residuals
among labelled units with predictions of similar size (four classes). Units are drawn by systematic
sampling in random order (Madow 1949): n units, each with its probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.errors import InputError
from karat.estimation.samples import Sample
from karat.evalset.draws import GROUP, SEGMENT, Draw
from karat.evalset.loading import SetSource, as_evalset
from karat.progress import Progress, silent
from karat.results import Column, Result, number
from karat.settings import SEED, check_seed
from karat.stats.population import Prediction

RANDOM = "random"


@dataclass(frozen=True, repr=False)
class DrawnUnits(Result):
    """Units that were drawn, in the order of the set; `rows` are written to `draws.tsv`."""

    name: str
    rows: tuple[Draw, ...]
    notes: tuple[str, ...]
    settings: Mapping[str, object]
    signature: str = ""


def draw_units(
    evalset: SetSource,
    count: int,
    unit: str = SEGMENT,
    *,
    seed: int = SEED,
    progress: Progress = silent,
) -> DrawnUnits:
    """Draw units of a set for labelling, all with the same probability.

    Args:
        evalset: a set, its name or path, the path of a table, or a frame.
        count: number of units.
        unit: `segment`, or `group` for whole documents or questions.
        seed: seed of the random numbers.
        progress: function that is called with the progress.
    """
    check_seed(seed)
    loaded = as_evalset(evalset, progress)
    if unit not in (SEGMENT, GROUP):
        raise InputError(f"unit {unit!r}: expected segment or group")
    if unit == GROUP and loaded.groups is None:
        raise InputError(f"{loaded.name} has no groups of segments: draw segments")
    if loaded.draws:
        problem = "its segments were drawn before; karat estimate --next draws more"
        raise InputError(f"{loaded.name} has draws already: {problem}")
    names = tuple(dict.fromkeys(loaded.groups or ())) if unit == GROUP else loaded.segments
    if isinstance(count, bool) or not 1 <= count <= len(names):
        raise InputError(f"{count:,} {unit}s: expected 1 to {len(names):,}, as {loaded.name} has")
    indices = np.sort(np.random.default_rng(seed).permutation(len(names))[:count]).tolist()
    share = count / len(names)
    rows = tuple(Draw(names[at], share, RANDOM, 1, unit) for at in indices)
    note = f"{count:,} of {len(names):,} {unit}s, each with probability {share:.4g}; seed {seed}."
    notes = note, *loaded.remarks
    return DrawnUnits(loaded.name, rows, notes, {"count": count, "unit": unit, "seed": seed})


CLASSES = 4
EVEN = 0.5  # share of the probability that is the same for all units
USEFUL, ASSUMED = "useful", "assumed random"


class PlannedUnit(NamedTuple):
    """A unit to label next, the probability with which it was drawn, and the reason."""

    unit: str
    probability: float
    reason: str  # `useful` if it was likelier than others, else `random`


PLANNED_COLUMNS = (
    Column("unit", "Unit", help="The segment or group to label."),
    number("probability", "Probability", 4, "Probability with which it was drawn."),
    Column("reason", "Reason", help="Useful: likelier, as its prediction is less sure."),
)


def plan_units(
    sample: Sample, prediction: Prediction | None, count: int, seed: int
) -> tuple[PlannedUnit, ...]:
    """Draw units that are neither labelled nor drawn yet; useful ones are more likely."""
    check_seed(seed)
    drawn_units = {draw.unit for draw in sample.draws if draw.probability is not None}
    fresh = np.array([unit not in drawn_units for unit in sample.units])
    candidates = np.flatnonzero(
        ~sample.is_labelled.any(axis=0) & sample.present.any(axis=0) & fresh
    )
    if count > len(candidates):
        problem = f"{len(candidates):,} {sample.unit}s are neither labelled nor drawn yet"
        raise InputError(f"--next {count:,}: {problem}: ask for at most that many")
    use = _usefulness(sample, prediction)[candidates]
    probability = inclusion_probabilities(
        EVEN / len(candidates) + (1 - EVEN) * use / use.sum(), count
    )
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(candidates))
    chosen = order[draw_systematically(probability[order], float(rng.random()))]
    even = count / len(candidates)
    return tuple(
        PlannedUnit(
            sample.units[candidates[at]],
            float(probability[at]),
            USEFUL if probability[at] > even * (1 + 1e-9) else RANDOM,
        )
        for at in sorted(chosen.tolist())
    )


def inclusion_probabilities(share: Floats, count: int) -> Floats:
    """Return probabilities proportional to shares, at most 1, whose sum is the number of units.

    A probability that would exceed 1 is 1, and the others share the rest.
    """
    probabilities = np.zeros(len(share))
    certain = np.zeros(len(share), bool)
    while True:
        is_open, n_open = ~certain, count - int(certain.sum())
        probabilities[certain] = 1.0
        if is_open.any():
            probabilities[is_open] = n_open * share[is_open] / share[is_open].sum()
        above_one = is_open & (probabilities > 1)
        if not above_one.any():
            return np.minimum(probabilities, 1.0)
        certain |= above_one


def draw_systematically(probability: Floats, start: float) -> Ints:
    """Return the indices at which cumulative probabilities pass start, start + 1 and so on."""
    ends = np.cumsum(probability)
    ends[-1] = round(float(ends[-1]))
    ticks = start + np.arange(round(float(ends[-1])))
    return np.searchsorted(ends, ticks, side="right")


def _usefulness(sample: Sample, prediction: Prediction | None) -> Floats:
    """Return the expected error of each unit's prediction; the same for all without judges."""
    errors = np.ones(len(sample.units))
    if prediction is None:
        return errors
    predicted = np.where(sample.present, prediction.all_outputs, 0.0).sum(axis=0)
    level = predicted / np.maximum(sample.present.sum(axis=0), 1)
    has_label = sample.is_labelled
    gap = np.where(has_label, sample.y - prediction.units, 0.0)
    centre = gap.sum(axis=1, keepdims=True) / np.maximum(has_label.sum(axis=1, keepdims=True), 1)
    square = np.where(has_label, (gap - centre) * (gap - centre), 0.0)
    cuts = np.quantile(level, np.arange(1, CLASSES) / CLASSES)
    class_of = np.searchsorted(cuts, level, side="right")
    overall = square.sum() / max(int(has_label.sum()), 1)
    for class_index in range(CLASSES):
        in_class = has_label & (class_of == class_index)
        # Classes may have few labels, so each gets two more values of the overall size.
        total, n = square[in_class].sum() + 2 * overall, int(in_class.sum()) + 2
        errors[class_of == class_index] = total / n
    return np.sqrt(np.maximum(errors, 1e-300))


def plan_draws(sample: Sample, planned: tuple[PlannedUnit, ...]) -> tuple[Draw, ...]:
    """Return all draws so far and those of the plan, as a new round.

    Without a record, labelled units are assumed to have been drawn at random in one round.
    """
    unit_kind = SEGMENT if sample.unit == SEGMENT else GROUP
    labelled = np.flatnonzero(sample.is_labelled.any(axis=0)).tolist()
    assumed = len(labelled) / len(sample.units)
    earlier = sample.draws or [
        Draw(sample.units[u], assumed, ASSUMED, 1, unit_kind) for u in labelled
    ]
    number = max((draw.round for draw in earlier), default=0) + 1
    unit_kind = earlier[0].of if earlier else unit_kind
    return (
        *earlier,
        *(Draw(unit.unit, unit.probability, unit.reason, number, unit_kind) for unit in planned),
    )
