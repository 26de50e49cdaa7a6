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


def told(*rows: JudgedResponse) -> NuggetSet:
    runs = MappingProxyType({run.tag: run for run in RUNS})
    return NuggetSet("world", KEY, runs, Judgements(rows))


@cache
def plain() -> NuggetScoring:
    """The judgements of people alone."""
    return kt.score_nuggets(told(*PEOPLE))


def widths(done: NuggetScoring) -> list[float]:
    return [one.intervals.share.width for one in done.scored if one.intervals]


def wrong(done: NuggetScoring) -> float:
    """The mean squared error of probabilities of the runs that nobody judged."""
    found = done.predictions
    assert found is not None
    truth = run_labels(found.pool, JUDGED)
    mine = np.isin(np.array(found.pool.runs)[found.pool.cell_run], [*OPEN])
    return float(((found.probabilities - truth)[mine] ** 2).mean())


def heard(*rows: JudgedResponse, rule: Paper | None = None) -> tuple[ModelJudge, ...]:
    found = predict_support(told(*rows), classifier=rule).adjustment
    assert found is not None
    return found.models


def test_labels_of_models_alone_leave_everything_guessed() -> None:
    alone, nothing = kt.score_nuggets(told(*model(1.0))), kt.score_nuggets(told())
    assert widths(alone) == widths(nothing)
    assert min(widths(alone)) > 0.05
    assert not any(
        found.is_judged.any() for one in alone.scored for found in one.decisions.values()
    )
    (judge,) = heard(*model(1.0))
    assert (judge.used, judge.labels, judge.agreement.units) == (False, len(JUDGED.rows), 0)


def test_a_model_that_people_bear_out_helps() -> None:
    helped = kt.score_nuggets(told(*PEOPLE, *model(0.97)))
    assert wrong(helped) < wrong(plain())
    assert helped.predictions is not None
    assert helped.predictions.adjustment is not None
    (judge,) = helped.predictions.adjustment.models
    assert judge.used
    assert judge.agreement.units == len(PEOPLE)
    assert 0.95 < judge.agreement.equal < 1
    assert 0.85 < judge.agreement.value < 1
    widest = [one.intervals.share for one in helped.scored if one.run.tag in OPEN and one.intervals]
    assert all(one.width > 0 for one in widest)


def test_judged_runs_are_scored_by_people_alone() -> None:
    wrongly = kt.score_nuggets(told(*PEOPLE, *model(0.1)))
    for one, other in zip(plain().scored, wrongly.scored, strict=True):
        if one.run.tag not in OPEN:
            assert (one.official, one.shares) == (other.official, other.shares)
            assert other.intervals is not None
            assert other.intervals.share.width == 0


def test_a_model_that_guesses_is_hardly_listened_to() -> None:
    noisy, before = predict_support(told(*PEOPLE, *model(0.5))), plain().predictions
    assert noisy.adjustment is not None
    assert before is not None
    assert np.abs(before.probabilities - noisy.probabilities).mean() < 0.05
    (judge,) = noisy.adjustment.models
    assert abs(judge.agreement.value) < 0.2


def test_a_model_that_says_the_opposite_is_turned_round() -> None:
    helped = kt.score_nuggets(told(*PEOPLE, *model(0.03)))
    assert wrong(helped) < wrong(plain())


@pytest.mark.parametrize("beside", [0, 19])
def test_a_model_of_unknown_error_is_not_used(beside: int) -> None:
    judged = {id(row) for row in PEOPLE}
    others = tuple(row for row in JUDGED.rows if id(row) not in judged)
    labels = model(1.0, (*others, *PEOPLE[:beside]))
    done, before = kt.score_nuggets(told(*PEOPLE, *labels)), plain().predictions
    assert done.predictions is not None
    assert done.predictions.adjustment is not None
    assert before is not None
    (judge,) = done.predictions.adjustment.models
    assert (judge.used, judge.agreement.units) == (False, beside)
    np.testing.assert_array_equal(before.probabilities, done.predictions.probabilities)
    assert done.about_guesses[1] == (
        f"Guesses do not use the labels of gpt: people judged {beside} of its {len(labels)} pairs, "
        "too few to tell how wrong it is (it takes 20, 5 of them carried and 5 not)."
    )


def test_few_judgements_of_people_are_enough_to_hear_a_model() -> None:
    """The built-in classifier guesses; its errors serve for lack of measured ones."""
    rows = (*PEOPLE[:60], *model(1.0))
    found = predict_support(told(*rows))
    assert (found.learned, found.measured_errors) == (0, None)
    (judge,) = heard(*rows)
    assert judge.used
    done = kt.score_nuggets(told(*rows))
    assert wrong(done) < wrong(kt.score_nuggets(told(*PEOPLE[:60])))
    assert min(one.intervals.share.width for one in done.scored[1:] if one.intervals) > 0.05


def test_the_papers_classifier_is_helped_too() -> None:
    (judge,) = heard(*PEOPLE, *model(0.97), rule=Paper())
    assert judge.used


def test_errors_lie_between_those_with_and_without_help() -> None:
    plain = RunErrors(*[ScoreErrors(0.1, 0.2, 0.4, 7)] * 3)
    with_help = RunErrors(*[ScoreErrors(0.0, 0.1, 0.2, 7)] * 3)
    nothing = np.zeros(0)
    some = ModelAdjustment(nothing, nothing > 0, nothing > 0, (), None, 0.5)
    assert some.errors(plain, with_help, 0.0) == plain
    assert some.errors(plain, with_help, 0.25).share == pytest.approx((0.05, 0.15, 0.3, 7))
    assert some.errors(plain, with_help, 0.9) == with_help
    assert some._replace(share=0.0).errors(plain, with_help, 1.0) == plain


def test_the_signature_names_models_and_ties() -> None:
    done = kt.score_nuggets(told(*PEOPLE, *model(0.97)), guess=False)
    assert "judgements=corrected,models=gpt|" in done.signature
    other = NuggetSet("world", KEY, told().runs, Judgements(PEOPLE, ties="no"))
    assert "judgements=corrected,ties=no|" in kt.score_nuggets(other, guess=False).signature
