"""One label for each judged thing, and the values of each judge.

The label is the adjudicated one, else that of most people; for ratings and penalties, their mean.
If people are equally divided on a pair or nugget, the basis is `tie`. Such labels are listed
apart, and left out of formats with yes and no only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.nuggets.sets.keys_and_runs import normal
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.studio.export.contents import Contents
from karat.studio.export.sets import make_nugget_set
from karat.studio.export.spans import csv_line
from karat.studio.export.values import MAJORITY, TIE, JudgedValue, all_values, pair_labels
from karat.studio.tasks import NUGGETS, PAIRS, RATINGS, SPANS, TASKS
from karat.studio.tasks.pairs import WIN, pair_name
from karat.studio.tasks.task import CurrentAnswer

MEAN = "mean"


class OutputLabel(NamedTuple):
    """The label of an output or a pair."""

    task: str
    segment: str
    system: str
    other: str
    """The system that the output was compared with."""
    output: str
    """The id of the output, or the ids of a pair: a system may have several responses."""
    about: str
    label: float
    basis: str
    """adjudicated, majority, mean or tie."""
    votes: tuple[float, ...]


def make_labels(contents: Contents) -> list[OutputLabel]:
    """Return one label for each output and dimension, pair, and response and nugget."""
    return [*_rating_labels(contents), *_pair_labels(contents), *_nugget_labels(contents)]


def _rating_labels(contents: Contents) -> Iterator[OutputLabel]:
    by_dimension: dict[tuple[int, str], list[JudgedValue]] = {}
    for value in all_values(contents):
        if value.dimension != WIN.name:
            by_dimension.setdefault((value.output, value.dimension), []).append(value)
    rated_dimensions = {scale["dimension"] for scale in contents.project.settings.rating_scales}
    for (id, dimension), values in by_dimension.items():
        people = tuple(value.value for value in values if value.kind == PERSON)
        adjudicated = [value.value for value in values if value.kind == ADJUDICATED]
        label = adjudicated[0] if adjudicated else sum(people) / len(people)
        basis = ADJUDICATED if adjudicated else MEAN
        task = RATINGS if dimension in rated_dimensions else SPANS
        location = *_segment_and_system(contents, id), "", str(id)
        yield OutputLabel(task.name, *location, dimension, label, basis, people)


def _segment_and_system(contents: Contents, id: int) -> tuple[str, str]:
    output = contents.outputs[id]
    return contents.items[output.item].segment, output.system


def _pair_labels(contents: Contents) -> Iterator[OutputLabel]:
    for label in pair_labels(contents):
        segment, system = _segment_and_system(contents, label.first)
        other = contents.outputs[label.second].system
        location = segment, system, other, pair_name((label.first, label.second))
        yield OutputLabel(PAIRS.name, *location, WIN.name, label.share, label.basis, label.votes)


def _nugget_labels(contents: Contents) -> Iterator[OutputLabel]:
    if not contents.project.settings.has(NUGGETS):
        return
    votes: dict[tuple[int, str], list[float]] = {}
    for answer in contents.answers_to(NUGGETS):
        for id, nugget, value in NUGGETS.to_judgements(answer.value, answer.outputs):
            votes.setdefault((id, nugget), []).append(value)
    for decision in contents.decisions_on(NUGGETS):
        if decision.output is not None:  # the answers may have been undone
            votes.setdefault((decision.output, decision.about), [])
    judgements = make_nugget_set(contents).judgements
    adjudicated = {row.words for row in judgements.rows if row.kind == ADJUDICATED}
    for (id, nugget), values in votes.items():
        segment, system = _segment_and_system(contents, id)
        words = (segment, nugget, normal(contents.outputs[id].text))
        is_tie = judgements.tie(*words) is not None
        basis = ADJUDICATED if words in adjudicated else TIE if is_tie else MAJORITY
        location = segment, system, "", str(id)
        label = judgements.values[words]
        yield OutputLabel(NUGGETS.name, *location, nugget, label, basis, tuple(values))


def label_lines(labels: list[OutputLabel]) -> Iterator[str]:
    """Yield a table of labels; the label of a tie is `tie`."""
    yield "\t".join(OutputLabel._fields) + "\n"
    for row in labels:
        label = TIE if row.basis == TIE else repr(row.label)
        votes = " ".join(map(repr, row.votes))
        yield "\t".join((*row[:6], label, row.basis, votes)) + "\n"


def drop_ties(nuggets: NuggetSet) -> NuggetSet:
    """Return a nugget set with one label for each response and nugget, and none for ties."""
    judgements, labelled, rows = nuggets.judgements, set(), []
    for row in judgements.deciding:
        if (row.run, row.words) in labelled or judgements.tie(*row.words) is not None:
            continue
        labelled.add((row.run, row.words))
        rows.append(row._replace(value=judgements.values[row.words], judge="", kind=""))
    return NuggetSet(nuggets.name, nuggets.key, nuggets.runs, judgements.with_rows(rows))


# Values of each judge

CSV_COLUMNS = (
    *("task", "segment", "group", "system", "other", "judge", "kind", "about", "value", "comment"),
    *("ms", "time", "reason", "probability", "uuid"),
)


def judgement_lines(contents: Contents, spreadsheet_safe: bool = False) -> Iterator[str]:
    """Yield a CSV file with a row for each current value of each judge."""
    yield csv_line(CSV_COLUMNS, spreadsheet_safe)
    for answer in contents.answers:
        for row in _answer_rows(contents, answer):
            yield csv_line(row, spreadsheet_safe)
    for decision in contents.decisions:
        item = contents.items[decision.item]
        system = "" if decision.output is None else contents.outputs[decision.output].system
        is_nugget = decision.task == NUGGETS.name
        value = NUGGETS.decided_label(decision) if is_nugget else _cell(decision.value)
        yield csv_line(
            (
                *(decision.task, item.segment, item.group or "", system, "", contents.decider),
                *(ADJUDICATED, decision.about, value, "", "", decision.time, "", ""),
                decision.uuid,
            ),
            spreadsheet_safe,
        )


def _answer_rows(contents: Contents, answer: CurrentAnswer) -> Iterator[tuple[object, ...]]:
    item, judge = contents.items[answer.item], contents.names[answer.assessor]
    probability = "" if answer.probability is None else answer.probability
    comment = answer.value.get("comment", "")
    details = comment, answer.ms, answer.time, answer.reason, probability, answer.uuid
    for id, about, value in TASKS[answer.task].exported_rows(answer.value, answer.outputs):
        system = contents.outputs[id].system
        opponents = [contents.outputs[other].system for other in answer.outputs if other != id]
        location = answer.task, item.segment, item.group or "", system, "".join(opponents), judge
        yield (*location, PERSON, about, _cell(value), *details)


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
