"""What was judged of the cells of a pool: in their own run, or of identical responses of any."""

from __future__ import annotations

import numpy as np

from karat.nuggets.prediction.pool import (
    Pool,
    assign_runs,
    corrected_labels,
    make_pool,
    run_labels,
    strict_labels,
)
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run

KEY = make_key([Question("q", (Nugget("a", ("one",)), Nugget("b", ("two",))))])


def pool(**runs: list[str]) -> Pool:
    all_runs = [
        make_run(tag, [("q", Response(text)) for text in texts]) for tag, texts in runs.items()
    ]
    return make_pool(KEY, all_runs)


def judgements_of(*rows: JudgedResponse) -> Judgements:
    return Judgements(rows)


def test_a_response_is_known_by_its_words() -> None:
    new_pool = pool(new=["The  FIRST", "other words"])
    rows = judgements_of(
        JudgedResponse("q", "a", "the first", 0.0, "new"),
        JudgedResponse("q", "b", "the first", 0.5, "new"),
    )
    for values in (run_labels(new_pool, rows), corrected_labels(new_pool, rows)):
        np.testing.assert_array_equal(values, [0, 0.5, np.nan, np.nan])


def test_of_contradicting_judgements_the_favourable_counts() -> None:
    rows = judgements_of(
        JudgedResponse("q", "a", "x", 1.0, "r"), JudgedResponse("q", "a", "X", 0.0, "r")
    )
    for both in (rows, Judgements(rows.rows[::-1])):
        np.testing.assert_array_equal(run_labels(pool(r=["x"]), both), [1, np.nan])


def test_what_others_said_of_the_same_words_counts_only_if_corrected() -> None:
    rows = judgements_of(
        JudgedResponse("q", "a", "x", 0.0, "r"), JudgedResponse("q", "a", "x", 1.0, "s")
    )
    three_runs = pool(r=["x"], s=["x"], t=["x"])
    np.testing.assert_array_equal(run_labels(three_runs, rows)[::2], [0, 1, np.nan])
    np.testing.assert_array_equal(corrected_labels(three_runs, rows)[::2], [1, 1, 1])


def test_silence_says_nothing() -> None:
    rows = judgements_of(JudgedResponse("q", "a", "x", 1.0, "old"))
    old_pool = pool(old=["x", "y"])
    for values in (run_labels(old_pool, rows), corrected_labels(old_pool, rows)):
        np.testing.assert_array_equal(values, [1, np.nan, np.nan, np.nan])


def test_the_same_words_twice_in_a_run_are_judged_once() -> None:
    rows = judgements_of(JudgedResponse("q", "b", "x", 1.0, "r"))
    np.testing.assert_array_equal(run_labels(pool(r=["x", "X"]), rows)[1::2], [1, 1])


def test_rows_about_other_things_are_passed_over() -> None:
    rows = judgements_of(
        JudgedResponse("q", "a", "x", 1.0),
        JudgedResponse("q", "a", "x", 1.0, "other"),
        JudgedResponse("q", "c", "x", 1.0, "r"),
        JudgedResponse("p", "a", "x", 1.0, "r"),
        JudgedResponse("q", "a", "y", 1.0, "r"),
    )
    assert np.isnan(run_labels(pool(r=["x"]), rows)).all()


def test_strictly_support_in_part_is_none() -> None:
    labels = strict_labels(np.array([0.0, 0.5, 1.0, np.nan]))
    np.testing.assert_array_equal(labels, [0, 0, 1, np.nan])


def test_an_empty_pool_has_no_cells() -> None:
    assert (
        run_labels(pool(new=[]), judgements_of()).size
        == corrected_labels(pool(new=[]), judgements_of()).size
        == 0
    )


def test_a_judgement_that_names_no_run_is_of_every_run_with_its_words() -> None:
    runs = [make_run(tag, [("q", Response(text))]) for tag, text in (("r", "X  y"), ("s", "z"))]
    runs_by_tag = {run.tag: run for run in runs}
    rows = judgements_of(
        JudgedResponse("q", "a", "x y", 1.0), JudgedResponse("q", "b", "gone", 0.0)
    )
    judgements = assign_runs(rows, runs_by_tag)
    assert [(row.nugget, row.run) for row in judgements.rows] == [("a", "r"), ("b", "")]
    np.testing.assert_array_equal(
        run_labels(make_pool(KEY, runs), judgements), [1, np.nan, np.nan, np.nan]
    )
    both = assign_runs(rows, {**runs_by_tag, "t": make_run("t", [("q", Response("x Y"))])})
    assert [row.run for row in both.rows] == ["r", "t", ""]
    nuggets = judgements_of(JudgedResponse("q", "a", "x y", 1.0, "r"))
    assert assign_runs(nuggets, runs_by_tag) is nuggets
