"""Random histories of answers, revisions, undone answers and decisions, against a slow model."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from judged_store import START, answer, decide, make_store, nugget_texts, texts, uuids
from numpy import isnan
from studio.store_rows import current

from karat.evalset.loading import load_evalset
from karat.nuggets.formats.loading import load_nuggets
from karat.studio.assignment import next_assignment
from karat.studio.contents import LiveState
from karat.studio.export.formats import export_studio
from karat.studio.export.log import import_studio
from karat.studio.live import get_agreement
from karat.studio.store.judgements import SentJudgement, judge, undo, view_assignment
from karat.studio.store.store import Store

PEOPLE = {1: "ann", 2: "bob", 3: "cleo"}


class History:
    """A store, and by assignment what its assessor says now; by output and dimension decisions."""

    def __init__(self, path: Path, source: Any, tasks: dict[str, Any], seed: int) -> None:
        self.store = make_store(path, source, tasks=tasks)
        self.task = next(iter(tasks))
        self.drawn, self.new = random.Random(seed), uuids(seed)
        self.said: dict[int, tuple[int, int, Any]] = {}
        self.newest: dict[int, tuple[int, str | None]] = {}
        self.decided: dict[tuple[int, str], Any] = {}

    def step(self) -> None:
        act = self.drawn.choice([self.answer] * 4 + [self.revise, self.undo, self.decide])
        act()
        if self.drawn.random() < 0.1:
            get_agreement(self.store)

    def answer(self) -> None:
        person = self.drawn.choice([*PEOPLE])
        view = next_assignment(self.store, person, START)
        if view:
            self._send(person, view.assignment, view, view.newest)

    def revise(self) -> None:
        if self.said:
            assignment = self.drawn.choice([*self.said])
            person = self.said[assignment][0]
            view = view_assignment(self.store, person, assignment)
            self._send(person, assignment, view, view.newest)

    def _send(self, person: int, assignment: int, view: Any, before: str | None) -> None:
        value, uuid = answer(view, self.drawn), self.new()
        if self.drawn.random() < 0.15:
            value["done"] = False
        sent = SentJudgement(uuid, assignment, value, 5, before)
        judge(self.store, person, sent, START)
        judge(self.store, person, sent, START)  # again, as after a lost connection
        self.said.pop(assignment, None)
        if value.get("done", True):
            self.said[assignment] = (person, view.outputs[0].id, value)

    def undo(self) -> None:
        if self.said:
            assignment = self.drawn.choice([*self.said])
            undo(self.store, self.said.pop(assignment)[0], self.new(), assignment, now=START)

    def decide(self) -> None:
        if not self.said:
            return
        _, output, value = self.drawn.choice([*self.said.values()])
        about = self.drawn.choice([*value[self.task]])
        choices = ["support", "none"] if self.task == "nuggets" else [1, 2, 5]
        choice = self.drawn.choice([*choices, None])
        decide(self.store, self.task, output, about, choice, self.new())
        self.decided.pop((output, about), None)
        if choice is not None:
            self.decided[output, about] = choice

    def outputs(self) -> dict[int, tuple[str, str, str]]:
        with self.store.read() as connection:
            rows = connection.execute(
                "SELECT output.id, system, segment, text FROM output JOIN item ON item.id = item"
            ).fetchall()
        return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize("seed", range(6))
def test_exported_ratings_are_the_current_values(tmp_path: Path, seed: int) -> None:
    tasks = {"ratings": {"scales": ["quality-7", "fluency-5"]}}
    history = History(tmp_path / "store", texts(4, 2), tasks, seed)
    for _ in range(45):
        history.step()
    assert {row.assignment: row.value for row in current(history.store)} == {
        assignment: value for assignment, (_, _, value) in history.said.items()
    }
    evalset = exported_twice(history.store, tmp_path)
    place = history.outputs()
    expected = {
        (*place[output][:2], PEOPLE[person], dimension, float(x))
        for person, output, value in history.said.values()
        for dimension, x in value["ratings"].items()
    }
    expected |= {
        (*place[output][:2], "adjudicated", about, float(x))
        for (output, about), x in history.decided.items()
    }
    assert {*map(tuple, evalset.judgements)} == expected
    for dimension in ("quality", "fluency"):
        human = evalset.human(dimension)
        for output, (system, segment, _) in place.items():
            value = human[[*evalset.systems].index(system), evalset.segments.index(segment)]
            ratings = [
                answer_value["ratings"][dimension]
                for _, o, answer_value in history.said.values()
                if o == output
            ]
            if (output, dimension) in history.decided:
                assert value == history.decided[output, dimension]
            elif ratings:
                assert value == pytest.approx(sum(ratings) / len(ratings))
            else:
                assert isnan(value)


def exported_twice(store: Store, folder: Path) -> Any:
    """The set of an export, which is the same after an import; the live state is the store's."""
    export_studio(store.path, folder / "out")
    get_agreement(store)
    live_values = {
        id: live_answer.value for id, live_answer in store.companion(LiveState).answers.items()
    }
    assert live_values == {row.assignment: row.value for row in current(store)}
    import_studio(folder / "out", folder / "again")
    with Store.open(folder / "again") as again:
        assert again.check().ok
        export_studio(again.path, folder / "second", "labels")
    labels = (folder / "second").read_bytes()
    assert labels == (folder / "out" / "labels.tsv").read_bytes()
    if (folder / "out" / "set").exists():
        return load_evalset(folder / "out" / "set")
    return load_nuggets(folder / "out" / "nuggets.jsonl")


@pytest.mark.parametrize("seed", range(4))
def test_exported_labels_of_nuggets_are_the_current_values(tmp_path: Path, seed: int) -> None:
    history = History(tmp_path / "store", nugget_texts(), {"nuggets": {}}, seed)
    for _ in range(40):
        history.step()
    evalset = exported_twice(history.store, tmp_path)
    place = history.outputs()
    worth = {"support": 1.0, "partial": 0.5, "none": 0.0}
    expected = [
        (
            place[output][1],
            nugget,
            *place[output][::-2],
            PEOPLE[person],
            worth[nugget_label["label"]],
        )
        for person, output, value in history.said.values()
        for nugget, nugget_label in value["nuggets"].items()
    ]
    expected += [
        (place[output][1], nugget, *place[output][::-2], "adjudicated", worth[label])
        for (output, nugget), label in history.decided.items()
    ]
    rows = [
        (r.question, r.nugget, r.response, r.run, r.judge, r.value) for r in evalset.judgements.rows
    ]
    assert sorted(rows) == sorted(expected)
    for row in evalset.judgements.rows:
        if row.judge == "adjudicated":
            assert row.kind == "adjudicated"
