"""Sets of a store in memory: an evaluation set of values, a nugget set of labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

from karat.errors import InputError, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.evalset.reading import FileLocation, Reading
from karat.evalset.sets import EvalSet
from karat.nuggets.formats.json_lines import jsonl_lines, take_rows
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetDraft, NuggetSet
from karat.studio.export.contents import Contents, Item, read_contents
from karat.studio.export.values import all_preferences, rated_values
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS
from karat.studio.tasks.pairs import WIN


def make_evalset(contents: Contents) -> EvalSet:
    """Return ratings, penalties, scores and comparisons as an evaluation set with its draws."""
    dimensions = contents.project.settings.dimensions
    if not dimensions:
        raise InputError(
            f"{short(contents.project.name)} has nuggets only: export it as nuggets or trec"
        )
    draft = EvalSetDraft(
        contents.project.name,
        [row.segment for row in contents.items.values()],
        _system_columns(contents),
        reading=Reading(),
        location=contents.project.name,
        references=[row.references for row in contents.items.values()],
        groups=_text_column([row.group for row in contents.items.values()]),
        sources=_text_column([row.source for row in contents.items.values()]),
        dimensions=dimensions,
    )
    for row in rated_values(contents):
        output = contents.outputs[row.output]
        segment = contents.items[output.item].segment
        draft.judge(output.system, segment, row.judge, row.dimension, row.value, kind=row.kind)
    for pair in all_preferences(contents):
        first, other = (contents.outputs[id].system for id in (pair.first, pair.second))
        segment = contents.items[pair.item].segment
        about = first, segment, pair.judge, WIN.name, pair.share
        draft.judge(*about, kind=pair.kind, other=other)
    if contents.draws:
        draft.draws = [(contents.project.name, draw) for draw in contents.draws]
    return draft.finish()


def _text_column(column: list[str | None]) -> list[str] | None:
    """Return a column of texts; None if there are none."""
    return None if all(text is None for text in column) else [text or "" for text in column]


def _system_columns(contents: Contents) -> dict[str, list[str | None]]:
    positions = {id: at for at, id in enumerate(contents.items)}
    columns: dict[str, list[str | None]] = {
        system: [None] * len(positions) for system in contents.systems
    }
    for output in contents.outputs.values():
        columns[output.system][positions[output.item]] = output.text
    return columns


def make_key_set(contents: Contents) -> NuggetSet:
    """Return the key as it is now, without runs and labels: it names no system."""
    questions = [
        Question(item.segment, contents.nuggets.get(item.id, ()), _question_text(item))
        for item in contents.items.values()
    ]
    return NuggetSet(contents.project.name, make_key(questions), MappingProxyType({}))


def make_nugget_set(contents: Contents) -> NuggetSet:
    """Return the key, the runs and every current label as a nugget set."""
    if not contents.project.settings.has(NUGGETS):
        raise InputError(f"{short(contents.project.name)} has no nuggets: choose another format")
    responses: dict[str, list[tuple[str, Response]]] = {name: [] for name in contents.systems}
    for output in contents.outputs.values():
        segment = contents.items[output.item].segment
        responses[output.system].append((segment, Response(output.text)))
    runs = {tag: make_run(tag, run_responses) for tag, run_responses in responses.items()}
    rows = Judgements(tuple(_nugget_judgements(contents)))
    return NuggetSet(
        contents.project.name, make_key_set(contents).key, MappingProxyType(runs), rows
    )


def _question_text(item: Item) -> str:
    """Return the text of a question; the studio shows the id of one without."""
    return "" if item.source in (None, item.segment) else str(item.source)


def _nugget_judgements(contents: Contents) -> Iterator[JudgedResponse]:
    for answer in contents.answers_to(NUGGETS):
        judge = contents.names[answer.assessor]
        for output, nugget, value in NUGGETS.to_judgements(answer.value, answer.outputs):
            yield _make_judgement(contents, output, nugget, value, judge, PERSON)
    for decision in contents.decisions_on(NUGGETS):
        if decision.output is not None:
            label = NUGGETS.decided_label(decision)
            location = decision.output, decision.about
            yield _make_judgement(contents, *location, label, contents.decider, ADJUDICATED)


def _make_judgement(
    contents: Contents, id: int, nugget: str, value: float, judge: str, kind: str
) -> JudgedResponse:
    output = contents.outputs[id]
    question = contents.items[output.item].segment
    return JudgedResponse(question, nugget, output.text, value, output.system, judge, kind=kind)


def read_rated_store(path: Path, reading: Reading, anonymous: bool = False) -> EvalSet:
    """Return ratings, penalties, scores and win shares with their draws.

    Args:
        path: the store; another process may be using it.
        reading: a reading, which a store does not need: what it holds was checked.
        anonymous: use pseudonyms instead of the names of assessors.
    """
    with Store.reading(path) as store, store.intact():
        return make_evalset(read_contents(store, anonymous))


def read_nugget_store(path: Path, draft: NuggetDraft) -> None:
    """Put the key, the runs and every current label of a store into a draft."""
    with Store.reading(path) as store, store.intact():
        put_nuggets(read_contents(store), str(path), draft)


def put_nuggets(contents: Contents, name: str, draft: NuggetDraft) -> None:
    """Put the key, the runs and every current label of a project into a draft."""
    lines = enumerate(jsonl_lines(make_nugget_set(contents)), 1)
    take_rows(((FileLocation(name, number), json.loads(line)) for number, line in lines), draft)
