"""A project at a glance: how much is judged, how well people agree, what is still needed."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from karat.studio.live.agreement import LiveAgreement
from karat.studio.live.coverage import Coverage
from karat.studio.live.estimates import LiveEstimate
from karat.studio.store.projects import OPEN, REVEALED

if TYPE_CHECKING:
    from karat.meta.judge_agreement import JudgeAgreement

MOST_TOLD = 3
"""Dimensions that are named one by one."""


def glance(found: Coverage, agreement: LiveAgreement, state: str) -> list[str]:
    """Return the answer of the owner's page, in sentences."""
    return [_judged(found), _agreed(agreement), _needed(found, state)]


def _judged(found: Coverage) -> str:
    share = f"{found.judged / found.units:.0%}" if found.units else "0%"
    units = f"unit{'s' * (found.units != 1)} {'is' if found.judged == 1 else 'are'} judged"
    told = f"{found.judged:,} of {found.units:,} {units} ({share})"
    if found.overlap == 1:
        return f"{told}."
    return f"{told}, {found.complete:,} of them by {found.overlap} assessors as planned."


def _agreed(agreement: LiveAgreement) -> str:
    rows = [row for one in agreement.each for row in one.rows]
    known = [row for row in rows if not isnan(row.ordinal)]
    if not known:
        return (
            "Agreement is not known yet: it takes two or more outputs that several assessors "
            "judged, and judgements that are not all equal."
        )
    told = ", ".join(f"{row.ordinal:.2f} in {row.dimension}" for row in known)
    if len(known) > MOST_TOLD:
        low, high = (pick(known, key=lambda row: row.ordinal) for pick in (min, max))
        told = f"from {low.ordinal:.2f} ({low.dimension}) to {high.ordinal:.2f} ({high.dimension})"
    return f"Krippendorff's ordinal alpha is {told}; 1 is perfect, 0 is chance."


def _needed(found: Coverage, state: str) -> str:
    parts = []
    if found.needed and state == OPEN:
        parts.append(f"{found.needed:,} judgement{'s' * (found.needed != 1)}")
    if found.disputes and state != REVEALED:
        parts.append(f"decisions on {found.disputes:,} dispute{'s' * (found.disputes != 1)}")
    told = "" if state == OPEN else f"The project is {state}. "
    if not parts:
        return told.strip() or "Nothing is needed any more."
    return f"{told}Still needed: {' and '.join(parts)}."


def warnings(agreement: JudgeAgreement) -> list[str]:
    """Return sentences on assessors who stand apart or answered exactly alike."""
    told = []
    for row in agreement.judges:
        if row.identical:
            told.append(f"{row.judge} and {row.identical} gave the same answers ({row.dimension}).")
        elif row.flagged:
            told.append(f"{row.judge} disagrees with the others in {row.dimension}.")
    return list(dict.fromkeys(told))


def left_out(estimates: Sequence[LiveEstimate]) -> list[str]:
    """Return what a table of estimates would hide: systems with few labels."""
    return [
        f"{one.dimension}: {note}"
        for one in estimates
        if one.estimate
        for note in one.estimate.notes
        if note.startswith("Left out")
    ]


def labels_needed(estimates: Sequence[LiveEstimate]) -> list[str]:
    """Return how many further labels halve the intervals of each dimension."""
    told = []
    for one in estimates:
        more = [row.more for row in one.estimate.rows if row.more] if one.estimate else []
        if more:
            told.append(
                f"{one.dimension}: to halve the widest interval, label {max(more):,} more "
                f"unit{'s' * (max(more) != 1)} of each system."
            )
    return told
