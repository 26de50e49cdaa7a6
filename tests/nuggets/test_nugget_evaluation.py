"""Evaluation: what is compared with assessors, and what cannot be."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import MappingProxyType

import pytest
from nuggets.nugget_world import world

from karat.errors import InputError
from karat.nuggets.report.evaluation import evaluation_document
from karat.nuggets.results.evaluation import NuggetEvaluation, evaluate_nuggets
from karat.nuggets.results.tuning import judged_pool
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys_and_runs import Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.report.render.renderers import render

KEY, RUNS, JUDGED = world(questions=4, runs=4)
SET = NuggetSet("s", KEY, MappingProxyType({run.tag: run for run in RUNS}), JUDGED)


@pytest.fixture(scope="module")
def evaluation() -> NuggetEvaluation:
    return evaluate_nuggets(SET)


def official(evaluation: NuggetEvaluation) -> dict[str, float]:
    return {row.run: row.official for row in evaluation.runs}


def test_official_scores_are_the_share_of_nuggets(evaluation: NuggetEvaluation) -> None:
    for run in RUNS:
        values = [row.value for row in JUDGED.rows if row.run == run.tag]
        assert official(evaluation)[run.tag] == pytest.approx(sum(values) / 16)


def test_in_a_lawful_world_the_classifiers_do_well(evaluation: NuggetEvaluation) -> None:
    assert evaluation.calibrated.agreement.f > 0.9
    assert (
        evaluation.tuning.best.agreement.f
        == max(trial.agreement.f for trial in evaluation.tuning.trials)
        > 0.9
    )
    errors = [abs(row.guessed - row.official) for row in evaluation.runs]
    assert max(errors) < 0.15


def test_scores_have_intervals_from_the_errors_of_the_others(evaluation: NuggetEvaluation) -> None:
    for row in evaluation.runs:
        assert row.low is not None
        assert row.high is not None
        assert row.low <= row.guessed <= row.high
    page = render(evaluation_document(evaluation), "html")
    assert page.count('class="bar"') == 2 * len(RUNS)  # of A and of F
    assert re.search(r"The official scores of [0-4] of 4 runs lie outside", page)


def test_two_runs_are_too_few_for_intervals() -> None:
    runs = {tag: SET.runs[tag] for tag in ("run0", "run3")}
    evaluation = evaluate_nuggets(replace(SET, runs=MappingProxyType(runs)))
    assert [(row.low, row.high) for row in evaluation.runs] == [(None, None)] * 2
    assert "Bars" not in render(evaluation_document(evaluation), "html")


def test_the_curves_go_from_low_thresholds_to_high_ones(evaluation: NuggetEvaluation) -> None:
    for n in (1, 2, 3):
        points = [point for point in evaluation.share_curves if point.n == n]
        thresholds = [point.threshold for point in points]
        assert thresholds == sorted(set(thresholds))
        assert max(point.tau_b for point in points if not math.isnan(point.tau_b)) > 0.6


def test_runs_that_nobody_judged_do_not_count(evaluation: NuggetEvaluation) -> None:
    new = make_run("new", [(q, Response("something new")) for q in KEY.questions])
    empty = make_run("empty", [])
    more = replace(SET, runs=MappingProxyType({**SET.runs, "new": new, "empty": empty}))
    other = evaluate_nuggets(more)
    assert official(other) == official(evaluation)
    assert other.calibrated.agreement == evaluation.calibrated.agreement
    assert other.tuning.best.agreement == evaluation.tuning.best.agreement


def test_the_order_of_runs_says_nothing(evaluation: NuggetEvaluation) -> None:
    other = evaluate_nuggets(replace(SET, runs=MappingProxyType(dict(reversed(SET.runs.items())))))
    assert official(other) == pytest.approx(official(evaluation))
    guessed = {row.run: row.guessed for row in evaluation.runs}
    assert {row.run: row.guessed for row in other.runs} == pytest.approx(guessed)
    assert other.calibrated.agreement == pytest.approx(evaluation.calibrated.agreement)


@pytest.mark.parametrize("by", ["system", "institution", "question"])
def test_every_way_to_leave_out_gives_a_page(by: str) -> None:
    page = render(evaluation_document(evaluate_nuggets(SET, by)), "html")
    assert "calibrated classifier" in page
    assert "nan" not in page.lower().replace("nano", "")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ((), "expected runs and judgements of them"),
        ([r for r in JUDGED.rows if r.value > 0], "expected judgements of both kinds"),
        ([r for r in JUDGED.rows if r.run == "run1"], "expected at least two judged runs"),
    ],
)
def test_what_cannot_be_evaluated(rows: list[object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        judged_pool(replace(SET, judgements=Judgements(tuple(rows))))  # type: ignore[arg-type]


def test_one_question_cannot_be_left_out() -> None:
    key = make_key([KEY.questions["q0"]])
    rows = tuple(row for row in JUDGED.rows if row.question == "q0")
    with pytest.raises(InputError, match=r"one question.*nothing is left to learn from"):
        evaluate_nuggets(replace(SET, key=key, judgements=Judgements(rows)), "question")


def test_one_house_cannot_be_left_out() -> None:
    house = {tag: replace(run, institution="all") for tag, run in SET.runs.items()}
    with pytest.raises(InputError, match=r"one institution.*nothing is left to learn from"):
        evaluate_nuggets(replace(SET, runs=MappingProxyType(house)), "institution")


def test_known_pairs_and_guesses_are_told_apart(evaluation: NuggetEvaluation) -> None:
    assert evaluation.known_share == 0
    assert not [row for row in evaluation.rows if row.method.endswith("alone")]
    twin = replace(RUNS[1], tag="twin")
    rows = [row._replace(run="twin") for row in JUDGED.rows if row.run == "run1"]
    runs = MappingProxyType({**SET.runs, "twin": twin})
    with_twin = replace(SET, runs=runs, judgements=Judgements((*JUDGED.rows, *rows)))
    both, labels = evaluate_nuggets(with_twin), judged_pool(with_twin)[1]
    assert both.known_share == pytest.approx(2 / 5)
    alone = [row for row in both.rows if row.method.endswith("alone")]
    is_known = both.tuning.cells.is_known
    for alone_row, carried in zip(
        alone, (both.calibrated.carried, both.tuning.best.carried), strict=True
    ):
        yes, guessed_yes = labels > 0, carried & ~is_known
        assert alone_row.recall == pytest.approx(
            (guessed_yes & yes).sum() / (yes & ~is_known).sum()
        )
        assert alone_row.precision == pytest.approx((guessed_yes & yes).sum() / guessed_yes.sum())


def test_strictly_partial_support_is_none() -> None:
    rows = tuple(
        row._replace(value=row.value / 2) if row.run == "run1" else row for row in JUDGED.rows
    )
    half_support = replace(SET, judgements=Judgements(rows))
    plain, strict = evaluate_nuggets(half_support), evaluate_nuggets(half_support, strict=True)
    assert official(plain)["run1"] > official(strict)["run1"] == 0
    none = tuple(r._replace(value=0.0) if r.run == "run1" else r for r in JUDGED.rows)
    evaluation = evaluate_nuggets(replace(SET, judgements=Judgements(none)))
    assert official(strict) == official(evaluation)
    assert strict.calibrated.agreement == evaluation.calibrated.agreement
    assert strict.rows[3:] == evaluation.rows[3:]
