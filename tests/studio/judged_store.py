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
    rng = random.Random(seed)
    return lambda: str(UUID(int=rng.getrandbits(128)))


def make_store(path: Path, source: Any = None, people: int = 3, **settings: Any) -> Store:
    """A store with assessors ann, bob, … and the adjudicator zoe."""
    store = Store.create(path)
    for connection in store._idle:  # power cuts are tested elsewhere
        connection.execute("PRAGMA synchronous = OFF")
    all_settings = {"tasks": RATINGS, "overlap": max(people, 1), **settings}
    import_set(store, texts() if source is None else source, ProjectSettings(**all_settings))
    for name in ("ann", "bob", "cleo", "dan")[:people]:
        invite(store, name)
    invite(store, "zoe", "adjudicator")
    return store


def answer(view: AssignmentView, rng: random.Random) -> dict[str, Any]:
    """An answer that the task allows, drawn at random."""
    text = view.outputs[0].text
    if view.task == "ratings":
        scales = view.settings["scales"]
        value = {part["dimension"]: rng.randint(part["low"], part["high"]) for part in scales}
        return {"ratings": value, "comment": rng.choice(["", 'so, "so"\nla'])}
    if view.task == "pairs":
        return {"choice": rng.choice(["first", "second", "tie"])}
    if view.task == "nuggets":
        labels = ["support", "partial", "none"]
        return {"nuggets": {part.id: {"label": rng.choice(labels)} for part in view.nuggets}}
    spans = []
    for _ in range(rng.randint(0, 3)):
        start = rng.randrange(len(text))
        span: dict[str, Any] = {"start": start, "end": rng.randint(start + 1, len(text))}
        span["severity"] = rng.choice(view.settings["severities"])
        if view.settings["categories"]:
            span["category"] = rng.choice(view.settings["categories"])
        spans.append(span)
    score = {"score": rng.randint(0, 100)} if view.settings["scale"] else {}
    return {"spans": spans, **score}


def judge_all(store: Store, seed: int = 1, most: int = 10**6) -> None:
    """Every assessor judges what is there, at most some units each."""
    rng, new = random.Random(seed), uuids(seed)
    now = START
    for person in assessors(store):
        for _ in range(most if person.role == "assessor" else 0):
            view = next_assignment(store, person.id, now)
            if view is None:
                break
            value = answer(view, rng)
            now += timedelta(seconds=rng.randint(2, 30))
            took = rng.randint(500, 30_000)
            sent = SentJudgement(new(), view.assignment, value, took, view.newest)
            judge(store, person.id, sent, now)


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
    demo = load_nuggets("demo-nuggets")
    key = make_key(
        replace(entry, nuggets=tuple(replace(nugget, votes=None) for nugget in entry.nuggets))
        for entry in demo.key.questions.values()
    )
    runs = {
        tag: make_run(
            tag,
            [
                (id, Response(entry.text))
                for id, responses in run.answers.items()
                for entry in responses
            ],
        )
        for tag, run in demo.runs.items()
    }
    return NuggetSet(demo.name, key, runs)
