"""Runs that were judged in part: the errors measured on others, scaled, and intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nuggets.nugget_world import pooled, world
from oracles import nugget_error_loops as loops

from karat.nuggets.prediction.calibrated import FOLDS, run_folds
from karat.nuggets.prediction.intervals import MeasuredErrors, RunIntervals, score_interval
from karat.nuggets.prediction.paper import Paper
from karat.nuggets.prediction.pool import Pool, make_pool
from karat.nuggets.prediction.predictions import Predictions, predict_support
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import OfficialSettings
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet

HOWS = [OfficialSettings(), OfficialSettings(beta=1.0, strict=True)]


def random_pool(rng: np.random.Generator) -> Pool:
    """Runs that give up to three responses, and sometimes none."""
    questions = [
        Question(
            f"q{q}",
            tuple(
                Nugget(f"n{g}", (f"fact {g}",), bool(rng.random() < 0.6))
                for g in range(int(rng.integers(1, 5)))
            ),
        )
        for q in range(int(rng.integers(2, 7)))
    ]
    runs = [
        make_run(
            f"run{r}",
            [
                (question.id, Response("x" * int(rng.integers(1, 400)) + f" {i}"))
                for question in questions
                for i in range(int(rng.integers(0, 4)))
            ],
        )
        for r in range(int(rng.integers(2, 6)))
    ]
    return make_pool(make_key(questions), runs)


def random_measured(rng: np.random.Generator) -> MeasuredErrors:
    pool = random_pool(rng)
    cells = int(pool.cell_starts[-1])
    labels = rng.choice([0.0, 0.0, 0.5, 1.0], cells)
    labels[rng.random(cells) < 0.1] = np.nan
    return MeasuredErrors(pool, rng.random(cells), rng.random(cells) < 0.5, labels)


def answer(pool: Pool, cells, run: int, question: int) -> loops.Answer:
    start, end = pool.starts[question : question + 2]
    return pool.table(cells, question)[pool.run[start:end] == run].tolist()


def scored_questions(pool: Pool, labels) -> dict[int, dict[int, None]]:
    """Runs and their questions whose official scores are known, of two questions or more."""
    values = {}
    for run in range(len(pool.runs)):
        run_values = {}
        for q in range(len(pool.questions)):
            table = answer(pool, labels, run, q)
            columns = list(zip(*table, strict=True))
            if table and all(
                any(x > 0 for x in column) or not any(map(math.isnan, column)) for column in columns
            ):
                run_values[q] = None
        if len(run_values) > 1:
            values[run] = run_values
    return values


def errors_in_loops(measured_runs: MeasuredErrors, measure: OfficialSettings):
    """(bias, between, within) of A, F macro and F micro; None where there is too little."""
    pool, judged = measured_runs.pool, scored_questions(measured_runs.pool, measured_runs.labels)
    if len(judged) < 2:
        return None
    questions = [
        loops.Question([float(n.vital) for n in q.nuggets], pool.lengths[:, k].tolist())
        for k, q in enumerate(pool.questions)
    ]
    values = np.nan_to_num(measured_runs.labels)
    carried = (values >= (1 if measure.strict else 0.5)).astype(float)
    shares, fs, micros = [], [], []
    for run, run_questions in judged.items():
        guess = {q: answer(pool, measured_runs.probabilities, run, q) for q in run_questions}
        plain, counted = (
            {q: answer(pool, x, run, q) for q in run_questions} for x in (values, carried)
        )
        shares.append([loops.share(guess[q]) - loops.share(plain[q]) for q in run_questions])
        weighed = [q for q in run_questions if any(questions[q].weights)]
        f = [
            [loops.f(x[q], questions[q], run, measure.beta) for q in weighed]
            for x in (guess, counted)
        ]
        fs.append([a - b for a, b in zip(*f, strict=True)])
        micro_scores = [loops.f_micro(x, questions, run, measure.beta) for x in (guess, counted)]
        micros.append(micro_scores[0] - micro_scores[1])
    fs = [row for row in fs if len(row) > 1]
    if len(fs) < 2:
        return loops.taken_apart(shares), None, None
    macro = loops.taken_apart(fs)
    bias, spread = loops.spread_of([x for x in micros if not math.isnan(x)])
    by_chance = macro[2] / len(pool.questions)
    chance = by_chance / (macro[1] + by_chance) if by_chance else 0.0
    return loops.taken_apart(shares), macro, (bias, spread * (1 - chance), spread * chance)


@given(st.integers(0, 10**6), st.sampled_from(HOWS))
def test_errors_of_guessed_scores_are_those_of_loops(seed: int, measure: OfficialSettings) -> None:
    measured_runs = random_measured(np.random.default_rng(seed))
    errors, expected = measured_runs.errors(measure), errors_in_loops(measured_runs, measure)
    for error, expected_error in zip(errors, expected or (None,) * 3, strict=True):
        assert (error and error[:3]) == (
            expected_error and pytest.approx(expected_error, abs=1e-12)
        )


def judged(rows, seed: int, share: float, of: str, tag: str = "run3"):
    """Without some of what was judged of a run: drawn by pairs, or by questions."""
    rng = np.random.default_rng(seed)
    selected = {q for q in sorted({row.question for row in rows}) if rng.random() < share}
    return [
        row
        for row in rows
        if row.run != tag or (rng.random() < share if of == "pairs" else row.question in selected)
    ]


def found_for(key, runs, rows, rule: Paper | None = None) -> tuple[Predictions, RunIntervals]:
    runs_by_tag = MappingProxyType({run.tag: run for run in runs})
    nuggets = NuggetSet("s", key, runs_by_tag, Judgements(tuple(rows)))
    predictions = predict_support(nuggets, classifier=rule)
    run = runs_by_tag["run3"]
    decisions = decide_run(run, key, nuggets.judgements, predictions.guess("run3"))
    ends = predictions.intervals(run, decisions, OfficialSettings())
    assert ends is not None
    return predictions, ends


@pytest.mark.parametrize("of", ["pairs", "questions"])
def test_intervals_close_with_what_is_judged(of: str) -> None:
    key, runs, rows = world(questions=8, runs=6)
    widths = []
    for share in (0.0, 0.5, 1.0):
        ends = found_for(key, runs, judged(rows.rows, 1, share, of))[1]
        widths.append([end.width for end in ends])
    for column in zip(*widths, strict=True):
        assert column[0] > column[1] > column[2] == 0.0


def test_intervals_of_the_paper_s_classifier_close_too() -> None:
    key, runs, rows = world(questions=8, runs=6)
    for share, wide in ((0.5, True), (1.0, False)):
        ends = found_for(key, runs, judged(rows.rows, 1, share, "pairs"), Paper())[1]
        assert [end.width > 0 for end in ends] == [wide] * 3


def test_a_run_without_judgements_has_the_errors_of_whole_runs() -> None:
    key, runs, rows = world(questions=8, runs=6)
    selected = [row for row in rows.rows if row.run != "run3"]
    predictions, ends = found_for(key, runs, selected)
    chances = predictions.probabilities.reshape(8, 6, 4)[:, 3]
    decided_share = predictions.carried.reshape(8, 6, 4)[:, 3].mean()
    expected = score_interval(chances.mean(axis=1), predictions.errors(OfficialSettings()).share, 8)
    assert ends.share == pytest.approx(expected.around(decided_share))
    assert expected.width > 0


def test_what_another_run_tells_is_in_doubt() -> None:
    """Six answers that nobody else gave, and two that run0 gave, where it was judged."""
    key, runs, rows = world(questions=8, runs=6)
    answers = dict(runs[3].answers) | {q: runs[0].answers[q] for q in ("q0", "q1")}
    runs[3] = replace(runs[3], answers=answers)
    selected = [row for row in rows.rows if row.run != "run3"]
    predictions, ends = found_for(key, runs, selected)
    errors = predictions.errors(OfficialSettings()).share.scaled(
        0.75, 0.75 + predictions.doubt * 0.25, 1.0
    )
    known_values, decided_values = (
        cells.reshape(8, 6, 4)[:, 3].astype(np.float64)
        for cells in (predictions.probabilities, predictions.carried)
    )
    for row in selected:
        if row.run == "run0" and row.question in ("q0", "q1"):
            for table in (known_values, decided_values):
                table[int(row.question[1]), int(row.nugget[1])] = row.value
    interval = score_interval(known_values.mean(axis=1), errors, 8).around(decided_values.mean())
    assert ends.share == pytest.approx(interval)


def test_judging_a_part_leaves_other_runs_to_learn_from() -> None:
    pool, labels, _ = pooled(runs=40)
    labels[(pool.cell_run == 7) & (pool.cell_nugget % 4 == 1)] = np.nan
    fold = run_folds(pool, labels)
    assert set(pool.cell_run[fold == fold[pool.cell_run == 7][0]].tolist()) == {7}
    assert len(set(fold.tolist())) == FOLDS + 1


def test_half_judged_intervals_do_not_depend_on_the_order_of_runs() -> None:
    key, runs, rows = world(questions=8, runs=6)
    half = judged(rows.rows, 4, 0.5, "pairs")
    predictions, ends = found_for(key, runs, half)
    again = found_for(key, runs[::-1], half[::-1])[1]
    assert again == ends
    decisions = decide_run(runs[3], key, Judgements(tuple(half)), predictions.guess("run3"))
    assert predictions.intervals(runs[3], decisions, OfficialSettings()) == ends


@pytest.mark.parametrize("of", ["pairs", "questions"])
def test_errors_shrink_with_the_part_that_is_guessed(of: str) -> None:
    key, runs, rows = world(questions=8, runs=6)
    selected = judged(rows.rows, 4, 0.5, of)
    predictions, ends = found_for(key, runs, selected)
    share = 1 - sum(row.run == "run3" for row in selected) / 32
    errors = predictions.errors(OfficialSettings()).share.scaled(share, share, 1.0)
    assert ends.share.score == pytest.approx(expected(predictions, selected) - errors.bias)
    interval = score_interval(np.full(8, expected(predictions, selected)), errors, 8)
    assert ends.share.width == pytest.approx(interval.width)
    assert predictions.errors(OfficialSettings()) is predictions.errors(OfficialSettings())


def expected(predictions: Predictions, judged_rows) -> float:
    """A of run3, with what was judged of it in place of guesses."""
    chances = predictions.probabilities.reshape(8, 6, 4)[:, 3].copy()
    for row in judged_rows:
        if row.run == "run3":
            chances[int(row.question[1]), int(row.nugget[1])] = row.value
    return float(chances.mean())
