"""The answers of planes: which AEv(alpha, N) to use, and whether the systems suffice to say so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from karat.meta.plane import BLEU_CELL, PlaneFit, worth
from karat.meta.plane_study import (
    MIN_PLANE_SYSTEMS,
    TASKS,
    PlaneStudy,
    Recommendation,
    Verdict,
)
from karat.report.model.cells import several
from karat.report.model.phrases import listing, span
from karat.stats.significance import UNDECIDED

MOST_TOLD = 4
"""Dimensions that have sentences of their own."""
_WORDS = {"holds": "holds", "fails": "fails", UNDECIDED: "is undecided"}


def study_answer(study: PlaneStudy) -> tuple[str, ...]:
    """Return the warning if systems are few, what each dimension shows, and the prediction."""
    fits = [fit for fit in study.fits if not fit.group]
    held = [one for fit, one in zip(study.fits, study.verdicts, strict=False) if not fit.group]
    by_chance = [fit for fit in fits if _kind(fit) == "chance"]
    told = list(_few(fits))
    if len(by_chance) > 1:
        told.append(_chance(by_chance))
    left = [fit for fit in fits if len(by_chance) < 2 or fit not in by_chance]
    told += [sentence for fit in left[:MOST_TOLD] for sentence in _cell(fit)]
    return (*told, *_predictions(fits, held, study))


def _chance(fits: Sequence[PlaneFit]) -> str:
    names, p = listing([fit.dimension for fit in fits]), min(fit.p for fit in fits)
    return f"No cell agrees significantly better than chance for {names}: p is {p:.3f} or more."


def plane_answer(fit: PlaneFit) -> tuple[str, ...]:
    """Return the warning if systems are few, and what to use."""
    return (*_few([fit]), *_cell(fit))


def plane_basis(fits: Sequence[PlaneFit]) -> str:
    """Return what the answer rests on."""
    fit = fits[0]
    counts = several(len(fit.systems), "system"), several(fit.segments, "segment")
    told = f"{', '.join(counts)}, {several(fit.judgements, 'judged output')}."
    told += " R^2: squared Pearson's r between system scores and mean human scores."
    return f"{told} p: permutation test of the largest of 44 R^2."


def _few(fits: Sequence[PlaneFit]) -> Iterator[str]:
    fewest = min(len(fit.systems) for fit in fits)
    if fewest < MIN_PLANE_SYSTEMS:
        verb = "is" if fewest == 1 else "are"
        yield f"{several(fewest, 'system')} {verb} too few to tell cells of the plane apart."


def _kind(fit: PlaneFit) -> str:
    """Return one of none, few, chance, found: what can be said of the largest R^2."""
    if fit.maximum is None:
        return "none"
    if len(fit.systems) < MIN_PLANE_SYSTEMS:
        return "few"
    return "found" if fit.significant else "chance"


def _cell(fit: PlaneFit) -> Iterator[str]:
    """Yield the cell to use, or why none can be chosen."""
    kind = _kind(fit)
    if fit.maximum is None:
        yield f"No cell has a positive correlation with {fit.dimension}."
    elif kind == "found":
        yield _advice(fit)
    else:
        row = fit.row(fit.maximum)
        ends = f" {span(100 * row.low, 100 * row.high, 0)}" if row.low == row.low else ""
        largest = f"the largest R^2 is {100 * row.r2:.0f}%{ends} at {fit.maximum}, p = {fit.p:.3f}"
        chance = "no cell agrees significantly better than chance: " if kind == "chance" else ""
        yield f"For {fit.dimension}, {chance}{largest}."


def _advice(fit: PlaneFit) -> str:
    """Return how the cross-validated pick does, where the maximum is significant."""
    picking, bleu = (_share(x) for x in (fit.picking, fit.row(BLEU_CELL).q2))
    shares = f"{picking} of the variance of left-out systems, BLEU's point {bleu}"
    found = worth(fit)
    if found == "pick":
        told = f"For {fit.dimension}, the cross-validated pick is {fit.pick}"
        return f"{told}: picking a cell explains {shares}."
    if found == "neither":
        told = f"For {fit.dimension}, neither a picked cell nor BLEU's point predicts left-out"
        return f"{told} systems better than the mean of the others does."
    return f"For {fit.dimension}, picking a cell does not pay: it explains {shares}."


def _predictions(
    fits: Sequence[PlaneFit], held: Sequence[Verdict], study: PlaneStudy
) -> Iterator[str]:
    """Yield what became of the paper's prediction, if one was asked for and can be tested."""
    known = [(fit, one) for fit, one in zip(fits, held, strict=False) if one.low == one.low]
    if len(known) == 1:
        fit, found = known[0]
        means = f"mean R^2 {_share(found.inside)} there and {_share(found.outside)} elsewhere"
        ends = span(100 * found.low, 100 * found.high, 1)
        told = f"The paper's prediction for {fit.dimension}, {study.region},"
        yield f"{told} {_WORDS[found.words]}: {means}, difference {ends} points."
        return
    said = []
    for words, verb in _WORDS.items():
        names = [fit.dimension for fit, one in known if one.words == words]
        said += [f"{verb} for {listing(names)}"] if names else []
    if said:
        yield f"The paper's prediction, {study.region}, {listing(said)}."


def _share(share: float) -> str:
    return "an undefined share" if math.isnan(share) else f"{100 * share:.1f}%"


def recommendation_answer(found: Recommendation) -> tuple[str, ...]:
    """Return the metric that the paper recommends, and a warning."""
    use = f"Use {listing(list(dict.fromkeys(row.metric for row in found.rows)))}"
    task = TASKS[found.task][2].split(":")[0]
    if not found.tables:
        told = f"{use} for {task} with the guideline {found.guideline}: the paper predicts it"
        return (f"{told}, but measured no such task.",)
    best = [
        f"R^2 {table.best[2]}% in the paper's Table {table.number} ({table.what})"
        for table in found.tables
    ]
    told = f"{use} for {task} with the guideline {found.guideline}: {listing(best)}"
    return (f"{told}.", "The paper has few systems and no intervals: check it on your own data.")
