"""Agreement of assessors as it is now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from karat.studio.export.contents import Contents
from karat.studio.export.sets import NUGGETS, evalset_of, nuggets_of
from karat.studio.live.compared import PAIRS, pairs_of, without_pairs
from karat.studio.live.state import remembered
from karat.studio.store.store import Store

if TYPE_CHECKING:
    from karat.meta.judge_agreement import JudgeAgreement


@dataclass(frozen=True)
class LiveAgreement:
    """Agreement in ratings and penalties, in pairs, and in nuggets; None where nobody judged."""

    ratings: JudgeAgreement | None
    pairs: JudgeAgreement | None
    """On pairs that several compared: shares of wins would differ by the pairs that each saw."""
    nuggets: JudgeAgreement | None
    """With Cohen's kappa by judge and pair."""

    @property
    def each(self) -> list[JudgeAgreement]:
        """Those that there are."""
        return [one for one in (self.ratings, self.pairs, self.nuggets) if one]


def live_agreement(store: Store) -> LiveAgreement:
    """Return alpha, each judge against the others, and identical judges, under pseudonyms."""
    return remembered(store, "agreement", _agreement)


def _agreement(contents: Contents) -> LiveAgreement:
    from karat.meta.judge_agreement import judge_agreement  # the studio starts without it

    judged = _judged(contents)
    tasks = {one.task for one in judged.answers}
    return LiveAgreement(
        judge_agreement(evalset_of(without_pairs(judged))) if tasks - {NUGGETS, PAIRS} else None,
        judge_agreement(pairs_of(judged)) if PAIRS in tasks else None,
        judge_agreement(nuggets_of(judged)) if NUGGETS in tasks else None,
    )


def _judged(contents: Contents) -> Contents:
    """Return the items that somebody judged: the others do not matter for agreement."""
    seen = {one.item for one in contents.answers} | {one.item for one in contents.decisions}
    return replace(
        contents,
        items={id: one for id, one in contents.items.items() if id in seen},
        outputs={id: one for id, one in contents.outputs.items() if one.item in seen},
        draws=(),
    )
