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
from karat.nuggets.prediction.agreement import (
    AverageScores,
    ScoringMethod,
    agreement_of_judgements,
    agreement_of_scores,
    f_difference,
    in_hindsight,
    jackknife_interval,
    swapped,
)
from karat.nuggets.prediction.pool import make_pool
from karat.nuggets.results.evaluation import NuggetEvaluation, evaluate_nuggets
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import Official
from karat.nuggets.scores.pourpre import Pourpre
from karat.nuggets.scores.words import pooled_idf
from karat.nuggets.sets.keys_and_runs import make_key
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.stats.correlation import r_squared, rmse, tau_b

KEY, RUNS, JUDGED = world(questions=5, runs=6)
SET = NuggetSet("s", KEY, MappingProxyType({run.tag: run for run in RUNS}), JUDGED)
TAGS = [run.tag for run in RUNS]


@pytest.fixture(scope="module")
def found() -> NuggetEvaluation:
    return evaluate_nuggets(SET, beta=2.0)


def scores_of(found: NuggetEvaluation, carried: np.ndarray, kind: str) -> list[float]:
    """F of every run from decisions, answer by answer."""
    pool, how, values = found.tuning.cells.pool, Official(2.0), carried.astype(np.float64)
    made = []
    for run in RUNS:
        told = decide_run(
            run, KEY, None, lambda q, some, tag=run.tag: pool.answer(values, tag, q.id)
        )
        made.append(getattr(how.score(run, KEY, told), kind).f)
    return made


def official(kind: str) -> list[float]:
    how = Official(2.0)
    told = [how.score(run, KEY, decide_run(run, KEY, JUDGED, run_tag=run.tag)) for run in RUNS]
    return [getattr(one, kind).f for one in told]


def test_decisions_are_scored_as_the_official_ones_are(found: NuggetEvaluation) -> None:
    carried = {"calibrated": found.calibrated.carried}
    carried["paper, best of 24"] = found.tuning.best.carried
    rows = {(row.what, row.average): row for row in found.scores}
    for (what, decisions), kind in itertools.product(carried.items(), ("micro", "macro")):
        mine, theirs, row = scores_of(found, decisions, kind), official(kind), rows[what, kind]
        numbers = tau_b(theirs, mine), r_squared(theirs, mine), rmse(theirs, mine)
        assert row[3:6] == pytest.approx(numbers, nan_ok=True)


@pytest.mark.long
def test_pourpre_at_thresholds_and_in_hindsight(found: NuggetEvaluation) -> None:
    ways = {"count": Pourpre(2.0), "idf": Pourpre(2.0, weigh=pooled_idf(RUNS, "porter"))}
    rows = {(row.what, row.average): row for row in found.scores}
    for (name, how), kind in itertools.product(ways.items(), ("micro", "macro")):
        theirs = official(kind)
        taus = {}
        for t in (k / 20 for k in range(20)):
            made = [replace(how, threshold=t).score(run, KEY) for run in RUNS]
            taus[t] = tau_b(theirs, [getattr(one, kind).f for one in made])
        assert rows[f"Pourpre {name}", kind].tau_b == pytest.approx(taus[0.0])
        best = rows[f"Pourpre {name}, threshold in hindsight", kind]
        assert best.tau_b == pytest.approx(max(t for t in taus.values() if not math.isnan(t)))
        assert taus[best.threshold] == pytest.approx(best.tau_b)


def test_there_is_one_table(found: NuggetEvaluation) -> None:
    names = list(dict.fromkeys(row.what for row in found.scores))
    assert [name.split()[0].rstrip(",") for name in names] == (
        ["calibrated", *["paper"] * 5, *["Pourpre"] * 4, *["ROUGE-1"] * 2]
    )
    assert [row.average for row in found.scores] == ["micro"] * 12 + ["macro"] * 12
    assert all((row.rmse is None) == row.what.startswith("ROUGE") for row in found.scores)
    assert all((row.threshold is None) == ("hindsight" not in row.what) for row in found.scores)
    data = found.records("scores")
    assert data[0]["what"] == "calibrated"
    assert len(found.records("swaps")) == sum(row.swaps for row in found.scores)


def test_swaps_by_hand() -> None:
    """Of a, b, c and d: b and c are swapped, a and d are; c and d are a tie of the guesses."""
    runs, theirs, mine = "abcd", np.array([0.5, 0.4, 0.2, 0.1]), np.array([0.3, 0.1, 0.4, 0.4])
    found = list(swapped("x", "micro", runs, theirs, mine))
    assert [(s.better, s.worse) for s in found] == [("a", "d"), ("b", "d"), ("a", "c"), ("b", "c")]
    assert [s.official for s in found] == pytest.approx([0.4, 0.3, 0.3, 0.2])
    assert [s.guessed for s in found] == pytest.approx([-0.1, -0.3, -0.1, -0.3])
    way = ScoringMethod("x", AverageScores(mine, theirs))
    (micro, some), (macro, none) = agreement_of_scores(way, AverageScores(theirs, theirs), runs)
    assert (micro.swaps, micro.pairs, micro.swaps_far) == (4, 6, 4)
    assert (micro.swap_median, micro.swap_largest) == pytest.approx((0.3, 0.4))
    assert (len(some), none) == (4, [])
    assert (macro.swaps, macro.swap_median, macro.swap_largest) == (0, None, None)
    near = theirs / 10
    ((close, _), _) = agreement_of_scores(way, AverageScores(near, near), runs)
    assert (close.swaps, close.swaps_far) == (4, 0)


def test_hindsight_takes_the_first_of_equals_and_no_nan() -> None:
    theirs = AverageScores(np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.2, 0.1]))
    tried = {0.0: [1.0, 1, 1], 1.0: [1.0, 2, 3], 2.0: [2.0, 4, 6], 3.0: [3.0, 2, 1]}
    found = in_hindsight("x", theirs, [*tried], lambda t: AverageScores(*[np.array(tried[t])] * 2))
    assert found.thresholds == (1.0, 3.0)


def test_the_interval_of_f_is_the_jackknife_over_questions(found: NuggetEvaluation) -> None:
    pool, carried = found.tuning.cells.pool, found.tuning.best.carried
    labels = found.tuning.cells.labels
    row = agreement_of_judgements("x", pool, carried, labels)

    def f(kept: list[int]) -> float:
        cells = np.isin(pool.cell_question, kept)
        yes, said = (labels > 0) & cells, carried & cells
        return 2 * (yes & said).sum() / (yes.sum() + said.sum())

    assert row.f == pytest.approx(f(list(range(5))))
    without = [f([q for q in range(5) if q != out]) for out in range(5)]
    mean = sum(without) / 5
    reach = 2.7764451 * math.sqrt(4 / 5 * sum((one - mean) ** 2 for one in without))
    assert (row.low, row.high) == pytest.approx((row.f - reach, min(1, row.f + reach)), abs=1e-6)
    same = jackknife_interval(0.5, np.full(3, 0.5))
    assert (same.low, same.high) == (0.5, 0.5)
    named = {one.what: one for one in found.judgements}
    assert named["paper, best of 24"][1:6] == row[1:6]
    assert list(named) == list(dict.fromkeys(row.what for row in found.scores))[:5]


def test_one_question_has_no_interval() -> None:
    pool = make_pool(KEY, RUNS[:2])
    labels = np.where(pool.cell_question == 0, 1.0, np.nan)
    row = agreement_of_judgements("x", pool, labels > 0, labels)
    assert (row.f, row.low, row.high) == (1.0, None, None)
    empty = agreement_of_judgements("x", pool, labels > 2, np.zeros(len(labels)))
    assert empty[1:6] == (0.0, 0.0, 0.0, None, None)
    assert f_difference(pool, labels > 0, labels > 2, labels)[1:] != (None, None)


def test_the_difference_of_two_f_is_the_jackknife_over_questions(found: NuggetEvaluation) -> None:
    pool, labels = found.tuning.cells.pool, found.tuning.cells.labels
    both = found.tuning.best.carried, found.calibrated.carried

    def gap(kept: list[int]) -> float:
        cells = np.isin(pool.cell_question, kept)
        yes, said = (labels > 0) & cells, [carried & cells for carried in both]
        one, other = (2 * (yes & some).sum() / (yes.sum() + some.sum()) for some in said)
        return float(one - other)

    without = [gap([q for q in range(5) if q != out]) for out in range(5)]
    mean, whole = sum(without) / 5, gap(list(range(5)))
    reach = 2.7764451 * math.sqrt(4 / 5 * sum((one - mean) ** 2 for one in without))
    expected = whole, max(-1, whole - reach), min(1, whole + reach)
    assert f_difference(pool, *both, labels) == pytest.approx(expected, abs=1e-6)
    base, row = found.judgements[:2]
    assert (base.difference, base.verdict) == (None, "undecided")
    assert row[6:] == pytest.approx(expected, abs=1e-6)
    assert row.verdict == ("undecided" if expected[1] <= 0 <= expected[2] else "better")
    assert found.contest.difference == pytest.approx(base.f - found.contest.paper)


def test_six_curves(found: NuggetEvaluation) -> None:
    kinds = list(dict.fromkeys((row.stem, row.n) for row in found.curve))
    assert kinds == list(itertools.product(("none", "english"), (1, 2, 3)))
    cells = found.tuning.cells
    rule = next(
        t.classifier
        for t in found.tuning.trials
        if t.classifier.summary.startswith("n=2 weight=idf")
    )
    scores = rule.scores(cells.pool, cells.labels, cells.fold)
    for row in [row for row in found.curve if row[:2] == ("none", 2)][::10]:
        mine = scores_of(found, scores > row.threshold, "micro")
        assert row.tau_b == pytest.approx(tau_b(official("micro"), mine), nan_ok=True)


def test_runs_have_official_and_guessed_f(found: NuggetEvaluation) -> None:
    for kind in ("micro", "macro"):
        rows = [row for row in found.run_scores if row.average == kind]
        assert [row.run for row in rows] == TAGS
        assert [row.official for row in rows] == pytest.approx(official(kind))
        assert all(row.low <= row.guessed <= row.high for row in rows)  # type: ignore[operator]
    text = found.render("html")
    assert "tau_b of official F against the threshold" in text
    assert "Official and guessed F" in text


def test_a_key_without_vital_nuggets_has_no_official_f() -> None:
    okay = [
        replace(q, nuggets=tuple(replace(n, vital=False) for n in q.nuggets))
        for q in KEY.questions.values()
    ]
    found = evaluate_nuggets(replace(SET, key=make_key(okay)))
    assert all(math.isnan(row.tau_b) and row.swaps == row.pairs == 0 for row in found.scores)
    assert all(math.isnan(row.official) and row.low is None for row in found.run_scores)
    assert found.judgements[0].f > 0.5
    assert "nan" not in found.render("html").lower().replace("nano", "")
    with_f = replace(SET, key=make_key([*okay[:4], KEY.questions["q4"]]))
    assert all(row.pairs > 0 for row in evaluate_nuggets(with_f).scores)
    shifts = kt.agree_nuggets(replace(SET, key=make_key(okay)), JUDGED)
    assert (shifts.rows[0].f, shifts.runs, shifts.scores) == (1.0, (), ())
    assert "Judgements against judgements" in shifts.render()
