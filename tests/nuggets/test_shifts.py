"""Intervals without measured errors: random effects of sets, questions and runs on base rates."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nuggets.nugget_world import pooled, world
from oracles import nugget_error_loops as scores
from oracles import nugget_shift_loops as loops
from scipy import stats

import karat as kt
from karat.arithmetic import logit, sigmoid
from karat.nuggets.prediction.base_rates import (
    PRIOR_SPREAD,
    PredictedRun,
    SetShift,
    ShiftVariances,
    learn_shift,
    max_shift,
    shifted_intervals,
)
from karat.nuggets.prediction.intervals import (
    MIN_RUNS,
    RunErrors,
    RunIntervals,
    ScoreErrors,
    ScoreInterval,
)
from karat.nuggets.prediction.pool import Floats, Pool
from karat.nuggets.prediction.predictions import Predictions
from karat.nuggets.scores.decisions import AnswerDecisions, decide_run
from karat.nuggets.scores.official import (
    OfficialSettings,
    answer_length,
    nugget_weights,
    run_answers,
)
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Run, make_key
from karat.nuggets.sets.nugget_set import NuggetSet

KEY, RUNS, JUDGED = world(questions=8, runs=8)
HOW = OfficialSettings()
POSITIVE = st.floats(0.01, 3.0)
PAIRS = st.lists(
    st.builds(loops.Pair, st.floats(-4, 4), st.booleans(), st.integers(0, 3), st.integers(0, 2)),
    max_size=12,
)


def nugget_set(rows: tuple[JudgedResponse, ...], runs: list[Run] = RUNS) -> NuggetSet:
    return NuggetSet("s", KEY, MappingProxyType({run.tag: run for run in runs}), Judgements(rows))


def judged(runs: int, questions: int) -> tuple[JudgedResponse, ...]:
    """The judgements of some runs, the last ones, on some questions."""
    tags = [run.tag for run in RUNS[len(RUNS) - runs :]] if runs else []
    return tuple(r for r in JUDGED.rows if r.run in tags and int(r.question[1:]) < questions)


def intervals(rows: tuple[JudgedResponse, ...], **options: bool) -> RunIntervals:
    """Those of the first run."""
    done = kt.score_nuggets(nugget_set(rows), HOW, **options)
    intervals = done.scored[0].intervals
    assert intervals is not None
    return intervals


@given(PAIRS, POSITIVE, POSITIVE, POSITIVE)
def test_the_shift_of_a_set_is_that_of_loops(
    pairs: list[loops.Pair], Q: float, R: float, D: float
) -> None:
    logits, yes, question, run = (
        (np.array(column) for column in zip(*pairs, strict=True))
        if (pairs)
        else (np.zeros(0), np.zeros(0, bool), np.zeros(0, int), np.zeros(0, int))
    )
    shift = learn_shift(logits, yes, question, run, ShiftVariances(Q, R, D, 9, 9))
    assert shift == pytest.approx(loops.set_shift(pairs, Q, R, D), abs=1e-9)


def test_worked_values_of_a_shift() -> None:
    """Two pairs of p = 1/2 on one question, both yes: i = 1/2, weight 1 / (1 / (1/i + 1) + …)."""
    none = np.zeros(2, int)
    shift = learn_shift(
        np.zeros(2), np.ones(2, bool), none, none, ShiftVariances(1.0, 0.0, 1.0, 9, 9)
    )
    assert shift.variance == pytest.approx(1 / (1 + 1 / 3))
    s = shift.mean  # 2/3 of two pairs' excess is s
    assert 2 / 3 * 2 * (1 - 1 / (1 + math.exp(-s))) == pytest.approx(s)
    nothing = np.zeros(0, int)
    empty = learn_shift(
        np.zeros(0), np.zeros(0, bool), nothing, nothing, ShiftVariances(0.5, 1, 1, 9, 9)
    )
    assert empty == (0.0, 0.5)


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE, st.integers(1, 50), st.floats(0.1, 90))
def test_the_largest_shift_is_student_s(
    S: float, Q: float, R: float, D: float, m: int, information: float
) -> None:
    distance = max_shift(SetShift(0.3, S), ShiftVariances(Q, R, D, 20, 44), m, information)
    variance, freedom = loops.variance_and_freedom(S, Q, R, D, (20, 44), m, information)
    assert distance == pytest.approx(stats.t.isf(0.025, freedom) * variance**0.5, rel=1e-6)


def test_nothing_guessed_is_not_shifted() -> None:
    assert max_shift(SetShift(0.0, 0.5), PRIOR_SPREAD, 0.0, 0.0) == 0


def test_a_set_is_as_uncertain_as_one_question() -> None:
    """The stated prior: judging one question well halves the variance of the base rate."""
    p = np.full(10_000, 0.5)
    none = np.zeros(10_000, int)
    spread = ShiftVariances(0.4, 0.0, 1.0, 9, 9)
    shift = learn_shift(logit(p), np.arange(10_000) % 2 == 0, none, none, spread)
    assert shift.variance == pytest.approx(0.2, rel=0.01)
    assert shift.mean == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("general", [False, True])
def test_intervals_are_scores_of_shifted_guesses(general: bool) -> None:
    pool, _, _ = pooled(questions=8, runs=8)
    p = np.random.default_rng(4).uniform(0.05, 0.95, int(pool.cell_starts[-1]))
    key = make_key(
        replace(q, nuggets=tuple(replace(n, vital=n.id < "n3") for n in q.nuggets))
        for q in pool.questions
    )
    pool = replace(pool, questions=tuple(key.questions.values()))
    predictions = Predictions(pool, p, p > 0.5, np.full(len(p), np.nan), 0)
    run = RUNS[0]
    decisions = decide_run(run, key, Judgements(()), predictions.guess(run.tag))
    ends = predictions.intervals(run, decisions, HOW, general=general)
    assert ends is not None
    for interval, expected_ends in zip(ends, ends_in_loops(predictions, run), strict=True):
        assert interval is not None
        assert interval.score == pytest.approx(expected_ends[1], abs=1e-9)
        if general:
            assert interval.low <= expected_ends[0] + 1e-9
            assert interval.high >= expected_ends[2] - 1e-9
        else:
            assert (interval.low, interval.high) == pytest.approx(
                (expected_ends[0], expected_ends[2]), abs=1e-6
            )


def ends_in_loops(predictions: Predictions, run: Run) -> list[tuple[float, float, float]]:
    """Of A, F macro and F micro: low, middle and high; each holds what is shown."""
    answers = [
        predictions.pool.answer(predictions.probabilities, run.tag, q.id).tolist()
        for q in predictions.pool.questions
    ]
    decided_answers = [[[float(p > 0.5) for p in row] for row in answer] for answer in answers]
    loop_questions = [
        scores.Question(nugget_weights(q, "vital").tolist(), [answer_length(run.responses(q.id))])
        for q in predictions.pool.questions
    ]

    def values(run_answers: list[scores.Answer]) -> list[float]:
        fs = [scores.f(a, q, 0, 3.0) for a, q in zip(run_answers, loop_questions, strict=True)]
        macro = math.fsum(f for f in fs if f is not None) / len(fs)
        micro = scores.f_micro(dict(enumerate(run_answers)), loop_questions, 0, 3.0)
        return [math.fsum(map(scores.share, run_answers)) / len(run_answers), macro, micro]

    Q, R, D, questions, runs = PRIOR_SPREAD
    reaches = []
    for counted in (4, 3):  # nuggets of a question, and vital ones
        information = math.fsum(p * (1 - p) for a in answers for row in a for p in row[:counted])
        variance_and_freedom = loops.variance_and_freedom(
            Q, Q, R, D, (questions, runs), 8, information
        )
        reaches.append(stats.t.isf(0.025, variance_and_freedom[1]) * variance_and_freedom[0] ** 0.5)
    expected = []
    for k, far in enumerate((reaches[0], reaches[1], reaches[1])):
        low, middle, high = (
            values([loops.shifted(a, d) for a in answers])[k] for d in (-far, 0.0, far)
        )
        decided_score = values(decided_answers)[k]
        expected.append((min(low, decided_score), middle, max(high, decided_score)))
    return expected


def simulated(pool: Pool, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Guesses, and whether nuggets are carried in a set whose base rate is shifted."""
    p = rng.uniform(0.02, 0.9, len(pool.cell_question)) ** 1.3
    sets, questions, runs = rng.normal(), rng.normal(size=12), rng.normal(size=2)
    Q, R = PRIOR_SPREAD.question**0.5, PRIOR_SPREAD.run**0.5
    shift = Q * (sets + questions[pool.cell_question]) + R * runs[pool.cell_run]
    return p, (rng.random(len(p)) < sigmoid(logit(p) + shift)).astype(float)


def test_coverage_on_sets_with_base_rates_of_their_own() -> None:
    """What a set as a whole differs by is most of what is uncertain."""
    key, runs, _ = world(questions=12, runs=2)
    pool, _, _ = pooled(questions=12, runs=2)
    questions, run = list(key.questions.values()), runs[0]
    rng = np.random.default_rng(2006)
    held: list[list[bool]] = []
    for _ in range(120):
        p, carried = simulated(pool, rng)
        predictions = Predictions(pool, p, p > 0.5, np.full(len(p), np.nan), 0)
        guessed, official = (
            {q.id: predictions.pool.answer(x, run.tag, q.id) for q in questions}
            for x in (p, carried)
        )
        sure = {
            q: AnswerDecisions(table, np.ones(table.shape, bool)) for q, table in official.items()
        }
        open_ = {
            q: AnswerDecisions(1.0 * (x > 0.5), np.zeros(x.shape, bool)) for q, x in guessed.items()
        }
        true_answers = run_answers(questions, run, sure, HOW, guessed)[1]
        share, f = (
            float(true_answers.share.mean()),
            float(true_answers.official_stats.f(3.0).mean()),
        )
        ends = predictions.intervals(run, open_, HOW)
        assert ends is not None
        shift = SetShift(0.0, 0.0)  # as if the base rate were the classifier's
        nothing = {q: np.zeros(x.shape, bool) for q, x in guessed.items()}
        predicted_run = PredictedRun(questions, run, open_, HOW, guessed, nothing)
        alone = shifted_intervals(predicted_run, shift, PRIOR_SPREAD, general=False).share
        trials = [(ends.share, share), (ends.macro, f), (alone, share)]
        held.append(
            [interval is not None and interval.low <= x <= interval.high for interval, x in trials]
        )
    coverage = np.mean(held, axis=0)
    assert 0.93 <= coverage[:2].min() <= coverage[:2].max() < 1
    assert coverage[2] < 0.9


def test_judged_topics_make_it_narrower() -> None:
    """None, one and three questions of one run; then all of it; then more runs."""
    amounts = [(0, 0), (1, 1), (1, 3), (1, 8)]
    widths = [intervals(judged(*amount)).share.width for amount in amounts]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.97 * widths[0]
    for runs in (4, 5, 7):
        assert intervals(judged(runs, 8)).share.width < widths[0]


def test_few_judged_runs_make_it_no_wider() -> None:
    """Errors of two runs alone have one degree of freedom: t is 12.7."""
    none, two = intervals(()), intervals(judged(4, 8))
    for before, after in zip(none, two, strict=True):
        assert before is not None
        assert after is not None
        assert after.width <= before.width


def test_enough_judged_runs_speak_for_themselves() -> None:
    from karat.nuggets.prediction.predictions import predict_support

    predictions = predict_support(nugget_set(judged(MIN_RUNS, 8)))
    wild = replace(predictions, spread=ShiftVariances(1e-9, 1e-9, 1e-9, 9, 9))
    run = RUNS[0]
    decisions = decide_run(run, KEY, Judgements(judged(MIN_RUNS, 8)), predictions.guess(run.tag))
    assert predictions.intervals(run, decisions, HOW) == wild.intervals(run, decisions, HOW)


def test_the_base_rate_is_learned() -> None:
    """A run all of whose judged pairs are carried makes others likelier to carry theirs."""
    rows = judged(1, 3)
    yes, no = (intervals(tuple(row._replace(value=value) for row in rows)) for value in (1.0, 0.0))
    none = intervals(())
    assert no.share.score < none.share.score < yes.share.score
    assert no.share.high < none.share.high
    assert yes.share.low > none.share.low


def test_what_was_judged_does_not_shift() -> None:
    rows = tuple(row for row in JUDGED.rows if row.run == "run0")
    judged_intervals = intervals(rows)
    assert judged_intervals.share.width == 0
    assert judged_intervals.macro is not None
    assert judged_intervals.macro.width == 0
    nameless = intervals(tuple(row._replace(run="") for row in rows))
    assert nameless.share.width == 0
    twin = replace(RUNS[0], tag="twin")
    done = kt.score_nuggets(nugget_set(rows, [twin]), HOW)
    borrowed = done.scored[0].intervals
    assert borrowed is not None
    assert 0.01 < borrowed.share.width < intervals(()).share.width


def test_f_needs_weights() -> None:
    questions = [
        replace(q, nuggets=tuple(replace(n, vital=False) for n in q.nuggets))
        for q in KEY.questions.values()
    ]
    done = kt.score_nuggets(replace(nugget_set(()), key=make_key(questions)), HOW)
    assert done.scored[0].intervals is not None
    assert done.scored[0].intervals[1:] == (None, None)


def test_the_narrower_of_two() -> None:
    wide, narrow = ScoreInterval(0.5, 0.2, 0.8), ScoreInterval(0.4, 0.3, 0.5)
    first, second = RunIntervals(wide, narrow, None), RunIntervals(narrow, wide, wide)
    assert RunErrors().narrower(first, second) == (narrow, narrow, wide)
    sure = ScoreErrors(0.0, 0.1, 0.1, MIN_RUNS)
    assert RunErrors(sure, None, None).narrower(first, second) == (wide, narrow, wide)


@pytest.mark.parametrize(
    ("amount", "note_part"),
    [
        ((0, 0), "They come without judgements, so they allow for an unknown base rate of carried"),
        ((1, 3), "learned from the 12 judged pairs"),
        ((4, 8), "Its errors were measured on 4 judged runs alone"),
        ((7, 8), "on these questions, from its errors on judged runs left out of its training."),
    ],
)
def test_the_report_says_what_intervals_allow_for(amount: tuple[int, int], note_part: str) -> None:
    done = kt.score_nuggets(nugget_set(judged(*amount)), HOW)
    assert done.predictions is not None
    (note,) = done.about_guesses
    assert note_part in note


def test_ends_of_the_parts() -> None:
    """The parts of a run: one open nugget of two, in one question of two."""
    questions = [replace(q, nuggets=q.nuggets[:2]) for q in list(KEY.questions.values())[:2]]
    decisions = AnswerDecisions(np.array([[1.0, 0.0]]), np.ones((1, 2), bool))
    half = AnswerDecisions(np.array([[1.0, np.nan]]), np.array([[True, False]]))
    chances = {q.id: np.array([[0.3, 0.3]]) for q in questions}
    decisions_by_question = {questions[0].id: decisions, questions[1].id: half}
    judged_in_run = {q.id: np.ones((1, 2), bool) for q in questions}
    guessed = PredictedRun(questions, RUNS[0], decisions_by_question, HOW, chances, judged_in_run)
    assert guessed.count_guesses(weighted=False) == pytest.approx((0.5, 0.21))
    shift = SetShift(0.0, PRIOR_SPREAD.question)
    far = max_shift(shift, PRIOR_SPREAD, 0.5, 0.21)
    share, macro, micro = shifted_intervals(guessed, shift, PRIOR_SPREAD, general=False)
    expected = [(2 + float(sigmoid(logit(np.array(0.3)) + d))) / 4 for d in (0.0, -far, far)]
    assert share == pytest.approx(expected)
    assert macro is not None
    assert micro is not None
    assert macro.low < macro.score < macro.high
    assert micro.low < micro.score < micro.high
