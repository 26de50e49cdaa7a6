"""A dispute as an adjudicator sees it: the texts, what each assessor said, and no names.

Letters stand for assessors, in an order drawn for each dispute: the same letter elsewhere says
nothing. What is decided is an answer to the task, cut down to what is disputed.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from karat.studio.live.disputes import Dispute
from karat.studio.store.order import mixed
from karat.studio.store.shown import shown_in
from karat.studio.store.store import Store
from karat.studio.tasks.shown import Shown


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
    shown: Shown
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
        texts = cut_down(_shown(connection, dispute), dispute.about)
        (seed,) = connection.execute("SELECT seed FROM project").fetchone()
        drawn = sorted(dispute.said, key=lambda one: mixed(seed, one.judgement))
        said = [
            Statement(_letter(k), _value(connection, one.judgement, dispute), one.comment, id)
            for k, one in enumerate(drawn)
            for id in [one.judgement]
        ]
        value, newest = _decision(connection, dispute)
    return Disputed(dispute, replace(texts, value=value, newest=newest), tuple(said), newest)


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVXYZ"
"""Letters of assessors, each a key; W asks for names."""


def _letter(k: int) -> str:
    return LETTERS[k] if k < len(LETTERS) else str(k + 1)


def _shown(connection: sqlite3.Connection, dispute: Dispute) -> Shown:
    """Return the texts as the assessors saw them; a pair in the order of ids."""
    first = dispute.said[0].judgement
    (id,) = connection.execute("SELECT assignment FROM judgement WHERE id = ?", (first,)).fetchone()
    found = shown_in(connection, id)
    return replace(found, outputs=tuple(sorted(found.outputs, key=lambda one: one.id)))


def cut_down(shown: Shown, about: str) -> Shown:
    """Return the task with only the dimension or nugget that is disputed."""
    if shown.task == "ratings":
        scales = [one for one in shown.settings["scales"] if one["dimension"] == about]
        return replace(shown, settings={**shown.settings, "scales": scales})
    if shown.task == "nuggets":
        return replace(shown, nuggets=tuple(one for one in shown.nuggets if one.id == about))
    return shown


def _value(connection: sqlite3.Connection, judgement: int, dispute: Dispute) -> dict[str, Any]:
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


def _decision(
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
