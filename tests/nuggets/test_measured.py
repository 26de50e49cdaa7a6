"""How wrong scores are: expected F, models without a fold, label noise, batches, intervals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from nuggets.nugget_world import pooled, world

import karat as kt
from karat.nuggets.prediction import calibrated
from karat.nuggets.prediction import calibrated as held_out
from karat.nuggets.prediction.calibrated import (
    FOLDS,
    RIDGE,
    cross_validate,
    fit_calibrated,
    fit_logistic,
    hold_out,
    run_folds,
    without_folds,
)
from karat.nuggets.prediction.evidence import evidence
from karat.nuggets.prediction.intervals import (
    MeasuredErrors,
    ScoreErrors,
    ScoreInterval,
    label_noise,
)
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.pool import FoldedCells, folds, make_pool
from karat.nuggets.prediction.predictions import predict_support
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import OfficialSettings, mean_shares, pool_stats, score_shares
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys_and_runs import Run, make_key
from karat.nuggets.sets.nugget_set import NuggetSet

HOWS = [OfficialSettings(), OfficialSettings(beta=1.0, strict=True), OfficialSettings(beta=5.0)]


def mixed_key():
    """The world with okay nuggets, partial support, and a question without vital nuggets."""
    key, runs, judged = world(questions=6, runs=5)
    questions = [
        replace(q, nuggets=tuple(replace(n, vital=q.id != "q2" and n.id < "n2") for n in q.nuggets))
        for q in key.questions.values()
    ]
    rows = [r._replace(value=0.5) if r.value and r.nugget == "n1" else r for r in judged.rows]
    return make_key(questions), runs, Judgements(tuple(rows))


@pytest.mark.parametrize("measure", HOWS)
def test_f_of_a_pool_is_the_official_score(measure: OfficialSettings) -> None:
    from karat.nuggets.prediction.pool import run_labels

    key, runs, judged = mixed_key()
    runs[0] = Run("run0", {q: answer for q, answer in runs[0].answers.items() if q > "q0"})
    pool = make_pool(key, runs)
    labels = run_labels(pool, judged)
    stats = pool_stats(pool, (labels >= (1 if measure.strict else 0.5)).astype(float), measure)
    for k, run in enumerate(runs):
        expected = measure.score(run, key, decide_run(run, key, judged))
        f = {
            q: x for q, x in zip(key.questions, stats.f(measure.beta)[k], strict=True) if q != "q2"
        }
        assert list(f.values()) == pytest.approx([row.f for row in expected.questions])
        assert stats.sums().f(measure.beta)[k] == pytest.approx(expected.micro.f)
        assert np.isnan(stats.f(measure.beta)[k, 2])


def test_one_step_is_close_to_models_fitted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, labels, _ = pooled(questions=20, runs=8)
    X, fold, near = evidence(pool), folds(pool, "system"), Likeness(pool)
    cells = FoldedCells(pool, labels, fold)
    exact = cross_validate(cells, X, near)
    _, refitted = hold_out(cells, X, near)
    assert refitted.probabilities.tolist() == exact.probabilities.tolist()
    monkeypatch.setattr(held_out, "EXACT", 0)
    _, step = hold_out(cells, X, near)
    assert np.abs(step.probabilities - exact.probabilities).mean() < 0.01
    assert (step.carried != exact.carried).mean() < 0.03
    assert np.abs(step.probabilities - exact.probabilities).max() > 0


def test_a_step_leaves_the_fold_out() -> None:
    """By hand: weights of the other rows alone, from the weights of all."""
    pool, labels, _ = pooled()
    X, fold = evidence(pool), folds(pool, "system")
    model = fit_calibrated(X, labels)
    probabilities, _ = without_folds(model, X, FoldedCells(pool, labels, fold), RIDGE)
    for k in (1, 4):
        is_selected = fold != k
        alone = fit_logistic(X[is_selected], labels[is_selected] > 0).probabilities(X[~is_selected])
        before = model.probabilities(X[~is_selected])
        step = probabilities[~is_selected]
        assert np.abs(step - alone).mean() < 0.5 * np.abs(before - alone).mean()


def test_label_noise_is_what_identical_responses_differ_by() -> None:
    pool, labels, _ = pooled()
    assert label_noise(pool, labels) == pytest.approx(0.1)  # no two are identical: the prior
    twins = replace(pool, texts=tuple(pool.texts[pool.starts[q]] for q in pool.question))
    yes = (labels.reshape(6, 8, 4) > 0).sum(axis=1)
    differ, pairs = float((yes * (8 - yes)).sum()), 6 * 4 * 28
    assert label_noise(twins, labels) == pytest.approx((differ + 5) / (pairs + 50))


def test_doubt_is_noise_beside_wrong_guesses() -> None:
    pool, labels, _ = pooled()
    yes = labels > 0
    wrong = yes.copy()
    wrong[: len(wrong) // 2] ^= True
    assert MeasuredErrors(pool, labels, wrong, labels).doubt() == pytest.approx(0.2)
    assert MeasuredErrors(pool, labels, yes, labels).doubt() == 1.0


def test_errors_shrink_with_what_is_in_doubt() -> None:
    errors = ScoreErrors(0.02, 0.0004, 0.01, 9)
    assert errors.scaled(1, 1, 1) == errors
    assert errors.scaled(0.5, 0.6, 0.5) == pytest.approx((0.005, 0.000036, 0.003, 9))


def test_errors_of_whole_runs_are_split_as_those_of_questions() -> None:
    errors = ScoreErrors(0.02, 0.0004, 0.012, 9)
    assert errors.chance(10) == pytest.approx(0.75)
    split_errors = ScoreErrors(0.01, 0.002, 0.0, 9).split(0.75)
    assert split_errors == pytest.approx((0.01, 0.0005, 0.0015, 9))
    assert ScoreErrors(0.0, 0.0, 0.0, 9).chance(10) == 0


def test_an_interval_can_be_made_to_hold_a_score() -> None:
    assert ScoreInterval(0.4, 0.3, 0.5).around(0.6) == (0.4, 0.3, 0.6)
    assert ScoreInterval(0.4, 0.3, 0.5).around(0.2) == (0.4, 0.2, 0.5)
    assert ScoreInterval(0.4, 0.3, 0.5).around(0.45) == (0.4, 0.3, 0.5)


def nugget_set(key, runs, rows) -> NuggetSet:
    runs_by_tag = MappingProxyType({run.tag: run for run in runs})
    return NuggetSet("s", key, runs_by_tag, Judgements(tuple(rows)))


def test_what_is_known_from_an_identical_response_is_in_doubt() -> None:
    key, runs, judged = world(questions=8, runs=6)
    twin = replace(runs[4], tag="twin")
    nuggets = nugget_set(key, [*runs, twin], judged.rows)
    predictions = predict_support(nuggets)
    judged_interval, borrowed = (
        predictions.intervals(
            run, decide_run(run, key, nuggets.judgements, predictions.guess(run.tag)), HOW
        )
        for run in (runs[4], twin)
        for HOW in (OfficialSettings(),)
    )
    assert judged_interval is not None
    assert borrowed is not None
    assert (
        judged_interval.share.width
        == judged_interval.macro.width
        == judged_interval.micro.width
        == 0
    )
    assert min(borrowed.share.width, borrowed.macro.width, borrowed.micro.width) > 0.001
    assert borrowed.share.score == judged_interval.share.score


def test_batches_say_what_is_said_of_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    key, runs, judged = world(questions=8, runs=6)
    nuggets = nugget_set(key, runs, judged.without(["run0"]).rows)
    predictions = predict_support(nuggets)
    monkeypatch.setattr(calibrated, "SMALL", 10)
    monkeypatch.setattr(calibrated, "MAX_RESPONSES", 5)
    parts = predict_support(nuggets)
    is_selected = predictions.pool.cell_run == 0
    assert parts.probabilities[is_selected] == pytest.approx(
        predictions.probabilities[is_selected], abs=0.03
    )
    assert parts.probabilities.shape == predictions.probabilities.shape


def test_batches_of_the_built_in_model_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    key, runs, _ = world(questions=8, runs=6)
    predictions = predict_support(nugget_set(key, runs, ()))
    monkeypatch.setattr(calibrated, "MAX_RESPONSES", 7)
    assert predict_support(nugget_set(key, runs, ())).probabilities.tolist() == pytest.approx(
        predictions.probabilities.tolist()
    )


def test_responses_that_nobody_judged_may_know_their_run_s_judgements() -> None:
    pool, labels, _ = pooled()
    labels[(pool.cell_run == 2) & (pool.cell_question > 1)] = np.nan
    labels[pool.cell_run == 5] = np.nan
    fold = run_folds(pool, labels)
    judged = ~np.isnan(labels)
    assert (fold[~judged] == FOLDS).all()
    assert (fold[judged] < FOLDS).all()
    assert len(set(fold[pool.cell_run == 2].tolist())) == 2


def test_parts_of_a_pool() -> None:
    pool, _, _ = pooled()
    rows = np.array([0, 3, 17, 18, 40])
    part, cells = pool.take(rows), pool.cells(rows)
    assert part.texts == tuple(pool.texts[row] for row in rows)
    assert [q.id for q in part.questions] == ["q0", "q2", "q5"]
    assert part.run.tolist() == pool.run[rows].tolist()
    assert cells.tolist() == [c for row in rows for c in np.flatnonzero(pool.cell_response == row)]
    assert part.starts.tolist() == [0, 2, 4, 5]
    assert pool.take(np.arange(len(pool.texts))) is pool


def test_what_is_shown_lies_inside_its_interval(karat_data: Path) -> None:
    """RAG24, a third of the runs unjudged, so that some are known from others in part."""
    nugget_set = kt.load_nuggets(karat_data / "nuggets-rag24" / "nugget_assignment.20241108.jl")
    out = [tag for k, tag in enumerate(nugget_set.runs) if k % 3 == 0]
    nuggets = replace(nugget_set, judgements=nugget_set.judgements.without(out))
    predictions = predict_support(nuggets)
    assert predictions.learned > held_out.EXACT
    for tag, run in nugget_set.runs.items():
        decisions = decide_run(run, nuggets.key, nuggets.judgements, predictions.guess(tag))
        for official in (OfficialSettings(), OfficialSettings(strict=True)):
            ends = predictions.intervals(run, decisions, official)
            score = official.score(run, nuggets.key, decisions)
            assert ends is not None
            A = mean_shares(score_shares(run, nuggets.key, decisions)).A
            for interval, value in zip(ends, (A, score.macro.f, score.micro.f), strict=True):
                assert interval is not None
                assert interval.low - 1e-12 <= value <= interval.high + 1e-12
                assert interval.width < 0.3
                assert (interval.width > 1e-9) == (tag in out)
