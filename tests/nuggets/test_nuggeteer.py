"""Nuggeteer: guesses of what nobody judged, what they may rest on, and their intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from nuggets.nugget_world import world

import karat as kt
from karat.nuggets.prediction.calibrated import fit_unjudged
from karat.nuggets.prediction.evidence import UnjudgedEvidence, evidence
from karat.nuggets.prediction.intervals import (
    RunErrors,
    ScoreErrors,
    ScoreInterval,
    official_scores,
    score_interval,
)
from karat.nuggets.prediction.pool import make_pool
from karat.nuggets.prediction.predictions import Predictions, predict_support
from karat.nuggets.scores.decisions import AnswerDecisions, decide_run
from karat.nuggets.scores.official import OfficialSettings, mean_shares, score_shares
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import (
    Nugget,
    NuggetKey,
    Question,
    Response,
    Run,
    make_key,
    make_run,
)
from karat.nuggets.sets.nugget_set import NuggetSet

KEY, RUNS, JUDGED = world(questions=8, runs=6)
HOW = OfficialSettings()


def nugget_set(
    runs: Iterable[Run], rows: Iterable[JudgedResponse], key: NuggetKey = KEY
) -> NuggetSet:
    return NuggetSet(
        "s", key, MappingProxyType({run.tag: run for run in runs}), Judgements(tuple(rows))
    )


def without(tag: str) -> tuple[JudgedResponse, ...]:
    return JUDGED.without([tag]).rows


def cells(predictions: Predictions, tag: str) -> list[float]:
    """All probabilities of a run."""
    tables = [predictions.pool.answer(predictions.probabilities, tag, q) for q in KEY.questions]
    return np.concatenate([table.ravel() for table in tables]).tolist()


def run_decisions(
    predictions: Predictions, nuggets: NuggetSet, tag: str
) -> dict[str, AnswerDecisions]:
    run = nuggets.runs[tag]
    return dict(decide_run(run, nuggets.key, nuggets.judgements, predictions.guess(tag)))


def interval(nuggets: NuggetSet, tag: str) -> ScoreInterval:
    predictions = predict_support(nuggets)
    ends = predictions.intervals(
        nuggets.runs[tag], run_decisions(predictions, nuggets, tag), OfficialSettings()
    )
    assert ends is not None
    return ends.share


def official(run: Run, key: NuggetKey, judgements: Judgements) -> float:
    return mean_shares(score_shares(run, key, decide_run(run, key, judgements))).A


def test_without_judgements_the_built_in_model_serves() -> None:
    predictions = predict_support(nugget_set(RUNS, ()))
    assert (predictions.learned, predictions.errors(HOW)) == (0, RunErrors())
    yes = [row for row in JUDGED.rows if row.value > 0]
    carried_pairs = {(row.run, row.question, row.nugget) for row in yes}
    hits = [
        bool(predictions.guess(run.tag)(question, run.responses(q))[0, j])
        == ((run.tag, q, nugget.id) in carried_pairs)
        for run in RUNS
        for q, question in KEY.questions.items()
        for j, nugget in enumerate(question.nuggets)
    ]
    assert np.mean(hits) > 0.9


@pytest.mark.parametrize(
    ("yes", "no", "learned"), [(20, 80, 100), (19, 81, 0), (80, 19, 0), (20, 79, 0)]
)
def test_what_it_takes_to_learn(yes: int, no: int, learned: int) -> None:
    kinds = [[row for row in JUDGED.rows if (row.value > 0) == kind] for kind in (True, False)]
    if len(kinds[0]) < yes or len(kinds[1]) < no:
        pytest.fail("the world is too small")
    assert predict_support(nugget_set(RUNS, kinds[0][:yes] + kinds[1][:no])).learned == learned


def test_judged_runs_that_are_not_scored_are_learned_from() -> None:
    alone = predict_support(nugget_set(RUNS[:1], without("run0")))
    predictions = predict_support(nugget_set(RUNS, without("run0")))
    assert alone.learned == predictions.learned == len(without("run0"))
    assert cells(alone, "run0") == pytest.approx(cells(predictions, "run0"), abs=1e-12)
    assert cells(alone, "run0") != cells(predict_support(nugget_set(RUNS[:1], ())), "run0")


def test_judgements_that_name_no_run_are_learned_from() -> None:
    rows = [row._replace(run="") for row in without("run0")]
    assert predict_support(nugget_set(RUNS[:1], rows)).learned == len(rows)


def test_one_judged_run_is_enough_to_learn_from() -> None:
    key, runs, judged = world(questions=40, runs=2)
    rows = judged.without(["run0"]).rows
    predictions = predict_support(nugget_set(runs, rows, key))
    assert (predictions.learned, predictions.errors(HOW)) == (160, RunErrors())


def test_questions_that_nobody_was_judged_on_have_a_model_of_their_own() -> None:
    rows = [row for row in JUDGED.rows if row.question != "q3"]
    predictions = predict_support(nugget_set(RUNS, rows))
    model, columns = fit_unjudged(
        evidence(predictions.pool), predictions.labels, UnjudgedEvidence(predictions.pool)
    )
    expected, new = model.probabilities(columns), predictions.pool.cell_question == 3
    assert predictions.probabilities[new] == pytest.approx(expected[new], abs=1e-12)
    assert predictions.carried[new].tolist() == (expected[new] > model.threshold).tolist()
    assert predictions.probabilities[~new] != pytest.approx(expected[~new], abs=0.01)


def test_judgements_of_an_earlier_version_are_learned_from() -> None:
    new = make_run("run5", [(q, Response(f"New words on {q}")) for q in KEY.questions])
    predictions = predict_support(nugget_set([new], JUDGED.rows))
    assert predictions.learned == len(JUDGED.rows)
    assert "run5 (earlier)" in predictions.pool.runs


def test_a_run_s_own_judgements_do_not_leak_into_its_guesses() -> None:
    turned = [r._replace(value=1 - r.value) if r.run == "run3" else r for r in JUDGED.rows]
    straight, flipped = (predict_support(nugget_set(RUNS, rows)) for rows in (JUDGED.rows, turned))
    assert cells(straight, "run3") == pytest.approx(cells(flipped, "run3"), abs=1e-12)
    assert cells(straight, "run2") != pytest.approx(cells(flipped, "run2"), abs=1e-3)


def test_the_order_of_runs_and_rows_says_nothing() -> None:
    rows = without("run1")
    nuggets, other = nugget_set(RUNS, rows), nugget_set(RUNS[::-1], rows[::-1])
    assert interval(nuggets, "run1") == interval(other, "run1")
    assert cells(predict_support(nuggets), "run1") == cells(predict_support(other), "run1")


def test_it_says_the_same_twice() -> None:
    nuggets = nugget_set(RUNS, without("run1"))
    first, second = predict_support(nuggets), predict_support(nuggets)
    assert first.probabilities.tolist() == second.probabilities.tolist()
    assert first.errors(HOW) == second.errors(HOW)


def test_guesses_never_override_judgements() -> None:
    """Not even judgements that are plainly wrong."""
    wrong = [r._replace(value=1 - r.value) if r.run == "run3" else r for r in JUDGED.rows]
    nuggets = nugget_set(RUNS, wrong)
    decisions = run_decisions(predict_support(nuggets), nuggets, "run3")
    value = {(row.question, row.nugget): row.value for row in wrong if row.run == "run3"}
    for q, question in KEY.questions.items():
        assert decisions[q].is_judged.all()
        assert decisions[q].values[0].tolist() == [
            value[q, nugget.id] for nugget in question.nuggets
        ]


def test_of_contradictory_judgements_the_highest_counts() -> None:
    judgements = [
        JudgedResponse(r.question, r.nugget, r.response, 0.0, "run3") for r in JUDGED.rows
    ]
    nuggets = nugget_set(RUNS, [*JUDGED.rows, *judgements])
    decisions = run_decisions(predict_support(nuggets), nuggets, "run3")
    plain = decide_run(RUNS[3], KEY, JUDGED)
    assert all(decisions[q].values.tolist() == plain[q].values.tolist() for q in KEY.questions)


def test_identical_responses_are_known_and_guessed_alike() -> None:
    twin = replace(RUNS[4], tag="twin")
    nuggets = nugget_set([*RUNS, twin], JUDGED.rows)
    decisions = run_decisions(predict_support(nuggets), nuggets, "twin")
    assert all(decisions[q].is_judged.all() for q in KEY.questions)
    unjudged = nugget_set([RUNS[4], twin], without("run4"))
    model = predict_support(unjudged)
    assert cells(model, "twin") == cells(model, "run4")


def test_the_interval_closes_as_more_is_judged() -> None:
    run_rows = [row for row in JUDGED.rows if row.run == "run2"]
    widths = []
    for share in (0.0, 0.25, 0.5, 1.0):
        rows = [*without("run2"), *run_rows[: int(share * len(run_rows))]]
        ends = interval(nugget_set(RUNS, rows), "run2")
        widths.append(ends.width)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 0
    score = official(RUNS[2], KEY, JUDGED)
    assert ends == pytest.approx((score, score, score))


def test_intervals_contain_the_official_score_of_runs_left_out() -> None:
    key, runs, judged = world(questions=10, runs=8)
    inside = 0
    for run in runs:
        nuggets = nugget_set(runs, judged.without([run.tag]).rows, key)
        predictions = predict_support(nuggets)
        ends = predictions.intervals(
            run, run_decisions(predictions, nuggets, run.tag), OfficialSettings()
        )
        assert ends is not None
        assert 0 <= ends.share.low <= ends.share.high <= 1
        inside += ends.share.low <= official(run, key, judged) <= ends.share.high
    assert inside >= 7


def test_a_question_without_responses_scores_nothing_and_is_certain() -> None:
    half = Run("half", {q: answer for q, answer in RUNS[0].answers.items() if q < "q4"})
    nuggets = nugget_set([*RUNS[1:], half], without("run0"))
    predictions = predict_support(nuggets)
    decisions = run_decisions(predictions, nuggets, "half")
    ends = predictions.intervals(half, decisions, OfficialSettings())
    assert ends is not None
    score = mean_shares(score_shares(half, KEY, decisions)).A
    assert ends.share.low <= score <= ends.share.high <= 0.5
    only = make_key(q for q in KEY.questions.values() if q.id < "q4")
    rows = [row for row in without("run0") if row.question < "q4"]
    assert ends.share.width < interval(nugget_set([half], rows, only), "half").width


def test_a_run_without_responses_has_no_interval() -> None:
    empty = make_run("empty", [])
    nuggets = nugget_set([*RUNS, empty], JUDGED.rows)
    predictions = predict_support(nuggets)
    decisions = run_decisions(predictions, nuggets, "empty")
    assert predictions.intervals(empty, decisions, OfficialSettings()) is None
    assert all(answer.values.shape == (0, 4) for answer in decisions.values())


def test_intervals_do_not_turn_round_at_the_edge() -> None:
    errors = ScoreErrors(0.3, 1e-6, 1e-6, 20)
    assert score_interval(np.zeros(4), errors, 4)[1:] == (0.0, 0.0)
    assert score_interval(np.ones(4), errors._replace(bias=-0.3), 4)[1:] == (1.0, 1.0)


def test_official_scores_are_known_where_judgements_tell_all_of_them() -> None:
    question = Question("q", (Nugget("a", ("x",)), Nugget("b", ("y",))))
    runs = [make_run(tag, [("q", Response("s")), ("q", Response("t"))]) for tag in "klmn"]
    pool = make_pool(make_key([question]), [*runs, make_run("o", [])])
    nan = np.nan
    tables = [
        [[1, 0], [nan, 0]],  # what follows a carried nugget does not matter
        [[0, 0.5], [nan, 0]],  # a may yet be carried
        [[0.5, 1], [0, nan]],
        [[nan, nan], [nan, nan]],
    ]
    scores = official_scores(pool, np.array(tables).ravel())
    assert scores.ravel().tolist() == pytest.approx([0.5, nan, 0.75, nan, nan], nan_ok=True)


def test_an_unfinished_log_says_nothing_of_what_was_not_asked() -> None:
    """A "no" about one nugget is not one about all the others."""
    rows = [row for row in JUDGED.rows if row.run != "run5" or row.nugget == "n0"]
    assert predict_support(nugget_set(RUNS, rows)).learned == len(rows)


@pytest.mark.parametrize("tag", ["BEST_cot_gpt3.5", "iiia_standard_p1_straight_ag"])
def test_a_real_run_held_out(karat_data: Path, tag: str) -> None:
    rag24 = kt.load_nuggets(karat_data / "nuggets-rag24" / "nugget_assignment.20241108.jl")
    nuggets = rag24.select(tag, *[other for other in rag24.runs if other != tag][:8])
    rows = [row for row in rag24.judgements.rows if row.run in nuggets.runs and row.run != tag]
    ends = interval(replace(nuggets, judgements=Judgements(tuple(rows))), tag)
    assert ends.low <= official(rag24.runs[tag], rag24.key, rag24.judgements) <= ends.high
    assert 0.02 < ends.width < 0.3
