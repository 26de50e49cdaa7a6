"""Values and labels of a store, and the sets made from them.

Each current answer and decision yields values: rows of judge, output, dimension or nugget, and
value. Comparisons yield the share of pairs that an output won. The label of a pair is the
adjudicated one, else that of the majority; if assessors are equally divided, its basis is `tie`
(which is also an answer).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from karat.errors import InputError, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.evalset.reading import FileLocation, Reading, format_json_line
from karat.evalset.sets import EvalSet
from karat.nuggets.formats.json_lines import jsonl_lines, take_rows
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetDraft, NuggetSet
from karat.studio.contents import Contents, read_contents
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, PAIRS, TASKS
from karat.studio.tasks.pairs import WIN

MAJORITY, TIE = "majority", "tie"


class ExportedValue(NamedTuple):
    """A value of an output by a judge."""

    output: int
    judge: str
    dimension: str
    """Or a nugget."""
    value: float
    kind: str = PERSON


class PairPreference(NamedTuple):
    """A comparison of two outputs; the first has the smaller id."""

    item: int
    first: int
    second: int
    judge: str
    share: float
    """1 if the first is better, 0 if the second is, 0.5 for a tie."""
    kind: str = PERSON


class PairLabel(NamedTuple):
    """The label of a pair."""

    item: int
    first: int
    second: int
    share: float
    basis: str
    """adjudicated, majority, or tie if assessors are equally divided."""
    votes: tuple[float, ...]


def all_values(contents: Contents) -> Iterator[ExportedValue]:
    """Yield the values of all judges, with win shares of compared outputs."""
    yield from rated_values(contents)
    shares_won: dict[tuple[int, str, str], dict[str, list[float]]] = {}
    for row in all_preferences(contents):
        sides = ((row.first, row.second, row.share), (row.second, row.first, 1 - row.share))
        for output, opponent, share in sides:
            by_opponent = shares_won.setdefault((output, row.judge, row.kind), {})
            by_opponent.setdefault(contents.outputs[opponent].system, []).append(share)
    for (output, judge, kind), by_opponent in shares_won.items():
        means = [sum(shares) / len(shares) for shares in by_opponent.values()]
        yield ExportedValue(output, judge, WIN.name, sum(means) / len(means), kind)


def rated_values(contents: Contents) -> Iterator[ExportedValue]:
    """Yield ratings, penalties and scores: first by people, then adjudicated."""
    settings, decider = contents.project.settings.tasks, contents.decider
    for answer in contents.answers:
        judge = contents.names[answer.assessor]
        for dimension, value in TASKS[answer.task].to_ratings(answer.value, settings[answer.task]):
            yield ExportedValue(answer.outputs[0], judge, dimension, value)
    for decision in contents.decisions:
        if decision.output is not None:
            task, task_settings = TASKS[decision.task], settings[decision.task]
            for dimension, value in task.decision_to_ratings(decision, task_settings):
                yield ExportedValue(decision.output, decider, dimension, value, ADJUDICATED)


def nugget_values(contents: Contents) -> Iterator[ExportedValue]:
    """Yield the labels of nuggets: first by people, then adjudicated."""
    for answer in contents.answers_to(NUGGETS):
        judge = contents.names[answer.assessor]
        for output, nugget, value in NUGGETS.to_judgements(answer.value, answer.outputs):
            yield ExportedValue(output, judge, nugget, value)
    for row in contents.decisions_on(NUGGETS):
        if row.output is not None:
            label = NUGGETS.decided_label(row)
            yield ExportedValue(row.output, contents.decider, row.about, label, ADJUDICATED)


# Comparisons


def assessor_preferences(contents: Contents) -> list[PairPreference]:
    """Return the comparisons of all assessors."""
    preferences = []
    for answer in contents.answers_to(PAIRS):
        rows = PAIRS.to_judgements(answer.value, answer.outputs)
        shares = {output: share for output, _, share in rows}
        first, second = sorted(shares)
        judge = contents.names[answer.assessor]
        preferences.append(PairPreference(answer.item, first, second, judge, shares[first]))
    return preferences


def pair_labels(contents: Contents) -> list[PairLabel]:
    """Return one label for each compared or decided pair."""
    votes: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for preference in assessor_preferences(contents):
        votes[preference[:3]].append(preference.share)
    decided_shares = {}
    for decision in contents.decisions_on(PAIRS):
        outputs = [id for id, output in contents.outputs.items() if output.item == decision.item]
        (first, second), share = PAIRS.decided_pair(decision, outputs)
        decided_shares[decision.item, first, second] = share
        votes.setdefault((decision.item, first, second), [])  # answers may have been undone
    labels = []
    for pair, shares in votes.items():
        if pair in decided_shares:
            label = decided_shares[pair], ADJUDICATED
        else:
            (share, count), *runners_up = Counter(shares).most_common()
            is_tie = bool(runners_up) and runners_up[0][1] == count
            label = (0.5, TIE) if is_tie else (share, MAJORITY)
        labels.append(PairLabel(*pair, *label, tuple(shares)))
    return labels


def all_preferences(contents: Contents) -> list[PairPreference]:
    """Return the comparisons of all assessors, and the labels of items with an adjudicated pair.

    An adjudicated value of an output replaces all values of people. So if one pair of an item was
    adjudicated, the labels of its other pairs are added.
    """
    labels = pair_labels(contents)
    adjudicated_items = {label.item for label in labels if label.basis == ADJUDICATED}
    decider = contents.decider
    return assessor_preferences(contents) + [
        PairPreference(label.item, label.first, label.second, decider, label.share, ADJUDICATED)
        for label in labels
        if label.item in adjudicated_items
    ]


def preference_lines(contents: Contents) -> Iterator[str]:
    """Yield comparisons as JSON lines, in the format of `--judgements`."""
    dimension = {"name": WIN.name, "better": "higher", "low": 0.0, "high": 1.0}
    yield format_json_line({"judgements": contents.project.name, "dimensions": [dimension]})
    for row in all_preferences(contents):
        yield format_json_line(
            {
                "segment": contents.items[row.item].segment,
                "system": contents.outputs[row.first].system,
                "other": contents.outputs[row.second].system,
                "judge": row.judge,
                "dimension": WIN.name,
                "value": row.share,
                "kind": row.kind,
            }
        )


def win_lines(contents: Contents) -> Iterator[str]:
    """Yield a table of systems against each other: labels won, lost and tied, and their mean.

    `divided` labels are ties because assessors disagree equally; `tied` labels are other ties.
    Every pair has two rows, one from the side of each system.
    """
    yield "\t".join(("system", "other", "pairs", "won", "lost", "tied", "divided", "share")) + "\n"
    labels_by_pair: dict[tuple[str, str], list[PairLabel]] = defaultdict(list)
    for label in pair_labels(contents):
        first, second = (contents.outputs[id].system for id in (label.first, label.second))
        labels_by_pair[first, second].append(label)
        labels_by_pair[second, first].append(label._replace(share=1 - label.share))
    for pair, labels in sorted(labels_by_pair.items()):
        shares = [label.share for label in labels]
        n_divided = sum(label.basis == TIE for label in labels)
        n_tied = shares.count(0.5) - n_divided
        counts = len(shares), shares.count(1.0), shares.count(0.0), n_tied, n_divided
        yield "\t".join(map(str, (*pair, *counts, fmean(shares)))) + "\n"


# Sets


def make_evalset(contents: Contents) -> EvalSet:
    """Return ratings, penalties, scores and comparisons as an evaluation set with its draws."""
    name, items = contents.project.name, contents.items.values()
    dimensions = contents.project.settings.dimensions
    if not dimensions:
        raise InputError(f"{short(name)} has nuggets only: export it as nuggets or trec")
    positions = {id: position for position, id in enumerate(contents.items)}
    columns: dict[str, list[str | None]] = {
        system: [None] * len(positions) for system in contents.systems
    }
    for output in contents.outputs.values():
        columns[output.system][positions[output.item]] = output.text
    draft = EvalSetDraft(
        name,
        [item.segment for item in items],
        columns,
        reading=Reading(),
        location=name,
        references=[item.references for item in items],
        groups=_text_column([item.group for item in items]),
        sources=_text_column([item.source for item in items]),
        dimensions=dimensions,
    )
    for row in rated_values(contents):
        system, segment = contents.outputs[row.output].system, contents.segment(row.output)
        draft.judge(system, segment, row.judge, row.dimension, row.value, kind=row.kind)
    for pair in all_preferences(contents):
        first, other = (contents.outputs[id].system for id in (pair.first, pair.second))
        about = first, contents.segment(pair.first), pair.judge, WIN.name, pair.share
        draft.judge(*about, kind=pair.kind, other=other)
    if contents.draws:
        draft.draws = [(name, draw) for draw in contents.draws]
    return draft.finish()


def _text_column(column: list[str | None]) -> list[str] | None:
    """Return a column of texts, or None if all are missing."""
    return None if all(text is None for text in column) else [text or "" for text in column]


def make_key_set(contents: Contents) -> NuggetSet:
    """Return the current key, without runs and labels, which would name systems."""
    questions = []
    for item in contents.items.values():
        # A question without a text is shown by its id.
        text = "" if item.source in (None, item.segment) else str(item.source)
        questions.append(Question(item.segment, contents.nuggets.get(item.id, ()), text))
    return NuggetSet(contents.project.name, make_key(questions), MappingProxyType({}))


def make_nugget_set(contents: Contents) -> NuggetSet:
    """Return the key, the runs and every current label as a nugget set."""
    name = contents.project.name
    if not contents.project.settings.has(NUGGETS):
        raise InputError(f"{short(name)} has no nuggets: choose another format")
    responses: dict[str, list[tuple[str, Response]]] = {system: [] for system in contents.systems}
    for id, output in contents.outputs.items():
        responses[output.system].append((contents.segment(id), Response(output.text)))
    runs = {tag: make_run(tag, run_responses) for tag, run_responses in responses.items()}
    judgements = []
    for row in nugget_values(contents):
        output = contents.outputs[row.output]
        label = contents.segment(row.output), row.dimension, output.text, row.value
        judgements.append(JudgedResponse(*label, output.system, row.judge, kind=row.kind))
    key, rows = make_key_set(contents).key, Judgements(tuple(judgements))
    return NuggetSet(name, key, MappingProxyType(runs), rows)


def read_rated_store(path: Path, reading: Reading, anonymous: bool = False) -> EvalSet:
    """Return ratings, penalties, scores and win shares of a store with their draws.

    `reading` is an argument of all formats that a store does not need.
    """
    with Store.reading(path) as store, store.explaining_damage():
        return make_evalset(read_contents(store, anonymous))


def read_nugget_store(path: Path, draft: NuggetDraft) -> None:
    """Put the key, the runs and every current label of a store into a draft."""
    with Store.reading(path) as store, store.explaining_damage():
        put_nuggets(read_contents(store), str(path), draft)


def put_nuggets(contents: Contents, name: str, draft: NuggetDraft) -> None:
    """Put the key, the runs and every current label of a project into a draft."""
    lines = enumerate(jsonl_lines(make_nugget_set(contents)), 1)
    take_rows(((FileLocation(name, number), json.loads(line)) for number, line in lines), draft)
