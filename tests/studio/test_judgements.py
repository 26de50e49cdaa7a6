"""Judgements: stored once, never changed, refused when wrong; freeze and reveal."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studio.projects_in_store import (
    START,
    SYSTEMS,
    answer,
    answered,
    assessor,
    column,
    judged_all,
    later,
    make_store,
    next_view,
    small_set,
    uuid,
)
from studio.store_rows import current, decisions, events, history

from karat.errors import InputError
from karat.studio.assignment import next_assignment, read_progress
from karat.studio.store.judgements import (
    Adjudication,
    SentJudgement,
    StoredRow,
    adjudicate,
    judge,
    undo,
)
from karat.studio.store.people import assessors, find_assessor, invite, withdraw
from karat.studio.store.projects import freeze, project, reveal, systems
from karat.studio.store.store import Store

GOOD = {"ratings": {"quality": 3, "understandability": 4}}
OTHER = {"ratings": {"quality": 7, "understandability": 1}}


def test_the_same_request_is_stored_once(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        judgement = SentJudgement(uuid(0), next_view(store, who).assignment, GOOD, 1200)
        assert judge(store, who, judgement, START) == StoredRow(1, False)
        assert judge(store, who, judgement, later(5)) == StoredRow(1, True)
        (row,) = history(store)
        assert (row.value, row.ms, row.time) == (GOOD, 1200, "2026-01-01T12:00:00.000+00:00")


@pytest.mark.parametrize("change", [{"value": OTHER}, {"ms": 7}, {"supersedes": uuid(9)}])
def test_a_uuid_stands_for_one_content(tmp_path: Path, change: dict[str, Any]) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        judgement = SentJudgement(uuid(0), next_view(store, who).assignment, GOOD, 1)
        judge(store, who, judgement)
        with pytest.raises(InputError, match="belongs to another judgement: make a new one"):
            judge(store, who, judgement._replace(**change))
        with pytest.raises(InputError, match="belongs to another judgement"):
            judge(store, assessor(store, "bea"), judgement)


def test_revision_and_undo_are_new_rows(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        at = next_view(store, who).assignment
        judge(store, who, SentJudgement(uuid(0), at, GOOD, 1))
        judge(store, who, SentJudgement(uuid(1), at, OTHER, 2, uuid(0)))
        assert [row.value for row in current(store)] == [OTHER]
        assert undo(store, who, uuid(2), at, uuid(1)) == StoredRow(3, False)
        assert undo(store, who, uuid(2), at, uuid(1)) == StoredRow(3, True)
        assert undo(store, who, uuid(2), at) == StoredRow(3, True)
        assert current(store) == []
        with pytest.raises(InputError, match="has no answer to take back"):
            undo(store, who, uuid(3), at)
        again = next_view(store, who)
        assert (again.assignment, again.value, again.newest) == (at, None, uuid(2))
        judge(store, who, SentJudgement(uuid(4), at, GOOD, 4, uuid(2)))
        rows = [(row.uuid, row.value, row.supersedes) for row in history(store)]
        assert rows == [
            (uuid(0), GOOD, None),
            (uuid(1), OTHER, 1),
            (uuid(2), None, 2),
            (uuid(4), GOOD, 3),
        ]
        assert store.check().ok


def test_a_draft_is_kept_and_leaves_the_assignment_open(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        at = next_view(store, who).assignment
        draft = {"ratings": {"quality": 2}, "done": False}
        judge(store, who, SentJudgement(uuid(0), at, draft, 1))
        assert (current(store), read_progress(store, who).done) == ([], 0)
        again = next_view(store, who)
        assert (again.assignment, again.value, again.newest) == (at, draft, uuid(0))
        with pytest.raises(InputError, match="no value for understandability"):
            judge(store, who, SentJudgement(uuid(1), at, draft | {"done": True}, 1, uuid(0)))
        judge(store, who, SentJudgement(uuid(1), at, GOOD, 1, uuid(0)))
        assert read_progress(store, who) == (1, 18, 17)
        assert store.check().ok


def test_what_replaces_something_else_is_refused(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        at = next_view(store, who).assignment
        with pytest.raises(InputError, match="its newest judgement is None"):
            judge(store, who, SentJudgement(uuid(1), at, OTHER, 1, uuid(0)))
        judge(store, who, SentJudgement(uuid(0), at, GOOD, 1))
        with pytest.raises(InputError, match="found supersedes=None, but its newest judgement"):
            judge(store, who, SentJudgement(uuid(1), at, OTHER, 1))
        with pytest.raises(InputError, match="look at that one first"):
            undo(store, who, uuid(1), at, uuid(5))
        assert len(history(store)) == 1


WRONG = {
    "uuid": [7, "x", "", uuid(0).upper().replace("0", "A"), uuid(0).replace("-", ""), None],
    "assignment": [0, -1, 99, 2**60, True, "1", None, 1.0],
    "value": [None, [], 5, "x", {1: 2}, {"ratings": float("nan")}, {"comment": "\ud800"}],
    "ms": [-1, 1.5, True, "3", None, 10**12],
    "supersedes": [7, "x", uuid(5)],
}


@pytest.mark.parametrize(("name", "wrong_value"), [(k, v) for k in WRONG for v in WRONG[k]])
def test_a_wrong_judgement_is_refused_in_one_sentence(
    tmp_path: Path, name: str, wrong_value: object
) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        good = SentJudgement(uuid(0), next_view(store, who).assignment, GOOD, 1)
        with pytest.raises(InputError) as caught:
            judge(store, who, good._replace(**{name: wrong_value}))
        assert "\n" not in str(caught.value)
        assert history(store) == []


def test_an_answer_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        big = GOOD | {"comment": "x" * 100_000}
        with pytest.raises(InputError, match=r"the value has 100,0\d\d bytes, expected at most"):
            judge(store, who, SentJudgement(uuid(0), next_view(store, who).assignment, big, 1))


def test_an_assignment_belongs_to_one_assessor(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        ann, bea = assessor(store), assessor(store, "bea")
        at = next_view(store, ann).assignment
        with pytest.raises(InputError, match=f"you have no assignment {at}"):
            judge(store, bea, SentJudgement(uuid(0), at, GOOD, 1))


# ---------------------------------------------------- repeated and reordered requests, a slow model


class Model:
    """What a store should hold, written plainly: rows in the order in which they were taken."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, Any, str | None]] = []

    def take(self, uuid: str, assignment: int, value: Any, supersedes: str | None) -> bool:
        """Return whether a request is taken, or was; an undo may leave open what it takes back."""
        open_undo = value is None and supersedes is None
        for row in self.rows:
            if row[0] == uuid:
                is_same = row[:3] == (uuid, assignment, value)
                return is_same and (open_undo or row[3] == supersedes)
        assignment_rows = [row for row in self.rows if row[1] == assignment]
        newest = assignment_rows[-1] if assignment_rows else None
        if open_undo and newest:
            supersedes = newest[0]
        if supersedes != (newest[0] if newest else None):
            return False
        if value is None and (newest is None or newest[2] is None):
            return False
        self.rows.append((uuid, assignment, value, supersedes))
        return True


def sent(store: Store, who: int, row: tuple[str, int, Any, str | None]) -> bool:
    uuid, assignment, value, supersedes = row
    try:
        if value is None:
            undo(store, who, uuid, assignment, supersedes)
        else:
            judge(store, who, SentJudgement(uuid, assignment, value, 1, supersedes))
    except InputError:
        return False
    return True


def requests() -> st.SearchStrategy[list[tuple[str, int, Any, str | None]]]:
    ids = st.integers(0, 4).map(uuid)
    values = st.sampled_from([GOOD, OTHER, None, GOOD | {"done": False}])
    row = st.tuples(ids, st.integers(1, 2), values, st.none() | ids)
    return st.lists(row, max_size=12)


@pytest.fixture(scope="module")
def two_assignments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose assessor has two open assignments."""
    folder = tmp_path_factory.mktemp("two")
    with make_store(folder, small_set(1, 2)) as store:
        who = assessor(store)
        first = next_view(store, who)
        judge(store, who, SentJudgement(uuid(90), first.assignment, GOOD, 1))
        next_view(store, who)
        undo(store, who, uuid(91), first.assignment)
    return folder / "project.studio"


@pytest.fixture(scope="module")
def stores(two_assignments: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder, count = tmp_path_factory.mktemp("stores"), iter(range(10**6))

    def fresh() -> Store:
        path = folder / f"{next(count)}.studio"
        path.write_bytes(two_assignments.read_bytes())
        return Store.open(path)

    return fresh


@given(requests())
@settings(max_examples=40)
def test_a_store_takes_what_the_model_takes(stores: Any, rows: list[Any]) -> None:
    model = Model()
    model.rows = [(uuid(90), 1, GOOD, None), (uuid(91), 1, None, uuid(90))]
    with stores() as store:
        assert [sent(store, 1, row) for row in rows] == [model.take(*row) for row in rows]
        uuids_by_id = {row.id: row.uuid for row in history(store)}
        stored_rows = [
            (r.uuid, r.assignment, r.value, uuids_by_id.get(r.supersedes or 0))
            for r in history(store)
        ]
        assert stored_rows == model.rows
        assert store.check().ok


CHAIN = [
    (uuid(1), 1, GOOD, uuid(91)),
    (uuid(2), 1, OTHER, uuid(1)),
    (uuid(3), 1, None, uuid(2)),
    (uuid(4), 2, GOOD, None),
    (uuid(5), 2, OTHER, uuid(4)),
]


@given(st.lists(st.permutations(CHAIN), min_size=3, max_size=3))
@settings(max_examples=15)
def test_retries_in_any_order_end_in_the_same_store(stores: Any, tries: list[list[Any]]) -> None:
    """A client sends again what was refused or perhaps not taken; three times are enough here."""
    with stores() as store:
        for row in chain.from_iterable(tries):
            sent(store, 1, row)
        stored_rows = [(row.assignment, row.uuid, row.value) for row in history(store)]
        assert sorted(stored_rows[2:], key=lambda row: row[:2]) == [
            (at, id, value) for id, at, value, _ in CHAIN
        ]
        assert [row.value for row in current(store)] == [OTHER]
        assert store.check().ok


# ---------------------------------------------------------------- assessors, freeze, reveal


def test_a_store_has_only_the_hash_of_a_token(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        token = invite(store, "ann", "adjudicator", quota=3)
        person = find_assessor(store, token)
        assert person is not None
        assert person[1:] == ("ann", "adjudicator", 3, True, 0)
        assert find_assessor(store, token + "x") is None
        assert find_assessor(store, "\ud800") is None
        assert events(store)[-1].what == "invite"
        withdraw(store, person.id)
        assert find_assessor(store, token) is None
        assert [entry.active for entry in assessors(store)] == [False]
        with pytest.raises(InputError, match="no active assessor with the id 1"):
            next_assignment(store, person.id, START)
    for path in tmp_path.iterdir():
        assert token.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("invitation", "message"),
    [
        ({"name": "ann"}, "there is an assessor 'ann': choose another name"),
        ({"name": " "}, "expected 1 to 100 characters"),
        ({"name": "x" * 101}, "expected 1 to 100 characters"),
        ({"name": "a\nb"}, "expected visible characters"),
        ({"name": "b", "role": "king"}, "found the role king, expected one of assessor, adj"),
        ({"name": "b", "quota": 0}, "quota=0: expected a whole number, 1 or more"),
    ],
)
def test_a_wrong_invitation_is_refused(
    tmp_path: Path, invitation: dict[str, Any], message: str
) -> None:
    with make_store(tmp_path) as store:
        invite(store, "ann")
        with pytest.raises(InputError, match=message):
            invite(store, **invitation)
        assert len(assessors(store)) == 1


def test_a_frozen_project_takes_nothing_but_repeats(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        who = assessor(store)
        view = next_view(store, who)
        judgement = SentJudgement(uuid(0), view.assignment, answer(view), 1)
        judge(store, who, judgement)
        freeze(store, who)
        assert judge(store, who, judgement).duplicate
        for refused in (
            lambda: judge(store, who, judgement._replace(uuid=uuid(1), supersedes=uuid(0))),
            lambda: undo(store, who, uuid(1), view.assignment),
            lambda: next_assignment(store, who, START),
            lambda: freeze(store),
        ):
            with pytest.raises(InputError, match="the project is frozen"):
                refused()
        assert len(history(store)) == 1


def test_systems_are_revealed_after_the_freeze(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        with pytest.raises(InputError, match="assessors still judge blind: freeze the project"):
            reveal(store)
        with pytest.raises(InputError, match="the systems are hidden while the project is 'open'"):
            systems(store)
        freeze(store)
        with pytest.raises(InputError, match="the systems are hidden"):
            systems(store)
        reveal(store)
        assert sorted({*systems(store).values()}) == sorted(SYSTEMS)
        with pytest.raises(InputError, match="revealed already"):
            reveal(store)


def test_an_owner_may_reveal_anyway_and_that_is_recorded(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        owner = assessor(store, "olga", role="owner")
        reveal(store, owner, anyway=True)
        assert project(store).state == "revealed"
        last = events(store)[-1]
        assert (last.assessor, last.what, last.detail) == (owner, "reveal", {"from_state": "open"})
        with pytest.raises(InputError, match="the project is frozen"):
            next_assignment(store, owner, START)


# --------------------------------------------------------------------------------- adjudications


def test_decisions_are_rows_that_are_only_added(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        who, chief = assessor(store), assessor(store, "chief", role="adjudicator")
        view = answered(store, who, 0)
        assert view is not None
        (item,) = column(store, "SELECT item FROM assignment")
        first = Adjudication(uuid(0), "ratings", item, view.outputs[0].id, "quality", 4, (1,))
        with pytest.raises(InputError, match="only adjudicators and the owner decide"):
            adjudicate(store, who, first)
        assert adjudicate(store, chief, first, START) == StoredRow(1, False)
        assert adjudicate(store, chief, first) == StoredRow(1, True)
        with pytest.raises(InputError, match="belongs to another decision"):
            adjudicate(store, chief, first._replace(value=5))
        with pytest.raises(InputError, match="somebody else has decided this meanwhile"):
            adjudicate(store, chief, first._replace(uuid=uuid(1)))
        second = first._replace(uuid=uuid(1), value=5, supersedes=uuid(0))
        adjudicate(store, chief, second)
        assert [(row.value, row.seen) for row in decisions(store)] == [(5, (1,))]
        adjudicate(store, chief, second._replace(uuid=uuid(2), value=None, supersedes=uuid(1)))
        assert decisions(store) == []
        assert [row.value for row in decisions(store, with_superseded=True)] == [4, 5, None]


def test_disputes_are_decided_after_the_freeze_and_until_the_reveal(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        judged_all(store, assessor(store))
        chief = assessor(store, "chief", role="adjudicator")
        first = Adjudication(uuid(0), "ratings", 1, None, "quality", 4)
        freeze(store)
        adjudicate(store, chief, first)
        reveal(store)
        assert adjudicate(store, chief, first).duplicate
        with pytest.raises(InputError, match="revealed: a decision would not be blind"):
            adjudicate(store, chief, first._replace(uuid=uuid(1), supersedes=uuid(0)))
        assert [row.value for row in decisions(store)] == [4]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item": 99}, "nobody judged item 99"),
        ({"task": "spans"}, "nobody judged item"),
        ({"output": 10**6}, "has no output 1000000"),
        ({"output": "1"}, "found the output '1', expected its number"),
        ({"item": None}, "found the item None, expected its number"),
        ({"about": 3}, "found about=3, expected a text"),
        ({"seen_judgements": ("x",)}, "expected at most 1,000 numbers"),
        ({"value": float("inf")}, "is not JSON"),
    ],
)
def test_a_wrong_decision_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with make_store(tmp_path) as store:
        judged_all(store, assessor(store))
        chief = assessor(store, "chief", role="owner")
        good = Adjudication(uuid(0), "ratings", 1, None, "quality", 4)
        with pytest.raises(InputError, match=message):
            adjudicate(store, chief, good._replace(**change))
        assert decisions(store) == []
