"""Agreement of assessors and estimates of systems' scores, as they are now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from karat.errors import InputError
from karat.evalset.draft import EvalSetDraft
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.studio.export.contents import Contents
from karat.studio.export.sets import make_evalset, make_nugget_set
from karat.studio.export.values import assessor_preferences
from karat.studio.live.state import ESTIMATES_EVENT, remember
from karat.studio.store.events import record
from karat.studio.store.projects import REVEALED
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, PAIRS
from karat.studio.tasks.pairs import WIN

if TYPE_CHECKING:
    from karat.estimation.estimate_results import Estimate
    from karat.meta.judge_agreement import JudgeAgreement


def get_evalset(store: Store) -> EvalSet:
    """Return ratings, penalties, scores and win shares under pseudonyms."""
    return remember(store, "set", make_evalset)


def make_pair_set(contents: Contents) -> EvalSet:
    """Return a set in which each pair is a segment, and its value the share of the first output."""
    preferences = assessor_preferences(contents)
    units = {(row.first, row.second): f"{row.first}-{row.second}" for row in preferences}
    name = contents.project.name
    draft = EvalSetDraft(
        name,
        list(units.values()),
        {PAIRS.name: list(units.values())},
        reading=Reading(),
        location=name,
        dimensions=[WIN],
    )
    for row in preferences:
        draft.judge(PAIRS.name, units[row.first, row.second], row.judge, WIN.name, row.share)
    return draft.finish()


def drop_pairs(contents: Contents) -> Contents:
    """Return all but comparisons."""
    tasks = {
        name: task_settings
        for name, task_settings in contents.project.settings.tasks.items()
        if name != PAIRS.name
    }
    settings = replace(contents.project.settings, tasks=tasks)
    return replace(
        contents,
        project=contents.project._replace(settings=settings),
        answers=tuple(row for row in contents.answers if row.task != PAIRS.name),
        decisions=tuple(row for row in contents.decisions if row.task != PAIRS.name),
    )


@dataclass(frozen=True)
class LiveAgreement:
    """Agreement in ratings and penalties, pairs and nuggets; None without judgements."""

    ratings: JudgeAgreement | None
    pairs: JudgeAgreement | None
    """On pairs that several compared: shares of wins would differ by the pairs that each saw."""
    nuggets: JudgeAgreement | None
    """With Cohen's kappa by judge and pair."""

    @property
    def results(self) -> list[JudgeAgreement]:
        """All results that are not None."""
        return [result for result in (self.ratings, self.pairs, self.nuggets) if result]


def get_agreement(store: Store) -> LiveAgreement:
    """Return alpha, each judge against the others, and identical judges, under pseudonyms."""
    return remember(store, "agreement", partial(_compute_agreement, store))


def _compute_agreement(store: Store, contents: Contents) -> LiveAgreement:
    from karat.meta.judge_agreement import judge_agreement  # the studio starts without it

    tasks = {answer.task for answer in contents.answers}
    return LiveAgreement(
        judge_agreement(_rated_set(store, contents))
        if tasks - {NUGGETS.name, PAIRS.name}
        else None,
        judge_agreement(make_pair_set(contents)) if PAIRS.name in tasks else None,
        judge_agreement(make_nugget_set(contents)) if NUGGETS.name in tasks else None,
    )


def _rated_set(store: Store, contents: Contents) -> EvalSet:
    """Return ratings and penalties: win shares would differ by the pairs that each saw."""
    compared = contents.project.settings.has(PAIRS)
    return make_evalset(drop_pairs(contents)) if compared else get_evalset(store)


@dataclass(frozen=True)
class LiveEstimate:
    """The estimate of a dimension; without one, the reason."""

    dimension: str
    estimate: Estimate | None
    """Scores with intervals; `more` of a row is how many further labels halve the width."""
    reason: str = ""


def ask_estimates(store: Store, owner: int) -> None:
    """Record that an owner wants estimates before the reveal; once is enough."""
    with store.write() as connection:
        _check_owner(connection, owner)
        if not _has_asked(connection, owner):
            record(connection, ESTIMATES_EVENT, owner)


def has_asked_for_estimates(store: Store, owner: int) -> bool:
    """Return whether an owner has asked for estimates."""
    with store.read() as connection:
        return _has_asked(connection, owner)


def check_may_see_estimates(store: Store, owner: int) -> None:
    """Raise InputError before the reveal unless the owner has asked for estimates."""
    with store.read() as connection:
        _check_owner(connection, owner)
        state = connection.value("SELECT state FROM project")
        if state != REVEALED and not _has_asked(connection, owner):
            advice = "reveal the systems, or ask for estimates, which is recorded"
            raise InputError(f"estimates would tell which systems lead: {advice}")


def estimates(store: Store) -> list[LiveEstimate]:
    """Return the estimate of each dimension: for owners who may see them."""
    return remember(store, "estimates", partial(_compute_estimates, store))


def _check_owner(connection: StoreConnection, id: int) -> None:
    row = connection.row("SELECT 1 FROM assessor WHERE id = ? AND role = 'owner' AND active", id)
    if row is None:
        raise InputError("estimates are for the owner of the project alone")


def _has_asked(connection: StoreConnection, owner: int) -> bool:
    query = "SELECT 1 FROM event WHERE what = ? AND assessor = ?"
    return connection.row(query, ESTIMATES_EVENT, owner) is not None


def _compute_estimates(store: Store, contents: Contents) -> list[LiveEstimate]:
    from karat.estimation.estimates import estimate  # the studio starts without it

    settings, live_estimates = contents.project.settings, []
    if dimensions := settings.dimensions:
        evalset = get_evalset(store)
        live_estimates = [
            _try_estimate(dimension.name, partial(estimate, evalset, dimension.name))
            for dimension in dimensions
        ]
    if settings.has(NUGGETS):
        live_estimates.append(
            _try_estimate(NUGGETS.name, partial(estimate, make_nugget_set(contents)))
        )
    return live_estimates


def _try_estimate(dimension: str, make: partial[Estimate]) -> LiveEstimate:
    """Return an estimate, or why there is none yet."""
    try:
        return LiveEstimate(dimension, make())
    except InputError as error:
        return LiveEstimate(dimension, None, str(error))
