"""Small stores that people judged: made by the functions that the pages call."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import karat as kt
from karat.evalset.sets import EvalSet
from karat.nuggets.formats.loading import load_nuggets
from karat.nuggets.sets.keys_and_runs import Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.studio.assignment import next_assignment
from karat.studio.store.judgements import SentJudgement, judge
from karat.studio.store.people import assessors, invite
from karat.studio.store.projects import import_set
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks.task import AssignmentView

START = datetime(2026, 1, 31, 12, 0, tzinfo=timezone.utc)
RATINGS = {"ratings": {"scales": ["quality-7", "fluency-5"]}}


def texts(segments: int = 12, systems: int = 3) -> EvalSet:
    """A set whose texts hold tabs, line ends, quotes and letters of several scripts."""
    odd = ["plain words", 'with "quotes", commas', "zwei\nZeilen", "naïve Ωmega 東京", "a\ttab"]
    return kt.make_evalset(
        "world",
        {
            f"sys{k}": [f"{odd[(i + k) % 5]} {i} of {k}" for i in range(segments)]
            for k in range(systems)
        },
        references=[[f"reference {i}"] for i in range(segments)],
        groups=[f"doc{i // 3}" for i in range(segments)],
        sources=[f"source {i}" for i in range(segments)],
    )


def uuids(seed: int) -> Callable[[], str]:
    """UUIDs that are the same in every run."""
    drawn = random.Random(seed)
    return lambda: str(UUID(int=drawn.getrandbits(128)))


def make_store(path: Path, given: Any = None, people: int = 3, **settings: Any) -> Store:
    """A store with assessors ann, bob, … and the adjudicator zoe."""
    store = Store.create(path)
    for connection in store._idle:  # power cuts are tested elsewhere
        connection.execute("PRAGMA synchronous = OFF")
    wanted = {"tasks": RATINGS, "overlap": max(people, 1), **settings}
    import_set(store, texts() if given is None else given, ProjectSettings(**wanted))
    for name in ("ann", "bob", "cleo", "dan")[:people]:
        invite(store, name)
    invite(store, "zoe", "adjudicator")
    return store


def answer(shown: AssignmentView, drawn: random.Random) -> dict[str, Any]:
    """An answer that the task allows, drawn at random."""
    text = shown.outputs[0].text
    if shown.task == "ratings":
        scales = shown.settings["scales"]
        value = {one["dimension"]: drawn.randint(one["low"], one["high"]) for one in scales}
        return {"ratings": value, "comment": drawn.choice(["", 'so, "so"\nla'])}
    if shown.task == "pairs":
        return {"choice": drawn.choice(["first", "second", "tie"])}
    if shown.task == "nuggets":
        labels = ["support", "partial", "none"]
        return {"nuggets": {one.id: {"label": drawn.choice(labels)} for one in shown.nuggets}}
    spans = []
    for _ in range(drawn.randint(0, 3)):
        start = drawn.randrange(len(text))
        span: dict[str, Any] = {"start": start, "end": drawn.randint(start + 1, len(text))}
        span["severity"] = drawn.choice(shown.settings["severities"])
        if shown.settings["categories"]:
            span["category"] = drawn.choice(shown.settings["categories"])
        spans.append(span)
    score = {"score": drawn.randint(0, 100)} if shown.settings["scale"] else {}
    return {"spans": spans, **score}


def judge_all(store: Store, seed: int = 1, most: int = 10**6) -> None:
    """Every assessor judges what is there, at most some units each."""
    drawn, new = random.Random(seed), uuids(seed)
    now = START
    for one in assessors(store):
        for _ in range(most if one.role == "assessor" else 0):
            shown = next_assignment(store, one.id, now)
            if shown is None:
                break
            value = answer(shown, drawn)
            now += timedelta(seconds=drawn.randint(2, 30))
            took = drawn.randint(500, 30_000)
            sent = SentJudgement(new(), shown.assignment, value, took, shown.newest)
            judge(store, one.id, sent, now)


def decide(
    store: Store, task: str, output: int | None, about: str, value: Any, uuid: str, item: int = 0
) -> None:
    """Add a decision of the adjudicator, as a row, after the newest one on the same thing."""
    import json

    with store.write() as connection:
        if output is not None:
            (item,) = connection.execute(
                "SELECT item FROM output WHERE id = ?", (output,)
            ).fetchone()
        before = connection.execute(
            "SELECT max(id) FROM adjudication WHERE task = ? AND item = ? AND output IS ? "
            "AND about = ?",
            (task, item, output, about),
        ).fetchone()[0]
        text = None if value is None else json.dumps(value, sort_keys=True)
        (zoe,) = connection.execute("SELECT id FROM assessor WHERE name = 'zoe'").fetchone()
        connection.execute(
            "INSERT INTO adjudication (uuid, task, item, output, about, value, assessor, seen, "
            "supersedes, time) VALUES (?, ?, ?, ?, ?, ?, ?, '[]', ?, ?)",
            (uuid, task, item, output, about, text, zoe, before, START.isoformat()),
        )


def nugget_texts() -> Any:
    """The bundled nugget set without what the studio does not keep: votes and documents."""
    found = load_nuggets("demo-nuggets")
    key = make_key(
        replace(one, nuggets=tuple(replace(nugget, votes=None) for nugget in one.nuggets))
        for one in found.key.questions.values()
    )
    runs = {
        tag: make_run(
            tag, [(id, Response(one.text)) for id, own in run.answers.items() for one in own]
        )
        for tag, run in found.runs.items()
    }
    return NuggetSet(found.name, key, runs)
