"""Disputes between assessors: finding them, showing them to adjudicators, and deciding them.

An adjudicator sees letters instead of assessors, in an order that differs between disputes. A
decision is an answer to the task, narrowed to the disputed dimension or nugget.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.contents import Contents, computed_once, pseudonym, read_item
from karat.studio.store.draws import mix
from karat.studio.store.judgements import Adjudication, StoredRow, adjudicate, view_in
from karat.studio.store.people import record
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.pairs import CHOICE
from karat.studio.tasks.task import AssignmentView

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVXYZ"
"""Letters of assessors, which are also keys of the page; W is the key for names."""
NAMES_EVENT = "names"
"""Event: an adjudicator asked for the names behind a dispute."""
Target = tuple[str, int, int | None, str]
"""Task, item, output (None for a pair) and dimension or nugget of a dispute."""


class AssessorVote(NamedTuple):
    """The answer of one assessor."""

    assessor: str
    """A pseudonym."""
    value: Any
    """A rating, a label of a nugget, spans with their score, or the better output (None: tie)."""
    comment: str
    judgement: int


class Dispute(NamedTuple):
    """An output, or a pair of outputs, on which assessors disagree; without systems."""

    task: str
    item: int
    segment: str
    output: int | None
    """None for a pair."""
    about: str
    outputs: tuple[int, ...]
    amount: float
    """From 0 to 1, as `Task.disagreement` computes it."""
    votes: tuple[AssessorVote, ...]
    settled: bool
    """Whether an adjudicator has decided."""

    @property
    def target(self) -> Target:
        """The task, item, output and subject of the dispute."""
        return self.task, self.item, self.output, self.about

    @property
    def subject(self) -> str:
        """The disputed dimension, nugget, pair or output, for people."""
        return TASKS[self.task].subject(self.about)

    @property
    def votes_summary(self) -> str:
        """The values of the votes, or their number, for people."""
        return TASKS[self.task].summarize_votes([vote.value for vote in self.votes])


def find_disputes(store: Store, settled: bool = False) -> list[Dispute]:
    """Return the open disputes, largest first; with `settled`, the settled ones as well."""
    return [dispute for dispute in _all_disputes(store) if settled or not dispute.settled]


@computed_once
def _all_disputes(store: Store, contents: Contents) -> list[Dispute]:
    return _compute_disputes(contents)


def find_disputes_on(store: Store, item: int) -> list[Dispute]:
    """Return the disputes on one item, settled or not, without reading other items."""
    return _compute_disputes(read_item(store, item))


def _compute_disputes(contents: Contents) -> list[Dispute]:
    votes: dict[Target, list[AssessorVote]] = defaultdict(list)
    outputs: dict[Target, tuple[int, ...]] = {}
    for answer in contents.answers:
        comment, name = answer.value.get("comment", ""), contents.names[answer.assessor]
        for output, about, value in TASKS[answer.task].votes(answer):
            target = answer.task, answer.item, output, about
            votes[target].append(AssessorVote(name, value, comment, answer.id))
            outputs[target] = tuple(sorted(answer.outputs))
    decided_targets = {(row.task, row.item, row.output, row.about) for row in contents.decisions}
    settings = contents.project.settings.tasks
    disputes = []
    for target, target_votes in votes.items():
        if len(target_votes) < 2:
            continue
        task, item, output, about = target
        values = [vote.value for vote in target_votes]
        amount = TASKS[task].disagreement(settings[task], about, values)
        if amount > 0:
            settled = target in decided_targets or (task, item, None, CHOICE) in decided_targets
            segment = contents.items[item].segment
            location = task, item, segment, output, about, outputs[target]
            in_order = tuple(sorted(target_votes, key=lambda vote: vote.judgement))
            disputes.append(Dispute(*location, amount, in_order, settled))
    return sorted(
        disputes, key=lambda row: (-row.amount, row.item, row.task, row.outputs, row.about)
    )


# Views of adjudicators


def view_dispute(
    store: Store, dispute: Dispute
) -> tuple[AssignmentView, tuple[dict[str, Any], ...]]:
    """Return a dispute as an assignment, and the votes under letters.

    The answer of the assignment is the decision in force, and `newest` is its uuid.
    """
    task = TASKS[dispute.task]
    with store.read() as connection:
        seed = connection.value("SELECT seed FROM project")
        shuffled = sorted(dispute.votes, key=lambda vote: mix(seed, vote.judgement))
        votes = []
        for k, vote in enumerate(shuffled):
            text, outputs = connection.row(
                "SELECT value, outputs FROM judgement JOIN assignment ON assignment.id = assignment"
                " WHERE judgement.id = ?",
                vote.judgement,
            )
            letter = LETTERS[k] if k < len(LETTERS) else str(k + 1)
            answer = task.vote_answer(json.loads(text), dispute.about, json.loads(outputs))
            details = {"comment": vote.comment, "judgement": vote.judgement}
            votes.append({"letter": letter, "value": answer, **details})
        assignment = connection.value(
            "SELECT assignment FROM judgement WHERE id = ?", dispute.votes[0].judgement
        )
        view = task.narrow(view_in(connection, assignment), dispute.about)
        value, newest = _newest_decision(connection, dispute)
    in_order = tuple(sorted(view.outputs, key=lambda output: output.id))
    return replace(view, outputs=in_order, value=value, newest=newest), tuple(votes)


def _newest_decision(
    connection: StoreConnection, dispute: Dispute
) -> tuple[dict[str, Any] | None, str | None]:
    """Return the newest decision on a dispute as an answer, and its uuid."""
    task, item, output, about = dispute.target
    text, uuid = connection.newest(
        "adjudication", "value", "uuid", task=task, item=item, output=output, about=about
    )
    if text is None:
        return None, uuid
    value = json.loads(text)
    has_comment = isinstance(value, dict) and "comment" in value
    comment = {"comment": value["comment"]} if has_comment else {}
    return {**TASKS[dispute.task].decision_to_answer(value, dispute.about), **comment}, uuid


# Decisions


def find_dispute(store: Store, target: Target) -> Dispute:
    """Return the dispute on a target, settled or not."""
    for dispute in find_disputes_on(store, target[1]):
        if dispute.target == target:
            return dispute
    raise InputError(f"there is no dispute on {quoted(target[3])} of item {quoted(target[1])}")


def decide(
    store: Store, adjudicator: int, uuid: str, target: Target, answer: Any, supersedes: str | None
) -> StoredRow:
    """Store a decision on a dispute; without an answer, undo the newest one."""
    view, votes = view_dispute(store, find_dispute(store, target))
    task, value = TASKS[view.task], None
    if answer is not None:
        if error := task.find_error(answer, view):
            raise InputError(error)
        if answer.get("done", True) is not True:
            raise InputError("found done=false, expected a decision that is complete")
        comment = {"comment": answer["comment"]} if answer.get("comment") else {}
        value = {**task.answer_to_decision(answer, target[3]), **comment}
    judgements = tuple(vote["judgement"] for vote in votes)
    decision = Adjudication(uuid, *target, value, judgements, supersedes)
    return adjudicate(store, adjudicator, decision)


def ask_names(store: Store, adjudicator: int, target: Target) -> dict[str, str]:
    """Return the names of the assessors of a dispute by letter; the request is recorded."""
    dispute = find_dispute(store, target)
    letters = {vote["judgement"]: vote["letter"] for vote in view_dispute(store, dispute)[1]}
    task, item, output, about = target
    with store.write() as connection:
        record(
            connection, NAMES_EVENT, adjudicator, task=task, item=item, output=output, about=about
        )
        rows = connection.rows("SELECT id, name FROM assessor")
    names = {pseudonym(id): name for id, name in rows}
    return {letters[vote.judgement]: names[vote.assessor] for vote in dispute.votes}
