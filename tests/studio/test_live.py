"""Live results: what they say of a store, and that they follow what is added."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from judged_store import START, decide, judge_all, make_store, nugget_texts, texts, uuids
from studio.store_rows import current, events

import karat as kt
from karat.errors import InputError
from karat.studio import live
from karat.studio.assignment import next_assignment
from karat.studio.contents import mask_systems, pseudonyms, read_contents
from karat.studio.disputes import find_disputes
from karat.studio.export.formats import export_studio
from karat.studio.export.sets import make_evalset, make_nugget_set
from karat.studio.live import (
    LiveEstimate,
    ask_estimates,
    check_may_see_estimates,
    compute_live_results,
    estimates,
    get_agreement,
    get_latest_results,
    list_progress,
    read_workloads,
)
from karat.studio.store.judgements import SentJudgement, judge, undo
from karat.studio.store.people import assessors, invite
from karat.studio.store.projects import freeze, project, reveal
from karat.studio.store.store import Store

NEW = uuids(3)


def live_estimates(store: Store, owner: int) -> list[LiveEstimate]:
    check_may_see_estimates(store, owner)
    return estimates(store)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    judged_store = make_store(tmp_path / "store")
    judge_all(judged_store, most=20)
    return judged_store


def owner_of(store: Store) -> int:
    invite(store, "olga", "owner")
    return next(person.id for person in assessors(store) if person.role == "owner")


def test_agreement_is_that_of_the_exported_set_and_follows_new_rows(store: Store) -> None:
    def expected() -> object:
        return kt.judge_agreement(make_evalset(read_contents(store, anonymous=True))).rows

    first = get_agreement(store)
    assert first.ratings
    assert repr(first.ratings.rows) == repr(expected())
    assert get_agreement(store) is first
    row = current(store)[0]
    undo(store, row.assessor, NEW(), row.assignment)
    second = get_agreement(store).ratings
    assert second
    assert repr(second.rows) == repr(expected())
    assert second.rows[0].outputs <= first.ratings.rows[0].outputs
    judge_all(store, seed=8)
    third = get_agreement(store).ratings
    assert third
    assert repr(third.rows) == repr(expected())
    assert third.rows[0].shared == 36


def test_the_owners_numbers_are_those_of_commands_on_the_export(tmp_path: Path) -> None:
    """Alpha, each judge, identical judges, intervals and labels needed, from the files alone."""
    with make_store(tmp_path / "store", texts(30, 3)) as store:
        judge_all(store, most=75)
        ann = {row.outputs: row for row in current(store) if row.assessor == 1}
        for row in current(store):
            if row.assessor == 2 and row.outputs in ann:  # bob answers as ann does
                judgement = SentJudgement(
                    NEW(), row.assignment, ann[row.outputs].value, 5, row.uuid
                )
                judge(store, 2, judgement)
        dispute = find_disputes(store)[0]
        decide(store, dispute.task, dispute.output, dispute.about, 4, NEW())
        owner = owner_of(store)
        ask_estimates(store, owner)
        live = compute_live_results(store)
        export_studio(store.path, tmp_path / "set", "set", anonymous=True)
    agreement = kt.judge_agreement(str(tmp_path / "set"))
    assert live.agreement.ratings
    assert repr(live.agreement.ratings.rows) == repr(agreement.rows)
    assert repr(live.agreement.ratings.judges) == repr(agreement.judges)
    identical_judges = {row.judge for row in live.agreement.ratings.judges if row.identical}
    assert identical_judges == {"assessor-1", "assessor-2"}
    for live_estimate in live.estimates:
        assert live_estimate.estimate
        rows = kt.estimate(str(tmp_path / "set"), live_estimate.dimension).rows
        expected = sorted(repr(row[1:]) for row in rows)  # without names, which are hidden here
        assert sorted(repr(row[1:]) for row in live_estimate.estimate.rows) == expected
        assert any(row.more for row in rows)


def test_agreement_in_pairs_is_on_pairs_that_several_compared(tmp_path: Path) -> None:
    store = make_store(tmp_path / "pairs", people=2, tasks={"pairs": {}})
    judge_all(store, most=20)
    both: dict[tuple[int, ...], list[int]] = {}
    for row in current(store):
        both.setdefault(tuple(sorted(row.outputs)), []).append(row.assessor)
    shared = sum(len(people) == 2 for people in both.values())
    assert 0 < shared < 20  # the two saw different pairs of the same outputs
    agreement = get_agreement(store)
    assert agreement.ratings is None
    assert agreement.pairs
    (total,) = agreement.pairs.rows
    assert (total.dimension, total.outputs, total.shared) == ("win", len(both), shared)


def test_agreement_in_nuggets_has_kappa(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", nugget_texts(), people=2, tasks={"nuggets": {}})
    assert get_agreement(store).nuggets is None
    judge_all(store)
    agreement = get_agreement(store).nuggets
    expected = kt.judge_agreement(make_nugget_set(read_contents(store, anonymous=True)))
    assert agreement
    assert repr(agreement.kappa) == repr(expected.kappa)  # type: ignore[attr-defined]


def test_disputes_are_ranked_blind_and_settled_by_a_decision(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", texts(2, 1), people=2)
    values = {("ann", 1): (7, 3), ("bob", 1): (1, 3), ("ann", 2): (4, 2), ("bob", 2): (4, 3)}
    for entry in assessors(store)[:2]:
        while view := next_assignment(store, entry.id, START):
            item = int(view.outputs[0].text.split()[-3]) + 1
            quality, fluency = values[entry.name, item]
            rated = {"ratings": {"quality": quality, "fluency": fluency}}
            judge(store, entry.id, SentJudgement(NEW(), view.assignment, rated, 5), START)
    disputes = find_disputes(store)
    assert [(entry.segment, entry.about, entry.amount) for entry in disputes] == [
        ("1", "quality", 1.0),
        ("2", "fluency", 0.25),
    ]
    assert [(vote.assessor, vote.value) for vote in disputes[0].votes] == [
        ("assessor-1", 7),
        ("assessor-2", 1),
    ]
    assert "sys0" not in repr(disputes)
    assert "ann" not in repr(disputes)
    decide(store, disputes[0].task, disputes[0].output, disputes[0].about, 4, NEW())
    assert [entry.about for entry in find_disputes(store)] == ["fluency"]
    assert [entry.settled for entry in find_disputes(store, settled=True)] == [True, False]


@pytest.mark.parametrize("tasks", [{"pairs": {}}, {"spans": {"scheme": "esa"}}])
def test_decisions_on_disputes_are_what_exports_take(
    tmp_path: Path, tasks: dict[str, dict[str, str]]
) -> None:
    store = make_store(tmp_path / "store", texts(3, 3), tasks=tasks)
    judge_all(store)
    for dispute in find_disputes(store):
        value = "tie" if dispute.task == "pairs" else {"spans": [], "score": 90}
        decide(store, dispute.task, dispute.output, dispute.about, value, NEW(), dispute.item)
    assert find_disputes(store) == []
    assert make_evalset(read_contents(store)).judgements.judge_kinds["adjudicated"] == "adjudicated"


def test_another_severity_on_the_same_words_is_a_dispute(tmp_path: Path) -> None:
    tasks = {"spans": {"scheme": "esa"}}
    store = make_store(tmp_path / "store", texts(1, 1), people=2, tasks=tasks)
    for who, severity in zip(assessors(store), ("minor", "major"), strict=False):
        view = next_assignment(store, who.id, START)
        assert view
        marks = [{"start": 0, "end": 4, "severity": severity}]
        judge(
            store,
            who.id,
            SentJudgement(NEW(), view.assignment, {"spans": marks, "score": 50}, 1),
        )
    assert [dispute.amount for dispute in find_disputes(store)] == [1.0]


def test_estimates_are_the_owners_and_asking_early_is_recorded(store: Store) -> None:
    owner = owner_of(store)
    with pytest.raises(InputError, match="for the owner"):
        live_estimates(store, 1)
    with pytest.raises(InputError, match="which is recorded"):
        live_estimates(store, owner)
    ask_estimates(store, owner)
    ask_estimates(store, owner)
    requests = [entry for entry in events(store) if entry.what == "estimates"]
    assert [entry.assessor for entry in requests] == [owner]
    estimates = live_estimates(store, owner)
    expected = kt.estimate(make_evalset(read_contents(store)), "quality")
    assert [entry.dimension for entry in estimates] == ["quality", "fluency"]
    assert estimates[0].estimate
    # Before the reveal there are pseudonyms, in an order that is not that of the set.
    assert {row.system for row in estimates[0].estimate.rows} == {
        "system 1",
        "system 2",
        "system 3",
    }
    assert sorted(repr(row[1:]) for row in estimates[0].estimate.rows) == sorted(
        repr(row[1:]) for row in expected.rows
    )
    freeze(store, owner)
    reveal(store, owner)
    after = live_estimates(store, owner)[0].estimate
    assert after
    assert repr(after.rows) == repr(expected.rows)


def test_estimates_need_no_asking_after_the_reveal(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", people=1)
    judge_all(store, most=2)
    owner = owner_of(store)
    freeze(store, owner)
    reveal(store, owner)
    estimates = live_estimates(store, owner)
    assert [live_estimate.estimate for live_estimate in estimates] == [None, None]
    assert "label" in estimates[0].reason


def test_estimates_of_nuggets(tmp_path: Path) -> None:
    pytest.importorskip("karat.nuggets.estimation")
    store = make_store(tmp_path / "store", nugget_texts(), people=1, tasks={"nuggets": {}})
    judge_all(store)
    owner = owner_of(store)
    ask_estimates(store, owner)
    (live_estimate,) = live_estimates(store, owner)
    assert live_estimate.estimate or live_estimate.reason


def test_progress_has_pace_and_median_time(store: Store) -> None:
    rows = [row for row in current(store) if row.assessor == 1]
    ann, *_, zoe = list_progress(store, read_workloads(store))
    assert (ann.assessor.name, ann.assessor.judged, ann.work.pace) == ("ann", 20, 20)
    times = sorted(row.ms for row in rows)
    assert ann.work.seconds == (times[9] + times[10]) / 2000
    assert ann.work.newest == max(row.time for row in rows)
    assert (zoe.assessor.role, zoe.assessor.judged, zoe.work.seconds, zoe.calibration) == (
        "adjudicator",
        0,
        None,
        None,
    )


def test_pseudonyms_tell_nothing_of_the_order_of_systems(store: Store) -> None:
    names = [f"s{k}" for k in range(12)]
    current_project = project(store)
    new_names = pseudonyms(names, current_project)
    assert sorted(new_names.values()) == [f"system {k:02}" for k in range(1, 13)]
    assert new_names == pseudonyms(names[::-1], current_project)
    assert [*new_names] != names
    assert pseudonyms(names, current_project._replace(seed=current_project.seed + 1)) != new_names


def test_systems_of_masked_outputs_stand_in_the_order_of_pseudonyms(store: Store) -> None:
    contents = read_contents(store)
    hidden = replace(contents, outputs=mask_systems(contents.outputs, contents.project))
    assert hidden.systems == ("system 1", "system 2", "system 3")
    new_names = pseudonyms(contents.systems, contents.project)
    assert all(
        hidden.outputs[id] == output._replace(system=new_names[output.system])
        for id, output in contents.outputs.items()
    )


def test_a_process_computes_the_results_of_large_stores(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = get_latest_results(store)
    assert small
    assert small.coverage.answers == 60
    monkeypatch.setattr(live, "MAX_IN_PROCESS", 0)
    assert get_latest_results(store) is small  # nothing has changed
    row = current(store)[0]
    undo(store, row.assessor, NEW(), row.assignment)
    older = get_latest_results(store)
    assert older
    assert older.coverage.answers in (60, 59)  # what is known meanwhile
    while (results := get_latest_results(store)) is None or results.coverage.answers != 59:
        pass
    expected = compute_live_results(store)
    assert repr(results._replace(time="")) == repr(expected._replace(time=""))
