"""Pools, folds, what is known elsewhere, and the cross-validation of the 24 settings."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nuggets.nugget_world import pooled, world

from karat.errors import InputError
from karat.nuggets.prediction.paper import Paper
from karat.nuggets.prediction.pool import (
    FoldedCells,
    assessor_agreement,
    folds,
    make_pool,
    with_institutions,
)
from karat.nuggets.prediction.thresholds import best_f_threshold
from karat.nuggets.results.tuning import fold_guesses, settings, trial, tune_nuggets
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet

KEY = make_key(
    [
        Question("a", (Nugget("1", ("x",)), Nugget("2", ("y",)))),
        Question("b", (Nugget("1", ("z",)),)),
    ]
)
RUNS = [
    make_run("r", [("a", Response("one")), ("a", Response("two")), ("b", Response("three"))]),
    make_run("s", [("a", Response("ONE"))], "house"),
    make_run("t", [("b", Response("three"))], "house"),
]


def test_cells_stand_question_by_question() -> None:
    pool = make_pool(KEY, RUNS)
    assert pool.texts == ("one", "two", "ONE", "three", "three")
    assert pool.cell_response.tolist() == [0, 0, 1, 1, 2, 2, 3, 4]
    assert pool.cell_nugget.tolist() == [0, 1, 0, 1, 0, 1, 2, 2]
    assert pool.cell_run.tolist() == [0, 0, 0, 0, 1, 1, 0, 2]
    assert pool.cell_question.tolist() == [0] * 6 + [1] * 2
    assert pool.table(np.arange(8.0), 0).tolist() == [[0, 1], [2, 3], [4, 5]]


def test_a_run_is_scored_by_the_best_of_its_responses() -> None:
    pool = make_pool(KEY, RUNS)
    cells = np.array([1.0, 0, 0, 1, 1, 0, 0, 1])
    scores = pool.question_scores(cells)
    assert scores[0].tolist() == [1, 0]
    assert scores[1, 0] == 0.5
    assert np.isnan(scores[1, 1])
    assert pool.run_scores(cells).tolist() == [0.5, 0.5, 1]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("system", [0, 0, 0, 0, 1, 1, 0, 2]),
        ("institution", [0, 0, 0, 0, 1, 1, 0, 1]),
        ("question", [0, 0, 0, 0, 0, 0, 1, 1]),
    ],
)
def test_folds(by: str, expected: list[int]) -> None:
    assert folds(make_pool(KEY, RUNS), by).tolist() == expected


@pytest.mark.parametrize(
    ("tag", "pattern", "institution"),
    [
        ("MIT03a", None, "mit"),
        ("webis-rag-run0", None, "webis"),
        ("UDInfolab.RAG.Query", None, "udinfolab"),
        ("ag_rag_gpt35", None, "ag"),
        ("Réseau1", None, "réseau"),
        ("123", None, "123"),
        ("abc-x-1", "[^-]+-([^-]+)", "x"),
        ("abc", "[^-]+-([^-]+)", "abc"),
        ("abc", "a(x)?", "abc"),
    ],
)
def test_a_tag_tells_the_institution(tag: str, pattern: str | None, institution: str) -> None:
    runs = {tag: make_run(tag, []), "said": make_run("said", [], "House")}
    nuggets = with_institutions(NuggetSet("s", KEY, MappingProxyType(runs)), pattern)
    assert nuggets.runs[tag].institution == institution
    assert nuggets.runs["said"].institution == "House"  # the file says so
    with pytest.raises(InputError, match=r"institution '\[': no regular expression"):
        with_institutions(nuggets, "[")


def test_an_unknown_way_to_leave_out() -> None:
    with pytest.raises(InputError, match="leave out 'run': expected one of system"):
        folds(make_pool(KEY, RUNS), "run")


def test_identical_responses_are_known_from_other_folds_only() -> None:
    pool = make_pool(KEY, RUNS)
    labels = np.array([1.0, 0, 1, 1, 0, np.nan, 0, 1])
    known_labels = FoldedCells(pool, labels, folds(pool, "system")).elsewhere
    assert known_labels[[0, 4, 5, 6, 7]].tolist() == pytest.approx([0, 1, 0, 1, 0])
    assert np.isnan(known_labels[[1, 2, 3]]).all()
    assert np.isnan(FoldedCells(pool, labels, folds(pool, "question")).elsewhere).all()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=9), st.data())
def test_what_others_tell_is_the_best_of_them(
    texts_and_runs: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Responses are a text and a run; of each nugget the best label elsewhere, case by case."""
    key = make_key([Question("q", (Nugget("1", ("a",)), Nugget("2", ("b",))))])
    runs = [
        make_run(
            f"r{k}", [("q", Response(f"text {text}")) for text, run in texts_and_runs if run == k]
        )
        for k in range(4)
    ]
    pool = make_pool(key, runs)
    values = st.sampled_from([0.0, 0.5, 1.0, np.nan])
    cells = 2 * len(texts_and_runs)
    labels = np.array(data.draw(st.lists(values, min_size=cells, max_size=cells)))
    fold = pool.cell_run // 2
    known_labels = FoldedCells(pool, labels, fold).elsewhere
    for i in range(cells):
        other_labels = [
            labels[j]
            for j in range(cells)
            if pool.cell_nugget[i] == pool.cell_nugget[j]
            and pool.texts[pool.cell_response[i]] == pool.texts[pool.cell_response[j]]
            and fold[i] != fold[j]
            and not np.isnan(labels[j])
        ]
        assert known_labels[i] == max(other_labels, default=np.nan) or (
            not other_labels and np.isnan(known_labels[i])
        )


def test_there_are_24_settings() -> None:
    classifiers = settings(Paper(normalised=True))
    assert len(set(classifiers)) == 24
    assert all(classifier.normalised for classifier in classifiers)


def test_thresholds_come_from_the_other_folds() -> None:
    scores = np.array([1.0, 2, 3, 10, 20, 30])
    labels = np.array([0.0, 1, 1, 0, 1, 1])
    fold = np.array([0, 0, 0, 1, 1, 1])
    cells = FoldedCells(make_pool(KEY, RUNS), labels, fold)  # thresholds are 15 and 1.5
    carried = fold_guesses(cells, [(0, scores), (1, scores)])
    assert carried.tolist() == [False] * 3 + [True] * 3
    other = np.array([16.0, 2, 3, 10, 20, 30])  # of the first fold, while it is left out
    assert (
        fold_guesses(cells, [(0, other), (1, scores)]).tolist() == [True, False, False] + [True] * 3
    )


@pytest.mark.parametrize("by", ["system", "institution", "question"])
@pytest.mark.parametrize("informativeness", ["responses", "descriptions"])
def test_tuning_agrees_with_a_plain_loop(by: str, informativeness: str) -> None:
    pool, labels, _ = pooled()
    rule = Paper(1, stop="en", normalised=True, informativeness=informativeness)
    fold = folds(pool, by)
    tried = trial(FoldedCells(pool, labels, fold), rule)
    known_labels = FoldedCells(pool, labels, fold).elsewhere
    for cell in range(0, len(labels), 7):
        rest = fold != fold[cell]
        scores = rule.scores(FoldedCells(pool, np.where(rest, labels, np.nan), fold))
        limit = best_f_threshold(scores[rest], labels[rest] > 0)
        guess = scores[cell] > limit
        is_known = not np.isnan(known_labels[cell])
        assert tried.carried[cell] == (known_labels[cell] > 0 if is_known else guess)
    assert tried.agreement == assessor_agreement(pool, tried.carried, labels)
    assert tried.agreement.f > (0.8 if informativeness == "descriptions" else 0.6)


def test_all_settings_in_one_call() -> None:
    key, runs, judged = world(questions=3, runs=4)
    nuggets = NuggetSet("s", key, MappingProxyType({run.tag: run for run in runs}), judged)
    progress_calls: list[int] = []

    def progress(done: int, total: int, subject: str) -> None:
        progress_calls.extend([done] * (subject == "tuning"))

    tuning = tune_nuggets(nuggets, progress=progress).tuning
    assert [trial.classifier for trial in tuning.trials] == settings()
    assert progress_calls == list(range(1, 25))
    assert tuning.best.agreement.f == max(trial.agreement.f for trial in tuning.trials)


def test_agreement_counts_judged_cells_only() -> None:
    pool = make_pool(KEY, RUNS)
    carried = np.array([1, 1, 0, 0, 1, 1, 0, 1], dtype=bool)
    labels = np.array([1.0, 0, 0, 1, 0.5, np.nan, 0, 1])
    agreement = assessor_agreement(pool, carried, labels)
    assert (agreement.precision, agreement.recall, agreement.f) == pytest.approx(
        (3 / 4, 3 / 4, 3 / 4)
    )
    perfect = assessor_agreement(pool, labels > 0, labels)
    assert (perfect.f, perfect.rmse, perfect.tau_b) == pytest.approx((1, 0, 1))
