"""Agreement of assessors as it is now."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from karat.evalset.sets import EvalSet
from karat.studio.export.contents import Contents
from karat.studio.export.sets import NUGGETS, evalset_of, nuggets_of
from karat.studio.live.compared import PAIRS, pairs_of, without_pairs
from karat.studio.live.judged_set import judged_set
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
    return remembered(store, "agreement", partial(_agreement, store))


def _agreement(store: Store, contents: Contents) -> LiveAgreement:
    from karat.meta.judge_agreement import judge_agreement  # the studio starts without it

    tasks = {one.task for one in contents.answers}
    return LiveAgreement(
        judge_agreement(_rated(store, contents)) if tasks - {NUGGETS, PAIRS} else None,
        judge_agreement(pairs_of(contents)) if PAIRS in tasks else None,
        judge_agreement(nuggets_of(contents)) if NUGGETS in tasks else None,
    )


def _rated(store: Store, contents: Contents) -> EvalSet:
    """Return ratings and penalties: win shares would differ by the pairs that each saw."""
    compared = PAIRS in contents.project.settings.tasks
    return evalset_of(without_pairs(contents)) if compared else judged_set(store)
