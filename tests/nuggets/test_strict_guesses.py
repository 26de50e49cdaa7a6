"""Strict scores have strict guesses: support in part is learned as none."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from nuggets.nugget_world import world

import karat as kt
from karat.nuggets.agenda import Agenda
from karat.nuggets.asking import Topic
from karat.nuggets.calibrated import PRIOR, PRIOR_STRICT
from karat.nuggets.evaluation import evaluate
from karat.nuggets.guesses import GuessRule
from karat.nuggets.judgements import Judged, Judgements
from karat.nuggets.nuggeteer import nuggeteer
from karat.nuggets.paper import Paper
from karat.nuggets.sets import NuggetSet

STRICT = kt.Official(strict=True)


def with_partial() -> NuggetSet:
    """Every third nugget that is carried is carried in part: those of the second nugget."""
    key, runs, judged = world(questions=10, runs=12, seed=8)
    rows = [
        row._replace(value=0.5 if row.value and row.nugget == "n1" else row.value)
        for row in judged.rows
    ]
    tags = MappingProxyType({run.tag: run for run in runs})
    return NuggetSet("world", key, tags, Judgements(tuple(rows)))


WHOLE = with_partial()
OPEN = [*WHOLE.runs][1::2]
HALF = replace(WHOLE, judgements=WHOLE.judgements.without(OPEN))


def scores(nuggets: NuggetSet, rule: GuessRule | None = None) -> np.ndarray:
    done = kt.score_nuggets(nuggets, STRICT, rule=rule)
    return np.array([one.official.macro.f for one in done.scored if one.run.tag in OPEN])


@pytest.mark.parametrize("rule", [GuessRule(), GuessRule("paper", Paper())])
def test_strict_guesses_are_others_and_do_not_flatter(rule: GuessRule) -> None:
    strict, plain = (nuggeteer(HALF, rule=rule, strict=flag) for flag in (True, False))
    assert (strict.carried != plain.carried).any()
    assert strict.carried.sum() < plain.carried.sum()
    bias = float((scores(HALF, rule) - scores(WHOLE)).mean())
    assert abs(bias) < 0.05  # 0.13 and more with guesses of support in part, too


def test_intervals_of_strict_scores_hold_them() -> None:
    done, truth = kt.score_nuggets(HALF, STRICT), kt.score_nuggets(WHOLE, STRICT)
    inside = [
        one.intervals.macro.low <= other.official.macro.f <= one.intervals.macro.high
        and one.intervals.share.low <= np.mean([s.A for s in other.shares]) <= one.intervals.share.high
        for one, other in zip(done.scored, truth.scored, strict=True)
        if one.run.tag in OPEN and one.intervals and one.intervals.macro
    ]
    assert len(inside) == len(OPEN) and sum(inside) >= len(inside) - 1


def test_agreement_is_with_strict_labels() -> None:
    strict, plain = (nuggeteer(HALF, strict=flag).agreement for flag in (True, False))
    assert strict is not None and plain is not None
    assert strict.f > 0.7
    assert strict != plain


def test_nothing_changes_without_partial_support() -> None:
    key, runs, judged = world(questions=6, runs=8)
    tags = MappingProxyType({run.tag: run for run in runs})
    nuggets = NuggetSet("world", key, tags, judged.without(["run3"]))
    both = [nuggeteer(nuggets, strict=flag) for flag in (False, True)]
    np.testing.assert_array_equal(both[0].probabilities, both[1].probabilities)


def test_the_built_in_classifier_has_a_strict_form() -> None:
    bare = replace(WHOLE, judgements=Judgements(()))
    strict, plain = (nuggeteer(bare, strict=flag).probabilities for flag in (True, False))
    assert (strict < plain).all()
    assert PRIOR_STRICT.logistic.intercept < PRIOR.logistic.intercept


def test_evaluate_learns_strictly() -> None:
    strict, plain = (evaluate(WHOLE, strict=flag).calibrated for flag in (True, False))
    assert (strict.carried != plain.carried).any()


def test_strictly_partial_support_leaves_a_nugget_open() -> None:
    """A run that has a nugget in part has it not: its other responses are still worth asking."""
    key, runs, _ = world(questions=1, runs=2)
    response = runs[0].responses("q0")[0]
    nuggets = NuggetSet(
        "one",
        key,
        MappingProxyType({run.tag: run for run in runs}),
        Judgements((Judged("q0", "n0", response.text, 0.5, "run0"),)),
    )

    def even(question: object, responses: list[object]) -> np.ndarray:
        return np.full((len(responses), 4), 0.5)

    question = key.questions["q0"]
    plain, strict = (Topic(nuggets, question, even, flag) for flag in (False, True))
    assert plain.use(0).tolist() == strict.use(0).tolist()  # one response each: none beside it
    assert len(Agenda(nuggets, even, strict=True)) == len(Agenda(nuggets, even)) == 7
