"""Intervals of scores on questions like these: sampling of questions, and errors of guesses."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from nuggets.nugget_world import world
from scipy import stats

import karat as kt
from karat.nuggets.prediction.intervals import RunIntervals
from karat.nuggets.results.scoring import ScoredRun
from karat.nuggets.scores.official import (
    NuggetStats,
    OfficialSettings,
    QuestionScore,
    mean_shares,
)
from karat.nuggets.sets.keys_and_runs import make_key
from karat.nuggets.sets.nugget_set import NuggetSet

KEY, RUNS, JUDGED = world(questions=8, runs=6)
SET = NuggetSet("s", KEY, MappingProxyType({run.tag: run for run in RUNS}), JUDGED)


def ends(scored_run: ScoredRun) -> RunIntervals:
    assert scored_run.intervals is not None
    return scored_run.intervals


def student(values: list[float]) -> tuple[float, float]:
    """The textbook's interval of a mean."""
    confidence_interval = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    return max(0.0, confidence_interval.low), min(1.0, confidence_interval.high)


def counts(row: QuestionScore) -> tuple[float, ...]:
    return row.vital_returned, row.vital, row.allowance, row.length


def summed_f(rows: list[tuple[float, ...]], beta: float) -> float:
    return float(NuggetStats(*(np.array(sum(part)) for part in zip(*rows, strict=True))).f(beta))


def jackknife(rows: list[tuple[float, ...]], beta: float) -> list[float]:
    all_questions, n = summed_f(rows, beta), len(rows)
    without = [summed_f(rows[:k] + rows[k + 1 :], beta) for k in range(n)]
    return [n * all_questions - (n - 1) * other for other in without]


def test_of_what_was_judged_whole_they_are_student_s() -> None:
    for scored in kt.score_nuggets(SET, general=True).scored:
        intervals = ends(scored)
        assert intervals.macro is not None
        assert intervals.micro is not None
        shares = [row.A for row in scored.shares]
        assert intervals.share[1:] == pytest.approx(student(shares))
        assert intervals.macro[1:] == pytest.approx(
            student([row.f for row in scored.official_score.questions])
        )
        expected = student(jackknife([counts(row) for row in scored.official_score.questions], 3.0))
        low, high = (
            min(expected[0], scored.official_score.micro.f),
            max(expected[1], scored.official_score.micro.f),
        )
        assert intervals.micro[1:] == pytest.approx((low, high))


def test_guesses_add_to_it() -> None:
    judged = kt.score_nuggets(SET, general=True).scored
    guessed, on_these = (
        kt.score_nuggets(replace(SET, judgements=JUDGED.without(["run3"])), general=general)
        for general in (True, False)
    )
    (judged_ends,) = [ends(scored_run) for scored_run in judged if scored_run.run.tag == "run3"]
    (wide,), (narrow,) = (
        [scored_run for scored_run in done.scored if scored_run.run.tag == "run3"]
        for done in (guessed, on_these)
    )
    for end, judged_end, part in zip(ends(wide), judged_ends, ends(narrow), strict=True):
        assert end.width > part.width > 0
        assert judged_end.width > 0
    assert ends(wide).share.low <= mean_shares(wide.shares).A <= ends(wide).share.high
    assert wide.official_score == narrow.official_score
    assert "|interval=general|" in guessed.signature
    assert "|interval=these|" in on_these.signature


def test_one_question_is_no_sample() -> None:
    key = make_key([KEY.questions["q0"]])
    rows = tuple(row for row in JUDGED.rows if row.question == "q0")
    runs = {tag: replace(run, answers={"q0": run.responses("q0")}) for tag, run in SET.runs.items()}
    nuggets = NuggetSet("s", key, runs, type(JUDGED)(rows))
    assert all(
        scored.intervals is None for scored in kt.score_nuggets(nuggets, general=True).scored
    )
    assert all(scored.intervals is not None for scored in kt.score_nuggets(nuggets).scored)


def test_one_question_with_an_f_is_no_sample_of_f() -> None:
    questions = [
        question
        if id == "q0"
        else replace(
            question, nuggets=tuple(replace(nugget, vital=False) for nugget in question.nuggets)
        )
        for id, question in KEY.questions.items()
    ]
    done = kt.score_nuggets(replace(SET, key=make_key(questions)), OfficialSettings(), general=True)
    for scored in done.scored:
        assert ends(scored).macro is None
        assert ends(scored).micro is None
        assert not math.isnan(ends(scored).share.low)
