"""Agreement of assessors as it is now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from karat.studio.export.contents import Contents
from karat.studio.export.sets import NUGGETS, evalset_of, nuggets_of
from karat.studio.export.values import dimensions_of
from karat.studio.live.state import remembered
from karat.studio.store.store import Store

if TYPE_CHECKING:
    from karat.meta.judge_agreement import JudgeAgreement


@dataclass(frozen=True)
class LiveAgreement:
    """Agreement in ratings, penalties and pairs, and in nuggets; None where nobody judged."""

    ratings: JudgeAgreement | None
    nuggets: JudgeAgreement | None
    """With Cohen's kappa by judge and pair."""


def live_agreement(store: Store) -> LiveAgreement:
    """Return alpha, each judge against the others, and identical judges, under pseudonyms."""
    return remembered(store, "agreement", _agreement)


def _agreement(contents: Contents) -> LiveAgreement:
    from karat.meta.judge_agreement import judge_agreement  # the studio starts without it

    ratings = nuggets = None
    judged = _judged(contents)
    if dimensions_of(contents.project.settings) and any(
        one.task != NUGGETS for one in judged.answers
    ):
        ratings = judge_agreement(evalset_of(judged))
    if any(one.task == NUGGETS for one in judged.answers):
        nuggets = judge_agreement(nuggets_of(judged))
    return LiveAgreement(ratings, nuggets)


def _judged(contents: Contents) -> Contents:
    """Return the items that somebody judged: the others do not matter for agreement."""
    seen = {one.item for one in contents.answers} | {one.item for one in contents.decisions}
    return replace(
        contents,
        items={id: one for id, one in contents.items.items() if id in seen},
        outputs={id: one for id, one in contents.outputs.items() if one.item in seen},
        draws=(),
    )
