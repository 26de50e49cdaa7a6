"""Judgements that a set has already: taken into a new store, so that judging goes on.

People become assessors, who may be invited by new tokens, and what was adjudicated becomes
decisions. Labels of models are left out. Ratings and labels of nuggets are taken; an output of
which a judge rated some dimensions only is a draft of that judge.
"""

from __future__ import annotations

import json
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
from karat.studio.assignment import add_units
from karat.studio.store.draws import NOT_RANDOM, draw_probability
from karat.studio.store.judgements import view_in
from karat.studio.store.people import assessors, invite, record, stamp
from karat.studio.store.projects import Project, project
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, RATINGS
from karat.studio.tasks.nuggets import LABELS, NuggetTask
from karat.studio.tasks.ratings import RatingTask
from karat.studio.tasks.task import is_done

BEFORE = "judged before"
"""The reason of assignments that were judged before the import."""
_NAMES = UUID("6f1c3d1e-2f0a-4b57-9a55-0d8f6f3c7a10")
_LABEL = {value: name for name, value in LABELS.items()}


class EarlierJudgement(NamedTuple):
    """A value that a set has of an output."""

    output: int
    judge: str
    kind: str
    about: str
    value: Any


class _TakeoverTarget(NamedTuple):
    """The project and assessors that are written to."""

    project: Project
    task: RatingTask | NuggetTask
    ids: Mapping[str, int]
    """Judge -> assessor."""


def take_over_judgements(store: Store, source: EvalSet | NuggetSet) -> dict[str, str]:
    """Add the judgements of the set that a store was made of; return a token for each assessor.

    Items that were judged make round 1, assumed to be drawn at random unless the set has draws.
    What these do not list was not drawn at random.
    """
    target_project = project(store)
    task: RatingTask | NuggetTask = NUGGETS if isinstance(source, NuggetSet) else RATINGS
    with store.read() as connection:
        if connection.row("SELECT 1 FROM unit WHERE round > 0"):
            raise InputError("judging has begun: earlier judgements go into a new store")
        rows = list(
            _read_labels(source, connection)
            if isinstance(source, NuggetSet)
            else _read_ratings(source, connection)
        )
    dimensions = {scale["dimension"] for scale in target_project.settings.rating_scales}
    rows = [row for row in rows if task == NUGGETS or row.about in dimensions]
    if not target_project.settings.has(task) or not rows:
        problem = "has no judgements by people that the project's tasks can take"
        raise InputError(f"{short(source.name)} {problem}")
    kinds = {entry.judge: entry.kind for entry in rows}
    roles = {
        name: "adjudicator" if kind == ADJUDICATED else "assessor" for name, kind in kinds.items()
    }
    tokens = {name: invite(store, name, role) for name, role in roles.items()}
    ids = {entry.name: entry.id for entry in assessors(store)}
    with store.write() as connection:
        draws = source.draws if isinstance(source, EvalSet) else None
        _add_draws(connection, target_project, rows, draws)
        target = _TakeoverTarget(target_project, task, ids)
        _add_answers(connection, target, rows)
        _add_decisions(connection, target, rows)
        record(connection, "earlier", judgements=len(rows), judges=len(tokens))
    return tokens


def _read_ratings(evalset: EvalSet, connection: StoreConnection) -> Iterator[EarlierJudgement]:
    ids = {(segment, system): id for id, segment, system, _ in _read_outputs(connection)}
    kinds = evalset.judgements.judge_kinds
    for row in evalset.judgements:
        kind = kinds.get(row.judge, "")
        if kind != MODEL:
            value = int(row.value) if row.value.is_integer() else row.value
            output = ids[row.segment, row.system]
            yield EarlierJudgement(output, row.judge, kind, row.dimension, value)


def _read_labels(nuggets: NuggetSet, connection: StoreConnection) -> Iterator[EarlierJudgement]:
    ids: dict[tuple[str, str, str], list[int]] = {}
    for id, segment, system, text in _read_outputs(connection):
        for run in (system, ""):  # a judgement without a run is of the words, whoever's they are
            ids.setdefault((segment, run, normal(text)), []).append(id)
    for row in nuggets.judgements.deciding:
        if not row.judge:
            raise InputError(f"{short(nuggets.name)} has judgements without a judge: name one")
        for id in ids.get((row.question, row.run, normal(row.response)), ()):
            yield EarlierJudgement(id, row.judge, row.kind, row.nugget, _LABEL[row.value])


def _read_outputs(connection: StoreConnection) -> list[tuple[int, str, str, str]]:
    return connection.rows(
        "SELECT output.id, segment, system, text FROM output JOIN item ON item.id = item "
        "WHERE NOT calibration"
    )


def _add_draws(
    connection: StoreConnection,
    target_project: Project,
    rows: list[EarlierJudgement],
    draws: tuple[Draw, ...] | None,
) -> None:
    """Make rounds and units of the items that were judged, or that the set says were drawn."""
    item = dict(connection.rows("SELECT id, item FROM output"))
    segment = dict(connection.rows("SELECT id, segment FROM item"))
    judged = list(dict.fromkeys(item[item_draw.output] for item_draw in rows))
    n_items = connection.value("SELECT count(*) FROM item WHERE NOT calibration")
    draws_by_segment: dict[str, Draw] = {}
    for draw in draws or ():
        if draw.of != SEGMENT:
            raise InputError("the set has draws of groups: a store draws segments; leave them out")
        draws_by_segment.setdefault(draw.unit, draw)
    simple = Draw("", len(judged) / n_items, ASSUMED) if draws is None else Draw("", None)
    rounds: dict[int, list[int]] = {}
    for id in judged:
        item_draw = draws_by_segment.get(segment[id], simple)
        share = 1.0 if item_draw.probability is None else item_draw.probability
        connection.execute(
            "INSERT INTO draw (item, round, probability, reason) VALUES (?, ?, ?, ?)",
            (id, item_draw.round, share, _draw_reason(item_draw)),
        )
        rounds.setdefault(item_draw.round, []).append(id)
    for number, items in sorted(rounds.items()):
        add_units(connection, target_project.settings, number, items)


def _draw_reason(draw: Draw) -> str:
    """Return why an item was judged; it says so if the item was not drawn at random."""
    if draw.probability is not None or draw.reason.startswith(NOT_RANDOM):
        return draw.reason or BEFORE
    return f"{NOT_RANDOM}: {draw.reason}" if draw.reason else NOT_RANDOM


def _add_answers(
    connection: StoreConnection, target: _TakeoverTarget, rows: list[EarlierJudgement]
) -> None:
    """Add an assignment and a judgement for each judge and output."""
    answers: dict[tuple[int, str], dict[str, Any]] = {}
    for row in rows:
        if row.kind != ADJUDICATED:
            answers.setdefault((row.output, row.judge), {})[row.about] = row.value
    for (output, judge), values in answers.items():
        unit, item, number = connection.row(
            "SELECT unit.id, unit.item, round FROM output JOIN unit ON unit.item = output.item "
            "WHERE output.id = ? AND task = ? AND outputs = ?",
            output,
            target.task.name,
            json.dumps([output]),
        )
        share, reason = connection.row("SELECT probability, reason FROM draw WHERE item = ?", item)
        assessor, time = target.ids[judge], stamp()
        assignment_row = connection.execute(
            "INSERT INTO assignment (unit, assessor, task, item, outputs, reason, probability, "
            "round, seed, ord, made) SELECT ?, id, ?, ?, ?, ?, ?, ?, 0, assigned + 1, ? "
            "FROM assessor WHERE id = ?",
            (
                *(
                    unit,
                    target.task.name,
                    item,
                    json.dumps([output]),
                    reason,
                    draw_probability(share, reason),
                ),
                *(number, time, assessor),
            ),
        )
        _add_judgement(
            connection, target, int(assignment_row.lastrowid or 0), assessor, judge, values, time
        )
        connection.execute("UPDATE assessor SET assigned = assigned + 1 WHERE id = ?", (assessor,))


def _add_judgement(
    connection: StoreConnection,
    target: _TakeoverTarget,
    assignment: int,
    assessor: int,
    judge: str,
    values: dict[str, Any],
    time: str,
) -> None:
    view = view_in(connection, assignment)
    value = target.task.make_answer(values)
    if len(values) < target.task.count_values(view):
        value["done"] = False
    if error := target.task.find_error(value, view):
        raise InputError(f"judge {short(judge)}: {error}")
    output = view.outputs[0].id
    uuid = str(uuid5(_NAMES, json.dumps([target.project.set_digest, judge, output])))
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


def _add_decisions(
    connection: StoreConnection, target: _TakeoverTarget, rows: list[EarlierJudgement]
) -> None:
    """Add what was adjudicated as decisions."""
    for row in rows:
        if row.kind == ADJUDICATED:
            uuid = str(uuid5(_NAMES, json.dumps([target.project.set_digest, *row])))
            connection.execute(
                "INSERT OR IGNORE INTO adjudication (uuid, task, item, output, about, value, "
                "assessor, seen, time) SELECT ?, ?, item, id, ?, ?, ?, '[]', ? FROM output "
                "WHERE id = ?",
                (
                    *(
                        uuid,
                        target.task.name,
                        row.about,
                        json.dumps(row.value),
                        target.ids[row.judge],
                    ),
                    *(stamp(), row.output),
                ),
            )
