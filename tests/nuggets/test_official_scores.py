"""All ways on one score, official F: agreement, rank swaps, intervals over questions, curves."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from nuggets.nugget_world import world

import karat as kt
from karat.nuggets.prediction.pool import make_pool
from karat.nuggets.results.agreement import (
    AverageScores,
    ScoringMethod,
    agreement_of_judgements,
    agreement_of_scores,
    f_difference,
    in_hindsight,
    jackknife_interval,
    swapped,
)
from karat.nuggets.results.evaluation import NuggetEvaluation, evaluate_nuggets
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import OfficialSettings
from karat.nuggets.scores.pourpre import Pourpre
from karat.nuggets.scores.words import pooled_idf
from karat.nuggets.sets.keys_and_runs import make_key
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.stats.correlation import r_squared, rmse, tau_b

KEY, RUNS, JUDGED = world(questions=5, runs=6)
SET = NuggetSet("s", KEY, MappingProxyType({run.tag: run for run in RUNS}), JUDGED)
TAGS = [run.tag for run in RUNS]


@pytest.fixture(scope="module")
def evaluation() -> NuggetEvaluation:
    return evaluate_nuggets(SET, beta=2.0)


def scores_of(evaluation: NuggetEvaluation, carried: np.ndarray, kind: str) -> list[float]:
    """F of every run from decisions, answer by answer."""
    pool, official, values = (
        evaluation.tuning.cells.pool,
        OfficialSettings(2.0),
        carried.astype(np.float64),
    )
    scores = []
    for run in RUNS:
        decisions = decide_run(
            run, KEY, None, lambda q, some, tag=run.tag: pool.answer(values, tag, q.id)
        )
        scores.append(getattr(official.score(run, KEY, decisions), kind).f)
    return scores


def official(kind: str) -> list[float]:
    official = OfficialSettings(2.0)
    scores = [
        official.score(run, KEY, decide_run(run, KEY, JUDGED, run_tag=run.tag)) for run in RUNS
    ]
    return [getattr(score, kind).f for score in scores]


def test_decisions_are_scored_as_the_official_ones_are(evaluation: NuggetEvaluation) -> None:
    carried = {"calibrated": evaluation.calibrated.carried}
    carried["paper, best of 24"] = evaluation.tuning.best.carried
    rows = {(row.method, row.average): row for row in evaluation.scores}
    for (name, decisions), kind in itertools.product(carried.items(), ("micro", "macro")):
        scores, official_f, row = (
            scores_of(evaluation, decisions, kind),
            official(kind),
            rows[name, kind],
        )
        numbers = tau_b(official_f, scores), r_squared(official_f, scores), rmse(official_f, scores)
        assert row[3:6] == pytest.approx(numbers, nan_ok=True)


@pytest.mark.long
def test_pourpre_at_thresholds_and_in_hindsight(evaluation: NuggetEvaluation) -> None:
    variants = {"count": Pourpre(2.0), "idf": Pourpre(2.0, weigh=pooled_idf(RUNS, "porter"))}
    rows = {(row.method, row.average): row for row in evaluation.scores}
    for (name, pourpre), kind in itertools.product(variants.items(), ("micro", "macro")):
        official_f = official(kind)
        taus = {}
        for t in (k / 20 for k in range(20)):
            scores = [replace(pourpre, threshold=t).score(run, KEY) for run in RUNS]
            taus[t] = tau_b(official_f, [getattr(score, kind).f for score in scores])
        assert rows[f"Pourpre {name}", kind].tau_b == pytest.approx(taus[0.0])
        best = rows[f"Pourpre {name}, threshold in hindsight", kind]
        assert best.tau_b == pytest.approx(max(t for t in taus.values() if not math.isnan(t)))
        assert taus[best.threshold] == pytest.approx(best.tau_b)


def test_there_is_one_table(evaluation: NuggetEvaluation) -> None:
    names = list(dict.fromkeys(row.method for row in evaluation.scores))
    assert [name.split()[0].rstrip(",") for name in names] == (
        ["calibrated", *["paper"] * 5, *["Pourpre"] * 4, *["ROUGE-1"] * 2]
    )
    assert [row.average for row in evaluation.scores] == ["micro"] * 12 + ["macro"] * 12
    assert all((row.rmse is None) == row.method.startswith("ROUGE") for row in evaluation.scores)
    assert all(
        (row.threshold is None) == ("hindsight" not in row.method) for row in evaluation.scores
    )
    data = evaluation.records("scores")
    assert data[0]["what"] == "calibrated"
    assert len(evaluation.records("swaps")) == sum(row.swaps for row in evaluation.scores)


def test_swaps_by_hand() -> None:
    """Of a, b, c and d: b and c are swapped, a and d are; c and d are a tie of the guesses."""
    runs, official_f, guessed = (
        "abcd",
        np.array([0.5, 0.4, 0.2, 0.1]),
        np.array([0.3, 0.1, 0.4, 0.4]),
    )
    swaps = list(swapped("x", "micro", runs, official_f, guessed))
    assert [(s.better, s.worse) for s in swaps] == [("a", "d"), ("b", "d"), ("a", "c"), ("b", "c")]
    assert [s.official for s in swaps] == pytest.approx([0.4, 0.3, 0.3, 0.2])
    assert [s.guessed for s in swaps] == pytest.approx([-0.1, -0.3, -0.1, -0.3])
    method = ScoringMethod("x", AverageScores(guessed, official_f))
    (micro, micro_swaps), (macro, macro_swaps) = agreement_of_scores(
        method, AverageScores(official_f, official_f), runs
    )
    assert (micro.swaps, micro.pairs, micro.swaps_far) == (4, 6, 4)
    assert (micro.swap_median, micro.swap_largest) == pytest.approx((0.3, 0.4))
    assert (len(micro_swaps), macro_swaps) == (4, [])
    assert (macro.swaps, macro.swap_median, macro.swap_largest) == (0, None, None)
    near = official_f / 10
    ((close, _), _) = agreement_of_scores(method, AverageScores(near, near), runs)
    assert (close.swaps, close.swaps_far) == (4, 0)


def test_hindsight_takes_the_first_of_equals_and_no_nan() -> None:
    official_f = AverageScores(np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.2, 0.1]))
    tried = {0.0: [1.0, 1, 1], 1.0: [1.0, 2, 3], 2.0: [2.0, 4, 6], 3.0: [3.0, 2, 1]}
    method = in_hindsight(
        "x", official_f, [*tried], lambda t: AverageScores(*[np.array(tried[t])] * 2)
    )
    assert method.thresholds == (1.0, 3.0)


def test_the_interval_of_f_is_the_jackknife_over_questions(evaluation: NuggetEvaluation) -> None:
    pool, carried = evaluation.tuning.cells.pool, evaluation.tuning.best.carried
    labels = evaluation.tuning.cells.labels
    row = agreement_of_judgements("x", pool, carried, labels)

    def f(questions: list[int]) -> float:
        cells = np.isin(pool.cell_question, questions)
        yes, predicted = (labels > 0) & cells, carried & cells
        return 2 * (yes & predicted).sum() / (yes.sum() + predicted.sum())

    assert row.f == pytest.approx(f(list(range(5))))
    without = [f([q for q in range(5) if q != out]) for out in range(5)]
    mean = sum(without) / 5
    reach = 2.7764451 * math.sqrt(4 / 5 * sum((judgement - mean) ** 2 for judgement in without))
    assert (row.low, row.high) == pytest.approx((row.f - reach, min(1, row.f + reach)), abs=1e-6)
    constant = jackknife_interval(0.5, np.full(3, 0.5))
    assert (constant.low, constant.high) == (0.5, 0.5)
    rows_by_name = {judgement.method: judgement for judgement in evaluation.judgements}
    assert rows_by_name["paper, best of 24"][1:6] == row[1:6]
    assert list(rows_by_name) == list(dict.fromkeys(row.method for row in evaluation.scores))[:5]


def test_one_question_has_no_interval() -> None:
    pool = make_pool(KEY, RUNS[:2])
    labels = np.where(pool.cell_question == 0, 1.0, np.nan)
    row = agreement_of_judgements("x", pool, labels > 0, labels)
    assert (row.f, row.low, row.high) == (1.0, None, None)
    empty = agreement_of_judgements("x", pool, labels > 2, np.zeros(len(labels)))
    assert empty[1:6] == (0.0, 0.0, 0.0, None, None)
    assert f_difference(pool, labels > 0, labels > 2, labels)[1:] != (None, None)


def test_the_difference_of_two_f_is_the_jackknife_over_questions(
    evaluation: NuggetEvaluation,
) -> None:
    pool, labels = evaluation.tuning.cells.pool, evaluation.tuning.cells.labels
    both = evaluation.tuning.best.carried, evaluation.calibrated.carried

    def gap(questions: list[int]) -> float:
        cells = np.isin(pool.cell_question, questions)
        yes, predictions = (labels > 0) & cells, [carried & cells for carried in both]
        first, second = (
            2 * (yes & predicted).sum() / (yes.sum() + predicted.sum()) for predicted in predictions
        )
        return float(first - second)

    without = [gap([q for q in range(5) if q != out]) for out in range(5)]
    mean, all_questions = sum(without) / 5, gap(list(range(5)))
    reach = 2.7764451 * math.sqrt(4 / 5 * sum((difference - mean) ** 2 for difference in without))
    expected = all_questions, max(-1, all_questions - reach), min(1, all_questions + reach)
    assert f_difference(pool, *both, labels) == pytest.approx(expected, abs=1e-6)
    base, row = evaluation.judgements[:2]
    assert (base.difference, base.verdict) == (None, "undecided")
    assert row[6:] == pytest.approx(expected, abs=1e-6)
    assert row.verdict == ("undecided" if expected[1] <= 0 <= expected[2] else "better")
    assert evaluation.contest.difference == pytest.approx(base.f - evaluation.contest.paper)


def test_six_curves(evaluation: NuggetEvaluation) -> None:
    kinds = list(dict.fromkeys((row.stem, row.n) for row in evaluation.curve))
    assert kinds == list(itertools.product(("none", "english"), (1, 2, 3)))
    cells = evaluation.tuning.cells
    rule = next(
        t.classifier
        for t in evaluation.tuning.trials
        if t.classifier.summary.startswith("n=2 weight=idf")
    )
    scores = rule.scores(cells)
    for row in [row for row in evaluation.curve if row[:2] == ("none", 2)][::10]:
        run_scores = scores_of(evaluation, scores > row.threshold, "micro")
        assert row.tau_b == pytest.approx(tau_b(official("micro"), run_scores), nan_ok=True)


def test_runs_have_official_and_guessed_f(evaluation: NuggetEvaluation) -> None:
    for kind in ("micro", "macro"):
        rows = [row for row in evaluation.run_scores if row.average == kind]
        assert [row.run for row in rows] == TAGS
        assert [row.official for row in rows] == pytest.approx(official(kind))
        assert all(row.low <= row.guessed <= row.high for row in rows)  # type: ignore[operator]
    text = evaluation.render("html")
    assert "tau_b of official F against the threshold" in text
    assert "Official and guessed F" in text


def test_a_key_without_vital_nuggets_has_no_official_f() -> None:
    okay = [
        replace(q, nuggets=tuple(replace(n, vital=False) for n in q.nuggets))
        for q in KEY.questions.values()
    ]
    evaluation = evaluate_nuggets(replace(SET, key=make_key(okay)))
    assert all(math.isnan(row.tau_b) and row.swaps == row.pairs == 0 for row in evaluation.scores)
    assert all(math.isnan(row.official) and row.low is None for row in evaluation.run_scores)
    assert evaluation.judgements[0].f > 0.5
    assert "nan" not in evaluation.render("html").lower().replace("nano", "")
    with_f = replace(SET, key=make_key([*okay[:4], KEY.questions["q4"]]))
    assert all(row.pairs > 0 for row in evaluate_nuggets(with_f).scores)
    shifts = kt.agree_nuggets(replace(SET, key=make_key(okay)), JUDGED)
    assert (shifts.rows[0].f, shifts.runs, shifts.scores) == (1.0, (), ())
    assert "Judgements against judgements" in shifts.render()
