"""Estimates of systems' scores as labels arrive: for the owner alone.

Before the reveal an owner must ask for them, which is recorded once as an event: whoever has seen
that one system leads does not judge blind.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from karat.errors import InputError
from karat.studio.export.contents import Contents
from karat.studio.export.sets import NUGGETS, nuggets_of
from karat.studio.export.values import dimensions_of
from karat.studio.live.judged_set import judged_set
from karat.studio.live.state import ASKED, remembered
from karat.studio.store.events import record
from karat.studio.store.projects import REVEALED
from karat.studio.store.store import Store

if TYPE_CHECKING:
    from karat.estimation.estimate_results import Estimate


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
