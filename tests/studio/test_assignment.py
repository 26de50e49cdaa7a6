"""Who judges what next: overlap, quotas, leases, calibration, rounds; and all of it blind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from studio.projects_in_store import (
    START,
    SYSTEMS,
    TWO_SCALES,
    answer,
    answered,
    assessor,
    column,
    judged_all,
    later,
    make_store,
    next_view,
    nugget_set,
    small_set,
    uuid,
)
from studio.store_rows import current

import karat as kt
from karat.errors import InputError
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.studio.assignment import (
    is_random,
    make_sample,
    next_assignment,
    prepare_rounds,
    read_progress,
)
from karat.studio.live import calibration_scores
from karat.studio.store.draws import shuffled_ids
from karat.studio.store.judgements import SentJudgement, judge, list_assignments, view_assignment
from karat.studio.store.projects import import_set, project
from karat.studio.store.settings import CalibrationItem, ProjectSettings, Show
from karat.studio.store.store import Store
from karat.studio.tasks.task import AssignmentView

EVERYTHING = {**TWO_SCALES, "pairs": {}, "spans": {"scheme": "esa"}}


# ---------------------------------------------------------------------------------------- import


def test_a_set_is_stored_whole(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        texts = column(store, "SELECT text FROM output JOIN item ON item.id = item ORDER BY text")
        assert texts == sorted(t for outputs in small_set().systems.values() for t in outputs if t)
        assert column(store, "SELECT context FROM item ORDER BY id")[:2] == [None, "source 0"]
        assert column(store, "SELECT grp FROM item ORDER BY id")[2:4] == ["g1", "g1"]
        assert column(store, "SELECT name FROM dimension") == ["quality", "understandability"]
        assert project(store).units == 18


def test_a_missing_output_is_no_output(tmp_path: Path) -> None:
    source = kt.make_evalset("holes", {"a": ["x", None, None], "b": ["y", "z", None]})
    with make_store(tmp_path, source, {"pairs": {}}, round_items=1) as store:
        assert project(store).units == 1
        assert len(judged_all(store, assessor(store))) == 1


@pytest.mark.parametrize(
    ("source", "tasks", "message"),
    [
        (kt.make_evalset("e", {"a": [None]}), TWO_SCALES, "e has no outputs of systems: add some"),
        (NuggetSet("n", nugget_set().key), {"nuggets": {}}, "n has no responses: add runs"),
        (small_set(), {"nuggets": {}}, "small has no nuggets: expected a nugget set"),
        (small_set(2, 1), {"pairs": {}}, "no item has two outputs"),
        (kt.make_evalset("e", {"a": ["\ud800"]}), TWO_SCALES, "e: a text holds half a character"),
    ],
)
def test_a_set_without_what_is_judged_is_refused(
    tmp_path: Path, source: Any, tasks: Any, message: str
) -> None:
    with Store.create(tmp_path / "s.studio") as store:
        with pytest.raises(InputError, match=message):
            import_set(store, source, ProjectSettings(tasks))
        assert column(store, "SELECT count(*) FROM item") == [0]


def test_a_store_has_one_project(tmp_path: Path) -> None:
    message = "the store has a project: make another store"
    with make_store(tmp_path) as store, pytest.raises(InputError, match=message):
        import_set(store, small_set(), ProjectSettings(TWO_SCALES))
    with Store.create(tmp_path / "empty.studio") as empty:
        who = assessor(empty)
        with pytest.raises(InputError, match="no project yet: import a set first"):
            next_assignment(empty, who, START)


# ------------------------------------------------------------------------------- overlap and order


def test_each_output_is_judged_by_so_many_assessors(tmp_path: Path) -> None:
    with make_store(tmp_path, overlap=2, round_items=2) as store:
        people = [assessor(store, name) for name in ("ann", "bea", "cem")]
        number = 0
        while [answered(store, who, (number := number + 1)) for who in people] != [None] * 3:
            pass
        judged = Counter(row.outputs for row in current(store))
        assert len(judged) == 18
        assert {*judged.values()} == {2}
        counts = Counter((row.assessor, row.outputs) for row in current(store))
        assert {*counts.values()} == {1}
        assert store.check().ok


def test_assessors_have_orders_of_their_own_by_a_recorded_seed(tmp_path: Path) -> None:
    def orders(folder: Path, seed: int) -> list[list[int]]:
        folder.mkdir()
        with make_store(folder, overlap=3, seed=seed) as store:
            people = [assessor(store, name) for name in ("ann", "bea")]
            views_by_person = [judged_all(store, who, 100 * who) for who in people]
        return [[view.outputs[0].id for view in views] for views in views_by_person]

    first = orders(tmp_path / "a", 1)
    assert first[0] != first[1]
    assert sorted(first[0]) == sorted(first[1]) == list(range(1, 19))
    assert first[0] != sorted(first[0])
    assert orders(tmp_path / "b", 1) == first
    assert orders(tmp_path / "c", 2) != first


def test_sides_of_pairs_are_swapped_for_some(tmp_path: Path) -> None:
    with make_store(tmp_path, small_set(20, 2), {"pairs": {}}, overlap=2) as store:
        views_by_person = [
            judged_all(store, assessor(store, name), k) for k, name in ((0, "a"), (100, "b"))
        ]
        sides = [{tuple(o.id for o in view.outputs) for view in pairs} for pairs in views_by_person]
        swapped = [sum(a > b for a, b in pairs) for pairs in sides]
        assert all(3 <= count <= 17 for count in swapped)
        assert sides[0] != sides[1]


def test_quotas_end_the_work(tmp_path: Path) -> None:
    with make_store(tmp_path, quota=3) as store:
        ann, bea = assessor(store), assessor(store, "bea", quota=5)
        assert len(judged_all(store, ann)) == 3
        assert read_progress(store, ann) == (3, 3, 0)
        assert read_progress(store, bea) == (0, 5, 5)
        assert len(judged_all(store, bea, 50)) == 5


def test_progress_counts_what_is_left_for_the_assessor(tmp_path: Path) -> None:
    with make_store(tmp_path, round_items=2) as store:
        ann, bea = assessor(store), assessor(store, "bea")
        assert read_progress(store, ann) == (0, 18, 18)
        for number in range(4):
            answered(store, ann, number)
        next_view(store, ann)
        assert read_progress(store, ann) == (4, 18, 14)
        assert read_progress(store, bea) == (0, 13, 13)


# ------------------------------------------------------------------------------------------ leases


def test_a_lease_is_renewed_for_who_has_it(tmp_path: Path) -> None:
    with make_store(tmp_path, small_set(1, 1), lease_seconds=60) as store:
        ann, bea = assessor(store), assessor(store, "bea")
        first = next_view(store, ann, START)
        assert next_assignment(store, bea, later(59)) is None
        assert next_view(store, ann, later(59)) == first
        assert next_assignment(store, bea, later(118)) is None
        assert next_view(store, bea, later(119)).outputs == first.outputs


def test_a_place_is_given_back_when_a_lease_ends(tmp_path: Path) -> None:
    with make_store(tmp_path, small_set(1, 1), lease_seconds=60) as store:
        ann, bea = assessor(store), assessor(store, "bea")
        first = next_view(store, ann, START)
        second = next_view(store, bea, later(60))
        assert next_assignment(store, ann, later(61)) is None
        judge(store, ann, SentJudgement(uuid(0), first.assignment, answer(first), 1), later(62))
        judge(store, bea, SentJudgement(uuid(1), second.assignment, answer(second), 1), later(63))
        assert len(current(store)) == 2  # late work is not lost
        assert store.check().ok


def test_an_ended_lease_is_taken_up_again(tmp_path: Path) -> None:
    with make_store(tmp_path, small_set(3, 1), lease_seconds=60, round_items=1) as store:
        ann = assessor(store)
        first = next_view(store, ann, START)
        assert next_view(store, ann, later(1000)).assignment == first.assignment
        assert store.check().ok


def test_a_place_of_an_earlier_round_is_found_again(tmp_path: Path) -> None:
    with make_store(tmp_path, small_set(4, 1), lease_seconds=60, round_items=1) as store:
        ann, bea = assessor(store), assessor(store, "bea")
        next_view(store, ann, START)
        assert len(judged_all(store, bea)) == 3
        late = next_view(store, bea, later(60))
        assert column(store, "SELECT round FROM assignment WHERE id = ?", late.assignment) == [1]


# ------------------------------------------------------------------------------ at the same moment


def take_all(path: Path, who: int) -> list[tuple[int, ...]]:
    """Take and answer everything, in this thread, and return the outputs."""
    with Store.open(path, exclusive=False) as store:
        views = judged_all(store, who, 1000 * who)
    return [tuple(output.id for output in view.outputs) for view in views]


def test_threads_share_no_place(tmp_path: Path) -> None:
    with make_store(tmp_path, small_set(8, 2), overlap=1, round_items=3) as store:
        people = [assessor(store, f"a{k}") for k in range(8)]
        with ThreadPoolExecutor(8) as pool:
            views_by_person = list(pool.map(lambda who: judged_all(store, who, 1000 * who), people))
        counts = Counter(view.outputs[0].id for views in views_by_person for view in views)
        assert counts == Counter(range(1, 17))
        assert store.check().ok


TAKE = """
import sys
from pathlib import Path
from studio.test_assignment import take_all
print("ready", flush=True)
sys.stdin.readline()
print(take_all(Path(sys.argv[1]), int(sys.argv[2])))
"""


def test_processes_share_no_place(tmp_path: Path) -> None:
    with make_store(tmp_path, small_set(10, 2), overlap=1, round_items=3) as store:
        people = [assessor(store, f"a{k}") for k in range(3)]
    path = tmp_path / "project.studio"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", TAKE, str(path), str(who)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        for who in people
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    rows = [
        output
        for process in running
        for output in json.loads(process.communicate()[0].replace("(", "[").replace(",)", "]"))
    ]
    assert sorted(id for (id,) in rows) == list(range(1, 21))
    with Store.open(path) as store:
        assert len(current(store)) == 20
        assert store.check().ok


# ------------------------------------------------------------------------------------- calibration

KNOWN = (
    CalibrationItem("ratings", ("The the.",), {"ratings": {"quality": 1, "understandability": 1}}),
    CalibrationItem("ratings", ("Good.",), {"ratings": {"quality": 7, "understandability": 7}}),
)


def sevens(view: AssignmentView, number: int) -> dict[str, Any]:
    return {"ratings": {"quality": 7, "understandability": 7}}


def test_calibration_is_mixed_in_and_scored(tmp_path: Path) -> None:
    with make_store(tmp_path, calibration=KNOWN, calibration_rate=0.5) as store:
        ann, bea = assessor(store), assessor(store, "bea")
        views = judged_all(store, ann, reply=sevens)
        assert len(views) == 18 + 2
        assert calibration_scores(store) == {"ann": 0.5}
        assert len(judged_all(store, bea, 100)) <= 2
        rows = "SELECT ord FROM assignment WHERE reason = 'calibration' AND assessor = ?"
        assert len(column(store, rows, ann)) == 2
        assert max(column(store, rows, ann)) > 1  # not all at the beginning
        assert column(store, "SELECT max(round) FROM assignment WHERE probability IS NULL") == [0]
        assert store.check().ok


def test_calibration_of_pairs_knows_sides(tmp_path: Path) -> None:
    texts = [(f"good {k}", f"bad {k}") for k in range(12)]
    items = tuple(CalibrationItem("pairs", pair, {"choice": "first"}) for pair in texts)

    def knows(view: AssignmentView, number: int) -> dict[str, Any]:
        return {"choice": "first" if view.outputs[0].text.startswith("good") else "second"}

    with make_store(
        tmp_path, tasks={"pairs": {}}, calibration=items, calibration_rate=1.0
    ) as store:
        views = judged_all(store, assessor(store), reply=knows)
        firsts = {view.outputs[0].text[0] for view in views[:12]}
        assert firsts == {"g", "b"}  # sides are swapped for some
        assert calibration_scores(store) == {"ann": 1.0}
        rows = "SELECT count(*) FROM assignment WHERE reason = 'calibration' AND judged IS NOT NULL"
        assert column(store, rows) == [12]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (CalibrationItem("ratings", ("x", "y"), {}), "calibration item 1: expected one output"),
        (CalibrationItem("ratings", ("x",), {"ratings": {}}), "item 1: no value for quality"),
        (CalibrationItem("ratings", ("\ud800",), {}), "item 1: the text holds half a character"),
        (CalibrationItem("ratings", (3,), {}), "item 1: found text=3, expected a text"),  # type: ignore
    ],
)
def test_a_wrong_known_answer_is_refused(
    tmp_path: Path, item: CalibrationItem, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        make_store(tmp_path, calibration=(item,))


def test_a_known_answer_about_nuggets_needs_nuggets(tmp_path: Path) -> None:
    item = CalibrationItem("nuggets", ("x",), {"nuggets": {"1": {"label": "support"}}})
    with pytest.raises(InputError, match="item 1: expected nuggets, a list of their descriptions"):
        make_store(tmp_path, nugget_set(), {"nuggets": {}}, calibration=(item,))


# ------------------------------------------------------------------------------------------- blind


@pytest.mark.parametrize("tasks", [EVERYTHING, {"nuggets": {}}], ids=["ratings", "nuggets"])
def test_nothing_shown_tells_the_system(tmp_path: Path, tasks: Any) -> None:
    source = nugget_set() if "nuggets" in tasks else small_set()
    with make_store(tmp_path, source, tasks, show=Show(True, True, True), overlap=2) as store:
        people = [assessor(store), assessor(store, "bea")]
        views = [view for who in people for view in judged_all(store, who, 1000 * who)]
        again = [
            view_assignment(store, who, at) for who in people for at in list_assignments(store, who)
        ]
    assert len(views) == len(again) > 7
    for view in (*views, *again):
        text = json.dumps(view.to_json())
        assert not [name for name in SYSTEMS if name in text]
        assert "small" not in text
        assert not {"seed", "reason", "calibration", "segment", "grp"} & {*view.to_json()}


def test_ids_of_outputs_are_not_in_the_order_of_systems(tmp_path: Path) -> None:
    items = (*KNOWN, *KNOWN)
    with make_store(tmp_path, small_set(100), calibration=items) as store:
        rows = column(store, "SELECT system FROM output ORDER BY id")
        inside = [k for k, name in enumerate(rows) if not name]
        assert min(inside) < 290  # calibration is not at the end
        real = [name for name in rows if name]
        follows = Counter(pairwise(real))
        assert len(follows) == 9  # every system follows every other
        assert max(follows.values()) < 60


def test_texts_are_shown_or_hidden_as_the_owner_sets(tmp_path: Path) -> None:
    for number, show in enumerate((Show(True, True, True), Show(False, False, False))):
        folder = tmp_path / str(number)
        folder.mkdir()
        with make_store(folder, show=show) as store:
            views = judged_all(store, assessor(store))
        assert any(view.source for view in views) == show.source
        assert any(view.context for view in views) == show.context
        assert any(view.references for view in views) == show.reference


# ------------------------------------------------------------------------------------------ rounds


def test_rounds_are_random_in_a_share_of_cases() -> None:
    assert [is_random(k, 0.25) for k in range(1, 9)] == [k in (1, 4, 8) for k in range(1, 9)]
    assert all(is_random(k, 1.0) for k in range(1, 9))
    assert [k for k in range(1, 9) if is_random(k, 0.0)] == [1]


def test_rounds_without_a_predictor_are_random_with_known_probabilities(tmp_path: Path) -> None:
    with make_store(tmp_path, small_set(10, 1), round_items=4) as store:
        judged_all(store, assessor(store))
        rows = "SELECT round || ' ' || probability || ' ' || reason FROM {} ORDER BY item"
        round_sizes = Counter(column(store, rows.format("draw")))
        expected = {"1 0.4 random": 4, "2 0.66": 4, "3 1.0 random": 2}
        assert sum(round_sizes.values()) == 10
        for start, count in expected.items():
            assert sum(n for row, n in round_sizes.items() if row.startswith(start)) == count
        assert column(store, rows.format("assignment")) == column(store, rows.format("draw"))


def hard_set() -> Any:
    """A metric tells the quality of long outputs and nothing about short ones."""
    texts = ["a b c d e f g h" if k % 2 else f"x{k}" for k in range(80)]
    references = ["a b c d e f g h" for _ in texts]
    return kt.make_evalset(
        "hard", {"one": texts, "two": [f"{text} z" for text in texts]}, references=references
    )


def by_length(view: AssignmentView, number: int) -> dict[str, Any]:
    """Answer steadily to long outputs and wildly to short ones."""
    long = len(view.outputs[0].text) > 5
    return {"ratings": {"quality": 4 if long else 1 + 6 * (number % 2), "understandability": 4}}


def test_useful_items_come_first_with_probabilities_that_are_known(tmp_path: Path) -> None:
    with make_store(
        tmp_path, hard_set(), predictor="chrf", random_share=0.0, round_items=20
    ) as store:
        who = assessor(store, quota=50)
        judged_all(store, who, reply=by_length)
        reasons = Counter(column(store, "SELECT reason FROM draw WHERE round = 1"))
        assert reasons == {"random": 20}
        query = "SELECT probability FROM draw JOIN output USING (item) WHERE round = 2 AND "
        query += "system = 'one' AND length(text) {} ORDER BY probability"
        likely, unlikely = (column(store, query.format(size)) for size in ("< 5", "> 5"))
        assert len(likely) + len(unlikely) == 20
        assert min(likely) > 20 / 60 > max(unlikely) > 0
        useful = "SELECT count(*) FROM draw WHERE round = 2 AND reason = 'useful'"
        assert column(store, useful) == [len(likely)]


def test_a_predictor_that_tells_nothing_makes_random_rounds(tmp_path: Path) -> None:
    equal_texts = kt.make_evalset(
        "same", {"one": ["a b"] * 30, "two": ["a b"] * 30}, references=["a"] * 30
    )
    with make_store(
        tmp_path, equal_texts, predictor="chrf", random_share=0.0, round_items=15
    ) as store:
        judged_all(store, assessor(store), reply=by_length)
        assert {*column(store, "SELECT reason FROM draw")} == {"random"}
        assert column(store, "SELECT DISTINCT probability FROM draw ORDER BY 1") == [0.5, 1.0]


@pytest.mark.parametrize("predictor", [None, "chrf"])
def test_preparing_rounds_changes_no_draw(tmp_path: Path, predictor: str | None) -> None:
    draws = []
    for prepared in (False, True):
        folder = tmp_path / str(prepared)
        folder.mkdir()
        with make_store(folder, hard_set(), predictor=predictor, round_items=20) as store:
            if prepared:
                prepare_rounds(store)
            judged_all(store, assessor(store, quota=45), reply=by_length)
            draws.append(column(store, "SELECT item || ' ' || probability FROM draw"))
    assert draws[0] == draws[1]
    assert len(draws[0]) == 40


def test_the_numbers_of_a_store_are_a_sample(tmp_path: Path) -> None:
    with make_store(tmp_path, hard_set(), predictor="chrf", round_items=20) as store:
        who = assessor(store, quota=10)
        judged_all(store, who, reply=sevens)
        with store.read() as connection:
            sample = make_sample(connection, project(store).settings)
        assert sample.systems == ("one", "two")
        assert len(sample.units) == 80
        assert sample.labels.sum() == 10
        assert {*sample.y[sample.is_labelled].tolist()} == {7.0}
        assert sample.scale == (1, 7, 1)
        assert (sample.design.round > 0).sum() == 20
        # what is drawn and waits for labels cannot be drawn again
        waiting = (sample.design.round > 0) & ~sample.is_labelled.any(axis=0)
        assert not sample.present[:, waiting].any()
        place = sample.units.index("2")
        assert sample.all_values[0, place, 0] == pytest.approx(100.0)


def test_a_predictor_must_be_known(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s.studio") as store:
        with pytest.raises(InputError, match="nonsense"):
            import_set(store, small_set(), ProjectSettings(TWO_SCALES, predictor="nonsense"))
        with pytest.raises(InputError, match="a nugget set takes no predictor"):
            import_set(store, nugget_set(), ProjectSettings({"nuggets": {}}, predictor="chrf"))


def test_ids_of_outputs_cannot_be_computed_without_the_set() -> None:
    orders = {tuple(shuffled_ids(30, 1, digest)) for digest in ("a", "b", "")}
    assert len(orders) == 3
    assert {tuple(sorted(order)) for order in orders} == {tuple(range(1, 31))}
    assert shuffled_ids(30, 1, "a") == shuffled_ids(30, 1, "a") != shuffled_ids(30, 2, "a")
