"""Import of the judgements of a set into a new store, so that judging can continue.

People become assessors with new tokens, and adjudicated values become decisions. Only ratings and
labels of nuggets are imported, without those of models. If a judge rated only some dimensions of an
output, the answer is a draft.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from karat.errors import InputError, short
from karat.estimation.planning import ASSUMED
from karat.evalset.draws import SEGMENT, Draw
from karat.evalset.judgements import ADJUDICATED, MODEL
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.keys_and_runs import normal
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.studio.assignment import UNIT_COLUMNS, Unit, add_units, insert_assignment
from karat.studio.store.draws import NOT_RANDOM
from karat.studio.store.judgements import set_counted_judgement, view_in
from karat.studio.store.people import assessors, invite, record, stamp
from karat.studio.store.projects import Project, project
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, RATINGS
from karat.studio.tasks.nuggets import LABELS
from karat.studio.tasks.task import Task

BEFORE = "judged before"
"""Reason of assignments that were judged before the import."""
_NAMES = UUID("6f1c3d1e-2f0a-4b57-9a55-0d8f6f3c7a10")
_LABEL = {value: name for name, value in LABELS.items()}


class EarlierJudgement(NamedTuple):
    """A value of an output in a set."""

    output: int
    judge: str
    kind: str
    about: str
    value: Any


def take_over_judgements(store: Store, source: EvalSet | NuggetSet) -> dict[str, str]:
    """Import the judgements of the set of a store; return a token for each assessor.

    Judged items form round 1 and count as random, unless the set has draws: then items without a
    draw count as not random.
    """
    target = project(store)
    task = NUGGETS if isinstance(source, NuggetSet) else RATINGS
    dimensions = {scale["dimension"] for scale in target.settings.rating_scales}
    with store.read() as connection:
        if connection.row("SELECT 1 FROM unit WHERE round > 0"):
            raise InputError("judging has begun: earlier judgements go into a new store")
        rows = [
            row
            for row in _read_judgements(source, connection)
            if task == NUGGETS or row.about in dimensions
        ]
    if not target.settings.has(task) or not rows:
        problem = "has no judgements by people that the project's tasks can take"
        raise InputError(f"{short(source.name)} {problem}")
    kinds = {row.judge: row.kind for row in rows}
    tokens = {
        name: invite(store, name, "adjudicator" if kind == ADJUDICATED else "assessor")
        for name, kind in kinds.items()
    }
    ids = {assessor.name: assessor.id for assessor in assessors(store)}
    with store.write() as connection:
        draws = source.draws if isinstance(source, EvalSet) else None
        _add_draws(connection, target, rows, draws)
        _add_answers(connection, target, task, ids, rows)
        for row in rows:
            if row.kind == ADJUDICATED:
                uuid = str(uuid5(_NAMES, json.dumps([target.set_digest, *row])))
                connection.execute(
                    "INSERT OR IGNORE INTO adjudication (uuid, task, item, output, about, value, "
                    "assessor, seen, time) SELECT ?, ?, item, id, ?, ?, ?, '[]', ? FROM output "
                    "WHERE id = ?",
                    (
                        *(uuid, task.name, row.about, json.dumps(row.value)),
                        *(ids[row.judge], stamp(), row.output),
                    ),
                )
        record(connection, "earlier", judgements=len(rows), judges=len(tokens))
    return tokens


def _read_judgements(
    source: EvalSet | NuggetSet, connection: StoreConnection
) -> Iterator[EarlierJudgement]:
    """Yield the values by people and adjudicated ones."""
    outputs = connection.rows(
        "SELECT output.id, segment, system, text FROM output JOIN item ON item.id = item "
        "WHERE NOT calibration"
    )
    if isinstance(source, EvalSet):
        rated_ids = {(segment, system): id for id, segment, system, _ in outputs}
        kinds = source.judgements.judge_kinds
        for rating in source.judgements:
            kind = kinds.get(rating.judge, "")
            if kind != MODEL:
                value = int(rating.value) if rating.value.is_integer() else rating.value
                output = rated_ids[rating.segment, rating.system]
                yield EarlierJudgement(output, rating.judge, kind, rating.dimension, value)
        return
    ids: dict[tuple[str, str, str], list[int]] = {}
    for id, segment, system, text in outputs:
        for run in (system, ""):  # a judgement without a run applies to all runs with this text
            ids.setdefault((segment, run, normal(text)), []).append(id)
    for row in source.judgements.deciding:
        if not row.judge:
            raise InputError(f"{short(source.name)} has judgements without a judge: name one")
        for id in ids.get((row.question, row.run, normal(row.response)), ()):
            yield EarlierJudgement(id, row.judge, row.kind, row.nugget, _LABEL[row.value])


def _add_draws(
    connection: StoreConnection,
    target: Project,
    rows: Sequence[EarlierJudgement],
    draws: tuple[Draw, ...] | None,
) -> None:
    """Make rounds and units of the judged items, by the draws of the set."""
    item = dict(connection.rows("SELECT id, item FROM output"))
    segment = dict(connection.rows("SELECT id, segment FROM item WHERE NOT calibration"))
    judged = list(dict.fromkeys(item[row.output] for row in rows))
    draws_by_segment: dict[str, Draw] = {}
    for draw in draws or ():
        if draw.of != SEGMENT:
            raise InputError("the set has draws of groups: a store draws segments; leave them out")
        draws_by_segment.setdefault(draw.unit, draw)
    simple = Draw("", len(judged) / len(segment), ASSUMED) if draws is None else Draw("", None)
    rounds: dict[int, list[int]] = {}
    for id in judged:
        draw = draws_by_segment.get(segment[id], simple)
        reason = draw.reason or BEFORE
        if draw.probability is None and not draw.reason.startswith(NOT_RANDOM):
            reason = f"{NOT_RANDOM}: {draw.reason}" if draw.reason else NOT_RANDOM
        share = 1.0 if draw.probability is None else draw.probability
        connection.insert("draw", item=id, round=draw.round, probability=share, reason=reason)
        rounds.setdefault(draw.round, []).append(id)
    for number, items in sorted(rounds.items()):
        add_units(connection, target.settings, number, items)


def _add_answers(
    connection: StoreConnection,
    target: Project,
    task: Task,
    ids: Mapping[str, int],
    rows: Sequence[EarlierJudgement],
) -> None:
    """Add an assignment and a judgement for each judge and output; `ids` are assessors by name."""
    answers: dict[tuple[int, str], dict[str, Any]] = {}
    for row in rows:
        if row.kind != ADJUDICATED:
            value = answers.setdefault((row.output, row.judge), {task.name: {}})
            value[task.name] |= task.decision_to_answer(row.value, row.about)[task.name]
    query = f"SELECT {UNIT_COLUMNS} FROM unit WHERE task = ? AND outputs = ?"
    for (output, judge), value in answers.items():
        assessor, time = ids[judge], stamp()
        unit = Unit(*connection.row(query, task.name, json.dumps([output])))
        assignment = insert_assignment(connection, unit, assessor, 0, time)
        view = view_in(connection, assignment)
        is_complete = not task.find_error(value, view)
        if not is_complete:
            value["done"] = False
            if error := task.find_error(value, view):
                raise InputError(f"judge {short(judge)}: {error}")
        judgement = connection.insert(
            "judgement",
            uuid=str(uuid5(_NAMES, json.dumps([target.set_digest, judge, output]))),
            assignment=assignment,
            assessor=assessor,
            value=json.dumps(value, ensure_ascii=False, sort_keys=True),
            ms=0,
            time=time,
        )
        if is_complete:
            set_counted_judgement(connection, assignment, judgement, None)
