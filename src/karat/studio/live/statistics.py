"""Agreement of assessors and estimates of systems' scores, as they are now."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from karat.errors import InputError
from karat.evalset.draft import EvalSetDraft
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.studio.export.contents import Contents
from karat.studio.export.sets import NUGGETS, evalset_of, nuggets_of
from karat.studio.export.values import WIN, dimensions_of, preferences
from karat.studio.live.state import ASKED, remembered
from karat.studio.store.events import record
from karat.studio.store.projects import REVEALED
from karat.studio.store.store import Store

if TYPE_CHECKING:
    from karat.estimation.estimate_results import Estimate
    from karat.meta.judge_agreement import JudgeAgreement


def judged_set(store: Store) -> EvalSet:
    """Return ratings, penalties, scores and win shares under pseudonyms."""
    return remembered(store, "set", evalset_of)


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


@dataclass(frozen=True)
class LiveEstimate:
    """The estimate of a dimension; without one, the reason."""

    dimension: str
    estimate: Estimate | None
    """Scores with intervals; `more` of a row is how many further labels halve the width."""
    why: str = ""


def ask_estimates(store: Store, owner: int) -> None:
    """Record that an owner wants estimates before the reveal; once is enough."""
    with store.write() as connection:
        _check_owner(connection, owner)
        if not _has_asked(connection, owner):
            record(connection, ASKED, owner)


def has_asked(store: Store, owner: int) -> bool:
    """Return whether an owner has asked for estimates."""
    with store.read() as connection:
        return _has_asked(connection, owner)


def live_estimates(store: Store, owner: int) -> list[LiveEstimate]:
    """Return the estimate of each dimension, after the reveal or if the owner has asked."""
    check_told(store, owner)
    return estimates(store)


def check_told(store: Store, owner: int) -> None:
    """Refuse estimates before the reveal to an owner who has not asked for them."""
    with store.read() as connection:
        _check_owner(connection, owner)
        (state,) = connection.execute("SELECT state FROM project").fetchone()
        if state != REVEALED and not _has_asked(connection, owner):
            told = "reveal the systems, or ask for estimates, which is recorded"
            raise InputError(f"estimates would tell which systems lead: {told}")


def estimates(store: Store) -> list[LiveEstimate]:
    """Return the estimate of each dimension: for owners who may see them."""
    return remembered(store, "estimates", partial(_estimates, store))


def _check_owner(connection: sqlite3.Connection, id: int) -> None:
    row = connection.execute(
        "SELECT 1 FROM assessor WHERE id = ? AND role = 'owner' AND active", (id,)
    ).fetchone()
    if row is None:
        raise InputError("estimates are for the owner of the project alone")


def _has_asked(connection: sqlite3.Connection, owner: int) -> bool:
    asked = "SELECT 1 FROM event WHERE what = ? AND assessor = ?"
    return connection.execute(asked, (ASKED, owner)).fetchone() is not None


def _estimates(store: Store, contents: Contents) -> list[LiveEstimate]:
    from karat.estimation.estimates import estimate  # the studio starts without it

    settings, found = contents.project.settings, []
    if dimensions := dimensions_of(settings):
        evalset = judged_set(store)
        found = [_tried(one.name, partial(estimate, evalset, one.name)) for one in dimensions]
    if NUGGETS in settings.tasks:
        found.append(_tried(NUGGETS, partial(estimate, nuggets_of(contents))))
    return found


def _tried(dimension: str, make: partial[Estimate]) -> LiveEstimate:
    """Return an estimate, or why there is none yet."""
    try:
        return LiveEstimate(dimension, make())
    except InputError as error:
        return LiveEstimate(dimension, None, str(error))
