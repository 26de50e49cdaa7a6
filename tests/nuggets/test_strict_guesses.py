"""Strict scores have strict guesses: support in part is learned as none."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import MappingProxyType

import numpy as np
import pytest
from nuggets.nugget_world import world

import karat as kt
from karat.nuggets.prediction.calibrated import built_in_model
from karat.nuggets.prediction.evidence_groups import EvidenceSource
from karat.nuggets.prediction.paper import Paper
from karat.nuggets.prediction.predictions import Calibrated, Predictions, predict_support
from karat.nuggets.results.scoring import NuggetScoring
from karat.nuggets.results.tuning import judged_pool
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import mean_shares
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.nugget_set import NuggetSet

STRICT = kt.OfficialSettings(strict=True)
KEY, RUNS, JUDGED = world(questions=8, runs=8, seed=8)
TAGS = MappingProxyType({run.tag: run for run in RUNS})
PARTLY = tuple(  # what is carried of every second nugget is carried in part
    row._replace(value=0.5 if row.value and row.nugget == "n1" else row.value)
    for row in JUDGED.rows
)
WHOLE = NuggetSet("world", KEY, TAGS, Judgements(PARTLY))
OPEN = [*TAGS][1::2]
HALF = replace(WHOLE, judgements=WHOLE.judgements.without(OPEN))
TRUTH = kt.score_nuggets(WHOLE, STRICT, guess=False).scored


@cache
def scored(strict: bool, classifier: str = "calibrated") -> NuggetScoring:
    rules = {"calibrated": Calibrated(), "paper": Paper(threshold_model="nugget")}
    return kt.score_nuggets(HALF, kt.OfficialSettings(strict=strict), classifier=rules[classifier])


def bias(predictions: Predictions) -> float:
    """The mean error of strict F of the runs that nobody judged."""
    errors = []
    for scored_run in TRUTH[1::2]:
        tag = scored_run.run.tag
        decisions = decide_run(scored_run.run, KEY, HALF.judgements, predictions.guess(tag))
        errors.append(
            STRICT.score(scored_run.run, KEY, decisions).macro.f - scored_run.official_score.macro.f
        )
    return float(np.mean(errors))


@pytest.mark.parametrize("classifier", ["calibrated", "paper"])
def test_strict_guesses_are_others_and_do_not_flatter(classifier: str) -> None:
    strict, plain = (scored(flag, classifier).predictions for flag in (True, False))
    assert strict is not None
    assert plain is not None
    assert strict.carried.sum() < plain.carried.sum()
    assert abs(bias(strict)) < 0.05 < bias(plain) - bias(strict)


def test_intervals_of_strict_scores_hold_them() -> None:
    open_runs = [scored_run for scored_run in scored(True).scored if scored_run.run.tag in OPEN]
    for scored_run, truth in zip(open_runs, TRUTH[1::2], strict=True):
        assert scored_run.intervals is not None
        assert scored_run.intervals.macro is not None
        assert (
            scored_run.intervals.macro.low
            <= truth.official_score.macro.f
            <= scored_run.intervals.macro.high
        )
        assert (
            scored_run.intervals.share.low
            <= mean_shares(truth.shares).A
            <= scored_run.intervals.share.high
        )


def test_nothing_changes_without_partial_support() -> None:
    nuggets = NuggetSet("world", KEY, TAGS, JUDGED.without(["run3"]))
    both = [predict_support(nuggets, strict=flag) for flag in (False, True)]
    np.testing.assert_array_equal(both[0].probabilities, both[1].probabilities)


def test_the_built_in_classifier_has_a_strict_form() -> None:
    bare = replace(WHOLE, judgements=Judgements(()))
    strict, plain = (predict_support(bare, strict=flag).probabilities for flag in (True, False))
    assert (strict < plain).all()
    source = EvidenceSource()
    assert built_in_model(source, strict=True).intercept < built_in_model(source).intercept


def test_classifiers_are_tried_on_strict_labels() -> None:
    labels = [judged_pool(WHOLE, strict=flag)[1] for flag in (True, False)]
    assert set(labels[0]) == {0, 1}
    assert set(labels[1]) == {0, 0.5, 1}
