"""Judgements that a set has already: taken into a new store, so that judging goes on.

People become assessors, who may be invited by new tokens, and what was adjudicated becomes
decisions. Labels of models are left out. Ratings and labels of nuggets are taken; an output of
which a judge rated some dimensions only is a draft of that judge.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from karat.errors import InputError, short
from karat.estimation.planning import ASSUMED
from karat.evalset.draws import SEGMENT, Draw
from karat.evalset.judgements import ADJUDICATED, MODEL
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.keys_and_runs import normal
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.studio.sampling import add_units
from karat.studio.store.assessors import assessors, invite
from karat.studio.store.assignments import shown_in
from karat.studio.store.draws import NOT_RANDOM, drawn_with
from karat.studio.store.events import record, stamp
from karat.studio.store.projects import Project, project
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS
from karat.studio.tasks.nuggets import LABELS
from karat.studio.tasks.task import is_done

BEFORE = "judged before"
"""The reason of assignments that were judged before the import."""
_NAMES = UUID("6f1c3d1e-2f0a-4b57-9a55-0d8f6f3c7a10")
_LABEL = {value: name for name, value in LABELS.items()}


class Earlier(NamedTuple):
    """A value that a set has of an output."""

    output: int
    judge: str
    kind: str
    about: str
    value: Any


class _Kept(NamedTuple):
    """The project and assessors that are written to."""

    project: Project
    task: str
    ids: Mapping[str, int]
    """Judge -> assessor."""
    wanted: int
    """Values that make an answer complete; 0 if the item tells."""


def take_earlier(store: Store, given: EvalSet | NuggetSet) -> dict[str, str]:
    """Add the judgements of the set that a store was made of; return a token for each assessor.

    Items that were judged make round 1, assumed to be drawn at random unless the set has draws.
    What these do not list was not drawn at random.
    """
    found, task = project(store), "nuggets" if isinstance(given, NuggetSet) else "ratings"
    with store.read() as connection:
        if connection.execute("SELECT 1 FROM unit WHERE round > 0").fetchone():
            raise InputError("judging has begun: earlier judgements go into a new store")
        rows = list(
            _labels(given, connection)
            if isinstance(given, NuggetSet)
            else _rated(given, connection)
        )
    scales = found.settings.tasks.get("ratings", {}).get("scales", ())
    dimensions = {one["dimension"] for one in scales}
    rows = [one for one in rows if task == "nuggets" or one.about in dimensions]
    if task not in found.settings.tasks or not rows:
        told = "has no judgements by people that the project's tasks can take"
        raise InputError(f"{short(given.name)} {told}")
    kinds = {one.judge: one.kind for one in rows}
    roles = {
        name: "adjudicator" if kind == ADJUDICATED else "assessor" for name, kind in kinds.items()
    }
    tokens = {name: invite(store, name, role) for name, role in roles.items()}
    ids = {one.name: one.id for one in assessors(store)}
    with store.write() as connection:
        draws = given.draws if isinstance(given, EvalSet) else None
        _draw(connection, found, rows, draws)
        kept = _Kept(found, task, ids, len(dimensions) if task == "ratings" else 0)
        _answer(connection, kept, rows)
        _decide(connection, kept, rows)
        record(connection, "earlier", judgements=len(rows), judges=len(tokens))
    return tokens


def _rated(evalset: EvalSet, connection: sqlite3.Connection) -> Iterator[Earlier]:
    ids = {(segment, system): id for id, segment, system, _ in _outputs(connection)}
    kinds = evalset.judgements.judge_kinds
    for row in evalset.judgements:
        kind = kinds.get(row.judge, "")
        if kind != MODEL:
            value = int(row.value) if row.value.is_integer() else row.value
            output = ids[row.segment, row.system]
            yield Earlier(output, row.judge, kind, row.dimension, value)


def _labels(nuggets: NuggetSet, connection: sqlite3.Connection) -> Iterator[Earlier]:
    ids: dict[tuple[str, str, str], list[int]] = {}
    for id, segment, system, text in _outputs(connection):
        for run in (system, ""):  # a judgement without a run is of the words, whoever's they are
            ids.setdefault((segment, run, normal(text)), []).append(id)
    for row in nuggets.judgements.deciding:
        if not row.judge:
            raise InputError(f"{short(nuggets.name)} has judgements without a judge: name one")
        for id in ids.get((row.question, row.run, normal(row.response)), ()):
            yield Earlier(id, row.judge, row.kind, row.nugget, _LABEL[row.value])


def _outputs(connection: sqlite3.Connection) -> list[tuple[int, str, str, str]]:
    return connection.execute(
        "SELECT output.id, segment, system, text FROM output JOIN item ON item.id = item "
        "WHERE NOT calibration"
    ).fetchall()


def _draw(
    connection: sqlite3.Connection,
    found: Project,
    rows: list[Earlier],
    draws: tuple[Draw, ...] | None,
) -> None:
    """Make rounds and units of the items that were judged, or that the set says were drawn."""
    item = dict(connection.execute("SELECT id, item FROM output").fetchall())
    segment = dict(connection.execute("SELECT id, segment FROM item").fetchall())
    judged = list(dict.fromkeys(item[one.output] for one in rows))
    (whole,) = connection.execute("SELECT count(*) FROM item WHERE NOT calibration").fetchone()
    known: dict[str, Draw] = {}
    for draw in draws or ():
        if draw.of != SEGMENT:
            raise InputError("the set has draws of groups: a store draws segments; leave them out")
        known.setdefault(draw.unit, draw)
    simple = Draw("", len(judged) / whole, ASSUMED) if draws is None else Draw("", None)
    rounds: dict[int, list[int]] = {}
    for id in judged:
        one = known.get(segment[id], simple)
        share = 1.0 if one.probability is None else one.probability
        connection.execute(
            "INSERT INTO draw (item, round, probability, reason) VALUES (?, ?, ?, ?)",
            (id, one.round, share, _reason(one)),
        )
        rounds.setdefault(one.round, []).append(id)
    for number, items in sorted(rounds.items()):
        add_units(connection, found.settings, number, items)


def _reason(one: Draw) -> str:
    """Return why an item was judged; it says so if the item was not drawn at random."""
    if one.probability is not None or one.reason.startswith(NOT_RANDOM):
        return one.reason or BEFORE
    return f"{NOT_RANDOM}: {one.reason}" if one.reason else NOT_RANDOM


def _answer(connection: sqlite3.Connection, kept: _Kept, rows: list[Earlier]) -> None:
    """Add an assignment and a judgement for each judge and output."""
    answers: dict[tuple[int, str], dict[str, Any]] = {}
    for one in rows:
        if one.kind != ADJUDICATED:
            answers.setdefault((one.output, one.judge), {})[one.about] = one.value
    for (output, judge), values in answers.items():
        unit, item, number = connection.execute(
            "SELECT unit.id, unit.item, round FROM output JOIN unit ON unit.item = output.item "
            "WHERE output.id = ? AND task = ? AND outputs = ?",
            (output, kept.task, json.dumps([output])),
        ).fetchone()
        share, reason = connection.execute(
            "SELECT probability, reason FROM draw WHERE item = ?", (item,)
        ).fetchone()
        assessor, time = kept.ids[judge], stamp()
        made = connection.execute(
            "INSERT INTO assignment (unit, assessor, task, item, outputs, reason, probability, "
            "round, seed, ord, made) SELECT ?, id, ?, ?, ?, ?, ?, ?, 0, assigned + 1, ? "
            "FROM assessor WHERE id = ?",
            (
                *(unit, kept.task, item, json.dumps([output]), reason, drawn_with(share, reason)),
                *(number, time, assessor),
            ),
        )
        _judgement(connection, kept, int(made.lastrowid or 0), assessor, judge, values, time)
        connection.execute("UPDATE assessor SET assigned = assigned + 1 WHERE id = ?", (assessor,))


def _judgement(
    connection: sqlite3.Connection,
    kept: _Kept,
    assignment: int,
    assessor: int,
    judge: str,
    values: dict[str, Any],
    time: str,
) -> None:
    shown = shown_in(connection, assignment)
    value: dict[str, Any] = {"ratings": values}
    if kept.task == "nuggets":
        value = {"nuggets": {id: {"label": label} for id, label in values.items()}}
    if len(values) < (kept.wanted or len(shown.nuggets)):
        value["done"] = False
    if told := TASKS[kept.task].check(value, shown):
        raise InputError(f"judge {short(judge)}: {told}")
    output = shown.outputs[0].id
    uuid = str(uuid5(_NAMES, json.dumps([kept.project.set_digest, judge, output])))
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    added = connection.execute(
        "INSERT INTO judgement (uuid, assignment, assessor, value, ms, time) "
        "VALUES (?, ?, ?, ?, 0, ?)",
        (uuid, assignment, assessor, text, time),
    )
    if is_done(value):
        connection.execute(
            "UPDATE assignment SET judged = ? WHERE id = ?", (added.lastrowid, assignment)
        )
        connection.execute("UPDATE assessor SET judged = judged + 1 WHERE id = ?", (assessor,))
        connection.execute(
            "UPDATE unit SET taken = taken + 1 "
            "WHERE id = (SELECT unit FROM assignment WHERE id = ?)",
            (assignment,),
        )


def _decide(connection: sqlite3.Connection, kept: _Kept, rows: list[Earlier]) -> None:
    """Add what was adjudicated as decisions."""
    for one in rows:
        if one.kind == ADJUDICATED:
            uuid = str(uuid5(_NAMES, json.dumps([kept.project.set_digest, *one])))
            connection.execute(
                "INSERT OR IGNORE INTO adjudication (uuid, task, item, output, about, value, "
                "assessor, seen, time) SELECT ?, ?, item, id, ?, ?, ?, '[]', ? FROM output "
                "WHERE id = ?",
                (
                    *(uuid, kept.task, one.about, json.dumps(one.value), kept.ids[one.judge]),
                    *(stamp(), one.output),
                ),
            )
