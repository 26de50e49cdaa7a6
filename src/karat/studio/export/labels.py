"""One label for each thing that was judged, and each judge's value.

The label is what was adjudicated, else what most people said, for ratings and penalties their mean.
Where people are equally divided on a pair or nugget, the basis is `tie`: such labels are listed
apart, and left out where a format knows yes and no only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.nuggets.sets.keys_and_runs import normal
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.studio.export.contents import Contents, ExportedAnswer
from karat.studio.export.sets import NUGGETS, nuggets_of
from karat.studio.export.spans import csv_line
from karat.studio.export.values import (
    MAJORITY,
    TIE,
    WON,
    Value,
    decided_label,
    pair_labels,
    pair_name,
    values_of,
)
from karat.studio.tasks import TASKS

MEAN = "mean"


class Label(NamedTuple):
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


def labels_of(contents: Contents) -> list[Label]:
    """Return one label for each output and dimension, pair, and response and nugget."""
    return [*_rated(contents), *_compared(contents), *_nuggets(contents)]


def _rated(contents: Contents) -> Iterator[Label]:
    found: dict[tuple[int, str], list[Value]] = {}
    for one in values_of(contents):
        if one.dimension != WON:
            found.setdefault((one.output, one.dimension), []).append(one)
    scales = contents.project.settings.tasks.get("ratings", {}).get("scales", ())
    rated = {one["dimension"] for one in scales}
    for (id, dimension), values in found.items():
        people = tuple(one.value for one in values if one.kind == PERSON)
        settled = [one.value for one in values if one.kind == ADJUDICATED]
        label = settled[0] if settled else sum(people) / len(people)
        basis = ADJUDICATED if settled else MEAN
        task = "ratings" if dimension in rated else "spans"
        place = *_place(contents, id), "", str(id)
        yield Label(task, *place, dimension, label, basis, people)


def _place(contents: Contents, id: int) -> tuple[str, str]:
    output = contents.outputs[id]
    return contents.items[output.item].segment, output.system


def _compared(contents: Contents) -> Iterator[Label]:
    for one in pair_labels(contents):
        segment, system = _place(contents, one.first)
        other = contents.outputs[one.second].system
        place = segment, system, other, pair_name((one.first, one.second))
        yield Label("pairs", *place, WON, one.share, one.basis, one.votes)


def _nuggets(contents: Contents) -> Iterator[Label]:
    if NUGGETS not in contents.project.settings.tasks:
        return
    votes: dict[tuple[int, str], list[float]] = {}
    for one in contents.of_task(NUGGETS):
        for id, nugget, value in TASKS[NUGGETS].to_judgements(one.value, one.outputs):
            votes.setdefault((id, nugget), []).append(value)
    for decision in contents.decided(NUGGETS):
        if decision.output is not None:  # the answers may have been undone
            votes.setdefault((decision.output, decision.about), [])
    known = nuggets_of(contents).judgements
    settled = {one.words for one in known.rows if one.kind == ADJUDICATED}
    for (id, nugget), own in votes.items():
        segment, system = _place(contents, id)
        words = (segment, nugget, normal(contents.outputs[id].text))
        divided = known.tie(*words) is not None
        basis = ADJUDICATED if words in settled else TIE if divided else MAJORITY
        label = known.known[words]
        yield Label(NUGGETS, segment, system, "", str(id), nugget, label, basis, tuple(own))


def label_lines(labels: list[Label]) -> Iterator[str]:
    """Yield a table of labels; the label of a tie is `tie`."""
    yield "\t".join(Label._fields) + "\n"
    for one in labels:
        label = TIE if one.basis == TIE else repr(one.label)
        votes = " ".join(map(repr, one.votes))
        yield "\t".join((*one[:6], label, one.basis, votes)) + "\n"


def without_ties(nuggets: NuggetSet) -> NuggetSet:
    """Return a nugget set with one label for each response and nugget, and none for ties."""
    known, seen, rows = nuggets.judgements, set(), []
    for one in known.deciding:
        if (one.run, one.words) in seen or known.tie(*one.words) is not None:
            continue
        seen.add((one.run, one.words))
        rows.append(one._replace(value=known.known[one.words], judge="", kind=""))
    return NuggetSet(nuggets.name, nuggets.key, nuggets.runs, known.with_rows(rows))


# ------------------------------------------------------------------------- each judge's values

JUDGED = (
    *("task", "segment", "group", "system", "other", "judge", "kind", "about", "value", "comment"),
    *("ms", "time", "reason", "probability", "uuid"),
)


def judged_lines(contents: Contents, spreadsheet_safe: bool = False) -> Iterator[str]:
    """Yield a CSV file with a row for each value that counts now, by judge."""
    yield csv_line(JUDGED, spreadsheet_safe)
    for answer in contents.answers:
        for row in _rows(contents, answer):
            yield csv_line(row, spreadsheet_safe)
    for one in contents.decisions:
        item = contents.items[one.item]
        system = "" if one.output is None else contents.outputs[one.output].system
        value = decided_label(one) if one.task == NUGGETS else _plain(one.value)
        yield csv_line(
            (
                *(one.task, item.segment, item.group or "", system, "", contents.decider),
                *(ADJUDICATED, one.about, value, "", "", one.time, "", "", one.uuid),
            ),
            spreadsheet_safe,
        )


def _rows(contents: Contents, answer: ExportedAnswer) -> Iterator[tuple[object, ...]]:
    item, judge = contents.items[answer.item], contents.names[answer.assessor]
    share = "" if answer.probability is None else answer.probability
    after = answer.value.get("comment", ""), answer.ms, answer.time, answer.reason, share
    for id, about, value in _values(answer):
        system = contents.outputs[id].system
        others = [contents.outputs[one].system for one in answer.outputs if one != id]
        before = answer.task, item.segment, item.group or "", system, "".join(others), judge
        yield (*before, PERSON, about, _plain(value), *after, answer.uuid)


def _values(answer: ExportedAnswer) -> list[tuple[int, str, Any]]:
    rows = TASKS[answer.task].to_judgements(answer.value, answer.outputs)
    if answer.task == "pairs":
        return rows[:1]  # the other output's is the rest
    if answer.task == "spans":  # one row, so that an output without errors has one, too
        marked = (answer.outputs[0], "spans", answer.value["spans"])
        return [marked, *(row for row in rows if row[1] != "span")]
    return rows


def _plain(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
