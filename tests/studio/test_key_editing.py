"""Edits of a key: rows that are only added, and what becomes of judgements made before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio.keyed_store import BEFORE, Q1, Keyed, close_stores
from studio.projects_in_store import (
    START,
    answer,
    assessor,
    column,
    judged_all,
    later,
    next_view,
    uuid,
)
from studio.store_rows import history

from karat.errors import InputError, OutputError
from karat.studio.assignment import next_assignment
from karat.studio.contents import read_contents
from karat.studio.disputes import find_disputes
from karat.studio.key_editing import KeyEdit, allow_adjudicators, edit_key, list_questions, may_edit
from karat.studio.store.judgements import Adjudication, SentJudgement, StoredRow, adjudicate, judge
from karat.studio.store.people import read_trail
from karat.studio.store.projects import freeze


@pytest.fixture(autouse=True)
def _closes_stores() -> Iterator[None]:
    yield
    close_stores()


@pytest.fixture
def keyed(tmp_path: Path) -> Keyed:
    return Keyed(tmp_path)


def test_a_reworded_nugget_is_another_one_and_assessors_are_asked_again(keyed: Keyed) -> None:
    assert keyed.judged() == 4
    assert keyed.look()["nuggets"][0]["concerns"] == 2
    keyed.edit("reword", 2, nugget="1", descriptions=["born in Warsaw", " in   Warsaw "])
    assert keyed.nuggets() == {
        "1.v2": ("vital", "born in Warsaw / in Warsaw"),
        "2": ("okay", "won twice"),
    }
    assert [*keyed.nuggets()] == ["1.v2", "2"]  # in the place of the old one
    assert keyed.judged() == 2
    assert keyed.labels() == [("q2", "1"), ("q2", "1")]
    view = next_view(keyed.store, keyed.ann)
    assert [nugget.id for nugget in view.nuggets] == ["1.v2", "2"]
    assert (view.dropped, view.edited) == (("1",), True)
    assert view.value is not None
    value = {"nuggets": {**view.value["nuggets"], "1.v2": {"label": "none"}}}
    judge(keyed.store, keyed.ann, SentJudgement(uuid(1), view.assignment, value, 5, view.newest))
    assert keyed.judged() == 3
    assert keyed.labels() == [("q1", "1.v2", "2"), ("q2", "1"), ("q2", "1")]
    assert len(history(keyed.store)) == 5
    keyed.edit("reword", 1, nugget="1.v2", descriptions=["born in Poland"])
    assert [*keyed.nuggets()] == ["1.v3", "2"]


def test_a_dropped_nugget_does_not_count_and_an_undo_brings_its_labels_back(keyed: Keyed) -> None:
    keyed.edit("drop", 2, nugget="2")
    assert keyed.nuggets() == {"1": BEFORE["1"]}
    assert keyed.judged() == 4
    assert keyed.labels() == [("q1", "1")] * 2 + [("q2", "1")] * 2
    assert keyed.look()["undoing"] == 0
    keyed.edit("undo", 0)
    assert keyed.nuggets() == BEFORE
    assert keyed.labels() == [("q1", "1", "2")] * 2 + [("q2", "1")] * 2
    assert keyed.look()["undoing"] is None
    rows = keyed.look()["edits"]
    assert [(past_edit["what"], past_edit["undone"]) for past_edit in rows] == [
        ("undo", False),
        ("drop", True),
    ]
    with pytest.raises(InputError, match="no edit to undo"):
        keyed.edit("undo", 0)
    with pytest.raises(InputError, match="a question needs a nugget: add another"):
        keyed.edit("drop", 2, item=2, nugget="1")


def test_an_added_nugget_makes_judgements_incomplete_until_it_is_judged(keyed: Keyed) -> None:
    assert keyed.look()["adding"] == 2
    keyed.edit("add", 2, descriptions=["first woman"], importance="okay")
    assert keyed.nuggets() == {**BEFORE, "3": ("okay", "first woman")}
    assert keyed.judged() == 2
    view = next_view(keyed.store, keyed.ann)
    assert view.value is not None
    assert {*view.value["nuggets"]} == {"1", "2"}
    with pytest.raises(InputError, match="no label for nugget 3; the key of the question was ed"):
        judge(
            keyed.store,
            keyed.ann,
            SentJudgement(uuid(1), view.assignment, view.value, 5, view.newest),
        )
    assert keyed.look()["undoing"] == 0
    keyed.edit("undo", 0)
    assert keyed.judged() == 4
    keyed.edit("add", 2, descriptions=["first woman"], importance="okay")
    assert [*keyed.nuggets()] == ["1", "2", "4"]  # no id is used twice


def test_importance_changes_no_judgement(keyed: Keyed) -> None:
    keyed.edit("importance", 0, nugget="2", importance="vital")
    assert keyed.nuggets()["2"] == ("vital", "won twice")
    assert keyed.judged() == 4
    with pytest.raises(InputError, match="nugget '2' is vital already"):
        keyed.edit("importance", 0, nugget="2", importance="vital")
    keyed.edit("undo", 0)
    assert keyed.nuggets() == BEFORE


def test_undos_take_back_one_edit_after_the_other(keyed: Keyed) -> None:
    keyed.edit("importance", 0, nugget="1", importance="okay")
    keyed.edit("reword", 2, nugget="1", descriptions=["x"])
    keyed.edit("importance", 0, nugget="1.v2", importance="vital")
    keyed.edit("undo", 0)
    assert keyed.nuggets()["1.v2"] == ("okay", "x")
    keyed.edit("undo", keyed.look()["undoing"] or 0)
    assert keyed.nuggets()["1"] == ("okay", "born in 1867")
    keyed.edit("undo", 0)
    assert keyed.nuggets() == BEFORE
    assert keyed.judged() == 4


def test_an_edit_is_stored_once_and_its_uuid_stands_for_it_alone(keyed: Keyed) -> None:
    sent = KeyEdit(uuid(1), Q1, "drop", 2, nugget="2")
    first = edit_key(keyed.store, keyed.owner, sent)
    assert edit_key(keyed.store, keyed.owner, sent) == StoredRow(first.id, True)
    keyed.edit("undo", 0)
    assert edit_key(keyed.store, keyed.owner, sent) == StoredRow(first.id, True)
    assert keyed.nuggets() == BEFORE
    for other in (
        sent._replace(nugget="1"),
        sent._replace(item=2),
        sent._replace(what="undo", nugget=None),
        sent._replace(concerns=3),
        sent._replace(supersedes=uuid(9)),
    ):
        with pytest.raises(InputError, match="belongs to another edit"):
            edit_key(keyed.store, keyed.owner, other)
    added = KeyEdit(uuid(2), Q1, "add", 2, None, ["a", "b"], "vital", keyed.look()["newest"])
    edit_key(keyed.store, keyed.owner, added)
    assert edit_key(keyed.store, keyed.owner, added).duplicate
    with pytest.raises(InputError, match="belongs to another edit"):
        edit_key(keyed.store, keyed.owner, added._replace(descriptions=["a"]))


def test_an_edit_of_what_has_changed_meanwhile_is_refused(keyed: Keyed) -> None:
    keyed.edit("drop", 2, nugget="2")
    with pytest.raises(InputError, match="somebody has edited this question meanwhile"):
        keyed.edit("drop", 2, nugget="1", supersedes=None)
    bea = assessor(keyed.store, "bea")
    with pytest.raises(InputError, match="concerns 2 judgements and decisions now, not 1: look"):
        keyed.edit("add", 1, descriptions=["x"], importance="vital")
    with pytest.raises(InputError, match="only owners, and adjudicators whom they allow it"):
        edit_key(keyed.store, bea, KeyEdit(uuid(3), 2, "drop", 0, "1"))
    freeze(keyed.store)
    assert not keyed.look()["open"]
    with pytest.raises(InputError, match="the project is frozen: its key is no longer edited"):
        keyed.edit("undo", 0)


WRONG = {
    "found what='rename'": {"what": "rename"},
    "add: descriptions is missing": {"what": "add", "importance": "vital"},
    "add: importance is missing": {"what": "add", "descriptions": ["x"]},
    "found importance='grave'": {"what": "add", "descriptions": ["x"], "importance": "grave"},
    "expected a list of 1 to 20": {"what": "reword", "nugget": "1", "descriptions": []},
    "a wording is empty": {"what": "reword", "nugget": "1", "descriptions": [" \n"]},
    "a wording occurs twice": {"what": "reword", "nugget": "1", "descriptions": ["a", " a"]},
    "2,001 characters": {"what": "reword", "nugget": "1", "descriptions": ["a" * 2001]},
    "found wording=3": {"what": "reword", "nugget": "1", "descriptions": [3]},
    "half a character": {"what": "reword", "nugget": "1", "descriptions": ["\ud800"]},
    "nugget '2' has these words": {"what": "reword", "nugget": "1", "descriptions": ["won twice"]},
    "has no nugget '7'": {"what": "drop", "nugget": "7"},
    "found nugget=1, expected its id": {"what": "drop", "nugget": 1},
    "drop: importance is 'okay', expected none": {
        "what": "drop",
        "nugget": "1",
        "importance": "okay",
    },
    "undo: nugget is '1', expected none": {"what": "undo", "nugget": "1"},
    "there is no question 99": {"what": "undo", "item": 99},
    "found item='1'": {"what": "undo", "item": "1"},
    "found concerns=-1": {"what": "undo", "concerns": -1},
    "found uuid='x'": {"what": "undo", "uuid": "x"},
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_edit_is_refused_in_one_sentence(keyed: Keyed, message: str) -> None:
    sent = KeyEdit(**{"uuid": uuid(1), "item": Q1, "concerns": 2, **WRONG[message]})
    with pytest.raises(InputError, match=message):
        edit_key(keyed.store, keyed.owner, sent)
    assert keyed.nuggets() == BEFORE
    assert column(keyed.store, "SELECT count(*) FROM key_edit") == [0]
    assert column(keyed.store, "SELECT count(*) FROM nugget") == [3]


def test_edits_and_words_are_never_changed(keyed: Keyed) -> None:
    keyed.edit("drop", 2, nugget="2")
    for change, message in {
        "UPDATE key_edit SET what = 'add'": "rows of key_edit are never changed",
        "DELETE FROM key_edit": "rows of key_edit are never changed",
        "UPDATE nugget SET descriptions = '[]'": "the words of nuggets are never changed",
        "DELETE FROM nugget": "nuggets stay",
    }.items():
        with pytest.raises(OutputError, match=message), keyed.store.write() as connection:
            connection.execute(change)
    for damage, message in {
        "UPDATE nugget SET dropped = 0": "1 nuggets that are not as the newest edit left them",
        "UPDATE nugget SET dropped = 1": "2 nuggets that are not as the newest edit left them",
        "UPDATE assignment SET judged = NULL WHERE item = 1": "is not the one that counts",
    }.items():
        with keyed.store.write() as connection:
            connection.execute(damage)
        assert message in " ".join(keyed.store.check().problems)
        with keyed.store.write() as connection:
            connection.execute("UPDATE nugget SET dropped = (item = 1 AND nugget = '2')")


def test_adjudicators_edit_if_an_owner_allows_it(keyed: Keyed) -> None:
    zoe = assessor(keyed.store, "zoe", role="adjudicator")
    sent = KeyEdit(uuid(1), Q1, "importance", 0, "1", importance="okay")
    assert not may_edit(keyed.store, "adjudicator")
    with pytest.raises(InputError, match="only owners"):
        edit_key(keyed.store, zoe, sent)
    with pytest.raises(InputError, match="only an owner decides"):
        allow_adjudicators(keyed.store, zoe, True)
    allow_adjudicators(keyed.store, keyed.owner, True)
    allow_adjudicators(keyed.store, keyed.owner, True)
    assert edit_key(keyed.store, zoe, sent).duplicate is False
    allow_adjudicators(keyed.store, keyed.owner, False)
    assert not may_edit(keyed.store, "adjudicator")
    assert not may_edit(keyed.store, "assessor")
    trail_rows = [(entry.event, entry.detail) for entry in read_trail(keyed.store, 1, 50)[0]]
    weighed = {"question": "q1", "before": ["born in 1867"], "was": "vital"}
    weighed |= {"after": ["born in 1867"], "is": "okay", "concerned": 0}
    assert ("change importance", weighed) in trail_rows
    allowed = [detail["adjudicators"] for event, detail in trail_rows if event == "key editing"]
    assert allowed == [False, True]


def test_disputes_and_decisions_on_a_dropped_nugget_do_not_count(tmp_path: Path) -> None:
    keyed = Keyed(tmp_path, overlap=2)
    bea = assessor(keyed.store, "bea")
    zoe = assessor(keyed.store, "zoe", role="adjudicator")

    def unlike(view: Any, number: int) -> Any:
        return {"nuggets": {nugget.id: {"label": "none"} for nugget in view.nuggets}}

    judged_all(keyed.store, bea, 200, unlike)
    assert len(find_disputes(keyed.store)) == 6
    (output,) = column(keyed.store, "SELECT min(id) FROM output WHERE item = 1")
    decision = Adjudication(uuid(1), "nuggets", Q1, output, "1", {"label": "partial"})
    adjudicate(keyed.store, zoe, decision)
    assert len(find_disputes(keyed.store)) == 5
    assert [nugget["concerns"] for nugget in keyed.look()["nuggets"]] == [5, 4]
    keyed.edit("drop", 5, nugget="1")
    assert len(find_disputes(keyed.store)) == len(find_disputes(keyed.store, settled=True)) == 4
    assert read_contents(keyed.store).decisions == ()
    keyed.edit("undo", 0)
    assert len(find_disputes(keyed.store)) == 5
    assert len(read_contents(keyed.store).decisions) == 1


def test_another_assessor_takes_over_where_the_first_does_not_come_back(keyed: Keyed) -> None:
    bea = assessor(keyed.store, "bea")
    assert next_assignment(keyed.store, bea, START) is None
    keyed.edit("add", 2, descriptions=["x"], importance="vital")
    assert next_assignment(keyed.store, bea, later(60)) is None  # it waits for ann
    view = next_view(keyed.store, bea, later(3600))
    assert [nugget.id for nugget in view.nuggets] == ["1", "2", "3"]
    assert keyed.store.check().ok
    keyed.edit("undo", 0)  # what ann said is complete again
    assert keyed.judged() == 4


def test_a_judgement_under_the_old_key_is_kept(tmp_path: Path) -> None:
    keyed = Keyed(tmp_path, judged=False)
    view = next_view(keyed.store, keyed.ann)
    item = column(keyed.store, "SELECT item FROM assignment")[0]
    other = "2" if item == Q1 else None
    keyed.edit("reword", 0, item=item, nugget="1", descriptions=["other words"])
    value = {**answer(view), "done": False}
    judge(keyed.store, keyed.ann, SentJudgement(uuid(1), view.assignment, value, 5))
    assert keyed.judged() == 0
    again = next_view(keyed.store, keyed.ann)
    assert again.value == value
    labels = {**value["nuggets"], "1.v2": {"label": "none"}}
    sent = SentJudgement(uuid(2), view.assignment, {"nuggets": labels}, 5, uuid(1))
    judge(keyed.store, keyed.ann, sent)
    assert keyed.judged() == 1
    counted = {"1.v2", *([other] if other else [])}
    assert {*keyed.labels()[0][1:]} == counted


def test_questions_are_found_by_their_words_and_nuggets(keyed: Keyed) -> None:
    def find(text: str) -> list[str]:
        return [row["segment"] for row in list_questions(keyed.store, text)[0]]

    assert find("") == ["q1", "q2"]
    assert find("COLOUR") == find("blue") == ["q2"]
    assert find("won") == ["q1"]
    keyed.edit("drop", 2, nugget="2")
    assert find("won") == []
    assert [(row["nuggets"], row["edits"]) for row in list_questions(keyed.store)[0]] == [
        (1, 1),
        (1, 0),
    ]
    first, last = keyed.look(1), keyed.look(2)
    assert (first["number"], first["total"], first["previous"], first["following"]) == (
        1,
        2,
        None,
        2,
    )
    assert (last["number"], last["previous"], last["following"]) == (2, 1, None)
