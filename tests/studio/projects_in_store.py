"""Small sets, stores of them, and assessors who answer whatever they are asked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import karat as kt
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.studio.assignment import next_assignment
from karat.studio.store.judgements import SentJudgement, StoredRow, judge
from karat.studio.store.people import find_assessor, invite
from karat.studio.store.projects import import_set
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks.task import AssignmentView

START = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
TWO_SCALES = {"ratings": {"scales": ["quality-7", "understandability-7"]}}
SYSTEMS = ("zebra", "aardvark", "mongoose")
"""Names that occur in no text."""


def later(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def uuid(number: int) -> str:
    return str(UUID(int=number + 1))


def small_set(segments: int = 6, systems: int = 3) -> EvalSet:
    return kt.make_evalset(
        "small",
        {
            name: [f"text {i}.{k} 𝒳é" for i in range(segments)]
            for k, name in enumerate(SYSTEMS[:systems])
        },
        segments=[f"s{i}" for i in range(segments)],
        groups=[f"g{i // 2}" for i in range(segments)],
        sources=[f"source {i}" for i in range(segments)],
        references=[f"reference {i}" for i in range(segments)],
    )


def nugget_set() -> NuggetSet:
    key = make_key(
        [
            Question("q1", (Nugget("1", ("born in 1867",)), Nugget("2", ("won twice",), False))),
            Question("q2", (Nugget("1", ("blue",)),), "Which colour?"),
        ]
    )
    runs = [
        make_run(tag, [("q1", Response(f"She was born {k}.")), ("q2", Response(f"Blue {k}."))])
        for k, tag in enumerate(SYSTEMS[:2])
    ]
    return NuggetSet("facts", key, {run.tag: run for run in runs})


def make_store(
    folder: Path, source: EvalSet | NuggetSet | None = None, tasks: Any = None, **settings: Any
) -> Store:
    store = Store.create(folder / "project.studio")
    for connection in store._idle:  # power cuts are tested elsewhere
        connection.execute("PRAGMA synchronous = OFF")
    import_set(store, source or small_set(), ProjectSettings(tasks or TWO_SCALES, **settings))
    return store


def assessor(store: Store, name: str = "ann", **how: Any) -> int:
    person = find_assessor(store, invite(store, name, **how))
    assert person is not None
    return person.id


def answer(view: AssignmentView, number: int = 0) -> dict[str, Any]:
    """Return a complete answer to anything."""
    if view.task == "ratings":
        names = [scale["dimension"] for scale in view.settings["scales"]]
        return {"ratings": dict.fromkeys(names, 1 + number % 5)}
    if view.task == "pairs":
        return {"choice": ("first", "second", "tie")[number % 3]}
    if view.task == "nuggets":
        return {"nuggets": {nugget.id: {"label": "support"} for nugget in view.nuggets}}
    return {"spans": [], **({"score": 50} if view.settings["scale"] else {})}


def next_view(store: Store, who: int, now: datetime = START) -> AssignmentView:
    view = next_assignment(store, who, now)
    assert view is not None
    return view


def answered(store: Store, who: int, number: int, now: datetime = START) -> AssignmentView | None:
    """Ask for the next assignment and answer it, with the uuid of a number."""
    view = next_assignment(store, who, now)
    if view is not None:
        judge(
            store,
            who,
            SentJudgement(uuid(number), view.assignment, answer(view, number), 9),
            now,
        )
    return view


def judged_all(
    store: Store, who: int, first: int = 0, reply: Callable[[AssignmentView, int], Any] = answer
) -> list[AssignmentView]:
    """Answer until nothing is left."""
    views: list[AssignmentView] = []
    while (view := next_assignment(store, who, START)) is not None:
        number = first + len(views)
        judgement = SentJudgement(uuid(number), view.assignment, reply(view, number), 9)
        assert judge(store, who, judgement, START) == StoredRow(number + 1, False) or first
        views.append(view)
    return views


def column(store: Store, query: str, *values: object) -> list[Any]:
    with store.read() as connection:
        return [row[0] for row in connection.execute(query, values).fetchall()]
