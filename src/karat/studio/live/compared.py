"""Comparisons as a set of pairs, on which assessors agree or not."""

from __future__ import annotations

from dataclasses import replace

from karat.evalset.draft import EvalSetDraft
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.studio.export.contents import Contents
from karat.studio.export.preferences import preferences
from karat.studio.export.values import WIN

PAIRS = "pairs"


def pairs_of(contents: Contents) -> EvalSet:
    """Return a set in which each pair is a segment, and its value the share of the first output."""
    found = preferences(contents)
    units = {(one.first, one.second): f"{one.first}-{one.second}" for one in found}
    name = contents.project.name
    draft = EvalSetDraft(
        name,
        list(units.values()),
        {PAIRS: list(units.values())},
        reading=Reading(),
        where=name,
        dimensions=[WIN],
    )
    for one in found:
        draft.judge(PAIRS, units[one.first, one.second], one.judge, WIN.name, one.share)
    return draft.finish()


def without_pairs(contents: Contents) -> Contents:
    """Return all but comparisons."""
    tasks = {name: own for name, own in contents.project.settings.tasks.items() if name != PAIRS}
    settings = replace(contents.project.settings, tasks=tasks)
    return replace(
        contents,
        project=contents.project._replace(settings=settings),
        answers=tuple(one for one in contents.answers if one.task != PAIRS),
        decisions=tuple(one for one in contents.decisions if one.task != PAIRS),
    )
