"""Labels of models: evidence for guesses, as far as people bear it out, and never known."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

import numpy as np
import pytest
from nuggets.nugget_world import world

import karat as kt
from karat.nuggets.prediction.intervals import RunErrors, ScoreErrors
from karat.nuggets.prediction.paper import Paper
from karat.nuggets.prediction.pool import run_labels
from karat.nuggets.prediction.predictions import ModelAdjustment, ModelJudge, predict_support
from karat.nuggets.results.scoring import NuggetScoring
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.nugget_set import NuggetSet

KEY, RUNS, JUDGED = world(questions=6, runs=8, seed=3)
OPEN = {"run3", "run6"}
PEOPLE = tuple(row for row in JUDGED.rows if row.run not in OPEN)


def model(
    right: float, rows: tuple[JudgedResponse, ...] = JUDGED.rows
) -> tuple[JudgedResponse, ...]:
    """The labels of a model that is right so often, whatever the nugget."""
    rng = np.random.default_rng(11)
    hits = rng.random(len(rows)) < right
    return tuple(
        row._replace(value=row.value if hit else 1 - row.value, judge="gpt", kind="model")
        for row, hit in zip(rows, hits, strict=True)
    )


def labelled_set(*rows: JudgedResponse) -> NuggetSet:
    runs = MappingProxyType({run.tag: run for run in RUNS})
    return NuggetSet("world", KEY, runs, Judgements(rows))


@cache
def plain() -> NuggetScoring:
    """The judgements of people alone."""
    return kt.score_nuggets(labelled_set(*PEOPLE))


def widths(done: NuggetScoring) -> list[float]:
    return [scored.intervals.share.width for scored in done.scored if scored.intervals]


def wrong(done: NuggetScoring) -> float:
    """The mean squared error of probabilities of the runs that nobody judged."""
    predictions = done.predictions
    assert predictions is not None
    truth = run_labels(predictions.pool, JUDGED)
    is_selected = np.isin(np.array(predictions.pool.runs)[predictions.pool.cell_run], [*OPEN])
    return float(((predictions.probabilities - truth)[is_selected] ** 2).mean())


def models_beside(*rows: JudgedResponse, rule: Paper | None = None) -> tuple[ModelJudge, ...]:
    adjustment = predict_support(labelled_set(*rows), classifier=rule).adjustment
    assert adjustment is not None
    return adjustment.models


def test_labels_of_models_alone_leave_everything_guessed() -> None:
    alone, nothing = kt.score_nuggets(labelled_set(*model(1.0))), kt.score_nuggets(labelled_set())
    assert widths(alone) == widths(nothing)
    assert min(widths(alone)) > 0.05
    assert not any(
        decision.is_judged.any()
        for scored in alone.scored
        for decision in scored.decisions.values()
    )
    (judge,) = models_beside(*model(1.0))
    assert (judge.is_used, judge.n_labels, judge.agreement.units) == (False, len(JUDGED.rows), 0)


def test_a_model_that_people_bear_out_helps() -> None:
    helped = kt.score_nuggets(labelled_set(*PEOPLE, *model(0.97)))
    assert wrong(helped) < wrong(plain())
    assert helped.predictions is not None
    assert helped.predictions.adjustment is not None
    (judge,) = helped.predictions.adjustment.models
    assert judge.is_used
    assert judge.agreement.units == len(PEOPLE)
    assert 0.95 < judge.agreement.equal < 1
    assert 0.85 < judge.agreement.value < 1
    widest = [
        scored.intervals.share
        for scored in helped.scored
        if scored.run.tag in OPEN and scored.intervals
    ]
    assert all(scored.width > 0 for scored in widest)


def test_judged_runs_are_scored_by_people_alone() -> None:
    wrongly = kt.score_nuggets(labelled_set(*PEOPLE, *model(0.1)))
    for without_model, with_model in zip(plain().scored, wrongly.scored, strict=True):
        if without_model.run.tag not in OPEN:
            assert (without_model.official_score, without_model.shares) == (
                with_model.official_score,
                with_model.shares,
            )
            assert with_model.intervals is not None
            assert with_model.intervals.share.width == 0


def test_a_model_that_guesses_is_hardly_listened_to() -> None:
    noisy, before = predict_support(labelled_set(*PEOPLE, *model(0.5))), plain().predictions
    assert noisy.adjustment is not None
    assert before is not None
    assert np.abs(before.probabilities - noisy.probabilities).mean() < 0.05
    (judge,) = noisy.adjustment.models
    assert abs(judge.agreement.value) < 0.2


def test_a_model_that_says_the_opposite_is_turned_round() -> None:
    helped = kt.score_nuggets(labelled_set(*PEOPLE, *model(0.03)))
    assert wrong(helped) < wrong(plain())


@pytest.mark.parametrize("n_judged", [0, 19])
def test_a_model_of_unknown_error_is_not_used(n_judged: int) -> None:
    judged = {id(row) for row in PEOPLE}
    other_rows = tuple(row for row in JUDGED.rows if id(row) not in judged)
    labels = model(1.0, (*other_rows, *PEOPLE[:n_judged]))
    done, before = kt.score_nuggets(labelled_set(*PEOPLE, *labels)), plain().predictions
    assert done.predictions is not None
    assert done.predictions.adjustment is not None
    assert before is not None
    (judge,) = done.predictions.adjustment.models
    assert (judge.is_used, judge.agreement.units) == (False, n_judged)
    np.testing.assert_array_equal(before.probabilities, done.predictions.probabilities)
    assert done.about_guesses[1] == (
        f"Guesses do not use the labels of gpt: people judged {n_judged} of its {len(labels)} "
        "pairs, too few to tell how wrong it is (it takes 20, 5 of them carried and 5 not)."
    )


def test_few_judgements_of_people_are_enough_to_hear_a_model() -> None:
    """The built-in classifier guesses; its errors serve for lack of measured ones."""
    rows = (*PEOPLE[:60], *model(1.0))
    predictions = predict_support(labelled_set(*rows))
    assert (predictions.learned, predictions.measured_errors) == (0, None)
    (judge,) = models_beside(*rows)
    assert judge.is_used
    done = kt.score_nuggets(labelled_set(*rows))
    assert wrong(done) < wrong(kt.score_nuggets(labelled_set(*PEOPLE[:60])))
    assert (
        min(scored.intervals.share.width for scored in done.scored[1:] if scored.intervals) > 0.05
    )


def test_the_papers_classifier_is_helped_too() -> None:
    (judge,) = models_beside(*PEOPLE, *model(0.97), rule=Paper())
    assert judge.is_used


def test_errors_lie_between_those_with_and_without_help() -> None:
    plain = RunErrors(*[ScoreErrors(0.1, 0.2, 0.4, 7)] * 3)
    with_help = RunErrors(*[ScoreErrors(0.0, 0.1, 0.2, 7)] * 3)
    nothing = np.zeros(0)
    adjustment = ModelAdjustment(nothing, nothing > 0, nothing > 0, (), None, 0.5)
    assert adjustment.errors(plain, with_help, 0.0) == plain
    assert adjustment.errors(plain, with_help, 0.25).share == pytest.approx((0.05, 0.15, 0.3, 7))
    assert adjustment.errors(plain, with_help, 0.9) == with_help
    assert adjustment._replace(adjusted_share=0.0).errors(plain, with_help, 1.0) == plain


def test_the_signature_names_models_and_ties() -> None:
    done = kt.score_nuggets(labelled_set(*PEOPLE, *model(0.97)), guess=False)
    assert "judgements=corrected,models=gpt|" in done.signature
    other = NuggetSet("world", KEY, labelled_set().runs, Judgements(PEOPLE, ties="no"))
    assert "judgements=corrected,ties=no|" in kt.score_nuggets(other, guess=False).signature
