"""Disputes: what assessors disagree on, the largest disagreement first; no system is named."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.export.contents import Contents, ExportedAnswer, pseudonym, read_item
from karat.studio.export.values import CHOICE, SPANS, pair_name
from karat.studio.live.state import remembered
from karat.studio.store.adjudications import Adjudication, adjudicate
from karat.studio.store.assignments import shown_in
from karat.studio.store.draws import mixed
from karat.studio.store.events import record
from karat.studio.store.judgements import StoredRow
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.nuggets import LABELS
from karat.studio.tasks.task import AssignmentView, overlap_f1


class AssessorVote(NamedTuple):
    """The answer of one assessor."""

    assessor: str
    """A pseudonym."""
    value: Any
    """A rating, a label of a nugget, spans with their score, or the better output (None: tie)."""
    comment: str
    judgement: int


class Dispute(NamedTuple):
    """A thing on which assessors disagree, named as an adjudication names it."""

    task: str
    item: int
    segment: str
    output: int | None
    """None for a pair."""
    about: str
    outputs: tuple[int, ...]
    amount: float
    """From 0 to 1: the range over the scale, or the share of marked characters not shared,
    each with its severity."""
    said: tuple[AssessorVote, ...]
    settled: bool
    """Whether an adjudicator has decided."""


def disputes(store: Store, settled: bool = False) -> list[Dispute]:
    """Return the disputes, largest first; those that are `settled` only if asked for."""
    found = remembered(store, "disputes", _find_disputes)
    return [one for one in found if settled or not one.settled]


def disputes_on(store: Store, item: int) -> list[Dispute]:
    """Return the disputes on one item, settled or not: quick, however much was judged."""
    return _find_disputes(read_item(store, item))


_Target = tuple[str, int, int | None, str]


def _find_disputes(contents: Contents) -> list[Dispute]:
    said: dict[_Target, list[AssessorVote]] = defaultdict(list)
    outputs: dict[_Target, tuple[int, ...]] = {}
    for answer in contents.answers:
        for target, value in _parts(answer):
            comment, name = answer.value.get("comment", ""), contents.names[answer.assessor]
            said[target].append(AssessorVote(name, value, comment, answer.id))
            outputs[target] = tuple(sorted(answer.outputs))
    decided = {(one.task, one.item, one.output, one.about) for one in contents.decisions}
    amounts = _amounts(contents.project.settings)
    found = []
    for target, own in said.items():
        amount = _amount(target, [one.value for one in own], amounts)
        if amount > 0:
            task, item, output, about = target
            place = contents.items[item].segment
            settled = target in decided or (task, item, None, CHOICE) in decided
            at = task, item, place, output, about, outputs[target]
            found.append(
                Dispute(*at, amount, tuple(sorted(own, key=lambda one: one.judgement)), settled)
            )
    return sorted(found, key=lambda one: (-one.amount, one.item, one.task, one.outputs, one.about))


def _parts(answer: ExportedAnswer) -> list[tuple[_Target, Any]]:
    """Return what an answer says of what."""
    task, item, value = answer.task, answer.item, answer.value
    output = answer.outputs[0]
    if task == "pairs":
        chosen = {"first": answer.outputs[0], "second": answer.outputs[1]}.get(value["choice"])
        return [((task, item, None, pair_name(answer.outputs)), chosen)]
    if task == "spans":
        return [((task, item, output, SPANS), _marks(value))]
    if task == "nuggets":
        labels = value["nuggets"].items()
        return [((task, item, output, id), one["label"]) for id, one in labels]
    rows = TASKS[task].to_judgements(value, answer.outputs)
    return [((task, item, output, about), found) for output, about, found in rows]


def _marks(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return spans and their score, which are decided together."""
    return {name: value[name] for name in (SPANS, "score") if name in value}


_Measure = Callable[[Sequence[Any]], float]


def _amounts(settings: ProjectSettings) -> dict[tuple[str, str], _Measure]:
    """Return how disagreement is measured, by task and dimension."""
    scored = settings.tasks.get("spans", {}).get("scale")
    found: dict[tuple[str, str], _Measure] = {("spans", SPANS): partial(_of_marks, scored)}
    for scale in settings.tasks.get("ratings", {}).get("scales", ()):
        found["ratings", scale["dimension"]] = partial(_range, scale)
    return found


def _amount(
    target: _Target, values: Sequence[Any], known: Mapping[tuple[str, str], _Measure]
) -> float:
    task, about = target[0], target[3]
    if len(values) < 2:
        return 0.0
    if task == "pairs":
        shares = {0.5 if one is None else float(one == min(filter(None, values))) for one in values}
        return max(shares) - min(shares) if len({*values}) > 1 else 0.0
    if task == "nuggets":
        labels = [LABELS[one] for one in values]
        return max(labels) - min(labels)
    return known[task, about](values)


def _range(scale: Mapping[str, Any], values: Sequence[float]) -> float:
    return float((max(values) - min(values)) / (scale["high"] - scale["low"]))


def _of_marks(scale: Mapping[str, Any] | None, values: Sequence[Mapping[str, Any]]) -> float:
    """Return the larger disagreement: on the places of errors, or on the score."""
    places = _unshared([one[SPANS] for one in values])
    return max(places, _range(scale, [one["score"] for one in values])) if scale else places


def _unshared(values: Sequence[Sequence[Mapping[str, Any]]]) -> float:
    """Return 1 less the mean F1 of characters with their severities over pairs of assessors."""
    if all(not one for one in values):
        return 0.0
    places = [_weighed(one) for one in values]
    return 1 - fmean(overlap_f1(a, b) for a, b in combinations(places, 2))


def _weighed(spans: Sequence[Mapping[str, Any]]) -> set[tuple[int, str]]:
    """Return the places of marked characters, each with its severity."""
    return {(at, one["severity"]) for one in spans for at in range(one["start"], one["end"])}


class Statement(NamedTuple):
    """An answer of one assessor to what is disputed."""

    letter: str
    value: dict[str, Any]
    comment: str
    judgement: int


@dataclass(frozen=True)
class Disputed:
    """All that the page of a dispute shows."""

    dispute: Dispute
    shown: AssignmentView
    """The texts and the question; its answer is the decision that counts."""
    said: tuple[Statement, ...]
    newest: str | None
    """The uuid of the newest decision, which a further one must name."""

    def to_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        one = self.dispute
        target = {"task": one.task, "item": one.item, "output": one.output, "about": one.about}
        return {
            **asdict(self.shown),
            **target,
            "segment": one.segment,
            "amount": one.amount,
            "settled": one.settled,
            "said": [each._asdict() for each in self.said],
            "newest": self.newest,
        }


def disputed(store: Store, dispute: Dispute) -> Disputed:
    """Return what is shown of a dispute."""
    with store.read() as connection:
        texts = cut_down(_view_of_dispute(connection, dispute), dispute.about)
        (seed,) = connection.execute("SELECT seed FROM project").fetchone()
        drawn = sorted(dispute.said, key=lambda one: mixed(seed, one.judgement))
        said = [
            Statement(_letter(k), _vote_value(connection, one.judgement, dispute), one.comment, id)
            for k, one in enumerate(drawn)
            for id in [one.judgement]
        ]
        value, newest = _newest_decision(connection, dispute)
    return Disputed(dispute, replace(texts, value=value, newest=newest), tuple(said), newest)


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVXYZ"
"""Letters of assessors, each a key; W asks for names."""


def _letter(k: int) -> str:
    return LETTERS[k] if k < len(LETTERS) else str(k + 1)


def _view_of_dispute(connection: sqlite3.Connection, dispute: Dispute) -> AssignmentView:
    """Return the texts as the assessors saw them; a pair in the order of ids."""
    first = dispute.said[0].judgement
    (id,) = connection.execute("SELECT assignment FROM judgement WHERE id = ?", (first,)).fetchone()
    found = shown_in(connection, id)
    return replace(found, outputs=tuple(sorted(found.outputs, key=lambda one: one.id)))


def cut_down(shown: AssignmentView, about: str) -> AssignmentView:
    """Return the task with only the dimension or nugget that is disputed."""
    if shown.task == "ratings":
        scales = [one for one in shown.settings["scales"] if one["dimension"] == about]
        return replace(shown, settings={**shown.settings, "scales": scales})
    if shown.task == "nuggets":
        return replace(shown, nuggets=tuple(one for one in shown.nuggets if one.id == about))
    return shown


def _vote_value(connection: sqlite3.Connection, judgement: int, dispute: Dispute) -> dict[str, Any]:
    """Return an assessor's answer, cut down to what is disputed."""
    text, outputs = connection.execute(
        "SELECT value, outputs FROM judgement JOIN assignment ON assignment.id = assignment "
        "WHERE judgement.id = ?",
        (judgement,),
    ).fetchone()
    value = json.loads(text)
    if dispute.task == "pairs":
        return {"choice": _sorted_choice(value["choice"], json.loads(outputs))}
    if dispute.task in ("ratings", "nuggets"):
        return {dispute.task: {dispute.about: value[dispute.task][dispute.about]}}
    return {name: value[name] for name in ("spans", "score") if name in value}


def _sorted_choice(choice: str, outputs: list[int]) -> str:
    """Return a choice as if the output with the smaller id had been shown first."""
    swapped = {"first": "second", "second": "first"}
    return swapped.get(choice, choice) if outputs[0] > outputs[1] else choice


def _newest_decision(
    connection: sqlite3.Connection, dispute: Dispute
) -> tuple[dict[str, Any] | None, str | None]:
    row = connection.execute(
        "SELECT value, uuid FROM adjudication WHERE task = ? AND item = ? AND output IS ? "
        "AND about = ? ORDER BY id DESC LIMIT 1",
        (dispute.task, dispute.item, dispute.output, dispute.about),
    ).fetchone()
    if row is None:
        return None, None
    return None if row[0] is None else _as_answer(json.loads(row[0]), dispute), row[1]


def _as_answer(value: Any, dispute: Dispute) -> dict[str, Any]:
    """Return a stored decision as an answer to the task."""
    given = value if isinstance(value, dict) else {"value": value}
    comment = {"comment": given["comment"]} if "comment" in given else {}
    if dispute.task == "ratings":
        return {"ratings": {dispute.about: given["value"]}, **comment}
    if dispute.task == "nuggets":
        label = {key: given[key] for key in ("label", "evidence") if key in given}
        return {"nuggets": {dispute.about: label or {"label": value}}, **comment}
    if dispute.task == "pairs":
        return {"choice": given.get("choice", value), **comment}
    return {"spans": value} if isinstance(value, list) else given


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
) -> StoredRow:
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
