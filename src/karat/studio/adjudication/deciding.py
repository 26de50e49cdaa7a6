"""Decisions: an adjudicator's answer is checked as one to the task, then stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karat.errors import InputError, quoted
from karat.studio.adjudication.disputed import Disputed, disputed
from karat.studio.export.contents import pseudonym
from karat.studio.live.disputes import Dispute, disputes_on
from karat.studio.store.adjudications import Adjudication, adjudicate
from karat.studio.store.events import record
from karat.studio.store.judgements import Stored
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS

NAMED = "names"
"""The event of somebody who asked for the names behind a dispute."""
Target = tuple[str, int, int | None, str]


def find_dispute(store: Store, target: Target) -> Dispute:
    """Return the dispute on a target, settled or not."""
    for one in disputes_on(store, target[1]):
        if (one.task, one.item, one.output, one.about) == target:
            return one
    raise InputError(f"there is no dispute on {quoted(target[3])} of item {quoted(target[1])}")


def decide(
    store: Store, adjudicator: int, uuid: str, target: Target, answer: Any, supersedes: str | None
) -> Stored:
    """Store a decision on a dispute; without an answer, undo the newest one."""
    found = disputed(store, find_dispute(store, target))
    value = None if answer is None else decision(found, answer)
    seen = tuple(one.judgement for one in found.said)
    given = Adjudication(uuid, *target, value, seen, supersedes)
    return adjudicate(store, adjudicator, given)


def decision(found: Disputed, answer: Any) -> dict[str, Any]:
    """Return what is stored for an answer, which must be complete and right for the task."""
    one, shown = found.dispute, found.shown
    if told := TASKS[one.task].check(answer, shown):
        raise InputError(told)
    if answer.get("done", True) is not True:
        raise InputError("found done=false, expected a decision that is complete")
    given: Mapping[str, Any] = answer
    comment = {"comment": given["comment"]} if given.get("comment") else {}
    if one.task == "ratings":
        return {"value": given["ratings"][one.about], **comment}
    if one.task == "nuggets":
        return {**given["nuggets"][one.about], **comment}
    names = ("choice",) if one.task == "pairs" else ("spans", "score")
    return {**{name: given[name] for name in names if name in given}, **comment}


def ask_names(store: Store, adjudicator: int, target: Target) -> dict[str, str]:
    """Return who said what in a dispute, by letter; that somebody asked is recorded."""
    dispute = find_dispute(store, target)
    letters = {one.judgement: one.letter for one in disputed(store, dispute).said}
    task, item, output, about = target
    with store.write() as connection:
        record(connection, NAMED, adjudicator, task=task, item=item, output=output, about=about)
        rows = connection.execute("SELECT id, name FROM assessor").fetchall()
    names = {pseudonym(id): name for id, name in rows}
    return {letters[one.judgement]: names[one.assessor] for one in dispute.said}
