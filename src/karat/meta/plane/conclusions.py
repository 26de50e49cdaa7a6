"""Conclusions from a plane: its pick, its maximum, the paper's prediction, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from karat.meta.plane.cells import BLEU_CELL
from karat.meta.plane.predictions import Region
from karat.stats.significance.verdicts import UNDECIDED

if TYPE_CHECKING:
    from karat.meta.plane.fit import PlaneFit
    from karat.meta.plane.study import Halves, PlaneStudy, Verdict

ENOUGH_SYSTEMS = 6
"""Below this, leaving systems out and resampling them says little."""

Worth: TypeAlias = Literal["pick", "bleu", "same", "neither"]

POINTS_UNSIGNED = (
    "A minus sign in a plane marks a negative correlation; points and intervals are of R^2 itself, "
    "which has no sign."
)


def study_notes(study: PlaneStudy) -> Iterator[str]:
    """Yield sentences on all planes of a set, their picks and the paper's prediction."""
    fits = [fit for fit in study.fits if not fit.group]
    for fit in fits:
        yield from plane_notes(fit)
    if any((fit.r < 0).any() for fit in fits):
        yield POINTS_UNSIGNED
    for fit, verdict in zip(study.fits, study.verdicts, strict=False):
        if not fit.group:
            yield _held(fit, study.region, verdict)
    for fit, halves in zip(study.fits, study.halves, strict=False):
        if not fit.group:
            yield _split(fit, halves)
    yield from _beside(study)
    yield from study.remarks
    fewest = min(len(fit.systems) for fit in fits)
    if fewest < ENOUGH_SYSTEMS:
        systems = "1 system is" if fewest == 1 else f"{fewest} systems are"
        yield (
            f"{systems} too few to tell cells apart: intervals over systems, left-out "
            f"shares, picks and halves mean little below {ENOUGH_SYSTEMS}."
        )
    yield from study.evalset.notes


def _beside(study: PlaneStudy) -> Iterator[str]:
    """Yield how other metrics and groups of segments are to be read."""
    if study.beside:
        chosen = ", ".join(map(str, study.asked_references))
        yield "Other metrics are resampled as the cells are, with the same draws." + (
            f" The cells use reference {chosen}." if chosen else ""
        )
    if study.by:
        yield (
            f"Groups of segments ({study.by}) have planes of their own; the fewer segments a group "
            "has, the less its human and metric scores are worth."
        )


def plane_notes(fit: PlaneFit) -> tuple[str, ...]:
    """Return what a reader should take from one plane."""
    bleu = fit.row(BLEU_CELL).q2
    over = "systems and segments" if fit.over == "both" else fit.over
    drawn = f"{fit.resamples:,} bootstrap resamples of {over}, seed {fit.seed}"
    return (
        f"{fit.dimension}: {len(fit.systems)} systems, {fit.segments:,} segments, "
        f"{fit.judgements:,} judged outputs. {_picked(fit)}",
        f"{fit.dimension}: predicting each system from the best cell of the others explains "
        f"{_percent(fit.picking)} of the variance, BLEU's point {_percent(bleu)}, "
        f"{_WORTH[worth(fit)]}." + (f" Intervals: {drawn}." if fit.resamples else ""),
    )


def worth(fit: PlaneFit) -> Worth:
    """Return which predicts left-out systems better, picking a cell or BLEU's point.

    At a share of 0 a prediction is as good as the mean of the other systems.
    """
    picking, bleu = fit.picking, fit.row(BLEU_CELL).q2
    if not (picking > 0 or bleu > 0):  # a NaN is neither
        return "neither"
    if picking > bleu or not bleu > 0:
        return "pick"
    return "same" if picking == bleu else "bleu"


_WORTH: dict[Worth, str] = {
    "neither": "so neither predicts a system better than the mean of the others does",
    "pick": "so picking pays here, as far as these systems tell",
    "same": "so picking makes no difference here",
    "bleu": "so picking does not pay here: stay with BLEU's point or the paper's prediction",
}


def _picked(fit: PlaneFit) -> str:
    if fit.maximum is None:
        return "No cell can be picked: none has a correlation above 0."
    return (
        f"The cross-validated pick is {fit.pick}. The largest of 44 R^2 is over-fitted: permuted "
        f"human scores reach it with p = {fit.p:.3f} ({fit.permutations:,} permutations)."
    )


def _percent(share: float) -> str:
    return "undefined" if math.isnan(share) else f"{100 * share:.1f}%"


def _held(fit: PlaneFit, region: Region | None, found: Verdict) -> str:
    means = f"Mean R^2 there {_percent(found.inside)}, elsewhere {_percent(found.outside)}"
    if math.isnan(found.low):
        return (
            f"{fit.dimension}: the paper predicts {region}. {means}; without resamples nothing can "
            "be said of the difference."
        )
    verb = "is undecided" if found.words == UNDECIDED else found.words
    return (
        f"{fit.dimension}: the paper predicts {region}. {means}, difference between "
        f"{100 * found.low:.1f} and {100 * found.high:.1f} points: the prediction {verb}."
    )


def _split(fit: PlaneFit, found: Halves) -> str:
    if not found.splits:
        return (
            f"{fit.dimension}: systems are too few, or too much alike, to try a pick on the other "
            "half of them."
        )
    return (
        f"{fit.dimension}: picked on half of systems and segments and tried on the other half "
        f"({found.splits:,} times), the pick loses to BLEU's point in {100 * found.loses:.0f}%, "
        f"ties in {100 * found.ties:.0f}%; mean R^2 {100 * found.kept:.1f}% against "
        f"{100 * found.bleu:.1f}%."
    )
