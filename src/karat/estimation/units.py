"""Units: what was drawn for labelling, how it was drawn, and which labels count.

The unit is what was drawn: a segment, or a group (a document or question) with all its segments.
Labels of one document are not independent, so that taking its segments for units would promise too
much. Where nothing tells how labels were drawn, groups are the units if they were labelled as
wholes, or if fewer groups have labels than segments drawn one by one would touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from karat.arithmetic import power
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, quoted
from karat.evalset.draws import GROUP, SEGMENT, Draw, checked_draws
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.stats.population import Design

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
