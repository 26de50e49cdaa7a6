"""Runs that were judged in part: what is hidden of others, the errors so measured, intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nuggets.nugget_world import pooled, world
from oracles import nugget_mixed_loops as loops

from karat.nuggets.guess.calibrated.batches import FOLDS, run_folds
from karat.nuggets.guess.guesses import Nuggeteer
from karat.nuggets.guess.nuggeteer import nuggeteer
from karat.nuggets.guess.paper.classifier import Paper
from karat.nuggets.guess.pool import Pool, make_pool
from karat.nuggets.intervals.intervals import RunIntervals, score_interval
from karat.nuggets.intervals.measured_errors import Measured
from karat.nuggets.intervals.partly_judged_runs import (
    NOTHING,
    WHOLE,
    Part,
    masks,
    number_in_answer,
    part_of,
)
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import Official
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys import Nugget, Question, make_key
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, make_run

EIGHTHS = st.integers(1, 8)
HOWS = [Official(), Official(beta=1.0, strict=True)]


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


def random_measured(rng: np.random.Generator) -> Measured:
    pool = random_pool(rng)
    cells = int(pool.cell_starts[-1])
    labels = rng.choice([0.0, 0.0, 0.5, 1.0], cells)
    labels[rng.random(cells) < 0.1] = np.nan
    return Measured(pool, rng.random(cells), rng.random(cells) < 0.5, labels)


def answer(pool: Pool, cells, run: int, question: int) -> loops.Answer:
    start, end = pool.starts[question : question + 2]
    return pool.table(cells, question)[pool.run[start:end] == run].tolist()


def known(pool: Pool, labels) -> dict[int, dict[int, None]]:
    """Runs and their questions whose official scores are known, of two questions or more."""
    found = {}
    for run in range(len(pool.runs)):
        mine = {}
        for q in range(len(pool.questions)):
            table = answer(pool, labels, run, q)
            columns = list(zip(*table, strict=True))
            if table and all(
                any(x > 0 for x in column) or not any(map(math.isnan, column)) for column in columns
            ):
                mine[q] = None
        if len(mine) > 1:
            found[run] = mine
    return found


def errors_in_loops(told: Measured, how: Official, part: tuple[int, int]):
    """(bias, between, within) of A, F macro and F micro; None where there is too little."""
    pool, judged = told.pool, known(told.pool, told.labels)
    if len(judged) < 2:
        return None
    questions = [
        loops.Question([float(n.vital) for n in q.nuggets], pool.lengths[:, k].tolist())
        for k, q in enumerate(pool.questions)
    ]
    values = np.nan_to_num(told.labels)
    carried = (values >= (1 if how.strict else 0.5)).astype(float)
    shares, fs, micros = [], [], []
    for step in range(8):
        by_run = ([], [], [])
        for run, some in judged.items():
            both = []
            for cells in (values, carried):
                plain = {q: answer(pool, cells, run, q) for q in some}
                guess = {q: answer(pool, told.probabilities, run, q) for q in some}
                mix = {q: loops.mixed(guess[q], plain[q], q, part, step) for q in some}
                both.append((mix, plain))
            by_run[0].append(
                [loops.share(both[0][0][q]) - loops.share(both[0][1][q]) for q in some]
            )
            f = [
                [
                    loops.f(x[q], questions[q], run, how.beta)
                    for q in some
                    if any(questions[q].weights)
                ]
                for x in both[1]
            ]
            by_run[1].append([a - b for a, b in zip(*f, strict=True)])
            whole = [loops.f_micro(x, questions, run, how.beta) for x in both[1]]
            by_run[2].append(whole[0] - whole[1])
        shares.append(by_run[0])
        fs.append([row for row in by_run[1] if len(row) > 1])
        micros.append([x for x in by_run[2] if not math.isnan(x)])
    if len(fs[0]) < 2:
        return loops.taken_apart(shares), None, None
    macro = loops.taken_apart(fs)
    bias, spread = loops.spread_of(micros)
    by_chance = macro[2] / len(pool.questions)
    chance = by_chance / (macro[1] + by_chance) if by_chance else 0.0
    return loops.taken_apart(shares), macro, (bias, spread * (1 - chance), spread * chance)


@given(st.integers(0, 10**6), EIGHTHS, EIGHTHS, st.sampled_from(HOWS))
def test_errors_of_mixed_scores_are_those_of_loops(
    seed: int, questions: int, pairs: int, how: Official
) -> None:
    told = random_measured(np.random.default_rng(seed))
    found = told.errors(how, Part(questions / 8, pairs / 8))
    wanted = errors_in_loops(told, how, (questions, pairs))
    for mine, theirs in zip(found, wanted or (None,) * 3, strict=True):
        assert (mine and mine[:3]) == (theirs and pytest.approx(theirs, abs=1e-12))


def test_all_hidden_is_what_is_measured_without_masks() -> None:
    told = random_measured(np.random.default_rng(3))
    assert told.errors(Official()) == told.errors(Official(), WHOLE)
    (only,) = masks(told.pool, WHOLE)
    assert only.all()


@given(st.integers(0, 10**6), EIGHTHS, EIGHTHS)
def test_masks_hide_every_pair_equally_often(seed: int, questions: int, pairs: int) -> None:
    pool = random_pool(np.random.default_rng(seed))
    for part, times in ((Part(questions / 8, 1), questions), (Part(1, pairs / 8), pairs)):
        some = list(masks(pool, part))
        assert set(np.mean(some, axis=0).tolist()) <= {times / 8}
    both = list(masks(pool, Part(questions / 8, pairs / 8)))
    for whole, few in zip(masks(pool, Part(questions / 8, 1)), both, strict=False):
        assert not (few & ~whole).any()


def test_masks_hide_the_share_they_are_made_for() -> None:
    pool, _, _ = pooled(questions=200, runs=2)
    for part in (Part(0.25, 1), Part(0.5, 0.5), Part(1, 0.375), Part(0.75, 0.25)):
        some = list(masks(pool, part))
        assert np.mean(some) == pytest.approx(part.share, abs=0.02)
        for mask in some:
            assert mask.mean() == pytest.approx(part.share, abs=0.05)


def test_masks_do_not_know_the_runs() -> None:
    """Two runs with as many responses have the same hidden."""
    pool, _, _ = pooled(questions=5, runs=4)
    assert number_in_answer(pool).tolist() == list(range(4)) * 20
    for mask in masks(pool, Part(0.5, 0.5)):
        tables = mask.reshape(5, 4, 4)
        assert (tables == tables[:, :1]).all()


def test_parts() -> None:
    assert part_of(np.array([0.0, 0.5, 1.0, 0.0])) == Part(0.5, 0.75)
    assert part_of(np.zeros(3)) == part_of(np.zeros(0)) == NOTHING
    assert Part(0.5, 0.5).share == 0.25
    assert Part(0.01, 0.95).rounded() == Part(0.125, 1.0)
    assert Part(0.56, 0.57).rounded() == Part(0.5, 0.625)
    assert WHOLE.rounded() == WHOLE


def judged(rows, seed: int, share: float, of: str, tag: str = "run3"):
    """Without some of what was judged of a run: drawn by pairs, or by questions."""
    rng = np.random.default_rng(seed)
    kept = {q for q in sorted({row.question for row in rows}) if rng.random() < share}
    return [
        row
        for row in rows
        if row.run != tag or (rng.random() < share if of == "pairs" else row.question in kept)
    ]


def found_for(key, runs, rows, rule: Paper | None = None) -> tuple[Nuggeteer, RunIntervals]:
    named = MappingProxyType({run.tag: run for run in runs})
    nuggets = NuggetSet("s", key, named, Judgements(tuple(rows)))
    found = nuggeteer(nuggets, rule=rule)
    run = named["run3"]
    decided = decide_run(run, key, nuggets.judgements, found.guess("run3"))
    ends = found.intervals(run, decided, Official())
    assert ends is not None
    return found, ends


@pytest.mark.parametrize("of", ["pairs", "questions"])
def test_intervals_close_with_what_is_judged(of: str) -> None:
    key, runs, rows = world(questions=8, runs=6)
    widths = []
    for share in (0.0, 0.5, 1.0):
        ends = found_for(key, runs, judged(rows.rows, 1, share, of))[1]
        widths.append([one.width for one in ends])
    for column in zip(*widths, strict=True):
        assert column[0] > column[1] > column[2] == 0.0


def test_intervals_of_the_paper_s_classifier_close_too() -> None:
    key, runs, rows = world(questions=8, runs=6)
    for share, wide in ((0.5, True), (1.0, False)):
        ends = found_for(key, runs, judged(rows.rows, 1, share, "pairs"), Paper())[1]
        assert [one.width > 0 for one in ends] == [wide] * 3


def test_a_run_without_judgements_has_the_errors_of_whole_runs() -> None:
    key, runs, rows = world(questions=8, runs=6)
    kept = [row for row in rows.rows if row.run != "run3"]
    found, ends = found_for(key, runs, kept)
    chances = found.probabilities.reshape(8, 6, 4)[:, 3]
    shown = found.carried.reshape(8, 6, 4)[:, 3].mean()
    wanted = score_interval(chances.mean(axis=1), found.errors(Official()).share, 8)
    assert ends.share == pytest.approx(wanted.around(shown))
    assert wanted.width > 0


def test_what_another_run_tells_is_in_doubt() -> None:
    """Six answers that nobody else gave, and two that run0 gave, where it was judged."""
    key, runs, rows = world(questions=8, runs=6)
    answers = dict(runs[3].answers) | {q: runs[0].answers[q] for q in ("q0", "q1")}
    runs[3] = replace(runs[3], answers=answers)
    kept = [row for row in rows.rows if row.run != "run3"]
    found, ends = found_for(key, runs, kept)
    errors = found.errors(Official()).share.scaled(0.75, 0.75 + found.doubt * 0.25, 1.0)
    told, shown = (
        cells.reshape(8, 6, 4)[:, 3].astype(np.float64)
        for cells in (found.probabilities, found.carried)
    )
    for row in kept:
        if row.run == "run0" and row.question in ("q0", "q1"):
            for table in (told, shown):
                table[int(row.question[1]), int(row.nugget[1])] = row.value
    wanted = score_interval(told.mean(axis=1), errors, 8).around(shown.mean())
    assert ends.share == pytest.approx(wanted)


def test_judging_a_part_leaves_other_runs_to_learn_from() -> None:
    pool, labels, _ = pooled(runs=40)
    labels[(pool.cell_run == 7) & (pool.cell_nugget % 4 == 1)] = np.nan
    fold = run_folds(pool, labels)
    assert set(pool.cell_run[fold == fold[pool.cell_run == 7][0]].tolist()) == {7}
    assert len(set(fold.tolist())) == FOLDS + 1


def test_half_judged_intervals_do_not_depend_on_the_order_of_runs() -> None:
    key, runs, rows = world(questions=8, runs=6)
    some = judged(rows.rows, 4, 0.5, "pairs")
    found, ends = found_for(key, runs, some)
    again = found_for(key, runs[::-1], some[::-1])[1]
    assert again == ends
    decided = decide_run(runs[3], key, Judgements(tuple(some)), found.guess("run3"))
    assert found.intervals(runs[3], decided, Official()) == ends


def test_errors_are_measured_once_for_a_part() -> None:
    key, runs, rows = world(questions=8, runs=6)
    found, _ = found_for(key, runs, judged(rows.rows, 4, 0.5, "pairs"))
    (part,) = {part for _, part, _ in found._errors}
    assert part.questions > 0.8
    assert 0.3 < part.pairs < 0.7
    assert found.errors(Official(), part) is found.errors(Official(), part)
